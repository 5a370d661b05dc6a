//! Small values by keys, in a sorted list: copied in one go, which views are all the time.

use std::ops::RangeBounds;

/// A map of few entries, or one that is copied more often than it gets new keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord + Copy, V: Copy> SortedMap<K, V> {
    /// True if it has no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of its entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<V> {
        self.0.binary_search_by(|(own, _)| own.cmp(key)).ok().map(|at| self.0[at].1)
    }

    /// Adds a value; `join` makes one of the present value and this one.
    pub fn join(&mut self, key: K, value: V, join: impl Fn(V, V) -> V) {
        match self.0.binary_search_by(|(own, _)| own.cmp(&key)) {
            Ok(at) => self.0[at].1 = join(self.0[at].1, value),
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    /// Adds all of another map in this way.
    pub fn join_all(&mut self, other: &Self, join: impl Fn(V, V) -> V) {
        if self.is_empty() {
            return self.0.clone_from(&other.0);
        }
        let (mut missing, mut at) = (Vec::new(), 0);
        for (key, value) in &other.0 {
            at += self.0[at..].partition_point(|(own, _)| own < key);
            match self.0.get_mut(at) {
                Some((own, present)) if own == key => *present = join(*present, *value),
                _ => missing.push((*key, *value)),
            }
        }
        if !missing.is_empty() {
            self.0.extend(missing);
            self.0.sort_by_key(|(key, _)| *key);
        }
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.0.iter().map(|(key, _)| key)
    }

    /// True if one of its keys is in a range.
    pub fn has_key_in(&self, range: &impl RangeBounds<K>) -> bool {
        self.keys().any(|key| range.contains(key))
    }

    /// Removes the entries for whose keys `keep` does not hold.
    pub fn retain(&mut self, keep: impl Fn(&K) -> bool) {
        self.0.retain(|(key, _)| keep(key));
    }
}
