//! The table of commands: a row for each, a file for each topic.
//!
//! Parsing, abbreviations, errors, completion, help and the manual page all read it.

mod changing;
mod expressions;
mod focus;
mod help;
mod looking;
mod race;
mod reversing;
mod running;
mod session;
mod stopping;

use super::spec::CommandSpec;

/// A topic of the help, and its commands.
pub struct Topic {
    /// What the user types after `help`.
    pub name: &'static str,
    /// What it is about, in one line.
    pub summary: &'static str,
    /// More about it, in paragraphs, where that does not belong to one command.
    pub about: &'static str,
    /// Its commands, in the order in which one learns them.
    pub commands: &'static [CommandSpec],
}

/// A first word that several commands share.
pub struct Group {
    /// The word.
    pub name: &'static str,
    /// Short names.
    pub aliases: &'static [&'static str],
    /// What they have in common.
    pub summary: &'static str,
}

/// All commands.
pub const TOPICS: &[Topic] = &[
    topic("running", "Running forwards", running::COMMANDS),
    topic("reversing", "Running backwards, and going to any time", reversing::COMMANDS),
    topic("stopping", "Breakpoints, watchpoints, catchpoints", stopping::COMMANDS),
    topic("focus", "Which thread one looks at", focus::COMMANDS),
    topic("looking", "Registers, memory, code, and where threads are", looking::COMMANDS),
    Topic { about: race::ABOUT, ..topic("race", "Races and other findings, and the checkers that look for them", race::COMMANDS) },
    Topic { about: expressions::ABOUT, ..topic("expressions", "What print, display, watch and conditions take", &[]) },
    topic("changing", "Changing registers, memory and settings", changing::COMMANDS),
    topic("session", "Scripts, saving, leaving", session::COMMANDS),
    topic("help", "Finding out what there is", help::COMMANDS),
];

/// First words that several commands share.
pub const GROUPS: &[Group] = &[
    Group { name: "info", aliases: &["i", "inf"], summary: "Show something about the program, the launch or the machine" },
    Group { name: "set", aliases: &[], summary: "Change a setting, a register or memory" },
    Group { name: "save", aliases: &[], summary: "Write something to a file" },
    Group { name: "check", aliases: &[], summary: "Switch the checkers that look for races and other mistakes" },
    Group { name: "goto", aliases: &[], summary: "Go to a time, or to a side of a finding" },
    Group { name: "explain", aliases: &[], summary: "Say what an instruction does, or how a finding came about" },
    Group { name: "load", aliases: &[], summary: "Read something from a file" },
];

const fn topic(name: &'static str, summary: &'static str, commands: &'static [CommandSpec]) -> Topic {
    Topic { name, summary, about: "", commands }
}

/// All rows.
pub fn commands() -> impl Iterator<Item = &'static CommandSpec> {
    TOPICS.iter().flat_map(|topic| topic.commands)
}

impl Group {
    /// The commands that start with it.
    pub fn members(&self) -> impl Iterator<Item = &'static CommandSpec> {
        commands().filter(|spec| spec.name.split_once(' ').is_some_and(|(first, _)| first == self.name))
    }

    /// One of them.
    pub(super) fn member(&self) -> Option<&'static CommandSpec> {
        self.members().next()
    }
}
