//! The control-flow pane: the focused function as a graph, with the lanes that stand in each block; a list where there is no room.
//!
//! Boxes hold a block's label and lines. Edges go down; an edge that goes back to a loop's head goes up on the left, with `▲` on it.
//! The number at an edge's end says how many lanes have taken it.

use super::context::{DrawContext, ViewState};
use super::words::{more, short};
use crate::debug::shown_name;
use crate::debug::view::{BlockView, CfgView, control_flow};
use crate::drawing::{BoxSize, Drawing, DrawnEdge, Point, lay_out};
use crate::ui::tui::canvas::{Canvas, Target, fitted, width};
use crate::ui::tui::theme::Role;

/// Less room than this and the blocks are listed.
const GRAPH_MIN: (usize, usize) = (24, 8);
/// Of more blocks than this, those around the focused one are drawn: a drawing of all is too large to be read, and slow to make.
const BLOCKS_MAX: usize = 120;
/// How many are drawn then.
const BLOCKS_NEAR: usize = 40;
/// Columns of a label.
const NAME_MAX: usize = 18;

/// How blocks are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// With lines around them.
    Boxes,
    /// On one row, in brackets.
    Rows,
}

/// Draws the pane; its title.
pub fn draw(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let scene = context.session.scene();
    let function = scene.current_function();
    let view = control_flow(&scene, function);
    let title = format!("control flow · {}", shown_name(&view.function));
    let (width, height) = (canvas.width(), canvas.height());
    if width < GRAPH_MIN.0 || height < GRAPH_MIN.1 {
        return title + &list(context, &view, view_state, canvas);
    }
    let (near, graph_title) = match view.blocks.len() {
        ..=BLOCKS_MAX => (None, title.clone()),
        count => (Some(view.around_focus(BLOCKS_NEAR)), format!("{title} · {BLOCKS_NEAR} of {count} blocks")),
    };
    let drawn = near.as_ref().unwrap_or(&view);
    let boxes = drawing(drawn, Shape::Boxes);
    let (shape, drawing) = match boxes.height <= height {
        true => (Shape::Boxes, boxes),
        false => (Shape::Rows, drawing(drawn, Shape::Rows)),
    };
    if drawing.width > width * 2 {
        return title + &list(context, &view, view_state, canvas);
    }
    graph(context, (drawn, &drawing, shape), view_state, canvas);
    graph_title
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
    let joins = if block.joins { "⋈ " } else { "" };
    format!("{head}{joins}{name} {lines}")
}

/// `BB0_2`: what compilers put before every label says nothing.
fn short_name(block: &BlockView) -> &str {
    block.name.strip_prefix("$L__").unwrap_or(&block.name)
}

/// `▶ 11 lanes +64`: lanes of the focused warp, and threads of others; `⋈ 11+21` where groups of the warp will stand together again.
fn occupancy(block: &BlockView) -> String {
    let meets: Vec<String> = block.meets.iter().map(u32::to_string).collect();
    let meets = if meets.is_empty() { String::new() } else { format!("⋈ {}", meets.join("+")) };
    let parts = [location(block), meets];
    parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn location(block: &BlockView) -> String {
    let own = block.lanes.count();
    let others = block.threads - own;
    let mark = if block.focused { "▶ " } else { "" };
    let lanes = match own {
        0 => String::new(),
        1 => format!("{mark}1 lane"),
        own => format!("{mark}{own} lanes"),
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

/// Draws the part of the graph that is visible: centred on the focused block, or all of it.
fn graph(
    context: &DrawContext<'_>,
    (view, drawing, shape): (&CfgView, &Drawing, Shape),
    view_state: &mut ViewState,
    canvas: &mut Canvas<'_>,
) {
    let focus = view.blocks.iter().position(|block| block.focused).unwrap_or(0);
    let corner = drawing.corners.get(focus).copied().unwrap_or_default();
    let (columns, rows) = (canvas.width(), canvas.height());
    let top = start(corner.y, drawing.height, rows, &mut view_state.down);
    let left = start(corner.x, drawing.width, columns, &mut view_state.right);
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
        if let Some((point, count)) = count_place(view, edge, &lines) {
            put(point, &count, Role::Number);
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
}

/// How many lanes have taken an edge, and where that is written: beside its arrow, where no other edge runs.
fn count_place(view: &CfgView, edge: &DrawnEdge, lines: &Lines) -> Option<(Point, String)> {
    let count = taken(view.blocks.get(edge.from)?, edge.to)?;
    let (last, wide) = (edge.route.last()?, count.len());
    let after = (last.x + 1, last.x + 1..last.x + wide + 2);
    let before = last.x.checked_sub(wide + 1).map(|start| (start + 1, start..last.x));
    let mut places = std::iter::once(after).chain(before);
    let (x, _) = places.find(|(_, cells)| cells.clone().all(|x| lines.is_free(x, last.y)))?;
    Some((Point { x, y: last.y }, count))
}

/// Lanes that have gone from a block straight to another, if they are counted.
fn taken(block: &BlockView, to: usize) -> Option<String> {
    let edge = block.successors.iter().position(|successor| *successor == to)?;
    block.counts.as_ref()?.taken.get(edge).map(|lanes| short(*lanes))
}

/// The first visible cell along one direction: all of it in the middle if there is room, or else the focus in the middle; moved by what
/// the user scrolled, which is kept in bounds.
fn start(focus: usize, total: usize, room: usize, moved: &mut i64) -> i64 {
    let (focus, total, room) = (focus as i64, total as i64, room as i64);
    if total <= room {
        *moved = 0;
        return -(room - total) / 2;
    }
    let own = (focus - room / 3).clamp(0, total - room);
    let start = (own + *moved).clamp(0, total - room);
    *moved = start - own;
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
        let shown: String = text.chars().skip(skipped).collect();
        canvas.text(column, row, &shown, role);
        if let Some(target) = list_target(context, block) {
            canvas.on_click((column, row, width(&shown)), target);
        }
    }
}

/// A click on a block lists its lines.
fn list_target(context: &DrawContext<'_>, block: &BlockView) -> Option<Target> {
    let scene = context.session.scene();
    let (file, _) = crate::debug::view::current_line(&scene);
    let name = scene.program().sources_text.file(file).short_name().to_string();
    (block.lines.0 > 0).then(|| Target::Command(format!("list {name}:{}", block.lines.0)))
}

/// Cells that lines run through, with the sides they go to.
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
/// The line that goes to the sides of its index.
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

    /// Whether no line runs through a visible cell.
    fn is_free(&self, x: usize, y: usize) -> bool {
        let place = at(x, self.start.0).zip(at(y, self.start.1)).filter(|(x, y)| *x < self.width && *y < self.height);
        place.is_some_and(|(x, y)| self.sides[y * self.width + x] == 0)
    }

    fn draw(&self, canvas: &mut Canvas<'_>) {
        for (index, sides) in self.sides.iter().enumerate().filter(|(_, sides)| **sides != 0) {
            canvas.text(index % self.width, index / self.width, GLYPHS[usize::from(*sides) & 15], Role::Rule);
        }
    }
}

/// A row for each block: its label, where it goes, the threads that stand in it.
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
    more(&window, view.blocks.len())
}
