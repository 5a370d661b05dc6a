//! The object of a watchpoint (a register, or bytes of memory) during a run, and what it held when last read.

use std::ops::Range;
use std::sync::Arc;

use crate::debug::breakpoints::WatchMode;
use crate::debug::memory::{self, ByteRange};
use crate::debug::target::{MemoryTarget, RegisterTarget, Target};
use crate::isa::Space;
use crate::machine::{
    AccessEvent, AccessKind, CopyEvent, CopyStage, Issue, LaneMask, Machine, MemoryAddress, MemoryOwner, Warp, Wgmma, frames,
};
use crate::program::operands::{Use, registers_of};
use crate::program::{Bank, Program};

/// A watchpoint during a run.
pub struct Watchpoint {
    /// The watchpoint's number; none in a history.
    pub number: Option<u32>,
    /// The watched object.
    pub target: Target,
    /// The kind of access that the watchpoint stops at.
    pub mode: WatchMode,
    /// Its bytes when last read: for a register, those of its lanes one after the other. None while it does not exist.
    pub bytes: Option<Vec<u8>>,
    /// The code of the function whose frame a register is in.
    code: Range<u32>,
    /// The program, needed to detect reads of a register and writes that do not change it.
    program: Option<Arc<Program>>,
}

impl Watchpoint {
    /// A watchpoint on `target` with its present bytes on `machine`.
    pub fn new(number: Option<u32>, target: Target, mode: WatchMode, machine: &Machine) -> Self {
        let (bytes, program) = (bytes_of(&target, machine), machine.program());
        let function = match &target {
            Target::Register(target) => program.function_at(target.function_start),
            Target::Memory(_) => None,
        };
        let code = function.map(|id| &program.functions[id.index()]).map_or(0..0, |function| function.code.clone());
        let needs_program = matches!(target, Target::Register(_)) && mode != WatchMode::Change;
        Self { number, target, mode, bytes, code, program: needs_program.then(|| Arc::clone(program)) }
    }

    /// A watchpoint on memory whose bytes are not compared.
    pub fn unread(target: MemoryTarget, mode: WatchMode) -> Self {
        Self { number: None, target: Target::Memory(target), mode, bytes: None, code: 0..0, program: None }
    }

    /// True if the watched object is in memory.
    pub fn is_memory(&self) -> bool {
        matches!(self.target, Target::Memory(_))
    }

    /// Reads its bytes again when a launch begins: buffers are filled without a write event.
    pub fn reread(&mut self, machine: &Machine) {
        self.bytes = bytes_of(&self.target, machine);
    }

    /// Reads the initial value of a register whose frame has just been created, before `warp` executes.
    pub fn initialize(&mut self, block: [u32; 3], warp_number: u32, warp: &Warp) {
        if let (None, Target::Register(target)) = (&self.bytes, &self.target)
            && (target.block, target.warp) == (block, warp_number)
        {
            self.bytes = Some(register_values(target, warp));
        }
    }

    /// Replaces the bytes by `new`; returns the old ones: zeros if the object did not exist, empty for unknown global memory.
    pub fn replace(&mut self, new: Vec<u8>) -> Vec<u8> {
        let is_global = matches!(&self.target, Target::Memory(target) if same_space(target.space) == Space::Global);
        let unknown = if is_global { Vec::new() } else { vec![0; new.len()] };
        self.bytes.replace(new).unwrap_or(unknown)
    }

    /// The lanes whose access stops the watchpoint.
    pub fn accessing_lanes(&self, event: &AccessEvent<'_>) -> LaneMask {
        let Target::Memory(target) = &self.target else { return LaneMask::NONE };
        let is_watched = match self.mode {
            WatchMode::Change => event.kind != AccessKind::Read,
            WatchMode::Read => event.kind != AccessKind::Write,
            WatchMode::Access => true,
        };
        if !is_watched || same_space(event.space) != same_space(target.space) {
            return LaneMask::NONE;
        }
        let lanes = match same_space(target.space) {
            Space::Shared if target.owner.block != event.point.block => LaneMask::NONE,
            Space::Local if (target.owner.block, target.owner.warp) != (event.point.block, event.point.warp.number()) => LaneMask::NONE,
            Space::Local => event.lanes & target.owner.lane_mask(),
            _ => event.lanes,
        };
        let end = target.address.saturating_add(target.bytes);
        let overlaps = |lane: usize| {
            let address = event.addresses[lane];
            address < end && target.address < address.saturating_add(u64::from(event.bytes))
        };
        lanes.filter(overlaps)
    }

    /// The kind of access that a copy makes, if the watchpoint stops at it. A copy counts as a write when it is issued, because its
    /// destination is undefined from then on, and when it ends; it counts as a read at the latest when it ends.
    pub fn access_by_copy(&self, event: &CopyEvent<'_>) -> Option<AccessKind> {
        let Target::Memory(target) = &self.target else { return None };
        let end = target.address.saturating_add(target.bytes);
        let overlaps = |at: MemoryAddress, bytes: u64| {
            let same = match at.owner {
                MemoryOwner::Global => same_space(target.space) == Space::Global,
                MemoryOwner::Block { index, .. } => same_space(target.space) == Space::Shared && target.owner.block == index,
            };
            same && at.address < end && target.address < at.address.saturating_add(bytes)
        };
        let (mut writes, mut reads) = (false, false);
        if event.stage != CopyStage::Read {
            event.copy.kind.visit_writes(event.lanes, |at, bytes| writes |= overlaps(at, bytes));
        }
        if event.stage == CopyStage::Read || event.stage == CopyStage::Ended && !event.copy.read {
            event.copy.kind.visit_reads(event.lanes, |at, bytes| reads |= overlaps(at, bytes));
        }
        match self.mode {
            WatchMode::Change | WatchMode::Access if writes => Some(AccessKind::Write),
            WatchMode::Read | WatchMode::Access if reads => Some(AccessKind::Read),
            _ => None,
        }
    }

    /// True if a matrix multiplication that ends has read the object and the watchpoint stops at reads.
    pub fn read_by_wgmma(&self, wgmma: &Wgmma) -> bool {
        let Target::Memory(target) = &self.target else { return false };
        let is_same_memory = same_space(target.space) == Space::Shared && target.owner.block == wgmma.issued.block;
        let end = target.address.saturating_add(target.bytes);
        let overlaps = |(from, to): (u32, u32)| u64::from(from) < end && target.address < u64::from(to);
        is_same_memory && self.mode != WatchMode::Change && wgmma.reads().any(overlaps)
    }

    /// The kind of access that an executed instruction made to the register, and the lanes, if the watchpoint stops at it. An instruction
    /// that reads and writes the register counts as a write.
    pub fn access_in(&self, issue: &Issue, warp: &Warp) -> Option<(AccessKind, LaneMask)> {
        let (read, written) = self.operand_lanes(issue);
        let changed = self.changed_in(issue.point.block, issue.point.warp.number(), warp);
        let accesses = match self.mode {
            WatchMode::Change => [(AccessKind::Write, changed), (AccessKind::Read, LaneMask::NONE)],
            WatchMode::Read => [(AccessKind::Write, LaneMask::NONE), (AccessKind::Read, read)],
            WatchMode::Access => [(AccessKind::Write, changed | written), (AccessKind::Read, read)],
        };
        accesses.into_iter().find(|(_, lanes)| !lanes.is_empty())
    }

    /// The lanes for which an instruction reads the register, and those for which it writes it; empty if only changes are watched.
    fn operand_lanes(&self, issue: &Issue) -> (LaneMask, LaneMask) {
        let (Some(program), Target::Register(target)) = (&self.program, &self.target) else { return (LaneMask::NONE, LaneMask::NONE) };
        if (target.block, target.warp, target.depth) != (issue.point.block, issue.point.warp.number(), issue.depth) {
            return (LaneMask::NONE, LaneMask::NONE);
        }
        let base = match target.bank {
            Bank::B32 => issue.frame.b32,
            Bank::B64 => issue.frame.b64,
            Bank::Pred => issue.frame.pred,
        };
        let inst = &program.code[issue.point.pc.index()];
        let watched = target.slot..target.slot.offset(target.width);
        let (mut read, mut written) = (LaneMask::NONE, LaneMask::NONE);
        registers_of(inst, program, |used, register| {
            let slots = register.slot.in_frame(base).run(register.width);
            if register.bank != target.bank || !slots.into_iter().any(|slot| watched.contains(&slot)) {
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

    /// The old and new bytes of `lane` of a register; all bytes for memory.
    pub fn lane_bytes(&self, lane: usize, old: Vec<u8>, new: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
        let Target::Register(target) = &self.target else { return (old, new) };
        let below = (target.lanes & LaneMask::lowest(lane as u32)).count() as usize;
        let size = register_bytes(target);
        let part = |bytes: Vec<u8>| bytes.into_iter().skip(below * size).take(size).collect();
        (part(old), part(new))
    }

    /// The lanes whose register value differs from when it was last read. A frame of another function in the same slots does not count.
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

    /// True if the lane is in the frame that the register belongs to, or in a call from there.
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

/// The present bytes of a watched object; none if its block is not resident, or its memory is not mapped or unknown.
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
    memory::fill(machine, &ByteRange { space, owner, address, bytes }, &mut out)?;
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

/// A representative for state spaces that address the same memory.
fn same_space(space: Space) -> Space {
    match space {
        Space::Generic | Space::Global => Space::Global,
        Space::Shared | Space::SharedCluster => Space::Shared,
        Space::Local | Space::ParamFunc => Space::Local,
        Space::Const => Space::Const,
        Space::Param => Space::Param,
    }
}
