//! The last write to an element: the case is run again, exactly as before, with write watchpoints on the given ranges.

use std::sync::Arc;

use crate::debug::run::{Job, RunError, RunOptions, Runner};
use crate::debug::site::source_lines;
use crate::isa::Space;
use crate::launch::Case;
use crate::machine::{
    AccessKind, CopyStage, Event, EventKind, EventMask, Instrumentation, IssuePoint, MemoryOwner, Observer, Tick, thread_index,
};
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
    let mut write_observer = WriteObserver { ranges, launch: 0, last: vec![None; ranges.len()] };
    let mut runner = Runner::new(Job { program, case, options, instrumentation: Instrumentation::Nothing });
    while runner.run_next(|machine, launch| launch.run(machine, &mut write_observer))? {
        write_observer.launch += 1;
    }
    let writer = |(launch, last_write): (usize, LastWrite)| {
        let planned = case.launches.get(launch)?;
        let kernel = program.functions[planned.kernel.index()].name.to_string();
        let thread = thread_index(planned.block, last_write.warp, last_write.lane);
        let launch = Some(launch).filter(|_| case.launches.len() > 1);
        let LastWrite { pc, time, block, .. } = last_write;
        Some(Writer { kernel, launch, block, thread, pc, place: place(program, pc), time })
    };
    Ok(write_observer.last.into_iter().map(|last| last.and_then(writer)).collect())
}

#[derive(Clone, Copy)]
struct LastWrite {
    pc: Pc,
    time: Tick,
    block: [u32; 3],
    warp: u32,
    lane: u32,
}

struct WriteObserver<'a> {
    ranges: &'a [(u64, u64)],
    /// Index of the present launch.
    launch: usize,
    last: Vec<Option<(usize, LastWrite)>>,
}

impl Observer for WriteObserver<'_> {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Copy])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(event) if event.kind != AccessKind::Read && event.space == Space::Global => {
                for lane in event.lanes.iter() {
                    self.record(event.addresses[lane], event.bytes.into(), &event.point, lane);
                }
            }
            // A copy writes when it ends, on behalf of the thread that issued it.
            Event::Copy(event) if event.stage == CopyStage::Ended => {
                let lane = event.lanes.first();
                event.copy.kind.visit_writes(event.lanes, |to, bytes| {
                    if to.owner == MemoryOwner::Global {
                        self.record(to.address, bytes, &event.copy.issued, lane);
                    }
                });
            }
            _ => {}
        }
        false
    }
}

impl WriteObserver<'_> {
    /// Records a write to global memory by `lane`.
    fn record(&mut self, address: u64, bytes: u64, place: &IssuePoint, lane: usize) {
        let end = address.saturating_add(bytes);
        for (_, last) in self.ranges.iter().zip(&mut self.last).filter(|(range, _)| address < range.0 + range.1 && range.0 < end) {
            let last_write = LastWrite { pc: place.pc, time: place.tick, block: place.block, warp: place.warp.number(), lane: lane as u32 };
            *last = Some((self.launch, last_write));
        }
    }
}

/// `a.ptx:45`, with `(a.cu:5)` if the source line is known.
fn place(program: &Program, pc: Pc) -> String {
    let source = source_lines(program, pc).into_iter().next().map_or(String::new(), |line| format!(" ({})", line.short()));
    program.place(pc) + &source
}
