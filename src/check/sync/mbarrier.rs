//! Mbarriers: their life, their bytes, and waits that order nothing (PTX ISA, "mbarrier").
//!
//! - Made again while it is in use: `mbarrier.reinit`. Touched by anything but mbarrier instructions: `mbarrier.overlap`.
//! - The bytes that an object expects, over its whole life, against those that came: `mbarrier.tx_mismatch` in a deadlock, or when its
//!   block has exited.
//! - A wait by parity is answered that the phase before the present one has ended. A thread that gets this answer twice at one instruction,
//!   and has arrived somewhere in between, meant the next phase, which is in use by then or later: `mbarrier.phase`. Waiting twice for the
//!   same phase without that is redundant but right, and so is the first wait of a producer, by the other parity, on a new object.

use std::collections::{BTreeMap, BTreeSet};

use super::copies::WaitedArrival;
use crate::base::WarpId;
use crate::check::deferred::DeferredFindings;
use crate::check::finding::{Finding, MemoryRange, Side, SideAction};
use crate::check::lane_text::lanes_do;
use crate::check::reporter::Reporter;
use crate::check::sync::catalogue::{ASYNC_UNWAITED_AT_EXIT, MBARRIER_OVERLAP, MBARRIER_PHASE, MBARRIER_REINIT, MBARRIER_TX_MISMATCH};
use crate::isa::Space;
use crate::machine::{
    AccessEvent, AccessKind, Contribution, CopyCompletion, CopyEvent, CopyStage, GroupState, IssuePoint, LaunchEnd, MbarrierChange,
    MbarrierEvent, MemoryOwner, Tick, UnfinishedBlock,
};

/// Bytes of an object.
const BYTES: u64 = 8;

/// The key of an mbarrier: block slot of its block, and address in its shared memory.
type MbarrierKey = (u32, u32);

/// The mbarriers of the blocks on the machine.
#[derive(Clone, Default)]
pub(super) struct Mbarriers {
    objects: BTreeMap<MbarrierKey, Object>,
    /// By block slot, the addresses from the first object to the end of the last.
    extents: Vec<(u64, u64)>,
    /// The number of arrivals of each warp at any barrier.
    arrivals: BTreeMap<([u32; 3], u32), u64>,
    /// Arrivals of copies that are still to come, and whose copies their threads have waited for themselves.
    waited_arrival: BTreeSet<u64>,
    deferred: DeferredFindings,
}

/// An mbarrier.
#[derive(Clone)]
struct Object {
    block: [u32; 3],
    made: Side,
    /// Whether an operation has been done on it.
    used: bool,
    /// Whether it was invalidated.
    ended: bool,
    /// The latest phase that anything was contributed to.
    contributed: Option<u64>,
    /// Bytes expected and not come.
    bytes: i64,
    /// The last operation that expected bytes.
    expected: Option<Side>,
    /// Answers that a phase has ended, the latest of each instruction and warp.
    answers: Vec<Answer>,
    /// Waits that were meant for a phase without contributions so far.
    doubtful: Vec<(u64, Finding)>,
    /// Copies that completed phases without a wait so far.
    unawaited: Vec<(u64, Side)>,
}

/// The answer that lanes got: the phase before `phase` has ended.
#[derive(Clone, Copy)]
struct Answer {
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

    /// A warp arrives at a barrier of any kind, which lets others continue.
    pub fn arrives(&mut self, place: &IssuePoint) {
        *self.arrivals.entry((place.block, place.warp.number())).or_default() += 1;
    }

    /// An operation on an mbarrier.
    pub fn event(&mut self, event: &MbarrierEvent, to: &mut Reporter<'_>) -> bool {
        self.drop_previous(event);
        let at = (event.block_slot, event.address);
        match event.change {
            MbarrierChange::Made(_) => return self.initialized(event, to),
            MbarrierChange::Invalidated => {
                if let Some(object) = self.objects.remove(&at) {
                    self.objects.insert(at, Object { ended: true, ..object });
                }
                self.measure(event.block_slot);
            }
            MbarrierChange::Contributed(what) => {
                if matches!(what, Contribution::Arrived(_) | Contribution::Dropped(_)) {
                    self.arrives(&event.place);
                }
                return self.objects.get_mut(&at).is_some_and(|object| object.contributed(event, what, to));
            }
            MbarrierChange::Tested { ended: true, .. } => {
                let arrivals = self.arrivals.get(&(event.place.block, event.place.warp.number())).copied().unwrap_or(0);
                return self.objects.get_mut(&at).is_some_and(|object| object.tested(event, arrivals, to));
            }
            MbarrierChange::Tested { ended: false, .. } | MbarrierChange::Ended(_) => {}
        }
        false
    }

    fn initialized(&mut self, event: &MbarrierEvent, to: &mut Reporter<'_>) -> bool {
        assert!(!event.lanes.is_empty(), "an object is made by some lane");
        let side = Side::new(event.place, event.lanes, SideAction::Synchronize);
        let at = (event.block_slot, event.address);
        let before = self.objects.insert(at, Object::new(event.block, side));
        self.measure(event.block_slot);
        let Some(before) = before.filter(|before| before.used && !before.ended) else { return false };
        let why = "the object was made before, has been used since, and mbarrier.inval has not ended its use".to_string();
        let fix = "make each object once, before its first use, or end its use with mbarrier.inval first".to_string();
        let memory = Some(memory(event.block, event.address));
        to.report(Finding { first: Some(before.made), memory, ..Finding::new(MBARRIER_REINIT, side, why, fix) })
    }

    /// The objects of the block that was in the block slot before are judged and dropped.
    fn drop_previous(&mut self, event: &MbarrierEvent) {
        let own = (event.block_slot, 0)..=(event.block_slot, u32::MAX);
        if self.objects.range(own.clone()).next().is_none_or(|(_, object)| object.block == event.block) {
            return;
        }
        let old: Vec<MbarrierKey> = self.objects.range(own).map(|(at, _)| *at).collect();
        for at in old {
            self.objects.remove(&at).into_iter().for_each(|object| object.finish(at, false, &mut self.deferred));
        }
        self.measure(event.block_slot);
    }

    fn measure(&mut self, block_slot: u32) {
        let mut live = self
            .objects
            .range((block_slot, 0)..=(block_slot, u32::MAX))
            .filter(|(_, object)| !object.ended)
            .map(|((_, at), _)| u64::from(*at));
        let extent = live.next().map_or((0, 0), |first| (first, live.next_back().unwrap_or(first) + BYTES));
        assert!(extent.0 <= extent.1, "the last object is not before the first");
        let index = block_slot as usize;
        if index >= self.extents.len() {
            self.extents.resize(index + 1, (0, 0));
        }
        self.extents[index] = extent;
    }

    /// Shared memory is about to be accessed by something that is no mbarrier instruction.
    #[inline]
    pub fn access(&mut self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let Some((start, end)) = self.extents.get(event.owner.0 as usize).filter(|(start, end)| start < end) else { return false };
        let bytes = u64::from(event.bytes);
        let near = event.addresses.iter().fold(false, |near, address| near | (*address < *end && address + bytes > *start));
        near && self.touched(event, to)
    }

    #[cold]
    fn touched(&self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let block_slot = event.owner.0;
        for ((_, address), object) in self.objects.range((block_slot, 0)..=(block_slot, u32::MAX)).filter(|(_, object)| !object.ended) {
            let (start, bytes) = (u64::from(*address), u64::from(event.bytes));
            let touches = |lane: usize| event.addresses[lane] < start + BYTES && event.addresses[lane] + bytes > start;
            let lanes = event.lanes.filter(touches);
            if !lanes.is_empty() {
                let action = match event.kind {
                    AccessKind::Read => SideAction::Read,
                    AccessKind::Write => SideAction::Write,
                    AccessKind::Atomic => SideAction::Atomic,
                };
                let side = Side { bytes: event.bytes, ..Side::new(event.place, lanes, action) };
                return to.report(overlap(object, *address, side));
            }
        }
        false
    }

    /// The threads of an arrival have waited for its copies themselves: its phase needs no wait.
    pub fn mark_waited(&mut self, arrival: WaitedArrival) {
        if !arrival.is_there {
            self.waited_arrival.insert(arrival.id);
        } else if let Some(object) = self.objects.get_mut(&arrival.at) {
            object.unawaited.retain(|(_, side)| side.copy != Some(arrival.id));
        }
    }

    /// A copy is issued, reads, or ends: it must not write to mbarriers, and completes bytes of one.
    pub fn copy(&mut self, event: &CopyEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let copy = event.copy;
        let side = Side { copy: Some(copy.id), ..Side::new(copy.issued, event.lanes, SideAction::Write) };
        if event.stage == CopyStage::Ended
            && let CopyCompletion::Mbarrier { owner: MemoryOwner::Block { block_slot, .. }, address, bytes } = copy.ends
            && let Some(object) = self.objects.get_mut(&(block_slot, address))
        {
            object.completed_bytes(i64::from(bytes), Some(side).filter(|_| !self.waited_arrival.remove(&copy.id)));
        }
        let mut hit = None;
        if event.stage == CopyStage::Issued {
            copy.work.writes(event.lanes, |at, bytes| {
                if let MemoryOwner::Block { block_slot, .. } = at.owner {
                    let live = self.objects.range((block_slot, 0)..=(block_slot, u32::MAX)).filter(|(_, object)| !object.ended);
                    let inside = |address: u32| u64::from(address) < at.address + bytes && u64::from(address) + BYTES > at.address;
                    hit = hit.or(live.map(|((_, address), _)| (block_slot, *address)).find(|(_, address)| inside(*address)));
                }
            });
        }
        let object = hit.and_then(|at| Some((self.objects.get(&at)?, at.1)));
        object.is_some_and(|(object, address)| to.report(overlap(object, address, side)))
    }

    /// No warp can make progress: reports objects that wait for bytes without a copy that brings them.
    pub fn deadlock(&self, end: &LaunchEnd, to: &mut Reporter<'_>) {
        for block in &end.blocks {
            let block_slot = block.id.block_slot;
            for ((_, address), object) in
                self.objects.range((block_slot, 0)..=(block_slot, u32::MAX)).filter(|(_, object)| object.bytes != 0)
            {
                let waiter = waiter(block, *address, end.tick);
                if let Some(waiter) = waiter.filter(|_| !end.awaited.contains(&(block_slot, *address))) {
                    to.report(object.mismatch(*address, waiter));
                }
            }
        }
    }

    /// The launch has ended, or `is_aborted` short by a fault: judges the objects of blocks that have exited.
    pub fn end(&mut self, end: &LaunchEnd, is_aborted: bool, to: &mut Reporter<'_>) {
        for (at, object) in std::mem::take(&mut self.objects) {
            if !end.blocks.iter().any(|block| block.index == object.block) {
                object.finish(at, is_aborted, &mut self.deferred);
            }
        }
        self.deferred.release(to);
    }
}

impl Object {
    fn new(block: [u32; 3], made: Side) -> Self {
        let (answers, doubtful, unawaited) = (Vec::new(), Vec::new(), Vec::new());
        Self { block, made, used: false, ended: false, contributed: None, bytes: 0, expected: None, answers, doubtful, unawaited }
    }

    fn contributed(&mut self, event: &MbarrierEvent, what: Contribution, to: &mut Reporter<'_>) -> bool {
        assert!(!event.lanes.is_empty(), "some lane contributes");
        self.used = true;
        match what {
            Contribution::ExpectTx(bytes) => {
                self.bytes += i64::from(bytes);
                self.expected = Some(Side::new(event.place, event.lanes, SideAction::Synchronize));
            }
            Contribution::CompleteTx(bytes) => self.bytes -= i64::from(bytes),
            Contribution::Arrived(_) | Contribution::Dropped(_) => {}
        }
        self.contributed = Some(event.phase);
        let meant = self.doubtful.iter().filter(|(phase, _)| *phase <= event.phase).map(|(_, finding)| finding.clone());
        let found = meant.fold(false, |found, finding| to.report(finding) | found);
        self.doubtful.retain(|(phase, _)| *phase > event.phase);
        found
    }

    /// A copy has completed on the object. Its phase needs a wait, without which it is the `side` of a finding, if that is given.
    fn completed_bytes(&mut self, bytes: i64, side: Option<Side>) {
        self.used = true;
        self.bytes -= bytes;
        let phase = self.contributed.unwrap_or(0);
        let Some(side) = side else { return };
        match self.unawaited.iter_mut().find(|(_, other)| other.place.pc == side.place.pc) {
            Some(known) => *known = (phase, side),
            None => self.unawaited.push((phase, side)),
        }
    }

    fn tested(&mut self, event: &MbarrierEvent, arrivals: u64, to: &mut Reporter<'_>) -> bool {
        assert!(!event.lanes.is_empty(), "some lane tests");
        self.used = true;
        self.unawaited.retain(|(phase, _)| *phase >= event.phase);
        let side = Side::new(event.place, event.lanes, SideAction::Synchronize);
        let answer = Answer { side, phase: event.phase, arrivals };
        let same = |other: &&mut Answer| {
            let (a, b) = (&other.side, &side);
            (a.place.pc, a.place.block, a.place.warp) == (b.place.pc, b.place.block, b.place.warp) && a.lanes.intersects(b.lanes)
        };
        let Some(before) = self.answers.iter_mut().find(same) else {
            self.answers.push(answer);
            return false;
        };
        let before = std::mem::replace(before, answer);
        if before.phase != answer.phase || before.arrivals == answer.arrivals {
            return false;
        }
        let finding = twice(event, &before);
        if self.contributed.is_some_and(|phase| phase >= event.phase) {
            return to.report(finding);
        }
        self.doubtful.push((event.phase, finding));
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

    /// Its block has exited. Where the run `is_aborted`, bytes may have been on their way.
    fn finish(self, (_, address): MbarrierKey, is_aborted: bool, deferred: &mut DeferredFindings) {
        let side = match self.expected {
            Some(side) => Some(side).filter(|_| self.bytes < 0 || self.bytes > 0 && !is_aborted),
            None => self.unawaited.last().map(|(_, side)| *side).filter(|_| self.bytes < 0),
        };
        side.into_iter().for_each(|side| deferred.defer(Finding { first: None, ..self.mismatch(address, side) }));
        // What other blocks bring must have come before the exit: that is the race checker's question.
        for (_, side) in self.unawaited.iter().filter(|(_, side)| side.place.block == self.block) {
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

/// A group that waits for a phase of the object at `address`.
fn waiter(block: &UnfinishedBlock, address: u32, tick: Tick) -> Option<Side> {
    let mut groups = block.warps.iter().zip(0..).flat_map(|(warp, number)| warp.groups.iter().map(move |group| (number, group)));
    let (warp, group) = groups.find(|(_, group)| group.state == GroupState::AtMbarrier { address })?;
    let place = IssuePoint { pc: group.pc, tick, block: block.index, warp: WarpId::new(warp) };
    Some(Side::new(place, group.lanes, SideAction::Synchronize))
}

fn twice(event: &MbarrierEvent, before: &Answer) -> Finding {
    let described = match event.phase.checked_sub(1) {
        Some(phase) => format!("phase {phase} has ended"),
        None => "the phase before the first has ended".to_string(),
    };
    let why = format!(
        "{} once more that {described}, and had waited for that before: this wait orders nothing, and was meant for phase {}",
        lanes_do(event.lanes & before.side.lanes, "learn"),
        event.phase
    );
    let fix = "wait for the other parity after each phase: flip it every time the thread comes round to the object".to_string();
    let second = Side::new(event.place, event.lanes, SideAction::Synchronize);
    let memory = Some(memory(event.block, event.address));
    Finding { first: Some(before.side), memory, ..Finding::new(MBARRIER_PHASE, second, why, fix) }
}

fn overlap(object: &Object, address: u32, side: Side) -> Finding {
    let does = if side.action == SideAction::Read { "read" } else { "write" };
    let writer = if side.copy.is_some() { "this copy writes".to_string() } else { lanes_do(side.lanes, does) };
    let why = format!("{writer} the eight bytes of a live mbarrier object, which only mbarrier instructions may touch");
    let fix = "do not access the object in other ways before mbarrier.inval; often an index is out of range".to_string();
    let (first, memory) = (Some(object.made), Some(memory(object.block, address)));
    Finding { first, memory, ..Finding::new(MBARRIER_OVERLAP, side, why, fix) }
}
