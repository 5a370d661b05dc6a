//! `info blocks`: the blocks of the grid; consecutive blocks in the same condition are one row.

use serde::Serialize;

use super::location::{State, lane_locations};
use crate::debug::eval_context::EvalContext;
use crate::debug::focus::ThreadFilter;

/// Consecutive blocks in the same condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockSpan {
    /// Index of the first, in order of launch.
    pub first: [u32; 3],
    /// Index of the last.
    pub last: [u32; 3],
    /// Number of blocks.
    pub count: u64,
    /// The state of their threads.
    pub condition: Condition,
    /// True if the focused block is one of them.
    pub focused: bool,
}

/// The state of the threads of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Condition {
    /// It has not started.
    NotStarted,
    /// All have exited.
    Finished,
    /// All that have not exited are in the same state.
    All(State),
    /// The number of threads in each state, without the lanes that they wait for.
    Mixed(Vec<(State, u64)>),
}

/// A range of block numbers, and the state of their threads.
type Span = (std::ops::Range<u64>, Condition);

/// The blocks that pass `filter`, in order of launch.
pub fn blocks(context: &EvalContext<'_>, filter: &ThreadFilter) -> Vec<BlockSpan> {
    let machine = context.machine;
    let focused = machine.block_number(context.focus.block);
    let filtered = filter.block.and_then(|block| machine.block_number(block));
    let is_listed = |(span, _): &Span| filtered.is_none_or(|number| span.contains(&number));
    let row = |(span, condition): Span| {
        let span = filtered.map_or(span, |number| number..number + 1);
        let index = |number: u64| machine.block_index(number);
        BlockSpan {
            first: index(span.start),
            last: index(span.end - 1),
            count: span.end - span.start,
            condition,
            focused: focused.is_some_and(|focused| span.contains(&focused)),
        }
    };
    spans(context).into_iter().filter(is_listed).map(row).collect()
}

/// All blocks of the grid.
fn spans(context: &EvalContext<'_>) -> Vec<Span> {
    let machine = context.machine;
    let mut resident: Vec<_> = machine.resident_blocks().map(|block| (block.number, block.index)).collect();
    resident.sort_unstable();
    let mut spans: Vec<Span> = Vec::new();
    let mut next = 0;
    for (number, index) in resident {
        add(&mut spans, next..number, Condition::Finished);
        add(&mut spans, number..number + 1, condition(context, index));
        next = number + 1;
    }
    add(&mut spans, next..machine.blocks_started(), Condition::Finished);
    add(&mut spans, machine.blocks_started()..machine.block_count(), Condition::NotStarted);
    spans
}

/// Adds blocks; extends the last span if its condition is the same.
fn add(spans: &mut Vec<Span>, blocks: std::ops::Range<u64>, condition: Condition) {
    if blocks.is_empty() {
        return;
    }
    match spans.last_mut() {
        Some((last, other)) if *other == condition && last.end == blocks.start => last.end = blocks.end,
        _ => spans.push((blocks, condition)),
    }
}

fn condition(context: &EvalContext<'_>, block: [u32; 3]) -> Condition {
    let filter = ThreadFilter { block: Some(block), ..ThreadFilter::default() };
    let mut counts: Vec<(State, u64)> = Vec::new();
    for location in lane_locations(context, &filter) {
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
