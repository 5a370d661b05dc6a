//! The label `at:` of a tuple field: `Bytes("..", at: {16: Alias("x")})`, `With(Zero, at: {..})`. In RON, fields of a tuple have no
//! names. So the label is removed before the text is parsed, and inserted into text that is written.

use std::borrow::Cow;

const LABEL: &str = "at";

/// `text` with blanks for the label, so that the offsets of everything else are unchanged.
pub fn without_label(text: &str) -> Cow<'_, str> {
    let mut blank = Cow::Borrowed(text);
    for range in Scan::new(text).filter(|found| matches!(found.kind, FieldKind::Label)).map(|found| found.range) {
        let blanks = " ".repeat(range.len());
        blank.to_mut().replace_range(range, &blanks);
    }
    blank
}

/// `text`, which `ron` has written, with the label.
pub fn with_label(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut copied = 0;
    for found in Scan::new(text).filter(|found| matches!(found.kind, FieldKind::Map)) {
        written.push_str(&text[copied..found.range.start]);
        written.push_str(LABEL);
        written.push_str(": ");
        copied = found.range.start;
    }
    written + &text[copied..]
}

/// The second of the fields without names.
enum FieldKind {
    /// The label with its colon.
    Label,
    /// A map.
    Map,
}

struct Found {
    kind: FieldKind,
    range: std::ops::Range<usize>,
}

/// An open bracket of any kind.
struct OpenBracket {
    bracket: u8,
    /// Index of the entry that is being read.
    entry: usize,
    /// True if its first entry has a name.
    is_named: bool,
}

/// Scans a text that may have syntax errors.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    open: Vec<OpenBracket>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, open: Vec::new() }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// Skips a string, a raw string, a character or a comment that begins here.
    fn skip_opaque(&mut self) -> bool {
        let rest = self.rest();
        let hashes = rest.iter().skip(1).take_while(|byte| **byte == b'#').count();
        let length = match rest {
            [b'"', ..] => string_length(rest),
            [b'r', ..] if rest.get(1 + hashes) == Some(&b'"') => {
                let end: Vec<u8> = [b'"'].into_iter().chain(std::iter::repeat_n(b'#', hashes)).collect();
                let body = &rest[hashes + 2..];
                body.windows(end.len()).position(|window| window == end).map_or(rest.len(), |found| hashes + 2 + found + end.len())
            }
            [b'\'', b'\\', _, b'\'', ..] => 4,
            [b'\'', _, b'\'', ..] => 3,
            [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => comment_length(rest),
            _ => return false,
        };
        self.at += length.min(rest.len());
        true
    }

    /// The identifier that begins here, and the offset after the colon if one follows.
    fn identifier(&self) -> Option<(&'a str, Option<usize>)> {
        let length = self.rest().iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        if length == 0 {
            return None;
        }
        let after = &self.rest()[length..];
        let blanks = after.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let colon = (after.get(blanks) == Some(&b':')).then_some(self.at + length + blanks + 1);
        Some((&self.text[self.at..self.at + length], colon))
    }
}

impl Iterator for Scan<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        while let Some(byte) = self.rest().first().copied() {
            if self.skip_opaque() {
                continue;
            }
            let start = self.at;
            if let Some((word, colon)) = self.identifier() {
                self.at = colon.unwrap_or(start + word.len());
                let Some(open) = self.open.last_mut().filter(|open| open.bracket == b'(') else { continue };
                open.is_named |= open.entry == 0 && colon.is_some();
                if let (Some(colon), 1, false, LABEL) = (colon, open.entry, open.is_named, word) {
                    return Some(Found { kind: FieldKind::Label, range: start..colon });
                }
                continue;
            }
            self.at += 1;
            let second = self.open.last().is_some_and(|open| open.bracket == b'(' && open.entry == 1 && !open.is_named);
            match byte {
                b'(' | b'[' | b'{' => self.open.push(OpenBracket { bracket: byte, entry: 0, is_named: false }),
                b')' | b']' | b'}' => drop(self.open.pop()),
                b',' => self.open.iter_mut().last().into_iter().for_each(|open| open.entry += 1),
                // Skips the remaining bytes of a character outside of ASCII.
                _ => self.at += (1..4).take_while(|more| !self.text.is_char_boundary((start + more).min(self.text.len()))).count(),
            }
            if byte == b'{' && second {
                return Some(Found { kind: FieldKind::Map, range: start..self.at });
            }
        }
        None
    }
}

/// Bytes of the string that `text` begins with.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Bytes of the block comment that `text` begins with; such comments nest.
fn comment_length(text: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < text.len() {
        let here = &text[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_is_removed_and_inserted() {
        for (written, read) in [
            ("Bytes(\"00\",at: {0:Alias(\"x\")})", "Bytes(\"00\",    {0:Alias(\"x\")})"),
            ("With(Fill(1),at: {0:Bytes(\"\",at: {})})", "With(Fill(1),    {0:Bytes(\"\",    {})})"),
            ("(name:\"a\",at:1)", "(name:\"a\",at:1)"),
            ("(at:1,len:2,bind:{})", "(at:1,len:2,bind:{})"),
            ("[x,at:{}]", "[x,at:{}]"),
            ("(\"(\\\"\",\"at: {\",'(')", "(\"(\\\"\",\"at: {\",'(')"),
            ("(r#\"\",at: {\"#, /* ( /* , */ */ at: {é})", "(r#\"\",at: {\"#, /* ( /* , */ */     {é})"),
        ] {
            assert_eq!(without_label(written), read, "{written}");
            assert_eq!(without_label(read), read, "{read}");
            let compact = |text: &str| text.replace(' ', "");
            if !written.contains("at:1") && !written.starts_with('[') {
                assert_eq!(compact(&with_label(&compact(read))), compact(written), "{read}");
            }
        }
    }

    #[test]
    fn a_text_that_ends_anywhere_is_scanned() {
        let whole = "Launch(/* a */ params: [Bytes(\"é\\\"\", at: {1: r##\"x\"##, 'a': ')'})] // é\n)";
        for end in (0..=whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            assert_eq!(without_label(&whole[..end]).len(), end);
            assert!(with_label(&whole[..end]).len() >= end);
        }
    }
}
