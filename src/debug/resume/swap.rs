//! The lanes of a compare-and-swap that swapped.

use super::watcher::AccessCandidate;
use crate::isa::AtomicFn;
use crate::machine::{FrameBase, LaneMask, Machine, Warp};
use crate::program::{AtomicOp, Op, Program, Slot, Src, SrcKind};

/// The lanes whose compare-and-swap found the expected value: those whose result equals it, on the machine after the instruction. None
/// for other instructions, if the result is discarded or has overwritten the register of the expected value, and if no lane swapped.
pub fn swapped_lanes(machine: &Machine, candidate: &AccessCandidate) -> Option<LaneMask> {
    let program = machine.program();
    let Op::Atomic(AtomicOp::Single { f: AtomicFn::Cas, ty, d, b, .. }) = program.code[candidate.place.pc.index()].op else {
        return None;
    };
    let warp = machine.block(candidate.place.block)?.warps.get(candidate.place.warp.index())?;
    let group = warp.groups.iter().find(|group| group.mask.intersects(candidate.lanes))?;
    let bits = ty.bits();
    if d.is_sink() || b.kind() == SrcKind::Reg(d.0) || bits > 64 {
        return None;
    }
    let width_mask = u64::MAX >> (64 - bits);
    let has_swapped = |lane: usize| {
        let found = register(warp, group.frame, bits, d.0, lane)?;
        let expected = expected_value(program, warp, group.frame, bits, b, lane)?;
        Some(found & width_mask == expected & width_mask)
    };
    let lanes = candidate.lanes.filter(|lane| has_swapped(lane) == Some(true));
    (!lanes.is_empty()).then_some(lanes)
}

fn register(warp: &Warp, frame: FrameBase, bits: u32, slot: Slot, lane: usize) -> Option<u64> {
    match bits {
        64 => warp.registers.b64.get(slot.in_frame(frame.b64).index()).map(|register| register[lane]),
        _ => warp.registers.b32.get(slot.in_frame(frame.b32).index()).map(|register| u64::from(register[lane])),
    }
}

/// The value that a lane compares with.
fn expected_value(program: &Program, warp: &Warp, frame: FrameBase, bits: u32, value: Src, lane: usize) -> Option<u64> {
    match (value.kind(), bits) {
        (SrcKind::Reg(slot), _) => register(warp, frame, bits, slot, lane),
        (SrcKind::Const(index), 64) => program.consts64.get(index as usize).copied(),
        (SrcKind::Const(index), _) => program.consts32.get(index as usize).copied().map(u64::from),
        (SrcKind::Special(_), _) => None,
    }
}
