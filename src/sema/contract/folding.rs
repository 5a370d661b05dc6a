//! Constant folding as the assembler does it: values that are constant at assembly time, with the assembler's own arithmetic.

use super::flow::Function;
use crate::flow::def_use::Definition;
use crate::isa::{FloatType, FloatUnary, Ordering, Space};
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, Base, ConvertOp, FloatOp, Inst, IntegerOp, MemoryOp, MoveOp, Op, Program, Src, SrcKind};

/// Most instructions through which a value is followed.
const DEPTH: u32 = 6;

/// A value that is constant at assembly time.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Folded {
    /// These bits.
    Constant(u64),
    /// A value computed from constants, whose bits are not tracked.
    Computed,
}

impl Function {
    /// The constant value of `source`, of `bank`, when the instruction at `at` reads it; `None` if it is not constant.
    pub(super) fn folded_value(&self, program: &Program, source: Src, bank: Bank, at: usize) -> Option<Folded> {
        self.folded_value_within(program, source, bank, at, DEPTH)
    }

    fn folded_value_within(&self, program: &Program, source: Src, bank: Bank, at: usize, depth: u32) -> Option<Folded> {
        let slot = match source.kind() {
            SrcKind::Const(index) if bank == Bank::B64 => return Some(Folded::Constant(program.consts64[index as usize])),
            SrcKind::Const(index) => return Some(Folded::Constant(u64::from(program.consts32[index as usize]))),
            SrcKind::Special(_) => return None,
            SrcKind::Reg(slot) => slot,
        };
        let definitions = self.def_use.definitions_past_entry(RegisterOperand { bank, slot, width: 1 }, at);
        let mut values = definitions.iter().map(|definition| match *definition {
            Definition::Entry => None,
            Definition::At(pc) if definitions.len() > 1 => self.moved_constant(program, pc),
            Definition::At(pc) => self.computed(program, pc, depth.checked_sub(1)?),
        });
        let first = values.next()??;
        values.all(|value| value == Some(first)).then_some(first)
    }

    /// True if `source` is an operand that needs no register: a constant value, or one in the constant bank, which includes kernel
    /// parameters.
    pub(super) fn needs_no_register(&self, program: &Program, source: Src, bank: Bank, at: usize) -> bool {
        self.folded_value(program, source, bank, at).is_some() || self.loads_constant(program, source, bank, at, DEPTH)
    }

    fn loads_constant(&self, program: &Program, source: Src, bank: Bank, at: usize, depth: u32) -> bool {
        let SrcKind::Reg(slot) = source.kind() else { return false };
        let definitions = self.def_use.definitions_past_entry(RegisterOperand { bank, slot, width: 1 }, at);
        let [Definition::At(pc)] = definitions[..] else { return false };
        match program.code[pc] {
            Inst { guard: Some(_), .. } => false,
            Inst { op: Op::Move(MoveOp::Move { a, .. }), .. } => depth > 0 && self.loads_constant(program, a, bank, pc, depth - 1),
            Inst { op: Op::Float(FloatOp::Unary { f: FloatUnary::Neg | FloatUnary::Abs, a, .. }), .. } => {
                depth > 0 && self.loads_constant(program, a, bank, pc, depth - 1)
            }
            Inst { op: Op::Memory(MemoryOp::Load { access, address, .. } | MemoryOp::LoadVector { access, address, .. }), .. } => {
                let is_bank = access.space == Space::Const || access.space == Space::Param && self.is_kernel;
                is_bank && access.ordering == Ordering::Weak && is_fixed(address.base)
            }
            _ => false,
        }
    }

    /// False if `source` is the constant 1, true if it is -1; otherwise `None`.
    pub(super) fn sign_of_one(&self, program: &Program, source: Src, ty: FloatType, at: usize) -> Option<bool> {
        let (one, sign) = match ty {
            FloatType::F64 => (0x3ff0_0000_0000_0000, 1 << 63),
            FloatType::F32 => (0x3f80_0000, 1 << 31),
            FloatType::F16 => (0x3c00, 1 << 15),
            FloatType::BF16 => (0x3f80, 1 << 15),
            FloatType::F16x2 | FloatType::BF16x2 => return None,
        };
        match self.folded_value(program, source, ty.bank(), at)? {
            Folded::Constant(bits) => (bits & !sign == one).then_some(bits & sign != 0),
            Folded::Computed => None,
        }
    }

    /// The constant that the instruction at `pc` moves.
    fn moved_constant(&self, program: &Program, pc: usize) -> Option<Folded> {
        let Op::Move(MoveOp::Move { width, a, .. }) = program.code[pc].op else { return None };
        matches!(a.kind(), SrcKind::Const(_)).then(|| self.folded_value(program, a, width.bank(), pc)).flatten()
    }

    /// The result of the instruction at `pc`, if all its sources are constant.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the assembler is known to do it to these instructions, and to no others")]
    fn computed(&self, program: &Program, pc: usize, depth: u32) -> Option<Folded> {
        let inst = &program.code[pc];
        if inst.guard.is_some() {
            return None;
        }
        let known = |source: Src, bank: Bank| self.folded_value_within(program, source, bank, pc, depth);
        let all = |sources: &[Src], bank: Bank| sources.iter().all(|source| known(*source, bank).is_some()).then_some(Folded::Computed);
        match inst.op {
            Op::Move(MoveOp::Move { width, a, .. }) => known(a, width.bank()),
            Op::Convert(ConvertOp::Single { mode, a, .. }) => all(&[a], if mode.a_bits == 64 { Bank::B64 } else { Bank::B32 }),
            Op::Float(FloatOp::Unary { ty, a, .. }) => all(&[a], ty.bank()),
            Op::Float(FloatOp::Binary { ty, a, b, .. }) => all(&[a, b], ty.bank()),
            Op::Float(FloatOp::Ternary { ty, a, b, c, .. }) => all(&[a, b, c], ty.bank()),
            Op::Integer(IntegerOp::Unary { ty, a, .. }) => all(&[a], ty.bank()),
            Op::Integer(IntegerOp::Binary { ty, a, b, .. }) => all(&[a, b], ty.bank()),
            _ => None,
        }
    }
}

/// True if an address is a constant.
fn is_fixed(base: Base) -> bool {
    match base {
        Base::Narrow(base) | Base::Wide(base) => matches!(base.kind(), SrcKind::Const(_)),
        Base::Frame => false,
    }
}
