//! Conversions from modifiers of instructions to the types of `num`.

use crate::isa::{FloatBinary, FloatType};
use crate::num::float::Extremum;

/// True if a register holds two numbers of the type.
pub(in crate::machine) fn is_packed(ty: FloatType) -> bool {
    matches!(ty, FloatType::F16x2 | FloatType::BF16x2)
}

/// The modifiers of a minimum or maximum.
#[inline(always)]
pub(in crate::machine) fn extremum_of(f: FloatBinary, ftz: bool) -> Extremum {
    use FloatBinary::{MaxNan, MaxNanXorSign, MaxXorSign, MinNan, MinNanXorSign, MinXorSign};
    Extremum {
        ftz,
        nan: matches!(f, MinNan | MaxNan | MinNanXorSign | MaxNanXorSign),
        xorsign_abs: matches!(f, MinXorSign | MaxXorSign | MinNanXorSign | MaxNanXorSign),
    }
}
