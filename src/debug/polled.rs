//! What spinning threads poll: the memory that they read last in an iteration of their loop.

use super::eval_context::EvalContext;
use super::fault::{WaitKind, Waiting};
use super::focus::Focus;
use super::site::Site;
use crate::isa::Space;
use crate::machine::{AccessKind, Event, EventKind, EventMask, IssuePoint, LaneMask, Machine, Observer};
use crate::program::Pc;

/// Instructions of a spinning warp that are observed.
const POLL_STEPS: u64 = 512;

/// A read in the loop of spinning threads.
#[derive(Clone)]
pub struct PolledRead {
    pub pc: Pc,
    /// The instruction with the calls that lead there.
    pub site: Site,
    pub space: Space,
    /// Of shared memory, the block slot of its block.
    pub owner: u32,
    pub block: [u32; 3],
    pub address: u64,
    pub bytes: u32,
}

/// The memory that spinning lanes read last in an iteration of their loop.
pub fn polled_by(machine: &Machine, waiting: &Waiting) -> Option<PolledRead> {
    if waiting.kind != WaitKind::Spins {
        return None;
    }
    let mut poll = PollObserver { block: waiting.site.block, warp: waiting.site.warp, lanes: waiting.site.lanes, read: None };
    let mut copy = machine.clone();
    copy.restart_detection();
    let mut last = None;
    for _ in 0..POLL_STEPS {
        copy.schedule_warp(poll.block, poll.warp);
        copy.run(1, &mut poll);
        if let Some(read) = poll.read.take() {
            let context = EvalContext::at(&copy, Focus::first(&copy));
            let Read { point, lanes, space, owner, address, bytes } = read;
            let site = Site::with_calls(&context, point, lanes);
            last = Some(PolledRead { pc: point.pc, site, space, owner, block: poll.block, address, bytes });
        }
    }
    last
}

/// Observes the reads of some lanes.
struct PollObserver {
    block: [u32; 3],
    warp: u32,
    lanes: LaneMask,
    /// The last one.
    read: Option<Read>,
}

/// A read of one location by lanes.
struct Read {
    point: IssuePoint,
    lanes: LaneMask,
    space: Space,
    owner: u32,
    address: u64,
    bytes: u32,
}

impl Observer for PollObserver {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let Event::Access(access) = event else { return false };
        let is_own = (access.point.block, access.point.warp.number()) == (self.block, self.warp) && access.lanes.intersects(self.lanes);
        let is_shared = matches!(access.space, Space::Global | Space::Shared | Space::SharedCluster);
        if is_own && is_shared && access.kind != AccessKind::Write {
            let lanes = access.lanes & self.lanes;
            let (point, space, owner) = (access.point, access.space, access.owner.0);
            self.read = Some(Read { point, lanes, space, owner, address: access.addresses[lanes.first()], bytes: access.bytes });
        }
        false
    }
}
