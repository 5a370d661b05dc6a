//! Bit manipulation (PTX ISA, "Logic and Shift Instructions", and `bfi bmsk szext fns prmt` of the integer chapter).
//!
//! Shifts and `bfe` depend on the type and are methods of [`Int`]. Positions and lengths out of range give the results recorded on an
//! H200.

use super::int::Int;

/// The mode of shifts and lengths of more than 32 bits: `.clamp` or `.wrap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CountMode {
    /// Counts above 32 are taken as 32.
    Clamp,
    /// Only the low 5 bits are used.
    Wrap,
}

impl CountMode {
    /// The count as a number from 0 to 32.
    #[inline(always)]
    fn limit(self, count: u32) -> u32 {
        match self {
            CountMode::Clamp => count.min(32),
            CountMode::Wrap => count & 31,
        }
    }
}

/// `lop3`: bit `i` of the result is bit `4 * a_i + 2 * b_i + c_i` of `lut`.
#[inline(always)]
pub fn lop3(a: u32, b: u32, c: u32, lut: u8) -> u32 {
    let row = |index: u32| 0u32.wrapping_sub(u32::from(lut) >> index & 1);
    let pick = |mask: u32, one: u32, zero: u32| (one & mask) | (zero & !mask);
    let quarter = |index: u32| pick(c, row(index + 1), row(index));
    pick(a, pick(b, quarter(6), quarter(4)), pick(b, quarter(2), quarter(0)))
}

/// `shf.l`: the upper 32 bits of `{high, low}` shifted left.
#[inline(always)]
pub fn shf_left(low: u32, high: u32, count: u32, mode: CountMode) -> u32 {
    ((pair(low, high) << mode.limit(count)) >> 32) as u32
}

/// `shf.r`: the lower 32 bits of `{high, low}` shifted right.
#[inline(always)]
pub fn shf_right(low: u32, high: u32, count: u32, mode: CountMode) -> u32 {
    (pair(low, high) >> mode.limit(count)) as u32
}

#[inline(always)]
fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// `bfi.b32`: the low `length` bits of `field` inserted into `into` at `position`. Only the low 8 bits of `position` and `length` are
/// used; bits beyond the top are dropped.
#[inline(always)]
pub fn bfi_32(field: u32, into: u32, position: u32, length: u32) -> u32 {
    let mask = low_ones(length & 0xff) as u32;
    let (field, mask) = ((field & mask).shl(position & 0xff), mask.shl(position & 0xff));
    field | (into & !mask)
}

/// `bfi.b64`, as [`bfi_32`], but all 32 bits of `position` and `length` are used.
#[inline(always)]
pub fn bfi_64(field: u64, into: u64, position: u32, length: u32) -> u64 {
    let mask = low_ones(length);
    let (field, mask) = ((field & mask).shl(position), mask.shl(position));
    field | (into & !mask)
}

/// `count` ones, at most 64, in the low bits.
#[inline(always)]
fn low_ones(count: u32) -> u64 {
    !(!0u64).shl(count)
}

/// `bmsk`: `length` ones, the lowest at `position`.
#[inline(always)]
pub fn bmsk(position: u32, length: u32, mode: CountMode) -> u32 {
    (low_ones(mode.limit(length)) << mode.limit(position)) as u32
}

/// `szext.u32`: the low `length` bits.
#[inline(always)]
pub fn zero_extend(a: u32, length: u32, mode: CountMode) -> u32 {
    a & low_ones(mode.limit(length)) as u32
}

/// `szext.s32`: the low `length` bits, sign-extended; zero if `length` is 0.
#[inline(always)]
pub fn sign_extend(a: u32, length: u32, mode: CountMode) -> u32 {
    let unused = 32 - mode.limit(length);
    (i64::from((i64::from(a as i32) << unused) as i32) >> unused) as u32
}

/// `fns`: position of the `offset`-th one of `mask` at or above `base` (below for a negative `offset`); for offset 0, `base` itself if
/// that bit is set. All ones if there is none; zero if `offset` is `i32::MIN`.
pub fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    const NONE: u32 = !0;
    if offset == i32::MIN {
        return 0;
    }
    let (step, mut remaining): (i32, u32) = if offset < 0 { (-1, offset.unsigned_abs()) } else { (1, offset.unsigned_abs().max(1)) };
    let mut position = base.min(32) as i32;
    while (0..32).contains(&position) {
        if mask >> position & 1 != 0 {
            remaining -= 1;
            if remaining == 0 {
                return position as u32;
            }
        }
        if offset == 0 {
            return NONE;
        }
        position += step;
    }
    NONE
}

/// `prmt`: each nibble of `selector` picks a byte of `{b, a}`; if the top bit of the nibble is set, that byte's sign is replicated.
#[inline(always)]
pub fn prmt(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = pair(a, b);
    let pick = |index: u32| {
        let nibble = selector >> (4 * index);
        let byte = (bytes >> (8 * (nibble & 7))) as u8;
        let byte = if nibble & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        u32::from(byte) << (8 * index)
    };
    pick(0) | pick(1) | pick(2) | pick(3)
}

/// The modes of `prmt` whose third operand is a number from 0 to 3: each is a table of four selectors of the form without a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrmtMode {
    /// `.f4e`: four bytes upwards from the selected one.
    Forward4,
    /// `.b4e`: four bytes downwards from the selected one, wrapping.
    Backward4,
    /// `.rc8`: the selected byte four times.
    Replicate8,
    /// `.ecl`: the bytes of `a`, those below the selected one replaced by it.
    ClampLeft,
    /// `.ecr`: the bytes of `a`, those above the selected one replaced by it.
    ClampRight,
    /// `.rc16`: the selected half twice; bit 0 of the operand selects it.
    Replicate16,
}

impl PrmtMode {
    /// The selector for the third operand `control`, whose low 2 bits are used.
    #[inline(always)]
    pub fn selector(self, control: u32) -> u32 {
        let row: [u16; 4] = match self {
            PrmtMode::Forward4 => [0x3210, 0x4321, 0x5432, 0x6543],
            PrmtMode::Backward4 => [0x5670, 0x6701, 0x7012, 0x0123],
            PrmtMode::Replicate8 => [0x0000, 0x1111, 0x2222, 0x3333],
            PrmtMode::ClampLeft => [0x3210, 0x3211, 0x3222, 0x3333],
            PrmtMode::ClampRight => [0x0000, 0x1110, 0x2210, 0x3210],
            PrmtMode::Replicate16 => [0x1010, 0x3232, 0x1010, 0x3232],
        };
        u32::from(row[(control & 3) as usize])
    }
}
