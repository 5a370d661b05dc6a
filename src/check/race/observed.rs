//! Causality order through observation order (PTX ISA, "Observation Order", "Causality Order").
//!
//! A write whose value a strong read observes, directly or through a chain of read-modify-writes, precedes what the read happens before.
//! That orders the observed write alone, not what its thread did before it, so the clocks do not hold it: where an access is found not to
//! be ordered after a strong write, the strong reads and read-modify-writes since the write are searched for one that observed it.

use super::access::{Access, AccessSet, Overflow, Ref};
use super::detector::{Detector, are_morally_strong};
use crate::check::finding::SideAction;
use crate::machine::{LaneMask, Proxy};
use crate::order::Agent;

impl Detector<'_> {
    /// Whether it matters that the value of an unordered write was observed: the access races with it, or replaces it.
    pub(super) fn asks_for_observer(&self, other: &Access) -> bool {
        let replaces = self.access.action == SideAction::Write && self.access.strong.is_some();
        is_observable(other) && other.action != SideAction::Read && (replaces || self.may_conflict(other))
    }

    /// Whether every lane of the access at `address` comes after an operation that observed what `write`, one of the entry's, wrote.
    pub(super) fn is_observed(&self, write: Ref, address: u64) -> bool {
        let mut later = smallvec::SmallVec::<[Ref; 8]>::new();
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
        // From the oldest on: those that observed it, one through the other.
        let mut chain = smallvec::SmallVec::<[Ref; 8]>::from_slice(&[write]);
        for member in later.into_iter().rev().filter(|member| *member != self.own) {
            let (last, next) = (self.log.get(chain[chain.len() - 1]), self.log.get(member));
            if next.action != SideAction::Atomic || !self.reads_strongly(last, next) {
                break;
            }
            chain.push(member);
        }
        self.is_chain_observed(&chain, address)
    }

    /// The same of the newest write of a set of read-modify-writes each of which read what the one before it wrote.
    pub(super) fn is_newest_observed(&self, set: Ref, address: u64) -> bool {
        self.log.members(set).next().is_some_and(|newest| self.is_chain_observed(&[newest], address))
    }

    /// Whether each lane of the access comes after a link of the chain, or a strong read of the value of one, that observed the first link.
    fn is_chain_observed(&self, chain: &[Ref], address: u64) -> bool {
        let first = self.log.get(chain[0]);
        let written = first.lanes_at(address, self.log);
        let links = chain[1..].iter().map(|link| self.log.get(*link));
        let reads = self.log.members(self.compared.reads).map(|read| self.log.get(read)).filter(|read| {
            let source = chain.iter().rev().map(|link| self.log.get(*link)).find(|link| link.op.tick < read.op.tick);
            source.is_some_and(|source| self.reads_strongly(source, read))
        });
        let observers: smallvec::SmallVec<[&Access; 8]> = links.chain(reads).collect();
        let lanes = self.access.lanes_at(address, self.log);
        lanes.iter().all(|lane| {
            let is_after = |by: usize, of: &Access| self.block.happens_before(self.access.op.warp, lane, &of.op, by);
            // Lanes of one instruction come in their order: the value of the last is seen by others, that of those before by the last.
            let rest = written.filter(|by| !is_after(by, first));
            let last_own = if first.action == SideAction::Atomic { (written & !rest).iter().last() } else { None };
            let by_itself = rest.iter().all(|by| last_own.is_some_and(|own| by < own));
            let is_visible =
                first.action == SideAction::Atomic || rest == LaneMask::NONE || Some(rest) == written.iter().last().map(LaneMask::of);
            by_itself
                || is_visible
                    && observers.iter().any(|observer| observer.lanes_at(address, self.log).iter().any(|by| is_after(by, observer)))
        })
    }

    /// Whether `next`, which reads the value of `write`, is morally strong with it, or comes after it anyway.
    fn reads_strongly(&self, write: &Access, next: &Access) -> bool {
        is_observable(next) && are_morally_strong(write, next, self.cluster)
    }

    /// Whether the access is a read-modify-write of what all of `older`, and those that were not kept, are a chain of.
    pub(super) fn continues_chain(&self, older: Ref) -> bool {
        let is_link = |one: &Access| one.action == SideAction::Atomic && is_observable(one);
        let is_chain = match self.log.what(older) {
            AccessSet::Overflowed(overflow) => overflow == Overflow::Chain,
            AccessSet::AtomicsByWarps(_) => true,
            AccessSet::Overwritten => false,
            AccessSet::Exact => {
                let mut members = self.log.members(older);
                members.all(|member| is_link(self.log.get(member))) && !members.are_overwritten()
            }
        };
        is_chain && is_link(&self.access) && self.is_morally_strong(self.log.newest(older))
    }

    /// Whether an earlier read, before this one, must be kept because only that one can have observed a write.
    pub(super) fn must_keep_observer(&self, read: Ref, has_observer: &mut bool) -> bool {
        let (access, other) = (&self.access, self.log.get(read));
        let is_stronger = other.strong > access.strong || other.strong.is_some() && other.op.block != access.op.block;
        let keeps = read != self.own && is_stronger && is_observable(other) && !*has_observer;
        *has_observer |= keeps;
        keeps
    }
}

/// Whether an access takes part in observation order: threads do it strongly, by the generic proxy, and not on an mbarrier.
fn is_observable(access: &Access) -> bool {
    access.strong.is_some() && access.proxy == Proxy::Generic && access.op.agent == Agent::Threads && !access.is_mbarrier
}
