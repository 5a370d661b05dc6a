//! Addresses in the shared memory of a cluster's blocks (PTX ISA, "mapa", "getctarank").
//!
//! The block of rank `r` in a cluster is at `r << 24` in the window of shared memory, also for the block itself.

use crate::isa::Space;
use crate::machine::event::SyncKind;
use crate::machine::exec::warp_run::{Executed, Flow, Group, SliceEnd, WarpRun};
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::memory::{LaneAccess, gather, scatter};
use crate::machine::state::trap::TrapKind;
use crate::machine::state::warp::GroupState;
use crate::program::{ClusterOp, Dst, Pc, Src, map};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Reads from the shared memory of another block of the cluster. A separate function, to keep `read` small, which is inlined
    /// into every load.
    #[inline(never)]
    pub(super) fn read_peer<const N: usize>(&self, access: &LaneAccess, skip: u64, put: &mut dyn FnMut(usize, [u8; N])) {
        if let Some(Some(block)) = self.peer(access.rank) {
            gather(&block.shared.pages, 0, access, skip, put);
        }
    }

    /// Writes to the shared memory of another block of the cluster.
    #[inline(never)]
    pub(super) fn write_peer<const N: usize>(&mut self, access: &LaneAccess, skip: u64, change: &mut dyn FnMut(usize, &mut [u8; N])) {
        if let Some(block) = self.peer_mut(access.rank) {
            scatter(&mut block.shared.pages, 0, access, skip, change);
        }
    }

    /// Executes `mapa`, `getctarank` or an operation on the barrier of the cluster.
    pub(super) fn cluster(&mut self, op: &ClusterOp, group: &Group, active: LaneMask) -> Executed {
        match *op {
            ClusterOp::MapShared { wide, generic, d, a, b } => self.map_shared(wide, generic, d, [a, b], group, active),
            ClusterOp::Rank { wide, generic, d, a } => {
                let start = self.shared_start(generic);
                let addresses = self.shared_addresses(wide, a, group, active);
                let ranks = addresses.map(|address| (address.wrapping_sub(start) >> map::SHARED_OFFSET_BITS) as u32);
                self.lanes(group, active).put32(d, &ranks);
                Ok(Flow::Next)
            }
            ClusterOp::Arrive { relaxed, aligned } => self.arrive_at_cluster(relaxed, aligned, group, active),
            ClusterOp::Wait { aligned: _ } => Ok(self.wait_for_cluster(group, active)),
        }
    }

    /// The start of shared memory: in its own space, or in the generic one.
    fn shared_start(&self, generic: bool) -> u64 {
        if generic { self.program.map.window_start(Space::Shared) } else { 0 }
    }

    fn map_shared(&mut self, wide: bool, generic: bool, d: Dst, [a, b]: [Src; 2], group: &Group, active: LaneMask) -> Executed {
        let start = self.shared_start(generic);
        let (addresses, ranks) = (self.shared_addresses(wide, a, group, active), *self.lanes(group, active).get32(b));
        let mapped: PerLane<u64> = std::array::from_fn(|lane| {
            let offset = addresses[lane].wrapping_sub(start) & ((1 << map::SHARED_OFFSET_BITS) - 1);
            start + offset + (u64::from(ranks[lane]) << map::SHARED_OFFSET_BITS)
        });
        let mut lanes = self.lanes(group, active);
        if wide {
            lanes.put64(d, &mapped);
        } else {
            lanes.put32(d, &mapped.map(|address| address as u32));
        }
        Ok(Flow::Next)
    }

    /// `barrier.cluster.arrive`.
    fn arrive_at_cluster(&mut self, relaxed: bool, aligned: bool, group: &Group, active: LaneMask) -> Executed {
        let arrived = self.cluster.arrived_of(self.point.warp.index()) & active;
        if !arrived.is_empty() {
            let message = "a second arrival at the barrier of the cluster without a wait between";
            return Err(self.trap(TrapKind::ClusterOrder, arrived, message));
        }
        self.report_sync(active, SyncKind::ClusterArrived { relaxed, aligned });
        self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
        Ok(Flow::EndSlice(SliceEnd::ArrivedAtCluster { mask: active }))
    }

    /// `barrier.cluster.wait`. Lanes that have not arrived in the current phase wait for the previous one, which has completed.
    fn wait_for_cluster(&mut self, group: &Group, active: LaneMask) -> Flow {
        let arrived = self.cluster.arrived_of(self.point.warp.index()) & active;
        self.report_sync(active, SyncKind::ClusterWaits);
        if arrived.is_empty() {
            return Flow::Next;
        }
        assert!(self.warp.live.contains_all(arrived), "lanes wait that have exited");
        self.wait_after(group, arrived, GroupState::AtCluster { pc: group.pc })
    }

    fn shared_addresses(&mut self, wide: bool, a: Src, group: &Group, active: LaneMask) -> PerLane<u64> {
        let lanes = self.lanes(group, active);
        if wide { *lanes.get64(a) } else { lanes.get32(a).map(u64::from) }
    }
}
