//! Loads that wait: strong loads by which all lanes of a warp have read the newest write of a location, until there is another one.

use std::collections::BTreeMap;

use super::history::{History, Location};
use super::lines::WarpAccess;
use super::thread::Group;
use crate::base::lanes::LaneMask;
use crate::isa::{Ordering, Scope};

/// What lanes of a warp have read last, all of them from one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Poll {
    at: Location,
    ordering: Ordering,
    scope: Scope,
    /// The lanes that returned the newest write.
    lanes: LaneMask,
    /// The number of the next write then.
    next: u64,
}

/// The last such loads, one a warp.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Polls(BTreeMap<Group, Poll>);

/// The location of an access whose lanes all have one, of one element.
pub fn location(access: &WarpAccess<'_>) -> Option<Location> {
    (access.min == access.max && access.bytes == access.element_bytes).then_some((access.memory, access.min, access.bytes))
}

impl Polls {
    /// True if the lanes of a load have read the newest write of its location by such a load before.
    pub fn has(&self, access: &WarpAccess<'_>, (ordering, scope): (Ordering, Scope), at: Location, history: &History) -> bool {
        self.0.get(&Group::warp(access.warp)).is_some_and(|poll| {
            (poll.at, poll.ordering, poll.scope, poll.next) == (at, ordering, scope, history.next()) && poll.lanes.contains_all(access.mask)
        })
    }

    /// Adds a load by which all lanes have read the newest write. What is not morally strong may be read in any order.
    pub fn add(&mut self, access: &WarpAccess<'_>, (ordering, scope): (Ordering, Scope), at: Location, history: &History) {
        // The scopes of a warp include all its lanes or none.
        let is_strong = scope != Scope::None && history.writes.last().is_some_and(|write| write.is_strong_to(access.warp, scope));
        if is_strong && history.last().nth(1).is_none() {
            self.0.insert(Group::warp(access.warp), Poll { at, ordering, scope, lanes: access.mask, next: history.next() });
        }
    }

    /// Forgets those of the warps of a block.
    pub fn forget(&mut self, block: Group) {
        self.0.retain(|warp, _| !block.contains(warp));
    }
}
