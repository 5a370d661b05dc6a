//! Reads and writes the text of launch files, and finds the line and column of a mistake in them.

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
    /// The launches that it describes.
    pub content: Content,
    /// The folder that its data files are relative to.
    pub folder: PathBuf,
    /// The collection with the text.
    pub sources: Sources,
    /// The text that a diagnostic about it points to.
    pub origin: Origin,
    /// Parameters whose value comes from a command-line argument, with that argument.
    pub given: Vec<(ValuePath, SourceId)>,
    /// Parameters whose expected contents come from a command-line argument, with that argument.
    pub expected: Vec<(ValuePath, SourceId)>,
}

/// The reason why a launch file cannot be used.
#[derive(Debug)]
pub enum LaunchFileError {
    /// It cannot be read as text, in one line.
    Unreadable(String),
    /// The mistakes in it, with the collection that holds the text.
    Wrong(Box<(Sources, Vec<Diagnostic>)>),
}

/// The source of the values of a launch.
#[derive(Clone, Debug)]
pub enum Origin {
    /// The text of a launch file.
    Text(SourceId),
    /// Arguments of the command line; this one stands for the launch as a whole.
    Arguments(SourceId),
}

/// Checks that a launch file may be written to `path`: there is no file, a launch file, an empty file, or one that is not regular.
///
/// # Errors
/// There is a file of another kind, in one line.
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
    /// The mistakes in it, with the collection that holds the text.
    pub fn parse(name: &str, folder: &Path, text: String) -> Result<Self, Box<(Sources, Vec<Diagnostic>)>> {
        let mut sources = Sources::default();
        let source = sources.add(SourceFile::new(name, text));
        match ron_text::parse_with_hints::<Content>(&sources, source, &KIND) {
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

    /// The launches with their paths in the file, in order.
    pub fn launches(&self) -> Vec<(ValuePath, &Launch)> {
        match &self.content {
            Content::Launch(launch) => vec![(ValuePath::default(), launch)],
            Content::Suite(list) | Content::Sequence(list) => {
                let all = ValuePath::default().field("launches");
                list.launches.iter().enumerate().map(|(index, launch)| (all.item(index), launch)).collect()
            }
        }
    }

    /// The address ranges of memory with a fixed address, with a margin; without an explicit size, that of the data.
    pub fn occupied(&self) -> Vec<Range<u64>> {
        let memory = self.launches().into_iter().flat_map(|(_, launch)| &launch.memory);
        memory.filter_map(|memory| self.extent(memory)).collect()
    }

    fn extent(&self, memory: &Memory) -> Option<Range<u64>> {
        let at = memory.at?;
        let shape = memory.shape.clone().or(memory.len.map(|len| vec![len]));
        let elements = shape.and_then(|shape| shape.iter().try_fold(1, |product: u64, extent| product.checked_mul(*extent)));
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

    /// The PTX files that it names to be linked, relative to its folder; empty if it names a single one.
    pub fn modules(&self) -> &[String] {
        match &self.content {
            Content::Launch(launch) => &launch.modules,
            Content::Suite(list) | Content::Sequence(list) => &list.modules,
        }
    }

    /// The bytes of the text that the value at `path` comes from.
    pub fn span(&self, path: &ValuePath) -> Span {
        let arguments = if path.is_of_expectation() { &self.expected } else { &self.given };
        let argument = arguments.iter().find(|(param, _)| path.is_within(param)).map(|(_, argument)| *argument);
        match (argument, &self.origin) {
            (None, Origin::Text(source)) => value_path::span(&self.sources, *source, path),
            (Some(argument), _) | (None, &Origin::Arguments(argument)) => {
                let text = self.sources.file(argument).text();
                // An argument with expected contents is `NAME=VALUES`: the value comes after the name.
                let start = text.find('=').filter(|_| path.is_of_expectation()).map_or(0, |equals| equals + 1);
                Span::new(argument, start as u32, text.len() as u32)
            }
        }
    }
}

impl Content {
    /// The launches, in order, mutable.
    pub fn launches_mut(&mut self) -> &mut [Launch] {
        match self {
            Content::Launch(launch) => std::slice::from_mut(launch),
            Content::Suite(list) | Content::Sequence(list) => &mut list.launches,
        }
    }

    /// Sets the file of its module, or the files that are linked; no names remove them.
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

    /// The text of a launch file with these launches.
    pub fn to_text(&self) -> String {
        ron_text::to_text(self)
    }
}

/// Messages for launch files. A made-up launch is one that is generated from the kernel.
const KIND: RonKind = RonKind {
    code: "launch",
    whole: "a launch file is one Launch(..), Suite(..) or Sequence(..)",
    empty: "'ptxdbg --batch KERNEL.ptx' prints a made-up launch: save the lines up to the first empty one",
    numbers: "sizes and counts are whole numbers that are not negative: extents are below 2^32, a Byte is 0 to 255",
};
