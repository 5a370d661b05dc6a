//! Memory that threads share, and the integers in it.

use crate::debug::expression::little_endian;
use crate::isa::IntType;
use crate::machine::Machine;

/// Memory that threads share: an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The block whose shared memory it is; none of global memory.
    pub block: Option<[u32; 3]>,
    /// The address there.
    pub address: u64,
    /// Its size.
    pub bytes: u32,
}

impl Place {
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.bytes.into())
    }

    pub fn overlaps(&self, other: &Self) -> bool {
        self.block == other.block && self.address < other.end() && other.address < self.end()
    }

    /// The integer that the memory holds.
    pub fn read(&self, machine: &Machine) -> Option<u64> {
        let mut bytes = [0; 8];
        let bytes = bytes.get_mut(..self.bytes as usize)?;
        match self.block {
            None => machine.device().read(self.address, bytes).ok()?,
            Some(block) => {
                let shared = &machine.block(block)?.shared.pages;
                (self.end() <= shared.len()).then(|| shared.read(self.address, bytes))?;
            }
        }
        Some(little_endian(bytes) as u64)
    }
}

/// The integer of `bytes` bytes with its sign.
pub(super) fn signed(bits: u64, bytes: u32) -> i64 {
    let unused = 64 - 8 * bytes.clamp(1, 8);
    (bits << unused) as i64 >> unused
}

/// Bytes of an integer that a test can have.
pub(super) fn bytes_of(ty: IntType) -> Option<u32> {
    match ty {
        IntType::U32 | IntType::S32 => Some(4),
        IntType::U64 | IntType::S64 => Some(8),
        IntType::U16 | IntType::S16 | IntType::U16x2 | IntType::S16x2 => None,
    }
}

#[cfg(test)]
mod tests {
    use super::signed;

    #[test]
    fn integers_have_the_sign_of_their_size() {
        assert_eq!((signed(0xffff_ffff, 4), signed(0xffff_ffff, 8), signed(u64::MAX, 8)), (-1, 0xffff_ffff, -1));
    }
}
