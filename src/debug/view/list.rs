//! `list`: lines of the PTX text, with the threads that stand there and what stops there.

use super::contracted::partners;
use super::location::lane_locations;
use crate::base::SourceId;
use crate::debug::focus::ThreadFilter;
use crate::debug::scene::Scene;
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
    /// Lines with which an instruction here is rounded once.
    pub contracted: Vec<(ContractionKind, u32)>,
    /// Whether it is part of an `asm` statement of the source language.
    pub inline_asm: bool,
    /// Whether one of the marked instructions is here.
    pub marked: bool,
    /// Lanes of the focused warp that stand here.
    pub lanes: LaneMask,
    /// Those of them that a predicate turns off here.
    pub off: LaneMask,
    /// Whether the focused lane stands here.
    pub focused: bool,
}

/// The file and line where the focused lane stands; of a thread that is not on the machine, where the kernel begins.
pub fn current_line(scene: &Scene<'_>) -> (SourceId, u32) {
    let (program, pc) = (scene.program(), current_pc(scene));
    program.spans.get(pc.index()).map_or((SourceId(0), 1), |span| (span.source, program.sources_text.position(*span).line))
}

/// The instruction at which the focused lane stands in the selected frame; of a thread that is not on the machine, the kernel's first.
pub(super) fn current_pc(scene: &Scene<'_>) -> Pc {
    match scene.frame() {
        Ok(frame) if scene.focus.frame == 0 => frame.group.current_pc(),
        Ok(frame) => frame.pc,
        Err(_) => Pc(scene.program().functions[scene.machine.config().kernel.index()].code.start),
    }
}

/// The lines `lines` of `file`, cut to those it has. `marks` are instructions with breakpoints, in order.
pub fn list(scene: &Scene<'_>, file: SourceId, lines: std::ops::Range<u32>, marks: &[Pc]) -> Listing {
    let program = scene.program();
    let source = program.sources_text.file(file);
    let lines = lines.start.max(1)..lines.end.min(source.line_count() + 1);
    let code = code_of(program, file, &lines);
    let lane_locations = lane_locations(scene, &ThreadFilter::of_warp(&scene.focus));
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
            focused: scene.is_focused(lanes),
        }
    };
    Listing { file: source.short_name().to_string(), line_count: source.line_count(), lines: lines.map(line).collect() }
}

/// The lines of the instructions that the one at `pc` is rounded once with.
pub(super) fn contracted_lines(program: &Program, pc: Pc) -> impl Iterator<Item = (ContractionKind, u32)> {
    partners(program, pc)
        .into_iter()
        .filter_map(|(how, other)| Some((how, program.spans.get(other.index())?)))
        .map(|(how, span)| (how, program.sources_text.position(*span).line))
}

/// The instructions whose statements begin on these lines, with their lines.
fn code_of(program: &Program, file: SourceId, lines: &std::ops::Range<u32>) -> Vec<(u32, Pc)> {
    let source = program.sources_text.file(file);
    let (start, end) = (source.offset(lines.start, 1), source.offset(lines.end, 1));
    let last_line = lines.end > source.line_count();
    let inside = |span: &crate::base::Span| span.source == file && span.start >= start && (span.start < end || last_line);
    let spans = program.spans.iter().enumerate().filter(|(_, span)| inside(span));
    spans.map(|(index, span)| (source.line_of(span.start), Pc::new(index))).collect()
}
