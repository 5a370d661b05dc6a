//! `info blocks`: the blocks of the grid, neighbours in the same condition in one row.

use super::Table;
use super::standing::{State, standings};
use crate::base::{Dim3, counted};
use crate::debug::focus::ThreadFilter;
use crate::debug::scene::Scene;
use crate::machine::LaneMask;

/// The blocks that pass `filter`, in order of launch.
pub fn blocks(scene: &Scene<'_>, filter: &ThreadFilter) -> Table {
    let machine = scene.machine;
    let mut resident: Vec<(u64, String)> = machine.resident_blocks().map(|block| (block.number, condition(scene, block.index))).collect();
    resident.sort_unstable();
    let mut spans: Vec<(u64, u64, String)> = Vec::new();
    let mut next = 0;
    for (number, condition) in resident {
        add(&mut spans, next, number, "finished");
        add(&mut spans, number, number + 1, &condition);
        next = number + 1;
    }
    add(&mut spans, next, machine.blocks_started(), "finished");
    add(&mut spans, machine.blocks_started(), machine.block_count(), "not started");
    let own = machine.block_number(scene.focus.block);
    let wanted = filter.block.and_then(|block| machine.block_number(block));
    let mut table = Table::new(&["from", "to", ">blocks", "state"]);
    for (start, end, condition) in spans.into_iter().filter(|span| wanted.is_none_or(|wanted| (span.0..span.1).contains(&wanted))) {
        let (start, end) = wanted.map_or((start, end), |wanted| (wanted, wanted + 1));
        let focused = own.is_some_and(|own| (start..end).contains(&own));
        let index = |number: u64| Dim3(index_of(number, machine.config().grid)).to_string();
        table.push(focused, [index(start), index(end - 1), (end - start).to_string(), condition]);
    }
    table
}

/// Adds the blocks `start..end`, to the row before if it is alike.
fn add(spans: &mut Vec<(u64, u64, String)>, start: u64, end: u64, condition: &str) {
    if start >= end {
        return;
    }
    match spans.last_mut() {
        Some(last) if last.2 == condition && last.1 == start => last.1 = end,
        _ => spans.push((start, end, condition.to_string())),
    }
}

/// What the threads of a block do: `ready`, `at barrier 0`, or how many of its warps do what.
fn condition(scene: &Scene<'_>, block: [u32; 3]) -> String {
    let filter = ThreadFilter { block: Some(block), warp: None, lanes: None };
    let mut counts: Vec<(State, usize)> = Vec::new();
    for standing in standings(scene, &filter) {
        let state = match standing.state {
            State::Lanes(_) => State::Ready,
            // Which lanes they wait for is another thing in every warp.
            State::AtMeeting(_) => State::AtMeeting(LaneMask::NONE),
            State::AwaitsTurn(_) => State::AwaitsTurn(LaneMask::NONE),
            state => state,
        };
        match counts.iter_mut().find(|(other, _)| *other == state) {
            Some((_, count)) => *count += standing.lanes.count() as usize,
            None => counts.push((state, standing.lanes.count() as usize)),
        }
    }
    match &counts[..] {
        [(state, _)] => state.to_string(),
        _ => counts.iter().map(|(state, threads)| format!("{} {state}", counted(*threads as u64, "thread"))).collect::<Vec<_>>().join(", "),
    }
}

fn index_of(number: u64, grid: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(grid[0].max(1)), u64::from(grid[1].max(1)));
    [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
}
