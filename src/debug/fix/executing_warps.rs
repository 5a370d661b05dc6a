//! The warps that execute an instruction: how many threads a named barrier of them waits for. And the mbarriers that they initialize.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::WarpId;
use crate::debug::run::{Job, RunError, RunOptions, Runner};
use crate::launch::Case;
use crate::machine::{BlockId, Event, EventKind, EventMask, Instrumentation, IssuePoint, MbarrierChange, MbarrierEvent, Observer};
use crate::program::{Pc, Program};

/// Threads of a warp, as a barrier counts them.
const THREADS: u32 = 32;

/// The warps of one block that accessed memory or synchronized at each instruction: those of the first block that did.
#[derive(Clone, Debug, Default)]
pub(super) struct ExecutingWarps {
    warps: BTreeMap<Pc, (u64, BTreeSet<WarpId>)>,
    /// The addresses of the mbarriers of the blocks.
    pub mbarriers: BTreeSet<u32>,
}

impl ExecutingWarps {
    /// Runs `case` without checkers.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn new(program: &Arc<Program>, case: &Case, options: &RunOptions) -> Result<Self, RunError> {
        let mut found = Self::default();
        let mut runner = Runner::new(Job { program, case, options, instrumentation: Instrumentation::Nothing });
        while runner.run_next(|machine, launch| launch.run(machine, &mut found))? {}
        Ok(found)
    }

    /// Threads of the warps that execute one of two instructions, and whether some execute both; none if either was not executed.
    pub fn threads_at(&self, one: Pc, other: Pc) -> Option<(u32, bool)> {
        let ((_, one), (_, other)) = (self.warps.get(&one)?, self.warps.get(&other)?);
        Some((one.union(other).count() as u32 * THREADS, one.intersection(other).next().is_some()))
    }

    /// The accesses that only other warps execute than those that execute the instruction at `pc`, in text order.
    pub fn only_by_others(&self, pc: Pc) -> Vec<Pc> {
        let Some((block, own)) = self.warps.get(&pc) else { return Vec::new() };
        let is_by_others = |(_, (number, warps)): &(&Pc, &(u64, BTreeSet<WarpId>))| number == block && warps.is_disjoint(own);
        self.warps.iter().filter(is_by_others).map(|(pc, _)| *pc).collect()
    }

    fn add(&mut self, block: BlockId, point: &IssuePoint) {
        let (number, warps) = self.warps.entry(point.pc).or_insert_with(|| (block.number, BTreeSet::new()));
        if *number == block.number {
            warps.insert(point.warp);
        }
    }
}

impl Observer for ExecutingWarps {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Copy, EventKind::Sync, EventKind::Mbarrier])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) => self.add(access.block_id, &access.point),
            Event::Copy(event) => self.add(event.copy.block_id, &event.copy.issued),
            Event::Sync(event) => self.add(event.block_id, &event.point),
            Event::Mbarrier(MbarrierEvent { change: MbarrierChange::Initialized(_), address, .. }) => {
                self.mbarriers.insert(*address);
            }
            Event::LocalStart(_)
            | Event::Collective(_)
            | Event::Mbarrier(_)
            | Event::Wgmma(_)
            | Event::Before(..)
            | Event::After(..)
            | Event::Reconverged(..)
            | Event::Arrived(..) => {}
        }
        false
    }
}
