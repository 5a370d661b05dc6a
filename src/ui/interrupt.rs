//! Ctrl-C while the kernel runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::SIGINT;

use crate::debug::session::{InterruptCheck, Session};

/// Whether it was pressed; none until [`listen`] was called.
static PRESSED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on Ctrl-C does not end the process. What cannot be set up leaves it as it was.
pub fn listen() {
    PRESSED.get_or_init(|| {
        let pressed = Arc::new(AtomicBool::new(false));
        let _ = signal_hook::flag::register(SIGINT, Arc::clone(&pressed));
        pressed
    });
}

/// The same, but pressed a second time it does.
pub fn listen_once() {
    PRESSED.get_or_init(|| {
        let pressed = Arc::new(AtomicBool::new(false));
        // The one registered first is called first.
        let _ = signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&pressed))
            .and_then(|_| signal_hook::flag::register(SIGINT, Arc::clone(&pressed)));
        pressed
    });
}

/// Forgets what was pressed before.
pub fn forget() {
    set(false);
}

/// Ctrl-C came as a key.
pub fn press() {
    set(true);
}

/// Whether Ctrl-C was pressed.
pub fn pressed() -> bool {
    PRESSED.get().is_some_and(|pressed| pressed.load(Ordering::Relaxed))
}

fn set(value: bool) {
    if let Some(pressed) = PRESSED.get() {
        pressed.store(value, Ordering::Relaxed);
    }
}

/// Runs until Ctrl-C is pressed.
pub struct UntilInterrupted;

impl InterruptCheck for UntilInterrupted {
    fn should_continue(&mut self, _: &Session) -> bool {
        !pressed()
    }
}
