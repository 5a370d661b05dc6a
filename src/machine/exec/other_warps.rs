//! The other warps of the block of a running warp.

use crate::machine::state::in_flight::warpgroup::WARPS;
use crate::machine::state::warp::Warp;
use triomphe::Arc;

/// The other warps of a block.
pub struct OtherWarps<'a> {
    /// The warps with lower numbers.
    pub before: &'a mut [Arc<Warp>],
    /// The warps with higher numbers.
    pub after: &'a mut [Arc<Warp>],
}

impl OtherWarps<'_> {
    /// The number of the running warp.
    pub fn own(&self) -> u32 {
        self.before.len() as u32
    }

    /// The numbers of the other warps of the warpgroup.
    pub fn warpgroup(&self) -> impl Iterator<Item = u32> + use<> {
        let own = self.own();
        let first = own - own % WARPS;
        let end = (first + WARPS).min(own + 1 + self.after.len() as u32);
        (first..end).filter(move |warp| *warp != own)
    }

    /// A warp other than the running one.
    pub fn warp(&self, number: u32) -> Option<&Arc<Warp>> {
        let own = self.own();
        if number < own { self.before.get(number as usize) } else { self.after.get((number - own) as usize - 1) }
    }

    pub fn warp_mut(&mut self, number: u32) -> Option<&mut Arc<Warp>> {
        let own = self.own();
        if number < own { self.before.get_mut(number as usize) } else { self.after.get_mut((number - own) as usize - 1) }
    }

    /// The smallest number of wgmma-groups that another live warp of the warpgroup has committed.
    pub fn committed(&self) -> u32 {
        let others = self.warpgroup().filter_map(|warp| self.warp(warp)).filter(|warp| !warp.live.is_empty());
        others.map(|warp| warp.wgmmas.committed()).min().unwrap_or(u32::MAX)
    }
}
