//! Changes to a program that may remove a finding, as data: what an advice says in words.
//!
//! An advice proposes [`Candidate`]s, the likeliest first. Nothing here is tried: the debugger makes each change in a copy of the
//! program and runs it.

use crate::isa::{AtomicFn, Ordering, Scope};
use crate::program::Pc;

/// Changes that are made together.
pub type Candidate = Vec<Remedy>;

/// One change to a program, about instructions of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// All threads of a group meet on every way from one of two instructions to the other.
    Barrier(BarrierLevel, Pc, Pc),
    /// They meet at one place.
    BarrierAt(BarrierLevel, Position),
    /// The threads that execute one of two instructions, the first of them, and those that execute the other meet at a barrier of theirs.
    RoleBarrier(Pc, Pc),
    /// A fence of memory.
    Fence(Scope, Position),
    /// A fence between the generic and the async proxy.
    ProxyFence(Position),
    /// An access, a fence or an operation on an mbarrier with other semantics: relaxed, acquire or release.
    Order(Pc, Ordering),
    /// The same with another scope.
    Scope(Pc, Scope),
    /// `cp.async.wait_group` that leaves this number of groups pending.
    WaitGroup(Pc, u32),
    /// Thread (0,0,0) of the block alone executes the instruction, of those that would.
    FirstThread(Pc),
    /// A wait for the phase of the other parity.
    OtherParity(Pc),
    /// `cp.async.commit_group` before an instruction.
    Commit(Pc),
    /// A wait, right there, for all copies of this kind that the thread has issued.
    WaitAll(CopyKind, Position),
    /// A load, an operation and a store of one place in one step, by this operation where there is one.
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

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// Right before an instruction.
    Before(Pc),
    /// Right after it.
    After(Pc),
}

impl Position {
    /// The instruction.
    pub fn pc(self) -> Pc {
        match self {
            Position::Before(pc) | Position::After(pc) => pc,
        }
    }
}

/// Asynchronous operations that a thread waits for by groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// `cp.async`.
    Lane,
    /// Bulk copies from shared memory.
    Bulk,
    /// `wgmma`.
    Wgmma,
}

/// A proposed change: as text, and as changes that can be tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Advice {
    /// In one line.
    pub text: String,
    /// The likeliest first; nothing where no change of the program is meant.
    pub candidates: Vec<Candidate>,
}

impl Advice {
    /// Words with changes.
    pub fn new(text: impl Into<String>, candidates: Vec<Candidate>) -> Self {
        Self { text: text.into(), candidates }
    }

    /// Words alone.
    pub fn words(text: impl Into<String>) -> Self {
        Self::new(text, Vec::new())
    }
}
