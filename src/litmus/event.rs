//! Events: what the instructions of a path do to memory.

use super::test::{Proxy, Test};
use super::values::Value;
use crate::isa::{Ordering, Scope};

/// An event of an execution. An atomic operation is a read and a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The thread's place in the test; none for the write of a first value.
    pub thread: Option<usize>,
    /// The instruction, by its place in the thread.
    pub instruction: usize,
    /// What it is.
    pub kind: EventKind,
    /// The location of an access.
    pub location: Option<usize>,
    /// The proxy of an access, or that which a fence is of.
    pub proxy: Option<Proxy>,
    /// The semantics of an access.
    pub ordering: Ordering,
    /// The scope of a strong access or a fence.
    pub scope: Scope,
    /// What a write writes.
    pub written: Option<Value>,
    /// The reads of its thread on which it depends, by their number among the thread's events.
    pub depends_on: u64,
}

/// What an event is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A read.
    Read {
        /// True if nothing gets the value (`red`): it is part of no acquire pattern (PTX ISA, "Release and Acquire Patterns").
        is_dropped: bool,
        /// True if a write follows atomically.
        is_atomic: bool,
    },
    /// A write.
    Write,
    /// `fence` with semantics.
    Fence,
    /// `fence.proxy.…` of a proxy.
    ProxyFence,
    /// `fence.proxy.alias`.
    AliasFence,
    /// An arrival at a barrier.
    Barrier {
        /// True if it does not wait.
        only_arrives: bool,
        /// The number of the instruction.
        instance: i64,
        /// The number of the barrier.
        id: Option<Value>,
        /// The threads that meet.
        count: Option<Value>,
    },
}

impl Event {
    /// One that accesses no memory.
    pub fn other(thread: usize, instruction: usize, kind: EventKind) -> Self {
        Self {
            thread: Some(thread),
            instruction,
            kind,
            location: None,
            proxy: None,
            ordering: Ordering::Weak,
            scope: Scope::None,
            written: None,
            depends_on: 0,
        }
    }

    /// True if it reads memory.
    pub fn is_read(&self) -> bool {
        matches!(self.kind, EventKind::Read { .. })
    }

    /// True if it writes memory.
    pub fn is_write(&self) -> bool {
        self.kind == EventKind::Write
    }

    /// True for `fence` with semantics.
    pub fn is_fence(&self) -> bool {
        self.kind == EventKind::Fence
    }

    /// True for `fence.sc`.
    pub fn is_sc_fence(&self) -> bool {
        self.is_fence() && self.ordering == Ordering::SeqCst
    }

    /// PTX ISA, "Strong Operations".
    pub fn is_strong(&self) -> bool {
        self.is_fence() || self.location.is_some() && self.thread.is_some() && self.ordering != Ordering::Weak
    }

    /// True if its scope includes another thread of the test.
    pub fn includes(&self, test: &Test, other: &Self) -> bool {
        let (Some(own), Some(other)) = (self.thread, other.thread) else { return false };
        let (own, other) = (&test.threads[own], &test.threads[other]);
        match self.scope {
            Scope::None => false,
            Scope::Cta => (own.block, own.gpu) == (other.block, other.gpu),
            Scope::Cluster | Scope::Gpu => own.gpu == other.gpu,
            Scope::Sys => true,
        }
    }
}
