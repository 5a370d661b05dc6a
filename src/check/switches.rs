//! Which checkers run, in the words of those who switch them.

use super::Checks;
use super::catalogue::Checker;

/// The checkers by their words, and what each looks for.
pub const CHECKERS: &[(&str, Checker, &str)] = &[
    ("race", Checker::Race, "accesses to the same memory that nothing orders"),
    ("memory", Checker::Memory, "wrong addresses; always on, because a run cannot continue after one"),
    ("init", Checker::Init, "reads of memory and uses of registers before any write"),
    ("sync", Checker::Sync, "barriers, masks, barrier objects, groups of copies"),
];

impl Checker {
    /// The word users type.
    pub fn word(self) -> &'static str {
        CHECKERS.iter().find(|(_, checker, _)| *checker == self).map_or("", |(word, ..)| word)
    }

    /// The checkers that `text` names, between commas or blanks; `all` is all of them.
    ///
    /// # Errors
    /// A word that names none, in one line.
    pub fn named(text: &str) -> Result<Vec<Self>, String> {
        let words = text.split([',', ' ']).filter(|word| !word.is_empty());
        let named = words.map(|word| match CHECKERS.iter().find(|(name, ..)| *name == word) {
            _ if word == "all" => Ok(CHECKERS.iter().map(|(_, checker, _)| *checker).collect()),
            Some((_, checker, _)) => Ok(vec![*checker]),
            None => Err(format!("there is no checker '{word}': there are race, memory, init and sync, and all of them")),
        });
        let named = named.collect::<Result<Vec<_>, _>>()?.concat();
        if named.is_empty() { Err("a checker is expected: race, memory, init, sync or all".to_string()) } else { Ok(named) }
    }
}

impl Checks {
    /// What `text` names: `all`, `none`, or a list such as `race,init`.
    ///
    /// # Errors
    /// A word that names no checker, in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::NONE);
        }
        Ok(Checker::named(text)?.into_iter().fold(Self::NONE, |checks, checker| checks.with(checker, true)))
    }

    /// Whether a checker runs.
    pub fn has(self, checker: Checker) -> bool {
        match checker {
            Checker::Race => self.race,
            Checker::Memory => true,
            Checker::Init => self.init,
            Checker::Sync => self.sync,
        }
    }

    /// The same with a checker switched. That of addresses is always on.
    #[must_use]
    pub fn with(self, checker: Checker, on: bool) -> Self {
        match checker {
            Checker::Race => Self { race: on, ..self },
            Checker::Memory => self,
            Checker::Init => Self { init: on, ..self },
            Checker::Sync => Self { sync: on, ..self },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_checkers_are_read() {
        assert_eq!(Checks::parse("all"), Ok(Checks::ALL));
        assert_eq!(Checks::parse("none"), Ok(Checks::NONE));
        assert_eq!(Checks::parse("race,init"), Ok(Checks { race: true, init: true, sync: false }));
        assert_eq!(Checks::parse("memory"), Ok(Checks::NONE));
        for wrong in ["", ",", "races", "race;init", "none,race"] {
            assert!(Checks::parse(wrong).is_err(), "{wrong}");
        }
    }
}
