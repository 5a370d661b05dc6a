//! Video instructions (PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions").
//!
//! Nothing but `vset` and the SIMD forms without `.add` does quite what the manual says: the assembler makes them of other instructions,
//! and this is what those leave, as recorded. Where a scalar result is clamped or is an operand of a second operation, it matters how the
//! first one kept it:
//!
//! - a sum or difference that is not clamped is passed on as its low 32 bits, extended by their sign;
//! - a clamp to `.u32` keeps negative results out, and too large ones only of shifts and `vmad`;
//! - a clamp to a byte or half takes negative results for too large ones;
//! - what is put into the upper half (`.h1`) is the upper half of the result.

/// The `bits` bits of `word` from bit `first` on, extended by their sign if `signed`.
#[inline(always)]
pub fn part(word: u64, first: u32, bits: u32, signed: bool) -> i64 {
    let unused = 64 - bits;
    let top = word >> first << unused;
    if signed { top as i64 >> unused } else { (top >> unused) as i64 }
}

/// The mean, halves rounded away from minus infinity for sums from 0 on, and down below.
#[inline(always)]
pub fn average(a: i64, b: i64) -> i64 {
    (a + b + i64::from(a + b >= 0)) >> 1
}

/// How far a shift by the number `b` goes: modulo 32 if it wraps, else at most 32.
#[inline(always)]
pub fn shift_count(b: i64, wrap: bool) -> u32 {
    let b = b as u32;
    if wrap { b & 31 } else { b.min(32) }
}

/// Clamped to integers of `bits` bits.
#[inline(always)]
pub fn clamp(value: i64, bits: u32, signed: bool) -> i64 {
    if signed { value.clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { value.clamp(0, (1 << bits) - 1) }
}

/// How the first result of a scalar instruction is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Of a sum or difference.
    Sum,
    /// Of a minimum, maximum or absolute difference.
    Extremum,
    /// Of a shift.
    Shift,
}

/// The first result as it is kept without `.sat`.
#[inline(always)]
pub fn unclamped(value: i64, kept: Kept) -> i64 {
    if kept == Kept::Sum { low_word(value) } else { value }
}

/// The first result as it is kept with `.sat`, if all of it is: `signed` is the result's type.
#[inline(always)]
pub fn clamped(value: i64, kept: Kept, signed: bool) -> i64 {
    match kept {
        // Shifts are done in 34 bits.
        Kept::Shift => low_word(clamp(value << 30 >> 30, 32, signed)),
        Kept::Sum | Kept::Extremum if signed => clamp(value, 32, true),
        Kept::Sum => low_word(value.max(0)),
        Kept::Extremum => value.max(0),
    }
}

/// The first result as it is kept with `.sat`, if `bits` bits of it are put into `c`.
#[inline(always)]
pub fn clamped_part(value: i64, kept: Kept, signed: bool, bits: u32) -> i64 {
    if kept == Kept::Shift {
        return clamped(value, kept, signed);
    }
    let most = (1 << (bits - u32::from(signed))) - 1;
    if (0..=most).contains(&value) { value } else { most }
}

/// The lesser or, if `greater`, the greater of a first result and `c`; `signed` is the result's type.
#[inline(always)]
pub fn extremum(value: i64, c: u32, signed: bool, greater: bool) -> u32 {
    let wins = if signed {
        let c = i64::from(c as i32);
        if greater { value > c } else { value < c }
    } else {
        let (value, c) = (value as u64, u64::from(c));
        if greater { value > c } else { value < c }
    };
    if wins { value as u32 } else { c }
}

/// `c` with the low `bits` bits of `value` put in at bit `first`, as SIMD instructions do it.
#[inline(always)]
pub fn insert(value: i64, c: u32, first: u32, bits: u32) -> u32 {
    let mask = u32::MAX >> (32 - bits) << first;
    (value as u32) << first & mask | c & !mask
}

/// The same as scalar instructions do it, whose upper half stays where it was.
#[inline(always)]
pub fn merge(value: i64, c: u32, first: u32, bits: u32) -> u32 {
    let is_upper_half = (first, bits) == (16, 16);
    insert(if is_upper_half { value >> 16 } else { value }, c, first, bits)
}

/// What `vmad` does with the product of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiplyAdd {
    /// The sum is signed: a factor is, or something is taken negative.
    pub signed: bool,
    /// The product is taken negative.
    pub negate_product: bool,
    /// `c` is taken negative.
    pub negate_c: bool,
    /// `.po`
    pub plus_one: bool,
    /// `.sat`
    pub sat: bool,
    /// The sum is shifted right by this many bits.
    pub shift: u32,
}

/// `vmad`. Factors and `c` count as signed whatever their types.
#[inline(always)]
pub fn multiply_add(a: i64, b: i64, c: u32, words: MultiplyAdd) -> u32 {
    let product = low_word(a).wrapping_mul(low_word(b));
    let product = if words.negate_product { !product } else { product };
    let c = i64::from(if words.negate_c { !c } else { c } as i32);
    let one = i64::from(words.plus_one || words.negate_product || words.negate_c);
    let sum = product.wrapping_add(c).wrapping_add(one);
    let sum = if words.signed || words.shift == 0 { sum >> words.shift } else { (sum as u64 >> words.shift) as i64 };
    if words.sat { clamp(sum, 32, words.signed) as u32 } else { sum as u32 }
}

/// The low 32 bits, extended by their sign.
#[inline(always)]
fn low_word(value: i64) -> i64 {
    i64::from(value as i32)
}
