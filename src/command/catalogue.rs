//! The parts of a command table: topics of rows, and groups of rows with the same first word.

use super::spec::CommandSpec;

/// A topic of the help, and its commands.
pub struct Topic {
    /// Its name after `help`.
    pub name: &'static str,
    /// A summary in one line.
    pub summary: &'static str,
    /// More about it, in paragraphs: what concerns several commands.
    pub about: &'static str,
    /// Its commands, the basic ones first.
    pub commands: &'static [CommandSpec],
}

/// A first word that several commands share.
pub struct Group {
    /// The word.
    pub name: &'static str,
    /// Short names.
    pub aliases: &'static [&'static str],
    /// A summary of the commands.
    pub summary: &'static str,
}

/// A table of commands.
pub struct Catalogue {
    /// Its rows, by topic.
    pub topics: &'static [Topic],
    /// First words that several commands share.
    pub groups: &'static [Group],
}

impl Catalogue {
    /// All rows.
    pub fn commands(&self) -> impl Iterator<Item = &'static CommandSpec> + use<> {
        self.topics.iter().flat_map(|topic| topic.commands)
    }

    /// The commands that start with the word of `group`.
    pub fn members(&self, group: &Group) -> impl Iterator<Item = &'static CommandSpec> + use<> {
        let word = group.name;
        self.commands().filter(move |spec| spec.name.split_once(' ').is_some_and(|(first, _)| first == word))
    }
}
