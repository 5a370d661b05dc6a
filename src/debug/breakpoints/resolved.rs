//! The instructions of a location.

use super::Trigger;
use crate::debug::argument::ArgumentError;
use crate::debug::body::begin_of_body;
use crate::program::{Pc, Program};

/// The instructions of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The instructions, in order; not empty.
    pub pcs: Vec<Pc>,
    /// The first instruction of a function that is also called in line: others of `pcs` are in its callers.
    pub own: Option<Pc>,
    /// The line used instead, if the named line has no instruction.
    pub note: Option<String>,
    /// True if it is a line of the source.
    pub is_source_line: bool,
    /// Why it is no single place: several functions have the name.
    pub ambiguous: Option<ArgumentError>,
}

impl Resolved {
    /// These instructions, which are no line of the source.
    pub fn at(pcs: Vec<Pc>) -> Self {
        Self { pcs, own: None, note: None, is_source_line: false, ambiguous: None }
    }

    /// The same, where the body of a function stands for its first instruction.
    #[must_use]
    pub fn in_bodies(mut self, program: &Program) -> Self {
        let body = |pc: Pc| {
            let function = program.function_at(pc).map(|id| &program.functions[id.index()]);
            function.filter(|function| function.code.start == pc.0).map_or(pc, |function| begin_of_body(program, function))
        };
        self.pcs = self.pcs.into_iter().map(body).collect();
        self.own = self.own.map(body);
        self
    }

    /// The instruction that a command for one place means.
    pub fn first(&self) -> Option<Pc> {
        self.own.or_else(|| self.pcs.first().copied())
    }

    /// What triggers a breakpoint there.
    pub fn trigger(self) -> Trigger {
        if self.is_source_line { Trigger::Line(self.pcs) } else { Trigger::Code(self.pcs) }
    }
}
