//! Ctrl-C while the kernel runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::SIGINT;

/// Whether it was pressed; none until somebody listens.
static PRESSED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on Ctrl-C does not end the process. What cannot be set up leaves it as it was.
pub fn listen() {
    PRESSED.get_or_init(|| {
        let pressed = Arc::new(AtomicBool::new(false));
        let _ = signal_hook::flag::register(SIGINT, Arc::clone(&pressed));
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
