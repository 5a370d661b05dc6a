//! The operands of each instruction whose undefined value is a finding.

use super::kinds::only_computes;
use super::name::name;
use super::origin::{Cause, Origin, OriginText};
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

/// The kinds of uses of an undefined value that are findings.
#[derive(Clone, Copy)]
pub(in crate::check::init) enum UseKind {
    /// It controls a branch.
    Branch,
    /// It is the guard of an instruction.
    Execution,
    /// It is part of an address.
    Address,
    /// It is stored.
    Store,
    /// It is stored in a buffer that is not compared although others are.
    UncomparedStore,
    /// It is an operand of an effect, such as a byte count.
    Operand,
}

/// The kind of use of a value by the instruction that reads it; none if the value only flows into the result.
pub(super) fn use_kind(inst: &Inst, used: Use, program: &Program) -> Option<UseKind> {
    match (used, &inst.op) {
        (Use::Guard, Op::Control(ControlOp::Branch { .. })) => Some(UseKind::Branch),
        (Use::Guard, _) if only_computes(inst, program) => None,
        (Use::Guard, _) => Some(UseKind::Execution),
        (Use::Address, _) => Some(UseKind::Address),
        (Use::Write, _) => None,
        (Use::Read, op) => match op.purpose() {
            Purpose::Result => None,
            Purpose::Target => Some(UseKind::Branch),
            Purpose::Memory => Some(UseKind::Store),
            Purpose::Parameter => Some(UseKind::Operand),
        },
    }
}

/// Reports that the lanes of `origins` use a register that is undefined in them.
pub(in crate::check::init) fn report(
    point: IssuePoint,
    register: RegisterOperand,
    origins: &[(usize, Origin)],
    use_kind: UseKind,
    (reports, to): (&mut Reports, &mut Reporter<'_>),
) -> bool {
    let Some((_, first)) = origins.first() else { return false };
    let severity = if let UseKind::UncomparedStore = use_kind { Severity::Note } else { first.id().severity() };
    if reports.count_again(first, (point, severity), to) {
        return false;
    }
    let Some(OriginText { origin, lanes, from, why, fix }) = OriginText::new(to.program, register, origins) else { return false };
    let read = name(to.program, to.program.function_at(point.pc), register);
    let action = match use_kind {
        UseKind::Branch => format!("{read} decides which way {}", lanes_do(lanes, "go")),
        UseKind::Execution => format!("{read} decides whether {} this", lanes_do(lanes, "execute")),
        UseKind::Address => format!("{read} is part of the address that {}", lanes_do(lanes, "access")),
        UseKind::Store => format!("{} {read}", lanes_do(lanes, "store")),
        UseKind::UncomparedStore => {
            format!("{} {read} in memory that the launch does not compare, as it does others", lanes_do(lanes, "store"))
        }
        UseKind::Operand => format!("{read} says what {} here", lanes_do(lanes, "do")),
    };
    let second = Side::new(point, lanes, SideAction::Use);
    let finding = Finding { severity, first: origin.side(point, from), ..Finding::new(origin.id(), second, format!("{action}{why}"), fix) };
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

    /// The first side of a finding of a use at `point`, where that is another instruction.
    pub(in crate::check::init) fn side(&self, point: IssuePoint, lanes: LaneMask) -> Option<Side> {
        let side = match self.cause {
            Cause::Unwritten | Cause::Absent(..) => Side::new(self.point, lanes, SideAction::Use),
            Cause::Memory(memory) => Side { bytes: memory.bytes, ..Side::new(self.point, lanes, SideAction::Read) },
        };
        (self.point.pc != point.pc).then_some(side)
    }
}
