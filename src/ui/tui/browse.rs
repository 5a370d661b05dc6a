//! Browse mode: the panes have nearly all rows, all keys and the mouse. Nothing is typed; `q` goes back to the prompt, where the line that
//! was begun still stands.

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

/// Longest wait before the size of the terminal is looked at.
const POLL_TIMEOUT: Duration = Duration::from_millis(100);
/// What the last row says.
const KEYS: &str = " browsing: q back to the prompt · Tab pane · arrows, wheel · / search · z zoom · ? keys";

/// What a key or a click led to.
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

/// Browses until the user goes back to the prompt; whether the user wants to leave altogether.
pub fn browse(shared: &Arc<Shared>, prompt: &Prompt, color: bool) -> io::Result<bool> {
    let mut browser = Browser { shared, typed: Arc::clone(prompt.typed()), color };
    browser.turn_to(Use::Browse)?;
    let next = loop {
        let next = browser.handle_input()?;
        if next != Next::Browse {
            break next;
        }
    };
    browser.turn_to(Use::Prompt)?;
    Ok(next == Next::Leave)
}

impl Browser<'_> {
    fn turn_to(&self, usage: Use) -> io::Result<()> {
        let session = self.shared.session();
        let mut stage = self.shared.stage();
        stage.terminal.set_use(usage)?;
        stage.lay_out(&session)?;
        if usage == Use::Browse { stage.terminal.set_status(KEYS) } else { Ok(()) }
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
        let is_typing = self.shared.stage().screen.is_typing();
        let answer = self.shared.stage().screen.key(press);
        match answer {
            Answer::Ignored if !is_typing && is_way_back(press) => Ok(Next::Back),
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
        let answer = self.shared.stage().screen.click(mouse.column, mouse.row, click);
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
        let line_start = repl::prompt(&self.shared.session());
        self.shared.stage().say(&format!("{line_start}{line}"))?;
        interrupt::forget();
        let flow = self.shared.console().line(
            line,
            &mut Question { shared: self.shared, typed: &self.typed },
            &mut OutputBuffer::new(self.shared),
        )?;
        match flow {
            Flow::Quit => return Ok(Next::Leave),
            Flow::Failed(failed) => self.shared.stage().say_styled(&text::failed(&failed, self.color))?,
            Flow::On | Flow::Interrupted => {}
        }
        self.shared.stage().terminal.set_status(KEYS)?;
        draw(self.shared)?;
        Ok(Next::Browse)
    }
}

/// Keys that go back where they mean nothing else.
fn is_way_back(press: KeyPress) -> bool {
    [Key::Char('q'), Key::Named(Named::Escape)].map(KeyPress::plain).contains(&press)
}

fn draw(shared: &Shared) -> io::Result<()> {
    let session = shared.session();
    shared.stage().draw(&session)
}

/// What the user did.
enum Input {
    Key(KeyPress),
    Mouse(MouseEvent),
}

/// Waits for the user, for a moment. A terminal of another size is laid out anew meanwhile; Ctrl-Z gives it back for as long as it takes.
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
        let mut stage = shared.stage();
        stage.terminal.suspend(Pasting::Plain)?;
        stage.lay_out(&session)?;
        return Ok(None);
    }
    if shared.stage().terminal.is_stale() {
        draw(shared)?;
    }
    Ok(press.map(Input::Key))
}

/// Asks in the last row.
struct Question<'a> {
    shared: &'a Arc<Shared>,
    typed: &'a TypeAhead,
}

impl Question<'_> {
    /// Shows a text in the last row, and waits for a key.
    fn key(&mut self, shown: &str) -> io::Result<KeyPress> {
        self.shared.stage().terminal.set_status(shown)?;
        loop {
            if let Some(Input::Key(press)) = input(self.shared, self.typed)? {
                return Ok(press);
            }
        }
    }
}

impl Frontend for Question<'_> {
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
        self.shared.stage().say(&format!("{prompt}{shown}"))?;
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
        self.shared.stage().request(request)
    }
}
