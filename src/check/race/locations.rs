//! Release and acquire patterns through memory (PTX ISA, "Release and Acquire Patterns", "Observation order").
//!
//! A location remembers what the writes released whose value, or whose value through a chain of read-modify-writes, stands in it. A
//! strong read of it learns that at once if it acquires, and otherwise at the reader's next fence.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::clock::{Clock, learn};
use crate::isa::Scope;
use crate::machine::LaneMask;

/// Where a location is: 0 for global memory, or the slot of a block plus one; and the address.
pub(super) type Where = (u32, u64);

/// A thread: block number, warp and lane.
pub(super) type Author = (u32, u8, u8);

/// What stands behind the value of a location.
#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    /// What was released, by the scope in which it holds and the block whose threads did it; none if those of several did, which is
    /// so only in scopes as wide as the grid.
    released: Vec<(Scope, Option<u32>, Arc<Clock>)>,
    /// Who wrote last.
    author: Option<Author>,
}

/// What lanes will know when they execute a fence of at least this scope.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// The lanes.
    pub lanes: LaneMask,
    /// The scope.
    pub scope: Scope,
    /// What.
    pub clock: Arc<Clock>,
}

/// Locations through which something was released.
#[derive(Clone, Debug, Default)]
pub(super) struct Locations {
    table: BTreeMap<Where, Location>,
}

/// What a reader finds in a location.
pub(super) enum Found {
    /// This, if the fence that acquires it has at least this scope.
    Seen(Scope, Arc<Clock>),
    /// This, but for the scopes.
    Missed(Arc<Clock>),
}

impl Locations {
    /// Whether nothing was released through any.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// A strong write, which `keeps` what stands there if it is part of a read-modify-write, and releases `clocks`.
    pub fn write(&mut self, at: Where, author: Author, keeps: bool, clocks: Vec<(Scope, Arc<Clock>)>) {
        if clocks.is_empty() && !self.table.contains_key(&at) {
            return;
        }
        let location = self.table.entry(at).or_default();
        // What a thread released it goes on releasing with its later writes to the same place.
        if !keeps && location.author != Some(author) {
            location.released.clear();
        }
        location.author = Some(author);
        for (scope, clock) in clocks {
            let scope = scope.min(Scope::Gpu);
            let same = |of: &Scope, by: &Option<u32>| *of == scope && (scope == Scope::Gpu || *by == Some(author.0));
            match location.released.iter_mut().find(|(of, by, _)| same(of, by)) {
                Some((_, by, known)) => {
                    *by = by.filter(|by| *by == author.0);
                    if !Arc::ptr_eq(known, &clock) {
                        Arc::make_mut(known).join(&clock);
                    }
                }
                None => location.released.push((scope, Some(author.0), clock)),
            }
        }
    }

    /// A strong read in `scope` by a thread of `block`, whose cluster has `cluster` blocks.
    pub fn read(&self, at: Where, scope: Scope, block: u32, cluster: u32) -> impl Iterator<Item = Found> {
        let released = self.table.get(&at).map_or(&[][..], |location| &location.released);
        released.iter().map(move |(of, by, clock)| {
            let needed = by.map_or(Scope::Gpu, |by| scope_of(by, block, cluster));
            if *of >= needed && scope >= needed { Found::Seen(needed, Arc::clone(clock)) } else { Found::Missed(Arc::clone(clock)) }
        })
    }
}

impl Pending {
    /// Adds it to those of a warp.
    pub fn add_to(self, pending: &mut Vec<Self>) {
        let same = |other: &&mut Self| other.scope == self.scope && (Arc::ptr_eq(&other.clock, &self.clock) || other.lanes == self.lanes);
        match pending.iter_mut().find(same) {
            Some(other) => {
                let mut clock = Some(Arc::clone(&other.clock));
                learn(&mut clock, &self.clock);
                other.clock = clock.unwrap_or(self.clock);
                other.lanes |= self.lanes;
            }
            None => pending.push(self),
        }
    }
}

/// The narrowest scope that holds threads of both blocks.
pub(super) fn scope_of(a: u32, b: u32, cluster: u32) -> Scope {
    if a == b {
        Scope::Cta
    } else if a / cluster == b / cluster {
        Scope::Cluster
    } else {
        Scope::Gpu
    }
}
