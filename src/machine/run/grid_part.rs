//! Parts of a grid: blocks that run by themselves, and the state of the launch that several parts make together.

use std::ops::Range;

use triomphe::Arc;

use crate::machine::state::machine::Machine;

/// Parts that a thread would take if all were as small as the last.
const PARTS_OF_THREAD: u64 = 16;

impl Machine {
    /// The blocks of the parts of the grid that `jobs` threads take one after the other, in order of launch. Each part has a share of the
    /// rest, so that threads whose blocks have more to do take fewer of the last, small ones (guided self-scheduling, Polychronopoulos and
    /// Kuck 1987).
    pub fn parts_of_grid(&self, jobs: u64) -> Vec<Range<u64>> {
        assert!(jobs > 0, "a grid has a part");
        let cluster = self.prepared.cluster_blocks as u64;
        let clusters = self.prepared.blocks / cluster;
        let least = clusters.div_ceil(jobs * PARTS_OF_THREAD);
        let mut start = 0;
        let parts = std::iter::from_fn(|| {
            let rest = clusters - start;
            let part = start..start + (rest / (2 * jobs)).max(least).min(rest);
            start = part.end;
            (rest > 0).then_some(part)
        });
        parts.map(|part| part.start * cluster..part.end * cluster).collect()
    }

    /// The same machine, which has executed nothing, with these blocks of the grid only.
    #[must_use]
    pub fn with_part_of_grid(&self, blocks: Range<u64>) -> Self {
        assert!(self.blocks.is_empty() && self.started == 0, "the launch has begun");
        assert!(blocks.end <= self.prepared.blocks, "the grid has these blocks");
        Self { started: blocks.start, end: blocks.end, ..self.clone() }
    }

    /// Adds what the next part of the grid has done, which has finished: `written` are the bytes of global memory that it has written.
    pub fn join_part(&mut self, part: &Self, start: &Self, written: impl Iterator<Item = Range<u64>>) {
        assert!(part.started == part.end && !part.in_flight.has_copies(), "the part has finished");
        assert!(part.blocks.iter().all(Option::is_none) && self.end <= part.end, "the parts come in order");
        self.device.take_written(&part.device, &start.device, written);
        self.tick += part.tick - start.tick;
        self.thread_instructions += part.thread_instructions - start.thread_instructions;
        self.progress = self.progress.wrapping_add(part.progress.wrapping_sub(start.progress));
        if let (Some(all), Some(coverage)) = (&mut self.coverage, &part.coverage) {
            Arc::make_mut(all).add_part(coverage);
        }
        (self.started, self.end) = (part.end, part.end);
    }
}
