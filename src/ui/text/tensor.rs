//! The text of tensors: rows and columns with their indices, abbreviated as NumPy does.

use crate::debug::value::TensorText;

/// Elements from which on a tensor is abbreviated, as NumPy's `threshold`.
const THRESHOLD: usize = 1000;
/// Rows and columns that are shown at each end of what is abbreviated, as NumPy's `edgeitems`.
const EDGE: usize = 3;
/// Characters of a line, besides the index before it.
const WIDTH: usize = 70;

/// `f32[64][32]`, then a line for each row, and what is to be known about it.
pub fn tensor(text: &TensorText) -> String {
    let notes: String = text.notes.iter().map(|note| format!("\n  ({note})")).collect();
    let body = match text.shape.as_slice() {
        [] => format!(" {}", text.elements.first().map_or("", String::as_str)),
        [extent] => list(text, *extent as usize),
        [planes @ .., rows, columns] => {
            let size = (rows * columns).max(1) as usize;
            let count: usize = planes.iter().map(|extent| *extent as usize).product();
            let plane = |(number, elements): (usize, &[String])| {
                let head = if planes.is_empty() { String::new() } else { format!("\n  [{}]", index_of(number, planes, &text.indices)) };
                head + &matrix(text, elements, (*rows as usize, *columns as usize))
            };
            let shown = kept(count, text.elements.len() > THRESHOLD);
            let planes: Vec<&[String]> = text.elements.chunks(size).collect();
            let each = shown.iter().map(|number| match number {
                Some(number) => plane((*number, planes.get(*number).copied().unwrap_or(&[]))),
                None => "\n  …".to_string(),
            });
            each.collect()
        }
    };
    format!("{}{body}{notes}", text.ty)
}

/// `1, 2` of element 6 of extents 3 and 4, of a whole tensor.
fn index_of(number: usize, extents: &[u64], indices: &[Vec<u64>]) -> String {
    let mut rest = number as u64;
    let mut at: Vec<String> = Vec::new();
    for (extent, indices) in extents.iter().zip(indices).rev() {
        at.push(index(indices, (rest % extent) as usize).to_string());
        rest /= extent;
    }
    at.reverse();
    at.join(", ")
}

/// The numbers that are shown of `count`; none where some are left out.
fn kept(count: usize, is_abbreviated: bool) -> Vec<Option<usize>> {
    if !is_abbreviated || count <= 2 * EDGE + 1 {
        return (0..count).map(Some).collect();
    }
    (0..EDGE).map(Some).chain([None]).chain((count - EDGE..count).map(Some)).collect()
}

fn width<'t>(elements: impl Iterator<Item = &'t String>) -> usize {
    elements.map(|element| element.chars().count()).max().unwrap_or(1)
}

/// The index of an element along a dimension.
fn index(indices: &[u64], at: usize) -> u64 {
    indices.get(at).copied().unwrap_or(at as u64)
}

/// The elements of one dimension, as many in a line as fit.
fn list(text: &TensorText, extent: usize) -> String {
    let shown = kept(extent, extent > THRESHOLD);
    let width = width(shown.iter().flatten().filter_map(|at| text.elements.get(*at)));
    let indices = text.indices.first().map_or(&[][..], Vec::as_slice);
    let labels = (index(indices, extent.saturating_sub(1)) + 1).to_string().len();
    let in_line = (WIDTH / (width + 1)).max(1);
    let in_line = if in_line >= 8 { in_line / 8 * 8 } else { in_line };
    let mut lines = String::new();
    for part in shown.chunk_by(|a, b| a.is_some() && b.is_some()) {
        for line in part.chunks(in_line) {
            let Some(Some(first)) = line.first() else {
                lines.push_str("\n  …");
                continue;
            };
            let elements = line.iter().flatten().filter_map(|at| text.elements.get(*at));
            let elements: String = elements.map(|element| format!(" {element:>width$}")).collect();
            lines.push_str(&format!("\n  {:>labels$}:{elements}", index(indices, *first)));
        }
    }
    lines
}

/// Rows and columns; those that do not fit a line are left out in the middle.
fn matrix(text: &TensorText, elements: &[String], (rows, columns): (usize, usize)) -> String {
    let is_large = text.elements.len() > THRESHOLD;
    let of_dimension = |from_last: usize| text.indices.iter().rev().nth(from_last).map_or(&[][..], Vec::as_slice);
    let (row_indices, column_indices) = (of_dimension(1), of_dimension(0));
    let of_width = |shown: &[Option<usize>], rows: &[Option<usize>]| {
        let places = rows.iter().flatten().flat_map(|row| shown.iter().flatten().map(move |column| row * columns + column));
        width(places.filter_map(|at| elements.get(at))).max((index(column_indices, columns.saturating_sub(1)) + 1).to_string().len())
    };
    let shown_rows = kept(rows, is_large);
    let all = kept(columns, is_large);
    let fits = (of_width(&all, &shown_rows) + 1) * all.len() <= WIDTH;
    let shown = if fits { all } else { kept(columns, true) };
    let width = of_width(&shown, &shown_rows);
    let labels = (index(row_indices, rows.saturating_sub(1)) + 1).to_string().len();
    let line = |label: String, cell: &dyn Fn(usize) -> String| {
        let cells = shown.iter().map(|column| column.map_or_else(|| " …".to_string(), |column| format!(" {:>width$}", cell(column))));
        format!("\n  {label:>labels$} {}", cells.collect::<String>())
    };
    let head = line(String::new(), &|column| index(column_indices, column).to_string());
    let body = shown_rows.iter().map(|row| match row {
        Some(row) => {
            line(index(row_indices, *row).to_string(), &|column| elements.get(row * columns + column).cloned().unwrap_or_default())
        }
        None => format!("\n  {:>labels$}", "…"),
    });
    head + &body.collect::<String>()
}
