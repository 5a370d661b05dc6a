//! Initial contents of a buffer, as a rule: its bytes are generated in chunks, so they are never all in memory twice.
//!
//! `Random` uses SplitMix64 (Steele, Lea, Flood 2014): element i is drawn from output i of the generator with the given seed, so
//! the elements do not depend on the chunk, and are the same on every machine.

use std::ops::Range;

use super::data::{DataError, DataRange};
use super::element::{Element, Kind, Number};
use super::pages::{PAGE_BYTES, Pages};

/// Bytes of a chunk; a multiple of every element's size.
const CHUNK_BYTES: u64 = 1 << 20;

/// Receives the chunks of a buffer, each with its offset.
pub type Sink<'a, E> = dyn FnMut(u64, &[u8]) -> Result<(), E> + 'a;

/// The initial or expected contents of a buffer.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Undefined: a read before a write is a finding.
    Uninit,
    /// Every byte this value, so memory that is not accessed is not allocated.
    Byte(u8),
    /// Elements computed from their index.
    Generated(Element, Generator),
    /// These bytes.
    Bytes(Vec<u8>),
    /// Bytes of a file.
    File(DataRange),
    /// Some pages, in a file; the others are unknown.
    Pages(Pages),
}

/// The rule that computes an element from its index.
#[derive(Clone, Copy, Debug)]
pub enum Generator {
    /// The same bits for all.
    Fill(u64),
    /// start + i * step, exact for integers, which wrap.
    Iota(Number, Number),
    /// Evenly distributed between two bounds.
    Random {
        /// The generator's seed.
        seed: u64,
        /// The smallest value.
        low: Number,
        /// The largest value.
        high: Number,
    },
}

impl Contents {
    /// Passes the first `bytes` bytes to `sink`, in order, in chunks with their offsets. `Uninit` and `Byte` pass nothing: they are a
    /// property of the allocation.
    ///
    /// # Errors
    /// A file can no longer be read, or an error of `sink`.
    pub fn fill<E: From<DataError>>(&self, bytes: u64, sink: &mut Sink<'_, E>) -> Result<(), E> {
        match self {
            Contents::Uninit | Contents::Byte(_) => Ok(()),
            Contents::Bytes(all) => sink(0, all),
            Contents::Generated(element, generator) => for_each_chunk(bytes, |offset, chunk| {
                generator.generate(*element, offset / u64::from(element.bytes()), chunk);
                sink(offset, chunk)
            }),
            Contents::Pages(pages) => pages.fill(bytes, sink),
            Contents::File(range) => for_each_chunk(bytes, |offset, chunk| {
                range.read(offset, chunk)?;
                sink(offset, chunk)
            }),
        }
    }
}

impl Contents {
    /// Bytes of a file that the first `bytes` bytes come from, 0 if they are no file.
    pub fn file_bytes(&self, bytes: u64) -> u64 {
        match self {
            Contents::Uninit | Contents::Byte(_) | Contents::Generated(..) | Contents::Bytes(_) => 0,
            Contents::File(_) => bytes,
            Contents::Pages(pages) => pages.offsets.len() as u64 * PAGE_BYTES,
        }
    }

    /// The number of bytes of `part` that [`Self::fill_part`] passes.
    pub fn known_bytes(&self, part: &Range<u64>) -> u64 {
        match self {
            Contents::Uninit | Contents::Byte(_) => 0,
            Contents::Generated(..) | Contents::Bytes(_) | Contents::File(_) => part.end - part.start,
            Contents::Pages(pages) => pages.known_bytes(part),
        }
    }

    /// Passes the bytes of `part`, whose ends are multiples of the size of an element, to `sink`, in order, in chunks with their offsets;
    /// of pages those that are there. `Uninit` and `Byte` pass nothing.
    ///
    /// # Errors
    /// A file can no longer be read, or an error of `sink`.
    pub fn fill_part<E: From<DataError>>(&self, part: Range<u64>, sink: &mut Sink<'_, E>) -> Result<(), E> {
        assert!(part.start <= part.end, "a part from {} to {}", part.start, part.end);
        let first = part.start;
        match self {
            Contents::Uninit | Contents::Byte(_) => Ok(()),
            Contents::Bytes(all) => sink(first, &all[first as usize..part.end as usize]),
            Contents::Generated(element, generator) => for_each_chunk(part.end - first, |offset, chunk| {
                generator.generate(*element, (first + offset) / u64::from(element.bytes()), chunk);
                sink(first + offset, chunk)
            }),
            Contents::Pages(pages) => pages.fill_part(part, sink),
            Contents::File(range) => for_each_chunk(part.end - first, |offset, chunk| {
                range.read(first + offset, chunk)?;
                sink(first + offset, chunk)
            }),
        }
    }
}

/// Calls `each` for every chunk of `bytes` bytes with its offset and a scratch buffer of its size.
pub fn for_each_chunk<E>(bytes: u64, mut each: impl FnMut(u64, &mut [u8]) -> Result<(), E>) -> Result<(), E> {
    let mut scratch = vec![0; bytes.min(CHUNK_BYTES) as usize];
    let mut offset = 0;
    while offset < bytes {
        let len = (bytes - offset).min(CHUNK_BYTES) as usize;
        each(offset, &mut scratch[..len])?;
        offset += len as u64;
    }
    Ok(())
}

impl Generator {
    /// Writes the elements from index `first` on into `chunk`.
    fn generate(&self, element: Element, first: u64, chunk: &mut [u8]) {
        let size = element.bytes() as usize;
        for (index, out) in (first..).zip(chunk.chunks_exact_mut(size)) {
            out.copy_from_slice(&self.element(element, index).to_le_bytes()[..size]);
        }
    }

    /// The bits of element `index`.
    fn element(&self, element: Element, index: u64) -> u64 {
        match *self {
            Generator::Fill(bits) => bits,
            Generator::Iota(Number::Integer(start), Number::Integer(step)) if element.kind() != Kind::Float => {
                element.wrap(start.wrapping_add(step.wrapping_mul(i128::from(index))))
            }
            Generator::Iota(start, step) => element.encode_float(start.to_f64() + step.to_f64() * index as f64),
            Generator::Random { seed, low, high } => random(element, split_mix(seed, index), low, high),
        }
    }
}

/// Output `index` of SplitMix64 with this seed.
fn split_mix(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 64 random bits as an element between the bounds: `low..=high` for integers, `low..high` before rounding for floats.
fn random(element: Element, bits: u64, low: Number, high: Number) -> u64 {
    match (low, high) {
        (Number::Integer(low), Number::Integer(high)) if element.kind() != Kind::Float => {
            let choices = (high - low) as u128 + 1;
            element.wrap(low + ((u128::from(bits) * choices) >> 64).cast_signed())
        }
        _ => {
            let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64;
            let (low, high) = (low.to_f64(), high.to_f64());
            element.encode_float(low * (1.0 - unit) + high * unit)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(contents: &Contents, bytes: u64) -> Vec<u8> {
        let mut all = vec![0; bytes as usize];
        let filled: Result<(), DataError> = contents.fill(bytes, &mut |offset, chunk| {
            all[offset as usize..offset as usize + chunk.len()].copy_from_slice(chunk);
            Ok(())
        });
        filled.unwrap();
        all
    }

    #[test]
    fn split_mix_is_the_published_generator() {
        // The first outputs for seed 1234567, as in the reference implementation's test.
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([0, 1, 2].map(|index| split_mix(1_234_567, index)), expected);
    }

    #[test]
    fn iota_counts_and_wraps() {
        let integer = Number::Integer;
        let contents = Contents::Generated(Element::U8, Generator::Iota(integer(250), integer(3)));
        assert_eq!(bytes(&contents, 4), [250, 253, 0, 3]);
        let contents = Contents::Generated(Element::F32, Generator::Iota(Number::Float(0.5), integer(-1)));
        assert_eq!(bytes(&contents, 8), [0.5_f32.to_le_bytes(), (-0.5_f32).to_le_bytes()].concat());
    }

    #[test]
    fn random_numbers_stay_between_the_bounds_and_reach_them() {
        let recipe = Generator::Random { seed: 7, low: Number::Integer(-1), high: Number::Integer(1) };
        let drawn: Vec<i128> = (0..100).map(|index| Element::S16.to_integer(recipe.element(Element::S16, index))).collect();
        assert_eq!(drawn.iter().min(), Some(&-1));
        assert_eq!(drawn.iter().max(), Some(&1));
        let all = Generator::Random { seed: 7, low: Number::Integer(0), high: Number::Integer(u64::MAX.into()) };
        assert_eq!(all.element(Element::U64, 5), split_mix(7, 5));
        let floats = Generator::Random { seed: 7, low: Number::Integer(-1), high: Number::Integer(1) };
        assert!((0..100).map(|index| Element::F32.to_f64(floats.element(Element::F32, index))).all(|value| value.abs() <= 1.0));
    }

    #[test]
    fn chunks_are_contiguous() {
        let contents = Contents::Generated(Element::U32, Generator::Iota(Number::Integer(0), Number::Integer(1)));
        let all = bytes(&contents, CHUNK_BYTES * 2 + 12);
        for (index, element) in all.chunks_exact(4).enumerate() {
            assert_eq!(Element::U32.read(element), index as u64);
        }
    }

    #[test]
    fn constant_contents_write_nothing() {
        assert_eq!(bytes(&Contents::Byte(7), 4), [0; 4]);
        assert_eq!(bytes(&Contents::Uninit, 4), [0; 4]);
    }
}
