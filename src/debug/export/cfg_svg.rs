//! The control-flow graph of a function as a picture.

use crate::debug::eval_context::EvalContext;
use crate::debug::shown_name;
use crate::debug::view::{self, BlockView, CfgView};
use crate::drawing::{BoxSize, Drawing, Point, lay_out};
use crate::program::{FuncId, Pc};

/// Pixels of a column and a row of the drawing.
const CELL: (usize, usize) = (8, 18);
/// Pixels around the drawing.
const MARGIN: usize = 16;
/// Most characters of a statement.
const TEXT_MAX: usize = 60;

/// The graph as an SVG file, laid out as on the screen: a box for each basic block with its lines, the lanes of the focused warp in it and
/// its instructions; back edges are dashed and go up on the left.
pub fn cfg_svg(context: &EvalContext<'_>, function: FuncId) -> String {
    let view: CfgView = view::control_flow(context, function);
    let texts: Vec<Vec<String>> = view.blocks.iter().map(|block| lines_of(context, block)).collect();
    let size = |lines: &Vec<String>| BoxSize {
        width: lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) + 2,
        height: lines.len() + 1,
    };
    let sizes: Vec<BoxSize> = texts.iter().map(size).collect();
    let edges = view.blocks.iter().enumerate().flat_map(|(from, block)| block.successors.iter().map(move |to| (from, *to)));
    let drawing = lay_out(&sizes, &edges.collect::<Vec<_>>());
    let (wide, high) = (drawing.width * CELL.0 + 2 * MARGIN, (drawing.height + 2) * CELL.1 + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
         font-family=\"monospace\" font-size=\"13\">\n<defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{}</text>\n",
        MARGIN + CELL.1 / 2,
        escaped(&shown_name(&view.function))
    );
    svg += &edges_of(&drawing, &sizes);
    for (((block, lines), corner), size) in view.blocks.iter().zip(&texts).zip(&drawing.corners).zip(&sizes) {
        svg += &box_of(block, lines, *corner, *size);
    }
    svg + "</svg>\n"
}

/// The texts of a box: its name with its lines, the lanes in it, its instructions.
fn lines_of(context: &EvalContext<'_>, block: &BlockView) -> Vec<String> {
    let (first, last) = block.lines;
    let mut lines = vec![format!("{} {first}-{last}", block.name)];
    lines.extend((!block.lanes.is_empty()).then(|| block.lanes.describe()));
    for pc in block.code.clone() {
        let text = view::statement(context.program(), Pc(pc));
        let is_long = text.chars().count() > TEXT_MAX;
        lines.push(if is_long { text.chars().take(TEXT_MAX - 1).chain(['…']).collect() } else { text });
    }
    lines
}

/// The pixel of a point; a row is below the title.
fn pixel(point: Point) -> (usize, usize) {
    (MARGIN + point.x * CELL.0, MARGIN + (point.y + 2) * CELL.1)
}

/// The edges as polylines from the lower side of one box to the upper side of another.
fn edges_of(drawing: &Drawing, sizes: &[BoxSize]) -> String {
    let edge = |edge: &crate::drawing::DrawnEdge| {
        let bottom = drawing.corners[edge.from].y + sizes[edge.from].height;
        let start = edge.route.first().map(|first| pixel(Point { x: first.x, y: bottom }));
        let end = edge.route.last().map(|last| pixel(Point { x: last.x, y: drawing.corners[edge.to].y }));
        let middle = edge.route.iter().map(|point| {
            let (x, y) = pixel(*point);
            (x, y + CELL.1 / 2)
        });
        let points: Vec<String> = start.into_iter().chain(middle).chain(end).map(|(x, y)| format!("{x},{y}")).collect();
        let dashed = if edge.back { " stroke-dasharray=\"5 3\"" } else { "" };
        let points = points.join(" ");
        format!("<polyline points=\"{points}\" fill=\"none\" stroke=\"black\"{dashed} marker-end=\"url(#to)\"/>\n")
    };
    drawing.edges.iter().map(edge).collect()
}

fn box_of(block: &BlockView, lines: &[String], corner: Point, size: BoxSize) -> String {
    let (x, y) = pixel(corner);
    let (wide, high) = (size.width * CELL.0, size.height * CELL.1);
    let fill = match (block.focused, block.lanes.is_empty()) {
        (true, _) => "#fff3b0",
        (false, false) => "#e6f4e6",
        (false, true) => "white",
    };
    let mut svg = format!("<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" fill=\"{fill}\" stroke=\"black\"/>\n");
    for (row, line) in (1..).zip(lines) {
        let weight = if row == 1 { " font-weight=\"bold\"" } else { "" };
        let (x, y) = (x + CELL.0, y + row * CELL.1);
        svg += &format!("<text x=\"{x}\" y=\"{y}\" xml:space=\"preserve\"{weight}>{}</text>\n", escaped(line));
    }
    svg
}

/// A text of XML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
