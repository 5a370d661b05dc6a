//! Calls in whose place compilers put the called functions.

use super::SourceLine;
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
