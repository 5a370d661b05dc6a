//! The prompt: reads command lines from a terminal, with history, completion and hints.
//!
//! Ctrl-C discards the line at the prompt, and interrupts the kernel while it runs. Ctrl-D quits.

pub(super) mod editor;
mod history;
mod running;

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::console::{Console, Flow};
use super::interrupt;
use super::output::{Output, Standard};
use super::terminal_kind::supports_cursor_movement;
use super::text;
use super::transcript_file::Recorded;
use super::tty::guard;
use super::visible::visible;
use crate::command::complete::KnownNames;
use crate::command::is_blank_or_comment;
use crate::debug::session::Session;
use editor::{Line, LineEditor};

/// Reads lines and executes them until the user quits.
///
/// # Errors
/// The terminal cannot be read or written.
pub fn run(console: &mut Console, color: bool) -> io::Result<()> {
    let terminal_guard = if supports_cursor_movement() { Some(guard::prepare(BTreeSet::new())?) } else { None };
    let mut editor = LineEditor::new(color, None)?;
    let mut out = Recorded::new(Standard::output());
    if let Some(complaint) = terminal_guard.as_ref().and_then(|terminal_guard| terminal_guard.without_restorer.as_ref()) {
        writeln!(out, "warning: {complaint}")?;
    }
    loop {
        out.follow_settings(&console.session().settings)?;
        for complaint in editor.complaints() {
            writeln!(out, "warning: {complaint}")?;
        }
        editor.set_names(KnownNames::of(&console.session()));
        let line_start = prompt(&console.session());
        let typed = match editor.line(&line_start)? {
            Line::Typed(line) => {
                out.record(&format!("{}\n", visible(&format!("{line_start}{line}"))));
                line
            }
            Line::NotText(bad) => {
                out.failed(&bad.into(), color)?;
                continue;
            }
            Line::Dropped => continue,
            Line::End => {
                writeln!(out, "quit")?;
                break;
            }
        };
        let line = match console.repeated() {
            Some(again) if typed.trim().is_empty() => again.to_string(),
            _ if is_blank_or_comment(&typed) => continue,
            _ => typed,
        };
        interrupt::forget();
        match console.line(&line, &mut editor, &mut out)? {
            Flow::Continue | Flow::Interrupted => {}
            Flow::Failed(failed) => out.failed(&failed, color)?,
            Flow::Quit => break,
        }
    }
    Ok(())
}

/// `(ptxdbg block 1,0,0 warp 2 lane 5 t=1234) `
pub(super) fn prompt(session: &Session) -> String {
    format!("(ptxdbg {} t={}) ", session.focus.describe(&session.roles), text::grouped(session.time()))
}

/// `(ptxdbg t=1234) `, where panes show the focus.
pub(super) fn short_prompt(session: &Session) -> String {
    format!("(ptxdbg t={}) ", text::grouped(session.time()))
}
