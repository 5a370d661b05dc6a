//! `list`: lines of the PTX text or of the source, with the threads and breakpoints on them.

use std::ops::Range;

use super::contracted::partners;
use super::location::lane_locations;
use super::masks::masked;
use crate::base::SourceId;
use crate::debug::eval_context::EvalContext;
use crate::debug::file_line::FileLine;
use crate::debug::focus::ThreadFilter;
use crate::debug::frame_scopes;
use crate::machine::LaneMask;
use crate::program::{ContractionKind, Pc, Program};

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The file's name without folders.
    pub file: String,
    /// Number of lines of the whole file.
    pub line_count: u32,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u32,
    /// Its text.
    pub text: String,
    /// Its instructions, first and last; none for a line without code.
    pub code: Option<(Pc, Pc)>,
    /// Lines of the other operations of contractions with an instruction here.
    pub contracted: Vec<(ContractionKind, u32)>,
    /// True if it is part of an `asm` statement of the source language.
    pub inline_asm: bool,
    /// True if a breakpoint is here.
    pub marked: bool,
    /// Lanes of the focused warp on this line.
    pub lanes: LaneMask,
    /// Those of them whose guard predicate is false here.
    pub off: LaneMask,
    /// True if the focused lane is on this line.
    pub focused: bool,
    /// On the line of the focused lane: what a predicate turns off in the block.
    pub masked: Option<String>,
    /// For a line of PTX: the line of the source that its code comes from, if that is at hand and another than that of the code above.
    pub source: Option<String>,
}

/// The file and line of the focused lane; the beginning of the kernel if the thread is not resident.
pub fn current_line(context: &EvalContext<'_>) -> (SourceId, u32) {
    let (program, pc) = (context.program(), current_pc(context));
    program.spans.get(pc.index()).map_or((SourceId(0), 1), |span| (span.source, program.sources_text.position(*span).line))
}

/// The instruction of the focused lane in the selected frame; the kernel's first one if the thread is not resident.
pub(super) fn current_pc(context: &EvalContext<'_>) -> Pc {
    match context.frame() {
        Ok(frame) => frame.position(),
        Err(_) => Pc(context.program().functions[context.machine.config().kernel.index()].code.start),
    }
}

/// The lines `lines` of file `number` of the source; none if its text is not at hand.
pub fn list_source(context: &EvalContext<'_>, number: u32, lines: Range<u32>, marks: &[Pc]) -> Option<Listing> {
    let program = context.program();
    let source = context.source_texts?.file(program, number)?;
    let lines = lines.start.max(1)..lines.end.min(source.line_count() + 1);
    let is_here = |pc: Pc, line: u32| program.source_line(pc).is_some_and(|place| (place.file, place.line) == (number, line));
    let lane_locations = lane_locations(context, &ThreadFilter::of_warp(&context.focus));
    let focused = frame_scopes::line_of_frame(context, current_pc(context)).filter(|place| place.file == number).map(|place| place.line);
    let line = |line: u32| {
        let code = || (0..program.source_lines.len()).map(Pc::new).filter(|pc| is_here(*pc, line));
        let here = lane_locations.iter().filter(|location| is_here(location.pc, line));
        let (lanes, off) = here.fold((LaneMask::NONE, LaneMask::NONE), |(lanes, off), one| (lanes | one.lanes, off | one.off));
        Line {
            number: line,
            text: source.line(line).to_string(),
            code: code().min().zip(code().max()),
            inline_asm: false,
            contracted: Vec::new(),
            marked: marks.iter().any(|pc| is_here(*pc, line)),
            lanes,
            off,
            focused: focused == Some(line),
            masked: (focused == Some(line)).then(|| masked(context)).flatten(),
            source: None,
        }
    };
    Some(Listing { file: source.short_name().to_string(), line_count: source.line_count(), lines: lines.map(line).collect() })
}

/// The lines `lines` of `file`, clipped to its length. `marks` are instructions with breakpoints, in order.
pub fn list(context: &EvalContext<'_>, file: SourceId, lines: Range<u32>, marks: &[Pc]) -> Listing {
    let program = context.program();
    let source = program.sources_text.file(file);
    let lines = lines.start.max(1)..lines.end.min(source.line_count() + 1);
    let code = code_of(program, file, &lines);
    let lane_locations = lane_locations(context, &ThreadFilter::of_warp(&context.focus));
    let line = |number: u32| {
        let here = || code.iter().filter(|(line, _)| *line == number).map(|(_, pc)| *pc);
        let location = lane_locations.iter().filter(|location| here().any(|pc| pc == location.pc));
        let (lanes, off) =
            location.fold((LaneMask::NONE, LaneMask::NONE), |(lanes, off), location| (lanes | location.lanes, off | location.off));
        Line {
            number,
            text: source.line(number).to_string(),
            code: here().min().zip(here().max()),
            inline_asm: program.inline_asm_at(file, source.offset(number, 1)).is_some(),
            contracted: here().flat_map(|pc| contracted_lines(program, pc)).collect(),
            marked: here().any(|pc| marks.binary_search(&pc).is_ok()),
            lanes,
            off,
            masked: context.is_focused(lanes).then(|| masked(context)).flatten(),
            source: None,
            focused: context.is_focused(lanes),
        }
    };
    let mut lines: Vec<Line> = lines.map(line).collect();
    let mut above = None;
    for line in &mut lines {
        let Some(place) = line.code.and_then(|(first, _)| program.source_line(first)) else { continue };
        if above.replace((place.file, place.line)) != Some((place.file, place.line)) {
            let text = context.source_text(place).filter(|text| !text.is_empty());
            line.source = text.zip(FileLine::of(program, place)).map(|(text, at)| format!("{}  {}", at.short(), text.trim_start()));
        }
    }
    Listing { file: source.short_name().to_string(), line_count: source.line_count(), lines }
}

/// The lines of the other operations of the contraction of the instruction at `pc`.
pub(super) fn contracted_lines(program: &Program, pc: Pc) -> impl Iterator<Item = (ContractionKind, u32)> {
    partners(program, pc)
        .into_iter()
        .filter_map(|(how, other)| Some((how, program.spans.get(other.index())?)))
        .map(|(how, span)| (how, program.sources_text.position(*span).line))
}

/// The instructions whose statements begin on these lines, with their lines.
fn code_of(program: &Program, file: SourceId, lines: &Range<u32>) -> Vec<(u32, Pc)> {
    let source = program.sources_text.file(file);
    let (start, end) = (source.offset(lines.start, 1), source.offset(lines.end, 1));
    let last_line = lines.end > source.line_count();
    let inside = |span: &crate::base::Span| span.source == file && span.start >= start && (span.start < end || last_line);
    let spans = program.spans.iter().enumerate().filter(|(_, span)| inside(span));
    spans.map(|(index, span)| (source.line_of(span.start), Pc::new(index))).collect()
}
