//! Links a module with the modules of the same file that define what it declares, as for `nvcc -rdc=true`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::OpenError;
use super::modules::{ListedModule, ModuleText, Reading, visit_file};
use crate::base::counted;
use crate::container::{self, Outline};
use crate::launch::{Basis, Reason};
use crate::program::shown_name;

/// Most modules that a message names.
const NAMED_MAX: usize = 6;

/// A module with the modules that it is linked with.
pub(super) struct Linked {
    /// Their texts, each with its path; the module itself comes first.
    pub(super) texts: Vec<(String, String)>,
    /// The reasons for the choice, for the user.
    pub(super) reasons: Vec<Reason>,
}

/// A module that others may depend on.
struct Candidate {
    path: PathBuf,
    name: String,
    outline: Outline,
}

/// `module`, whose text is `text`, with the modules of the same file and target that define what it declares.
///
/// # Errors
/// The file cannot be read any more.
pub(super) fn with_dependencies(text: String, module: &ListedModule, reading: Reading<'_>) -> Result<Linked, OpenError> {
    let root = (module.path.display().to_string(), text);
    let mut linked = Linked { texts: vec![root], reasons: Vec::new() };
    let file = container::file_of(&module.path);
    if module.outline.needs.is_empty() || file == module.path {
        return Ok(linked);
    }
    let mut candidates = Vec::new();
    visit_file(file, Reading { arch: None, ..reading }, |ModuleText { module: other, .. }| {
        if other.path != module.path && other.outline.target == module.outline.target && !other.outline.defines.is_empty() {
            candidates.push(Candidate { path: other.path, name: other.name, outline: other.outline });
        }
    })?;
    let mut choice = Choice { candidates: &candidates, chosen: Vec::new(), looked_up: BTreeSet::new(), reasons: Vec::new() };
    choice.choose_all(&module.outline);
    for index in &choice.chosen {
        let path = &candidates[*index].path;
        visit_file(path, reading, |part| linked.texts.push((path.display().to_string(), part.text)))?;
    }
    linked.reasons = choice.reasons;
    if !choice.chosen.is_empty() {
        let names: Vec<&str> = choice.chosen.iter().take(NAMED_MAX).map(|index| candidates[*index].name.as_str()).collect();
        let more = choice.chosen.len() - names.len();
        let more = if more > 0 { format!(" and {}", counted(more as u64, "other")) } else { String::new() };
        let why =
            format!("{}{more}, which {} what it calls", names.join(", "), if choice.chosen.len() == 1 { "defines" } else { "define" });
        linked.reasons.insert(0, reason("linked with", why));
    }
    Ok(linked)
}

fn reason(what: &str, why: String) -> Reason {
    Reason { what: what.to_string(), why, param: None, basis: Basis::Derived }
}

/// The modules chosen so far to define the needed symbols.
struct Choice<'a> {
    candidates: &'a [Candidate],
    /// Indices of the chosen candidates, in order.
    chosen: Vec<usize>,
    /// The names that were looked up.
    looked_up: BTreeSet<String>,
    reasons: Vec<Reason>,
}

impl Choice<'_> {
    /// Chooses the modules that define what `outline` needs, transitively.
    fn choose_all(&mut self, outline: &Outline) {
        let mut worklist: Vec<String> = outline.needs.clone();
        while let Some(name) = worklist.pop() {
            if !self.looked_up.insert(name.clone()) {
                continue;
            }
            let before = self.chosen.len();
            self.choose(&name);
            let more = self.chosen[before..].iter().flat_map(|index| self.candidates[*index].outline.needs.clone());
            worklist.extend(more.collect::<Vec<_>>());
        }
    }

    /// Chooses the module that defines `name`; of several weak definitions, which are all equal, the first.
    fn choose(&mut self, name: &str) {
        let defines = |is_weak: bool| {
            let has = move |candidate: &Candidate| {
                candidate.outline.defines.iter().any(|symbol| symbol.name == name && symbol.is_weak == is_weak)
            };
            self.candidates.iter().enumerate().filter(move |(_, candidate)| has(candidate)).map(|(index, _)| index).collect::<Vec<_>>()
        };
        let (strong, weak) = (defines(false), defines(true));
        if strong.iter().chain(&weak).any(|index| self.chosen.contains(index)) {
            return;
        }
        match (strong.as_slice(), weak.as_slice()) {
            ([only], _) | ([], [only, ..]) => self.chosen.push(*only),
            ([], []) => {}
            (several, _) => {
                let names: Vec<&str> = several.iter().take(NAMED_MAX).map(|index| self.candidates[*index].name.as_str()).collect();
                let help = "a launch file says with 'modules' which are linked";
                let why = format!("'{}' is in {}: {}; {help}", shown_name(name), counted(several.len() as u64, "module"), names.join(", "));
                self.reasons.push(reason("not linked", why));
            }
        }
    }
}
