//! Video instructions. Expectations follow the manual where the recordings do, and the recordings where they do not.

use ptxdbg::num::atomic;
use ptxdbg::num::video::{
    FirstOperation, MultiplyAdd, average, clamp, clamped, clamped_part, extremum, insert, merge, multiply_add, part, shift_count, unclamped,
};

#[test]
fn parts_are_extended_by_their_sign_if_they_have_one() {
    assert_eq!(part(0x80ff_7f01, 24, 8, false), 0x80);
    assert_eq!(part(0x80ff_7f01, 24, 8, true), -0x80);
    assert_eq!(part(0x80ff_7f01, 16, 16, true), 0x80ff - 0x1_0000);
    assert_eq!(part(0x80ff_7f01, 0, 32, false), 0x80ff_7f01);
    assert_eq!(part(0x0102_0304_0506_0708, 56, 8, true), 1, "byte 7 of two words");
}

#[test]
fn the_mean_is_rounded_away_from_minus_infinity_only_above_zero() {
    assert_eq!([average(3, 4), average(-3, -4), average(-3, 4), average(-1, 0)], [4, -4, 1, -1]);
}

#[test]
fn shifts_wrap_or_stop_at_32() {
    assert_eq!([shift_count(35, true), shift_count(35, false), shift_count(-1, false), shift_count(-1, true)], [3, 32, 32, 31]);
}

#[test]
fn results_are_clamped_to_their_type() {
    assert_eq!([clamp(200, 8, true), clamp(-200, 8, true), clamp(-1, 8, false), clamp(300, 8, false)], [127, -128, 0, 255]);
    assert_eq!(clamped(1 << 31, FirstOperation::Sum, true), i64::from(i32::MAX));
    assert_eq!(clamped(-1, FirstOperation::Sum, false), 0);
    assert_eq!(clamped(1 << 32, FirstOperation::Shift, false), -1, "all ones, and a sign that counts when it is compared");
}

#[test]
fn too_large_sums_and_differences_are_not_caught_by_an_unsigned_clamp() {
    assert_eq!(clamped(0x1_0000_0005, FirstOperation::Sum, false), 5);
    assert_eq!(clamped(0x1_0000_0005, FirstOperation::Extremum, false), 0x1_0000_0005);
    assert_eq!(unclamped(0xffff_ffff, FirstOperation::Sum), -1);
    assert_eq!(unclamped(0xffff_ffff, FirstOperation::Extremum), 0xffff_ffff);
}

#[test]
fn a_clamp_to_a_part_takes_negative_results_for_large_ones() {
    assert_eq!(clamped_part(-5, FirstOperation::Sum, true, 8), 0x7f);
    assert_eq!(clamped_part(-5, FirstOperation::Extremum, false, 16), 0xffff);
    assert_eq!(clamped_part(100, FirstOperation::Sum, true, 8), 100);
    assert_eq!(clamped_part(-5, FirstOperation::Shift, true, 8), -5);
}

#[test]
fn the_second_operation_compares_64_bits() {
    assert_eq!(extremum(-2, 0xffff_ffff, false, true), 0xffff_fffe, "a negative result is above every unsigned number");
    assert_eq!(extremum(-2, 0xffff_ffff, true, true), 0xffff_ffff);
    assert_eq!(extremum(7, 3, false, false), 3);
}

#[test]
fn parts_are_put_in_where_they_belong_but_the_upper_half() {
    assert_eq!(merge(0x1234, 0xaaaa_aaaa, 8, 8), 0xaaaa_34aa);
    assert_eq!(merge(0x1234, 0xaaaa_aaaa, 0, 16), 0xaaaa_1234);
    assert_eq!(merge(0x5678_1234, 0xaaaa_aaaa, 16, 16), 0x5678_aaaa, "scalar instructions leave it where it is");
    assert_eq!(insert(0x5678_1234, 0xaaaa_aaaa, 16, 16), 0x1234_aaaa);
}

#[test]
fn products_take_signed_words() {
    let plain = MultiplyAdd { signed: false, negate_product: false, negate_c: false, plus_one: false, sat: false, shift: 0 };
    assert_eq!(multiply_add(3, 4, 5, plain), 17);
    assert_eq!(multiply_add(3, 4, 5, MultiplyAdd { plus_one: true, ..plain }), 18);
    assert_eq!(multiply_add(3, 4, 20, MultiplyAdd { negate_product: true, signed: true, ..plain }), 8);
    assert_eq!(multiply_add(3, 4, 5, MultiplyAdd { negate_c: true, signed: true, ..plain }), 7);
    assert_eq!(multiply_add(3, 4, 0x8000_0000, MultiplyAdd { sat: true, ..plain }), 0, "c counts as negative");
    assert_eq!(multiply_add(1, 0, 0x8000_0000, MultiplyAdd { shift: 7, ..plain }), 0xff00_0000, "of a sign that is not shifted in");
}

#[test]
fn counters_wrap_at_their_limit() {
    assert_eq!([atomic::increment(3, 5), atomic::increment(5, 5), atomic::increment(9, 5)], [4, 0, 0]);
    assert_eq!([atomic::decrement(3, 5), atomic::decrement(0, 5), atomic::decrement(9, 5)], [2, 5, 5]);
}

#[test]
fn global_memory_lets_nans_through() {
    let (signalling, quiet) = (f64::from_bits(0x7ff0_0000_0000_0001), f64::from_bits(0xfff8_0000_0000_0123));
    assert_eq!(atomic::add_in_global_memory(signalling, 1.0).to_bits(), 0x7ff0_0000_0000_0001);
    assert_eq!(atomic::add_in_global_memory(quiet, signalling).to_bits(), 0x7ff0_0000_0000_0001);
    assert_eq!(atomic::add(signalling, 1.0, false).to_bits(), 0x7ff8_0000_0000_0001);
    assert_eq!(atomic::add(quiet, signalling, false).to_bits(), 0xfff8_0000_0000_0123);
    assert_eq!(atomic::add_in_global_memory(1.5, 2.0), 3.5);
}
