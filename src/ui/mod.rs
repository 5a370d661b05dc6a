//! Front ends: they show the outcomes of commands and never access the machine.

pub mod bad_line;
pub mod batch;
pub mod console;
pub mod files;
pub mod fixing;
pub mod host_memory;
pub mod interrupt;
pub mod merge;
pub mod output;
#[cfg(feature = "tui")]
mod progress;
#[cfg(debug_assertions)]
mod provoke;
pub mod refusal;
#[cfg(feature = "tui")]
pub mod repl;
pub mod save_on_panic;
pub mod script;
mod shell;
pub mod terminal_kind;
pub mod text;
pub mod tour;
mod transcript_file;
#[cfg(feature = "tui")]
pub mod tty;
#[cfg(feature = "tui")]
pub mod tui;
pub mod visible;
