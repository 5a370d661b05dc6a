//! Advice in one line of text, in which lines of the source are places in the code: the debugger knows the calls that lead to them.

use std::path::Path;

use super::finding::Side;
use crate::machine::{IssuePoint, LaneMask};
use crate::program::{Pc, Program};

/// One line of advice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdviceText {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Words(String),
    Line(AdvicePlace),
}

/// A place in the code that advice names by its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvicePlace {
    /// The instruction.
    pub pc: Pc,
    /// When it was executed, and by which lanes, if an execution is meant.
    pub execution: Option<(IssuePoint, LaneMask)>,
}

impl From<Pc> for AdvicePlace {
    fn from(pc: Pc) -> Self {
        Self { pc, execution: None }
    }
}

impl From<&Side> for AdvicePlace {
    fn from(side: &Side) -> Self {
        Self { pc: side.point.pc, execution: Some((side.point, side.lanes)) }
    }
}

impl<T: Into<String>> From<T> for AdviceText {
    fn from(words: T) -> Self {
        Self { parts: vec![Part::Words(words.into())] }
    }
}

impl AdviceText {
    /// The text with words after it.
    #[must_use]
    pub fn words(mut self, words: impl Into<String>) -> Self {
        self.parts.push(Part::Words(words.into()));
        self
    }

    /// The text with the line of a place after it.
    #[must_use]
    pub fn line(mut self, place: impl Into<AdvicePlace>) -> Self {
        self.parts.push(Part::Line(place.into()));
        self
    }

    /// The text with another one after it.
    #[must_use]
    pub fn text(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// The places whose lines are in it, in order.
    pub fn places(&self) -> impl Iterator<Item = AdvicePlace> {
        self.parts.iter().filter_map(|part| if let Part::Line(place) = part { Some(*place) } else { None })
    }

    /// The text with the lines that `name` gives to places.
    pub fn with_lines(&self, mut name: impl FnMut(AdvicePlace) -> String) -> String {
        let text = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Line(place) => name(*place),
        };
        self.parts.iter().map(text).collect()
    }

    /// The text with lines as the program alone gives them.
    pub fn in_program(&self, program: &Program) -> String {
        self.with_lines(|place| place.line(program))
    }
}

impl AdvicePlace {
    /// The line of the place as the program alone gives it.
    pub fn line(self, program: &Program) -> String {
        line(program, self.pc)
    }
}

/// The source line of an instruction: `k.cu:64` by `.loc`, or else `k.ptx:12`.
fn line(program: &Program, pc: Pc) -> String {
    let lines = program.source_places(pc).filter(|source| source.line > 0);
    let named = lines.filter_map(|source| {
        let (_, name) = program.source_files.iter().find(|(number, _)| *number == source.file)?;
        Some((Path::new(name), source.line))
    });
    let named: Vec<(&Path, u32)> = named.collect();
    // Code of a header is given by the line of the kernel that calls it.
    let is_header = |path: &Path| path.extension().is_some_and(|end| end == "h" || end == "hpp");
    let place = named.iter().find(|(path, _)| !is_header(path)).or(named.first());
    let file_name = |path: &Path| path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    place.map_or_else(|| program.place(pc), |(path, line)| format!("{}:{line}", file_name(path)))
}
