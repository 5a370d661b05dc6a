//! The elements of short arrays in another order. The compiler would move one element after the other.

#[cfg(target_arch = "x86_64")]
use pulp::core_arch::x86::{Sse, Sse2};

/// The elements of two arrays in turns.
#[inline(always)]
pub fn interleaved(even: [u32; 4], odd: [u32; 4]) -> [u32; 8] {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse2) = Sse2::try_new() {
        let (even, odd) = (pulp::cast(even), pulp::cast(odd));
        return pulp::cast([sse2._mm_unpacklo_epi32(even, odd), sse2._mm_unpackhi_epi32(even, odd)]);
    }
    portable::interleaved(even, odd)
}

/// The elements with even and with odd indices: the inverse of [`interleaved`].
#[inline(always)]
pub fn separated(elements: [u32; 8]) -> [[u32; 4]; 2] {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse) = Sse::try_new() {
        let [low, high] = pulp::cast(elements);
        return pulp::cast([sse._mm_shuffle_ps::<0x88>(low, high), sse._mm_shuffle_ps::<0xdd>(low, high)]);
    }
    portable::separated(elements)
}

/// The columns of a square of halves, as words.
#[inline(always)]
pub fn columns(rows: [[u16; 8]; 8]) -> [[u32; 8]; 8] {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse2) = Sse2::try_new() {
        let [a, b, c, d, e, f, g, h] = pulp::cast(rows);
        // Four columns of four rows each, then of two halves of the rows, then of words.
        let low = |one, other| sse2._mm_unpacklo_epi16(one, other);
        let high = |one, other| sse2._mm_unpackhi_epi16(one, other);
        let of_fours = |[a, b, c, d]: [_; 4]| {
            let [pairs, others] = [[low(a, c), low(b, d)], [high(a, c), high(b, d)]];
            [low(pairs[0], pairs[1]), high(pairs[0], pairs[1]), low(others[0], others[1]), high(others[0], others[1])]
        };
        let (upper, lower) = (of_fours([a, b, c, d]), of_fours([e, f, g, h]));
        let zero = sse2._mm_setzero_si128();
        let words = |halves, other| [sse2._mm_unpacklo_epi64(halves, other), sse2._mm_unpackhi_epi64(halves, other)];
        let wide = |halves| [low(halves, zero), high(halves, zero)];
        let of_two = |index: usize| words(upper[index], lower[index]).map(wide);
        return pulp::cast([of_two(0), of_two(1), of_two(2), of_two(3)]);
    }
    portable::columns(rows)
}

/// The same for every processor.
#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "other processors and tests use it"))]
mod portable {
    pub fn interleaved(even: [u32; 4], odd: [u32; 4]) -> [u32; 8] {
        std::array::from_fn(|index| [even, odd][index % 2][index / 2])
    }

    pub fn separated(elements: [u32; 8]) -> [[u32; 4]; 2] {
        std::array::from_fn(|odd| std::array::from_fn(|index| elements[2 * index + odd]))
    }

    pub fn columns(rows: [[u16; 8]; 8]) -> [[u32; 8]; 8] {
        std::array::from_fn(|column| rows.map(|row| u32::from(row[column])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_give_what_is_meant() {
        let words: [u32; 8] = std::array::from_fn(|index| index as u32);
        let halves = [words[..4].try_into().unwrap_or_default(), words[4..].try_into().unwrap_or_default()];
        assert_eq!(interleaved(halves[0], halves[1]), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(interleaved(halves[0], halves[1]), portable::interleaved(halves[0], halves[1]));
        assert_eq!(separated(words), [[0, 2, 4, 6], [1, 3, 5, 7]]);
        assert_eq!(separated(words), portable::separated(words));
        let rows: [[u16; 8]; 8] = std::array::from_fn(|row| std::array::from_fn(|column| (row * 8 + column) as u16 | 0x8000));
        assert_eq!(columns(rows)[2][5], 0x8000 | 42);
        assert_eq!(columns(rows), portable::columns(rows));
    }
}
