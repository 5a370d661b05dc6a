//! The operands of each instruction whose undefined value is a finding.

use super::kinds::only_computes;
use super::name::name;
use super::origin::{Origin, Reported};
use crate::check::finding::{Finding, Side, SideAction};
use crate::check::init::catalogue::REGISTER_UNINITIALIZED;
use crate::check::lane_text::lanes_do;
use crate::check::reporter::Reporter;
use crate::machine::Issue;
use crate::program::operands::{RegisterOperand, Use};
use crate::program::{ControlOp, Inst, Op, Program, Purpose};

/// What an undefined value decides.
#[derive(Clone, Copy)]
pub(super) enum Matters {
    /// Which way a thread goes.
    Way,
    /// Whether it executes an instruction.
    Execution,
    /// The address it accesses.
    Address,
    /// What it stores.
    Value,
    /// What an instruction does that is no computation.
    Operand,
}

/// What a value that is read decides at once; nothing if it only comes into the result.
pub(super) fn matters(inst: &Inst, used: Use, program: &Program) -> Option<Matters> {
    match (used, &inst.op) {
        (Use::Guard, Op::Control(ControlOp::Branch { .. })) => Some(Matters::Way),
        (Use::Guard, _) if only_computes(inst, program) => None,
        (Use::Guard, _) => Some(Matters::Execution),
        (Use::Address, _) => Some(Matters::Address),
        (Use::Write, _) => None,
        (Use::Read, op) => match op.purpose() {
            Purpose::Result => None,
            Purpose::Way => Some(Matters::Way),
            Purpose::Memory => Some(Matters::Value),
            Purpose::Action => Some(Matters::Operand),
        },
    }
}

/// Reports that the lanes of `origins` use a register that has no value in them.
pub(super) fn report(
    issue: &Issue,
    register: RegisterOperand,
    origins: &[(usize, Origin)],
    matters: Matters,
    to: &mut Reporter<'_>,
) -> bool {
    let Some(Reported { origin, lanes, from, why, fix }) = Reported::new(to.program, register, origins) else { return false };
    let read = name(to.program, to.program.function_at(issue.place.pc), register);
    let action = match matters {
        Matters::Way => format!("{read} decides which way {}", lanes_do(lanes, "go")),
        Matters::Execution => format!("{read} decides whether {} this", lanes_do(lanes, "execute")),
        Matters::Address => format!("{read} is part of the address that {}", lanes_do(lanes, "access")),
        Matters::Value => format!("{} {read}", lanes_do(lanes, "store")),
        Matters::Operand => format!("{read} says what {} here", lanes_do(lanes, "do")),
    };
    let side = |place, lanes| Side::new(place, lanes, SideAction::Use);
    let first = (origin.pc != issue.place.pc).then(|| side(origin, from));
    let second = side(issue.place, lanes);
    to.report(Finding { first, ..Finding::new(REGISTER_UNINITIALIZED, second, format!("{action}{why}"), fix) })
}
