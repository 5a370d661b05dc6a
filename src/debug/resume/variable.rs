//! The values that a watched variable of the source has during a run, lane by lane, and whether its frame is there.

use std::collections::BTreeMap;

use super::watchpoint::register_value;
use crate::debug::focus::Focus;
use crate::debug::memory::{self, ByteRange};
use crate::debug::target::{PartStorage, VariablePart, VariableTarget};
use crate::isa::Space;
use crate::machine::{Issue, LaneMask, Machine, Tick, Warp, frames};
use crate::program::operands::{Use, registers_of};
use crate::program::{Bank, Pc, Program, Slot};

/// The bytes of the variable in each of the lanes of the target, in order; none where they are not known.
pub type Values = Vec<Option<Vec<u8>>>;

/// The registers of a variable that lanes have written since the run began, by bank and slot: the machine notes it at its next pause.
#[derive(Clone, Debug, Default)]
pub struct Assigned(BTreeMap<(Bank, Slot), LaneMask>);

/// The values of a watched variable at the end of a run.
#[derive(Clone, Debug)]
pub struct WatchedValues {
    /// The watchpoint.
    pub number: u32,
    /// The time.
    pub time: Tick,
    /// The values when last known.
    pub values: Values,
}

impl VariableTarget {
    /// The instruction of its frame at which a lane stands; none if the lane is in that frame no longer.
    fn position(&self, warp: &Warp, lane: usize) -> Option<Pc> {
        let group = warp.groups.iter().find(|group| group.mask.contains(lane))?;
        let depth = group.stack.as_ref().map_or(0, |frame| frame.depth);
        let pc = match depth.checked_sub(self.depth)? {
            0 => group.current_pc(),
            _ => frames(&group.stack).find(|frame| frame.depth == self.depth + 1)?.pc,
        };
        self.code.contains(&pc.0).then_some(pc)
    }

    /// True if no lane is in its frame any more.
    pub(super) fn is_left(&self, warp: &Warp) -> bool {
        self.lanes.iter().all(|lane| self.position(warp, lane).is_none())
    }

    /// Its values on a machine at which its frame is there.
    pub(super) fn values(&self, machine: &Machine) -> Values {
        let warp = machine.block(self.block).and_then(|block| block.warps.get(self.warp as usize));
        let assigned = Assigned::default();
        self.lanes.iter().map(|lane| self.value(warp?, lane, (Some(machine), &assigned))).collect()
    }

    /// The values that registers hold during a run.
    pub(super) fn values_in_registers(&self, warp: &Warp, assigned: &Assigned) -> Values {
        self.lanes.iter().map(|lane| self.value(warp, lane, (None, assigned))).collect()
    }

    /// Notes the registers of the variable that an executed instruction has written.
    pub(super) fn assign(&self, issue: &Issue, program: &Program, assigned: &mut Assigned) {
        if issue.depth != self.depth {
            return;
        }
        registers_of(&program.code[issue.point.pc.index()], program, |used, register| {
            let first = register.slot.in_frame(issue.frame.slot(register.bank));
            if used == Use::Write && self.parts().any(|part| part.overlaps(register.bank, first, register.width)) {
                for slot in first.run(register.width) {
                    *assigned.0.entry((register.bank, slot)).or_default() |= issue.active;
                }
            }
        });
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
        Some(value)
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
                let is_noted = |slot| assigned.0.get(&(*bank, slot)).is_some_and(|lanes| lanes.contains(lane));
                let written = warp.registers.written.as_ref();
                let is_written = |slot| written.is_none_or(|written| written.lanes(*bank, slot).contains(lane)) || is_noted(slot);
                if !slot.run(*width).all(is_written) {
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
