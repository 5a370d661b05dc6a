//! The terminal modes, which are restored however the program ends: normally, by a panic, or by a signal.
//!
//! While a line is read, and as long as the full screen is open, the terminal has no echo, no line buffering and no signals from keys: keys
//! that are typed while the kernel runs are buffered, and Ctrl-C is a key. Output processing stays on, since the line editor relies on it.
//! The mode changes of the line editor only affect the pseudo-terminal from which it reads keys ([`keyboard`]).

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::termios::{self, InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use super::{keyboard, restorer};
use crate::base::save::cause;

/// The terminal, and its original modes.
static ORIGINAL: OnceLock<(OwnedFd, Termios)> = OnceLock::new();
/// The current [`TerminalUse`].
static CURRENT_USE: AtomicU8 = AtomicU8::new(TerminalUse::Released as u8);

/// The use of the terminal, which determines what must be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TerminalUse {
    /// Not used: the original modes are set.
    Released = b'r',
    /// A line is read on the main screen.
    Line = b'l',
    /// Panes are shown on the alternate screen.
    Screen = b's',
}

impl TerminalUse {
    /// The use with this number.
    pub fn from_byte(byte: u8) -> Option<Self> {
        [Self::Released, Self::Line, Self::Screen].into_iter().find(|usage| *usage as u8 == byte)
    }

    /// The escape sequences that reset everything that may be set at any time during this use.
    pub fn reset_sequences(self) -> &'static str {
        match self {
            Self::Released => "",
            Self::Line => "\x1b[?2004l\x1b[0m\x1b[?25h",
            Self::Screen => {
                "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?2026l\x1b[r\x1b[0m\x1b[?25h\x1b[?1049l"
            }
        }
    }

    fn now() -> Self {
        Self::from_byte(CURRENT_USE.load(Ordering::SeqCst)).unwrap_or(Self::Released)
    }
}

/// A guard that restores the terminal when it is dropped.
pub struct TerminalGuard {
    /// The warning if no restorer runs: SIGKILL would leave the terminal in its current modes.
    pub without_restorer: Option<String>,
}

impl Drop for TerminalGuard {
    /// In a panic this runs after the line editor has restored its modes.
    fn drop(&mut self) {
        restore();
        restorer::dismiss();
    }
}

/// Prepares the terminal for use. Standard input is replaced by the output of [`keyboard`], where function keys with modifiers are
/// translated to the characters in `bound`.
///
/// # Errors
/// Standard input is no terminal, or a system call fails.
pub fn prepare(bound: BTreeSet<char>) -> io::Result<TerminalGuard> {
    let before = termios::tcgetattr(io::stdin())?;
    let without_restorer = restorer::start().err().map(|error| {
        format!("no process watches the terminal ({}): if this one is killed, the terminal stays as it is then", cause(&error))
    });
    let terminal = keyboard::divert(&raw_modes(&before), bound)?;
    let is_first = ORIGINAL.set((terminal, before)).is_ok();
    debug_assert!(is_first, "there is one terminal");
    restore_on_panic();
    restore_on_signals()?;
    Ok(TerminalGuard { without_restorer })
}

/// Changes the use of the terminal.
///
/// # Errors
/// Its modes cannot be changed.
pub fn set_use(usage: TerminalUse) -> io::Result<()> {
    if usage == TerminalUse::Released {
        keyboard::pause();
        set_modes(Termios::clone)?;
        record(usage);
    } else {
        record(usage);
        set_modes(raw_modes)?;
        keyboard::resume();
    }
    Ok(())
}

fn record(usage: TerminalUse) {
    CURRENT_USE.store(usage as u8, Ordering::SeqCst);
    restorer::send(usage);
}

fn raw_modes(before: &Termios) -> Termios {
    let mut modes = before.clone();
    modes.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
    modes.input_modes -= InputModes::ICRNL | InputModes::IXON;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes
}

/// Sets the modes of the terminal, computed from the original ones.
fn set_modes(modes: impl Fn(&Termios) -> Termios) -> io::Result<()> {
    let Some((terminal, before)) = ORIGINAL.get() else { return Ok(()) };
    Ok(termios::tcsetattr(terminal, OptionalActions::Drain, &modes(before))?)
}

/// An unbuffered file for a duplicate of `fd`.
///
/// # Errors
/// The process has too many open files.
pub fn unbuffered(fd: BorrowedFd<'_>) -> io::Result<File> {
    Ok(File::from(fd.try_clone_to_owned()?))
}

/// Restores the terminal. Errors are ignored.
fn restore() {
    let usage = TerminalUse::now();
    if usage == TerminalUse::Released {
        return;
    }
    if let Ok(mut out) = unbuffered(io::stdout().as_fd()) {
        let _ = out.write_all(usage.reset_sequences().as_bytes());
    }
    let _ = set_modes(Termios::clone);
}

/// Installs a panic hook that restores the terminal before the message is written.
fn restore_on_panic() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        // Destructors may still change modes. Leaving the alternate screen twice would move the cursor onto the message.
        if TerminalUse::now() == TerminalUse::Screen {
            CURRENT_USE.store(TerminalUse::Line as u8, Ordering::SeqCst);
        }
        default(panic);
    }));
}

/// Installs handlers for fatal signals that restore the terminal and then end the process by the default action.
fn restore_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            restore();
            restorer::send(TerminalUse::Released);
            let _ = low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Ctrl-Z: restores the terminal modes, stops the process, and sets the modes again when it is continued.
///
/// # Errors
/// The modes cannot be changed.
pub fn suspend() -> io::Result<()> {
    let used = TerminalUse::now();
    set_use(TerminalUse::Released)?;
    low_level::raise(SIGTSTP)?;
    set_use(used)
}
