//! A target: a register, a range of memory or a variable of the source that can be watched and searched for its history; the first two can
//! be written as well.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::edit::Edit;
use super::focus::{Focus, ThreadFilter};
use super::value::number::little_endian;
use crate::dwarf::TypeId;
use crate::isa::{ScalarType, Space};
use crate::machine::{LaneMask, Tick};
use crate::program::{Bank, Pc, Slot};
use crate::ttgir::ValueId;

/// A register of some lanes of one warp, a range of memory, or a variable of the source of some lanes of one warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// A register of the frame that some lanes are in.
    Register(RegisterTarget),
    /// Bytes of memory.
    Memory(MemoryTarget),
    /// A variable of the frame that some lanes are in.
    Variable(Box<VariableTarget>),
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
            (Target::Variable(target), edit) => target.is_changed_by(edit),
            (Target::Register(_), Edit::Memory { .. }) | (Target::Memory(_), Edit::Register { .. }) => false,
        }
    }

    /// The name that the user typed.
    pub fn name(&self) -> &str {
        match self {
            Target::Register(target) => &target.name,
            Target::Memory(target) => &target.name,
            Target::Variable(target) => &target.name,
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
    /// Of a bit field: its bits there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<BitField>,
    /// The frame whose reference named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<FrameTarget>,
}

/// A frame of some lanes of one warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameTarget {
    /// Block index.
    pub block: [u32; 3],
    /// Warp of the block.
    pub warp: u32,
    /// The lanes.
    pub lanes: LaneMask,
    /// Calls in progress in the frame.
    pub depth: u32,
    /// The instructions at which a lane is in the frame: those of the function, or from the first to the last of an inlined one.
    pub code: Range<u32>,
}

/// The bits of a bit field in the bytes that hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BitField {
    /// The lowest.
    pub low: u32,
    /// Their number, at most 64.
    pub count: u32,
    /// True if the highest is the sign.
    pub signed: bool,
    /// The bytes of its type.
    pub bytes: u32,
}

impl BitField {
    /// The bytes that hold a field with these bits.
    pub fn holding_bytes((low, count): (u32, u32)) -> u32 {
        low.saturating_add(count).div_ceil(8)
    }

    /// The bytes that hold it, with these bits.
    pub fn set(&self, holding: &[u8], bits: u128) -> Vec<u8> {
        let mask = ((1_u128 << self.count.min(64)) - 1).checked_shl(self.low).unwrap_or(0);
        let all = little_endian(holding) & !mask | bits.checked_shl(self.low).unwrap_or(0) & mask;
        all.to_le_bytes()[..holding.len().min(16)].to_vec()
    }

    /// The bytes of its value, of those that hold it.
    pub fn value(&self, holding: &[u8]) -> Vec<u8> {
        let shifted = little_endian(holding).checked_shr(self.low).unwrap_or(0);
        let kept = shifted & ((1_u128 << self.count.min(64)) - 1);
        let is_negative = self.signed && kept.checked_shr(self.count.saturating_sub(1)).unwrap_or(0) & 1 != 0;
        let value = if is_negative { kept | u128::MAX << self.count.min(64) } else { kept };
        value.to_le_bytes()[..(self.bytes as usize).clamp(1, 16)].to_vec()
    }
}

/// Most bytes of a variable that are watched.
pub const VARIABLE_BYTES_MAX: u32 = 1 << 16;

/// A variable of the source, or a member or an element of one, of some lanes of one warp. Compilers move it from register to register: it
/// is where its places say for the instruction at which a lane stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableTarget {
    /// The name that the user typed, without its lanes.
    pub name: String,
    /// Block index.
    pub block: [u32; 3],
    /// Warp of the block.
    pub warp: u32,
    /// The lanes.
    pub lanes: LaneMask,
    /// Calls in progress in the frame of the variable.
    pub depth: u32,
    /// The instructions at which a lane is in that frame: those of the function, or from the first to the last of an inlined one.
    pub code: Range<u32>,
    /// The tick at which the frame began.
    pub since: Tick,
    /// True for a parameter: it is no change that its register is loaded.
    pub is_parameter: bool,
    /// Its type in the debug data; none for a tensor.
    pub ty: Option<TypeId>,
    /// Of a variable of a Triton program a value that it has.
    pub tensor: Option<ValueId>,
    /// The size in bytes of the places that hold it.
    pub bytes: u32,
    /// Of a bit field: its bits there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<BitField>,
    /// Where it is: the first that holds an instruction counts.
    pub places: Vec<VariablePlace>,
}

/// Where a variable is at some instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariablePlace {
    /// The instructions.
    pub code: Range<u32>,
    /// Its parts, the first byte first.
    pub parts: Vec<VariablePart>,
}

/// Some bytes of a variable that lie together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariablePart {
    /// The number of bytes.
    pub bytes: u32,
    /// Where they are.
    pub storage: PartStorage,
}

/// Where a part of a variable is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartStorage {
    /// In a register.
    Register {
        /// Its bank.
        bank: Bank,
        /// Its slot in the warp's register file: the frame's base is added already.
        slot: Slot,
        /// Number of slots.
        width: u32,
        /// The first byte in the register.
        offset: u32,
    },
    /// In memory: local memory is that of the lane.
    Memory {
        /// Its space, never `Generic`.
        space: Space,
        /// The first address.
        address: u64,
    },
    /// Nowhere: the compiler knows the bytes.
    Known(Vec<u8>),
    /// Nowhere: the compiler has removed them.
    Removed,
}

impl VariableTarget {
    /// Its frame.
    pub fn frame(&self) -> FrameTarget {
        FrameTarget { block: self.block, warp: self.warp, lanes: self.lanes, depth: self.depth, code: self.code.clone() }
    }

    /// The threads whose variable it is.
    pub fn threads(&self) -> ThreadFilter {
        ThreadFilter { block: Some(self.block), warp: Some(self.warp), warps: None, lanes: Some(self.lanes) }
    }

    /// Its parts at an instruction; none if it has no place there.
    pub fn parts_at(&self, pc: Pc) -> Option<&[VariablePart]> {
        self.places.iter().find(|place| place.code.contains(&pc.0)).map(|place| place.parts.as_slice())
    }

    /// True if its parts make sense: it may come from a file that was edited.
    pub fn is_valid(&self) -> bool {
        let is_valid = |part: &VariablePart| match &part.storage {
            PartStorage::Register { bank, slot, width, offset } => {
                let widest = if *bank == Bank::B64 { 2 } else { 1 };
                (1..=widest).contains(width) && slot.0 <= u32::MAX / 2 && *offset <= VARIABLE_BYTES_MAX
            }
            PartStorage::Memory { address, .. } => address.checked_add(u64::from(part.bytes)).is_some(),
            PartStorage::Known(_) | PartStorage::Removed => true,
        };
        let bytes = |place: &VariablePlace| place.parts.iter().map(|part| u64::from(part.bytes)).sum::<u64>();
        let is_whole = |place: &VariablePlace| bytes(place) == u64::from(self.bytes) && place.parts.iter().all(is_valid);
        let depth = self.depth < u32::MAX && self.since < Tick::MAX;
        let is_field = |field: &BitField| {
            let bits = (field.low.min(64), field.count);
            field.low < 64 && (1..=64).contains(&field.count) && BitField::holding_bytes(bits) == self.bytes && field.bytes <= 16
        };
        depth
            && self.field.as_ref().is_none_or(is_field)
            && !self.lanes.is_empty()
            && (1..=VARIABLE_BYTES_MAX).contains(&self.bytes)
            && self.places.iter().all(is_whole)
    }

    /// True if some part lies in memory at some instruction.
    pub fn is_in_memory(&self) -> bool {
        self.parts().any(|part| matches!(part.storage, PartStorage::Memory { .. }))
    }

    /// The parts of all its places.
    pub fn parts(&self) -> impl Iterator<Item = &VariablePart> {
        self.places.iter().flat_map(|place| &place.parts)
    }

    /// True if a change by the user is made to one of its places.
    fn is_changed_by(&self, edit: &Edit) -> bool {
        self.parts().any(|part| match (&part.storage, edit) {
            (PartStorage::Register { bank, slot, width, .. }, Edit::Register { block, warp, lanes, bank: changed, slot: at, value: _ }) => {
                let is_of_warp = (self.block, self.warp, bank) == (*block, *warp, changed);
                is_of_warp && self.lanes.intersects(*lanes) && (*slot..slot.offset(*width)).contains(at)
            }
            (PartStorage::Memory { space, address }, Edit::Memory { space: changed, owner, address: at, bytes }) => {
                let is_owner = (self.block, self.warp) == (owner.block, owner.warp) && self.lanes.intersects(owner.lane_mask());
                let (start, end) = (*at, at.saturating_add(bytes.len() as u64));
                space == changed && is_owner && start < address.saturating_add(u64::from(part.bytes)) && *address < end
            }
            (
                PartStorage::Register { .. } | PartStorage::Memory { .. } | PartStorage::Known(_) | PartStorage::Removed,
                Edit::Register { .. } | Edit::Memory { .. },
            ) => false,
        })
    }
}
