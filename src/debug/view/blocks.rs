//! `info blocks`: the blocks of the grid, neighbours in the same condition in one row.

use serde::Serialize;

use super::location::{State, lane_locations};
use crate::debug::focus::ThreadFilter;
use crate::debug::scene::Scene;

/// Neighbouring blocks in the same condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockSpan {
    /// Index of the first, in order of launch.
    pub first: [u32; 3],
    /// Index of the last.
    pub last: [u32; 3],
    /// How many they are.
    pub count: u64,
    /// What their threads do.
    pub condition: Condition,
    /// Whether the focused block is one of them.
    pub focused: bool,
}

/// What the threads of a block do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Condition {
    /// It has not started.
    NotStarted,
    /// All have exited.
    Finished,
    /// All that have not exited do the same.
    All(State),
    /// How many do what. For which lanes they wait is left out.
    Mixed(Vec<(State, u64)>),
}

/// Blocks by number, and what their threads do.
type Span = (std::ops::Range<u64>, Condition);

/// The blocks that pass `filter`, in order of launch.
pub fn blocks(scene: &Scene<'_>, filter: &ThreadFilter) -> Vec<BlockSpan> {
    let machine = scene.machine;
    let own = machine.block_number(scene.focus.block);
    let wanted = filter.block.and_then(|block| machine.block_number(block));
    let is_wanted = |(span, _): &Span| wanted.is_none_or(|wanted| span.contains(&wanted));
    let row = |(span, condition): Span| {
        let span = wanted.map_or(span, |wanted| wanted..wanted + 1);
        let index = |number: u64| machine.block_index(number);
        BlockSpan {
            first: index(span.start),
            last: index(span.end - 1),
            count: span.end - span.start,
            condition,
            focused: own.is_some_and(|own| span.contains(&own)),
        }
    };
    spans(scene).into_iter().filter(is_wanted).map(row).collect()
}

/// All blocks of the grid.
fn spans(scene: &Scene<'_>) -> Vec<Span> {
    let machine = scene.machine;
    let mut resident: Vec<_> = machine.resident_blocks().map(|block| (block.number, block.index)).collect();
    resident.sort_unstable();
    let mut spans: Vec<Span> = Vec::new();
    let mut next = 0;
    for (number, index) in resident {
        add(&mut spans, next..number, Condition::Finished);
        add(&mut spans, number..number + 1, condition(scene, index));
        next = number + 1;
    }
    add(&mut spans, next..machine.blocks_started(), Condition::Finished);
    add(&mut spans, machine.blocks_started()..machine.block_count(), Condition::NotStarted);
    spans
}

/// Adds blocks, to the span before if that is alike.
fn add(spans: &mut Vec<Span>, blocks: std::ops::Range<u64>, condition: Condition) {
    if blocks.is_empty() {
        return;
    }
    match spans.last_mut() {
        Some((last, other)) if *other == condition && last.end == blocks.start => last.end = blocks.end,
        _ => spans.push((blocks, condition)),
    }
}

fn condition(scene: &Scene<'_>, block: [u32; 3]) -> Condition {
    let filter = ThreadFilter { block: Some(block), warp: None, lanes: None };
    let mut counts: Vec<(State, u64)> = Vec::new();
    for location in lane_locations(scene, &filter) {
        let (state, threads) = (location.state.without_lanes(), u64::from(location.lanes.count()));
        match counts.iter_mut().find(|(other, _)| *other == state) {
            Some((_, count)) => *count += threads,
            None => counts.push((state, threads)),
        }
    }
    match counts[..] {
        [(state, _)] => Condition::All(state),
        _ => Condition::Mixed(counts),
    }
}
