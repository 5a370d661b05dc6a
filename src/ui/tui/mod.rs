//! The full-screen interface: panes and the prompt in one terminal.
//!
//! The panes are above; below them a scroll region of the terminal (DECSTBM) has the output and the line editor. One thread writes to the
//! terminal: between lines the debugger, and while a line is read the line editor, whose callbacks draw the panes ([`prompt`]). Panes are
//! drawn into a buffer of cells; the differences from the previous buffer are output in one write that restores the cursor
//! ([`terminal`]), so that the line editor is not affected.
//!
//! Keys are translated by [`keyboard`](super::tty::keyboard), because the line editor does not recognize all of them.
//!
//! | reader of keys | when | module |
//! | --- | --- | --- |
//! | the line editor | while a line is typed; keys of the key map are bound in it | [`prompt`] |
//! | the run | while the kernel runs: Ctrl-C stops it, other keys are buffered for the prompt | [`mod@run`] |
//! | browse mode | all keys and the mouse control the panes | [`browse`] |
//!
//! Every key and click that changes the session executes a command line, which is shown as if it had been typed. However the program
//! ends, the terminal is restored ([`guard`](mod@super::tty::guard)).
//!
//! [`screen::Screen`] draws the panes. It has no state of the machine and does not write to the terminal.

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
mod picture;
mod prompt;
mod run;
mod screen_terminal;
mod shared;
mod terminal;
mod wrap;

use std::io::{self, Write};
use std::sync::Arc;

use self::output_buffer::OutputBuffer;
use self::prompt::{Event, Prompt};
use self::screen::Screen;
use self::screen_terminal::ScreenTerminal;
use self::shared::Shared;
use self::terminal::Terminal;
use super::bad_line::BadLine;
use super::console::{Console, Failed, Flow};
use super::output::Standard;
use super::script::Script;
use super::text;
use super::tty::guard::{self, TerminalUse};
use super::{interrupt, repl};
use crate::base::Tick;
use crate::command::is_blank_or_comment;

/// The initial contents of the screen.
pub struct ScreenConfig {
    /// The panes.
    pub screen: Screen,
    /// True if the user has named the layout.
    pub has_layout: bool,
    /// The first line.
    pub welcome: String,
    /// Scripts to execute first.
    pub scripts: Vec<Script>,
    /// True if colours may be used.
    pub color: bool,
}

/// Opens the screen and executes scripts, then typed lines until the user quits.
///
/// # Errors
/// The terminal cannot be read or written.
pub fn run(console: Console, config: ScreenConfig) -> io::Result<()> {
    let terminal_guard = guard::prepare(keys::key_aliases(config.screen.keys()))?;
    guard::set_use(TerminalUse::Screen)?;
    let screen_terminal = ScreenTerminal::new(config.screen, Terminal::open()?);
    let shared = Arc::new(Shared::new(console, screen_terminal));
    if !config.has_layout {
        shared.screen_terminal().screen.suit(&shared.session());
    }
    let mut prompt = Prompt::new(Arc::clone(&shared), config.color)?;
    shared.screen_terminal().enter(&shared.session())?;
    shared.screen_terminal().print(&config.welcome)?;
    if let Some(complaint) = &terminal_guard.without_restorer {
        shared.screen_terminal().print(&format!("warning: {complaint}"))?;
    }
    let mut app = App { shared, color: config.color };
    if app.scripts(&mut prompt, config.scripts)? == Ended::No {
        app.shared.screen_terminal().mark_cut(0)?;
        while app.handle_input(&mut prompt)? == Ended::No {}
    }
    let said = app.shared.screen_terminal().screen.transcript().to_vec();
    drop(terminal_guard);
    keep_said(&said)
}

/// Writes the end of what was said to the terminal, where it stays after the screen has gone.
fn keep_said(said: &[String]) -> io::Result<()> {
    let left_out = said.len().saturating_sub(KEPT_LINES);
    let mut text = if left_out > 0 { format!("({left_out} earlier lines: 'set transcript FILE' keeps all)\n") } else { String::new() };
    text.extend(said[left_out..].iter().flat_map(|line| [line, "\n"]));
    Standard::output().write_all(text.as_bytes())
}

/// The most lines of what was said that stay in the terminal after the screen has gone.
const KEPT_LINES: usize = 1000;

/// Yes if the user has quit.
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
    /// Executes scripts, up to the first line that fails.
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
        prompt.update_names();
        let file_complaint = {
            let session = self.shared.session();
            self.shared.screen_terminal().follow_settings(&session.settings)
        };
        for complaint in prompt.complaints().into_iter().chain(file_complaint) {
            self.shared.screen_terminal().print(&format!("warning: {complaint}"))?;
        }
        let line_start = self.line_start();
        let said = self.shared.screen_terminal().screen.line_count();
        let time = self.shared.session().time();
        let event = prompt.next(&line_start)?;
        let is_executed = matches!(event, Event::Line(_) | Event::Key(_) | Event::NotText(_));
        let is_closing = matches!(event, Event::Nothing) || is_executed && !self.reads_on(&event);
        if is_closing {
            self.shared.screen_terminal().screen.close_overlay();
        }
        let ended = self.follow(prompt, event)?;
        if is_executed && ended == Ended::No {
            self.read_long_answer(said, time)?;
        }
        Ok(ended)
    }

    /// True for an empty line while something else is shown instead of the panes: what was said is read on, and the list of keys is closed.
    fn reads_on(&self, event: &Event) -> bool {
        matches!(event, Event::Line(typed) if typed.trim().is_empty()) && self.shared.screen_terminal().screen.has_overlay()
    }

    /// Shows the output from the line `first` on instead of the panes, if it is long and the user wants that. If a command has changed the
    /// time, the panes say more than its answer, unless that is very long.
    fn read_long_answer(&self, first: usize, time: Tick) -> io::Result<()> {
        let session = self.shared.session();
        let mut screen_terminal = self.shared.screen_terminal();
        if session.settings.pagination && !screen_terminal.screen.is_reading() {
            let has_moved = session.time() != time;
            screen_terminal.read_long_answer(first, has_moved)?;
        }
        screen_terminal.draw(&session)
    }

    /// Does what an event asks for.
    fn follow(&mut self, prompt: &mut Prompt, event: Event) -> io::Result<Ended> {
        match event {
            event if self.reads_on(&event) => {
                let screen = &mut self.shared.screen_terminal().screen;
                let _ = if screen.is_reading() { screen.read_on() } else { screen.close_keys() };
                Ok(Ended::No)
            }
            Event::Line(typed) if typed.contains('\n') => self.pasted(prompt, &typed),
            Event::Line(typed) => self.line(prompt, &typed),
            Event::NotText(bad) => self.not_text(bad),
            Event::Key(line) => self.execute(prompt, &line),
            Event::Browse => browse::browse(&self.shared, prompt, self.color).map(|ended| if ended { Ended::Yes } else { Ended::No }),
            Event::Nothing => Ok(Ended::No),
            Event::End => Ok(Ended::Yes),
        }
    }

    /// Writes the error of a line that is not valid UTF-8.
    fn not_text(&self, bad: BadLine) -> io::Result<Ended> {
        self.shared.screen_terminal().print_styled(&text::failed(&Failed::from(bad), self.color))?;
        Ok(Ended::No)
    }

    /// The prompt before a line: short, because the panes show the focus; the long one where there is no room for panes.
    fn line_start(&self) -> String {
        let has_panes = !self.shared.screen_terminal().terminal.panes().is_empty();
        let session = self.shared.session();
        if has_panes { repl::short_prompt(&session) } else { repl::prompt(&session) }
    }

    /// Executes lines that were pasted, each shown before its output.
    fn pasted(&mut self, prompt: &mut Prompt, lines: &str) -> io::Result<Ended> {
        for line in lines.lines() {
            let line_start = self.line_start();
            self.shared.screen_terminal().print(&format!("{line_start}{line}"))?;
            if self.line(prompt, line)? == Ended::Yes {
                return Ok(Ended::Yes);
            }
        }
        Ok(Ended::No)
    }

    /// Executes a line that was typed; an empty one repeats the previous command.
    fn line(&mut self, prompt: &mut Prompt, typed: &str) -> io::Result<Ended> {
        let repeated = self.shared.console().repeated().map(str::to_string);
        match repeated {
            Some(again) if typed.trim().is_empty() => self.execute(prompt, &again),
            _ if is_blank_or_comment(typed) => Ok(Ended::No),
            _ => self.execute(prompt, typed),
        }
    }

    fn execute(&mut self, prompt: &mut Prompt, line: &str) -> io::Result<Ended> {
        interrupt::forget();
        let flow = self.shared.console().line(line, prompt, &mut OutputBuffer::new(&self.shared))?;
        self.after(flow)
    }

    /// Writes the error of a line that failed, and draws the session.
    fn after(&mut self, flow: Flow) -> io::Result<Ended> {
        let session = self.shared.session();
        let mut screen_terminal = self.shared.screen_terminal();
        match flow {
            Flow::Quit => return Ok(Ended::Yes),
            Flow::Failed(failed) => screen_terminal.print_styled(&text::failed(&failed, self.color))?,
            Flow::Continue | Flow::Interrupted => {}
        }
        screen_terminal.draw(&session)?;
        Ok(Ended::No)
    }
}
