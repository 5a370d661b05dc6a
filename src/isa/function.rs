//! The scalar functions inside each operation family, and the types they work on.
//!
//! An operation is composed of a family (`program::Op`), which has its operands, a function of this file, and a type. `num` computes the
//! functions; the rows of `table` name them.

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
    /// The type as a [`ScalarType`].
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
    /// The absorbing element of the function, if it has one: false for all zeros (0 of a product), true for all ones (of `or`).
    pub fn absorbing_bit(self) -> Option<bool> {
        match self {
            Self::And | Self::MulLo | Self::MulHi | Self::Mul24Lo | Self::Mul24Hi => Some(false),
            Self::Or => Some(true),
            Self::Add | Self::AddSat | Self::Sub | Self::SubSat | Self::Div | Self::Rem | Self::Xor => None,
            Self::Min | Self::Max | Self::MinRelu | Self::MaxRelu => None,
        }
    }

    /// True if the result does not depend on the operand when both operands are the same: x - x.
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

/// One float in, one of the same type out. `Approx` functions are those of the special-function unit. `Known` ones have an operand that is
/// constant at assembly time: the vendor's assembler folds them, rounded to nearest.
/// `InverseEx2` is 2 to the power of the negated operand; it is not an instruction, but the result of a contraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum FloatUnary {
    Neg, Abs, Sqrt, Rcp, SqrtApprox, RcpApprox, RsqrtApprox, SinApprox, CosApprox, Lg2Approx, Ex2Approx, TanhApprox,
    RcpApproxKnown, InverseEx2Approx,
}

/// Two floats in, one of the same type out. `Known` quotients have a divisor that is constant at assembly time: its reciprocal is rounded
/// to nearest, not computed by the special-function unit. `MulInverseEx2` is a * 2^-b, the result of a contraction. `MinNan` and `MaxNan`
/// propagate NaN; `XorSign` compares magnitudes, and the result has the product's sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum FloatBinary {
    Add, Sub, Mul, Div, DivApprox, DivFull, DivApproxKnown, DivFullKnown, MulInverseEx2, Copysign,
    Min, Max, MinNan, MaxNan, MinXorSign, MaxXorSign, MinNanXorSign, MaxNanXorSign,
}

/// Three floats in, one of the same type out. `Oob` gives zero if a factor is the NaN that marks out-of-bounds elements.
/// `MulSub` is a * b - c, `NegMulAdd` c - a * b and `NegMulSub` -(a * b) - c; with `c` a power of two `MulScaleUp` is a * b * c and
/// `MulScaleDown` a * b / c: these are not instructions, but results of contractions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum FloatTernary { Fma, FmaRelu, FmaOob, FmaOobRelu, MulSub, NegMulAdd, NegMulSub, MulScaleUp, MulScaleDown }

/// Functions that are computed as a product of two floats, so that a later operation can be contracted with the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Factored {
    /// The product itself.
    Mul,
    /// A fast quotient: the scaled dividend times the reciprocal of the scaled divisor, which is constant at assembly time if `known`.
    Quotient { full: bool, known: bool, ftz: bool },
    /// `rcp.approx.f32` of `b`: the scale times the reciprocal of the scaled operand.
    Reciprocal,
    /// The first operand times the reciprocal of 2 to the power of the second, [`FloatBinary::MulInverseEx2`].
    MulInverseEx2,
    /// Not a product: `rcp.approx.ftz.f32` of `b`, whose operand is saved as the second factor.
    RcpOperand,
    /// Not a product: `ex2.approx.ftz.f32` of `b`, whose operand is saved as the second factor.
    Ex2Operand,
}

/// Read-modify-write function of `atom` and `red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum AtomicFn { And, Or, Xor, Cas, Exch, Add, Inc, Dec, Min, Max }

/// Operations on an mbarrier other than waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum MbarrierFn { Init, Inval, Arrive, ArriveExpectTx, ArriveNoComplete, Drop, DropExpectTx, DropNoComplete, ExpectTx, CompleteTx }

/// Mode of `shfl`: the source lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum ShuffleMode { Up, Down, Bfly, Idx }

/// Reduction of predicates by `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum VoteMode { All, Any, Uni, Ballot }

/// Reduction over lanes by `redux.sync`: of integers, and of `f32` values or their magnitudes (`abs`); a NaN is propagated if `nan`,
/// otherwise ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum ReduxFn { Add, Min, Max, And, Or, Xor, MinF32 { abs: bool, nan: bool }, MaxF32 { abs: bool, nan: bool } }

/// Operation of a barrier.
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
