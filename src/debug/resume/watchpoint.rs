//! The object of a watchpoint (a register, or bytes of memory) during a run, and what it held when last read.

use std::ops::Range;
use std::sync::Arc;

use crate::debug::breakpoints::WatchMode;
use crate::debug::memory::{self, Bytes};
use crate::debug::target::{MemoryTarget, RegisterTarget, Target};
use crate::isa::Space;
use crate::machine::{
    AccessEvent, AccessKind, CopyEvent, CopyStage, Destination, Issue, LaneMask, Machine, MemoryOwner, Warp, Wgmma, frames,
};
use crate::program::operands::{Use, registers_of};
use crate::program::{Bank, Program};

/// A watchpoint during a run.
pub struct Watchpoint {
    /// The watchpoint's number; none in a history.
    pub number: Option<u32>,
    /// The watched object.
    pub target: Target,
    /// Which accesses count.
    pub mode: WatchMode,
    /// Its bytes when last read: for a register, those of each of its lanes in turn. None while it does not exist.
    pub bytes: Option<Vec<u8>>,
    /// The code of the function whose frame a register is in.
    code: Range<u32>,
    /// To see reads of a register, and writes that do not change it: the program.
    program: Option<Arc<Program>>,
}

impl Watchpoint {
    /// `target` as it is on `machine` now.
    pub fn new(number: Option<u32>, target: Target, mode: WatchMode, machine: &Machine) -> Self {
        let (bytes, program) = (bytes_of(&target, machine), machine.program());
        let function = match &target {
            Target::Register(target) => program.function_at(target.function_start),
            Target::Memory(_) => None,
        };
        let code = function.map(|id| &program.functions[id.index()]).map_or(0..0, |function| function.code.clone());
        let is_touch = matches!(target, Target::Register(_)) && mode != WatchMode::Change;
        Self { number, target, mode, bytes, code, program: is_touch.then(|| Arc::clone(program)) }
    }

    /// Whether it lies in memory.
    pub fn is_memory(&self) -> bool {
        matches!(self.target, Target::Memory(_))
    }

    /// Reads its bytes anew as a launch begins: buffers are filled without a write.
    pub fn reread(&mut self, machine: &Machine) {
        self.bytes = bytes_of(&self.target, machine);
    }

    /// Reads the initial value of a register whose frame begins to exist, as `warp` is about to execute.
    pub fn initialize(&mut self, block: [u32; 3], warp_number: u32, warp: &Warp) {
        if let (None, Target::Register(target)) = (&self.bytes, &self.target)
            && (target.block, target.warp) == (block, warp_number)
        {
            self.bytes = Some(register_values(target, warp));
        }
    }

    /// Replaces the bytes by `new`; returns the old ones: zeros if it did not exist, nothing of global memory that was not known.
    pub fn replace(&mut self, new: Vec<u8>) -> Vec<u8> {
        let is_global = matches!(&self.target, Target::Memory(target) if same_space(target.space) == Space::Global);
        let unknown = if is_global { Vec::new() } else { vec![0; new.len()] };
        self.bytes.replace(new).unwrap_or(unknown)
    }

    /// The lanes whose access is one that the watchpoint stops at.
    pub fn accessing_lanes(&self, event: &AccessEvent<'_>) -> LaneMask {
        let Target::Memory(target) = &self.target else { return LaneMask::NONE };
        let counts = match self.mode {
            WatchMode::Change => event.kind != AccessKind::Read,
            WatchMode::Read => event.kind != AccessKind::Write,
            WatchMode::Access => true,
        };
        if !counts || same_space(event.space) != same_space(target.space) {
            return LaneMask::NONE;
        }
        let own = match same_space(target.space) {
            Space::Shared if target.owner.block != event.place.block => LaneMask::NONE,
            Space::Local if (target.owner.block, target.owner.warp) != (event.place.block, event.place.warp.number()) => LaneMask::NONE,
            Space::Local => event.lanes & target.owner.lane_mask(),
            _ => event.lanes,
        };
        let end = target.address.saturating_add(target.bytes);
        let overlaps = |lane: usize| {
            let address = event.addresses[lane];
            address < end && target.address < address.saturating_add(u64::from(event.bytes))
        };
        own.filter(overlaps)
    }

    /// How a copy accesses it, if the watchpoint stops at that: it writes when it is issued, because its destination is undefined from
    /// then on, and when it ends; it reads at latest when it ends.
    pub fn access_by_copy(&self, event: &CopyEvent<'_>) -> Option<AccessKind> {
        let Target::Memory(target) = &self.target else { return None };
        let end = target.address.saturating_add(target.bytes);
        let overlaps = |at: Destination, bytes: u64| {
            let same = match at.owner {
                MemoryOwner::Global => same_space(target.space) == Space::Global,
                MemoryOwner::Block { index, .. } => same_space(target.space) == Space::Shared && target.owner.block == index,
            };
            same && at.address < end && target.address < at.address.saturating_add(bytes)
        };
        let (mut writes, mut reads) = (false, false);
        if event.stage != CopyStage::Read {
            event.copy.work.writes(event.lanes, |at, bytes| writes |= overlaps(at, bytes));
        }
        if event.stage == CopyStage::Read || event.stage == CopyStage::Ended && !event.copy.read {
            event.copy.work.reads(event.lanes, |at, bytes| reads |= overlaps(at, bytes));
        }
        match self.mode {
            WatchMode::Change | WatchMode::Access if writes => Some(AccessKind::Write),
            WatchMode::Read | WatchMode::Access if reads => Some(AccessKind::Read),
            _ => None,
        }
    }

    /// Whether a matrix multiplication that ends has read it, if reads count: it reads shared memory at latest then.
    pub fn read_by_wgmma(&self, wgmma: &Wgmma) -> bool {
        let Target::Memory(target) = &self.target else { return false };
        let own = same_space(target.space) == Space::Shared && target.owner.block == wgmma.issued.block;
        let end = target.address.saturating_add(target.bytes);
        let meets = |(from, to): (u32, u32)| u64::from(from) < end && target.address < u64::from(to);
        own && self.mode != WatchMode::Change && wgmma.reads().any(meets)
    }

    /// How an instruction that was executed touched a register, if it did in a way that counts, and the lanes. What reads and writes it
    /// counts as a write.
    pub fn access_in(&self, issue: &Issue, warp: &Warp) -> Option<(AccessKind, LaneMask)> {
        let (read, written) = self.named_by(issue);
        let changed = self.changed_in(issue.place.block, issue.place.warp.number(), warp);
        let touches = match self.mode {
            WatchMode::Change => [(AccessKind::Write, changed), (AccessKind::Read, LaneMask::NONE)],
            WatchMode::Read => [(AccessKind::Write, LaneMask::NONE), (AccessKind::Read, read)],
            WatchMode::Access => [(AccessKind::Write, changed | written), (AccessKind::Read, read)],
        };
        touches.into_iter().find(|(_, lanes)| !lanes.is_empty())
    }

    /// The lanes of a register that an instruction reads, and those that it writes, where every touch counts.
    fn named_by(&self, issue: &Issue) -> (LaneMask, LaneMask) {
        let (Some(program), Target::Register(target)) = (&self.program, &self.target) else { return (LaneMask::NONE, LaneMask::NONE) };
        if (target.block, target.warp, target.depth) != (issue.place.block, issue.place.warp.number(), issue.depth) {
            return (LaneMask::NONE, LaneMask::NONE);
        }
        let base = match target.bank {
            Bank::B32 => issue.frame.b32,
            Bank::B64 => issue.frame.b64,
            Bank::Pred => issue.frame.pred,
        };
        let inst = &program.code[issue.place.pc.index()];
        let own = target.slot..target.slot.offset(target.width);
        let (mut read, mut written) = (LaneMask::NONE, LaneMask::NONE);
        registers_of(inst, program, |used, register| {
            let slots = register.slot.in_frame(base).run(register.width);
            if register.bank != target.bank || !slots.into_iter().any(|slot| own.contains(&slot)) {
                return;
            }
            match used {
                Use::Write => written |= issue.active & target.lanes,
                Use::Guard => read |= issue.lanes & target.lanes,
                Use::Address | Use::Read => read |= issue.active & target.lanes,
            }
        });
        (read, written)
    }

    /// Of the bytes of a register of several lanes, those of `lane`; all bytes of memory.
    pub fn lane_bytes(&self, lane: usize, old: Vec<u8>, new: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
        let Target::Register(target) = &self.target else { return (old, new) };
        let below = (target.lanes & LaneMask::lowest(lane as u32)).count() as usize;
        let size = register_bytes(target);
        let part = |bytes: Vec<u8>| bytes.into_iter().skip(below * size).take(size).collect();
        (part(old), part(new))
    }

    /// The lanes of a register that hold something else than when last looked at. A frame of another function at the same place does
    /// not count.
    pub fn changed_in(&self, block: [u32; 3], warp_number: u32, warp: &Warp) -> LaneMask {
        let Target::Register(target) = &self.target else { return LaneMask::NONE };
        if (target.block, target.warp) != (block, warp_number) {
            return LaneMask::NONE;
        }
        let Some(old) = &self.bytes else { return LaneMask::NONE };
        let size = register_bytes(target);
        let mut changed = LaneMask::NONE;
        for (index, lane) in target.lanes.iter().enumerate() {
            let now = lane_value(target, warp, lane);
            if old.get(index * size..(index + 1) * size) != Some(&now.to_le_bytes()[..size]) && self.holds_frame(target, warp, lane) {
                changed |= LaneMask::of(lane);
            }
        }
        changed
    }

    /// Whether the lane is in the frame that the register belongs to, or in a call from there.
    fn holds_frame(&self, target: &RegisterTarget, warp: &Warp, lane: usize) -> bool {
        let Some(group) = warp.groups.iter().find(|group| group.mask.contains(lane)) else { return true };
        let depth = group.stack.as_ref().map_or(0, |frame| frame.depth);
        let pc = match depth.checked_sub(target.depth) {
            None => return false,
            Some(0) => group.pc,
            Some(_) => match frames(&group.stack).find(|frame| frame.depth == target.depth + 1) {
                Some(call) => call.pc,
                None => return false,
            },
        };
        self.code.contains(&pc.0)
    }
}

/// What a place holds now; none if its block is not on the machine, the memory is not there, or nothing of it is known.
pub fn bytes_of(target: &Target, machine: &Machine) -> Option<Vec<u8>> {
    match target {
        Target::Register(target) => {
            let warp = machine.block(target.block)?.warps.get(target.warp as usize)?;
            Some(register_values(target, warp))
        }
        Target::Memory(target) => memory_bytes(target, machine),
    }
}

fn memory_bytes(target: &MemoryTarget, machine: &Machine) -> Option<Vec<u8>> {
    let MemoryTarget { space, owner, address, bytes, .. } = *target;
    let unknown = || machine.device().unknown(address, bytes).iter().map(|range| range.end - range.start).sum::<u64>();
    if same_space(space) == Space::Global && bytes > 0 && unknown() == bytes {
        return None;
    }
    let mut out = vec![0; usize::try_from(bytes).ok()?];
    memory::fill(machine, &Bytes { space, owner, address, bytes }, &mut out)?;
    Some(out)
}

fn register_values(target: &RegisterTarget, warp: &Warp) -> Vec<u8> {
    let values = target.lanes.iter().map(|lane| lane_value(target, warp, lane).to_le_bytes());
    values.flat_map(|bytes| bytes.into_iter().take(register_bytes(target))).collect()
}

/// Bytes of a lane's register: 4, 8 or 16; 1 for a predicate.
pub fn register_bytes(target: &RegisterTarget) -> usize {
    match target.bank {
        Bank::B32 => 4,
        Bank::B64 => 8 * target.width as usize,
        Bank::Pred => 1,
    }
}

fn lane_value(target: &RegisterTarget, warp: &Warp, lane: usize) -> u128 {
    let (registers, slot) = (&warp.registers, target.slot.index());
    match target.bank {
        Bank::B32 => registers.b32.get(slot).map_or(0, |register| u128::from(register[lane])),
        Bank::B64 => {
            let part = |index: usize| registers.b64.get(slot + index).map_or(0, |register| u128::from(register[lane]));
            if target.width == 2 { part(0) | part(1) << 64 } else { part(0) }
        }
        Bank::Pred => registers.pred.get(slot).map_or(0, |bits| u128::from(bits.contains(lane))),
    }
}

/// Spaces whose addresses mean the same memory, by one of them.
fn same_space(space: Space) -> Space {
    match space {
        Space::Generic | Space::Global => Space::Global,
        Space::Shared | Space::SharedCluster => Space::Shared,
        Space::Local | Space::ParamFunc => Space::Local,
        Space::Const => Space::Const,
        Space::Param => Space::Param,
    }
}
