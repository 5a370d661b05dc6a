//! Flags: variables in memory that a warp spins on until another warp writes them.

use crate::base::WarpId;
use crate::isa::{AtomicFn, Ordering, Space};
use crate::machine::Tick;
use crate::program::{Address, AtomicOp, Inst, MemoryOp, Op, Pc, Program};

/// A warp of the grid: block index, and warp number in the block.
pub type WarpKey = ([u32; 3], WarpId);

/// Consecutive reads of one flag after which a warp is taken to wait for it.
const READS_BEFORE_WAIT: u32 = 3;

/// The consecutive reads of one flag by a warp.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spin {
    /// The warp and the instruction that reads the flag.
    reader: Option<(WarpKey, Pc)>,
    /// The tick of the last read.
    time: Tick,
    count: u32,
}

impl Spin {
    /// Counts a read at `pc`; true if the warp is taken to wait for the flag. The same read is counted once.
    pub fn count_read(&mut self, warp: WarpKey, pc: Pc, time: Tick) -> bool {
        if self.time == time && self.reader.is_some() {
            return false;
        }
        self.count = if self.reader == Some((warp, pc)) { self.count + 1 } else { 1 };
        (self.reader, self.time) = (Some((warp, pc)), time);
        self.count > READS_BEFORE_WAIT
    }

    /// Called when other warps have run: the flag may be read once before they run again.
    pub(super) fn yielded(&mut self) {
        self.count = READS_BEFORE_WAIT - 1;
    }
}

/// For each instruction, true if it may read a flag that another thread writes: a strong load, a compare-and-swap or an exchange.
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
