//! The terminal is given back as it was, however the program ends: it leaves, it panics, it is stopped or told to end.
//!
//! While the screen is open, the terminal echoes nothing, gathers no lines and makes no signals of keys, between lines too: what is typed
//! while the kernel runs waits, and Ctrl-C is a key. Line feeds still return the carriage, which the line editor relies on. What the editor
//! changes while it reads a line concerns the pseudo-terminal that keys come through ([`keyboard`]).

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::termios::{self, InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use signal_hook::consts::{SIGHUP, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use super::keyboard;
use super::terminal::{self, Terminal};

/// The terminal, and its modes before the screen was opened.
static BEFORE: OnceLock<(OwnedFd, Termios)> = OnceLock::new();
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

/// Takes the terminal for the screen. Standard input is what [`keyboard`] makes of its keys.
pub fn hold(wanted: BTreeSet<char>) -> io::Result<Held> {
    let before = termios::tcgetattr(io::stdin())?;
    let terminal = keyboard::divert(&screen_modes(&before), wanted)?;
    HELD.store(BEFORE.set((terminal, before)).is_ok(), Ordering::SeqCst);
    set_modes(screen_modes)?;
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

/// Gives the terminal modes that are made from those it had before.
fn set_modes(modes: impl Fn(&Termios) -> Termios) -> io::Result<()> {
    let Some((terminal, before)) = BEFORE.get() else { return Ok(()) };
    Ok(termios::tcsetattr(terminal, OptionalActions::Drain, &modes(before))?)
}

/// Gives the terminal back. What cannot be written or set any more is no reason to complain.
fn restore() {
    if !HELD.load(Ordering::SeqCst) {
        return;
    }
    if let Ok(mut out) = terminal::unbuffered(io::stdout().as_fd()) {
        let _ = out.write_all(terminal::GIVE_BACK.as_bytes());
    }
    let _ = set_modes(Termios::clone);
}

/// The message of a panic comes on the terminal as it was.
fn restore_on_panic() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        default(panic);
    }));
}

/// Panics at the line that a test names: nothing else shows what becomes of the terminal then.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "it is what is tested")]
pub fn panic_at(line: &str) {
    if std::env::var("PTXDBG_PANIC_AT").is_ok_and(|wanted| wanted == line) {
        panic!("a test wants to see this");
    }
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
    if pasting == Pasting::Marked {
        terminal.mark_pasting(false)?;
    }
    terminal.leave()?;
    set_modes(Termios::clone)?;
    low_level::raise(SIGTSTP)?;
    set_modes(screen_modes)?;
    if pasting == Pasting::Marked {
        terminal.mark_pasting(true)?;
    }
    terminal.enter()
}
