//! What arrays hold whose elements are indices of other arrays: numbers that lead threads to the same elements, as real data does.
//!
//! Of a graph in rows (CSR), one array says where the rows begin, and another one lists the neighbours: threads go through rows, and rows
//! name elements that other rows name as well. A list that nothing but the number of a thread leads into, and by which stores go, may be
//! a permutation that the kernel relies on: it counts from 0 up.

use std::path::Path;

use super::uses::PointerUse;
use super::{Guess, Integers, Study};
use crate::launch::element::{Element, Kind, Number};
use crate::launch::file::Init;
use crate::launch::given;

/// Elements of a row: more than a warp has lanes, so that threads of several warps share one.
const ROW: i128 = 40;

impl Study<'_> {
    /// What the array of parameter `index` holds, with a phrase for it; none if its elements are no indices.
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
        let elements = |(shape, _): given::Array| shape.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent));
        let given = given::arrays(into, Path::new("")).into_iter().filter_map(elements);
        let count = given.chain([guess.size]).min().unwrap_or(1).max(1);
        let high = Number::Integer(i128::from(count) - 1);
        Some((Init::Random { seed: index as u64 + 1, low: Number::Integer(0), high }, format!("random indices below {count}")))
    }

    /// Elements of what rows that an array begins lie in, all together; 0 where none does.
    pub(super) fn elements_of_rows(&self, guess: &Guess) -> u64 {
        let begins_rows = self.uses.words.iter().filter_map(|used| used.pointer).any(|used| used.delimits && is_list(&used));
        if begins_rows { guess.size.saturating_mul(ROW as u64) } else { 0 }
    }
}

/// Whether an array is a list of indices of other arrays, which nothing changes.
fn is_list(used: &PointerUse) -> bool {
    used.reads && !used.writes && !used.atomics && used.indexes.is_some() && !used.indexes_itself
}
