//! The history file: one line for each typed line, written at once.
//!
//! The first line of the file is the version of its format: in `#V2` a line feed within a line is `\n` and a backslash `\\`. A line is
//! appended with one write, so that several sessions can share the file, and no line of a session that is killed is lost.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::base::save::{cause, save};

/// The number of lines that are retained.
pub const LINES_MAX: usize = 10_000;
/// A file with more lines than this is truncated to [`LINES_MAX`], so that it is not rewritten for every line.
const FILE_LINES_MAX: usize = 2 * LINES_MAX;
/// The maximum number of bytes that are read, at the end of the file.
const READ_BYTES_MAX: u64 = 16 << 20;
/// The first line.
const HEADER: &[u8] = b"#V2\n";

/// The history file.
pub struct HistoryFile {
    path: PathBuf,
    /// False after an error: the file is not used any more.
    usable: bool,
    /// True if the last line has no line feed, because its write was incomplete.
    is_truncated: bool,
}

/// The contents of the file.
#[derive(Default)]
pub struct LoadedHistory {
    /// The lines, the oldest first.
    pub lines: Vec<String>,
    /// The error message if the file cannot be used, or lines are skipped.
    pub complaint: Option<String>,
}

impl HistoryFile {
    /// The file at `path`, which need not exist, and its contents.
    pub fn open(path: PathBuf) -> (Self, LoadedHistory) {
        let mut file = Self { path, usable: true, is_truncated: false };
        let remembered = match read(&file.path) {
            Ok(None) => LoadedHistory { lines: Vec::new(), complaint: None },
            Ok(Some(bytes)) => file.parse(&bytes),
            Err(reason) => LoadedHistory { lines: Vec::new(), complaint: Some(file.give_up("read", &reason)) },
        };
        (file, remembered)
    }

    fn parse(&mut self, bytes: &[u8]) -> LoadedHistory {
        let (escaped, text) = bytes.strip_prefix(HEADER).map_or((false, bytes), |text| (true, text));
        self.is_truncated = !bytes.is_empty() && !bytes.ends_with(b"\n");
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
                Ok(()) => self.is_truncated = false,
                Err(error) => complaint = Some(self.give_up("write", &cause(&error))),
            }
        }
        LoadedHistory { lines, complaint }
    }

    /// Appends a line; returns an error message at the first failure.
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
        // The file may have been replaced by a FIFO, which must not hang the prompt.
        let mut file = nonblocking().append(true).create(true).mode(0o600).open(&self.path)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other(NOT_REGULAR));
        }
        let begin: &[u8] = match (found.len(), self.is_truncated) {
            (0, _) => HEADER,
            (_, true) => b"\n",
            (_, false) => b"",
        };
        self.is_truncated = true;
        file.write_all(&[begin, &written(line)].concat())?;
        self.is_truncated = false;
        Ok(())
    }

    /// Stops using the file; returns the error message.
    fn give_up(&mut self, verb: &str, reason: &str) -> String {
        self.usable = false;
        format!("cannot {verb} the history file {}: {reason}; what is typed is not kept beyond this session", self.path.display())
    }
}

const NOT_REGULAR: &str = "it is not a regular file";

/// Options with which opening a FIFO or a device does not block.
fn nonblocking() -> OpenOptions {
    let mut options = File::options();
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    options
}

/// The contents of the file, or the end of them if it is long; `None` if there is no file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let mut file = match nonblocking().read(true).open(path) {
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

/// A line as it is written in the file, with the line feed.
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
