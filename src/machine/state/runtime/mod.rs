//! The state of the device runtime: the output of `printf`, and the heap of `malloc`.

mod format;
mod heap;
mod number;

use std::sync::Arc;

pub use format::{Arguments, print};
pub use heap::Heap;

/// The conversions of `printf`, for texts that are printed as kernels print them.
pub mod printf {
    pub use super::format::{Spec, padded, read_spec};
    pub use super::number::{float, integer};
}

/// The maximum size of the output. CUDA's buffer holds arguments, 1 MiB by default, and is drained while the kernel runs: on an H200 a
/// single thread loses none of 200,000 lines, and 32 threads that print at once overwrite some, nondeterministically.
const OUTPUT_LIMIT: usize = 16 << 20;

/// The state of the device runtime; cheap to clone.
#[derive(Clone, Hash)]
pub struct Runtime {
    /// The output of `printf`.
    pub printed: Printed,
    /// The heap of `malloc`.
    pub heap: Heap,
}

/// The output of `printf`, in the order of execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Printed {
    bytes: Arc<Vec<u8>>,
    lost: u64,
}

impl Printed {
    /// The bytes, from the first launch on.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of later calls, which were dropped since the output had its maximum size.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Appends the output of one call, if it fits.
    pub(in crate::machine) fn push(&mut self, bytes: &[u8]) {
        if self.lost > 0 || self.bytes.len() + bytes.len() > OUTPUT_LIMIT {
            self.lost += bytes.len() as u64;
        } else if !bytes.is_empty() {
            Arc::make_mut(&mut self.bytes).extend_from_slice(bytes);
        }
    }
}

impl Runtime {
    /// Without output, and with an empty heap at `start`.
    pub(in crate::machine) fn new(start: u64) -> Self {
        Self { printed: Printed::default(), heap: Heap::new(start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_kept_whole_or_not_at_all() {
        let mut printed = Printed::default();
        let line = vec![b'x'; (1 << 20) - 1];
        (0..16).for_each(|_| printed.push(&line));
        assert_eq!((printed.bytes().len(), printed.lost()), (16 * line.len(), 0));
        printed.push(&[b'y'; 17]);
        printed.push(b"z");
        assert_eq!((printed.bytes().last(), printed.lost()), (Some(&b'x'), 18));
    }
}
