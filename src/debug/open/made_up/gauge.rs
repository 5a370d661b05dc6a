//! What a kernel reaches of its buffers and of shared memory.

use crate::isa::Space;
use crate::machine::{CopyEvent, CopyStage, Event, EventKind, EventMask, LaneMask, MemoryOwner, Observer, WgmmaChange, WgmmaEvent};

/// Measures what a kernel reaches.
pub(super) struct Gauge<'a> {
    /// Start and end of each buffer.
    pub ranges: Vec<(u64, u64)>,
    /// Bytes of each that the kernel may reach; none says that it may reach all.
    pub bounds: &'a [u64],
    /// The bytes of each that were reached.
    pub reached: Vec<u64>,
    /// The buffer that was reached last.
    pub last: usize,
    /// One past the last byte of shared memory.
    pub shared: u64,
    /// Whether it reached more.
    pub is_beyond: bool,
}

impl Gauge<'_> {
    fn global(&mut self, start: u64, bytes: u64) {
        let holds = |range: &(u64, u64)| (range.0..range.1).contains(&start);
        if !self.ranges.get(self.last).is_some_and(holds) {
            let Some(found) = self.ranges.iter().position(holds) else { return };
            self.last = found;
        }
        let end = start + bytes - self.ranges[self.last].0;
        self.reached[self.last] = self.reached[self.last].max(end);
        self.is_beyond |= self.bounds.get(self.last).is_some_and(|bound| end > *bound);
    }

    fn place(&mut self, owner: MemoryOwner, address: u64, bytes: u64) {
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

impl Observer for Gauge<'_> {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) => self.lanes(access.space, &access.addresses[..], access.lanes, u64::from(access.bytes)),
            Event::Copy(CopyEvent { copy, lanes, stage: CopyStage::Issued, .. }) => {
                copy.work.reads(*lanes, |place, bytes| self.place(place.owner, place.address, bytes));
                copy.work.writes(*lanes, |place, bytes| self.place(place.owner, place.address, bytes));
            }
            Event::Mbarrier(object) => self.shared = self.shared.max(u64::from(object.address) + 8),
            Event::Wgmma(WgmmaEvent { change: WgmmaChange::Issued { wgmma, .. }, .. }) => {
                let end = wgmma.reads().map(|(_, end)| u64::from(end)).max();
                self.shared = self.shared.max(end.unwrap_or(0));
            }
            _ => {}
        }
        self.is_beyond
    }
}
