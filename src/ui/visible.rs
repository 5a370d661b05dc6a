//! Text as it may reach a terminal: with nothing in it that acts on the terminal instead of standing on it.
//!
//! Names, comments, what a kernel prints and what is typed are the text of others. A control character in it could move the cursor, set the
//! title or answer a question of the terminal; a bidirectional control shows the characters of a line in another order than they are
//! read in. Each is shown as an escape, `\x1b` or `\u{202e}`.

use std::borrow::Cow;

/// Whether a character acts on the terminal: a control character of ASCII or ISO 6429 (C0, DEL, C1), one with the property Bidi_Control
/// of Unicode, its deprecated kin, or a separator of lines or paragraphs. Line feeds and tabs are among them.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
}

/// Lines of text: only line feeds and tabs are kept of what acts. A carriage return before a line feed is dropped.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| acts(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            c if acts(c) => shown += &escape(c),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// The same of bytes, those that are not UTF-8 as `\xff`.
pub fn visible_bytes(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown += &visible(chunk.valid());
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    shown
}

/// The same of text whose colours are our own: sequences that set them (SGR) are kept.
pub fn visible_styled(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\x1b') {
        shown += &visible(&rest[..start]);
        let length = color_length(&rest[start..]);
        match length {
            Some(length) => shown += &rest[start..start + length],
            None => shown += &escape('\x1b'),
        }
        rest = &rest[start + length.unwrap_or(1)..];
    }
    shown + &visible(rest)
}

/// The same of JSON, in which such characters can only stand within strings: they are escaped as JSON does.
pub fn visible_json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push(c),
            c if acts(c) => shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
            c => shown.push(c),
        }
    }
    shown
}

/// A character in the line that is edited: one column stands for one that acts.
pub fn pictured(c: char) -> char {
    match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(c),
        0x7f => '\u{2421}',
        _ if acts(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

fn escape(c: char) -> String {
    match u32::from(c) {
        code @ 0..0x100 => format!("\\x{code:02x}"),
        code => format!("\\u{{{code:x}}}"),
    }
}

/// Bytes of the sequence `ESC [ .. m` that the text starts with.
pub fn color_length(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\x1b[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some("\x1b[".len() + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_is_kept() {
        let every: String = ('\0'..=char::MAX).collect();
        for shown in [visible(&every).into_owned(), visible_styled(&every), visible_bytes(every.as_bytes())] {
            assert!(!shown.contains(|c: char| acts(c) && c != '\n' && c != '\t'));
        }
        assert!(!visible_json(&every).contains(|c: char| acts(c) && c != '\n'));
        assert!(!every.chars().map(pictured).any(acts));
    }

    #[test]
    fn what_acts_is_shown_as_an_escape() {
        assert_eq!(visible("a\x1b[31mb\t\u{9b}2J\u{202e}c\r\nd\re\u{7f}\n"), "a\\x1b[31mb\t\\x9b2J\\u{202e}c\nd\\x0de\\x7f\n");
        assert_eq!(visible_bytes(b"\xe9t\xc3\xa9\x07\xff"), "\\xe9té\\x07\\xff");
        assert_eq!(visible_styled("\x1b[1;31merror\x1b[0m: \x1b[2Jno\u{9c}"), "\x1b[1;31merror\x1b[0m: \\x1b[2Jno\\x9c");
        assert_eq!(visible_json("{\"a\u{9b}\":\"\u{202e}\"}\n"), "{\"a\\u009b\":\"\\u202e\"}\n");
        assert!(matches!(visible("é\tb\n"), Cow::Borrowed(_)));
    }
}
