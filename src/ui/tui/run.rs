//! The full screen while the kernel runs: keys are read every few milliseconds, panes are drawn twenty times a second.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyEventKind};

use super::keymap::KeyPress;
use super::keys;
use super::shared::Shared;
use super::terminal::Pasting;
use crate::debug::session::{InterruptCheck, Session};
use crate::ui::interrupt;
use crate::ui::progress::Reports;

/// Keys that were pressed while the kernel ran.
pub type TypeAhead = Arc<Mutex<VecDeque<KeyPress>>>;

/// The interval at which keys are read.
const KEYS_INTERVAL: Duration = Duration::from_millis(5);
/// The interval at which panes are drawn.
const FRAME_INTERVAL: Duration = Duration::from_millis(50);

/// The interrupt check of one command.
pub struct Run {
    shared: Arc<Shared>,
    typed: TypeAhead,
    reports: Reports,
    keys_read: Instant,
    drawn: Instant,
}

impl Run {
    /// A check for a command that begins now; keys that are pressed while it runs are added to `typed`.
    pub fn new(shared: Arc<Shared>, typed: TypeAhead) -> Self {
        interrupt::forget();
        let now = Instant::now();
        Self { shared, typed, reports: Reports::new(), keys_read: now, drawn: now }
    }

    /// Reads the keys that were pressed.
    fn read_keys(&self, session: &Session) -> io::Result<()> {
        while event::poll(Duration::ZERO)? {
            let Event::Key(key) = event::read()? else { continue };
            let Some(press) = keys::pressed(key).filter(|_| key.kind != KeyEventKind::Release) else { continue };
            if press == keys::control('c') {
                interrupt::press();
            } else if press == keys::control('z') {
                let mut screen_terminal = self.shared.screen_terminal();
                screen_terminal.terminal.suspend(Pasting::Plain)?;
                screen_terminal.lay_out(session)?;
            } else {
                self.typed.lock().unwrap_or_else(PoisonError::into_inner).push_back(press);
            }
        }
        Ok(())
    }

    /// Draws the panes and the progress of the run.
    fn draw(&mut self, session: &Session) -> io::Result<()> {
        let mut screen_terminal = self.shared.screen_terminal();
        screen_terminal.draw(session)?;
        match self.reports.next_report(session.progress()) {
            Some(report) => screen_terminal.terminal.set_status(&report),
            None => Ok(()),
        }
    }
}

impl InterruptCheck for Run {
    /// An error of the terminal stops the run; the prompt then reports it.
    fn should_continue(&mut self, session: &Session) -> bool {
        let mut done = Ok(());
        if self.keys_read.elapsed() >= KEYS_INTERVAL {
            done = self.read_keys(session);
            self.keys_read = Instant::now();
        }
        if done.is_ok() && self.drawn.elapsed() >= FRAME_INTERVAL {
            done = self.draw(session);
            self.drawn = Instant::now();
        }
        done.is_ok() && !interrupt::pressed()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.reports.has_reported() {
            let _ = self.shared.screen_terminal().terminal.set_status("");
        }
    }
}
