//! What the main thread and the editor's calls share: the console, the session, and what is seen of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::screen_terminal::ScreenTerminal;
use crate::debug::session::Session;
use crate::ui::console::{Console, locked};

/// The session and what is seen of it, for the main thread and for what the editor calls back.
///
/// The console is locked while a line is executed, the session only while it changes: what is called back while a command asks something
/// still draws it.
pub struct Shared {
    console: Mutex<Console>,
    session: Arc<Mutex<Session>>,
    stage: Mutex<ScreenTerminal>,
}

impl Shared {
    /// Wraps a console, its session and its screen.
    pub(super) fn new(console: Console, stage: ScreenTerminal) -> Self {
        let session = console.shared();
        Self { console: Mutex::new(console), session, stage: Mutex::new(stage) }
    }

    /// The console, for one thread at a time.
    pub(super) fn console(&self) -> MutexGuard<'_, Console> {
        self.console.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a line is being executed, which asks something.
    pub(super) fn is_executing(&self) -> bool {
        self.console.try_lock().is_err()
    }

    /// The session, for one thread at a time.
    pub(super) fn session(&self) -> MutexGuard<'_, Session> {
        locked(&self.session)
    }

    /// What is seen, for one thread at a time.
    pub(super) fn stage(&self) -> MutexGuard<'_, ScreenTerminal> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
