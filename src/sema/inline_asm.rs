//! Inline assembly: the text of `asm` statements, which compilers write between two comments, each on a separate line.
//!
//! ```text
//! // begin inline asm
//! add.s32 %r1, %r2, %r3;
//! // end inline asm
//! ```

use super::header;
use crate::base::{SourceId, Sources, Span};
use crate::syntax::tree::{Item, Module};

const BEGIN: &str = "// begin inline asm";
const END: &str = "// end inline asm";

/// The text of a file without the debug data at its end, which is longer than the code and has no comments of it.
pub(super) fn code<'s>(module: &Module<'_>, sources: &'s Sources, file: SourceId) -> &'s str {
    let is_section = |item: &&Item<'_>| matches!(item, Item::Section { .. });
    let start = |item: &Item<'_>| Some(header::span_of(item)).filter(|span| span.source == file).map(|span| span.start);
    let last = module.items.iter().filter(|item| !is_section(item)).filter_map(start).max();
    let data = module.items.iter().filter(is_section).filter_map(start).filter(|start| Some(*start) > last).min();
    let text = sources.file(file).text();
    data.and_then(|start| text.get(..start as usize)).unwrap_or(text)
}

/// The lines between every pair of these comments in `text`, the text of `file`. A comment without its counterpart is ignored.
pub(super) fn regions(file: SourceId, text: &str) -> Vec<Span> {
    let (mut regions, mut at) = (Vec::new(), 0);
    while let Some((_, start)) = marker(text, BEGIN, at) {
        let Some((end, next)) = marker(text, END, start) else { break };
        regions.push(Span::new(file, start as u32, end as u32));
        at = next;
    }
    regions
}

/// The start of the line of the next `comment` from `at` on, and of the line after it.
fn marker(text: &str, comment: &str, mut at: usize) -> Option<(usize, usize)> {
    loop {
        let found = at + text.get(at..)?.find(comment)?;
        let start = text.get(..found)?.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text.get(start..)?.split_inclusive('\n').next()?;
        at = start + line.len();
        if line.trim() == comment {
            return Some((start, at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        regions(SourceId(0), text).into_iter().map(|span| &text[span.start as usize..span.end as usize]).collect()
    }

    #[test]
    fn regions_are_what_stands_between_the_comments() {
        let text = "a;\n\t// begin inline asm\n\tb;\n\tc;\n\t// end inline asm\r\nd;\n// begin inline asm\n// end inline asm\n";
        assert_eq!(found(text), ["\tb;\n\tc;\n", ""]);
    }

    #[test]
    fn comments_that_mark_nothing_are_passed_over() {
        assert!(found("// begin inline asm\na;\n").is_empty(), "no end");
        assert!(found("a; // begin inline asm\nb;\n// end inline asm\n").is_empty(), "a comment after code");
        assert_eq!(found("// begin inline asm here\n// begin inline asm\na;\n// end inline asm"), ["a;\n"]);
    }
}
