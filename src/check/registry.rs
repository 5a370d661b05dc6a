//! The table of checkers.

use std::cmp::Ordering;

use super::catalogue::FindingId;
use super::checker::CheckerRow;
use super::{faults, init, neighbour, race, sync};

/// The checkers. A new one is a folder with its mistakes and its row, and that row here.
pub const CHECKERS: &[CheckerRow] = &[race::ROW, faults::MEMORY, neighbour::ROW, init::ROW, sync::ROW];

/// A checker: a row of [`CHECKERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckerId(u8);

impl CheckerId {
    /// All of them, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..CHECKERS.len()).map(|index| Self(index as u8))
    }

    /// Its row.
    pub fn row(self) -> &'static CheckerRow {
        &CHECKERS[self.index()]
    }

    /// Its index in the table.
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The word users type.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// True if it cannot be switched off: a run does not continue after such a mistake.
    pub fn is_always_on(self) -> bool {
        self.row().make.is_none()
    }

    /// The checkers that `text` names, separated by commas or blanks; `all` is all of them.
    ///
    /// # Errors
    /// One line, if an argument names no checker.
    pub fn named(text: &str) -> Result<Vec<Self>, String> {
        let words = text.split([',', ' ']).filter(|word| !word.is_empty());
        let named = words.map(|word| match Self::all().find(|checker| checker.word() == word) {
            _ if word == "all" => Ok(Self::all().collect()),
            Some(checker) => Ok(vec![checker]),
            None => Err(format!("there is no checker '{word}': there are {}, and all of them", listed("and"))),
        });
        let named = named.collect::<Result<Vec<_>, _>>()?.concat();
        if named.is_empty() { Err(format!("a checker is expected: {} or all", joined_words(", "))) } else { Ok(named) }
    }
}

/// The words of all checkers, as a list with `last` between the last two.
pub fn listed(last: &str) -> String {
    let words = joined_words(", ");
    words.rsplit_once(", ").map_or(words.clone(), |(most, end)| format!("{most} {last} {end}"))
}

fn joined_words(separator: &str) -> String {
    CHECKERS.iter().map(|row| row.word).collect::<Vec<_>>().join(separator)
}

/// All mistakes: those of the checkers in the order of the table, and those that no checker looks for.
pub fn findings() -> impl Iterator<Item = FindingId> {
    CHECKERS.iter().flat_map(|row| row.findings).chain(faults::OTHERS).copied()
}

impl FindingId {
    /// The finding with this stable id.
    pub fn of_word(word: &str) -> Option<Self> {
        findings().find(|id| id.word() == word)
    }

    /// The checker that finds it; none if the run stops there by itself.
    pub fn checker(self) -> Option<CheckerId> {
        CheckerId::all().find(|checker| checker.row().findings.contains(&self))
    }
}

impl PartialOrd for FindingId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// In the order of [`findings`].
impl Ord for FindingId {
    fn cmp(&self, other: &Self) -> Ordering {
        let index = |id: &Self| findings().position(|other| other == *id);
        index(self).cmp(&index(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_mistakes_have_the_same_word() {
        let words: Vec<&str> = findings().map(FindingId::word).collect();
        let distinct: std::collections::BTreeSet<&str> = words.iter().copied().collect();
        assert_eq!(words.len(), distinct.len());
    }

    #[test]
    fn mistakes_know_their_checker() {
        let finder = |id: FindingId| id.checker().map(CheckerId::word);
        assert_eq!(finder(race::catalogue::CLUSTER_EXITED), Some("race"));
        assert_eq!(finder(faults::MEMORY_NULL), Some("memory"));
        assert_eq!(finder(faults::DEADLOCK), None);
        assert!(CheckerId::all().all(|checker| checker.row().findings.iter().all(|id| id.checker() == Some(checker))));
    }
}
