//! Asynchronous copies and barrier objects (PTX ISA, "Asynchronous operations", "mbarrier").
//!
//! A copy is a thread of its own: it knows what its issuer knew, and its reads and writes count from the moment it was issued, whenever
//! the machine moves the bytes. It is known to who waits for its group, or for the phase of a barrier object to which it brings bytes.
//! A phase of such an object releases to those who wait for it what everybody knew who arrived in it or in a phase before. Where one of
//! the two says `.cta` and they are in different blocks it does not. An operation that names no scope is that of a block by the letter,
//! but NVIDIA's own libraries synchronize clusters by such operations, so they count as the cluster's.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::access::{Access, Agent};
use super::clock::{Clock, Group, learn};
use super::locations::Pending;
use super::pattern::Pattern;
use super::threads::Warp;
use super::{Home, Race};
use crate::check::finding::Deed;
use crate::check::reporter::Reporter;
use crate::isa::{Ordering, Scope};
use crate::machine::Home as MemoryOf;
use crate::machine::{
    AsyncCopy, Contribution, CopyEvent, CopyStage, Destination, Ends, LaneMask, MbarrierChange, MbarrierEvent, PerLane, Proxy, Tick, Work,
    lanes_of, lanes_where,
};

/// Times at which lanes closed groups that are remembered; who waits names one of the last few.
const COMMITS: usize = 128;

/// Bytes of a barrier object.
const OBJECT_BYTES: u32 = 8;

/// Groups that end in the order in which a lane closed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// Of `cp.async`.
    Lane,
    /// Of bulk copies.
    Bulk,
    /// Of `wgmma`.
    Wgmma,
}

/// A barrier object.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    /// Its present phase.
    phase: u64,
    /// What was released in this phase and, by lanes of an instruction that ended it, in later ones.
    arrived: BTreeMap<(u64, Party), Clock>,
    /// What the phases released that have ended.
    ended: BTreeMap<Party, Option<Arc<Clock>>>,
}

/// Who releases by an object, or acquires: a thread of a block, and whether only to or from those of the same block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Party {
    block: u32,
    is_narrow: bool,
}

impl Party {
    /// PTX ISA, "Morally strong operations": the scope of each must include the other.
    fn meets(self, other: Self) -> bool {
        self.block == other.block || !self.is_narrow && !other.is_narrow
    }
}

/// A copy in flight that completes on a barrier object.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    /// The block that issued it, and the copy's number in it.
    block: u32,
    number: u32,
    /// What its issuer knew.
    clock: Clock,
}

impl Warp {
    /// Lanes close their groups.
    pub fn commit(&mut self, queue: Queue, lanes: LaneMask, tick: Tick) {
        let commits = &mut self.commits[queue as usize];
        if commits.len() == COMMITS {
            commits.drain(..COMMITS / 2);
        }
        commits.push((tick, lanes));
    }

    /// Lanes have waited until at most `pending` of their groups were left, for those not closed yet as well if `open`.
    pub fn wait(&mut self, group: Group, lanes: LaneMask, (open, pending): (bool, u32), tick: Tick) {
        let queue = match group {
            Group::Lane => Queue::Lane,
            Group::Bulk | Group::BulkRead => Queue::Bulk,
            // Waits for these are the warpgroup's.
            Group::Wgmma => return,
        };
        let commits = &self.commits[queue as usize];
        let closed = |lane: usize| {
            let of_lane = commits.iter().rev().filter(|(_, lanes)| lanes >> lane & 1 != 0);
            of_lane.map(|(tick, _)| *tick).nth(pending as usize).unwrap_or(0)
        };
        let done: PerLane<Tick> = std::array::from_fn(|lane| match lanes >> lane & 1 {
            0 => 0,
            _ if open => tick + 1,
            _ => closed(lane),
        });
        if done.iter().all(|tick| *tick == 0) {
            return;
        }
        let own = &mut Arc::make_mut(self.own.get_or_insert_default()).done[group as usize];
        own.iter_mut().zip(done).for_each(|(known, done)| *known = (*known).max(done));
    }

    /// Lanes see that a phase has ended to which the one party released `clock`, as the other one; `relaxed`, they know it behind their
    /// next fence.
    fn acquire_phase(&mut self, (by, own): (Party, Party), lanes: LaneMask, relaxed: bool, clock: Arc<Clock>) {
        let scope = if by.block == own.block { Scope::Cta } else { Scope::Cluster };
        match (by.meets(own), relaxed) {
            (false, _) => self.missed.push((lanes, clock)),
            (true, false) => self.acquire(lanes, &clock),
            (true, true) => Pending { lanes, scope, sc: false, clock }.add_to(&mut self.pending),
        }
    }
}

impl Race {
    /// Something is done to a barrier object.
    pub(super) fn mbarrier(&mut self, event: &MbarrierEvent, to: &mut Reporter<'_>) -> bool {
        let key = (event.slot, event.address);
        if let MbarrierChange::Ended(phase) = event.change {
            self.objects.entry(key).or_default().end(phase);
            return false;
        }
        self.enter(event.by, event.place.block);
        let slot = event.by.slot;
        let (warp, tick) = (event.place.warp as u8, event.place.tick);
        let Some(block) = self.blocks.get(slot as usize).and_then(Option::as_deref) else { return false };
        let how = event.how;
        let is_relaxed = how.ordering == Ordering::Relaxed;
        let number = event.by.number as u32;
        let party = Party { block: number, is_narrow: how.scope == Scope::Cta };
        let object = self.objects.entry(key).or_default();
        let mut deed = Deed::Atomic;
        match event.change {
            MbarrierChange::Made(_) | MbarrierChange::Invalidated => {
                *object = Object::default();
                deed = Deed::Write;
            }
            MbarrierChange::Contributed(Contribution::Arrived(_) | Contribution::Dropped(_)) if is_relaxed => {
                // Release pattern: what lies before a fence before it.
                for (party, scope) in [(party, Scope::Cluster), (Party { is_narrow: true, ..party }, Scope::Cta)] {
                    let clock = block.fenced(warp, event.lanes, scope);
                    clock.iter().for_each(|clock| object.arrived.entry((event.phase, party)).or_default().join(clock));
                }
            }
            MbarrierChange::Contributed(Contribution::Arrived(_) | Contribution::Dropped(_)) => {
                let clock = block.past(warp, tick).released(event.lanes);
                object.arrived.entry((event.phase, party)).or_default().join(&clock);
            }
            MbarrierChange::Asked { ended: true, .. } if self.heed.is_heeded(&self.program, event.place.pc) => {
                deed = Deed::Read;
                let released: Vec<_> = object.ended.iter().filter_map(|(by, clock)| Some((*by, clock.clone()?))).collect();
                if let Some(block) = self.block(slot) {
                    let of = &mut block.warps[usize::from(warp)];
                    released.into_iter().for_each(|(by, clock)| of.acquire_phase((by, party), event.lanes, is_relaxed, clock));
                }
            }
            MbarrierChange::Asked { .. } => deed = Deed::Read,
            _ => {}
        }
        self.touch_object(event, slot, deed, to)
    }

    /// The object's bytes are memory as well: who makes it must be ordered before who uses it.
    fn touch_object(&mut self, event: &MbarrierEvent, slot: u32, deed: Deed, to: &mut Reporter<'_>) -> bool {
        let Some(number) = self.block(slot).map(|block| block.number) else { return false };
        let access = Access {
            tick: event.place.tick,
            pc: event.place.pc,
            block: number,
            warp: event.place.warp as u8,
            lanes: event.lanes,
            deed,
            strong: (deed != Deed::Write).then_some(Scope::Sys),
            agent: Agent::Threads,
            proxy: Proxy::Generic,
            bytes: OBJECT_BYTES,
            pattern: Pattern::All,
            copy: 0,
        };
        let home = Home::Block(event.slot);
        self.with_judge(home, slot, access, |judge, shadow| judge.range(shadow, u64::from(event.address), u64::from(OBJECT_BYTES)));
        self.report(home, slot, &access, to)
    }

    /// Something becomes of a copy.
    pub(super) fn copy(&mut self, event: &CopyEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let copy = event.copy;
        match event.stage {
            CopyStage::Issued => self.issue(copy, to),
            CopyStage::Read => false,
            CopyStage::Ended => {
                self.end_copy(copy, event.lanes);
                false
            }
        }
    }

    fn issue(&mut self, copy: &AsyncCopy, to: &mut Reporter<'_>) -> bool {
        self.enter(copy.by, copy.issued.block);
        let slot = copy.by.slot;
        let (warp, tick) = (copy.issued.warp as u8, copy.issued.tick);
        let Some(block) = self.block(slot) else { return false };
        let agent = match copy.ends {
            Ends::Group { bulk, .. } => Agent::Group(if bulk { Group::Bulk } else { Group::Lane }),
            Ends::Mbarrier { .. } => {
                let number = block.copies;
                block.copies += 1;
                let (block, clock) = (block.number, block.past(warp, tick).released(copy.lanes));
                self.flights.insert(copy.id, Flight { block, number, clock });
                Agent::Copy(number)
            }
        };
        let Some(block) = self.block(slot) else { return false };
        let access = Access {
            tick,
            pc: copy.issued.pc,
            block: block.number,
            warp,
            lanes: copy.lanes,
            deed: Deed::Read,
            strong: None,
            agent,
            proxy: if matches!(copy.work, Work::Block { .. } | Work::Box(_)) { Proxy::Async } else { Proxy::Generic },
            bytes: 0,
            pattern: Pattern::All,
            copy: copy.id,
        };
        let mut found = self.touch_all(copy, slot, access, to);
        let (deed, strong) = if is_reduction(copy) { (Deed::Atomic, Some(Scope::Gpu)) } else { (Deed::Write, None) };
        found |= self.touch_all(copy, slot, Access { deed, strong, ..access }, to);
        found
    }

    /// Judges all that a copy reads, or all that it writes.
    fn touch_all(&mut self, copy: &AsyncCopy, slot: u32, access: Access, to: &mut Reporter<'_>) -> bool {
        if let Work::Lanes(copies) = &copy.work {
            let (home, addresses, bytes) = match access.deed {
                Deed::Read => (Home::Global, copies.from, u32::from(*copies.kept.iter().max().unwrap_or(&0))),
                _ => (home_of(copies.home), copies.to.map(u64::from), copies.bytes),
            };
            let lanes = if access.deed == Deed::Read { lanes_where(copy.lanes, |lane| copies.kept[lane] > 0) } else { copy.lanes };
            if lanes == 0 {
                return false;
            }
            let access = Access { lanes, bytes, pattern: self.pattern(lanes, &addresses), ..access };
            self.judge(home, slot, access, &addresses);
            return self.report(home, slot, &access, to);
        }
        let mut ranges: Vec<(Destination, u64)> = Vec::new();
        let visit = |at: Destination, bytes: u64| match ranges.last_mut() {
            Some((last, length)) if last.home == at.home && last.address + *length == at.address => *length += bytes,
            _ => ranges.push((at, bytes)),
        };
        match access.deed {
            Deed::Read => copy.work.reads(copy.lanes, visit),
            _ => copy.work.writes(copy.lanes, visit),
        }
        let Some(home) = ranges.first().map(|(at, _)| home_of(at.home)) else { return false };
        let access = Access { bytes: ranges.iter().map(|(_, bytes)| *bytes as u32).sum(), ..access };
        self.with_judge(home, slot, access, |judge, shadow| {
            ranges.iter().for_each(|(at, bytes)| judge.range(shadow, at.address, *bytes));
        });
        self.report(home, slot, &access, to)
    }

    fn end_copy(&mut self, copy: &AsyncCopy, lanes: LaneMask) {
        let Ends::Mbarrier { home: MemoryOf::Block { slot, .. }, address, .. } = copy.ends else { return };
        let Some(flight) = self.flights.remove(&copy.id) else { return };
        let mut clock = flight.clock;
        let known = clock.of_mut(flight.block);
        match copy.work {
            Work::Arrival => {
                let (warp, tick) = (copy.issued.warp as u8, copy.issued.tick);
                lanes_of(lanes).for_each(|lane| known.done[Group::Lane as usize].learn(warp, 1 << lane, LaneMask::MAX, tick));
            }
            _ => known.copies.insert(flight.number),
        }
        let object = self.objects.entry((slot, address)).or_default();
        let party = Party { block: flight.block, is_narrow: false };
        object.arrived.entry((object.phase, party)).or_default().join(&clock);
    }
}

impl Object {
    /// A phase has ended, and with it those before.
    fn end(&mut self, phase: u64) {
        self.phase = phase + 1;
        while let Some(entry) = self.arrived.first_entry().filter(|entry| entry.key().0 <= phase) {
            let ((_, party), clock) = entry.remove_entry();
            learn(self.ended.entry(party).or_default(), &Arc::new(clock));
        }
    }
}

fn is_reduction(copy: &AsyncCopy) -> bool {
    match &copy.work {
        Work::Block { reduction, .. } => reduction.is_some(),
        Work::Store { reduction, .. } => reduction.is_some(),
        Work::Box(copy) => !copy.replaces(),
        Work::Lanes(_) | Work::Arrival => false,
    }
}

fn home_of(home: MemoryOf) -> Home {
    match home {
        MemoryOf::Global => Home::Global,
        MemoryOf::Block { slot, .. } => Home::Block(slot),
    }
}
