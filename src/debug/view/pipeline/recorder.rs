//! What happened to the mbarriers of a block, in order.

use std::collections::BTreeMap;

use crate::machine::{
    Contribution, CopyCompletion, CopyEvent, CopyKind, CopyStage, Event, EventKind, EventMask, MbarrierChange, MbarrierEvent, MemoryOwner,
    Observer, Tick,
};

/// Something that happened to an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineEvent {
    /// At this time bytes are expected, or a copy that will complete on it is issued.
    Begins(Tick),
    /// The phase with this number has ended.
    Ends(u64),
    /// At this time a test found that the phase of this parity has completed.
    Passed(Tick, u32),
}

/// All that happened to an mbarrier.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// In order.
    pub events: Vec<PipelineEvent>,
    /// Whether copies complete on it.
    pub is_filled: bool,
}

/// Notes what happens to the mbarriers of one block.
pub struct Recorder {
    /// The block.
    pub block: [u32; 3],
    /// The objects, by address.
    pub tracks: BTreeMap<u32, Track>,
    /// When each warp issued the first of the `cp.async` that its next arrival will stand for.
    begun: BTreeMap<u32, Tick>,
}

impl Recorder {
    /// Nothing is recorded yet.
    pub fn new(block: [u32; 3]) -> Self {
        Self { block, tracks: BTreeMap::new(), begun: BTreeMap::new() }
    }

    fn note(&mut self, address: u32, what: PipelineEvent) {
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
        let (copy, own) = (event.copy, event.copy.issued.block == self.block);
        match (copy.ends, &copy.work, event.stage) {
            (CopyCompletion::Group { bulk: false, .. }, CopyKind::CpAsync(_), CopyStage::Issued) if own => {
                self.begun.entry(copy.issued.warp.number()).or_insert(event.tick);
            }
            (CopyCompletion::Mbarrier { owner: MemoryOwner::Block { index, .. }, address, .. }, work, CopyStage::Issued)
                if index == self.block =>
            {
                let begun =
                    if own && matches!(work, CopyKind::CpAsyncArrive) { self.begun.remove(&copy.issued.warp.number()) } else { None };
                self.note(address, PipelineEvent::Begins(begun.unwrap_or(event.tick)));
                self.tracks.entry(address).or_default().is_filled = true;
            }
            _ => {}
        }
    }

    fn mbarrier(&mut self, event: &MbarrierEvent) {
        let (address, time) = (event.address, event.place.tick);
        match event.change {
            _ if event.block != self.block => {}
            MbarrierChange::Made(_) => {
                self.tracks.insert(address, Track::default());
            }
            MbarrierChange::Contributed(Contribution::ExpectTx(_)) => self.note(address, PipelineEvent::Begins(time)),
            MbarrierChange::Ended(number) => self.note(address, PipelineEvent::Ends(number)),
            MbarrierChange::Tested { parity, ended: true } => self.note(address, PipelineEvent::Passed(time, parity)),
            MbarrierChange::Contributed(_) | MbarrierChange::Tested { ended: false, .. } | MbarrierChange::Invalidated => {}
        }
    }
}
