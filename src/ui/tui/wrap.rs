//! Wraps lines of text at the width of the terminal; tabs become blanks.

use std::borrow::Cow;

use ratatui::text::Span;

use crate::ui::visible::{color_length, visible_styled};

/// Columns between tab stops.
const TAB: usize = 8;

/// The line without control characters that move the cursor. Escape sequences for colours (SGR) are retained.
pub fn clean(line: &str) -> String {
    let mut text = String::new();
    for c in visible_styled(line).chars() {
        match c {
            '\t' => text += &" ".repeat(TAB - width(&text) % TAB),
            c => text.push(c),
        }
    }
    text
}

/// The line without control characters and without colours.
pub fn plain(line: &str) -> String {
    let mut text = clean(line);
    while let Some(start) = text.find('\x1b') {
        let length = color_length(&text[start..]).unwrap_or(1);
        text.replace_range(start..start + length, "");
    }
    text
}

/// The first row of a line, with `…` at its end if there are more.
pub fn first_row(line: &str, columns: usize) -> String {
    let mut rows = wrapped(line, columns).into_iter();
    match (rows.next(), rows.next()) {
        (Some(row), None) => row,
        _ => wrapped(line, columns.saturating_sub(1).max(1)).into_iter().next().unwrap_or_default() + "…",
    }
}

/// The line with two blanks for more of them between words, if it is wider than `columns`: columns that are wrapped are aligned to nothing.
pub fn squeezed(line: &str, columns: usize) -> Cow<'_, str> {
    if width(line) <= columns {
        return Cow::Borrowed(line);
    }
    let start = line.len() - line.trim_start_matches(' ').len();
    let mut text = line[..start].to_string();
    for c in line[start..].chars() {
        if c != ' ' || !text[start..].ends_with("  ") {
            text.push(c);
        }
    }
    Cow::Owned(text)
}

/// The line wrapped to rows of at most `columns`, at blanks; a word is broken if it is longer than a row, or than the half of one where
/// little stands before it. One row for an empty line.
pub fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let line = &*squeezed(line, columns);
    let mut rows = Vec::new();
    let (mut row, mut used) = (String::new(), 0);
    // The bytes and the columns before the last blank of the row.
    let mut blank = None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let (length, wide) = match color_length(rest) {
            Some(length) => (length, 0),
            None => (c.len_utf8(), Span::raw(&rest[..c.len_utf8()]).width()),
        };
        let fits = || width(rest[1..].split(' ').next().unwrap_or_default()) <= columns;
        if c == ' ' && (2 * used >= columns || !row.trim().is_empty() && fits()) {
            blank = Some((row.len(), used));
        }
        if used + wide > columns && used > 0 {
            let (bytes, before) = blank.take().unwrap_or((row.len(), used));
            let next = row.split_off(bytes);
            rows.push(std::mem::replace(&mut row, next.strip_prefix(' ').unwrap_or(&next).to_string()));
            used = (used - before).saturating_sub(1);
            if c == ' ' && row.is_empty() {
                rest = &rest[length..];
                continue;
            }
        }
        row.push_str(&rest[..length]);
        used += wide;
        rest = &rest[length..];
    }
    rows.push(row);
    rows
}

/// The width of a line in columns.
fn width(line: &str) -> usize {
    let mut columns = 0;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let length = color_length(rest);
        columns += if length.is_some() { 0 } else { Span::raw(&rest[..c.len_utf8()]).width() };
        rest = &rest[length.unwrap_or(c.len_utf8())..];
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(clean("a\x1b[2Jb\x07\x1b[31mred\x1b[0m\r"), "a\\x1b[2Jb\\x07\x1b[31mred\x1b[0m\\x0d");
        assert_eq!(clean("ab\tc"), "ab      c");
        assert_eq!(clean("\x1b[1mab\tc"), "\x1b[1mab      c");
        assert_eq!(clean("\x1b["), "\\x1b[");
        assert_eq!(plain("\x1b[1;31merror\x1b[0m: \x1b[2Jno"), "error: \\x1b[2Jno");
    }

    #[test]
    fn lines_are_broken_where_rows_end() {
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("abcd", 4), ["abcd"]);
        assert_eq!(wrapped("abcdefghi", 4), ["abcd", "efgh", "i"]);
        assert_eq!(wrapped("\x1b[31mabcd\x1b[0me", 4), ["\x1b[31mabcd\x1b[0m", "e"]);
        assert_eq!(wrapped("ab cd efgh", 6), ["ab cd", "efgh"]);
        assert_eq!(wrapped("abcd efgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("a bcdefgh", 6), ["a bcde", "fgh"]);
        assert_eq!(wrapped("\x1b[1mabc\x1b[0m \x1b[1mdef", 5), ["\x1b[1mabc\x1b[0m", "\x1b[1mdef"]);
        assert_eq!(wrapped("a bcdef", 6), ["a", "bcdef"]);
        assert_eq!(wrapped("a        b", 8), ["a  b"]);
        assert_eq!(wrapped("  a        bcdefgh", 8), ["  a ", "bcdefgh"]);
        // Two columns each.
        assert_eq!(wrapped("幅幅幅", 5), ["幅幅", "幅"]);
        assert_eq!(first_row("one two", 7), "one two");
        assert_eq!(first_row("one two", 5), "one…");
    }
}
