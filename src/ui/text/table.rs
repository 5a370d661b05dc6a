//! Listings for people: columns aligned, the focused row marked as cuda-gdb marks it.

use crate::debug::view::Table;

/// A listing with its titles; the row of the focused thread has a `*` before it. Nothing but its note if it has no rows.
pub fn table(table: &Table) -> String {
    let mut text = String::new();
    if !table.rows.is_empty() {
        let widths = widths(table);
        let marks = table.rows.iter().any(|row| row.focused);
        let margin = |focused: bool| {
            if !marks {
                ""
            } else if focused {
                "* "
            } else {
                "  "
            }
        };
        let titles: Vec<&str> = table.columns.iter().map(|column| column.title).collect();
        if titles.iter().any(|title| !title.is_empty()) {
            text += &format!("{}{}", margin(false), line(table, &widths, &titles));
        }
        for row in &table.rows {
            let cells: Vec<&str> = row.cells.iter().map(String::as_str).collect();
            text += &format!("{}{}", margin(row.focused), line(table, &widths, &cells));
        }
    }
    if let Some(note) = &table.note {
        text += &format!("{note}\n");
    }
    text
}

/// Characters of the widest cell of each column.
fn widths(table: &Table) -> Vec<usize> {
    let column = |(index, column): (usize, &crate::debug::view::Column)| {
        let cells = table.rows.iter().filter_map(|row| row.cells.get(index)).map(|cell| cell.chars().count());
        cells.chain(std::iter::once(column.title.chars().count())).max().unwrap_or(0)
    };
    table.columns.iter().enumerate().map(column).collect()
}

fn line(table: &Table, widths: &[usize], cells: &[&str]) -> String {
    let mut line = String::new();
    for ((column, width), cell) in table.columns.iter().zip(widths).zip(cells).filter(|((_, width), _)| **width > 0) {
        if !line.is_empty() {
            line += "  ";
        }
        let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
        line += &if column.right { format!("{pad}{cell}") } else { format!("{cell}{pad}") };
    }
    format!("{}\n", line.trim_end())
}
