//! What spinning threads poll: the memory that they read last in an iteration of their loop.

use super::fault::{WaitKind, Waiting};
use crate::isa::Space;
use crate::machine::{AccessKind, Event, EventKind, EventMask, LaneMask, Machine, Observer};
use crate::program::Pc;

/// Instructions of a spinning warp that are observed.
const POLL_STEPS: u64 = 512;

/// A read in the loop of spinning threads.
#[derive(Clone, Copy)]
pub struct PolledRead {
    pub pc: Pc,
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
    for _ in 0..POLL_STEPS {
        copy.schedule_warp(poll.block, poll.warp);
        copy.run(1, &mut poll);
    }
    poll.read
}

/// Observes the reads of some lanes.
struct PollObserver {
    block: [u32; 3],
    warp: u32,
    lanes: LaneMask,
    read: Option<PolledRead>,
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
            self.read = Some(PolledRead {
                pc: access.point.pc,
                space: access.space,
                owner: access.owner.0,
                block: self.block,
                address: access.addresses[(access.lanes & self.lanes).first()],
                bytes: access.bytes,
            });
        }
        false
    }
}
