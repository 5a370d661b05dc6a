//! The memory that copies and arrivals can access: global memory, and the shared memory of the blocks of a cluster.

use crate::machine::state::in_flight::copy::MemoryOwner;
use smallvec::SmallVec;
use triomphe::Arc;

use crate::machine::state::block::Block;
use crate::machine::state::mbarrier::{MbarrierError, MbarrierOperation};
use crate::machine::state::memory::{Pages, Region};
use crate::machine::state::shared::Shared;

/// The memory that a copy or an arrival accesses when it takes effect.
pub struct MemoryView<'a> {
    /// Global memory.
    pub global: &'a mut Region,
    /// The shared memory of the running block, if one is running.
    pub own: Option<&'a mut Shared>,
    /// The blocks in block slots from `first` on, before the running block.
    pub before: &'a mut [Option<Arc<Block>>],
    /// The blocks in block slots after the running block.
    pub after: &'a mut [Option<Arc<Block>>],
    /// The first block slot of `before`.
    pub first: u32,
    /// The mbarriers with a completed phase, by block slot and address: groups that wait for them can continue.
    pub ended: &'a mut EndedPhases,
}

/// The mbarriers with a completed phase, by block slot and address.
pub type EndedPhases = SmallVec<[(u32, u32); 2]>;

impl MemoryView<'_> {
    /// The shared memory of the block in `block_slot`.
    pub fn shared(&mut self, block_slot: u32) -> Option<&mut Shared> {
        let index = block_slot.checked_sub(self.first)? as usize;
        let block = match (index.checked_sub(self.before.len()), &mut self.own) {
            (None, _) => self.before.get_mut(index),
            (Some(0), Some(own)) => return Some(own),
            (Some(past), own) => self.after.get_mut(past - usize::from(own.is_some())),
        };
        block?.as_mut().map(|block| &mut Arc::make_mut(block).shared)
    }

    fn pages(&mut self, owner: MemoryOwner, address: u64) -> Option<(&mut Pages, u64)> {
        match owner {
            MemoryOwner::Global => self.global.find_mut(address).map(|allocation| {
                let offset = allocation.offset(address);
                (&mut allocation.pages, offset)
            }),
            MemoryOwner::Block { block_slot, .. } => self.shared(block_slot).map(|shared| (&mut shared.pages, address)),
        }
    }

    /// Reads bytes that were inside one allocation at issue. If the memory was freed since, `out` stays unchanged.
    pub fn read(&mut self, owner: MemoryOwner, address: u64, out: &mut [u8]) {
        if let MemoryOwner::Global = owner {
            if let Some(allocation) = self.global.find(address) {
                allocation.pages.read(allocation.offset(address), out);
            }
        } else if let Some((pages, offset)) = self.pages(owner, address) {
            pages.read(offset, out);
        }
    }

    /// Writes bytes that were inside one allocation at issue.
    pub fn write(&mut self, owner: MemoryOwner, address: u64, bytes: &[u8]) {
        if let Some((pages, offset)) = self.pages(owner, address) {
            pages.write(offset, bytes);
        }
    }

    /// Applies an operation to the mbarrier at `address` of the block in `block_slot`.
    ///
    /// # Errors
    /// If the operation is invalid.
    pub fn contribute(&mut self, block_slot: u32, address: u32, operation: MbarrierOperation) -> Result<(), MbarrierError> {
        let Some(shared) = self.shared(block_slot) else { return Err(MbarrierError::BlockExited) };
        if shared.contribute(address, operation)? {
            self.ended.push((block_slot, address));
        }
        Ok(())
    }
}
