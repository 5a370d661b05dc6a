//! Locations in the code as a user writes them, for `break`, `until`, `advance`, `list` and similar commands.
//!
//! | written | means |
//! | --- | --- |
//! | nothing | the focused lane's instruction |
//! | `37`, `collatz.ptx:37` | a line of the PTX text: the first instruction on it or after it |
//! | `+2`, `-2` | a line of the PTX text, counted from the current one |
//! | `kernel.cu:12` | a source line (`.loc`): every instruction at which it is entered |
//! | `sgemm`, `lin::scale<float>` | a kernel or function: its first instruction, and where it begins in the place of calls |
//! | `$L__BB0_2`, `sgemm:$L__BB0_2` | a label, of the focused function first |
//! | `*0x12`, `*18`, `*$pc+1`, `*sgemm+4` | an instruction by its number |
//! | `op atom.*` | every instruction whose opcode the pattern matches ([`Pattern`]) |
//!
//! A *pc* is the number of an instruction in the module, from 0. It is shown in hexadecimal, as `0x12`, and typed after a star.

use super::lines;
use super::names;
use super::opcode::Pattern;
use super::resolved::Resolved;
use crate::debug::argument::ArgumentError;
use crate::dwarf::LazyDebugInfo;
use crate::program::{Pc, Program};

/// A location in the code as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// The focused lane's instruction.
    Here,
    /// An instruction by its number.
    Pc(u64),
    /// An instruction counted from the focused lane's instruction.
    PcOffset(i64),
    /// An instruction counted from the first one of a function or of a label.
    NameOffset {
        /// The function or label.
        name: String,
        /// The instructions.
        offset: i64,
    },
    /// A line of a file; of the PTX text if no file is named.
    Line {
        /// The file.
        file: Option<String>,
        /// The line, from 1.
        line: u32,
    },
    /// A line of the PTX text, counted from the current one.
    LineOffset(i64),
    /// A function or label.
    Name {
        /// The function a label is in, or the file a function is in.
        scope: Option<String>,
        /// Its name.
        name: String,
    },
    /// All instructions whose opcode matches.
    Opcode(Pattern),
}

impl Location {
    /// Reads a location as the user typed it.
    ///
    /// # Errors
    /// It has none of the forms above.
    pub fn parse(text: &str) -> Result<Self, ArgumentError> {
        let start = text.len() - text.trim_start().len();
        let text = text.trim();
        let parsed = match text.split_once(char::is_whitespace) {
            Some(("op", pattern)) => Pattern::parse(pattern.trim()).map(Location::Opcode),
            // Template and function arguments are separated by blanks, and so is the type of a conversion.
            Some(_) if (text.contains(['<', '(']) || Program::names_operator(text)) && !text.starts_with(['*', '+', '-']) => {
                Self::parse_arg(text)
            }
            Some((_, rest)) => Err(ArgumentError::new(format!("'{}' is not expected after a location", rest.trim()))
                .at(text.len() - rest.trim_start().len()..text.len())),
            None => Self::parse_arg(text),
        };
        parsed.map_err(|error| if error.span.is_some() { error } else { error.at(0..text.len()) }).map_err(|error| error.shifted(start))
    }

    fn parse_arg(text: &str) -> Result<Self, ArgumentError> {
        if text == "op" {
            return Err(ArgumentError::new("an opcode is expected after 'op'").with_help("such as 'op atom.*'"));
        }
        if text.is_empty() {
            return Ok(Location::Here);
        }
        if let Some(number) = text.strip_prefix('*') {
            return parse_pc(number);
        }
        if text.starts_with(['+', '-']) {
            let offset = text.parse().ok().filter(|offset| i32::try_from(*offset).is_ok());
            return offset.map(Location::LineOffset).ok_or_else(|| ArgumentError::new(format!("'{text}' is not a number of lines")));
        }
        let (scope, name) = match split_scope(text) {
            None => (None, text),
            Some((scope, name)) if scope.is_empty() || name.is_empty() => {
                return Err(ArgumentError::new(format!("'{scope}:{name}' lacks a side")).with_help("FILE:LINE or FUNCTION:LABEL"));
            }
            Some((scope, name)) => (Some(scope.to_string()), name),
        };
        if !name.starts_with(|first: char| first.is_ascii_digit()) {
            return Ok(Location::Name { scope, name: name.to_string() });
        }
        match name.parse() {
            Ok(line) if line > 0 => Ok(Location::Line { file: scope, line }),
            Ok(_) => Err(ArgumentError::new("lines count from 1")),
            Err(_) => Err(ArgumentError::new(format!("'{name}' is not a line number"))
                .with_help("a line, a label, a function, '*PC', or 'op PATTERN'")),
        }
    }

    /// The instructions that it means, with the focused lane at `current`; none if the lane has exited.
    ///
    /// # Errors
    /// There are none, or the location is ambiguous.
    pub fn resolve(&self, program: &Program, current: Option<Pc>) -> Result<Resolved, ArgumentError> {
        self.resolve_with(program, None, current)
    }

    /// The same with the debug data of the program, which knows functions in the place of their calls.
    ///
    /// # Errors
    /// There are none, or the location is ambiguous.
    pub fn resolve_with(&self, program: &Program, data: Option<&LazyDebugInfo>, current: Option<Pc>) -> Result<Resolved, ArgumentError> {
        let found = self.resolve_all(program, data, current)?;
        found.ambiguous.clone().map_or(Ok(found), Err)
    }

    /// The same, where the name of several functions means all of them.
    ///
    /// # Errors
    /// There are none.
    pub fn resolve_all(&self, program: &Program, data: Option<&LazyDebugInfo>, current: Option<Pc>) -> Result<Resolved, ArgumentError> {
        let nowhere = || ArgumentError::new("the focused thread has no position: it has exited or not started");
        let one = |pc| Resolved::at(vec![pc]);
        match self {
            Location::Here => current.map(one).ok_or_else(nowhere),
            Location::Pc(number) => instruction(program, i128::from(*number)).map(one),
            Location::PcOffset(offset) => {
                let current = current.ok_or_else(nowhere)?;
                instruction(program, i128::from(current.0) + i128::from(*offset)).map(one)
            }
            Location::NameOffset { name, offset } => {
                let found = names::resolve(program, data, (None, name), current)?;
                let found = found.ambiguous.clone().map_or(Ok(found), Err)?;
                let first = found.first().ok_or_else(|| ArgumentError::new(format!("'{name}' has no instructions")))?;
                instruction(program, i128::from(first.0) + i128::from(*offset)).map(one)
            }
            Location::Line { file, line } => lines::resolve(program, data, file.as_deref(), *line),
            Location::LineOffset(offset) => {
                let current = program.line(current.ok_or_else(nowhere)?);
                let line = u32::try_from(i64::from(current).saturating_add(*offset)).ok().filter(|line| *line > 0);
                let line = line.ok_or_else(|| ArgumentError::new(format!("line {current}{offset:+} is before the first")))?;
                lines::resolve(program, data, None, line)
            }
            Location::Name { scope, name } => names::resolve(program, data, (scope.as_deref(), name), current),
            Location::Opcode(pattern) => pattern.resolve(program),
        }
    }
}

/// `a.cu` and `12` of `a.cu:12`: the text before and after the last single colon outside parentheses and angle brackets.
fn split_scope(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut found) = (0_i32, None);
    for (at, c) in text.char_indices() {
        let is_single = || !text[..at].ends_with(':') && !text[at + 1..].starts_with(':');
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ':' if depth == 0 && is_single() => found = Some(at),
            _ => {}
        }
    }
    found.map(|at| (&text[..at], &text[at + 1..]))
}

/// `18`, `0x12`, `$pc`, `$pc+1`, `$pc-1`.
fn parse_pc(text: &str) -> Result<Location, ArgumentError> {
    let wrong = || ArgumentError::new(format!("'*{text}' is not an instruction")).with_help("such as *18, *0x12, *$pc+1 or *gemm+4");
    match text.strip_prefix("$pc") {
        Some("") => Ok(Location::PcOffset(0)),
        Some(offset) if offset.starts_with(['+', '-']) => offset.parse().map(Location::PcOffset).map_err(|_| wrong()),
        Some(_) => Err(wrong()),
        None => {
            let number = match text.strip_prefix("0x") {
                Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16),
                _ => text.parse(),
            };
            match number {
                Ok(number) => Ok(Location::Pc(number)),
                Err(_) if text.starts_with(|first: char| first.is_ascii_digit()) => Err(wrong()),
                Err(_) => name_offset(text).ok_or_else(wrong),
            }
        }
    }
}

/// `gemm+4`, `$L__BB0_2-1`, `gemm`.
fn name_offset(text: &str) -> Option<Location> {
    let (name, offset) = match text.rfind(['+', '-']) {
        Some(at) => (&text[..at], text[at..].parse().ok()?),
        None => (text, 0),
    };
    (!name.is_empty()).then(|| Location::NameOffset { name: name.trim().to_string(), offset })
}

fn instruction(program: &Program, number: i128) -> Result<Pc, ArgumentError> {
    let count = program.code.len();
    let index = usize::try_from(number).ok().filter(|index| *index < count);
    index.map(Pc::new).ok_or_else(|| ArgumentError::new(format!("there is no instruction {number}: the module has {count}, from 0")))
}
