//! The memory pane: variables and buffers of a space as elements, as bytes, or as rows of a tile; what differs from the stop before has
//! a `*` before it.
//!
//! Only what is visible is read, and of objects in one dimension the first elements, after which their rows are made. Cells are as wide
//! as the widest visible value: there are fewer of them rather than fewer digits. Above the rows of a tile stand its columns. The cursor
//! stands on an element: choosing it, or a click on another, shows its last write.

use super::context::{DrawContext, ViewState};
use super::pane::MemoryFormat;
use super::words::more;
use crate::debug::listed_name;
use crate::debug::scene::Scene;
use crate::debug::view::{MemoryObject, MemorySpace, Origin, bytes, elements, memory_objects};
use crate::ui::tui::canvas::{Canvas, Target, fitted, width};
use crate::ui::tui::theme::Role;

/// Columns of an index at least.
const INDEX: usize = 9;
/// Columns beside a value: the mark of a change before it, and a blank after it.
const BESIDE: usize = 2;
/// Elements of an object in one dimension whose widths say how many stand on a row.
const SAMPLE: u64 = 256;
/// Columns of a byte in hexadecimal.
const BYTE: usize = 4;
/// Elements on a row at most, if rows are no rows of a tile.
const ROW_MAX: u64 = 16;

/// An object and its rows: one that names it, of a tile one that names its columns, then its cells.
struct Section {
    object: MemoryObject,
    show: MemoryFormat,
    /// Cells on a row.
    per_row: u64,
    /// Whether its rows are those of a tile: they do not depend on the room.
    is_tile: bool,
    /// Columns that the indices before the rows take.
    index: usize,
    /// Columns that are left for cells.
    room: usize,
    /// Columns that a cell takes, of what is no tile.
    wide: usize,
    /// Rows before those of cells.
    heads: u64,
    rows: u64,
}

/// The visible cells of a section on each of its rows.
struct Grid {
    /// The first column.
    first: u64,
    columns: u64,
    /// Columns of the screen that a cell takes, the blank after it among them.
    wide: usize,
}

/// A visible row.
struct Row {
    /// Where it is drawn.
    y: usize,
    /// Its number in its section.
    number: u64,
    /// The column of the cursor in all rows.
    column: u64,
    /// Whether the cursor is on this one.
    has_cursor: bool,
}

/// Draws the pane; its title.
pub fn draw(
    context: &DrawContext<'_>,
    view_state: &mut ViewState,
    canvas: &mut Canvas<'_>,
    (space, only, show): (MemorySpace, &str, MemoryFormat),
) -> String {
    let scene = context.session.scene();
    let search = view_state.search.clone();
    let is_wanted = |object: &MemoryObject| object.name.contains(only) && object.name.to_lowercase().contains(&search);
    let objects = memory_objects(&scene, space).into_iter().filter(is_wanted);
    let sections: Vec<Section> = objects.map(|object| Section::new(&scene, object, show, canvas.width())).collect();
    let total = usize::try_from(sections.iter().map(|section| section.rows).sum::<u64>()).unwrap_or(usize::MAX);
    let (window, cursor) = view_state.window_around(0, total, canvas.height());
    let at = chosen(&sections, cursor as u64, view_state).filter(|_| context.active);
    let column = view_state.right.unsigned_abs();
    let mut first = 0;
    for section in &sections {
        let (start, end) = (first, first + section.rows);
        first = end;
        let seen = (window.start as u64).max(start)..(window.end as u64).min(end);
        if seen.is_empty() {
            continue;
        }
        let number = |row: u64| (row - start).saturating_sub(section.heads);
        let grid = section.grid(&scene, number(seen.start)..number(seen.end), column);
        for row in seen {
            let y = (row - window.start as u64) as usize;
            match row - start {
                0 => head(canvas, y, &section.object),
                head if head < section.heads => section.columns(canvas, y, &grid),
                _ => {
                    let has_cursor = context.active && row == cursor as u64;
                    section.draw(context, &scene, canvas, &Row { y, number: number(row), column, has_cursor }, &grid);
                }
            }
        }
    }
    if sections.is_empty() {
        canvas.say(&match only.is_empty() && search.is_empty() {
            true => format!("there is nothing in {} memory", space.word()),
            false => format!("nothing in {} memory has such a name", space.word()),
        });
    }
    let filter = if only.is_empty() && search.is_empty() { String::new() } else { format!(" · only {only}{search}") };
    let at = at.map_or(String::new(), |name| format!(" · {name}"));
    format!("{} memory{filter}{at}{}", space.word(), more(&window, total))
}

/// The name of the element in row `cursor`, which choosing asks about; its column is kept among those that the row has.
fn chosen(sections: &[Section], cursor: u64, view_state: &mut ViewState) -> Option<String> {
    view_state.right = view_state.right.max(0);
    view_state.choice = None;
    let mut first = 0;
    let (section, row) = sections.iter().find_map(|section| {
        first += section.rows;
        (cursor < first).then(|| (section, cursor + section.rows - first))
    })?;
    let start = row.checked_sub(section.heads)? * section.per_row;
    let count = section.cells().saturating_sub(start).min(section.per_row);
    view_state.right = view_state.right.min(i64::try_from(count).unwrap_or(i64::MAX) - 1).max(0);
    let name = section.name(start + view_state.right.unsigned_abs());
    view_state.choice = Some(format!("last {name}"));
    Some(name)
}

fn head(canvas: &mut Canvas<'_>, y: usize, object: &MemoryObject) {
    let x = canvas.text(1, y, &listed_name(&object.name), Role::Name);
    let from = match object.origin {
        _ if object.is_declared_as_bytes => "  declared as bytes",
        Origin::Declared => "",
        Origin::Accesses => "  from its accesses",
        Origin::User => "  as given",
    };
    canvas.text(x + 2, y, &format!("{}  {:#x}{from}", object.type_name(), object.address), Role::Dim);
}

impl Section {
    fn new(scene: &Scene<'_>, object: MemoryObject, show: MemoryFormat, width: usize) -> Self {
        let last = object.element_name(object.elements.saturating_sub(1));
        let index = (last.len() - object.name.len() + 1).max(INDEX).min(width / 2);
        let room = width.saturating_sub(index + 1);
        let is_matrix = object.shape.len() > 1;
        let fits = |wide: usize, most: u64| 1 << ((room / wide).max(1) as u64).min(most).ilog2();
        let mut wide = cell(&object);
        let (per_row, is_tile) = match show {
            MemoryFormat::Tile(columns) => (u64::from(columns), true),
            MemoryFormat::Elements if is_matrix => (object.shape.last().copied().unwrap_or(1), true),
            MemoryFormat::Elements => {
                wide = wide.max(widest(&elements(scene, &object, 0..SAMPLE)) + BESIDE);
                (fits(wide, ROW_MAX), false)
            }
            // A cell, and the character after all of them.
            MemoryFormat::Bytes => (fits(BYTE + 1, ROW_MAX), false),
        };
        let per_row = per_row.max(1);
        let heads = if is_tile && per_row > 1 { 2 } else { 1 };
        let mut section = Self { object, show, per_row, is_tile, index, room, wide, heads, rows: 0 };
        section.rows = section.cells().div_ceil(per_row) + heads;
        section
    }

    /// The visible cells on each of `rows`, that of the cursor among them.
    fn grid(&self, scene: &Scene<'_>, rows: std::ops::Range<u64>, column: u64) -> Grid {
        if !self.is_tile {
            let wide = match self.show {
                MemoryFormat::Bytes => BYTE,
                _ if self.cells() == 1 => self.room.max(BESIDE + 1),
                _ => (self.room / self.per_row as usize).clamp(BESIDE + 1, self.wide + BESIDE),
            };
            return Grid { first: 0, columns: self.per_row, wide };
        }
        let column = column.min(self.per_row - 1);
        let width_of = |column: u64| {
            let cells = rows.clone().map(|row| row * self.per_row + column).take_while(|cell| *cell < self.cells());
            let values: Vec<String> = cells.flat_map(|cell| self.texts(scene, cell..cell + 1)).collect();
            widest(&values).max(column.to_string().len()) + BESIDE
        };
        // From the first column on if the cursor's is among those that fit, or else those up to the cursor's.
        let fitting = |columns: &mut dyn Iterator<Item = u64>| {
            let (mut count, mut wide) = (0, 0);
            for column in columns {
                let wider = wide.max(width_of(column));
                // One column is left for the sign that there are more.
                if count > 0 && (count + 1) * wider >= self.room {
                    break;
                }
                (count, wide) = (count + 1, wider);
            }
            (count as u64, wide.min(self.room.max(BESIDE + 1)))
        };
        match fitting(&mut (0..self.per_row)) {
            (columns, wide) if column < columns => Grid { first: 0, columns, wide },
            _ => {
                let (columns, wide) = fitting(&mut (0..=column).rev());
                Grid { first: column + 1 - columns, columns, wide }
            }
        }
    }

    /// The row that names the columns of a tile.
    fn columns(&self, canvas: &mut Canvas<'_>, y: usize, grid: &Grid) {
        for index in 0..grid.columns {
            let text = format!("{:>wide$}", grid.first + index, wide = grid.wide.saturating_sub(1));
            canvas.text(self.index + 1 + index as usize * grid.wide, y, &text, Role::Dim);
        }
    }

    /// Cells of the whole object.
    fn cells(&self) -> u64 {
        self.object.elements.saturating_mul(if self.show == MemoryFormat::Bytes { self.size() } else { 1 })
    }

    fn size(&self) -> u64 {
        u64::from(self.object.ty.bytes().max(1))
    }

    /// What an expression calls the element of a cell.
    fn name(&self, cell: u64) -> String {
        self.object.element_name(if self.show == MemoryFormat::Bytes { cell / self.size() } else { cell })
    }

    /// What stands in cells, now or in an earlier scene.
    fn texts(&self, scene: &Scene<'_>, cells: std::ops::Range<u64>) -> Vec<String> {
        match self.show {
            MemoryFormat::Bytes => bytes(scene, &self.object, cells).iter().map(|byte| format!("{byte:02x}")).collect(),
            _ => elements(scene, &self.object, cells),
        }
    }

    fn draw(&self, context: &DrawContext<'_>, scene: &Scene<'_>, canvas: &mut Canvas<'_>, row: &Row, grid: &Grid) {
        let (start, wide) = (row.number * self.per_row, grid.wide);
        let first = start + grid.first;
        let range = first..(first + grid.columns).min(start + self.per_row).min(self.cells());
        let now = self.texts(scene, range.clone());
        let before = context.session.earlier().map(|scene| self.texts(&scene, range.clone())).unwrap_or_default();
        let name = if self.show == MemoryFormat::Bytes { format!("+{start:#x}") } else { self.name(first) };
        let label = name.strip_prefix(&self.object.name).unwrap_or(&name);
        canvas.text(1, row.y, &fitted(label, self.index.saturating_sub(1)), Role::Dim);
        for (index, value) in now.iter().enumerate() {
            let (x, cell) = (self.index + 1 + index * wide, range.start + index as u64);
            let changed = before.get(index).is_some_and(|before| before != value);
            let text = fitted(value, width(value).min(wide.saturating_sub(BESIDE)));
            let text = format!("{}{text}", if changed { "*" } else { " " });
            // A value alone stands where its row begins; those of several rows stand below each other.
            let text = if self.cells() == 1 { text } else { format!("{text:>wide$}", wide = wide.saturating_sub(1)) };
            canvas.text(x, row.y, &text, if changed { Role::Changed } else { Role::Text });
            canvas.on_click((x, row.y, wide.saturating_sub(1)), Target::Command(format!("last {}", self.name(cell))));
            if row.has_cursor && row.column == cell - start {
                canvas.text(x + wide.saturating_sub(1), row.y, "‹", Role::Cursor);
                canvas.tint_part(x, row.y, wide.saturating_sub(1), Role::Cursor);
            }
        }
        if self.is_tile && range.end < (start + self.per_row).min(self.cells()) {
            canvas.text(canvas.width().saturating_sub(1), row.y, "…", Role::Dim);
        }
        if self.show == MemoryFormat::Bytes {
            let x = self.index + 2 + self.per_row as usize * wide;
            canvas.text(x, row.y, &characters(&bytes(scene, &self.object, range)), Role::Dim);
        }
    }
}

/// Columns of the widest of `values`.
fn widest(values: &[String]) -> usize {
    values.iter().map(|value| width(value)).max().unwrap_or(0)
}

/// Columns that an element wants at least, so that rows stay as they are while values change.
fn cell(object: &MemoryObject) -> usize {
    match object.ty.bytes() {
        0 | 1 => 5,
        2 => 7,
        4 => 11,
        _ => 18,
    }
}

/// The characters that bytes are; `.` for those that are none.
fn characters(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' }).collect()
}
