//! Measures how far into its buffers and shared memory a kernel accesses.

use crate::isa::Space;
use crate::machine::{CopyEvent, CopyStage, Event, EventKind, EventMask, LaneMask, MemoryOwner, Observer, WgmmaChange, WgmmaEvent};

/// An observer that records the furthest byte accessed in each buffer and in shared memory.
pub(super) struct ReachObserver<'a> {
    /// Start and end of each buffer.
    pub ranges: Vec<(u64, u64)>,
    /// Bytes of each buffer that the kernel may access; empty if it may access all.
    pub bounds: &'a [u64],
    /// Bytes of each buffer up to the end of the furthest access.
    pub reached: Vec<u64>,
    /// Bytes of all accesses to each buffer together.
    pub accessed: Vec<u64>,
    /// Index of the buffer that was accessed last.
    pub last: usize,
    /// One past the last accessed byte of shared memory.
    pub shared: u64,
    /// True once an access went past its bound.
    pub is_out_of_bounds: bool,
}

impl ReachObserver<'_> {
    fn global(&mut self, start: u64, bytes: u64) {
        let holds = |range: &(u64, u64)| (range.0..range.1).contains(&start);
        if !self.ranges.get(self.last).is_some_and(holds) {
            let Some(found) = self.ranges.iter().position(holds) else { return };
            self.last = found;
        }
        let end = start + bytes - self.ranges[self.last].0;
        self.reached[self.last] = self.reached[self.last].max(end);
        self.accessed[self.last] += bytes;
        self.is_out_of_bounds |= self.bounds.get(self.last).is_some_and(|bound| end > *bound);
    }

    fn range(&mut self, owner: MemoryOwner, address: u64, bytes: u64) {
        match owner {
            MemoryOwner::Global if bytes > 0 => self.global(address, bytes),
            MemoryOwner::Global => {}
            MemoryOwner::Block { .. } => self.shared = self.shared.max(address + bytes),
        }
    }

    fn lanes(&mut self, space: Space, addresses: &[u64], lanes: LaneMask, bytes: u64) {
        match space {
            Space::Global => lanes.iter().for_each(|lane| self.global(addresses[lane], bytes)),
            Space::Shared | Space::SharedCluster => {
                let end = lanes.iter().map(|lane| addresses[lane] + bytes).max();
                self.shared = self.shared.max(end.unwrap_or(0));
            }
            Space::Generic | Space::Const | Space::Local | Space::Param | Space::ParamFunc => {}
        }
    }
}

impl Observer for ReachObserver<'_> {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) => self.lanes(access.space, &access.addresses[..], access.lanes, u64::from(access.bytes)),
            Event::Copy(CopyEvent { copy, lanes, stage: CopyStage::Issued, .. }) => {
                copy.kind.visit_reads(*lanes, |location, bytes| self.range(location.owner, location.address, bytes));
                copy.kind.visit_writes(*lanes, |location, bytes| self.range(location.owner, location.address, bytes));
            }
            Event::Mbarrier(mbarrier) => self.shared = self.shared.max(u64::from(mbarrier.address) + 8),
            Event::Wgmma(WgmmaEvent { change: WgmmaChange::Issued { wgmma, .. }, .. }) => {
                let end = wgmma.reads().map(|(_, end)| u64::from(end)).max();
                self.shared = self.shared.max(end.unwrap_or(0));
            }
            _ => {}
        }
        self.is_out_of_bounds
    }
}
