//! Reading and writing the text of launch files, and finding the place of what is wrong in them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::data::DataFiles;
use super::file::{Content, Init, Launch, Memory};
use super::ron_text::{self, RonKind};
use super::value_path::{self, ValuePath};
use crate::base::{Diagnostic, SourceFile, SourceId, Sources, Span};
use crate::program::map;

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

    /// The addresses of memory that the file names, and those near them; of memory whose size the file does not say, as many as its data
    /// has bytes.
    pub fn occupied(&self) -> Vec<Range<u64>> {
        let memory = self.launches().into_iter().flat_map(|(_, launch)| &launch.memory);
        memory.filter_map(|memory| self.extent(memory)).collect()
    }

    fn extent(&self, memory: &Memory) -> Option<Range<u64>> {
        let at = memory.at?;
        let said = memory.shape.clone().or(memory.len.map(|len| vec![len]));
        let elements = said.and_then(|shape| shape.iter().try_fold(1, |product: u64, extent| product.checked_mul(*extent)));
        let of_file = || match memory.init.split().0 {
            Init::File(name) | Init::Slice { file: name, .. } => {
                DataFiles::default().get(&self.folder.join(name)).map_or(0, |file| file.bytes)
            }
            Init::Values(values) => (values.len() as u64).saturating_mul(memory.elem.bytes().into()),
            Init::Zero | Init::Uninit | Init::Byte(_) | Init::Fill(_) | Init::Iota { .. } | Init::Random { .. } => 0,
            Init::Pages(_) | Init::With(..) => 0,
        };
        let bytes = elements.map_or_else(of_file, |elements| elements.saturating_mul(memory.elem.bytes().into()));
        Some(at.saturating_sub(map::GUARD_BYTES)..at.saturating_add(bytes).saturating_add(map::GUARD_BYTES))
    }

    /// The PTX file it names, relative to its folder.
    pub fn module(&self) -> Option<&str> {
        match &self.content {
            Content::Launch(launch) => launch.module.as_deref(),
            Content::Suite(list) | Content::Sequence(list) => list.module.as_deref(),
        }
    }

    /// The PTX files it names that are linked, relative to its folder; nothing where it names one.
    pub fn modules(&self) -> &[String] {
        match &self.content {
            Content::Launch(launch) => &launch.modules,
            Content::Suite(list) | Content::Sequence(list) => &list.modules,
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

    /// Makes these the files of its module, or of those that are linked; none where it is to name none.
    pub fn name_modules(&mut self, names: &[String]) {
        let (module, modules) = match self {
            Content::Launch(launch) => (&mut launch.module, &mut launch.modules),
            Content::Suite(list) | Content::Sequence(list) => (&mut list.module, &mut list.modules),
        };
        (*module, *modules) = match names {
            [] => (None, Vec::new()),
            [sole] => (Some(sole.clone()), Vec::new()),
            several => (None, several.to_vec()),
        };
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
