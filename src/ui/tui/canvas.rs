//! The part of the screen that a pane draws on: styled text, clipped at the edges, and click targets.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::theme::{Role, Theme};
use super::wrap::squeezed;
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

    /// Writes `text` at column `x` of row `y`, clipped at the right edge; `…` stands for letters and digits that are lost, and for a
    /// number that does not fit whole. Returns the column after it.
    pub fn text(&mut self, x: usize, y: usize, text: &str, role: Role) -> usize {
        let end = self.clipped(x, y, text, role);
        let room = self.width().saturating_sub(x);
        if room > 0 && loses_words(text, room) {
            self.mark_end(y);
        }
        end
    }

    /// Writes spans one after the other, clipped like one text; returns the column after them.
    pub fn spans(&mut self, x: usize, y: usize, spans: &[Span]) -> usize {
        let (mut end, mut is_cut) = (x, false);
        for (role, text) in spans {
            is_cut |= loses_words(text, self.width().saturating_sub(end));
            end = self.clipped(end, y, text, *role);
        }
        if is_cut && x < self.width() {
            self.mark_end(y);
        }
        end
    }

    fn clipped(&mut self, x: usize, y: usize, text: &str, role: Role) -> usize {
        let room = self.width().saturating_sub(x);
        if room == 0 || y >= self.height() {
            return x;
        }
        let area = self.rect(x, y, room, 1);
        let style = self.theme.style(role);
        let (end, _) = self.buffer.set_stringn(area.x, area.y, visible(text), room, style);
        usize::from(end.saturating_sub(self.area.x))
    }

    /// Puts `…` at the end of a row that has lost letters or digits.
    fn mark_end(&mut self, y: usize) {
        let row = self.rect(0, y, self.width(), 1);
        let cells: Vec<&str> = row.positions().filter_map(|position| self.buffer.cell(position)).map(Cell::symbol).collect();
        // A wide character takes the cell after it, too.
        let is_wide = cells.len() > 1 && width(cells[cells.len() - 2]) > 1;
        let removed = if is_wide { 2 } else { end_of_cut(cells.iter().rev().map(|cell| cell.chars().next().unwrap_or(' '))) };
        let first = row.right().saturating_sub(removed.min(cells.len()) as u16);
        for position in row.positions().filter(|position| position.x >= first) {
            if let Some(cell) = self.buffer.cell_mut(position) {
                cell.set_symbol(if position.x == first { "…" } else { " " });
            }
        }
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

/// `text` padded with blanks, or truncated with `…`, to a width of `columns`. A number is not cut: the mark stands for all of it.
pub fn fitted(text: &str, columns: usize) -> String {
    let text = &*visible(text);
    let wide = width(text);
    if wide <= columns {
        return format!("{text}{}", " ".repeat(columns - wide));
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let (head, rest) = split_at_column(text, room);
    let head = if width(head) > room { "" } else { head };
    // The token that the cut is in, or that ends before it.
    let in_token = rest.starts_with(is_of_token);
    let kept = head.len() - head.chars().rev().take_while(|c| in_token && is_of_token(*c)).map(char::len_utf8).sum::<usize>();
    let head = if is_number(&head[kept..]) { &head[..kept] } else { head };
    format!("{head}…{}", " ".repeat(room - width(head)))
}

/// `text` without its first `skipped` characters; `…` stands for letters and digits that are lost, and for the rest of a number.
pub fn without_start(text: &str, skipped: usize) -> String {
    let at = text.char_indices().nth(skipped).map_or(text.len(), |(at, _)| at);
    let (head, tail) = text.split_at(at);
    if tail.is_empty() || !head.contains(char::is_alphanumeric) {
        return tail.to_string();
    }
    let rest: usize = tail.chars().take_while(|c| is_of_token(*c)).count();
    let before: String = head.chars().rev().take_while(|c| is_of_token(*c)).collect();
    let token: String = before.chars().rev().chain(tail.chars().take(rest)).collect();
    let removed = if is_number(&token) { rest.max(1) } else { 1 };
    let kept: String = tail.chars().skip(removed).collect();
    format!("…{}{kept}", " ".repeat(removed - 1))
}

/// True if `text` has letters or digits that do not fit in `room` columns.
fn loses_words(text: &str, room: usize) -> bool {
    width(text) > room && {
        let (head, rest) = if room == 0 { ("", text) } else { split_at_column(text, room) };
        rest.contains(char::is_alphanumeric) || width(head) > room
    }
}

/// The number of characters at the end of a cut row, given backwards, that make room for `…`: one, or all of a number.
fn end_of_cut(backwards: impl Iterator<Item = char>) -> usize {
    let token: Vec<char> = backwards.take_while(|c| is_of_token(*c)).collect();
    let text: String = token.iter().rev().collect();
    if is_number(&text) { token.len() } else { 1 }
}

/// True for a character of names, numbers and ranges of numbers.
fn is_of_token(c: char) -> bool {
    c.is_alphanumeric() || "_.%$+-,".contains(c)
}

/// True if a token begins as a number does.
fn is_number(token: &str) -> bool {
    token.trim_start_matches(['+', '-', '.', ',']).starts_with(|c: char| c.is_ascii_digit())
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
        let paragraph = &*squeezed(paragraph, columns);
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
    use super::{Canvas, fitted, width, without_start, wrapped};
    use crate::ui::tui::theme::{Role, Theme};
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    /// What a row of `columns` columns shows of spans.
    fn row(spans: &[&str], columns: u16) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, 1));
        let (theme, mut hits) = (Theme::default(), Vec::new());
        let spans: Vec<_> = spans.iter().map(|text| (Role::Text, (*text).to_string())).collect();
        Canvas::new(&mut buffer, Rect::new(0, 0, columns, 1), &theme, &mut hits).spans(0, 0, &spans);
        (0..columns).map(|x| buffer[(x, 0)].symbol()).collect()
    }

    #[test]
    fn a_cut_is_marked_and_no_number_is_cut() {
        let cases: [(&[&str], u16, &str); 12] = [
            (&["BB8_40 next"], 8, "BB8_40 …"),
            (&["BB8_40"], 5, "BB8_…"),
            (&["32 lanes +224]"], 12, "32 lanes …  "),
            (&["32 lanes +224]"], 13, "32 lanes +224"),
            (&["a 1,280"], 5, "a …  "),
            (&["0x7f2000001000"], 8, "…       "),
            (&["t=1,280 of"], 4, "t=… "),
            (&["add.s32 ", "%r1"], 8, "add.s32…"),
            (&["add ", "%r12"], 6, "add %…"),
            (&["┌────────┐"], 5, "┌────"),
            (&["x   "], 2, "x "),
            (&["幅幅 3"], 4, "幅 … "),
        ];
        for (spans, columns, shown) in cases {
            assert_eq!(row(spans, columns), shown, "{spans:?} in {columns}");
        }
        assert_eq!(fitted("at 1234", 6), "at …  ");
        assert_eq!(fitted("12 lanes", 4), "12 …");
        assert_eq!(without_start("add 1234 %r12", 5), "…   %r12");
        assert_eq!(without_start("name_one 7", 3), "…_one 7");
        assert_eq!(without_start("   name", 2), " name");
    }

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
