//! Functions that compilers put in the place of their calls, as `.loc` and the comments of Triton say.
//!
//! ```text
//! .loc 1 8 5, function_name $L__info_string0, inlined_at 1 22 5    the label stands before the name, in a section of strings
//! .loc 2 170 27      // standard.py:170:27 @[ standard.py:191:40 @[ k.py:13:22 ] ]
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::base::{Diagnostic, IdVec, SourceFile, SourceId, Sources, Span, file_name};
use crate::program::{FuncId, InlinedCall, InlinedFunctionId, Program, SourceLine};
use crate::syntax::tree::{Item, Module, Name};

/// Most nested inlined calls that are recorded for an instruction.
pub(super) const CALLS_MAX: usize = 16;

/// Most bytes of the name of a function.
const NAME_MAX: usize = 1 << 16;

/// Before the place of a call in a comment.
const CALLED_AT: &str = "@[ ";

/// The inlined functions of a module.
#[derive(Default)]
pub(super) struct Inlined<'a> {
    /// Their labels, and where the name starts after the label.
    labels: IdVec<InlinedFunctionId, (Name<'a>, u32)>,
    by_label: HashMap<(&'a str, u32), InlinedFunctionId>,
    /// The first `.loc` of each label in each function.
    named_in: BTreeMap<(FuncId, InlinedFunctionId), Name<'a>>,
    /// The texts with comments that name calls.
    commented: BTreeMap<SourceId, Arc<SourceFile>>,
    /// The numbers of files by the last component of their names.
    files: HashMap<&'a str, u32>,
}

impl<'a> Inlined<'a> {
    /// Notes which texts have comments that name calls, and the files that these may mean.
    pub(super) fn read_comments(&mut self, ids: &[SourceId], sources: &Sources, module: &Module<'a>) {
        let is_commented = |id: &&SourceId| super::inline_asm::code(module, sources, **id).contains(CALLED_AT);
        self.commented = ids.iter().filter(is_commented).map(|id| (*id, Arc::clone(sources.file(*id)))).collect();
        if self.commented.is_empty() {
            return;
        }
        for item in &module.items {
            if let Item::File { index, name, .. } = item {
                self.files.entry(file_name(name)).or_insert(*index);
            }
        }
    }
}

impl<'a> Inlined<'a> {
    /// The function whose name `label` marks, which a `.loc` of function `within` says is inlined.
    pub(super) fn function(&mut self, within: FuncId, label: Name<'a>, offset: u32) -> InlinedFunctionId {
        let Inlined { labels, by_label, named_in, .. } = self;
        let id = *by_label.entry((label.text, offset)).or_insert_with(|| labels.push((label, offset)));
        named_in.entry((within, id)).or_insert(label);
        id
    }

    /// The inlined calls in the comment after the `.loc` at `span`, innermost first.
    pub(super) fn calls_in_comment(&self, span: Span) -> Vec<InlinedCall> {
        let Some(file) = self.commented.get(&span.source) else { return Vec::new() };
        let rest = file.text().get(span.end as usize..).unwrap_or("");
        let comment = rest.split('\n').next().unwrap_or(rest);
        let sites = comment.split(CALLED_AT).skip(1).take(CALLS_MAX).map_while(|site| {
            let mut parts = site.split([' ', ']']).next()?.rsplitn(3, ':');
            let (column, line, name) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
            Some(SourceLine { file: *self.files.get(name)?, line, column })
        });
        sites.map(|at| InlinedCall { function: None, at }).collect()
    }

    /// The names of the functions, each after its label in a section of strings; `sections` has the labels.
    pub(super) fn names(&self, sections: &HashMap<&'a str, Span>, sources: &Sources) -> Vec<Option<Arc<str>>> {
        let name = |(label, offset): &(Name<'a>, u32)| {
            let span = sections.get(label.text);
            let after = span.and_then(|span| sources.file(span.source).text().get(span.end as usize..));
            after.and_then(|text| string(text, *offset as usize))
        };
        self.labels.entries().map(|(_, label)| name(label)).collect()
    }

    /// The errors of labels that no section has, in kernels and called functions: for others no code is generated.
    pub(super) fn unknown_labels(&self, sections: &HashMap<&'a str, Span>, program: &Program) -> Vec<Diagnostic> {
        let called: BTreeSet<FuncId> = program.calls.iter().filter_map(|site| site.target.direct()).collect();
        let has_code = |id: &FuncId| program.functions[id.index()].is_kernel || called.contains(id);
        let unknown = self.named_in.iter().filter(|((within, _), label)| has_code(within) && !sections.contains_key(label.text));
        let error = |label: &Name<'a>| {
            let error = Diagnostic::error("name", label.span, format!("unknown label '{}' after 'function_name'", label.text));
            error.with_help("it is a label in a '.section' of strings, such as '.debug_str'")
        };
        unknown.map(|(_, label)| error(label)).collect()
    }
}

/// The string that starts `offset` bytes after a label; `text` follows the label: `: .b8 95,90 .b8 0`. None if other values than bytes
/// stand there.
fn string(text: &str, offset: usize) -> Option<Arc<str>> {
    let words = text.trim_start().trim_start_matches(':').split(|c: char| c.is_ascii_whitespace() || c == ',');
    let values = words.filter(|word| !word.is_empty() && *word != ".b8").map(|word| word.parse::<u8>().ok());
    let bytes: Vec<u8> = values.skip(offset).take_while(|byte| *byte != Some(0)).take(NAME_MAX).collect::<Option<_>>()?;
    let name = String::from_utf8(bytes).ok()?;
    (!name.is_empty()).then(|| name.into())
}

#[cfg(test)]
mod tests {
    use super::string;

    #[test]
    fn names_after_labels() {
        let text = ":\n.b8 95,90,51\n.b8 102, 0\n$L__other:\n.b8 1\n";
        assert_eq!(string(text, 0).as_deref(), Some("_Z3f"));
        assert_eq!(string(text, 2).as_deref(), Some("3f"));
        assert_eq!(string(text, 4), None);
        assert_eq!(string(":\n.b8 95\n.b32 3\n.b8 0", 0), None);
    }
}
