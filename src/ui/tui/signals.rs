//! The terminal is given back as it was, however the program ends: it leaves, it panics, it is stopped or told to end.
//!
//! While the screen is open, the terminal echoes nothing, gathers no lines and makes no signals of keys, between lines too: what is typed
//! while the kernel runs waits, and Ctrl-C is a key. Line feeds still return the carriage, which the line editor relies on. The editor
//! goes further while it reads a line and comes back to these modes.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::termios::{self, InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use signal_hook::consts::{SIGHUP, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use super::terminal::{self, Terminal};

/// The modes of the terminal before the screen was opened.
static BEFORE: OnceLock<Termios> = OnceLock::new();
/// Whether the terminal is not as it was.
static HELD: AtomicBool = AtomicBool::new(false);

/// The terminal is the screen's as long as this is alive.
pub struct Held;

impl Drop for Held {
    /// Comes after the line editor's own restoring, where a panic unwinds through both.
    fn drop(&mut self) {
        restore();
    }
}

/// Takes the terminal for the screen.
pub fn hold() -> io::Result<Held> {
    let before = termios::tcgetattr(io::stdin())?;
    HELD.store(true, Ordering::SeqCst);
    set_modes(&screen_modes(BEFORE.get_or_init(|| before)))?;
    restore_on_panic();
    restore_on_signals()?;
    Ok(Held)
}

fn screen_modes(before: &Termios) -> Termios {
    let mut modes = before.clone();
    modes.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
    modes.input_modes -= InputModes::ICRNL | InputModes::IXON;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes
}

fn set_modes(modes: &Termios) -> io::Result<()> {
    Ok(termios::tcsetattr(io::stdin(), OptionalActions::Drain, modes)?)
}

/// Gives the terminal back. What cannot be written or set any more is no reason to complain.
fn restore() {
    if !HELD.load(Ordering::SeqCst) {
        return;
    }
    if let Ok(mut out) = terminal::unbuffered(io::stdout().as_fd()) {
        let _ = out.write_all(terminal::GIVE_BACK.as_bytes());
    }
    if let Some(before) = BEFORE.get() {
        let _ = set_modes(before);
    }
}

/// The message of a panic comes on the terminal as it was.
fn restore_on_panic() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        default(panic);
    }));
}

/// What ends the process from outside ends it as ever, after the terminal was given back.
fn restore_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGTERM])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            restore();
            let _ = low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Whether the terminal marks what is pasted, as the line editor wants it while it reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pasting {
    /// It does.
    Marked,
    /// It does not.
    Plain,
}

/// Ctrl-Z: gives the terminal back, stops the process, and takes it again when it is continued; everything has to be drawn then.
pub fn suspend(terminal: &mut Terminal, pasting: Pasting) -> io::Result<()> {
    let modes = termios::tcgetattr(io::stdin())?;
    if pasting == Pasting::Marked {
        terminal.mark_pasting(false)?;
    }
    terminal.leave()?;
    if let Some(before) = BEFORE.get() {
        set_modes(before)?;
    }
    low_level::raise(SIGTSTP)?;
    set_modes(&modes)?;
    if pasting == Pasting::Marked {
        terminal.mark_pasting(true)?;
    }
    terminal.enter()
}
