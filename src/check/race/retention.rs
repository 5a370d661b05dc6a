//! What an entry retains beside the newest access.
//!
//! An access stands for those that come before it: what races with one of them races with it. That fails for a strong access after a weak
//! one, or one of a narrower scope: other strong accesses need no order with it.

use super::access::{Access, AccessRef, AccessSet, Overflow};
use super::detector::{Detector, MAX_ACCESSES_IN_LARGE_LOG};
use super::observed::is_observable;
use crate::order::{Agent, Operation};

/// Maximum number of unordered reads of a unit by one warp that are retained. Two by different lanes are enough: any write races with one
/// of them.
const MAX_READS_OF_WARP: usize = 2;

impl Detector<'_> {
    /// True if a later access may race with `other` and not with this one, which comes after `other`: this one is stronger, so that strong
    /// accesses need no order with it, but one with `other`. Not if all that can follow is ordered after `other`.
    pub(super) fn is_outlived_by(&self, other: &Access) -> bool {
        if self.is_global || self.cluster > 1 {
            return self.access.strong > other.strong;
        }
        // All scopes hold the threads of the block, which alone reach its shared memory.
        let Operation { agent, tick, .. } = other.op;
        self.access.strong.is_some() && other.strong.is_none() && !(agent == Agent::Threads && tick < self.block.all_before)
    }

    /// Adds the access to the reads that are not ordered before it.
    pub(super) fn add_read(&mut self, older: AccessRef) -> AccessRef {
        if older.is_none() {
            return self.access_ref;
        }
        if matches!(self.log.access_set(older), AccessSet::Overflowed(_)) {
            return self.log.add_overflowed(older, self.access_ref, Overflow::Other);
        }
        let (mut of_warp, mut has_reader) = (1, false);
        let mut retained = smallvec::SmallVec::<[AccessRef; MAX_ACCESSES_IN_LARGE_LOG]>::new();
        let mut all_retained = true;
        for member in self.log.members(older) {
            if self.must_retain_read(member, &mut of_warp) || self.must_retain_as_reader(member, &mut has_reader) {
                retained.push(member);
            } else {
                all_retained = false;
            }
        }
        let retained = match retained.len() {
            0 => return self.access_ref,
            _ if all_retained => older,
            _ => retained.into_iter().rev().fold(AccessRef::default(), |older, member| self.log.add(older, member)),
        };
        self.add(retained)
    }

    /// True if an earlier read must be retained beside the access; `of_warp` counts the reads of its warp retained so far.
    fn must_retain_read(&self, read: AccessRef, of_warp: &mut usize) -> bool {
        let (access, other) = (&self.access, self.log.get(read));
        if read == self.access_ref || self.block.happens_before_all(access.op.warp, &other.op) || self.is_same_thread(&other) {
            return read != self.access_ref && self.is_outlived_by(&other);
        }
        if (other.op.block, other.op.warp, other.op.agent) != (access.op.block, access.op.warp, access.op.agent) {
            return true;
        }
        *of_warp += 1;
        *of_warp <= MAX_READS_OF_WARP
    }

    /// True if an earlier read must be retained because only that one can have observed a write.
    fn must_retain_as_reader(&self, read: AccessRef, has_reader: &mut bool) -> bool {
        let (access, other) = (&self.access, self.log.get(read));
        let is_stronger = other.strong > access.strong || other.strong.is_some() && other.op.block != access.op.block;
        let keeps = read != self.access_ref && is_stronger && is_observable(&other) && !*has_reader;
        *has_reader |= keeps;
        keeps
    }
}
