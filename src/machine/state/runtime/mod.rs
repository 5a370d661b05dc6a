//! The state of the device runtime: the output of `printf`, and the heap of `malloc`.

mod format;
mod heap;
mod number;

use std::sync::Arc;

pub use format::{Arguments, print};
pub use heap::Heap;

/// Bytes of output that are kept at most. CUDA's buffer holds arguments, takes 1 MiB by default, and is emptied while the kernel runs: on
/// an H200 a thread loses none of 200,000 lines, and of 32 threads that print at once some are overwritten, whichever the time makes.
const KEPT: usize = 16 << 20;

/// The state of the device runtime; cheap to clone.
#[derive(Clone, Hash)]
pub struct Runtime {
    /// The output of `printf`.
    pub printed: Printed,
    /// Memory for `malloc`.
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

    /// Bytes of the calls after them, made when there were 16 MiB already.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Adds what one call wrote, if there is room for it.
    pub(in crate::machine) fn push(&mut self, bytes: &[u8]) {
        if self.lost > 0 || self.bytes.len() + bytes.len() > KEPT {
            self.lost += bytes.len() as u64;
        } else if !bytes.is_empty() {
            Arc::make_mut(&mut self.bytes).extend_from_slice(bytes);
        }
    }
}

impl Runtime {
    /// Nothing written, and an empty heap from `start` on.
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
