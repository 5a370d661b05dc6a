//! `info source`: the PTX line and the source line of an instruction.

use super::contracted::{ContractionNote, contraction_note};
use crate::debug::eval_context::EvalContext;
use crate::debug::inlined;
use crate::program::{Pc, Program};

/// The PTX line and the source line of an instruction.
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
    /// File, line and column (0 if unknown) of the source language, from `.loc`.
    pub source: Option<(String, u32, u32)>,
    /// Its position in an `asm` statement of the source language, if it is part of one.
    pub inline_asm: Option<InlineAsm>,
    /// The contraction that it is part of, if any.
    pub contraction: Option<ContractionNote>,
    /// Number of instructions of the same source line, in the same function.
    pub instructions: usize,
    /// The file of the source, where it is asked for.
    pub file: Option<SourceFileState>,
    /// The line that it stands for, if the one that is asked for has no instruction.
    pub note: Option<String>,
}

/// A file of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceFileState {
    /// Its name, and the number of its lines.
    Found(String, u32),
    /// Its name; the text is not at hand.
    Missing(String),
    /// The module names none here.
    Unnamed,
}

/// The file of the source that an instruction comes from; of one without, the first that the module names.
pub fn file_of_source(context: &EvalContext<'_>, place: &SourcePlace) -> SourceFileState {
    let program = context.program();
    let of_line = place.source.as_ref().and_then(|(own, ..)| program.source_files.iter().find(|(_, name)| name == own));
    let Some((number, name)) = of_line.or(program.source_files.first()) else { return SourceFileState::Unnamed };
    match context.source_texts.and_then(|texts| texts.file(program, *number)) {
        Some(text) => SourceFileState::Found(name.clone(), text.line_count()),
        None => SourceFileState::Missing(name.clone()),
    }
}

/// The position of an instruction in its `asm` statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineAsm {
    /// First and last line of the statement's PTX text.
    pub lines: (u32, u32),
    /// Number of the instruction in the statement, from 1.
    pub number: usize,
    /// Number of instructions of the statement.
    pub count: usize,
}

/// The source position of the instruction at `pc` in a frame that `inlined` functions in the place of calls lie in; none if there is no
/// such instruction.
pub fn source_place(context: &EvalContext<'_>, pc: Pc, inlined: u32) -> Option<SourcePlace> {
    let program = context.program();
    let function = &program.functions[program.function_at(pc)?.index()];
    let span = program.spans.get(pc.index())?;
    let places = |pc: Pc| match inlined {
        0 => program.source_line(pc).into_iter().collect(),
        _ => inlined::places_at(program, context.source_data(), pc),
    };
    let line = places(pc).get(inlined as usize).copied().or_else(|| program.source_line(pc));
    let file = line.and_then(|line| program.source_files.iter().find(|(number, _)| *number == line.file));
    let same = |pc: &u32| line.is_some_and(|line| places(Pc(*pc)).iter().any(|other| (other.file, other.line) == (line.file, line.line)));
    Some(SourcePlace {
        pc,
        function: function.name.to_string(),
        ptx: program.place(pc),
        ptx_file: program.sources_text.file(span.source).name().to_string(),
        inline_asm: inline_asm(program, pc),
        contraction: contraction_note(program, pc),
        source: line.zip(file).map(|(line, (_, name))| (name.clone(), line.line, line.column)),
        instructions: function.code.clone().filter(same).count(),
        file: None,
        note: None,
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
