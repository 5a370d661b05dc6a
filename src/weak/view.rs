//! Views: sets of writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::history::Location;

/// The writes that precede an operation in causality order: of each location a bit for each write, from its first one on.
///
/// What threads that have met share is one map; what a thread adds to it is a small one of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct View {
    shared: Option<Arc<BTreeMap<Location, Known>>>,
    own: BTreeMap<Location, Known>,
}

/// Writes of a location, by their numbers: `bits` of those from `first` on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Known {
    first: u64,
    bits: u64,
}

impl Known {
    /// The bits of the writes from `first` on.
    pub fn from(self, first: u64) -> u64 {
        match first.checked_sub(self.first) {
            Some(past @ 0..64) => self.bits >> past,
            Some(_) => 0,
            None => self.bits.checked_shl((self.first - first).min(64) as u32).unwrap_or(0),
        }
    }

    fn join(&mut self, other: Self) {
        let first = self.first.max(other.first);
        *self = Self { first, bits: self.from(first) | other.from(first) };
    }
}

impl View {
    /// The writes of a location from number `first` on.
    pub fn known(&self, at: Location, first: u64) -> u64 {
        let of = |known: Option<&Known>| known.map_or(0, |known| known.from(first));
        of(self.shared.as_ref().and_then(|shared| shared.get(&at))) | of(self.own.get(&at))
    }

    /// Adds a write, by its number, of a location whose first write that is kept has the number `first`.
    pub fn add(&mut self, at: Location, first: u64, number: u64) {
        self.own.entry(at).or_default().join(Known { first, bits: 1 << (number - first) });
    }

    /// Adds all of another view.
    pub fn join(&mut self, other: &Self) {
        if let Some(theirs) = &other.shared {
            match &self.shared {
                Some(own) if Arc::ptr_eq(own, theirs) => {}
                Some(own) if own.len() >= theirs.len() => self.add_all(&Arc::clone(theirs)),
                Some(own) => {
                    let own = Arc::clone(own);
                    self.shared = Some(Arc::clone(theirs));
                    self.add_all(&own);
                }
                None => self.shared = Some(Arc::clone(theirs)),
            }
        }
        self.add_all(&other.own);
    }

    fn add_all(&mut self, known: &BTreeMap<Location, Known>) {
        known.iter().for_each(|(at, known)| self.own.entry(*at).or_default().join(*known));
    }

    /// Makes all of it shared by the views that are cloned from it.
    pub fn share(&mut self) {
        let own = std::mem::take(&mut self.own);
        if !own.is_empty() {
            let shared = Arc::make_mut(self.shared.get_or_insert_default());
            own.into_iter().for_each(|(at, known)| shared.entry(at).or_default().join(known));
        }
    }
}
