//! Semantics of a memory access (PTX ISA, "Memory Consistency Model").

use crate::isa::{Ordering, Scope, Space};

/// Semantics and scope of a memory access, for ordering and for the checkers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Access {
    /// The space named by the instruction.
    pub space: Space,
    /// Memory ordering.
    pub ordering: Ordering,
    /// Scope of the ordering.
    pub scope: Scope,
    /// `.nc`: through the read-only (texture) path.
    pub non_coherent: bool,
}

impl Access {
    /// True if the access orders other accesses: it releases or acquires.
    pub fn orders(self) -> bool {
        match self.ordering {
            Ordering::Weak | Ordering::Volatile | Ordering::Relaxed | Ordering::Mmio => false,
            Ordering::Acquire | Ordering::Release | Ordering::AcqRel | Ordering::SeqCst => true,
        }
    }
}
