//! Why a piece of a kernel is no test.

use crate::debug::run::RunError;
use crate::program::{Pc, Program};

/// Why there is no test.
#[derive(Debug, thiserror::Error)]
pub enum ExcerptError {
    /// The lines have no counterpart, or the run does not reach them: a message of one line.
    #[error("{0}")]
    Refused(String),
    /// An error that does not come from the kernel.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// An instruction without a counterpart in a litmus test.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pc: Pc,
    why: String,
}

impl Refusal {
    pub fn new(pc: Pc, why: impl Into<String>) -> Self {
        Self { pc, why: why.into() }
    }

    /// `kernel.ptx:14: atom.global.inc.u32 has no counterpart in a litmus test: …`
    pub fn in_words(&self, program: &Program) -> ExcerptError {
        let opcode = program.opcode(self.pc).map_or("this", |opcode| &*opcode.text);
        let why = if self.why.is_empty() { String::new() } else { format!(": {}", self.why) };
        ExcerptError::Refused(format!("{}: {opcode} has no counterpart in a litmus test{why}", program.place(self.pc)))
    }
}
