//! Branches, exit and traps (PTX ISA, "Control Flow Instructions").

use crate::machine::event::SyncKind;
use crate::machine::exec::warp_run::{Executed, Flow, Group, SliceEnd, WarpRun};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::trap::TrapKind;
use crate::program::{ControlOp, Pc, Src, TableId};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes a branch, a call or an end.
    #[inline(always)]
    pub(super) fn control(&mut self, op: &ControlOp, group: &Group, active: LaneMask) -> Executed {
        match op {
            ControlOp::Branch { target, .. } if active == group.mask => Ok(Flow::Jump(*target)),
            ControlOp::Branch { target, .. } => {
                self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
                self.warp.split(group.index, active, *target);
                Ok(Flow::Reselect)
            }
            ControlOp::BranchIndexed { index, table, .. } => self.branch_indexed(*index, *table, group, active),
            ControlOp::Call { call, .. } => self.enter_call(*call, group, active),
            ControlOp::SystemCall { f, call } => self.system_call(*f, *call, group, active),
            ControlOp::Return { .. } => self.leave(group, active),
            ControlOp::Exit => self.exit(group, active),
            ControlOp::Trap => Err(self.trap(TrapKind::Trap, active, "trap executed")),
            ControlOp::Breakpoint => Err(self.trap(TrapKind::Trap, active, "brkpt executed")),
        }
    }

    fn branch_indexed(&mut self, index: Src, table: TableId, group: &Group, active: LaneMask) -> Executed {
        let targets = &self.program.tables[table];
        let index = *self.lanes(group, active).get32(index);
        let wild = active.filter(|lane| index[lane] as usize >= targets.len());
        if !wild.is_empty() {
            let message = format!("brx.idx with an index past its table of {} targets", targets.len());
            return Err(self.trap(TrapKind::BranchIndex, wild, &message));
        }
        self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
        let mut rest = active;
        while !rest.is_empty() {
            let target = targets[index[rest.first()] as usize];
            let taken = rest.filter(|lane| targets[index[lane] as usize] == target);
            self.warp.split(group.index, taken, target);
            if let Some(coverage) = &mut self.coverage {
                coverage.add_indexed(group.pc, target, taken);
            }
            assert!(taken.contains(rest.first()), "a lane goes nowhere");
            rest &= !taken;
        }
        self.warp.groups.retain(|group| !group.mask.is_empty());
        Ok(Flow::Reselect)
    }

    /// Ends the lanes of `active`; the rest of the group continues after the instruction.
    pub(super) fn exit(&mut self, group: &Group, active: LaneMask) -> Executed {
        let before = self.warp.live;
        if active == before && !self.program.wgmmas.is_empty() {
            self.abandon_wgmmas()?;
        }
        self.report_sync(active, SyncKind::Exited);
        self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
        self.warp.exit(active);
        assert_eq!(self.warp.live | active, before, "other lanes exit");
        Ok(Flow::EndSlice(SliceEnd::LanesExited { before }))
    }
}
