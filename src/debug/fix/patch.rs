//! Applies changes to a PTX text, and maps the instructions of the new program to those of the original.
//!
//! A change moves no other text, so an instruction of the new program is that of the original whose statement begins at the same byte, not
//! counting inserted bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::statement::{Modifiers, rewritten};
use crate::base::{SourceId, Sources, Span};
use crate::check::Position;
use crate::program::map::Maps;
use crate::program::{Pc, Program};
use crate::sema;

/// A change of a statement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TextChange {
    /// Statements are inserted.
    Insert(Position, String),
    /// The modifiers of the opcode are replaced.
    Modify(Pc, Modifiers),
    /// The operand of this number is replaced.
    Operand(Pc, usize, String),
    /// The statement is replaced by others; by none if the text is empty.
    Replace(Pc, String),
}

/// A replacement of bytes of the original text.
struct TextEdit {
    source: SourceId,
    range: Range<u32>,
    text: String,
    /// The instruction that the new text replaces.
    replaces: Option<Pc>,
}

/// The text of a module with changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedModule {
    /// The last component of the name of its file.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A program with changes.
pub(super) struct Patched {
    /// The program.
    pub program: Arc<Program>,
    /// The texts of its modules that differ.
    pub texts: Vec<ChangedModule>,
    /// For each of its instructions, that of the original.
    original: Vec<Option<Pc>>,
}

impl Patched {
    /// `program` with the `changes`; an error if they exclude each other or are not valid for its target.
    pub fn new(program: &Arc<Program>, changes: &[TextChange]) -> Result<Self, String> {
        let edits = edits(program, changes)?;
        let file = |source: SourceId| program.sources_text.file(source);
        let named = |source: &SourceId| Ok((file(*source).name().to_string(), applied(*source, file(*source).text(), &edits)?));
        let all = program.modules.iter().map(named).collect::<Result<Vec<_>, String>>()?;
        let differs = |(source, (_, text)): (&SourceId, &(String, String))| {
            let changed = || ChangedModule { name: file(*source).short_name().to_string(), text: text.clone() };
            (text != file(*source).text()).then(changed)
        };
        let texts = program.modules.iter().zip(&all).filter_map(differs).collect();
        let (changed, diagnostics) = sema::load_linked(&mut Sources::default(), all, &Maps::of(program.map));
        let wrong = || diagnostics.iter().find(|diagnostic| diagnostic.is_error()).map_or_else(String::new, |found| found.message.clone());
        let changed = changed.ok_or_else(|| format!("not valid here: {}", wrong()))?;
        let original = originals(program, &changed, &edits);
        Ok(Self { program: changed, texts, original })
    }

    /// The instruction of the original that the one at `pc` is, or replaces; none for an inserted one.
    pub fn original(&self, pc: Pc) -> Option<Pc> {
        self.original.get(pc.index()).copied().flatten()
    }
}

/// The text edits of all changes, in text order.
fn edits(program: &Program, changes: &[TextChange]) -> Result<Vec<TextEdit>, String> {
    let distinct: BTreeSet<&TextChange> = changes.iter().collect();
    let mut modified: BTreeMap<Pc, Modifiers> = BTreeMap::new();
    let mut edits = Vec::new();
    for change in changes.iter().filter(|change| !matches!(change, TextChange::Modify(..))) {
        if distinct.contains(change) && edits.iter().all(|(known, _): &(&TextChange, TextEdit)| known != &change) {
            edits.push((change, edit(program, change)?));
        }
    }
    let mut edits: Vec<TextEdit> = edits.into_iter().map(|(_, edit)| edit).collect();
    for change in changes {
        if let TextChange::Modify(pc, modifiers) = change {
            let known = modified.entry(*pc).or_default();
            *known = known.with(*modifiers).ok_or("two changes exclude each other")?;
        }
    }
    for (pc, modifiers) in modified {
        let statement = program.statement(pc).ok_or("no statement")?;
        let opcode = program.opcode(pc).ok_or("no statement")?;
        let text = rewritten(&opcode.text, modifiers, program).ok_or_else(|| format!("'{}' takes no such modifier", opcode.text))?;
        let range = statement.opcode_span.start..statement.opcode_span.end;
        edits.push(TextEdit { source: statement.opcode_span.source, range, text, replaces: Some(pc) });
    }
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    Ok(edits)
}

fn edit(program: &Program, change: &TextChange) -> Result<TextEdit, String> {
    let span = |pc: &Pc| program.spans.get(pc.index()).filter(|_| program.statement(*pc).is_some()).ok_or("no statement");
    Ok(match change {
        TextChange::Insert(Position::Before(pc), text) => {
            let &Span { source, start: at, .. } = span(pc)?;
            TextEdit { source, range: at..at, text: format!("{text}\n\t"), replaces: None }
        }
        TextChange::Insert(Position::After(pc), text) => {
            let &Span { source, end: at, .. } = span(pc)?;
            TextEdit { source, range: at..at, text: format!("\n\t{text}"), replaces: None }
        }
        TextChange::Operand(pc, number, text) => {
            let operand = program.operands(*pc).get(*number).ok_or("no such operand")?;
            TextEdit { source: operand.source, range: operand.start..operand.end, text: text.clone(), replaces: None }
        }
        TextChange::Replace(pc, text) => {
            let span = span(pc)?;
            TextEdit { source: span.source, range: span.start..span.end, text: text.clone(), replaces: Some(*pc) }
        }
        TextChange::Modify(..) => return Err("a modifier is no edit of its own".into()),
    })
}

/// The text of the file `source` with its edits.
fn applied(source: SourceId, text: &str, edits: &[TextEdit]) -> Result<String, String> {
    let mut changed = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for edit in edits.iter().filter(|edit| edit.source == source) {
        let unchanged = text.get(at as usize..edit.range.start as usize).filter(|_| edit.range.start >= at);
        changed += unchanged.ok_or("two changes exclude each other")?;
        changed += &edit.text;
        at = edit.range.end;
    }
    changed += text.get(at as usize..).ok_or("a change lies outside of the text")?;
    Ok(changed)
}

/// For each instruction of `changed`, the corresponding one of `program`.
fn originals(program: &Program, changed: &Program, edits: &[TextEdit]) -> Vec<Option<Pc>> {
    let all = program.spans.iter().enumerate().rev();
    let starts: BTreeMap<(SourceId, u32), Pc> = all.map(|(pc, span)| ((span.source, span.start), Pc(pc as u32))).collect();
    let original = |source: SourceId, start: u32| {
        let (mut old, mut new) = (0, 0);
        for edit in edits.iter().filter(|edit| edit.source == source) {
            let begins = new + (edit.range.start - old);
            if start < begins {
                break;
            }
            let ends = begins + edit.text.len() as u32;
            if start < ends {
                return edit.replaces;
            }
            (old, new) = (edit.range.end, ends);
        }
        starts.get(&(source, start - new + old)).copied()
    };
    let modules: BTreeMap<SourceId, SourceId> = changed.modules.iter().copied().zip(program.modules.iter().copied()).collect();
    changed.spans.iter().map(|span| modules.get(&span.source).and_then(|source| original(*source, span.start))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %d;
	.reg .b32 %r;
	.reg .pred %p;
	ld.param.u64 %d, [p];
	@%p ld.global.u32 %r, [%d]; // read
L:	st.global.u32 [%d], %r;
	ret;
}
";

    fn program() -> Option<Arc<Program>> {
        sema::load(&mut Sources::default(), "k.ptx", TEXT).0
    }

    fn patched(changes: &[TextChange]) -> Option<Result<Patched, String>> {
        Some(Patched::new(&program()?, changes))
    }

    #[test]
    fn a_statement_is_inserted_without_the_guard_and_after_the_label() {
        let barrier = || "bar.sync 0;".to_string();
        let changes = [TextChange::Insert(Position::Before(Pc(1)), barrier()), TextChange::Insert(Position::Before(Pc(2)), barrier())];
        let Some(Ok(made)) = patched(&changes) else { panic!("it can be made") };
        assert!(made.texts[0].text.contains("\tbar.sync 0;\n\t@%p ld.global.u32 %r, [%d]; // read"), "{}", made.texts[0].text);
        assert!(made.texts[0].text.contains("L:\tbar.sync 0;\n\tst.global.u32"), "{}", made.texts[0].text);
        let original: Vec<Option<u32>> = (0..6).map(|pc| made.original(Pc(pc)).map(|pc| pc.0)).collect();
        assert_eq!(original, [Some(0), None, Some(1), None, Some(2), Some(3)]);
    }

    #[test]
    fn a_statement_goes_after_the_semicolon() {
        let Some(Ok(made)) = patched(&[TextChange::Insert(Position::After(Pc(1)), "bar.sync 0;".into())]) else { panic!("it can be made") };
        assert!(made.texts[0].text.contains("[%d];\n\tbar.sync 0; // read"), "{}", made.texts[0].text);
    }

    #[test]
    fn another_opcode_keeps_its_guard_and_its_place() {
        let Some(Ok(made)) = patched(&[TextChange::Modify(Pc(1), Modifiers::semantics(crate::isa::Ordering::Relaxed))]) else {
            panic!("it can be made")
        };
        assert!(made.texts[0].text.contains("@%p ld.relaxed.gpu.global.u32 %r"), "{}", made.texts[0].text);
        assert_eq!(made.original(Pc(1)), Some(Pc(1)));
    }

    #[test]
    fn changes_that_exclude_each_other_are_refused() {
        let replace = |text: &str| TextChange::Replace(Pc(1), text.into());
        assert!(patched(&[replace("ret;"), replace("exit;")]).is_some_and(|made| made.is_err()));
        assert!(patched(&[TextChange::Insert(Position::Before(Pc(1)), "nonsense;".into())]).is_some_and(|made| made.is_err()));
        assert!(patched(&[TextChange::Insert(Position::Before(Pc(4)), "bar.sync 0;".into())]).is_some_and(|made| made.is_err()));
    }
}
