//! Asynchronous matrix multiplications of warpgroups (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
//!
//! # The model
//!
//! Four neighbouring warps, the first a multiple of four, are a *warpgroup*. `wgmma.mma_async` computes 64 rows of D, and each warp 16 of
//! them, from its own registers and what is in shared memory: no warp needs another one's results. So every warp executes its part by
//! itself, and the order in which the four come there makes no difference. That all four execute the same instructions with the same
//! descriptors is checked beside it (`Warpgroups`). Groups are the warpgroup's: a wait for one lasts until all four warps have
//! committed it and their parts have ended (`exec::wgmma_groups`).
//!
//! An instruction puts a [`Wgmma`] in flight. When it *ends*, it reads its operands, A's registers included, and writes D. When that is,
//! is the [`CompletionPolicyKind`](crate::machine::CompletionPolicyKind)'s choice: at once, at the latest when a warp of its warpgroup
//! waits for its group, or between. Those of one warp end in the order in which they were issued. While it is in flight, the registers of D
//! hold [`POISON`](crate::machine::POISON), and what they held is kept aside: a further `wgmma` adds to that
//! ([`WgmmaQueue`](crate::machine::WgmmaQueue)). After the wait of another warp they still hold poison, until their own warp has waited.
//!
//! Descriptors, `scale-d` and metadata are read when it is issued.

pub(in crate::machine) mod compute;
mod ending;
mod tiles;

use crate::machine::in_flight::wgmma::compute::WgmmaSources;
use crate::machine::state::in_flight::InFlight;
use crate::machine::state::in_flight::queue::WaitOf;
use crate::machine::state::in_flight::wgmma::Wgmma;
use triomphe::Arc;

use crate::machine::state::warp::Warp;

/// Ends what a warp, given by its block's number and its own, has in flight next, and gives it back; none if nothing is in flight.
pub fn end_next(
    in_flight: &mut InFlight,
    (block, number): (u64, u32),
    warp: &mut Warp,
    sources: &WgmmaSources<'_>,
    wait: WaitOf,
) -> Option<Arc<Wgmma>> {
    let wgmma = Arc::clone(in_flight.wgmmas_of(block, number).next()?);
    let results = compute::results(&wgmma, &warp.wgmmas.held_by(&wgmma), &warp.registers, sources);
    warp.wgmmas.end(&wgmma, &results, &mut warp.registers, wait);
    in_flight.remove_wgmma(&wgmma);
    Some(wgmma)
}
