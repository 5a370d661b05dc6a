//! Text that remembers where each of its bytes came from.

use std::ops::Range;

use crate::base::{SourceId, Span};

/// Text made from parts of a source: escapes resolved, operands put in.
#[derive(Clone, Debug)]
pub struct Text {
    text: String,
    /// Bytes of the source that each byte was made from.
    origins: Vec<Range<u32>>,
    /// The whole of what it was made from.
    whole: Span,
}

impl Text {
    /// Nothing yet, made from the beginning of `source`.
    pub fn new(source: SourceId, at: u32) -> Self {
        Self { text: String::new(), origins: Vec::new(), whole: Span::new(source, at, at) }
    }

    /// Appends `text`, which was made from the bytes `origin` as a whole.
    pub fn push(&mut self, text: &str, origin: Range<u32>) {
        self.text.push_str(text);
        self.origins.resize(self.text.len(), origin.clone());
        self.whole.end = self.whole.end.max(origin.end);
    }

    /// What it was made from goes on to here, after the quotes.
    pub fn close(&mut self, at: u32) {
        self.whole.end = self.whole.end.max(at);
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What all of it was made from.
    pub fn whole(&self) -> Span {
        self.whole
    }

    /// What the bytes `range` were made from; after the end, the last byte.
    pub fn origin(&self, range: Range<usize>) -> Range<u32> {
        let last = self.origins.len().saturating_sub(1);
        let at = |index: usize| self.origins.get(index.min(last)).cloned().unwrap_or(self.whole.start..self.whole.end);
        at(range.start).start..at(range.end.max(range.start + 1) - 1).end
    }

    /// What the bytes `range` were made from, as a place.
    pub fn span(&self, range: Range<usize>) -> Span {
        let origin = self.origin(range);
        Span::new(self.whole.source, origin.start, origin.end)
    }
}
