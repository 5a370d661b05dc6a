//! Programs of a few threads, each with a few operations on shared locations.

/// The scope of a strong operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Cta,
    Gpu,
}

impl Scope {
    /// Its modifier.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cta => ".cta",
            Self::Gpu => ".gpu",
        }
    }
}

/// The semantics of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    Weak,
    Relaxed(Scope),
    /// Of a read.
    Acquire(Scope),
    /// Of a write.
    Release(Scope),
    /// Of a read-modify-write.
    AcqRel(Scope),
}

impl Semantics {
    /// Its modifiers.
    pub fn words(self) -> String {
        match self {
            Self::Weak => ".weak".to_string(),
            Self::Relaxed(scope) => format!(".relaxed{}", scope.word()),
            Self::Acquire(scope) => format!(".acquire{}", scope.word()),
            Self::Release(scope) => format!(".release{}", scope.word()),
            Self::AcqRel(scope) => format!(".acq_rel{}", scope.word()),
        }
    }
}

/// An operation of a thread. Locations are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Load(usize, Semantics),
    Store(usize, Semantics, u32),
    /// Adds to a location, and returns what it held.
    Add(usize, Semantics, u32),
    /// The same, which returns nothing.
    Reduce(usize, Semantics, u32),
    /// A `fence.acq_rel`, or a `fence.sc`.
    Fence {
        sc: bool,
        scope: Scope,
    },
    /// The thread ends unless its last read returned this.
    Unless(u32),
    /// The barrier of the block. It stands before everything that can end a thread.
    Barrier,
}

impl Op {
    /// Which location it accesses, and how.
    pub fn access(self) -> Option<(usize, Semantics)> {
        match self {
            Self::Load(at, how) | Self::Store(at, how, _) | Self::Add(at, how, _) | Self::Reduce(at, how, _) => Some((at, how)),
            Self::Fence { .. } | Self::Unless(_) | Self::Barrier => None,
        }
    }

    pub fn reads(self) -> bool {
        matches!(self, Self::Load(..) | Self::Add(..) | Self::Reduce(..))
    }
}

/// A thread, the first of a warp of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    pub block: usize,
    pub ops: Vec<Op>,
}

/// A program. All locations hold 0 at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    pub threads: Vec<Thread>,
}

/// An operation of a program: the thread, and the place in it.
pub type At = (usize, usize);

impl Program {
    pub fn op(&self, (thread, index): At) -> Op {
        self.threads[thread].ops[index]
    }

    /// All its operations, thread by thread.
    pub fn all(&self) -> impl Iterator<Item = At> + '_ {
        self.threads.iter().enumerate().flat_map(|(number, thread)| (0..thread.ops.len()).map(move |index| (number, index)))
    }
}
