//! Critical sections of one lock that a run had in one order only.

use crate::machine::Tick;
use crate::program::Pc;

/// Two critical sections of one lock that occurred in one order only. If the warp that first executed the earlier one is delayed, the other
/// one comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReversibleSections {
    /// The number of the launch in the case, from 0.
    pub launch: usize,
    /// The address of the lock, in global or shared memory.
    pub address: u64,
    /// The number of the block of the warp to delay.
    pub block: u64,
    /// The warp of the block.
    pub warp: u32,
    /// The tick of its first attempt to acquire the lock.
    pub from: Tick,
    /// The instructions that acquire and release the lock in the section to delay.
    pub delayed: (Pc, Pc),
    /// The instructions that acquire and release the lock in the section that is to come first.
    pub first: (Pc, Pc),
}
