//! The state of single lanes that others acquire with their clocks.

use super::clock::{BlockClock, CompressedClock, PROXY_KINDS};
use super::operation::ASYNC_KINDS;
use crate::base::lanes::{LaneMask, PerLane};
use crate::base::{Tick, WarpId};

/// The state of a lane that others acquire when it releases it.
#[derive(Clone, Debug)]
pub struct LaneState {
    /// The tick of its last proxy fence plus one, by [`ProxyKind`](super::clock::ProxyKind).
    pub proxy_fenced: [PerLane<Tick>; PROXY_KINDS],
    /// Asynchronous operations issued before these ticks have been waited for, by [`AsyncKind`](super::operation::AsyncKind).
    pub completed: [PerLane<Tick>; ASYNC_KINDS],
}

impl Default for LaneState {
    fn default() -> Self {
        Self { proxy_fenced: [[Tick::START; 32]; PROXY_KINDS], completed: [[Tick::START; 32]; ASYNC_KINDS] }
    }
}

impl LaneState {
    /// Adds the state of `lanes` to `block_clock`.
    pub fn add_to(&self, block_clock: &mut BlockClock, warp: WarpId, lanes: LaneMask, all: LaneMask) {
        let asynchronous = block_clock.asynchronous_mut();
        asynchronous.proxy_fenced.iter_mut().zip(&self.proxy_fenced).for_each(|(own, fenced)| advance_lanes(own, fenced, warp, lanes, all));
        asynchronous.completed.iter_mut().zip(&self.completed).for_each(|(own, completed)| advance_lanes(own, completed, warp, lanes, all));
    }
}

fn advance_lanes(compressed: &mut CompressedClock, ticks: &PerLane<Tick>, warp: WarpId, lanes: LaneMask, all: LaneMask) {
    let first = ticks[lanes.first()];
    if lanes.iter().all(|lane| ticks[lane] == first) {
        if first > Tick::START {
            compressed.advance(warp, lanes, all, first);
        }
        return;
    }
    for lane in lanes.iter().filter(|lane| ticks[*lane] > Tick::START) {
        compressed.advance(warp, LaneMask::of(lane), all, ticks[lane]);
    }
}
