//! `info source`: the line of the PTX text and of the source language that an instruction came from.

use super::contracted::{ContractionNote, rounded_once};
use crate::debug::scene::Scene;
use crate::program::{Pc, Program};

/// Where an instruction came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The instruction.
    pub pc: Pc,
    /// Its function.
    pub function: String,
    /// `file.ptx:12`.
    pub ptx: String,
    /// The file's name as the user gave it.
    pub ptx_file: String,
    /// File, line and column (0 if unknown) of the source language, if `.loc` says so.
    pub source: Option<(String, u32, u32)>,
    /// The `asm` statement of the source language that it is part of, if it is.
    pub inline_asm: Option<InlineAsm>,
    /// What it is rounded once with, if it is.
    pub rounded_once: Option<ContractionNote>,
    /// The instructions that came from the same line of the source language, in the same function.
    pub instructions: usize,
}

/// An instruction among those of its `asm` statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineAsm {
    /// First and last line of the PTX text that the statement holds.
    pub lines: (u32, u32),
    /// Which instruction of them it is, from 1.
    pub number: usize,
    /// How many there are.
    pub count: usize,
}

/// Where the instruction at `pc` came from; none if there is no such instruction.
pub fn source_place(scene: &Scene<'_>, pc: Pc) -> Option<SourcePlace> {
    let program = scene.program();
    let function = &program.functions[program.function_at(pc)?.index()];
    let span = program.spans.get(pc.index())?;
    let line = program.source_lines.get(pc.index()).copied().flatten();
    let file = line.and_then(|line| program.source_files.iter().find(|(number, _)| *number == line.file));
    let same = |pc: &u32| {
        let other = program.source_lines.get(*pc as usize).copied().flatten();
        other.zip(line).is_some_and(|(a, b)| (a.file, a.line) == (b.file, b.line))
    };
    Some(SourcePlace {
        pc,
        function: function.name.to_string(),
        ptx: program.place(pc),
        ptx_file: program.sources_text.file(span.source).name().to_string(),
        inline_asm: inline_asm(program, pc),
        rounded_once: rounded_once(program, pc),
        source: line.zip(file).map(|(line, (_, name))| (name.clone(), line.line, line.column)),
        instructions: function.code.clone().filter(same).count(),
    })
}

fn inline_asm(program: &Program, pc: Pc) -> Option<InlineAsm> {
    let region = program.inline_asm(pc)?;
    let file = program.sources_text.file(region.source);
    let code = &program.functions[program.function_at(pc)?.index()].code;
    let inside = || code.clone().filter(|other| program.inline_asm(Pc(*other)) == Some(region));
    Some(InlineAsm {
        lines: (file.line_of(region.start), file.line_of(region.end.saturating_sub(1))),
        number: inside().filter(|other| *other <= pc.0).count(),
        count: inside().count(),
    })
}
