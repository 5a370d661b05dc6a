//! The text of fragments: the matrix of values, and the matrix of the lanes that hold them.

use crate::debug::view::{FragmentCell, FragmentView};

/// The values in row-major order, then for each element its lane and its index in that lane, as in the manual's figures.
pub fn fragment(view: &FragmentView) -> String {
    let mut text = head(view);
    for (number, tile) in view.tiles.iter().enumerate() {
        if view.tiles.len() > 1 {
            text += &format!("\nmatrix {number}\n");
        }
        text += &matrix(view, tile, |cell| if cell.text.is_empty() { "?".to_string() } else { cell.text.clone() });
        text += "\nheld by lane:element\n";
        text += &matrix(view, tile, |cell| format!("{}:{}", cell.lane, cell.element));
    }
    text
}

/// `mma.m16n8k16.a.f16 in %r4 to %r7: 16 x 16; elements of a lane: %r4 #0-1, %r5 #2-3`
fn head(view: &FragmentView) -> String {
    let rows = view.tiles.first().map_or(0, Vec::len);
    let columns = view.tiles.first().and_then(|rows| rows.first()).map_or(0, Vec::len);
    let per_register = view.per_register as usize;
    let of_register = |(index, name): (usize, &String)| {
        let first = index * per_register;
        if per_register == 1 { format!("{name} #{first}") } else { format!("{name} #{first}-{}", first + per_register - 1) }
    };
    let registers: Vec<String> = view.registers.iter().enumerate().map(of_register).collect();
    format!("{}: {rows} rows of {columns}\nelements of a lane: {}\n", view.name, registers.join(", "))
}

/// A matrix with row and column numbers; a column is as wide as its widest cell.
fn matrix(view: &FragmentView, rows: &[Vec<FragmentCell>], cell: impl Fn(&FragmentCell) -> String) -> String {
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(&cell).collect()).collect();
    let count = cells.first().map_or(0, Vec::len);
    let width = |column: usize| cells.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(|column| width(column).max(column.to_string().len())).collect();
    let line = |head: String, cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("  {cell:>width$}"));
        format!("{head:>5}{}\n", cells.collect::<String>())
    };
    let titles: Vec<String> = (0..count).map(|column| column.to_string()).collect();
    let body = (view.first_row..).zip(&cells).map(|(row, cells)| line(row.to_string(), cells));
    line(String::new(), &titles) + &body.collect::<String>()
}
