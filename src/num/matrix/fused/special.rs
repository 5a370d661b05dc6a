//! Sums that are infinities or NaNs.

use super::super::element::{INFINITE, NOT_A_NUMBER, Number};
use super::factors::{ColumnNumbers, Row, RowNumbers};
use crate::num::exact::Format;

/// Replaces the results that are infinities or NaNs, encoded in `format`: a sum is NaN if an operand is NaN, if a product is of an infinity
/// and zero, or if there are infinities of both signs; it is infinite if there are other infinities.
#[inline(never)]
pub fn replace_specials<const N: usize>(
    result: &mut [u32; N],
    format: &Format,
    (c, row): (&ColumnNumbers<N>, usize),
    a: Row<'_>,
    b: &[RowNumbers<N>],
) {
    let is_row_special = a.factors().any(|factor| factor.number.is_special());
    let mut lowest = c.exponents[row];
    if !is_row_special {
        for exponents in a.factors().map(|factor| &b[factor.row].exponent) {
            lowest.iter_mut().zip(exponents).for_each(|(lowest, exponent)| *lowest = (*lowest).min(*exponent));
        }
    }
    let can_be_special = |lane: &(usize, &mut u32)| is_row_special || lowest[lane.0] <= INFINITE;
    for (lane, result) in result.iter_mut().enumerate().filter(can_be_special) {
        let products = a.factors().map(|factor| (factor.number, b[factor.row].number(lane)));
        match special(c.number(row, lane), products) {
            None => {}
            Some(Special::Nan) => *result = format.nan as u32,
            Some(Special::Infinity { negative }) => {
                *result = (format.largest + 1) as u32 | if negative { format.sign() as u32 } else { 0 };
            }
        }
    }
}

enum Special {
    Infinity { negative: bool },
    Nan,
}

/// The value of a sum if it is an infinity or a NaN.
fn special(c: Number, products: impl Iterator<Item = (Number, Number)>) -> Option<Special> {
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
