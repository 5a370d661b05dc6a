//! The threads on the visible lines of a file, and what stops there.

use std::collections::BTreeMap;
use std::ops::Range;

use super::list::{contracted_lines, current_pc};
use super::location::{State, lane_locations};
use crate::base::SourceId;
use crate::debug::breakpoints::Breakpoints;
use crate::debug::focus::ThreadFilter;
use crate::debug::scene::Scene;
use crate::machine::{Coverage, LaneMask};
use crate::program::{ContractionKind, Pc, Program};

/// The threads on a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineOccupancy {
    /// Whether it has instructions.
    pub has_code: bool,
    /// Whether it is a line of PTX that an `asm` statement of the source language holds.
    pub inline_asm: bool,
    /// Lines of PTX with which an instruction here is rounded once.
    pub contracted: Vec<(ContractionKind, u32)>,
    /// Lanes of the focused warp that stand here.
    pub lanes: LaneMask,
    /// Those of them that run next.
    pub next: LaneMask,
    /// Those of them that wait.
    pub waiting: LaneMask,
    /// Whether the focused lane stands here, or waits here for the frame it called.
    pub focused: bool,
    /// How many lanes have executed it; of several instructions the one that most have. None if that was not asked for, is not
    /// counted, or there is no code.
    pub executed: Option<u64>,
    /// Other warps of the block that have lanes here, ascending.
    pub others: Vec<u32>,
    /// The breakpoint here that is looked at, or else one that is not.
    pub mark: Option<Mark>,
}

/// A breakpoint on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its number.
    pub number: u32,
    /// Whether it is looked at.
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
    /// The line of the text that an instruction is of. `bytes` are those of the PTX text that matter: a number is compared sooner than
    /// a line is found.
    fn line(self, program: &Program, pc: Pc, bytes: &Range<u32>) -> Option<u32> {
        match self {
            Self::Ptx(file) => {
                let span = program.spans.get(pc.index()).filter(|span| span.source == file && bytes.contains(&span.start))?;
                Some(program.sources_text.file(file).line_of(span.start))
            }
            Self::Original(number) => {
                let line = program.source_lines.get(pc.index()).copied().flatten().filter(|line| line.file == number)?;
                Some(line.line)
            }
        }
    }
}

/// Where the focused lane stands in the language that the PTX was made from: the file's number, its name, and the line.
pub fn original_line(scene: &Scene<'_>) -> Option<(u32, String, u32)> {
    let (program, pc) = (scene.program(), current_pc(scene));
    let line = program.source_lines.get(pc.index()).copied().flatten()?;
    let (_, name) = program.source_files.iter().find(|(number, _)| *number == line.file)?;
    Some((line.file, name.clone(), line.line))
}

/// The threads on the lines `lines` of a text, and if `counted` how many have been there; an entry for each.
pub fn occupancies(scene: &Scene<'_>, breakpoints: &Breakpoints, text: CodeText, lines: Range<u32>, counted: bool) -> Vec<LineOccupancy> {
    let mut occupancies = vec![LineOccupancy::default(); lines.len()];
    let program = scene.program();
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
    let tally = scene.machine.coverage().filter(|_| counted).map(Coverage::tally);
    for pc in (0..program.code.len()).map(Pc::new) {
        if let Some(occupancy) = line_of(pc).and_then(|index| occupancies.get_mut(index)) {
            occupancy.has_code = true;
            if matches!(text, CodeText::Ptx(_)) {
                occupancy.contracted.extend(contracted_lines(program, pc));
            }
            occupancy.executed = occupancy.executed.max(tally.as_ref().map(|tally| tally.lanes(pc)));
        }
    }
    let next = scene.next_lanes();
    // A warp's line is looked up once for each place, not for each of the warps that stand there.
    let mut places: BTreeMap<Pc, Option<usize>> = BTreeMap::new();
    for location in lane_locations(scene, &ThreadFilter::of_block(&scene.focus)) {
        let index = *places.entry(location.pc).or_insert_with(|| line_of(location.pc));
        let Some(occupancy) = index.and_then(|index| occupancies.get_mut(index)) else { continue };
        if location.warp != scene.focus.warp {
            occupancy.others.push(location.warp);
            continue;
        }
        occupancy.lanes |= location.lanes;
        occupancy.next |= location.lanes & next;
        occupancy.waiting |= if location.state == State::Ready { LaneMask::NONE } else { location.lanes };
    }
    occupancies.iter_mut().for_each(|occupancy| occupancy.others.dedup());
    if let Some(occupancy) = line_of(current_pc(scene)).and_then(|index| occupancies.get_mut(index)) {
        occupancy.focused = scene.frame().is_ok();
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
