//! `backtrace`: the call stack of the focused lane.

use serde::Serialize;

use super::CodePlace;
use crate::debug::eval_context::{EvalContext, ThreadError};

/// The call stack of a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stack {
    /// Its frames, innermost first.
    pub frames: Vec<FrameRow>,
    /// Number of omitted outer frames.
    pub left_out: usize,
    /// The kernel, whose frame is the outermost.
    pub kernel: String,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameRow {
    /// Its number, 0 for the innermost.
    pub number: u32,
    /// The function.
    pub function: String,
    /// The next instruction of the innermost frame; the call instruction of an outer frame.
    pub at: CodePlace,
    /// True if it is the selected one.
    pub focused: bool,
}

/// The innermost `limit` frames of the focused lane.
///
/// # Errors
/// The thread is not resident.
pub fn backtrace(context: &EvalContext<'_>, limit: usize) -> Result<Stack, ThreadError> {
    let frames = context.frames()?;
    let row = |(number, frame): (u32, &crate::debug::eval_context::Frame<'_>)| FrameRow {
        number,
        function: context.function(frame).name.to_string(),
        at: CodePlace::new(context.program(), if number == 0 { frame.group.current_pc() } else { frame.pc }),
        focused: number == context.focus.frame,
    };
    Ok(Stack {
        left_out: frames.len().saturating_sub(limit),
        frames: (0..).zip(&frames).take(limit).map(row).collect(),
        kernel: context.program().functions[context.machine.config().kernel.index()].name.to_string(),
    })
}
