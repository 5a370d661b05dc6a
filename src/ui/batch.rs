//! Scripts without a prompt: one after the other, with an exit status.

use std::io::{self, Write};

use super::console::{Console, Flow};
use super::interrupt;
use super::output::{Standard, say_error};
use super::script::Script;
use super::text;

/// How scripts ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All lines were done.
    Done,
    /// A line could not be done.
    Failed,
    /// Ctrl-C was pressed.
    Interrupted,
    /// A line said to leave.
    Quit,
}

/// Executes scripts up to the first line that cannot be done; of standard input also what follows it. What could not be done goes to
/// standard error.
///
/// # Errors
/// Standard output cannot be written any more.
pub fn run(console: &mut Console, scripts: impl IntoIterator<Item = Script>, color: bool) -> io::Result<Ended> {
    interrupt::listen_once();
    let mut out = Standard::output();
    let mut ended = Ended::Done;
    for mut script in scripts {
        loop {
            match console.script(&mut script, None, &mut out)? {
                Flow::On => break,
                Flow::Interrupted => {
                    out.flush()?;
                    return Ok(Ended::Interrupted);
                }
                Flow::Quit => return Ok(if ended == Ended::Failed { ended } else { Ended::Quit }),
                Flow::Failed(failed) => {
                    ended = Ended::Failed;
                    out.flush()?;
                    say_error(&text::failed(&failed, color));
                    if !script.keeps_on() {
                        return Ok(ended);
                    }
                }
            }
        }
    }
    out.flush()?;
    Ok(ended)
}
