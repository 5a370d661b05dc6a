//! The last write to an element: the case is run again, exactly as before, with an observer of the given ranges.

use std::sync::Arc;

use crate::debug::file_line::source_lines;
use crate::debug::last_writes::{LastWrite, LastWrites};
use crate::debug::run::{Job, RunError, RunOptions, Runner};
use crate::launch::Case;
use crate::machine::{Instrumentation, Tick, thread_index};
use crate::program::{Pc, Program};

/// The thread that wrote an element last.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Writer {
    /// The kernel.
    pub kernel: String,
    /// Index of the launch, if the case has several.
    pub launch: Option<usize>,
    /// Block index.
    pub block: [u32; 3],
    /// Index of the thread in its block.
    pub thread: [u32; 3],
    /// The instruction.
    #[serde(skip)]
    pub pc: Pc,
    /// `file.ptx:12`.
    pub place: String,
    /// Time: warp-instructions issued before, counted from the first launch.
    pub time: Tick,
}

/// The last writer of each of `ranges` of global memory (address and bytes); none if no kernel wrote there.
///
/// # Errors
/// Errors that do not come from the kernel.
pub fn last_writers(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    ranges: &[(u64, u64)],
) -> Result<Vec<Option<Writer>>, RunError> {
    let mut observer = LastWrites::new(ranges.iter().copied());
    let mut runner = Runner::new(Job { program, case, options, instrumentation: Instrumentation::Nothing });
    while runner.run_next(|machine, launch| launch.run(machine, &mut observer))? {
        observer.launch += 1;
    }
    let writer = |LastWrite { launch, point, lanes }: LastWrite| {
        let planned = case.launches.get(launch)?;
        let kernel = program.functions[planned.kernel.index()].name.to_string();
        let lane = lanes.iter().last()? as u32;
        let thread = thread_index(planned.block, point.warp.number(), lane);
        let launch = Some(launch).filter(|_| case.launches.len() > 1);
        Some(Writer { kernel, launch, block: point.block, thread, pc: point.pc, place: place(program, point.pc), time: point.tick })
    };
    Ok(observer.writes.into_iter().map(|last| last.and_then(writer)).collect())
}

/// `a.ptx:45`, with `(a.cu:5)` if the source line is known.
fn place(program: &Program, pc: Pc) -> String {
    let source = source_lines(program, pc).into_iter().next().map_or(String::new(), |line| format!(" ({})", line.short()));
    program.place(pc) + &source
}
