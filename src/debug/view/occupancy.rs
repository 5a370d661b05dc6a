//! The threads and breakpoints on the visible lines of a file.

use std::collections::BTreeMap;
use std::ops::Range;

use super::list::{contracted_lines, current_pc};
use super::location::{State, lane_locations};
use crate::base::SourceId;
use crate::debug::breakpoints::Breakpoints;
use crate::debug::eval_context::EvalContext;
use crate::debug::focus::ThreadFilter;
use crate::debug::frame_scopes;
use crate::machine::{Coverage, LaneMask};
use crate::program::{ContractionKind, Pc, Program};

/// The threads on a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineOccupancy {
    /// True if it has instructions.
    pub has_code: bool,
    /// True if it is a line of PTX from an `asm` statement of the source language.
    pub inline_asm: bool,
    /// Lines of PTX of the other operations of contractions with an instruction here.
    pub contracted: Vec<(ContractionKind, u32)>,
    /// Lanes of the focused warp on this line.
    pub lanes: LaneMask,
    /// Those of them that run next.
    pub next: LaneMask,
    /// Those of them that wait.
    pub waiting: LaneMask,
    /// Those of them whose guard predicate is false for the next instruction.
    pub off: LaneMask,
    /// True if the selected frame of the focused lane is on this line.
    pub focused: bool,
    /// Number of lanes that have executed it, the maximum of its instructions. None if not requested or counted, or without code.
    pub executed: Option<u64>,
    /// Other warps of the block that have lanes here, ascending.
    pub others: Vec<u32>,
    /// An enabled breakpoint on this line, otherwise a disabled one.
    pub mark: Option<Mark>,
}

/// A breakpoint on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its number.
    pub number: u32,
    /// True if it is enabled.
    pub enabled: bool,
}

/// A text whose lines have instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeText {
    /// A PTX file.
    Ptx(SourceId),
    /// A file of the language that the PTX was made from, by its number.
    Original(u32),
}

impl CodeText {
    /// The line of an instruction in the text. `bytes` is the visible range of the PTX text: instructions outside of it are skipped without
    /// the more expensive search for their line.
    fn line(self, program: &Program, pc: Pc, bytes: &Range<u32>) -> Option<u32> {
        match self {
            Self::Ptx(file) => {
                let span = program.spans.get(pc.index()).filter(|span| span.source == file && bytes.contains(&span.start))?;
                Some(program.sources_text.file(file).line_of(span.start))
            }
            Self::Original(number) => {
                let line = program.source_line(pc).filter(|line| line.file == number)?;
                Some(line.line)
            }
        }
    }
}

/// The position of the selected frame in the source language: the file's number, its name, and the line.
pub fn original_line(context: &EvalContext<'_>) -> Option<(u32, String, u32)> {
    let (program, pc) = (context.program(), current_pc(context));
    let line = frame_scopes::line_of_frame(context, pc)?;
    let (_, name) = program.source_files.iter().find(|(number, _)| *number == line.file)?;
    Some((line.file, name.clone(), line.line))
}

/// The occupancy of each of the lines `lines` of a text, with execution counts if `counted`.
pub fn occupancies(
    context: &EvalContext<'_>,
    breakpoints: &Breakpoints,
    text: CodeText,
    lines: Range<u32>,
    counted: bool,
) -> Vec<LineOccupancy> {
    let mut occupancies = vec![LineOccupancy::default(); lines.len()];
    let program = context.program();
    let bytes = match text {
        CodeText::Ptx(file) => {
            let source = program.sources_text.file(file);
            source.offset(lines.start, 1)..source.offset(lines.end.saturating_sub(1), u32::MAX).saturating_add(1)
        }
        CodeText::Original(_) => 0..0,
    };
    if let CodeText::Ptx(file) = text {
        let source = program.sources_text.file(file);
        for (number, occupancy) in lines.clone().zip(&mut occupancies) {
            occupancy.inline_asm = program.inline_asm_at(file, source.offset(number, 1)).is_some();
        }
    }
    let line_of = |pc: Pc| {
        let line = text.line(program, pc, &bytes).filter(|line| lines.contains(line))?;
        Some((line - lines.start) as usize)
    };
    let tally = context.machine.coverage().filter(|_| counted).map(Coverage::tally);
    for pc in (0..program.code.len()).map(Pc::new) {
        if let Some(occupancy) = line_of(pc).and_then(|index| occupancies.get_mut(index)) {
            occupancy.has_code = true;
            if matches!(text, CodeText::Ptx(_)) {
                occupancy.contracted.extend(contracted_lines(program, pc));
            }
            occupancy.executed = occupancy.executed.max(tally.as_ref().map(|tally| tally.lanes(pc)));
        }
    }
    let next = context.next_lanes();
    // The line of an instruction is looked up once, not for each of the warps there.
    let mut lines_by_pc: BTreeMap<Pc, Option<usize>> = BTreeMap::new();
    for location in lane_locations(context, &ThreadFilter::of_block(&context.focus)) {
        let index = *lines_by_pc.entry(location.pc).or_insert_with(|| line_of(location.pc));
        let Some(occupancy) = index.and_then(|index| occupancies.get_mut(index)) else { continue };
        if location.warp != context.focus.warp {
            occupancy.others.push(location.warp);
            continue;
        }
        occupancy.lanes |= location.lanes;
        occupancy.next |= location.lanes & next;
        occupancy.off |= location.off;
        occupancy.waiting |= if location.state == State::Ready { LaneMask::NONE } else { location.lanes };
    }
    occupancies.iter_mut().for_each(|occupancy| occupancy.others.dedup());
    if let Some(occupancy) = line_of(current_pc(context)).and_then(|index| occupancies.get_mut(index)) {
        occupancy.focused = context.frame().is_ok();
    }
    for breakpoint in breakpoints.iter() {
        for index in breakpoint.pcs().iter().filter_map(|pc| line_of(*pc)) {
            if let Some(occupancy) = occupancies.get_mut(index).filter(|occupancy| occupancy.mark.is_none_or(|mark| !mark.enabled)) {
                occupancy.mark = Some(Mark { number: breakpoint.number, enabled: breakpoint.enabled });
            }
        }
    }
    occupancies
}
