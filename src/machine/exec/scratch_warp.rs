//! Instructions executed outside of a run: on a warp that has executed nothing else, so that their results follow from the launch alone.

use super::operands::Lanes;
use super::{bits, compare, convert, integer, select};
use crate::isa::{Space, Width};
use crate::machine::exec::warp_run::LaneOperation as _;
use crate::machine::state::block::new_warp;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::prepared::{Immediates, PreparedLaunch};
use crate::machine::state::registers::FrameBase;
use crate::machine::state::warp::Warp;
use crate::program::{Address, Bank, Base, Dst, IntegerOp, MemoryOp, MoveOp, Op, Pc, Program, Slot, SrcKind};

/// A warp at the start of its kernel, with the special registers, parameters and constants of the launch.
pub struct ScratchWarp<'a> {
    program: &'a Program,
    prepared: &'a PreparedLaunch,
    immediates: &'a Immediates,
    warp: Warp,
}

impl<'a> ScratchWarp<'a> {
    /// Warp `warp` of block number `number`; none if the block has fewer warps.
    pub fn new(program: &'a Program, prepared: &'a PreparedLaunch, number: u64, warp: u32) -> Option<Self> {
        let config = &prepared.config;
        let threads: u32 = config.block.iter().product();
        if warp >= threads.div_ceil(32) {
            return None;
        }
        let rank = number % u64::from(config.blocks_of_cluster());
        let immediates = prepared.immediates.get(rank as usize)?;
        let warp = new_warp(program, prepared, (warp, prepared.block_index(number), number, threads));
        Some(Self { program, prepared, immediates, warp })
    }

    /// The warp.
    pub fn warp(&self) -> &Warp {
        &self.warp
    }

    /// Gives a register of the kernel these bits in all lanes; a predicate is true unless they are 0.
    pub fn set(&mut self, (bank, slot): (Bank, Slot), bits: u64) {
        let (registers, at) = (&mut self.warp.registers, slot.index());
        match bank {
            Bank::B32 => registers.b32.get_mut(at).into_iter().for_each(|lanes| *lanes = [bits as u32; 32]),
            Bank::B64 => registers.b64.get_mut(at).into_iter().for_each(|lanes| *lanes = [bits; 32]),
            Bank::Pred => {
                let lanes = if bits == 0 { LaneMask::NONE } else { LaneMask::ALL };
                registers.pred.get_mut(at).into_iter().for_each(|register| *register = lanes);
            }
        }
    }

    /// Executes the instruction at `pc` in all lanes, whatever its guard. False if its results depend on more than the registers that it
    /// reads, the parameters of the kernel and special registers; then nothing is executed.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations depend on more")]
    pub fn execute(&mut self, pc: Pc) -> bool {
        let (live, frame) = (self.warp.live, FrameBase::default());
        let mut lanes = Lanes::new(&mut self.warp, self.immediates, frame, live);
        match &self.program.code[pc.index()].op {
            Op::Integer(IntegerOp::Carry { .. }) => return false,
            Op::Integer(op) => integer::Integer::execute(&mut lanes, op),
            Op::Bits(op) => bits::Bits::execute(&mut lanes, op),
            Op::Compare(op) => compare::Comparison::execute(&mut lanes, op),
            Op::Select(op) => select::Selection::execute(&mut lanes, op),
            Op::Convert(op) => convert::Conversions::execute(&mut lanes, op),
            Op::Move(MoveOp::Move { width: Width::B64, d, a }) => {
                let value = *lanes.get64(*a);
                lanes.put64(*d, &value);
            }
            Op::Move(MoveOp::Move { d, a, .. }) => {
                let value = *lanes.get32(*a);
                lanes.put32(*d, &value);
            }
            Op::Memory(MemoryOp::Load { access, bits, signed, reg_bits, d, address }) if access.space == Space::Param => {
                let Some(value) = param(&lanes, *address, (*bits, *signed), &self.prepared.config.params) else { return false };
                put(&mut lanes, *d, *reg_bits, value);
            }
            _ => return false,
        }
        true
    }
}

/// The value of an element of a kernel's parameters, extended to 64 bits.
fn param(lanes: &Lanes<'_>, address: Address, (bits, signed): (u8, bool), params: &[u8]) -> Option<u64> {
    let base = match address.base {
        Base::Narrow(source) if matches!(source.kind(), SrcKind::Const(_)) => u64::from(lanes.get32(source)[0]),
        Base::Wide(source) if matches!(source.kind(), SrcKind::Const(_)) => lanes.get64(source)[0],
        Base::Narrow(_) | Base::Wide(_) | Base::Frame => return None,
    };
    let start = usize::try_from(base.wrapping_add_signed(address.offset.into())).ok()?;
    let bytes = params.get(start..start.checked_add(usize::from(bits / 8))?)?;
    let unused = 64_u32.checked_sub(bits.into())?;
    let raw = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)) << unused;
    Some(if signed { (raw as i64 >> unused) as u64 } else { raw >> unused })
}

fn put(lanes: &mut Lanes<'_>, d: Dst, reg_bits: u8, value: u64) {
    match reg_bits {
        64.. => lanes.put64(d, &[value; 32]),
        16 => lanes.put32(d, &[value as u32 & 0xffff; 32]),
        _ => lanes.put32(d, &[value as u32; 32]),
    }
}
