//! Mbarriers, and the copies that complete on them (PTX ISA, "mbarrier").
//!
//! An arrival releases its clock to its phase; a wait for that phase or a later one acquires it, unless one of the two has scope `.cta`
//! and they are in different blocks. An operation without a scope has the scope of a block by the manual's
//! text, but NVIDIA's own libraries synchronize clusters by such operations, so its scope is taken to be the cluster.

use std::sync::Arc;

use super::clock::{VectorClock, join_into};
use super::locations::ScFenceCondition;
use super::mbarrier_state::{Endpoint, MbarrierKey, MbarrierState, PendingCopy};
use super::operation::{Actor, Agent, AsyncKind};
use super::state::HappensBefore;
use super::threads::{DeferredAcquire, Warp};
use crate::base::lanes::LaneMask;
use crate::isa::{Ordering, Scope};

/// The semantics and the scope of an operation on an mbarrier.
#[derive(Clone, Copy, Debug)]
pub struct MbarrierSemantics {
    /// The semantics.
    pub ordering: Ordering,
    /// The scope.
    pub scope: Scope,
}

impl HappensBefore {
    /// An mbarrier is initialized or invalidated.
    pub fn reset_mbarrier(&mut self, key: MbarrierKey) {
        self.mbarriers.insert(key, MbarrierState::default());
    }

    /// Lanes arrive at an mbarrier in `phase`, which releases their clock; a relaxed arrival releases that of their last fence.
    pub fn arrive_at_mbarrier(&mut self, actor: Actor, key: MbarrierKey, phase: u64, semantics: MbarrierSemantics) {
        let Actor { warp, lanes, tick, .. } = actor;
        let block = self.acting_block(actor);
        let endpoint = Endpoint { block: block.number, is_narrow: semantics.scope == Scope::Cta };
        let released: Vec<(Endpoint, VectorClock)> = if semantics.ordering == Ordering::Relaxed {
            // A release pattern: the fence before it releases.
            let scopes = [(endpoint, Scope::Cluster), (Endpoint { is_narrow: true, ..endpoint }, Scope::Cta)];
            scopes.into_iter().filter_map(|(endpoint, scope)| Some((endpoint, block.released_by_fences(warp, lanes, scope)?))).collect()
        } else {
            vec![(endpoint, block.released(warp, lanes, tick))]
        };
        let mbarrier = self.mbarriers.entry(key).or_default();
        for (endpoint, clock) in released {
            mbarrier.arrived.entry((phase, endpoint)).or_default().join(&clock);
        }
    }

    /// Lanes have observed that a phase of an mbarrier has completed.
    pub fn wait_for_mbarrier(&mut self, actor: Actor, key: MbarrierKey, semantics: MbarrierSemantics) {
        let mbarrier = self.mbarriers.entry(key).or_default();
        let released: Vec<_> = mbarrier.ended.iter().filter_map(|(by, clock)| Some((*by, clock.clone()?))).collect();
        let block = self.acting_block(actor);
        let reader = Endpoint { block: block.number, is_narrow: semantics.scope == Scope::Cta };
        let warp = &mut block.warps[actor.warp];
        let is_relaxed = semantics.ordering == Ordering::Relaxed;
        released.into_iter().for_each(|(writer, clock)| warp.acquire_phase((writer, reader), actor.lanes, is_relaxed, clock));
    }

    /// A phase of an mbarrier has completed, and with it those before.
    pub fn end_phase(&mut self, key: MbarrierKey, phase: u64) {
        let mbarrier = self.mbarriers.entry(key).or_default();
        mbarrier.phase = phase + 1;
        while let Some(entry) = mbarrier.arrived.first_entry().filter(|entry| entry.key().0 <= phase) {
            let ((_, endpoint), clock) = entry.remove_entry();
            join_into(mbarrier.ended.entry(endpoint).or_default(), &Arc::new(clock));
        }
        assert!(mbarrier.arrived.keys().all(|(later, _)| *later > phase), "what arrived in phase {phase} is released");
    }

    /// Lanes issue copy `id`, which completes on an mbarrier.
    pub fn issue_copy(&mut self, actor: Actor, id: u64) -> Agent {
        let Actor { warp, lanes, tick, .. } = actor;
        let block = self.acting_block(actor);
        let number = block.copies;
        block.copies += 1;
        let (block, clock) = (block.number, block.released(warp, lanes, tick));
        let before = self.pending_copies.insert(id, PendingCopy { block, number, warp, tick, clock });
        assert!(before.is_none(), "copy #{id} is issued once");
        Agent::Copy(number)
    }

    /// Copy `id` completes on an mbarrier; if it is an arrival of `cp.async`, the copies of these lanes have completed.
    pub fn end_copy(&mut self, id: u64, key: MbarrierKey, arrival: Option<LaneMask>) {
        let Some(PendingCopy { block, number, warp, tick, mut clock }) = self.pending_copies.remove(&id) else { return };
        let asynchronous = clock.get_mut(block).asynchronous_mut();
        match arrival {
            Some(lanes) => {
                lanes.iter().for_each(|lane| {
                    asynchronous.completed[AsyncKind::CpAsync as usize].advance(warp, LaneMask::of(lane), LaneMask::ALL, tick);
                });
            }
            None => {
                asynchronous.copies.insert(number);
                assert!(asynchronous.copies.contains(number), "a copy that has ended is known");
            }
        }
        let mbarrier = self.mbarriers.entry(key).or_default();
        let endpoint = Endpoint { block, is_narrow: false };
        mbarrier.arrived.entry((mbarrier.phase, endpoint)).or_default().join(&clock);
    }
}

impl Warp {
    /// Lanes acquire `clock`, which one endpoint released to a phase that has ended; a relaxed wait acquires it at their next fence.
    fn acquire_phase(&mut self, (writer, reader): (Endpoint, Endpoint), lanes: LaneMask, relaxed: bool, clock: Arc<VectorClock>) {
        let scope = if writer.block == reader.block { Scope::Cta } else { Scope::Cluster };
        match (writer.shares_scope(reader), relaxed) {
            (false, _) => self.add_out_of_scope(lanes, &clock),
            (true, false) => self.acquire(lanes, &clock),
            (true, true) => DeferredAcquire { lanes, scope, sc: ScFenceCondition::Irrelevant, clock }.add_to(&mut self.deferred),
        }
    }
}
