//! The line that an instruction belongs to.

use crate::debug::settings::StepBy;
use crate::program::{Pc, Program};

/// A line of the source language or of the PTX text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// File number of `.file`, and line.
    Source(u32, u32),
    /// Line of the module.
    Ptx(u32),
}

/// The line of the source at `pc`, if `.loc` names one.
pub fn source_line(program: &Program, pc: Pc) -> Option<Line> {
    let line = program.source_lines.get(pc.index()).copied().flatten()?;
    Some(Line::Source(line.file, line.line))
}

/// The line of PTX at `pc`.
pub fn ptx_line(program: &Program, pc: Pc) -> Option<Line> {
    Some(Line::Ptx(program.line(pc)))
}

/// The kind of line that a step from `pc` uses: source lines if the setting says so and `pc` has one, PTX lines otherwise.
pub fn lines_from(program: &Program, pc: Pc, step_by: StepBy) -> fn(&Program, Pc) -> Option<Line> {
    match step_by {
        StepBy::Source if source_line(program, pc).is_some() => source_line,
        StepBy::Source | StepBy::Ptx => ptx_line,
    }
}
