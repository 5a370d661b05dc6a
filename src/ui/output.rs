//! Standard output and standard error.
//!
//! Control characters in our own text are always made [`visible`](super::visible); what a kernel printed is written to a file or a pipe
//! byte for byte, and made visible only on a terminal.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::command::Outcome;
use crate::debug::settings::Settings;
use crate::debug::stop::Stop;

use super::visible::{visible_bytes, visible_styled};

/// The output of commands. Text that is written to it has no colours.
pub trait Output: Write {
    /// Writes what a kernel printed.
    ///
    /// # Errors
    /// It cannot be written.
    fn printed(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Takes the answer of a command as data, before its text is written; by default it is left.
    fn answered(&mut self, _: &Outcome) {}

    /// Follows the settings, which a command may have changed: `transcript` names a file for all that is written.
    ///
    /// # Errors
    /// It cannot be written.
    fn follow_settings(&mut self, _: &Settings) -> io::Result<()> {
        Ok(())
    }

    /// Takes a stop as data, before its text is written; by default it is left.
    fn stopped(&mut self, _: &Stop) {}
}

/// Standard output or standard error.
pub struct Standard {
    out: Box<dyn Write>,
    is_terminal: bool,
}

impl Standard {
    /// Standard output of this process.
    pub fn output() -> Self {
        let out = io::stdout().lock();
        Self { is_terminal: out.is_terminal(), out: Box::new(out) }
    }

    /// Standard error of this process.
    pub fn error() -> Self {
        let out = io::stderr().lock();
        Self { is_terminal: out.is_terminal(), out: Box::new(out) }
    }

    /// True if it is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Writes text with escape sequences for colours.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn styled(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(visible_styled(text).as_bytes())
    }
}

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(visible_bytes(bytes).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Output for Standard {
    fn printed(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_terminal { self.write_all(bytes) } else { self.out.write_all(bytes) }
    }
}

/// Writes all bytes unchanged.
impl Output for Vec<u8> {
    fn printed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }
}

/// True if standard output is the file at `path`.
pub fn stdout_is(path: &Path) -> bool {
    let output = io::stdout().as_fd().try_clone_to_owned().and_then(|fd| File::from(fd).metadata());
    let both = output.and_then(|output| Ok((output, fs::metadata(path)?)));
    both.is_ok_and(|(output, file)| (output.dev(), output.ino()) == (file.dev(), file.ino()))
}

/// Writes text with escape sequences for colours to standard error. A write error is ignored: the exit status shows the failure.
pub fn print_error(text: &str) {
    let _ = io::stderr().write_all(visible_styled(text).as_bytes());
}
