//! The object of a watchpoint (a register, bytes of memory, or a variable) during a run, and what it held when last read.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::variable::{Assigned, Values, WatchedValues};
use crate::debug::breakpoints::WatchMode;
use crate::debug::memory::{self, ByteRange};
use crate::debug::target::{FrameTarget, MemoryTarget, RegisterTarget, Target, VariableTarget};
use crate::isa::Space;
use crate::machine::{
    AccessEvent, AccessKind, CopyEvent, CopyStage, Issue, LaneMask, Machine, MemoryAddress, MemoryOwner, Tick, Warp, Wgmma, frames,
};
use crate::program::operands::{Use, registers_of};
use crate::program::{Bank, Program, Slot};

/// A watchpoint during a run.
pub struct Watchpoint {
    /// The watchpoint's number; none in a history.
    pub number: Option<u32>,
    /// The watched object.
    pub target: Target,
    /// The kind of access that the watchpoint stops at.
    pub mode: WatchMode,
    /// Its bytes when last read: for a register, those of its lanes one after the other. None while it does not exist, and for a variable.
    pub bytes: Option<Vec<u8>>,
    /// The values of a variable when last known; none before its frame begins, and for other objects.
    pub values: Option<Values>,
    /// What is known of the registers of a variable.
    assigned: Assigned,
    /// True if a watched lane is in the frame of a variable, or of the reference that named memory.
    is_in_frame: bool,
    /// The code of the function whose frame a register is in.
    code: Range<u32>,
    /// The program, needed to detect reads of a register and writes that do not change it, and what is written of a variable.
    program: Option<Arc<Program>>,
}

/// The frame that the object belongs to.
fn frame_of(target: &Target) -> Option<FrameTarget> {
    match target {
        Target::Variable(target) => Some(target.frame()),
        Target::Memory(target) => target.frame.clone(),
        Target::Register(_) => None,
    }
}

impl Watchpoint {
    /// A watchpoint on `target` with its present bytes on `machine`.
    pub fn new(number: Option<u32>, target: Target, mode: WatchMode, machine: &Machine) -> Self {
        let (bytes, program) = (bytes_of(&target, machine), machine.program());
        let function = match &target {
            Target::Register(target) => program.function_at(target.function_start),
            Target::Memory(_) | Target::Variable(_) => None,
        };
        let values = match &target {
            Target::Variable(target) => (machine.tick() >= target.since).then(|| target.values(machine, &Assigned::default())),
            Target::Register(_) | Target::Memory(_) => None,
        };
        let is_in_frame = frame_of(&target).is_some_and(|frame| {
            let warp = machine.block(frame.block).and_then(|block| block.warps.get(frame.warp as usize));
            warp.is_some_and(|warp| !frame.is_left(warp))
        });
        // Nothing is written of a variable whose frame begins now or later.
        let assigned = match &target {
            Target::Variable(target) if machine.tick() <= target.since => Assigned::of_memory(BTreeSet::new()),
            Target::Variable(_) | Target::Register(_) | Target::Memory(_) => Assigned::default(),
        };
        let code = function.map(|id| &program.functions[id.index()]).map_or(0..0, |function| function.code.clone());
        let needs_program = match target {
            Target::Variable(_) => true,
            Target::Register(_) => mode != WatchMode::Change,
            Target::Memory(_) => false,
        };
        Self { number, target, mode, bytes, values, assigned, is_in_frame, code, program: needs_program.then(|| Arc::clone(program)) }
    }

    /// A watchpoint on memory whose bytes are not compared.
    pub fn unread(target: MemoryTarget, mode: WatchMode) -> Self {
        Self {
            number: None,
            target: Target::Memory(target),
            mode,
            bytes: None,
            values: None,
            assigned: Assigned::default(),
            is_in_frame: false,
            code: 0..0,
            program: None,
        }
    }

    /// True if the watched object is bytes of memory.
    pub fn is_memory(&self) -> bool {
        matches!(self.target, Target::Memory(_))
    }

    /// True if the object is memory that no frame ends: accesses are all that there is to see of it.
    pub fn is_memory_only(&self) -> bool {
        self.is_memory() && frame_of(&self.target).is_none()
    }

    /// True if accesses to memory may be accesses to the object.
    pub fn wants_accesses(&self) -> bool {
        match &self.target {
            Target::Memory(_) => true,
            Target::Variable(target) => target.is_in_memory(),
            Target::Register(_) => false,
        }
    }

    /// The variable that is watched, with its values when last known and what is known of its registers; none if its frame has not begun,
    /// or something else is watched.
    pub fn variable(&mut self) -> Option<(&VariableTarget, &mut Values, &Assigned)> {
        match &self.target {
            Target::Variable(target) => Some((target, self.values.as_mut()?, &self.assigned)),
            Target::Register(_) | Target::Memory(_) => None,
        }
    }

    /// The values of a variable at the time `time`, at which they were last read.
    pub fn known(&self, time: Tick) -> Option<WatchedValues> {
        Some(WatchedValues { number: self.number?, time, values: self.values.clone()?, assigned: self.assigned.clone() })
    }

    /// Takes over what was known of a variable at the end of the last run, at the present of `machine`: of its registers, and the values
    /// that it had where it has no place now.
    pub fn know(&mut self, watched: &[WatchedValues], machine: &Machine) {
        let same = |watched: &&WatchedValues| (Some(watched.number), watched.time) == (self.number, machine.tick());
        if let (Some(before), Some(values), Target::Variable(target)) = (watched.iter().find(same), &mut self.values, &self.target) {
            self.assigned.clone_from(&before.assigned);
            *values = target.values(machine, &self.assigned);
            let without = values.iter_mut().zip(&before.values).filter(|(value, _)| value.is_none());
            without.for_each(|(value, before)| value.clone_from(before));
        }
    }

    /// Notes what `issue`, which was executed, does to the frame of the object: it begins, and its parameters are what they are. True if
    /// no watched lane is in the frame any more.
    pub fn follow_frame(&mut self, issue: &Issue, warp: &Warp) -> bool {
        let Some(frame) =
            frame_of(&self.target).filter(|frame| (frame.block, frame.warp) == (issue.point.block, issue.point.warp.number()))
        else {
            return false;
        };
        if let Target::Variable(target) = &self.target {
            if issue.point.tick + 1 < target.since {
                return false;
            }
            self.follow_variable(issue, warp);
        }
        let was_in_frame = std::mem::replace(&mut self.is_in_frame, !frame.is_left(warp));
        was_in_frame && !self.is_in_frame
    }

    /// Notes what `issue`, which was executed, does to a variable.
    fn follow_variable(&mut self, issue: &Issue, warp: &Warp) {
        let Target::Variable(target) = &self.target else { return };
        if let Some(program) = &self.program {
            target.assign(issue, program, warp, &mut self.assigned);
        }
        let now = target.values_in_registers(warp, &self.assigned);
        match &mut self.values {
            None => self.values = Some(now),
            Some(values) if target.is_parameter => {
                values.iter_mut().zip(now).filter(|(value, _)| value.is_none()).for_each(|(value, now)| *value = now);
            }
            Some(_) => {}
        }
    }

    /// Reads its bytes again when a launch begins: buffers are filled without a write event. A variable of the kernel has no value then.
    pub fn reread(&mut self, machine: &Machine) {
        self.bytes = bytes_of(&self.target, machine);
        (self.values, self.assigned) = (None, Assigned::of_memory(BTreeSet::new()));
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
        let is_watched = match self.mode {
            WatchMode::Change => event.kind != AccessKind::Read,
            WatchMode::Read => event.kind != AccessKind::Write,
            WatchMode::Access => true,
        };
        let overlaps = |lane: usize, start: u64, end: u64| {
            let address = event.addresses[lane];
            address < end && start < address.saturating_add(u64::from(event.bytes))
        };
        let target = match &self.target {
            Target::Memory(target) if is_watched && same_space(event.space) == same_space(target.space) => target,
            Target::Variable(target) if is_watched && (target.block, target.warp) == (event.point.block, event.point.warp.number()) => {
                return target.accessed(same_space(event.space), event.lanes, overlaps);
            }
            Target::Memory(_) | Target::Variable(_) | Target::Register(_) => return LaneMask::NONE,
        };
        let lanes = match same_space(target.space) {
            Space::Shared if target.owner.block != event.point.block => LaneMask::NONE,
            Space::Local if (target.owner.block, target.owner.warp) != (event.point.block, event.point.warp.number()) => LaneMask::NONE,
            Space::Local => event.lanes & target.owner.lane_mask(),
            _ => event.lanes,
        };
        lanes.filter(|lane| overlaps(lane, target.address, target.address.saturating_add(target.bytes)))
    }

    /// Notes what an access writes of a variable in local memory; the lanes that write a byte of it for the first time. A bit field has no
    /// bytes of its own, and arguments are written by the call.
    pub fn note_written(&mut self, event: &AccessEvent<'_>) -> LaneMask {
        let Target::Variable(target) = &self.target else { return LaneMask::NONE };
        let is_own = (target.block, target.warp) == (event.point.block, event.point.warp.number());
        let is_in_frame = is_own && event.depth >= target.depth && event.point.tick >= target.since;
        if !is_in_frame || event.kind == AccessKind::Read || same_space(event.space) != Space::Local {
            return LaneMask::NONE;
        }
        let first = self.assigned.write_memory(target, event);
        if target.field.is_some() || target.is_parameter || self.mode == WatchMode::Read { LaneMask::NONE } else { first }
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
        let (read, written) = self.operand_lanes(issue, warp);
        let changed = self.changed_in(issue.point.block, issue.point.warp.number(), warp);
        let accesses = match self.mode {
            WatchMode::Change => [(AccessKind::Write, changed), (AccessKind::Read, LaneMask::NONE)],
            WatchMode::Read => [(AccessKind::Write, LaneMask::NONE), (AccessKind::Read, read)],
            WatchMode::Access => [(AccessKind::Write, changed | written), (AccessKind::Read, read)],
        };
        accesses.into_iter().find(|(_, lanes)| !lanes.is_empty())
    }

    /// The lanes for which an instruction reads the register, and those for which it writes it; empty if only changes are watched.
    fn operand_lanes(&self, issue: &Issue, warp: &Warp) -> (LaneMask, LaneMask) {
        let Some(program) = self.program.as_ref().filter(|_| self.mode != WatchMode::Change) else {
            return (LaneMask::NONE, LaneMask::NONE);
        };
        let target = match &self.target {
            Target::Register(target) => target,
            Target::Variable(target) => return target.operands(issue, program, warp),
            Target::Memory(_) => return (LaneMask::NONE, LaneMask::NONE),
        };
        if (target.block, target.warp, target.depth) != (issue.point.block, issue.point.warp.number(), issue.depth) {
            return (LaneMask::NONE, LaneMask::NONE);
        }
        let base = issue.frame.slot(target.bank);
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
        let target = match &self.target {
            Target::Register(target) => target,
            Target::Variable(target) if (target.block, target.warp) == (block, warp_number) => {
                let Some(values) = &self.values else { return LaneMask::NONE };
                return target.changed(values, &target.values_in_registers(warp, &self.assigned));
            }
            Target::Variable(_) | Target::Memory(_) => return LaneMask::NONE,
        };
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

/// The present bytes of a watched register or of memory; none if its block is not resident, or its memory is not mapped or unknown.
pub fn bytes_of(target: &Target, machine: &Machine) -> Option<Vec<u8>> {
    match target {
        Target::Register(target) => {
            let warp = machine.block(target.block)?.warps.get(target.warp as usize)?;
            Some(register_values(target, warp))
        }
        Target::Memory(target) => memory_bytes(target, machine),
        Target::Variable(_) => None,
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
    Some(if let Some(field) = target.field { field.value(&out) } else { out })
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
    register_value(target.bank, target.slot, target.width, warp, lane)
}

/// The value of a lane's register, zero-extended.
pub fn register_value(bank: Bank, slot: Slot, width: u32, warp: &Warp, lane: usize) -> u128 {
    let (registers, slot) = (&warp.registers, slot.index());
    match bank {
        Bank::B32 => registers.b32.get(slot).map_or(0, |register| u128::from(register[lane])),
        Bank::B64 => {
            let part = |index: usize| registers.b64.get(slot + index).map_or(0, |register| u128::from(register[lane]));
            if width == 2 { part(0) | part(1) << 64 } else { part(0) }
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
