//! Video instructions (PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions").
//!
//! Only `vset` and the SIMD forms without `.add` behave as the manual says. ptxas emulates the others with other instructions; the
//! results are as recorded. If a scalar result is clamped or is an operand of a second operation, the intermediate result matters:
//!
//! - a sum or difference that is not clamped is truncated to its low 32 bits and sign-extended;
//! - a clamp to `.u32` clamps negative results, but too large ones only in shifts and `vmad`;
//! - a clamp to a byte or half takes negative results as too large ones;
//! - a result that is merged into the upper half (`.h1`) is represented by its upper half.

/// The field of `bits` bits of `word` at bit `first`, sign-extended if `signed`.
#[inline(always)]
pub fn part(word: u64, first: u32, bits: u32, signed: bool) -> i64 {
    let unused = 64 - bits;
    let top = word >> first << unused;
    if signed { top as i64 >> unused } else { (top >> unused) as i64 }
}

/// The mean; a half is rounded up if the sum is not negative, and down if it is.
#[inline(always)]
pub fn average(a: i64, b: i64) -> i64 {
    (a + b + i64::from(a + b >= 0)) >> 1
}

/// The count of a shift by `b`: modulo 32 if `wrap`, else at most 32.
#[inline(always)]
pub fn shift_count(b: i64, wrap: bool) -> u32 {
    let b = b as u32;
    if wrap { b & 31 } else { b.min(32) }
}

/// `value` clamped to the range of an integer of `bits` bits.
#[inline(always)]
pub fn clamp(value: i64, bits: u32, signed: bool) -> i64 {
    if signed { value.clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { value.clamp(0, (1 << bits) - 1) }
}

/// The kind of the first operation of a scalar instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstOperation {
    /// A sum or difference.
    Sum,
    /// A minimum, maximum or absolute difference.
    Extremum,
    /// A shift.
    Shift,
}

/// The intermediate result without `.sat`.
#[inline(always)]
pub fn unclamped(value: i64, operation: FirstOperation) -> i64 {
    if operation == FirstOperation::Sum { low_word(value) } else { value }
}

/// The intermediate result with `.sat`, if all of its bits are used; `signed` is the type of the result.
#[inline(always)]
pub fn clamped(value: i64, operation: FirstOperation, signed: bool) -> i64 {
    match operation {
        // Shifts are done in 34 bits.
        FirstOperation::Shift => low_word(clamp(value << 30 >> 30, 32, signed)),
        FirstOperation::Sum | FirstOperation::Extremum if signed => clamp(value, 32, true),
        FirstOperation::Sum => low_word(value.max(0)),
        FirstOperation::Extremum => value.max(0),
    }
}

/// The intermediate result with `.sat`, if `bits` bits of it are inserted into `c`.
#[inline(always)]
pub fn clamped_part(value: i64, operation: FirstOperation, signed: bool, bits: u32) -> i64 {
    if operation == FirstOperation::Shift {
        return clamped(value, operation, signed);
    }
    let most = (1 << (bits - u32::from(signed))) - 1;
    if (0..=most).contains(&value) { value } else { most }
}

/// The minimum or, if `greater`, the maximum of an intermediate result and `c`; `signed` is the type of the result.
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

/// `c` with the low `bits` bits of `value` inserted at bit `first`, as in SIMD instructions.
#[inline(always)]
pub fn insert(value: i64, c: u32, first: u32, bits: u32) -> u32 {
    let mask = u32::MAX >> (32 - bits) << first;
    (value as u32) << first & mask | c & !mask
}

/// `c` with `bits` bits of `value` inserted at bit `first`, as in scalar instructions, which insert the upper half of `value` at `.h1`.
#[inline(always)]
pub fn merge(value: i64, c: u32, first: u32, bits: u32) -> u32 {
    let is_upper_half = (first, bits) == (16, 16);
    insert(if is_upper_half { value >> 16 } else { value }, c, first, bits)
}

/// The signs and the modifiers of a `vmad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiplyAdd {
    /// The sum is signed: a factor is signed, or an operand is negated.
    pub signed: bool,
    /// The product is negated.
    pub negate_product: bool,
    /// `c` is negated.
    pub negate_c: bool,
    /// `.po`
    pub plus_one: bool,
    /// `.sat`
    pub sat: bool,
    /// The sum is shifted right by this many bits.
    pub shift: u32,
}

/// `vmad`. Factors and `c` are taken as signed whatever their types.
#[inline(always)]
pub fn multiply_add(a: i64, b: i64, c: u32, modifiers: MultiplyAdd) -> u32 {
    let product = low_word(a).wrapping_mul(low_word(b));
    let product = if modifiers.negate_product { !product } else { product };
    let c = i64::from(if modifiers.negate_c { !c } else { c } as i32);
    let one = i64::from(modifiers.plus_one || modifiers.negate_product || modifiers.negate_c);
    let sum = product.wrapping_add(c).wrapping_add(one);
    let sum = if modifiers.signed || modifiers.shift == 0 { sum >> modifiers.shift } else { (sum as u64 >> modifiers.shift) as i64 };
    if modifiers.sat { clamp(sum, 32, modifiers.signed) as u32 } else { sum as u32 }
}

/// The low 32 bits, sign-extended.
#[inline(always)]
fn low_word(value: i64) -> i64 {
    i64::from(value as i32)
}
