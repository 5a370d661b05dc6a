//! The conversion of many numbers to integers, towards zero.

/// Converts numbers between -2^31 and 2^31, both excluded, to integers by truncation; other numbers become any integers.
pub trait Truncation: Copy {
    /// The integers.
    fn truncated<const N: usize>(self, values: &[f32; N]) -> [i32; N];
}

/// Truncation by the cast of the language, which saturates: some more instructions on x86-64.
#[derive(Clone, Copy)]
pub struct Cast;

impl Truncation for Cast {
    #[inline(always)]
    fn truncated<const N: usize>(self, values: &[f32; N]) -> [i32; N] {
        let mut integers = [0; N];
        for (to, value) in integers.iter_mut().zip(values) {
            *to = *value as i32;
        }
        integers
    }
}

#[cfg(target_arch = "x86_64")]
impl Truncation for pulp::x86::V3 {
    #[inline(always)]
    fn truncated<const N: usize>(self, values: &[f32; N]) -> [i32; N] {
        const { assert!(N.is_multiple_of(8), "the numbers fill vectors") };
        let mut integers = [0; N];
        for (to, eight) in integers.as_chunks_mut::<8>().0.iter_mut().zip(values.as_chunks::<8>().0) {
            *to = pulp::cast(self.avx._mm256_cvttps_epi32(pulp::cast(*eight)));
        }
        integers
    }
}
