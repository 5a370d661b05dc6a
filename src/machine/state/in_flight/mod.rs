//! The table of copies in flight.

pub(in crate::machine) mod copy;
pub(in crate::machine) mod flight;
pub(in crate::machine) mod warpgroup;
pub(in crate::machine) mod wgmma;

use std::collections::BTreeMap;

use triomphe::Arc;

use crate::machine::state::lanes::LaneMask;
use copy::{AsyncCopy, Ends, Home};

/// Who issued a copy, and its number: block in order of launch, warp, number.
type Key = (u64, u32, u64);

/// The copies in flight. Cheap to clone.
#[derive(Clone, Default, Hash)]
pub struct InFlight {
    copies: Arc<BTreeMap<Key, Arc<AsyncCopy>>>,
    issued: u64,
}

impl InFlight {
    /// The number the next copy gets.
    pub fn next_id(&mut self) -> u64 {
        self.issued += 1;
        self.issued
    }

    /// Puts a copy in flight.
    pub fn add(&mut self, copy: AsyncCopy) {
        assert!(copy.id > 0 && copy.id <= self.issued, "a copy in flight has no number of its own");
        assert!(!copy.lanes.is_empty(), "a copy is in flight for no lane");
        let key = (copy.by.number, copy.issued.warp, copy.id);
        Arc::make_mut(&mut self.copies).insert(key, Arc::new(copy));
    }

    /// Takes a copy that has ended for `lanes` away, or those lanes of it.
    pub fn remove(&mut self, copy: &AsyncCopy, lanes: LaneMask) {
        let key = (copy.by.number, copy.issued.warp, copy.id);
        let copies = Arc::make_mut(&mut self.copies);
        assert!(copies.get(&key).is_some_and(|copy| copy.lanes.contains_all(lanes)), "a copy ends that is not in flight");
        match copies.get_mut(&key) {
            Some(copy) if !lanes.contains_all(copy.lanes) => Arc::make_mut(copy).lanes &= !lanes,
            _ => drop(copies.remove(&key)),
        }
    }

    /// Replaces a copy by what has become of it.
    pub fn replace(&mut self, copy: AsyncCopy) {
        self.add(copy);
    }

    /// Whether none is in flight.
    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// How many are in flight.
    pub fn len(&self) -> usize {
        self.copies.len()
    }

    /// All of them, by block, warp and order of issue.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<AsyncCopy>> {
        self.copies.values()
    }

    /// Those that a warp issued, in order of issue.
    pub fn of_warp(&self, block: u64, warp: u32) -> impl Iterator<Item = &Arc<AsyncCopy>> {
        self.copies.range((block, warp, 0)..=(block, warp, u64::MAX)).map(|(_, copy)| copy)
    }

    /// Those that will bring something to the barrier object at `address` of the block in `slot`, in order of issue.
    pub fn to_mbarrier(&self, slot: u32, address: u32) -> Vec<Arc<AsyncCopy>> {
        let brings = |copy: &&Arc<AsyncCopy>| match copy.ends {
            Ends::Mbarrier { home: Home::Block { slot: at, .. }, address: to, .. } => (at, to) == (slot, address),
            Ends::Group { .. } | Ends::Mbarrier { .. } => false,
        };
        let mut copies: Vec<_> = self.iter().filter(brings).cloned().collect();
        copies.sort_by_key(|copy| copy.id);
        copies
    }

    /// Those that read or write the shared memory of the block in `slot`, or that it issued, in order of issue.
    pub fn around_block(&self, slot: u32, number: u64) -> Vec<Arc<AsyncCopy>> {
        let touches = |copy: &&Arc<AsyncCopy>| {
            copy.by.number == number || copy.work.homes().any(|home| matches!(home, Home::Block { slot: at, .. } if at == slot))
        };
        let mut copies: Vec<_> = self.iter().filter(touches).cloned().collect();
        copies.sort_by_key(|copy| copy.id);
        copies
    }
}
