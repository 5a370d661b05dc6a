//! The scheduler, which chooses the warp that runs next.
//!
//! In order, a warp runs until it waits, exits or has run for [`WARP_SLICE`] ticks; then the next warp of its block that can run gets a
//! time slice, and after [`BLOCK_SLICE`] ticks, or when no warp of the block can run or all of them spin (`run::spinning`), the next
//! block. So no warp starves, and a block's memory stays in the cache. Blocks start in order, when the scheduler first reaches their block
//! slot. The choice is a function of the machine's state, independent of budgets.

use crate::base::WarpId;
use crate::machine::state::cursor::{BlockSpin, Cursor, SliceSpin};
use triomphe::Arc;

use crate::isa::BarrierFn;
use crate::machine::event::{Event, Observer, SyncEvent, SyncKind};
use crate::machine::event_kind::{EventKind, EventMask, ISSUES, Issues, Places, Reports};
use crate::machine::exec::other_warps::OtherWarps;
use crate::machine::exec::warp_run::{NonProgress, SliceEnd, WarpRun};
use crate::machine::in_flight::copy::view::EndedPhases;
use crate::machine::run::deadlock;
use crate::machine::run::livelock::CLUSTER;
use crate::machine::state::block::{Block, CompletedBarrier};
use crate::machine::state::issue_point::{BlockId, IssuePoint, Tick};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::launch::Schedule;
use crate::machine::state::machine::{Machine, Reported};
use crate::machine::state::prepared::PreparedLaunch;
use crate::machine::state::tables::straight::StraightCode;
use crate::machine::state::trap::{Step, Trap};
use crate::machine::state::warp::Warp;
use crate::program::{Op, Pc, SyncOp, map};
use crate::weak::{Party, WeakMemory};

/// The maximum number of ticks of a time slice of a warp.
pub(in crate::machine) const WARP_SLICE: u32 = 1 << 10;

/// The maximum number of ticks of a block before the next block.
const BLOCK_SLICE: u32 = 1 << 15;

impl Machine {
    /// Runs for at most `budget` ticks, and returns the reason for the stop. After [`Step::Budget`] or [`Step::Paused`] another call
    /// continues; after other results another call returns the same.
    pub fn run(&mut self, budget: u64, observer: &mut dyn Observer) -> Step {
        if self.is_livelocked() {
            return Step::Livelocked(Box::new(deadlock::explain(self)));
        }
        if self.is_over_limit() {
            return Step::OverLimit(self.footprint());
        }
        let end = self.tick.saturating_add(budget);
        let mut paused = false;
        loop {
            if self.cursor.warp_ticks_left == 0 || !self.current_can_run() {
                match self.next_slice(observer) {
                    Ok(asked) => paused |= asked,
                    Err(step) => return step,
                }
                assert!(self.cursor.warp_ticks_left > 0 && self.current_can_run(), "the turn of a warp that cannot run");
            }
            self.perform_context_switches();
            if paused {
                return Step::Paused;
            }
            if self.tick >= end {
                return Step::Budget;
            }
            let now = self.tick;
            let limit = self.comparison_limit(end.min(self.slice_limit()));
            let reports = self.reports_to(observer);
            let ran = match reports.mask {
                EventMask::NONE => self.run_slice::<false>(limit, reports, observer),
                _ => self.run_slice::<true>(limit, reports, observer),
            };
            match ran {
                Ok(asked) => paused = asked,
                Err(trap) => return Step::Trapped(trap),
            }
            if self.tick > now {
                self.compare_with_slice_start();
            }
        }
    }

    /// What is reported to an observer of the warp that has the turn.
    #[inline(always)]
    fn reports_to(&mut self, observer: &mut dyn Observer) -> Reports {
        let (mask, Cursor { block_slot, warp, .. }) = (observer.mask(), &self.cursor);
        let issues = match &self.blocks[*block_slot] {
            Some(block) if mask.has_any(ISSUES) => observer.issues(block.index, WarpId::new(*warp as u32)),
            Some(_) | None => Issues::All,
        };
        if let Issues::At(places) = &issues {
            self.end_stretches_at(places);
        }
        Reports { mask: issues.of(mask), issues }
    }

    /// Prepares the code whose stretches end at these places.
    fn end_stretches_at(&mut self, places: &std::sync::Arc<Places>) {
        if self.reported.as_ref().is_none_or(|reported| !std::sync::Arc::ptr_eq(&reported.places, places)) {
            let straight = self.prepared.straight.ending_at(places).into();
            self.reported = Some(Reported { places: std::sync::Arc::clone(places), straight });
        }
    }

    /// Starts the time slice of the next warp. True if the observer asks for a pause; an error if no warp can run.
    fn next_slice(&mut self, observer: &mut dyn Observer) -> Result<bool, Step> {
        let mut paused = self.between_slices(observer).map_err(Step::Trapped)?;
        while !self.select() {
            if self.is_delaying() {
                let ended = self.end_awaited_copies(observer).map_err(Step::Trapped)?;
                paused |= ended.paused;
                if !ended.continues {
                    self.cancel_delay();
                }
                continue;
            }
            let progress = self.make_progress(observer).map_err(Step::Trapped)?;
            paused |= progress.paused;
            if !progress.continues {
                let done = self.started == self.end && self.blocks.iter().all(Option::is_none);
                return Err(if done { Step::Done } else { Step::Deadlock(Box::new(deadlock::explain(self))) });
            }
        }
        if self.check_footprint() {
            return Err(Step::OverLimit(self.footprint()));
        }
        if self.detect_livelock() && !self.cancel_delay() {
            return Err(Step::Livelocked(Box::new(deadlock::explain(self))));
        }
        Ok(paused)
    }

    /// Runs the current warp until its time slice ends or `end` is reached. True if the observer asks for a pause.
    fn run_slice<const OBSERVED: bool>(&mut self, end: Tick, reports: Reports, observer: &mut dyn Observer) -> Result<bool, Box<Trap>> {
        let Cursor { block_slot, warp, .. } = self.cursor;
        let cluster = self.cluster_block_slots(block_slot);
        assert!(self.tick < end && self.cursor.warp_ticks_left > 0, "a turn without ticks");
        assert!(cluster.contains(&block_slot) && self.blocks[block_slot].is_some(), "an empty block slot has the turn");
        let (before, rest) = self.blocks[cluster.clone()].split_at_mut(block_slot - cluster.start);
        let Some((Some(block), after)) = rest.split_first_mut() else { return Ok(false) };
        let block = Arc::make_mut(block);
        let (lower, rest) = block.warps.split_at_mut(warp);
        let Some((own, higher)) = rest.split_first_mut() else { return Ok(false) };
        let allowance = u64::from(self.cursor.warp_ticks_left).min(end - self.tick) as u32;
        let mut run = WarpRun::<OBSERVED> {
            program: &self.device.program,
            prepared: &self.prepared,
            global: &mut self.device.global,
            constant_memory: &self.device.constant_memory,
            runtime: &mut self.device.runtime,
            shared: &mut block.shared,
            number: block.number,
            block_slot: block_slot as u32,
            rank: (block_slot - cluster.start) as u32,
            shared_base: map::shared_base((block_slot - cluster.start) as u32),
            immediates: &self.prepared.immediates[block_slot - cluster.start],
            before,
            after,
            cluster: &block.cluster,
            warpgroups: &mut block.warpgroups,
            other_warps: OtherWarps { before: lower, after: higher },
            in_flight: &mut self.in_flight,
            completion: &*self.completion,
            ended: EndedPhases::new(),
            progress: 0,
            weak: self.weak.as_deref_mut(),
            compares_stores: self.livelock.compares_stores,
            non_progress: NonProgress::default(),
            warp: Arc::make_mut(own),
            wants: reports.mask,
            straight: straight_code(&reports.issues, self.reported.as_ref(), &self.prepared),
            issues: reports.issues,
            observer: &mut *observer,
            patterns: &mut self.patterns,
            plain_groups: &mut self.plain_groups,
            coverage: self.coverage.as_mut().map(Arc::make_mut),
            waiting: LaneMask::NONE,
            clock_jump: self.clock_jump,
            point: IssuePoint { pc: Pc(0), tick: self.tick, block: block.index, warp: WarpId::new(warp as u32) },
            ticks_left: allowance,
            thread_instructions: 0,
            running: 0,
            paused: false,
        };
        let bytes_before = run.warp.state_bytes();
        let slice_end = run.run();
        let bytes_after = run.warp.state_bytes();
        let (progress, non_progress) = (run.progress, run.non_progress);
        let (ended, used) = (std::mem::take(&mut run.ended), allowance - run.ticks_left);
        let (mut paused, last) = (run.paused, IssuePoint { tick: run.point.tick.saturating_sub(1), ..run.point });
        self.block_bytes = (self.block_bytes + bytes_after).saturating_sub(bytes_before);
        self.thread_instructions += run.thread_instructions;
        self.advance(used, end);
        assert!(self.tick > last.tick || used == 0, "time does not advance");
        self.progress = self.progress.wrapping_add(progress);
        self.exclude_from_progress(block_slot, non_progress);
        paused |= self.handle_slice_end(slice_end, last, observer)?;
        paused |= self.wake_at_mbarriers(&ended, observer);
        Ok(paused)
    }

    /// Advances the time, to `end` at most, and the turn of the warp that has it.
    #[inline(always)]
    fn advance(&mut self, used: u32, end: Tick) {
        assert!(used <= self.cursor.warp_ticks_left, "a warp runs longer than its turn");
        self.tick += u64::from(used);
        assert!(self.tick <= end, "a run goes past its budget");
        self.cursor.warp_ticks_left -= used;
        self.cursor.block_ticks_left = self.cursor.block_ticks_left.saturating_sub(used);
    }

    /// Handles the end of a time slice after the instruction at `last`. True if the observer asks for a pause.
    fn handle_slice_end(&mut self, slice_end: SliceEnd, last: IssuePoint, observer: &mut dyn Observer) -> Result<bool, Box<Trap>> {
        let Cursor { block_slot, warp, .. } = self.cursor;
        self.note_progress(&slice_end, last.pc);
        let Some(block) = self.blocks[block_slot].as_mut().map(Arc::make_mut) else { return Ok(false) };
        let (block_id, mut paused) = (BlockId { number: block.number, block_slot: block_slot as u32 }, false);
        match slice_end {
            SliceEnd::UsedUp | SliceEnd::Waits | SliceEnd::PhaseEnded => {}
            SliceEnd::ArrivedAtCluster { mask } => {
                block.arrive_at_cluster(warp, mask);
                paused |= self.release_cluster(block_slot, last, observer);
            }
            SliceEnd::Arrived { id, mask, thread_count, votes } => {
                let completed = block.arrive(&self.device.program, warp, id, mask, thread_count, votes);
                self.stall.count_barriers(completed.as_slice());
                self.weak.iter_mut().for_each(|weak| meet_at_barriers(weak, completed.as_slice(), block_id, &self.prepared, last.tick));
                paused |= report_completed(completed.as_slice(), block_id, last, observer);
                paused |= observer.report(EventKind::Arrived, || Event::Arrived(last, block));
            }
            SliceEnd::LanesExited { before } => {
                let completed = block.lanes_exited(&self.device.program, warp, before);
                self.stall.count_barriers(&completed);
                self.weak.iter_mut().for_each(|weak| meet_at_barriers(weak, &completed, block_id, &self.prepared, last.tick));
                paused |= report_completed(&completed, block_id, last, observer);
                paused |= observer.report(EventKind::Arrived, || Event::Arrived(last, block));
                let done = block.is_done();
                assert_eq!(done, block.warps.iter().all(|warp| warp.live.is_empty()), "a block is done when all its lanes have exited");
                paused |= self.release_cluster(block_slot, last, observer);
                if done {
                    paused |= self.end_copies_of_block(block_slot, observer)?;
                    self.weak.iter_mut().for_each(|weak| weak.end_block(self.prepared.place(block_id.number, 0)));
                    self.retire(block_slot);
                }
            }
            SliceEnd::Trapped(trap) => return Err(trap),
        }
        Ok(paused)
    }

    /// Subtracts the progress of a time slice that changed nothing, or only what the block in `block_slot` itself sees.
    fn exclude_from_progress(&mut self, block_slot: usize, non_progress: NonProgress) {
        self.livelock.progress = self.livelock.progress.wrapping_add(non_progress.count);
        self.livelock.compared += non_progress.compared;
        if non_progress.changes_shared {
            self.livelock.note_changed_shared(block_slot);
        }
    }

    /// Records the effect of the instruction at `pc`, which ended a time slice: exits and barrier reductions are effects, other arrivals
    /// are not.
    fn note_progress(&mut self, slice_end: &SliceEnd, pc: Pc) {
        let block_slot = self.cursor.block_slot;
        let op = self.device.program.code[pc.index()].op;
        let is_plain = |id: &u32| matches!(op, Op::Sync(SyncOp::Barrier { f: BarrierFn::Sync | BarrierFn::Arrive, .. })).then_some(*id);
        let barrier_arrival = match slice_end {
            SliceEnd::UsedUp | SliceEnd::Waits | SliceEnd::PhaseEnded | SliceEnd::Trapped(_) => return,
            SliceEnd::LanesExited { .. } => None,
            SliceEnd::ArrivedAtCluster { .. } => Some((self.cluster_block_slots(block_slot).start, CLUSTER)),
            SliceEnd::Arrived { id, .. } => is_plain(id).map(|id| (block_slot, id)),
        };
        match barrier_arrival {
            Some((block_slot, barrier)) => self.note_barrier_arrival(block_slot, barrier),
            None if matches!(slice_end, SliceEnd::Arrived { .. }) && self.livelock.compares_stores => {
                self.livelock.note_changed_shared(block_slot);
            }
            None => self.record_effect(),
        }
    }

    /// Starts a full time slice of warp `warp` of block `block` now, in place of the current warp. False, without effect, if that warp
    /// cannot run or is the current one.
    pub fn schedule_warp(&mut self, block: [u32; 3], warp: u32) -> bool {
        let block_slot = self.blocks.iter().position(|block_slot| block_slot.as_ref().is_some_and(|resident| resident.index == block));
        block_slot.is_some_and(|block_slot| self.schedule_warp_in(block_slot, warp as usize))
    }

    /// Like [`Self::schedule_warp`], for the block in a block slot.
    pub(in crate::machine) fn schedule_warp_in(&mut self, block_slot: usize, warp: usize) -> bool {
        if !self.can_run(block_slot, warp) {
            return false;
        }
        if (self.cursor.block_slot, self.cursor.warp) == (block_slot, warp) && self.cursor.warp_ticks_left > 0 {
            return false;
        }
        if self.cursor.block_slot != block_slot || self.cursor.block_ticks_left == 0 {
            self.cursor.block_ticks_left = BLOCK_SLICE;
        }
        self.begin_slice(block_slot, warp, WARP_SLICE);
        true
    }

    /// The lanes of a warp that run first in its next time slice; none if all its groups wait.
    pub fn next_lanes(&self, block: [u32; 3], warp: u32) -> Option<LaneMask> {
        let mut warp: Warp = self.block(block)?.warps.get(warp as usize)?.as_ref().clone();
        let next = warp.next_group(&self.prepared.rank)?;
        Some(warp.groups[next].mask)
    }

    /// Ends the time slice of the current warp.
    pub fn end_slice(&mut self) {
        self.cursor.warp_ticks_left = 0;
    }

    /// Advances the machine to just before the next instruction: starts the next time slice, starts blocks, and merges groups at one pc.
    /// This does not change the run, but only machines in this canonical state compare as equal at a tick. True if the observer asks for a
    /// pause.
    pub fn canonicalize(&mut self, observer: &mut dyn Observer) -> bool {
        let mut paused = match self.run(0, observer) {
            Step::Budget => false,
            Step::Paused => true,
            Step::Done | Step::OverLimit(_) | Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) => return false,
        };
        let Cursor { block_slot, warp: number, .. } = self.cursor;
        let Some(block) = self.blocks.get_mut(block_slot).and_then(Option::as_mut) else { return paused };
        if block.warps.get(number).is_none_or(|warp| warp.groups.len() < 2) {
            return paused;
        }
        let block = Arc::make_mut(block);
        let point = IssuePoint { pc: Pc(0), tick: self.tick, block: block.index, warp: WarpId::new(number as u32) };
        Arc::make_mut(&mut block.warps[number]).next_group_reconverged(&self.prepared.rank, |group| {
            paused |= observer.report(EventKind::Reconverged, || Event::Reconverged(IssuePoint { pc: group.pc, ..point }, group.mask));
        });
        paused
    }

    fn current_can_run(&self) -> bool {
        self.can_run(self.cursor.block_slot, self.cursor.warp)
    }

    pub(in crate::machine) fn can_run(&self, block_slot: usize, warp: usize) -> bool {
        let Some(block) = self.blocks.get(block_slot).and_then(Option::as_ref) else { return false };
        block.warps.get(warp).is_some_and(|warp| warp.can_run()) && !self.is_delayed(block.number, warp)
    }

    /// Moves the cursor to the next warp that can run; false if there is none.
    fn select(&mut self) -> bool {
        match &self.prepared.config.schedule {
            Schedule::InOrder | Schedule::Delayed(_) => self.select_in_order(),
            Schedule::ContextSwitches(_) => {
                while self.start_next_cluster().is_some() {}
                self.continue_current() || self.select_in_order()
            }
            Schedule::Random => self.select_random(),
            Schedule::Priority { .. } => {
                while self.start_next_cluster().is_some() {}
                self.select_by_priority()
            }
        }
    }

    fn select_in_order(&mut self) -> bool {
        let (block_slot, used_up) = (self.cursor.block_slot, self.cursor.warp_ticks_left == 0);
        if self.cursor.block_ticks_left > 0 && !self.block_spins() {
            let next = self.cursor.warp + 1;
            if let Some(warp) = self.ready_warp(block_slot, next) {
                self.begin_slice(block_slot, warp, WARP_SLICE);
                self.begin_comparison(used_up);
                return true;
            }
        }
        let later = (block_slot + 1..self.blocks.len()).find_map(|block_slot| Some((block_slot, self.ready_warp(block_slot, 0)?)));
        let found = later.or_else(|| self.start_until_ready()).or_else(|| {
            let earlier = 0..(block_slot + 1).min(self.blocks.len());
            earlier.into_iter().find_map(|block_slot| Some((block_slot, self.ready_warp(block_slot, 0)?)))
        });
        let Some((block_slot, warp)) = found else { return false };
        self.cursor.block_ticks_left = BLOCK_SLICE;
        self.cursor.spin = BlockSpin { progress: self.progress, ..BlockSpin::default() };
        self.begin_slice(block_slot, warp, WARP_SLICE);
        true
    }

    /// Starts clusters until a warp of a new block can run, since a warp may be delayed. Returns its block slot and the warp.
    fn start_until_ready(&mut self) -> Option<(usize, usize)> {
        loop {
            let (block_slot, _) = self.start_next_cluster()?;
            let ready = self.ready_warp(block_slot, 0);
            if let Some(warp) = ready {
                return Some((block_slot, warp));
            }
        }
    }

    fn select_random(&mut self) -> bool {
        while self.start_next_cluster().is_some() {}
        let block_slots = self.blocks.len();
        let first = self.cursor.random.draw(block_slots as u64) as usize;
        for block_slot in (first..block_slots).chain(0..first) {
            let warps = self.blocks[block_slot].as_ref().map_or(0, |block| block.warps.len());
            let from = self.cursor.random.draw(warps as u64) as usize;
            if let Some(warp) = self.ready_warp(block_slot, from) {
                let ticks = 1 + self.cursor.random.draw(64) as u32;
                self.begin_slice(block_slot, warp, ticks);
                return true;
            }
        }
        false
    }

    /// The first warp of the block in `block_slot` that can run, from warp `from` on and then from 0.
    fn ready_warp(&self, block_slot: usize, from: usize) -> Option<usize> {
        let warps = self.blocks.get(block_slot)?.as_ref()?.warps.len();
        (0..warps).map(|step| (from + step) % warps).find(|warp| self.can_run(block_slot, *warp))
    }

    pub(in crate::machine) fn begin_slice(&mut self, block_slot: usize, warp: usize, ticks: u32) {
        assert!(ticks > 0, "a turn without ticks");
        assert!(self.can_run(block_slot, warp), "a warp has the turn that cannot run");
        assert!(ticks <= WARP_SLICE && self.cursor.block_ticks_left <= BLOCK_SLICE, "a turn is longer than turns are");
        self.cursor.block_slot = block_slot;
        self.cursor.warp = warp;
        self.cursor.warp_ticks_left = ticks;
        // What was compared is of the warp before.
        if self.cursor.spin.slice != SliceSpin::Computes {
            self.cursor.spin.slice = SliceSpin::Unknown;
        }
        if matches!(self.prepared.config.schedule, Schedule::ContextSwitches(_)) {
            self.cursor.progress = self.progress;
        }
    }

    /// Starts the blocks of the next cluster of the grid in new block slots, if there is one and its state fits.
    fn start_next_cluster(&mut self) -> Option<(usize, usize)> {
        if !self.prepared.has_room(self.blocks.len() as u64, self.block_bytes) {
            return None;
        }
        let first = self.blocks.len();
        for _ in 0..self.prepared.config.blocks_of_cluster() {
            let block = self.next_block(None);
            self.blocks.push(block);
        }
        assert!(self.blocks.len() as u64 <= self.prepared.resident, "more blocks than there is room for");
        let started = &self.blocks[first..];
        assert!(started.iter().all(|block| block.is_some() == started[0].is_some()), "a cluster that is not whole");
        self.blocks[first].is_some().then_some((first, 0))
    }

    /// Removes the finished block in `block_slot`. Once all blocks of its cluster have finished, the next cluster starts in their slots.
    fn retire(&mut self, block_slot: usize) {
        assert!(self.blocks[block_slot].as_ref().is_some_and(|block| block.is_done()), "a block is taken away that has not finished");
        let mut finished = self.blocks[block_slot].take();
        let freed = finished.as_ref().map_or(0, |block| block.state_bytes());
        self.block_bytes = self.block_bytes.saturating_sub(freed);
        self.cursor.warp_ticks_left = 0;
        let block_slots = self.cluster_block_slots(block_slot);
        if self.blocks[block_slots.clone()].iter().all(Option::is_none) {
            for block_slot in block_slots {
                self.blocks[block_slot] = self.next_block(finished.take());
            }
        }
    }

    /// Starts the next block of the grid, if there is one, in the memory of one that has finished.
    fn next_block(&mut self, finished: Option<Arc<Block>>) -> Option<Arc<Block>> {
        if self.started == self.end {
            return None;
        }
        let block = Block::start(&self.device.program, &self.prepared, self.started, finished);
        self.started += 1;
        assert!(block.number < self.started && self.started <= self.end, "blocks start in order");
        self.block_bytes += block.state_bytes();
        Some(block)
    }
}

/// The code of straight stretches of a warp of which these instructions are reported.
fn straight_code<'a>(issues: &Issues, reported: Option<&'a Reported>, prepared: &'a PreparedLaunch) -> &'a StraightCode {
    match (issues, reported) {
        (Issues::At(_), Some(reported)) => &reported.straight,
        (Issues::At(_), None) | (Issues::All | Issues::None, _) => &prepared.straight,
    }
}

/// On weak memory the threads that have arrived at a barrier meet when it is completed. Those that only arrive meet the others as well,
/// which is more order than the model has.
fn meet_at_barriers(weak: &mut WeakMemory, completed: &[CompletedBarrier], block_id: BlockId, prepared: &PreparedLaunch, now: Tick) {
    let threads = prepared.config.block.iter().product::<u32>();
    for CompletedBarrier { arrived, .. } in completed {
        if arrived.iter().map(|lanes| lanes.count()).sum::<u32>() == threads {
            weak.meet_block(prepared.place(block_id.number, 0), now.0, prepared.cluster_blocks == 1);
            continue;
        }
        let of_warps = arrived.iter().enumerate();
        let parties: Vec<Party> = of_warps.flat_map(|(warp, lanes)| prepared.parties(block_id.number, warp, *lanes)).collect();
        weak.meet(&parties, None, now.0);
    }
}

/// Reports the barriers of a block that the instruction at `point` completed.
fn report_completed(completed: &[CompletedBarrier], block_id: BlockId, point: IssuePoint, observer: &mut dyn Observer) -> bool {
    let mut paused = false;
    for CompletedBarrier { id, arrived } in completed {
        let kind = SyncKind::BarrierCompleted { id: *id, arrived };
        paused |= observer.report(EventKind::Sync, || Event::Sync(SyncEvent { point, block_id, lanes: LaneMask::NONE, kind }));
    }
    paused
}
