//! Volatile and relaxed accesses to shared memory that nothing orders: no data race by the memory model, but a value that depends on the
//! order, and that the kernel keeps.
//!
//! A load that decides whether it is executed again is a poll, and what a load of the same loop validates is read again where it is torn
//! (a seqlock); neither is reported. Nor is a location that threads synchronize through.

use std::collections::BTreeSet;

use super::Race;
use super::access::Access;
use crate::check::finding::{Finding, SideAction};
use crate::check::reporter::Reporter;
use crate::isa::{Ordering, Space};
use crate::machine::{AccessEvent, AccessKind};
use crate::program::{self, MemoryOp, Op, Pc, Program};

/// Places for which a finding of one pair of instructions is held back.
const PLACES: usize = 16;

/// A location of shared memory: the block, and the address.
type Location = (u32, u64);

/// The findings that are held back until it is known through which locations threads synchronize.
#[derive(Clone, Default)]
pub(super) struct UnorderedFindings {
    /// Whether the program has volatile or relaxed loads and stores that may be of shared memory.
    pub is_possible: bool,
    held: Vec<(Location, Finding)>,
    synchronizing: BTreeSet<Location>,
}

impl UnorderedFindings {
    /// The state at the beginning of a program.
    pub fn new(program: &Program) -> Self {
        let kinds: BTreeSet<bool> = program.code.iter().filter_map(|inst| relaxed_kind(&inst.op)).collect();
        Self { is_possible: kinds.len() == 2, ..Self::default() }
    }

    /// Remembers through which locations of shared memory threads synchronize.
    pub fn note(&mut self, block: u32, event: &AccessEvent<'_>) {
        let is_read_modify_write = event.kind == AccessKind::Atomic;
        let synchronizes = event.semantics.ordering.acquires() || event.semantics.ordering.releases();
        if self.is_possible && (is_read_modify_write || synchronizes) {
            self.synchronizing.extend(event.lanes.iter().map(|lane| (block, event.addresses[lane])));
        }
    }

    /// Holds a finding about a location back until the end of the launch.
    pub fn hold(&mut self, location: Location, finding: Finding) {
        let pair = finding.pair();
        let places = self.held.iter().filter(|(_, held)| held.pair() == pair).count();
        match self.held.iter_mut().find(|(at, held)| *at == location && held.pair() == pair) {
            Some((_, known)) => known.count += 1,
            None if places < PLACES => self.held.push((location, finding)),
            None => {}
        }
    }
}

/// Whether it is a volatile or relaxed load (false) or store (true) that may be of shared memory.
fn relaxed_kind(op: &Op) -> Option<bool> {
    let Op::Memory(op) = op else { return None };
    let (access, stores) = match op {
        MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. } => (access, false),
        MemoryOp::Store { access, .. } | MemoryOp::StoreVector { access, .. } => (access, true),
    };
    let may_be_shared = matches!(access.space, Space::Generic | Space::Shared | Space::SharedCluster);
    (may_be_shared && matches!(access.ordering, Ordering::Volatile | Ordering::Relaxed)).then_some(stores)
}

impl Race {
    /// Whether the order of a load and a store that are strong decides something that the kernel keeps.
    pub(super) fn is_order_kept(&mut self, first: &Access, second: &Access) -> bool {
        let load = if first.action == SideAction::Read { first.pc } else { second.pc };
        !self.result_uses.uses(&self.program, load).escaping_uses.is_empty() && !self.is_validated(load)
    }

    /// Whether the load lies in a loop that the result of a strong load in it leaves or repeats.
    fn is_validated(&mut self, load: Pc) -> bool {
        let Self { program, reachability, result_uses, .. } = self;
        let Some(flow) = reachability.flow(program, load, load) else { return false };
        let Some(block) = flow.block_of(load) else { return false };
        flow.loops().iter().filter(|around| around.blocks.contains(&block)).any(|around| {
            let code = || around.blocks.iter().flat_map(|block| flow.code(*block)).map(Pc);
            let leaves = |at: &Pc| {
                flow.block_of(*at).is_some_and(|block| {
                    around.blocks.contains(&block) && flow.successors(block).iter().any(|next| !around.blocks.contains(next))
                })
            };
            let is_strong = |access: &program::Access| access.ordering != Ordering::Weak;
            let is_strong_load = |at: &Pc| {
                let op = &program.code[at.index()].op;
                matches!(op, Op::Memory(MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. }) if is_strong(access))
            };
            code().filter(is_strong_load).any(|at| result_uses.uses(program, at).controls.iter().any(leaves))
        })
    }

    /// Reports the findings that were held back, but for locations that threads synchronize through.
    pub(super) fn release_unordered(&mut self, to: &mut Reporter<'_>) {
        for (location, finding) in std::mem::take(&mut self.unordered.held) {
            if self.unordered.synchronizing.contains(&location) {
                continue;
            }
            let Self { program, reachability, .. } = self;
            to.findings.report_unless(finding, |known, finding| super::cause::is_same(program, reachability, known, finding));
        }
    }
}
