//! Barriers: whether the lanes of a warp agree on an aligned one, and whether its count can be reached (PTX ISA, "bar, barrier",
//! "barrier.cluster"). The barrier of the cluster is one more of the block's here.
//!
//! For every barrier the arrivals of its present phase are kept, with the lanes of the warp that were not there then. When the phase ends
//! each of those must have reached the same instruction, or have exited without having bypassed the barrier ([`Reachability`]).

use std::collections::BTreeMap;
use std::ops::Range;

use crate::base::{Id, WarpId};
use crate::check::finding::{Finding, Side, SideAction};
use crate::check::lane_text::lanes_do;
use crate::check::reachability::Reachability;
use crate::check::reporter::Reporter;
use crate::check::sync::catalogue::{BARRIER_COUNT, BARRIER_DIVERGENCE, BARRIER_EXITED};
use crate::machine::{BARRIERS, Barrier, BlockId, IssuePoint, LANES, LaneMask, LaunchEnd, OrderEvent, UnfinishedBlock, UnfinishedWarp};
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
    /// By number, the arrivals of the present phase.
    phases: BTreeMap<u32, Vec<Arrived>>,
    /// The exits of lanes.
    exits: Vec<(IssuePoint, LaneMask)>,
}

/// Lanes of a warp that arrived at a barrier.
#[derive(Clone, Copy)]
struct Arrived {
    place: IssuePoint,
    lanes: LaneMask,
    /// The lanes of the warp that were not there.
    absent: LaneMask,
    /// Whether all lanes must come together.
    aligned: bool,
    /// Threads wanted.
    wanted: u32,
}

impl BlockBarriers {
    /// The barriers of a block that is about to start.
    pub fn new(threads: u32) -> Self {
        assert!(threads > 0, "a block has threads");
        let warps = threads.div_ceil(LANES as u32);
        let live = (0..warps).map(|warp| LaneMask::lowest(threads - warp * LANES as u32)).collect();
        Self { threads: warps * LANES as u32, live, phases: BTreeMap::new(), exits: Vec::new() }
    }

    /// The lanes of a warp that have not exited.
    pub fn live(&self, warp: u32) -> LaneMask {
        self.live.get(warp as usize).copied().unwrap_or(LaneMask::NONE)
    }

    /// Lanes arrive at barrier `id`.
    pub fn arrived(&mut self, event: &OrderEvent<'_>, (id, aligned): (u32, bool), named: Option<u32>, to: &mut Reporter<'_>) -> bool {
        let (place, lanes) = (event.place, event.lanes);
        assert!(!lanes.is_empty() && self.live(place.warp.number()).contains_all(lanes), "lanes that have not exited arrive");
        assert!(id <= CLUSTER, "a block has no barrier {id}");
        let absent = self.live(place.warp.number()) & !lanes;
        let arrived = Arrived { place, lanes, absent, aligned, wanted: named.unwrap_or(self.threads) };
        let threads = self.threads;
        let phase = self.phases.entry(id).or_default();
        let mut found = false;
        if arrived.wanted > threads {
            found |= to.report(too_many(id, &arrived, threads));
        } else if let Some(other) = phase.iter().find(|other| other.wanted != arrived.wanted && other.wanted <= threads) {
            found |= to.report(disagree(id, other, &arrived));
        }
        phase.push(arrived);
        found
    }

    /// Lanes exit.
    pub fn exited(&mut self, event: &OrderEvent<'_>) {
        assert!(self.live(event.place.warp.number()).contains_all(event.lanes), "a lane exits once");
        if let Some(live) = self.live.get_mut(event.place.warp.index()) {
            *live &= !event.lanes;
        }
        self.exits.push((event.place, event.lanes));
    }

    /// The phase of barrier `id` has ended.
    pub fn released(&mut self, id: u32, reachability: &mut Reachability, to: &mut Reporter<'_>) -> bool {
        let Some(phase) = self.phases.get_mut(&id).map(std::mem::take) else { return false };
        assert!(id == CLUSTER || !phase.is_empty(), "a phase ends to which some lane has come");
        let mut found = false;
        for arrived in phase.iter().filter(|arrived| arrived.aligned && !arrived.absent.is_empty()) {
            found |= self.diverged(id, &phase, arrived, reachability, to);
        }
        // The room is used again.
        if let Some(room) = self.phases.get_mut(&id) {
            *room = phase;
            room.clear();
        }
        assert!(self.phases.get(&id).is_none_or(Vec::is_empty), "the next phase has no arrivals");
        found
    }

    /// Reports the lanes of the warp that have not come where `arrived` did.
    fn diverged(&self, id: u32, phase: &[Arrived], arrived: &Arrived, reachability: &mut Reachability, to: &mut Reporter<'_>) -> bool {
        assert!(!arrived.absent.intersects(arrived.lanes), "a lane that has arrived is there");
        let (warp, pc) = (arrived.place.warp, arrived.place.pc);
        let of_warp = || phase.iter().filter(|other| other.place.warp == warp);
        let here = of_warp().filter(|other| other.place.pc == pc).fold(LaneMask::NONE, |lanes, other| lanes | other.lanes);
        let absent = arrived.absent & !here;
        if absent.is_empty() {
            return false;
        }
        if let Some(other) = of_warp().find(|other| other.place.pc != pc && other.lanes.intersects(absent)) {
            // Each of the two finds the other: it is reported once.
            return other.place.tick < arrived.place.tick && to.report(elsewhere(id, other, arrived, here, to.program));
        }
        if let Some(there) = Some(absent & self.live(warp.number())).filter(|there| !there.is_empty()) {
            return to.report(not_there(id, arrived, here, there));
        }
        let exits = self.exits.iter().filter(|(place, lanes)| place.warp == warp && lanes.intersects(absent));
        let mut past = exits.filter(|(place, _)| reachability.bypasses(to.program, pc, place.pc));
        past.next().is_some_and(|(place, lanes)| to.report(passed_by(id, arrived, here, (*place, *lanes & absent))))
    }

    /// No warp can make progress: reports the barriers that can never end.
    pub fn deadlock(&self, block: &UnfinishedBlock, to: &mut Reporter<'_>) {
        for (id, phase) in self.phases.iter().filter(|(_, phase)| !phase.is_empty()) {
            for arrived in phase.iter().filter(|arrived| arrived.aligned && !arrived.absent.is_empty()) {
                let Some(warp) = block.warps.get(arrived.place.warp.index()) else { continue };
                let of_warp = phase.iter().filter(|other| other.place.warp == arrived.place.warp);
                let here = of_warp.fold(LaneMask::NONE, |lanes, other| lanes | other.lanes);
                let there = warp.live & !here;
                if !there.is_empty() {
                    to.report(waits_for(*id, arrived, here, warp, there, to.program));
                }
            }
            let Some(barrier) = block.barriers.get(*id as usize) else { continue };
            // Where they disagree about the count, that is the mistake.
            let agree = phase.windows(2).all(|pair| pair[0].wanted == pair[1].wanted);
            if let (Some(wanted), Some(last), true) = (barrier.wanted, phase.last(), agree) {
                self.report_exited(*id, (wanted, last), barrier, block, to);
            }
        }
    }

    /// Reports a barrier that expects more threads than are left.
    fn report_exited(&self, id: u32, (wanted, last): (u32, &Arrived), barrier: &Barrier, block: &UnfinishedBlock, to: &mut Reporter<'_>) {
        let left: u32 = block.warps.iter().enumerate().map(|(number, warp)| possible(barrier, number, warp)).sum();
        if left >= wanted || wanted > self.threads {
            return;
        }
        let came =
            barrier.arrived.iter().enumerate().filter(|(_, lanes)| !lanes.is_empty()).map(|(warp, _)| WarpId::at(warp)).collect::<Vec<_>>();
        let Some((place, lanes)) = self.exits.iter().rev().find(|(place, _)| !came.contains(&place.warp)) else { return };
        let why = format!(
            "barrier {id} wants {wanted} threads, and only {left} of the block can still come: {} of warp {} exited without it",
            lanes.describe(),
            place.warp
        );
        let fix = "have every thread that is counted arrive at the barrier before it exits, or lower the count".to_string();
        let second = Side::new(last.place, last.lanes, SideAction::Synchronize);
        let first = Some(Side::new(*place, *lanes, SideAction::Exit));
        to.report(Finding { first, ..Finding::new(BARRIER_EXITED, second, why, fix) });
    }
}

/// Threads for which a warp counts at most at a barrier.
fn possible(barrier: &Barrier, number: usize, warp: &UnfinishedWarp) -> u32 {
    let arrived = barrier.arrived.get(number).copied().unwrap_or(LaneMask::NONE);
    let all = arrived | warp.live;
    if all.is_empty() { 0 } else { LANES as u32 }
}

fn disagree(id: u32, first: &Arrived, second: &Arrived) -> Finding {
    let why = format!(
        "barrier {id} is set to wait for {} threads here, and for {} threads by {} that arrived at the same phase of it before",
        second.wanted,
        first.wanted,
        lanes_of_warp(first)
    );
    let fix =
        "name the same count at every bar and barrier that takes part in a phase: the threads that arrive and those that wait".to_string();
    let side = |arrived: &Arrived| Side::new(arrived.place, arrived.lanes, SideAction::Synchronize);
    Finding { first: Some(side(first)), ..Finding::new(BARRIER_COUNT, side(second), why, fix) }
}

fn too_many(id: u32, arrived: &Arrived, threads: u32) -> Finding {
    let why = format!("barrier {id} wants {} threads, but the block has {threads}", arrived.wanted);
    let fix = "name as many threads as take part, or launch larger blocks".to_string();
    Finding::new(BARRIER_COUNT, Side::new(arrived.place, arrived.lanes, SideAction::Synchronize), why, fix)
}

/// The finding for an aligned barrier that part of a warp executes, with its fix.
fn divergence(id: u32, arrived: &Arrived, here: LaneMask, others: &str) -> Finding {
    let why = format!(
        "only {} of warp {} came to this aligned {}; {others}. All lanes of a warp must execute it together",
        here.describe(),
        arrived.place.warp,
        if id == CLUSTER { "barrier of the cluster".to_string() } else { format!("barrier {id}") }
    );
    let whose = if id == CLUSTER { "cluster" } else { "block" };
    let fix = format!("move the barrier out of the branch, so that all threads of the {whose} reach it");
    Finding::new(BARRIER_DIVERGENCE, Side::new(arrived.place, here, SideAction::Synchronize), why, fix)
}

fn elsewhere(id: u32, first: &Arrived, second: &Arrived, here: LaneMask, program: &Program) -> Finding {
    let others = format!("{} came to the one at {}", first.lanes.describe(), program.place(first.place.pc));
    let side = Side::new(first.place, first.lanes, SideAction::Synchronize);
    Finding { first: Some(side), ..divergence(id, second, here, &others) }
}

fn not_there(id: u32, arrived: &Arrived, here: LaneMask, there: LaneMask) -> Finding {
    divergence(id, arrived, here, &format!("{} did not", there.describe()))
}

fn passed_by(id: u32, arrived: &Arrived, here: LaneMask, (place, lanes): (IssuePoint, LaneMask)) -> Finding {
    let others = format!("{} went past it and exited", lanes.describe());
    Finding { first: Some(Side::new(place, lanes, SideAction::Exit)), ..divergence(id, arrived, here, &others) }
}

fn waits_for(id: u32, arrived: &Arrived, here: LaneMask, warp: &UnfinishedWarp, there: LaneMask, program: &Program) -> Finding {
    let groups = warp.groups.iter().filter(|group| group.lanes.intersects(there));
    let waiting: Vec<(Pc, LaneMask)> = groups.map(|group| (group.current_pc, group.lanes & there)).collect();
    let described = waiting.iter().map(|(pc, lanes)| format!("{} at {}", lanes_do(*lanes, "wait"), program.place(*pc)));
    let others = described.collect::<Vec<_>>().join(", ");
    let first = waiting.first().map(|(pc, lanes)| Side::new(IssuePoint { pc: *pc, ..arrived.place }, *lanes, SideAction::Synchronize));
    Finding { first, ..divergence(id, arrived, here, &others) }
}

fn lanes_of_warp(arrived: &Arrived) -> String {
    format!("{} of warp {}", arrived.lanes.describe(), arrived.place.warp)
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
        let known = self.blocks[block_slot].take();
        assert!(known.as_ref().is_none_or(|(number, _)| *number <= block_id.number), "blocks take a block slot in order");
        let known = known.filter(|(number, _)| *number == block_id.number);
        &mut self.blocks[block_slot].insert(known.unwrap_or_else(|| (block_id.number, BlockBarriers::new(threads)))).1
    }

    /// The barrier of the cluster ended its phase, for the blocks in `block_slots`.
    pub fn cluster_released(&mut self, block_slots: Range<u32>, reachability: &mut Reachability, to: &mut Reporter<'_>) -> bool {
        let of_cluster = self.blocks.iter_mut().skip(block_slots.start as usize).take(block_slots.len()).flatten();
        of_cluster.fold(false, |found, (_, barriers)| barriers.released(CLUSTER, reachability, to) | found)
    }

    /// No warp can make progress.
    pub fn deadlock(&self, end: &LaunchEnd, to: &mut Reporter<'_>) {
        for block in &end.blocks {
            let barriers = self.blocks.iter().flatten().find(|(number, _)| *number == block.id.number);
            barriers.into_iter().for_each(|(_, barriers)| barriers.deadlock(block, to));
        }
    }
}
