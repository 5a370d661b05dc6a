//! Branches, calls and exits.

use super::family::{Decoded, Decoding};
use crate::base::Diagnostic;
use crate::isa::ControlDecode;
use crate::program::{ControlOp, Op};
use crate::syntax::tree::{Expr, ExprKind, Name, OperandKind};

impl<'a> Decoding<'_, 'a> {
    /// Branches, calls and exits.
    pub(super) fn control(&mut self, decode: ControlDecode) -> Decoded {
        let uniform = self.matched.has("uni");
        match decode {
            ControlDecode::Branch => {
                let label = self.label(0)?;
                Ok(Op::Control(ControlOp::Branch { target: self.cx.branch_target(label)?, uniform }))
            }
            ControlDecode::BranchIndexed => {
                let label = self.label(1)?;
                Ok(Op::Control(ControlOp::BranchIndexed { index: self.src(0)?, table: self.cx.branch_table(label)?, uniform }))
            }
            ControlDecode::Call => self.cx.call(&self.instruction.operands, uniform, self.instruction.span),
            ControlDecode::Return => Ok(Op::Control(ControlOp::Return { uniform })),
            ControlDecode::Exit => Ok(Op::Control(ControlOp::Exit)),
            ControlDecode::Trap => Ok(Op::Control(ControlOp::Trap)),
            ControlDecode::Breakpoint => Ok(Op::Control(ControlOp::Breakpoint)),
        }
    }

    /// Operand `index`, which must be a name.
    fn label(&self, index: usize) -> Result<Name<'a>, Diagnostic> {
        match self.instruction.operands.get(index).map(|operand| &operand.kind) {
            Some(OperandKind::Expr(Expr { kind: ExprKind::Name(text), span })) => Ok(Name { text, span: *span }),
            _ => Err(Diagnostic::error("operand", self.operand_span(index), "a label is needed here")),
        }
    }
}
