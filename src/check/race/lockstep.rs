//! Lanes that run in lockstep, and accesses of theirs whose order the vendor's assembler does not keep.
//!
//! A warp with a stack executes what ptxas has made of the code. Of two volatile accesses it keeps the order, and of any two with a
//! `membar` between; where it cannot see whether a thread's own two are of the same bytes, it keeps it too. A load after a store that has
//! the same register and another offset, one of the two plain, it moves up: of `st.shared [%a]` and `ld.shared [%a+32]`, ptxas 12.4 puts
//! the load first for sm_60, and the lane that is 32 bytes on has not stored yet.

use super::Race;
use super::access::Access;
use crate::check::finding::SideAction;
use crate::order::Agent;
use crate::program::{Effect, Pc};

impl Race {
    /// Whether the assembler may put a load before the store of other lanes of the warp that it reads.
    pub(super) fn may_be_exchanged(&mut self, first: &Access, second: &Access) -> bool {
        let is_plain = |access: &Access| access.strong.is_none() && access.op.agent == Agent::Threads && access.copy == 0;
        let is_load_after_store = first.action == SideAction::Write && second.action == SideAction::Read;
        if !is_load_after_store || !(is_plain(first) || is_plain(second)) || first.pc >= second.pc {
            return false;
        }
        if let Some(known) = self.exchanged.get(&(first.pc, second.pc)) {
            return *known;
        }
        let found = self.is_side_by_side(first.pc, second.pc) && self.are_known_apart(first, second);
        self.exchanged.insert((first.pc, second.pc), found);
        found
    }

    /// Whether two instructions lie in one basic block with nothing between that orders memory.
    fn is_side_by_side(&mut self, one: Pc, other: Pc) -> bool {
        let between = self.program.code.get(one.index() + 1..other.index()).unwrap_or(&[]);
        let orders = between.iter().any(|inst| {
            let effects = inst.op.effects(&self.program);
            effects.has(Effect::Orders) || effects.has(Effect::Blocks) || effects.has(Effect::Collective)
        });
        !orders && self.reachability.is_same_block(&self.program, one, other)
    }

    /// Whether the two accesses of one thread are seen to be of different bytes.
    fn are_known_apart(&mut self, first: &Access, second: &Access) -> bool {
        let Self { program, updates, reachability, .. } = self;
        let bytes = i64::from(first.bytes.max(second.bytes));
        let body = updates.body(program, reachability, first.pc);
        body.and_then(|body| body.distance(program, first.pc, second.pc)).is_some_and(|distance| distance.abs() >= bytes)
    }
}
