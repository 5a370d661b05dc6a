//! Contents of arrays whose elements are indices of other arrays: several threads get the same index, as with real data.
//!
//! A sparse matrix or graph (CSR) has an array of row offsets and one of column indices: threads iterate over rows, and several rows
//! have the same column. An array that is indexed by the thread index only, and by whose elements stores are indexed, may have to be
//! a permutation: it counts from 0 up.

use std::path::Path;

use super::uses::PointerUse;
use super::{Guess, Integers, Study};
use crate::launch::element::{Element, Kind, Number};
use crate::launch::file::Init;
use crate::launch::param_args;

/// Elements of a row: more than a warp has lanes, so that threads of several warps share one, and no multiple of how often compilers unroll
/// a loop, so that the rest after the unrolled copies runs too.
const ROW: i128 = 43;

impl Study<'_> {
    /// Contents of the array of parameter `index`, with a phrase for it; `None` if its elements are not indices.
    pub(super) fn indices(&self, index: usize, element: Element, used: &PointerUse, guess: &Guess) -> Option<(Init, String)> {
        let is_integer = element.kind() != Kind::Float && element.bytes() >= 4;
        if guess.integers != Integers::Counting || !is_integer || !is_list(used) {
            return None;
        }
        if used.delimits {
            let init = Init::Iota { start: Number::Integer(0), step: Number::Integer(ROW) };
            return Some((init, format!("the begins of rows of {ROW}")));
        }
        if used.scatters && !used.is_indexed {
            return None;
        }
        let into = self.uses.parts_of(used.into).filter_map(|part| self.known.params.get(&part.param));
        let elements = |(shape, _): param_args::Array| shape.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent));
        let given = param_args::arrays(into, Path::new("")).into_iter().filter_map(elements);
        let count = given.chain([guess.size]).min().unwrap_or(1).max(1);
        let high = Number::Integer(i128::from(count) - 1);
        Some((Init::Random { seed: index as u64 + 1, low: Number::Integer(0), high }, format!("random indices below {count}")))
    }

    /// Elements of all rows of a CSR array; 0 if no array has row offsets.
    pub(super) fn elements_of_rows(&self, guess: &Guess) -> u64 {
        let begins_rows = self.uses.parts.iter().filter_map(|used| used.pointer).any(|used| used.delimits && is_list(&used));
        if begins_rows { guess.size.saturating_mul(ROW as u64) } else { 0 }
    }
}

/// True if an array is a read-only list of indices of other arrays.
fn is_list(used: &PointerUse) -> bool {
    used.reads && !used.writes && !used.atomics && used.indexes.is_some() && !used.indexes_itself
}
