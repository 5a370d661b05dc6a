//! What happened to the barrier objects of a block, in order.

use std::collections::BTreeMap;

use crate::machine::{AccessEvent, Contribution, CopyEvent, CopyStage, Ends, Home, MbarrierChange, MbarrierEvent, Observer, Phase, Tick, Work};

/// Something that happened to a barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happened {
    /// When.
    pub time: Tick,
    /// What.
    pub what: Happening,
}

/// What can happen to a barrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// Bytes are expected, or a copy that will complete on it is issued.
    Begins,
    /// The copy with this number has completed on it.
    Completed(u64),
    /// Somebody arrived.
    Arrived,
    /// Somebody was told that the phase of this parity has ended.
    Passed(u32),
}

/// All that happened to a barrier object.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// In order.
    pub events: Vec<Happened>,
    /// Whether copies complete on it.
    pub is_filled: bool,
}

impl Track {
    /// Which of the events ended a phase; none if it is not among them.
    pub fn end_of(&self, phase: &Phase) -> Option<usize> {
        let ended = |event: &Happened| match (event.what, phase.last.copy) {
            (Happening::Completed(id), Some(copy)) => id == copy,
            (Happening::Arrived, None) => event.time == phase.ended,
            _ => false,
        };
        self.events.iter().rposition(ended)
    }
}

/// Notes what happens to the barrier objects of one block.
pub struct Recorder {
    /// The slot of the block.
    pub slot: u32,
    /// Its number in order of launch.
    pub number: u64,
    /// The objects, by address.
    pub tracks: BTreeMap<u32, Track>,
    /// When each warp issued the first of the `cp.async` that its next arrival will stand for.
    begun: BTreeMap<u32, Tick>,
}

impl Recorder {
    /// Nothing is noted yet.
    pub fn new(slot: u32, number: u64) -> Self {
        Self { slot, number, tracks: BTreeMap::new(), begun: BTreeMap::new() }
    }

    fn note(&mut self, address: u32, time: Tick, what: Happening) {
        self.tracks.entry(address).or_default().events.push(Happened { time, what });
    }
}

impl Observer for Recorder {
    fn access(&mut self, _: &AccessEvent<'_>) {}

    fn copy(&mut self, event: &CopyEvent<'_>) -> bool {
        let (copy, own) = (event.copy, event.copy.block == self.number);
        match (copy.ends, &copy.work, event.stage) {
            (Ends::Group { bulk: false, .. }, Work::Lanes(_), CopyStage::Issued) if own => {
                self.begun.entry(copy.issued.warp).or_insert(event.tick);
            }
            (Ends::Mbarrier { home: Home::Block { number, .. }, address, .. }, work, stage) if number == self.number => {
                self.tracks.entry(address).or_default().is_filled = true;
                match stage {
                    CopyStage::Issued => {
                        let begun = if own && matches!(work, Work::Arrival) { self.begun.remove(&copy.issued.warp) } else { None };
                        self.note(address, begun.unwrap_or(event.tick), Happening::Begins);
                    }
                    CopyStage::Ended => self.note(address, event.tick, Happening::Completed(copy.id)),
                    CopyStage::Read => {}
                }
            }
            _ => {}
        }
        false
    }

    fn mbarrier(&mut self, event: &MbarrierEvent) {
        if event.slot != self.slot {
            return;
        }
        let (address, time) = (event.address, event.place.tick);
        match event.change {
            MbarrierChange::Made(_) => {
                self.tracks.insert(address, Track::default());
            }
            MbarrierChange::Contributed(Contribution::Expected(_)) => self.note(address, time, Happening::Begins),
            MbarrierChange::Contributed(_) => self.note(address, time, Happening::Arrived),
            MbarrierChange::Asked { parity, ended: true } => self.note(address, time, Happening::Passed(parity)),
            MbarrierChange::Asked { ended: false, .. } | MbarrierChange::Invalidated => {}
        }
    }
}
