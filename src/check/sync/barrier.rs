//! Barriers: the lanes of a warp must execute an aligned one together, and its count must be reachable (PTX ISA, "bar, barrier",
//! "barrier.cluster"). The barrier of the cluster is stored as one more barrier of the block.
//!
//! For every barrier, the state has the arrivals of its current phase, each with the lanes of the warp that did not arrive with it. When
//! the phase completes, each of those must have reached the same instruction, or have exited without bypassing the barrier
//! ([`Reachability`]).

use std::collections::BTreeMap;
use std::ops::Range;

use crate::base::{Id, Severity, WarpId};
use crate::check::finding::{Finding, Side, SideAction};
use crate::check::lane_text::lanes_do;
use crate::check::reachability::Reachability;
use crate::check::reporter::Reporter;
use crate::check::sync::catalogue::{BARRIER_COUNT, BARRIER_DIVERGENCE, BARRIER_EXITED};
use crate::check::sync::mask;
use crate::machine::{
    BARRIERS, Barrier, BlockId, IssuePoint, LANES, LaneMask, LaunchEnd, SyncEvent, Tick, UnfinishedBlock, UnfinishedGroup, UnfinishedWarp,
};
use crate::program::{Pc, Program};

/// The number of the barrier of the cluster, after those of the block.
pub(super) const CLUSTER: u32 = BARRIERS as u32;

/// The barriers of one block.
#[derive(Clone)]
pub(super) struct BlockBarriers {
    /// Threads of the block, those of a warp that is not full counted as 32.
    threads: u32,
    /// Lanes of each warp that have not exited.
    live: Vec<LaneMask>,
    /// The arrivals of the current phase, by number of the barrier.
    phases: BTreeMap<u32, Vec<ArrivedLanes>>,
    /// The exits of lanes.
    exits: Vec<(IssuePoint, LaneMask)>,
}

/// Lanes of a warp that arrived at a barrier.
#[derive(Clone, Copy)]
struct ArrivedLanes {
    point: IssuePoint,
    lanes: LaneMask,
    /// The lanes of the warp that did not arrive with them.
    absent: LaneMask,
    /// True if the barrier is aligned: all lanes must execute it together.
    aligned: bool,
    /// The number of threads that the barrier expects.
    expected: u32,
}

impl BlockBarriers {
    /// The barriers of a block that is about to start.
    pub fn new(threads: u32) -> Self {
        assert!(threads > 0, "a block has threads");
        let mut barriers = Self { threads: 0, live: Vec::new(), phases: BTreeMap::new(), exits: Vec::new() };
        barriers.restart(threads);
        barriers
    }

    /// Another block of `threads` threads starts, in the memory that there is.
    fn restart(&mut self, threads: u32) {
        let Self { threads: of_block, live, phases, exits } = self;
        let warps = threads.div_ceil(LANES as u32);
        *of_block = warps * LANES as u32;
        live.clear();
        live.extend((0..warps).map(|warp| LaneMask::lowest(threads - warp * LANES as u32)));
        phases.values_mut().for_each(Vec::clear);
        exits.clear();
    }

    /// The lanes of a warp that have not exited.
    pub fn live(&self, warp: u32) -> LaneMask {
        self.live.get(warp as usize).copied().unwrap_or(LaneMask::NONE)
    }

    /// Lanes arrive at barrier `id`.
    pub fn arrived(&mut self, event: &SyncEvent<'_>, (id, aligned): (u32, bool), count: Option<u32>, to: &mut Reporter<'_>) -> bool {
        let (point, lanes) = (event.point, event.lanes);
        assert!(!lanes.is_empty() && self.live(point.warp.number()).contains_all(lanes), "lanes that have not exited arrive");
        assert!(id <= CLUSTER, "a block has no barrier {id}");
        let absent = self.live(point.warp.number()) & !lanes;
        let arrived = ArrivedLanes { point, lanes, absent, aligned, expected: count.unwrap_or(self.threads) };
        let threads = self.threads;
        let phase = self.phases.entry(id).or_default();
        let mut found = false;
        if arrived.expected > threads {
            found |= to.report(count_too_large(id, &arrived, threads));
        } else if let Some(other) = phase.iter().find(|other| other.expected != arrived.expected && other.expected <= threads) {
            found |= to.report(counts_differ(id, other, &arrived));
        }
        phase.push(arrived);
        found
    }

    /// Lanes exit.
    pub fn exited(&mut self, event: &SyncEvent<'_>) {
        assert!(self.live(event.point.warp.number()).contains_all(event.lanes), "a lane exits once");
        if let Some(live) = self.live.get_mut(event.point.warp.index()) {
            *live &= !event.lanes;
        }
        self.exits.push((event.point, event.lanes));
    }

    /// The phase of barrier `id` has completed.
    pub fn released(&mut self, id: u32, reachability: &mut Reachability, to: &mut Reporter<'_>) -> bool {
        let Some(phase) = self.phases.get_mut(&id).map(std::mem::take) else { return false };
        assert!(id == CLUSTER || !phase.is_empty(), "a phase ends to which some lane has come");
        let mut found = false;
        for arrived in phase.iter().filter(|arrived| arrived.aligned && !arrived.absent.is_empty()) {
            found |= self.diverged(id, &phase, arrived, reachability, to);
        }
        // The allocation is reused.
        if let Some(emptied) = self.phases.get_mut(&id) {
            *emptied = phase;
            emptied.clear();
        }
        assert!(self.phases.get(&id).is_none_or(Vec::is_empty), "the next phase has no arrivals");
        found
    }

    /// Reports the lanes of the warp that have not reached the instruction of `arrived`.
    fn diverged(
        &self,
        id: u32,
        phase: &[ArrivedLanes],
        arrived: &ArrivedLanes,
        reachability: &mut Reachability,
        to: &mut Reporter<'_>,
    ) -> bool {
        assert!(!arrived.absent.intersects(arrived.lanes), "a lane that has arrived is there");
        let (warp, pc) = (arrived.point.warp, arrived.point.pc);
        let of_warp = || phase.iter().filter(|other| other.point.warp == warp);
        let here = of_warp().filter(|other| other.point.pc == pc).fold(LaneMask::NONE, |lanes, other| lanes | other.lanes);
        let absent = arrived.absent & !here;
        if absent.is_empty() {
            return false;
        }
        if let Some(other) = of_warp().find(|other| other.point.pc != pc && other.lanes.intersects(absent)) {
            // Each of the two finds the other: it is reported once.
            return other.point.tick < arrived.point.tick && to.report(at_other_barrier(id, other, arrived, here, to.program));
        }
        if let Some(missing) = Some(absent & self.live(warp.number())).filter(|missing| !missing.is_empty()) {
            return to.report(absent_lanes(id, arrived, here, missing));
        }
        let exits = self.exits.iter().filter(|(point, lanes)| point.warp == warp && lanes.intersects(absent));
        let mut bypassing = exits.filter(|(point, _)| reachability.bypasses(to.program, pc, point.pc));
        bypassing.next().is_some_and(|(point, lanes)| to.report(bypassing_exit(id, arrived, here, (*point, *lanes & absent))))
    }

    /// No warp can make progress: reports the barriers whose phase can never complete.
    pub fn deadlock(&self, block: &UnfinishedBlock, tick: Tick, reachability: &mut Reachability, to: &mut Reporter<'_>) {
        for (id, phase) in self.phases.iter().filter(|(_, phase)| !phase.is_empty()) {
            for arrived in phase.iter().filter(|arrived| !arrived.aligned || !arrived.absent.is_empty()) {
                let Some(warp) = block.warps.get(arrived.point.warp.index()) else { continue };
                let of_warp = phase.iter().filter(|other| other.point.warp == arrived.point.warp);
                let here = of_warp.fold(LaneMask::NONE, |lanes, other| lanes | other.lanes);
                let missing = warp.live & !here;
                let is_at_mask =
                    |group: &&UnfinishedGroup| group.has_mask && group.lanes.intersects(missing) && group.state.members().intersects(here);
                // After an aligned barrier, it is the barrier that some lanes leave out.
                let mut is_cause = |group: &&UnfinishedGroup| {
                    is_at_mask(group) && (!arrived.aligned || reachability.comes_after(to.program, group.current_pc, arrived.point.pc))
                };
                if let Some(group) = warp.groups.iter().find(|group| is_cause(group)) {
                    let side = Side::new(arrived.point, here, SideAction::Synchronize);
                    to.report(mask::waiting_for_lanes_at_barrier((group, tick), side, *id, to.program));
                } else if arrived.aligned && !missing.is_empty() {
                    to.report(waits_for(*id, arrived, here, warp, missing, to.program));
                }
            }
            let Some(barrier) = block.barriers.get(*id as usize) else { continue };
            // Different counts are a finding of their own.
            let agree = phase.windows(2).all(|pair| pair[0].expected == pair[1].expected);
            if let (Some(expected), Some(last), true) = (barrier.thread_count, phase.last(), agree) {
                self.report_exited(*id, (expected, last), barrier, block, to);
            }
        }
    }

    /// Reports a barrier that expects more threads than are left.
    fn report_exited(
        &self,
        id: u32,
        (expected, last): (u32, &ArrivedLanes),
        barrier: &Barrier,
        block: &UnfinishedBlock,
        to: &mut Reporter<'_>,
    ) {
        let left: u32 = block.warps.iter().enumerate().map(|(number, warp)| possible_arrivals(barrier, number, warp)).sum();
        if left >= expected || expected > self.threads {
            return;
        }
        let came =
            barrier.arrived.iter().enumerate().filter(|(_, lanes)| !lanes.is_empty()).map(|(warp, _)| WarpId::at(warp)).collect::<Vec<_>>();
        let Some((point, lanes)) = self.exits.iter().rev().find(|(point, _)| !came.contains(&point.warp)) else { return };
        let why = format!(
            "barrier {id} wants {expected} threads, and only {left} of the block can still come: {} of warp {} exited without it",
            lanes.describe(),
            point.warp
        );
        let fix = "have every thread that is counted arrive at the barrier before it exits, or lower the count".to_string();
        let second = Side::new(last.point, last.lanes, SideAction::Synchronize);
        let first = Some(Side::new(*point, *lanes, SideAction::Exit));
        to.report(Finding { first, ..Finding::new(BARRIER_EXITED, second, why, fix) });
    }
}

/// The most threads that a warp can count for at a barrier.
fn possible_arrivals(barrier: &Barrier, number: usize, warp: &UnfinishedWarp) -> u32 {
    let arrived = barrier.arrived.get(number).copied().unwrap_or(LaneMask::NONE);
    let all = arrived | warp.live;
    if all.is_empty() { 0 } else { LANES as u32 }
}

fn counts_differ(id: u32, first: &ArrivedLanes, second: &ArrivedLanes) -> Finding {
    let why = format!(
        "barrier {id} is set to wait for {} threads here, and for {} threads by {} that arrived at the same phase of it before",
        second.expected,
        first.expected,
        lanes_of_warp(first)
    );
    let fix =
        "name the same count at every bar and barrier that takes part in a phase: the threads that arrive and those that wait".to_string();
    let side = |arrived: &ArrivedLanes| Side::new(arrived.point, arrived.lanes, SideAction::Synchronize);
    Finding { first: Some(side(first)), ..Finding::new(BARRIER_COUNT, side(second), why, fix) }
}

fn count_too_large(id: u32, arrived: &ArrivedLanes, threads: u32) -> Finding {
    let why = format!("barrier {id} wants {} threads, but the block has {threads}", arrived.expected);
    let fix = "name as many threads as take part, or launch larger blocks".to_string();
    Finding::new(BARRIER_COUNT, Side::new(arrived.point, arrived.lanes, SideAction::Synchronize), why, fix)
}

pub(super) fn barrier_name(id: u32) -> String {
    if id == CLUSTER { "barrier of the cluster".to_string() } else { format!("barrier {id}") }
}

/// The finding for an aligned barrier that part of a warp executes, with its fix.
fn divergence(id: u32, arrived: &ArrivedLanes, here: LaneMask, others: &str) -> Finding {
    let why = format!(
        "only {} of warp {} came to this aligned {}; {others}. All lanes of a warp must execute it together",
        here.describe(),
        arrived.point.warp,
        barrier_name(id)
    );
    let whose = if id == CLUSTER { "cluster" } else { "block" };
    let fix = format!("move the barrier out of the branch, so that all threads of the {whose} reach it");
    Finding::new(BARRIER_DIVERGENCE, Side::new(arrived.point, here, SideAction::Synchronize), why, fix)
}

fn at_other_barrier(id: u32, first: &ArrivedLanes, second: &ArrivedLanes, here: LaneMask, program: &Program) -> Finding {
    let others = format!("{} came to the one at {}", first.lanes.describe(), program.place(first.point.pc));
    let side = Side::new(first.point, first.lanes, SideAction::Synchronize);
    Finding { first: Some(side), ..divergence(id, second, here, &others) }
}

fn absent_lanes(id: u32, arrived: &ArrivedLanes, here: LaneMask, missing: LaneMask) -> Finding {
    divergence(id, arrived, here, &format!("{} did not", missing.describe()))
}

/// Lanes went past the barrier and exited. A compiler may have made it of an early return, when it joins the ends of two paths, and no
/// result depends on it: it is a warning.
fn bypassing_exit(id: u32, arrived: &ArrivedLanes, here: LaneMask, (point, lanes): (IssuePoint, LaneMask)) -> Finding {
    let others = format!("{} went past it and exited, and a barrier does not wait for threads that have exited", lanes.describe());
    let first = Some(Side::new(point, lanes, SideAction::Exit));
    Finding { first, severity: Severity::Warning, ..divergence(id, arrived, here, &others) }
}

fn waits_for(id: u32, arrived: &ArrivedLanes, here: LaneMask, warp: &UnfinishedWarp, missing: LaneMask, program: &Program) -> Finding {
    let groups = warp.groups.iter().filter(|group| group.lanes.intersects(missing));
    let waiting: Vec<(Pc, LaneMask)> = groups.map(|group| (group.current_pc, group.lanes & missing)).collect();
    let described = waiting.iter().map(|(pc, lanes)| format!("{} at {}", lanes_do(*lanes, "wait"), program.place(*pc)));
    let others = described.collect::<Vec<_>>().join(", ");
    let first = waiting.first().map(|(pc, lanes)| Side::new(IssuePoint { pc: *pc, ..arrived.point }, *lanes, SideAction::Synchronize));
    Finding { first, ..divergence(id, arrived, here, &others) }
}

fn lanes_of_warp(arrived: &ArrivedLanes) -> String {
    format!("{} of warp {}", arrived.lanes.describe(), arrived.point.warp)
}

/// The barriers of the blocks on the machine, by block slot.
#[derive(Clone, Default)]
pub(super) struct Barriers {
    blocks: Vec<Option<(u64, BlockBarriers)>>,
    threads: u32,
}

impl Barriers {
    /// A launch begins.
    pub fn begin(&mut self, threads: u32) {
        self.blocks.clear();
        self.threads = threads;
    }

    /// The barriers of a block.
    pub fn of(&mut self, block_id: BlockId) -> &mut BlockBarriers {
        let block_slot = block_id.block_slot as usize;
        if block_slot >= self.blocks.len() {
            self.blocks.resize(block_slot + 1, None);
        }
        let threads = self.threads;
        let (number, barriers) = self.blocks[block_slot].get_or_insert_with(|| (block_id.number, BlockBarriers::new(threads)));
        assert!(*number <= block_id.number, "blocks take a block slot in order");
        if *number != block_id.number {
            *number = block_id.number;
            barriers.restart(threads);
        }
        barriers
    }

    /// The phase of the barrier of the cluster has completed, for the blocks in `block_slots`.
    pub fn cluster_released(&mut self, block_slots: Range<u32>, reachability: &mut Reachability, to: &mut Reporter<'_>) -> bool {
        let of_cluster = self.blocks.iter_mut().skip(block_slots.start as usize).take(block_slots.len()).flatten();
        of_cluster.fold(false, |found, (_, barriers)| barriers.released(CLUSTER, reachability, to) | found)
    }

    /// No warp can make progress.
    pub fn deadlock(&self, end: &LaunchEnd, reachability: &mut Reachability, to: &mut Reporter<'_>) {
        for block in &end.blocks {
            let barriers = self.blocks.iter().flatten().find(|(number, _)| *number == block.id.number);
            barriers.into_iter().for_each(|(_, barriers)| barriers.deadlock(block, end.tick, reachability, to));
        }
    }
}
