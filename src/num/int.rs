//! Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions").
//!
//! The methods of the trait [`Int`] are the instructions. Arithmetic wraps. Results that the manual leaves undefined are as recorded on
//! an H200: the quotient and the remainder of a division by zero are all ones, in every type.

/// An integer type of PTX: `u16 i16 u32 i32 u64 i64`.
pub trait Int: Copy + Ord {
    /// Width in bits.
    const BITS: u32;
    /// True if the top bit is a sign.
    const SIGNED: bool;
    /// The type of the full product, twice as wide.
    type Wide;

    /// `add`.
    fn add(self, b: Self) -> Self;
    /// `sub`.
    fn sub(self, b: Self) -> Self;
    /// `add.sat`: clamps to the range of the type.
    fn add_sat(self, b: Self) -> Self;
    /// `sub.sat`: clamps to the range of the type.
    fn sub_sat(self, b: Self) -> Self;
    /// `mul.lo`: the low half of the product.
    fn mul_lo(self, b: Self) -> Self;
    /// `mul.hi`: the high half of the product.
    fn mul_hi(self, b: Self) -> Self;
    /// `mul.wide`: the whole product.
    fn mul_wide(self, b: Self) -> Self::Wide;
    /// `mad.wide`: the whole product plus `c`.
    fn mad_wide(self, b: Self, c: Self::Wide) -> Self::Wide;
    /// `div`: truncated towards zero; all ones if `b` is zero.
    fn div(self, b: Self) -> Self;
    /// `rem`: has the sign of `self`; all ones if `b` is zero.
    fn rem(self, b: Self) -> Self;
    /// `neg`.
    fn neg(self) -> Self;
    /// `abs` (the standard `abs` would shadow that name, and may panic); the most negative value is unchanged.
    fn magnitude(self) -> Self;
    /// `sad`: `c` plus the distance of `self` and `b`.
    fn sad(self, b: Self, c: Self) -> Self;
    /// `.relu` of `min` and `max`: clamps a negative result to zero.
    fn relu(self) -> Self;
    /// `cnot`: 1 for zero, else 0.
    fn cnot(self) -> Self;
    /// `shl`; counts beyond the width of the type give zero.
    fn shl(self, count: u32) -> Self;
    /// `shr`; counts beyond the width of the type give zero, or the sign in a signed type.
    fn shr(self, count: u32) -> Self;
    /// `bfind`: position of the highest bit that differs from the sign of a signed type, or of the highest one bit of an unsigned
    /// type; all ones if there is none.
    fn bfind(self) -> u32;
    /// `bfind.shiftamt`: the left shift that brings that bit to the top; all ones if there is none.
    fn bfind_shift(self) -> u32;
    /// `bfe`: the field of `length` bits at `position`, sign-extended if the type is signed. A field that reaches beyond the top is
    /// truncated. In the 32-bit types only the low 8 bits of `position` and `length` are used, in the 64-bit ones all.
    fn bfe(self, position: u32, length: u32) -> Self;
    /// `add.cc`, `addc`: sum and carry out.
    fn add_carry(self, b: Self, carry: bool) -> (Self, bool);
    /// `sub.cc` (with `carry` set), `subc`: difference and carry out. A carry of 1, in or out, means "no borrow".
    fn sub_carry(self, b: Self, carry: bool) -> (Self, bool);
}

/// Implements [`Int`] for a primitive type; the arguments are the type, its unsigned counterpart, and the type of twice the width.
macro_rules! int {
    ($t:ty, $unsigned:ty, $wide:ty) => {
        impl Int for $t {
            const BITS: u32 = <$t>::BITS;
            const SIGNED: bool = <$t>::MIN != 0;
            type Wide = $wide;

            #[inline(always)]
            fn add(self, b: Self) -> Self {
                self.wrapping_add(b)
            }
            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                self.wrapping_sub(b)
            }
            #[inline(always)]
            fn add_sat(self, b: Self) -> Self {
                self.saturating_add(b)
            }
            #[inline(always)]
            fn sub_sat(self, b: Self) -> Self {
                self.saturating_sub(b)
            }
            #[inline(always)]
            fn mul_lo(self, b: Self) -> Self {
                self.wrapping_mul(b)
            }
            #[inline(always)]
            fn mul_hi(self, b: Self) -> Self {
                (self.mul_wide(b) >> <$t>::BITS) as $t
            }
            #[inline(always)]
            fn mul_wide(self, b: Self) -> $wide {
                (self as $wide).wrapping_mul(b as $wide)
            }
            #[inline(always)]
            fn mad_wide(self, b: Self, c: $wide) -> $wide {
                self.mul_wide(b).wrapping_add(c)
            }
            #[inline(always)]
            fn div(self, b: Self) -> Self {
                if b == 0 { !0 } else { self.wrapping_div(b) }
            }
            #[inline(always)]
            fn rem(self, b: Self) -> Self {
                if b == 0 { !0 } else { self.wrapping_rem(b) }
            }
            #[inline(always)]
            fn neg(self) -> Self {
                (0 as $t).wrapping_sub(self)
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                let fill = self.sign_fill();
                (self ^ fill).wrapping_sub(fill)
            }
            #[inline(always)]
            fn sad(self, b: Self, c: Self) -> Self {
                c.wrapping_add(self.abs_diff(b) as $t)
            }
            #[inline(always)]
            fn relu(self) -> Self {
                self.max(0)
            }
            #[inline(always)]
            fn cnot(self) -> Self {
                (self == 0) as $t
            }
            #[inline(always)]
            fn shl(self, count: u32) -> Self {
                if count < <$t>::BITS { self << count } else { 0 }
            }
            #[inline(always)]
            fn shr(self, count: u32) -> Self {
                if count < <$t>::BITS { self >> count } else { self.sign_fill() }
            }
            #[inline(always)]
            fn bfind(self) -> u32 {
                // If no bit is found, the number of leading zeros is the width, and the subtraction wraps to all ones.
                (<$t>::BITS - 1).wrapping_sub((self ^ self.sign_fill()).leading_zeros())
            }
            #[inline(always)]
            fn bfind_shift(self) -> u32 {
                let zeros = (self ^ self.sign_fill()).leading_zeros();
                if zeros == <$t>::BITS { !0 } else { zeros }
            }
            #[inline(always)]
            fn bfe(self, position: u32, length: u32) -> Self {
                let (position, length) = if <$t>::BITS == 32 { (position & 0xff, length & 0xff) } else { (position, length) };
                if length == 0 {
                    return 0;
                }
                let field = self.shr(position);
                let unused = <$t>::BITS.saturating_sub(length);
                (field << unused) >> unused
            }
            #[inline(always)]
            fn add_carry(self, b: Self, carry: bool) -> (Self, bool) {
                let (sum, first) = (self as $unsigned).overflowing_add(b as $unsigned);
                let (sum, second) = sum.overflowing_add(carry as $unsigned);
                (sum as $t, first | second)
            }
            #[inline(always)]
            fn sub_carry(self, b: Self, carry: bool) -> (Self, bool) {
                self.add_carry(!b, carry)
            }
        }

        impl Sign for $t {
            #[inline(always)]
            fn sign_fill(self) -> Self {
                if Self::SIGNED { self >> (<$t>::BITS - 1) } else { 0 }
            }
        }
    };
}

/// The sign of an integer, also of an unsigned type.
trait Sign {
    /// All ones for a negative value, else zero.
    fn sign_fill(self) -> Self;
}

int!(u16, u16, u32);
int!(i16, u16, i32);
int!(u32, u32, u64);
int!(i32, u32, i64);
int!(u64, u64, u128);
int!(i64, u64, i128);

/// `mad.hi.sat.s32`: the high half of the product plus `c`, clamped.
#[inline(always)]
pub fn mad_hi_sat(a: i32, b: i32, c: i32) -> i32 {
    a.mul_hi(b).saturating_add(c)
}

/// An integer type of `mul24` and `mad24`: `u32` and `i32`.
pub trait Int24: Int {
    /// `mul24.lo`: the low 32 bits of the 48-bit product of the low 24 bits of both.
    fn mul24_lo(self, b: Self) -> Self;
    /// `mul24.hi`: the high 32 bits of that product.
    fn mul24_hi(self, b: Self) -> Self;
}

/// Implements [`Int24`]: a left and a right shift by 8 extract the low 24 bits and extend their sign.
macro_rules! int24 {
    ($t:ty) => {
        impl Int24 for $t {
            #[inline(always)]
            fn mul24_lo(self, b: Self) -> Self {
                ((self << 8) >> 8).wrapping_mul((b << 8) >> 8)
            }
            #[inline(always)]
            fn mul24_hi(self, b: Self) -> Self {
                (((self << 8) >> 8).mul_wide((b << 8) >> 8) >> 16) as $t
            }
        }
    };
}

int24!(u32);
int24!(i32);

/// `mad24.hi.sat.s32`: `mul24.hi` plus `c`, clamped.
#[inline(always)]
pub fn mad24_hi_sat(a: i32, b: i32, c: i32) -> i32 {
    a.mul24_hi(b).saturating_add(c)
}

/// Applies a function of 16-bit values to both halves of two 32-bit words (`.u16x2`).
#[inline(always)]
pub fn halves_u16(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    let high = f((a >> 16) as u16, (b >> 16) as u16);
    (u32::from(high) << 16) | u32::from(f(a as u16, b as u16))
}

/// Applies a function of signed 16-bit values to both halves of two 32-bit words (`.s16x2`).
#[inline(always)]
pub fn halves_i16(a: u32, b: u32, f: impl Fn(i16, i16) -> i16) -> u32 {
    halves_u16(a, b, |a, b| f(a as i16, b as i16) as u16)
}

/// `dp4a`: the products of the four bytes of `a` and `b`, summed, plus `c`.
#[inline(always)]
pub fn dp4a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let product = |i: u32| byte(a, i, a_signed).wrapping_mul(byte(b, i, b_signed)) as u32;
    c.wrapping_add(product(0)).wrapping_add(product(1)).wrapping_add(product(2)).wrapping_add(product(3))
}

/// `dp2a`: the two halves of `a` times two bytes of `b`, the lower two or (`high`) the upper two, summed, plus `c`.
#[inline(always)]
pub fn dp2a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool, high: bool) -> u32 {
    let b = if high { b >> 16 } else { b };
    let half = |i: u32| if a_signed { i32::from((a >> (16 * i)) as i16) } else { i32::from((a >> (16 * i)) as u16) };
    let product = |i: u32| half(i).wrapping_mul(byte(b, i, b_signed)) as u32;
    c.wrapping_add(product(0)).wrapping_add(product(1))
}

/// Byte `index` of a 32-bit word, extended by its sign if `signed`.
#[inline(always)]
fn byte(word: u32, index: u32, signed: bool) -> i32 {
    let byte = (word >> (8 * index)) as u8;
    if signed { i32::from(byte as i8) } else { i32::from(byte) }
}
