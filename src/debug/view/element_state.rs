//! An element of memory: which thread wrote it last, and whether a finding is about it.

use super::contents::MemoryObject;
use crate::debug::findings::{Checks, FindingText};
use crate::debug::focus::Focus;
use crate::debug::session::Session;
use crate::isa::Space;
use crate::machine::{AccessKind, CopyStage, Event, EventKind, EventMask, IssuePoint, LaneMask, MemoryOwner, Observer, Tick};

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
    let mut search = Search { space: object.space(), focus: session.focus, range: address..address + size, found: None };
    session.timeline.replay(since, now, &mut search);
    let writer = search.found.map(|(point, lane)| writer(session, &point, lane));
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

fn writer(session: &Session, point: &IssuePoint, lane: u32) -> ElementWriter {
    let block = if point.block == session.focus.block { String::new() } else { format!("block {} ", crate::base::Dim3(point.block)) };
    let thread = format!("{block}warp {} lane {lane}", point.warp.number());
    ElementWriter { time: point.tick, thread, place: session.program().place(point.pc) }
}

/// Searches for the last write of a range of bytes.
struct Search {
    space: Space,
    focus: Focus,
    range: std::ops::Range<u64>,
    found: Option<(IssuePoint, u32)>,
}

impl Observer for Search {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Copy])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(event)
                if event.kind != AccessKind::Read && event.space == self.space && self.is_own(&event.point, event.lanes) =>
            {
                let lanes = event.lanes.iter().filter(|lane| self.overlaps(event.addresses[*lane], event.bytes.into()));
                if let Some(lane) = lanes.last() {
                    self.found = Some((event.point, lane as u32));
                }
            }
            // A copy writes when it ends, on behalf of the thread that issued it.
            Event::Copy(event) if event.stage == CopyStage::Ended => {
                let lane = event.lanes.first() as u32;
                event.copy.kind.visit_writes(event.lanes, |to, bytes| {
                    let is_here = match to.owner {
                        MemoryOwner::Global => self.space == Space::Global,
                        MemoryOwner::Block { index, .. } => self.space == Space::Shared && index == self.focus.block,
                    };
                    if is_here && self.overlaps(to.address, bytes) {
                        self.found = Some((event.copy.issued, lane));
                    }
                });
            }
            _ => {}
        }
        false
    }
}

impl Search {
    fn overlaps(&self, address: u64, bytes: u64) -> bool {
        address < self.range.end && self.range.start < address.saturating_add(bytes)
    }

    /// True if the memory that the thread accesses is that of the focused thread.
    fn is_own(&self, point: &IssuePoint, lanes: LaneMask) -> bool {
        let is_thread = || point.warp.number() == self.focus.warp && lanes.contains(self.focus.lane as usize);
        match self.space {
            Space::Shared => point.block == self.focus.block,
            Space::Local => point.block == self.focus.block && is_thread(),
            _ => true,
        }
    }
}
