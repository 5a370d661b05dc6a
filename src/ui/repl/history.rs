//! The history file: one line for each line typed, written as soon as it is.
//!
//! The first line of the file says how the others are written: in `#V2` a line feed within a line is `\n` and a backslash `\\`. A line is
//! appended with one write, so that several sessions may share the file, and nothing of a session that is killed is lost.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::base::save::{cause, save};

/// Lines that are kept.
pub const LINES_MAX: usize = 10_000;
/// A file with more lines than this is cut down to [`LINES_MAX`]: not at every line after them.
const FILE_LINES_MAX: usize = 2 * LINES_MAX;
/// Bytes at the end of the file that are read.
const READ_BYTES_MAX: u64 = 16 << 20;
/// The first line.
const HEADER: &[u8] = b"#V2\n";

/// The file, as far as it can be used.
pub struct HistoryFile {
    path: PathBuf,
    usable: bool,
    /// The last line has no end: the write of it was cut short.
    torn: bool,
}

/// What the file holds.
#[derive(Default)]
pub struct Remembered {
    /// The lines, the oldest first.
    pub lines: Vec<String>,
    /// What is wrong with the file, for people.
    pub complaint: Option<String>,
}

impl HistoryFile {
    /// The file at `path`, and what it holds. There need not be one.
    pub fn open(path: PathBuf) -> (Self, Remembered) {
        let mut file = Self { path, usable: true, torn: false };
        let remembered = match read(&file.path) {
            Ok(None) => Remembered { lines: Vec::new(), complaint: None },
            Ok(Some(bytes)) => file.take_up(&bytes),
            Err(reason) => Remembered { lines: Vec::new(), complaint: Some(file.give_up("read", &reason)) },
        };
        (file, remembered)
    }

    fn take_up(&mut self, bytes: &[u8]) -> Remembered {
        let (escaped, text) = bytes.strip_prefix(HEADER).map_or((false, bytes), |text| (true, text));
        self.torn = !bytes.is_empty() && !bytes.ends_with(b"\n");
        let (mut lines, mut bad) = (Vec::new(), 0);
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match std::str::from_utf8(line) {
                Ok(line) => lines.push(if escaped { unescaped(line) } else { line.to_string() }),
                Err(_) => bad += 1,
            }
        }
        let has_too_many = lines.len() > FILE_LINES_MAX;
        lines.drain(..lines.len().saturating_sub(LINES_MAX));
        let mut complaint = None;
        if bad > 0 {
            let of_lines = if bad == 1 { "1 line of it is".to_string() } else { format!("{bad} lines of it are") };
            complaint = Some(format!("{}: {of_lines} not UTF-8 and left out", self.path.display()));
        }
        if has_too_many || !escaped && !bytes.is_empty() {
            let text: Vec<u8> = HEADER.iter().copied().chain(lines.iter().flat_map(|line| written(line))).collect();
            match save(&self.path, &[&text]) {
                Ok(()) => self.torn = false,
                Err(error) => complaint = Some(self.give_up("write", &cause(&error))),
            }
        }
        Remembered { lines, complaint }
    }

    /// Appends a line; what is wrong, the first time that it cannot be done.
    pub fn append(&mut self, line: &str) -> Option<String> {
        if !self.usable {
            return None;
        }
        match self.try_append(line) {
            Ok(()) => None,
            Err(error) => Some(self.give_up("write", &cause(&error))),
        }
    }

    fn try_append(&mut self, line: &str) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // What an editor or a system administrator put in its place meanwhile must not hang the prompt.
        let mut file = unhurried().append(true).create(true).mode(0o600).open(&self.path)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other(NOT_REGULAR));
        }
        let begin: &[u8] = match (found.len(), self.torn) {
            (0, _) => HEADER,
            (_, true) => b"\n",
            (_, false) => b"",
        };
        self.torn = true;
        file.write_all(&[begin, &written(line)].concat())?;
        self.torn = false;
        Ok(())
    }

    /// The file is not used any more.
    fn give_up(&mut self, verb: &str, reason: &str) -> String {
        self.usable = false;
        format!("cannot {verb} the history file {}: {reason}; what is typed is not kept beyond this session", self.path.display())
    }
}

const NOT_REGULAR: &str = "it is not a regular file";

/// Opening a FIFO or a device does not wait for anything.
fn unhurried() -> OpenOptions {
    let mut options = File::options();
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    options
}

/// The content of the file, or its end; none if there is no file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let mut file = match unhurried().read(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cause(&error)),
    };
    let found = file.metadata().map_err(|error| cause(&error))?;
    if !found.is_file() {
        return Err(NOT_REGULAR.to_string());
    }
    let mut bytes = Vec::new();
    let cut = found.len().saturating_sub(READ_BYTES_MAX);
    let done = file.seek(SeekFrom::Start(cut)).and_then(|_| file.take(READ_BYTES_MAX).read_to_end(&mut bytes));
    done.map_err(|error| cause(&error))?;
    if cut > 0 {
        let first_end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        bytes.splice(..first_end, HEADER.iter().copied());
    }
    Ok(Some(bytes))
}

/// A line as it stands in the file, with its end.
fn written(line: &str) -> Vec<u8> {
    (line.replace('\\', r"\\").replace('\n', r"\n") + "\n").into_bytes()
}

fn unescaped(line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, chars.as_str().chars().next()) {
            ('\\', Some(escaped @ ('n' | '\\'))) => {
                text.push(if escaped == 'n' { '\n' } else { '\\' });
                chars.next();
            }
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        for line in ["print 1", "a\nb", r"\n", r"\\", "\\", "é"] {
            let bytes = written(line);
            let text = std::str::from_utf8(&bytes).unwrap_or_default();
            assert_eq!(text.matches('\n').count(), 1);
            assert_eq!(unescaped(text.trim_end_matches('\n')), line);
        }
        assert_eq!(unescaped(r"\t"), r"\t");
    }
}
