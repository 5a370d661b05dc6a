//! Parts of a grid: blocks that run by themselves, and the state of the launch that several parts make together.

use std::ops::Range;

use triomphe::Arc;

use crate::machine::state::machine::Machine;

impl Machine {
    /// The blocks of `count` parts of the grid, in order of launch: as equal as whole clusters allow, none of them empty.
    pub fn parts_of_grid(&self, count: u64) -> Vec<Range<u64>> {
        assert!(count > 0, "a grid has a part");
        let cluster = self.prepared.cluster_blocks as u64;
        let clusters = self.prepared.blocks / cluster;
        let start = |part: u64| clusters * part / count * cluster;
        (0..count).map(|part| start(part)..start(part + 1)).filter(|part| !part.is_empty()).collect()
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
