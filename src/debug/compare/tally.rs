//! How many stores each thread has made, and a digest of them in program order.

use std::collections::BTreeMap;

use super::stores::{Store, Thread};
use crate::machine::{Digest, LANES};

/// The stores of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadTally {
    stores: u64,
    digest: Digest,
}

/// The stores of all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Stores.
    pub stores: u64,
    /// Threads that made some.
    pub threads: u64,
}

/// The tallies of all threads, by launch, block and warp.
#[derive(Default)]
pub struct Tallies(BTreeMap<(u32, [u32; 3], u32), Box<[ThreadTally; LANES]>>);

impl Tallies {
    /// Adds a store.
    pub fn add(&mut self, store: &Store) {
        let Thread { launch, block, warp, lane } = store.thread;
        let tally = &mut self.0.entry((launch, block, warp)).or_default()[usize::from(lane)];
        tally.stores += 1;
        store.at.digest(&mut tally.digest);
        tally.digest.word(u64::from(store.bytes) << 1 | u64::from(store.value.is_some()));
        tally.digest.word(store.value.unwrap_or_default());
    }

    /// The sums.
    pub fn total(&self) -> Tally {
        let threads = self.0.values().flat_map(|lanes| lanes.iter()).filter(|tally| tally.stores > 0);
        threads.fold(Tally::default(), |sum, tally| Tally { stores: sum.stores + tally.stores, threads: sum.threads + 1 })
    }

    /// The threads whose stores differ from those of `other`, in order, each with the number of its stores in both together.
    pub fn unequal(&self, other: &Self) -> Vec<(Thread, u64)> {
        let mut warps: Vec<_> = self.0.keys().chain(other.0.keys()).copied().collect();
        warps.sort_unstable();
        warps.dedup();
        let of = |tallies: &Self, warp, lane: usize| tallies.0.get(&warp).map_or(ThreadTally::default(), |lanes| lanes[lane]);
        let pairs = warps.iter().flat_map(|warp| (0..LANES).map(move |lane| (*warp, lane)));
        let unequal = pairs.filter_map(|(warp, lane)| {
            let (own, others) = (of(self, warp, lane), of(other, warp, lane));
            let is_equal = own.stores == others.stores && own.digest.value() == others.digest.value();
            let (launch, block, number) = warp;
            let thread = Thread { launch, block, warp: number, lane: lane as u8 };
            (!is_equal).then(|| (thread, own.stores.saturating_add(others.stores)))
        });
        unequal.collect()
    }
}
