//! The memory pane: variables and buffers of a space, element by element; what differs from the stop before has a `*` before it.
//!
//! Only elements in sight are read. A click on one asks who wrote it last.

use super::{Look, Sight, more};
use crate::debug::scene::Scene;
use crate::debug::view::{MemoryObject, MemorySpace, elements, memory_objects};
use crate::ui::tui::canvas::{Canvas, Target, fitted, width};
use crate::ui::tui::theme::Role;

/// Columns of an index.
const INDEX: usize = 9;
/// Elements on a row at most.
const ROW_MAX: u64 = 16;

/// An object and its rows: one that names it, then its elements.
struct Section {
    object: MemoryObject,
    per_row: u64,
    rows: u64,
}

/// Draws the pane; its title.
pub fn draw(look: &Look<'_>, sight: &mut Sight, canvas: &mut Canvas<'_>, (space, only): (MemorySpace, &str)) -> String {
    let scene = look.session.scene();
    let search = sight.search.clone();
    let is_wanted = |object: &MemoryObject| object.name.contains(only) && object.name.to_lowercase().contains(&search);
    let room = canvas.width().saturating_sub(INDEX + 1);
    let objects = memory_objects(&scene, space).into_iter().filter(is_wanted);
    let sections: Vec<Section> = objects.map(|object| section(object, room)).collect();
    let total: u64 = sections.iter().map(|section| section.rows).sum();
    let window = sight.window(usize::try_from(total).unwrap_or(usize::MAX), canvas.height());
    let mut first = 0;
    for section in &sections {
        let end = first + section.rows;
        for row in (window.start as u64).max(first)..(window.end as u64).min(end) {
            let y = (row - window.start as u64) as usize;
            match (row - first).checked_sub(1) {
                None => head(canvas, y, &section.object),
                Some(row) => values(look, &scene, canvas, (y, row), section),
            }
        }
        first = end;
    }
    if sections.is_empty() {
        canvas.say(&match only.is_empty() && search.is_empty() {
            true => format!("there is nothing in {} memory", space.word()),
            false => format!("nothing in {} memory has such a name", space.word()),
        });
    }
    let filter = if only.is_empty() && search.is_empty() { String::new() } else { format!(" · only {only}{search}") };
    format!("{} memory{filter}{}", space.word(), more(&window, usize::try_from(total).unwrap_or(usize::MAX)))
}

/// Rows of as many elements as fit: a power of two, or the innermost extent of a matrix.
fn section(object: MemoryObject, room: usize) -> Section {
    let fits = (room / cell(&object)).max(1) as u64;
    let power = (1 << fits.ilog2()).min(ROW_MAX);
    let inner = object.shape.last().copied().filter(|inner| object.shape.len() > 1 && *inner <= fits.min(ROW_MAX));
    let per_row = inner.unwrap_or(power).max(1);
    // A row never holds the end of one row of a matrix and the beginning of the next.
    let rows = match object.shape.last() {
        Some(inner) if object.shape.len() > 1 => object.elements / (*inner).max(1) * inner.div_ceil(per_row),
        _ => object.elements.div_ceil(per_row),
    };
    Section { object, per_row, rows: rows + 1 }
}

/// Columns that an element wants.
fn cell(object: &MemoryObject) -> usize {
    match object.ty.bytes() {
        0 | 1 => 5,
        2 => 7,
        4 => 11,
        _ => 18,
    }
}

fn head(canvas: &mut Canvas<'_>, y: usize, object: &MemoryObject) {
    let x = canvas.text(1, y, &object.name, Role::Name);
    canvas.text(x + 2, y, &format!("{}  {:#x}", object.type_name(), object.address), Role::Dim);
}

fn values(look: &Look<'_>, scene: &Scene<'_>, canvas: &mut Canvas<'_>, (y, row): (usize, u64), section: &Section) {
    let Section { object, per_row, .. } = section;
    let inner = object.shape.last().copied().filter(|_| object.shape.len() > 1).unwrap_or(object.elements).max(1);
    let pieces = inner.div_ceil(*per_row);
    let first = row / pieces * inner + row % pieces * per_row;
    let range = first..(first + per_row).min(row / pieces * inner + inner);
    let now = elements(scene, object, range.clone());
    let before = look.session.earlier().map(|scene| elements(&scene, object, range.clone())).unwrap_or_default();
    let name = object.element_name(first);
    canvas.text(1, y, &fitted(name.strip_prefix(&object.name).unwrap_or_default(), INDEX - 1), Role::Dim);
    let wide = (canvas.width().saturating_sub(INDEX + 1) / *per_row as usize).clamp(2, cell(object) + 2);
    for (index, value) in now.iter().enumerate() {
        let x = INDEX + 1 + index * wide;
        let changed = before.get(index).is_some_and(|before| before != value);
        let value = fitted(value, width(value).min(wide - 2));
        let text = format!("{:>wide$}", format!("{}{value}", if changed { "*" } else { " " }), wide = wide - 1);
        canvas.text(x, y, &text, if changed { Role::Changed } else { Role::Text });
        canvas.on_click((x, y, wide - 1), Target::Command(format!("last {}", object.element_name(first + index as u64))));
    }
}
