//! Reading and writing the text of launch files, and finding the place of what is wrong in them.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use ron::extensions::Extensions;

use super::data::plain;
use super::file::{Content, Launch};
use super::locate::{self, Place};
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
}

/// Why a launch file cannot be used.
#[derive(Debug)]
pub enum LaunchFileError {
    /// It cannot be read as text, in one line.
    Unreadable(String),
    /// A place that is not what a launch file holds, with the collection that holds the text.
    Wrong(Box<(Sources, Diagnostic)>),
}

/// What the places of a launch stand for, for pointing at a mistake.
#[derive(Clone, Debug)]
pub enum Origin {
    /// The text of a launch file.
    Text(SourceId),
    /// One `--arg` word for each parameter; the first source stands for the launch as a whole.
    Words(SourceId, Vec<SourceId>),
}

impl LaunchFile {
    /// Reads the launch file at `path`.
    ///
    /// # Errors
    /// The file cannot be read as text, or the text is not that of a launch file.
    pub fn read(path: &Path) -> Result<Self, LaunchFileError> {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|reason| LaunchFileError::Unreadable(format!("cannot read {name}: {reason}")))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&name, folder, text).map_err(LaunchFileError::Wrong)
    }

    /// Reads the text of the launch file called `name`, whose data files are relative to `folder`.
    ///
    /// # Errors
    /// The first place that is not what a launch file holds, with the collection that holds the text.
    pub fn parse(name: &str, folder: &Path, text: String) -> Result<Self, Box<(Sources, Diagnostic)>> {
        let mut sources = Sources::default();
        let source = sources.add(SourceFile::new(name, text));
        match options().from_str::<Content>(sources.file(source).text()) {
            Ok(content) => Ok(Self { content, folder: folder.to_path_buf(), sources, origin: Origin::Text(source) }),
            Err(error) => {
                let diagnostic = syntax_error(sources.file(source), source, &error);
                Err(Box::new((sources, diagnostic)))
            }
        }
    }

    /// The launches with the places they stand at, in order.
    pub fn launches(&self) -> Vec<(Place, &Launch)> {
        match &self.content {
            Content::Launch(launch) => vec![(Place::default(), launch)],
            Content::Suite(list) | Content::Sequence(list) => {
                let all = Place::default().field("launches");
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
    pub fn span(&self, place: &Place) -> Span {
        match &self.origin {
            Origin::Text(source) => locate::span(&self.sources, *source, place),
            Origin::Words(whole, words) => {
                let source = place.param().and_then(|index| words.get(index)).unwrap_or(whole);
                Span::new(*source, 0, self.sources.file(*source).text().len() as u32)
            }
        }
    }
}

impl Content {
    /// The text of a launch file that says this.
    pub fn to_text(&self) -> String {
        let style = ron::ser::PrettyConfig::new().depth_limit(2).struct_names(false).new_line("\n");
        // Writing to a string fails on no value of these types.
        options().to_string_pretty(self, style).unwrap_or_default()
    }
}

/// Longest launch file that is read; a suite of 350 launches has 700 KB.
const TEXT_BYTES_MAX: u64 = 256 << 20;

fn read_text(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| plain(&error))?;
    let mut bytes = Vec::new();
    file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| plain(&error))?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(format!("it has more than {TEXT_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| format!("it is not text: byte {} is not UTF-8", error.utf8_error().valid_up_to()))
}

fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
}

/// The place that `ron` names, and its wording in our style.
fn syntax_error(file: &SourceFile, source: SourceId, error: &ron::error::SpannedError) -> Diagnostic {
    let start = file.offset(error.span.start.line as u32, error.span.start.col as u32);
    let end = file.offset(error.span.end.line as u32, error.span.end.col as u32);
    let (message, help) = reword(&error.code);
    let diagnostic = Diagnostic::error("launch", Span::new(source, start, end.max(start)), message);
    if help.is_empty() { diagnostic } else { diagnostic.with_help(help) }
}

/// What is wrong, and what would be right if that is known.
fn reword(error: &ron::Error) -> (String, String) {
    let of = |outer: &Option<String>| outer.as_ref().map_or(String::new(), |outer| format!(" of {outer}"));
    match error {
        ron::Error::NoSuchStructField { expected, found, outer } => {
            (format!("there is no field '{found}'{}", of(outer)), format!("fields: {}", expected.join(", ")))
        }
        ron::Error::MissingStructField { field, outer } => (format!("field '{field}'{} is missing", of(outer)), String::new()),
        ron::Error::NoSuchEnumVariant { expected, found, .. } => {
            (format!("'{found}' is none of what can stand here"), format!("expected one of {}", expected.join(", ")))
        }
        ron::Error::IntegerOutOfBounds => (
            "this number is out of range".to_string(),
            "sizes and counts are whole numbers that are not negative: extents are below 2^32, a Byte is 0 to 255".to_string(),
        ),
        ron::Error::Eof => {
            ("the file ends too early".to_string(), "a launch file is one Launch(..), Suite(..) or Sequence(..)".to_string())
        }
        other => {
            let message = other.to_string();
            let mut letters = message.chars();
            let lowered = letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect());
            (lowered, String::new())
        }
    }
}
