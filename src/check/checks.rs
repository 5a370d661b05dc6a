//! The set of checkers that are on.

use super::registry::{CHECKERS, CheckerId};

/// A set of checkers; none at first. Those that are always on are in every set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks(u32);

impl Checks {
    /// All of them.
    pub const ALL: Self = Self(switchable());
    /// None.
    pub const NONE: Self = Self(0);

    /// The checkers that `text` names: `all`, `none`, or a list such as `race,init`.
    ///
    /// # Errors
    /// One line, if an argument names no checker.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::NONE);
        }
        Ok(CheckerId::named(text)?.into_iter().fold(Self::NONE, |checks, checker| checks.with(checker, true)))
    }

    /// True if a checker runs.
    pub fn has(self, checker: CheckerId) -> bool {
        checker.is_always_on() || self.0 >> checker.index() & 1 != 0
    }

    /// The same with a checker switched; one that is always on stays so.
    #[must_use]
    pub fn with(self, checker: CheckerId, on: bool) -> Self {
        let bit = switchable() & 1 << checker.index();
        Self(if on { self.0 | bit } else { self.0 & !bit })
    }
}

impl std::fmt::Display for Checks {
    /// The text that [`Checks::parse`] accepts.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let enabled = CheckerId::all().filter(|checker| !checker.is_always_on() && self.has(*checker));
        let words: Vec<&str> = enabled.map(CheckerId::word).collect();
        f.write_str(&if words.is_empty() { "none".to_string() } else { words.join(",") })
    }
}

/// The checkers that can be switched on and off, as a bit mask by index in the table.
const fn switchable() -> u32 {
    let (mut bits, mut index) = (0, 0);
    while index < CHECKERS.len() {
        bits |= (CHECKERS[index].make.is_some() as u32) << index;
        index += 1;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_checkers_are_read() {
        let set = |words: &[&str]| {
            let named = CheckerId::all().filter(|checker| words.contains(&checker.word()));
            named.fold(Checks::NONE, |checks, checker| checks.with(checker, true))
        };
        assert_eq!(Checks::parse("all"), Ok(Checks::ALL));
        assert_eq!(Checks::parse("none"), Ok(Checks::NONE));
        assert_eq!(Checks::parse("race,init"), Ok(set(&["race", "init"])));
        assert_eq!(Checks::parse("memory"), Ok(Checks::NONE));
        assert_eq!(set(&["race", "memory", "neighbour", "init", "sync"]), Checks::ALL);
        for wrong in ["", ",", "races", "race;init", "none,race"] {
            assert!(Checks::parse(wrong).is_err(), "{wrong}");
        }
    }
}
