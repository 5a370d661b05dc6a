//! What `atom`, `red` and the reducing copies do to one element of memory (PTX ISA, "atom", "cp.reduce.async.bulk").

use crate::isa::{AtomicFn, ScalarType, Space};
use crate::num::atomic;
use crate::num::exact::Format;
use crate::num::float::Float;
use crate::num::{Bf16, F16};

/// Combines every element of `memory` with the one of `values` at its place; `global` says that it is global memory.
pub fn all(f: AtomicFn, ty: ScalarType, global: bool, memory: &mut [u8], values: &[u8]) {
    let function = Function { f, ty, space: if global { Space::Global } else { Space::Shared } };
    let bytes = ty.bytes() as usize;
    for (element, value) in memory.chunks_exact_mut(bytes).zip(values.chunks_exact(bytes)) {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let new = function.apply(word(element), word(value), 0);
        element.copy_from_slice(&new.to_le_bytes()[..bytes]);
    }
}

/// A function on one element of up to 64 bits and its operands, zero-extended.
#[derive(Clone, Copy)]
pub struct Function {
    /// What it computes.
    pub f: AtomicFn,
    /// Of what.
    pub ty: ScalarType,
    /// Where the element lies.
    pub space: Space,
}

impl Function {
    /// The new value of an element that is `old`; `c` is for `.cas` alone.
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

    fn arithmetic(self, old: u64, b: u64) -> u64 {
        match self.ty {
            ScalarType::F32 => float::<f32>(self.f, old, b),
            ScalarType::F64 if self.f == AtomicFn::Add && self.space == Space::Global => {
                atomic::add_in_global_memory(f64::from_bits(old), f64::from_bits(b)).to_bits()
            }
            ScalarType::F64 => float::<f64>(self.f, old, b),
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
        _ => add(old, b),
    }
}

fn float<F: Float>(f: AtomicFn, old: u64, b: u64) -> u64 {
    let (old, b) = (F::from_word(old), F::from_word(b));
    let result = match f {
        AtomicFn::Min => atomic::min(old, b),
        AtomicFn::Max => atomic::max(old, b),
        _ => atomic::add(old, b, F::FORMAT == Format::F32),
    };
    result.word()
}

/// Two halves in a word, each for itself.
fn pair<F: Float>(f: AtomicFn, old: u64, b: u64) -> u64 {
    let [low, high] = [0, 16].map(|shift| float::<F>(f, old >> shift & 0xffff, b >> shift & 0xffff));
    high << 16 | low
}
