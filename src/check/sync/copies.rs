//! Copies of groups that their thread never waits for (PTX ISA, "cp.async.wait_group", "cp.async.bulk.wait_group").
//!
//! A thread that exits with such a copy leaves it without an order to anything: what a `cp.async` brings no thread may read, and shared
//! memory that a bulk copy still reads is given back with the block. An arrival that an mbarrier gets from the copies
//! (`cp.async.mbarrier.arrive`) passes the wait on to the threads that wait there, unless the thread waits for the copies itself; for bulk
//! copies a wait for the reads alone is enough.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::base::WarpId;
use crate::check::deferred::DeferredFindings;
use crate::check::finding::{Finding, Side, SideAction};
use crate::check::lane_text::lanes_do;
use crate::check::race::Language;
use crate::check::reporter::Reporter;
use crate::check::sync::catalogue::ASYNC_UNWAITED_AT_EXIT;
use crate::machine::{CopyCompletion, CopyEvent, CopyKind, CopyStage, CopyWait, LANES, LaneMask, MemoryOwner, OrderEvent};
use crate::program::{Pc, Program};

/// The copies of groups that threads have issued and not waited for.
#[derive(Clone, Default)]
pub(super) struct Copies {
    /// By block, in order of launch, and warp.
    warps: BTreeMap<(u64, WarpId), Pending>,
    deferred: DeferredFindings,
}

/// The copies of a warp that are not waited for.
#[derive(Clone)]
struct Pending {
    /// Groups that each lane has committed: of `cp.async`, and of `cp.async.bulk`.
    committed: [[u32; LANES]; 2],
    copies: Vec<Copy>,
    /// One more than the group of the last `cp.async` of each lane; 0 if the lane has waited for all of its own.
    last: [u32; LANES],
    /// Arrivals whose copies the thread has not waited for, the last of each instruction.
    arrivals: Vec<CopyArrival>,
}

/// An arrival that an mbarrier gets from copies.
#[derive(Clone, Copy)]
struct CopyArrival {
    pc: Pc,
    /// Lanes that have not waited for their copies.
    lanes: LaneMask,
    /// The last group that a copy before it is in.
    group: u32,
    waited_arrival: WaitedArrival,
}

/// An arrival whose copies the threads have waited for themselves: its phase needs no wait.
#[derive(Clone, Copy)]
pub(super) struct WaitedArrival {
    /// Its number.
    pub id: u64,
    /// Slot and address of the mbarrier.
    pub at: (u32, u32),
    /// Whether the object has it already.
    pub is_there: bool,
}

/// Arrivals for whose copies one event waits.
pub(super) type WaitedArrivals = SmallVec<[WaitedArrival; 2]>;

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

    /// A copy is issued, reads, or ends. An arrival after copies all of which the threads have waited for counts as waited for at once.
    pub fn copy(&mut self, event: &CopyEvent<'_>) -> Option<WaitedArrival> {
        let (copy, lanes) = (event.copy, event.lanes);
        assert!(copy.lanes.contains_all(lanes) && !lanes.is_empty(), "copy #{} is of some lanes", copy.id);
        let key = (copy.block_id.number, copy.issued.warp);
        match (event.stage, copy.ends, &copy.work) {
            (CopyStage::Issued, CopyCompletion::Group { bulk, number: group }, _) => {
                let side = Side { copy: Some(copy.id), ..Side::new(copy.issued, lanes, SideAction::Write) };
                let pending = self.warps.entry(key).or_insert_with(Pending::new);
                pending.copies.push(Copy { side, lanes, bulk, group });
                if !bulk {
                    lanes.iter().for_each(|lane| pending.last[lane] = group + 1);
                }
            }
            (
                CopyStage::Issued,
                CopyCompletion::Mbarrier { owner: MemoryOwner::Block { block_slot, .. }, address, .. },
                CopyKind::CpAsyncArrive,
            ) => {
                let waited_arrival = WaitedArrival { id: copy.id, at: (block_slot, address), is_there: false };
                let Some(pending) = self.warps.get_mut(&key) else { return Some(waited_arrival) };
                pending.end(lanes, |copy, _| !copy.bulk);
                return pending.hand_over(waited_arrival, copy.issued.pc, lanes);
            }
            (CopyStage::Ended, CopyCompletion::Mbarrier { .. }, CopyKind::CpAsyncArrive) => {
                let arrivals = self.warps.get_mut(&key).map(|pending| &mut pending.arrivals);
                let own = arrivals.into_iter().flatten().find(|copy_arrivals| copy_arrivals.waited_arrival.id == copy.id);
                own.into_iter().for_each(|copy_arrivals| copy_arrivals.waited_arrival.is_there = true);
            }
            _ => {}
        }
        None
    }

    /// Lanes commit a group. One without copies counts as well, before the first copy too.
    pub fn committed(&mut self, event: &OrderEvent<'_>, bulk: bool) {
        let pending = self.warps.entry((event.block_id.number, WarpId::new(event.place.warp.number()))).or_insert_with(Pending::new);
        assert!(!event.lanes.is_empty(), "a group is committed by some lane");
        event.lanes.iter().for_each(|lane| pending.committed[usize::from(bulk)][lane] += 1);
    }

    /// Lanes have waited for groups; the arrivals whose copies are all waited for now.
    pub fn awaited(&mut self, event: &OrderEvent<'_>, CopyWait { bulk, open, pending: left, .. }: CopyWait) -> WaitedArrivals {
        let Some(pending) = self.warps.get_mut(&(event.block_id.number, WarpId::new(event.place.warp.number()))) else {
            return WaitedArrivals::new();
        };
        let done = pending.committed[usize::from(bulk)].map(|committed| committed.saturating_sub(left));
        pending.end(event.lanes, |copy, lane| copy.bulk == bulk && (open || copy.group < done[lane]));
        if bulk { WaitedArrivals::new() } else { pending.mark_waited(event.lanes, |group, lane| open || group < done[lane]) }
    }

    /// Lanes exit.
    pub fn exited(&mut self, event: &OrderEvent<'_>, live: LaneMask, program: &Program) {
        assert!(live.contains_all(event.lanes), "a lane exits once");
        let key = (event.block_id.number, event.place.warp);
        let Some(pending) = self.warps.get_mut(&key) else { return };
        for copy in pending.copies.iter().filter(|copy| copy.lanes.intersects(event.lanes)) {
            let language = Language::of(program, copy.side.place.pc);
            let committed = pending.committed[usize::from(copy.bulk)];
            self.deferred.defer(unwaited(language, copy, copy.lanes & event.lanes, event, committed));
        }
        pending.end(event.lanes, |_, _| true);
        if event.lanes.contains_all(live) {
            self.warps.remove(&key);
        }
    }

    /// The launch has ended.
    pub fn end(&mut self, to: &mut Reporter<'_>) {
        self.deferred.release(to);
    }
}

impl Pending {
    fn new() -> Self {
        Self { committed: [[0; LANES]; 2], copies: Vec::new(), last: [0; LANES], arrivals: Vec::new() }
    }

    /// Keeps an arrival of `lanes` until they have waited for the copies before it; gives it back if there are none.
    fn hand_over(&mut self, waited_arrival: WaitedArrival, pc: Pc, lanes: LaneMask) -> Option<WaitedArrival> {
        let lanes = lanes.filter(|lane| self.last[lane] > 0);
        let Some(last) = lanes.iter().map(|lane| self.last[lane]).max() else { return Some(waited_arrival) };
        self.arrivals.retain(|other| other.pc != pc);
        self.arrivals.push(CopyArrival { pc, lanes, group: last - 1, waited_arrival });
        None
    }

    /// Lanes have waited for the `cp.async` of the groups of which `is_done` says so.
    fn mark_waited(&mut self, lanes: LaneMask, is_done: impl Fn(u32, usize) -> bool) -> WaitedArrivals {
        for lane in lanes.iter() {
            let last = &mut self.last[lane];
            if *last > 0 && is_done(*last - 1, lane) {
                *last = 0;
            }
        }
        for copy_arrivals in &mut self.arrivals {
            let over = (copy_arrivals.lanes & lanes).filter(|lane| is_done(copy_arrivals.group, lane));
            copy_arrivals.lanes &= !over;
        }
        let waited_arrival = self
            .arrivals
            .iter()
            .filter(|copy_arrivals| copy_arrivals.lanes.is_empty())
            .map(|copy_arrivals| copy_arrivals.waited_arrival)
            .collect();
        self.arrivals.retain(|copy_arrivals| !copy_arrivals.lanes.is_empty());
        waited_arrival
    }

    /// Takes away the copies of `lanes` of which `done` says so.
    fn end(&mut self, lanes: LaneMask, done: impl Fn(&Copy, usize) -> bool) {
        for copy in &mut self.copies {
            let over = (copy.lanes & lanes).filter(|lane| done(copy, lane));
            copy.lanes &= !over;
        }
        self.copies.retain(|copy| !copy.lanes.is_empty());
    }
}

fn unwaited(language: Language, copy: &Copy, lanes: LaneMask, event: &OrderEvent<'_>, committed: [u32; LANES]) -> Finding {
    let is_committed = lanes.iter().all(|lane| copy.group < committed[lane]);
    let group = if is_committed { "of theirs is in a group that was never waited for" } else { "of theirs was never committed to a group" };
    let why = format!("{} here, and an asynchronous copy {group}", lanes_do(lanes, "exit"));
    let words = match (language, copy.bulk) {
        (Language::Cuda, true) => ["cuda::ptx::cp_async_bulk_commit_group()", "cuda::ptx::cp_async_bulk_wait_group_read(0)"],
        (Language::Cuda, false) => ["__pipeline_commit()", "__pipeline_wait_prior(0)"],
        (Language::Triton | Language::Ptx, true) => ["cp.async.bulk.commit_group", "cp.async.bulk.wait_group.read 0"],
        (Language::Triton | Language::Ptx, false) => ["cp.async.commit_group", "cp.async.wait_group 0"],
    };
    let wait = words[usize::from(is_committed)..].join(" and ");
    let second = Side::new(event.place, lanes, SideAction::Synchronize);
    let finding = Finding::new(ASYNC_UNWAITED_AT_EXIT, second, why, format!("insert {wait} before the threads exit"));
    Finding { first: Some(Side { lanes, ..copy.side }), ..finding }
}
