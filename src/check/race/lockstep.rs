//! Accesses of lanes in lockstep that the vendor's assembler may reorder.
//!
//! ptxas keeps the order of two volatile accesses, of any two with a `membar` between, and of two that may be of the same bytes. It moves
//! a load up over a store with the same base register and another offset, if one of the two is weak: of `st.shared [%a]` and
//! `ld.shared [%a+32]`, ptxas 12.4 issues the load first for sm_60, before the lane 32 bytes further has stored.

use super::RaceChecker;
use super::access::Access;
use crate::check::finding::SideAction;
use crate::order::Agent;
use crate::program::{Effect, Pc};

impl RaceChecker {
    /// True if the assembler may move the load `second` over `first`, the store of other lanes of the warp.
    pub(super) fn may_be_reordered(&mut self, first: &Access, second: &Access) -> bool {
        let is_plain = |access: &Access| access.strong.is_none() && access.op.agent == Agent::Threads && access.copy == 0;
        let is_load_after_store = first.action == SideAction::Write && second.action == SideAction::Read;
        if !is_load_after_store || !(is_plain(first) || is_plain(second)) || first.pc >= second.pc {
            return false;
        }
        if let Some(cached) = self.reordered.get(&(first.pc, second.pc)) {
            return *cached;
        }
        let found = self.no_fence_between(first.pc, second.pc) && self.are_disjoint(first, second);
        self.reordered.insert((first.pc, second.pc), found);
        found
    }

    /// True if two instructions are in one basic block, with no instruction between that orders memory.
    fn no_fence_between(&mut self, one: Pc, other: Pc) -> bool {
        let between = self.program.code.get(one.index() + 1..other.index()).unwrap_or(&[]);
        let orders = between.iter().any(|inst| {
            let effects = inst.op.effects(&self.program);
            effects.has(Effect::Orders) || effects.has(Effect::Blocks) || effects.has(Effect::Collective)
        });
        !orders && self.reachability.is_same_block(&self.program, one, other)
    }

    /// True if the two accesses of one thread are known to be of different bytes.
    fn are_disjoint(&mut self, first: &Access, second: &Access) -> bool {
        let Self { program, updates, reachability, .. } = self;
        let bytes = i64::from(first.bytes.max(second.bytes));
        let analysis = updates.analysis(program, reachability, first.pc);
        analysis.and_then(|analysis| analysis.distance(program, first.pc, second.pc)).is_some_and(|distance| distance.abs() >= bytes)
    }
}
