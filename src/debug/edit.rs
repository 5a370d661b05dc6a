//! Edits: changes of the machine's state by `set`, as data that can be saved and applied again.

use serde::{Deserialize, Serialize};

use super::focus::Focus;
use super::memory::{self, ByteRange, MemoryError};
use crate::isa::Space;
use crate::machine::{LaneMask, Machine};
use crate::program::{Bank, Slot};

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Edit {
    /// A register, or a predicate, of some lanes of a warp.
    Register {
        /// Block index.
        block: [u32; 3],
        /// Warp of the block.
        warp: u32,
        /// The lanes.
        lanes: LaneMask,
        /// Its bank.
        bank: Bank,
        /// Its slot in the warp's register file.
        slot: Slot,
        /// The new value, zero-extended; of a predicate, 0 or 1.
        value: u64,
    },
    /// Bytes of memory.
    Memory {
        /// The space: not generic.
        space: Space,
        /// The block or thread that owns the shared or local memory.
        owner: Focus,
        /// The address in that space.
        address: u64,
        /// The new bytes.
        bytes: Vec<u8>,
    },
}

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The warp is not on the machine, or has no such register.
    #[error("warp {warp} of block {block:?} has no register in slot {} for lanes {}", .slot.0, .lanes.list())]
    NoRegister {
        /// Block index.
        block: [u32; 3],
        /// Warp of the block.
        warp: u32,
        /// The lanes.
        lanes: LaneMask,
        /// The slot.
        slot: Slot,
    },
    /// The memory does not exist or cannot be written.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Edit {
    /// Makes the change.
    ///
    /// # Errors
    /// The register or memory to be changed does not exist; nothing has changed then.
    pub fn apply(&self, machine: &mut Machine) -> Result<(), EditError> {
        machine.restart_detection();
        match self {
            Edit::Register { block, warp, lanes, bank, slot, value } => {
                let written = machine.write_register((*block, *warp), *lanes, (*bank, *slot), *value);
                let missing = EditError::NoRegister { block: *block, warp: *warp, lanes: *lanes, slot: *slot };
                if written { Ok(()) } else { Err(missing) }
            }
            Edit::Memory { space, owner, address, bytes } => {
                let range = ByteRange { space: *space, owner: *owner, address: *address, bytes: bytes.len() as u64 };
                Ok(memory::write(machine, &range, bytes)?)
            }
        }
    }
}
