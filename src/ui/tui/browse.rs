//! Browse mode: the panes have nearly all rows, all keys and the mouse. Nothing is typed; `q` goes back to the prompt, where the line that
//! was begun still stands.

use std::io::{self, Write};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crossterm::event::{self, Event, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};

use super::keymap::{Key, KeyPress, Named};
use super::keys::{self, BROWSE};
use super::prompt::{Prompt, TypeAhead};
use super::run::Run;
use super::said::Said;
use super::screen::{Answer, Click};
use super::terminal::Use;
use super::{Desk, signals};
use crate::command::{CommandError, LayoutRequest};
use crate::debug::session::Pace;
use crate::ui::console::{Flow, Front};
use crate::ui::{repl, text};

/// Longest wait before the size of the terminal is looked at.
const PATIENCE: Duration = Duration::from_millis(100);
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
    desk: &'a Arc<Desk>,
    typed: TypeAhead,
    color: bool,
}

/// Browses until the user goes back to the prompt; whether the user wants to leave altogether.
pub fn browse(desk: &Arc<Desk>, prompt: &Prompt, color: bool) -> io::Result<bool> {
    let mut browser = Browser { desk, typed: Arc::clone(prompt.typed()), color };
    browser.turn_to(Use::Browse)?;
    let next = loop {
        let next = browser.turn()?;
        if next != Next::Browse {
            break next;
        }
    };
    browser.turn_to(Use::Prompt)?;
    Ok(next == Next::Leave)
}

impl Browser<'_> {
    fn turn_to(&self, usage: Use) -> io::Result<()> {
        let console = self.desk.console();
        let mut stage = self.desk.stage();
        stage.terminal.set_use(usage)?;
        stage.lay_out(Some(console.session()))?;
        if usage == Use::Browse { stage.terminal.set_status(KEYS) } else { Ok(()) }
    }

    /// Waits for a key or a click, and does what it says.
    fn turn(&mut self) -> io::Result<Next> {
        let typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        if let Some(press) = typed {
            return self.key(press);
        }
        if !event::poll(PATIENCE)? {
            if self.desk.stage().terminal.is_stale() {
                self.desk.stage().lay_out(Some(self.desk.console().session()))?;
            }
            return Ok(Next::Browse);
        }
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => keys::pressed(key).map_or(Ok(Next::Browse), |press| self.key(press)),
            Event::Mouse(mouse) => self.mouse(mouse),
            Event::Resize(..) => self.draw(),
            _ => Ok(Next::Browse),
        }
    }

    fn key(&mut self, press: KeyPress) -> io::Result<Next> {
        let is_typing = self.desk.stage().screen.is_typing();
        if press == BROWSE || press == keys::control('c') {
            return Ok(Next::Back);
        }
        if press == keys::control('z') {
            let console = self.desk.console();
            let mut stage = self.desk.stage();
            signals::suspend(&mut stage.terminal, signals::Pasting::Plain)?;
            stage.lay_out(Some(console.session()))?;
            return Ok(Next::Browse);
        }
        let answer = self.desk.stage().screen.key(press);
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
        let answer = self.desk.stage().screen.click(mouse.column, mouse.row, click);
        self.follow(answer)
    }

    fn follow(&mut self, answer: Answer) -> io::Result<Next> {
        match answer {
            Answer::Command(line) => self.execute(&line),
            Answer::Changed => self.draw(),
            Answer::Ignored => Ok(Next::Browse),
        }
    }

    fn draw(&self) -> io::Result<Next> {
        self.desk.stage().draw(self.desk.console().session())?;
        Ok(Next::Browse)
    }

    fn execute(&mut self, line: &str) -> io::Result<Next> {
        let line_start = repl::prompt(self.desk.console().session());
        self.desk.stage().say(&format!("{line_start}{line}"))?;
        let flow = self.desk.console().line(line, &mut Asking { desk: self.desk, typed: &self.typed }, &mut Said::new(self.desk))?;
        match flow {
            Flow::Quit => return Ok(Next::Leave),
            Flow::Failed(failed) => self.desk.stage().say(&text::failed(&failed, self.color))?,
            Flow::On => {}
        }
        self.desk.stage().terminal.set_status(KEYS)?;
        self.draw()
    }
}

/// Keys that go back where they mean nothing else.
fn is_way_back(press: KeyPress) -> bool {
    [Key::Char('q'), Key::Named(Named::Escape)].map(KeyPress::plain).contains(&press)
}

/// Asks in the last row.
struct Asking<'a> {
    desk: &'a Arc<Desk>,
    typed: &'a TypeAhead,
}

impl Front for Asking<'_> {
    fn more(&mut self, _: &str, _: &mut dyn Write) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn confirm(&mut self, question: &str, _: &mut dyn Write) -> io::Result<Option<bool>> {
        self.desk.stage().terminal.set_status(&format!(" {question}; go on? (y or n)"))?;
        loop {
            let Event::Key(key) = event::read()? else { continue };
            match keys::pressed(key).map(|press| press.key) {
                Some(Key::Char('y')) => return Ok(Some(true)),
                Some(Key::Char('n' | 'q') | Key::Named(Named::Escape)) => return Ok(Some(false)),
                Some(_) if keys::pressed(key) == Some(keys::control('c')) => return Ok(Some(false)),
                _ => {}
            }
        }
    }

    fn pace(&mut self) -> Box<dyn Pace> {
        Box::new(Run::new(Arc::clone(self.desk), Arc::clone(self.typed)))
    }

    fn layout(&mut self, request: &LayoutRequest) -> Result<String, CommandError> {
        self.desk.stage().request(request)
    }
}
