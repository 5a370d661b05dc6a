//! Dynamic stack allocation (PTX ISA, "Stack Manipulation Instructions").

use crate::machine::exec::warp_run::{Executed, Flow, Group, WarpRun};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::trap::TrapKind;
use crate::program::{StackOp, map};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes `alloca`, `stacksave` or `stackrestore`. The stack grows upwards, for all lanes of the group by the largest size of any
    /// lane.
    pub(super) fn alloca(&mut self, op: &StackOp, group: &Group, active: LaneMask) -> Executed {
        let top = self.warp.groups[group.index].local_top;
        match op {
            StackOp::Alloca { wide, d, size, align } => {
                let lanes = self.lanes(group, active);
                let sizes = if *wide { *lanes.get64(*size) } else { lanes.get32(*size).map(u64::from) };
                let size = active.iter().map(|lane| sizes[lane]).max().unwrap_or(0);
                let start = u64::from(top).next_multiple_of(u64::from(*align).max(1));
                let end = start.saturating_add(size);
                if end > map::LOCAL_BASE + map::LOCAL_BYTES {
                    let message = format!("alloca of {size} bytes: a thread has {} bytes of local memory", map::LOCAL_BYTES);
                    return Err(self.trap(TrapKind::StackOverflow, active, &message));
                }
                self.report_local((start as u32, end as u32), &[], active);
                self.warp.groups[group.index].local_top = end as u32;
                self.put(group, active, *wide, *d, start);
            }
            StackOp::Save { wide, d } => self.put(group, active, *wide, *d, u64::from(top)),
            StackOp::Restore { wide, a } => {
                let lanes = self.lanes(group, active);
                let first = active.first();
                let saved = if *wide { lanes.get64(*a)[first] } else { u64::from(lanes.get32(*a)[first]) };
                if saved > u64::from(top) || saved < u64::from(group.frame.local) {
                    return Err(self.trap(TrapKind::StackOverflow, active, "stackrestore of a value that stacksave did not give here"));
                }
                self.warp.groups[group.index].local_top = saved as u32;
            }
        }
        Ok(Flow::Next)
    }
}
