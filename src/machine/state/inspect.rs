//! Reading and changing the state of a stopped machine, for a debugger. Queries return the state before the next tick. Writes are copy on
//! write, so an earlier snapshot keeps the old values.

use triomphe::Arc;

use crate::isa::{SPECIAL_REGISTERS, SpecialKind};
use crate::machine::state::block::Block;
use crate::machine::state::device::Device;
use crate::machine::state::in_flight::InFlight;
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};
use crate::machine::state::machine::Machine;
use crate::machine::state::memory::Region;
use crate::machine::state::prepared::PreparedLaunch;
use crate::machine::state::registers::FrameBase;
use crate::machine::state::special::{self, FixedSpecial, thread_index};
use crate::machine::state::warp::{LaneGroup, Warp};
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, Slot, SpecialRef, Src, SrcKind};
use crate::weak::{Consistency, Place, StaleRead, Strengthening, WeakMemory};

/// The life cycle of a block of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockLife {
    /// It waits for a block slot.
    NotStarted,
    /// It is resident.
    Resident,
    /// All its threads have exited.
    Finished,
}

impl Machine {
    /// The resident block with this index in the grid.
    pub fn block(&self, index: [u32; 3]) -> Option<&Block> {
        // Most queries are for the block that ran last.
        let current = self.blocks.get(self.cursor.block_slot).and_then(Option::as_deref).filter(|block| block.index == index);
        current.or_else(|| self.resident_blocks().find(|block| block.index == index))
    }

    /// The index in the grid of the block with this number in order of launch.
    pub fn block_index(&self, number: u64) -> [u32; 3] {
        self.prepared.block_index(number)
    }

    /// What threads see of memory, if it is weak.
    pub fn weak_memory(&self) -> Option<&WeakMemory> {
        self.weak.as_deref()
    }

    /// Notes the order of the accesses to weak memory from here on.
    pub fn note_order(&mut self, consistency: Consistency) {
        self.weak.iter_mut().for_each(|weak| weak.note_order(consistency.clone()));
    }

    /// Instructions order these things, too, on weak memory.
    pub fn strengthen(&mut self, strengthenings: &[Strengthening]) {
        self.weak.iter_mut().for_each(|weak| weak.strengthen(strengthenings));
    }

    /// The last loads that returned another write than the newest, oldest first; none unless memory is weak.
    pub fn stale_reads(&self) -> impl Iterator<Item = &StaleRead> {
        self.weak.iter().flat_map(|weak| weak.stale_reads())
    }

    /// A thread as weak memory knows it; none if its block does not run.
    pub fn thread_place(&self, block: [u32; 3], warp: u32, lane: u32) -> Option<Place> {
        self.block_number(block).map(|number| self.prepared.place(number, warp as usize * LANES + lane as usize))
    }

    /// The life cycle stage of the block; none if the grid has no such block.
    pub fn block_life(&self, index: [u32; 3]) -> Option<BlockLife> {
        let number = self.block_number(index)?;
        Some(match self.block(index) {
            Some(_) => BlockLife::Resident,
            None if number < self.started => BlockLife::Finished,
            None => BlockLife::NotStarted,
        })
    }

    /// The block that a block slot holds; none if it is empty.
    pub fn block_in(&self, block_slot: u32) -> Option<&Block> {
        self.blocks.get(block_slot as usize)?.as_deref()
    }

    /// The rank in its cluster of the block in a block slot.
    pub fn rank_in_cluster(&self, block_slot: u32) -> u32 {
        block_slot % self.config().blocks_of_cluster()
    }

    /// The values of an operand of 32 bits, or of 64 if it is `wide`, for the lanes of a group; 0 if there is no such register.
    pub fn operand_of(&self, warp: &Warp, group: &LaneGroup, operand: Src, wide: bool) -> PerLane<u64> {
        let (registers, program) = (&warp.registers, self.program());
        match (operand.kind(), wide) {
            (SrcKind::Reg(slot), false) => {
                let slot = slot.in_frame(group.frame.b32).index();
                registers.b32.get(slot).map_or([0; LANES], |register| register.map(u64::from))
            }
            (SrcKind::Reg(slot), true) => registers.b64.get(slot.in_frame(group.frame.b64).index()).copied().unwrap_or([0; LANES]),
            (SrcKind::Const(index), false) => [u64::from(program.consts32[index as usize]); LANES],
            (SrcKind::Const(index), true) => [program.consts64[index as usize]; LANES],
            (SrcKind::Special(index), _) => warp.specials.get(index as usize).map_or([0; LANES], |register| register.map(u64::from)),
        }
    }

    /// The number of the block in order of launch; none if the grid has no such block, or it does not run.
    pub fn block_number(&self, index: [u32; 3]) -> Option<u64> {
        let inside = index.iter().zip(self.config().grid).all(|(at, extent)| *at < extent);
        inside.then(|| self.prepared.block_number(index)).flatten()
    }

    /// The name of the mbarrier at `address` of a block's shared memory: `full[1]`, `smem+0x40`, or `the mbarrier at 0x508`.
    pub fn mbarrier_name(&self, block: &Block, address: u32) -> String {
        block.shared.mbarrier_name(self.program(), self.config().kernel, address)
    }

    /// The block slot of a resident block.
    pub fn block_slot_of(&self, block: &Block) -> Option<u32> {
        let block_slot = self.blocks.iter().position(|resident| resident.as_ref().is_some_and(|other| other.number == block.number));
        block_slot.and_then(|block_slot| u32::try_from(block_slot).ok())
    }

    /// The asynchronous operations in flight.
    pub fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    /// Blocks of the grid.
    pub fn block_count(&self) -> u64 {
        self.prepared.blocks
    }

    /// Blocks that have started, finished ones included.
    pub fn blocks_started(&self) -> u64 {
        self.started
    }

    /// Bytes of a block's shared memory: reserved, static and dynamic.
    pub fn shared_bytes(&self) -> u64 {
        self.prepared.shared_bytes
    }

    /// The first byte of a block's shared memory that the kernel may access; the bytes before it are reserved for the system.
    pub fn shared_start(&self) -> u64 {
        self.prepared.shared_start
    }

    /// The values of a special register, by its index in [`SPECIAL_REGISTERS`], for the lanes of a warp of the block with this index; 0 for
    /// an index past it. The block need not be resident.
    pub fn special_register(&self, block: [u32; 3], warp: u32, register: usize) -> PerLane<u64> {
        let changing = |row: &crate::isa::SpecialRegister| row.kind == SpecialKind::Changing || row.ty.bits() == 64;
        match (SPECIAL_REGISTERS.get(register), u16::try_from(register)) {
            (Some(row), Ok(index)) if changing(row) => [special::changing_value(index, self.clock_jump.clock(self.tick())); 32],
            (Some(_), Ok(index)) => {
                let fixed = FixedSpecial::new(SpecialRef(index), self.program(), self.config(), self.prepared.shared_aggregate);
                special::fixed_value(&fixed, self.config(), block, self.block_number(block).unwrap_or(0), warp).map(u64::from)
            }
            _ => [0; 32],
        }
    }

    /// The lanes of a warp that are threads of the block; the last warp may have fewer than 32.
    pub fn lanes_of_warp(&self, warp: u32) -> LaneMask {
        let threads: u32 = self.config().block.iter().product();
        LaneMask::lowest(threads.saturating_sub(warp.saturating_mul(32)))
    }

    /// The index of a thread in its block.
    pub fn thread_of(&self, warp: u32, lane: u32) -> [u32; 3] {
        thread_index(self.config().block, warp, lane)
    }

    /// Writes `value` into slot `slot` of a register bank of a warp, for `lanes`; for a predicate, any value but 0 is true. False if there
    /// is no such warp or slot.
    pub fn write_register(&mut self, (block, warp): ([u32; 3], u32), lanes: LaneMask, (bank, slot): (Bank, Slot), value: u64) -> bool {
        let Some(registers) = self.warp_mut(block, warp).map(|warp| &mut warp.registers) else { return false };
        let index = slot.index();
        let is_written = match bank {
            Bank::B32 => registers.b32.get_mut(index).map(|register| lanes.iter().for_each(|lane| register[lane] = value as u32)),
            Bank::B64 => registers.b64.get_mut(index).map(|register| lanes.iter().for_each(|lane| register[lane] = value)),
            Bank::Pred => registers.pred.get_mut(index).map(|bits| *bits = if value == 0 { *bits & !lanes } else { *bits | lanes }),
        }
        .is_some();
        if is_written {
            registers.mark_written(FrameBase::default(), &[RegisterOperand { bank, slot, width: 1 }], lanes);
        }
        is_written
    }

    /// Writes to global memory; false unless all the bytes are inside one allocation.
    pub fn write_global(&mut self, address: u64, bytes: &[u8]) -> bool {
        write_region(&mut self.device.global, address, bytes)
    }

    /// Writes to constant memory; false unless all the bytes are inside one variable.
    pub fn write_constant(&mut self, address: u64, bytes: &[u8]) -> bool {
        write_region(&mut self.device.constant_memory, address, bytes)
    }

    /// Writes to the parameters of the kernel, which all threads share; false unless all the bytes are inside them.
    pub fn write_params(&mut self, address: u64, bytes: &[u8]) -> bool {
        let mut config = self.prepared.config.clone();
        let start = usize::try_from(address).ok();
        let place = start.and_then(|start| config.params.get_mut(start..start.checked_add(bytes.len())?));
        let Some(place) = place else { return false };
        place.copy_from_slice(bytes);
        // Snapshots keep the launch with the parameters that they have.
        let Ok(mut prepared) = PreparedLaunch::new(&self.device, config) else { return false };
        prepared.has_changed_params = true;
        self.prepared = std::sync::Arc::new(prepared);
        true
    }

    /// Writes to the shared memory of a resident block; false unless all the bytes are inside it.
    pub fn write_shared(&mut self, block: [u32; 3], address: u64, bytes: &[u8]) -> bool {
        let Some(block) = self.block_mut(block) else { return false };
        let fits = address.checked_add(bytes.len() as u64).is_some_and(|end| end <= block.shared.pages.len());
        if fits {
            block.shared.pages.write(address, bytes);
        }
        fits
    }

    /// Writes to the local memory of a thread; false if there is no such thread, or the range is outside of the window of local memory.
    pub fn write_local(&mut self, (block, warp, lane): ([u32; 3], u32, u32), address: u64, bytes: &[u8]) -> bool {
        let fits = address.checked_add(bytes.len() as u64).is_some_and(|end| end <= crate::program::map::WINDOW_BYTES) && lane < 32;
        let Some(warp) = self.warp_mut(block, warp).filter(|_| fits) else { return false };
        for (byte, at) in bytes.iter().zip(address..) {
            warp.local.write(lane as usize, at, &[*byte]);
        }
        true
    }

    fn block_mut(&mut self, index: [u32; 3]) -> Option<&mut Block> {
        self.blocks.iter_mut().flatten().find(|block| block.index == index).map(Arc::make_mut)
    }

    fn warp_mut(&mut self, block: [u32; 3], warp: u32) -> Option<&mut Warp> {
        self.block_mut(block)?.warps.get_mut(warp as usize).map(Arc::make_mut)
    }
}

impl Device {
    /// Global memory: module variables and buffers.
    pub fn global(&self) -> &Region {
        &self.global
    }

    /// Constant memory: module variables.
    pub fn constant_memory(&self) -> &Region {
        &self.constant_memory
    }
}

fn write_region(region: &mut Region, address: u64, bytes: &[u8]) -> bool {
    let found = region.find_mut(address).filter(|allocation| allocation.end().saturating_sub(address) >= bytes.len() as u64);
    let Some(allocation) = found else { return false };
    allocation.pages.write(allocation.offset(address), bytes);
    true
}
