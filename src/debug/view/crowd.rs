//! Who stands on the lines of a file that are in sight, and what stops there.

use std::collections::BTreeMap;
use std::ops::Range;

use super::standing::{State, standings};
use crate::base::SourceId;
use crate::debug::breakpoints::Breakpoints;
use crate::debug::focus::ThreadFilter;
use crate::debug::scene::Scene;
use crate::machine::LaneMask;
use crate::program::Pc;

/// Who stands on a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineCrowd {
    /// Whether it has instructions.
    pub has_code: bool,
    /// Lanes of the focused warp that stand here.
    pub lanes: LaneMask,
    /// Those of them that run next.
    pub next: LaneMask,
    /// Those of them that wait.
    pub waiting: LaneMask,
    /// Whether the focused lane stands here, or waits here for the frame it called.
    pub focused: bool,
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

/// Who stands on the lines `lines` of `file`; an entry for each.
pub fn crowds(scene: &Scene<'_>, breakpoints: &Breakpoints, file: SourceId, lines: Range<u32>) -> Vec<LineCrowd> {
    let mut crowds = vec![LineCrowd::default(); lines.len()];
    let program = scene.program();
    let source = program.sources_text.file(file);
    let line_of = |pc: Pc| {
        let span = program.spans.get(pc.index()).filter(|span| span.source == file)?;
        Some(source.line_of(span.start)).filter(|line| lines.contains(line)).map(|line| (line - lines.start) as usize)
    };
    let bytes = source.offset(lines.start, 1)..source.offset(lines.end.saturating_sub(1), u32::MAX).saturating_add(1);
    for span in program.spans.iter().filter(|span| span.source == file && bytes.contains(&span.start)) {
        if let Some(crowd) = source.line_of(span.start).checked_sub(lines.start).and_then(|index| crowds.get_mut(index as usize)) {
            crowd.has_code = true;
        }
    }
    let next = scene.machine.next_lanes(scene.focus.block, scene.focus.warp).unwrap_or(0);
    // A warp's line is looked up once for each place, not for each of the warps that stand there.
    let mut places: BTreeMap<Pc, Option<usize>> = BTreeMap::new();
    for standing in standings(scene, &ThreadFilter::of_block(&scene.focus)) {
        let index = *places.entry(standing.pc).or_insert_with(|| line_of(standing.pc));
        let Some(crowd) = index.and_then(|index| crowds.get_mut(index)) else { continue };
        if standing.warp != scene.focus.warp {
            crowd.others.push(standing.warp);
            continue;
        }
        crowd.lanes |= standing.lanes;
        crowd.next |= standing.lanes & next;
        crowd.waiting |= if standing.state == State::Ready { 0 } else { standing.lanes };
    }
    crowds.iter_mut().for_each(|crowd| crowd.others.dedup());
    let (current_file, current) = super::current_line(scene);
    if let Some(crowd) = current.checked_sub(lines.start).filter(|_| current_file == file).and_then(|at| crowds.get_mut(at as usize)) {
        crowd.focused = scene.frame().is_ok();
    }
    for breakpoint in breakpoints.iter() {
        for index in breakpoint.pcs().iter().filter_map(|pc| line_of(*pc)) {
            if let Some(crowd) = crowds.get_mut(index).filter(|crowd| crowd.mark.is_none_or(|mark| !mark.enabled)) {
                crowd.mark = Some(Mark { number: breakpoint.number, enabled: breakpoint.enabled });
            }
        }
    }
    crowds
}
