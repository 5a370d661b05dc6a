//! A cache of what the delayed recording of reads asks most.

use super::access::AccessRef;

/// Writes that a warp was found to be ordered after, by number modulo this.
pub(super) const KEPT: usize = 8;

/// A cache: writes to shared memory that warps were found to be ordered after, by block slot and warp. They stay so while their records
/// are kept.
#[derive(Clone, Default)]
pub(super) struct OrderedWrites(Vec<Vec<[AccessRef; KEPT]>>);

impl OrderedWrites {
    /// Forgets those of a block slot, which another block gets.
    pub fn leave(&mut self, block_slot: usize) {
        self.0.iter_mut().skip(block_slot).take(1).for_each(Vec::clear);
    }

    /// Forgets all: numbers of records may be used again.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }

    #[inline(always)]
    pub fn of(&mut self, block_slot: usize, warp: usize) -> &mut [AccessRef; KEPT] {
        if self.0.get(block_slot).is_none_or(|warps| warps.len() <= warp) {
            self.grow(block_slot, warp);
        }
        &mut self.0[block_slot][warp]
    }

    #[cold]
    fn grow(&mut self, block_slot: usize, warp: usize) {
        let slots = self.0.len().max(block_slot + 1);
        self.0.resize_with(slots, Vec::new);
        self.0[block_slot].resize(warp + 1, [AccessRef::default(); KEPT]);
    }
}
