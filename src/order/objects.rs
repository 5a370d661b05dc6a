//! Mbarriers, and the copies that complete on them (PTX ISA, "mbarrier").
//!
//! An arrival in a phase of an object, or in an earlier phase, releases; a wait for the phase acquires what they released. Not if one
//! of the two has scope `.cta` and they are in different blocks. An operation without a scope has the scope of a block by the manual's
//! text, but NVIDIA's own libraries synchronize clusters by such operations, so it counts as the cluster's.

use std::sync::Arc;

use super::clock::{VectorClock, join_into};
use super::locations::ScFence;
use super::object::{Endpoint, Object, ObjectKey, PendingCopy};
use super::operation::{Actor, Agent, AsyncKind};
use super::state::HappensBefore;
use super::threads::{DeferredAcquire, Warp};
use crate::base::lanes::LaneMask;
use crate::isa::{Ordering, Scope};

/// The semantics and the scope of an operation on an mbarrier.
#[derive(Clone, Copy, Debug)]
pub struct ObjectUse {
    /// The semantics.
    pub ordering: Ordering,
    /// The scope.
    pub scope: Scope,
}

impl HappensBefore {
    /// An object is made, or its use ends.
    pub fn reset_object(&mut self, key: ObjectKey) {
        self.objects.insert(key, Object::default());
    }

    /// Lanes arrive at an object in `phase`, which releases their clock; a relaxed arrival releases that of their last fence.
    pub fn arrive_at_object(&mut self, actor: Actor, key: ObjectKey, phase: u64, semantics: ObjectUse) {
        let Actor { warp, lanes, tick, .. } = actor;
        let block = self.acting(actor);
        let party = Endpoint { block: block.number, is_narrow: semantics.scope == Scope::Cta };
        let released: Vec<(Endpoint, VectorClock)> = if semantics.ordering == Ordering::Relaxed {
            // Release pattern: what lies before a fence before it.
            let scopes = [(party, Scope::Cluster), (Endpoint { is_narrow: true, ..party }, Scope::Cta)];
            scopes.into_iter().filter_map(|(party, scope)| Some((party, block.fenced(warp, lanes, scope)?))).collect()
        } else {
            vec![(party, block.released(warp, lanes, tick))]
        };
        let object = self.objects.entry(key).or_default();
        for (party, clock) in released {
            object.arrived.entry((phase, party)).or_default().join(&clock);
        }
    }

    /// Lanes have seen that a phase of an object has ended.
    pub fn wait_for_object(&mut self, actor: Actor, key: ObjectKey, semantics: ObjectUse) {
        let object = self.objects.entry(key).or_default();
        let released: Vec<_> = object.ended.iter().filter_map(|(by, clock)| Some((*by, clock.clone()?))).collect();
        let block = self.acting(actor);
        let own = Endpoint { block: block.number, is_narrow: semantics.scope == Scope::Cta };
        let warp = &mut block.warps[actor.warp];
        let is_relaxed = semantics.ordering == Ordering::Relaxed;
        released.into_iter().for_each(|(by, clock)| warp.acquire_phase((by, own), actor.lanes, is_relaxed, clock));
    }

    /// A phase of an object has ended, and with it those before.
    pub fn end_phase(&mut self, key: ObjectKey, phase: u64) {
        let object = self.objects.entry(key).or_default();
        object.phase = phase + 1;
        while let Some(entry) = object.arrived.first_entry().filter(|entry| entry.key().0 <= phase) {
            let ((_, party), clock) = entry.remove_entry();
            join_into(object.ended.entry(party).or_default(), &Arc::new(clock));
        }
        assert!(object.arrived.keys().all(|(later, _)| *later > phase), "what arrived in phase {phase} is released");
    }

    /// Lanes issue copy `id`, which completes on an mbarrier.
    pub fn issue_copy(&mut self, actor: Actor, id: u64) -> Agent {
        let Actor { warp, lanes, tick, .. } = actor;
        let block = self.acting(actor);
        let number = block.copies;
        block.copies += 1;
        let (block, clock) = (block.number, block.released(warp, lanes, tick));
        let before = self.pending_copies.insert(id, PendingCopy { block, number, warp, tick, clock });
        assert!(before.is_none(), "copy #{id} is issued once");
        Agent::Copy(number)
    }

    /// Copy `id` completes on an object; as an arrival of `cp.async`, it is those of these lanes that are done.
    pub fn end_copy(&mut self, id: u64, key: ObjectKey, arrival: Option<LaneMask>) {
        let Some(PendingCopy { block, number, warp, tick, mut clock }) = self.pending_copies.remove(&id) else { return };
        let known = clock.of_mut(block).asynchronous_mut();
        match arrival {
            Some(lanes) => {
                lanes.iter().for_each(|lane| known.done[AsyncKind::Lane as usize].advance(warp, LaneMask::of(lane), LaneMask::ALL, tick));
            }
            None => {
                known.copies.insert(number);
                assert!(known.copies.contains(number), "a copy that has ended is known");
            }
        }
        let object = self.objects.entry(key).or_default();
        let party = Endpoint { block, is_narrow: false };
        object.arrived.entry((object.phase, party)).or_default().join(&clock);
    }
}

impl Warp {
    /// Lanes acquire `clock`, which one endpoint released to a phase that has ended; a relaxed wait acquires it at their next fence.
    fn acquire_phase(&mut self, (by, own): (Endpoint, Endpoint), lanes: LaneMask, relaxed: bool, clock: Arc<VectorClock>) {
        let scope = if by.block == own.block { Scope::Cta } else { Scope::Cluster };
        match (by.shares_scope(own), relaxed) {
            (false, _) => self.miss_by_scope(lanes, &clock),
            (true, false) => self.acquire(lanes, &clock),
            (true, true) => DeferredAcquire { lanes, scope, sc: ScFence::Unrelated, clock }.add_to(&mut self.deferred),
        }
    }
}
