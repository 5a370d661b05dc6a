//! Suppressed findings: by id, by line, or by variable or buffer.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::FindingText;
use crate::check::findings;

/// The suppressed findings, as the user names them: `race.global`, `race`, `k.ptx:12`, `tile`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Suppressions(BTreeSet<String>);

impl Suppressions {
    /// Adds one; false if it is already suppressed.
    pub fn add(&mut self, what: &str) -> bool {
        self.0.insert(what.to_string())
    }

    /// Removes one; false if there is none.
    pub fn remove(&mut self, what: &str) -> bool {
        self.0.remove(what)
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// True if a finding is suppressed.
    pub fn matches(&self, finding: &FindingText) -> bool {
        self.iter().any(|what| is_about(what, finding))
    }

    /// Checks that `what` can match a finding: an id or its first words, a line, or the name of a variable or buffer.
    ///
    /// # Errors
    /// It can match no finding.
    pub fn check(what: &str, symbols: &[String]) -> Result<(), String> {
        let is_line = what.rsplit_once(':').is_some_and(|(file, line)| !file.is_empty() && line.parse::<u32>().is_ok());
        let known = findings().any(|id| is_id(what, id.word())) || is_line || symbols.iter().any(|symbol| symbol == what);
        if known { Ok(()) } else { Err(format!("'{what}' is neither a finding id nor FILE:LINE, nor a variable or buffer")) }
    }
}

/// True if `what` is the id, or a family of it.
fn is_id(what: &str, id: &str) -> bool {
    id.strip_prefix(what).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn is_about(what: &str, finding: &FindingText) -> bool {
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
    fn unknown_names_are_refused() {
        let symbols = ["tile".to_string()];
        for right in ["race", "deadlock", "k.cu:7", "tile"] {
            assert_eq!(Suppressions::check(right, &symbols), Ok(()), "{right}");
        }
        for wrong in ["races", "k.cu:", ":7", "tiles", "k.cu:x"] {
            assert!(Suppressions::check(wrong, &symbols).is_err(), "{wrong}");
        }
    }
}
