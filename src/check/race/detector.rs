//! Compares an access with the earlier accesses to the same memory, and updates the shadow of that memory.

use super::access::{Access, AccessRef, AccessSet, Log, Overflow};
use super::lane_addresses::LaneAddresses;
use super::shadow::{Entry, Shadow, WORD_BYTES};
use super::unrecorded::UnrecordedAccesses;
use crate::base::WarpId;
use crate::check::finding::SideAction;
use crate::check::unordered_accesses::UnorderedAccesses;
use crate::machine::{LaneMask, PerLane, Proxy};
use crate::order::{Agent, Block, Operation, ProxyKind, scope_of};

/// Maximum number of unordered accesses to a unit of global memory that are retained; of more, only the newest ones.
const MAX_ACCESSES: usize = 64;

/// The same maximum if the log has at least [`LARGE_LOG`] accesses.
pub(super) const MAX_ACCESSES_IN_LARGE_LOG: usize = 8;
const LARGE_LOG: usize = 1 << 13;

/// Two accesses that race.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    /// The earlier one.
    pub first: Access,
    /// Its lanes.
    pub first_lanes: LaneMask,
    /// The lanes of the later one.
    pub second_lanes: LaneMask,
    /// A byte that both access.
    pub address: u64,
    /// The kind of conflict.
    pub kind: ConflictKind,
    /// True if the later one reads the value that the earlier one wrote.
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
    /// Nothing orders a relaxed load and a relaxed store of shared memory that are morally strong to each other.
    RelaxedPair,
    /// They are by lanes of a warp that are ordered only by running in lockstep.
    Lockstep,
}

/// Compares one access with those before it.
pub(super) struct Detector<'a> {
    /// All accesses.
    pub log: &'a mut Log,
    /// Accesses of the same memory that are not in its shadow yet.
    pub unrecorded: Option<&'a mut UnrecordedAccesses>,
    /// The block of the accessing warp.
    pub block: &'a Block,
    /// Blocks of a cluster.
    pub cluster: u32,
    /// True if it accesses global memory.
    pub is_global: bool,
    /// The conflicts found.
    pub conflicts: &'a mut Vec<Conflict>,
    /// The accesses whose results depend on the interleaving.
    pub unordered_accesses: &'a mut UnorderedAccesses,
    /// The access.
    pub access: Access,
    /// Its position in the log.
    pub access_ref: AccessRef,
    /// True until it has been reported that lanes rely on lockstep.
    pub reports_lockstep: bool,
    /// The lanes that run in lockstep with it; none where threads are scheduled independently.
    pub lockstep: LaneMask,
    /// The entry with which the access is compared.
    pub compared: Entry,
    /// Transitions of entries that are the same at any address.
    pub transitions: Transitions,
}

/// A direct-mapped cache of the transitions of entries by the access that is compared.
#[derive(Clone, Copy)]
pub(super) struct Transitions([(Entry, Entry); 8]);

impl Transitions {
    /// No transition.
    pub const NONE: Self = Self([(Entry::NEVER, Entry::NEVER); 8]);

    fn index(entry: Entry) -> usize {
        (entry.writes.0 ^ entry.reads.0.rotate_left(1)) as usize % 8
    }

    pub fn after(&self, before: Entry) -> Option<Entry> {
        let (cached, after) = self.0[Self::index(before)];
        (cached == before).then_some(after)
    }

    fn add(&mut self, before: Entry, after: Entry) {
        self.0[Self::index(before)] = (before, after);
    }
}

/// The happens-before relation of two accesses to the same bytes.
enum HbRelation {
    /// The earlier one happens before the later one.
    Before,
    /// These lanes of the two are not ordered.
    Concurrent(LaneMask, LaneMask),
    /// These lanes of the two are ordered, but not across the proxies.
    Unfenced(LaneMask, LaneMask),
    /// These lanes of the two are ordered by lockstep only.
    Lockstep(LaneMask, LaneMask),
}

impl Detector<'_> {
    /// Compares the bytes that every lane accesses.
    pub fn compare_lanes(&mut self, shadow: &mut Shadow, addresses: &PerLane<u64>) {
        let Access { op: Operation { lanes, agent, .. }, bytes, lane_addresses, proxy, .. } = self.access;
        let LaneAddresses::Tile(tile) = lane_addresses else { return self.compare_scattered(shadow, addresses) };
        if self.is_weak_write() && agent == Agent::Threads && proxy == Proxy::Generic {
            self.unrecorded.iter_mut().for_each(|accesses| accesses.replace_by(&self.access));
        }
        if self.is_strong_write() && tile.has_shared_address(lanes) {
            self.unordered_accesses.add(self.access.pc, self.access.pc);
        }
        let races_with_itself = self.is_weak_write() && tile.has_shared_address(lanes);
        if let Some(address) = tile.common_address().filter(|_| races_with_itself) {
            let first = LaneMask::of(lanes.first());
            self.conflict_with_itself(address, first, lanes & !first);
            return self.compare_range(shadow, address, u64::from(bytes));
        }
        match tile.runs(lanes, bytes).filter(|_| !races_with_itself) {
            Some(runs) => runs.into_iter().for_each(|(start, bytes)| self.compare_range(shadow, start, bytes)),
            None => self.compare_scattered(shadow, addresses),
        }
    }

    /// True if the access and `other` are plain stores of one instruction.
    fn is_same_store(&self, other: &Access) -> bool {
        self.is_weak_write() && other.pc == self.access.pc
    }

    pub(super) fn is_strong_write(&self) -> bool {
        self.access.action != SideAction::Read && self.access.strong.is_some()
    }

    /// True if the access is a weak write, whose lanes race with each other if they write the same bytes.
    pub(super) fn is_weak_write(&self) -> bool {
        self.access.action == SideAction::Write && self.access.strong.is_none()
    }

    /// Records unrecorded accesses before the one that is compared.
    fn record_unrecorded(&mut self, shadow: &mut Shadow, accesses: &UnrecordedAccesses) {
        let (access, access_ref, compared) = (self.access, self.access_ref, self.compared);
        for index in 0..accesses.len() {
            let addresses;
            (self.access, addresses) = accesses.access(index, self.block.number, self.log);
            self.access_ref = self.log.push(self.access);
            self.transitions = Transitions::NONE;
            self.compare_lanes(shadow, &addresses);
        }
        (self.access, self.access_ref, self.compared, self.transitions) = (access, access_ref, compared, Transitions::NONE);
    }

    /// Records the unrecorded accesses, if one of them may access the `bytes` bytes from `address` on.
    pub(super) fn record_unrecorded_at(&mut self, shadow: &mut Shadow, address: u64, bytes: u64) {
        if let Some(unrecorded) = self.unrecorded.as_mut().filter(|accesses| accesses.may_access(address, bytes)) {
            let accesses = unrecorded.take();
            self.record_unrecorded(shadow, &accesses);
            if let Some(unrecorded) = &mut self.unrecorded {
                unrecorded.reuse(accesses);
            }
        }
    }

    /// Compares the access with the entries of the `bytes` bytes from `address` on.
    pub fn compare_range(&mut self, shadow: &mut Shadow, mut address: u64, mut bytes: u64) {
        self.record_unrecorded_at(shadow, address, bytes);
        while bytes > 0 {
            let (entries, unit) = shadow.units(address, bytes);
            let ordered = if unit > WORD_BYTES { self.update_ordered(entries) as u64 * unit } else { 0 };
            let done = if ordered > 0 { ordered } else { self.update_words(shadow, address, bytes) };
            assert!(done > 0 && done <= bytes, "{done} of {bytes} bytes from {address:#x} on");
            (address, bytes) = (address + done, bytes - done);
        }
    }

    /// Updates the entries of the bytes from `address` on, in units of a word at most, and returns the number of bytes: up to `bytes`, but
    /// not beyond the page.
    fn update_words(&mut self, shadow: &mut Shadow, address: u64, bytes: u64) -> u64 {
        let (entries, unit) = shadow.words(address, bytes);
        let mut index = 0;
        while index < entries.len() {
            let from = entries[index];
            let cached = self.transitions.after(from);
            let (to, is_address_independent) = match cached {
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
        entries.len() as u64 * unit
    }

    /// The new entry of the unit at `address`, and whether it is the same for every unit with the same old entry: then the transition is
    /// cached.
    pub(super) fn transition(&mut self, before: Entry, address: u64) -> (Entry, bool) {
        let (after, is_address_independent) = self.compute_entry(before, address);
        if is_address_independent {
            self.transitions.add(before, after);
        }
        (after, is_address_independent)
    }

    fn compute_entry(&mut self, entry: Entry, address: u64) -> (Entry, bool) {
        self.compared = entry;
        if self.access.action == SideAction::Read {
            let address_independent = self.compare(entry.writes, address).1;
            let reads = self.add_read(entry.reads);
            debug_assert!(!reads.is_none(), "a read is remembered");
            return (Entry { reads, ..entry }, address_independent);
        }
        if self.extends_atomics(&entry) {
            return (self.with_atomic(entry), true);
        }
        let (writes, writes_address_independent) = self.compare(entry.writes, address);
        let (reads, reads_address_independent) = self.compare(entry.reads, address);
        let writes = if self.access.action == SideAction::Write { self.log.overwritten(writes) } else { writes };
        let writes = self.add(writes);
        debug_assert!(self.log.newest(writes).op.tick == self.access.op.tick, "the last write is the newest");
        (Entry { writes, reads }, writes_address_independent && reads_address_independent)
    }

    /// Compares the access with those of `older`: the ones that are not ordered before it, and whether these are the same for any unit.
    fn compare(&mut self, older: AccessRef, address: u64) -> (AccessRef, bool) {
        if older.is_none() {
            return (older, true);
        }
        match self.log.access_set(older) {
            AccessSet::Exact | AccessSet::Overwritten => self.compare_all(older, address),
            AccessSet::Overflowed(overflow) => self.compare_many(older, overflow, address),
            AccessSet::AtomicsByWarps(warps) => (self.compare_atomics(older, warps, address), false),
        }
    }

    fn compare_all(&mut self, older: AccessRef, address: u64) -> (AccessRef, bool) {
        if older.is_single()
            && !self.is_same_access(older)
            && !self.is_outlived_by(&self.log.get(older))
            && let (HbRelation::Before, address_independent) = self.hb_relation(&self.log.get(older), address)
        {
            return (AccessRef::default(), address_independent);
        }
        let (mut retained, mut all_retained, mut address_independent) =
            (smallvec::SmallVec::<[(AccessRef, bool); MAX_ACCESSES_IN_LARGE_LOG]>::new(), true, true);
        for (member, is_overwritten) in self.members(older) {
            let other = self.log.get(member);
            if self.is_same_access(member) {
                // Another lane of this instruction has accessed the unit already.
                address_independent = false;
                retained.push((member, is_overwritten));
                self.compare_with_itself(&other, address);
                continue;
            }
            let (hb_relation, is_uniform) = self.hb_relation(&other, address);
            // The values of two stores of one instruction are compared address by address.
            address_independent &= is_uniform && !self.is_same_store(&other);
            match hb_relation {
                HbRelation::Before if self.is_outlived_by(&other) => retained.push((member, is_overwritten)),
                HbRelation::Before => all_retained = false,
                HbRelation::Concurrent(..) if self.matters_if_observed(&other) && self.is_observed(member, address) => {
                    self.add_observed(&other);
                    (all_retained, address_independent) = (false, false);
                }
                HbRelation::Concurrent(first, second) => {
                    self.conflict(&other, first, second, address, ConflictKind::Unordered);
                    retained.push((member, is_overwritten));
                }
                HbRelation::Unfenced(first, second) => {
                    self.conflict(&other, first, second, address, ConflictKind::Unfenced);
                    all_retained = false;
                }
                HbRelation::Lockstep(first, second) => {
                    self.conflict(&other, first, second, address, ConflictKind::Lockstep);
                    all_retained = false;
                }
            }
        }
        if all_retained {
            return (older, address_independent);
        }
        (self.log.list_of(&retained), address_independent)
    }

    /// The accesses of a reference, each with whether a later write has overwritten it.
    fn members(&self, reference: AccessRef) -> smallvec::SmallVec<[(AccessRef, bool); MAX_ACCESSES_IN_LARGE_LOG]> {
        let mut members = self.log.members(reference);
        let mut all = smallvec::SmallVec::new();
        while let Some(member) = members.next() {
            all.push((member, members.are_overwritten()));
        }
        all
    }

    /// True if an access is the one that is compared, or part of the same copy.
    pub(super) fn is_same_access(&self, one: AccessRef) -> bool {
        let copy = self.access.copy;
        one == self.access_ref || copy != 0 && self.log.get(one).copy == copy
    }

    /// [`Self::compare`] for more accesses than are retained.
    fn compare_many(&mut self, older: AccessRef, overflow: Overflow, address: u64) -> (AccessRef, bool) {
        let members: smallvec::SmallVec<[Access; 2]> = self.log.members(older).map(|member| self.log.get(member)).collect();
        let (number, warp) = (self.block.number, self.access.op.warp);
        let is_same_block = |access: &&Access| access.op.block == number;
        let newest = members[0];
        let is_independent = !self.is_same_store(&newest);
        let is_before_all = newest.op.block == number && newest.op.tick < self.block.all_before;
        if members.len() == 1 && is_before_all && !self.is_outlived_by(&newest) {
            return (AccessRef::default(), is_independent);
        }
        if overflow == Overflow::RmwSequence && self.matters_if_observed(&newest) && self.is_newest_observed(older, address) {
            self.add_observed(&newest);
            return (AccessRef::default(), false);
        }
        match members.iter().find(|access| !is_same_block(access)) {
            Some(other) if !self.block.has_other_blocks(warp) => {
                self.conflict(
                    other,
                    other.lanes_at(address, self.log),
                    self.access.lanes_at(address, self.log),
                    address,
                    ConflictKind::Unordered,
                );
            }
            _ if self.may_conflict(&newest) => self.unordered_accesses.uncompared += 1,
            _ => self.contend(&newest),
        }
        (older, is_independent)
    }

    /// [`Self::compare`] for atomics by several warps of a block, of which only the newest is retained.
    fn compare_atomics(&mut self, older: AccessRef, warps: u32, address: u64) -> AccessRef {
        let (newest, warp) = (self.log.newest(older), self.access.op.warp);
        let is_before =
            |number: u32| self.block.happens_before_all(warp, &Operation { warp: WarpId::new(number), lanes: LaneMask::ALL, ..newest.op });
        let mut rest = warps;
        let mut numbers = std::iter::from_fn(|| {
            let number = (rest != 0).then_some(rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(number)
        });
        if newest.op.block == self.block.number && newest.op.tick < self.block.all_before || numbers.all(is_before) {
            return if self.is_outlived_by(&newest) { older } else { AccessRef::default() };
        }
        if self.matters_if_observed(&newest) && self.is_newest_observed(older, address) {
            self.add_observed(&newest);
            return AccessRef::default();
        }
        if self.may_conflict(&newest) {
            match self.hb_relation(&newest, address).0 {
                HbRelation::Concurrent(first, second) => self.conflict(&newest, first, second, address, ConflictKind::Unordered),
                HbRelation::Unfenced(first, second) => self.conflict(&newest, first, second, address, ConflictKind::Unfenced),
                HbRelation::Before | HbRelation::Lockstep(..) => self.unordered_accesses.uncompared += 1,
            }
        } else {
            self.contend(&newest);
        }
        older
    }

    pub(super) fn add(&mut self, older: AccessRef) -> AccessRef {
        if self.log.members(older).next() == Some(self.access_ref) {
            return older;
        }
        let limit = if self.log.len() < LARGE_LOG { MAX_ACCESSES } else { MAX_ACCESSES_IN_LARGE_LOG };
        if self.is_global && (matches!(self.log.access_set(older), AccessSet::Overflowed(_)) || self.log.count(older) >= limit) {
            let overflow = if self.continues_rmw_sequence(older) { Overflow::RmwSequence } else { Overflow::Other };
            return self.log.add_overflowed(older, self.access_ref, overflow);
        }
        self.log.add(older, self.access_ref)
    }

    /// True if the access and `other` are by the same thread wherever they overlap.
    pub(super) fn is_same_thread(&self, other: &Access) -> bool {
        let Operation { block, warp, agent, lanes, .. } = self.access.op;
        if (other.op.block, other.op.warp, other.op.agent) != (block, warp, agent) || agent != Agent::Threads {
            return false;
        }
        other.op.lanes == lanes && lanes.count() == 1 || self.is_lane_to_lane(other)
    }

    /// True if the access and `other` are by lanes with the same number wherever they overlap.
    fn is_lane_to_lane(&self, other: &Access) -> bool {
        let Access { lane_addresses, bytes, .. } = self.access;
        other.lane_addresses == lane_addresses && other.bytes == bytes && lane_addresses.is_disjoint(bytes)
    }

    /// The relation of an earlier access to this one at `address`, and whether it is the same wherever they overlap.
    fn hb_relation(&self, other: &Access, address: u64) -> (HbRelation, bool) {
        let access = &self.access;
        debug_assert!(other.op.tick <= access.op.tick, "the shadow holds what came before");
        let crosses_proxies = self.crosses_proxies(other);
        if self.reports_lockstep
            && let Some(relation) = self.ordered_by_lockstep(other, address)
        {
            return (relation, false);
        }
        if self.is_before_everywhere(other) {
            return (HbRelation::Before, true);
        }
        let (first, second) = (other.lanes_at(address, self.log), access.lanes_at(address, self.log));
        if !crosses_proxies && !self.block.has_lane_precision(access.op.warp, &other.op) {
            return (HbRelation::Concurrent(first, second), true);
        }
        let mut lockstep_only = None;
        for lane in second.iter() {
            for by in first.iter() {
                if !self.block.happens_before(access.op.warp, lane, &other.op, by) {
                    if self.is_in_lockstep(other, LaneMask::of(by)) {
                        lockstep_only = Some(HbRelation::Lockstep(LaneMask::of(by), LaneMask::of(lane)));
                        continue;
                    }
                    return (HbRelation::Concurrent(LaneMask::of(by), LaneMask::of(lane)), false);
                }
                if crosses_proxies && !self.happens_before(lane, other, by, true) {
                    return (HbRelation::Unfenced(LaneMask::of(by), LaneMask::of(lane)), false);
                }
            }
        }
        (lockstep_only.unwrap_or(HbRelation::Before), false)
    }

    /// True if an earlier access happens before this one at every byte that both access, and is visible to it; false also if that takes a
    /// look at the lanes of each byte.
    pub(super) fn is_before_everywhere(&self, other: &Access) -> bool {
        let (access, crosses_proxies) = (&self.access, self.crosses_proxies(other));
        let fenced = || self.is_fenced(other, |memory| self.block.all_fenced_before(memory, access.op.warp, &other.op));
        let are_kept_in_order = other.strong.is_some() && access.strong.is_some();
        let in_lockstep = || !self.reports_lockstep && are_kept_in_order && self.is_in_lockstep(other, other.op.lanes);
        if (self.block.happens_before_all(access.op.warp, &other.op) || self.is_same_thread(other) || in_lockstep())
            && (!crosses_proxies || fenced())
        {
            return true;
        }
        if self.is_lane_to_lane(other)
            && (access.op.lanes & other.op.lanes).iter().all(|lane| self.happens_before(lane, other, lane, crosses_proxies))
        {
            return true;
        }
        let is_single_lane = access.op.lanes.count() == 1;
        is_single_lane && other.op.lanes.iter().all(|by| self.happens_before(access.op.lanes.first(), other, by, crosses_proxies))
    }

    /// True if a write must be made visible to the proxy of the access.
    fn crosses_proxies(&self, other: &Access) -> bool {
        other.action != SideAction::Read && other.proxy != self.access.proxy && self.access.proxy != Proxy::Generic
    }

    /// The relation of lanes that are ordered only because they ran in lockstep until they diverged after the earlier access.
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

    /// True if `lanes` of an earlier access run in lockstep with those of this one, which orders them if warps have a SIMT stack.
    fn is_in_lockstep(&self, other: &Access, lanes: LaneMask) -> bool {
        let is_earlier = other.op.tick < self.access.op.tick && other.op.agent == Agent::Threads;
        let is_of_warp = other.op.warp == self.access.op.warp && other.op.block == self.block.number;
        self.lockstep.contains_all(lanes) && is_of_warp && is_earlier
    }

    /// True if lane `by` of `other` happens before `lane` and, if `crosses_proxies`, with a proxy fence between.
    fn happens_before(&self, lane: usize, other: &Access, by: usize, crosses_proxies: bool) -> bool {
        let warp = self.access.op.warp;
        let fenced = || self.is_fenced(other, |memory| self.block.fenced_before(memory, warp, lane, &other.op, by));
        self.block.happens_before(warp, lane, &other.op, by) && (!crosses_proxies || fenced())
    }

    /// True if `other`, which happens before the access, is visible through its proxy; `known_fenced` is true if a proxy fence is
    /// between them.
    fn is_fenced(&self, other: &Access, known_fenced: impl Fn(ProxyKind) -> bool) -> bool {
        match (other.proxy, self.access.proxy) {
            (Proxy::Generic, Proxy::Async) => known_fenced(if self.is_global { ProxyKind::AsyncGlobal } else { ProxyKind::AsyncShared }),
            (Proxy::Generic, Proxy::TensorMap) => known_fenced(ProxyKind::TensorMap),
            // Nothing in the same launch makes a write visible through these proxies.
            (_, Proxy::ReadOnly | Proxy::Surface) => self.access.action != SideAction::Read,
            _ => true,
        }
    }

    pub(super) fn may_conflict(&self, other: &Access) -> bool {
        let writes = |access: &Access| access.action != SideAction::Read;
        // The model does not order two writes through surfaces.
        let both_surfaces = other.proxy == Proxy::Surface && self.access.proxy == Proxy::Surface;
        let conflicts = if both_surfaces { writes(other) != writes(&self.access) } else { writes(other) || writes(&self.access) };
        conflicts && !self.is_morally_strong(other)
    }

    pub(super) fn is_morally_strong(&self, other: &Access) -> bool {
        are_morally_strong(other, &self.access, self.cluster)
    }

    /// Adds the access and `other`, which are morally strong and not ordered, to the unordered accesses.
    fn contend(&mut self, other: &Access) {
        self.unordered_accesses.add(other.pc, self.access.pc);
        let (one, two) = ((other.pc, u64::from(other.op.block)), (self.access.pc, u64::from(self.access.op.block)));
        let reads = |access: &Access| access.action == SideAction::Read;
        match (reads(other), reads(&self.access)) {
            (true, false) => self.unordered_accesses.add_read(self.cluster, one, two),
            (false, true) => self.unordered_accesses.add_read(self.cluster, two, one),
            (true, true) | (false, false) => {}
        }
    }

    fn conflict(&mut self, other: &Access, first_lanes: LaneMask, second_lanes: LaneMask, address: u64, kind: ConflictKind) {
        assert!(
            other.op.lanes.contains_all(first_lanes) && self.access.op.lanes.contains_all(second_lanes),
            "lanes of the two accesses race"
        );
        if kind == ConflictKind::Unordered && !self.may_conflict(other) {
            self.contend(other);
        }
        let is_relaxed_pair = || !self.is_global && self.access.is_relaxed && other.is_relaxed && self.access.action != other.action;
        let kind = match kind {
            _ if self.may_conflict(other) => Some(kind),
            ConflictKind::Unordered if is_relaxed_pair() => Some(ConflictKind::RelaxedPair),
            ConflictKind::Lockstep if is_relaxed_pair() => Some(kind),
            ConflictKind::Unordered
            | ConflictKind::Unfenced
            | ConflictKind::SameValue
            | ConflictKind::RelaxedPair
            | ConflictKind::Lockstep => None,
        };
        if let Some(kind) = kind {
            let is_newest = self.log.members(self.compared.writes).next().is_some_and(|one| self.log.get(one).op.tick == other.op.tick);
            let is_read = is_newest && other.action != SideAction::Read && self.access.action != SideAction::Write;
            self.conflicts.push(Conflict { first: *other, first_lanes, second_lanes, address, kind, is_read });
        }
    }

    /// Compares the access with an access of the same bytes by another lane of the same instruction.
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

/// True if two accesses are morally strong, so that they do not race (PTX ISA, "Morally Strong Operations"). Vectors are sets of accesses
/// to their elements.
pub(super) fn are_morally_strong(one: &Access, other: &Access, cluster: u32) -> bool {
    let (Some(a), Some(b)) = (one.strong, other.strong) else { return false };
    a.min(b) >= scope_of(one.op.block, other.op.block, cluster) && one.element == other.element
}
