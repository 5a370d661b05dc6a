//! Copies in commit groups that their thread never waits for (PTX ISA, "cp.async.wait_group", "cp.async.bulk.wait_group").
//!
//! If a thread exits with such a copy, nothing orders it: no thread may read the destination of a `cp.async`, and shared memory that a bulk
//! copy still reads is released with the block. After an arrival of the copies on an mbarrier (`cp.async.mbarrier.arrive`) the threads that
//! wait there wait for the copies, unless the thread waits itself. For bulk copies a wait for the reads alone is enough.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::base::WarpId;
use crate::check::deferred::DeferredFindings;
use crate::check::finding::{Finding, Side, SideAction};
use crate::check::lane_text::lanes_do;
use crate::check::race::Language;
use crate::check::remedy::{self, Position, Remedy};
use crate::check::reporter::Reporter;
use crate::check::sync::catalogue::ASYNC_UNWAITED_AT_EXIT;
use crate::machine::{CopyCompletion, CopyEvent, CopyKind, CopyStage, CopyWait, LANES, LaneMask, MemoryOwner, SyncEvent};
use crate::program::{Pc, Program};

/// The copies in commit groups that threads have issued and not waited for.
#[derive(Clone, Default)]
pub(super) struct Copies {
    /// By block, in order of launch, and warp.
    warps: BTreeMap<(u64, WarpId), WarpCopies>,
    deferred: DeferredFindings,
}

/// The copies that a warp has not waited for.
#[derive(Clone)]
struct WarpCopies {
    /// Groups that each lane has committed: of `cp.async`, and of `cp.async.bulk`.
    committed: [[u32; LANES]; 2],
    copies: Vec<UnwaitedCopy>,
    /// One more than the group of the last `cp.async` of each lane; 0 if the lane has waited for all of its own.
    last: [u32; LANES],
    /// The arrivals whose copies the warp has not waited for, the last one of each instruction.
    arrivals: Vec<CopyArrival>,
}

/// An arrival of copies on an mbarrier.
#[derive(Clone, Copy)]
struct CopyArrival {
    pc: Pc,
    /// Lanes that have not waited for their copies.
    lanes: LaneMask,
    /// The last group of the copies before it.
    group: u32,
    arrival_ref: ArrivalRef,
}

/// A reference to an arrival of copies. If the threads have waited for the copies themselves, its phase needs no wait.
#[derive(Clone, Copy)]
pub(super) struct ArrivalRef {
    /// Its number.
    pub id: u64,
    /// Block slot and address of the mbarrier.
    pub at: (u32, u32),
    /// True if the arrival has happened already.
    pub has_arrived: bool,
}

/// The arrivals whose copies one event waits for.
pub(super) type WaitedArrivals = SmallVec<[ArrivalRef; 2]>;

/// A copy that some lanes have not waited for.
#[derive(Clone, Copy)]
struct UnwaitedCopy {
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

    /// A copy is issued, reads, or completes. An arrival after copies that the threads have all waited for needs no wait: it is returned.
    pub fn copy(&mut self, event: &CopyEvent<'_>) -> Option<ArrivalRef> {
        let (copy, lanes) = (event.copy, event.lanes);
        assert!(copy.lanes.contains_all(lanes) && !lanes.is_empty(), "copy #{} is of some lanes", copy.id);
        let key = (copy.block_id.number, copy.issued.warp);
        match (event.stage, copy.completion, &copy.kind) {
            (CopyStage::Issued, CopyCompletion::Group { bulk, number: group }, _) => {
                let side = Side { copy: Some(copy.id), ..Side::new(copy.issued, lanes, SideAction::Write) };
                let warp = self.warps.entry(key).or_insert_with(WarpCopies::new);
                warp.copies.push(UnwaitedCopy { side, lanes, bulk, group });
                if !bulk {
                    lanes.iter().for_each(|lane| warp.last[lane] = group + 1);
                }
            }
            (
                CopyStage::Issued,
                CopyCompletion::Mbarrier { owner: MemoryOwner::Block { block_slot, .. }, address, .. },
                CopyKind::CpAsyncArrive,
            ) => {
                let arrival_ref = ArrivalRef { id: copy.id, at: (block_slot, address), has_arrived: false };
                let Some(warp) = self.warps.get_mut(&key) else { return Some(arrival_ref) };
                warp.mark_done(lanes, |copy, _| !copy.bulk);
                return warp.add_arrival(arrival_ref, copy.issued.pc, lanes);
            }
            (CopyStage::Ended, CopyCompletion::Mbarrier { .. }, CopyKind::CpAsyncArrive) => {
                let arrivals = self.warps.get_mut(&key).map(|warp| &mut warp.arrivals);
                let own = arrivals.into_iter().flatten().find(|arrival| arrival.arrival_ref.id == copy.id);
                own.into_iter().for_each(|arrival| arrival.arrival_ref.has_arrived = true);
            }
            _ => {}
        }
        None
    }

    /// Lanes commit a group, which may be empty.
    pub fn committed(&mut self, event: &SyncEvent<'_>, bulk: bool) {
        let warp = self.warps.entry((event.block_id.number, event.point.warp)).or_insert_with(WarpCopies::new);
        assert!(!event.lanes.is_empty(), "a group is committed by some lane");
        event.lanes.iter().for_each(|lane| warp.committed[usize::from(bulk)][lane] += 1);
    }

    /// Lanes have waited for groups. Returns the arrivals whose copies are all waited for now.
    pub fn awaited(&mut self, event: &SyncEvent<'_>, CopyWait { bulk, uncommitted, pending, .. }: CopyWait) -> WaitedArrivals {
        let Some(warp) = self.warps.get_mut(&(event.block_id.number, event.point.warp)) else {
            return WaitedArrivals::new();
        };
        let done = warp.committed[usize::from(bulk)].map(|committed| committed.saturating_sub(pending));
        warp.mark_done(event.lanes, |copy, lane| copy.bulk == bulk && (uncommitted || copy.group < done[lane]));
        if bulk { WaitedArrivals::new() } else { warp.mark_waited(event.lanes, |group, lane| uncommitted || group < done[lane]) }
    }

    /// Lanes exit.
    pub fn exited(&mut self, event: &SyncEvent<'_>, live: LaneMask, program: &Program) {
        assert!(live.contains_all(event.lanes), "a lane exits once");
        let key = (event.block_id.number, event.point.warp);
        let Some(warp) = self.warps.get_mut(&key) else { return };
        for copy in warp.copies.iter().filter(|copy| copy.lanes.intersects(event.lanes)) {
            let language = Language::of(program, copy.side.point.pc);
            let committed = warp.committed[usize::from(copy.bulk)];
            self.deferred.defer(unwaited(language, copy, copy.lanes & event.lanes, event, committed));
        }
        warp.mark_done(event.lanes, |_, _| true);
        if event.lanes.contains_all(live) {
            self.warps.remove(&key);
        }
    }

    /// The launch has ended.
    pub fn end(&mut self, to: &mut Reporter<'_>) {
        self.deferred.release(to);
    }
}

impl WarpCopies {
    fn new() -> Self {
        Self { committed: [[0; LANES]; 2], copies: Vec::new(), last: [0; LANES], arrivals: Vec::new() }
    }

    /// Retains an arrival of `lanes` until they have waited for the copies before it; returns it if there are none.
    fn add_arrival(&mut self, arrival_ref: ArrivalRef, pc: Pc, lanes: LaneMask) -> Option<ArrivalRef> {
        let lanes = lanes.filter(|lane| self.last[lane] > 0);
        let Some(last) = lanes.iter().map(|lane| self.last[lane]).max() else { return Some(arrival_ref) };
        self.arrivals.retain(|other| other.pc != pc);
        self.arrivals.push(CopyArrival { pc, lanes, group: last - 1, arrival_ref });
        None
    }

    /// Lanes have waited for the `cp.async` of the groups that are `is_done`.
    fn mark_waited(&mut self, lanes: LaneMask, is_done: impl Fn(u32, usize) -> bool) -> WaitedArrivals {
        for lane in lanes.iter() {
            let last = &mut self.last[lane];
            if *last > 0 && is_done(*last - 1, lane) {
                *last = 0;
            }
        }
        for arrival in &mut self.arrivals {
            let waited = (arrival.lanes & lanes).filter(|lane| is_done(arrival.group, lane));
            arrival.lanes &= !waited;
        }
        let waited = self.arrivals.iter().filter(|arrival| arrival.lanes.is_empty()).map(|arrival| arrival.arrival_ref).collect();
        self.arrivals.retain(|arrival| !arrival.lanes.is_empty());
        waited
    }

    /// Removes the copies of `lanes` that are `done`.
    fn mark_done(&mut self, lanes: LaneMask, done: impl Fn(&UnwaitedCopy, usize) -> bool) {
        for copy in &mut self.copies {
            let waited = (copy.lanes & lanes).filter(|lane| done(copy, lane));
            copy.lanes &= !waited;
        }
        self.copies.retain(|copy| !copy.lanes.is_empty());
    }
}

fn unwaited(language: Language, copy: &UnwaitedCopy, lanes: LaneMask, event: &SyncEvent<'_>, committed: [u32; LANES]) -> Finding {
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
    let second = Side::new(event.point, lanes, SideAction::Synchronize);
    let finding = Finding::new(ASYNC_UNWAITED_AT_EXIT, second, why, format!("insert {wait} before the threads exit"));
    let kind = if copy.bulk { remedy::CopyKind::Bulk } else { remedy::CopyKind::CpAsync };
    let waits = [Position::Before(event.point.pc), Position::After(copy.side.point.pc)].map(|at| vec![Remedy::WaitAll(kind, at)]);
    Finding { first: Some(Side { lanes, ..copy.side }), candidates: waits.into(), ..finding }
}
