//! What the text of the source says of variables, which debug data may have nothing of.

use std::fmt::Debug;
use std::ops::RangeInclusive;

use crate::program::{Program, SourceLine};

/// The text of the source as the reader of debug data asks it.
pub trait SourceText: Debug + Send + Sync {
    /// The statements that assign to each of the variables of one file; none of a variable whose text is not at hand.
    fn assignments(&self, program: &Program, file: u32, variables: &[Declaration<'_>]) -> Vec<Option<Vec<Assignment>>>;
}

/// A variable, as the text has it.
#[derive(Clone, Copy, Debug)]
pub struct Declaration<'a> {
    /// Its name.
    pub name: &'a str,
    /// The line that declares it.
    pub line: SourceLine,
    /// True for a parameter.
    pub is_parameter: bool,
}

/// A statement that assigns to a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The lines of the statement.
    pub lines: RangeInclusive<u32>,
    /// The line with the name of the variable.
    pub line: u32,
    /// True if nothing else is assigned in these lines.
    pub is_alone: bool,
}
