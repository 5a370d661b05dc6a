//! From an instruction of the tree to an operation of the program, by the instruction table.

use super::operands::Operands;
use crate::base::Diagnostic;
use crate::program::Inst;
use crate::syntax::tree::Instruction;

/// Decodes instructions of one module, remembering what it has seen.
#[derive(Default)]
pub(super) struct Decoder<'a> {
    seen: std::collections::HashMap<&'a str, ()>,
}

impl<'a> Decoder<'a> {
    /// The operation `instruction` stands for; `None` if it is wrong, and `diags` then says why.
    pub(super) fn decode(
        &mut self,
        instruction: &Instruction<'a>,
        cx: &mut dyn Operands<'a>,
        diags: &mut Vec<Diagnostic>,
    ) -> Option<Inst> {
        let _ = (instruction, cx, diags, &self.seen);
        None
    }
}
