//! Records the events of the mbarriers of a block.

use std::collections::BTreeMap;

use crate::machine::{
    Contribution, CopyCompletion, CopyEvent, CopyKind, CopyStage, Event, EventKind, EventMask, MbarrierChange, MbarrierEvent, MemoryOwner,
    Observer, Tick,
};

/// An event of an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineEvent {
    /// An `expect_tx`, or the issue of a copy that will complete on it, at this time.
    Begins(Tick),
    /// The end of the phase with this number.
    Ends(u64),
    /// A successful test for the phase of this parity, at this time.
    Passed(Tick, u32),
}

/// The events of an mbarrier.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// The events in order.
    pub events: Vec<PipelineEvent>,
    /// True if copies complete on it.
    pub is_filled: bool,
}

/// Records the events of the mbarriers of one block.
pub struct Recorder {
    /// The block.
    pub block: [u32; 3],
    /// The mbarriers, by address.
    pub tracks: BTreeMap<u32, Track>,
    /// For each warp, the tick of its first `cp.async` since its last `cp.async.mbarrier.arrive`.
    first_copies: BTreeMap<u32, Tick>,
}

impl Recorder {
    /// A recorder without events.
    pub fn new(block: [u32; 3]) -> Self {
        Self { block, tracks: BTreeMap::new(), first_copies: BTreeMap::new() }
    }

    fn record(&mut self, address: u32, what: PipelineEvent) {
        self.tracks.entry(address).or_default().events.push(what);
    }
}

impl Observer for Recorder {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Copy, EventKind::Mbarrier])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Copy(event) => self.copy(event),
            Event::Mbarrier(event) => self.mbarrier(event),
            _ => {}
        }
        false
    }
}

impl Recorder {
    fn copy(&mut self, event: &CopyEvent<'_>) {
        let (copy, is_of_block) = (event.copy, event.copy.issued.block == self.block);
        match (copy.completion, &copy.kind, event.stage) {
            (CopyCompletion::Group { bulk: false, .. }, CopyKind::CpAsync(_), CopyStage::Issued) if is_of_block => {
                self.first_copies.entry(copy.issued.warp.number()).or_insert(event.tick);
            }
            (CopyCompletion::Mbarrier { owner: MemoryOwner::Block { index, .. }, address, .. }, work, CopyStage::Issued)
                if index == self.block =>
            {
                let begun = if is_of_block && matches!(work, CopyKind::CpAsyncArrive) {
                    self.first_copies.remove(&copy.issued.warp.number())
                } else {
                    None
                };
                self.record(address, PipelineEvent::Begins(begun.unwrap_or(event.tick)));
                self.tracks.entry(address).or_default().is_filled = true;
            }
            _ => {}
        }
    }

    fn mbarrier(&mut self, event: &MbarrierEvent) {
        let (address, time) = (event.address, event.point.tick);
        match event.change {
            _ if event.block != self.block => {}
            MbarrierChange::Initialized(_) => {
                self.tracks.insert(address, Track::default());
            }
            MbarrierChange::Contributed(Contribution::ExpectTx(_)) => self.record(address, PipelineEvent::Begins(time)),
            MbarrierChange::PhaseCompleted(number) => self.record(address, PipelineEvent::Ends(number)),
            MbarrierChange::Tested { parity, completed: true } => self.record(address, PipelineEvent::Passed(time, parity)),
            MbarrierChange::Contributed(_) | MbarrierChange::Tested { completed: false, .. } | MbarrierChange::Invalidated => {}
        }
    }
}
