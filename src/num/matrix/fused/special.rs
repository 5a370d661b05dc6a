//! Sums that are infinities or NaNs.

use super::super::element::{INFINITE, NOT_A_NUMBER, Number};
use crate::num::exact::Format;

/// An infinity or a NaN.
pub enum Special {
    /// An infinity.
    Infinity {
        /// True for minus infinity.
        negative: bool,
    },
    /// A NaN.
    Nan,
}

impl Special {
    /// Its encoding.
    pub fn encoded(self, format: &Format) -> u32 {
        match self {
            Special::Nan => format.nan as u32,
            Special::Infinity { negative } => (format.largest + 1) as u32 | if negative { format.sign() as u32 } else { 0 },
        }
    }
}

/// The value of a sum if it is an infinity or a NaN.
pub fn special(c: Number, products: impl Iterator<Item = (Number, Number)>) -> Option<Special> {
    let (mut plus, mut minus) = (false, false);
    let mut collect = |negative: bool| if negative { minus = true } else { plus = true };
    if c.exponent == NOT_A_NUMBER {
        return Some(Special::Nan);
    }
    if c.exponent == INFINITE {
        collect(c.significand < 0);
    }
    for (a, b) in products {
        if a.exponent == NOT_A_NUMBER || b.exponent == NOT_A_NUMBER {
            return Some(Special::Nan);
        }
        if a.is_special() || b.is_special() {
            if a.significand == 0 || b.significand == 0 {
                return Some(Special::Nan);
            }
            collect((a.significand < 0) != (b.significand < 0));
        }
    }
    match (plus, minus) {
        (true, true) => Some(Special::Nan),
        (false, false) => None,
        _ => Some(Special::Infinity { negative: minus }),
    }
}
