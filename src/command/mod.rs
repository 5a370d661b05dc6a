//! What the user can type: one table of commands, from which parsing, abbreviations, errors, completion and help are made.
//!
//! A line goes through [`parse()`], which finds its row in the [`table`] and takes its arguments apart by their kinds, to the row's
//! handler, which does what it says to the session and answers with an [`Outcome`]. Nothing here writes: the front end words outcomes.

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
mod handler;
mod lookup;
pub mod options;
mod outcome;
mod parse;

pub use context::{CommandState, Context};
pub use error::CommandError;
pub use execute::execute;
pub use outcome::{CheckRow, LayoutRequest, Outcome, View};
pub use parse::{parse, says_nothing};
