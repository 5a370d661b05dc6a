//! The swizzle of a tensor copy: permutes units of 16 bytes, and merges adjacent ones to runs.

use crate::isa::Swizzle;

/// Bytes of a swizzle unit.
pub const UNIT: u64 = 16;

/// A run of bytes that are contiguous in both memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRun {
    /// The address in shared memory.
    pub shared: u64,
    /// The address in global memory; `None` outside the tensor.
    pub global: Option<u64>,
    /// The number of bytes.
    pub bytes: u64,
}

impl ByteRun {
    /// True if `next` starts at the end of this run.
    fn continues(&self, next: &ByteRun) -> bool {
        let is_next = |a: u64, b: u64| a.wrapping_add(self.bytes) == b;
        let global = match (self.global, next.global) {
            (Some(a), Some(b)) => is_next(a, b),
            (a, b) => a == b,
        };
        global && is_next(self.shared, next.shared)
    }
}

/// Applies the swizzle, and passes runs of maximal length to `each`.
pub(super) struct SwizzledRuns<F> {
    swizzle: Swizzle,
    each: F,
    pending: Option<ByteRun>,
}

impl<F: FnMut(ByteRun)> SwizzledRuns<F> {
    pub fn new(swizzle: Swizzle, each: F) -> Self {
        Self { swizzle, each, pending: None }
    }

    /// Adds bytes at the unswizzled address `shared`.
    pub fn push(&mut self, shared: u64, global: Option<u64>, bytes: u64) {
        if self.swizzle == Swizzle::None {
            return self.join(ByteRun { shared, global, bytes });
        }
        let mut done = 0;
        while done < bytes {
            let at = shared.wrapping_add(done);
            let part = (UNIT - at % UNIT).min(bytes - done);
            let global = global.map(|address| address.wrapping_add(done));
            self.join(ByteRun { shared: self.swizzle.apply(at), global, bytes: part });
            done += part;
        }
    }

    /// Adds a run at its swizzled address, merged with the last one if possible.
    fn join(&mut self, next: ByteRun) {
        match &mut self.pending {
            _ if next.bytes == 0 => {}
            Some(last) if last.continues(&next) => last.bytes += next.bytes,
            pending => {
                if let Some(last) = pending.replace(next) {
                    (self.each)(last);
                }
            }
        }
    }

    /// Passes on the last run.
    pub fn finish(mut self) {
        if let Some(last) = self.pending.take() {
            (self.each)(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(swizzle: Swizzle, pushed: &[(u64, Option<u64>, u64)]) -> Vec<(u64, Option<u64>, u64)> {
        let mut all = Vec::new();
        let mut runs = SwizzledRuns::new(swizzle, |run: ByteRun| all.push((run.shared, run.global, run.bytes)));
        pushed.iter().for_each(|(shared, global, bytes)| runs.push(*shared, *global, *bytes));
        runs.finish();
        all
    }

    #[test]
    fn neighbours_become_one() {
        let pushed = [(0, Some(0x100), 32), (32, Some(0x120), 16), (48, None, 0), (48, None, 8), (56, None, 8), (64, Some(0x200), 4)];
        assert_eq!(runs(Swizzle::None, &pushed), [(0, Some(0x100), 48), (48, None, 16), (64, Some(0x200), 4)]);
    }

    /// Row 2 of a 128-byte swizzle: units 01234567 go to 23016745, in adjacent pairs.
    #[test]
    fn a_row_is_taken_apart_by_its_swizzle() {
        let pieces = runs(Swizzle::B128, &[(0x100, Some(0x1000), 128)]);
        assert_eq!(pieces, [(0x120, Some(0x1000), 32), (0x100, Some(0x1020), 32), (0x160, Some(0x1040), 32), (0x140, Some(0x1060), 32)]);
    }

    #[test]
    fn bytes_stay_where_they_are_in_their_unit() {
        assert_eq!(runs(Swizzle::B32, &[(0x88, Some(0), 12)]), [(0x98, Some(0), 8), (0x80, Some(8), 4)]);
    }
}
