//! What instructions bring to memory.

use smallvec::SmallVec;

use super::origin::Origin;
use crate::machine::Place;
use crate::program::operands::{RegisterOperand, Use, registers_of};
use crate::program::{Bank, Inst, MemoryOp, Op, Program, Src, SrcKind};

/// What an instruction stores that is undefined.
#[derive(Clone)]
pub(in crate::check::init) struct Stored {
    /// The instruction.
    pub place: Place,
    /// Bytes of an element; none where all that is accessed is made of each.
    pub element_bytes: Option<u32>,
    /// The elements of each lane.
    pub elements: Vec<StoredElement>,
}

/// Which element, the register, and the lanes in which it is undefined, with the origins.
type StoredElement = (u32, RegisterOperand, Vec<(usize, Origin)>);

/// Bytes of an element, and the register that each is stored from, if it is one.
type StoredRegisters = (Option<u32>, SmallVec<[Option<RegisterOperand>; 4]>);

/// The registers whose values an instruction brings to memory by an access of its lanes, by the place that they take, and the bytes of
/// each.
pub(super) fn stored_registers(inst: &Inst, program: &Program) -> Option<StoredRegisters> {
    let element = |bits, reg_bits, source: &Src| {
        let (bank, width) = Bank::of_element(bits, reg_bits);
        match source.kind() {
            SrcKind::Reg(slot) => Some(RegisterOperand { bank, slot, width }),
            SrcKind::Const(_) | SrcKind::Special(_) => None,
        }
    };
    if let Op::Memory(MemoryOp::Store { bits, reg_bits, a, .. }) = inst.op {
        return Some((Some(u32::from(bits) / 8), std::iter::once(element(bits, reg_bits, &a)).collect()));
    }
    if let Op::Memory(MemoryOp::StoreVector { bits, reg_bits, parts, .. }) = inst.op {
        return Some((Some(u32::from(bits) / 8), program.sources[parts].iter().map(|a| element(bits, reg_bits, a)).collect()));
    }
    let is_atomic = matches!(inst.op, Op::Atomic(_));
    is_atomic.then(|| {
        let mut read = SmallVec::new();
        registers_of(inst, program, |used, register| {
            if used == Use::Read {
                read.push(Some(register));
            }
        });
        (None, read)
    })
}
