//! `info source`: the line of the PTX text and of the source language that an instruction came from.

use crate::debug::scene::Scene;
use crate::program::Pc;

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
    /// The instructions that came from the same line of the source language, in the same function.
    pub instructions: usize,
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
        source: line.zip(file).map(|(line, (_, name))| (name.clone(), line.line, line.column)),
        instructions: function.code.clone().filter(same).count(),
    })
}
