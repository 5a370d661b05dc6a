//! Mbarriers: their lifetime, their expected bytes, and waits that order nothing (PTX ISA, "mbarrier").
//!
//! - Initialized again while it is in use: `mbarrier.reinit`. Accessed by anything but mbarrier instructions: `mbarrier.overlap`.
//! - The bytes that an mbarrier expects in its lifetime differ from those completed: `mbarrier.tx_mismatch` in a deadlock, or when its
//!   block has exited.
//! - A wait by parity succeeds if the previous phase has that parity. If a thread waits successfully for the same phase twice at one
//!   instruction, with an arrival in between, the second wait was meant for the next phase: `mbarrier.phase`, once that phase is in use.
//!   Without the arrival the wait is redundant but right, and so is the first wait of a producer, by the other parity, on a new mbarrier.

use std::collections::{BTreeMap, BTreeSet};

use super::copies::ArrivalRef;
use crate::base::WarpId;
use crate::check::deferred::DeferredFindings;
use crate::check::finding::{Finding, MemoryRange, Side, SideAction};
use crate::check::lane_text::lanes_do;
use crate::check::reporter::Reporter;
use crate::check::sync::catalogue::{ASYNC_UNWAITED_AT_EXIT, MBARRIER_OVERLAP, MBARRIER_PHASE, MBARRIER_REINIT, MBARRIER_TX_MISMATCH};
use crate::isa::Space;
use crate::machine::{
    AccessEvent, Contribution, CopyCompletion, CopyEvent, CopyStage, GroupState, IssuePoint, LaunchEnd, MbarrierChange, MbarrierEvent,
    MemoryOwner, Tick, UnfinishedBlock,
};

/// Bytes of an mbarrier.
const BYTES: u64 = 8;

/// The key of an mbarrier: block slot of its block, and address in its shared memory.
type MbarrierKey = (u32, u32);

/// The mbarriers of the blocks on the machine.
#[derive(Clone, Default)]
pub(super) struct Mbarriers {
    mbarriers: BTreeMap<MbarrierKey, MbarrierState>,
    /// The addresses from the first mbarrier to the end of the last, by block slot.
    extents: Vec<(u64, u64)>,
    /// The number of arrivals of each warp at any barrier.
    arrivals: BTreeMap<([u32; 3], u32), u64>,
    /// Pending arrivals of copies that their threads have waited for themselves.
    waited_arrivals: BTreeSet<u64>,
    deferred: DeferredFindings,
}

/// An mbarrier.
#[derive(Clone)]
struct MbarrierState {
    block: [u32; 3],
    init: Side,
    /// True if an operation has been done on it.
    used: bool,
    /// True if it is invalidated.
    invalidated: bool,
    /// The latest phase with an arrival or bytes.
    contributed: Option<u64>,
    /// Bytes expected minus bytes completed.
    bytes: i64,
    /// The last operation that expected bytes.
    expected: Option<Side>,
    /// Successful waits, the latest of each instruction and warp.
    completed_tests: Vec<CompletedTest>,
    /// Repeated waits that were meant for a phase without arrivals or bytes so far.
    unconfirmed: Vec<(u64, Finding)>,
    /// Copies that completed phases without a wait so far.
    unawaited_copies: Vec<(u64, Side)>,
}

/// A successful wait of lanes: the phase before `phase` has completed.
#[derive(Clone, Copy)]
struct CompletedTest {
    side: Side,
    phase: u64,
    /// The number of arrivals of the warp at any barrier then.
    arrivals: u64,
}

impl Mbarriers {
    /// A launch begins.
    pub fn begin(&mut self) {
        *self = Self::default();
    }

    /// A warp arrives at a barrier of any kind, which may release other warps.
    pub fn arrives(&mut self, point: &IssuePoint) {
        *self.arrivals.entry((point.block, point.warp.number())).or_default() += 1;
    }

    /// An operation on an mbarrier.
    pub fn event(&mut self, event: &MbarrierEvent, to: &mut Reporter<'_>) -> bool {
        self.drop_previous(event);
        let key = (event.block_slot, event.address);
        match event.change {
            MbarrierChange::Initialized(_) => return self.initialized(event, to),
            MbarrierChange::Invalidated => {
                if let Some(mbarrier) = self.mbarriers.remove(&key) {
                    self.mbarriers.insert(key, MbarrierState { invalidated: true, ..mbarrier });
                }
                self.update_extent(event.block_slot);
            }
            MbarrierChange::Contributed(what) => {
                if matches!(what, Contribution::Arrived(_) | Contribution::Dropped(_)) {
                    self.arrives(&event.point);
                }
                return self.mbarriers.get_mut(&key).is_some_and(|mbarrier| mbarrier.contributed(event, what, to));
            }
            MbarrierChange::Tested { completed: true, .. } => {
                let arrivals = self.arrivals.get(&(event.point.block, event.point.warp.number())).copied().unwrap_or(0);
                return self.mbarriers.get_mut(&key).is_some_and(|mbarrier| mbarrier.tested(event, arrivals, to));
            }
            MbarrierChange::Tested { completed: false, .. } | MbarrierChange::PhaseCompleted(_) => {}
        }
        false
    }

    fn initialized(&mut self, event: &MbarrierEvent, to: &mut Reporter<'_>) -> bool {
        assert!(!event.lanes.is_empty(), "an object is made by some lane");
        let side = Side::new(event.point, event.lanes, SideAction::Synchronize);
        let key = (event.block_slot, event.address);
        let previous = self.mbarriers.insert(key, MbarrierState::new(event.block, side));
        self.update_extent(event.block_slot);
        let Some(previous) = previous.filter(|previous| previous.used && !previous.invalidated) else { return false };
        let why = "the object was made before, has been used since, and mbarrier.inval has not ended its use".to_string();
        let fix = "make each object once, before its first use, or end its use with mbarrier.inval first".to_string();
        let memory = Some(memory(event.block, event.address));
        to.report(Finding { first: Some(previous.init), memory, ..Finding::new(MBARRIER_REINIT, side, why, fix) })
    }

    /// Checks and drops the mbarriers of the previous block in the block slot.
    fn drop_previous(&mut self, event: &MbarrierEvent) {
        let range = (event.block_slot, 0)..=(event.block_slot, u32::MAX);
        if self.mbarriers.range(range.clone()).next().is_none_or(|(_, mbarrier)| mbarrier.block == event.block) {
            return;
        }
        let old: Vec<MbarrierKey> = self.mbarriers.range(range).map(|(at, _)| *at).collect();
        for at in old {
            self.mbarriers.remove(&at).into_iter().for_each(|mbarrier| mbarrier.finish(at, false, &mut self.deferred));
        }
        self.update_extent(event.block_slot);
    }

    fn update_extent(&mut self, block_slot: u32) {
        let mut live = self
            .mbarriers
            .range((block_slot, 0)..=(block_slot, u32::MAX))
            .filter(|(_, mbarrier)| !mbarrier.invalidated)
            .map(|((_, at), _)| u64::from(*at));
        let extent = live.next().map_or((0, 0), |first| (first, live.next_back().unwrap_or(first) + BYTES));
        assert!(extent.0 <= extent.1, "the last object is not before the first");
        let index = block_slot as usize;
        if index >= self.extents.len() {
            self.extents.resize(index + 1, (0, 0));
        }
        self.extents[index] = extent;
    }

    /// Shared memory is about to be accessed by an instruction that is no mbarrier instruction.
    #[inline]
    pub fn access(&mut self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let Some((start, end)) = self.extents.get(event.owner.0 as usize).filter(|(start, end)| start < end) else { return false };
        let bytes = u64::from(event.bytes);
        let may_overlap =
            event.addresses.iter().fold(false, |may_overlap, address| may_overlap | (*address < *end && address + bytes > *start));
        may_overlap && self.overlapping_access(event, to)
    }

    /// True if some of the `bytes` bytes from `address` on may be of an mbarrier of the block in `block_slot`.
    pub fn may_touch(&self, block_slot: u32, address: u64, bytes: u64) -> bool {
        let extent = self.extents.get(block_slot as usize);
        extent.is_some_and(|(start, end)| start < end && address < *end && address + bytes > *start)
    }

    #[cold]
    fn overlapping_access(&self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let block_slot = event.owner.0;
        for ((_, address), mbarrier) in
            self.mbarriers.range((block_slot, 0)..=(block_slot, u32::MAX)).filter(|(_, mbarrier)| !mbarrier.invalidated)
        {
            let (start, bytes) = (u64::from(*address), u64::from(event.bytes));
            let touches = |lane: usize| event.addresses[lane] < start + BYTES && event.addresses[lane] + bytes > start;
            let lanes = event.lanes.filter(touches);
            if !lanes.is_empty() {
                let action = SideAction::from(event.kind);
                let side = Side { bytes: event.bytes, ..Side::new(event.point, lanes, action) };
                return to.report(overlap(mbarrier, *address, side));
            }
        }
        false
    }

    /// The threads of an arrival have waited for its copies themselves: the phase needs no wait.
    pub fn mark_waited(&mut self, arrival: ArrivalRef) {
        if !arrival.has_arrived {
            self.waited_arrivals.insert(arrival.id);
        } else if let Some(mbarrier) = self.mbarriers.get_mut(&arrival.at) {
            mbarrier.unawaited_copies.retain(|(_, side)| side.copy != Some(arrival.id));
        }
    }

    /// A copy is issued, reads, or completes: it must not write to mbarriers, and completes bytes of one.
    pub fn copy(&mut self, event: &CopyEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let copy = event.copy;
        let side = Side { copy: Some(copy.id), ..Side::new(copy.issued, event.lanes, SideAction::Write) };
        if event.stage == CopyStage::Ended
            && let CopyCompletion::Mbarrier { owner: MemoryOwner::Block { block_slot, .. }, address, bytes } = copy.completion
            && let Some(mbarrier) = self.mbarriers.get_mut(&(block_slot, address))
        {
            mbarrier.completed_bytes(i64::from(bytes), Some(side).filter(|_| !self.waited_arrivals.remove(&copy.id)));
        }
        let mut overlapped = None;
        if event.stage == CopyStage::Issued {
            copy.kind.visit_writes(event.lanes, |at, bytes| {
                if let MemoryOwner::Block { block_slot, .. } = at.owner {
                    let live = self.mbarriers.range((block_slot, 0)..=(block_slot, u32::MAX)).filter(|(_, mbarrier)| !mbarrier.invalidated);
                    let inside = |address: u32| u64::from(address) < at.address + bytes && u64::from(address) + BYTES > at.address;
                    overlapped = overlapped.or(live.map(|((_, address), _)| (block_slot, *address)).find(|(_, address)| inside(*address)));
                }
            });
        }
        let mbarrier = overlapped.and_then(|at| Some((self.mbarriers.get(&at)?, at.1)));
        mbarrier.is_some_and(|(mbarrier, address)| to.report(overlap(mbarrier, address, side)))
    }

    /// No warp can make progress: reports mbarriers that wait for bytes that no copy completes.
    pub fn deadlock(&self, end: &LaunchEnd, to: &mut Reporter<'_>) {
        for block in &end.blocks {
            let block_slot = block.id.block_slot;
            for ((_, address), mbarrier) in
                self.mbarriers.range((block_slot, 0)..=(block_slot, u32::MAX)).filter(|(_, mbarrier)| mbarrier.bytes != 0)
            {
                let waiter = waiter(block, *address, end.tick);
                if let Some(waiter) = waiter.filter(|_| !end.awaited.contains(&(block_slot, *address))) {
                    to.report(mbarrier.mismatch(*address, waiter));
                }
            }
        }
    }

    /// The launch has ended, by a fault if `is_aborted`: checks the mbarriers of blocks that have exited.
    pub fn end(&mut self, end: &LaunchEnd, is_aborted: bool, to: &mut Reporter<'_>) {
        for (at, mbarrier) in std::mem::take(&mut self.mbarriers) {
            if !end.blocks.iter().any(|block| block.index == mbarrier.block) {
                mbarrier.finish(at, is_aborted, &mut self.deferred);
            }
        }
        self.deferred.release(to);
    }
}

impl MbarrierState {
    fn new(block: [u32; 3], init: Side) -> Self {
        let (completed_tests, unconfirmed, unawaited_copies) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            block,
            init,
            used: false,
            invalidated: false,
            contributed: None,
            bytes: 0,
            expected: None,
            completed_tests,
            unconfirmed,
            unawaited_copies,
        }
    }

    fn contributed(&mut self, event: &MbarrierEvent, what: Contribution, to: &mut Reporter<'_>) -> bool {
        assert!(!event.lanes.is_empty(), "some lane contributes");
        self.used = true;
        match what {
            Contribution::ExpectTx(bytes) => {
                self.bytes += i64::from(bytes);
                self.expected = Some(Side::new(event.point, event.lanes, SideAction::Synchronize));
            }
            Contribution::CompleteTx(bytes) => self.bytes -= i64::from(bytes),
            Contribution::Arrived(_) | Contribution::Dropped(_) => {}
        }
        self.contributed = Some(event.phase);
        let confirmed = self.unconfirmed.iter().filter(|(phase, _)| *phase <= event.phase).map(|(_, finding)| finding.clone());
        let found = confirmed.fold(false, |found, finding| to.report(finding) | found);
        self.unconfirmed.retain(|(phase, _)| *phase > event.phase);
        found
    }

    /// A copy has completed on the mbarrier. If `side` is given, the phase needs a wait, without which this is the side of a finding.
    fn completed_bytes(&mut self, bytes: i64, side: Option<Side>) {
        self.used = true;
        self.bytes -= bytes;
        let phase = self.contributed.unwrap_or(0);
        let Some(side) = side else { return };
        match self.unawaited_copies.iter_mut().find(|(_, other)| other.point.pc == side.point.pc) {
            Some(known) => *known = (phase, side),
            None => self.unawaited_copies.push((phase, side)),
        }
    }

    fn tested(&mut self, event: &MbarrierEvent, arrivals: u64, to: &mut Reporter<'_>) -> bool {
        assert!(!event.lanes.is_empty(), "some lane tests");
        self.used = true;
        self.unawaited_copies.retain(|(phase, _)| *phase >= event.phase);
        let side = Side::new(event.point, event.lanes, SideAction::Synchronize);
        let test = CompletedTest { side, phase: event.phase, arrivals };
        let same = |other: &&mut CompletedTest| {
            let (a, b) = (&other.side, &side);
            (a.point.pc, a.point.block, a.point.warp) == (b.point.pc, b.point.block, b.point.warp) && a.lanes.intersects(b.lanes)
        };
        let Some(previous) = self.completed_tests.iter_mut().find(same) else {
            self.completed_tests.push(test);
            return false;
        };
        let previous = std::mem::replace(previous, test);
        if previous.phase != test.phase || previous.arrivals == test.arrivals {
            return false;
        }
        let finding = repeated_wait(event, &previous);
        if self.contributed.is_some_and(|phase| phase >= event.phase) {
            return to.report(finding);
        }
        self.unconfirmed.push((event.phase, finding));
        false
    }

    fn mismatch(&self, address: u32, second: Side) -> Finding {
        let why = match self.bytes {
            missing if missing > 0 => format!("the phase waits for {missing} bytes more than any copy completes"),
            more => format!("copies completed {} bytes more than the phase was set to expect", more.unsigned_abs()),
        };
        let fix = "let expect_tx name just the bytes of the copies that complete on the object in this phase".to_string();
        let (first, memory) = (self.expected, Some(memory(self.block, address)));
        Finding { first, memory, ..Finding::new(MBARRIER_TX_MISMATCH, second, why, fix) }
    }

    /// Its block has exited. If the run `is_aborted`, copies may have been in flight.
    fn finish(self, (_, address): MbarrierKey, is_aborted: bool, deferred: &mut DeferredFindings) {
        let side = match self.expected {
            Some(side) => Some(side).filter(|_| self.bytes < 0 || self.bytes > 0 && !is_aborted),
            None => self.unawaited_copies.last().map(|(_, side)| *side).filter(|_| self.bytes < 0),
        };
        side.into_iter().for_each(|side| deferred.defer(Finding { first: None, ..self.mismatch(address, side) }));
        // The race checker checks that copies of other blocks complete before the exit.
        for (_, side) in self.unawaited_copies.iter().filter(|(_, side)| side.point.block == self.block) {
            let why = "no thread waited for the phase of the mbarrier that this copy completes, and its block has exited".to_string();
            let fix = "wait for the phase before what the copy writes is used, and before the block exits".to_string();
            let memory = Some(memory(self.block, address));
            deferred.defer(Finding { memory, ..Finding::new(ASYNC_UNWAITED_AT_EXIT, *side, why, fix) });
        }
    }
}

fn memory(block: [u32; 3], address: u32) -> MemoryRange {
    MemoryRange { space: Space::Shared, block, address: u64::from(address), bytes: BYTES as u32 }
}

/// Converged lanes that wait for a phase of the mbarrier at `address`.
fn waiter(block: &UnfinishedBlock, address: u32, tick: Tick) -> Option<Side> {
    let mut groups = block.warps.iter().zip(0..).flat_map(|(warp, number)| warp.groups.iter().map(move |group| (number, group)));
    let (warp, group) = groups.find(|(_, group)| group.state == GroupState::AtMbarrier { address })?;
    let point = IssuePoint { pc: group.pc, tick, block: block.index, warp: WarpId::new(warp) };
    Some(Side::new(point, group.lanes, SideAction::Synchronize))
}

fn repeated_wait(event: &MbarrierEvent, previous: &CompletedTest) -> Finding {
    let described = match event.phase.checked_sub(1) {
        Some(phase) => format!("phase {phase} has ended"),
        None => "the phase before the first has ended".to_string(),
    };
    let why = format!(
        "{} once more that {described}, and had waited for that before: this wait orders nothing, and was meant for phase {}",
        lanes_do(event.lanes & previous.side.lanes, "learn"),
        event.phase
    );
    let fix = "wait for the other parity after each phase: flip it every time the thread comes round to the object".to_string();
    let second = Side::new(event.point, event.lanes, SideAction::Synchronize);
    let memory = Some(memory(event.block, event.address));
    Finding { first: Some(previous.side), memory, ..Finding::new(MBARRIER_PHASE, second, why, fix) }
}

fn overlap(mbarrier: &MbarrierState, address: u32, side: Side) -> Finding {
    let does = if side.action == SideAction::Read { "read" } else { "write" };
    let writer = if side.copy.is_some() { "this copy writes".to_string() } else { lanes_do(side.lanes, does) };
    let why = format!("{writer} the eight bytes of a live mbarrier object, which only mbarrier instructions may touch");
    let fix = "do not access the object in other ways before mbarrier.inval; often an index is out of range".to_string();
    let (first, memory) = (Some(mbarrier.init), Some(memory(mbarrier.block, address)));
    Finding { first, memory, ..Finding::new(MBARRIER_OVERLAP, side, why, fix) }
}
