//! Reading and writing the text of launch files, and finding the place of what is wrong in them.

use std::path::{Path, PathBuf};

use super::file::{Content, Launch};
use super::ron_text::{self, RonKind};
use super::value_path::{self, ValuePath};
use crate::base::{Diagnostic, SourceFile, SourceId, Sources, Span};

/// A launch file with the text it was read from.
#[derive(Debug)]
pub struct LaunchFile {
    /// What it says.
    pub content: Content,
    /// Folder its data files are relative to.
    pub folder: PathBuf,
    /// Holds the text.
    pub sources: Sources,
    /// Where to point when something in it is wrong.
    pub origin: Origin,
    /// The parameters that words of a command give, each with its word.
    pub given: Vec<(ValuePath, SourceId)>,
    /// The parameters of which words of a command say what their buffers must hold at the end, each with its word.
    pub expected: Vec<(ValuePath, SourceId)>,
}

/// Why a launch file cannot be used.
#[derive(Debug)]
pub enum LaunchFileError {
    /// It cannot be read as text, in one line.
    Unreadable(String),
    /// Places that are not what a launch file holds, with the collection that holds the text.
    Wrong(Box<(Sources, Vec<Diagnostic>)>),
}

/// What the places of a launch stand for, for pointing at a mistake.
#[derive(Clone, Debug)]
pub enum Origin {
    /// The text of a launch file.
    Text(SourceId),
    /// Words of a command; this one stands for the launch as a whole.
    Words(SourceId),
}

/// Whether a launch file may take the place of what is at `path`: nothing, a launch file, an empty file, or what is no regular file.
///
/// # Errors
/// What is there is something else, in one line.
pub fn may_replace(path: &Path) -> Result<(), String> {
    if !path.is_file() {
        return Ok(());
    }
    let is_blank = |text: &String| ron_text::is_blank(text);
    let is_launch = || LaunchFile::read(path).is_ok();
    match ron_text::read_text(path) {
        Ok(text) if is_blank(&text) || is_launch() => Ok(()),
        Ok(_) | Err(_) => Err(format!("{} is there and is no launch file, so it is left as it is: choose another name", path.display())),
    }
}

impl LaunchFile {
    /// Reads the launch file at `path`.
    ///
    /// # Errors
    /// The file cannot be read as text, or the text is not that of a launch file.
    pub fn read(path: &Path) -> Result<Self, LaunchFileError> {
        let name = path.display().to_string();
        let text = ron_text::read_text(path).map_err(LaunchFileError::Unreadable)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&name, folder, text).map_err(LaunchFileError::Wrong)
    }

    /// Reads the text of the launch file called `name`, whose data files are relative to `folder`.
    ///
    /// # Errors
    /// The places that are not what a launch file holds, with the collection that holds the text.
    pub fn parse(name: &str, folder: &Path, text: String) -> Result<Self, Box<(Sources, Vec<Diagnostic>)>> {
        let mut sources = Sources::default();
        let source = sources.add(SourceFile::new(name, text));
        match ron_text::parse_advised::<Content>(&sources, source, &KIND) {
            Ok(content) => Ok(Self {
                content,
                folder: folder.to_path_buf(),
                sources,
                origin: Origin::Text(source),
                given: Vec::new(),
                expected: Vec::new(),
            }),
            Err(errors) => Err(Box::new((sources, errors))),
        }
    }

    /// The launches with the places they stand at, in order.
    pub fn launches(&self) -> Vec<(ValuePath, &Launch)> {
        match &self.content {
            Content::Launch(launch) => vec![(ValuePath::default(), launch)],
            Content::Suite(list) | Content::Sequence(list) => {
                let all = ValuePath::default().field("launches");
                list.launches.iter().enumerate().map(|(index, launch)| (all.item(index), launch)).collect()
            }
        }
    }

    /// The PTX file it names, relative to its folder.
    pub fn module(&self) -> Option<&str> {
        match &self.content {
            Content::Launch(launch) => launch.module.as_deref(),
            Content::Suite(list) | Content::Sequence(list) => list.module.as_deref(),
        }
    }

    /// The bytes of the text that say what is at `place`.
    pub fn span(&self, place: &ValuePath) -> Span {
        let words = if place.is_of_expectation() { &self.expected } else { &self.given };
        let word = words.iter().find(|(param, _)| place.is_within(param)).map(|(_, word)| *word);
        match (word, &self.origin) {
            (None, Origin::Text(source)) => value_path::span(&self.sources, *source, place),
            (Some(word), _) | (None, &Origin::Words(word)) => {
                let text = self.sources.file(word).text();
                // A word on what a buffer must hold begins with the buffer's name, which is found before.
                let name = text.find('=').filter(|_| place.is_of_expectation()).map_or(0, |equals| equals + 1);
                Span::new(word, name as u32, text.len() as u32)
            }
        }
    }
}

impl Content {
    /// The launches, in order, to be changed.
    pub fn launches_mut(&mut self) -> &mut [Launch] {
        match self {
            Content::Launch(launch) => std::slice::from_mut(launch),
            Content::Suite(list) | Content::Sequence(list) => &mut list.launches,
        }
    }

    /// The text of a launch file that says this.
    pub fn to_text(&self) -> String {
        ron_text::to_text(self)
    }
}

const KIND: RonKind = RonKind {
    code: "launch",
    whole: "a launch file is one Launch(..), Suite(..) or Sequence(..)",
    empty: "'ptxdbg --batch KERNEL.ptx' prints a made-up launch: save the lines up to the first empty one",
    numbers: "sizes and counts are whole numbers that are not negative: extents are below 2^32, a Byte is 0 to 255",
};
