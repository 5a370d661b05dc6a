//! Findings that the user does not want to hear of: by id, by line, or by the variable or buffer they are about.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::FindingText;
use crate::check::findings;

/// What is suppressed, in the user's words: `race.global`, `race`, `k.ptx:12`, `tile`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Suppressions(BTreeSet<String>);

impl Suppressions {
    /// Adds one; false if it is known already.
    pub fn add(&mut self, what: &str) -> bool {
        self.0.insert(what.to_string())
    }

    /// Takes one back; false if there is none.
    pub fn remove(&mut self, what: &str) -> bool {
        self.0.remove(what)
    }

    /// Takes all back.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether a finding is suppressed.
    pub fn hold(&self, finding: &FindingText) -> bool {
        self.iter().any(|what| names(what, finding))
    }

    /// Whether `what` can mean a finding: an id or the beginning of one, a line, or the name of something. The error says what is right.
    ///
    /// # Errors
    /// It looks like an id, and there is none.
    pub fn check(what: &str, symbols: &[String]) -> Result<(), String> {
        let is_line = what.rsplit_once(':').is_some_and(|(file, line)| !file.is_empty() && line.parse::<u32>().is_ok());
        let known = findings().any(|id| is_id(what, id.word())) || is_line || symbols.iter().any(|symbol| symbol == what);
        if known { Ok(()) } else { Err(format!("'{what}' is neither a finding id nor FILE:LINE, nor a variable or buffer")) }
    }
}

/// Whether `what` is the id, or a family that it belongs to.
fn is_id(what: &str, id: &str) -> bool {
    id.strip_prefix(what).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn names(what: &str, finding: &FindingText) -> bool {
    is_id(what, finding.id.word())
        || finding.lines().any(|line| line.short() == what || format!("{}:{}", line.file, line.line) == what)
        || finding.memory.as_ref().is_some_and(|memory| memory.symbol.as_deref() == Some(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_of_ids_is_named_by_its_first_words() {
        assert!(is_id("race", "race.shared.raw") && is_id("race.shared", "race.shared.raw") && is_id("race.shared.raw", "race.shared.raw"));
        assert!(!is_id("rac", "race.shared.raw") && !is_id("race.shared.raws", "race.shared.raw") && !is_id("", "trap"));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let symbols = ["tile".to_string()];
        for right in ["race", "deadlock", "k.cu:7", "tile"] {
            assert_eq!(Suppressions::check(right, &symbols), Ok(()), "{right}");
        }
        for wrong in ["races", "k.cu:", ":7", "tiles", "k.cu:x"] {
            assert!(Suppressions::check(wrong, &symbols).is_err(), "{wrong}");
        }
    }
}
