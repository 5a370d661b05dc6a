//! The table of commands: a row for each, a file for each topic.
//!
//! Parsing, abbreviations, errors, completion, help and the manual page all read it.

mod changing;
mod focus;
mod help;
mod looking;
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
    Topic { name: "running", summary: "Running forwards", commands: running::COMMANDS },
    Topic { name: "reversing", summary: "Running backwards, and going to any time", commands: reversing::COMMANDS },
    Topic { name: "stopping", summary: "Breakpoints, watchpoints, catchpoints", commands: stopping::COMMANDS },
    Topic { name: "focus", summary: "Which thread one looks at", commands: focus::COMMANDS },
    Topic { name: "looking", summary: "Registers, memory, code, and who stands where", commands: looking::COMMANDS },
    Topic { name: "changing", summary: "Changing registers, memory and settings", commands: changing::COMMANDS },
    Topic { name: "session", summary: "Scripts, saving, leaving", commands: session::COMMANDS },
    Topic { name: "help", summary: "Finding out what there is", commands: help::COMMANDS },
];

/// First words that several commands share.
pub const GROUPS: &[Group] = &[
    Group { name: "info", aliases: &["i", "inf"], summary: "Show something about the program, the launch or the machine" },
    Group { name: "set", aliases: &[], summary: "Change a setting, a register or memory" },
    Group { name: "save", aliases: &[], summary: "Write something to a file" },
    Group { name: "load", aliases: &[], summary: "Read something from a file" },
];

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
