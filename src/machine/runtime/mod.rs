//! What the device runtime keeps for kernels: the output of `printf`, and the heap of `malloc`.

mod format;
mod heap;
mod number;

use std::sync::Arc;

pub use format::{Arguments, print};
pub use heap::Heap;

use super::digest::Digest;

/// Bytes of output that are kept, the size of CUDA's buffer by default.
const KEPT: usize = 1 << 20;

/// The state of the device runtime; cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    /// What `printf` wrote.
    pub printed: Printed,
    /// Memory for `malloc`.
    pub heap: Heap,
}

/// What `printf` wrote, in the order of execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    bytes: Arc<Vec<u8>>,
    lost: u64,
}

impl Printed {
    /// The bytes, from the first launch on.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes that found no room behind them: a buffer takes 1 MiB.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Adds what one call wrote, as far as there is room.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = KEPT - self.bytes.len();
        let kept = bytes.len().min(room);
        if kept > 0 {
            Arc::make_mut(&mut self.bytes).extend_from_slice(&bytes[..kept]);
        }
        self.lost += (bytes.len() - kept) as u64;
    }
}

impl Runtime {
    /// Nothing written, and an empty heap from `start` on.
    pub(super) fn new(start: u64) -> Self {
        Self { printed: Printed::default(), heap: Heap::new(start) }
    }

    /// Adds everything to `digest`.
    pub(super) fn digest(&self, digest: &mut Digest) {
        digest.bytes(self.printed.bytes());
        digest.word(self.printed.lost);
        self.heap.digest(digest);
    }
}
