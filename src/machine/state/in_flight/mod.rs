//! The table of asynchronous operations in flight.

pub(in crate::machine) mod copy;
pub(in crate::machine) mod queue;
pub(in crate::machine) mod warpgroup;
pub(in crate::machine) mod wgmma;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use triomphe::Arc;

use crate::machine::state::lanes::LaneMask;
use copy::{AsyncCopy, CopyCompletion, MemoryOwner};
use wgmma::Wgmma;

/// The key of an operation: block in order of launch, warp, and number of the operation.
type Key = (u64, u32, u64);

/// An operation in flight. Each variant has a folder of `machine::in_flight` with its semantics.
#[derive(Clone, Hash)]
enum Operation {
    /// A copy, store or reduction, also of a tensor, or an arrival after copies.
    Copy(Arc<AsyncCopy>),
    /// A warp's part of a matrix multiplication.
    Wgmma(Arc<Wgmma>),
}

impl Operation {
    fn key(&self) -> Key {
        match self {
            Operation::Copy(copy) => (copy.block_id.number, copy.issued.warp.number(), copy.id),
            Operation::Wgmma(wgmma) => (wgmma.block_id.number, wgmma.issued.warp.number(), wgmma.id),
        }
    }

    fn copy(&self) -> Option<&Arc<AsyncCopy>> {
        match self {
            Operation::Copy(copy) => Some(copy),
            Operation::Wgmma(_) => None,
        }
    }

    fn wgmma(&self) -> Option<&Arc<Wgmma>> {
        match self {
            Operation::Wgmma(wgmma) => Some(wgmma),
            Operation::Copy(_) => None,
        }
    }
}

/// The operations in flight. Cheap to clone.
#[derive(Clone, Default, Hash)]
pub struct InFlight {
    operations: Arc<BTreeMap<Key, Operation>>,
    issued: u64,
}

/// The keys of all operations of these warps of a block.
fn keys(block: u64, warps: RangeInclusive<u32>) -> RangeInclusive<Key> {
    (block, *warps.start(), 0)..=(block, *warps.end(), u64::MAX)
}

impl InFlight {
    /// Allocates the number of the next operation.
    pub fn next_id(&mut self) -> u64 {
        self.issued += 1;
        self.issued
    }

    fn add(&mut self, operation: Operation) -> Option<Operation> {
        let key = operation.key();
        assert!(key.2 > 0 && key.2 <= self.issued, "an operation in flight has no number of its own");
        Arc::make_mut(&mut self.operations).insert(key, operation)
    }

    /// Adds a copy.
    pub fn add_copy(&mut self, copy: AsyncCopy) {
        assert!(!copy.lanes.is_empty(), "a copy is in flight for no lane");
        let before = self.add(Operation::Copy(Arc::new(copy)));
        assert!(before.is_none(), "two operations have one number");
    }

    /// Replaces a copy with its new state.
    pub fn replace_copy(&mut self, copy: AsyncCopy) {
        let before = self.add(Operation::Copy(Arc::new(copy)));
        assert!(before.is_some_and(|before| before.copy().is_some()), "a copy changes that is not in flight");
    }

    /// Removes `lanes` from a copy that has ended for them, or all of the copy if no lanes remain.
    pub fn remove_copy(&mut self, copy: &Arc<AsyncCopy>, lanes: LaneMask) {
        let key = Operation::Copy(Arc::clone(copy)).key();
        let operations = Arc::make_mut(&mut self.operations);
        let known = operations.get_mut(&key);
        assert!(
            known.as_ref().and_then(|known| known.copy()).is_some_and(|copy| copy.lanes.contains_all(lanes)),
            "a copy ends that is not in flight"
        );
        match known {
            Some(Operation::Copy(copy)) if !lanes.contains_all(copy.lanes) => Arc::make_mut(copy).lanes &= !lanes,
            Some(_) | None => drop(operations.remove(&key)),
        }
    }

    /// Adds a multiplication.
    pub fn add_wgmma(&mut self, wgmma: Arc<Wgmma>) {
        let before = self.add(Operation::Wgmma(wgmma));
        assert!(before.is_none(), "two operations have one number");
    }

    /// Removes a multiplication that has ended or was abandoned.
    pub fn remove_wgmma(&mut self, wgmma: &Arc<Wgmma>) {
        let gone = Arc::make_mut(&mut self.operations).remove(&Operation::Wgmma(Arc::clone(wgmma)).key());
        assert!(gone.is_some_and(|gone| gone.wgmma().is_some()), "a multiplication ends that is not in flight");
    }

    /// True if a copy is in flight.
    pub fn has_copies(&self) -> bool {
        self.copies().next().is_some()
    }

    /// The copies, by block, warp and order of issue.
    pub fn copies(&self) -> impl Iterator<Item = &Arc<AsyncCopy>> {
        self.operations.values().filter_map(Operation::copy)
    }

    /// The copies that a warp issued, in order of issue.
    pub fn copies_of(&self, block: u64, warp: u32) -> impl Iterator<Item = &Arc<AsyncCopy>> {
        self.operations.range(keys(block, warp..=warp)).filter_map(|(_, operation)| operation.copy())
    }

    /// The multiplications of a warp, in order of issue.
    pub fn wgmmas_of(&self, block: u64, warp: u32) -> impl Iterator<Item = &Arc<Wgmma>> {
        self.operations.range(keys(block, warp..=warp)).filter_map(|(_, operation)| operation.wgmma())
    }

    /// The multiplications of a block, by warp and order of issue.
    pub fn wgmmas_of_block(&self, block: u64) -> impl Iterator<Item = &Arc<Wgmma>> {
        self.operations.range(keys(block, 0..=u32::MAX)).filter_map(|(_, operation)| operation.wgmma())
    }

    /// The copies that complete on the mbarrier at `address` of the block in `block_slot`, in order of issue.
    pub fn to_mbarrier(&self, block_slot: u32, address: u32) -> Vec<Arc<AsyncCopy>> {
        let brings = |copy: &&Arc<AsyncCopy>| match copy.completion {
            CopyCompletion::Mbarrier { owner: MemoryOwner::Block { block_slot: at, .. }, address: to, .. } => {
                (at, to) == (block_slot, address)
            }
            CopyCompletion::Group { .. } | CopyCompletion::Mbarrier { .. } => false,
        };
        let mut copies: Vec<_> = self.copies().filter(brings).cloned().collect();
        copies.sort_by_key(|copy| copy.id);
        copies
    }

    /// The copies that read or write the shared memory of the block in `block_slot`, or that it issued, in order of issue.
    pub fn copies_of_block(&self, block_slot: u32, number: u64) -> Vec<Arc<AsyncCopy>> {
        let touches = |copy: &&Arc<AsyncCopy>| {
            copy.block_id.number == number
                || copy.kind.owners().any(|owner| matches!(owner, MemoryOwner::Block { block_slot: at, .. } if at == block_slot))
        };
        let mut copies: Vec<_> = self.copies().filter(touches).cloned().collect();
        copies.sort_by_key(|copy| copy.id);
        copies
    }
}
