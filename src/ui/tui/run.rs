//! While the kernel runs: keys are looked at every few milliseconds, panes drawn twenty times a second.

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

/// Time between two looks at the keys.
const KEYS_INTERVAL: Duration = Duration::from_millis(5);
/// Time between two drawings.
const FRAME_INTERVAL: Duration = Duration::from_millis(50);

/// One command's runs.
pub struct Run {
    shared: Arc<Shared>,
    typed: TypeAhead,
    reports: Reports,
    looked: Instant,
    drawn: Instant,
}

impl Run {
    /// One that begins now; what is typed meanwhile goes to `typed`.
    pub fn new(shared: Arc<Shared>, typed: TypeAhead) -> Self {
        interrupt::forget();
        let now = Instant::now();
        Self { shared, typed, reports: Reports::new(), looked: now, drawn: now }
    }

    /// Takes the keys that were pressed.
    fn take_keys(&self, session: &Session) -> io::Result<()> {
        while event::poll(Duration::ZERO)? {
            let Event::Key(key) = event::read()? else { continue };
            let Some(press) = keys::pressed(key).filter(|_| key.kind != KeyEventKind::Release) else { continue };
            if press == keys::control('c') {
                interrupt::press();
            } else if press == keys::control('z') {
                let mut stage = self.shared.stage();
                stage.terminal.suspend(Pasting::Plain)?;
                stage.lay_out(session)?;
            } else {
                self.typed.lock().unwrap_or_else(PoisonError::into_inner).push_back(press);
            }
        }
        Ok(())
    }

    /// Draws the panes, and says how far the run is.
    fn draw(&mut self, session: &Session) -> io::Result<()> {
        let mut stage = self.shared.stage();
        stage.draw(session)?;
        match self.reports.due(session.progress()) {
            Some(report) => stage.terminal.set_status(&report),
            None => Ok(()),
        }
    }
}

impl InterruptCheck for Run {
    /// A terminal that cannot be read or written stops the run; the prompt then says why.
    fn should_continue(&mut self, session: &Session) -> bool {
        let mut done = Ok(());
        if self.looked.elapsed() >= KEYS_INTERVAL {
            done = self.take_keys(session);
            self.looked = Instant::now();
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
        if self.reports.has_said() {
            let _ = self.shared.stage().terminal.set_status("");
        }
    }
}
