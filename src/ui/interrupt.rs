//! Ctrl-C while the kernel runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::SIGINT;

use crate::debug::session::{InterruptCheck, Session};

/// True if Ctrl-C was pressed; unset until [`listen`] is called.
static PRESSED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Installs a handler for SIGINT, so that Ctrl-C does not end the process. If that fails, Ctrl-C ends the process as before.
pub fn listen() {
    PRESSED.get_or_init(|| {
        let pressed = Arc::new(AtomicBool::new(false));
        let _ = signal_hook::flag::register(SIGINT, Arc::clone(&pressed));
        pressed
    });
}

/// As [`listen`], but a second Ctrl-C ends the process.
pub fn listen_once() {
    PRESSED.get_or_init(|| {
        let pressed = Arc::new(AtomicBool::new(false));
        // The handler that is registered first is called first.
        let _ = signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&pressed))
            .and_then(|_| signal_hook::flag::register(SIGINT, Arc::clone(&pressed)));
        pressed
    });
}

/// Clears an earlier Ctrl-C.
pub fn forget() {
    set(false);
}

/// Records a Ctrl-C that was read as a key.
pub fn press() {
    set(true);
}

/// True if Ctrl-C was pressed.
pub fn pressed() -> bool {
    PRESSED.get().is_some_and(|pressed| pressed.load(Ordering::Relaxed))
}

fn set(value: bool) {
    if let Some(pressed) = PRESSED.get() {
        pressed.store(value, Ordering::Relaxed);
    }
}

/// An interrupt check that is true until Ctrl-C is pressed.
pub struct UntilInterrupted;

impl InterruptCheck for UntilInterrupted {
    fn should_continue(&mut self, _: &Session) -> bool {
        !pressed()
    }
}
