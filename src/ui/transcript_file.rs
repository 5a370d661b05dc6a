//! The file that `set transcript` names: it gets all that is typed and answered, without colours.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[cfg(feature = "tui")]
use super::console::Failed;
use super::output::{Output, Standard, print_error};
#[cfg(feature = "tui")]
use super::text;
use super::visible::visible_bytes;
use crate::debug::settings::Settings;

/// The file, if one is named.
#[derive(Default)]
pub struct TranscriptFile {
    path: Option<PathBuf>,
    file: Option<File>,
    complaint: Option<String>,
}

impl TranscriptFile {
    /// Writes to the file at `path` from now on, which begins with the lines so far; or to none.
    pub fn follow<'a>(&mut self, path: Option<&Path>, so_far: impl Iterator<Item = &'a str>) {
        if self.path.as_deref() == path {
            return;
        }
        (self.path, self.file) = (path.map(Path::to_path_buf), None);
        let Some(path) = path else { return };
        let text: String = so_far.flat_map(|line| [line, "\n"]).collect();
        let begun = File::create(path).and_then(|mut file| file.write_all(text.as_bytes()).map(|()| file));
        self.keep(begun);
    }

    /// Adds a text, which should have no colours.
    pub fn add(&mut self, text: &str) {
        let Some(mut file) = self.file.take() else { return };
        let written = file.write_all(text.as_bytes()).map(|()| file);
        self.keep(written);
    }

    /// The error that has ended the file and was not reported.
    pub fn complaint(&mut self) -> Option<String> {
        self.complaint.take()
    }

    fn keep(&mut self, file: io::Result<File>) {
        match file {
            Ok(file) => self.file = Some(file),
            Err(error) => {
                let path = self.path.as_deref().unwrap_or(Path::new("")).display();
                self.complaint = Some(format!("cannot write the transcript to {path}: {error}"));
            }
        }
    }
}

/// Standard output, and the transcript of what is written to it.
pub struct Recorded {
    out: Standard,
    transcript: TranscriptFile,
}

impl Recorded {
    /// Standard output without a transcript yet.
    pub fn new(out: Standard) -> Self {
        Self { out, transcript: TranscriptFile::default() }
    }

    /// Adds a text to the transcript that is on the terminal, or on standard error, already.
    pub fn record(&mut self, text: &str) {
        self.transcript.add(text);
    }

    /// Writes the error of a line.
    ///
    /// # Errors
    /// It cannot be written.
    #[cfg(feature = "tui")]
    pub fn failed(&mut self, failed: &Failed, color: bool) -> io::Result<()> {
        self.transcript.add(&text::failed(failed, false));
        self.out.styled(&text::failed(failed, color))
    }
}

impl Write for Recorded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.transcript.add(&visible_bytes(bytes));
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Output for Recorded {
    fn printed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.transcript.add(&visible_bytes(bytes));
        self.out.printed(bytes)
    }

    fn follow_settings(&mut self, settings: &Settings) -> io::Result<()> {
        self.transcript.follow(settings.transcript.as_deref(), std::iter::empty());
        if let Some(complaint) = self.transcript.complaint() {
            print_error(&format!("warning: {complaint}\n"));
        }
        Ok(())
    }
}
