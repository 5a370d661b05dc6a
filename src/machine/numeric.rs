//! Words of instructions in the terms of `num`.

use crate::isa::{self, FloatBinary, FloatMode, FloatType};
use crate::num::float::Extremum;
use crate::num::{Mode, Rounding};

/// Whether a register holds two numbers of the type.
pub(in crate::machine) fn is_packed(ty: FloatType) -> bool {
    matches!(ty, FloatType::F16x2 | FloatType::BF16x2)
}

/// The instruction's words in the terms of `num`.
#[inline(always)]
pub(in crate::machine) fn numeric(mode: FloatMode) -> Mode {
    Mode { rounding: rounding(mode.rounding), ftz: mode.ftz, sat: mode.sat }
}

/// The rounding in the terms of `num`.
#[inline(always)]
pub(in crate::machine) fn rounding(rounding: isa::Rounding) -> Rounding {
    match rounding {
        isa::Rounding::Nearest => Rounding::Nearest,
        isa::Rounding::Zero => Rounding::Zero,
        isa::Rounding::Down => Rounding::Down,
        isa::Rounding::Up => Rounding::Up,
        isa::Rounding::NearestAway => Rounding::NearestAway,
    }
}

/// The words of a minimum or maximum in the terms of `num`.
#[inline(always)]
pub(in crate::machine) fn extremum_words(f: FloatBinary, ftz: bool) -> Extremum {
    use FloatBinary::{MaxNan, MaxNanXorSign, MaxXorSign, MinNan, MinNanXorSign, MinXorSign};
    Extremum {
        ftz,
        nan: matches!(f, MinNan | MaxNan | MinNanXorSign | MaxNanXorSign),
        xorsign_abs: matches!(f, MinXorSign | MaxXorSign | MinNanXorSign | MaxNanXorSign),
    }
}
