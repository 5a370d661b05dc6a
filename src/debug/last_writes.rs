//! An observer that keeps the last write to each of some ranges of memory.

use std::ops::Range;

use super::focus::Focus;
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

/// Keeps the last write to each of some ranges of one memory.
pub struct LastWrites {
    space: Space,
    /// The block or the thread that owns the memory.
    owner: Focus,
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
    /// Watches `ranges` of global memory: addresses and bytes.
    pub fn new(ranges: impl IntoIterator<Item = (u64, u64)>) -> Self {
        Self::of(Space::Global, Focus::default(), ranges)
    }

    /// Watches `ranges` of memory that `owner` sees: addresses and bytes.
    pub fn of(space: Space, owner: Focus, ranges: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let range = |(index, (address, bytes)): (usize, (u64, u64))| (address..address.saturating_add(bytes), index);
        let mut ranges: Vec<_> = ranges.into_iter().enumerate().map(range).collect();
        ranges.sort_by_key(|(range, _)| range.start);
        let longest = ranges.iter().map(|(range, _)| range.end - range.start).max().unwrap_or(0);
        Self { space, owner, launch: 0, longest, writes: vec![None; ranges.len()], ranges }
    }

    /// Watches no longer what `is_done` says, by its position.
    pub fn unwatch(&mut self, is_done: impl Fn(usize) -> bool) {
        self.ranges.retain(|(_, index)| !is_done(*index));
    }

    /// True if a range is watched.
    pub fn is_watching(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// True if the memory that lanes access is that of the owner.
    fn is_own(&self, point: &IssuePoint, lanes: LaneMask) -> bool {
        let is_thread = || point.warp.number() == self.owner.warp && lanes.contains(self.owner.lane as usize);
        match self.space {
            Space::Shared => point.block == self.owner.block,
            Space::Local => point.block == self.owner.block && is_thread(),
            _ => true,
        }
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
            Event::Access(event)
                if event.kind != AccessKind::Read && event.space == self.space && self.is_own(&event.point, event.lanes) =>
            {
                // The same address of local memory is another place for each lane.
                let lanes = if self.space == Space::Local { event.lanes & self.owner.lane_mask() } else { event.lanes };
                for lane in lanes.iter() {
                    self.record(event.addresses[lane], event.bytes.into(), &event.point, lane);
                }
            }
            Event::Copy(event) if event.stage == CopyStage::Ended => {
                let lane = event.lanes.first();
                event.copy.kind.visit_writes(event.lanes, |to, bytes| {
                    let is_here = match to.owner {
                        MemoryOwner::Global => self.space == Space::Global,
                        MemoryOwner::Block { index, .. } => self.space == Space::Shared && index == self.owner.block,
                    };
                    if is_here {
                        self.record(to.address, bytes, &event.copy.issued, lane);
                    }
                });
            }
            _ => {}
        }
        false
    }
}
