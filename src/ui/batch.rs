//! Batch mode: scripts executed one after the other without a prompt.

use std::io::{self, Write};

use super::console::{Console, Flow};
use super::interrupt;
use super::output::{Standard, print_error};
use super::script::Script;
use super::text;

/// The result of executing scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All lines were executed.
    Done,
    /// A line failed.
    Failed,
    /// Ctrl-C was pressed.
    Interrupted,
    /// A line was `quit`.
    Quit,
}

/// Executes scripts up to the first line that fails; for standard input also the lines after it. Errors go to standard error.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(console: &mut Console, scripts: impl IntoIterator<Item = Script>, color: bool) -> io::Result<Ended> {
    interrupt::listen_once();
    let mut out = Standard::output();
    let mut ended = Ended::Done;
    for mut script in scripts {
        loop {
            match console.script(&mut script, None, &mut out)? {
                Flow::Continue => break,
                Flow::Interrupted => {
                    out.flush()?;
                    return Ok(Ended::Interrupted);
                }
                Flow::Quit => return Ok(if ended == Ended::Failed { ended } else { Ended::Quit }),
                Flow::Failed(failed) => {
                    ended = Ended::Failed;
                    out.flush()?;
                    print_error(&text::failed(&failed, color));
                    if !script.continues_on_error() {
                        return Ok(ended);
                    }
                }
            }
        }
    }
    out.flush()?;
    Ok(ended)
}
