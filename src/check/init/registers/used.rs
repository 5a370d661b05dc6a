//! The operands of each instruction whose undefined value is a finding.

use super::kinds::only_computes;
use super::name::name;
use super::origin::{Cause, Origin, Reported};
use crate::base::Severity;
use crate::check::catalogue::FindingId;
use crate::check::finding::{Finding, MemoryRange, Side, SideAction};
use crate::check::init::catalogue::{MEMORY_UNINITIALIZED, REGISTER_UNINITIALIZED};
use crate::check::init::reports::Reports;
use crate::check::lane_text::lanes_do;
use crate::check::reporter::Reporter;
use crate::machine::{IssuePoint, LaneMask};
use crate::program::operands::{RegisterOperand, Use};
use crate::program::{ControlOp, Inst, Op, Program, Purpose};

/// The use of an undefined value.
#[derive(Clone, Copy)]
pub(in crate::check::init) enum Matters {
    /// It decides the direction of a branch.
    Branch,
    /// Whether it executes an instruction.
    Execution,
    /// The address it accesses.
    Address,
    /// It is stored.
    Value,
    /// It is stored in a buffer that is not compared although others are.
    UncomparedValue,
    /// It is a parameter of an effect, such as a byte count.
    Operand,
}

/// The use of a value by the instruction that reads it; none if the value only flows into the result.
pub(super) fn matters(inst: &Inst, used: Use, program: &Program) -> Option<Matters> {
    match (used, &inst.op) {
        (Use::Guard, Op::Control(ControlOp::Branch { .. })) => Some(Matters::Branch),
        (Use::Guard, _) if only_computes(inst, program) => None,
        (Use::Guard, _) => Some(Matters::Execution),
        (Use::Address, _) => Some(Matters::Address),
        (Use::Write, _) => None,
        (Use::Read, op) => match op.purpose() {
            Purpose::Result => None,
            Purpose::Target => Some(Matters::Branch),
            Purpose::Memory => Some(Matters::Value),
            Purpose::Parameter => Some(Matters::Operand),
        },
    }
}

/// Reports that the lanes of `origins` use a register that has no value in them.
pub(in crate::check::init) fn report(
    place: IssuePoint,
    register: RegisterOperand,
    origins: &[(usize, Origin)],
    matters: Matters,
    (reports, to): (&mut Reports, &mut Reporter<'_>),
) -> bool {
    let Some((_, first)) = origins.first() else { return false };
    let severity = if let Matters::UncomparedValue = matters { Severity::Note } else { first.id().severity() };
    if reports.repeats(first, (place, severity), to) {
        return false;
    }
    let Some(Reported { origin, lanes, from, why, fix }) = Reported::new(to.program, register, origins) else { return false };
    let read = name(to.program, to.program.function_at(place.pc), register);
    let action = match matters {
        Matters::Branch => format!("{read} decides which way {}", lanes_do(lanes, "go")),
        Matters::Execution => format!("{read} decides whether {} this", lanes_do(lanes, "execute")),
        Matters::Address => format!("{read} is part of the address that {}", lanes_do(lanes, "access")),
        Matters::Value => format!("{} {read}", lanes_do(lanes, "store")),
        Matters::UncomparedValue => {
            format!("{} {read} in memory that the launch does not compare, as it does others", lanes_do(lanes, "store"))
        }
        Matters::Operand => format!("{read} says what {} here", lanes_do(lanes, "do")),
    };
    let second = Side::new(place, lanes, SideAction::Use);
    let finding = Finding { severity, first: origin.side(place, from), ..Finding::new(origin.id(), second, format!("{action}{why}"), fix) };
    reports.report(Finding { memory: origin.memory(), ..finding }, to)
}

impl Origin {
    /// The id of the mistake.
    pub(in crate::check::init) fn id(&self) -> FindingId {
        match self.cause {
            Cause::Unwritten | Cause::Absent(..) => REGISTER_UNINITIALIZED,
            Cause::Memory(_) => MEMORY_UNINITIALIZED,
        }
    }

    /// The memory that was read.
    fn memory(&self) -> Option<MemoryRange> {
        match self.cause {
            Cause::Unwritten | Cause::Absent(..) => None,
            Cause::Memory(memory) => Some(memory),
        }
    }

    /// The first side of a finding of a use at `place`, where that is another instruction.
    pub(in crate::check::init) fn side(&self, place: IssuePoint, lanes: LaneMask) -> Option<Side> {
        let side = match self.cause {
            Cause::Unwritten | Cause::Absent(..) => Side::new(self.place, lanes, SideAction::Use),
            Cause::Memory(memory) => Side { bytes: memory.bytes, ..Side::new(self.place, lanes, SideAction::Read) },
        };
        (self.place.pc != place.pc).then_some(side)
    }
}
