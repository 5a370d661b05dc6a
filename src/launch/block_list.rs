//! Blocks of a grid, as arguments and commands name them: `17`, `17,0,0`, `0-3`, `0,0,0:3,1,0`; several with semicolons between them.

use std::fmt;
use std::str::FromStr;

use crate::base::Dim3;

/// Most blocks that run alone.
const BLOCKS_MAX: u64 = 1 << 20;

/// The blocks between two corners of a box, both of which are inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRange {
    /// The corner with the smallest indices.
    pub first: [u32; 3],
    /// The corner with the greatest.
    pub last: [u32; 3],
}

impl FromStr for BlockRange {
    type Err = String;

    /// `17`, `17,0`, `(17,0,0)`, `0-3`, `0,0,0:3,1,0`: absent indices are 0.
    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once(['-', ':']).map_or((text, None), |(first, last)| (first, Some(last)));
        let first = index(first)?;
        let last = last.map_or(Ok(first), index)?;
        if first.iter().zip(last).any(|(first, last)| *first > last) {
            return Err(format!("{} to {} runs backwards: the first block of a range has the smaller indices", Dim3(first), Dim3(last)));
        }
        Ok(Self { first, last })
    }
}

impl fmt::Display for BlockRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |[x, y, z]: [u32; 3]| format!("{x},{y},{z}");
        f.write_str(&text(self.first))?;
        if self.first == self.last { Ok(()) } else { write!(f, ":{}", text(self.last)) }
    }
}

/// The index of a block.
fn index(text: &str) -> Result<[u32; 3], String> {
    let numbers = text.trim();
    let numbers = numbers.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(numbers);
    let parts: Vec<&str> = numbers.split(',').collect();
    let mut index = [0; 3];
    if parts.len() > index.len() {
        return Err(format!("'{text}' has more than three numbers: a block is X,Y,Z"));
    }
    for (axis, part) in index.iter_mut().zip(parts) {
        *axis = part
            .trim()
            .parse()
            .map_err(|_| format!("'{text}' is not the index of a block, such as 17 or 17,0,0, nor a range, such as 0-3"))?;
    }
    Ok(index)
}

/// Reads several ranges, with semicolons between them.
///
/// # Errors
/// The first mistake, in one line.
pub fn block_list(text: &str) -> Result<Vec<BlockRange>, String> {
    text.split(';').map(str::parse).collect()
}

/// The blocks of `ranges` in a grid, each once, in order of their indices.
///
/// # Errors
/// A block is outside of the grid, or there are too many, in one line.
pub fn blocks_of(ranges: &[BlockRange], grid: [u32; 3]) -> Result<Vec<[u32; 3]>, String> {
    let mut blocks = std::collections::BTreeSet::new();
    let mut count = 0_u64;
    for range in ranges {
        if range.last.iter().zip(grid).any(|(last, extent)| *last >= extent) {
            return Err(format!("the grid of {} has no block {}", Dim3(grid), Dim3(range.last)));
        }
        let extents: [u64; 3] = std::array::from_fn(|axis| u64::from(range.last[axis] - range.first[axis]) + 1);
        count = extents.iter().fold(1_u64, |product, extent| product.saturating_mul(*extent)).saturating_add(count);
        if count > BLOCKS_MAX {
            return Err(format!("{count} blocks are more than the {BLOCKS_MAX} that can be chosen: without the choice all of them run"));
        }
        let ([x, y, z], [last_x, last_y, last_z]) = (range.first, range.last);
        blocks.extend((z..=last_z).flat_map(|z| (y..=last_y).flat_map(move |y| (x..=last_x).map(move |x| [x, y, z]))));
    }
    Ok(blocks.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lists_and_ranges_are_read() {
        let grid = [4, 2, 1];
        for (text, blocks) in [
            ("3", vec![[3, 0, 0]]),
            ("(3,1,0)", vec![[3, 1, 0]]),
            ("3 ; 1,1", vec![[1, 1, 0], [3, 0, 0]]),
            ("0-2", vec![[0, 0, 0], [1, 0, 0], [2, 0, 0]]),
            ("2,0,0:3,1,0;3", vec![[2, 0, 0], [2, 1, 0], [3, 0, 0], [3, 1, 0]]),
        ] {
            assert_eq!(block_list(text).and_then(|ranges| blocks_of(&ranges, grid)).as_ref(), Ok(&blocks), "{text}");
        }
    }

    #[test]
    fn mistakes_are_said() {
        let grid = [u32::MAX; 3];
        for (text, message) in [
            ("", "'' is not the index of a block"),
            ("a", "'a' is not the index of a block"),
            ("1,2,3,4", "'1,2,3,4' has more than three numbers"),
            ("3-1", "(3,0,0) to (1,0,0) runs backwards"),
            ("0-9999999999", "'9999999999' is not the index of a block"),
            ("4294967295", "the grid of (4294967295,4294967295,4294967295) has no block (4294967295,0,0)"),
            ("0,0,0:4294967294,4294967294,4294967294", "18446744073709551615 blocks are more than the 1048576 that can be chosen"),
        ] {
            let error = block_list(text).and_then(|ranges| blocks_of(&ranges, grid)).expect_err(text);
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }

    #[test]
    fn a_range_is_written_as_it_is_read() {
        for text in ["17,0,0", "0,0,0:3,1,0"] {
            assert_eq!(text.parse::<BlockRange>().map(|range| range.to_string()).as_deref(), Ok(text));
        }
    }
}
