//! Which clones of the machine are kept.
//!
//! One is due every [`INTERVAL`] ticks, at the start of every launch and after every input. Together they may take a given amount of
//! memory; beyond that they thin out: the one goes first whose neighbours are nearest in proportion to its distance from the present,
//! so that near the present all are kept, and far away fewer and fewer.

use std::collections::BTreeMap;

use crate::machine::{Machine, Tick};

/// Ticks between two snapshots. Executing that many takes a few milliseconds, cloning a machine a few dozen microseconds.
pub const INTERVAL: u64 = 1 << 16;

/// Snapshots at most, however small they are.
const COUNT: usize = 4096;

/// Bytes of all snapshots by default.
pub const MEMORY: u64 = 512 << 20;

/// A machine, and where it stands in its run.
#[derive(Clone)]
pub struct Snapshot {
    /// The machine.
    pub machine: Machine,
    /// Which launch of the case it is.
    pub launch: usize,
    /// How many inputs have been applied.
    pub inputs: usize,
}

impl Snapshot {
    /// Its time.
    pub fn time(&self) -> Tick {
        self.machine.tick()
    }
}

/// Snapshots by time.
pub struct Snapshots {
    kept: BTreeMap<Tick, Kept>,
    bytes: u64,
    memory: u64,
}

struct Kept {
    snapshot: Snapshot,
    /// What it costs beside the one before it.
    bytes: u64,
    /// It begins the run, and never goes.
    anchor: bool,
}

impl Default for Snapshots {
    fn default() -> Self {
        Self { kept: BTreeMap::new(), bytes: 0, memory: MEMORY }
    }
}

impl Snapshots {
    /// Times of all, ascending.
    pub fn times(&self) -> impl DoubleEndedIterator<Item = Tick> + '_ {
        self.kept.keys().copied()
    }

    /// The one of exactly this time.
    pub fn at(&self, time: Tick) -> Option<&Snapshot> {
        self.kept.get(&time).map(|kept| &kept.snapshot)
    }

    /// The latest at or before `time`.
    #[expect(clippy::expect_used, reason = "the beginning is kept from the first and never goes")]
    pub fn at_or_before(&self, time: Tick) -> &Snapshot {
        let found = self.kept.range(..=time).next_back().map(|(_, kept)| &kept.snapshot);
        found.expect("the first snapshot is of the beginning, and there always is one")
    }

    /// The next time after `now` at which one is wanted.
    pub fn due(now: Tick) -> Tick {
        Tick((now.0 / INTERVAL + 1) * INTERVAL)
    }

    /// Whether one is wanted at `time`.
    pub fn is_due(&self, time: Tick) -> bool {
        time.0.is_multiple_of(INTERVAL) && !self.kept.contains_key(&time)
    }

    /// Keeps one. The first never goes.
    pub fn keep(&mut self, snapshot: &Snapshot) {
        let time = snapshot.time();
        self.remove(time);
        self.assert_in_order(snapshot);
        let bytes = self.kept.range(..time).next_back().map_or(0, |(_, before)| cost(&snapshot.machine, &before.snapshot.machine));
        self.bytes += bytes;
        let anchor = self.kept.is_empty();
        self.kept.insert(time, Kept { snapshot: snapshot.clone(), bytes, anchor });
    }

    /// Launches and inputs only become more on the way through the kept ones and this one.
    fn assert_in_order(&self, snapshot: &Snapshot) {
        let state = |snapshot: &Snapshot| (snapshot.launch, snapshot.inputs);
        let (now, time) = (state(snapshot), snapshot.time());
        let before = self.kept.range(..time).next_back().map(|(_, kept)| state(&kept.snapshot));
        let after = self.kept.range(time..).next().map(|(_, kept)| state(&kept.snapshot));
        assert!(before.is_none_or(|before| before.0 <= now.0 && before.1 <= now.1), "{now:?} follows {before:?}");
        assert!(after.is_none_or(|after| now.0 <= after.0 && now.1 <= after.1), "{after:?} follows {now:?}");
    }

    /// Forgets all from `time` on.
    pub fn forget_from(&mut self, time: Tick) {
        let gone = self.kept.split_off(&time);
        self.bytes -= gone.values().map(|kept| kept.bytes).sum::<u64>();
        debug_assert_eq!(self.bytes, self.kept.values().map(|kept| kept.bytes).sum::<u64>(), "what the kept ones take");
    }

    /// Sets how much memory they may take.
    pub fn set_memory(&mut self, bytes: u64, now: Tick) {
        self.memory = bytes;
        self.thin(now);
    }

    /// Lets snapshots go until the bounds hold.
    pub fn thin(&mut self, now: Tick) {
        while self.bytes > self.memory || self.kept.len() > COUNT {
            let Some(time) = self.least_wanted(now) else { return };
            self.remove(time);
        }
        assert!(self.kept.values().next().is_none_or(|kept| kept.anchor), "the beginning never goes");
    }

    /// The one whose neighbours are nearest in proportion to its distance from `now`.
    fn least_wanted(&self, now: Tick) -> Option<Tick> {
        let gaps = self.kept.iter().zip(self.kept.keys().skip(2)).zip(self.kept.iter().skip(1));
        let gaps = gaps.filter(|(_, (_, kept))| !kept.anchor);
        let wanted = |before: Tick, time: Tick, after: Tick| (after - before) as f64 / (now.abs_diff(time) + INTERVAL) as f64;
        let scored = gaps.map(|(((before, _), after), (time, _))| (wanted(*before, *time, *after), *time));
        scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, time)| time)
    }

    /// Lets one go; the next one then costs what both did not share.
    fn remove(&mut self, time: Tick) {
        let Some(gone) = self.kept.remove(&time) else { return };
        self.bytes -= gone.bytes;
        let before = self.kept.range(..time).next_back().map(|(_, kept)| kept.snapshot.machine.clone());
        if let (Some(before), Some((_, after))) = (before, self.kept.range_mut(time..).next()) {
            self.bytes -= after.bytes;
            after.bytes = cost(&after.snapshot.machine, &before);
            self.bytes += after.bytes;
        }
    }
}

/// What keeping a machine costs beside an earlier one.
fn cost(machine: &Machine, earlier: &Machine) -> u64 {
    size_of::<Snapshot>() as u64 + machine.unshared_bytes(earlier)
}
