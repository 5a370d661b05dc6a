//! Faults: the lanes at fault, the kind of fault, and the message.

use crate::base::counted;
use crate::isa::Space;
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::memory::{LaneAccess, Region};
use crate::machine::state::trap::{Trap, TrapAccess, TrapKind};
use crate::program::{Op, map};

/// Addresses below this are called null.
const NULL_PAGE: u64 = 4096;

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// A fault without a memory access.
    pub(super) fn trap(&self, kind: TrapKind, lanes: LaneMask, message: &str) -> Box<Trap> {
        Box::new(Trap { kind, point: self.point, lanes, access: None, message: message.to_string() })
    }

    /// The fault of an access by `group`, of which at least one lane is at fault.
    pub(super) fn memory_fault(&self, access: &LaneAccess, space: Space, write: bool, group: &Group) -> Box<Trap> {
        let top = self.warp.groups[group.index].local_top;
        let bytes = u64::from(access.bytes);
        let kind_of = |address: u64| self.classify(address, bytes, space, write, top);
        let faulty = access.lanes_where(|address| kind_of(address).is_some());
        let lowest = access.addresses[faulty.first()];
        let kind = kind_of(lowest).unwrap_or(TrapKind::OutOfBounds);
        let lanes = access.lanes_where(|address| kind_of(address) == Some(kind));
        let is_atomic = matches!(self.program.code[self.point.pc.index()].op, Op::Atomic(_));
        let verb = match (is_atomic, write) {
            (true, _) => "atomic",
            (false, true) => "store",
            (false, false) => "load",
        };
        let reason = self.reason(kind, lowest, bytes, space, group);
        let message = format!("{} {verb} of {} at {lowest:#x}: {reason}", space.word(), counted(bytes, "byte"));
        let access = Some(TrapAccess { space, address: lowest, bytes: access.bytes, write });
        Box::new(Trap { kind, point: self.point, lanes, access, message })
    }

    /// The fault of an operation `what` of a lane on a larger range of global memory, at the byte at `address`.
    pub(super) fn byte_fault(&self, what: &str, address: u64, write: bool, lane: usize, group: &Group) -> Box<Trap> {
        let access = LaneAccess::new([address; 32], LaneMask::of(lane), 1);
        let mut trap = self.memory_fault(&access, Space::Global, write, group);
        trap.message = format!("{what} at {address:#x}: {}", self.reason(trap.kind, address, 1, Space::Global, group));
        trap
    }

    /// The fault of an access to `bytes` bytes at `address`, if any.
    fn classify(&self, address: u64, bytes: u64, space: Space, write: bool, top: u32) -> Option<TrapKind> {
        if !address.is_multiple_of(bytes) {
            return Some(TrapKind::Misaligned);
        }
        let (space, address) = match self.owner(address, space) {
            Ok((actual, window, _)) => (actual, address.wrapping_sub(window)),
            Err(kind) => return Some(kind),
        };
        let inside = |start: u64, end: u64| address >= start && address.saturating_add(bytes) <= end;
        let good = match space {
            Space::Generic | Space::Global if !write && is_unknown(self.global, address, bytes) => return Some(TrapKind::NotCaptured),
            Space::Generic | Space::Global => covers(self.global, address, bytes),
            Space::Const => covers(self.constant_memory, address, bytes),
            Space::Shared | Space::SharedCluster => inside(self.prepared.shared_start, self.prepared.shared_bytes),
            Space::Local | Space::ParamFunc => inside(map::LOCAL_BASE, u64::from(top)),
            Space::Param => inside(0, self.prepared.config.params.len() as u64),
        };
        let read_only = matches!(space, Space::Const | Space::Param);
        match good {
            true if write && read_only => Some(TrapKind::ReadOnly),
            true => None,
            false if matches!(space, Space::Global | Space::Generic) => Some(self.classify_global(address)),
            false => Some(TrapKind::OutOfBounds),
        }
    }

    fn classify_global(&self, address: u64) -> TrapKind {
        match self.window(address).0 {
            _ if address < NULL_PAGE => TrapKind::Null,
            Space::Global => TrapKind::OutOfBounds,
            Space::Generic | Space::Const | Space::Shared | Space::SharedCluster | Space::Local | Space::Param | Space::ParamFunc => {
                TrapKind::Space
            }
        }
    }

    /// The space whose generic window holds `address`, and the address in that space.
    pub(super) fn window(&self, address: u64) -> (Space, u64) {
        let (space, start) = self.window_of(address);
        (space, address - start)
    }

    /// The space whose generic window holds `address`, and the start of the window.
    pub(super) fn window_of(&self, address: u64) -> (Space, u64) {
        self.program.map.window_of(address)
    }

    /// The text for memory at `address` that was freed, if it was.
    fn freed(&self, address: u64) -> Option<String> {
        let by = self.runtime.heap.freed_by(address)?;
        Some(format!("this memory was freed at {}, time {}", self.program.place(by.pc), by.tick))
    }

    /// The reason of the fault, and the allocation nearest to the address.
    #[expect(clippy::wildcard_enum_match_arm, reason = "traps that have no rule of their own are explained by what lies at the address")]
    fn reason(&self, kind: TrapKind, address: u64, bytes: u64, space: Space, group: &Group) -> String {
        let (actual, offset) = if matches!(space, Space::Generic | Space::Global) { self.window(address) } else { (space, address) };
        let rule = match kind {
            TrapKind::Null => return "a null pointer".to_string(),
            TrapKind::ClusterRank | TrapKind::ClusterExited => return self.peer_reason(kind, offset),
            TrapKind::Space if matches!(space, Space::Shared) => {
                return "this is the shared memory of another block of the cluster; write .shared::cluster".to_string();
            }
            _ if actual == Space::Global && self.runtime.heap.freed_by(offset).is_some() => self.freed(offset),
            TrapKind::Misaligned => Some(format!("the address is not a multiple of {bytes}")),
            TrapKind::NotCaptured => Some("the launch does not give this page, so nothing can be said of what follows".to_string()),
            TrapKind::ReadOnly => Some(format!("{} memory cannot be written", actual.word())),
            TrapKind::Space => Some(format!("this is the generic address of {} memory ({offset:#x}), not a global address", actual.word())),
            _ => self.extent(actual, offset, group),
        };
        match (rule, self.nearby(actual, offset, bytes, group)) {
            (Some(rule), Some(nearby)) => format!("{rule}; {nearby}"),
            (rule, nearby) => rule.or(nearby).unwrap_or_else(|| format!("there is no {} memory", actual.word())),
        }
    }

    /// The reason for which the block of the cluster at an address in the window of shared memory cannot be accessed.
    fn peer_reason(&self, kind: TrapKind, offset: u64) -> String {
        let rank = offset >> map::SHARED_OFFSET_BITS;
        if kind == TrapKind::ClusterExited {
            return format!("the block of rank {rank} of the cluster has exited, and its shared memory with it");
        }
        format!("the address names rank {rank}, but the cluster has {} blocks", self.prepared.config.blocks_of_cluster())
    }

    /// The text for the extent of `space`, if that is a single range.
    fn extent(&self, space: Space, offset: u64, group: &Group) -> Option<String> {
        let extent = match space {
            Space::Generic | Space::Global | Space::Const => return None,
            Space::Shared | Space::SharedCluster if offset < self.prepared.shared_start => {
                format!("the first {} bytes of shared memory belong to the system", map::SHARED_RESERVED)
            }
            Space::Shared | Space::SharedCluster => format!("the block's shared memory ends at {:#x}", self.prepared.shared_bytes),
            Space::Local | Space::ParamFunc => {
                let top = self.warp.groups[group.index].local_top;
                format!("the thread's local memory is {:#x} to {top:#x}", map::LOCAL_BASE)
            }
            Space::Param => format!("the kernel has {} bytes of parameters", self.prepared.config.params.len()),
        };
        Some(extent)
    }
}

/// True if the memory is mapped and some of its bytes are unknown.
fn is_unknown(region: &Region, address: u64, bytes: u64) -> bool {
    let allocation = region.find(address).filter(|allocation| allocation.holds(address, address, bytes as u32));
    allocation.is_some_and(|allocation| allocation.first_unknown(address, address, bytes).is_some())
}

fn covers(region: &Region, address: u64, bytes: u64) -> bool {
    region.find(address).is_some_and(|allocation| allocation.holds(address, address, bytes as u32))
}
