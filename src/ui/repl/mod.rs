//! The prompt: lines from a person at a terminal, with history, completion and hints.
//!
//! Ctrl-C at the prompt drops the line; while the kernel runs it stops it where it stands. Ctrl-D leaves.

pub(super) mod editor;
mod running;

use std::io::{self, Write};

use super::console::{Console, Flow};
use super::text;
use crate::command::complete::KnownNames;
use crate::command::says_nothing;
use crate::debug::session::Session;
use editor::{Line, LineEditor};

/// Reads lines and executes them until the user leaves.
///
/// # Errors
/// The terminal cannot be read or written.
pub fn run(console: &mut Console, color: bool) -> io::Result<()> {
    let mut editor = LineEditor::new(color, None)?;
    let mut out = io::stdout();
    loop {
        editor.know(KnownNames::of(&console.session()));
        let typed = match editor.line(&prompt(&console.session()))? {
            Line::Typed(line) => line,
            Line::Dropped => continue,
            Line::End => {
                writeln!(out, "quit")?;
                break;
            }
        };
        let line = match console.repeated() {
            Some(again) if typed.trim().is_empty() => again.to_string(),
            _ if says_nothing(&typed) => continue,
            _ => typed,
        };
        match console.line(&line, &mut editor, &mut out)? {
            Flow::On => {}
            Flow::Failed(failed) => out.write_all(text::failed(&failed, color).as_bytes())?,
            Flow::Quit => break,
        }
    }
    editor.save();
    Ok(())
}

/// `(ptxdbg block 1,0,0 warp 2 lane 5 t=1234) `
pub(super) fn prompt(session: &Session) -> String {
    format!("(ptxdbg {} t={}) ", session.focus.in_words(&session.roles), text::grouped(session.time()))
}
