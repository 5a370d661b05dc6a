//! Branches, calls and the ends of threads.

use super::family::{Decoded, Decoding};
use crate::base::Diagnostic;
use crate::isa::Decode;
use crate::program::{ControlOp, Op};
use crate::syntax::tree::{Expr, ExprKind, Name, OperandKind};

impl<'a> Decoding<'_, 'a> {
    /// Branches, calls and the ends of threads.
    pub(super) fn control(&mut self) -> Decoded {
        let uniform = self.matched.has("uni");
        match self.matched.form.row.decode {
            Decode::Branch => {
                let label = self.label(0)?;
                Ok(Op::Control(ControlOp::Branch { target: self.cx.branch_target(label)?, uniform }))
            }
            Decode::BranchIndexed => {
                let label = self.label(1)?;
                Ok(Op::Control(ControlOp::BranchIndexed { index: self.src(0)?, table: self.cx.branch_table(label)?, uniform }))
            }
            Decode::Call => self.cx.call(&self.instruction.operands, uniform, self.instruction.span),
            Decode::Return => Ok(Op::Control(ControlOp::Return { uniform })),
            Decode::Exit => Ok(Op::Control(ControlOp::Exit)),
            Decode::Trap => Ok(Op::Control(ControlOp::Trap)),
            Decode::Breakpoint => Ok(Op::Control(ControlOp::Breakpoint)),
            _ => Err(self.disagreement(0)),
        }
    }

    /// The name that operand `index` is.
    fn label(&self, index: usize) -> Result<Name<'a>, Diagnostic> {
        match self.instruction.operands.get(index).map(|operand| &operand.kind) {
            Some(OperandKind::Expr(Expr { kind: ExprKind::Name(text), span })) => Ok(Name { text, span: *span }),
            _ => Err(Diagnostic::error("operand", self.operand_span(index), "a label is needed here")),
        }
    }
}
