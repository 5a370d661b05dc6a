//! Tables in plain text: aligned columns, the focused row marked as in cuda-gdb.

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell for every column.
    pub rows: Vec<Row>,
    /// A note below the rows: why there are none, or how many are not shown.
    pub note: Option<String>,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub title: &'static str,
    /// True if the cells are right-aligned.
    pub right: bool,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its cells.
    pub cells: Vec<String>,
    /// True for the row of the focused thread.
    pub focused: bool,
}

impl Table {
    /// A table without rows; a title that begins with `>` makes a right-aligned column.
    pub fn new(titles: &[&'static str]) -> Self {
        let column = |title: &&'static str| match title.strip_prefix('>') {
            Some(title) => Column { title, right: true },
            None => Column { title, right: false },
        };
        Self { columns: titles.iter().map(column).collect(), rows: Vec::new(), note: None }
    }

    /// Adds a row.
    pub fn push<const N: usize>(&mut self, focused: bool, cells: [String; N]) {
        self.rows.push(Row { cells: cells.into(), focused });
    }

    /// The table with `note` below it if it has no rows.
    #[must_use]
    pub fn or_note(mut self, note: &str) -> Self {
        if self.rows.is_empty() && self.note.is_none() {
            self.note = Some(note.to_string());
        }
        self
    }
}

/// The text of a table; the row of the focused thread is marked with `*`. Only the note if there are no rows.
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
    let column = |(index, column): (usize, &Column)| {
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
