//! Copies of groups that their thread never waits for (PTX ISA, "cp.async.wait_group", "cp.async.bulk.wait_group").
//!
//! A thread that exits with such a copy leaves it without an order to anything: what a `cp.async` brings nobody may read, and shared
//! memory that a bulk copy still reads is given back with the block. An arrival that a barrier object gets from the copies
//! (`cp.async.mbarrier.arrive`) hands the wait over to whoever waits there; for bulk copies a wait for the reads alone will do.

use std::collections::BTreeMap;

use crate::check::finding::{Deed, Finding, Side};
use crate::check::held::Held;
use crate::check::told::lanes_do;
use crate::check::{FindingId, Reporter};
use crate::machine::{CopyEvent, CopyStage, Ends, LANES, LaneMask, OrderEvent, Work, lanes_of};
use crate::program::Op;

/// The copies of groups that threads have issued and not waited for.
#[derive(Clone, Default)]
pub(super) struct Copies {
    /// By block, in order of launch, and warp.
    warps: BTreeMap<(u64, u32), Pending>,
    held: Held,
}

/// Those of a warp.
#[derive(Clone)]
struct Pending {
    /// Groups that each lane has closed: of `cp.async`, and of `cp.async.bulk`.
    closed: [[u32; LANES]; 2],
    copies: Vec<Copy>,
}

/// A copy that some lanes have not waited for.
#[derive(Clone, Copy)]
struct Copy {
    side: Side,
    lanes: LaneMask,
    bulk: bool,
    group: u32,
}

impl Copies {
    /// A launch begins.
    pub fn begin(&mut self) {
        self.warps.clear();
    }

    /// Something happens to a copy.
    pub fn copy(&mut self, event: &CopyEvent<'_>) {
        let (copy, lanes) = (event.copy, event.lanes);
        if event.stage != CopyStage::Issued {
            return;
        }
        let key = (copy.by.number, copy.issued.warp);
        match (copy.ends, &copy.work) {
            (Ends::Group { bulk, number: group }, _) => {
                let side = Side { copy: Some(copy.id), ..Side::new(copy.issued, lanes, Deed::Write) };
                self.warps.entry(key).or_insert_with(Pending::new).copies.push(Copy { side, lanes, bulk, group });
            }
            (_, Work::Arrival) => {
                self.warps.get_mut(&key).into_iter().for_each(|pending| pending.end(lanes, |copy, _| !copy.bulk));
            }
            (Ends::Mbarrier { .. }, _) => {}
        }
    }

    /// Lanes close a group, or have waited for some.
    pub fn order(&mut self, event: &OrderEvent<'_>, op: &Op) {
        let Some(pending) = self.warps.get_mut(&(event.by.number, event.place.warp)) else { return };
        match *op {
            Op::CommitCopies { bulk } => lanes_of(event.lanes).for_each(|lane| pending.closed[usize::from(bulk)][lane] += 1),
            Op::WaitCopies { bulk, open, pending: left, .. } => {
                let closed = pending.closed[usize::from(bulk)];
                pending.end(event.lanes, |copy, lane| copy.bulk == bulk && (open || copy.group < closed[lane].saturating_sub(left)));
            }
            _ => {}
        }
    }

    /// Lanes exit.
    pub fn exited(&mut self, event: &OrderEvent<'_>, live: LaneMask) {
        let key = (event.by.number, event.place.warp);
        let Some(pending) = self.warps.get_mut(&key) else { return };
        for copy in pending.copies.iter().filter(|copy| copy.lanes & event.lanes != 0) {
            self.held.hold(unwaited(copy, copy.lanes & event.lanes, event, pending.closed[usize::from(copy.bulk)]));
        }
        pending.end(event.lanes, |_, _| true);
        if live & !event.lanes == 0 {
            self.warps.remove(&key);
        }
    }

    /// The launch has ended.
    pub fn end(&mut self, to: &mut Reporter<'_>) {
        self.held.release(to);
    }
}

impl Pending {
    fn new() -> Self {
        Self { closed: [[0; LANES]; 2], copies: Vec::new() }
    }

    /// Takes away the copies of `lanes` of which `done` says so.
    fn end(&mut self, lanes: LaneMask, done: impl Fn(&Copy, usize) -> bool) {
        for copy in &mut self.copies {
            let over = lanes_of(copy.lanes & lanes).filter(|lane| done(copy, *lane)).fold(0, |over, lane| over | 1 << lane);
            copy.lanes &= !over;
        }
        self.copies.retain(|copy| copy.lanes != 0);
    }
}

fn unwaited(copy: &Copy, lanes: LaneMask, event: &OrderEvent<'_>, closed: [u32; LANES]) -> Finding {
    let is_closed = lanes_of(lanes).all(|lane| copy.group < closed[lane]);
    let group = if is_closed { "of theirs is in a group that was never waited for" } else { "of theirs was never committed to a group" };
    let why = format!("{} here, and an asynchronous copy {group}", lanes_do(lanes, "exit"));
    let wait = match (copy.bulk, is_closed) {
        (true, true) => "cp.async.bulk.wait_group.read 0",
        (true, false) => "cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0",
        (false, true) => "cp.async.wait_group 0",
        (false, false) => "cp.async.commit_group and cp.async.wait_group 0",
    };
    let second = Side::new(event.place, lanes, Deed::Synchronize);
    let finding = Finding::new(FindingId::AsyncUnwaitedAtExit, second, why, format!("insert {wait} before the threads exit"));
    Finding { first: Some(Side { lanes, ..copy.side }), ..finding }
}
