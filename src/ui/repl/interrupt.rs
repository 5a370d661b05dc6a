//! Ctrl-C while the kernel runs.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static PRESSED: AtomicBool = AtomicBool::new(false);
static LISTENS: OnceLock<bool> = OnceLock::new();

/// From now on Ctrl-C does not end the process. What cannot be set up leaves it as it was.
pub fn listen() {
    LISTENS.get_or_init(|| ctrlc::set_handler(|| PRESSED.store(true, Ordering::Relaxed)).is_ok());
}

/// Forgets what was pressed before.
pub fn forget() {
    PRESSED.store(false, Ordering::Relaxed);
}

/// Whether Ctrl-C was pressed.
pub fn pressed() -> bool {
    PRESSED.load(Ordering::Relaxed)
}
