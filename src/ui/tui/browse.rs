//! Browse mode: the panes have nearly all rows, all keys and the mouse. `q` goes back to the prompt, which still has its unfinished line.

use std::io::{self, Write};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crossterm::event::{self, Event, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};

use super::keymap::{Key, KeyPress, Named};
use super::keys::{self, BROWSE};
use super::output_buffer::OutputBuffer;
use super::prompt::Prompt;
use super::run::{Run, TypeAhead};
use super::screen::{Answer, Click};
use super::shared::Shared;
use super::terminal::{Pasting, Use};
use crate::command::{CommandError, LayoutRequest};
use crate::debug::session::InterruptCheck;
use crate::ui::bad_line::BadLine;
use crate::ui::console::{Flow, Frontend};
use crate::ui::repl::editor::BLOCK;
use crate::ui::tty::keyboard;
use crate::ui::{interrupt, repl, text};

/// The interval at which the size of the terminal is checked.
const POLL_TIMEOUT: Duration = Duration::from_millis(100);
/// The text of the last row.
const KEYS: &str = " browsing: q back to the prompt · Tab pane · arrows, wheel · / search · z zoom · ? keys";

/// The next step after a key or a click.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Browse,
    Back,
    Leave,
}

struct Browser<'a> {
    shared: &'a Arc<Shared>,
    typed: TypeAhead,
    color: bool,
}

/// Browses until the user goes back to the prompt or quits; true if the user quits.
pub fn browse(shared: &Arc<Shared>, prompt: &Prompt, color: bool) -> io::Result<bool> {
    let mut browser = Browser { shared, typed: Arc::clone(prompt.typed()), color };
    shared.screen_terminal().screen.set_browsing(true);
    browser.set_use(Use::Browse)?;
    let next = loop {
        let next = browser.handle_input()?;
        if next != Next::Browse {
            break next;
        }
    };
    {
        let screen = &mut shared.screen_terminal().screen;
        screen.set_browsing(false);
        screen.close_overlay();
    }
    browser.set_use(Use::Prompt)?;
    Ok(next == Next::Leave)
}

impl Browser<'_> {
    fn set_use(&self, usage: Use) -> io::Result<()> {
        let session = self.shared.session();
        let mut screen_terminal = self.shared.screen_terminal();
        screen_terminal.terminal.set_use(usage)?;
        screen_terminal.lay_out(&session)?;
        if usage == Use::Browse { screen_terminal.terminal.set_status(KEYS) } else { Ok(()) }
    }

    /// Waits for a key or a click, and executes it.
    fn handle_input(&mut self) -> io::Result<Next> {
        match input(self.shared, &self.typed)? {
            Some(Input::Key(press)) => self.key(press),
            Some(Input::Mouse(mouse)) => self.mouse(mouse),
            None => Ok(Next::Browse),
        }
    }

    fn key(&mut self, press: KeyPress) -> io::Result<Next> {
        if press == BROWSE || press == keys::control('c') {
            return Ok(Next::Back);
        }
        let is_typing = self.shared.screen_terminal().screen.is_typing();
        let answer = self.shared.screen_terminal().screen.key(press);
        match answer {
            Answer::Ignored if !is_typing && is_back_key(press) => {
                let answer = self.shared.screen_terminal().screen.close_keys();
                if answer == Answer::Ignored { Ok(Next::Back) } else { self.follow(answer) }
            }
            answer => self.follow(answer),
        }
    }

    fn mouse(&mut self, mouse: MouseEvent) -> io::Result<Next> {
        let click = match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Click::Press,
            MouseEventKind::ScrollUp => Click::WheelUp,
            MouseEventKind::ScrollDown => Click::WheelDown,
            _ => return Ok(Next::Browse),
        };
        let answer = self.shared.screen_terminal().screen.click(mouse.column, mouse.row, click);
        self.follow(answer)
    }

    fn follow(&mut self, answer: Answer) -> io::Result<Next> {
        match answer {
            Answer::Command(line) => return self.execute(&line),
            Answer::Changed => draw(self.shared)?,
            Answer::Ignored => {}
        }
        Ok(Next::Browse)
    }

    fn execute(&mut self, line: &str) -> io::Result<Next> {
        let line_start = repl::short_prompt(&self.shared.session());
        self.shared.screen_terminal().print(&format!("{line_start}{line}"))?;
        interrupt::forget();
        let flow = self.shared.console().line(
            line,
            &mut BrowseFrontend { shared: self.shared, typed: &self.typed },
            &mut OutputBuffer::new(self.shared),
        )?;
        match flow {
            Flow::Quit => return Ok(Next::Leave),
            Flow::Failed(failed) => self.shared.screen_terminal().print_styled(&text::failed(&failed, self.color))?,
            Flow::Continue | Flow::Interrupted => {}
        }
        self.shared.screen_terminal().terminal.set_status(KEYS)?;
        draw(self.shared)?;
        Ok(Next::Browse)
    }
}

/// True for keys that go back to the prompt if they have no other meaning.
fn is_back_key(press: KeyPress) -> bool {
    [Key::Char('q'), Key::Named(Named::Escape)].map(KeyPress::plain).contains(&press)
}

fn draw(shared: &Shared) -> io::Result<()> {
    let session = shared.session();
    shared.screen_terminal().draw(&session)
}

/// A key or a mouse event.
enum Input {
    Key(KeyPress),
    Mouse(MouseEvent),
}

/// Waits for input, at most [`POLL_TIMEOUT`]. If the size of the terminal has changed, draws it again; Ctrl-Z suspends the program.
fn input(shared: &Shared, typed: &TypeAhead) -> io::Result<Option<Input>> {
    let earlier = typed.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let press = match earlier {
        Some(press) => Some(press),
        None if event::poll(POLL_TIMEOUT)? => match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => keys::pressed(key),
            Event::Mouse(mouse) => return Ok(Some(Input::Mouse(mouse))),
            _ => None,
        },
        None => None,
    };
    if press == Some(keys::control('z')) {
        let session = shared.session();
        let mut screen_terminal = shared.screen_terminal();
        screen_terminal.terminal.suspend(Pasting::Plain)?;
        screen_terminal.lay_out(&session)?;
        return Ok(None);
    }
    if shared.screen_terminal().terminal.is_stale() {
        draw(shared)?;
    }
    Ok(press.map(Input::Key))
}

/// The front end in browse mode: asks questions in the last row.
struct BrowseFrontend<'a> {
    shared: &'a Arc<Shared>,
    typed: &'a TypeAhead,
}

impl BrowseFrontend<'_> {
    /// Shows a text in the last row, and waits for a key.
    fn key(&mut self, shown: &str) -> io::Result<KeyPress> {
        self.shared.screen_terminal().terminal.set_status(shown)?;
        loop {
            if let Some(Input::Key(press)) = input(self.shared, self.typed)? {
                return Ok(press);
            }
        }
    }
}

impl Frontend for BrowseFrontend<'_> {
    fn more(&mut self, prompt: &str, _: &mut dyn Write) -> io::Result<Option<Result<String, BadLine>>> {
        let mut line = String::new();
        loop {
            let press = self.key(&format!(" {prompt}{line}_   ({BLOCK})"))?;
            match press.key {
                Key::Named(Named::Enter) => break,
                Key::Named(Named::Backspace) => drop(line.pop()),
                Key::Named(Named::Escape) => return Ok(None),
                _ if press == keys::control('c') => return Ok(None),
                Key::Char(c) if !press.control && !press.alt => line.push(c),
                _ => {}
            }
        }
        let line = keyboard::typed(line);
        let (Ok(shown) | Err(BadLine { line: shown, .. })) = &line;
        self.shared.screen_terminal().print(&format!("{prompt}{shown}"))?;
        Ok(Some(line))
    }

    fn confirm(&mut self, question: &str, _: &mut dyn Write) -> io::Result<Option<bool>> {
        loop {
            let press = self.key(&format!(" (y or n) {question}; go on?"))?;
            match press.key {
                Key::Char('y') => return Ok(Some(true)),
                Key::Char('n' | 'q') | Key::Named(Named::Escape) => return Ok(Some(false)),
                _ if press == keys::control('c') => return Ok(Some(false)),
                _ => {}
            }
        }
    }

    fn interrupt(&mut self) -> Box<dyn InterruptCheck> {
        Box::new(Run::new(Arc::clone(self.shared), Arc::clone(self.typed)))
    }

    fn layout(&mut self, request: &LayoutRequest) -> Result<String, CommandError> {
        self.shared.screen_terminal().request(request)
    }
}
