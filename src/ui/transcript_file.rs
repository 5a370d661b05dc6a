//! The file that `set transcript` names: it gets all that is typed and answered, without colours.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
