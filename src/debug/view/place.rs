//! An instruction with its names, and the lanes that executed one.

use serde::Serialize;

use crate::debug::names::symbols::{Symbol, code_symbol};
use crate::debug::roles::NamedWarps;
use crate::debug::scene::Scene;
use crate::machine::{IssuePoint, LaneMask};
use crate::program::{Pc, Program};

/// An instruction with its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodePlace {
    /// The instruction.
    pub pc: Pc,
    /// The PTX file, as it is named where it is used; empty if the program has no such instruction.
    pub file: String,
    /// The line of its statement, from 1.
    pub line: u32,
    /// The label, or else the function, that begins before it, and the instructions since.
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
    /// The lanes; none where that is not known.
    pub lanes: LaneMask,
    /// The instruction.
    pub at: CodePlace,
}

impl Actor {
    /// The lanes that executed the instruction at `place`.
    pub(super) fn new(scene: &Scene<'_>, place: IssuePoint, lanes: LaneMask) -> Self {
        let at = CodePlace::new(scene.program(), place.pc);
        Self { block: place.block, warp: scene.roles.named(&[place.warp.number()]), lanes, at }
    }
}
