//! The instructions that run in straight stretches (`exec::straight`), decoded once per launch.
//!
//! An instruction of a common form is a [`Step`] with its operands, so that the loop over a stretch needs one match for each of them. Every
//! step stands for operations of `program::op`, and its semantics are theirs.

use crate::isa::{
    AtomicFn, BoolOp, Compare, FloatBinary, FloatTernary, FloatType, IntBinary, IntTernary, IntType, Ordering, ScalarType, Shift,
};
use crate::isa::{Space, Width};
use crate::machine::event_kind::Places;
use crate::num::{Mode, Rounding};
use crate::program::operands::{self, RegisterOperand};
use crate::program::{
    Address, AtomicOp, Bank, Base, BitsOp, CompareOp, ControlOp, ConvertMode, ConvertOp, Dst, FloatOp, Guard, Inst, IntegerOp, MemoryOp,
    MoveOp, Op, Pc, PredSrc, Program, Slot, Src,
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
    /// Moves of several registers, and between windows of addresses.
    Moves,
    /// Selection and logic of predicates.
    Select,
    /// Of elements and registers of 32 bits, as in the next three.
    Load32,
    LoadVector32,
    Store32,
    StoreVector32,
    /// Of elements and registers of 64 bits, as in the next three.
    Load64,
    LoadVector64,
    Store64,
    StoreVector64,
    /// Of elements of 8 or 16 bits.
    LoadNarrow,
    /// A relaxed `atom` or `red` that adds integers of 32 bits.
    AtomicAdd32,
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
    /// Bytes that a lane accesses.
    pub bytes: u8,
    /// True if the base of an address is of 64 bits.
    pub is_wide: bool,
    /// The registers it writes that are bases of addresses of some instruction.
    pub bases: BaseWrite,
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
    /// Its rank in the order of the code.
    pub rank: u32,
    /// The number of instructions that run one after the other from this one on, unless a group waits at one of them: none of them has a
    /// guard or branches, and no rank is greater than the one before it by more than 1. At least 1.
    pub run: u16,
}

/// A register that is the base of an address, in the frame of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) struct BaseKey(u32);

impl BaseKey {
    /// A slot of 64 bits if `is_wide`, otherwise of 32.
    #[inline(always)]
    pub const fn new(slot: Slot, is_wide: bool) -> Self {
        Self(slot.0 << 1 | is_wide as u32)
    }

    /// Its slot, as an index for tables.
    #[inline(always)]
    pub const fn index(self) -> usize {
        (self.0 >> 1) as usize
    }
}

/// The bases of addresses that an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) enum BaseWrite {
    /// No base.
    None,
    /// One.
    One(BaseKey),
    /// More than one.
    Several,
}

/// The decoded instructions of a program.
pub(in crate::machine) struct StraightCode {
    /// One for each instruction, and one that ends a stretch.
    pub micros: Vec<Micro>,
    /// True if instructions run one after the other.
    runs: bool,
}

impl StraightCode {
    /// Decodes the instructions of `program`, which have these ranks. Without `runs`, every instruction runs alone.
    pub fn new(program: &Program, rank: &[u32], runs: bool) -> Self {
        let places = |registers: operands::RegisterOperands| -> Vec<(Bank, Slot)> { registers.iter().flat_map(slots).collect() };
        let mut bases: Vec<(Bank, Slot)> =
            program.code.iter().flat_map(|inst| places(operands::address_registers(inst, program))).collect();
        bases.sort_unstable();
        bases.dedup();
        let decode = |(inst, rank): (&Inst, &u32)| {
            let mut written = places(operands::writes(inst, program)).into_iter().filter(|place| bases.binary_search(place).is_ok());
            let bases = match (written.next(), written.next()) {
                (None, _) => BaseWrite::None,
                (Some((bank, slot)), None) => BaseWrite::One(BaseKey::new(slot, bank == Bank::B64)),
                (Some(_), Some(_)) => BaseWrite::Several,
            };
            Micro { guard: inst.guard, bases, rank: *rank, ..decode(&inst.op, program) }
        };
        assert!(rank.len() >= program.code.len(), "every instruction has a rank");
        let mut micros: Vec<Micro> = program.code.iter().zip(rank).map(decode).chain([ENDS]).collect();
        if runs {
            count_runs(&mut micros);
        }
        Self { micros, runs }
    }

    /// The same instructions, with stretches that end at these places.
    pub fn ending_at(&self, places: &Places) -> Self {
        let end = |(pc, micro): (usize, &Micro)| {
            let ends = pc + 1 == self.micros.len() || places.has(Pc::new(pc));
            Micro { step: if ends { Step::Ends } else { micro.step }, run: 1, ..*micro }
        };
        let mut micros: Vec<Micro> = self.micros.iter().enumerate().map(end).collect();
        if self.runs {
            count_runs(&mut micros);
        }
        Self { micros, ..*self }
    }
}

fn count_runs(micros: &mut [Micro]) {
    let is_in_run = |micro: &Micro| micro.guard.is_none() && !matches!(micro.step, Step::Ends | Step::Branch);
    for index in (0..micros.len() - 1).rev() {
        let [micro, next] = [micros[index], micros[index + 1]];
        if is_in_run(&micro) && is_in_run(&next) && next.rank <= micro.rank.saturating_add(1) {
            micros[index].run = next.run.saturating_add(1);
        }
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
    bases: BaseWrite::None,
    guard: None,
    d: Dst::SINK,
    a: NO_SOURCE,
    b: NO_SOURCE,
    c: NO_SOURCE,
    offset: 0,
    target: Pc(0),
    rank: u32::MAX,
    run: 1,
};

/// An operation that only computes.
const COMPUTES: Micro = Micro { step: Step::Computes, ..ENDS };

/// Decodes an operation.
fn decode(op: &Op, program: &Program) -> Micro {
    match op {
        Op::Integer(op) => integer(op),
        Op::Bits(op) => bits(op),
        Op::Float(op) => float(op),
        Op::Compare(op) => compare(op),
        Op::Select(_) => Micro { step: Step::Select, ..ENDS },
        Op::Convert(op) => convert(op),
        Op::Video(_) => COMPUTES,
        Op::Move(op) => moves(op),
        Op::Memory(op) => memory(op, program),
        Op::Atomic(op) => atomic(op),
        Op::Control(ControlOp::Branch { target, uniform: _ }) => Micro { step: Step::Branch, target: *target, ..ENDS },
        Op::Control(_)
        | Op::Nop
        | Op::Unsupported { .. }
        | Op::Cluster(_)
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

fn moves(op: &MoveOp) -> Micro {
    match *op {
        MoveOp::Move { width, d, a } => copied(width == Width::B64, d, a),
        // Global addresses are generic as they are.
        MoveOp::ConvertAddress { space: Space::Global | Space::Generic, wide, d, a, .. } => copied(wide, d, a),
        MoveOp::ConvertAddress { .. } | MoveOp::Move128 { .. } | MoveOp::Vector { .. } | MoveOp::Pack { .. } | MoveOp::Unpack { .. } => {
            Micro { step: Step::Moves, ..ENDS }
        }
        MoveOp::CachePolicy { .. }
        | MoveOp::FrameAddress { .. }
        | MoveOp::ReadSpecial { .. }
        | MoveOp::ActiveMask { .. }
        | MoveOp::IsSpace { .. } => ENDS,
    }
}

/// A move of 64 bits if `wide`, otherwise of 32.
fn copied(wide: bool, d: Dst, a: Src) -> Micro {
    Micro { step: if wide { Step::Move64 } else { Step::Move32 }, d, a, ..ENDS }
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

fn memory(op: &MemoryOp, program: &Program) -> Micro {
    let access = op.access();
    let loads = |step, bytes, d, address| (step, bytes, d, NO_SOURCE, address);
    let stores = |step, bytes, a, address| (step, bytes, Dst::SINK, a, address);
    let (step, bytes, d, c, address) = match *op {
        MemoryOp::Load { bits: 32, reg_bits: 32, d, address, .. } => loads(Step::Load32, 4, d, address),
        MemoryOp::Load { bits: 64, reg_bits: 64, d, address, .. } => loads(Step::Load64, 8, d, address),
        MemoryOp::Load { bits: bits @ (8 | 16), reg_bits: 8..=32, d, address, .. } => loads(Step::LoadNarrow, bits / 8, d, address),
        MemoryOp::LoadVector { bits: bits @ (32 | 64), reg_bits, parts, address, .. } if bits == reg_bits => {
            let step = if bits == 32 { Step::LoadVector32 } else { Step::LoadVector64 };
            loads(step, bits / 8 * program.dests[parts].len() as u8, Dst::SINK, address)
        }
        MemoryOp::Store { bits: 32, reg_bits: 32, a, address, .. } => stores(Step::Store32, 4, a, address),
        MemoryOp::Store { bits: 64, reg_bits: 64, a, address, .. } => stores(Step::Store64, 8, a, address),
        MemoryOp::StoreVector { bits: bits @ (32 | 64), reg_bits, parts, address, .. } if bits == reg_bits => {
            let step = if bits == 32 { Step::StoreVector32 } else { Step::StoreVector64 };
            stores(step, bits / 8 * program.sources[parts].len() as u8, NO_SOURCE, address)
        }
        MemoryOp::Load { .. } | MemoryOp::LoadVector { .. } | MemoryOp::Store { .. } | MemoryOp::StoreVector { .. } => return ENDS,
    };
    if access.ordering == Ordering::Weak { accessing(step, Micro { space: access.space, bytes, d, c, ..ENDS }, address) } else { ENDS }
}

fn atomic(op: &AtomicOp) -> Micro {
    match *op {
        AtomicOp::Single { f: AtomicFn::Add, ty: ScalarType::U32 | ScalarType::S32, access, d, b, address, .. }
            if access.ordering == Ordering::Relaxed =>
        {
            accessing(Step::AtomicAdd32, Micro { space: access.space, bytes: 4, d, c: b, ..ENDS }, address)
        }
        AtomicOp::Single { .. } | AtomicOp::Vector { .. } => ENDS,
    }
}

/// A step that accesses memory at an address; one that is relative to the frame ends the stretch.
fn accessing(step: Step, micro: Micro, Address { base, offset }: Address) -> Micro {
    match base {
        Base::Wide(a) => Micro { step, is_wide: true, a, offset, ..micro },
        Base::Narrow(a) => Micro { step, is_wide: false, a, offset, ..micro },
        Base::Frame => ENDS,
    }
}
