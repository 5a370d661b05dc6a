//! The warps pane: the state of every warp of the focused block, and below it a map of the blocks of the grid.

use super::context::{DrawContext, ViewState};
use super::words::visible_range;
use crate::debug::LaneMask;
use crate::debug::eval_context::EvalContext;
use crate::debug::view::{BlockCell, State, WarpSummaryRow, block_map, place, thread_of, warp_summary};
use crate::ui::text::grouped;
use crate::ui::tui::canvas::{Canvas, Target, fitted, width};
use crate::ui::tui::theme::Role;

/// The width of a bar with a cell for each lane.
const LANES: usize = 32;
/// The minimum width of the location of lanes.
const PLACE_MIN: usize = 11;
/// The maximum number of rows of the map of blocks.
const MAP_ROWS: usize = 4;
/// The fewest rows of a pane with a map.
const MAP_MIN: usize = 4;

/// The fewest rows of warps that room is kept for: the pane stays as it is while a warp splits and meets again.
const KEPT: usize = 4;
/// The columns of a map for which room is kept.
const MAP_COLUMNS: usize = 40;

/// The rows that the pane can fill.
pub(super) fn rows(eval_context: &EvalContext<'_>) -> usize {
    let warps = warp_summary(eval_context).map_or(1, |warps| warps.len().max(KEPT));
    match map_rows(eval_context.block_count(), MAP_COLUMNS, usize::MAX) {
        0 => warps,
        // The map takes at most a third of the pane, and its heading.
        map => (warps + map).max(3 * (map - 1)).max(MAP_MIN),
    }
}

/// Draws the pane; returns its title.
pub fn draw(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let eval_context = context.session.eval_context();
    let (width, height) = (canvas.width(), canvas.height());
    let map = map_rows(eval_context.block_count(), width, height);
    let rows = height - map;
    let title = format!("warps of block {}", block_name(eval_context.focus.block));
    let more = match warp_summary(&eval_context) {
        Ok(warp_summary) => draw_warp_summary(context, &warp_summary, view_state, &mut canvas.part(0, 0, width, rows)),
        Err(error) => {
            canvas.part(0, 0, width, rows).placeholder(&error.to_string());
            String::new()
        }
    };
    if map > 0 {
        draw_map(context, &mut canvas.part(0, rows, width, map));
    }
    title + &more
}

fn block_name([x, y, z]: [u32; 3]) -> String {
    format!("{x},{y},{z}")
}

/// The number of rows for the map of blocks: none for a grid of one block, or in a small pane.
fn map_rows(blocks: u64, width: usize, height: usize) -> usize {
    if blocks < 2 || height < MAP_MIN || width < 20 {
        return 0;
    }
    let rows = usize::try_from(blocks).unwrap_or(usize::MAX).div_ceil(width.saturating_sub(2));
    rows.clamp(1, MAP_ROWS).min(height / 3) + 1
}

fn draw_warp_summary(
    context: &DrawContext<'_>,
    warp_summary: &[WarpSummaryRow],
    view_state: &mut ViewState,
    canvas: &mut Canvas<'_>,
) -> String {
    let window = view_state.window(warp_summary.len(), canvas.height());
    let shown = warp_summary.get(window.clone()).unwrap_or_default();
    let eval_context = context.session.eval_context();
    let names = shown.iter().map(|row| width(&eval_context.roles.ranges(&row.warps))).max().unwrap_or(1).clamp(1, 16);
    let states = shown.iter().map(|row| width(&state(&eval_context, row))).max().unwrap_or(1).clamp(1, 22);
    let next = eval_context.next_lanes();
    for (y, row) in shown.iter().enumerate() {
        // Click targets that are added later take precedence: lanes.
        let thread = thread_of(&eval_context, row);
        let wide = canvas.width();
        canvas.on_click((0, y, wide), Target::Command(format!("warp {} lane {}", thread.warp, thread.lane)));
        let name = if row.is_first { eval_context.roles.ranges(&row.warps) } else { String::new() };
        canvas.text(0, y, if row.focused { "▶" } else { " " }, Role::Lanes);
        let x = canvas.text(2, y, &fitted(&name, names), Role::Text);
        let role = if row.location.is_some() { Role::Text } else { Role::Dim };
        let mut x = canvas.text(x + 1, y, &fitted(&state(&eval_context, row), states), role) + 1;
        let Some(location) = &row.location else { continue };
        let room = canvas.width().saturating_sub(x);
        let at = place(eval_context.program(), location.pc);
        let at = short_location(&at);
        let wanted = 7 + PLACE_MIN.min(width(&at) + 1);
        if room >= LANES + wanted {
            let runs = if row.warps.contains(&eval_context.focus.warp) { location.lanes & next } else { location.lanes };
            x = bar(
                canvas,
                (x, y),
                row,
                if location.state == State::Ready { runs } else { LaneMask::NONE },
                (thread.warp, eval_context.focus.lane),
            );
        } else if room >= LANES / 2 + wanted {
            let role = if location.state == State::Ready { Role::Lanes } else { Role::OtherLanes };
            x = canvas.text(x, y, &half_bar(location.lanes), role) + 1;
        }
        let x = canvas.text(x, y, &format!("{:>2} at ", location.lanes.count()), Role::Text);
        // Of a place that does not fit, the line alone.
        let fitting = if width(&at) > canvas.width().saturating_sub(x) { at.split(' ').next().unwrap_or(&at) } else { &at };
        canvas.text(x, y, fitting, Role::Name);
        if row.focused {
            canvas.tint(y, Role::Focused);
        }
    }
    visible_range(&window, warp_summary.len())
}

/// `37 <BB0_2+2>` for `file.ptx:37 <$L__BB0_2+2>`: without the file, which the source pane shows, and the prefix of compilers' labels.
fn short_location(place: &str) -> String {
    place.split_once(':').map_or(place, |(_, line)| line).replace("<$L__", "<")
}

/// `ready`, `split 2`, `at barrier 0`
fn state(eval_context: &EvalContext<'_>, row: &WarpSummaryRow) -> String {
    match &row.location {
        None => "exited".to_string(),
        Some(location) if location.state == State::Ready && row.groups > 1 => format!("split {}", row.groups),
        Some(location) => match location.state {
            State::Lanes(_) => "waits for lanes".to_string(),
            State::AtReconvergence(_) => "waits to meet".to_string(),
            State::AwaitsTurn(_) => "waits its turn".to_string(),
            _ => location.state_in_words(eval_context),
        },
    }
}

/// Draws a cell for each lane: `█` runs next, `▓` runs later, `▒` waits, `·` is elsewhere, blank has exited. Returns the next column.
fn bar(canvas: &mut Canvas<'_>, (x, y): (usize, usize), row: &WarpSummaryRow, next: LaneMask, (warp, focused): (u32, u32)) -> usize {
    let Some(location) = &row.location else { return x };
    for lane in 0..LANES as u32 {
        let has = |lanes: LaneMask| lanes.contains(lane as usize);
        let (glyph, role) = match () {
            () if has(row.exited) => (" ", Role::Dim),
            () if !has(location.lanes) => ("·", Role::Dim),
            () if row.focused && lane == focused => ("◆", Role::Lanes),
            () if has(next) => ("█", Role::Lanes),
            () if location.state == State::Ready => ("▓", Role::OtherLanes),
            () => ("▒", Role::OtherLanes),
        };
        canvas.text(x + lane as usize, y, glyph, role);
        if has(location.lanes) {
            canvas.on_click((x + lane as usize, y, 1), Target::Command(format!("warp {warp} lane {lane}")));
        }
    }
    x + LANES + 1
}

/// A cell for each pair of lanes: `▌` if only the first of them is in `lanes`, `▐` only the second, `█` both.
fn half_bar(lanes: LaneMask) -> String {
    let pair = |index: usize| match (lanes.contains(2 * index), lanes.contains(2 * index + 1)) {
        (false, false) => "·",
        (true, false) => "▌",
        (false, true) => "▐",
        (true, true) => "█",
    };
    (0..LANES / 2).map(pair).collect()
}

/// Draws the map of blocks, `██▒▒····`, and its legend.
fn draw_map(context: &DrawContext<'_>, canvas: &mut Canvas<'_>) {
    let eval_context = context.session.eval_context();
    let columns = canvas.width().saturating_sub(2);
    let cells = columns * canvas.height().saturating_sub(1);
    let map = block_map(&eval_context, cells as u64);
    let sum = |count: fn(&BlockCell) -> u64| map.iter().map(count).sum::<u64>();
    let each = map.first().map_or(1, |cell| cell.blocks.end - cell.blocks.start);
    let scale = if each > 1 { format!(" ({} a cell)", grouped(each)) } else { String::new() };
    let counts = [
        ("█", "running", sum(|cell| cell.running)),
        ("▒", "waiting", sum(|cell| cell.waiting)),
        ("░", "finished", sum(|cell| cell.finished)),
        ("·", "not started", sum(|cell| cell.not_started)),
    ];
    let counts = counts.iter().filter(|(_, _, count)| *count > 0);
    let counts: Vec<String> = counts.map(|(glyph, word, count)| format!("{glyph} {} {word}", grouped(*count))).collect();
    let blocks = eval_context.block_count();
    let head = format!("{} {}{scale}: {}", grouped(blocks), if blocks == 1 { "block" } else { "blocks" }, counts.join("  "));
    canvas.text(1, 0, &head, Role::Dim);
    for (index, cell) in map.iter().enumerate() {
        let (x, y) = (1 + index % columns.max(1), 1 + index / columns.max(1));
        let (glyph, role) = match cell {
            BlockCell { focused: true, .. } => ("◆", Role::Lanes),
            BlockCell { running: 1.., .. } => ("█", Role::Lanes),
            BlockCell { waiting: 1.., .. } => ("▒", Role::OtherLanes),
            BlockCell { not_started: 1.., .. } => ("·", Role::Dim),
            _ => ("░", Role::Dim),
        };
        canvas.text(x, y, glyph, role);
        if let Some(block) = eval_context.extents().block_at(cell.blocks.start) {
            canvas.on_click((x, y, 1), Target::Command(format!("block {}", block_name(block))));
        }
    }
}
