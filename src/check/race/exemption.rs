//! Conflicts that are reported as notes, one of each kind for the kernel: those that PTX does not order, but NVIDIA's assembler and
//! hardware do, on which its libraries and compilers rely; those on bytes that `expect_ignoring` names; and loads whose value is unused.

use super::access::{Access, Log};
use super::detector::{Conflict, ConflictKind};
use super::{RaceChecker, ShadowMemory};
use crate::check::catalogue::FindingId;
use crate::check::finding::SideAction;
use crate::check::race::catalogue::RACE_PROXY;
use crate::isa::MbarrierFn;
use crate::machine::{LaneMask, Proxy};
use crate::order::{Agent, AsyncKind};
use crate::program::{MbarrierOp, MemoryOp, Op, Pc, WarpOp};

/// The reason why a conflict is no mistake of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exemption {
    /// `wgmma` reads bytes that `cp.async` wrote, without a proxy fence.
    CopyReadByWgmma,
    /// A bulk copy writes where `mbarrier.inval` ended the use of an mbarrier, without a proxy fence.
    CopyOverInvalidatedMbarrier,
    /// libcu++ ends the use of its barriers after `match.any.sync` and an atomic of one lane.
    PipelineDestructor,
    /// The launch ignores the bytes (`expect_ignoring`).
    Ignored,
    /// The lanes that load throw the value away.
    Unused,
}

impl Exemption {
    /// The text of the reason.
    pub fn why(self) -> &'static str {
        match self {
            Exemption::CopyReadByWgmma => {
                "wgmma reads through the async proxy what cp.async wrote through the generic proxy: PTX asks for fence.proxy.async \
                 between, NVIDIA's own main loops do without, and the results on hardware are right"
            }
            Exemption::CopyOverInvalidatedMbarrier => {
                "the copy writes through the async proxy to bytes of an mbarrier whose use mbarrier.inval has ended before it: PTX \
                 asks for fence.proxy.async between, Triton's kernels do without, and mbarrier.inval leaves nothing there that could \
                 come after the copy"
            }
            Exemption::PipelineDestructor => {
                "the library lets the last thread invalidate the barrier after match.any.sync and an atomic, which by the letter of PTX \
                 do not order the other lanes' uses before it"
            }
            Exemption::Unused => {
                "the threads that load what another one stores throw the value away: what they compute from it is stored by others only, \
                 so no result depends on which came first"
            }
            Exemption::Ignored => "the launch says nothing of these bytes (expect_ignoring), so which of the two comes last is no matter",
        }
    }

    /// A fix that is possible nevertheless.
    pub fn fix(self) -> &'static str {
        match self {
            Exemption::CopyReadByWgmma => {
                "nothing where a compiler writes the loop; in PTX by hand, fence.proxy.async after the wait for the copies and before the \
                 barrier"
            }
            Exemption::CopyOverInvalidatedMbarrier => {
                "nothing where a compiler lays out shared memory; in PTX by hand, fence.proxy.async after mbarrier.inval and before the \
                 barrier"
            }
            Exemption::PipelineDestructor => "nothing in the kernel: it is the library's code",
            Exemption::Unused => {
                "nothing, as no result depends on it; a guard at the load like that at the store, or a barrier between the loads and the \
                 stores, makes it no race"
            }
            Exemption::Ignored => "nothing as long as the bytes are no matter; without them in expect_ignoring the race is an error",
        }
    }
}

impl RaceChecker {
    /// The reason why the conflict of `first` with the later `second` is no mistake of the kernel, if it is none.
    pub(super) fn exemption(&mut self, id: FindingId, first: &Access, second: &Access) -> Option<Exemption> {
        let is_copy = first.op.agent == Agent::Async(AsyncKind::CpAsync) && first.action == SideAction::Write;
        if id == RACE_PROXY && is_copy && second.op.agent == Agent::Async(AsyncKind::Wgmma) {
            return Some(Exemption::CopyReadByWgmma);
        }
        let ends_mbarrier = |access: &Access| access.is_mbarrier && self.invalidates(access.pc);
        // Only the fence is missing; if the two were unordered, the finding would be another one.
        let is_async_write = second.proxy == Proxy::Async && second.action == SideAction::Write;
        if id == RACE_PROXY && ends_mbarrier(first) && is_async_write {
            return Some(Exemption::CopyOverInvalidatedMbarrier);
        }
        let ends = [first, second].into_iter().find(|access| ends_mbarrier(access))?;
        let are_of_object = first.is_mbarrier && second.is_mbarrier;
        (are_of_object && self.is_after_match(ends.pc)).then_some(Exemption::PipelineDestructor)
    }

    fn invalidates(&self, pc: Pc) -> bool {
        matches!(self.program.code[pc.index()].op, Op::Mbarrier(MbarrierOp::Update { f: MbarrierFn::Inval, .. }))
    }

    /// True if control can flow from a `match.any.sync` to the instruction.
    fn is_after_match(&mut self, pc: Pc) -> bool {
        let Some(function) = self.program.function_at(pc) else { return false };
        let code = self.program.functions[function.index()].code.clone();
        let is_match = |at: &Pc| matches!(self.program.code[at.index()].op, Op::Warp(WarpOp::Match { all: false, .. }));
        let matches: Vec<Pc> = code.map(Pc).filter(is_match).collect();
        matches.into_iter().any(|from| self.reachability.reaches_without_back_edge(&self.program, from, pc))
    }

    /// [`Exemption::Unused`] if one side of a conflict is a load, and no lane that reads what the other side writes uses the value.
    pub(super) fn unused(&mut self, memory: ShadowMemory, conflict: &Conflict, access: &Access) -> Option<Exemption> {
        let is_load = |side: &Access| {
            let is_plain = side.strong.is_none() && side.copy == 0 && side.op.agent == Agent::Threads;
            is_plain && matches!(self.program.code[side.pc.index()].op, Op::Memory(MemoryOp::Load { .. } | MemoryOp::LoadVector { .. }))
        };
        let sides = [(&conflict.first, access), (access, &conflict.first)];
        let (load, other) = sides.into_iter().find(|(side, _)| conflict.kind == ConflictKind::Unordered && is_load(side))?;
        let Self { program, updates, reachability, prepared, unused_loads, log, shared_log, .. } = self;
        let log: &Log = if memory == ShadowMemory::Global { log } else { shared_log };
        let lanes = || overlapping_lanes(load, other, log);
        let analysis = || updates.analysis(program, reachability, load.pc);
        let key = (load.pc, load.op.block, load.op.warp.number());
        unused_loads.are_unused(key, lanes, (program, prepared.as_ref()?), analysis).then_some(Exemption::Unused)
    }
}

/// The lanes of a load that read bytes which other threads access by `other`.
fn overlapping_lanes(load: &Access, other: &Access, log: &Log) -> LaneMask {
    let is_same_warp = (load.op.block, load.op.warp, load.op.agent) == (other.op.block, other.op.warp, other.op.agent);
    load.op.lanes.filter(|lane| {
        let Some(start) = load.lane_addresses.address(lane, log) else { return true };
        (start..start + u64::from(load.bytes)).any(|address| {
            let others = other.lanes_at(address, log);
            !if is_same_warp { others.without(LaneMask::of(lane)) } else { others }.is_empty()
        })
    })
}
