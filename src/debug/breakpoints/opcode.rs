//! Locations by a pattern of opcodes: `break op atom.*`.

use super::resolved::Resolved;
use crate::base::Glob;
use crate::debug::argument::ArgumentError;
use crate::program::{Pc, Program};

/// A shell-style pattern for opcodes with their modifiers, as they are written: `*` stands for any letters, `?` for one, and
/// `[abc]`, `[a-z]` and `[!abc]` for one of a set. A pattern without any of these stands for the opcode with any further modifiers:
/// `ld.shared` matches `ld.shared.f32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    glob: Glob,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// It is empty or holds white space, or a set is not closed.
    pub fn parse(text: &str) -> Result<Self, ArgumentError> {
        if text.is_empty() || text.contains(char::is_whitespace) {
            return Err(ArgumentError::new("one opcode is expected after 'op'").with_help("such as 'op atom.*'"));
        }
        let glob = Glob::with_sets(text).ok_or_else(|| ArgumentError::new(format!("a '[' of '{text}' is not closed")))?;
        Ok(Self { text: text.to_string(), glob })
    }

    /// As the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if `opcode` matches.
    pub fn matches(&self, opcode: &str) -> bool {
        if self.glob.is_literal() {
            return opcode.strip_prefix(&self.text).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        }
        self.glob.matches(opcode)
    }

    /// All instructions whose opcode it matches.
    pub(super) fn resolve(&self, program: &Program) -> Result<Resolved, ArgumentError> {
        let pcs: Vec<Pc> = (0..program.code.len()).map(Pc::new).filter(|pc| self.matches(opcode(program, *pc))).collect();
        if pcs.is_empty() {
            let present = (0..program.code.len()).map(|index| stem(opcode(program, Pc::new(index)))).filter(|stem| !stem.is_empty());
            return Err(
                ArgumentError::new(format!("no instruction of the module matches '{}'", self.text)).with_nearest(stem(&self.text), present)
            );
        }
        Ok(Resolved::at(pcs))
    }
}

/// The opcode of the instruction at `pc` with its modifiers; empty for the closing brace of a function.
pub fn opcode(program: &Program, pc: Pc) -> &str {
    program.opcode(pc).map_or("", |opcode| &opcode.text)
}

/// The opcode without its modifiers.
pub(super) fn stem(opcode: &str) -> &str {
    opcode.split('.').next().unwrap_or(opcode)
}
