//! Calls in whose place compilers put the called functions.

use super::{Pc, Program, SourceLine};
use crate::base::define_id;

define_id!(
    /// A function that was put in the place of its calls: an index into [`Program::inlined_functions`](super::Program::inlined_functions).
    InlinedFunctionId, "inlined function"
);

/// A call in whose place the compiler put the called function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InlinedCall {
    /// The called function, if the module names it.
    pub function: Option<InlinedFunctionId>,
    /// The place of the call.
    pub at: SourceLine,
}

impl Program {
    /// The place of an instruction in the source, if it is known; its line is 0 for what compilers add by themselves.
    pub fn source_line(&self, pc: Pc) -> Option<SourceLine> {
        self.source_lines.get(pc.index()).copied().flatten()
    }

    /// The place of an instruction in the source, if it is known, and those of the inlined calls that lead to it, innermost first.
    pub fn source_places(&self, pc: Pc) -> impl Iterator<Item = SourceLine> + '_ {
        self.source_line(pc).into_iter().chain(self.inlined_calls.get(&pc).into_iter().flatten().map(|call| call.at))
    }
}
