//! The commands: one table, from which parsing, abbreviations, errors, completion and help are made.
//!
//! [`parse()`] finds the row of a line in the [`table`] and parses its arguments by their kinds. The row's handler executes the command on
//! the session and returns an [`Outcome`]. Nothing here prints: the front end formats outcomes.

pub mod complete;
pub mod help;
pub mod spec;
pub mod table;

mod argument_text;
mod call;
mod catalogue;
mod context;
mod error;
mod execute;
pub mod gdb_words;
mod handler;
mod lookup;
pub mod options;
mod outcome;
mod parse;
pub mod synonyms;
mod user_commands;

pub use call::Call;
pub use context::{CommandState, Context};
pub use error::CommandError;
pub use execute::execute;
pub use outcome::{CheckRow, Collected, LayoutRequest, Outcome, TourRequest, View};
pub use parse::{is_blank_or_comment, parse};
pub use table::TOURS;
pub use user_commands::UserCommands;
