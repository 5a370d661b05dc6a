//! The operation of `atom`, `red` and the reducing copies on one element of memory (PTX ISA, "atom", "cp.reduce.async.bulk").

use crate::isa::{AtomicFn, ScalarType, Space, TensorElement};
use crate::num::float::Float;
use crate::num::{Bf16, F16, atomic};

/// Combines each element of `memory` with the corresponding one of `values`, with the adder of copies.
pub fn all(f: AtomicFn, ty: ScalarType, memory: &mut [u8], values: &[u8]) {
    let function = RmwOperation { f, ty, adder: Adder::Copy };
    let bytes = ty.bytes() as usize;
    assert_eq!(memory.len(), values.len(), "elements without a value");
    assert!(memory.len().is_multiple_of(bytes), "{} bytes are no whole elements of {bytes}", memory.len());
    for (element, value) in memory.chunks_exact_mut(bytes).zip(values.chunks_exact(bytes)) {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let new = function.apply(word(element), word(value), 0);
        element.copy_from_slice(&new.to_le_bytes()[..bytes]);
    }
}

/// Combines elements of a tensor in global memory with those of `values`. Floats of 32 bits, `.tf32` too, are added in full precision, and
/// subnormal numbers are preserved unless the tensor map says otherwise.
pub fn of_tensor(f: AtomicFn, element: TensorElement, memory: &mut [u8], values: &[u8]) {
    use TensorElement as E;
    let ty = match element {
        E::F32 | E::TF32 | E::F32Ftz | E::TF32Ftz => return add_floats(element.is_flushed(), memory, values),
        E::U8 | E::U16 | E::U32 => ScalarType::U32,
        E::S32 => ScalarType::S32,
        E::U64 => ScalarType::U64,
        E::S64 => ScalarType::S64,
        E::F16 => ScalarType::F16,
        E::BF16 => ScalarType::BF16,
        E::F64 => ScalarType::F64,
    };
    all(f, ty, memory, values);
}

fn add_floats(ftz: bool, memory: &mut [u8], values: &[u8]) {
    assert!(memory.len() == values.len() && memory.len().is_multiple_of(4), "{} bytes are no whole floats", memory.len());
    for (element, value) in memory.chunks_exact_mut(4).zip(values.chunks_exact(4)) {
        let float = |bytes: &[u8]| f32::from_bits(bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
        let sum = atomic::add(float(element), float(value), ftz);
        element.copy_from_slice(&sum.to_bits().to_le_bytes());
    }
}

/// The adder of floating-point numbers in memory: an H200 has several, which treat subnormal numbers and NaNs differently. The suite
/// `atomic_float` tests all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adder {
    /// For `atom` and `red` on global memory: `.f32` flushes subnormal operands and results, NaNs of `.f64` are passed unchanged.
    GlobalMemory,
    /// For `atom` and `red` on the block's own shared memory, by whatever address: an ordinary addition that preserves subnormal numbers.
    SharedMemory,
    /// For `atom` and `red` on the shared memory of another block of the cluster: `.f16x2` and `.bf16x2` are added as one 32-bit integer,
    /// which is no addition of halves, but is the behaviour of the code of ptxas 13.0 on an H200.
    OtherBlock,
    /// For `cp.reduce.async.bulk`: subnormal numbers are preserved, NaNs of `.f64` are passed unchanged.
    Copy,
}

impl Adder {
    /// The adder of `atom` and `red` on an element in `space`: `Shared` is the block's own memory, `SharedCluster` that of another block.
    pub fn of(space: Space) -> Self {
        match space {
            Space::Shared => Adder::SharedMemory,
            Space::SharedCluster => Adder::OtherBlock,
            Space::Generic | Space::Global | Space::Const | Space::Local | Space::Param | Space::ParamFunc => Adder::GlobalMemory,
        }
    }
}

/// A read-modify-write operation on one element of up to 64 bits.
#[derive(Clone, Copy)]
pub struct RmwOperation {
    /// The function.
    pub f: AtomicFn,
    /// The type of the element.
    pub ty: ScalarType,
    /// The adder of floating-point numbers.
    pub adder: Adder,
}

impl RmwOperation {
    /// The new value of an element with the value `old`; `c` is for `.cas` alone. All values are zero-extended.
    pub fn apply(self, old: u64, b: u64, c: u64) -> u64 {
        match self.f {
            AtomicFn::And => old & b,
            AtomicFn::Or => old | b,
            AtomicFn::Xor => old ^ b,
            AtomicFn::Exch => b,
            AtomicFn::Cas if old == b => c,
            AtomicFn::Cas => old,
            AtomicFn::Inc => atomic::increment(old, b),
            AtomicFn::Dec => atomic::decrement(old, b),
            AtomicFn::Add | AtomicFn::Min | AtomicFn::Max => self.arithmetic(old, b),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other types are unsigned integers and bits, which are computed with alike")]
    fn arithmetic(self, old: u64, b: u64) -> u64 {
        match self.ty {
            ScalarType::F32 if self.f == AtomicFn::Add && self.adder == Adder::GlobalMemory => {
                atomic::add(f32::from_word(old), f32::from_word(b), true).word()
            }
            ScalarType::F32 => float::<f32>(self.f, old, b),
            ScalarType::F64 if self.f == AtomicFn::Add && matches!(self.adder, Adder::GlobalMemory | Adder::Copy) => {
                atomic::add_in_global_memory(f64::from_bits(old), f64::from_bits(b)).to_bits()
            }
            ScalarType::F64 => float::<f64>(self.f, old, b),
            ScalarType::F16x2 | ScalarType::BF16x2 if self.f == AtomicFn::Add && self.adder == Adder::OtherBlock => {
                u64::from((old as u32).wrapping_add(b as u32))
            }
            ScalarType::F16 => float::<F16>(self.f, old, b),
            ScalarType::BF16 => float::<Bf16>(self.f, old, b),
            ScalarType::F16x2 => pair::<F16>(self.f, old, b),
            ScalarType::BF16x2 => pair::<Bf16>(self.f, old, b),
            ScalarType::S32 => integer(self.f, old as i32, b as i32, i32::wrapping_add) as u64,
            ScalarType::S64 => integer(self.f, old as i64, b as i64, i64::wrapping_add) as u64,
            _ => integer(self.f, old, b, u64::wrapping_add),
        }
    }
}

fn integer<T: Ord>(f: AtomicFn, old: T, b: T, add: impl Fn(T, T) -> T) -> T {
    match f {
        AtomicFn::Min => old.min(b),
        AtomicFn::Max => old.max(b),
        AtomicFn::And | AtomicFn::Or | AtomicFn::Xor | AtomicFn::Cas | AtomicFn::Exch | AtomicFn::Add | AtomicFn::Inc | AtomicFn::Dec => {
            add(old, b)
        }
    }
}

fn float<F: Float>(f: AtomicFn, old: u64, b: u64) -> u64 {
    let (old, b) = (F::from_word(old), F::from_word(b));
    let result = match f {
        AtomicFn::Min => atomic::min(old, b),
        AtomicFn::Max => atomic::max(old, b),
        AtomicFn::And | AtomicFn::Or | AtomicFn::Xor | AtomicFn::Cas | AtomicFn::Exch | AtomicFn::Add | AtomicFn::Inc | AtomicFn::Dec => {
            atomic::add(old, b, false)
        }
    };
    result.word()
}

/// Applies the operation to each of two halves in a word.
fn pair<F: Float>(f: AtomicFn, old: u64, b: u64) -> u64 {
    let [low, high] = [0, 16].map(|shift| float::<F>(f, old >> shift & 0xffff, b >> shift & 0xffff));
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of an H200 in tensors of `.f32` and of `.f32.ftz` elements.
    #[test]
    fn floats_of_tensors_are_added_as_the_hardware_adds_them() {
        let old = [0x0000_0001_u32, 0x807f_ffff, 0x0080_0000, 0x3f80_1001, 0x7f80_0001, 0x7f7f_ffff];
        let new = [0x0000_0001_u32, 0x0000_0001, 0x8080_0001, 0x3f80_1001, 0x3f80_0000, 0x7f7f_ffff];
        let kept = [0x0000_0002, 0x807f_fffe, 0x8000_0001, 0x4000_1001, 0x7fff_ffff, 0x7f80_0000];
        let flushed = [0x0000_0000, 0x0000_0000, 0x8000_0000, 0x4000_1001, 0x7fff_ffff, 0x7f80_0000];
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        use TensorElement as E;
        for (element, expected) in [(E::F32, kept), (E::TF32, kept), (E::F32Ftz, flushed), (E::TF32Ftz, flushed)] {
            let mut memory = bytes(&old);
            of_tensor(AtomicFn::Add, element, &mut memory, &bytes(&new));
            assert_eq!(memory, bytes(&expected), "{element:?}");
        }
    }
}
