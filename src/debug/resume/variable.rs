//! The values that a watched variable of the source has during a run, lane by lane, and whether its frame is there.

use std::collections::{BTreeMap, BTreeSet};

use super::watchpoint::register_value;
use crate::debug::focus::Focus;
use crate::debug::memory::{self, ByteRange};
use crate::debug::target::{FrameTarget, PartStorage, VariablePart, VariableTarget};
use crate::debug::tensors::moves::{Source, moves};
use crate::isa::Space;
use crate::machine::{AccessEvent, Issue, IssuePoint, LaneMask, Machine, Tick, Warp, frames};
use crate::program::operands::{Use, registers_of};
use crate::program::{Bank, Inst, Pc, Program, Slot};

/// The bytes of the variable in each of the lanes of the target, in order; none where they are not known.
pub type Values = Vec<Option<Vec<u8>>>;

/// What is known of the registers of a variable, and of those that are moved to them, by bank and slot.
#[derive(Clone, Debug, Default)]
pub struct Assigned {
    /// Each of these registers, with what is known of it; none before the first instruction in the frame of the variable.
    registers: Option<BTreeMap<(Bank, Slot), AssignedRegister>>,
    /// The bytes of local memory that the lanes have written since the frame began, by address and lane; none if that is not known.
    written: Option<BTreeSet<(u64, usize)>>,
}

/// What is known of a register.
#[derive(Clone, Copy, Debug, Default)]
struct AssignedRegister {
    /// The lanes that have written it: the machine notes it at its next pause.
    written: LaneMask,
    /// The lanes that have moved a register there that they have never written.
    undefined: LaneMask,
    /// The instruction that has written it last, and the lanes.
    last: Option<(IssuePoint, LaneMask)>,
}

/// The values of a watched variable at the end of a run.
#[derive(Clone, Debug)]
pub struct WatchedValues {
    /// The watchpoint.
    pub number: u32,
    /// The time.
    pub time: Tick,
    /// The values when last known.
    pub values: Values,
    /// What is known of its registers.
    pub(super) assigned: Assigned,
}

impl Assigned {
    /// What is known of a variable of which these bytes of local memory, by address and lane, have been written.
    pub(super) fn of_memory(written: BTreeSet<(u64, usize)>) -> Self {
        Self { registers: None, written: Some(written) }
    }

    /// Notes what an access writes of the local memory of a variable; the lanes that write a byte of it for the first time.
    pub(super) fn write_memory(&mut self, target: &VariableTarget, event: &AccessEvent<'_>) -> LaneMask {
        let Some(written) = &mut self.written else { return LaneMask::NONE };
        let mut first = LaneMask::NONE;
        for part in target.parts() {
            let PartStorage::Memory { space: Space::Local, address } = part.storage else { continue };
            for lane in (event.lanes & target.lanes).iter() {
                let start = event.addresses[lane];
                let end = start.saturating_add(event.bytes.into()).min(address.saturating_add(part.bytes.into()));
                let count = (start.max(address)..end).filter(|at| written.insert((*at, lane))).count();
                first |= if count > 0 { LaneMask::of(lane) } else { LaneMask::NONE };
            }
        }
        first
    }

    fn register(&self, bank: Bank, slot: Slot) -> AssignedRegister {
        self.registers.as_ref().and_then(|registers| registers.get(&(bank, slot))).copied().unwrap_or_default()
    }

    /// True if a lane has written the register.
    fn is_written(&self, warp: &Warp, (bank, slot): (Bank, Slot), lane: usize) -> bool {
        let AssignedRegister { written, undefined, .. } = self.register(bank, slot);
        let noted = warp.registers.written.as_ref();
        let is_noted = || noted.is_none_or(|noted| noted.lanes(bank, slot).contains(lane));
        !undefined.contains(lane) && (written.contains(lane) || is_noted())
    }

    /// The instruction that has given the register of a variable its value, and its tick, if that is another than the one at `place`, after
    /// which a lane has the variable in that register.
    pub(super) fn written_before(&self, target: &VariableTarget, warp: &Warp, place: &IssuePoint, lane: usize) -> Option<(Pc, Tick)> {
        let [VariablePart { storage: PartStorage::Register { bank, slot, .. }, .. }] = target.parts_at(target.position(warp, lane)?)?
        else {
            return None;
        };
        let (last, lanes) = self.register(*bank, *slot).last?;
        (lanes.contains(lane) && last.tick != place.tick).then_some((last.pc, last.tick))
    }
}

impl FrameTarget {
    /// The instruction of the frame at which a lane stands; none if the lane is in the frame no longer.
    fn position(&self, warp: &Warp, lane: usize) -> Option<Pc> {
        let group = warp.groups.iter().find(|group| group.mask.contains(lane))?;
        let depth = group.stack.as_ref().map_or(0, |frame| frame.depth);
        let pc = match depth.checked_sub(self.depth)? {
            0 => group.current_pc(),
            _ => frames(&group.stack).find(|frame| frame.depth == self.depth + 1)?.pc,
        };
        self.code.contains(&pc.0).then_some(pc)
    }

    /// True if no lane is in it any more.
    pub(super) fn is_left(&self, warp: &Warp) -> bool {
        self.lanes.iter().all(|lane| self.position(warp, lane).is_none())
    }
}

impl VariableTarget {
    /// The instruction of its frame at which a lane stands; none if the lane is in that frame no longer.
    fn position(&self, warp: &Warp, lane: usize) -> Option<Pc> {
        self.frame().position(warp, lane)
    }

    /// Its values on a machine at which its frame is there.
    pub(super) fn values(&self, machine: &Machine, assigned: &Assigned) -> Values {
        let warp = machine.block(self.block).and_then(|block| block.warps.get(self.warp as usize));
        self.lanes.iter().map(|lane| self.value(warp?, lane, (Some(machine), assigned))).collect()
    }

    /// The values that registers hold during a run.
    pub(super) fn values_in_registers(&self, warp: &Warp, assigned: &Assigned) -> Values {
        self.lanes.iter().map(|lane| self.value(warp, lane, (None, assigned))).collect()
    }

    /// Notes what an executed instruction of the frame's depth, after which the warp is `warp`, does to the registers of the variable.
    pub(super) fn assign(&self, issue: &Issue, program: &Program, warp: &Warp, assigned: &mut Assigned) {
        if issue.depth != self.depth {
            return;
        }
        let in_frame = |bank: Bank, slot: Slot| (bank, slot.in_frame(issue.frame.slot(bank)));
        if assigned.registers.is_none() {
            assigned.registers = Some(self.followed(program, in_frame));
        }
        let inst = &program.code[issue.point.pc.index()];
        let undefined = whole_moves(inst, program).map(|(to, from)| {
            let from = in_frame(from.0, from.1);
            (in_frame(to.0, to.1), issue.active.filter(|lane| !assigned.is_written(warp, from, lane)))
        });
        let undefined: Vec<((Bank, Slot), LaneMask)> = undefined.collect();
        let Some(registers) = &mut assigned.registers else { return };
        registers_of(inst, program, |used, register| {
            let (bank, first) = in_frame(register.bank, register.slot);
            for slot in first.run(register.width).filter(|_| used == Use::Write) {
                if let Some(written) = registers.get_mut(&(bank, slot)) {
                    written.written |= issue.active;
                    written.undefined &= !issue.active;
                    written.last = Some((issue.point, issue.active));
                }
            }
        });
        for (to, lanes) in undefined {
            if let Some(moved) = registers.get_mut(&to) {
                moved.undefined |= lanes;
            }
        }
    }

    /// The registers of the variable, and those that the function moves to them.
    fn followed(&self, program: &Program, in_frame: impl Fn(Bank, Slot) -> (Bank, Slot)) -> BTreeMap<(Bank, Slot), AssignedRegister> {
        let mut sources: BTreeMap<(Bank, Slot), Vec<(Bank, Slot)>> = BTreeMap::new();
        let function = program.function_at(Pc(self.code.start)).map(|id| &program.functions[id.index()]);
        for inst in
            function.into_iter().filter_map(|function| program.code.get(function.code.start as usize..function.code.end as usize)).flatten()
        {
            for (to, from) in whole_moves(inst, program) {
                sources.entry(in_frame(to.0, to.1)).or_default().push(in_frame(from.0, from.1));
            }
        }
        let own = self.parts().filter_map(|part| match part.storage {
            PartStorage::Register { bank, slot, width, .. } => Some(slot.run(width).map(move |slot| (bank, slot))),
            PartStorage::Memory { .. } | PartStorage::Known(_) | PartStorage::Removed => None,
        });
        let mut pending: Vec<(Bank, Slot)> = own.flatten().collect();
        let mut followed = BTreeMap::new();
        while let Some(register) = pending.pop() {
            if followed.insert(register, AssignedRegister::default()).is_none() {
                pending.extend(sources.get(&register).into_iter().flatten());
            }
        }
        followed
    }

    /// The lanes whose value is another than in `before`.
    pub(super) fn changed(&self, before: &Values, now: &Values) -> LaneMask {
        let mut changed = LaneMask::NONE;
        for (lane, (before, now)) in self.lanes.iter().zip(before.iter().zip(now)) {
            let is_first = before.is_none() && self.is_parameter;
            if now.is_some() && now != before && !is_first {
                changed |= LaneMask::of(lane);
            }
        }
        changed
    }

    /// The bytes of a lane, without those in memory if there is no machine.
    fn value(&self, warp: &Warp, lane: usize, state: (Option<&Machine>, &Assigned)) -> Option<Vec<u8>> {
        let mut value = Vec::with_capacity(self.bytes as usize);
        for part in self.parts_at(self.position(warp, lane)?)? {
            self.append(&mut value, part, (warp, lane), state)?;
        }
        Some(if let Some(field) = self.field { field.value(&value) } else { value })
    }

    fn append(
        &self,
        value: &mut Vec<u8>,
        part: &VariablePart,
        (warp, lane): (&Warp, usize),
        (machine, assigned): (Option<&Machine>, &Assigned),
    ) -> Option<()> {
        let bytes = part.bytes as usize;
        match &part.storage {
            PartStorage::Register { bank, slot, width, offset } => {
                if !slot.run(*width).all(|slot| assigned.is_written(warp, (*bank, slot), lane)) {
                    return None;
                }
                let held = register_value(*bank, *slot, *width, warp, lane).to_le_bytes();
                value.extend(held.iter().copied().chain(std::iter::repeat(0)).skip(*offset as usize).take(bytes));
            }
            PartStorage::Memory { space, address } => {
                let owner = Focus { block: self.block, warp: self.warp, lane: lane as u32, frame: 0 };
                let range = ByteRange { space: *space, owner, address: *address, bytes: bytes as u64 };
                let start = value.len();
                value.resize(start + bytes, 0);
                memory::fill(machine?, &range, &mut value[start..])?;
            }
            PartStorage::Known(known) => value.extend(known.iter().copied().chain(std::iter::repeat(0)).take(bytes)),
            // What is removed cannot be seen to change.
            PartStorage::Removed => value.extend(std::iter::repeat_n(0, bytes)),
        }
        Some(())
    }

    /// The lanes for which an instruction that was executed read the variable from a register, and those for which it wrote it to one.
    pub(super) fn operands(&self, issue: &Issue, program: &Program, warp: &Warp) -> (LaneMask, LaneMask) {
        let (mut read, mut written) = (LaneMask::NONE, LaneMask::NONE);
        if (self.block, self.warp, self.depth) != (issue.point.block, issue.point.warp.number(), issue.depth) {
            return (read, written);
        }
        registers_of(&program.code[issue.point.pc.index()], program, |used, register| {
            let first = register.slot.in_frame(issue.frame.slot(register.bank));
            let is_part = |part: &VariablePart| part.overlaps(register.bank, first, register.width);
            let is_at = |pc: Pc| self.parts_at(pc).is_some_and(|parts| parts.iter().any(is_part));
            let is_read = is_at(issue.point.pc);
            match used {
                Use::Write => written |= issue.active.filter(|lane| self.position(warp, lane).is_some_and(is_at)),
                Use::Guard if is_read => read |= issue.lanes,
                Use::Address | Use::Read if is_read => read |= issue.active,
                Use::Guard | Use::Address | Use::Read => {}
            }
        });
        (read & self.lanes, written & self.lanes)
    }

    /// The lanes whose access to memory of `space` overlaps a part of the variable.
    pub(super) fn accessed(&self, space: Space, lanes: LaneMask, overlaps: impl Fn(usize, u64, u64) -> bool) -> LaneMask {
        let in_memory = self.parts().filter_map(|part| match part.storage {
            PartStorage::Memory { space: own, address } if own == space => Some((address, address.saturating_add(u64::from(part.bytes)))),
            PartStorage::Memory { .. } | PartStorage::Register { .. } | PartStorage::Known(_) | PartStorage::Removed => None,
        });
        in_memory.fold(LaneMask::NONE, |found, (start, end)| found | (lanes & self.lanes).filter(|lane| overlaps(lane, start, end)))
    }
}

/// The registers that an instruction moves as a whole: where to, and from where.
fn whole_moves(inst: &Inst, program: &Program) -> impl Iterator<Item = ((Bank, Slot), (Bank, Slot))> {
    moves(inst, program).into_iter().filter_map(|moved| match moved.from {
        Source::Register(bank, slot) => ((moved.to_shift, moved.from_shift) == (0, 0)).then_some((moved.to, (bank, slot))),
        Source::Constant(_) => None,
    })
}

impl VariablePart {
    /// True if a register of `bank` holds a part of it.
    fn overlaps(&self, bank: Bank, first: Slot, width: u32) -> bool {
        match &self.storage {
            PartStorage::Register { bank: own, slot, width: own_width, .. } => {
                *own == bank && first.run(width).any(|at| (*slot..slot.offset(*own_width)).contains(&at))
            }
            PartStorage::Memory { .. } | PartStorage::Known(_) | PartStorage::Removed => false,
        }
    }
}
