//! Progress when no warp is ready but a group waits for an mbarrier phase: copies complete, then waits time out, and if neither has an
//! effect the run is in a deadlock.
//!
//! A group that tests a phase that has not completed waits, with `try_wait` as with `test_wait`; a loop of `test_wait` counts as one poll.
//! The poll fails when no other group is ready, or after [`WAIT_TIMEOUT`] ticks, and the group continues. Under a random schedule it also
//! fails at random times: on the hardware the duration of a wait is system-dependent (PTX ISA, "mbarrier.try_wait").
//!
//! If all waiting groups return to the same poll in the same state, without an effect that other threads see in between, they do so
//! forever: a deadlock. Clock values are not part of that state; for a program that reads clocks a deadlock is reported only after the
//! clocks were advanced ([`ClockJump`](crate::machine::state::clocks::ClockJump)), so that waits with a timeout have ended.

use std::hash::{Hash, Hasher};

use crate::machine::state::waits::StallState;
use triomphe::Arc;

use crate::machine::event::{CopyEvent, CopyStage, Event, MbarrierChange, MbarrierEvent, Observer};
use crate::machine::event_kind::EventKind;
use crate::machine::in_flight::copy::view::{EndedPhases, MemoryView};
use crate::machine::in_flight::policy::WhenAwaited;
use crate::machine::state::block::Block;
use crate::machine::state::digest::Digest;
use crate::machine::state::in_flight::InFlight;
use crate::machine::state::in_flight::copy::{AsyncCopy, CopyCompletion, CopyKind, MemoryOwner};
use crate::machine::state::issue_point::BlockId;
use crate::machine::state::launch::Schedule;
use crate::machine::state::machine::Machine;
use crate::machine::state::mbarrier::MbarrierError;
use crate::machine::state::trap::Trap;
use crate::machine::state::warp::{GroupState, LaneGroup, Polled};
use crate::program::Access;

/// The maximum number of ticks of a wait while other warps run.
const WAIT_TIMEOUT: u64 = 1 << 16;

/// The maximum number of consecutive timeouts without an effect.
const POLLS_MAX: u64 = 1 << 20;

/// Consecutive rounds of timeouts at each of which the state is compared; later only at every `CLOSE_ROUNDS`-th round.
const CLOSE_ROUNDS: u64 = 64;

/// Under a random schedule, a wait times out before one in `TIMEOUT_ODDS` time slices.
const TIMEOUT_ODDS: u64 = 4;

/// The result of an attempt to make progress: true if the run can continue, and true if the observer asks for a pause.
pub(in crate::machine) struct Progress {
    pub continues: bool,
    pub paused: bool,
}

type Outcome = Result<Progress, Box<Trap>>;

impl Machine {
    /// Updates the machine between two time slices: copies complete at random, and long waits time out. True if the observer asks for a
    /// pause.
    pub(in crate::machine) fn between_slices(&mut self, observer: &mut dyn Observer) -> Result<bool, Box<Trap>> {
        let mut paused = false;
        let chosen = self.completion.between_slices(&|| ids_in_flight(&self.in_flight, &self.blocks).count());
        let ended = chosen.and_then(|chosen| ids_in_flight(&self.in_flight, &self.blocks).nth(chosen));
        assert_eq!(ended.is_some(), chosen.is_some(), "an operation ends that is not in flight");
        if let Some(id) = ended {
            paused |= self.complete_by_id(id, observer)?.unwrap_or(false);
        }
        if self.prepared.config.schedule == Schedule::Random && self.prepared.asks_for_phases && !self.waits_forever() {
            self.time_out_waits();
        }
        if self.tick() >= self.stall.due && !self.waits_forever() {
            self.stall.due = self.tick() + WAIT_TIMEOUT;
            let progress = self.end_awaited_copies(observer)?;
            paused |= progress.paused;
            if !progress.continues {
                self.time_out();
            }
        }
        Ok(paused)
    }

    /// Makes progress when no warp is ready: completes the copies for which a group waits, or lets waits time out.
    pub(in crate::machine) fn make_progress(&mut self, observer: &mut dyn Observer) -> Outcome {
        let progress = self.end_awaited_copies(observer)?;
        if progress.continues {
            return Ok(progress);
        }
        let continues = !self.waits_forever() && !self.detect_stall();
        if continues {
            self.time_out();
            assert!(self.resident_blocks().any(|block| block.warps.iter().any(|warp| warp.can_run())), "no wait has timed out");
        }
        Ok(Progress { continues, ..progress })
    }

    /// True if a deadlock was detected, and there was no effect since.
    fn waits_forever(&self) -> bool {
        self.stall.proven && self.stall.progress == self.progress
    }

    /// Records the state when no group can run. True if the groups that wait for phases have returned to an earlier state, or if there are
    /// none: a deadlock.
    fn detect_stall(&mut self) -> bool {
        let waits =
            self.resident_blocks().flat_map(|block| &block.warps).flat_map(|warp| &warp.groups).filter(|group| waits_for_phase(group));
        let waits = waits.count() as u64;
        if waits == 0 {
            return true;
        }
        assert!(!self.resident_blocks().any(|block| block.warps.iter().any(|warp| warp.can_run())), "a group can run");
        assert!(self.stall.barriers_then <= self.stall.barriers_completed, "more barriers were completed than there were");
        if self.progress != self.stall.progress {
            self.clock_jump.reset();
            let (progress, barriers_then) = (self.progress, self.stall.barriers_completed);
            self.stall = StallState { polls: 0, rounds: 0, next: 1, proven: false, progress, barriers_then, ..self.stall.clone() };
            self.stall.waiters_hash = self.waiters_hash();
            return false;
        }
        self.stall.polls += waits;
        self.stall.rounds += 1;
        let rounds = self.stall.rounds;
        if self.stall.polls > POLLS_MAX {
            self.stall.proven = true;
        } else if rounds <= CLOSE_ROUNDS || rounds.is_multiple_of(CLOSE_ROUNDS) {
            let waiters_hash = self.waiters_hash();
            if waiters_hash == self.stall.waiters_hash {
                self.stall.proven = self.prepared.clocks.is_empty() || !self.clock_jump.jump();
                (self.stall.rounds, self.stall.next) = (0, 1);
            } else if rounds >= self.stall.next {
                self.stall.waiters_hash = waiters_hash;
                self.stall.next = 2 * rounds;
                if rounds > CLOSE_ROUNDS {
                    self.clock_jump.jump();
                }
            }
        }
        self.stall.proven
    }

    /// Ends the copies that complete on the mbarriers for which groups wait, unless only the user ends copies.
    pub(in crate::machine) fn end_awaited_copies(&mut self, observer: &mut dyn Observer) -> Outcome {
        let mut progress = Progress { continues: false, paused: false };
        if !self.in_flight.has_copies() || self.completion.when_awaited() == WhenAwaited::WaitsForUser {
            return Ok(progress);
        }
        for (block_slot, address) in self.awaited() {
            for copy in self.in_flight.to_mbarrier(block_slot, address) {
                progress.paused |= self.end_copy(&copy, observer)?;
                progress.continues = true;
            }
        }
        Ok(progress)
    }

    /// The mbarriers for which groups wait, by block slot and address.
    fn awaited(&self) -> Vec<(u32, u32)> {
        let mut awaited = Vec::new();
        for (block_slot, block) in self.blocks.iter().enumerate() {
            let groups = block.iter().flat_map(|block| &block.warps).flat_map(|warp| &warp.groups);
            for group in groups {
                if let GroupState::AtMbarrier { address } = group.state
                    && !awaited.contains(&(block_slot as u32, address))
                {
                    awaited.push((block_slot as u32, address));
                }
            }
        }
        awaited
    }

    /// A digest of the pcs, registers and local memory of the warps in which a group waits for a phase, or of all warps if barriers have
    /// completed since the last effect.
    fn waiters_hash(&self) -> u64 {
        let mut digest = Digest::default();
        let all = self.stall.barriers_then != self.stall.barriers_completed;
        for block in self.resident_blocks() {
            for warp in block.warps.iter().filter(|warp| all || warp.groups.iter().any(waits_for_phase)) {
                self.prepared.clocks.hash_registers(warp, &mut digest);
                warp.local.hash(&mut digest);
                warp.groups.iter().for_each(|group| (group.pc, group.mask).hash(&mut digest));
            }
            if all {
                block.hash_arrivals(&mut digest);
            }
        }
        digest.finish()
    }

    /// Lets the wait of a random group time out, with a probability of 1 in [`TIMEOUT_ODDS`].
    fn time_out_waits(&mut self) {
        let random = &mut self.stall.timeout_random;
        if random.draw(TIMEOUT_ODDS) != 0 {
            return;
        }
        let block_slot = random.draw(self.blocks.len() as u64) as usize;
        let Some(Some(block)) = self.blocks.get_mut(block_slot) else { return };
        let waiting = || block.warps.iter().enumerate().flat_map(|(number, warp)| warp.groups.iter().map(move |group| (number, group)));
        let waits: Vec<_> = waiting().filter(|(_, group)| waits_for_phase(group)).map(|(number, group)| (number, group.mask)).collect();
        let chosen = waits.get(random.draw(waits.len() as u64) as usize).copied();
        let Some((number, mask)) = chosen else { return };
        let warp = Arc::make_mut(&mut Arc::make_mut(block).warps[number]);
        warp.groups.iter_mut().filter(|group| group.mask == mask).for_each(time_out);
    }

    /// Fails the poll of every group that waits for a phase.
    fn time_out(&mut self) {
        for block in self.blocks.iter_mut().flatten() {
            if !block.warps.iter().any(|warp| warp.groups.iter().any(waits_for_phase)) {
                continue;
            }
            for warp in &mut Arc::make_mut(block).warps {
                if warp.groups.iter().any(waits_for_phase) {
                    Arc::make_mut(warp).groups.iter_mut().filter(|group| waits_for_phase(group)).for_each(time_out);
                }
            }
        }
    }

    /// Ends the copies that the block in `block_slot` issued, or that access its shared memory: the block has finished.
    pub(in crate::machine) fn end_copies_of_block(&mut self, block_slot: usize, observer: &mut dyn Observer) -> Result<bool, Box<Trap>> {
        let mut paused = false;
        if let Some(number) = self.blocks[block_slot].as_ref().map(|block| block.number)
            && self.in_flight.has_copies()
        {
            for copy in self.in_flight.copies_of_block(block_slot as u32, number) {
                paused |= self.end_copy(&copy, observer)?;
            }
        }
        Ok(paused)
    }

    /// Ends the copy or matrix multiplication with this number, as the user asks; false if it is not in flight.
    ///
    /// # Errors
    /// If its contribution to an mbarrier is invalid.
    pub fn complete(&mut self, id: u64, observer: &mut dyn Observer) -> Result<bool, Box<Trap>> {
        Ok(self.complete_by_id(id, observer)?.is_some())
    }

    /// Ends the copy or matrix multiplication with this number; none if it is not in flight. True if the observer asks for a pause.
    fn complete_by_id(&mut self, id: u64, observer: &mut dyn Observer) -> Result<Option<bool>, Box<Trap>> {
        let copy = self.in_flight.copies().find(|copy| copy.id == id).cloned();
        match copy {
            Some(copy) => self.end_copy(&copy, observer).map(Some),
            None => Ok(self.end_wgmma(id, observer)),
        }
    }

    /// Ends a copy for all its lanes, after the copies that must end before it. True if the observer asks for a pause.
    fn end_copy(&mut self, copy: &AsyncCopy, observer: &mut dyn Observer) -> Result<bool, Box<Trap>> {
        let mut paused = false;
        if let CopyKind::CpAsyncArrive = copy.kind {
            let before: Vec<_> = self
                .in_flight
                .copies_of(copy.block_id.number, copy.issued.warp.number())
                .filter(|other| other.is_awaited_by(copy))
                .cloned()
                .collect();
            for other in before {
                paused |= self.end_copy_now(&other, observer)?;
            }
        }
        Ok(self.end_copy_now(copy, observer)? || paused)
    }

    fn end_copy_now(&mut self, copy: &AsyncCopy, observer: &mut dyn Observer) -> Result<bool, Box<Trap>> {
        // The copy in the table may have fewer lanes by now.
        let Some(copy) = self.in_flight.copies().find(|other| other.id == copy.id).cloned() else { return Ok(false) };
        let mut ended = EndedPhases::new();
        let tick = self.tick();
        let mut view = MemoryView {
            global: &mut self.device.global,
            own: None,
            before: &mut self.blocks,
            after: &mut [],
            first: 0,
            ended: &mut ended,
        };
        if let Err(error) = copy.end(copy.lanes, tick, &mut view) {
            let owner = self.resident_blocks().find(|block| block.number == copy.block_id.number);
            return Err(copy.fault(error, |address| owner.map_or(format!("{address:#x}"), |block| self.mbarrier_name(block, address))));
        }
        self.in_flight.remove_copy(&copy, copy.lanes);
        debug_assert!(!self.in_flight.copies().any(|other| other.id == copy.id), "a copy that has ended is in flight");
        self.progress = self.progress.wrapping_add(1);
        let event = CopyEvent { copy: &copy, lanes: copy.lanes, stage: CopyStage::Ended, replaces: None, tick };
        let described = observer.report(EventKind::Copy, || Event::Copy(event));
        let paused = self.wake_at_mbarriers(&ended, observer);
        let waits = |group: &LaneGroup| group.state == GroupState::AtCopies;
        let owner = self.blocks.iter_mut().flatten().find(|block| block.number == copy.block_id.number);
        if let Some(block) = owner.filter(|block| block.warps.iter().any(|warp| warp.groups.iter().any(waits))) {
            Arc::make_mut(block).wake(|state| state == GroupState::AtCopies);
        }
        Ok(described || paused)
    }

    /// Wakes the groups that wait for mbarriers with a completed phase. True if the observer asks for a pause.
    pub(in crate::machine) fn wake_at_mbarriers(&mut self, ended: &[(u32, u32)], observer: &mut dyn Observer) -> bool {
        let mut paused = false;
        for (block_slot, address) in ended {
            let Some(Some(block)) = self.blocks.get_mut(*block_slot as usize) else { continue };
            let block = Arc::make_mut(block);
            block.wake_at_mbarrier(*address);
            let last = block.shared.mbarriers().find(|(at, _)| at == address).and_then(|(_, barrier)| barrier.history.last());
            assert!(last.is_none_or(|phase| phase.ended <= self.tick), "a phase ends that is still to come");
            let block_id = BlockId { number: block.number, block_slot: *block_slot };
            let phase = block.shared.mbarrier(*address).ok().and_then(|barrier| barrier.history.last());
            if let Some(phase) = phase.filter(|_| observer.mask().has(EventKind::Mbarrier)) {
                let (point, lanes, change) = (phase.last.point, phase.last.lanes, MbarrierChange::PhaseCompleted(phase.number));
                let (block, block_slot, address, phase) = (block.index, *block_slot, *address, phase.number);
                let semantics = Access::default();
                paused |= observer.event(&Event::Mbarrier(MbarrierEvent {
                    point,
                    block_id,
                    lanes,
                    block,
                    block_slot,
                    address,
                    phase,
                    change,
                    semantics,
                }));
            }
        }
        paused
    }
}

impl AsyncCopy {
    /// True if the arrival `other` waits for this copy: an earlier `cp.async` of one of its lanes.
    fn is_awaited_by(&self, other: &AsyncCopy) -> bool {
        matches!(self.kind, CopyKind::CpAsync(_)) && self.id < other.id && self.lanes.intersects(other.lanes)
    }

    /// The fault of a copy whose contribution to an mbarrier is invalid. `name` returns the name of the mbarrier at an address.
    pub fn fault(&self, error: MbarrierError, name: impl Fn(u32) -> String) -> Box<Trap> {
        let (address, bytes) = match self.completion {
            CopyCompletion::Mbarrier { owner: MemoryOwner::Block { .. }, address, bytes } => (address, bytes),
            CopyCompletion::Group { .. } | CopyCompletion::Mbarrier { .. } => (0, 0),
        };
        let (kind, why) = error.describe(&name(address));
        let message = format!("asynchronous copy #{} completes {bytes} bytes: {why}", self.id);
        Box::new(Trap { kind, point: self.issued, lanes: self.lanes, access: None, message })
    }
}

/// The numbers of the operations in flight: copies, then matrix multiplications by block slot and warp.
fn ids_in_flight(in_flight: &InFlight, blocks: &[Option<Arc<Block>>]) -> impl Iterator<Item = u64> {
    let wgmmas = blocks.iter().flatten().flat_map(|block| in_flight.wgmmas_of_block(block.number));
    in_flight.copies().map(|copy| copy.id).chain(wgmmas.map(|wgmma| wgmma.id))
}

fn waits_for_phase(group: &LaneGroup) -> bool {
    matches!(group.state, GroupState::AtMbarrier { .. })
}

/// Fails the poll of a group that waits for a phase.
fn time_out(group: &mut LaneGroup) {
    assert!(waits_for_phase(group), "a wait times out that is none");
    group.state = GroupState::Ready;
    group.polled = Polled::TimedOut(group.pc);
}
