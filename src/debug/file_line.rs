//! Lines of files, and those of the source that instructions come from.

use serde::Serialize;

use crate::base::file_name;
use crate::program::{Pc, Program, SourceLine};

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileLine {
    /// The file as it is named where it is used: on the command line, by the launch file, by `.file`.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl FileLine {
    /// The place with the name of its file; none if the line is unknown, for which compilers write 0.
    pub(in crate::debug) fn of(program: &Program, place: SourceLine) -> Option<Self> {
        let (_, name) = program.source_files.iter().find(|(number, _)| *number == place.file).filter(|_| place.line > 0)?;
        Some(Self { file: name.clone(), line: place.line })
    }

    /// `file.cu:7`, without folders.
    pub fn short(&self) -> String {
        format!("{}:{}", file_name(&self.file), self.line)
    }
}

/// The line of the source language that `.loc` names, and the call sites of its inlined function, innermost first.
pub(in crate::debug) fn source_lines(program: &Program, pc: Pc) -> Vec<FileLine> {
    program.source_places(pc).filter_map(|place| FileLine::of(program, place)).collect()
}

/// The innermost of them, without folders: `k.cu:12`; none if the module does not say.
pub fn source_line(program: &Program, pc: Pc) -> Option<String> {
    source_lines(program, pc).first().map(FileLine::short)
}
