//! A piece of a kernel as a litmus test: the instructions on some lines, as some threads of a run execute them.
//!
//! The case runs once, with sequentially consistent memory (`recording`): it says with which registers each thread comes to its lines,
//! what memory holds before, and what is left. What the lines compute from these registers alone are constants (`constants`): addresses,
//! indices, decisions. What depends on what they load, or changes from pass to pass of a loop, becomes a register of the test (`code`,
//! `column`). Whatever a litmus test has no instruction for is refused with its line: nothing is left out that could matter.

mod code;
mod column;
mod constants;
mod liveness;
mod locations;
mod place;
mod recording;
mod refusal;
mod selection;
mod text;

use std::sync::Arc;

use self::code::{Translation, translated};
use self::constants::Flow;
use self::locations::Locations;
use self::recording::record;
pub use self::refusal::ExcerptError;
use self::selection::chosen_of;
pub use self::selection::{ExcerptRequest, LineRange, ThreadName};
use super::eval_context::Buffer;
use super::run::RunOptions;
use crate::launch::Case;
use crate::program::Program;

/// A piece of a kernel as a litmus test.
#[derive(Clone, Debug)]
pub struct Excerpt {
    /// The test, in the PTX format of herd.
    pub test: String,
    /// What the test leaves out, a line each.
    pub notes: Vec<String>,
}

/// The test of these lines and threads, by one run of `case`.
///
/// # Errors
/// The lines or threads do not exist, are not reached, or have no counterpart; or the run cannot begin.
pub fn excerpt(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    request: &ExcerptRequest,
    interrupt: &dyn Fn() -> bool,
) -> Result<Excerpt, ExcerptError> {
    let (kernel, threads) = chosen_of(program, case, request).map_err(ExcerptError::Refused)?;
    let recording = record((program, case, options), kernel, &threads, interrupt)?;
    let buffers = Buffer::of_case(case);
    let mut locations = Locations::new(&buffers, &recording);
    let mut columns: Vec<Translation> = Vec::new();
    for (thread, passage) in threads.iter().zip(&recording.passages) {
        let flow = Flow::of(program, thread, passage).map_err(|refusal| refusal.in_words(program))?;
        let is_alone = threads.iter().filter(|other| (other.block, other.warp) == (thread.block, thread.warp)).count() == 1;
        columns.push(translated(&flow, &mut locations, is_alone).map_err(|refusal| refusal.in_words(program))?);
    }
    if locations.is_empty() {
        let lines = &threads[0].lines;
        return Err(ExcerptError::Refused(format!(
            "lines {lines} access no memory that threads share: a litmus test is about such accesses"
        )));
    }
    let notes = locations.notes();
    Ok(Excerpt { test: text::test(program, kernel, &threads, &columns, &locations, &notes), notes })
}
