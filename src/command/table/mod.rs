//! The table of commands: a row for each, a file for each topic.
//!
//! Parsing, abbreviations, errors, completion, help and the manual page all read it.

mod changing;
mod expressions;
mod focus;
mod help;
mod looking;
mod memory_model;
mod race;
mod reversing;
mod running;
mod session;
mod stopping;

use super::catalogue::{Catalogue, Group, Topic};
use super::spec::CommandSpec;

/// All commands.
pub const TOPICS: &[Topic] = &[
    topic("running", "Running forwards", running::COMMANDS),
    topic("reversing", "Running backwards, and going to any time", reversing::COMMANDS),
    topic("stopping", "Breakpoints, watchpoints, catchpoints", stopping::COMMANDS),
    topic("focus", "Which thread one looks at", focus::COMMANDS),
    topic("looking", "Registers, memory, code, and where threads are", looking::COMMANDS),
    Topic { about: race::ABOUT, ..topic("race", "Races and other findings, and the checkers that look for them", race::COMMANDS) },
    Topic { about: memory_model::ABOUT, ..topic("memory-model", "What a load may return, and what orders accesses", &[]) },
    Topic { about: expressions::ABOUT, ..topic("expressions", "What print, display, watch and conditions take", &[]) },
    topic("changing", "Changing registers, memory and settings", changing::COMMANDS),
    topic("session", "Scripts, saving, leaving", session::COMMANDS),
    topic("help", "Finding out what there is", help::COMMANDS),
];

/// The first words that several commands share.
pub const GROUPS: &[Group] = &[
    Group { name: "info", aliases: &["i", "inf"], summary: "Show something about the program, the launch or the machine" },
    Group { name: "set", aliases: &[], summary: "Change a setting, a register or memory" },
    Group { name: "save", aliases: &[], summary: "Write something to a file" },
    Group { name: "check", aliases: &[], summary: "Switch the checkers that look for races and other mistakes" },
    Group { name: "goto", aliases: &[], summary: "Go to a time, to a side of a finding, or to a mismatch" },
    Group { name: "explain", aliases: &[], summary: "Say what an instruction does, or how a finding came about" },
    Group { name: "load", aliases: &[], summary: "Read something from a file" },
];

const fn topic(name: &'static str, summary: &'static str, commands: &'static [CommandSpec]) -> Topic {
    Topic { name, summary, about: "", commands }
}

/// The whole table.
pub static TABLE: Catalogue = Catalogue { topics: TOPICS, groups: GROUPS };

/// All rows.
pub fn commands() -> impl Iterator<Item = &'static CommandSpec> {
    TABLE.commands()
}
