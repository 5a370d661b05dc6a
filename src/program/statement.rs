//! The statements that instructions were made from, as `sema` has read them: their parts are cut once, and nothing after it takes a text
//! apart again.

use std::ops::Range;

use super::{FuncId, Pc, Program, SpecialRef, VarId};
use crate::base::{Span, define_id, without_comments};
use crate::isa::Matched;

define_id!(
    /// A spelling of an opcode: an index into [`Program::opcodes`](super::Program).
    OpcodeId, "opcode"
);

/// An opcode with its modifiers, and what it is in the instruction table. Statements with the same spelling share it.
#[derive(Clone, Debug)]
pub struct Opcode {
    /// As it is written, `ld.global.v2.f32`, without white space and comments between its words.
    pub text: Box<str>,
    /// The form of the instruction table that it matches, its words and its types.
    pub matched: Matched,
}

impl Opcode {
    /// The opcode that `written` spells, which may have white space and comments between its words.
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
    /// What its opcode is.
    pub opcode: OpcodeId,
    /// The position of the opcode, from its first word to its last one.
    pub opcode_span: Span,
    /// The position of the name of the predicate before it.
    pub guard: Option<Span>,
    /// The positions of its operands: entries of [`Program::operand_spans`](super::Program).
    pub operands: Range<u32>,
    /// What its operands name: entries of [`Program::mentions`](super::Program).
    pub mentions: Range<u32>,
}

/// What an operand names, if that is no register of the program: in decoded code the address of a variable is a number like others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A variable.
    Variable(VarId),
    /// A special register; each component where a whole vector is named.
    Special(SpecialRef),
    /// The function that is called.
    Callee(FuncId),
}

/// A name in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention {
    /// What it denotes.
    pub named: Named,
    /// Its position.
    pub span: Span,
}

impl Program {
    /// The parts of the statement at `pc`; none of the closing brace of a function.
    pub fn statement(&self, pc: Pc) -> Option<&Statement> {
        self.statements.get(pc.index())?.as_ref()
    }

    /// The opcode of the statement at `pc`; none of the closing brace of a function.
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

    /// The names of variables and special registers in the statement at `pc`, in the order in which they are read; one that occurs once may
    /// be there twice.
    pub fn mentions(&self, pc: Pc) -> &[Mention] {
        let range = self.statement(pc).map_or(0..0, |statement| statement.mentions.clone());
        self.mentions.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }

    /// The operands of the statement at `pc`, in order, without comments and with white space folded.
    pub fn operand_texts(&self, pc: Pc) -> Vec<String> {
        self.operands(pc).iter().map(|span| folded(self.sources_text.text(*span))).collect()
    }

    /// The text of the statement at `pc`, without comments and with white space folded.
    pub fn text(&self, pc: Pc) -> String {
        folded(self.spans.get(pc.index()).map_or("", |span| self.sources_text.text(*span)))
    }
}

/// A text without comments, on one line.
fn folded(text: &str) -> String {
    without_comments(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
