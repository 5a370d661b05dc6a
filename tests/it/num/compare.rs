//! Comparison: every relation of numbers below, equal, above, and of NaN.

use ptxdbg::num::compare::{Compare, at_least_zero, holds};

/// For each relation: whether it holds of 1 and 2, of 1 and 1, of 2 and 1, of 1 and NaN.
#[rustfmt::skip]
const TRUTH: &[(Compare, [bool; 4])] = &[
    (Compare::Eq, [false, true, false, false]),
    (Compare::Ne, [true, false, true, false]),
    (Compare::Lt, [true, false, false, false]),
    (Compare::Le, [true, true, false, false]),
    (Compare::Gt, [false, false, true, false]),
    (Compare::Ge, [false, true, true, false]),
    (Compare::Equ, [false, true, false, true]),
    (Compare::Neu, [true, false, true, true]),
    (Compare::Ltu, [true, false, false, true]),
    (Compare::Leu, [true, true, false, true]),
    (Compare::Gtu, [false, false, true, true]),
    (Compare::Geu, [false, true, true, true]),
    (Compare::Num, [true, true, true, false]),
    (Compare::Nan, [false, false, false, true]),
];

#[test]
fn relations() {
    for &(relation, expected) in TRUTH {
        let got = [(1.0, 2.0), (1.0, 1.0), (2.0, 1.0), (1.0, f64::NAN)].map(|(a, b)| holds(relation, a, b));
        assert_eq!(got, expected, "{relation:?}");
        let of_integers = [(-1, 2), (-1, -1), (2, -1)].map(|(a, b)| holds(relation, a, b));
        assert_eq!(of_integers, expected[..3], "{relation:?}");
        assert_eq!(holds(relation, 0.0, -0.0), expected[1], "{relation:?} of zeros");
        assert_eq!(holds(relation, f32::NAN, 1.0), expected[3], "{relation:?} of NaN first");
    }
}

#[test]
fn slct_takes_minus_zero_and_with_ftz_a_negative_subnormal_for_positive() {
    let subnormal = -f32::from_bits(1);
    assert_eq!([0.0, -0.0, subnormal, -1.0, f32::NAN].map(|c| at_least_zero(c, false)), [true, true, false, false, false]);
    assert!(at_least_zero(subnormal, true));
}
