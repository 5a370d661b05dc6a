//! Comparison: every relation of numbers below, equal, above, and of NaN.

use ptxdbg::num::compare::{Relation, at_least_zero, holds};

/// For each relation: whether it holds of 1 and 2, of 1 and 1, of 2 and 1, of 1 and NaN.
#[rustfmt::skip]
const TRUTH: &[(Relation, [bool; 4])] = &[
    (Relation::Eq, [false, true, false, false]),
    (Relation::Ne, [true, false, true, false]),
    (Relation::Lt, [true, false, false, false]),
    (Relation::Le, [true, true, false, false]),
    (Relation::Gt, [false, false, true, false]),
    (Relation::Ge, [false, true, true, false]),
    (Relation::Equ, [false, true, false, true]),
    (Relation::Neu, [true, false, true, true]),
    (Relation::Ltu, [true, false, false, true]),
    (Relation::Leu, [true, true, false, true]),
    (Relation::Gtu, [false, false, true, true]),
    (Relation::Geu, [false, true, true, true]),
    (Relation::Num, [true, true, true, false]),
    (Relation::Nan, [false, false, false, true]),
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
