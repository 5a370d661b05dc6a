//! The screen: panes and the prompt in one terminal, both alive.
//!
//! Panes stand above, and below them a scroll region of the terminal (DECSTBM) holds what was said and the line that is edited. One
//! thread writes to the terminal: between lines the debugger itself, while a line is read the editor, which calls back
//! ([`prompt`]) where panes have to be drawn. Panes are drawn into a buffer of cells; what differs from the buffer before goes out in one
//! write that leaves the cursor where it was ([`terminal`]), so the editor never notices.
//!
//! Keys come through [`keyboard`](super::tty::keyboard), which makes those known that the editor does not know.
//!
//! | what reads keys | when | where |
//! | --- | --- | --- |
//! | the editor | a line is typed; keys of the key map are bound in it | [`prompt`] |
//! | the run | the kernel runs: Ctrl-C stops it, all else is kept for the prompt | [`mod@run`] |
//! | browse mode | all keys belong to the panes, the mouse too | [`browse`] |
//!
//! Every key and click that does something to the session is a command line, which is shown as if it had been typed. Whichever way the
//! program ends, the terminal is given back as it was ([`hold`](mod@super::tty::hold)).
//!
//! What is seen is drawn by [`screen::Screen`], which holds no state of the machine and writes to no terminal.

pub mod canvas;
pub mod frame;
pub mod keymap;
pub mod layout;
pub mod panes;
pub mod screen;
pub mod theme;

mod browse;
mod keys;
mod output_buffer;
mod prompt;
mod run;
mod screen_terminal;
mod shared;
mod terminal;
mod wrap;

use std::io;
use std::sync::Arc;

use self::output_buffer::OutputBuffer;
use self::prompt::{Event, Prompt};
use self::screen::Screen;
use self::screen_terminal::ScreenTerminal;
use self::shared::Shared;
use self::terminal::Terminal;
use super::bad_line::BadLine;
use super::console::{Console, Failed, Flow};
use super::script::Script;
use super::text;
use super::tty::hold::{self, Hold};
use super::{interrupt, repl};
use crate::command::says_nothing;

/// What the screen begins with.
pub struct ScreenConfig {
    /// The panes.
    pub screen: Screen,
    /// The first line.
    pub welcome: String,
    /// Scripts to execute first.
    pub scripts: Vec<Script>,
    /// Whether colours may be used.
    pub color: bool,
}

/// Opens the screen, executes scripts, then what the user types, until the user leaves.
///
/// # Errors
/// The terminal cannot be read or written.
pub fn run(console: Console, config: ScreenConfig) -> io::Result<()> {
    let held = hold::prepare(keys::key_aliases(config.screen.keys()))?;
    hold::hold(Hold::Screen)?;
    let stage = ScreenTerminal::new(config.screen, Terminal::open()?);
    let shared = Arc::new(Shared::new(console, stage));
    let mut prompt = Prompt::new(Arc::clone(&shared), config.color)?;
    shared.stage().enter(&shared.session())?;
    shared.stage().say(&config.welcome)?;
    if let Some(complaint) = &held.without_restorer {
        shared.stage().say(&format!("warning: {complaint}"))?;
    }
    let mut app = App { shared, color: config.color };
    if app.scripts(&mut prompt, config.scripts)? == Ended::No {
        while app.handle_input(&mut prompt)? == Ended::No {}
    }
    drop(held);
    Ok(())
}

/// Whether the user has left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    No,
    Yes,
}

struct App {
    shared: Arc<Shared>,
    color: bool,
}

impl App {
    /// Executes scripts, up to the first line that cannot be done.
    fn scripts(&mut self, prompt: &mut Prompt, scripts: Vec<Script>) -> io::Result<Ended> {
        for mut script in scripts {
            let flow = self.shared.console().script(&mut script, Some(prompt), &mut OutputBuffer::new(&self.shared))?;
            let failed = matches!(flow, Flow::Failed(_) | Flow::Interrupted);
            let ended = self.after(flow)?;
            if failed || ended == Ended::Yes {
                return Ok(ended);
            }
        }
        Ok(Ended::No)
    }

    /// Reads a line or a key, and executes it.
    fn handle_input(&mut self, prompt: &mut Prompt) -> io::Result<Ended> {
        prompt.know();
        for complaint in prompt.complaints() {
            self.shared.stage().say(&format!("warning: {complaint}"))?;
        }
        let line_start = self.line_start();
        match prompt.next(&line_start)? {
            Event::Line(typed) if typed.contains('\n') => self.pasted(prompt, &typed),
            Event::Line(typed) => self.line(prompt, &typed),
            Event::NotText(bad) => self.not_text(bad),
            Event::Key(line) => self.execute(prompt, &line),
            Event::Browse => browse::browse(&self.shared, prompt, self.color).map(|ended| if ended { Ended::Yes } else { Ended::No }),
            Event::Nothing => Ok(Ended::No),
            Event::End => Ok(Ended::Yes),
        }
    }

    /// Says why a line that was typed is none.
    fn not_text(&self, bad: BadLine) -> io::Result<Ended> {
        self.shared.stage().say_styled(&text::failed(&Failed::from(bad), self.color))?;
        Ok(Ended::No)
    }

    /// What stands before a line.
    fn line_start(&self) -> String {
        repl::prompt(&self.shared.session())
    }

    /// Executes lines that were pasted, each shown before its answer.
    fn pasted(&mut self, prompt: &mut Prompt, lines: &str) -> io::Result<Ended> {
        for line in lines.lines() {
            let line_start = self.line_start();
            self.shared.stage().say(&format!("{line_start}{line}"))?;
            if self.line(prompt, line)? == Ended::Yes {
                return Ok(Ended::Yes);
            }
        }
        Ok(Ended::No)
    }

    /// Executes a line that was typed; an empty one stands for the one before.
    fn line(&mut self, prompt: &mut Prompt, typed: &str) -> io::Result<Ended> {
        let repeated = self.shared.console().repeated().map(str::to_string);
        match repeated {
            Some(again) if typed.trim().is_empty() => self.execute(prompt, &again),
            _ if says_nothing(typed) => Ok(Ended::No),
            _ => self.execute(prompt, typed),
        }
    }

    fn execute(&mut self, prompt: &mut Prompt, line: &str) -> io::Result<Ended> {
        interrupt::forget();
        let flow = self.shared.console().line(line, prompt, &mut OutputBuffer::new(&self.shared))?;
        self.after(flow)
    }

    /// Reports why a line was not executed, and draws the session.
    fn after(&mut self, flow: Flow) -> io::Result<Ended> {
        let session = self.shared.session();
        let mut stage = self.shared.stage();
        match flow {
            Flow::Quit => return Ok(Ended::Yes),
            Flow::Failed(failed) => stage.say_styled(&text::failed(&failed, self.color))?,
            Flow::On | Flow::Interrupted => {}
        }
        stage.draw(&session)?;
        Ok(Ended::No)
    }
}
