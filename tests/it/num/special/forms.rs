//! The forms of the special functions by their opcodes, and the sums by which sweeps over all their arguments are compared.

use ptxdbg::num::{Bf16, F16, special};

/// What a form is a function of, as bits.
#[derive(Clone, Copy)]
pub enum Function {
    /// 32-bit registers, whose place the results take; of a 16-bit form their lower halves.
    Narrow(fn(&mut [u32])),
    /// 64-bit registers.
    Wide(fn(&mut [u64])),
    /// Dividend and divisor.
    Quotient(fn(u32, u32) -> u32),
}

use Function::{Narrow, Quotient, Wide};

/// All forms.
#[rustfmt::skip]
pub const FORMS: &[(&str, Function)] = &[
    ("rcp.approx.f32", Narrow(|words| each(words, #[inline(always)] |x| special::rcp(f32::from_bits(x), false).to_bits()))),
    ("rcp.approx.ftz.f32", Narrow(|words| each(words, #[inline(always)] |x| special::rcp(f32::from_bits(x), true).to_bits()))),
    ("rsqrt.approx.f32", Narrow(|words| each(words, #[inline(always)] |x| special::rsqrt(f32::from_bits(x), false).to_bits()))),
    ("rsqrt.approx.ftz.f32", Narrow(|words| each(words, #[inline(always)] |x| special::rsqrt(f32::from_bits(x), true).to_bits()))),
    ("sqrt.approx.f32", Narrow(|words| each(words, #[inline(always)] |x| special::sqrt(f32::from_bits(x), false).to_bits()))),
    ("sqrt.approx.ftz.f32", Narrow(|words| each(words, #[inline(always)] |x| special::sqrt(f32::from_bits(x), true).to_bits()))),
    ("ex2.approx.f32", Narrow(|words| each(words, #[inline(always)] |x| special::ex2(f32::from_bits(x), false).to_bits()))),
    ("ex2.approx.ftz.f32", Narrow(|words| each(words, #[inline(always)] |x| special::ex2(f32::from_bits(x), true).to_bits()))),
    ("lg2.approx.f32", Narrow(|words| each(words, #[inline(always)] |x| special::lg2(f32::from_bits(x), false).to_bits()))),
    ("lg2.approx.ftz.f32", Narrow(|words| each(words, #[inline(always)] |x| special::lg2(f32::from_bits(x), true).to_bits()))),
    ("sin.approx.f32", Narrow(|words| each(words, #[inline(always)] |x| special::sin(f32::from_bits(x)).to_bits()))),
    ("sin.approx.ftz.f32", Narrow(|words| each(words, #[inline(always)] |x| special::sin(f32::from_bits(x)).to_bits()))),
    ("cos.approx.f32", Narrow(|words| each(words, #[inline(always)] |x| special::cos(f32::from_bits(x)).to_bits()))),
    ("cos.approx.ftz.f32", Narrow(|words| each(words, #[inline(always)] |x| special::cos(f32::from_bits(x)).to_bits()))),
    ("tanh.approx.f32", Narrow(|words| each(words, #[inline(always)] |x| special::tanh(f32::from_bits(x)).to_bits()))),
    ("div.approx.f32", Quotient(|a, b| special::div_approx(f32::from_bits(a), f32::from_bits(b), false).to_bits())),
    ("div.approx.ftz.f32", Quotient(|a, b| special::div_approx(f32::from_bits(a), f32::from_bits(b), true).to_bits())),
    ("div.full.f32", Quotient(|a, b| special::div_full(f32::from_bits(a), f32::from_bits(b), false).to_bits())),
    ("div.full.ftz.f32", Quotient(|a, b| special::div_full(f32::from_bits(a), f32::from_bits(b), true).to_bits())),
    ("rcp.approx.ftz.f64", Wide(|words| each(words, #[inline(always)] |x| special::rcp_f64(f64::from_bits(x)).to_bits()))),
    ("rsqrt.approx.f64", Wide(|words| each(words, #[inline(always)] |x| special::rsqrt_f64(f64::from_bits(x), false).to_bits()))),
    ("rsqrt.approx.ftz.f64", Wide(|words| each(words, #[inline(always)] |x| special::rsqrt_f64(f64::from_bits(x), true).to_bits()))),
    ("ex2.approx.f16", Narrow(|words| each(words, #[inline(always)] |x| special::ex2_f16(F16(x as u16)).0.into()))),
    ("ex2.approx.f16x2", Narrow(|words| each(words, #[inline(always)] |x| halves(x, |x| special::ex2_f16(F16(x)).0)))),
    ("ex2.approx.ftz.bf16", Narrow(|words| each(words, #[inline(always)] |x| special::ex2_bf16(Bf16(x as u16)).0.into()))),
    ("ex2.approx.ftz.bf16x2", Narrow(|words| each(words, #[inline(always)] |x| halves(x, |x| special::ex2_bf16(Bf16(x)).0)))),
    ("tanh.approx.f16", Narrow(|words| each(words, #[inline(always)] |x| special::tanh_f16(F16(x as u16)).0.into()))),
    ("tanh.approx.f16x2", Narrow(|words| each(words, #[inline(always)] |x| halves(x, |x| special::tanh_f16(F16(x)).0)))),
    ("tanh.approx.bf16", Narrow(|words| each(words, #[inline(always)] |x| special::tanh_bf16(Bf16(x as u16)).0.into()))),
    ("tanh.approx.bf16x2", Narrow(|words| each(words, #[inline(always)] |x| halves(x, |x| special::tanh_bf16(Bf16(x)).0)))),
];

/// Replaces every word by what `f` makes of it, with the host's vector instructions.
fn each<T: Copy>(words: &mut [T], f: impl Fn(T) -> T) {
    pulp::Arch::new().dispatch(Each { words, f });
}

struct Each<'a, T, F> {
    words: &'a mut [T],
    f: F,
}

impl<T: Copy, F: Fn(T) -> T> pulp::WithSimd for Each<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        for word in self.words {
            *word = (self.f)(*word);
        }
    }
}

/// Applies a function to both halves of a word.
#[inline(always)]
fn halves(word: u32, f: impl Fn(u16) -> u16) -> u32 {
    u32::from(f((word >> 16) as u16)) << 16 | u32::from(f(word as u16))
}

impl Function {
    /// The sum of chunk `number` of a sweep: of the 65,536 arguments whose upper half it is.
    pub fn chunk_sum(self, number: u32) -> u32 {
        self.sum((0..1 << 16).map(|low| number << 16 | low).collect())
    }

    /// The sum over the arguments with these numbers. Of a 64-bit argument that is the upper word; the lower one has no pattern.
    pub fn sum(self, numbers: Vec<u32>) -> u32 {
        let mut results = numbers.clone();
        match self {
            Narrow(f) => f(&mut results),
            Wide(f) => {
                let mut words: Vec<u64> = numbers.iter().map(|x| u64::from(*x) << 32 | u64::from(random(*x) as u32)).collect();
                f(&mut words);
                results = words.iter().map(|word| mix(*word as u32, (word >> 32) as u32)).collect();
            }
            Quotient(f) => results = numbers.iter().map(|x| f(operands(*x)[0], operands(*x)[1])).collect(),
        }
        pulp::Arch::new().dispatch(Sum { numbers: &numbers, results: &results })
    }
}

/// The sum over all arguments, with the host's vector instructions.
struct Sum<'a> {
    numbers: &'a [u32],
    results: &'a [u32],
}

impl pulp::WithSimd for Sum<'_> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> u32 {
        let mut sum = 0u32;
        for (x, y) in self.numbers.iter().zip(self.results) {
            sum = sum.wrapping_add(mix(*x, *y));
        }
        sum
    }
}

/// Mixes an argument and a result into a number that sums up well.
#[inline(always)]
fn mix(x: u32, y: u32) -> u32 {
    let z = y ^ x.wrapping_mul(0x9e37_79b1);
    let z = (z ^ z >> 16).wrapping_mul(0x7feb_352d);
    let z = (z ^ z >> 15).wrapping_mul(0x846c_a68b);
    z ^ z >> 16
}

/// A number without pattern: SplitMix64 of `x`.
fn random(x: u32) -> u64 {
    let z = u64::from(x).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Dividend and divisor number `x` of a sweep: random bits; in every second pair the divisor's exponent is one of the four lowest or
/// highest, in every fourth the quotient's is close to that of the least or the greatest normal number.
fn operands(x: u32) -> [u32; 2] {
    const EXPONENT: u32 = 0xff << 23;
    let bits = random(x);
    let (mut a, mut b) = (bits as u32, (bits >> 32) as u32);
    let near = (x >> 2 & 7).wrapping_sub(4);
    if x & 1 != 0 {
        b = b & !EXPONENT | near << 23 & EXPONENT;
    } else if x & 2 != 0 {
        let border = if x & 32 != 0 { 127 } else { 129 };
        a = a & !EXPONENT | (b >> 23).wrapping_add(border).wrapping_add(near) << 23 & EXPONENT;
    }
    [a, b]
}

/// CRC-32 (IEEE).
pub fn crc32(bytes: impl Iterator<Item = u8>) -> u32 {
    !bytes
        .fold(!0u32, |crc, byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 != 0 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }))
}
