//! Reading and writing the RON files of the screen: layouts and keys.

use serde::de::DeserializeOwned;

use super::{Layout, Node};
use crate::base::{Diagnostic, SourceFile, SourceId, Sources, Span};
use crate::debug::ron_text::{self, RonKind};

/// The maximum number of panes in a layout.
const PANES_MAX: usize = 32;
/// The maximum nesting of splits.
const DEPTH_MAX: usize = 16;

/// An error in a layout file or a key map.
#[derive(Debug)]
pub enum LayoutError {
    /// It cannot be found or read: a message of one line.
    Unreadable(String),
    /// Its contents are wrong: the diagnostic, and the text.
    Wrong(Box<(Sources, Diagnostic)>),
}

/// The description of layout files for error messages.
pub const LAYOUT: RonKind = RonKind {
    code: "layout",
    whole: "a layout file is one Layout(about: \"..\", root: ..)",
    empty: "a layout file is one Layout(about: \"..\", root: ..)",
    numbers: "sizes, shares and minima are whole numbers from 0 to 65535",
};

/// The description of key maps for error messages.
pub const KEYS: RonKind = RonKind {
    code: "keys",
    whole: "a key map is one KeyMap(commands: {..}, screen: {..})",
    empty: "a key map is one KeyMap(commands: {..}, screen: {..})",
    numbers: "there are no numbers in a key map",
};

/// Reads a RON file called `name`.
///
/// # Errors
/// The first error in the file.
pub fn parse<T: DeserializeOwned>(name: &str, text: String, kind: &RonKind) -> Result<T, LayoutError> {
    let mut sources = Sources::default();
    let source = sources.add(SourceFile::new(name, text));
    ron_text::parse(&sources, source, kind).map_err(|diagnostic| LayoutError::Wrong(Box::new((sources, diagnostic))))
}

impl Layout {
    /// Reads the text of the layout file called `name`.
    ///
    /// # Errors
    /// The first error in the file; a layout without panes, or with too many.
    pub fn parse(name: &str, text: String) -> Result<Self, LayoutError> {
        let end = text.len();
        let layout: Layout = parse(name, text.clone(), &LAYOUT)?;
        let panes = layout.panes().len();
        let wrong = match (panes, depth(&layout.root)) {
            (0, _) => "the layout has no pane".to_string(),
            (panes, _) if panes > PANES_MAX => format!("the layout has {panes} panes, {PANES_MAX} at most"),
            (_, depth) if depth > DEPTH_MAX => format!("splits stand {depth} deep inside each other, {DEPTH_MAX} at most"),
            _ => return Ok(layout),
        };
        let mut sources = Sources::default();
        let source = sources.add(SourceFile::new(name, text));
        let start = sources.file(source).text().find("root").unwrap_or(0);
        Err(LayoutError::Wrong(Box::new((sources, whole(source, start, end, wrong)))))
    }

    /// The text of a layout file with this layout.
    pub fn to_text(&self) -> String {
        ron_text::to_text(self)
    }
}

fn whole(source: SourceId, start: usize, end: usize, message: String) -> Diagnostic {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Diagnostic::error(LAYOUT.code, Span::new(source, offset(start), offset(end)), message)
}

fn depth(node: &Node) -> usize {
    match node {
        Node::Pane(_) => 0,
        Node::Rows(parts) | Node::Columns(parts) => 1 + parts.iter().map(|part| depth(&part.of)).max().unwrap_or(0),
    }
}
