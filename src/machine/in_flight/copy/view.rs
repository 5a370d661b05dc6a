//! The memory that copies and arrivals reach: global memory, and the shared memory of the blocks of a cluster.

use crate::machine::state::in_flight::copy::MemoryOwner;
use smallvec::SmallVec;
use triomphe::Arc;

use crate::machine::state::block::Block;
use crate::machine::state::mbarrier::{MbarrierOperation, Refused};
use crate::machine::state::memory::{Pages, Region};
use crate::machine::state::shared::Shared;

/// The memory that a copy or an arrival accesses when it takes effect.
pub struct MemoryView<'a> {
    /// Global memory.
    pub global: &'a mut Region,
    /// The running block's memory, if one is running.
    pub own: Option<&'a mut Shared>,
    /// Blocks in block slots from `first` on, up to the running block's.
    pub before: &'a mut [Option<Arc<Block>>],
    /// Blocks in the block slots after it.
    pub after: &'a mut [Option<Arc<Block>>],
    /// The block slot of the first of them.
    pub first: u32,
    /// Mbarriers a phase of which has ended, by block slot and address: groups that wait there can continue.
    pub ended: &'a mut EndedPhases,
}

/// Mbarriers a phase of which has ended, by block slot and address.
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
            MemoryOwner::Global => self.global.find_mut(address).map(|allocation| (&mut allocation.pages, address - allocation.base)),
            MemoryOwner::Block { block_slot, .. } => self.shared(block_slot).map(|shared| (&mut shared.pages, address)),
        }
    }

    /// Reads bytes that were inside one allocation when the copy was issued; memory that was freed since reads as it was before.
    pub fn read(&mut self, owner: MemoryOwner, address: u64, out: &mut [u8]) {
        if let MemoryOwner::Global = owner {
            if let Some(allocation) = self.global.find(address) {
                allocation.pages.read(address - allocation.base, out);
            }
        } else if let Some((pages, offset)) = self.pages(owner, address) {
            pages.read(offset, out);
        }
    }

    /// Writes bytes that were inside one allocation when the copy was issued.
    pub fn write(&mut self, owner: MemoryOwner, address: u64, bytes: &[u8]) {
        if let Some((pages, offset)) = self.pages(owner, address) {
            pages.write(offset, bytes);
        }
    }

    /// Applies an operation to the mbarrier at `address` of the block in `block_slot`.
    ///
    /// # Errors
    /// If it cannot.
    pub fn contribute(&mut self, block_slot: u32, address: u32, operation: MbarrierOperation) -> Result<(), Refused> {
        let Some(shared) = self.shared(block_slot) else { return Err(Refused::Gone) };
        if shared.contribute(address, operation)? {
            self.ended.push((block_slot, address));
        }
        Ok(())
    }
}
