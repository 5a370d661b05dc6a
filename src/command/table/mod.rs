//! The table of commands: a row for each, a file for each topic.
//!
//! Parsing, abbreviations, errors, completion, help and the manual page all read it.

mod branches;
mod changing;
mod expressions;
mod focus;
mod guides;
mod help;
mod looking;
mod memory_model;
mod race;
mod reversing;
mod running;
mod scripting;
mod session;
mod skipping;
mod stopping;

pub use help::TOURS;

use super::catalogue::{Catalogue, Group, Topic};
use super::spec::CommandSpec;

/// All commands.
pub const TOPICS: &[Topic] = &[
    topic("running", "Running forwards", running::COMMANDS),
    topic("reversing", "Running backwards, and going to any time", reversing::COMMANDS),
    topic("stopping", "Breakpoints, watchpoints, catchpoints", stopping::COMMANDS),
    topic("skipping", "What stepping passes over", skipping::COMMANDS),
    topic("focus", "Which thread one looks at", focus::COMMANDS),
    topic("looking", "Registers, memory, code, and where threads are", looking::COMMANDS),
    Topic { about: race::ABOUT, ..topic("race", "Races and other findings, and the checkers that look for them", race::COMMANDS) },
    Topic { about: memory_model::ABOUT, ..topic("memory-model", "What a load may return, and what orders accesses", &[]) },
    Topic { about: expressions::ABOUT, ..topic("expressions", "What print, display, watch and conditions take", &[]) },
    guide("formats", "Letters after a slash, and types of values", guides::FORMATS),
    guide("threads", "How threads are named, and what their masks say", guides::THREADS),
    topic("changing", "Changing registers, memory and settings", changing::COMMANDS),
    topic("branches", "Runs that changes have left", branches::COMMANDS),
    topic("scripting", "Commands of one's own, the shell, texts with values", scripting::COMMANDS),
    topic("session", "Scripts, saving, leaving", session::COMMANDS),
    guide("launch", "Where launches come from, and how they are changed", guides::LAUNCH),
    guide("keys", "The keys of the screen and of the prompt", guides::KEYS),
    guide("screen", "Panes and layouts", guides::SCREEN),
    guide("gdb", "Words of gdb that are other words here", guides::GDB),
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
    Group { name: "export", aliases: &[], summary: "Write the run or its state for another program" },
    Group { name: "skip", aliases: &[], summary: "Pass over functions and files when stepping" },
    Group { name: "delete", aliases: &[], summary: "Delete breakpoints, displays or checkpoints" },
    Group { name: "load", aliases: &[], summary: "Read something from a file" },
    Group { name: "show", aliases: &[], summary: "Show the settings, or what was set up" },
    Group { name: "thread", aliases: &[], summary: "Look at a thread, or at several" },
];

const fn topic(name: &'static str, summary: &'static str, commands: &'static [CommandSpec]) -> Topic {
    Topic { name, summary, about: "", commands }
}

/// A topic without commands of its own.
const fn guide(name: &'static str, summary: &'static str, about: &'static str) -> Topic {
    Topic { name, summary, about, commands: &[] }
}

/// The whole table.
pub static TABLE: Catalogue = Catalogue { topics: TOPICS, groups: GROUPS };

/// True if a command only shows something: it may be done for several threads.
pub fn only_shows(spec: &CommandSpec) -> bool {
    const OTHERS: [&str; 8] = ["backtrace", "last", "first", "history", "echo", "printf", "output", "frame"];
    const CHANGING: [&str; 4] = ["display", "undisplay", "type", "info display"];
    let is_listed = looking::COMMANDS.iter().any(|own| own.name == spec.name) && !CHANGING.contains(&spec.name);
    is_listed || OTHERS.contains(&spec.name)
}

/// All rows.
pub fn commands() -> impl Iterator<Item = &'static CommandSpec> {
    TABLE.commands()
}
