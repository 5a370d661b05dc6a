//! `backtrace`: the calls that the focused lane is inside of.

use serde::Serialize;

use super::CodePlace;
use crate::debug::scene::{Scene, SceneError};

/// The calls that a lane is inside of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stack {
    /// Its frames, innermost first.
    pub frames: Vec<FrameRow>,
    /// Outer frames that are left out.
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
    /// The instruction that the innermost frame executes next, and that another has called at.
    pub at: CodePlace,
    /// Whether it is the selected one.
    pub focused: bool,
}

/// The frames of the focused lane; the innermost `limit` of them at most.
///
/// # Errors
/// The thread is not on the machine.
pub fn backtrace(scene: &Scene<'_>, limit: usize) -> Result<Stack, SceneError> {
    let frames = scene.frames()?;
    let row = |(number, frame): (u32, &crate::debug::scene::Frame<'_>)| FrameRow {
        number,
        function: scene.function(frame).name.to_string(),
        at: CodePlace::new(scene.program(), if number == 0 { frame.group.current_pc() } else { frame.pc }),
        focused: number == scene.focus.frame,
    };
    Ok(Stack {
        left_out: frames.len().saturating_sub(limit),
        frames: (0..).zip(&frames).take(limit).map(row).collect(),
        kernel: scene.program().functions[scene.machine.config().kernel.index()].name.to_string(),
    })
}
