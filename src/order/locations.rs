//! Release and acquire patterns through memory (PTX ISA, "Release and Acquire Patterns", "Observation order").
//!
//! A location remembers what the writes released whose value, or whose value through a chain of read-modify-writes, it holds. A strong read
//! of it learns that at once if it acquires, and otherwise at the reader's next fence.

use crate::base::WarpId;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::clock::{VectorClock, join_shared};
use crate::isa::Scope;

/// Where a location is: 0 for global memory, or the block slot of a block plus one; and the address.
pub type Where = (u32, u64);

/// A thread: block number, warp and lane.
pub type Writer = (u32, WarpId, u8);

/// What was released with the value of a location.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// What was released, by scope and block; what was in scopes as wide as the grid is taken together.
    released: Vec<Released>,
    /// The last writer.
    last_writer: Option<Writer>,
}

/// What was released through a location.
#[derive(Clone, Debug)]
struct Released {
    scope: Scope,
    /// Whether it begins with a `fence.sc`.
    sc: bool,
    /// The block whose threads did it, if it is one.
    by: Option<u32>,
    clock: Arc<VectorClock>,
}

/// Locations through which something was released.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    table: BTreeMap<Where, Location>,
}

/// What a reader finds in a location.
pub enum AcquireResult {
    /// This, if the fence that acquires it has at least this scope; and whether it was released after a `fence.sc`.
    Seen(Scope, bool, Arc<VectorClock>),
    /// This, but for the scopes.
    Missed(Arc<VectorClock>),
}

impl Locations {
    /// Whether nothing was released through any.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// A strong write, which `keeps` what the location holds if it is part of a read-modify-write, and releases `clocks`: each in a scope,
    /// and after a `fence.sc` or not.
    pub fn write(&mut self, at: Where, last_writer: Writer, keeps: bool, clocks: Vec<(Scope, bool, Arc<VectorClock>)>) {
        if clocks.is_empty() && !self.table.contains_key(&at) {
            return;
        }
        let location = self.table.entry(at).or_default();
        // What a thread released it continues to release with its later writes to the same place.
        if !keeps && location.last_writer != Some(last_writer) {
            location.released.clear();
        }
        location.last_writer = Some(last_writer);
        for (scope, sc, clock) in clocks {
            let (scope, by) = (scope.min(Scope::Gpu), Some(last_writer.0));
            let same = |other: &&mut Released| (other.scope, other.sc) == (scope, sc) && (scope == Scope::Gpu || other.by == by);
            match location.released.iter_mut().find(same) {
                Some(other) => {
                    other.by = other.by.filter(|_| other.by == by);
                    join_shared(&mut other.clock, &clock);
                }
                None => location.released.push(Released { scope, sc, by, clock }),
            }
        }
    }

    /// A strong read in `scope` by a thread of `block`, whose cluster has `cluster` blocks.
    pub fn read(&self, at: Where, scope: Scope, block: u32, cluster: u32) -> impl Iterator<Item = AcquireResult> {
        let released = self.table.get(&at).map_or(&[][..], |location| &location.released);
        released.iter().map(move |Released { scope: of, sc, by, clock }| {
            let needed = by.map_or(Scope::Gpu, |by| scope_of(by, block, cluster));
            let clock = Arc::clone(clock);
            if *of >= needed && scope >= needed { AcquireResult::Seen(needed, *sc, clock) } else { AcquireResult::Missed(clock) }
        })
    }
}

/// The narrowest scope that holds threads of both blocks.
pub fn scope_of(a: u32, b: u32, cluster: u32) -> Scope {
    if a == b {
        Scope::Cta
    } else if a / cluster == b / cluster {
        Scope::Cluster
    } else {
        Scope::Gpu
    }
}
