//! What the panes know of the program: the lines of its text that are shown, and the live registers of its functions.

use std::collections::BTreeMap;

use crate::base::{SourceFile, SourceId};
use crate::debug::is_debug_label;
use crate::debug::session::Session;
use crate::debug::view::{current_line, live_registers};
use crate::debug::{FuncId, LiveRegisters};

/// A cache of facts that never change.
#[derive(Default)]
pub struct ProgramFacts {
    live: BTreeMap<FuncId, LiveRegisters>,
    lines: BTreeMap<SourceId, ShownLines>,
}

/// The lines of a text that are shown; the others are folded away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownLines {
    /// All lines, from 1 to this one.
    All(u32),
    /// These, in ascending order.
    Some(Vec<u32>),
}

impl ProgramFacts {
    /// Finds the facts for the location of the focused lane, if they are not in the cache.
    pub fn find(&mut self, session: &Session) {
        let eval_context = session.eval_context();
        let (program, function) = (session.program(), eval_context.current_function());
        self.live.entry(function).or_insert_with(|| live_registers(program, function));
        let (file, _) = current_line(&eval_context);
        self.lines.entry(file).or_insert_with(|| ShownLines::of_ptx(program.sources_text.file(file)));
    }

    /// The live registers of a function.
    pub fn live(&self, function: FuncId) -> Option<&LiveRegisters> {
        self.live.get(&function)
    }

    /// The lines of a file of PTX that are shown.
    pub fn lines(&self, file: SourceId) -> Option<&ShownLines> {
        self.lines.get(&file)
    }
}

impl ShownLines {
    /// The lines of a PTX text that mean something to a reader: what debug data and compilers add beside the instructions is folded, and of
    /// several empty lines all but one.
    fn of_ptx(source: &SourceFile) -> Self {
        let (mut shown, mut is_after_empty) = (Vec::new(), false);
        for number in 1..=source.line_count() {
            let line = source.line(number).trim();
            if is_folded(line) || (is_after_empty && line.is_empty()) {
                continue;
            }
            is_after_empty = line.is_empty();
            shown.push(number);
        }
        if shown.len() == source.line_count() as usize { Self::All(source.line_count()) } else { Self::Some(shown) }
    }

    /// The number of lines.
    pub fn count(&self) -> usize {
        match self {
            Self::All(count) => *count as usize,
            Self::Some(lines) => lines.len(),
        }
    }

    /// The number of the line at an index.
    pub fn line(&self, index: usize) -> u32 {
        match self {
            Self::All(_) => u32::try_from(index).unwrap_or(u32::MAX - 1) + 1,
            Self::Some(lines) => lines.get(index).or(lines.last()).copied().unwrap_or(1),
        }
    }

    /// The index of a line, or of the next one that is shown.
    pub fn index(&self, line: u32) -> usize {
        match self {
            Self::All(_) => line.saturating_sub(1) as usize,
            Self::Some(lines) => lines.partition_point(|other| *other < line).min(lines.len().saturating_sub(1)),
        }
    }
}

/// True for a trimmed line of PTX that is folded.
fn is_folded(line: &str) -> bool {
    let is_comment = ["//DEBUG_VALUE", "// begin inline asm", "// end inline asm", "// demoted variable", "// %bb."]
        .iter()
        .any(|start| line.starts_with(start));
    is_comment || line.starts_with(".loc\t") || line.starts_with(".loc ") || line.strip_suffix(':').is_some_and(is_debug_label)
}

#[cfg(test)]
mod tests {
    use super::ShownLines;
    use crate::base::SourceFile;

    #[test]
    fn what_compilers_add_is_folded() {
        let asm = "// begin inline asm\n\tadd; // x\n// end inline asm\n";
        let text = format!("mov;\n\t.loc 1 2 3\n\n$L__tmp3:\n\n{asm}\t//DEBUG_VALUE: f:x <- $r1\n$L__BB0_1:\nret;");
        let lines = ShownLines::of_ptx(&SourceFile::new("k.ptx", text));
        assert_eq!(lines, ShownLines::Some(vec![1, 3, 7, 10, 11]));
        assert_eq!([1, 2, 4, 7, 8, 11, 40].map(|line| lines.index(line)), [0, 1, 2, 2, 3, 4, 4]);
        assert_eq!([lines.line(1), lines.line(4), lines.line(9)], [3, 11, 11]);
        assert_eq!(ShownLines::of_ptx(&SourceFile::new("k.ptx", "a;\n\nb;")), ShownLines::All(3));
    }
}
