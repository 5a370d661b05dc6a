//! `info warps`, `info lanes` and `info threads`: where threads stand and what they do there.

use super::standing::{Standing, State, standings};
use super::{Table, place, statement};
use crate::base::Dim3;
use crate::debug::focus::ThreadFilter;
use crate::debug::scene::{Scene, SceneError};
use crate::machine::LaneMask;

/// Rows listed at most.
const ROWS: usize = 1000;

/// The warps of a block, those in the same condition in one row: `0-2,5`.
///
/// # Errors
/// The block that the filter names, or else the focused one, is not in the grid or has not started.
pub fn warps(scene: &Scene<'_>, filter: &ThreadFilter) -> Result<Table, SceneError> {
    let index = filter.block.unwrap_or(scene.focus.block);
    let block = scene.refocused(crate::debug::focus::Focus { block: index, ..scene.focus }).block();
    let (count, left) = match block {
        Ok(block) => (block.warps.len() as u32, None),
        Err(SceneError::Finished { .. }) => (scene.extents().warps(), block.err()),
        Err(error) => return Err(error),
    };
    let filter = ThreadFilter { block: Some(index), ..*filter };
    let all = standings(scene, &filter);
    let mut rows: Vec<(Vec<u32>, Vec<&Standing>)> = Vec::new();
    for number in (0..count).filter(|warp| !filter.lanes_of(index, *warp).is_empty()) {
        let own: Vec<&Standing> = all.iter().filter(|standing| standing.warp == number).collect();
        let same = |other: &[&Standing]| other.iter().map(|standing| key(standing)).eq(own.iter().map(|standing| key(standing)));
        match rows.iter_mut().find(|(_, other)| same(other)) {
            Some((warps, _)) => warps.push(number),
            None => rows.push((vec![number], own)),
        }
    }
    let mut table = Table::new(&["warp", "state", "lanes", "at", ""]);
    for (warps, groups) in rows {
        let focused = index == scene.focus.block && warps.contains(&scene.focus.warp);
        if groups.is_empty() {
            table.push(focused, [scene.roles.ranges(&warps), State::Exited.to_string(), String::new(), String::new(), String::new()]);
        }
        for (nth, group) in groups.iter().enumerate() {
            let name = if nth == 0 { scene.roles.ranges(&warps) } else { String::new() };
            let focused = focused && scene.is_focused(group.lanes);
            let program = scene.program();
            let cells = [name, group.state_in_words(scene), group.lanes.list(), place(program, group.pc), statement(program, group.pc)];
            table.push(focused, cells);
        }
    }
    table.note = left.map(|error| error.to_string());
    Ok(table)
}

/// What makes two warps alike: the same lanes at the same places in the same state.
fn key(standing: &Standing) -> (LaneMask, u32, State, u32) {
    (standing.lanes, standing.pc.0, standing.state, standing.depth)
}

/// The lanes of a warp, those that stand together in one row.
///
/// # Errors
/// The warp that the filter names, or else the focused one, is not on the machine.
pub fn lanes(scene: &Scene<'_>, filter: &ThreadFilter) -> Result<Table, SceneError> {
    let (block, warp) = (filter.block.unwrap_or(scene.focus.block), filter.warp.unwrap_or(scene.focus.warp));
    let scene = &scene.refocused(crate::debug::focus::Focus { block, warp, ..scene.focus });
    let live = scene.warp()?.live;
    let wanted = filter.lanes.unwrap_or(LaneMask::ALL);
    let program = scene.program();
    let mut table = Table::new(&["lanes", "threads", "state", "at", ""]);
    let own = ThreadFilter { block: Some(block), warp: Some(warp), lanes: Some(wanted) };
    for standing in standings(scene, &own) {
        let mut parts = [(standing.lanes & !standing.off, false), (standing.off, true)];
        parts.sort_by_key(|(lanes, _)| lanes.first());
        for (lanes, is_off) in parts.into_iter().filter(|(lanes, _)| !lanes.is_empty()) {
            let state = if is_off { "turned off by its predicate".to_string() } else { standing.state_in_words(scene) };
            let (threads, place, statement) =
                (thread_names(scene, warp, lanes), place(program, standing.pc), statement(program, standing.pc));
            table.push(scene.is_focused(lanes), [lanes.list(), threads, state, place, statement]);
        }
    }
    let exited = scene.machine.lanes_of_warp(warp) & wanted & !live;
    if !exited.is_empty() {
        let threads = thread_names(scene, warp, exited);
        let focused = scene.is_focused(exited);
        table.push(focused, [exited.list(), threads, State::Exited.to_string(), String::new(), String::new()]);
    }
    Ok(table)
}

/// `(4,0,0)`, `(0,0,0) … (31,0,0)`
fn thread_names(scene: &Scene<'_>, warp: u32, lanes: LaneMask) -> String {
    let thread = |lane: u32| Dim3(scene.machine.thread_of(warp, lane)).to_string();
    let (first, last) = (lanes.first() as u32, 31 - lanes.bits().leading_zeros().min(31));
    match lanes.count() {
        1 => thread(first),
        2 => format!("{} {}", thread(first), thread(last)),
        _ => format!("{} … {}", thread(first), thread(last)),
    }
}

/// All threads on the machine that pass `filter`: those of a block that stand at the same place in one row.
pub fn threads(scene: &Scene<'_>, filter: &ThreadFilter) -> Table {
    let mut table = Table::new(&["block", "warps", "lanes", ">threads", "state", "at", ""]);
    let all = standings(scene, filter);
    let mut left_out = 0;
    for block in all.chunk_by(|a, b| a.block == b.block) {
        let mut rows: Vec<(&Standing, Vec<u32>)> = Vec::new();
        for standing in block {
            match rows.iter_mut().find(|(other, _)| key(other) == key(standing)) {
                Some((_, warps)) => warps.push(standing.warp),
                None => rows.push((standing, vec![standing.warp])),
            }
        }
        for (standing, warps) in rows {
            if table.rows.len() >= ROWS {
                left_out += 1;
                continue;
            }
            let focus = scene.focus;
            let focused = standing.block == focus.block && warps.contains(&focus.warp) && scene.is_focused(standing.lanes);
            let count = warps.len() * standing.lanes.iter().count();
            let (place, statement) = (place(scene.program(), standing.pc), statement(scene.program(), standing.pc));
            let cells = [
                Dim3(standing.block).to_string(),
                scene.roles.ranges(&warps),
                standing.lanes.list(),
                count.to_string(),
                standing.state_in_words(scene),
                place,
                statement,
            ];
            table.push(focused, cells);
        }
    }
    if left_out > 0 {
        table.note = Some(format!("and {left_out} more: name a block, as in 'info threads block 1,0,0'"));
    }
    table.or_note("no such thread is on the machine")
}
