//! Instructions that order more than they say: with them a remedy is tried, in the same order of warps and at the same times.

use crate::isa::{Ordering, Scope};

/// What an instruction orders beside what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strengthening {
    /// The instruction, by its number.
    pub code: u32,
    /// What it orders.
    pub strength: Strength,
    /// The scope, at least.
    pub scope: Scope,
}

/// What an instruction orders at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strength {
    /// An access is relaxed.
    Relaxed,
    /// An access acquires.
    Acquire,
    /// An access releases.
    Release,
    /// A fence of this ordering is executed before an access.
    FenceBefore(Ordering),
    /// A fence of this ordering is executed after an access.
    FenceAfter(Ordering),
    /// A fence has this ordering.
    Fence(Ordering),
}

impl Strengthening {
    /// The semantics of an access with it.
    pub fn of_access(self, (ordering, scope): (Ordering, Scope)) -> (Ordering, Scope) {
        let changed = match self.strength {
            Strength::Relaxed if ordering == Ordering::Weak => Ordering::Relaxed,
            Strength::Acquire if ordering.releases() => Ordering::AcqRel,
            Strength::Release if ordering.acquires() => Ordering::AcqRel,
            Strength::Acquire => Ordering::Acquire,
            Strength::Release => Ordering::Release,
            Strength::Relaxed => ordering,
            Strength::FenceBefore(_) | Strength::FenceAfter(_) | Strength::Fence(_) => return (ordering, scope),
        };
        (changed, scope.max(self.scope))
    }

    /// The semantics of a fence with it.
    pub fn of_fence(self, (ordering, scope): (Ordering, Scope)) -> (Ordering, Scope) {
        match self.strength {
            Strength::Fence(least) => (if ordering == Ordering::SeqCst { ordering } else { least }, scope.max(self.scope)),
            Strength::Relaxed | Strength::Acquire | Strength::Release | Strength::FenceBefore(_) | Strength::FenceAfter(_) => {
                (ordering, scope)
            }
        }
    }

    /// The same with another ordering, of a fence that is added.
    #[must_use]
    pub fn with_ordering(self, ordering: Ordering) -> Self {
        let strength = match self.strength {
            Strength::FenceBefore(_) => Strength::FenceBefore(ordering),
            Strength::FenceAfter(_) => Strength::FenceAfter(ordering),
            Strength::Relaxed | Strength::Acquire | Strength::Release | Strength::Fence(_) => self.strength,
        };
        Self { strength, ..self }
    }

    /// The fence before an access, if it is one.
    pub fn fence_before(self) -> Option<(Ordering, Scope)> {
        match self.strength {
            Strength::FenceBefore(ordering) => Some((ordering, self.scope)),
            Strength::Relaxed | Strength::Acquire | Strength::Release | Strength::FenceAfter(_) | Strength::Fence(_) => None,
        }
    }

    /// The fence after an access, if it is one.
    pub fn fence_after(self) -> Option<(Ordering, Scope)> {
        match self.strength {
            Strength::FenceAfter(ordering) => Some((ordering, self.scope)),
            Strength::Relaxed | Strength::Acquire | Strength::Release | Strength::FenceBefore(_) | Strength::Fence(_) => None,
        }
    }
}
