//! The state that the main thread and the callbacks of the line editor share: the console, the session and the screen.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::screen_terminal::ScreenTerminal;
use crate::debug::session::Session;
use crate::ui::console::{Console, locked};

/// The console, the session and the screen, for the main thread and the callbacks of the line editor.
///
/// The console is locked while a line is executed, the session only while it changes, so that callbacks can draw it while a command waits
/// for an answer.
pub struct Shared {
    console: Mutex<Console>,
    session: Arc<Mutex<Session>>,
    screen_terminal: Mutex<ScreenTerminal>,
}

impl Shared {
    /// Wraps a console, its session and its screen.
    pub(super) fn new(console: Console, screen_terminal: ScreenTerminal) -> Self {
        let session = console.shared();
        Self { console: Mutex::new(console), session, screen_terminal: Mutex::new(screen_terminal) }
    }

    /// The console, for one thread at a time.
    pub(super) fn console(&self) -> MutexGuard<'_, Console> {
        self.console.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if a line is being executed, and waits for an answer.
    pub(super) fn is_executing(&self) -> bool {
        self.console.try_lock().is_err()
    }

    /// The session, for one thread at a time.
    pub(super) fn session(&self) -> MutexGuard<'_, Session> {
        locked(&self.session)
    }

    /// The screen, for one thread at a time.
    pub(super) fn screen_terminal(&self) -> MutexGuard<'_, ScreenTerminal> {
        self.screen_terminal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
