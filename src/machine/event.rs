//! The events of a run. The machine, which is the simulated GPU with one launch, reports them to observers; an observer can ask for a
//! pause, and nothing else.
//!
//! An [`Event`] is complete: an observer need not look anything up in the program or the machine.

use crate::isa::{FenceKind, Ordering, Scope, Space};
use crate::machine::state::block::Block;
use crate::machine::state::in_flight::copy::AsyncCopy;
use crate::machine::state::in_flight::wgmma::Wgmma;
use crate::machine::state::issue_point::{BlockId, IssuePoint, Tick};
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::mbarrier::Contribution;
use crate::machine::state::memory::Pages;
use crate::machine::state::registers::FrameBase;
use crate::machine::state::warp::Warp;
use crate::program::operands::Use;
use crate::program::{Access, Slot};

/// Whether an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads and writes indivisibly.
    Atomic,
}

/// The path by which memory is accessed (PTX ISA, "Proxies").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// As loads and stores do.
    Generic,
    /// As bulk and tensor copies and `wgmma` do.
    Async,
    /// As textures and `ld.global.nc` do.
    ReadOnly,
    /// As tensor copies read their tensor maps.
    TensorMap,
    /// As surfaces are read and written.
    Surface,
}

/// One access by the lanes of a warp, reported just before it happens.
#[derive(Clone, Copy, Debug)]
pub struct AccessEvent<'a> {
    /// The instruction, its thread block and warp, and the tick.
    pub place: IssuePoint,
    /// The block.
    pub block_id: BlockId,
    /// The lanes.
    pub lanes: LaneMask,
    /// Where warps have a stack, the lanes that run in lockstep with these; otherwise none.
    pub lockstep: LaneMask,
    /// Whether it reads or writes.
    pub kind: AccessKind,
    /// Its semantics and scope, as the instruction names them; weak where it names none.
    pub semantics: Access,
    /// The proxy.
    pub proxy: Proxy,
    /// The space the lanes' addresses are in, never `Generic`.
    pub space: Space,
    /// Of shared memory, the block slot and the rank in its cluster of the block that it belongs to.
    pub owner: (u32, u32),
    /// Address of each lane in that space; lanes outside `lanes` repeat one of them.
    pub addresses: &'a PerLane<u64>,
    /// The lowest of them.
    pub min: u64,
    /// The highest.
    pub max: u64,
    /// Bytes a lane.
    pub bytes: u32,
    /// Calls in progress.
    pub depth: u32,
    /// Of a store, what it writes and where; none where that lies in another block's shared memory.
    pub store: Option<StoreData<'a>>,
}

/// The data of a store that is about to happen, and the memory that it writes to.
#[derive(Clone, Copy)]
pub struct StoreData<'a> {
    /// The elements of each lane, in the order of their addresses.
    pub elements: &'a [PerLane<u64>],
    /// Bytes of an element, 8 at most.
    pub element_bytes: u32,
    /// The memory.
    pub pages: &'a Pages,
    /// The address of its first byte.
    pub base: u64,
}

impl StoreData<'_> {
    /// Whether the memory at `address` already holds what `lane` writes there.
    pub fn is_there(&self, lane: usize, address: u64) -> bool {
        let size = self.element_bytes as usize;
        let mut at = address - self.base;
        self.elements.iter().all(|element| {
            let mut held = [0; 8];
            self.pages.read(at, &mut held[..size]);
            at += size as u64;
            held[..size] == element[lane].to_le_bytes()[..size]
        })
    }

    /// Whether two lanes write the same bytes.
    pub fn are_equal(&self, one: usize, other: usize) -> bool {
        let mask = u64::MAX >> (64 - 8 * self.element_bytes);
        self.elements.iter().all(|element| (element[one] ^ element[other]) & mask == 0)
    }
}

impl std::fmt::Debug for StoreData<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreData").field("elements", &self.elements).field("element_bytes", &self.element_bytes).finish_non_exhaustive()
    }
}

/// The stage that a copy has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStage {
    /// It is in flight.
    Issued,
    /// Its source has been read.
    Read,
    /// It has ended: its destination is written, and threads that wait for it may see that.
    Ended,
}

/// An asynchronous copy reaches a stage.
#[derive(Clone, Copy, Debug)]
pub struct CopyEvent<'a> {
    /// The copy.
    pub copy: &'a AsyncCopy,
    /// The lanes whose part of the copy it is.
    pub lanes: LaneMask,
    /// The change.
    pub stage: CopyStage,
    /// A digest of what a copy that is issued replaces in global memory: where, and with which bytes, as its source holds them now. None
    /// of other copies, and later.
    pub replaces: Option<u64>,
    /// The tick.
    pub tick: Tick,
}

/// A change of an mbarrier in shared memory by an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierChange {
    /// `mbarrier.init`, with this expected arrival count.
    Made(u32),
    /// `mbarrier.inval`.
    Invalidated,
    /// It contributes to the present phase.
    Contributed(Contribution),
    /// Its contribution completed this phase.
    Ended(u64),
    /// It tests whether the phase of a parity has completed.
    Tested {
        /// The parity.
        parity: u32,
        /// The result.
        ended: bool,
    },
}

/// An instruction, or a copy that it issued, changes or tests an mbarrier.
#[derive(Clone, Copy, Debug)]
pub struct MbarrierEvent {
    /// The instruction and the tick; of a copy, those of its issue.
    pub place: IssuePoint,
    /// The block of the threads; of a completed phase, the block that owns the mbarrier.
    pub block_id: BlockId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The block whose shared memory the object is in.
    pub block: [u32; 3],
    /// Its block slot: its index among the resident blocks.
    pub block_slot: u32,
    /// Its address there.
    pub address: u32,
    /// The object's phase then; of lanes that contribute to several phases, each is reported for itself.
    pub phase: u64,
    /// The change.
    pub change: MbarrierChange,
    /// Its semantics and scope, as the instruction names them; of a phase that has ended, weak.
    pub semantics: Access,
}

/// A change of the asynchronous matrix multiplications of a warp.
#[derive(Clone, Copy, Debug)]
pub enum WgmmaChange<'a> {
    /// `wgmma.fence`: register accesses before it are ordered before the `wgmma` after it.
    Fenced,
    /// One was issued, and is in flight.
    Issued {
        /// It. [`Wgmma::reads`] are the bytes of shared memory that it reads by the async proxy until it ends.
        wgmma: &'a Wgmma,
        /// Whether its warp has ever executed `wgmma.fence`.
        fenced: bool,
    },
    /// The open group was committed, and is group `group` of the warp.
    Committed {
        /// Its number, from 0.
        group: u32,
    },
    /// The warp has waited for groups: all below `done` have ended.
    Waited {
        /// The number of the first group that may still be in flight.
        done: u32,
    },
    /// One has ended: it has read its operands and written its accumulators. Under `lazy` this is reported when a warp of the warpgroup
    /// waits for it; under `eager` and `random` it may come earlier, and orders nothing: only `Waited` does.
    Ended(&'a Wgmma),
    /// All lanes of the warp exited while it was in flight.
    Abandoned(&'a Wgmma),
    /// An instruction other than `wgmma` is about to use a register that some `wgmma` of its function has for A or D.
    Touched {
        /// Whether it reads or writes.
        used: Use,
        /// The register's slot in the warp's 32-bit registers.
        slot: Slot,
        /// The latest `wgmma` in flight that writes it, or, if `used` is a write, reads it; none if there is none. Under `eager` it stays
        /// in flight for this purpose until its warp has waited for it.
        wgmma: Option<&'a Wgmma>,
    },
}

/// The asynchronous matrix multiplications of a warp change.
#[derive(Clone, Copy, Debug)]
pub struct WgmmaEvent<'a> {
    /// The instruction that does it, and when; of what ends between two instructions, the one that issued it.
    pub place: IssuePoint,
    /// The block.
    pub block_id: BlockId,
    /// The lanes that execute it.
    pub lanes: LaneMask,
    /// The change.
    pub change: WgmmaChange<'a>,
    /// The tick.
    pub tick: Tick,
}

/// A synchronization by threads, or a completion, that orders some threads after others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order<'a> {
    /// They executed a fence.
    Fence {
        /// Its kind: the operations and proxies that it orders.
        kind: FenceKind,
        /// Its memory ordering.
        ordering: Ordering,
        /// Its scope.
        scope: Scope,
    },
    /// They arrived at a barrier of the block, and wait there if it `waits`.
    Arrived {
        /// Its number.
        id: u32,
        /// Threads wanted, if the instruction names a number.
        wanted: Option<u32>,
        /// Whether they wait.
        waits: bool,
        /// Whether all lanes of a warp must execute it together.
        aligned: bool,
    },
    /// A barrier of the block ended its phase. The lanes are none; those that had arrived are listed by warp.
    BarrierCompleted {
        /// Its number.
        id: u32,
        /// The lanes that arrived.
        arrived: &'a [LaneMask],
    },
    /// They reach a `bar.warp.sync`, which the other lanes of `members` must execute too.
    WarpSync {
        /// The lanes that synchronize.
        members: LaneMask,
    },
    /// They reach a warp collective (`shfl`, `vote`, `match`, `redux`, `elect`) with the other lanes of `members`, which orders nothing.
    /// Reported again when they had to wait for those.
    Collective {
        /// The lanes that take part.
        members: LaneMask,
    },
    /// They arrived at the barrier of the cluster.
    ClusterArrived {
        /// Whether that releases nothing.
        relaxed: bool,
        /// Whether all lanes of a warp must execute it together.
        aligned: bool,
    },
    /// They wait for the barrier of the cluster, or continue if it has ended.
    ClusterWaits,
    /// The barrier of the cluster ended its phase, for the blocks in this many block slots from `first` on.
    ClusterBarrierCompleted {
        /// The first block slot.
        first: u32,
        /// The number of block slots.
        blocks: u32,
    },
    /// They committed their groups of copies.
    Committed {
        /// Of bulk copies, or of `cp.async`.
        bulk: bool,
    },
    /// They have waited for groups of copies.
    Awaited(CopyWait),
    /// They exit.
    Exited,
}

/// The groups of copies that lanes have waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyWait {
    /// Of bulk copies, or of `cp.async`.
    pub bulk: bool,
    /// Only until their sources have been read.
    pub read: bool,
    /// The group that is not committed yet as well.
    pub open: bool,
    /// Closed groups that may be left.
    pub pending: u32,
}

/// A synchronization.
#[derive(Clone, Copy, Debug)]
pub struct OrderEvent<'a> {
    /// The instruction and the tick; of a completion, the instruction that caused it.
    pub place: IssuePoint,
    /// The block.
    pub block_id: BlockId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The synchronization.
    pub order: Order<'a>,
}

/// Lanes are about to execute a warp collective (`shfl`, `vote`, `match`, `redux`, `elect`), as those that execute it at one place see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The instruction, its thread block and warp, and the tick.
    pub place: IssuePoint,
    /// The lanes that execute it there.
    pub lanes: LaneMask,
    /// The lanes that take part, at this place and at others.
    pub among: LaneMask,
    /// Those that the member mask names.
    pub members: LaneMask,
    /// Whether the instruction has a member mask.
    pub has_mask: bool,
    /// The lanes of the warp that have not exited.
    pub live: LaneMask,
    /// Calls in progress.
    pub depth: u32,
    /// Of a `shfl`, the lane from which each takes its value: its own where that it asks for is out of range.
    pub sources: Option<PerLane<u32>>,
    /// Of a `shfl`, the lanes of `lanes` whose source does not take part.
    pub absent: LaneMask,
}

/// One instruction of one group of lanes.
#[derive(Clone, Copy, Debug)]
pub struct Issue {
    /// The instruction, its thread block and warp, and the tick.
    pub place: IssuePoint,
    /// The lanes of the group.
    pub lanes: LaneMask,
    /// Those that execute it: the guard holds for them.
    pub active: LaneMask,
    /// Where their registers are.
    pub frame: FrameBase,
    /// Calls in progress.
    pub depth: u32,
}

/// Something that happens in a run.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// Memory is about to be accessed. A pause comes when the instruction has been executed.
    Access(AccessEvent<'a>),
    /// Threads did something that orders them.
    Order(OrderEvent<'a>),
    /// Lanes are about to execute a warp collective.
    Collective(&'a Collective),
    /// Something has happened to an asynchronous copy.
    Copy(CopyEvent<'a>),
    /// Something is done to an mbarrier, just before it happens; that a phase has ended is reported afterwards.
    Mbarrier(MbarrierEvent),
    /// The asynchronous matrix multiplications of a warp change.
    Wgmma(WgmmaEvent<'a>),
    /// An instruction is about to be issued; after a pause it is reported again.
    Before(&'a Issue, &'a Warp),
    /// An instruction was issued and executed. The group's next pc is not yet written into the warp.
    After(&'a Issue, &'a Warp),
    /// Groups of a warp reconverged between two instructions, and these lanes are now one group at the place.
    Reconverged(IssuePoint, LaneMask),
    /// The instruction at the place made threads of the block arrive at a barrier or exit, which may have released others and, if they wait
    /// for the result of a reduction, written their registers.
    Arrived(IssuePoint, &'a Block),
}

/// A kind of [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventKind {
    /// [`Event::Access`].
    Access,
    /// [`Event::Order`].
    Order,
    /// [`Event::Collective`] in which every lane's source takes part.
    Collective,
    /// [`Event::Collective`] by which some lane takes a value from one that does not take part.
    AbsentSource,
    /// [`Event::Copy`].
    Copy,
    /// [`Event::Mbarrier`].
    Mbarrier,
    /// [`Event::Wgmma`].
    Wgmma,
    /// [`Event::Before`].
    Before,
    /// [`Event::After`].
    After,
    /// [`Event::Reconverged`].
    Reconverged,
    /// [`Event::Arrived`].
    Arrived,
}

/// A set of kinds of events. What is not in it costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventMask(u16);

impl EventMask {
    /// No kind.
    pub const NONE: Self = Self(0);
    /// Every kind.
    pub const ALL: Self = Self((1 << (EventKind::Arrived as u16 + 1)) - 1);

    /// These kinds.
    pub const fn of(kinds: &[EventKind]) -> Self {
        let (mut mask, mut next) = (0, 0);
        while next < kinds.len() {
            mask |= 1 << kinds[next] as u16;
            next += 1;
        }
        Self(mask)
    }

    /// Whether it holds `kind`.
    #[inline(always)]
    pub const fn has(self, kind: EventKind) -> bool {
        self.0 >> kind as u16 & 1 != 0
    }

    /// Whether it holds any of `other`.
    #[inline(always)]
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The kinds of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Event<'_> {
    /// Its kind.
    pub fn kind(&self) -> EventKind {
        match self {
            Event::Access(_) => EventKind::Access,
            Event::Order(_) => EventKind::Order,
            Event::Collective(collective) if collective.absent.is_empty() => EventKind::Collective,
            Event::Collective(_) => EventKind::AbsentSource,
            Event::Copy(_) => EventKind::Copy,
            Event::Mbarrier(_) => EventKind::Mbarrier,
            Event::Wgmma(_) => EventKind::Wgmma,
            Event::Before(..) => EventKind::Before,
            Event::After(..) => EventKind::After,
            Event::Reconverged(..) => EventKind::Reconverged,
            Event::Arrived(..) => EventKind::Arrived,
        }
    }
}

/// Something that watches a run.
pub trait Observer {
    /// The kinds of events it wants, asked at every turn of a warp, between turns, after [`EventKind::AbsentSource`], and after
    /// an access that reads.
    fn mask(&self) -> EventMask;

    /// Something happens, of a kind in the mask that was asked last. If it returns true the run pauses there with
    /// [`Step::Paused`](crate::machine::Step::Paused), in the state in which a budget that ends at the same tick would leave it.
    fn event(&mut self, event: &Event<'_>) -> bool;
}

impl dyn Observer + '_ {
    /// Reports the event of kind `kind` that `make` makes, if it is wanted. True if the observer asks for a pause.
    pub(super) fn report<'e>(&mut self, kind: EventKind, make: impl FnOnce() -> Event<'e>) -> bool {
        self.mask().has(kind) && self.event(&make())
    }
}

/// The observer that receives no events.
pub struct NullObserver;

impl Observer for NullObserver {
    fn mask(&self) -> EventMask {
        EventMask::NONE
    }

    fn event(&mut self, _event: &Event<'_>) -> bool {
        false
    }
}
