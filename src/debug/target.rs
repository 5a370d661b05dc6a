//! A target: a register or a range of memory that can be watched, written, and searched for its history.

use serde::{Deserialize, Serialize};

use super::edit::Edit;
use super::focus::{Focus, ThreadFilter};
use crate::isa::{ScalarType, Space};
use crate::machine::LaneMask;
use crate::program::{Bank, Pc, Slot};

/// A register of some lanes of one warp, or a range of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// A register of the frame that some lanes are in.
    Register(RegisterTarget),
    /// Bytes of memory.
    Memory(MemoryTarget),
}

impl Target {
    /// True if a change by the user is made to it, or to a part of it.
    pub fn is_changed_by(&self, edit: &Edit) -> bool {
        match (self, edit) {
            (Target::Register(target), Edit::Register { block, warp, lanes, bank, slot, value: _ }) => {
                let is_of_warp = (target.block, target.warp, target.bank) == (*block, *warp, *bank);
                is_of_warp && target.lanes.intersects(*lanes) && (target.slot..target.slot.offset(target.width)).contains(slot)
            }
            (Target::Memory(target), Edit::Memory { space, owner, address, bytes }) => {
                let is_owner = match space {
                    Space::Shared | Space::SharedCluster => target.owner.block == owner.block,
                    Space::Local | Space::ParamFunc => {
                        let thread = |focus: &Focus| (focus.block, focus.warp, focus.lane);
                        thread(&target.owner) == thread(owner)
                    }
                    Space::Generic | Space::Global | Space::Const | Space::Param => true,
                };
                let (start, end) = (*address, address.saturating_add(bytes.len() as u64));
                *space == target.space && is_owner && start < target.address.saturating_add(target.bytes) && target.address < end
            }
            (Target::Register(_), Edit::Memory { .. }) | (Target::Memory(_), Edit::Register { .. }) => false,
        }
    }

    /// The name that the user typed.
    pub fn name(&self) -> &str {
        match self {
            Target::Register(target) => &target.name,
            Target::Memory(target) => &target.name,
        }
    }
}

/// A register of some lanes of one warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterTarget {
    /// Its name.
    pub name: String,
    /// Block index.
    pub block: [u32; 3],
    /// Warp of the block.
    pub warp: u32,
    /// The lanes.
    pub lanes: LaneMask,
    /// Its bank.
    pub bank: Bank,
    /// Its slot in the warp's register file: the frame's base is added already.
    pub slot: Slot,
    /// Number of slots: 2 for `.b128`, otherwise 1.
    pub width: u32,
    /// Its declared type.
    pub ty: ScalarType,
    /// Entry of the function of the frame: the register is undefined in other frames.
    pub function_start: Pc,
    /// Calls in progress in that frame.
    pub depth: u32,
}

impl RegisterTarget {
    /// The threads whose register it is.
    pub fn threads(&self) -> ThreadFilter {
        ThreadFilter { block: Some(self.block), warp: Some(self.warp), warps: None, lanes: Some(self.lanes) }
    }
}

/// A range of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryTarget {
    /// The name that the user typed.
    pub name: String,
    /// Its space, never `Generic`.
    pub space: Space,
    /// The owner: shared memory is the block's, local memory the thread's; others ignore it.
    pub owner: Focus,
    /// First address in that space.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Type of the value; of an array, of an element.
    pub ty: ScalarType,
}
