//! Flags: variables in memory that a warp spins on until another warp writes them.

use crate::base::WarpId;
use crate::isa::{AtomicFn, Ordering, Space};
use crate::machine::Tick;
use crate::program::{Address, AtomicOp, Inst, MemoryOp, Op, Pc, Program};

/// A warp of the grid: block index, and number in the block.
pub type WarpPlace = ([u32; 3], WarpId);

/// Number of reads of one flag in a row, with no other flag in between, after which a warp counts as waiting for it.
const READS_BEFORE_WAIT: u32 = 3;

/// The flag that a warp read last, and how often in a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spin {
    /// The warp and the instruction that reads the flag.
    at: Option<(WarpPlace, Pc)>,
    /// The tick.
    time: Tick,
    count: u32,
}

impl Spin {
    /// Counts a read at `pc`; true if the warp is taken to wait for the flag. The same read is counted once.
    pub fn count_read(&mut self, warp: WarpPlace, pc: Pc, time: Tick) -> bool {
        if self.time == time && self.at.is_some() {
            return false;
        }
        self.count = if self.at == Some((warp, pc)) { self.count + 1 } else { 1 };
        (self.at, self.time) = (Some((warp, pc)), time);
        self.count > READS_BEFORE_WAIT
    }

    /// Other warps have run: the flag may be read once before they run again.
    pub(super) fn gave_way(&mut self) {
        self.count = READS_BEFORE_WAIT - 1;
    }
}

/// For each instruction, whether it reads what another thread may be about to write: a strong load or a compare-and-swap.
pub fn flag_reads(program: &Program) -> Vec<bool> {
    program.code.iter().map(|inst| flag_address(inst).is_some()).collect()
}

/// The flag that such an instruction reads: its address, its space and its bytes.
pub(super) fn flag_address(inst: &Inst) -> Option<(&Address, Space, u32)> {
    if let Op::Memory(MemoryOp::Load { access, address, bits, .. }) = &inst.op
        && access.ordering != Ordering::Weak
    {
        return Some((address, access.space, u32::from(*bits) / 8));
    }
    if let Op::Atomic(AtomicOp::Single { f: AtomicFn::Cas | AtomicFn::Exch, access, address, ty, .. }) = &inst.op {
        return Some((address, access.space, ty.bits() / 8));
    }
    None
}
