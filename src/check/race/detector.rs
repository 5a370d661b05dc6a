//! Whether an access races with what was done to the same memory before, and what its shadow says afterwards.

use super::access::{Access, AccessSet, Log, Overflow, Ref};
use super::lane_addresses::LaneAddresses;
use super::shadow::{Entry, Shadow};
use super::unrecorded::UnrecordedReads;
use crate::base::WarpId;
use crate::check::contention::Contention;
use crate::check::finding::SideAction;
use crate::machine::{LaneMask, PerLane, Proxy};
use crate::order::{Agent, Block, Operation, ProxyKind, scope_of};

/// Unordered accesses to a unit of global memory that are kept apart; of more only the newest ones are kept.
const KEPT: usize = 64;

/// The same while [`MANY`] accesses or more are kept of all memory.
const KEPT_OF_MANY: usize = 8;
const MANY: usize = 1 << 13;

/// Reads of one warp that nothing orders, kept of a unit. Two by different lanes are enough: any write there races with one of them.
const READS_OF_A_WARP: usize = 2;

/// Two accesses that race.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    /// The earlier one.
    pub first: Access,
    /// Its lanes.
    pub first_lanes: LaneMask,
    /// The lanes of the later one.
    pub second_lanes: LaneMask,
    /// A byte that both touch.
    pub address: u64,
    /// The kind of conflict.
    pub kind: ConflictKind,
    /// The later one reads what the earlier one wrote.
    pub is_read: bool,
}

/// The kind of a conflict between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConflictKind {
    /// Nothing orders them.
    Unordered,
    /// They are ordered, but not across proxies.
    Unfenced,
    /// Nothing orders them, and both are plain stores of one instruction, which write the same bytes.
    SameValue,
    /// Nothing orders them; a load and a store that are morally strong to each other, neither of which synchronizes.
    Strong,
    /// They are lanes of a warp, which only running in lockstep orders.
    Lockstep,
}

/// Compares one access with those before it.
pub(super) struct Detector<'a> {
    /// All accesses.
    pub log: &'a mut Log,
    /// Reads of the same memory that its shadow does not hold yet.
    pub unrecorded: Option<&'a mut UnrecordedReads>,
    /// The block of the accessing warp.
    pub block: &'a Block,
    /// Blocks of a cluster.
    pub cluster: u32,
    /// Whether what it touches is global memory.
    pub is_global: bool,
    /// The conflicts found.
    pub conflicts: &'a mut Vec<Conflict>,
    /// The accesses whose results depend on the order.
    pub contention: &'a mut Contention,
    /// The access.
    pub access: Access,
    /// Its position in the log.
    pub own: Ref,
    /// Whether it is worth a note that lanes rely on lockstep.
    pub notes_lockstep: bool,
    /// The lanes that run in lockstep with it; none where threads are scheduled independently.
    pub lockstep: LaneMask,
    /// The entry with which the access is compared.
    pub compared: Entry,
    /// Transitions of entries that are the same at any address.
    pub transitions: Transitions,
}

/// A cache of the transitions of entries by the access that is compared: the last ones of each hash.
#[derive(Clone, Copy)]
pub(super) struct Transitions([(Entry, Entry); 8]);

impl Transitions {
    /// No transition.
    pub const NONE: Self = Self([(Entry::NEVER, Entry::NEVER); 8]);

    fn slot(entry: Entry) -> usize {
        (entry.writes.0 ^ entry.reads.0.rotate_left(1)) as usize % 8
    }

    pub fn after(&self, before: Entry) -> Option<Entry> {
        let (known, after) = self.0[Self::slot(before)];
        (known == before).then_some(after)
    }

    fn add(&mut self, before: Entry, after: Entry) {
        self.0[Self::slot(before)] = (before, after);
    }
}

/// The relation of two accesses where both touch the same bytes.
enum HbRelation {
    /// The earlier one happens before the later one.
    Before,
    /// These lanes of the two are not ordered.
    Concurrent(LaneMask, LaneMask),
    /// Ordered, but not across the proxies; these lanes.
    Unfenced(LaneMask, LaneMask),
    /// Ordered, but these lanes by lockstep only.
    Lockstep(LaneMask, LaneMask),
}

impl Detector<'_> {
    /// Compares what every lane touches.
    pub fn lanes(&mut self, shadow: &mut Shadow, addresses: &PerLane<u64>) {
        let Access { op: Operation { lanes, .. }, bytes, lane_addresses, .. } = self.access;
        let LaneAddresses::Tile(tile) = lane_addresses else { return self.scattered(shadow, addresses) };
        if self.is_strong_write() && tile.coincides(lanes) {
            self.contention.add(self.access.pc, self.access.pc);
        }
        let clashes = self.is_weak_write() && tile.coincides(lanes);
        if let Some(place) = tile.place().filter(|_| clashes) {
            let first = LaneMask::of(lanes.first());
            self.conflict_with_itself(place, first, lanes & !first);
            return self.range(shadow, place, u64::from(bytes));
        }
        match tile.runs(lanes, bytes).filter(|_| !clashes) {
            Some(runs) => runs.into_iter().for_each(|(start, bytes)| self.range(shadow, start, bytes)),
            None => self.scattered(shadow, addresses),
        }
    }

    /// Whether the access and `other` are plain stores of one instruction.
    fn is_same_store(&self, other: &Access) -> bool {
        self.is_weak_write() && other.pc == self.access.pc
    }

    pub(super) fn is_strong_write(&self) -> bool {
        self.access.action != SideAction::Read && self.access.strong.is_some()
    }

    /// Whether lanes clash if they write to the same place.
    pub(super) fn is_weak_write(&self) -> bool {
        self.access.action == SideAction::Write && self.access.strong.is_none()
    }

    /// Records reads that were set aside before the access that is compared.
    fn record(&mut self, shadow: &mut Shadow, reads: &UnrecordedReads) {
        let (access, own, compared) = (self.access, self.own, self.compared);
        for index in 0..reads.len() {
            let addresses;
            (self.access, addresses) = reads.access(index, self.block.number, self.log);
            self.own = self.log.push(self.access);
            self.transitions = Transitions::NONE;
            self.lanes(shadow, &addresses);
        }
        (self.access, self.own, self.compared, self.transitions) = (access, own, compared, Transitions::NONE);
    }

    /// Records the reads that were set aside, if one of them may touch the bytes from `address` on.
    pub(super) fn record_reads_of(&mut self, shadow: &mut Shadow, address: u64, bytes: u64) {
        if let Some(unrecorded) = self.unrecorded.as_mut().filter(|reads| reads.touches(address, bytes)) {
            let reads = unrecorded.take();
            self.record(shadow, &reads);
        }
    }

    /// Compares the bytes from `address` on.
    pub fn range(&mut self, shadow: &mut Shadow, mut address: u64, mut bytes: u64) {
        self.record_reads_of(shadow, address, bytes);
        while bytes > 0 {
            let (entries, unit) = shadow.units(address, bytes);
            let done = entries.len() as u64 * unit;
            assert!(done > 0 && done <= bytes, "{done} of {bytes} bytes from {address:#x} on");
            self.entries(entries, address, unit);
            (address, bytes) = (address + done, bytes - done);
        }
    }

    fn entries(&mut self, entries: &mut [Entry], address: u64, unit: u64) {
        let mut index = 0;
        while index < entries.len() {
            let from = entries[index];
            let known = self.transitions.after(from);
            let (to, is_address_independent) = match known {
                Some(after) => (after, true),
                None => self.transition(from, address + index as u64 * unit),
            };
            entries[index] = to;
            index += 1;
            if is_address_independent {
                while index < entries.len() && entries[index] == from {
                    entries[index] = to;
                    index += 1;
                }
            }
        }
    }

    /// The new entry of the unit at `address`, whose transition is not known yet, and whether it is the same for every unit with the same
    /// old entry: then it is known from now on.
    pub(super) fn transition(&mut self, before: Entry, address: u64) -> (Entry, bool) {
        let (after, is_address_independent) = self.entry(before, address);
        if is_address_independent {
            self.transitions.add(before, after);
        }
        (after, is_address_independent)
    }

    fn entry(&mut self, entry: Entry, address: u64) -> (Entry, bool) {
        self.compared = entry;
        if self.access.action == SideAction::Read {
            let address_independent = self.compare(entry.writes, address).1;
            let reads = self.add_read(entry.reads);
            debug_assert!(!reads.is_none(), "a read is remembered");
            return (Entry { reads, ..entry }, address_independent);
        }
        if self.joins_atomics(&entry) {
            return (self.joined(entry), true);
        }
        let (writes, writes_address_independent) = self.compare(entry.writes, address);
        let (reads, reads_address_independent) = self.compare(entry.reads, address);
        let writes = if self.access.action == SideAction::Write { self.log.overwritten(writes) } else { writes };
        let writes = self.add(writes);
        debug_assert!(self.log.newest(writes).op.tick == self.access.op.tick, "the last write is the newest");
        (Entry { writes, reads }, writes_address_independent && reads_address_independent)
    }

    /// Weighs the access against those of `older`: which of them are not ordered before it, and whether that holds for any unit.
    fn compare(&mut self, older: Ref, address: u64) -> (Ref, bool) {
        if older.is_none() {
            return (older, true);
        }
        match self.log.what(older) {
            AccessSet::Exact | AccessSet::Overwritten => self.compare_all(older, address),
            AccessSet::Overflowed(overflow) => self.compare_many(older, overflow, address),
            AccessSet::AtomicsByWarps(warps) => (self.compare_atomics(older, warps, address), false),
        }
    }

    fn compare_all(&mut self, older: Ref, address: u64) -> (Ref, bool) {
        if older.is_one()
            && !self.is_same_access(older)
            && let (HbRelation::Before, address_independent) = self.hb_relation(self.log.get(older), address)
        {
            return (Ref::default(), address_independent);
        }
        let (mut left, mut all_left, mut address_independent) = (smallvec::SmallVec::<[(Ref, bool); KEPT_OF_MANY]>::new(), true, true);
        for (member, is_overwritten) in self.members(older) {
            let other = *self.log.get(member);
            if self.is_same_access(member) {
                // The later access finds the earlier one here.
                address_independent = false;
                left.push((member, is_overwritten));
                self.compare_with_itself(&other, address);
                continue;
            }
            let (hb_relation, holds) = self.hb_relation(&other, address);
            // The values of two stores of one instruction are compared address by address.
            address_independent &= holds && !self.is_same_store(&other);
            match hb_relation {
                HbRelation::Before => all_left = false,
                HbRelation::Concurrent(..) if self.asks_for_observer(&other) && self.is_observed(member, address) => {
                    (all_left, address_independent) = (false, false);
                }
                HbRelation::Concurrent(first, second) => {
                    self.conflict(&other, first, second, address, ConflictKind::Unordered);
                    left.push((member, is_overwritten));
                }
                HbRelation::Unfenced(first, second) => {
                    self.conflict(&other, first, second, address, ConflictKind::Unfenced);
                    all_left = false;
                }
                HbRelation::Lockstep(first, second) => {
                    self.conflict(&other, first, second, address, ConflictKind::Lockstep);
                    all_left = false;
                }
            }
        }
        if all_left {
            return (older, address_independent);
        }
        (self.log.several(&left), address_independent)
    }

    /// The accesses of a reference, each with whether a later write has replaced what it wrote.
    fn members(&self, reference: Ref) -> smallvec::SmallVec<[(Ref, bool); KEPT_OF_MANY]> {
        let mut members = self.log.members(reference);
        let mut all = smallvec::SmallVec::new();
        while let Some(member) = members.next() {
            all.push((member, members.are_overwritten()));
        }
        all
    }

    /// Whether an access is the one that is checked, seen by another lane of it.
    fn is_same_access(&self, one: Ref) -> bool {
        let copy = self.access.copy;
        one == self.own || copy != 0 && self.log.get(one).copy == copy
    }

    /// The same where more accesses were made than are kept apart.
    fn compare_many(&mut self, older: Ref, overflow: Overflow, address: u64) -> (Ref, bool) {
        let members: smallvec::SmallVec<[Access; 2]> = self.log.members(older).map(|member| *self.log.get(member)).collect();
        let (number, warp) = (self.block.number, self.access.op.warp);
        let is_same_block = |access: &&Access| access.op.block == number;
        let newest = members[0];
        let is_independent = !self.is_same_store(&newest);
        if members.len() == 1 && newest.op.block == number && newest.op.tick < self.block.all_before {
            return (Ref::default(), is_independent);
        }
        if overflow == Overflow::Chain && self.asks_for_observer(&newest) && self.is_newest_observed(older, address) {
            return (Ref::default(), false);
        }
        match members.iter().find(|access| !is_same_block(access)) {
            Some(other) if !self.block.knows_others(warp) => {
                self.conflict(
                    other,
                    other.lanes_at(address, self.log),
                    self.access.lanes_at(address, self.log),
                    address,
                    ConflictKind::Unordered,
                );
            }
            _ if self.may_conflict(&newest) => self.contention.undecided += 1,
            _ => self.contention.add(newest.pc, self.access.pc),
        }
        (older, is_independent)
    }

    /// The same of atomics by several warps of a block, of which only the newest is known.
    fn compare_atomics(&mut self, older: Ref, warps: u32, address: u64) -> Ref {
        let (newest, warp) = (*self.log.newest(older), self.access.op.warp);
        let known = |of: u32| self.block.happens_before_all(warp, &Operation { warp: WarpId::new(of), lanes: LaneMask::ALL, ..newest.op });
        let mut rest = warps;
        let mut by = std::iter::from_fn(|| {
            let of = (rest != 0).then_some(rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(of)
        });
        if newest.op.block == self.block.number && newest.op.tick < self.block.all_before || by.all(known) {
            return Ref::default();
        }
        if self.asks_for_observer(&newest) && self.is_newest_observed(older, address) {
            return Ref::default();
        }
        if self.may_conflict(&newest) {
            match self.hb_relation(&newest, address).0 {
                HbRelation::Concurrent(first, second) => self.conflict(&newest, first, second, address, ConflictKind::Unordered),
                HbRelation::Unfenced(first, second) => self.conflict(&newest, first, second, address, ConflictKind::Unfenced),
                HbRelation::Before | HbRelation::Lockstep(..) => self.contention.undecided += 1,
            }
        } else {
            self.contention.add(newest.pc, self.access.pc);
        }
        older
    }

    fn add(&mut self, older: Ref) -> Ref {
        if self.log.members(older).next() == Some(self.own) {
            return older;
        }
        let kept = if self.log.len() < MANY { KEPT } else { KEPT_OF_MANY };
        if self.is_global && (matches!(self.log.what(older), AccessSet::Overflowed(_)) || self.log.count(older) >= kept) {
            let overflow = if self.continues_chain(older) { Overflow::Chain } else { Overflow::Mixed };
            return self.log.too_many(older, self.own, overflow);
        }
        self.log.add(older, self.own)
    }

    /// Adds a read to those that nothing orders before it.
    fn add_read(&mut self, older: Ref) -> Ref {
        if older.is_none() {
            return self.own;
        }
        if matches!(self.log.what(older), AccessSet::Overflowed(_)) {
            return self.log.too_many(older, self.own, Overflow::Mixed);
        }
        let (mut of_warp, mut has_observer) = (1, false);
        let mut left = smallvec::SmallVec::<[Ref; KEPT_OF_MANY]>::new();
        let mut all_left = true;
        for member in self.log.members(older) {
            if self.must_keep_read(member, &mut of_warp) || self.must_keep_observer(member, &mut has_observer) {
                left.push(member);
            } else {
                all_left = false;
            }
        }
        let kept = match left.len() {
            0 => return self.own,
            _ if all_left => older,
            _ => left.into_iter().rev().fold(Ref::default(), |older, member| self.log.add(older, member)),
        };
        self.add(kept)
    }

    /// Whether an earlier read must be kept beside this one, which is the `of_warp`th of its warp with those that were kept so far.
    fn must_keep_read(&self, read: Ref, of_warp: &mut usize) -> bool {
        let (access, other) = (&self.access, self.log.get(read));
        if read == self.own || self.block.happens_before_all(access.op.warp, &other.op) || self.is_same(other) {
            return false;
        }
        if (other.op.block, other.op.warp, other.op.agent) != (access.op.block, access.op.warp, access.op.agent) {
            return true;
        }
        *of_warp += 1;
        *of_warp <= READS_OF_A_WARP
    }

    /// Whether an earlier access was by the same thread wherever the two overlap.
    fn is_same(&self, other: &Access) -> bool {
        let Operation { block, warp, agent, lanes, .. } = self.access.op;
        if (other.op.block, other.op.warp, other.op.agent) != (block, warp, agent) || agent != Agent::Threads {
            return false;
        }
        other.op.lanes == lanes && lanes.count() == 1 || self.is_lane_to_lane(other)
    }

    /// Whether, wherever the access and `other` overlap, it is in lanes of the same number.
    fn is_lane_to_lane(&self, other: &Access) -> bool {
        let Access { lane_addresses, bytes, .. } = self.access;
        other.lane_addresses == lane_addresses && other.bytes == bytes && lane_addresses.is_apart(bytes)
    }

    /// The relation of an earlier access to this one at `address`, and whether it is the same wherever the two overlap.
    fn hb_relation(&self, other: &Access, address: u64) -> (HbRelation, bool) {
        let access = &self.access;
        debug_assert!(other.op.tick <= access.op.tick, "the shadow holds what came before");
        let crosses = other.action != SideAction::Read && other.proxy != access.proxy && access.proxy != Proxy::Generic;
        if self.notes_lockstep
            && let Some(relation) = self.ordered_by_lockstep(other, address)
        {
            return (relation, false);
        }
        let fenced = || self.is_fenced(other, |memory| self.block.all_fenced_before(memory, access.op.warp, &other.op));
        let are_kept_in_order = other.strong.is_some() && access.strong.is_some();
        let in_lockstep = || !self.notes_lockstep && are_kept_in_order && self.is_in_lockstep(other, other.op.lanes);
        if (self.block.happens_before_all(access.op.warp, &other.op) || self.is_same(other) || in_lockstep()) && (!crosses || fenced()) {
            return (HbRelation::Before, true);
        }
        if self.is_lane_to_lane(other)
            && (access.op.lanes & other.op.lanes).iter().all(|lane| self.happens_before(lane, other, lane, crosses))
        {
            return (HbRelation::Before, true);
        }
        let lone = access.op.lanes.count() == 1;
        if lone && other.op.lanes.iter().all(|by| self.happens_before(access.op.lanes.first(), other, by, crosses)) {
            return (HbRelation::Before, true);
        }
        let (first, second) = (other.lanes_at(address, self.log), access.lanes_at(address, self.log));
        if !crosses && !self.block.has_lane_precision(access.op.warp, &other.op) {
            return (HbRelation::Concurrent(first, second), true);
        }
        let mut by_lockstep = None;
        for lane in second.iter() {
            for by in first.iter() {
                if !self.block.happens_before(access.op.warp, lane, &other.op, by) {
                    if self.is_in_lockstep(other, LaneMask::of(by)) {
                        by_lockstep = Some(HbRelation::Lockstep(LaneMask::of(by), LaneMask::of(lane)));
                        continue;
                    }
                    return (HbRelation::Concurrent(LaneMask::of(by), LaneMask::of(lane)), false);
                }
                if crosses && !self.happens_before(lane, other, by, true) {
                    return (HbRelation::Unfenced(LaneMask::of(by), LaneMask::of(lane)), false);
                }
            }
        }
        (by_lockstep.unwrap_or(HbRelation::Before), false)
    }

    /// That lanes are ordered only because they ran in lockstep until they diverged after the earlier access.
    fn ordered_by_lockstep(&self, other: &Access, address: u64) -> Option<HbRelation> {
        let warp = &self.block.warps[self.access.op.warp];
        let until = warp.synchronized_before.max(self.block.all_before);
        let is_of_warp = (other.op.block, other.op.warp, other.op.agent) == (self.block.number, self.access.op.warp, Agent::Threads);
        if self.lockstep.is_empty() || !is_of_warp || !(until..warp.warp_before).contains(&other.op.tick) {
            return None;
        }
        let (first, second) = (other.lanes_at(address, self.log), self.access.lanes_at(address, self.log));
        let by = (first & !second).iter().next()?;
        Some(HbRelation::Lockstep(LaneMask::of(by), LaneMask::of(second.first())))
    }

    /// Whether lanes of an earlier access run in lockstep with those of this one, which orders them where warps have a stack.
    fn is_in_lockstep(&self, other: &Access, lanes: LaneMask) -> bool {
        let is_earlier = other.op.tick < self.access.op.tick && other.op.agent == Agent::Threads;
        let is_of_warp = other.op.warp == self.access.op.warp && other.op.block == self.block.number;
        self.lockstep.contains_all(lanes) && is_of_warp && is_earlier
    }

    /// Whether `lane` knows what lane `by` of `other` did and, if it `crosses` proxies, that a fence comes after it.
    fn happens_before(&self, lane: usize, other: &Access, by: usize, crosses: bool) -> bool {
        let warp = self.access.op.warp;
        let fenced = || self.is_fenced(other, |memory| self.block.fenced_before(memory, warp, lane, &other.op, by));
        self.block.happens_before(warp, lane, &other.op, by) && (!crosses || fenced())
    }

    /// Whether what `other` did is visible through the proxy of the access once it is known, if `known_fenced` says whether such a proxy
    /// fence is known to come after it.
    fn is_fenced(&self, other: &Access, known_fenced: impl Fn(ProxyKind) -> bool) -> bool {
        match (other.proxy, self.access.proxy) {
            (Proxy::Generic, Proxy::Async) => known_fenced(if self.is_global { ProxyKind::AsyncGlobal } else { ProxyKind::AsyncShared }),
            (Proxy::Generic, Proxy::TensorMap) => known_fenced(ProxyKind::TensorMap),
            // Nothing in the same launch makes a write visible there.
            (_, Proxy::ReadOnly | Proxy::Surface) => self.access.action != SideAction::Read,
            _ => true,
        }
    }

    pub(super) fn may_conflict(&self, other: &Access) -> bool {
        let writes = |access: &Access| access.action != SideAction::Read;
        // Of two writes through surfaces the model says nothing.
        let both_surfaces = other.proxy == Proxy::Surface && self.access.proxy == Proxy::Surface;
        let conflicts = if both_surfaces { writes(other) != writes(&self.access) } else { writes(other) || writes(&self.access) };
        conflicts && !self.is_morally_strong(other)
    }

    pub(super) fn is_morally_strong(&self, other: &Access) -> bool {
        are_morally_strong(other, &self.access, self.cluster)
    }

    fn conflict(&mut self, other: &Access, first_lanes: LaneMask, second_lanes: LaneMask, address: u64, kind: ConflictKind) {
        assert!(
            other.op.lanes.contains_all(first_lanes) && self.access.op.lanes.contains_all(second_lanes),
            "lanes of the two accesses race"
        );
        let is_relaxed_pair = || !self.is_global && self.access.is_relaxed && other.is_relaxed && self.access.action != other.action;
        if kind == ConflictKind::Unordered && !self.may_conflict(other) {
            self.contention.add(other.pc, self.access.pc);
        }
        let kind = match kind {
            _ if self.may_conflict(other) => Some(kind),
            ConflictKind::Unordered if is_relaxed_pair() => Some(ConflictKind::Strong),
            ConflictKind::Lockstep if is_relaxed_pair() => Some(kind),
            ConflictKind::Unordered | ConflictKind::Unfenced | ConflictKind::SameValue | ConflictKind::Strong | ConflictKind::Lockstep => {
                None
            }
        };
        if let Some(kind) = kind {
            let is_newest = self.log.members(self.compared.writes).next().is_some_and(|one| self.log.get(one).op.tick == other.op.tick);
            let is_read = is_newest && other.action != SideAction::Read && self.access.action != SideAction::Write;
            self.conflicts.push(Conflict { first: *other, first_lanes, second_lanes, address, kind, is_read });
        }
    }

    /// Another lane of the same instruction has touched the same bytes.
    fn compare_with_itself(&mut self, other: &Access, address: u64) {
        let lanes = self.access.lanes_at(address, self.log);
        let first = LaneMask::of(lanes.first());
        if other.copy == 0 && self.is_weak_write() && lanes != first {
            self.conflict_with_itself(address, first, lanes & !first);
        }
    }

    pub(super) fn conflict_with_itself(&mut self, address: u64, first_lanes: LaneMask, second_lanes: LaneMask) {
        let kind = ConflictKind::Unordered;
        self.conflicts.push(Conflict { first: self.access, first_lanes, second_lanes, address, kind, is_read: false });
    }
}

/// PTX ISA, "Morally Strong Operations": such accesses do not race. Vectors are sets of accesses to their elements.
pub(super) fn are_morally_strong(one: &Access, other: &Access, cluster: u32) -> bool {
    let (Some(a), Some(b)) = (one.strong, other.strong) else { return false };
    a.min(b) >= scope_of(one.op.block, other.op.block, cluster) && one.element == other.element
}
