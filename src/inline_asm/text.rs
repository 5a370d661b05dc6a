//! Text that maps each of its bytes to its origin in a source.

use std::ops::Range;

use crate::base::{SourceId, Span};

/// Text derived from a source: escapes resolved, operands expanded.
#[derive(Clone, Debug)]
pub struct Text {
    text: String,
    /// For each byte, the range of the source from which it was derived.
    origins: Vec<Range<u32>>,
    /// The span of the source from which all of it was derived.
    whole: Span,
}

impl Text {
    /// An empty text at offset `at` of `source`.
    pub fn new(source: SourceId, at: u32) -> Self {
        Self { text: String::new(), origins: Vec::new(), whole: Span::new(source, at, at) }
    }

    /// Appends `text`, which was derived from the bytes `origin`.
    pub fn push(&mut self, text: &str, origin: Range<u32>) {
        self.text.push_str(text);
        self.origins.resize(self.text.len(), origin.clone());
        self.whole.end = self.whole.end.max(origin.end);
    }

    /// Extends the span of the source to `at`, after the closing quotes.
    pub fn extend_to(&mut self, at: u32) {
        self.whole.end = self.whole.end.max(at);
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The span of the source from which all of it was derived.
    pub fn whole(&self) -> Span {
        self.whole
    }

    /// The source range of the bytes `range`; after the end, that of the last byte.
    pub fn origin(&self, range: Range<usize>) -> Range<u32> {
        let last = self.origins.len().saturating_sub(1);
        let at = |index: usize| self.origins.get(index.min(last)).cloned().unwrap_or(self.whole.start..self.whole.end);
        at(range.start).start..at(range.end.max(range.start + 1) - 1).end
    }

    /// The source span of the bytes `range`.
    pub fn span(&self, range: Range<usize>) -> Span {
        let origin = self.origin(range);
        Span::new(self.whole.source, origin.start, origin.end)
    }
}
