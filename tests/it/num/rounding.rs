//! Properties of the directed roundings, against references that share nothing with the implementation.

use proptest::prelude::*;
use ptxdbg::num::exact::Format;
use ptxdbg::num::float::{Float, add, div, fma, mul, sqrt};
use ptxdbg::num::{F16, Mode, Rounding};

fn mode(rounding: Rounding) -> Mode {
    Mode { rounding, ftz: false, sat: false }
}

/// The results downwards, towards zero, to nearest and upwards.
fn all<T>(f: impl Fn(Mode) -> T) -> [T; 4] {
    [Rounding::Down, Rounding::Zero, Rounding::Nearest, Rounding::Up].map(|rounding| f(mode(rounding)))
}

/// Whether four results are in order and no number lies strictly between the outer two.
fn brackets([down, zero, nearest, up]: [f64; 4], next_up: impl Fn(f64) -> f64) -> bool {
    let inward = if down >= 0.0 { down } else { up };
    let adjacent = down == up || next_up(down) == up;
    adjacent && zero == inward && (nearest == down || nearest == up)
}

fn brackets_f32(results: [f32; 4]) -> bool {
    results.iter().any(|x| x.is_nan()) || brackets(results.map(f64::from), |x| f64::from((x as f32).next_up()))
}

fn brackets_f64(results: [f64; 4]) -> bool {
    results.iter().any(|x| x.is_nan()) || brackets(results, f64::next_up)
}

/// Finite numbers of every size, often near the ends of the range and near each other.
fn any_f32() -> impl Strategy<Value = f32> {
    let bits = prop_oneof![any::<u32>(), 0x3f00_0000..0x4080_0000u32, 0..0x0180_0000u32, 0x7f00_0000..0x7f80_0000u32];
    (bits, any::<bool>()).prop_map(|(bits, flip)| f32::from_bits(bits ^ u32::from(flip) << 31)).prop_filter("finite", |x| x.is_finite())
}

fn any_f64() -> impl Strategy<Value = f64> {
    let near_one = 0x3ff0_0000_0000_0000..0x4010_0000_0000_0000u64;
    let bits = prop_oneof![any::<u64>(), near_one, 0..0x0030_0000_0000_0000u64, 0x7fe0_0000_0000_0000..0x7ff0_0000_0000_0000u64];
    (bits, any::<bool>()).prop_map(|(bits, flip)| f64::from_bits(bits ^ u64::from(flip) << 63)).prop_filter("finite", |x| x.is_finite())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn f32_results_bracket_the_exact_one(a in any_f32(), b in any_f32(), c in any_f32()) {
        prop_assert!(brackets_f32(all(|mode| add(a, b, mode))));
        prop_assert!(brackets_f32(all(|mode| mul(a, b, mode))));
        prop_assert!(brackets_f32(all(|mode| fma(a, b, c, mode))));
        prop_assert!(brackets_f32(all(|mode| div(a, b, mode))));
        prop_assert!(brackets_f32(all(|mode| sqrt(a, mode))));
    }

    #[test]
    fn f64_results_bracket_the_exact_one(a in any_f64(), b in any_f64(), c in any_f64()) {
        prop_assert!(brackets_f64(all(|mode| add(a, b, mode))));
        prop_assert!(brackets_f64(all(|mode| mul(a, b, mode))));
        prop_assert!(brackets_f64(all(|mode| fma(a, b, c, mode))));
        prop_assert!(brackets_f64(all(|mode| div(a, b, mode))));
        prop_assert!(brackets_f64(all(|mode| sqrt(a, mode))));
    }

    /// A product of two `f32` is exact in `f64`, and so is the product that a quotient or a root is checked by.
    #[test]
    fn f32_results_lie_on_the_right_side(a in any_f32(), b in any_f32()) {
        let exact = f64::from(a) * f64::from(b);
        let [down, _, _, up] = all(|mode| mul(a, b, mode)).map(f64::from);
        prop_assert!(down <= exact && exact <= up);
        if b != 0.0 {
            let [down, _, _, up] = all(|mode| div(a, b, mode)).map(|q| f64::from(q) * f64::from(b.abs()));
            let dividend = f64::from(a) * f64::from(b.signum());
            prop_assert!(down <= dividend && dividend <= up);
        }
        let [down, _, _, up] = all(|mode| sqrt(a.abs(), mode)).map(f64::from);
        prop_assert!(down * down <= f64::from(a.abs()) && f64::from(a.abs()) <= up * up);
    }

    /// The integer arithmetic that serves the directed roundings, rounded to nearest, must agree with the processor.
    #[test]
    fn exact_arithmetic_agrees_with_the_processor(a in any_f64(), b in any_f64(), c in any_f64()) {
        let exact = |x: f64| Format::F64.unpack(x.to_bits());
        let nearest = |x: ptxdbg::num::exact::Exact| f64::from_bits(x.round(&Format::F64, Rounding::Nearest));
        prop_assert_eq!(nearest(exact(a).sum(exact(b), Rounding::Nearest)), a + b);
        prop_assert_eq!(nearest(exact(a).product(exact(b))), a * b);
        prop_assert_eq!(nearest(exact(a).product(exact(b)).sum(exact(c), Rounding::Nearest)), a.mul_add(b, c));
        if b != 0.0 {
            prop_assert_eq!(nearest(exact(a).quotient(exact(b))), a / b);
        }
        prop_assert_eq!(nearest(exact(a.abs()).square_root()), a.abs().sqrt());
        let narrow = f32::from_bits(exact(a).round(&Format::F32, Rounding::Nearest) as u32);
        prop_assert_eq!(narrow, a as f32);
    }

    #[test]
    fn half_precision_agrees_with_exact_arithmetic(a in any::<u16>(), b in any::<u16>(), c in any::<u16>()) {
        let operands = [a, b, c].map(F16);
        prop_assume!(operands.iter().all(|x| x.is_finite()));
        let [a, b, c] = operands;
        let exact = |x: F16| Format::F16.unpack(x.word());
        let nearest = |x: ptxdbg::num::exact::Exact| x.round(&Format::F16, Rounding::Nearest);
        prop_assert_eq!(add(a, b, Mode::default()).word(), nearest(exact(a).sum(exact(b), Rounding::Nearest)));
        prop_assert_eq!(mul(a, b, Mode::default()).word(), nearest(exact(a).product(exact(b))));
        prop_assert_eq!(fma(a, b, c, Mode::default()).word(), nearest(exact(a).product(exact(b)).sum(exact(c), Rounding::Nearest)));
    }
}

#[test]
fn opposite_zeros_and_cancellation_make_minus_zero_downwards_only() {
    for (a, b) in [(0.0f32, -0.0f32), (1.5, -1.5)] {
        assert_eq!(all(|mode| add(a, b, mode).to_bits()), [0x8000_0000, 0, 0, 0]);
    }
    assert_eq!(all(|mode| add(-0.0f32, -0.0, mode).to_bits()), [0x8000_0000; 4]);
}

#[test]
fn overflow_stops_at_the_largest_number_unless_it_rounds_outwards() {
    let (largest, infinite) = (f32::MAX, f32::INFINITY);
    assert_eq!(all(|mode| mul(largest, 2.0, mode)), [largest, largest, infinite, infinite]);
    assert_eq!(all(|mode| mul(largest, -2.0, mode)), [-infinite, -largest, -infinite, -largest]);
}
