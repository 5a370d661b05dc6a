//! Addresses in the shared memory of a cluster's blocks (PTX ISA, "mapa", "getctarank").
//!
//! Block `r` of a cluster is at `r << 24` in the window of shared memory, for itself too.

use super::{Executed, Flow, Group, Pause, WarpRun};
use crate::isa::Space;
use crate::machine::event::Order;
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::trap::TrapKind;
use crate::machine::state::warp::GroupState;
use crate::program::{Op, Pc, Src, map};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes `mapa` or `getctarank`.
    pub(super) fn cluster(&mut self, op: &Op, group: &Group, active: LaneMask) -> Executed {
        let window = map::map(self.program.address_bits).window_start(Space::Shared);
        let start = |generic: bool| if generic { window } else { 0 };
        match *op {
            Op::MapShared { wide, generic, d, a, b } => {
                let (addresses, ranks) = (self.shared_addresses(wide, a, group, active), *self.lanes(group, active).get32(b));
                let mapped: PerLane<u64> = std::array::from_fn(|lane| {
                    let offset = addresses[lane].wrapping_sub(start(generic)) & ((1 << map::SHARED_OFFSET_BITS) - 1);
                    start(generic) + offset + (u64::from(ranks[lane]) << map::SHARED_OFFSET_BITS)
                });
                let mut lanes = self.lanes(group, active);
                if wide { lanes.put64(d, &mapped) } else { lanes.put32(d, &mapped.map(|address| address as u32)) }
            }
            Op::ClusterRank { wide, generic, d, a } => {
                let addresses = self.shared_addresses(wide, a, group, active);
                let ranks = addresses.map(|address| (address.wrapping_sub(start(generic)) >> map::SHARED_OFFSET_BITS) as u32);
                self.lanes(group, active).put32(d, &ranks);
            }
            ref other => unreachable!("{other:?} is not about the cluster"),
        }
        Ok(Flow::Next)
    }

    /// Executes `barrier.cluster.arrive` or `.wait`.
    pub(super) fn cluster_barrier(&mut self, op: &Op, group: &Group, active: LaneMask) -> Executed {
        let arrived = self.cluster.arrived_of(self.place.warp as usize) & active;
        match op {
            Op::ClusterArrive { .. } if arrived != 0 => {
                let message = "a second arrival at the barrier of the cluster without a wait between";
                Err(self.trap(TrapKind::ClusterOrder, arrived, message))
            }
            Op::ClusterArrive { relaxed, aligned } => {
                self.report_order(active, Order::ClusterArrived { relaxed: *relaxed, aligned: *aligned });
                self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
                Ok(Flow::Pause(Pause::ArrivedAtCluster { mask: active }))
            }
            // Who has not arrived in this phase has seen the end of the one before.
            Op::ClusterWait { .. } if arrived == 0 => {
                self.report_order(active, Order::ClusterWaits);
                Ok(Flow::Next)
            }
            Op::ClusterWait { .. } => {
                self.report_order(active, Order::ClusterWaits);
                Ok(self.wait_behind(group, arrived, GroupState::AtCluster { pc: group.pc }))
            }
            other => unreachable!("{other:?} is not the barrier of the cluster"),
        }
    }

    fn shared_addresses(&mut self, wide: bool, a: Src, group: &Group, active: LaneMask) -> PerLane<u64> {
        let lanes = self.lanes(group, active);
        if wide { *lanes.get64(a) } else { lanes.get32(a).map(u64::from) }
    }
}
