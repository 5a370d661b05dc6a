//! Comparison of two snapshots of a run by the memory that they share.
//!
//! State is copy on write, so a write after a clone changes the address of the written part. Parts of two snapshots of one run with the
//! same address are the same, and were not written in between.

use triomphe::Arc;

use crate::isa::Space;
use crate::machine::state::block::Block;
use crate::machine::state::issue_point::Tick;
use crate::machine::state::machine::Machine;
use crate::machine::state::warp::Warp;

impl Machine {
    /// True if warp `warp` of block `block` issued no instruction between `self` and the later snapshot `later` of the same launch. May be
    /// false although it issued none.
    pub fn is_warp_unchanged(&self, later: &Machine, block: [u32; 3], warp: u32) -> bool {
        assert!(self.start() == later.start() && self.tick() <= later.tick(), "snapshots in another order");
        match (self.resident(block), later.resident(block)) {
            (Some(earlier), Some(later)) => {
                Arc::ptr_eq(earlier, later)
                    || matches!((warp_of(earlier, warp), warp_of(later, warp)), (Some(a), Some(b)) if Arc::ptr_eq(a, b))
            }
            (None, None) => self.block_life(block) == later.block_life(block),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// True if no write accessed the `bytes` bytes at `address` of `space` between `self` and the later snapshot `later` of the same
    /// launch; shared memory is that of `block`, local memory that of all lanes of its warp `warp`. May be false although there was no
    /// write.
    pub fn is_memory_unchanged(&self, later: &Machine, space: Space, (block, warp): ([u32; 3], u32), address: u64, bytes: u64) -> bool {
        match space {
            Space::Const => true,
            Space::Param => self.config().params == later.config().params,
            Space::Local | Space::ParamFunc => self.is_warp_unchanged(later, block, warp),
            Space::Shared | Space::SharedCluster => match (self.resident(block), later.resident(block)) {
                (Some(earlier), Some(later)) => {
                    Arc::ptr_eq(earlier, later) || earlier.shared.pages.shares(&later.shared.pages, address, bytes)
                }
                (None, None) => self.block_life(block) == later.block_life(block),
                (Some(_), None) | (None, Some(_)) => false,
            },
            Space::Generic | Space::Global => match (self.device.global.find(address), later.device.global.find(address)) {
                (Some(earlier), Some(later)) => {
                    earlier.base == later.base && earlier.pages.shares(&later.pages, earlier.offset(address), bytes)
                }
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            },
        }
    }

    /// Bytes of `self` that are not shared with `earlier`, a snapshot of the same launch.
    pub fn unshared_bytes(&self, earlier: &Machine) -> u64 {
        assert!(earlier.tick() <= self.tick(), "snapshots in another order");
        let blocks = self.blocks.iter().zip(earlier.blocks.iter().map(Option::as_ref).chain(std::iter::repeat(None)));
        let blocks = blocks.map(|(own, other)| own.as_ref().map_or(0, |own| block_bytes(own, other)));
        let block_slots = size_of_val(&*self.blocks) as u64;
        let coverage = self.coverage().map_or(0, crate::machine::state::coverage::Coverage::bytes);
        block_slots + coverage + blocks.sum::<u64>() + self.device.global.unshared_bytes(&earlier.device.global)
    }

    /// The first tick of the launch.
    pub fn start(&self) -> Tick {
        self.prepared.config.start
    }

    fn resident(&self, index: [u32; 3]) -> Option<&Arc<Block>> {
        self.blocks.iter().flatten().find(|block| block.index == index)
    }
}

fn warp_of(block: &Block, warp: u32) -> Option<&Arc<Warp>> {
    block.warps.get(warp as usize)
}

fn block_bytes(own: &Arc<Block>, other: Option<&Arc<Block>>) -> u64 {
    let Some(other) = other.filter(|other| other.number == own.number) else {
        let warps: u64 = own.warps.iter().map(|warp| warp_bytes(warp, None)).sum();
        return size_of::<Block>() as u64 + warps + own.shared.pages.unshared_bytes(&crate::machine::state::memory::Pages::new(0, 0));
    };
    if Arc::ptr_eq(own, other) {
        return 0;
    }
    let warps: u64 = own.warps.iter().zip(&other.warps).map(|(own, other)| warp_bytes(own, Some(other))).sum();
    size_of::<Block>() as u64 + warps + own.shared.pages.unshared_bytes(&other.shared.pages)
}

fn warp_bytes(own: &Arc<Warp>, other: Option<&Arc<Warp>>) -> u64 {
    match other {
        Some(other) if Arc::ptr_eq(own, other) => 0,
        Some(other) => own.registers.bytes() + own.wgmmas.bytes() + own.local.unshared_bytes(&other.local),
        None => {
            own.registers.bytes() + own.wgmmas.bytes() + own.local.unshared_bytes(&crate::machine::state::memory::LocalMemory::default())
        }
    }
}
