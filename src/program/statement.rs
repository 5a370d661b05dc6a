//! The statements of instructions, split into their parts by `sema`, so that no later layer parses text again.

use std::ops::Range;

use super::{Contraction, FuncId, Pc, Program, SpecialRef, VarId};
use crate::base::{Span, define_id, without_comments};
use crate::isa::Matched;

define_id!(
    /// A spelling of an opcode: an index into [`Program::opcodes`](super::Program).
    OpcodeId, "opcode"
);

/// An opcode with its modifiers, and the form that it matches. Statements with the same spelling share it.
#[derive(Clone, Debug)]
pub struct Opcode {
    /// Its text, `ld.global.v2.f32`, without white space and comments.
    pub text: Box<str>,
    /// The form of the instruction table that it matches, its modifiers and its types.
    pub matched: Matched,
}

impl Opcode {
    /// The opcode written as `written`, which may contain white space and comments.
    pub fn new(written: &str, matched: Matched) -> Self {
        Self { text: without_comments(written).split_whitespace().collect(), matched }
    }

    /// The opcode without its modifiers.
    pub fn stem(&self) -> &str {
        self.text.split('.').next().unwrap_or(&self.text)
    }
}

/// The parts of a statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its opcode.
    pub opcode: OpcodeId,
    /// The position of the opcode, its modifiers included.
    pub opcode_span: Span,
    /// The position of the name of the predicate before it.
    pub guard: Option<Span>,
    /// The positions of its operands: entries of [`Program::operand_spans`](super::Program).
    pub operands: Range<u32>,
    /// The names that its operands refer to: entries of [`Program::mentions`](super::Program).
    pub mentions: Range<u32>,
}

/// The thing that a name in an operand denotes, other than a declared register. Decoded code does not show it: there the address of a
/// variable is a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A variable.
    Variable(VarId),
    /// A special register; every component if a vector is named.
    Special(SpecialRef),
    /// The function that is called.
    Callee(FuncId),
}

/// A name in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The thing that it denotes.
    pub named: Named,
    /// Its position.
    pub span: Span,
}

impl Program {
    /// The contraction whose second operation is the instruction at `second`, if any.
    pub fn contraction_into(&self, second: Pc) -> Option<Contraction> {
        let index = self.contractions.binary_search_by_key(&second, |contraction| contraction.second).ok()?;
        self.contractions.get(index).copied()
    }

    /// The contractions whose first operation is the instruction at `first`, in order of the second ones.
    pub fn contractions_from(&self, first: Pc) -> impl Iterator<Item = Contraction> {
        self.contractions.iter().filter(move |contraction| contraction.first == first).copied()
    }

    /// The parts of the statement at `pc`; `None` for the closing brace of a function.
    pub fn statement(&self, pc: Pc) -> Option<&Statement> {
        self.statements.get(pc.index())?.as_ref()
    }

    /// The opcode of the statement at `pc`; `None` for the closing brace of a function.
    pub fn opcode(&self, pc: Pc) -> Option<&Opcode> {
        self.opcodes.get(self.statement(pc)?.opcode.index())
    }

    /// The predicate before the statement at `pc`, if it has one: `%p1`, `!%p1`.
    pub fn guard_text(&self, pc: Pc) -> Option<String> {
        let name = self.sources_text.text(self.statement(pc)?.guard?);
        let negate = self.code.get(pc.index())?.guard.is_some_and(|guard| guard.negate);
        Some(format!("{}{name}", if negate { "!" } else { "" }))
    }

    /// The positions of the operands of the statement at `pc`, in order.
    pub fn operands(&self, pc: Pc) -> &[Span] {
        let range = self.statement(pc).map_or(0..0, |statement| statement.operands.clone());
        self.operand_spans.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }

    /// The names of variables and special registers in the statement at `pc`, in the order in which they were resolved; a name may be
    /// listed twice.
    pub fn mentions(&self, pc: Pc) -> &[Mention] {
        let range = self.statement(pc).map_or(0..0, |statement| statement.mentions.clone());
        self.mentions.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }

    /// The operands of the statement at `pc`, in order, without comments and with white space collapsed.
    pub fn operand_texts(&self, pc: Pc) -> Vec<String> {
        self.operands(pc).iter().map(|span| folded(self.sources_text.text(*span))).collect()
    }

    /// The text of the statement at `pc`, without comments and with white space collapsed.
    pub fn text(&self, pc: Pc) -> String {
        folded(self.spans.get(pc.index()).map_or("", |span| self.sources_text.text(*span)))
    }
}

/// A text without comments, on one line.
fn folded(text: &str) -> String {
    without_comments(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
