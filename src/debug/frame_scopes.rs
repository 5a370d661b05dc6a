//! The line and the scopes of variables of a frame, which may be that of an inlined function.

use super::eval_context::{EvalContext, Frame};
use super::inlined::{CallInPlace, calls_at, scopes_at};
use crate::dwarf::{DebugInfo, ScopeId};
use crate::program::{Pc, Program, SourceLine};

/// The line of the selected frame, whose instruction is `pc`: that of the instruction, or of the call of the inlined function further in.
pub fn line_of_frame(context: &EvalContext<'_>, pc: Pc) -> Option<SourceLine> {
    line_of(context, pc, context.frame().map_or(0, |frame| frame.inlined))
}

/// The line of a frame that `inlined` inlined functions lie in.
pub fn line_of(context: &EvalContext<'_>, pc: Pc, inlined: u32) -> Option<SourceLine> {
    let calls = if inlined == 0 { Vec::new() } else { calls_at(context.program(), context.source_data(), pc) };
    line_among(context.program(), pc, &calls, inlined)
}

/// The line of a frame that the first `inlined` of the calls around its instruction lie in.
pub fn line_among(program: &Program, pc: Pc, calls: &[CallInPlace], inlined: u32) -> Option<SourceLine> {
    match inlined.checked_sub(1) {
        None => program.source_line(pc),
        Some(further_in) => calls.get(further_in as usize)?.at,
    }
}

/// The scopes of a frame, innermost first; the functions that called an inlined one follow it.
pub fn scopes_of(context: &EvalContext<'_>, info: &DebugInfo, frame: &Frame<'_>) -> Vec<ScopeId> {
    let mut scopes = scopes_at(context.program(), info, frame.position());
    let calls = calls_at(context.program(), Some(info), frame.position());
    // Inlined functions further in that have a scope.
    let further_in = calls.iter().take(frame.inlined as usize).filter_map(|call| call.scope).next_back();
    if let Some(last) = further_in
        && let Some(at) = scopes.iter().position(|id| *id == last)
    {
        scopes.drain(..=at);
    }
    scopes
}
