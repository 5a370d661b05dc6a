//! An observer that keeps the last write to each of some ranges of global memory.

use std::ops::Range;

use crate::isa::Space;
use crate::machine::{AccessKind, CopyStage, Event, EventKind, EventMask, IssuePoint, LaneMask, MemoryOwner, Observer};

/// A write: the instruction, and the lanes whose part of it lies in the range. A copy writes when it ends, on behalf of the lane that
/// issued it.
#[derive(Clone, Copy)]
pub struct LastWrite {
    /// Index of the launch.
    pub launch: usize,
    /// The instruction.
    pub point: IssuePoint,
    /// The lanes.
    pub lanes: LaneMask,
}

/// Keeps the last write to each of some ranges of global memory.
pub struct LastWrites {
    /// The ranges that are watched, by their begin, with their positions in [`Self::writes`].
    ranges: Vec<(Range<u64>, usize)>,
    /// The bytes of the longest range.
    longest: u64,
    /// Index of the launch that runs.
    pub launch: usize,
    /// The last write to each range; none if there was none.
    pub writes: Vec<Option<LastWrite>>,
}

impl LastWrites {
    /// Watches `ranges`: addresses and bytes.
    pub fn new(ranges: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let range = |(index, (address, bytes)): (usize, (u64, u64))| (address..address.saturating_add(bytes), index);
        let mut ranges: Vec<_> = ranges.into_iter().enumerate().map(range).collect();
        ranges.sort_by_key(|(range, _)| range.start);
        let longest = ranges.iter().map(|(range, _)| range.end - range.start).max().unwrap_or(0);
        Self { launch: 0, longest, writes: vec![None; ranges.len()], ranges }
    }

    /// Watches no longer what `is_done` says, by its position.
    pub fn unwatch(&mut self, is_done: impl Fn(usize) -> bool) {
        self.ranges.retain(|(_, index)| !is_done(*index));
    }

    /// True if a range is watched.
    pub fn is_watching(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Records a write of bytes by `lane`.
    fn record(&mut self, address: u64, bytes: u64, point: &IssuePoint, lane: usize) {
        let end = address.saturating_add(bytes);
        let first = self.ranges.partition_point(|(range, _)| range.start.saturating_add(self.longest) <= address);
        let near = self.ranges[first..].iter().take_while(|(range, _)| range.start < end);
        for (_, index) in near.filter(|(range, _)| address < range.end) {
            let others = self.writes[*index].filter(|last| last.point == *point).map_or(LaneMask::NONE, |last| last.lanes);
            self.writes[*index] = Some(LastWrite { launch: self.launch, point: *point, lanes: others | LaneMask::of(lane) });
        }
    }
}

impl Observer for LastWrites {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Copy])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(event) if event.kind != AccessKind::Read && event.space == Space::Global => {
                for lane in event.lanes.iter() {
                    self.record(event.addresses[lane], event.bytes.into(), &event.point, lane);
                }
            }
            Event::Copy(event) if event.stage == CopyStage::Ended => {
                let lane = event.lanes.first();
                event.copy.kind.visit_writes(event.lanes, |to, bytes| {
                    if to.owner == MemoryOwner::Global {
                        self.record(to.address, bytes, &event.copy.issued, lane);
                    }
                });
            }
            _ => {}
        }
        false
    }
}
