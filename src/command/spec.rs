//! A row of the command table: name, arguments and help of a command.

use super::call::Call;
use super::context::Context;
use super::error::CommandError;
use super::outcome::Outcome;

/// A command.
pub struct CommandSpec {
    /// Its name; for a subcommand all words, as `info registers`.
    pub name: &'static str,
    /// Other names, in full.
    pub aliases: &'static [&'static str],
    /// Its arguments, in order.
    pub args: &'static [ArgSpec],
    /// The kind of suffix: the text after a slash that follows the name.
    pub suffix: Suffix,
    /// The summary, one line without a full stop.
    pub summary: &'static str,
    /// The help, in paragraphs.
    pub help: &'static str,
    /// Lines that use it.
    pub examples: &'static [&'static str],
    /// The effect of an empty line after it.
    pub repeats: Repeat,
    /// The function that executes it.
    pub handler: Handler,
}

/// Executes a command on the context; the front end formats the outcome.
pub type Handler = fn(&mut Context<'_>, &Call) -> Result<Outcome, CommandError>;

/// A base for the rows: a command without arguments.
pub const PLAIN: CommandSpec = CommandSpec {
    name: "",
    aliases: &[],
    args: &[],
    suffix: Suffix::None,
    summary: "",
    help: "",
    examples: &[],
    repeats: Repeat::No,
    handler: |_, _| Ok(Outcome::Nothing),
};

/// The effect of an empty line after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Nothing.
    No,
    /// The same line.
    Same,
    /// The command without its arguments: it continues where it ended.
    Continue,
}

/// The kind of text after a slash that may follow a command's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// Nothing.
    None,
    /// A format: `/x`.
    Format,
    /// A count, a format and a unit: `/8xw`.
    Examine,
}

/// An argument.
pub struct ArgSpec {
    /// Its name in the usage line.
    pub name: &'static str,
    /// Its kind.
    pub kind: ArgKind,
    /// True if it can be left out.
    pub optional: bool,
    /// The keyword before it, such as `if` before a condition, or a comma; empty for none.
    pub keyword: &'static str,
}

impl ArgSpec {
    /// A required argument.
    pub const fn new(name: &'static str, kind: ArgKind) -> Self {
        Self { name, kind, optional: false, keyword: "" }
    }

    /// Optional.
    pub const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// After this keyword.
    pub const fn after(self, keyword: &'static str) -> Self {
        Self { keyword, ..self }
    }
}

/// The kind of an argument, which determines its end, its syntax and its completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// A number.
    Number,
    /// Numbers and ranges of numbers: `1 3-5`.
    Numbers,
    /// A repeat count, from 1.
    Count,
    /// A time: a tick, `start`, `end` or a mark.
    Tick,
    /// An expression.
    Expression,
    /// A code location: a label, a line, `file:line`, a kernel or function, `*pc`, `op PATTERN`.
    Location,
    /// Registers.
    Registers,
    /// A variable.
    Symbol,
    /// A file.
    File,
    /// A layout of the screen: its name, or a file.
    Layout,
    /// A name that the user gives.
    Name,
    /// Threads: `block 1,0,0 warp 2 lane 0-7`.
    ThreadFilter,
    /// Coordinates of a block or a thread, `1,0,0`, and more of the focus: `1,0,0 warp 2`.
    Coordinates,
    /// An event that `catch` and `run-to` know.
    Event,
    /// A setting.
    Setting,
    /// A setting and its value, or an assignment to a register or memory: `listsize 20`, `%r1 = 5`.
    Assignment,
    /// A topic of the help, or a command.
    Topic,
    /// An mbarrier: its name in the listing, or an expression that is its address.
    Mbarrier,
    /// A role, `auto` or `clear`.
    Role,
    /// One word.
    Word,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A text in double quotes, and the rest of the line.
    Message,
    /// The rest of the line.
    Rest,
    /// A command with its arguments.
    Command,
}

impl ArgKind {
    /// A description of it, for messages: "expected ..."
    pub fn describe(self) -> String {
        let words = match self {
            Self::Number => "a number",
            Self::Numbers => "numbers such as 1 3-5",
            Self::Count => "a number from 1",
            Self::Tick => "a tick, start, end or a mark",
            Self::Expression => "an expression",
            Self::Location => "a label, a line, FILE:LINE, a function, *PC or op PATTERN",
            Self::Registers => "registers",
            Self::Symbol => "a symbol",
            Self::File => "a file",
            Self::Layout => "a layout or a file",
            Self::Name => "a name",
            Self::ThreadFilter => "threads such as block 1,0,0 warp 2 lane 0-7",
            Self::Coordinates => "coordinates such as 1,0,0",
            Self::Event => "an event",
            Self::Setting => "a setting",
            Self::Assignment => "SETTING VALUE or PLACE = VALUE",
            Self::Topic => "a topic or a command",
            Self::Mbarrier => "an mbarrier such as full[1], or its address",
            Self::Role => "a role, auto or clear",
            Self::Word => "a word",
            Self::Choice([first @ .., last]) => return format!("{} or {last}", first.join(", ")),
            Self::Choice([]) => "nothing",
            Self::Message => "a text in double quotes",
            Self::Rest => "a text",
            Self::Command => "a command",
        };
        words.to_string()
    }

    /// True if it can be a file name, which may be quoted.
    pub fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Layout)
    }

    /// True if it ends at the next blank; others end at the keyword of a later argument, or at the end of the line.
    pub fn is_word(self) -> bool {
        use ArgKind::{Choice, Count, Name, Number, Role, Setting, Symbol, Tick, Word};
        matches!(self, Role | Number | Count | Tick | Symbol | Name | Setting | Word | Choice(_))
    }
}

impl CommandSpec {
    /// The name and the arguments: `break [LOCATION] [THREADS] [if CONDITION]`.
    pub fn usage(&self) -> String {
        let suffix = match self.suffix {
            Suffix::None => "",
            Suffix::Format => "[/FORMAT]",
            Suffix::Examine => "[/COUNT FORMAT UNIT]",
        };
        let args = self.args.iter().map(|arg| if arg.keyword == "," { arg.usage() } else { format!(" {}", arg.usage()) });
        format!("{}{suffix}{}", self.name, args.collect::<String>())
    }
}

impl ArgSpec {
    /// The argument in a usage line: `[if CONDITION]`.
    pub fn usage(&self) -> String {
        let name = match self.kind {
            ArgKind::Choice(words) if self.name.is_empty() => words.join("|"),
            _ => self.name.to_string(),
        };
        let text = match self.keyword {
            "" => name,
            "," => format!(",{name}"),
            word => format!("{word} {name}"),
        };
        if self.optional { format!("[{text}]") } else { text }
    }
}
