//! `backtrace`: the calls that the focused lane is inside of.

use super::{Table, place, statement};
use crate::debug::scene::{Scene, SceneError};

/// The frames of the focused lane, innermost first; `limit` of them at most.
///
/// # Errors
/// The thread is not on the machine.
pub fn backtrace(scene: &Scene<'_>, limit: usize) -> Result<Table, SceneError> {
    let frames = scene.frames()?;
    let mut table = Table::new(&[">#", "function", "at", ""]);
    for (number, frame) in frames.iter().enumerate().take(limit) {
        let pc = if number == 0 { frame.group.stands_at() } else { frame.pc };
        let function = scene.function(frame).name.to_string();
        let (place, statement) = (place(scene.program(), pc), statement(scene.program(), pc));
        table.push(number == scene.focus.frame as usize, [number.to_string(), function, place, statement]);
    }
    if frames.len() > limit {
        table.note = Some(format!("and {} more frames, the outermost '{}'", frames.len() - limit, outermost(scene)));
    }
    Ok(table)
}

fn outermost(scene: &Scene<'_>) -> String {
    scene.program().functions[scene.machine.config().kernel.index()].name.to_string()
}
