//! Spans of values in the text of a launch file.
//!
//! `ron` reports the position of its own errors, but not of a value that is found to be wrong later. Such a value is named by a
//! [`ValuePath`], the path to it through fields and items, and the text is scanned along that path only to show an error.
//! `ron` has parsed the text before, so the scanner needs to know only brackets, commas, strings and comments.

use crate::base::{SourceId, Sources, Span};

/// The path of a value: `launches`, then item 3, then `params`, …
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValuePath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(&'static str),
    Item(usize),
    /// An entry of a map.
    Key(String),
}

impl ValuePath {
    /// The field `name` of the value here.
    #[must_use]
    pub fn field(&self, name: &'static str) -> Self {
        self.step(Step::Field(name))
    }

    /// Item `index` of the list or tuple here.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        self.step(Step::Item(index))
    }

    /// The value of the entry `name` of the map here.
    #[must_use]
    pub fn key(&self, name: &str) -> Self {
        self.step(Step::Key(name.to_string()))
    }

    /// The parameter number `index` of the launch here.
    #[must_use]
    pub fn param(&self, index: usize) -> Self {
        self.field("params").item(index)
    }

    /// True if it is the path of expected contents or a tolerance.
    pub fn is_of_expectation(&self) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Field("expect" | "tolerance" | "expect_variables" | "variable_tolerances")))
    }

    /// True if the path is `outer` or inside it.
    pub fn is_within(&self, outer: &ValuePath) -> bool {
        self.0.starts_with(&outer.0)
    }

    fn step(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }
}

/// The span of the value at `place`, or of the innermost value on the path that the text has.
pub fn span(sources: &Sources, source: SourceId, place: &ValuePath) -> Span {
    let text = sources.file(source).text();
    let mut walk = Walk { bytes: text.as_bytes(), at: 0 };
    walk.skip_blank();
    let mut start = walk.at;
    for step in &place.0 {
        if !walk.enter(step) {
            break;
        }
        start = walk.at;
    }
    walk.at = start;
    walk.skip_value();
    let value = text.get(start..walk.at).unwrap_or("").trim_end();
    Span::new(source, start as u32, (start + value.len()) as u32)
}

/// The region and the field name of a value in a text that may have errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Start of its region: after the colon, comma or bracket before it.
    pub start: usize,
    /// End of its region: the comma or bracket after it.
    pub end: usize,
    /// The name of its field; empty for an item of a list.
    pub field: &'a str,
    /// Offset of the field's name; [`Self::start`] without one.
    pub named_at: usize,
    /// The name of the field of the enclosing value.
    pub within: &'a str,
}

/// Maximum nesting depth: no launch file is as deep.
const DEPTH_MAX: usize = 32;

/// The values of `text` that enclose byte `at`, or end there, the innermost first.
pub fn parts_around(text: &str, at: usize) -> Vec<Part<'_>> {
    let mut walk = Walk { bytes: text.as_bytes(), at: 0 };
    let mut parts = vec![Part { start: 0, end: text.len(), field: "", named_at: 0, within: "" }];
    walk.skip_blank();
    while parts.len() < DEPTH_MAX
        && let Some(part) = walk.part_around(text, at, parts.last().map_or("", |outer| outer.field))
    {
        walk.at = part.start;
        walk.skip_blank();
        parts.push(part);
    }
    parts.reverse();
    parts
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    /// The last element of the current value that encloses byte `at` or ends there.
    fn part_around<'t>(&mut self, text: &'t str, at: usize, within: &'t str) -> Option<Part<'t>> {
        let mut found = None;
        let mut start = self.open().then_some(self.at)?;
        while self.peek().is_some() && start <= at {
            self.skip_blank();
            let named_at = self.at;
            let field = text.get(named_at..named_at + self.field_name().len()).unwrap_or("");
            if !field.is_empty() {
                start = named_at + text.get(named_at..)?.find(':').map_or(0, |colon| colon + 1);
            }
            self.skip_value();
            let named_at = if field.is_empty() { start } else { named_at };
            if (named_at..=self.at).contains(&at) {
                found = Some(Part { start, end: self.at.min(text.len()), field, named_at, within });
            }
            if self.peek() != Some(b',') {
                break;
            }
            self.at += 1;
            start = self.at;
        }
        found
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn starts_with(&self, word: &[u8]) -> bool {
        self.bytes[self.at.min(self.bytes.len())..].starts_with(word)
    }

    /// Moves to the value that `step` selects; false if there is none.
    fn enter(&mut self, step: &Step) -> bool {
        if !self.open() {
            return false;
        }
        let mut index = 0;
        while !matches!(self.peek(), None | Some(b')' | b']' | b'}')) {
            let name = self.field_name();
            match step {
                Step::Field(wanted) if name == wanted.as_bytes() => return true,
                Step::Item(wanted) if index == *wanted => return true,
                Step::Key(wanted) if name == wanted.as_bytes() => return true,
                _ => {}
            }
            self.skip_value();
            if self.peek() == Some(b',') {
                self.at += 1;
            }
            self.skip_blank();
            index += 1;
        }
        false
    }

    /// Skips the name of a value and its opening bracket.
    fn open(&mut self) -> bool {
        self.skip_word();
        self.skip_blank();
        let opens = matches!(self.peek(), Some(b'(' | b'[' | b'{'));
        if opens {
            self.at += 1;
            self.skip_blank();
        }
        opens
    }

    /// Skips `name:` or `"name":` and returns the name; otherwise does not move.
    fn field_name(&mut self) -> &[u8] {
        let start = self.at;
        let quotes = usize::from(self.peek() == Some(b'"'));
        if quotes == 1 {
            self.skip_string();
            self.at += 1;
        } else {
            self.skip_word();
        }
        let end = self.at;
        self.skip_blank();
        if self.peek() == Some(b':') {
            self.at += 1;
            self.skip_blank();
            return self.bytes.get(start + quotes..end.saturating_sub(quotes)).unwrap_or(&[]);
        }
        self.at = start;
        &[]
    }

    fn skip_word(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'#') {
            self.at += 1;
        }
    }

    /// Skips one value, up to the comma or closing bracket after it.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b',' if depth == 0 => return,
                b')' | b']' | b'}' if depth == 0 => return,
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                b'"' => self.skip_string(),
                b'/' if self.starts_with(b"//") || self.starts_with(b"/*") => {
                    self.skip_blank();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Moves from an opening quote to the closing one; a raw string ends with the same number of `#` as it starts with.
    fn skip_string(&mut self) {
        let hashes = self.bytes[..self.at].iter().rev().take_while(|byte| **byte == b'#').count();
        let raw = self.bytes[..self.at - hashes].last() == Some(&b'r');
        self.at += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' if !raw => self.at += 1,
                b'"' if !raw || self.bytes[self.at + 1..].iter().take_while(|byte| **byte == b'#').count() >= hashes => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Skips white space and comments.
    fn skip_blank(&mut self) {
        loop {
            if self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
                self.at += 1;
            } else if self.starts_with(b"//") {
                while self.peek().is_some_and(|byte| byte != b'\n') {
                    self.at += 1;
                }
            } else if self.starts_with(b"/*") {
                self.skip_block_comment();
            } else {
                return;
            }
        }
    }

    /// Block comments nest in RON.
    fn skip_block_comment(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            if self.starts_with(b"/*") {
                depth += 1;
                self.at += 2;
            } else if self.starts_with(b"*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else {
                self.at += 1;
            }
        }
    }
}
