//! The instructions that run in straight stretches (`exec::straight`), decoded once per launch.
//!
//! An instruction of a common form is a [`Step`] with its operands, so that the loop over a stretch needs one match for each of them. Every
//! step stands for operations of `program::op`, and its semantics are theirs.

use crate::isa::{BoolOp, Compare, FloatBinary, FloatTernary, FloatType, IntBinary, IntTernary, IntType, Ordering, ScalarType, Shift};
use crate::isa::{Space, Width};
use crate::num::{Mode, Rounding};
use crate::program::operands::{self, RegisterOperand};
use crate::program::{
    Address, Bank, Base, BitsOp, CompareOp, ControlOp, ConvertMode, ConvertOp, Dst, FloatOp, Guard, Inst, IntegerOp, MemoryOp, MoveOp, Op,
    Pc, PredSrc, Program, Slot, Src,
};

/// To nearest, without modifiers.
pub(in crate::machine) const PLAIN: Mode = Mode { rounding: Rounding::Nearest, ftz: false, sat: false };

/// A form of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the operations, with the width or the type of their operands")]
#[rustfmt::skip]
pub(in crate::machine) enum Step {
    /// It ends the stretch: another function executes it.
    Ends,
    /// An operation that only computes, and has no step of its own.
    Computes,
    /// A branch. It ends the stretch where its lanes part.
    Branch,
    Add32, Sub32, Mul32, Mad32, And32, Or32, Xor32, Shl32, ShrU32, ShrS32,
    Add64, Sub64, Mul64, And64, Or64, Shl64, ShrU64, ShrS64,
    MulWideU32, MulWideS32, MadWideU32, MadWideS32,
    AddF32, SubF32, MulF32, FmaF32,
    AddF64, MulF64, FmaF64,
    WidenU32, WidenS32, Narrow,
    Move32, Move64,
    CompareU32, CompareS32, CompareU64, CompareS64, CompareF32,
    /// Selection and logic of predicates.
    Select,
    /// Of elements and registers of 32 bits, as in the next three.
    Load32,
    LoadVector32,
    Store32,
    StoreVector32,
    /// Of elements and registers of 64 bits, as in the next.
    Load64,
    Store64,
    /// Of elements of 8 or 16 bits.
    LoadNarrow,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug)]
pub(in crate::machine) struct Micro {
    /// Its form.
    pub step: Step,
    /// The relation of a comparison.
    pub compare: Compare,
    /// The space of an access.
    pub space: Space,
    /// Bytes of an element of an access.
    pub bytes: u8,
    /// True if the base of an address is of 64 bits.
    pub is_wide: bool,
    /// True if it writes a register that is the base of an address of some instruction.
    pub writes_base: bool,
    /// The predicate of the lanes that execute it.
    pub guard: Option<Guard>,
    /// The destination; of a comparison, its first predicate.
    pub d: Dst,
    /// The first source, or the base of an address.
    pub a: Src,
    /// The second source.
    pub b: Src,
    /// The third source, or what is stored.
    pub c: Src,
    /// The offset of an address.
    pub offset: i32,
    /// The target of a branch.
    pub target: Pc,
}

/// The decoded instructions of a program.
pub(in crate::machine) struct StraightCode {
    /// One for each instruction.
    pub micros: Vec<Micro>,
}

impl StraightCode {
    /// Decodes the instructions of `program`.
    pub fn new(program: &Program) -> Self {
        let places = |registers: operands::RegisterOperands| -> Vec<(Bank, Slot)> { registers.iter().flat_map(slots).collect() };
        let mut bases: Vec<(Bank, Slot)> =
            program.code.iter().flat_map(|inst| places(operands::address_registers(inst, program))).collect();
        bases.sort_unstable();
        bases.dedup();
        let decode = |inst: &Inst| {
            let writes_base = places(operands::writes(inst, program)).iter().any(|place| bases.binary_search(place).is_ok());
            Micro { guard: inst.guard, writes_base, ..decode(&inst.op) }
        };
        Self { micros: program.code.iter().map(decode).collect() }
    }
}

/// The slots of a register.
fn slots(register: &RegisterOperand) -> impl Iterator<Item = (Bank, Slot)> + use<> {
    let RegisterOperand { bank, slot, width } = *register;
    (0..width).map(move |index| (bank, slot.offset(index)))
}

/// The source of an instruction that has none.
const NO_SOURCE: Src = Src::reg(Slot(0));

/// An instruction that ends a stretch.
const ENDS: Micro = Micro {
    step: Step::Ends,
    compare: Compare::Eq,
    space: Space::Generic,
    bytes: 0,
    is_wide: false,
    writes_base: false,
    guard: None,
    d: Dst::SINK,
    a: NO_SOURCE,
    b: NO_SOURCE,
    c: NO_SOURCE,
    offset: 0,
    target: Pc(0),
};

/// An operation that only computes.
const COMPUTES: Micro = Micro { step: Step::Computes, ..ENDS };

/// Decodes an operation.
fn decode(op: &Op) -> Micro {
    match op {
        Op::Integer(op) => integer(op),
        Op::Bits(op) => bits(op),
        Op::Float(op) => float(op),
        Op::Compare(op) => compare(op),
        Op::Select(_) => Micro { step: Step::Select, ..ENDS },
        Op::Convert(op) => convert(op),
        Op::Video(_) => COMPUTES,
        Op::Move(MoveOp::Move { width, d, a }) => {
            Micro { step: if *width == Width::B64 { Step::Move64 } else { Step::Move32 }, d: *d, a: *a, ..ENDS }
        }
        Op::Memory(op) => memory(op),
        Op::Control(ControlOp::Branch { target, uniform: _ }) => Micro { step: Step::Branch, target: *target, ..ENDS },
        Op::Move(_)
        | Op::Control(_)
        | Op::Nop
        | Op::Unsupported { .. }
        | Op::Cluster(_)
        | Op::Atomic(_)
        | Op::Async(_)
        | Op::TensorMap(_)
        | Op::Wgmma(_)
        | Op::Stack(_)
        | Op::Image { .. }
        | Op::Matrix { .. }
        | Op::Mbarrier(_)
        | Op::Sync(_)
        | Op::Warp(_) => ENDS,
    }
}

/// A step with its operands, or the general one for an operation that has no step.
fn computing(step: Option<Step>, d: Dst, [a, b, c]: [Src; 3]) -> Micro {
    step.map_or(COMPUTES, |step| Micro { step, d, a, b, c, ..ENDS })
}

fn integer(op: &IntegerOp) -> Micro {
    match *op {
        IntegerOp::Binary { f, ty, d, a, b } => computing(integer_binary(f, ty), d, [a, b, b]),
        IntegerOp::Ternary { f: IntTernary::MadLo, ty: IntType::U32 | IntType::S32, d, a, b, c } => {
            computing(Some(Step::Mad32), d, [a, b, c])
        }
        IntegerOp::MulWide { ty: IntType::U32, d, a, b } => computing(Some(Step::MulWideU32), d, [a, b, b]),
        IntegerOp::MulWide { ty: IntType::S32, d, a, b } => computing(Some(Step::MulWideS32), d, [a, b, b]),
        IntegerOp::MadWide { ty: IntType::U32, d, a, b, c } => computing(Some(Step::MadWideU32), d, [a, b, c]),
        IntegerOp::MadWide { ty: IntType::S32, d, a, b, c } => computing(Some(Step::MadWideS32), d, [a, b, c]),
        IntegerOp::Unary { .. }
        | IntegerOp::BitCount { .. }
        | IntegerOp::Ternary { .. }
        | IntegerOp::MulWide { .. }
        | IntegerOp::MadWide { .. }
        | IntegerOp::Carry { .. }
        | IntegerOp::Dot { .. } => COMPUTES,
    }
}

/// Sums, low products and logic do not depend on the sign.
fn integer_binary(f: IntBinary, ty: IntType) -> Option<Step> {
    match (ty, f) {
        (IntType::U32 | IntType::S32, IntBinary::Add) => Some(Step::Add32),
        (IntType::U32 | IntType::S32, IntBinary::Sub) => Some(Step::Sub32),
        (IntType::U32 | IntType::S32, IntBinary::MulLo) => Some(Step::Mul32),
        (IntType::U32 | IntType::S32, IntBinary::And) => Some(Step::And32),
        (IntType::U32 | IntType::S32, IntBinary::Or) => Some(Step::Or32),
        (IntType::U32 | IntType::S32, IntBinary::Xor) => Some(Step::Xor32),
        (IntType::U64 | IntType::S64, IntBinary::Add) => Some(Step::Add64),
        (IntType::U64 | IntType::S64, IntBinary::Sub) => Some(Step::Sub64),
        (IntType::U64 | IntType::S64, IntBinary::MulLo) => Some(Step::Mul64),
        (IntType::U64 | IntType::S64, IntBinary::And) => Some(Step::And64),
        (IntType::U64 | IntType::S64, IntBinary::Or) => Some(Step::Or64),
        _ => None,
    }
}

fn bits(op: &BitsOp) -> Micro {
    let BitsOp::Shift { f, ty, d, a, b } = *op else { return COMPUTES };
    let step = match (f, ty) {
        (Shift::Left, IntType::U32 | IntType::S32) => Some(Step::Shl32),
        (Shift::Right, IntType::U32) => Some(Step::ShrU32),
        (Shift::Right, IntType::S32) => Some(Step::ShrS32),
        (Shift::Left, IntType::U64 | IntType::S64) => Some(Step::Shl64),
        (Shift::Right, IntType::U64) => Some(Step::ShrU64),
        (Shift::Right, IntType::S64) => Some(Step::ShrS64),
        (Shift::Left | Shift::Right, IntType::U16 | IntType::S16 | IntType::U16x2 | IntType::S16x2) => None,
    };
    computing(step, d, [a, b, b])
}

fn float(op: &FloatOp) -> Micro {
    match *op {
        FloatOp::Binary { f, ty, mode, d, a, b } if mode.modifiers == PLAIN => {
            let step = match (ty, f) {
                (FloatType::F32, FloatBinary::Add) => Some(Step::AddF32),
                (FloatType::F32, FloatBinary::Sub) => Some(Step::SubF32),
                (FloatType::F32, FloatBinary::Mul) => Some(Step::MulF32),
                (FloatType::F64, FloatBinary::Add) => Some(Step::AddF64),
                (FloatType::F64, FloatBinary::Mul) => Some(Step::MulF64),
                _ => None,
            };
            computing(step, d, [a, b, b])
        }
        FloatOp::Ternary { f: FloatTernary::Fma, ty, mode, d, a, b, c } if mode.modifiers == PLAIN => {
            let step = match ty {
                FloatType::F32 => Some(Step::FmaF32),
                FloatType::F64 => Some(Step::FmaF64),
                FloatType::F16 | FloatType::F16x2 | FloatType::BF16 | FloatType::BF16x2 => None,
            };
            computing(step, d, [a, b, c])
        }
        FloatOp::Unary { .. }
        | FloatOp::Binary { .. }
        | FloatOp::Ternary { .. }
        | FloatOp::ProductWithFactors { .. }
        | FloatOp::TestProperty { .. } => COMPUTES,
    }
}

/// Comparisons that write one predicate, without another one.
fn compare(op: &CompareOp) -> Micro {
    let (step, compare, (combine, c), (p, q), [a, b]) = match *op {
        CompareOp::SetpInt { cmp, ty, combine, c, p, q, a, b } => {
            let step = match ty {
                IntType::U32 => Step::CompareU32,
                IntType::S32 => Step::CompareS32,
                IntType::U64 => Step::CompareU64,
                IntType::S64 => Step::CompareS64,
                IntType::U16 | IntType::S16 | IntType::U16x2 | IntType::S16x2 => Step::Computes,
            };
            (step, cmp, (combine, c), (p, q), [a, b])
        }
        CompareOp::SetpFloat { cmp, ty: FloatType::F32, ftz: false, combine, c, p, q, a, b } => {
            (Step::CompareF32, cmp, (combine, c), (p, q), [a, b])
        }
        CompareOp::SetpFloat { .. } | CompareOp::SetInt { .. } | CompareOp::SetFloat { .. } => return COMPUTES,
    };
    // A comparison of integers is never unordered.
    let relation = if compare == Compare::Ne && step != Step::CompareF32 { Compare::Neu } else { compare };
    let has_loop = matches!(relation, Compare::Eq | Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge | Compare::Neu);
    let is_plain = has_loop && combine == BoolOp::And && c == PredSrc::Const(true) && q.is_sink();
    if is_plain { Micro { step, compare: relation, d: p, a, b, ..ENDS } } else { COMPUTES }
}

fn convert(op: &ConvertOp) -> Micro {
    let ConvertOp::Single { mode, d, a } = *op else { return COMPUTES };
    let forms = [
        (ScalarType::U64, ScalarType::U32, Step::WidenU32),
        (ScalarType::S64, ScalarType::S32, Step::WidenS32),
        (ScalarType::U32, ScalarType::U64, Step::Narrow),
    ];
    let form = forms.into_iter().find(|(to, from, _)| mode == ConvertMode::of_integers(*to, *from));
    computing(form.map(|(_, _, step)| step), d, [a; 3])
}

fn memory(op: &MemoryOp) -> Micro {
    let access = op.access();
    let (step, bits, d, c, address) = match *op {
        MemoryOp::Load { bits: 32, reg_bits: 32, d, address, .. } => (Step::Load32, 32, d, NO_SOURCE, address),
        MemoryOp::Load { bits: 64, reg_bits: 64, d, address, .. } => (Step::Load64, 64, d, NO_SOURCE, address),
        MemoryOp::Load { bits: bits @ (8 | 16), reg_bits: 8..=32, d, address, .. } => (Step::LoadNarrow, bits, d, NO_SOURCE, address),
        MemoryOp::LoadVector { bits: 32, reg_bits: 32, address, .. } => (Step::LoadVector32, 32, Dst::SINK, NO_SOURCE, address),
        MemoryOp::Store { bits: 32, reg_bits: 32, a, address, .. } => (Step::Store32, 32, Dst::SINK, a, address),
        MemoryOp::Store { bits: 64, reg_bits: 64, a, address, .. } => (Step::Store64, 64, Dst::SINK, a, address),
        MemoryOp::StoreVector { bits: 32, reg_bits: 32, address, .. } => (Step::StoreVector32, 32, Dst::SINK, NO_SOURCE, address),
        MemoryOp::Load { .. } | MemoryOp::LoadVector { .. } | MemoryOp::Store { .. } | MemoryOp::StoreVector { .. } => return ENDS,
    };
    let Address { base, offset } = address;
    let (a, is_wide) = match base {
        Base::Wide(a) => (a, true),
        Base::Narrow(a) => (a, false),
        Base::Frame => return ENDS,
    };
    if access.ordering == Ordering::Weak {
        Micro { step, space: access.space, bytes: bits / 8, is_wide, d, a, c, offset, ..ENDS }
    } else {
        ENDS
    }
}
