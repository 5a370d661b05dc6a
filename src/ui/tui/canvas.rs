//! The part of the screen that a pane draws on: text in roles, cut at the edges, and what a click on it does.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::theme::{Role, Theme};
use crate::ui::visible::visible;

/// What a click does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Executes this line.
    Command(String),
    /// Puts the cursor of the pane with this number on a row.
    Row(usize, i64),
    /// Makes the pane with this number take keys.
    Pane(usize),
}

/// A part of the screen that can be clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The area.
    pub area: Rect,
    /// What it does.
    pub target: Target,
}

/// A text in one role.
pub type Span = (Role, String);

/// Where a pane draws. Places are counted from its upper left corner.
pub struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    theme: &'a Theme,
    hits: &'a mut Vec<Hit>,
}

impl<'a> Canvas<'a> {
    /// A canvas of the part of `area` that `buffer` has.
    pub fn new(buffer: &'a mut Buffer, area: Rect, theme: &'a Theme, hits: &'a mut Vec<Hit>) -> Self {
        let area = area.intersection(buffer.area);
        Self { buffer, area, theme, hits }
    }

    /// Columns.
    pub fn width(&self) -> usize {
        usize::from(self.area.width)
    }

    /// Rows.
    pub fn height(&self) -> usize {
        usize::from(self.area.height)
    }

    /// A part of it.
    pub fn part(&mut self, x: usize, y: usize, width: usize, height: usize) -> Canvas<'_> {
        let area = self.rect(x, y, width, height);
        Canvas { buffer: self.buffer, area, theme: self.theme, hits: self.hits }
    }

    /// Writes `text` from column `x` of row `y` on; what does not fit is cut off. Returns the column after it.
    pub fn text(&mut self, x: usize, y: usize, text: &str, role: Role) -> usize {
        let room = self.width().saturating_sub(x);
        if room == 0 || y >= self.height() {
            return x;
        }
        let place = self.rect(x, y, room, 1);
        let style = self.theme.style(role);
        let (end, _) = self.buffer.set_stringn(place.x, place.y, visible(text), room, style);
        usize::from(end.saturating_sub(self.area.x))
    }

    /// Writes spans one after the other; returns the column after them.
    pub fn spans(&mut self, x: usize, y: usize, spans: &[Span]) -> usize {
        spans.iter().fold(x, |x, (role, text)| self.text(x, y, text, *role))
    }

    /// Adds the style of a role to what stands in a row.
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

    /// The part of the screen that these cells are.
    fn rect(&self, x: usize, y: usize, width: usize, height: usize) -> Rect {
        let small = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let Rect { x: left, y: top, .. } = self.area;
        let wanted = Rect::new(left.saturating_add(small(x)), top.saturating_add(small(y)), small(width), small(height));
        wanted.intersection(self.area)
    }
}

/// The last thing drawn at a place of the screen that can be clicked.
pub fn hit_at(hits: &[Hit], column: u16, row: u16) -> Option<&Target> {
    let position = Position::new(column, row);
    hits.iter().rev().find(|hit| hit.area.contains(position)).map(|hit| &hit.target)
}

/// Columns that `text` takes.
pub fn width(text: &str) -> usize {
    ratatui::text::Line::raw(text).width()
}

/// `text` with blanks after it, or cut with `…`, so that it takes `columns`.
pub fn fitted(text: &str, columns: usize) -> String {
    let text = &*visible(text);
    let wide = width(text);
    if wide <= columns {
        return format!("{text}{}", " ".repeat(columns - wide));
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let (kept, _) = split_at_column(text, room);
    let kept = if width(kept) > room { "" } else { kept };
    format!("{kept}…{}", " ".repeat(room - width(kept)))
}

/// The longest beginning of `text` that takes at most `columns`, one character at least, and the rest.
fn split_at_column(text: &str, columns: usize) -> (&str, &str) {
    let mut taken = 0;
    let end = text.char_indices().find(|(at, c)| {
        taken += width(c.encode_utf8(&mut [0; 4]));
        taken > columns && *at > 0
    });
    text.split_at(end.map_or(text.len(), |(at, _)| at))
}

/// `text` in lines of at most `columns`, broken at blanks where there are some; lines that go on stand a little to the right.
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
    fn texts_take_the_columns_they_are_given() {
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
