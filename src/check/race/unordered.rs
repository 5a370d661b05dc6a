//! Unordered volatile and relaxed accesses to shared memory: no data race by the memory model, but the value that is read depends on the
//! interleaving, and the kernel uses it.
//!
//! Not reported are polls (loads that control whether they are executed again), loads that another load of the same loop validates (a
//! seqlock), and locations through which threads synchronize.

use std::collections::BTreeSet;

use super::RaceChecker;
use super::access::Access;
use crate::check::finding::{Finding, SideAction};
use crate::check::reporter::Reporter;
use crate::isa::{Ordering, Space};
use crate::machine::{AccessEvent, AccessKind};
use crate::program::{self, MemoryOp, Op, Pc, Program};

/// The most locations for which findings of one pair of instructions are deferred.
const MAX_LOCATIONS: usize = 16;

/// A location of shared memory: the block, and the address.
type Location = (u32, u64);

/// The findings that are deferred until the locations through which threads synchronize are known.
#[derive(Clone, Default)]
pub(super) struct UnorderedFindings {
    /// True if the program has volatile or relaxed loads and stores that may be of shared memory.
    pub is_possible: bool,
    deferred: Vec<(Location, Finding)>,
    synchronizing: BTreeSet<Location>,
}

impl UnorderedFindings {
    /// The state at the beginning of a program.
    pub fn new(program: &Program) -> Self {
        let kinds: BTreeSet<bool> = program.code.iter().filter_map(|inst| relaxed_kind(&inst.op)).collect();
        Self { is_possible: kinds.len() == 2, ..Self::default() }
    }

    /// Adds the locations of shared memory through which an access synchronizes.
    pub fn add_synchronizing(&mut self, block: u32, event: &AccessEvent<'_>) {
        let is_read_modify_write = event.kind == AccessKind::Atomic;
        let synchronizes = event.semantics.ordering.acquires() || event.semantics.ordering.releases();
        if self.is_possible && (is_read_modify_write || synchronizes) {
            self.synchronizing.extend(event.lanes.iter().map(|lane| (block, event.addresses[lane])));
        }
    }

    /// Defers a finding about a location until the end of the launch.
    pub fn defer(&mut self, location: Location, finding: Finding) {
        let pair = finding.pair();
        let locations = self.deferred.iter().filter(|(_, deferred)| deferred.pair() == pair).count();
        match self.deferred.iter_mut().find(|(at, deferred)| *at == location && deferred.pair() == pair) {
            Some((_, earlier)) => earlier.count += 1,
            None if locations < MAX_LOCATIONS => self.deferred.push((location, finding)),
            None => {}
        }
    }
}

/// The kind of a volatile or relaxed access that may be to shared memory: load (false) or store (true).
fn relaxed_kind(op: &Op) -> Option<bool> {
    let Op::Memory(op) = op else { return None };
    let (access, stores) = match op {
        MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. } => (access, false),
        MemoryOp::Store { access, .. } | MemoryOp::StoreVector { access, .. } => (access, true),
    };
    let may_be_shared = matches!(access.space, Space::Generic | Space::Shared | Space::SharedCluster);
    (may_be_shared && matches!(access.ordering, Ordering::Volatile | Ordering::Relaxed)).then_some(stores)
}

impl RaceChecker {
    /// True if the kernel uses the loaded value, which depends on the order of a strong load and a strong store.
    pub(super) fn is_order_observable(&mut self, first: &Access, second: &Access) -> bool {
        let load = if first.action == SideAction::Read { first.pc } else { second.pc };
        !self.result_uses.uses(&self.program, load).escaping_uses.is_empty() && !self.is_validated(load)
    }

    /// True if the load is in a loop whose exit depends on a strong load in it.
    fn is_validated(&mut self, load: Pc) -> bool {
        let Self { program, reachability, result_uses, .. } = self;
        let Some(flow) = reachability.flow(program, load, load) else { return false };
        let Some(block) = flow.block_of(load) else { return false };
        flow.loops().iter().filter(|natural_loop| natural_loop.blocks.contains(&block)).any(|natural_loop| {
            let code = || natural_loop.blocks.iter().flat_map(|block| flow.code(*block)).map(Pc);
            let exits_loop = |at: &Pc| {
                flow.block_of(*at).is_some_and(|block| {
                    natural_loop.blocks.contains(&block) && flow.successors(block).iter().any(|next| !natural_loop.blocks.contains(next))
                })
            };
            let is_strong = |access: &program::Access| access.ordering != Ordering::Weak;
            let is_strong_load = |at: &Pc| {
                let op = &program.code[at.index()].op;
                matches!(op, Op::Memory(MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. }) if is_strong(access))
            };
            code().filter(is_strong_load).any(|at| result_uses.uses(program, at).controls.iter().any(exits_loop))
        })
    }

    /// Reports the deferred findings, except for locations through which threads synchronize.
    pub(super) fn release_unordered(&mut self, to: &mut Reporter<'_>) {
        for (location, finding) in std::mem::take(&mut self.unordered.deferred) {
            if self.unordered.synchronizing.contains(&location) {
                continue;
            }
            let Self { program, reachability, .. } = self;
            to.findings.report_unless(finding, |earlier, finding| super::cause::is_same(program, reachability, earlier, finding));
        }
    }
}
