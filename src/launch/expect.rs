//! Comparison of a buffer with what it must hold.

use super::data::DataError;
use super::element::{Element, Kind};
use super::file::Tolerance;
use super::init::Contents;

/// What a buffer must hold at the end of its case.
#[derive(Clone, Debug)]
pub struct Expect {
    /// The elements: bytes or a file.
    pub contents: Contents,
    /// How close each must be.
    pub tolerance: Tolerance,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// How many elements are wrong.
    pub wrong: u64,
    /// The first of them.
    pub first: Vec<Mismatch>,
    /// The first of those that are farthest from what they must be.
    pub worst: Option<Mismatch>,
    /// How far they are from what they must be.
    pub distance: Distance,
}

/// How far elements are from what they must be, and which tolerances would accept all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// The largest difference.
    pub largest: f64,
    /// The smallest absolute tolerance, with the relative one that there is.
    pub absolute: f64,
    /// The smallest relative tolerance, with the absolute one that there is.
    pub relative: f64,
}

impl Distance {
    /// Takes in an element; what is not finite makes everything infinite.
    fn add(&mut self, tolerance: Tolerance, value: f64, expected: f64) {
        let (absolute, relative) = tolerance.bounds();
        let finite = |distance: f64| if distance.is_finite() { distance } else { f64::INFINITY };
        let is_same = value == expected || value.is_nan() && expected.is_nan();
        let distance = if is_same { 0.0 } else { finite((value - expected).abs()) };
        let magnitude = expected.abs();
        let open = (distance - absolute).max(0.0);
        let ratio = if open == 0.0 { 0.0 } else { finite(open / magnitude) };
        self.largest = self.largest.max(distance);
        self.absolute =
            self.absolute.max(raised(finite(distance - relative * magnitude), |bound| bound + relative * magnitude >= distance));
        self.relative = self.relative.max(raised(ratio, |bound| absolute + bound * magnitude >= distance));
    }
}

/// An element that is not what it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Its index.
    pub index: u64,
    /// Its bits.
    pub value: u64,
    /// The bits it must have, or be close to.
    pub expected: u64,
}

impl Expect {
    /// Compares `bytes` bytes of elements, which `read` copies from an offset on, within `tolerance`, and keeps the first `kept`
    /// mismatches.
    ///
    /// # Errors
    /// A file cannot be read any more, or what `read` says.
    pub fn compare<E: From<DataError>>(
        &self,
        element: Element,
        tolerance: Tolerance,
        bytes: u64,
        kept: usize,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Comparison, E> {
        let mut comparison = Comparison::default();
        let mut actual = Vec::new();
        self.contents.fill(bytes, &mut |offset, expected| -> Result<(), E> {
            actual.resize(expected.len(), 0);
            read(offset, &mut actual)?;
            if actual != expected {
                comparison.add_piece(element, tolerance, offset, (&actual, expected), kept);
            }
            Ok(())
        })?;
        Ok(comparison)
    }
}

/// `bound`, or the number a few steps above it that is `enough`: a difference or a quotient may have been rounded down.
fn raised(bound: f64, enough: impl Fn(f64) -> bool) -> f64 {
    const STEPS: usize = 4;
    let above = std::iter::successors(Some(bound), |bound| Some(bound.next_up()));
    above.take(STEPS).find(|bound| enough(*bound)).unwrap_or(bound)
}

impl Comparison {
    fn add_piece(&mut self, element: Element, tolerance: Tolerance, offset: u64, (actual, expected): (&[u8], &[u8]), kept: usize) {
        let size = element.bytes() as usize;
        let first = offset / size as u64;
        for (index, (actual, expected)) in (first..).zip(actual.chunks(size).zip(expected.chunks(size))) {
            let (value, expected) = (element.read(actual), element.read(expected));
            if !tolerance.accepts(element, value, expected) {
                self.wrong += 1;
                let (mismatch, largest) = (Mismatch { index, value, expected }, self.distance.largest);
                self.distance.add(tolerance, element.to_f64(value), element.to_f64(expected));
                if self.worst.is_none() || self.distance.largest > largest {
                    self.worst = Some(mismatch);
                }
                if self.first.len() < kept {
                    self.first.push(mismatch);
                }
            }
        }
    }
}

impl Tolerance {
    /// What it allows on its own, and as a part of the expected magnitude, where both add up.
    fn bounds(self) -> (f64, f64) {
        match self {
            Tolerance::Bits | Tolerance::Ulp(_) | Tolerance::AbsOrRel(..) => (0.0, 0.0),
            Tolerance::Abs(absolute) => (absolute, 0.0),
            Tolerance::Rel(relative) => (0.0, relative),
            Tolerance::AbsPlusRel(absolute, relative) => (absolute, relative),
        }
    }

    /// Whether the element `value` counts as `expected`; both are bits.
    pub fn accepts(self, element: Element, value: u64, expected: u64) -> bool {
        if value == expected || self == Tolerance::Bits {
            return value == expected;
        }
        let (a, b) = (element.to_f64(value), element.to_f64(expected));
        if a.is_nan() || b.is_nan() {
            return a.is_nan() && b.is_nan();
        }
        // The difference of equal infinities is no number, that of others is infinite.
        let distance = if a == b { 0.0 } else { (a - b).abs() };
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

/// How many representable values away `a` is from `b`. The zeros of both signs are one value.
fn steps_between(element: Element, a: u64, b: u64) -> u128 {
    let rank = |bits: u64| match element.kind() {
        Kind::Float => {
            let sign = 1_u64 << (element.bytes() * 8 - 1);
            let magnitude = i128::from(bits & (sign - 1));
            if bits & sign == 0 { magnitude } else { -magnitude }
        }
        _ => element.to_integer(bits),
    };
    rank(a).abs_diff(rank(b))
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

    #[test]
    fn a_comparison_counts_all_and_keeps_the_first() {
        let expect = Expect { contents: Contents::Bytes(vec![0, 1, 2, 3]), tolerance: Tolerance::Bits };
        let actual = [9, 1, 9, 9];
        let read = |offset: u64, out: &mut [u8]| {
            out.copy_from_slice(&actual[offset as usize..][..out.len()]);
            Ok::<(), DataError>(())
        };
        let comparison = expect.compare(Element::U8, expect.tolerance, 4, 2, read).unwrap();
        assert_eq!(comparison.wrong, 3);
        let first = [Mismatch { index: 0, value: 9, expected: 0 }, Mismatch { index: 2, value: 9, expected: 2 }];
        assert_eq!(comparison.first, first);
        assert_eq!(comparison.worst, Some(first[0]), "9 is farther from 0 than from the others");
    }
}
