//! Asynchronous copies as data: source, destination and completion mechanism.

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
    /// A group of copies of its lanes.
    Group {
        /// True for a bulk async-group, false for a group of `cp.async`.
        bulk: bool,
        /// The number of the group: groups that its lanes had committed at issue.
        number: u32,
    },
    /// The mbarrier at `address` of the block's shared memory.
    Mbarrier {
        /// The block.
        owner: MemoryOwner,
        /// The address of the mbarrier.
        address: u32,
        /// Bytes of `complete_tx`.
        bytes: u32,
    },
}

/// A copy in flight.
#[derive(Clone, Debug)]
pub struct AsyncCopy {
    /// Its number, in order of issue over the whole launch, from 1.
    pub id: u64,
    /// The issue point.
    pub issued: IssuePoint,
    /// The block that issued it.
    pub block_id: BlockId,
    /// The lanes that issued it and whose bytes are still in flight.
    pub lanes: LaneMask,
    /// Its kind, with the bytes that it moves.
    pub kind: CopyKind,
    /// Its completion mechanism.
    pub completion: CopyCompletion,
    /// True if its source has been read.
    pub read: bool,
}

impl Hash for AsyncCopy {
    /// The number identifies the fields that are fixed at issue.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { id, lanes, read, issued: _, block_id: _, kind: _, completion: _ } = self;
        (id, lanes, read).hash(state);
    }
}

/// The memory that bytes are copied from or to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAddress {
    /// The owner of the memory.
    pub owner: MemoryOwner,
    /// Address of the first byte.
    pub address: u64,
}

/// The kind of a copy, and the bytes that it moves.
#[derive(Clone, Debug)]
pub enum CopyKind {
    /// `cp.async`: from global memory to shared memory, by lane.
    CpAsync(Box<LaneCopies>),
    /// `cp.async.bulk` and `cp.reduce.async.bulk`.
    Bulk {
        /// Source.
        from: MemoryAddress,
        /// The destination.
        to: MemoryAddress,
        /// The number of bytes.
        bytes: u32,
        /// The reduction with the destination; none for a plain copy.
        reduction: Option<(AtomicFn, ScalarType)>,
        /// The byte mask: for every 16 bytes, the ones that are written.
        mask: u16,
        /// The bytes of the source, once they have been read.
        source_bytes: Option<Box<[u8]>>,
    },
    /// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`.
    Tensor(Box<BoxCopy>),
    /// `st.async` and `red.async`.
    StAsync {
        /// The destination.
        to: MemoryAddress,
        /// The bytes.
        bytes: SmallVec<[u8; 16]>,
        /// The reduction with the destination; none for `st.async`.
        reduction: Option<(AtomicFn, ScalarType)>,
    },
    /// `cp.async.mbarrier.arrive`: moves no bytes; arrives once the earlier `cp.async` of its lanes have completed.
    CpAsyncArrive,
}

/// The copies of the lanes of one `cp.async`.
#[derive(Clone, Debug)]
pub struct LaneCopies {
    /// The source address of each lane, in global memory.
    pub from: PerLane<u64>,
    /// The destination address of each lane, in the shared memory of the block.
    pub to: PerLane<u32>,
    /// The owner of the shared memory.
    pub owner: MemoryOwner,
    /// Bytes per lane.
    pub bytes: u32,
    /// The bytes that each lane reads; the rest is filled with zeros.
    pub source_sizes: PerLane<u8>,
}

impl CopyKind {
    /// The owners of the memory that it reads or writes.
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

    /// Calls `visit` for each range that it writes for `lanes`: its start and its length in bytes.
    pub fn visit_writes(&self, lanes: LaneMask, mut visit: impl FnMut(MemoryAddress, u64)) {
        match self {
            CopyKind::CpAsync(copies) => {
                for lane in lanes.iter() {
                    visit(MemoryAddress { owner: copies.owner, address: u64::from(copies.to[lane]) }, u64::from(copies.bytes));
                }
            }
            CopyKind::Bulk { to, bytes, .. } => visit(*to, u64::from(*bytes)),
            CopyKind::Tensor(copy) => copy.visit_writes(visit),
            CopyKind::StAsync { to, bytes, .. } => visit(*to, bytes.len() as u64),
            CopyKind::CpAsyncArrive => {}
        }
    }

    /// Calls `visit` for each range that it reads for `lanes`: its start and its length in bytes.
    pub fn visit_reads(&self, lanes: LaneMask, mut visit: impl FnMut(MemoryAddress, u64)) {
        match self {
            CopyKind::CpAsync(copies) => {
                for lane in lanes.iter() {
                    visit(MemoryAddress { owner: MemoryOwner::Global, address: copies.from[lane] }, u64::from(copies.source_sizes[lane]));
                }
            }
            CopyKind::Bulk { from, bytes, .. } => visit(*from, u64::from(*bytes)),
            CopyKind::Tensor(copy) => copy.visit_reads(visit),
            CopyKind::StAsync { .. } | CopyKind::CpAsyncArrive => {}
        }
    }

    /// True if it overwrites all of its destination, without a reduction or a byte mask.
    pub fn replaces(&self) -> bool {
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
        /// Its block slot.
        block_slot: u32,
        /// Its index in the grid.
        index: [u32; 3],
    },
}

/// A copy of a bounding box of a tensor between global memory and the shared memory of a block.
#[derive(Clone, Debug)]
pub struct BoxCopy {
    /// The bounding box.
    pub shape: TensorBox,
    /// The owner of the shared memory.
    pub owner: MemoryOwner,
    /// The bytes of the source, once they have been read: its contiguous runs, concatenated in the order of the box.
    pub source_bytes: Option<Box<[u8]>>,
}
