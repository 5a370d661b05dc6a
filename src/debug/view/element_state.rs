//! An element of memory: which thread wrote it last, and whether a finding is about it.

use super::contents::MemoryObject;
use crate::debug::findings::{Checks, FindingText};
use crate::debug::last_writes::{LastWrite, LastWrites};
use crate::debug::session::Session;
use crate::machine::Tick;

/// Ticks before the present that are executed again, at least.
const WINDOW: u64 = 1 << 15;

/// The state of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementState {
    /// The last write since [`Self::since`], if there was one.
    pub writer: Option<ElementWriter>,
    /// The time from which writes were looked for.
    pub since: Tick,
    /// The numbers of the findings about it.
    pub findings: Vec<usize>,
    /// True if checkers watch the run.
    pub is_checked: bool,
}

/// The last write of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementWriter {
    /// The time.
    pub time: Tick,
    /// The thread.
    pub thread: String,
    /// The instruction, `file.ptx:12`.
    pub place: String,
}

/// The state of an element of an object as the focused thread sees it.
pub fn element_state(session: &Session, object: &MemoryObject, element: u64) -> ElementState {
    let size = u64::from(object.ty.bytes().max(1));
    let address = object.address + element * size;
    let now = session.time();
    let since = now.saturating_sub(WINDOW).max(session.machine().start());
    let mut last_writes = LastWrites::of(object.space(), session.focus, [(address, size)]);
    session.timeline.replay(since, now, &mut last_writes);
    let writer = last_writes.writes.into_iter().flatten().next().map(|write| writer(session, &write));
    let block = session.focus.block;
    let is_about = |finding: &FindingText| {
        finding.memory.as_ref().is_some_and(|memory| {
            let overlaps = memory.address < address + size && address < memory.address + u64::from(memory.bytes);
            memory.space == object.space().word() && overlaps && memory.block.is_none_or(|other| other == block)
        })
    };
    let findings = session.findings().iter().filter(|finding| is_about(finding)).map(|finding| finding.number).collect();
    ElementState { writer, since, findings, is_checked: session.timeline.checks() != Checks::NONE }
}

fn writer(session: &Session, LastWrite { point, lanes, launch: _ }: &LastWrite) -> ElementWriter {
    let lane = lanes.iter().last().unwrap_or(0);
    let block = if point.block == session.focus.block { String::new() } else { format!("block {} ", crate::base::Dim3(point.block)) };
    let thread = format!("{block}warp {} lane {lane}", point.warp.number());
    ElementWriter { time: point.tick, thread, place: session.program().place(point.pc) }
}
