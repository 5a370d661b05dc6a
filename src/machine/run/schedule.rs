//! The scheduler: which warp runs next.
//!
//! A warp keeps its scheduling turn until it waits, exits or has run for [`WARP_TURN`] ticks; then the next warp of its block that can run
//! has its turn, and after [`BLOCK_TURN`] ticks, or when no warp of the block can run, the next block. So no warp starves, and a block's
//! memory stays in the cache. Blocks start in order, when the scheduler first reaches their block slot. All of this is a function of the
//! machine's state: results do not depend on the budget sizes.

use crate::base::WarpId;
use crate::machine::state::cursor::Cursor;
use triomphe::Arc;

use crate::isa::BarrierFn;
use crate::machine::event::{Event, EventKind, EventMask, Observer, Order, OrderEvent};
use crate::machine::exec::other_warps::OtherWarps;
use crate::machine::exec::warp_run::{Excused, Pause, WarpRun};
use crate::machine::in_flight::copy::view::EndedPhases;
use crate::machine::run::deadlock;
use crate::machine::run::livelock::CLUSTER;
use crate::machine::state::block::{Block, Released};
use crate::machine::state::issue_point::{BlockId, IssuePoint, Tick};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::launch::Schedule;
use crate::machine::state::machine::Machine;
use crate::machine::state::trap::{Step, Trap};
use crate::machine::state::warp::Warp;
use crate::program::{Op, Pc, SyncOp, map};

/// Ticks a warp runs at most before another has its turn.
pub(in crate::machine) const WARP_TURN: u32 = 1 << 10;

/// Ticks the warps of a block run at most before another block has its turn.
const BLOCK_TURN: u32 = 1 << 15;

impl Machine {
    /// Runs for at most `budget` ticks and says why it stopped. After [`Step::Budget`] another call continues; after any other answer it
    /// returns the same again.
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
            if self.cursor.warp_left == 0 || !self.current_can_run() {
                match self.next_turn(observer) {
                    Ok(asked) => paused |= asked,
                    Err(step) => return step,
                }
                assert!(self.cursor.warp_left > 0 && self.current_can_run(), "the turn of a warp that cannot run");
            }
            self.take_switch();
            if paused {
                return Step::Paused;
            }
            if self.tick >= end {
                return Step::Budget;
            }
            let turn_end = end.min(self.turn_end());
            let ran = match observer.mask() {
                EventMask::NONE => self.run_turn::<false>(turn_end, observer),
                _ => self.run_turn::<true>(turn_end, observer),
            };
            match ran {
                Ok(asked) => paused = asked,
                Err(trap) => return Step::Trapped(trap),
            }
        }
    }

    /// Gives a warp its turn. True if the observer asks for a pause; an error is why no warp can have one.
    fn next_turn(&mut self, observer: &mut dyn Observer) -> Result<bool, Step> {
        let mut paused = self.between_turns(observer).map_err(Step::Trapped)?;
        while !self.select() {
            if self.is_holding() {
                let ended = self.end_awaited_copies(observer).map_err(Step::Trapped)?;
                paused |= ended.paused;
                if !ended.goes_on {
                    self.gives_up_hold();
                }
                continue;
            }
            let made_progress = self.make_progress(observer).map_err(Step::Trapped)?;
            paused |= made_progress.paused;
            if !made_progress.goes_on {
                let done = self.started == self.prepared.blocks && self.blocks.iter().all(Option::is_none);
                return Err(if done { Step::Done } else { Step::Deadlock(Box::new(deadlock::explain(self))) });
            }
        }
        if self.exceeds_limit() {
            return Err(Step::OverLimit(self.footprint()));
        }
        if self.detects_livelock() && !self.gives_up_hold() {
            return Err(Step::Livelocked(Box::new(deadlock::explain(self))));
        }
        Ok(paused)
    }

    /// Runs the current warp until it pauses, its turn is over or `end` is reached. True if the observer asks for a pause.
    fn run_turn<const OBSERVED: bool>(&mut self, end: Tick, observer: &mut dyn Observer) -> Result<bool, Box<Trap>> {
        let Cursor { block_slot, warp, .. } = self.cursor;
        let cluster = self.cluster_block_slots(block_slot);
        assert!(self.tick < end && self.cursor.warp_left > 0, "a turn without ticks");
        assert!(cluster.contains(&block_slot) && self.blocks[block_slot].is_some(), "an empty block slot has the turn");
        let (before, rest) = self.blocks[cluster.clone()].split_at_mut(block_slot - cluster.start);
        let Some((Some(block), after)) = rest.split_first_mut() else { return Ok(false) };
        let block = Arc::make_mut(block);
        let (lower, rest) = block.warps.split_at_mut(warp);
        let Some((own, higher)) = rest.split_first_mut() else { return Ok(false) };
        let allowance = u64::from(self.cursor.warp_left).min(end - self.tick) as u32;
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
            compares: self.livelock.compares,
            excused: Excused::default(),
            warp: Arc::make_mut(own),
            wants: observer.mask(),
            observer: &mut *observer,
            coverage: self.coverage.as_mut().map(Arc::make_mut),
            waiting: LaneMask::NONE,
            clock_jump: self.clock_jump,
            place: IssuePoint { pc: Pc(0), tick: self.tick, block: block.index, warp: WarpId::new(warp as u32) },
            left: allowance,
            thread_instructions: 0,
            running: 0,
            paused: false,
        };
        let held = run.warp.state_bytes();
        let pause = run.run();
        let taken = run.warp.state_bytes();
        let (progress, excused) = (run.progress, run.excused);
        let (ended, used) = (std::mem::take(&mut run.ended), allowance - run.left);
        let (mut paused, last) = (run.paused, IssuePoint { tick: run.place.tick.saturating_sub(1), ..run.place });
        assert!(used <= self.cursor.warp_left, "a warp runs longer than its turn");
        assert!(self.tick + u64::from(used) <= end, "a run goes past its budget");
        self.block_bytes = (self.block_bytes + taken).saturating_sub(held);
        self.thread_instructions += run.thread_instructions;
        self.tick += u64::from(used);
        self.cursor.warp_left -= used;
        self.cursor.block_left = self.cursor.block_left.saturating_sub(used);
        assert!(self.tick > last.tick || used == 0, "time does not advance");
        self.progress = self.progress.wrapping_add(progress);
        self.excuse(block_slot, excused);
        paused |= self.take_up(pause, last, observer)?;
        paused |= self.wake_at_mbarriers(&ended, observer);
        Ok(paused)
    }

    /// Handles the pause reason after the instruction at `last`. True if the observer asks for a pause.
    fn take_up(&mut self, pause: Pause, last: IssuePoint, observer: &mut dyn Observer) -> Result<bool, Box<Trap>> {
        let Cursor { block_slot, warp, .. } = self.cursor;
        self.note_progress(&pause, last.pc);
        let Some(block) = self.blocks[block_slot].as_mut().map(Arc::make_mut) else { return Ok(false) };
        let (block_id, mut paused) = (BlockId { number: block.number, block_slot: block_slot as u32 }, false);
        match pause {
            Pause::TurnOver | Pause::Waits | Pause::PhaseEnded => {}
            Pause::ArrivedAtCluster { mask } => {
                block.arrive_at_cluster(warp, mask);
                paused |= self.release_cluster(block_slot, last, observer);
            }
            Pause::Arrived { id, mask, wanted, votes } => {
                let released = block.arrive(&self.device.program, warp, id, mask, wanted, votes);
                self.stall.count_barriers(released.as_slice());
                paused |= report_released(released.as_slice(), block_id, last, observer);
                paused |= observer.report(EventKind::Arrived, || Event::Arrived(last, block));
            }
            Pause::LanesExited { before } => {
                let released = block.lanes_exited(&self.device.program, warp, before);
                self.stall.count_barriers(&released);
                paused |= report_released(&released, block_id, last, observer);
                paused |= observer.report(EventKind::Arrived, || Event::Arrived(last, block));
                let done = block.is_done();
                assert_eq!(done, block.warps.iter().all(|warp| warp.live.is_empty()), "a block is done when all its lanes have exited");
                paused |= self.release_cluster(block_slot, last, observer);
                if done {
                    paused |= self.end_copies_around(block_slot, observer)?;
                    self.retire(block_slot);
                }
            }
            Pause::Trapped(trap) => return Err(trap),
        }
        Ok(paused)
    }

    /// A turn of a warp of the block in `block_slot` counted effects that are none, or none that other blocks see.
    fn excuse(&mut self, block_slot: usize, excused: Excused) {
        self.livelock.progress = self.livelock.progress.wrapping_add(excused.count);
        self.livelock.compared += excused.compared;
        if excused.rewrites_shared {
            self.livelock.note_rewritten(block_slot);
        }
    }

    /// The instruction at `pc` ended the turn of the current warp: exits and the results of a reduction are changes, arrivals are not.
    fn note_progress(&mut self, pause: &Pause, pc: Pc) {
        let block_slot = self.cursor.block_slot;
        let op = self.device.program.code[pc.index()].op;
        let is_plain = |id: &u32| matches!(op, Op::Sync(SyncOp::Barrier { f: BarrierFn::Sync | BarrierFn::Arrive, .. })).then_some(*id);
        let quiet = match pause {
            Pause::TurnOver | Pause::Waits | Pause::PhaseEnded | Pause::Trapped(_) => return,
            Pause::LanesExited { .. } => None,
            Pause::ArrivedAtCluster { .. } => Some((self.cluster_block_slots(block_slot).start, CLUSTER)),
            Pause::Arrived { id, .. } => is_plain(id).map(|id| (block_slot, id)),
        };
        match quiet {
            Some((block_slot, barrier)) => self.arrived_quietly(block_slot, barrier),
            None if matches!(pause, Pause::Arrived { .. }) && self.livelock.compares => self.livelock.note_rewritten(block_slot),
            None => self.note_change(),
        }
    }

    /// Gives warp `warp` of block `block` a whole scheduling turn, now, in place of the warp that has the turn: an order that the hardware
    /// could choose as well. False, and nothing changes, if that warp cannot run now or has the turn anyway.
    pub fn give_turn(&mut self, block: [u32; 3], warp: u32) -> bool {
        let block_slot = self.blocks.iter().position(|block_slot| block_slot.as_ref().is_some_and(|resident| resident.index == block));
        block_slot.is_some_and(|block_slot| self.give_turn_in(block_slot, warp as usize))
    }

    /// The same for a warp of the block in a block slot.
    pub(in crate::machine) fn give_turn_in(&mut self, block_slot: usize, warp: usize) -> bool {
        if !self.can_run(block_slot, warp) {
            return false;
        }
        if (self.cursor.block_slot, self.cursor.warp) == (block_slot, warp) && self.cursor.warp_left > 0 {
            return false;
        }
        if self.cursor.block_slot != block_slot || self.cursor.block_left == 0 {
            self.cursor.block_left = BLOCK_TURN;
        }
        self.begin_turn(block_slot, warp, WARP_TURN);
        true
    }

    /// The lanes of a warp that run next once it has the turn; none if all its groups wait.
    pub fn next_lanes(&self, block: [u32; 3], warp: u32) -> Option<LaneMask> {
        let mut warp: Warp = self.block(block)?.warps.get(warp as usize)?.as_ref().clone();
        let next = warp.next_group(&self.prepared.rank)?;
        Some(warp.groups[next].mask)
    }

    /// Ends the turn of the warp that has it, so that the next one runs.
    pub fn end_turn(&mut self) {
        self.cursor.warp_left = 0;
    }

    /// Brings the machine to where the next instruction is issued: a turn is given, a block started if it is one's first, and groups at one
    /// pc reconverge. This makes no difference to the run, but only machines in this canonical state compare as equal at a tick. True if
    /// the observer asks for a pause.
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
        let place = IssuePoint { pc: Pc(0), tick: self.tick, block: block.index, warp: WarpId::new(number as u32) };
        Arc::make_mut(&mut block.warps[number]).next_group_reconverged(&self.prepared.rank, |group| {
            paused |= observer.report(EventKind::Reconverged, || Event::Reconverged(IssuePoint { pc: group.pc, ..place }, group.mask));
        });
        paused
    }

    fn current_can_run(&self) -> bool {
        self.can_run(self.cursor.block_slot, self.cursor.warp)
    }

    pub(in crate::machine) fn can_run(&self, block_slot: usize, warp: usize) -> bool {
        let Some(block) = self.blocks.get(block_slot).and_then(Option::as_ref) else { return false };
        block.warps.get(warp).is_some_and(|warp| warp.can_run()) && !self.is_held(block.number, warp)
    }

    /// Moves the cursor to the next warp that can run; false if there is none.
    fn select(&mut self) -> bool {
        match &self.prepared.config.schedule {
            Schedule::InOrder | Schedule::Held(_) => self.select_in_order(),
            Schedule::Switched(_) => {
                while self.open_block_slot().is_some() {}
                self.begins_or_goes_on() || self.select_in_order()
            }
            Schedule::Random => self.select_random(),
            Schedule::Priority { .. } => {
                while self.open_block_slot().is_some() {}
                self.select_by_priority()
            }
        }
    }

    fn select_in_order(&mut self) -> bool {
        let block_slot = self.cursor.block_slot;
        if self.cursor.block_left > 0 {
            let next = self.cursor.warp + 1;
            if let Some(warp) = self.ready_warp(block_slot, next) {
                self.begin_turn(block_slot, warp, WARP_TURN);
                return true;
            }
        }
        let later = (block_slot + 1..self.blocks.len()).find_map(|block_slot| Some((block_slot, self.ready_warp(block_slot, 0)?)));
        let found = later.or_else(|| self.open_ready()).or_else(|| {
            let earlier = 0..(block_slot + 1).min(self.blocks.len());
            earlier.into_iter().find_map(|block_slot| Some((block_slot, self.ready_warp(block_slot, 0)?)))
        });
        let Some((block_slot, warp)) = found else { return false };
        self.cursor.block_left = BLOCK_TURN;
        self.begin_turn(block_slot, warp, WARP_TURN);
        true
    }

    /// Starts blocks up to one of which a warp can run: a warp of a new block may be held.
    fn open_ready(&mut self) -> Option<(usize, usize)> {
        loop {
            let (block_slot, _) = self.open_block_slot()?;
            let ready = self.ready_warp(block_slot, 0);
            if let Some(warp) = ready {
                return Some((block_slot, warp));
            }
        }
    }

    fn select_random(&mut self) -> bool {
        while self.open_block_slot().is_some() {}
        let block_slots = self.blocks.len();
        let first = self.cursor.random.draw(block_slots as u64) as usize;
        for block_slot in (first..block_slots).chain(0..first) {
            let warps = self.blocks[block_slot].as_ref().map_or(0, |block| block.warps.len());
            let from = self.cursor.random.draw(warps as u64) as usize;
            if let Some(warp) = self.ready_warp(block_slot, from) {
                let turn = 1 + self.cursor.random.draw(64) as u32;
                self.begin_turn(block_slot, warp, turn);
                return true;
            }
        }
        false
    }

    /// The first warp of the block in `block_slot` that can run, from warp `from` on and around.
    fn ready_warp(&self, block_slot: usize, from: usize) -> Option<usize> {
        let warps = self.blocks.get(block_slot)?.as_ref()?.warps.len();
        (0..warps).map(|step| (from + step) % warps).find(|warp| self.can_run(block_slot, *warp))
    }

    pub(in crate::machine) fn begin_turn(&mut self, block_slot: usize, warp: usize, ticks: u32) {
        assert!(ticks > 0, "a turn without ticks");
        assert!(self.can_run(block_slot, warp), "a warp has the turn that cannot run");
        assert!(ticks <= WARP_TURN && self.cursor.block_left <= BLOCK_TURN, "a turn is longer than turns are");
        self.cursor.block_slot = block_slot;
        self.cursor.warp = warp;
        self.cursor.warp_left = ticks;
        if matches!(self.prepared.config.schedule, Schedule::Switched(_)) {
            self.cursor.progress = self.progress;
        }
    }

    /// Starts the next block of the grid in a block slot of its own if there is a block and room for it.
    fn open_block_slot(&mut self) -> Option<(usize, usize)> {
        if !self.prepared.has_room(self.blocks.len() as u64, self.block_bytes) {
            return None;
        }
        let first = self.blocks.len();
        for _ in 0..self.prepared.config.blocks_of_cluster() {
            let block = self.next_block();
            self.blocks.push(block);
        }
        assert!(self.blocks.len() as u64 <= self.prepared.resident, "more blocks than there is room for");
        let opened = &self.blocks[first..];
        assert!(opened.iter().all(|block| block.is_some() == opened[0].is_some()), "a cluster that is not whole");
        self.blocks[first].is_some().then_some((first, 0))
    }

    /// The block in `block_slot` has finished: its block slot is free, or is once the rest of its cluster has finished too.
    fn retire(&mut self, block_slot: usize) {
        assert!(self.blocks[block_slot].as_ref().is_some_and(|block| block.is_done()), "a block is taken away that has not finished");
        let held = self.blocks[block_slot].take().map_or(0, |block| block.state_bytes());
        self.block_bytes = self.block_bytes.saturating_sub(held);
        self.cursor.warp_left = 0;
        let block_slots = self.cluster_block_slots(block_slot);
        if self.blocks[block_slots.clone()].iter().all(Option::is_none) {
            for block_slot in block_slots {
                self.blocks[block_slot] = self.next_block();
            }
        }
    }

    /// The next block of the grid, if any is left.
    fn next_block(&mut self) -> Option<Arc<Block>> {
        if self.started == self.prepared.blocks {
            return None;
        }
        let block = Block::new(&self.device.program, &self.prepared, &self.prepared.config, self.started);
        self.started += 1;
        assert!(block.number < self.started && self.started <= self.prepared.blocks, "blocks start in order");
        self.block_bytes += block.state_bytes();
        Some(Arc::new(block))
    }
}

/// Reports the barriers of the block `by` that the instruction at `place` released.
fn report_released(released: &[Released], block_id: BlockId, place: IssuePoint, observer: &mut dyn Observer) -> bool {
    let mut paused = false;
    for Released { id, arrived } in released {
        let order = Order::BarrierCompleted { id: *id, arrived };
        paused |= observer.report(EventKind::Order, || Event::Order(OrderEvent { place, block_id, lanes: LaneMask::NONE, order }));
    }
    paused
}
