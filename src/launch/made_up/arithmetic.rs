//! Pointers of a made-up launch that certainly point to integers: the code computes with the elements, or stores integers that it
//! computed. The type of a load is no evidence: `ld.u32` moves a float or two halves as well as an integer.

use std::collections::BTreeSet;

use super::flow::{Flow, ParamParts};
use crate::isa::{AtomicFn, IntBinary, IntUnary, ScalarType, Space, TypeKind};
use crate::program::operands::{self, RegisterOperand};
use crate::program::{AtomicOp, Bank, BitsOp, CompareOp, ConvertOp, FuncId, Inst, IntegerOp, MemoryOp, Op, Slot};

/// A register of a function.
type Register = (FuncId, u8, Slot);

/// The bits of the parameter parts that point to integers.
pub fn integers(flow: &Flow<'_>) -> ParamParts {
    let mut found = Found::default();
    for (function, _, inst) in flow.code() {
        found.add(flow, function, inst);
    }
    // Integers computed from shared memory are assumed to be the elements that were stored there.
    let is_shared = found.loaded.iter().any(|register| found.read.contains(register));
    let mut parts = found.parts | if is_shared { found.to_shared } else { 0 };
    for (register, pointers) in &found.stored {
        parts |= if found.computed.contains(register) { *pointers } else { 0 };
    }
    parts
}

#[derive(Default)]
struct Found {
    /// Parts whose elements are operands of arithmetic.
    parts: ParamParts,
    /// Parts whose elements are stored to shared memory.
    to_shared: ParamParts,
    /// Registers that integer arithmetic reads.
    read: BTreeSet<Register>,
    /// Registers that integer arithmetic writes.
    computed: BTreeSet<Register>,
    /// Registers that are loaded from shared memory and not known to be of another format.
    loaded: BTreeSet<Register>,
    /// Registers that are stored, with the parts that the address is made from.
    stored: Vec<(Register, ParamParts)>,
}

impl Found {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations write no memory that is tracked")]
    fn add(&mut self, flow: &Flow<'_>, function: FuncId, inst: &Inst) {
        let program = flow.program;
        let register = |operand: &RegisterOperand| (function, bank_number(operand.bank), operand.slot);
        let fact = |operand: &RegisterOperand| flow.fact(function, operand.bank, operand.slot);
        for address in &operands::address_registers(inst, program) {
            self.parts |= fact(address).contents;
        }
        if is_arithmetic(inst) {
            for read in &operands::reads(inst, program) {
                self.parts |= fact(read).contents;
                self.read.insert(register(read));
            }
            self.computed.extend(operands::writes(inst, program).iter().map(register));
        }
        match inst.op {
            Op::Atomic(AtomicOp::Single { f, ty, address, .. }) if !matches!(f, AtomicFn::Cas | AtomicFn::Exch) && is_integer(ty) => {
                self.parts |= flow.base(function, address).pointer;
            }
            Op::Memory(MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. }) if access.space == Space::Shared => {
                let written = operands::writes(inst, program);
                self.loaded.extend(written.iter().filter(|operand| fact(operand).hint.is_none()).map(register));
            }
            Op::Memory(MemoryOp::Store { access, address, .. } | MemoryOp::StoreVector { access, address, .. }) => {
                let pointers = flow.base(function, address).pointer;
                for read in &operands::reads(inst, program) {
                    self.to_shared |= if access.space == Space::Shared { fact(read).contents } else { 0 };
                    self.stored.push((register(read), pointers));
                }
            }
            _ => {}
        }
    }
}

fn bank_number(bank: Bank) -> u8 {
    match bank {
        Bank::B32 => 0,
        Bank::B64 => 1,
        Bank::Pred => 2,
    }
}

fn is_integer(ty: ScalarType) -> bool {
    matches!(ty.kind(), TypeKind::Unsigned | TypeKind::Signed)
}

/// True if an instruction computes with integers; arithmetic on packed numbers, bitwise logic and moves do not count.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations compute with no integers")]
fn is_arithmetic(inst: &Inst) -> bool {
    match inst.op {
        Op::Integer(IntegerOp::Binary { f, .. }) => !matches!(f, IntBinary::And | IntBinary::Or | IntBinary::Xor),
        Op::Integer(IntegerOp::Unary { f, .. }) => matches!(f, IntUnary::Neg | IntUnary::Abs),
        Op::Integer(IntegerOp::Ternary { .. } | IntegerOp::MulWide { .. } | IntegerOp::MadWide { .. } | IntegerOp::Carry { .. }) => true,
        Op::Bits(BitsOp::Shift { .. }) | Op::Compare(CompareOp::SetpInt { .. } | CompareOp::SetInt { .. }) => true,
        Op::Convert(ConvertOp::Single { mode, .. }) => is_integer(mode.from) && mode.to.kind() == TypeKind::Float,
        _ => false,
    }
}
