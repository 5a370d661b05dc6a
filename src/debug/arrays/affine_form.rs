//! Affine forms of numbers and addresses: a constant, and unknown integers times constants.

use smallvec::SmallVec;

/// Maximum number of distinct strides.
const STRIDES_MAX: usize = 8;

/// `offset + step * i + strides[0] * j + strides[1] * k + …` with unknown integers `i`, `j`, `k`.
///
/// The step is the constant that a loop adds in each iteration; the strides are the constants that indices are multiplied with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffineForm {
    /// The constant part.
    pub offset: i64,
    /// A constant that may have been added any number of times; 0 if none.
    pub step: u64,
    /// Constants that unknown integers are multiplied with, in ascending order; never 0.
    pub strides: SmallVec<[u64; 3]>,
    /// True if there were too many strides to distinguish.
    is_full: bool,
}

impl AffineForm {
    /// A constant.
    pub fn constant(value: i64) -> Self {
        Self { offset: value, step: 0, strides: SmallVec::new(), is_full: false }
    }

    /// An unknown number.
    pub fn unknown() -> Self {
        Self::multiple_of(1)
    }

    /// An unknown number without strides, to which none are added.
    pub fn scattered() -> Self {
        Self { is_full: true, ..Self::unknown() }
    }

    /// An unknown multiple of `stride`.
    pub fn multiple_of(stride: u64) -> Self {
        let mut form = Self::constant(0);
        form.add_stride(stride);
        form
    }

    /// The number, if it is a constant.
    pub fn as_constant(&self) -> Option<i64> {
        (self.step == 0 && self.strides.is_empty()).then_some(self.offset)
    }

    /// The greatest power of two that divides the number for all values of the unknown integers.
    pub fn alignment(&self) -> u64 {
        let all = self.strides.iter().fold(self.step | self.offset.unsigned_abs(), |all, stride| all | stride);
        1 << all.trailing_zeros().min(62)
    }

    fn add_stride(&mut self, stride: u64) {
        if stride == 0 || self.is_full {
            return;
        }
        if let Err(at) = self.strides.binary_search(&stride) {
            self.strides.insert(at, stride);
        }
        if self.strides.len() > STRIDES_MAX {
            (self.strides, self.is_full) = (SmallVec::from_slice(&[1]), true);
        }
    }

    fn set_step(&mut self, step: u64) {
        self.step = step;
        if step > 0 {
            self.offset = self.offset.rem_euclid(i64::try_from(step).unwrap_or(i64::MAX));
        }
    }

    /// Joins `other` into it; true if it has changed.
    pub fn join(&mut self, other: &AffineForm) -> bool {
        let before = self.clone();
        other.strides.iter().for_each(|stride| self.add_stride(*stride));
        self.set_step(gcd(gcd(self.step, other.step), self.offset.abs_diff(other.offset)));
        *self != before
    }

    /// The sum of two.
    pub fn plus(&self, other: &AffineForm) -> AffineForm {
        let mut sum = self.clone();
        other.strides.iter().for_each(|stride| sum.add_stride(*stride));
        sum.offset = self.offset.wrapping_add(other.offset);
        sum.set_step(gcd(self.step, other.step));
        sum
    }

    /// Its negation; strides have no sign.
    pub fn negated(&self) -> AffineForm {
        let mut negated = self.clone();
        negated.offset = self.offset.wrapping_neg();
        negated.set_step(self.step);
        negated
    }

    /// The product with a constant. The step of a loop counter becomes the stride of an index.
    pub fn times(&self, factor: i64) -> AffineForm {
        let by = factor.unsigned_abs();
        let mut product = AffineForm::constant(self.offset.wrapping_mul(factor));
        self.strides.iter().for_each(|stride| product.add_stride(stride.wrapping_mul(by)));
        match self.strides.is_empty() {
            true => product.add_stride(self.step.wrapping_mul(by)),
            false => product.set_step(self.step.wrapping_mul(by)),
        }
        product
    }

    /// The product of two.
    pub fn product(&self, other: &AffineForm) -> AffineForm {
        match (self.as_constant(), other.as_constant()) {
            (_, Some(factor)) => self.times(factor),
            (Some(factor), None) => other.times(factor),
            (None, None) => AffineForm::multiple_of(self.alignment().saturating_mul(other.alignment())),
        }
    }
}

/// The greatest common divisor; of 0 and a number, the number.
pub fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::AffineForm;

    #[test]
    fn rows_and_columns_keep_their_strides_apart() {
        let (row, column) = (AffineForm::unknown().times(64), AffineForm::unknown().times(4));
        let address = AffineForm::constant(1024).plus(&row).plus(&column);
        assert_eq!((address.offset, address.step, &address.strides[..]), (1024, 0, &[4, 64][..]));
    }

    #[test]
    fn a_loop_adds_steps_and_not_strides() {
        let mut pointer = AffineForm::constant(1024).plus(&AffineForm::unknown().times(4));
        assert!(pointer.join(&pointer.plus(&AffineForm::constant(256))));
        assert!(!pointer.join(&pointer.plus(&AffineForm::constant(256))));
        assert_eq!((pointer.step, &pointer.strides[..]), (256, &[4][..]));
    }

    #[test]
    fn a_counter_becomes_an_index_when_it_is_multiplied() {
        let mut counter = AffineForm::constant(0);
        assert!(counter.join(&AffineForm::constant(1)));
        assert_eq!(&counter.times(64).strides[..], &[64]);
    }

    #[test]
    fn too_many_strides_are_one() {
        let mut form = AffineForm::constant(0);
        (1..20).for_each(|index| assert!(form.join(&AffineForm::multiple_of(1 << index)) || index > 9));
        assert_eq!(&form.strides[..], &[1]);
    }
}
