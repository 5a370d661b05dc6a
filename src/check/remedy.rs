//! Changes to a program that may remove a finding, as data; an advice has the same as text.
//!
//! An advice proposes [`Candidate`]s, the likeliest first. Nothing here is tried: the debugger makes each change in a copy of the
//! program and runs it.

use super::advice_text::AdviceText;
use crate::isa::{AtomicFn, Ordering, Scope};
use crate::program::Pc;

/// Changes that are made together.
pub type Candidate = Vec<Remedy>;

/// One change to a program, about instructions of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A barrier on every path from one of two instructions to the other.
    Barrier(BarrierLevel, Pc, Pc),
    /// A barrier at one position.
    BarrierAt(BarrierLevel, Position),
    /// A named barrier of the threads that execute the first instruction and those that execute the second.
    NamedBarrier(Pc, Pc),
    /// An arrival at the named barrier at which threads wait with the instruction.
    Arrive(Pc, Position),
    /// A wait at the barrier of the cluster, at which the threads have arrived.
    ClusterWait(Position),
    /// An arrival at the barrier of the cluster.
    ClusterArrive(Position),
    /// A fence of memory.
    Fence(Scope, Position),
    /// A fence between the generic and the async proxy.
    ProxyFence(Position),
    /// A fence of the registers of `wgmma`.
    WgmmaFence(Position),
    /// Other semantics (relaxed, acquire or release) of an access, a fence or an operation on an mbarrier.
    Order(Pc, Ordering),
    /// Another scope of an access, a fence or an operation on an mbarrier.
    Scope(Pc, Scope),
    /// `cp.async.wait_group` that leaves this number of groups pending.
    WaitGroup(Pc, u32),
    /// Only thread (0,0,0) of the block executes the instruction.
    FirstThread(Pc),
    /// A wait for the phase of the other parity.
    OtherParity(Pc),
    /// A wait for the phase of an mbarrier: before the second instruction, which takes what the first one brings, or before the first one,
    /// which needs room that the second one frees.
    PhaseWait(Pc, Pc),
    /// `cp.async.commit_group` before an instruction.
    Commit(Pc),
    /// A wait at this position for all copies of this kind that the thread has issued.
    WaitAll(CopyKind, Position),
    /// One atomic in place of a load, an operation and a store of one location; of this operation, if there is one.
    Atomic {
        /// The load.
        load: Pc,
        /// The store.
        store: Pc,
        /// The operation between.
        f: Option<AtomicFn>,
    },
}

/// The threads that synchronize at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BarrierLevel {
    /// The threads of a warp.
    Warp,
    /// The threads of a block.
    Block,
    /// The threads of a cluster.
    Cluster,
}

/// A position in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// Immediately before an instruction.
    Before(Pc),
    /// Immediately after an instruction.
    After(Pc),
}

impl Position {
    /// The instruction.
    pub fn pc(self) -> Pc {
        match self {
            Position::Before(pc) | Position::After(pc) => pc,
        }
    }

    /// The same side of another instruction.
    #[must_use]
    pub fn with_pc(self, pc: Pc) -> Self {
        match self {
            Position::Before(_) => Position::Before(pc),
            Position::After(_) => Position::After(pc),
        }
    }
}

/// Asynchronous operations that a thread waits for by commit groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// `cp.async`.
    CpAsync,
    /// Bulk copies from shared memory.
    Bulk,
    /// `wgmma`.
    Wgmma,
}

/// A proposed change: as text, and as changes that can be tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Advice {
    /// In one line.
    pub text: AdviceText,
    /// The likeliest first; empty if no change of the program is proposed.
    pub candidates: Vec<Candidate>,
}

impl Advice {
    /// Text with changes.
    pub fn new(text: impl Into<AdviceText>, candidates: Vec<Candidate>) -> Self {
        Self { text: text.into(), candidates }
    }

    /// Text alone.
    pub fn text_only(text: impl Into<AdviceText>) -> Self {
        Self::new(text, Vec::new())
    }
}
