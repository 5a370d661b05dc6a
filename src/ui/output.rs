//! Standard output and standard error: the edge where text meets a terminal.
//!
//! What people read is made [`visible`](super::visible) whatever it is written to; what a kernel printed goes to a file or a pipe byte for
//! byte, and only a terminal gets it made visible.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::visible::{visible_bytes, visible_styled};

/// What takes the answers of commands. What is written to it is text of no colours.
pub trait Output: Write {
    /// Takes what a kernel printed.
    ///
    /// # Errors
    /// It cannot be written.
    fn printed(&mut self, bytes: &[u8]) -> io::Result<()>;
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

    /// Whether it is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Writes text in which escape sequences set the colours that we chose.
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

/// Keeps all as it is.
impl Output for Vec<u8> {
    fn printed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }
}

/// Whether standard output goes to the file at `path`.
pub fn goes_to(path: &Path) -> bool {
    let of_output = io::stdout().as_fd().try_clone_to_owned().and_then(|fd| File::from(fd).metadata());
    let both = of_output.and_then(|output| Ok((output, fs::metadata(path)?)));
    both.is_ok_and(|(output, file)| (output.dev(), output.ino()) == (file.dev(), file.ino()))
}

/// Writes to standard error text in which escape sequences set the colours that we chose. If it cannot be written, the exit status still
/// shows it.
pub fn say_error(text: &str) {
    let _ = io::stderr().write_all(visible_styled(text).as_bytes());
}
