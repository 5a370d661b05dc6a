//! Modules of one file that need each other, as those of `nvcc -rdc=true` do: linked as the program of the host is.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::OpenError;
use super::modules::{ListedModule, Part, Reading, visit_file};
use crate::base::counted;
use crate::container::{self, Outline};
use crate::launch::{Basis, Reason};
use crate::program::shown_name;

/// Modules in a message at most.
const NAMED: usize = 6;

/// A module with those that it is linked with.
pub(super) struct Linked {
    /// Their texts, each with the path that means it: the module's own first.
    pub(super) texts: Vec<(String, String)>,
    /// What is worth saying of the choice.
    pub(super) reasons: Vec<Reason>,
}

/// A module that others may need.
struct Candidate {
    path: PathBuf,
    name: String,
    outline: Outline,
}

/// `module`, whose text is `text`, with the modules of the same file and target that define what it declares.
///
/// # Errors
/// The file cannot be read any more.
pub(super) fn with(text: String, module: &ListedModule, reading: Reading<'_>) -> Result<Linked, OpenError> {
    let own = (module.path.display().to_string(), text);
    let mut linked = Linked { texts: vec![own], reasons: Vec::new() };
    let file = container::file_of(&module.path);
    if module.outline.needs.is_empty() || file == module.path {
        return Ok(linked);
    }
    let mut candidates = Vec::new();
    visit_file(file, Reading { arch: None, ..reading }, |Part { module: other, .. }| {
        if other.path != module.path && other.outline.target == module.outline.target && !other.outline.defines.is_empty() {
            candidates.push(Candidate { path: other.path, name: other.name, outline: other.outline });
        }
    })?;
    let mut choice = Choice { candidates: &candidates, taken: Vec::new(), seen: BTreeSet::new(), reasons: Vec::new() };
    choice.need(&module.outline);
    for index in &choice.taken {
        let path = &candidates[*index].path;
        visit_file(path, reading, |part| linked.texts.push((path.display().to_string(), part.text)))?;
    }
    linked.reasons = choice.reasons;
    if !choice.taken.is_empty() {
        let names: Vec<&str> = choice.taken.iter().take(NAMED).map(|index| candidates[*index].name.as_str()).collect();
        let more = choice.taken.len() - names.len();
        let more = if more > 0 { format!(" and {}", counted(more as u64, "other")) } else { String::new() };
        let why = format!("{}{more}, which {} what it calls", names.join(", "), if choice.taken.len() == 1 { "defines" } else { "define" });
        linked.reasons.insert(0, reason("linked with", why));
    }
    Ok(linked)
}

fn reason(what: &str, why: String) -> Reason {
    Reason { what: what.to_string(), why, param: None, basis: Basis::Derived }
}

/// Which modules are taken.
struct Choice<'a> {
    candidates: &'a [Candidate],
    /// Those that are, in order.
    taken: Vec<usize>,
    /// The names that were looked for.
    seen: BTreeSet<String>,
    reasons: Vec<Reason>,
}

impl Choice<'_> {
    /// Takes what defines the names that `outline` needs, and what they need in turn.
    fn need(&mut self, outline: &Outline) {
        let mut left: Vec<String> = outline.needs.clone();
        while let Some(name) = left.pop() {
            if !self.seen.insert(name.clone()) {
                continue;
            }
            let taken = self.taken.len();
            self.take(&name);
            let more = self.taken[taken..].iter().flat_map(|index| self.candidates[*index].outline.needs.clone());
            left.extend(more.collect::<Vec<_>>());
        }
    }

    /// Takes the module that defines `name`; of weak definitions, which are all the same, the first.
    fn take(&mut self, name: &str) {
        let defines = |is_weak: bool| {
            let has = move |candidate: &Candidate| {
                candidate.outline.defines.iter().any(|symbol| symbol.name == name && symbol.is_weak == is_weak)
            };
            self.candidates.iter().enumerate().filter(move |(_, candidate)| has(candidate)).map(|(index, _)| index).collect::<Vec<_>>()
        };
        let (strong, weak) = (defines(false), defines(true));
        if strong.iter().chain(&weak).any(|index| self.taken.contains(index)) {
            return;
        }
        match (strong.as_slice(), weak.as_slice()) {
            ([only], _) | ([], [only, ..]) => self.taken.push(*only),
            ([], []) => {}
            (several, _) => {
                let names: Vec<&str> = several.iter().take(NAMED).map(|index| self.candidates[*index].name.as_str()).collect();
                let help = "a launch file says with 'modules' which are linked";
                let why = format!("'{}' is in {}: {}; {help}", shown_name(name), counted(several.len() as u64, "module"), names.join(", "));
                self.reasons.push(reason("not linked", why));
            }
        }
    }
}
