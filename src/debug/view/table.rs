//! A listing as data: columns, rows, and a line below.

/// A listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell for every column.
    pub rows: Vec<Row>,
    /// What must be said beside: why there are no rows, or what was left out.
    pub note: Option<String>,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What stands above it.
    pub title: &'static str,
    /// Numbers stand to the right.
    pub right: bool,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its cells.
    pub cells: Vec<String>,
    /// Whether it is about the focused thread.
    pub focused: bool,
}

impl Table {
    /// A listing without rows; a title that begins with `>` is of a column of numbers.
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

    /// The listing with `note` below it if it has no rows.
    #[must_use]
    pub fn or_note(mut self, note: &str) -> Self {
        if self.rows.is_empty() && self.note.is_none() {
            self.note = Some(note.to_string());
        }
        self
    }
}
