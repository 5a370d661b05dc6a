//! The events of a run. The machine, which is the simulated GPU with one launch, reports them to observers; an observer can ask for a
//! pause, and nothing else.
//!
//! An [`Event`] is complete: an observer need not look anything up in the program or the machine.

use super::event_kind::{EventKind, EventMask, ISSUES, Issues};
use crate::isa::{FenceKind, Ordering, Scope, Space};
use crate::machine::state::block::Block;
use crate::machine::state::in_flight::copy::AsyncCopy;
use crate::machine::state::in_flight::wgmma::Wgmma;
use crate::machine::state::issue_point::{BlockId, IssuePoint, Tick, WarpId};
use crate::machine::state::lanes::{LaneMask, LaneShape, PerLane};
use crate::machine::state::mbarrier::Contribution;
use crate::machine::state::memory::{Pages, Region};
use crate::machine::state::registers::FrameBase;
use crate::machine::state::warp::Warp;
use crate::program::operands::Use;
use crate::program::{Access, Param, Slot};

/// The kind of an access: a read, a write or both.
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
    /// The proxy of loads and stores.
    Generic,
    /// The proxy of bulk and tensor copies and of `wgmma`.
    Async,
    /// The proxy of texture reads and `ld.global.nc`.
    ReadOnly,
    /// The proxy by which tensor copies read their tensor maps.
    TensorMap,
    /// The proxy of surface reads and writes.
    Surface,
}

/// One access by the lanes of a warp, reported just before it happens.
#[derive(Clone, Copy, Debug)]
pub struct AccessEvent<'a> {
    /// The instruction, its thread block and warp, and the tick.
    pub point: IssuePoint,
    /// The block.
    pub block_id: BlockId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The lanes that run in lockstep with these, under the stack policy; otherwise none.
    pub lockstep: LaneMask,
    /// The kind of the access.
    pub kind: AccessKind,
    /// Its semantics and scope, as the instruction names them; weak where it names none.
    pub semantics: Access,
    /// The proxy.
    pub proxy: Proxy,
    /// The space the lanes' addresses are in, never `Generic`.
    pub space: Space,
    /// For shared memory: the block slot of the block that owns it, and the block's rank in its cluster.
    pub owner: (u32, u32),
    /// Address of each lane in that space; lanes outside `lanes` repeat one of them.
    pub addresses: &'a PerLane<u64>,
    /// How they follow each other, where that is known; only if all lanes access memory.
    pub shape: Option<&'a LaneShape>,
    /// The lowest of them.
    pub min: u64,
    /// The highest.
    pub max: u64,
    /// Bytes per lane.
    pub bytes: u32,
    /// Calls in progress.
    pub depth: u32,
    /// The data of a store; none for a store to the shared memory of another block.
    pub store: Option<StoreData<'a>>,
}

/// A plain load by lanes of a warp from global memory or from the shared memory of their own block, reported just before it happens.
/// These are most of the accesses of many kernels, and most of them need no event.
#[derive(Clone, Copy, Debug)]
pub struct PlainRead<'a> {
    /// The instruction, its thread block and warp, and the tick.
    pub point: &'a IssuePoint,
    /// The block.
    pub block_id: BlockId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The lanes of the warp that run in lockstep.
    pub lockstep: LaneMask,
    /// The space, global or shared.
    pub space: Space,
    /// The proxy.
    pub proxy: Proxy,
    /// The lowest address.
    pub low: u64,
    /// Bytes from that to the last one of the highest.
    pub span: u64,
    /// Bytes per lane.
    pub bytes: u32,
    /// The distance of the address of each lane from the lowest.
    pub deltas: &'a PerLane<u32>,
    /// How the addresses follow each other.
    pub shape: &'a LaneShape,
}

/// The data of a store that is about to happen, and the memory that it writes to.
#[derive(Clone, Copy)]
pub struct StoreData<'a> {
    /// The elements of each lane, in the order of their addresses.
    pub elements: &'a [PerLane<u64>],
    /// Bytes of an element, 8 at most.
    pub element_bytes: u32,
    /// The pages of that memory.
    pub pages: &'a Pages,
    /// The address at which these pages begin.
    pub origin: u64,
}

impl StoreData<'_> {
    /// True if the memory at `address` already holds the bytes that `lane` writes there.
    pub fn already_holds(&self, lane: usize, address: u64) -> bool {
        let size = self.element_bytes as usize;
        let mut at = address - self.origin;
        self.elements.iter().all(|element| {
            let mut present = [0; 8];
            self.pages.read(at, &mut present[..size]);
            at += size as u64;
            present[..size] == element[lane].to_le_bytes()[..size]
        })
    }

    /// True if two lanes write the same bytes.
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
    /// The lanes whose bytes reach the stage.
    pub lanes: LaneMask,
    /// The stage.
    pub stage: CopyStage,
    /// At issue, for a copy that overwrites global memory: a digest of the addresses and of the bytes that its source holds now. Otherwise
    /// none.
    pub replaces: Option<u64>,
    /// The tick.
    pub tick: Tick,
}

/// A change of an mbarrier in shared memory by an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierChange {
    /// `mbarrier.init`, with this expected arrival count.
    Initialized(u32),
    /// `mbarrier.inval`.
    Invalidated,
    /// A contribution to the current phase.
    Contributed(Contribution),
    /// A contribution completed the phase of this number.
    PhaseCompleted(u64),
    /// `test_wait` or `try_wait`: a test whether the phase of a parity has completed.
    Tested {
        /// The parity.
        parity: u32,
        /// True if the phase has completed.
        completed: bool,
    },
}

/// An instruction, or a copy that it issued, changes or tests an mbarrier.
#[derive(Clone, Copy, Debug)]
pub struct MbarrierEvent {
    /// The instruction and the tick; of a copy, those of its issue.
    pub point: IssuePoint,
    /// The block of the threads; of a completed phase, the block that owns the mbarrier.
    pub block_id: BlockId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The block whose shared memory holds the mbarrier.
    pub block: [u32; 3],
    /// The block slot of that block.
    pub block_slot: u32,
    /// The address of the mbarrier in its shared memory.
    pub address: u32,
    /// The current phase of the mbarrier. Lanes that contribute to several phases cause one event for each phase.
    pub phase: u64,
    /// The change.
    pub change: MbarrierChange,
    /// Its semantics and scope, as the instruction names them; weak for a completed phase.
    pub semantics: Access,
}

/// A change of the asynchronous matrix multiplications of a warp.
#[derive(Clone, Copy, Debug)]
pub enum WgmmaChange<'a> {
    /// `wgmma.fence`: register accesses before it are ordered before the `wgmma` after it.
    Fenced,
    /// A multiplication was issued, and is in flight.
    Issued {
        /// The multiplication. [`Wgmma::reads`] are the bytes of shared memory that it reads by the async proxy until it ends.
        wgmma: &'a Wgmma,
        /// True if its warp has ever executed `wgmma.fence`.
        fenced: bool,
        /// Calls in progress.
        depth: u32,
    },
    /// The uncommitted wgmma-group was committed, and is wgmma-group `group` of the warp.
    Committed {
        /// Its number, from 0.
        group: u32,
    },
    /// The warp has waited for wgmma-groups: all below `done` have completed.
    Waited {
        /// The number of the first wgmma-group that may still be in flight.
        done: u32,
    },
    /// A multiplication has ended: it has read its operands and written its accumulators. Under `lazy` this is reported when a warp of the
    /// warpgroup waits for it; under `eager` and `random` it may come earlier, and orders nothing: only `Waited` does.
    Ended(&'a Wgmma),
    /// All lanes of the warp exited while the multiplication was in flight.
    Abandoned(&'a Wgmma),
    /// An instruction is about to read or write a register that some `wgmma` of its function uses for A or D.
    RegisterUsed {
        /// The use: a read or a write.
        used: Use,
        /// The register's slot in the warp's 32-bit registers.
        slot: Slot,
        /// The latest `wgmma` in flight that writes the register, or, if `used` is a write, reads it; none if there is none. For this
        /// purpose a `wgmma` is in flight until its warp has waited for it, under `eager` too.
        wgmma: Option<&'a Wgmma>,
    },
}

/// The asynchronous matrix multiplications of a warp change.
#[derive(Clone, Copy, Debug)]
pub struct WgmmaEvent<'a> {
    /// The instruction that causes the change; for a `wgmma` that ends between two instructions, the one that issued it.
    pub point: IssuePoint,
    /// The block.
    pub block_id: BlockId,
    /// The lanes that execute it.
    pub lanes: LaneMask,
    /// The change.
    pub change: WgmmaChange<'a>,
    /// The tick.
    pub tick: Tick,
}

/// A synchronization, or the completion of one, that orders some threads after others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncKind<'a> {
    /// The lanes executed a fence.
    Fence {
        /// Its kind: the operations and proxies that it orders.
        kind: FenceKind,
        /// Its memory ordering.
        ordering: Ordering,
        /// Its scope.
        scope: Scope,
    },
    /// The lanes arrived at a barrier of the block.
    Arrived {
        /// Its number.
        id: u32,
        /// The thread count, if the instruction has one.
        thread_count: Option<u32>,
        /// True if the lanes wait for the barrier.
        waits: bool,
        /// True if all lanes of a warp must execute the instruction together (`.aligned`).
        aligned: bool,
    },
    /// A barrier of the block completed its phase. `lanes` of the event is empty.
    BarrierCompleted {
        /// Its number.
        id: u32,
        /// The lanes that arrived, by warp.
        arrived: &'a [LaneMask],
    },
    /// The lanes reach a `bar.warp.sync`, which the other lanes of `members` must execute too.
    WarpSync {
        /// The lanes that synchronize.
        members: LaneMask,
    },
    /// The lanes reach a warp collective (`shfl`, `vote`, `match`, `redux`, `elect`) with the other lanes of `members`. It orders nothing.
    /// Reported again if the lanes had to wait for others.
    Collective {
        /// The lanes of the member mask.
        members: LaneMask,
    },
    /// The lanes arrived at the barrier of the cluster.
    ClusterArrived {
        /// True if the arrival has no release semantics (`.relaxed`).
        relaxed: bool,
        /// True if all lanes of a warp must execute the instruction together (`.aligned`).
        aligned: bool,
    },
    /// The lanes wait for the barrier of the cluster, or continue if its phase has completed.
    ClusterWaits,
    /// The barrier of the cluster completed its phase, for the blocks in `blocks` block slots from `first` on.
    ClusterBarrierCompleted {
        /// The first block slot.
        first: u32,
        /// The number of block slots.
        blocks: u32,
    },
    /// The lanes committed their groups of copies.
    Committed {
        /// True for bulk copies, false for `cp.async`.
        bulk: bool,
    },
    /// The lanes have waited for groups of copies.
    Awaited(CopyWait),
    /// The lanes exit.
    Exited,
}

/// The groups of copies that lanes have waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyWait {
    /// True for bulk copies, false for `cp.async`.
    pub bulk: bool,
    /// True if the wait lasts only until the sources have been read (`.read`).
    pub read: bool,
    /// True if the wait includes the uncommitted group.
    pub uncommitted: bool,
    /// Committed groups that may still be in flight after the wait.
    pub pending: u32,
}

/// Lanes synchronize, or a synchronization completes.
#[derive(Clone, Copy, Debug)]
pub struct SyncEvent<'a> {
    /// The instruction and the tick; for a completion, the instruction that caused it.
    pub point: IssuePoint,
    /// The block.
    pub block_id: BlockId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The synchronization.
    pub kind: SyncKind<'a>,
}

/// Lanes at one instruction that are about to execute a warp collective (`shfl`, `vote`, `match`, `redux`, `elect`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The instruction, its thread block and warp, and the tick.
    pub point: IssuePoint,
    /// The lanes that execute it at this instruction.
    pub lanes: LaneMask,
    /// The lanes that take part, at this instruction and at others.
    pub participants: LaneMask,
    /// The lanes that the member mask names.
    pub members: LaneMask,
    /// True if the instruction has a member mask.
    pub has_mask: bool,
    /// The lanes of the warp that have not exited.
    pub live: LaneMask,
    /// Calls in progress.
    pub depth: u32,
    /// For a `shfl`, the source lane of each lane: the lane itself if the source is out of range.
    pub sources: Option<PerLane<u32>>,
    /// For a `shfl`, the lanes of `lanes` whose source lane does not take part.
    pub absent: LaneMask,
}

/// One instruction of one group of lanes.
#[derive(Clone, Copy, Debug)]
pub struct Issue {
    /// The instruction, its thread block and warp, and the tick.
    pub point: IssuePoint,
    /// The lanes of the group.
    pub lanes: LaneMask,
    /// The lanes for which the guard holds, and which execute it.
    pub active: LaneMask,
    /// The frame of their registers.
    pub frame: FrameBase,
    /// Calls in progress.
    pub depth: u32,
}

/// Lanes get bytes of their local memory that hold nothing yet: the frame of a call, or what `alloca` gives.
#[derive(Clone, Copy)]
pub struct LocalStart<'a> {
    /// The instruction, its thread block and warp, and the tick.
    pub point: IssuePoint,
    /// The block.
    pub block_id: BlockId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The first address.
    pub start: u32,
    /// The address after the last.
    pub end: u32,
    /// The parameters of the function that is called, which the call writes.
    pub params: &'a [Param],
}

/// An event of a run.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// Memory is about to be accessed. A pause takes effect after the instruction.
    Access(AccessEvent<'a>),
    /// Threads synchronize, or a synchronization completes.
    Sync(SyncEvent<'a>),
    /// Lanes call a function or allocate local memory.
    LocalStart(LocalStart<'a>),
    /// Lanes are about to execute a warp collective.
    Collective(&'a Collective),
    /// An asynchronous copy reaches a stage.
    Copy(CopyEvent<'a>),
    /// An mbarrier is about to change, or a phase of it has completed.
    Mbarrier(MbarrierEvent),
    /// The asynchronous matrix multiplications of a warp change.
    Wgmma(WgmmaEvent<'a>),
    /// An instruction is about to be issued; after a pause it is reported again.
    Before(&'a Issue, &'a Warp, Memories<'a>),
    /// An instruction was executed. The warp's lanes stand where they go on.
    After(&'a Issue, &'a Warp),
    /// Groups of a warp reconverged between two instructions: these lanes are now one group at this pc.
    Reconverged(IssuePoint, LaneMask),
    /// Threads of the block arrived at a barrier or exited. That may have released other threads and written the result of a barrier
    /// reduction into their registers.
    Arrived(IssuePoint, &'a Block),
}

/// The memory that the threads of a block share, as an instruction finds it.
#[derive(Clone, Copy)]
pub struct Memories<'a> {
    /// Global memory.
    pub global: &'a Region,
    /// Constant memory.
    pub constant: &'a Region,
    /// The block's shared memory.
    pub shared: &'a Pages,
}

impl Event<'_> {
    /// Its kind.
    pub fn kind(&self) -> EventKind {
        match self {
            Event::Access(_) => EventKind::Access,
            Event::Sync(_) => EventKind::Sync,
            Event::LocalStart(_) => EventKind::LocalStart,
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

    /// The tick of the instruction that causes it; for what ends between two instructions, that of the later one.
    pub fn tick(&self) -> Tick {
        match self {
            Event::Access(access) => access.point.tick,
            Event::Sync(sync) => sync.point.tick,
            Event::LocalStart(start) => start.point.tick,
            Event::Collective(collective) => collective.point.tick,
            Event::Copy(copy) => copy.tick,
            Event::Mbarrier(mbarrier) => mbarrier.point.tick,
            Event::Wgmma(wgmma) => wgmma.tick,
            Event::Before(issue, ..) | Event::After(issue, _) => issue.point.tick,
            Event::Reconverged(point, _) | Event::Arrived(point, _) => point.tick,
        }
    }
}

/// Receives the events of a run.
pub trait Observer {
    /// The kinds of events that it receives. Queried in every time slice of a warp, between time slices, after [`EventKind::AbsentSource`],
    /// and after an access that reads.
    fn mask(&self) -> EventMask;

    /// The instructions of a warp of which it receives [`EventKind::Before`] and [`EventKind::After`]: others are executed faster. Asked
    /// with the mask, if that has one of these; if they become all in the middle of a time slice, they are to its end.
    fn issues(&mut self, _block: [u32; 3], _warp: WarpId) -> Issues {
        Issues::All
    }

    /// Receives an event of a kind in the last mask. If it returns true, the run pauses with
    /// [`Step::Paused`](crate::machine::Step::Paused), in the same state as after a budget that ends at that tick.
    fn event(&mut self, event: &Event<'_>) -> bool;

    /// False if plain accesses to this space need not be reported: of a block to its own shared memory, or to the parameters of the kernel.
    fn observes(&self, _space: Space) -> bool {
        true
    }

    /// Takes note of a plain read, if it is of no more interest: then it is not reported as [`Event::Access`]. False, without effect on
    /// what is reported, if it is to be. Asked only if the mask has [`EventKind::Access`], which stays so.
    fn plain_read(&mut self, _read: &PlainRead<'_>) -> bool {
        false
    }
}

impl dyn Observer + '_ {
    /// Reports the event that `make` returns, of kind `kind`, if the mask has that kind. True if the observer asks for a pause.
    pub(super) fn report<'e>(&mut self, kind: EventKind, make: impl FnOnce() -> Event<'e>) -> bool {
        self.mask().has(kind) && self.event(&make())
    }

    /// Asks again which instructions of a warp it receives, in the middle of a time slice. True if they become all.
    pub(super) fn widen(&mut self, issues: &mut Issues, (block, warp): ([u32; 3], WarpId)) -> bool {
        let may_widen = !matches!(issues, Issues::All) && self.mask().has_any(ISSUES);
        let widens = may_widen && matches!(self.issues(block, warp), Issues::All);
        if widens {
            *issues = Issues::All;
        }
        widens
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
