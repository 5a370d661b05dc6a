//! The help.

use crate::command::handler::help as handler;
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN};

/// The names of the tours.
pub const TOURS: [&str; 5] = ["race", "divergence", "pipeline", "hang", "wrong-lane"];

/// What `tour` takes: words, and the names of the tours.
const TOUR_STEPS: &[&str] = &["next", "leave", "resume", TOURS[0], TOURS[1], TOURS[2], TOURS[3], TOURS[4]];

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "help",
        aliases: &["h"],
        args: &[ArgSpec::new("TOPIC", ArgKind::Topic).optional()],
        summary: "Explain a command, a topic or a setting",
        help: "Without a word, lists the topics; 'help all' lists all commands; with a topic, its commands; with a command, what it \
            takes and does, with examples.",
        examples: &["help", "help stopping", "help break", "help info registers"],
        handler: handler::help,
        ..PLAIN
    },
    CommandSpec {
        name: "apropos",
        args: &[ArgSpec::new("WORD", ArgKind::Rest)],
        summary: "Find commands by a word of their help",
        help: "Lists the commands and settings whose help names the word.",
        examples: &["apropos barrier"],
        handler: handler::apropos,
        ..PLAIN
    },
    CommandSpec {
        name: "tour",
        args: &[ArgSpec::new("STEP", ArgKind::Choice(TOUR_STEPS)).optional()],
        summary: "Show the step of the tour, skip it, or leave the tour",
        help: "Says what to type next in the tour that 'ptxdbg --tour NAME' began, and why. 'tour next' skips the step, 'tour leave' ends \
            the tour and leaves the session as it is, 'tour resume' goes on with it, 'tour hang' says how another one \
            begins. What is typed beside the tour does not disturb it.",
        examples: &["tour", "tour next"],
        handler: handler::tour,
        ..PLAIN
    },
];
