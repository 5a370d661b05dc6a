//! Matrix instructions of a warp (PTX ISA, "Warp Level Matrix Instructions").
//!
//! All 32 lanes execute an instruction together. Lanes that reach it first wait for the others (`.sync`); if some never reach it, because
//! they have exited or their guard is false, the behaviour is undefined: a fault.

mod fragment;
mod multiply;
mod rows;

use super::warp_level::Tiles;
use crate::machine::exec::warp_run::{Executed, Flow, Group, WarpRun};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::trap::{Trap, TrapKind};
use crate::program::{MatrixId, MatrixOp};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes a matrix instruction.
    pub(super) fn matrix(&mut self, id: MatrixId, group: &Group, active: LaneMask) -> Executed {
        let program = self.program;
        if active == group.mask && !group.mask.contains_all(self.warp.live) {
            return Ok(self.wait_at(group, &Tiles::from_elem((active, LaneMask::ALL), 1)));
        }
        if active != LaneMask::ALL {
            return Err(self.missing(group, active));
        }
        match &program.matrices[id] {
            MatrixOp::Multiply(multiply) => self.multiply(id, multiply, group),
            MatrixOp::Load(access) => self.load_fragment(access, group)?,
            MatrixOp::Store(access) => self.store_fragment(access, group)?,
            MatrixOp::LoadRows(access) => self.load_rows(access, group)?,
            MatrixOp::StoreRows(access) => self.store_rows(access, group)?,
            MatrixOp::Transpose { d, a } => self.transpose(*d, *a, group),
        }
        Ok(Flow::Next)
    }

    /// The fault of a warp of which some lanes do not execute the instruction.
    fn missing(&self, group: &Group, active: LaneMask) -> Box<Trap> {
        let (missing, why) = match group.mask & !active {
            LaneMask::NONE => (!active, "exited, or not in the block"),
            off => (off, "guard false"),
        };
        let message = format!("a matrix instruction needs all 32 lanes of the warp; lanes missing: {} ({why})", missing.list());
        self.trap(TrapKind::WarpDisagrees, missing, &message)
    }
}
