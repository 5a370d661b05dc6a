//! Comparison of a buffer with what it must hold.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::data::DataError;
use super::element::{Element, Kind};
use super::file::{Compare, Tolerance};
use super::init::Contents;

/// What a buffer must hold at the end of its case.
#[derive(Clone, Debug)]
pub struct Expect {
    /// The elements: bytes or a file.
    pub contents: Contents,
    /// How close each must be to its expected value.
    pub tolerance: Tolerance,
    /// The expected element with which an element is compared.
    pub compare: Compare,
}

/// The part of a buffer that is compared, and the tolerance.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// Type of its elements.
    pub element: Element,
    /// How close each must be to its expected value.
    pub tolerance: Tolerance,
    /// Its size in bytes.
    pub bytes: u64,
    /// Byte ranges that are not compared, in order of offset: an element with one of these bytes is skipped.
    pub ignored: &'a [Range<u64>],
    /// Byte ranges of unknown value, in order of offset: in the comparison they equal the expected bytes.
    pub unknown: &'a [Range<u64>],
    /// The only byte ranges that are compared, in order of offset: an element with another byte is skipped. Without them all are.
    pub only: Option<&'a [Range<u64>]>,
    /// The number of mismatches that are recorded.
    pub kept: usize,
}

impl Compared<'_> {
    /// True if some byte of element `index` is in `ranges`.
    fn has_byte_in(&self, index: u64, ranges: &[Range<u64>]) -> bool {
        let size = u64::from(self.element.bytes());
        let (start, end) = (index * size, (index + 1) * size);
        overlapping(ranges, start..end).next().is_some()
    }

    /// Replaces the unknown bytes of a chunk that starts at byte `offset` by the expected ones.
    fn fill_unknown(&self, offset: u64, actual: &mut [u8], expected: &[u8]) {
        let chunk = offset..offset + expected.len() as u64;
        for range in overlapping(self.unknown, chunk.clone()) {
            let (start, end) = (range.start.max(chunk.start) - offset, range.end.min(chunk.end) - offset);
            let bytes = start as usize..end as usize;
            actual[bytes.clone()].copy_from_slice(&expected[bytes]);
        }
    }
}

/// The ranges, of sorted `ranges`, that overlap `part`.
fn overlapping(ranges: &[Range<u64>], part: Range<u64>) -> impl Iterator<Item = &Range<u64>> {
    let first = ranges.partition_point(|range| range.end <= part.start);
    ranges[first..].iter().take_while(move |range| range.start < part.end)
}

/// The outcome of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The number of mismatches.
    pub wrong: u64,
    /// The first mismatches.
    pub first: Vec<Mismatch>,
    /// The mismatch with the largest difference; the first of equal ones.
    pub worst: Option<Mismatch>,
    /// Differences from the expected values.
    pub distance: Distance,
}

/// The largest difference from the expected values, and the tolerances that would accept all elements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// The largest difference.
    pub largest: f64,
    /// The smallest sufficient absolute tolerance, with the present relative one.
    pub absolute: f64,
    /// The smallest sufficient relative tolerance, with the present absolute one.
    pub relative: f64,
}

impl Distance {
    /// Adds an element; a difference that is not finite makes the results infinite.
    fn add(&mut self, tolerance: Tolerance, distance: f64, expected: f64) {
        let (absolute, relative) = tolerance.bounds();
        let finite = |distance: f64| if distance.is_finite() { distance } else { f64::INFINITY };
        let distance = finite(distance);
        let magnitude = expected.abs();
        let excess = (distance - absolute).max(0.0);
        let ratio = if excess == 0.0 { 0.0 } else { finite(excess / magnitude) };
        self.largest = self.largest.max(distance);
        self.absolute =
            self.absolute.max(raised(finite(distance - relative * magnitude), |bound| bound + relative * magnitude >= distance));
        self.relative = self.relative.max(raised(ratio, |bound| absolute + bound * magnitude >= distance));
    }
}

/// Sorts ranges and merges those that overlap or are adjacent.
pub fn join_ranges(ranges: &mut Vec<Range<u64>>) {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, range| {
        let merges = next.start <= range.end;
        range.end = if merges { range.end.max(next.end) } else { range.end };
        merges
    });
}

/// An element that differs from its expected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Its index.
    pub index: u64,
    /// Its bits.
    pub value: u64,
    /// The expected bits.
    pub expected: u64,
}

impl Expect {
    /// Compares the elements of a buffer as `compared` says; `read` copies its bytes from an offset on.
    ///
    /// # Errors
    /// A file can no longer be read, or an error of `read`.
    pub fn compare<E: From<DataError>>(
        &self,
        compared: &Compared<'_>,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Comparison, E> {
        let mut comparison = Comparison::default();
        let mut multisets = Multisets::default();
        let mut actual = Vec::new();
        let mut compare = |offset, expected: &[u8]| -> Result<(), E> {
            actual.resize(expected.len(), 0);
            read(offset, &mut actual)?;
            if self.compare == Compare::Index {
                compared.fill_unknown(offset, &mut actual, expected);
            }
            match self.compare {
                Compare::Index if actual == expected => {}
                Compare::Index => comparison.add_chunk(compared, offset, (&actual, expected)),
                Compare::Multiset => multisets.add_chunk(compared, offset, (&actual, expected)),
            }
            Ok(())
        };
        match compared.only {
            None => self.contents.fill(compared.bytes, &mut compare)?,
            // An element may stand anywhere: those of a part have no expected elements.
            Some(_) if self.compare == Compare::Multiset => {}
            Some(parts) => whole_elements(compared.element, parts).try_for_each(|part| self.contents.fill_part(part, &mut compare))?,
        }
        multisets.compare(compared).into_iter().for_each(|mismatch| comparison.add(compared, mismatch));
        Ok(comparison)
    }
}

/// The ranges of the elements that are inside `parts` as a whole.
pub fn whole_elements(element: Element, parts: &[Range<u64>]) -> impl Iterator<Item = Range<u64>> {
    let size = u64::from(element.bytes());
    parts.iter().map(move |part| part.start.next_multiple_of(size)..part.end / size * size).filter(|part| part.start < part.end)
}

/// `bound`, or the first number a few steps above it that `is_enough`: a difference or a quotient may have been rounded down.
fn raised(bound: f64, is_enough: impl Fn(f64) -> bool) -> f64 {
    const STEPS: usize = 4;
    let above = std::iter::successors(Some(bound), |bound| Some(bound.next_up()));
    above.take(STEPS).find(|bound| is_enough(*bound)).unwrap_or(bound)
}

impl Comparison {
    fn add_chunk(&mut self, compared: &Compared<'_>, offset: u64, (actual, expected): (&[u8], &[u8])) {
        let Compared { element, tolerance, .. } = *compared;
        for (index, value, expected) in elements(element, offset, (actual, expected)) {
            if !tolerance.accepts(element, value, expected) && !compared.has_byte_in(index, compared.ignored) {
                self.add(compared, Mismatch { index, value, expected });
            }
        }
    }

    fn add(&mut self, compared: &Compared<'_>, mismatch: Mismatch) {
        let (element, largest) = (compared.element, self.distance.largest);
        self.wrong += 1;
        let distance = distance_of(element, mismatch.value, mismatch.expected);
        self.distance.add(compared.tolerance, distance, element.to_f64(mismatch.expected));
        if self.worst.is_none() || self.distance.largest > largest {
            self.worst = Some(mismatch);
        }
        if self.first.len() < compared.kept {
            self.first.push(mismatch);
        }
    }
}

/// Index, value and expected value of the elements of two chunks that start at byte `offset`.
fn elements<'a>(
    element: Element,
    offset: u64,
    (actual, expected): (&'a [u8], &'a [u8]),
) -> impl Iterator<Item = (u64, u64, u64)> + use<'a> {
    let size = element.bytes() as usize;
    let pairs = actual.chunks(size).zip(expected.chunks(size));
    (offset / size as u64..).zip(pairs).map(move |(index, (actual, expected))| (index, element.read(actual), element.read(expected)))
}

/// The elements of a buffer, and the expected ones, which may be in another order.
#[derive(Default)]
struct Multisets {
    /// Sort key, bits and index of each.
    actual: Vec<(i128, u64, u64)>,
    /// Sort key and bits of each.
    expected: Vec<(i128, u64)>,
}

impl Multisets {
    /// Adds the elements of two chunks. An element with unknown bytes is skipped: it could match any expected one.
    fn add_chunk(&mut self, compared: &Compared<'_>, offset: u64, (actual, expected): (&[u8], &[u8])) {
        let element = compared.element;
        for (index, value, expected) in elements(element, offset, (actual, expected)) {
            if ![compared.ignored, compared.unknown].iter().any(|ranges| compared.has_byte_in(index, ranges)) {
                self.actual.push((sort_key(element, value), value, index));
                self.expected.push((sort_key(element, expected), expected));
            }
        }
    }

    /// A maximum matching of elements and expected ones: the unmatched elements in order of index, each paired with an unmatched
    /// expected one. An element takes, of the expected ones that accept it, the one whose accepted range ends first.
    fn compare(mut self, compared: &Compared<'_>) -> Vec<Mismatch> {
        self.actual.sort_unstable();
        self.expected.sort_unstable();
        let mut accepted: Vec<(Range<usize>, usize)> =
            self.expected.iter().map(|expected| self.accepted(compared, *expected)).zip(0..).collect();
        accepted.sort_unstable_by_key(|(range, _)| range.start);
        let (mut extra, mut missing) = (Vec::new(), Vec::new());
        let mut candidates = BinaryHeap::new();
        let mut rest = accepted.into_iter().peekable();
        for (at, (_, value, index)) in self.actual.iter().enumerate() {
            while let Some((range, expected)) = rest.next_if(|(range, _)| range.start <= at) {
                candidates.push(Reverse((range.end, expected)));
            }
            // An expected element whose range ends here stays unmatched.
            while candidates.peek().is_some_and(|Reverse((end, _))| *end <= at) {
                missing.extend(candidates.pop().map(|Reverse((_, expected))| expected));
            }
            if candidates.pop().is_none() {
                extra.push((*index, *value));
            }
        }
        missing.extend(candidates.into_iter().map(|Reverse((_, expected))| expected).chain(rest.map(|(_, expected)| expected)));
        assert_eq!(extra.len(), missing.len(), "a buffer has as many elements as are expected of it");
        missing.sort_unstable();
        let expected = missing.into_iter().map(|index| self.expected[index].1);
        let mut mismatches: Vec<Mismatch> =
            extra.into_iter().zip(expected).map(|((index, value), expected)| Mismatch { index, value, expected }).collect();
        mismatches.sort_unstable_by_key(|mismatch| mismatch.index);
        mismatches
    }

    /// The range of the sorted elements that are within the tolerance of an expected one.
    fn accepted(&self, compared: &Compared<'_>, (key, expected): (i128, u64)) -> Range<usize> {
        let is_close = |(_, value, _): &(i128, u64, u64)| compared.tolerance.accepts(compared.element, *value, expected);
        let (below, above) = self.actual.split_at(self.actual.partition_point(|(other, value, _)| (*other, *value) < (key, expected)));
        below.partition_point(|element| !is_close(element))..below.len() + above.partition_point(is_close)
    }
}

impl Tolerance {
    /// The absolute and the relative bound, for tolerances in which they add up.
    fn bounds(self) -> (f64, f64) {
        match self {
            Tolerance::Bits | Tolerance::Ulp(_) | Tolerance::AbsOrRel(..) => (0.0, 0.0),
            Tolerance::Abs(absolute) => (absolute, 0.0),
            Tolerance::Rel(relative) => (0.0, relative),
            Tolerance::AbsPlusRel(absolute, relative) => (absolute, relative),
        }
    }

    /// True if the element `value` is close enough to `expected`; both are bits.
    pub fn accepts(self, element: Element, value: u64, expected: u64) -> bool {
        if value == expected || self == Tolerance::Bits {
            return value == expected;
        }
        let (a, b) = (element.to_f64(value), element.to_f64(expected));
        if a.is_nan() || b.is_nan() {
            return a.is_nan() && b.is_nan();
        }
        let distance = distance_of(element, value, expected);
        let within = |bound: f64| distance <= bound && distance.is_finite();
        match self {
            Tolerance::Bits => false,
            Tolerance::Ulp(steps) => steps_between(element, value, expected) <= u128::from(steps),
            Tolerance::Abs(bound) => within(bound),
            Tolerance::Rel(bound) => within(bound * b.abs()),
            Tolerance::AbsOrRel(absolute, relative) => within(absolute) || within(relative * b.abs()),
            Tolerance::AbsPlusRel(absolute, relative) => within(absolute + relative * b.abs()),
        }
    }
}

/// The difference of the numbers `a` and `b`. Integers are not converted before: adjacent ones of more than 53 bits are one float.
fn distance_of(element: Element, a: u64, b: u64) -> f64 {
    if element.kind() != Kind::Float {
        return steps_between(element, a, b) as f64;
    }
    let (a, b) = (element.to_f64(a), element.to_f64(b));
    // The difference of equal infinities is NaN.
    let is_same = a == b || a.is_nan() && b.is_nan();
    if is_same { 0.0 } else { (a - b).abs() }
}

/// The number of representable values from `a` to `b` (ULP distance). The zeros of both signs are one value.
fn steps_between(element: Element, a: u64, b: u64) -> u128 {
    rank(element, a).abs_diff(rank(element, b))
}

/// The index of an element among the values of its type in ascending order; the zeros of both signs are one value.
fn rank(element: Element, bits: u64) -> i128 {
    match element.kind() {
        Kind::Float => {
            let sign = 1_u64 << (element.bytes() * 8 - 1);
            let magnitude = i128::from(bits & (sign - 1));
            if bits & sign == 0 { magnitude } else { -magnitude }
        }
        Kind::Unsigned | Kind::Signed | Kind::Bits => element.to_integer(bits),
    }
}

/// [`rank`], but with NaNs of both signs after all numbers.
fn sort_key(element: Element, bits: u64) -> i128 {
    let rank = rank(element, bits);
    if element.kind() == Kind::Float && element.to_f64(bits).is_nan() { rank.abs() } else { rank }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(tolerance: Tolerance, value: f32, expected: f32) -> bool {
        tolerance.accepts(Element::F32, value.to_bits().into(), expected.to_bits().into())
    }

    #[test]
    fn bits_means_the_same_bits() {
        assert!(accepts(Tolerance::Bits, 1.0, 1.0));
        assert!(!accepts(Tolerance::Bits, 0.0, -0.0));
        assert!(accepts(Tolerance::Bits, f32::NAN, f32::NAN));
        assert!(!Tolerance::Bits.accepts(Element::F32, 0x7fc0_0000, 0x7fff_ffff));
        assert!(Tolerance::Ulp(0).accepts(Element::F32, 0x7fc0_0000, 0x7fff_ffff));
    }

    #[test]
    fn ulp_counts_representable_values() {
        assert!(accepts(Tolerance::Ulp(0), 0.0, -0.0));
        assert!(accepts(Tolerance::Ulp(2), f32::from_bits(1), -f32::from_bits(1)));
        assert!(!accepts(Tolerance::Ulp(1), f32::from_bits(1), -f32::from_bits(1)));
        assert!(accepts(Tolerance::Ulp(1), f32::MAX, f32::INFINITY));
        assert!(Tolerance::Ulp(3).accepts(Element::S32, 2, 0xffff_ffff));
        assert!(!Tolerance::Ulp(2).accepts(Element::S32, 2, 0xffff_ffff));
    }

    #[test]
    fn integers_of_64_bits_are_compared_as_such() {
        let (a, b) = (9_007_199_254_740_993, 9_007_199_254_740_992);
        assert!(!Tolerance::Abs(0.0).accepts(Element::U64, a, b) && Tolerance::Abs(1.0).accepts(Element::U64, a, b));
        assert!(!Tolerance::Abs(0.5).accepts(Element::S64, i64::MAX as u64, i64::MAX as u64 - 1));
    }

    #[test]
    fn absolute_and_relative_bounds_include_their_end() {
        assert!(accepts(Tolerance::Abs(0.5), 1.5, 1.0));
        assert!(!accepts(Tolerance::Abs(0.5), 1.5000001, 1.0));
        assert!(accepts(Tolerance::Rel(0.5), 3.0, 2.0));
        assert!(!accepts(Tolerance::Rel(0.5), 3.0, 1.0));
        assert!(accepts(Tolerance::AbsOrRel(0.1, 0.5), 3.0, 2.0));
        assert!(accepts(Tolerance::AbsOrRel(0.1, 0.0), 0.05, 0.0));
        assert!(!accepts(Tolerance::AbsOrRel(0.1, 0.0), 0.2, 0.0));
        assert!(accepts(Tolerance::AbsPlusRel(0.5, 0.25), 3.0, 2.0));
        assert!(!accepts(Tolerance::AbsPlusRel(0.5, 0.125), 3.0, 2.0));
    }

    #[test]
    fn infinities_and_nans_equal_only_themselves() {
        for tolerance in [Tolerance::Abs(1e300), Tolerance::Rel(1.0)] {
            assert!(accepts(tolerance, f32::INFINITY, f32::INFINITY));
            assert!(!accepts(tolerance, f32::INFINITY, f32::NEG_INFINITY));
            assert!(!accepts(tolerance, f32::INFINITY, 1.0));
            assert!(!accepts(tolerance, f32::NAN, 1.0));
            assert!(accepts(tolerance, f32::NAN, -f32::NAN));
        }
    }

    fn compare(compare: Compare, how: &Compared<'_>, actual: &[u8], expected: &[u8]) -> Comparison {
        let expect = Expect { contents: Contents::Bytes(expected.to_vec()), tolerance: how.tolerance, compare };
        let read = |offset: u64, out: &mut [u8]| {
            out.copy_from_slice(&actual[offset as usize..][..out.len()]);
            Ok::<(), DataError>(())
        };
        expect.compare(how, read).unwrap()
    }

    /// Four elements of this type; two mismatches are recorded.
    fn four(element: Element, tolerance: Tolerance) -> Compared<'static> {
        Compared { element, tolerance, bytes: 4 * u64::from(element.bytes()), ignored: &[], unknown: &[], only: None, kept: 2 }
    }

    fn floats(values: [f32; 4]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn a_comparison_counts_all_and_keeps_the_first() {
        let comparison = compare(Compare::Index, &four(Element::U8, Tolerance::Bits), &[9, 1, 9, 9], &[0, 1, 2, 3]);
        assert_eq!(comparison.wrong, 3);
        let first = [Mismatch { index: 0, value: 9, expected: 0 }, Mismatch { index: 2, value: 9, expected: 2 }];
        assert_eq!(comparison.first, first);
        assert_eq!(comparison.worst, Some(first[0]), "9 is farther from 0 than from the others");
    }

    #[test]
    fn an_element_with_an_ignored_byte_is_not_compared() {
        let wrong = |element: Element, ignored: &[Range<u64>]| {
            let how = Compared { ignored, bytes: 4, ..four(element, Tolerance::Bits) };
            compare(Compare::Index, &how, &[9, 9, 9, 9], &[0, 1, 2, 3]).first.iter().map(|mismatch| mismatch.index).collect::<Vec<_>>()
        };
        assert_eq!(wrong(Element::U8, &[0..1, 2..3]), [1, 3]);
        assert_eq!(wrong(Element::U8, std::slice::from_ref(&(1..4))), [0]);
        assert_eq!(wrong(Element::U16, std::slice::from_ref(&(1..2))), [1]);
        assert!(wrong(Element::U16, std::slice::from_ref(&(1..3))).is_empty());
        assert!(wrong(Element::U32, std::slice::from_ref(&(3..4))).is_empty());
    }

    #[test]
    fn of_an_element_that_is_known_in_part_the_known_bytes_are_compared() {
        let wrong = |element: Element, unknown: &[Range<u64>]| {
            let how = Compared { unknown, bytes: 4, ..four(element, Tolerance::Bits) };
            compare(Compare::Index, &how, &[9, 9, 2, 9], &[0, 1, 2, 3]).first.iter().map(|mismatch| mismatch.value).collect::<Vec<_>>()
        };
        assert_eq!(wrong(Element::U32, std::slice::from_ref(&(1..4))), [0x0302_0109]);
        assert_eq!(wrong(Element::U32, &[0..2, 3..4]), [0_u64; 0]);
        assert_eq!(wrong(Element::U16, &[0..1, 3..4]), [0x0900]);
        assert_eq!(wrong(Element::U32, std::slice::from_ref(&(0..4))), [0_u64; 0]);
    }

    #[test]
    fn a_multiset_has_no_order_and_counts_how_often() {
        let bytes = four(Element::U8, Tolerance::Bits);
        let compared = |actual: [u8; 4], expected: [u8; 4]| {
            let comparison = compare(Compare::Multiset, &bytes, &actual, &expected);
            assert_eq!(comparison.wrong, comparison.first.len() as u64, "two are kept, and no more are wrong");
            comparison.first.iter().map(|wrong| (wrong.index, wrong.value, wrong.expected)).collect::<Vec<_>>()
        };
        assert_eq!(compared([3, 1, 2, 1], [1, 1, 2, 3]), []);
        assert_eq!(compared([3, 1, 2, 2], [1, 1, 2, 3]), [(3, 2, 1)]);
        assert_eq!(compared([7, 1, 0, 3], [1, 1, 2, 3]), [(0, 7, 2), (2, 0, 1)]);
        let ignored =
            compare(Compare::Multiset, &Compared { ignored: std::slice::from_ref(&(0..1)), ..bytes }, &[7, 3, 2, 1], &[0, 1, 2, 3]);
        assert_eq!(ignored, Comparison::default());
    }

    #[test]
    fn elements_of_a_multiset_have_a_tolerance() {
        let within = |tolerance, actual, expected| {
            compare(Compare::Multiset, &four(Element::F32, tolerance), &floats(actual), &floats(expected)).wrong
        };
        assert_eq!(within(Tolerance::Abs(0.5), [-4.25, 2.5, 1.0, 0.0], [0.5, 0.5, 2.0, -4.0]), 0);
        assert_eq!(within(Tolerance::Abs(0.25), [-4.25, 2.5, 1.0, 0.0], [0.5, 0.5, 2.0, -4.0]), 3);
        assert_eq!(within(Tolerance::Ulp(0), [-0.0, f32::NAN, 1.0, 2.0], [2.0, 0.0, 1.0, -f32::NAN]), 0);
        assert_eq!(within(Tolerance::Bits, [-0.0, f32::NAN, 1.0, 2.0], [2.0, 0.0, 1.0, -f32::NAN]), 2);
        // 1 accepts -2 to 4, and 10 accepts -20 to 40: only one of -9 and 5 has an expected element.
        assert_eq!(within(Tolerance::Rel(3.0), [-9.0, 0.5, 1.0, 2.0], [1.0, 1.0, 1.0, 10.0]), 0);
        assert_eq!(within(Tolerance::Rel(3.0), [-9.0, 5.0, 1.0, 2.0], [1.0, 1.0, 1.0, 10.0]), 1);
    }
}
