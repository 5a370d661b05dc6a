//! The scalar functions inside each operation family, and the types they work on.
//!
//! Instructions are factored: a family (`program::Op`) says how operands flow, a function of this file says what is computed
//! from them, and a type says on what. `num` computes them; the rows of `table` name them.

#![allow(missing_docs, reason = "variants are the words of PTX itself")]

use super::ScalarType;

/// Type of an integer operation; `.bN` counts as `.uN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum IntType { U16, S16, U32, S32, U64, S64, U16x2, S16x2 }

/// Type of a floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum FloatType { F32, F64, F16, F16x2, BF16, BF16x2 }

impl FloatType {
    /// The type as declarations have it.
    pub fn scalar(self) -> ScalarType {
        match self {
            FloatType::F32 => ScalarType::F32,
            FloatType::F64 => ScalarType::F64,
            FloatType::F16 => ScalarType::F16,
            FloatType::F16x2 => ScalarType::F16x2,
            FloatType::BF16 => ScalarType::BF16,
            FloatType::BF16x2 => ScalarType::BF16x2,
        }
    }

    /// The type of one number of it.
    pub fn element(self) -> ScalarType {
        match self {
            FloatType::F32 => ScalarType::F32,
            FloatType::F64 => ScalarType::F64,
            FloatType::F16 | FloatType::F16x2 => ScalarType::F16,
            FloatType::BF16 | FloatType::BF16x2 => ScalarType::BF16,
        }
    }
}

/// Width of an operation on bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum Width { B16, B32, B64 }

/// One integer in, one of the same type out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum IntUnary { Neg, Abs, Not, CNot, Brev }

/// One integer in, a 32-bit count out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum BitCount { Popc, Clz, Bfind, BfindShift }

/// Two integers in, one of the same type out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum IntBinary { Add, AddSat, Sub, SubSat, MulLo, MulHi, Mul24Lo, Mul24Hi, Div, Rem, Min, Max, MinRelu, MaxRelu, And, Or, Xor }

impl IntBinary {
    /// The bit of which an operand consists wholly if it decides the result, whatever the other operand is: a product with 0, or all ones
    /// and anything.
    pub fn decided_by(self) -> Option<bool> {
        match self {
            Self::And | Self::MulLo | Self::MulHi | Self::Mul24Lo | Self::Mul24Hi => Some(false),
            Self::Or => Some(true),
            Self::Add | Self::AddSat | Self::Sub | Self::SubSat | Self::Div | Self::Rem | Self::Xor => None,
            Self::Min | Self::Max | Self::MinRelu | Self::MaxRelu => None,
        }
    }

    /// Whether the result of an operand and itself does not depend on it.
    pub fn cancels(self) -> bool {
        match self {
            Self::Xor | Self::Sub | Self::SubSat => true,
            Self::Add | Self::AddSat | Self::MulLo | Self::MulHi | Self::Mul24Lo | Self::Mul24Hi | Self::Div | Self::Rem => false,
            Self::Min | Self::Max | Self::MinRelu | Self::MaxRelu | Self::And | Self::Or => false,
        }
    }
}

/// Three integers in, one of the same type out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum IntTernary { MadLo, MadHi, MadHiSat, Mad24Lo, Mad24Hi, Mad24HiSat, Sad }

/// Shift of a value by a 32-bit count; `Right` copies the sign bit of a signed type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum Shift { Left, Right }

/// Arithmetic with the condition-code carry (PTX ISA, "Extended-Precision Integer Arithmetic").
/// After a subtraction the carry means "no borrow".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum CarryFn { Add, Sub, MadLo, MadHi }

/// Dot products of bytes or halves, accumulated in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum DotFn { Dp4a, Dp2aLo, Dp2aHi }

/// Operations on bit fields of a 32-bit word whose operands are all 32-bit registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum BitField32 {
    BmskClamp, BmskWrap, SzextClampU, SzextWrapU, SzextClampS, SzextWrapS, Fns,
    Prmt, PrmtF4e, PrmtB4e, PrmtRc8, PrmtEcl, PrmtEcr, PrmtRc16,
    ShfLeftClamp, ShfLeftWrap, ShfRightClamp, ShfRightWrap,
}

/// One float in, one of the same type out. `Approx` functions are the special-function unit's; of `Known` ones the assembler knows the
/// operand, so that the result is rounded to nearest instead (as the vendor's assembler folds them).
/// `InverseEx2` is 2 to the power of the negative operand: no instruction of its own, but what two may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum FloatUnary {
    Neg, Abs, Sqrt, Rcp, SqrtApprox, RcpApprox, RsqrtApprox, SinApprox, CosApprox, Lg2Approx, Ex2Approx, TanhApprox,
    RcpApproxKnown, InverseEx2Approx,
}

/// Two floats in, one of the same type out. `Known` quotients have a divisor that the assembler knows: its reciprocal is rounded to
/// nearest, not what the special-function unit gives. `MulInverseEx2` is a * 2^-b, what two instructions may become. `MinNan` and `MaxNan`
/// let NaN through; `XorSign` takes the magnitudes and the product's sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum FloatBinary {
    Add, Sub, Mul, Div, DivApprox, DivFull, DivApproxKnown, DivFullKnown, MulInverseEx2, Copysign,
    Min, Max, MinNan, MaxNan, MinXorSign, MaxXorSign, MinNanXorSign, MaxNanXorSign,
}

/// Three floats in, one of the same type out. `Oob` gives zero where a factor is the NaN that marks what is out of bounds.
/// `MulSub` is a * b - c, `NegMulAdd` c - a * b and `NegMulSub` -(a * b) - c; with `c` a power of two `MulScaleUp` is a * b * c and
/// `MulScaleDown` a * b / c: no instructions of their own, but what two may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum FloatTernary { Fma, FmaRelu, FmaOob, FmaOobRelu, MulSub, NegMulAdd, NegMulSub, MulScaleUp, MulScaleDown }

/// What is computed as a product of two floats, so that its rounding may be left to an operation after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factored {
    /// The product itself.
    Mul,
    /// A fast quotient: the scaled dividend by the reciprocal of the scaled divisor, which the assembler may know.
    Quotient { full: bool, known: bool, ftz: bool },
    /// `rcp.approx.f32` of `b`: the scale by the reciprocal of the scaled operand.
    Reciprocal,
    /// The first operand by the reciprocal of 2 to the power of the second, [`FloatBinary::MulInverseEx2`].
    MulInverseEx2,
    /// Nothing: `rcp.approx.ftz.f32` of `b`, which is kept.
    RcpOperand,
    /// Nothing: `ex2.approx.ftz.f32` of `b`, which is kept.
    Ex2Operand,
}

/// Read-modify-write function of `atom` and `red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum AtomicFn { And, Or, Xor, Cas, Exch, Add, Inc, Dec, Min, Max }

/// What `mbarrier` does to an mbarrier, waiting aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum MbarrierFn { Init, Inval, Arrive, ArriveExpectTx, ArriveNoComplete, Drop, DropExpectTx, DropNoComplete, ExpectTx, CompleteTx }

/// Lane choice of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum ShuffleMode { Up, Down, Bfly, Idx }

/// Reduction of predicates by `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum VoteMode { All, Any, Uni, Ballot }

/// Reduction over lanes by `redux.sync`: of integers, and of `f32` magnitudes (`abs`) or numbers, where a NaN wins (`nan`) or loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum ReduxFn { Add, Min, Max, And, Or, Xor, MinF32 { abs: bool, nan: bool }, MaxF32 { abs: bool, nan: bool } }

/// What a barrier does beside waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum BarrierFn { Sync, Arrive, RedPopc, RedAnd, RedOr }

/// A function that the device runtime provides to every module that declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum SystemFn { Printf, AssertFail, Malloc, Free }

impl SystemFn {
    /// The function called `name`, with the number of its arguments.
    pub fn from_name(name: &str) -> Option<(Self, usize)> {
        match name {
            "vprintf" => Some((SystemFn::Printf, 2)),
            "__assertfail" => Some((SystemFn::AssertFail, 5)),
            "malloc" => Some((SystemFn::Malloc, 1)),
            "free" => Some((SystemFn::Free, 1)),
            _ => None,
        }
    }
}
