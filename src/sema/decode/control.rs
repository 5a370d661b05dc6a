//! Branches, calls and the ends of threads.

use super::family::{Decoded, Decoding};
use crate::base::Diagnostic;
use crate::isa::Decode;
use crate::program::Op;
use crate::syntax::tree::{Expr, ExprKind, Name, OperandKind};

impl<'a> Decoding<'_, 'a> {
    /// Branches, calls and the ends of threads.
    pub(super) fn control(&mut self) -> Decoded {
        let uniform = self.matched.has("uni");
        match self.matched.form.row.decode {
            Decode::Branch => {
                let label = self.label(0)?;
                Ok(Op::Branch { target: self.cx.branch_target(label)?, uniform })
            }
            Decode::BranchIndexed => {
                let label = self.label(1)?;
                Ok(Op::BranchIndexed { index: self.src(0)?, table: self.cx.branch_table(label)?, uniform })
            }
            Decode::Call => self.cx.call(&self.instruction.operands, uniform, self.instruction.span),
            Decode::Return => Ok(Op::Return { uniform }),
            Decode::Exit => Ok(Op::Exit),
            Decode::Trap => Ok(Op::Trap),
            Decode::Breakpoint => Ok(Op::Breakpoint),
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
