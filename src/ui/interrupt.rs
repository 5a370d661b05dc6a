//! Ctrl-C while the kernel runs.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGINT;

use super::output::print_error;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::shown_name;

/// A run that takes longer on a terminal is said to go on.
const QUIET: Duration = Duration::from_secs(3);
/// The same where standard error is a file or a pipe.
const QUIET_OF_FILES: Duration = Duration::from_secs(30);

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

/// True if Ctrl-C was pressed, for the run of `name`: if that takes long, perhaps for ever, standard error says once how to end it.
pub fn pressed_in_run_of(name: &str) -> impl Fn() -> bool + '_ {
    let (begun, said, name) = (Instant::now(), AtomicBool::new(false), shown_name(name));
    let limit = if stderr().is_terminal() { QUIET } else { QUIET_OF_FILES };
    move || {
        if begun.elapsed() >= limit && !said.swap(true, Ordering::Relaxed) {
            let seconds = limit.as_secs();
            let how = "Ctrl-C ends it and shows what was found, --step-limit N ends a launch after N warp-instructions";
            print_error(&format!("ptxdbg: {name} has been running for {seconds} s: {how}\n"));
        }
        pressed()
    }
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
