//! Asynchronous matrix multiplications of warpgroups (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
//!
//! # The model
//!
//! Four consecutive warps, the first a multiple of four, are a *warpgroup*. `wgmma.mma_async` computes 64 rows of D, and each warp 16 of
//! them, from its own registers and shared memory: no warp needs another one's results. So every warp executes its part independently, in
//! any order. `Warpgroups` checks that all four execute the same instructions with the same descriptors. wgmma-groups belong to the
//! warpgroup: a wait for one lasts until all four warps have committed it and their parts have ended (`exec::wgmma_groups`).
//!
//! An instruction puts a [`Wgmma`] in flight. When it *ends*, it reads its operands, A's registers included, and writes D. The
//! [`CompletionPolicyKind`](crate::machine::CompletionPolicyKind) chooses that time: from issue until a warp of its warpgroup waits for its
//! wgmma-group. Those of one warp end in the order of issue. While it is in flight, the registers of D hold
//! [`POISON`](crate::machine::POISON), and their values are saved in a [`WgmmaQueue`](crate::machine::WgmmaQueue), from which a later
//! `wgmma` accumulates. After the wait of another warp they still hold poison, until their own warp has waited.
//!
//! In a module for debuggers (`.target` with `debug`) it ends at issue. Its compiler keeps variables in memory between statements, so that
//! registers of D are stored before the wait; the assembler (ptxas 13.0) waits after each `wgmma` there, and results on an H200 are those
//! after the wait.
//!
//! Descriptors, `scale-d` and metadata are read at issue.

pub(in crate::machine) mod compute;
mod ending;
mod tiles;

use crate::machine::in_flight::wgmma::compute::WgmmaSources;
use crate::machine::state::in_flight::InFlight;
use crate::machine::state::in_flight::queue::WaitingWarp;
use crate::machine::state::in_flight::wgmma::Wgmma;
use triomphe::Arc;

use crate::machine::state::warp::Warp;

/// Ends the first multiplication in flight of a warp, identified by its block's number and its own, and returns it; none if there is none.
pub fn end_next(
    in_flight: &mut InFlight,
    (block, number): (u64, u32),
    warp: &mut Warp,
    sources: &WgmmaSources<'_>,
    wait: WaitingWarp,
) -> Option<Arc<Wgmma>> {
    let wgmma = Arc::clone(in_flight.wgmmas_of(block, number).next()?);
    let results = compute::results(&wgmma, &warp.wgmmas.accumulators_of(&wgmma), &warp.registers, sources);
    warp.wgmmas.end(&wgmma, &results, &mut warp.registers, wait);
    compute::recycle(results);
    in_flight.remove_wgmma(&wgmma);
    Some(wgmma)
}
