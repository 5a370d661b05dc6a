//! Values from other lanes.
//!
//! By `shfl` a lane receives the value that its source lane contributes, undefined if that lane does not take part (PTX ISA, "shfl").
//! Votes, matches and reductions are computed from the values of all lanes.

use super::Registers;
use super::frames::{ContributedOperands, WarpFrames};
use super::origin::{Absence, Cause, Origin, OriginId, Origins};
use crate::machine::{Collective, LaneMask};
use crate::program::operands::{RegisterOperand, writes};
use crate::program::{Bank, Program};

impl Registers {
    /// Lanes are about to execute a warp collective with the operands that [`Registers::before`] has recorded.
    pub fn collective(&mut self, collective: &Collective, program: &Program) {
        let point = collective.point;
        let inst = &program.code[point.pc.index()];
        let Some(function) = program.function_at(point.pc) else { return };
        let tracked = self.tracking.function(function);
        let key = (point.block, point.warp);
        if !collective.absent.is_empty() {
            self.warps.entry(key).or_insert_with(|| WarpFrames::new(collective.live));
        }
        assert!(collective.participants.contains_all(collective.lanes), "lanes that execute a collective take part in it");
        let threads = self.threads_of(&point);
        let Some(warp) = self.warps.get_mut(&key) else { return };
        for register in writes(inst, program) {
            let mut origins = Origins::default();
            for lane in collective.lanes.iter() {
                let missing = |source| {
                    let absence = Absence::of(source, collective, threads);
                    warp.origins.add(Origin { point, lane, register, cause: Cause::Absent(source, absence) })
                };
                if let Some(id) = received(&warp.contributed, collective, (lane, register), missing) {
                    origins.set(lane, id);
                }
            }
            warp.frame(tracked, collective.depth, function).0.write(tracked, register, (collective.lanes, origins.lanes), &origins);
        }
        self.release(key);
    }
}

/// The origin of the value that a lane receives, if it is undefined; `missing` records the origin of the value of an absent lane.
fn received(
    contributed: &ContributedOperands,
    collective: &Collective,
    (lane, register): (usize, RegisterOperand),
    missing: impl FnOnce(u32) -> OriginId,
) -> Option<OriginId> {
    if let Some(origin) = contributed.control(lane) {
        return Some(origin);
    }
    match collective.sources.map(|sources| sources[lane]) {
        None => contributed.value(collective.participants),
        // Whether the source is in range does not depend on the value of any lane.
        Some(_) if register.bank == Bank::Pred => None,
        Some(source) if !collective.participants.contains(source as usize) => Some(missing(source)),
        Some(source) => contributed.value(LaneMask::of(source as usize)),
    }
}
