//! Batch mode: scripts executed one after the other without a prompt.

use std::io::{self, Write};

use super::console::{Console, Flow};
use super::interrupt;
use super::output::{Output, Standard, print_error};
use super::script::{Script, ScriptFrontend};
use super::text::{self, Answer};
use super::transcript_file::Recorded;
use crate::command::{Outcome, is_blank_or_comment};
use crate::debug::stop::Stop;

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

/// Executes scripts as [`run`] does; each command is one JSON object on standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn run_as_json(console: &mut Console, scripts: impl IntoIterator<Item = Script>) -> io::Result<Ended> {
    interrupt::listen_once();
    let mut out = Recorded::new(Standard::output());
    let mut ended = Ended::Done;
    for mut script in scripts {
        while let Some(line) = script.next_line() {
            let mut said = Said::default();
            let (line, flow) = match line {
                Ok(line) if is_blank_or_comment(&line) => continue,
                Ok(line) => {
                    let flow = console.line(&line, &mut ScriptFrontend { script: &mut script, asked: None }, &mut said)?;
                    (line, flow)
                }
                Err(bad) => (bad.line.clone(), Flow::Failed(bad.into())),
            };
            let error = if let Flow::Failed(failed) = &flow { Some(&failed.error) } else { None };
            out.follow_settings(&console.session().settings)?;
            out.write_all(text::json_command(&line, &said.answers, &said.text(), error).as_bytes())?;
            match flow {
                Flow::Continue if interrupt::pressed() => return Ok(Ended::Interrupted),
                Flow::Continue => {}
                Flow::Interrupted => return Ok(Ended::Interrupted),
                Flow::Quit => return Ok(if ended == Ended::Failed { ended } else { Ended::Quit }),
                Flow::Failed(_) => {
                    ended = Ended::Failed;
                    if !script.continues_on_error() {
                        out.flush()?;
                        return Ok(ended);
                    }
                }
            }
        }
    }
    out.flush()?;
    Ok(ended)
}

/// What a command says: its text, and its data.
#[derive(Default)]
struct Said {
    bytes: Vec<u8>,
    answers: Vec<Answer>,
}

impl Said {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Said {
    fn printed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.write_all(bytes)
    }

    fn answered(&mut self, outcome: &Outcome) {
        self.answers.push(Answer::of(outcome));
    }

    fn stopped(&mut self, stop: &Stop) {
        self.answers.push(Answer::of_stop(stop));
    }
}

/// Executes scripts up to the first line that fails; for standard input also the lines after it. Errors go to standard error, and so does
/// how many commands are left.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(console: &mut Console, scripts: impl IntoIterator<Item = Script>, color: bool) -> io::Result<Ended> {
    interrupt::listen_once();
    let mut out = Recorded::new(Standard::output());
    let mut ended = Ended::Done;
    let mut scripts = scripts.into_iter();
    while let Some(mut script) = scripts.next() {
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
                    out.record(&text::failed(&failed, false));
                    print_error(&text::failed(&failed, color));
                    if !script.continues_on_error() {
                        let left = std::iter::once(script).chain(scripts).map(Script::commands_left).sum();
                        print_error(&text::not_executed(left));
                        return Ok(ended);
                    }
                }
            }
        }
    }
    out.flush()?;
    Ok(ended)
}
