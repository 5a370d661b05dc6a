//! An instruction with its source position, and the lanes that executed it.

use serde::Serialize;

use crate::debug::eval_context::EvalContext;
use crate::debug::names::symbols::{Symbol, code_symbol};
use crate::debug::roles::NamedWarps;
use crate::machine::{IssuePoint, LaneMask};
use crate::program::{Pc, Program};

/// An instruction with its source position and symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodePlace {
    /// The instruction.
    pub pc: Pc,
    /// The PTX file as the user named it; empty if the program has no such instruction.
    pub file: String,
    /// The line of its statement, from 1.
    pub line: u32,
    /// The preceding label or function, and the number of instructions since then.
    pub symbol: Option<Symbol>,
    /// Its statement, without the semicolon.
    pub statement: String,
}

impl CodePlace {
    /// The instruction at `pc`.
    pub fn new(program: &Program, pc: Pc) -> Self {
        let file = program.spans.get(pc.index()).map_or(String::new(), |span| program.sources_text.file(span.source).name().to_string());
        Self { pc, file, line: program.line(pc), symbol: code_symbol(program, pc), statement: super::statement(program, pc) }
    }
}

/// The lanes of a warp that executed an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Actor {
    /// The block.
    pub block: [u32; 3],
    /// The warp, with its role.
    pub warp: NamedWarps,
    /// The lanes; none if unknown.
    pub lanes: LaneMask,
    /// The instruction.
    pub at: CodePlace,
}

impl Actor {
    /// The lanes that executed the instruction at `place`.
    pub(super) fn new(context: &EvalContext<'_>, place: IssuePoint, lanes: LaneMask) -> Self {
        let at = CodePlace::new(context.program(), place.pc);
        Self { block: place.block, warp: context.roles.named(&[place.warp.number()]), lanes, at }
    }
}
