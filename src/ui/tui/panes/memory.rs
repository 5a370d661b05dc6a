//! The memory pane: variables and buffers of a state space as elements, as bytes, or as rows of a tile; values that have changed since
//! the previous stop are marked with `*`.
//!
//! Only visible elements are read, and the first elements of one-dimensional objects, which determine the number of cells in a row. Cells
//! are as wide as the widest visible value: rows have fewer cells rather than fewer digits. The rows of a tile have a header with column
//! numbers. The cursor is on an element: choosing it, or a click on another, shows its last write.

use std::cell::OnceCell;

use super::context::{DrawContext, ViewState};
use super::pane::MemoryFormat;
use super::words::{rounded, visible_range};
use crate::debug::eval_context::EvalContext;
use crate::debug::listed_name;
use crate::debug::view::{ElementState, MemoryObject, MemorySpace, Origin, bytes, element_state, elements, grouped, memory_objects};
use crate::ui::tui::canvas::{Canvas, Target, fitted, width};
use crate::ui::tui::theme::Role;

/// The minimum width of an index in columns.
const INDEX: usize = 9;
/// The columns around a value: the mark of a change before it, and a blank after it.
const PADDING: usize = 2;
/// The number of elements of a one-dimensional object whose widths determine the number of cells in a row.
const SAMPLE: u64 = 256;
/// The width of a byte in hexadecimal.
const BYTE: usize = 4;
/// The columns between two numbers above a heat map.
const HEAT_RULE: u64 = 8;
/// The number of elements among which the largest is searched for a heat map.
const HEAT_SAMPLE: u64 = 1 << 12;
/// The maximum number of elements in a row that is not a row of a tile.
const ROW_MAX: u64 = 16;

/// An object and its rows: a header row with its name, for a tile a header row with column numbers, then the cells.
struct Section {
    object: MemoryObject,
    show: MemoryFormat,
    /// The number of cells in a row.
    per_row: u64,
    /// True if its rows are those of a tile: they do not depend on the width of the pane.
    is_tile: bool,
    /// The width of the index before a row.
    index: usize,
    /// The width that remains for cells.
    room: usize,
    /// The width of a cell, if it is not a tile.
    cell_width: usize,
    /// The number of header rows.
    headers: u64,
    rows: u64,
    /// The largest magnitude among its first elements, for a heat map.
    largest: OnceCell<f64>,
}

/// The visible cells in each row of a section.
struct Grid {
    /// The first column.
    first: u64,
    columns: u64,
    /// The width of a cell, including the blank after it.
    cell_width: usize,
}

/// A visible row.
struct Row {
    /// The row of the canvas.
    y: usize,
    /// Its number in its section.
    number: u64,
    /// The column of the cursor in all rows.
    column: u64,
    /// True if the cursor is in this row.
    has_cursor: bool,
}

/// Draws the pane; returns its title.
pub fn draw(
    context: &DrawContext<'_>,
    view_state: &mut ViewState,
    canvas: &mut Canvas<'_>,
    (space, only, show): (MemorySpace, &str, MemoryFormat),
) -> String {
    let eval_context = context.session.eval_context();
    let search = view_state.search.clone();
    let show = if view_state.other_text { other_format(show) } else { show };
    let is_selected = |object: &MemoryObject| object.name.contains(only) && object.name.to_lowercase().contains(&search);
    let mut objects: Vec<MemoryObject> = memory_objects(&eval_context, space).into_iter().filter(is_selected).collect();
    objects.sort_by_key(is_of_compiler);
    let sections: Vec<Section> = objects.into_iter().map(|object| Section::new(&eval_context, object, show, canvas.width())).collect();
    let total = usize::try_from(sections.iter().map(|section| section.rows).sum::<u64>()).unwrap_or(usize::MAX);
    let (window, cursor) = view_state.window_around(0, total, canvas.height());
    let chosen = chosen(&sections, cursor as u64, view_state).filter(|_| context.active);
    let column = view_state.right.unsigned_abs();
    let mut first = 0;
    for section in &sections {
        let (start, end) = (first, first + section.rows);
        first = end;
        let visible = (window.start as u64).max(start)..(window.end as u64).min(end);
        if visible.is_empty() {
            continue;
        }
        let number = |row: u64| (row - start).saturating_sub(section.headers);
        let grid = section.grid(&eval_context, number(visible.start)..number(visible.end), column);
        for row in visible {
            let y = (row - window.start as u64) as usize;
            match row - start {
                0 => head(canvas, y, &section.object),
                head if head < section.headers => section.columns(canvas, y, &grid),
                _ => {
                    let has_cursor = context.active && row == cursor as u64;
                    section.draw(context, &eval_context, canvas, &Row { y, number: number(row), column, has_cursor }, &grid);
                }
            }
        }
    }
    if sections.is_empty() {
        canvas.placeholder(&match only.is_empty() && search.is_empty() {
            true => format!("there is nothing in {} memory", space.word()),
            false => format!("nothing in {} memory has such a name", space.word()),
        });
    }
    let filter = if only.is_empty() && search.is_empty() { String::new() } else { format!(" · only {only}{search}") };
    // The writer of the element is looked up once the user has moved the cursor.
    let is_moved = view_state.down != 0 || view_state.right != 0;
    let (at, state) = chosen.map_or(Default::default(), |(section, element)| {
        let object = &section.object;
        let address = object.address + element * section.size();
        let state = if is_moved { format!(" · {}", state(&element_state(context.session, object, element))) } else { String::new() };
        (format!(" · {} at {address:#x}", object.element_name(element)), state)
    });
    format!("{} memory{filter}{at}{state}{}", space.word(), visible_range(&window, total))
}

/// `finding 1 · written t=41 by warp 1 lane 3, tiles.ptx:97`
fn state(state: &ElementState) -> String {
    let writer = match &state.writer {
        Some(writer) => format!("written t={} by {}, {}", grouped(writer.time), writer.thread, writer.place),
        None => format!("not written since t={}", grouped(state.since)),
    };
    let findings: Vec<String> = state.findings.iter().map(usize::to_string).collect();
    let checked = match (state.is_checked, findings.len()) {
        (_, 1) => format!("finding {} · ", findings[0]),
        (_, 2..) => format!("findings {} · ", findings.join(", ")),
        (true, _) => "nothing found · ".to_string(),
        (false, _) => String::new(),
    };
    checked + &writer
}

/// The section and the element of the cursor in row `cursor`; sets the command for choosing it, and clamps its column.
fn chosen<'s>(sections: &'s [Section], cursor: u64, view_state: &mut ViewState) -> Option<(&'s Section, u64)> {
    view_state.right = view_state.right.max(0);
    view_state.choice = None;
    let mut first = 0;
    let (section, row) = sections.iter().find_map(|section| {
        first += section.rows;
        (cursor < first).then(|| (section, cursor + section.rows - first))
    })?;
    let start = row.checked_sub(section.headers)? * section.per_row;
    let count = section.cells().saturating_sub(start).min(section.per_row);
    view_state.right = view_state.right.min(i64::try_from(count).unwrap_or(i64::MAX) - 1).max(0);
    let element = section.element(start + view_state.right.unsigned_abs());
    view_state.choice = Some(format!("last {}", section.object.element_name(element)));
    Some((section, element))
}

/// The shade of a number among those of which `most` is the largest magnitude: `·` zero, `░▒▓█` quarters of it, `!` what is no finite
/// number. Negative numbers have another colour.
fn shade(number: Option<f64>, most: f64) -> (&'static str, Role) {
    let Some(number) = number.filter(|number| number.is_finite()) else { return ("!", Role::Bad) };
    let glyph = match number.abs() / most {
        quarter if number == 0.0 || quarter.is_nan() => return ("·", Role::Dim),
        ..=0.25 => "░",
        ..=0.5 => "▒",
        ..=0.75 => "▓",
        _ => "█",
    };
    (glyph, if number < 0.0 { Role::Changed } else { Role::Lanes })
}

/// What F3 shows instead of a format.
fn other_format(show: MemoryFormat) -> MemoryFormat {
    match show {
        MemoryFormat::Heat => MemoryFormat::Elements,
        MemoryFormat::Elements | MemoryFormat::Bytes | MemoryFormat::Tile(_) => MemoryFormat::Heat,
    }
}

/// True for what a compiler adds to a module, such as the strings of its built-in functions.
fn is_of_compiler(object: &MemoryObject) -> bool {
    object.name.contains("$_") || object.name.starts_with("$str")
}

fn head(canvas: &mut Canvas<'_>, y: usize, object: &MemoryObject) {
    let long = listed_name(&object.name);
    let name = if width(&long) + width(&object.type_name()) + INDEX < canvas.width() { &*long } else { object.short_name() };
    let x = canvas.text(1, y, name, Role::Name);
    let from = match object.origin {
        _ if object.is_declared_as_bytes => "  declared as bytes",
        Origin::Declared => "",
        Origin::Accesses => "  from its accesses",
        Origin::User => "  as given",
    };
    canvas.text(x + 2, y, &format!("{}  {:#x}{from}", object.type_name(), object.address), Role::Dim);
}

impl Section {
    fn new(eval_context: &EvalContext<'_>, object: MemoryObject, show: MemoryFormat, width: usize) -> Self {
        let last = object.element_name(object.elements.saturating_sub(1));
        let index = (last.len() - object.short_name().len() + 1).max(INDEX).min(width / 2);
        let room = width.saturating_sub(index + 1);
        let is_matrix = object.shape.len() > 1;
        let fits = |cell_width: usize, most: u64| 1 << ((room / cell_width).max(1) as u64).min(most).ilog2();
        let mut cell_width = cell(&object);
        let (per_row, is_tile) = match show {
            MemoryFormat::Tile(columns) => (u64::from(columns), true),
            MemoryFormat::Elements if is_matrix => (object.shape.last().copied().unwrap_or(1), true),
            MemoryFormat::Elements => {
                cell_width = cell_width.max(widest(&elements(eval_context, &object, 0..SAMPLE)) + PADDING);
                (fits(cell_width, ROW_MAX), false)
            }
            // A cell, and its character at the end of the row.
            MemoryFormat::Bytes => (fits(BYTE + 1, ROW_MAX), false),
            MemoryFormat::Heat if is_matrix => (object.shape.last().copied().unwrap_or(1), true),
            MemoryFormat::Heat => (room as u64, true),
        };
        let per_row = per_row.max(1);
        let headers = if is_tile && per_row > 1 { 2 } else { 1 };
        let mut section = Self { object, show, per_row, is_tile, index, room, cell_width, headers, rows: 0, largest: OnceCell::new() };
        section.rows = section.cells().div_ceil(per_row) + headers;
        section
    }

    /// The visible cells in each of `rows`, including that of the cursor.
    fn grid(&self, eval_context: &EvalContext<'_>, rows: std::ops::Range<u64>, column: u64) -> Grid {
        if self.show == MemoryFormat::Heat {
            let shown = (self.room as u64).min(self.per_row).max(1);
            return Grid { first: (column + 1).saturating_sub(shown), columns: shown, cell_width: 1 };
        }
        if !self.is_tile {
            let cell_width = match self.show {
                MemoryFormat::Bytes => BYTE,
                _ if self.cells() == 1 => self.room.max(PADDING + 1),
                _ => (self.room / self.per_row as usize).clamp(PADDING + 1, self.cell_width + PADDING),
            };
            return Grid { first: 0, columns: self.per_row, cell_width };
        }
        let column = column.min(self.per_row - 1);
        let width_of = |column: u64| {
            let cells = rows.clone().map(|row| row * self.per_row + column).take_while(|cell| *cell < self.cells());
            let values: Vec<String> = cells.flat_map(|cell| self.texts(eval_context, cell..cell + 1)).collect();
            widest(&values).max(column.to_string().len()) + PADDING
        };
        // The columns from the first if the column of the cursor fits, otherwise the columns up to that of the cursor.
        let fitting = |columns: &mut dyn Iterator<Item = u64>| {
            let (mut count, mut cell_width) = (0, 0);
            for column in columns {
                let wider = cell_width.max(width_of(column));
                // One column is reserved for the mark that there are more.
                if count > 0 && (count + 1) * wider >= self.room {
                    break;
                }
                (count, cell_width) = (count + 1, wider);
            }
            (count as u64, cell_width.min(self.room.max(PADDING + 1)))
        };
        match fitting(&mut (0..self.per_row)) {
            (columns, cell_width) if column < columns => Grid { first: 0, columns, cell_width },
            _ => {
                let (columns, cell_width) = fitting(&mut (0..=column).rev());
                Grid { first: column + 1 - columns, columns, cell_width }
            }
        }
    }

    /// Draws the header row with the column numbers of a tile.
    fn columns(&self, canvas: &mut Canvas<'_>, y: usize, grid: &Grid) {
        if self.show == MemoryFormat::Heat {
            for column in (grid.first..grid.first + grid.columns).filter(|column| column % HEAT_RULE == 0) {
                canvas.text(self.index + 1 + (column - grid.first) as usize, y, &column.to_string(), Role::Dim);
            }
            return;
        }
        for index in 0..grid.columns {
            let text = format!("{:>cell_width$}", grid.first + index, cell_width = grid.cell_width.saturating_sub(1));
            canvas.text(self.index + 1 + index as usize * grid.cell_width, y, &text, Role::Dim);
        }
    }

    /// The number of cells of the object.
    fn cells(&self) -> u64 {
        self.object.elements.saturating_mul(if self.show == MemoryFormat::Bytes { self.size() } else { 1 })
    }

    fn size(&self) -> u64 {
        u64::from(self.object.ty.bytes().max(1))
    }

    /// The element of a cell as an expression.
    fn name(&self, cell: u64) -> String {
        self.object.element_name(self.element(cell))
    }

    /// Draws a row as shades.
    fn draw_heat(&self, eval_context: &EvalContext<'_>, canvas: &mut Canvas<'_>, row: &Row, (range, start): (std::ops::Range<u64>, u64)) {
        let most = *self.largest.get_or_init(|| {
            let sample = self.numbers(eval_context, 0..self.cells().min(HEAT_SAMPLE));
            sample.iter().flatten().filter(|number| number.is_finite()).fold(0.0_f64, |most, number| most.max(number.abs()))
        });
        for (index, number) in self.numbers(eval_context, range.clone()).into_iter().enumerate() {
            let (x, cell) = (self.index + 1 + index, range.start + index as u64);
            let (glyph, role) = shade(number, most);
            canvas.text(x, row.y, glyph, role);
            canvas.on_click((x, row.y, 1), Target::Command(format!("last {}", self.name(cell))));
            if row.has_cursor && row.column == cell - start {
                canvas.tint_part(x, row.y, 1, Role::Cursor);
            }
        }
    }

    /// Elements as numbers; none for what is no number.
    fn numbers(&self, eval_context: &EvalContext<'_>, range: std::ops::Range<u64>) -> Vec<Option<f64>> {
        elements(eval_context, &self.object, range).iter().map(|text| text.parse().ok()).collect()
    }

    /// The element of a cell.
    fn element(&self, cell: u64) -> u64 {
        if self.show == MemoryFormat::Bytes { cell / self.size() } else { cell }
    }

    /// The texts of cells, now or at the previous stop.
    fn texts(&self, eval_context: &EvalContext<'_>, cells: std::ops::Range<u64>) -> Vec<String> {
        match self.show {
            MemoryFormat::Bytes => bytes(eval_context, &self.object, cells).iter().map(|byte| format!("{byte:02x}")).collect(),
            _ => elements(eval_context, &self.object, cells),
        }
    }

    fn draw(&self, context: &DrawContext<'_>, eval_context: &EvalContext<'_>, canvas: &mut Canvas<'_>, row: &Row, grid: &Grid) {
        let (start, cell_width) = (row.number * self.per_row, grid.cell_width);
        let first = start + grid.first;
        let range = first..(first + grid.columns).min(start + self.per_row).min(self.cells());
        let now = self.texts(eval_context, range.clone());
        let before = context.session.earlier().map(|eval_context| self.texts(&eval_context, range.clone())).unwrap_or_default();
        let name = if self.show == MemoryFormat::Bytes { format!("+{start:#x}") } else { self.name(first) };
        let label = name.strip_prefix(self.object.short_name()).unwrap_or(&name);
        canvas.text(1, row.y, &fitted(label, self.index.saturating_sub(1)), Role::Dim);
        if self.show == MemoryFormat::Heat {
            return self.draw_heat(eval_context, canvas, row, (range, start));
        }
        for (index, value) in now.iter().enumerate() {
            let (x, cell) = (self.index + 1 + index * cell_width, range.start + index as u64);
            let changed = before.get(index).is_some_and(|before| before != value);
            let text = rounded(value, cell_width.saturating_sub(PADDING));
            let text = format!("{}{text}", if changed { "*" } else { " " });
            // A single value is left-aligned; several are aligned to the right.
            let text = if self.cells() == 1 { text } else { format!("{text:>cell_width$}", cell_width = cell_width.saturating_sub(1)) };
            canvas.text(x, row.y, &text, if changed { Role::Changed } else { Role::Text });
            canvas.on_click((x, row.y, cell_width.saturating_sub(1)), Target::Command(format!("last {}", self.name(cell))));
            if row.has_cursor && row.column == cell - start {
                canvas.text(x + cell_width.saturating_sub(1), row.y, "‹", Role::Cursor);
                canvas.tint_part(x, row.y, cell_width.saturating_sub(1), Role::Cursor);
            }
        }
        if self.is_tile && range.end < (start + self.per_row).min(self.cells()) {
            canvas.text(canvas.width().saturating_sub(1), row.y, "…", Role::Dim);
        }
        if self.show == MemoryFormat::Bytes {
            let x = self.index + 2 + self.per_row as usize * cell_width;
            canvas.text(x, row.y, &characters(&bytes(eval_context, &self.object, range)), Role::Dim);
        }
    }
}

/// The width of the widest of `values`.
fn widest(values: &[String]) -> usize {
    values.iter().map(|value| width(value)).max().unwrap_or(0)
}

/// The minimum width of an element, so that the rows do not change when values do.
fn cell(object: &MemoryObject) -> usize {
    match object.ty.bytes() {
        0 | 1 => 5,
        2 => 7,
        4 => 11,
        _ => 18,
    }
}

/// The bytes as ASCII; `.` for those that are not printable.
fn characters(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' }).collect()
}
