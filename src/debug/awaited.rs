//! What the blocks of a partial launch wait for that other blocks would write: the launch with all its blocks says which.

use std::sync::Arc;

use super::eval_context::{Buffer, EvalContext};
use super::focus::Focus;
use super::names::memory_name;
use super::polled::polled_by;
use super::run::{CaseRun, Job, RunError, RunOptions, Runner, is_partial};
use crate::base::Dim3;
use crate::check::FindingId;
use crate::check::faults::{DEADLOCK, LIVELOCK};
use crate::isa::Space;
use crate::launch::Case;
use crate::machine::{
    AccessKind, CopyStage, Event, EventKind, EventMask, Instrumentation, IssuePoint, MemoryOwner, NullObserver, Observer, Step,
};
use crate::program::Program;
use crate::program::map::GUARD_BYTES;

/// Warp-instructions of all blocks that are executed at least, and as a multiple of those before the hang.
const TICKS: u64 = 1 << 22;
const TICKS_RATIO: u64 = 16;
/// Warp-instructions between two checks for an interrupt.
const SLICE: u64 = 1 << 16;
/// Most blocks of a launch that are listed.
const LISTED_MAX: usize = 16;

/// Memory that a block waits for.
struct Awaited {
    block: [u32; 3],
    /// `scan.ptx:80`.
    place: String,
    /// The memory: `flags[3]`.
    name: String,
    address: u64,
    bytes: u64,
    /// The first write to it by a block that did not run.
    writer: Option<IssuePoint>,
}

/// Adds to the fault of `run`, if it is a hang of a partial launch, what its blocks wait for and which block would write that.
///
/// # Errors
/// Errors that do not come from the kernel.
pub fn explain_awaited(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    run: &mut CaseRun,
    interrupt: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    let Some(fault) = run.fault.as_mut().filter(|fault| is_hang(fault.id)) else { return Ok(()) };
    let Some(why) = awaited(Job { program, case, options, instrumentation: Instrumentation::Nothing }, fault.launch, interrupt)? else {
        return Ok(());
    };
    if let Some(finding) = run.findings.last_mut().filter(|finding| finding.id == fault.id) {
        finding.why.clone_from(&why);
    }
    fault.why = why;
    Ok(())
}

/// True if threads wait forever.
pub(in crate::debug) fn is_hang(id: FindingId) -> bool {
    [DEADLOCK, LIVELOCK].contains(&id)
}

/// What the blocks of launch `launch`, which hangs, wait for; none if that is nothing that other blocks write, or all blocks ran.
pub(in crate::debug) fn awaited(job: Job<'_>, launch: usize, interrupt: &dyn Fn() -> bool) -> Result<Option<String>, RunError> {
    if !job.case.launches.get(launch).is_some_and(is_partial) {
        return Ok(None);
    }
    let (mut awaited, ticks) = awaited_memory(job, launch, interrupt)?;
    if awaited.is_empty() {
        return Ok(None);
    }
    let mut whole = job.case.clone();
    let blocks = std::mem::take(&mut whole.launches[launch].blocks);
    find_writers(Job { case: &whole, ..job }, launch, (&blocks, &mut awaited), ticks, interrupt)?;
    Ok(awaited.iter().find(|awaited| awaited.writer.is_some()).or(awaited.first()).map(|awaited| text(job.program, &blocks, awaited)))
}

/// The global memory that the blocks of a launch read in their loops when it hangs, and the warp-instructions until then.
fn awaited_memory(job: Job<'_>, hanging: usize, interrupt: &dyn Fn() -> bool) -> Result<(Vec<Awaited>, u64), RunError> {
    let (mut found, mut ticks) = (Vec::new(), 0);
    let mut runner = Runner::new(job);
    runner.interrupt = interrupt;
    let buffers = Buffer::of_case(job.case);
    while runner.run_next(|machine, launch| {
        let fault = launch.run(machine, &mut NullObserver);
        if launch.index() != hanging {
            return fault;
        }
        ticks = machine.tick() - machine.start();
        for waiting in fault.iter().flat_map(|fault| &fault.waiting) {
            let Some(polled) = polled_by(machine, waiting).filter(|polled| polled.space == Space::Global) else { continue };
            let context = EvalContext::at(machine, Focus { block: waiting.site.block, ..Focus::default() }).with_buffers(&buffers);
            let name = memory_name::element(&context, polled.space, polled.address).name;
            let (block, place) = (waiting.site.block, job.program.place(polled.pc));
            found.push(Awaited { block, place, name, address: polled.address, bytes: polled.bytes.into(), writer: None });
        }
        fault
    })? && runner.run.launches.len() <= hanging
    {}
    Ok((found, ticks))
}

/// Runs the launch with all blocks until one that is not in `blocks` writes what is awaited, or for some time.
fn find_writers(
    job: Job<'_>,
    hanging: usize,
    (blocks, awaited): (&[[u32; 3]], &mut [Awaited]),
    ticks: u64,
    interrupt: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    let mut runner = Runner::new(job);
    let mut observer = FirstWrites { blocks, awaited };
    while runner.run_next(|machine, launch| {
        if launch.index() < hanging {
            return launch.run(machine, &mut NullObserver);
        }
        let end = machine.tick().saturating_add(ticks.saturating_mul(TICKS_RATIO).max(TICKS));
        while machine.tick() < end && !interrupt() && matches!(machine.run(SLICE, &mut observer), Step::Budget) {}
        None
    })? && runner.run.launches.len() <= hanging
    {}
    Ok(())
}

/// `block (1,0,0) waits at scan.ptx:80 for flags[0], which block (0,0,0) writes at scan.ptx:60; run it, too: --blocks '0,0,0;1,0,0'`
fn text(program: &Program, blocks: &[[u32; 3]], awaited: &Awaited) -> String {
    let Awaited { block, place, name, writer, address, .. } = awaited;
    if (program.map.workspace..program.map.workspace + GUARD_BYTES).contains(address) {
        let waits = format!("block {} waits at {place} at the barrier of the grid", Dim3(*block));
        return format!("{waits}, at which all blocks arrive, and only some run: without --blocks all of them do");
    }
    let waits = format!("block {} waits at {place} for {name}", Dim3(*block));
    let Some(writer) = writer else {
        return format!("{waits}, and only some blocks run: another one may write it (without --blocks all run)");
    };
    let list: Vec<String> = [&writer.block].into_iter().chain(blocks).map(|[x, y, z]| format!("{x},{y},{z}")).collect();
    let option = if blocks.len() <= LISTED_MAX { format!(": --blocks '{}'", list.join(";")) } else { " (--blocks)".to_string() };
    format!("{waits}, which block {} writes at {}; run it, too{option}", Dim3(writer.block), program.place(writer.pc))
}

/// Observes the first writes to awaited memory by blocks that are not in a list; the run pauses when there is one.
struct FirstWrites<'a> {
    blocks: &'a [[u32; 3]],
    awaited: &'a mut [Awaited],
}

impl FirstWrites<'_> {
    /// True if it is a first write.
    fn write(&mut self, address: u64, bytes: u64, point: &IssuePoint) -> bool {
        let end = address.saturating_add(bytes);
        if self.blocks.contains(&point.block) {
            return false;
        }
        let written = |awaited: &&mut Awaited| address < awaited.address + awaited.bytes && awaited.address < end;
        let mut is_first = false;
        for awaited in self.awaited.iter_mut().filter(written) {
            is_first |= awaited.writer.is_none();
            awaited.writer.get_or_insert(*point);
        }
        is_first
    }
}

impl Observer for FirstWrites<'_> {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Copy])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let mut is_first = false;
        match event {
            Event::Access(access) if access.kind != AccessKind::Read && access.space == Space::Global => {
                for lane in access.lanes.iter() {
                    is_first |= self.write(access.addresses[lane], access.bytes.into(), &access.point);
                }
            }
            Event::Copy(event) if event.stage == CopyStage::Ended => event.copy.kind.visit_writes(event.lanes, |to, bytes| {
                if to.owner == MemoryOwner::Global {
                    is_first |= self.write(to.address, bytes, &event.copy.issued);
                }
            }),
            _ => {}
        }
        is_first
    }
}
