//! Text that is safe for a terminal: control characters are escaped.
//!
//! Names, comments, the output of a kernel and typed text are untrusted. A control character in it could move the cursor, set the title
//! or reply to a query of the terminal; a bidirectional control changes the order in which the characters of a line are shown. Each is
//! shown as an escape, `\x1b` or `\u{202e}`.

use std::borrow::Cow;

/// True for a control character of ASCII or ISO 6429 (C0, DEL, C1), a character with the Unicode property Bidi_Control, a deprecated
/// format character, or a separator of lines or paragraphs. Line feeds and tabs are included.
pub fn is_terminal_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
}

/// Escapes the control characters of `text`, except line feeds and tabs. A carriage return before a line feed is removed.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| is_terminal_control(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            c if is_terminal_control(c) => shown += &escape(c),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// As [`visible`], for bytes; those that are not UTF-8 are escaped as `\xff`.
pub fn visible_bytes(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown += &visible(chunk.valid());
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    shown
}

/// As [`visible`], but escape sequences for colours (SGR) are retained.
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

/// As [`visible`], for JSON, where such characters can only be in strings: they are escaped as in JSON.
pub fn visible_json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push(c),
            c if is_terminal_control(c) => shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
            c => shown.push(c),
        }
    }
    shown
}

/// The character that is drawn for `c` in the line editor: a control character is drawn as a picture of one column.
pub fn control_picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(c),
        0x7f => '\u{2421}',
        _ if is_terminal_control(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

fn escape(c: char) -> String {
    match u32::from(c) {
        code @ 0..0x100 => format!("\\x{code:02x}"),
        code => format!("\\u{{{code:x}}}"),
    }
}

/// The length in bytes of the sequence `ESC [ .. m` with which the text starts.
pub fn color_length(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\x1b[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some("\x1b[".len() + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_removed_or_escaped() {
        let every: String = ('\0'..=char::MAX).collect();
        for shown in [visible(&every).into_owned(), visible_styled(&every), visible_bytes(every.as_bytes())] {
            assert!(!shown.contains(|c: char| is_terminal_control(c) && c != '\n' && c != '\t'));
        }
        assert!(!visible_json(&every).contains(|c: char| is_terminal_control(c) && c != '\n'));
        assert!(!every.chars().map(control_picture).any(is_terminal_control));
    }

    #[test]
    fn control_characters_are_shown_as_escapes() {
        assert_eq!(visible("a\x1b[31mb\t\u{9b}2J\u{202e}c\r\nd\re\u{7f}\n"), "a\\x1b[31mb\t\\x9b2J\\u{202e}c\nd\\x0de\\x7f\n");
        assert_eq!(visible_bytes(b"\xe9t\xc3\xa9\x07\xff"), "\\xe9té\\x07\\xff");
        assert_eq!(visible_styled("\x1b[1;31merror\x1b[0m: \x1b[2Jno\u{9c}"), "\x1b[1;31merror\x1b[0m: \\x1b[2Jno\\x9c");
        assert_eq!(visible_json("{\"a\u{9b}\":\"\u{202e}\"}\n"), "{\"a\\u009b\":\"\\u202e\"}\n");
        assert!(matches!(visible("é\tb\n"), Cow::Borrowed(_)));
    }
}
