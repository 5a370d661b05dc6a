//! Which values the assembler knows: constants, and what is computed from nothing else. It folds them, and by its own arithmetic.

use super::flow::Function;
use crate::flow::def_use::Definition;
use crate::isa::{FloatType, FloatUnary, Ordering, Space};
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, Base, ConvertOp, FloatOp, Inst, IntegerOp, MemoryOp, MoveOp, Op, Program, Src, SrcKind};

/// Values are followed over this many instructions.
const DEPTH: u32 = 6;

/// A value that the assembler knows.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Known {
    /// These bits.
    Constant(u64),
    /// What is computed of constants.
    Computed,
}

impl Function {
    /// What the assembler knows of `source`, a value of `bank`, where the instruction at `at` reads it.
    pub(super) fn known(&self, program: &Program, source: Src, bank: Bank, at: usize) -> Option<Known> {
        self.known_within(program, source, bank, at, DEPTH)
    }

    fn known_within(&self, program: &Program, source: Src, bank: Bank, at: usize, depth: u32) -> Option<Known> {
        let slot = match source.kind() {
            SrcKind::Const(index) if bank == Bank::B64 => return Some(Known::Constant(program.consts64[index as usize])),
            SrcKind::Const(index) => return Some(Known::Constant(u64::from(program.consts32[index as usize]))),
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

    /// Whether `source` is an operand that needs no register: a value that the assembler knows, or one of the constant bank, a
    /// parameter of a kernel among them.
    pub(super) fn is_constant(&self, program: &Program, source: Src, bank: Bank, at: usize) -> bool {
        self.known(program, source, bank, at).is_some() || self.loads_constant(program, source, bank, at, DEPTH)
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

    /// Whether `source` is 1 (false) or -1 (true), if it is known to be.
    pub(super) fn sign_of_one(&self, program: &Program, source: Src, ty: FloatType, at: usize) -> Option<bool> {
        let (one, sign) = match ty {
            FloatType::F64 => (0x3ff0_0000_0000_0000, 1 << 63),
            FloatType::F32 => (0x3f80_0000, 1 << 31),
            FloatType::F16 => (0x3c00, 1 << 15),
            FloatType::BF16 => (0x3f80, 1 << 15),
            FloatType::F16x2 | FloatType::BF16x2 => return None,
        };
        match self.known(program, source, ty.bank(), at)? {
            Known::Constant(bits) => (bits & !sign == one).then_some(bits & sign != 0),
            Known::Computed => None,
        }
    }

    /// The constant that the instruction at `pc` moves.
    fn moved_constant(&self, program: &Program, pc: usize) -> Option<Known> {
        let Op::Move(MoveOp::Move { width, a, .. }) = program.code[pc].op else { return None };
        matches!(a.kind(), SrcKind::Const(_)).then(|| self.known(program, a, width.bank(), pc)).flatten()
    }

    /// What the instruction at `pc` computes, if all its sources are known.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the assembler is known to do it to these instructions, and to no others")]
    fn computed(&self, program: &Program, pc: usize, depth: u32) -> Option<Known> {
        let inst = &program.code[pc];
        if inst.guard.is_some() {
            return None;
        }
        let known = |source: Src, bank: Bank| self.known_within(program, source, bank, pc, depth);
        let all = |sources: &[Src], bank: Bank| sources.iter().all(|source| known(*source, bank).is_some()).then_some(Known::Computed);
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

/// Whether an address is known before the kernel starts.
fn is_fixed(base: Base) -> bool {
    match base {
        Base::Narrow(base) | Base::Wide(base) => matches!(base.kind(), SrcKind::Const(_)),
        Base::Frame => false,
    }
}
