//! The part of the screen that a pane draws on: styled text, clipped at the edges, and click targets.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::theme::{Role, Theme};
use crate::ui::visible::visible;

/// The effect of a click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Executes this line.
    Command(String),
    /// Puts the cursor of the pane with this number on a row.
    Row(usize, i64),
    /// Makes the pane with this number the active one.
    Pane(usize),
}

/// A part of the screen that can be clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The area.
    pub area: Rect,
    /// The effect of a click on it.
    pub target: Target,
}

/// A text in one role.
pub type Span = (Role, String);

/// The drawing area of a pane. Coordinates start at its upper left corner.
pub struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    theme: &'a Theme,
    hits: &'a mut Vec<Hit>,
}

impl<'a> Canvas<'a> {
    /// A canvas for the part of `area` that is inside `buffer`.
    pub fn new(buffer: &'a mut Buffer, area: Rect, theme: &'a Theme, hits: &'a mut Vec<Hit>) -> Self {
        let area = area.intersection(buffer.area);
        Self { buffer, area, theme, hits }
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        usize::from(self.area.width)
    }

    /// The number of rows.
    pub fn height(&self) -> usize {
        usize::from(self.area.height)
    }

    /// A canvas for a part of this one.
    pub fn part(&mut self, x: usize, y: usize, width: usize, height: usize) -> Canvas<'_> {
        let area = self.rect(x, y, width, height);
        Canvas { buffer: self.buffer, area, theme: self.theme, hits: self.hits }
    }

    /// Writes `text` at column `x` of row `y`, clipped at the right edge. Returns the column after it.
    pub fn text(&mut self, x: usize, y: usize, text: &str, role: Role) -> usize {
        let room = self.width().saturating_sub(x);
        if room == 0 || y >= self.height() {
            return x;
        }
        let area = self.rect(x, y, room, 1);
        let style = self.theme.style(role);
        let (end, _) = self.buffer.set_stringn(area.x, area.y, visible(text), room, style);
        usize::from(end.saturating_sub(self.area.x))
    }

    /// Writes spans one after the other; returns the column after them.
    pub fn spans(&mut self, x: usize, y: usize, spans: &[Span]) -> usize {
        spans.iter().fold(x, |x, (role, text)| self.text(x, y, text, *role))
    }

    /// Adds the style of a role to a row.
    pub fn tint(&mut self, y: usize, role: Role) {
        let area = self.rect(0, y, self.width(), 1);
        self.restyle(area, self.theme.style(role));
    }

    /// Adds the style of a role to some cells of a row.
    pub fn tint_part(&mut self, x: usize, y: usize, width: usize, role: Role) {
        let area = self.rect(x, y, width, 1);
        self.restyle(area, self.theme.style(role));
    }

    fn restyle(&mut self, area: Rect, style: Style) {
        for position in area.positions() {
            if let Some(cell) = self.buffer.cell_mut(position) {
                cell.set_style(style);
            }
        }
    }

    /// Makes a part clickable.
    pub fn on_click(&mut self, (x, y, width): (usize, usize, usize), target: Target) {
        let area = self.rect(x, y, width, 1);
        if !area.is_empty() {
            self.hits.push(Hit { area, target });
        }
    }

    /// The area of the screen for these cells, clipped.
    fn rect(&self, x: usize, y: usize, width: usize, height: usize) -> Rect {
        let small = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let Rect { x: left, y: top, .. } = self.area;
        let unclipped = Rect::new(left.saturating_add(small(x)), top.saturating_add(small(y)), small(width), small(height));
        unclipped.intersection(self.area)
    }
}

/// The topmost click target at a cell of the screen.
pub fn hit_at(hits: &[Hit], column: u16, row: u16) -> Option<&Target> {
    let position = Position::new(column, row);
    hits.iter().rev().find(|hit| hit.area.contains(position)).map(|hit| &hit.target)
}

/// The width of `text` in columns.
pub fn width(text: &str) -> usize {
    ratatui::text::Line::raw(text).width()
}

/// `text` padded with blanks, or truncated with `…`, to a width of `columns`.
pub fn fitted(text: &str, columns: usize) -> String {
    let text = &*visible(text);
    let wide = width(text);
    if wide <= columns {
        return format!("{text}{}", " ".repeat(columns - wide));
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let (head, _) = split_at_column(text, room);
    let head = if width(head) > room { "" } else { head };
    format!("{head}…{}", " ".repeat(room - width(head)))
}

/// The longest prefix of `text` with a width of at most `columns`, but at least one character, and the rest.
fn split_at_column(text: &str, columns: usize) -> (&str, &str) {
    let mut used = 0;
    let end = text.char_indices().find(|(at, c)| {
        used += width(c.encode_utf8(&mut [0; 4]));
        used > columns && *at > 0
    });
    text.split_at(end.map_or(text.len(), |(at, _)| at))
}

/// `text` wrapped to lines of at most `columns`, at blanks if possible; continuation lines are indented.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for paragraph in visible(text).lines() {
        let blanks = paragraph.len() - paragraph.trim_start().len();
        let indent = if blanks + 2 < columns / 2 { " ".repeat(blanks + 2) } else { String::new() };
        let mut line = String::new();
        for word in paragraph.split_inclusive(' ') {
            if width(&line) + width(word.trim_end()) > columns && !line.trim().is_empty() {
                lines.push(std::mem::replace(&mut line, indent.clone()));
            }
            line.push_str(word);
            while width(&line) > columns {
                let (head, rest) = split_at_column(&line, columns);
                let (head, rest) = (head.to_string(), rest.to_string());
                lines.push(head);
                line = rest;
            }
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{fitted, width, wrapped};

    #[test]
    fn texts_are_padded_or_truncated() {
        for text in ["", "a", "abcdef", "幅幅幅", "a幅b幅"] {
            for columns in 0..10 {
                assert_eq!(width(&fitted(text, columns)), columns, "{text} {columns}");
            }
        }
        assert_eq!(fitted("幅幅幅", 4), "幅… ");
        assert_eq!(fitted("abcdef", 4), "abc…");
    }

    #[test]
    fn lines_are_broken_at_blanks_and_by_width() {
        assert_eq!(wrapped("one two three", 8), ["one two ", "  three"]);
        assert_eq!(wrapped("幅幅幅", 4), ["幅幅", "幅"]);
        assert_eq!(wrapped("幅幅", 1), ["幅", "幅", ""]);
    }
}
