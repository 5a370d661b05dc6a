//! Addresses in the shared memory of a cluster's blocks (PTX ISA, "mapa", "getctarank").
//!
//! A cluster of more than one block is not modelled. Block `r` of a cluster is at `r << 24` in the window of shared memory.

use super::{Executed, Flow, Group, WarpRun};
use crate::isa::Space;
use crate::machine::event::Observer;
use crate::machine::lanes::{LaneMask, PerLane};
use crate::machine::trap::TrapKind;
use crate::program::{Op, Src, map};

/// Bits of an address inside a block's shared memory.
const OFFSET_BITS: u32 = 24;

impl<O: Observer> WarpRun<'_, O> {
    /// Executes `mapa` or `getctarank`.
    pub(super) fn cluster(&mut self, op: &Op, group: &Group, active: LaneMask) -> Executed {
        if self.linked.config.cluster != [1, 1, 1] {
            return Err(self.trap(TrapKind::Unsupported, active, "clusters of more than one block are not modelled"));
        }
        let window = map::map(self.program.address_bits).window_start(Space::Shared);
        let start = |generic: bool| if generic { window } else { 0 };
        match *op {
            Op::MapShared { wide, generic, d, a, b } => {
                let (addresses, ranks) = (self.shared_addresses(wide, a, group, active), *self.lanes(group, active).get32(b));
                let mapped: PerLane<u64> = std::array::from_fn(|lane| {
                    let offset = addresses[lane].wrapping_sub(start(generic)) & ((1 << OFFSET_BITS) - 1);
                    start(generic) + offset + (u64::from(ranks[lane]) << OFFSET_BITS)
                });
                let mut lanes = self.lanes(group, active);
                if wide { lanes.put64(d, &mapped) } else { lanes.put32(d, &mapped.map(|address| address as u32)) }
            }
            Op::ClusterRank { wide, generic, d, a } => {
                let addresses = self.shared_addresses(wide, a, group, active);
                let ranks = addresses.map(|address| (address.wrapping_sub(start(generic)) >> OFFSET_BITS) as u32);
                self.lanes(group, active).put32(d, &ranks);
            }
            ref other => unreachable!("{other:?} is not about the cluster"),
        }
        Ok(Flow::Next)
    }

    fn shared_addresses(&mut self, wide: bool, a: Src, group: &Group, active: LaneMask) -> PerLane<u64> {
        let lanes = self.lanes(group, active);
        if wide { *lanes.get64(a) } else { lanes.get32(a).map(u64::from) }
    }
}
