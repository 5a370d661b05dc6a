//! The control-flow pane: the graph of the focused function, with the lanes in each block; a list if there is not enough room.
//!
//! A box has the label and the lines of a basic block. Edges go down; a back edge goes up on the left, marked with `▲`. The number at the
//! end of an edge is the number of lanes that have taken it.

use std::ops::Range;

use super::context::{DrawContext, ViewState};
use super::words::{compact_count, visible_range};
use crate::debug::shown_name;
use crate::debug::view::{BlockView, CfgView, control_flow};
use crate::drawing::{BoxSize, Drawing, DrawnEdge, Point, lay_out};
use crate::ui::tui::canvas::{Canvas, Target, fitted, width, without_start};
use crate::ui::tui::theme::Role;

/// The minimum size of the pane for a graph; below it, the blocks are listed.
const GRAPH_MIN: (usize, usize) = (24, 8);
/// If there are more blocks than this, only those around the focused one are drawn: a drawing of all is unreadable, and slow.
const BLOCKS_MAX: usize = 120;
/// The number of blocks that are drawn then.
const BLOCKS_NEAR: usize = 40;
/// The maximum width of a label in columns.
const NAME_MAX: usize = 18;

/// The shape of the drawn blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Boxes with borders.
    Boxes,
    /// One row each, in brackets.
    Rows,
}

/// Draws the pane; returns its title.
pub fn draw(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let eval_context = context.session.eval_context();
    let function = eval_context.current_function();
    let view = control_flow(&eval_context, function);
    let title = format!("control flow · {}", shown_name(&view.function));
    let (width, height) = (canvas.width(), canvas.height());
    if width < GRAPH_MIN.0 || height < GRAPH_MIN.1 {
        return title + &list(context, &view, view_state, canvas);
    }
    let (nearby, graph_title) = match view.blocks.len() {
        ..=BLOCKS_MAX => (None, title.clone()),
        count => (Some(view.around_focus(BLOCKS_NEAR)), format!("{title} · {BLOCKS_NEAR} of {count} blocks")),
    };
    let drawn = nearby.as_ref().unwrap_or(&view);
    let boxes = drawing(drawn, Shape::Boxes);
    let (shape, drawing) = match boxes.height <= height {
        true => (Shape::Boxes, boxes),
        false => (Shape::Rows, drawing(drawn, Shape::Rows)),
    };
    if drawing.width > width * 2 {
        return title + &list(context, &view, view_state, canvas);
    }
    let columns = graph(context, (drawn, &drawing, shape), view_state, canvas);
    let is_cut = columns.len() < drawing.width;
    graph_title + &if is_cut { visible_range(&columns, drawing.width).replacen("· ", "· ↔ ", 1) } else { String::new() }
}

fn drawing(view: &CfgView, shape: Shape) -> Drawing {
    let sizes: Vec<BoxSize> = view.blocks.iter().map(|block| size(block, shape)).collect();
    let edges = view.blocks.iter().enumerate().flat_map(|(from, block)| block.successors.iter().map(move |to| (from, *to)));
    lay_out(&sizes, &edges.collect::<Vec<_>>())
}

fn size(block: &BlockView, shape: Shape) -> BoxSize {
    let inside = width(&label(block)).max(width(&occupancy(block)));
    match shape {
        Shape::Boxes => BoxSize { width: inside + 4, height: if occupancy(block).is_empty() { 3 } else { 4 } },
        Shape::Rows => BoxSize { width: width(&row_text(block)), height: 1 },
    }
}

/// `↻ BB0_2 32-35`; `⋈` before a block where paths reconverge.
fn label(block: &BlockView) -> String {
    let lines = if block.lines.0 == block.lines.1 { block.lines.0.to_string() } else { format!("{}-{}", block.lines.0, block.lines.1) };
    let name = short_name(block);
    let name = if width(name) > NAME_MAX { fitted(name, NAME_MAX) } else { name.to_string() };
    let head = if block.loop_header { "↻ " } else { "" };
    let joins = if block.is_reconvergence { "⋈ " } else { "" };
    format!("{head}{joins}{name} {lines}")
}

/// `BB0_2`: the label without the prefix of compilers.
fn short_name(block: &BlockView) -> &str {
    block.name.strip_prefix("$L__").unwrap_or(&block.name)
}

/// `▶ 11 lanes +64`: lanes of the focused warp, and threads of others; `⋈ 11+21` where groups of lanes of these sizes will reconverge.
fn occupancy(block: &BlockView) -> String {
    let reconverging: Vec<String> = block.reconverging.iter().map(u32::to_string).collect();
    let reconverging = if reconverging.is_empty() { String::new() } else { format!("⋈ {}", reconverging.join("+")) };
    let parts = [thread_counts(block), reconverging];
    parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The number of lanes of the focused warp in the block, and of threads of other warps.
fn thread_counts(block: &BlockView) -> String {
    let focused = block.lanes.count();
    let others = block.threads - focused;
    let mark = if block.focused { "▶ " } else { "" };
    let lanes = match focused {
        0 => String::new(),
        1 => format!("{mark}1 lane"),
        focused => format!("{mark}{focused} lanes"),
    };
    match (lanes.is_empty(), others) {
        (_, 0) => lanes,
        (true, others) => format!("+{others} threads"),
        (false, others) => format!("{lanes} +{others}"),
    }
}

fn row_text(block: &BlockView) -> String {
    let occupancy = occupancy(block);
    if occupancy.is_empty() { format!("[{}]", label(block)) } else { format!("[{} {occupancy}]", label(block)) }
}

/// Draws the part of the graph that is visible: centred on the focused block, or all of it; returns its columns.
fn graph(
    context: &DrawContext<'_>,
    (view, drawing, shape): (&CfgView, &Drawing, Shape),
    view_state: &mut ViewState,
    canvas: &mut Canvas<'_>,
) -> Range<usize> {
    let focus = view.blocks.iter().position(|block| block.focused).unwrap_or(0);
    let corner = drawing.corners.get(focus).copied().unwrap_or_default();
    let (columns, rows) = (canvas.width(), canvas.height());
    let wide = view.blocks.get(focus).map_or(0, |block| size(block, shape).width);
    let top = start((corner.y, 1), drawing.height, rows, &mut view_state.down);
    let left = start((corner.x, wide), drawing.width, columns, &mut view_state.right);
    view_state.page = rows as i64;
    let mut lines = Lines::new(columns, rows, (left, top));
    for edge in &drawing.edges {
        edge.route.windows(2).for_each(|pair| lines.run(pair[0], pair[1]));
        edge.route.first().iter().for_each(|first| lines.add(first.x, first.y, UP));
    }
    lines.draw(canvas);
    let mut put = |point: Point, glyph: &str, role| {
        if let (Some(x), Some(y)) = (at(point.x, left), at(point.y, top)) {
            canvas.text(x, y, glyph, role);
        }
    };
    for edge in &drawing.edges {
        if let Some(last) = edge.route.last() {
            put(*last, "▼", Role::Rule);
        }
        if let Some((point, count)) = count_position(view, edge, &lines) {
            put(point, &count, Role::Number);
            lines.reserve(point, width(&count));
        }
        if let Some(middle) = edge.route.windows(2).find(|pair| edge.back && pair[1].y < pair[0].y) {
            put(Point { x: middle[0].x, y: usize::midpoint(middle[0].y, middle[1].y) }, "▲", Role::Changed);
        }
    }
    for (block, corner) in view.blocks.iter().zip(&drawing.corners) {
        draw_block(context, block, shape, (corner.x as i64 - left, corner.y as i64 - top), canvas);
    }
    let ports = drawing.edges.iter().filter_map(|edge| edge.route.first()).filter(|_| shape == Shape::Boxes);
    for (x, y) in ports.filter_map(|first| at(first.x, left).zip(at(first.y.saturating_sub(1), top))) {
        canvas.text(x, y, "┬", Role::Rule);
    }
    let first = usize::try_from(left).unwrap_or(0);
    first..drawing.width.min(first + columns)
}

/// The number of lanes that have taken an edge, and its position: beside the arrow, where no other edge is drawn.
fn count_position(view: &CfgView, edge: &DrawnEdge, lines: &Lines) -> Option<(Point, String)> {
    let count = taken(view.blocks.get(edge.from)?, edge.to)?;
    let (last, wide) = (edge.route.last()?, count.len());
    let after = (last.x + 1, last.x + 1..last.x + wide + 2);
    let before = last.x.checked_sub(wide + 1).map(|start| (start + 1, start..last.x));
    let mut positions = std::iter::once(after).chain(before);
    let (x, _) = positions.find(|(_, cells)| cells.clone().all(|x| lines.is_free(x, last.y)))?;
    Some((Point { x, y: last.y }, count))
}

/// The number of lanes that have taken the edge from a block to another, if they are counted.
fn taken(block: &BlockView, to: usize) -> Option<String> {
    let edge = block.successors.iter().position(|successor| *successor == to)?;
    block.counts.as_ref()?.taken.get(edge).map(|lanes| compact_count(*lanes))
}

/// The first visible cell in one dimension: the drawing is centred if it fits, otherwise the focus is, which begins at a cell and has a
/// size: all of it is visible where there is room. Then it is shifted by the scroll offset `moved`, which is clamped.
fn start((focus, size): (usize, usize), total: usize, room: usize, moved: &mut i64) -> i64 {
    let (focus, size, total, room) = (focus as i64, size as i64, total as i64, room as i64);
    if total <= room {
        *moved = 0;
        return -(room - total) / 2;
    }
    let unscrolled = (focus - room / 3).max(focus + size - room).min(focus).clamp(0, total - room);
    let start = (unscrolled + *moved).clamp(0, total - room);
    *moved = start - unscrolled;
    start
}

fn at(cell: usize, start: i64) -> Option<usize> {
    usize::try_from(cell as i64 - start).ok()
}

fn draw_block(context: &DrawContext<'_>, block: &BlockView, shape: Shape, (x, y): (i64, i64), canvas: &mut Canvas<'_>) {
    let role = match (block.focused, block.lanes.is_empty()) {
        (true, _) => Role::Lanes,
        (false, false) => Role::OtherLanes,
        (false, true) => Role::Text,
    };
    let occupancy = occupancy(block);
    let inside = width(&label(block)).max(width(&occupancy));
    let rows: Vec<String> = match shape {
        Shape::Rows => vec![row_text(block)],
        Shape::Boxes => {
            let line = "─".repeat(inside + 2);
            let texts = [label(block), occupancy].into_iter().filter(|text| !text.is_empty());
            let middle = texts.map(|text| format!("│ {} │", fitted(&text, inside)));
            std::iter::once(format!("┌{line}┐")).chain(middle).chain([format!("└{line}┘")]).collect()
        }
    };
    for (row, text) in (y..).zip(&rows) {
        let Ok(row) = usize::try_from(row) else { continue };
        let skipped = usize::try_from(-x).unwrap_or(0);
        let column = usize::try_from(x).unwrap_or(0);
        let room = canvas.width().saturating_sub(column);
        let shown = match shape {
            Shape::Boxes => without_start(text, skipped),
            // A row shows where it is cut even if that takes nothing but a bracket.
            Shape::Rows if skipped > 0 => format!("…{}", without_start(text, skipped + 1).replacen('…', " ", 1)),
            Shape::Rows if width(text) > room => fitted(text, room),
            Shape::Rows => text.clone(),
        };
        canvas.text(column, row, &shown, role);
        if let Some(target) = list_target(context, block) {
            canvas.on_click((column, row, width(&shown)), target);
        }
    }
}

/// The target of a click on a block: lists its lines.
fn list_target(context: &DrawContext<'_>, block: &BlockView) -> Option<Target> {
    let eval_context = context.session.eval_context();
    let (file, _) = crate::debug::view::current_line(&eval_context);
    let name = eval_context.program().sources_text.file(file).short_name().to_string();
    (block.lines.0 > 0).then(|| Target::Command(format!("list {name}:{}", block.lines.0)))
}

/// The cells with edges, each with the sides to which its lines go.
struct Lines {
    width: usize,
    height: usize,
    start: (i64, i64),
    sides: Vec<u8>,
}

const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;
/// A cell with a number, which is no side of a line.
const NUMBER: u8 = 16;
/// The box-drawing characters, indexed by the sides.
const GLYPHS: [&str; 16] = [" ", "│", "│", "│", "─", "┘", "┐", "┤", "─", "└", "┌", "├", "─", "┴", "┬", "┼"];

impl Lines {
    fn new(width: usize, height: usize, start: (i64, i64)) -> Self {
        Self { width, height, start, sides: vec![0; width * height] }
    }

    fn run(&mut self, from: Point, to: Point) {
        let (left, right) = (from.x.min(to.x), from.x.max(to.x));
        let (top, bottom) = (from.y.min(to.y), from.y.max(to.y));
        if left == right {
            for y in top..=bottom {
                self.add(left, y, if y > top { UP } else { 0 } | if y < bottom { DOWN } else { 0 });
            }
        } else {
            for x in left..=right {
                self.add(x, top, if x > left { LEFT } else { 0 } | if x < right { RIGHT } else { 0 });
            }
        }
    }

    fn add(&mut self, x: usize, y: usize, sides: u8) {
        let (Some(x), Some(y)) = (at(x, self.start.0), at(y, self.start.1)) else { return };
        if x < self.width && y < self.height {
            self.sides[y * self.width + x] |= sides;
        }
    }

    /// Keeps other numbers from the cells of one.
    fn reserve(&mut self, start: Point, count: usize) {
        (start.x..start.x + count).for_each(|x| self.add(x, start.y, NUMBER));
    }

    /// True for a visible cell without a line or a number.
    fn is_free(&self, x: usize, y: usize) -> bool {
        let cell = at(x, self.start.0).zip(at(y, self.start.1)).filter(|(x, y)| *x < self.width && *y < self.height);
        cell.is_some_and(|(x, y)| self.sides[y * self.width + x] == 0)
    }

    fn draw(&self, canvas: &mut Canvas<'_>) {
        for (index, sides) in self.sides.iter().enumerate().filter(|(_, sides)| **sides != 0) {
            canvas.text(index % self.width, index / self.width, GLYPHS[usize::from(*sides) & 15], Role::Rule);
        }
    }
}

/// The list: a row for each block with its label, the threads in it, and its successors.
fn list(context: &DrawContext<'_>, view: &CfgView, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let focus = view.blocks.iter().position(|block| block.focused).unwrap_or(0);
    let (window, _) = view_state.window_around(focus, view.blocks.len(), canvas.height());
    let indented = |block: &BlockView| format!("{}{}", "  ".repeat(block.loop_depth.min(6) as usize), label(block));
    let shown = view.blocks.get(window.clone()).unwrap_or_default();
    let names = shown.iter().map(|block| width(&indented(block))).max().unwrap_or(0).min(canvas.width() * 2 / 3);
    let occupancies = shown.iter().map(|block| width(occupancy(block).trim_start_matches("▶ "))).max().unwrap_or(0);
    for (y, (block, index)) in shown.iter().zip(window.start..).enumerate() {
        canvas.text(0, y, if block.focused { "▶" } else { " " }, Role::Lanes);
        let x = canvas.text(1, y, &fitted(&indented(block), names), Role::Name);
        let target = |to: &usize| {
            let name = view.blocks.get(*to).map_or("?", short_name);
            let count = taken(block, *to).map_or(String::new(), |count| format!(" {count}"));
            format!("{}{name}{count}", if *to <= index { "↑" } else { "" })
        };
        let targets: Vec<String> = block.successors.iter().map(target).collect();
        let x = canvas.text(x + 1, y, &fitted(occupancy(block).trim_start_matches("▶ "), occupancies), Role::Lanes);
        let edges = if targets.is_empty() { "  → end".to_string() } else { format!("  → {}", targets.join(", ")) };
        canvas.text(x, y, &edges, Role::Dim);
        if block.focused {
            canvas.tint(y, Role::Focused);
        }
        if let Some(target) = list_target(context, block) {
            let wide = canvas.width();
            canvas.on_click((0, y, wide), target);
        }
    }
    visible_range(&window, view.blocks.len())
}
