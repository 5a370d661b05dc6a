//! Causality order through observation order (PTX ISA, "Observation Order", "Causality Order").
//!
//! A write whose value a strong read observes, directly or through a chain of read-modify-writes, precedes what the read happens before.
//! That orders the observed write alone, not what its thread did before it, so the clocks do not include it: if an access is not
//! ordered after a strong write, the strong reads and read-modify-writes since the write are searched for one that observed it.

use super::access::{Access, AccessRef, AccessSet, Overflow};
use super::detector::{Detector, are_morally_strong};
use crate::check::finding::SideAction;
use crate::machine::{LaneMask, Proxy};
use crate::order::Agent;

/// How an earlier operation stands to the access, as far as its warp shows it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ordered {
    /// All lanes of the operation are before all of the access.
    Before,
    /// No lane of it is before any.
    NotBefore,
    /// The lanes differ.
    LaneByLane,
}

impl Detector<'_> {
    /// True if it matters that the value of an unordered write was observed: the access races with it, or overwrites it.
    pub(super) fn matters_if_observed(&self, other: &Access) -> bool {
        let replaces = self.access.action == SideAction::Write && self.access.strong.is_some();
        is_observable(other) && other.action != SideAction::Read && (replaces || self.may_conflict(other))
    }

    /// True if every lane of the access at `address` comes after an operation that observed the value of `write`, one of the writes of the
    /// entry.
    pub(super) fn is_observed(&self, write: AccessRef, address: u64) -> bool {
        let mut later = smallvec::SmallVec::<[AccessRef; 8]>::new();
        let mut members = self.log.members(self.compared.writes);
        loop {
            let Some(member) = members.next() else { return false };
            if members.are_overwritten() {
                return false;
            }
            if member == write {
                break;
            }
            later.push(member);
        }
        // From the oldest on: the read-modify-writes that observed it, one through the other.
        let mut chain = smallvec::SmallVec::<[AccessRef; 8]>::from_slice(&[write]);
        for member in later.into_iter().rev().filter(|member| *member != self.access_ref) {
            let (last, next) = (self.log.get(chain[chain.len() - 1]), self.log.get(member));
            if next.action != SideAction::Atomic || !self.reads_strongly(&last, &next) {
                break;
            }
            chain.push(member);
        }
        self.is_chain_observed(&chain, address)
    }

    /// The same for the newest write of a chain of read-modify-writes, each of which read the value of the previous one.
    pub(super) fn is_newest_observed(&self, set: AccessRef, address: u64) -> bool {
        self.log.members(set).next().is_some_and(|newest| self.is_chain_observed(&[newest], address))
    }

    /// True if each lane of the access comes after a read-modify-write of the chain, or a strong read of one, that observed the first
    /// write.
    fn is_chain_observed(&self, chain: &[AccessRef], address: u64) -> bool {
        let first = self.log.get(chain[0]);
        let written = first.lanes_at(address, self.log);
        let later_writes = chain[1..].iter().map(|write| self.log.get(*write));
        let reads = self.log.members(self.compared.reads).map(|read| self.log.get(read)).filter(|read| {
            let source = chain.iter().rev().map(|write| self.log.get(*write)).find(|write| write.op.tick < read.op.tick);
            source.is_some_and(|source| self.reads_strongly(&source, read))
        });
        // Nearly all come after all lanes, or after none.
        let ordered = |of: &Access| match self.block.happens_before_all(self.access.op.warp, &of.op) {
            true => Ordered::Before,
            false if self.block.has_lane_precision(self.access.op.warp, &of.op) => Ordered::LaneByLane,
            false => Ordered::NotBefore,
        };
        let readers = later_writes.chain(reads).map(|reader| (ordered(&reader), reader));
        let readers = readers.filter(|(ordered, _)| *ordered != Ordered::NotBefore);
        let readers: smallvec::SmallVec<[(Ordered, LaneMask, Access); 4]> =
            readers.map(|(ordered, reader)| (ordered, reader.lanes_at(address, self.log), reader)).collect();
        let ordered_first = ordered(&first);
        if readers.is_empty() && ordered_first == Ordered::NotBefore && !written.is_empty() {
            return false;
        }
        self.access.lanes_at(address, self.log).iter().all(|lane| {
            let is_after = |by: usize, of: &Access, ordered: Ordered| match ordered {
                Ordered::Before => true,
                Ordered::NotBefore => false,
                Ordered::LaneByLane => self.block.happens_before(self.access.op.warp, lane, &of.op, by),
            };
            // Lanes of one instruction act in ascending order: others observe the value of the last, which observes those before it.
            let rest = written.filter(|by| !is_after(by, &first, ordered_first));
            let last_visible = if first.action == SideAction::Atomic { (written & !rest).iter().last() } else { None };
            let is_known = rest.iter().all(|by| last_visible.is_some_and(|last| by < last));
            let is_visible =
                first.action == SideAction::Atomic || rest == LaneMask::NONE || Some(rest) == written.iter().last().map(LaneMask::of);
            is_known || is_visible && readers.iter().any(|(ordered, lanes, reader)| lanes.iter().any(|by| is_after(by, reader, *ordered)))
        })
    }

    /// True if `next`, which reads the value of `write`, is observable and morally strong with it.
    fn reads_strongly(&self, write: &Access, next: &Access) -> bool {
        is_observable(next) && are_morally_strong(write, next, self.cluster)
    }

    /// True if the access is a read-modify-write that continues the sequence of read-modify-writes that `older` stands for.
    pub(super) fn continues_rmw_sequence(&self, older: AccessRef) -> bool {
        let is_read_modify_write = |one: &Access| one.action == SideAction::Atomic && is_observable(one);
        let is_rmw_sequence = match self.log.access_set(older) {
            AccessSet::Overflowed(overflow) => overflow == Overflow::RmwSequence,
            AccessSet::AtomicsByWarps(_) => true,
            AccessSet::Overwritten => false,
            AccessSet::Exact => {
                let mut members = self.log.members(older);
                members.all(|member| is_read_modify_write(&self.log.get(member))) && !members.are_overwritten()
            }
        };
        is_rmw_sequence && is_read_modify_write(&self.access) && self.is_morally_strong(&self.log.newest(older))
    }

    /// In another order the access may come before `other` is observed.
    pub(super) fn add_observed(&mut self, other: &Access) {
        self.unordered_accesses.add(other.pc, self.access.pc);
    }
}

/// True if an access is part of observation order: strong, by threads, through the generic proxy, and not on an mbarrier.
pub(super) fn is_observable(access: &Access) -> bool {
    access.strong.is_some() && access.proxy == Proxy::Generic && access.op.agent == Agent::Threads && !access.is_mbarrier
}
