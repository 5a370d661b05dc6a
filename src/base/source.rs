//! Source files, and positions in them.

use std::borrow::Cow;
use std::sync::Arc;

use super::define_id;

define_id!(
    /// A file of a [`Sources`] collection.
    SourceId, "src"
);

/// A half-open range of bytes of one source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub source: SourceId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of `source`.
    pub fn new(source: SourceId, start: u32, end: u32) -> Self {
        Self { source, start, end }
    }

    /// The smallest span that covers `self` and `other`, which must be of the same file.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        debug_assert_eq!(self.source, other.source);
        Self { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A line and column, as in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// One text file: its name as the user gave it, and its text.
#[derive(Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    /// Offset of the first byte of every line.
    lines: Vec<u32>,
}

impl SourceFile {
    /// A file with its line table. `name` is shown to the user as it is.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut lines = vec![0];
        for (next, byte) in (1..).zip(text.as_bytes()) {
            if *byte == b'\n' {
                lines.push(next);
            }
        }
        Self { name: name.into(), text, lines }
    }

    /// The name as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The last component of the name: `kernel.ptx` of `dir/kernel.ptx`.
    pub fn short_name(&self) -> &str {
        file_name(&self.name)
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of lines; a text that ends with a newline has an empty last line.
    pub fn line_count(&self) -> u32 {
        self.lines.len() as u32
    }

    /// The text of `line` (from 1) without its newline; empty past the end.
    pub fn line(&self, line: u32) -> &str {
        let Some(start) = line.checked_sub(1).and_then(|index| self.lines.get(index as usize)) else { return "" };
        let rest = &self.text[*start as usize..];
        rest.split('\n').next().unwrap_or(rest).trim_end_matches('\r')
    }

    /// The line, from 1, of the byte at `offset`.
    pub fn line_of(&self, offset: u32) -> u32 {
        self.lines.partition_point(|start| *start <= offset) as u32
    }

    /// Line and column of the byte at `offset`.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line_of(offset);
        let start = self.lines[line as usize - 1] as usize;
        let end = (offset as usize).min(self.text.len()).max(start);
        let column = String::from_utf8_lossy(&self.text.as_bytes()[start..end]).chars().count() as u32 + 1;
        Position { line, column }
    }

    /// Offset of the character at `line` and `column`, both from 1; the end of the line, or of the text, if there is none.
    pub fn offset(&self, line: u32, column: u32) -> u32 {
        let Some(start) = line.checked_sub(1).and_then(|index| self.lines.get(index as usize)) else { return self.text.len() as u32 };
        let text = self.line(line);
        let before = text.char_indices().nth((column as usize).saturating_sub(1)).map_or(text.len(), |(at, _)| at);
        start + before as u32
    }
}

/// All files of one session; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Arc<SourceFile>>,
}

impl Sources {
    /// Adds a file and returns its id.
    pub fn add(&mut self, file: SourceFile) -> SourceId {
        self.files.push(Arc::new(file));
        SourceId::new(self.files.len() - 1)
    }

    /// The file `id` of this collection.
    pub fn file(&self, id: SourceId) -> &Arc<SourceFile> {
        &self.files[id.index()]
    }

    /// The text that `span` covers.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.source).text().get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column of the first byte of `span`.
    pub fn position(&self, span: Span) -> Position {
        self.file(span.source).position(span.start)
    }
}

/// The text with its comments replaced by blanks (PTX ISA, "Comments"). It must have no strings.
pub fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains('/') {
        return Cow::Borrowed(text);
    }
    let (mut blanked, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find('/') {
        let comment = &rest[start..];
        let length = if comment.starts_with("//") { comment.find('\n') } else { comment.find("*/").map(|end| end + 2) };
        let end = start + length.unwrap_or(comment.len());
        blanked.push_str(&rest[..start]);
        blanked.extend(std::iter::repeat_n(' ', end - start));
        rest = &rest[end..];
    }
    blanked.push_str(rest);
    Cow::Owned(blanked)
}

/// The last component of a path of any system: `kernel.cu` of `dir/kernel.cu`.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
