//! The snapshots of a run: clones of the machine.
//!
//! A snapshot is due every [`INTERVAL`] ticks, at the start of every launch and after every input. Above a memory limit, snapshots are
//! removed: first the one with the smallest gap between its neighbours relative to its distance from the present, so that snapshots are
//! dense near the present and sparse far from it.

use std::collections::BTreeMap;

use crate::machine::{Machine, Tick};

/// Ticks between two snapshots. Executing that many takes a few milliseconds, cloning a machine a few dozen microseconds.
pub const INTERVAL: u64 = 1 << 16;

/// Most snapshots, however small they are.
const COUNT_MAX: usize = 4096;

/// Default limit for the bytes of all snapshots.
pub const MEMORY: u64 = 512 << 20;

/// A machine with its position in the run.
#[derive(Clone)]
pub struct Snapshot {
    /// The machine.
    pub machine: Machine,
    /// Index of the launch in the case.
    pub launch: usize,
    /// Number of inputs that are applied.
    pub inputs: usize,
}

impl Snapshot {
    /// Its time.
    pub fn time(&self) -> Tick {
        self.machine.tick()
    }
}

/// Snapshots by time.
#[derive(Clone)]
pub struct Snapshots {
    entries: BTreeMap<Tick, Entry>,
    /// Bytes of all entries.
    bytes: u64,
    /// Most bytes of all entries.
    memory: u64,
}

#[derive(Clone)]
struct Entry {
    snapshot: Snapshot,
    /// Bytes that it does not share with the entry before it.
    bytes: u64,
    /// True for the beginning of the run, which is never removed.
    is_first: bool,
}

impl Default for Snapshots {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), bytes: 0, memory: MEMORY }
    }
}

impl Snapshots {
    /// Times of all, ascending.
    pub fn times(&self) -> impl DoubleEndedIterator<Item = Tick> + '_ {
        self.entries.keys().copied()
    }

    /// The snapshot at exactly this time.
    pub fn at(&self, time: Tick) -> Option<&Snapshot> {
        self.entries.get(&time).map(|entry| &entry.snapshot)
    }

    /// The latest snapshot at or before `time`.
    #[expect(clippy::expect_used, reason = "the beginning is kept from the first and never goes")]
    pub fn at_or_before(&self, time: Tick) -> &Snapshot {
        let found = self.entries.range(..=time).next_back().map(|(_, entry)| &entry.snapshot);
        found.expect("the first snapshot is of the beginning, and there always is one")
    }

    /// The next time after `now` at which a snapshot is due.
    pub fn due(now: Tick) -> Tick {
        Tick((now.0 / INTERVAL + 1) * INTERVAL)
    }

    /// True if a snapshot is due at `time`.
    pub fn is_due(&self, time: Tick) -> bool {
        time.0.is_multiple_of(INTERVAL) && !self.entries.contains_key(&time)
    }

    /// Stores a snapshot.
    pub fn insert(&mut self, snapshot: &Snapshot) {
        let time = snapshot.time();
        self.remove(time);
        self.assert_in_order(snapshot);
        let bytes =
            self.entries.range(..time).next_back().map_or(0, |(_, before)| unshared_bytes(&snapshot.machine, &before.snapshot.machine));
        self.bytes += bytes;
        let is_first = self.entries.is_empty();
        self.entries.insert(time, Entry { snapshot: snapshot.clone(), bytes, is_first });
    }

    /// Asserts that launch and input counts do not decrease from one entry to the next.
    fn assert_in_order(&self, snapshot: &Snapshot) {
        let state = |snapshot: &Snapshot| (snapshot.launch, snapshot.inputs);
        let (now, time) = (state(snapshot), snapshot.time());
        let before = self.entries.range(..time).next_back().map(|(_, entry)| state(&entry.snapshot));
        let after = self.entries.range(time..).next().map(|(_, entry)| state(&entry.snapshot));
        assert!(before.is_none_or(|before| before.0 <= now.0 && before.1 <= now.1), "{now:?} follows {before:?}");
        assert!(after.is_none_or(|after| now.0 <= after.0 && now.1 <= after.1), "{after:?} follows {now:?}");
    }

    /// Removes all from `time` on.
    pub fn truncate_from(&mut self, time: Tick) {
        let removed = self.entries.split_off(&time);
        self.bytes -= removed.values().map(|entry| entry.bytes).sum::<u64>();
        debug_assert_eq!(self.bytes, self.entries.values().map(|entry| entry.bytes).sum::<u64>(), "what the kept ones take");
    }

    /// Sets the memory limit.
    pub fn set_memory(&mut self, bytes: u64, now: Tick) {
        self.memory = bytes;
        self.thin(now);
    }

    /// Removes snapshots until the limits hold.
    pub fn thin(&mut self, now: Tick) {
        while self.bytes > self.memory || self.entries.len() > COUNT_MAX {
            let Some(time) = self.least_useful(now) else { return };
            self.remove(time);
        }
        assert!(self.entries.values().next().is_none_or(|entry| entry.is_first), "the beginning never goes");
    }

    /// The time of the snapshot with the smallest gap between its neighbours relative to its distance from `now`.
    fn least_useful(&self, now: Tick) -> Option<Tick> {
        let gaps = self.entries.iter().zip(self.entries.keys().skip(2)).zip(self.entries.iter().skip(1));
        let gaps = gaps.filter(|(_, (_, entry))| !entry.is_first);
        let relative_gap = |before: Tick, time: Tick, after: Tick| (after - before) as f64 / (now.abs_diff(time) + INTERVAL) as f64;
        let scored = gaps.map(|(((before, _), after), (time, _))| (relative_gap(*before, *time, *after), *time));
        scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, time)| time)
    }

    /// Removes a snapshot; the bytes of the next one are computed again.
    fn remove(&mut self, time: Tick) {
        let Some(removed) = self.entries.remove(&time) else { return };
        self.bytes -= removed.bytes;
        let before = self.entries.range(..time).next_back().map(|(_, entry)| entry.snapshot.machine.clone());
        if let (Some(before), Some((_, after))) = (before, self.entries.range_mut(time..).next()) {
            self.bytes -= after.bytes;
            after.bytes = unshared_bytes(&after.snapshot.machine, &before);
            self.bytes += after.bytes;
        }
    }
}

/// Bytes of a snapshot of `machine` that it does not share with an earlier one.
fn unshared_bytes(machine: &Machine, earlier: &Machine) -> u64 {
    size_of::<Snapshot>() as u64 + machine.unshared_bytes(earlier)
}
