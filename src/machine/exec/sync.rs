//! Barriers of the block and of the warp (PTX ISA, "bar, barrier", "bar.warp.sync").

use super::warp_level::tiles;
use crate::isa::BarrierFn;
use crate::machine::event::SyncKind;
use crate::machine::exec::warp_run::{Executed, Flow, Group, SliceEnd, WarpRun};
use crate::machine::state::barrier::BARRIERS;
use crate::machine::state::lanes::{LANES, LaneMask};
use crate::machine::state::trap::TrapKind;
use crate::machine::state::warp::GroupState;
use crate::program::{Pc, PredSrc, Src, SyncOp};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes a barrier or a fence. A fence has no effect on the sequential execution; only observers use it.
    pub(super) fn sync(&mut self, op: &SyncOp, group: &Group, active: LaneMask) -> Executed {
        match op {
            SyncOp::Fence { kind, ordering, scope } => {
                self.report_sync(active, SyncKind::Fence { kind: *kind, ordering: *ordering, scope: *scope });
                self.fence_weak(active, *kind, *ordering, *scope);
                Ok(Flow::Next)
            }
            SyncOp::Barrier { f, aligned, id, count, p, .. } => self.barrier((*f, *aligned), *id, *count, *p, group, active),
            SyncOp::WarpSync { mask } => {
                for (tile, members) in tiles(self.lanes(group, active).get32(*mask), active) {
                    let rest = Group { mask: self.warp.groups[group.index].mask, ..*group };
                    self.report_sync(tile, SyncKind::WarpSync { members });
                    self.meet_in_warp(members);
                    self.wait_after(&rest, tile, GroupState::AtWarpSync { members, pc: group.pc });
                }
                Ok(Flow::Reselect)
            }
        }
    }

    fn barrier(
        &mut self,
        (f, aligned): (BarrierFn, bool),
        id: Src,
        count: Option<Src>,
        p: PredSrc,
        group: &Group,
        active: LaneMask,
    ) -> Executed {
        let lanes = self.lanes(group, active);
        let first = active.first();
        let id = lanes.get32(id)[first];
        let thread_count = count.map(|count| lanes.get32(count)[first]);
        let votes = lanes.pred(p) & active;
        if id as usize >= BARRIERS {
            return Err(self.trap(TrapKind::BarrierOperand, active, &format!("barrier {id}: a block has barriers 0 to {}", BARRIERS - 1)));
        }
        if let Some(thread_count) = thread_count
            && (thread_count == 0 || thread_count % LANES as u32 != 0)
        {
            let message = format!("barrier {id} with a thread count of {thread_count}, which is not a positive multiple of {LANES}");
            return Err(self.trap(TrapKind::BarrierOperand, active, &message));
        }
        let state = match f {
            BarrierFn::Arrive => GroupState::Ready,
            BarrierFn::Sync | BarrierFn::RedPopc | BarrierFn::RedAnd | BarrierFn::RedOr => GroupState::AtBarrier { id, pc: group.pc },
        };
        self.report_sync(active, SyncKind::Arrived { id, thread_count, waits: state != GroupState::Ready, aligned });
        self.wait_after(group, active, state);
        Ok(Flow::EndSlice(SliceEnd::Arrived { id, mask: active, thread_count, votes }))
    }

    /// Moves the lanes of `active` past the instruction, to wait in `state`; the others continue after it.
    pub(super) fn wait_after(&mut self, group: &Group, active: LaneMask, state: GroupState) -> Flow {
        assert!(!active.is_empty() && group.mask.contains_all(active), "lanes wait that do not run");
        let next = Pc(group.pc.0 + 1);
        self.warp.groups[group.index].pc = next;
        if active == group.mask {
            self.warp.groups[group.index].state = state;
        } else {
            self.warp.split(group.index, active, next);
            if let Some(waiting) = self.warp.groups.last_mut() {
                waiting.state = state;
            }
        }
        debug_assert!(self.is_group_at(next, active, state), "lanes wait elsewhere, or do not wait");
        Flow::Reselect
    }
}
