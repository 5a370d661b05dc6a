//! Branches, calls and exits (PTX ISA, "Control Flow Instructions").

use super::effects::{Effect, Effects, OperandKinds, Purpose};
use super::family::Family;
use crate::isa::SystemFn;
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, CallId, Pc, Program, Src, TableId};

/// Branches, calls and exits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum ControlOp {
    Branch { target: Pc, uniform: bool },
    BranchIndexed { index: Src, table: TableId, uniform: bool },
    Call { call: CallId, uniform: bool },
    /// A call of a device runtime function, executed as one instruction.
    SystemCall { f: SystemFn, call: CallId },
    Return { uniform: bool },
    Exit,
    Trap,
    /// `brkpt`.
    Breakpoint,
}

impl Family for ControlOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            // The targets are not registers.
            Self::Branch { target: _, uniform: _ } | Self::Return { uniform: _ } | Self::Exit | Self::Trap | Self::Breakpoint => {}
            Self::BranchIndexed { index, table: _, uniform: _ } => visitor.read(Bank::B32, index),
            Self::Call { call, uniform: _ } => visitor.call(call),
            Self::SystemCall { f: _, call } => {
                visitor.call(call);
                visitor.call_results(call);
            }
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::Branch { .. } | Self::BranchIndexed { .. } | Self::Call { .. } | Self::Return { .. } | Self::Exit => {
                Effects::of(&[Effect::Branches])
            }
            // It may be `printf`, `malloc` or `__assertfail`.
            Self::SystemCall { .. } => Effects::of(&[Effect::ReadsMemory, Effect::WritesMemory, Effect::Stops]),
            Self::Trap | Self::Breakpoint => Effects::of(&[Effect::Stops]),
        }
    }

    fn operand_kinds(&self) -> Option<OperandKinds> {
        match self {
            Self::SystemCall { .. } => OperandKinds::INTEGERS,
            Self::Branch { .. }
            | Self::BranchIndexed { .. }
            | Self::Call { .. }
            | Self::Return { .. }
            | Self::Exit
            | Self::Trap
            | Self::Breakpoint => None,
        }
    }

    fn targets<'a>(&'a self, program: &'a Program) -> &'a [Pc] {
        match self {
            Self::Branch { target, uniform: _ } => std::slice::from_ref(target),
            Self::BranchIndexed { index: _, table, uniform: _ } => &program.tables[*table],
            Self::Call { .. } | Self::SystemCall { .. } | Self::Return { .. } | Self::Exit | Self::Trap | Self::Breakpoint => &[],
        }
    }

    fn purpose(&self) -> Purpose {
        match self {
            Self::BranchIndexed { .. } => Purpose::Target,
            Self::Branch { .. }
            | Self::Call { .. }
            | Self::SystemCall { .. }
            | Self::Return { .. }
            | Self::Exit
            | Self::Trap
            | Self::Breakpoint => Purpose::Result,
        }
    }
}
