//! The fragment pane: the matrices in the registers of the matrix instruction that is next or was just executed. Each element is shown
//! with its lane, those of the focused lane are marked, and the title names the register of the element of the cursor. Choosing an
//! element focuses its lane.

use super::context::{DrawContext, ViewState};
use super::words::{name_ranges, rounded, visible_range};
use crate::debug::view::{FragmentCell, OperandFragment, OperandFragments, operand_fragments};
use crate::ui::tui::canvas::{Canvas, Target, fitted, width};
use crate::ui::tui::theme::Role;

/// The width of the row numbers.
const INDEX: usize = 4;
/// The greatest width of a value, and the least to which values are rounded so that all columns fit.
const VALUE: (usize, usize) = (8, 4);
/// The width of what stands beside a value: the lane, and a blank.
const BESIDE: usize = 3;
/// The digits of a lane.
const LANE_DIGITS: [char; 10] = ['₀', '₁', '₂', '₃', '₄', '₅', '₆', '₇', '₈', '₉'];

/// A row of the pane.
enum Line<'f> {
    /// The name of an operand and its registers.
    Head(&'f OperandFragment),
    /// The numbers of the columns of a matrix.
    Columns(&'f OperandFragment, usize),
    /// A row of a matrix: the operand, the matrix, the row.
    Row(&'f OperandFragment, usize, usize),
}

/// The rows that the pane can fill.
pub(super) fn rows(fragments: &OperandFragments) -> usize {
    lines(fragments).len()
}

fn lines(fragments: &OperandFragments) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for operand in &fragments.operands {
        lines.push(Line::Head(operand));
        for (number, tile) in operand.view.tiles.iter().enumerate() {
            lines.push(Line::Columns(operand, number));
            lines.extend((0..tile.len()).map(|row| Line::Row(operand, number, row)));
        }
    }
    lines
}

/// Draws the pane; returns its title.
pub fn draw(context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
    let Some(fragments) = operand_fragments(&context.session.eval_context()) else {
        canvas.placeholder("neither the next instruction nor the one before it is a matrix instruction with registers");
        return "fragments".to_string();
    };
    let (lines, canvas_width) = (lines(&fragments), canvas.width());
    let (window, cursor) = view_state.window_around(0, lines.len(), canvas.height());
    let chosen = chosen(&lines, cursor, view_state);
    let (lane, column) = (context.session.focus.lane, view_state.right.unsigned_abs() as usize);
    let part = |operand: &OperandFragment| Part::new(operand, canvas_width, (lane, column));
    for (y, index) in window.clone().enumerate() {
        let has_cursor = context.active && index == cursor;
        match lines.get(index) {
            Some(Line::Head(operand)) => head(canvas, y, operand),
            Some(Line::Columns(operand, tile)) => part(operand).columns(canvas, y, (operand, *tile)),
            Some(Line::Row(operand, tile, row)) => part(operand).row(canvas, y, (operand, *tile, *row), has_cursor),
            None => {}
        }
    }
    let when = if fragments.is_next { "of the next instruction" } else { "of the instruction before" };
    let at = chosen.filter(|_| context.active).map_or_else(|| format!(" {when}"), |chosen| format!(" · {chosen}"));
    format!("fragments{at}{}", visible_range(&window, lines.len()))
}

/// The element of the cursor, `A[3][5] = 1.5 in lane 13 %r2 bits 16-31`; sets the command for choosing it, and clamps its column.
fn chosen(lines: &[Line<'_>], cursor: usize, view_state: &mut ViewState) -> Option<String> {
    view_state.choice = None;
    view_state.right = view_state.right.max(0);
    let Some(Line::Row(operand, tile, row)) = lines.get(cursor) else { return None };
    let cells = operand.view.tiles.get(*tile)?.get(*row)?;
    view_state.right = view_state.right.min(cells.len() as i64 - 1).max(0);
    let column = view_state.right.unsigned_abs() as usize;
    let FragmentCell { text, lane, element, .. } = cells.get(column)?;
    view_state.choice = Some(format!("lane {lane}"));
    let (row, register) = (*row + operand.view.first_row as usize, operand.view.register(*element));
    let matrix = if operand.view.tiles.len() > 1 { format!("{tile}") } else { String::new() };
    Some(format!("{}{matrix}[{row}][{column}] = {text} in lane {lane} {register}", operand.letter))
}

/// `A  mma.m16n8k16.a.f16  %r1-%r4`
fn head(canvas: &mut Canvas<'_>, y: usize, operand: &OperandFragment) {
    let x = canvas.text(1, y, &operand.letter.to_string(), Role::Name);
    let registers = name_ranges(operand.view.registers.iter().map(String::as_str));
    let room = canvas.width().saturating_sub(x + 2);
    canvas.text(x + 2, y, fitted(&format!("{}  {registers}", operand.view.name), room).trim_end(), Role::Dim);
}

/// The visible part of the matrices.
struct Part {
    cell_width: usize,
    /// The first column.
    first: usize,
    /// The number of columns.
    shown: usize,
    /// The focused lane.
    lane: u32,
    /// The column of the cursor.
    cursor: usize,
}

impl Part {
    fn new(operand: &OperandFragment, width: usize, (lane, cursor): (u32, usize)) -> Self {
        let cells = operand.view.tiles.iter().flatten().flatten();
        let widest = cells.map(|cell| cell.text.len()).max().unwrap_or(1).clamp(2, VALUE.0);
        let columns = operand.view.tiles.iter().filter_map(|tile| tile.first()).map(Vec::len).max().unwrap_or(1);
        let room = width.saturating_sub(INDEX);
        let value = (room / columns.max(1)).saturating_sub(BESIDE).clamp(VALUE.1.min(widest), widest);
        let cell_width = value + BESIDE;
        let shown = (room / cell_width).max(1);
        Self { cell_width, first: (cursor + 1).saturating_sub(shown), shown, lane, cursor }
    }

    fn columns(&self, canvas: &mut Canvas<'_>, y: usize, (operand, tile): (&OperandFragment, usize)) {
        let count = operand.view.tiles.get(tile).and_then(|rows| rows.first()).map_or(0, Vec::len);
        for (index, column) in (self.first..count).take(self.shown).enumerate() {
            let value = self.cell_width - BESIDE;
            canvas.text(INDEX + index * self.cell_width, y, &format!("{column:>value$}"), Role::Dim);
        }
    }

    fn row(&self, canvas: &mut Canvas<'_>, y: usize, (operand, tile, row): (&OperandFragment, usize, usize), has_cursor: bool) {
        let number = row + operand.view.first_row as usize;
        canvas.text(0, y, &format!("{number:>3}"), Role::Dim);
        let Some(cells) = operand.view.tiles.get(tile).and_then(|rows| rows.get(row)) else { return };
        let value = self.cell_width - BESIDE;
        for (index, (column, cell)) in cells.iter().enumerate().skip(self.first).take(self.shown).enumerate() {
            let x = INDEX + index * self.cell_width;
            let own = cell.lane == self.lane;
            let text = if cell.text.is_empty() { "?".to_string() } else { rounded(&cell.text, value) };
            let after = canvas.text(x, y, &format!("{text:>value$}"), if own { Role::Lanes } else { Role::Text });
            canvas.text(after, y, &lane_digits(cell.lane), if own { Role::Lanes } else { Role::Dim });
            canvas.on_click((x, y, self.cell_width - 1), Target::Command(format!("lane {}", cell.lane)));
            if has_cursor && column == self.cursor {
                canvas.tint_part(x, y, self.cell_width - 1, Role::Cursor);
                canvas.text((x + value).saturating_sub(1 + width(&text)), y, "›", Role::Cursor);
            }
        }
        if self.first + self.shown < cells.len() {
            canvas.text(canvas.width().saturating_sub(1), y, "…", Role::Dim);
        }
    }
}

/// `₁₃`
fn lane_digits(lane: u32) -> String {
    let digit = |c: char| c.to_digit(10).and_then(|digit| LANE_DIGITS.get(digit as usize)).copied().unwrap_or(c);
    lane.to_string().chars().map(digit).collect()
}
