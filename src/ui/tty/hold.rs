//! The terminal is restored however the program ends: it leaves, it panics, it is stopped or ended by a signal.
//!
//! While a line is read, and while the screen is open between lines too, the terminal echoes nothing, gathers no lines and makes no signals
//! of keys: what is typed while the kernel runs waits, and Ctrl-C is a key. Line feeds still return the carriage, which the line editor
//! relies on. What the editor changes while it reads a line concerns the pseudo-terminal that keys come through
//! ([`keyboard`]).

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

/// The terminal, and its modes before anything was changed.
static BEFORE: OnceLock<(OwnedFd, Termios)> = OnceLock::new();
/// How the terminal is used: a [`Hold`].
static HOLD: AtomicU8 = AtomicU8::new(Hold::Released as u8);

/// How the terminal is used, and so what is to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Hold {
    /// Not at all: it is as it was.
    Released = b'r',
    /// A line is read, on the screen that was there before.
    Line = b'l',
    /// By panes on the alternate screen.
    Screen = b's',
}

impl Hold {
    /// That of a number.
    pub fn from_byte(byte: u8) -> Option<Self> {
        [Self::Released, Self::Line, Self::Screen].into_iter().find(|hold| *hold as u8 == byte)
    }

    /// What turns everything off that may be on, at whatever moment.
    pub fn undo(self) -> &'static str {
        match self {
            Self::Released => "",
            Self::Line => "\x1b[?2004l\x1b[0m\x1b[?25h",
            Self::Screen => {
                "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?2026l\x1b[r\x1b[0m\x1b[?25h\x1b[?1049l"
            }
        }
    }

    fn now() -> Self {
        Self::from_byte(HOLD.load(Ordering::SeqCst)).unwrap_or(Self::Released)
    }
}

/// The terminal can be used as long as this is alive.
pub struct HeldTerminal {
    /// Why a sudden end of the process leaves the terminal as it is then, if it does.
    pub without_restorer: Option<String>,
}

impl Drop for HeldTerminal {
    /// Comes after the line editor's own restoring, where a panic unwinds through both.
    fn drop(&mut self) {
        restore();
        restorer::dismiss();
    }
}

/// Gets ready to use the terminal. Standard input is from now on what [`keyboard`] makes of its keys; function keys with
/// something held down that are `wanted` are characters there.
///
/// # Errors
/// Standard input is no terminal, or the system does not give what is needed.
pub fn prepare(wanted: BTreeSet<char>) -> io::Result<HeldTerminal> {
    let before = termios::tcgetattr(io::stdin())?;
    let without_restorer = restorer::start().err().map(|error| {
        format!("no process watches the terminal ({}): if this one is killed, the terminal stays as it is then", cause(&error))
    });
    let terminal = keyboard::divert(&our_modes(&before), wanted)?;
    let is_first = BEFORE.set((terminal, before)).is_ok();
    debug_assert!(is_first, "there is one terminal");
    restore_on_panic();
    restore_on_signals()?;
    Ok(HeldTerminal { without_restorer })
}

/// Uses the terminal so from now on.
///
/// # Errors
/// Its modes cannot be changed.
pub fn hold(hold: Hold) -> io::Result<()> {
    if hold == Hold::Released {
        keyboard::pause();
        set_modes(Termios::clone)?;
        note(hold);
    } else {
        note(hold);
        set_modes(our_modes)?;
        keyboard::resume();
    }
    Ok(())
}

fn note(hold: Hold) {
    HOLD.store(hold as u8, Ordering::SeqCst);
    restorer::send(hold);
}

fn our_modes(before: &Termios) -> Termios {
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

/// A file of its own for a terminal, without a buffer.
///
/// # Errors
/// The process has too many files.
pub fn unbuffered(fd: BorrowedFd<'_>) -> io::Result<File> {
    Ok(File::from(fd.try_clone_to_owned()?))
}

/// Gives the terminal back. What cannot be written or set any more is no reason to complain.
fn restore() {
    let hold = Hold::now();
    if hold == Hold::Released {
        return;
    }
    if let Ok(mut out) = unbuffered(io::stdout().as_fd()) {
        let _ = out.write_all(hold.undo().as_bytes());
    }
    let _ = set_modes(Termios::clone);
}

/// The message of a panic comes on the terminal as it was.
fn restore_on_panic() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        // What unwinds may still change modes. Leaving the other screen twice would put the cursor on the message.
        if Hold::now() == Hold::Screen {
            HOLD.store(Hold::Line as u8, Ordering::SeqCst);
        }
        default(panic);
    }));
}

/// What ends the process from outside ends it as ever, after the terminal was given back.
fn restore_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            restore();
            restorer::send(Hold::Released);
            let _ = low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Ctrl-Z: gives the terminal's modes back, stops the process, and changes them again when it is continued.
///
/// # Errors
/// The modes cannot be changed.
pub fn suspend() -> io::Result<()> {
    let used = Hold::now();
    hold(Hold::Released)?;
    low_level::raise(SIGTSTP)?;
    hold(used)
}
