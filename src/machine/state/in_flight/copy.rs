//! Asynchronous copies as data: what is in flight, where from and where to, and what says that it has ended.

use std::hash::{Hash, Hasher};

use crate::isa::{AtomicFn, ScalarType};
use crate::machine::in_flight::tensor::TensorBox;
use crate::machine::state::issue_point::{BlockId, IssuePoint};
use crate::machine::state::lanes::{LaneMask, PerLane};
use smallvec::SmallVec;

/// The value of a byte while a copy that will replace it is in flight: as a float of any width it is a NaN.
pub const POISON: u8 = 0xff;

/// The completion mechanism of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyCompletion {
    /// A group of its lanes, by number: of `cp.async.bulk`, or of `cp.async`.
    Group {
        /// Of `cp.async.bulk`.
        bulk: bool,
        /// Groups that its lanes had committed when it was issued.
        number: u32,
    },
    /// The bytes it brings to the mbarrier at `address` of the block's shared memory.
    Mbarrier {
        /// The block.
        owner: MemoryOwner,
        /// The address of the mbarrier.
        address: u32,
        /// Bytes it brings.
        bytes: u32,
    },
}

/// A copy in flight.
#[derive(Clone, Debug)]
pub struct AsyncCopy {
    /// Its number, in order of issue over the whole launch, from 1.
    pub id: u64,
    /// The instruction that issued it, and when.
    pub issued: IssuePoint,
    /// The block that issued it.
    pub block_id: BlockId,
    /// The lanes that issued it and whose bytes are still in flight.
    pub lanes: LaneMask,
    /// The bytes that it moves.
    pub work: CopyKind,
    /// Its completion mechanism.
    pub ends: CopyCompletion,
    /// Whether its source has been read.
    pub read: bool,
}

impl Hash for AsyncCopy {
    /// Its number says what it moves, for that was fixed when it was issued.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { id, lanes, read, issued: _, block_id: _, work: _, ends: _ } = self;
        (id, lanes, read).hash(state);
    }
}

/// The destination of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The owner of the memory.
    pub owner: MemoryOwner,
    /// Address of the first byte.
    pub address: u64,
}

/// The bytes that a copy moves.
#[derive(Clone, Debug)]
pub enum CopyKind {
    /// `cp.async`: from global memory to the shared memory of the block `to`, by lane.
    CpAsync(Box<LaneCopies>),
    /// `cp.async.bulk` and `cp.reduce.async.bulk`.
    Bulk {
        /// Source.
        from: Destination,
        /// The destination.
        to: Destination,
        /// The number of bytes.
        bytes: u32,
        /// The reduction with the destination, if they do not replace it.
        reduction: Option<(AtomicFn, ScalarType)>,
        /// The bytes of every 16 that are written, as bits.
        mask: u16,
        /// The source's bytes, once they have been read.
        taken: Option<Box<[u8]>>,
    },
    /// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`.
    Tensor(Box<BoxCopy>),
    /// `st.async` and `red.async`: these bytes.
    StAsync {
        /// The destination.
        to: Destination,
        /// The bytes.
        bytes: SmallVec<[u8; 16]>,
        /// The reduction with the destination, if it does not replace it.
        reduction: Option<(AtomicFn, ScalarType)>,
    },
    /// `cp.async.mbarrier.arrive`: nothing but an arrival once the `cp.async` of its lanes before it have ended.
    CpAsyncArrive,
}

/// The copies of the lanes of one `cp.async`.
#[derive(Clone, Debug)]
pub struct LaneCopies {
    /// Source of each lane, in global memory.
    pub from: PerLane<u64>,
    /// Destination of each lane, in the shared memory of the block.
    pub to: PerLane<u32>,
    /// The block.
    pub owner: MemoryOwner,
    /// Bytes of a lane.
    pub bytes: u32,
    /// Bytes that each lane reads; the others read as zeros.
    pub kept: PerLane<u8>,
}

impl CopyKind {
    /// The blocks whose shared memory it reads or writes.
    pub fn owners(&self) -> impl Iterator<Item = MemoryOwner> {
        let owners = match self {
            CopyKind::CpAsync(copies) => [copies.owner, MemoryOwner::Global],
            CopyKind::Bulk { from, to, .. } => [from.owner, to.owner],
            CopyKind::Tensor(copy) => [copy.owner, MemoryOwner::Global],
            CopyKind::StAsync { to, .. } => [to.owner, MemoryOwner::Global],
            CopyKind::CpAsyncArrive => [MemoryOwner::Global; 2],
        };
        owners.into_iter()
    }

    /// Shows `visit` the ranges that it will write for `lanes`: where, and how many bytes.
    pub fn writes(&self, lanes: LaneMask, mut visit: impl FnMut(Destination, u64)) {
        match self {
            CopyKind::CpAsync(copies) => {
                for lane in lanes.iter() {
                    visit(Destination { owner: copies.owner, address: u64::from(copies.to[lane]) }, u64::from(copies.bytes));
                }
            }
            CopyKind::Bulk { to, bytes, .. } => visit(*to, u64::from(*bytes)),
            CopyKind::Tensor(copy) => copy.writes(visit),
            CopyKind::StAsync { to, bytes, .. } => visit(*to, bytes.len() as u64),
            CopyKind::CpAsyncArrive => {}
        }
    }

    /// Shows `visit` the ranges that it reads for `lanes`: where, and how many bytes.
    pub fn reads(&self, lanes: LaneMask, mut visit: impl FnMut(Destination, u64)) {
        match self {
            CopyKind::CpAsync(copies) => {
                for lane in lanes.iter() {
                    visit(Destination { owner: MemoryOwner::Global, address: copies.from[lane] }, u64::from(copies.kept[lane]));
                }
            }
            CopyKind::Bulk { from, bytes, .. } => visit(*from, u64::from(*bytes)),
            CopyKind::Tensor(copy) => copy.reads(visit),
            CopyKind::StAsync { .. } | CopyKind::CpAsyncArrive => {}
        }
    }

    /// Whether it replaces what was at its destination, and does not combine with it.
    pub(in crate::machine) fn replaces(&self) -> bool {
        match self {
            CopyKind::CpAsync(_) => true,
            CopyKind::Bulk { reduction, mask, .. } => reduction.is_none() && *mask == u16::MAX,
            CopyKind::Tensor(copy) => copy.replaces(),
            CopyKind::StAsync { reduction, .. } => reduction.is_none(),
            CopyKind::CpAsyncArrive => false,
        }
    }
}

/// The owner of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOwner {
    /// Global memory.
    Global,
    /// The shared memory of a block.
    Block {
        /// Its block slot on the machine.
        block_slot: u32,
        /// Its index in the grid.
        index: [u32; 3],
    },
}

/// A box of a tensor between global memory and the shared memory of a block.
#[derive(Clone, Debug)]
pub struct BoxCopy {
    /// The box.
    pub shape: TensorBox,
    /// The block.
    pub owner: MemoryOwner,
    /// The source's bytes, run after run, once they have been read.
    pub taken: Option<Box<[u8]>>,
}
