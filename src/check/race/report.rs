//! Races as findings: which mistake it is, and its two sides.

use std::ops::Range;

use super::access::Access;
use super::advice::Language;
use super::cause;
use super::detector::{Conflict, ConflictKind};
use super::tolerated::Tolerated;
use super::why::{WHY_EXCHANGED, why};
use super::{Race, ShadowMemory};
use crate::base::Severity;
use crate::check::catalogue::FindingId;
use crate::check::finding::{Distance, Finding, Link, MemoryRange, Pair, Side, SideAction};
use crate::check::race::catalogue::{
    RACE_ASYNC_COPY, RACE_GLOBAL, RACE_LOCKSTEP, RACE_MIXED_ATOMIC, RACE_PROXY, RACE_SAME_VALUE, RACE_SCOPE, RACE_SHARED_RAW,
    RACE_SHARED_WAR, RACE_SHARED_WAW, RACE_UNORDERED, RACE_WGMMA,
};
use crate::check::reachability::Cut;
use crate::check::remedy::Advice;
use crate::check::reporter::Reporter;
use crate::check::touched::Touched;
use crate::isa::{Scope, Space};
use crate::machine::{LaneMask, Proxy, Tick};
use crate::order::{Agent, AsyncKind, scope_of};

/// The relation of the two sides of a race.
#[derive(Clone, Copy)]
pub(super) struct Relation {
    /// Their distance: the level of the thread hierarchy that they share.
    pub distance: Distance,
    /// Both are strong, but of different sizes.
    pub sizes: bool,
    /// In which turns of a loop.
    pub turns: LoopIteration,
    /// Whether the block has one warp only.
    pub is_lone_warp: bool,
}

/// The position in the control flow of a read and a write that no barrier orders.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopIteration {
    /// They race in one turn of a loop, or lie in none.
    Same,
    /// The read of one turn races with the write of the next.
    Next,
    /// Both.
    Both,
}

impl Race {
    /// Reports the conflicts of an access of the block in `block_slot`. True if there is a new finding among them.
    pub(super) fn report(&mut self, owner: ShadowMemory, block_slot: u32, access: &Access, to: &mut Reporter<'_>) -> bool {
        if self.conflicts.is_empty() {
            return false;
        }
        // What follows from a race orders some threads.
        self.record(block_slot);
        let new = self.report_conflicts(owner, block_slot, access, to);
        if self.log_of(owner).is_full() {
            self.sweep(owner);
        }
        new
    }

    fn report_conflicts(&mut self, owner: ShadowMemory, block_slot: u32, access: &Access, to: &mut Reporter<'_>) -> bool {
        let mut new = false;
        for mut conflict in std::mem::take(&mut self.conflicts) {
            self.order_racy_read(block_slot, access, &conflict);
            if conflict.kind == ConflictKind::SameValue && self.is_lost_update(&conflict.first, access) {
                conflict.kind = ConflictKind::Unordered;
            }
            let is_exchanged = conflict.kind == ConflictKind::Lockstep && self.may_be_exchanged(&conflict.first, access);
            if is_exchanged {
                conflict.kind = ConflictKind::Unordered;
            } else if conflict.kind == ConflictKind::Lockstep && std::mem::replace(&mut self.is_lockstep_noted, true) {
                continue;
            }
            if is_overlap(&conflict.first, access) || is_overlap(access, &conflict.first) {
                // A plain access to the bytes of an mbarrier in use is a mistake whatever orders it, and reported as such.
                continue;
            }
            if conflict.kind == ConflictKind::Strong && !self.is_order_kept(&conflict.first, access) {
                continue;
            }
            assert!(conflict.first.op.tick <= access.op.tick, "a race is with what came before");
            assert!(!conflict.first_lanes.is_empty() && !conflict.second_lanes.is_empty(), "a race is of some lanes");
            let id = self.mistake(owner, block_slot, access, &conflict);
            let (first, second) = (self.side(&conflict.first, conflict.first_lanes), self.side(access, conflict.second_lanes));
            let distance = self.distance(&conflict.first, access);
            let touched = self.common_bytes(owner, &conflict, access);
            let ignored = self.ignored(id, owner, (&conflict, access), &touched);
            let tolerated = ignored.or_else(|| self.tolerated(id, &conflict.first, access));
            let severity = if tolerated.is_some() { Severity::Note } else { id.severity() };
            if to.findings.repeats_race(Pair::new(id, to.launch, Some(&first), &second), severity, distance, &touched) {
                continue;
            }
            let relation = self.relation(id, distance, &conflict.first, access);
            let language = Language::of(&self.program, access.pc);
            let (why, advice) = match tolerated {
                Some(tolerated) => (tolerated.why().to_string(), Advice::words(tolerated.fix())),
                None if is_exchanged => (WHY_EXCHANGED.to_string(), self.fix(id, relation, block_slot, &conflict, access)),
                None => (why(id, language, relation, &conflict, access), self.fix(id, relation, block_slot, &conflict, access)),
            };
            let finding = Finding {
                id,
                severity,
                launch: to.launch,
                memory: Some(self.touched(owner, &conflict, access)),
                touched,
                why,
                fix: advice.text,
                candidates: advice.candidates,
                chain: self.chain(block_slot, &first, &second, &conflict.first, access),
                first: Some(first),
                second,
                count: 1,
                distance: Some(distance),
            };
            if conflict.kind == ConflictKind::Strong {
                self.unordered.hold((access.op.block, conflict.address), finding);
                continue;
            }
            let (program, reachability) = (&self.program, &mut self.reachability);
            new |= to.findings.report_unless(finding, |known, finding| cause::is_same(program, reachability, known, finding));
        }
        new
    }

    fn mistake(&mut self, owner: ShadowMemory, block_slot: u32, access: &Access, conflict: &Conflict) -> FindingId {
        let first = &conflict.first;
        let is = |test: fn(&Access) -> bool| test(first) || test(access);
        match conflict.kind {
            ConflictKind::SameValue => return RACE_SAME_VALUE,
            ConflictKind::Strong => return RACE_UNORDERED,
            ConflictKind::Lockstep => return RACE_LOCKSTEP,
            ConflictKind::Unfenced => return RACE_PROXY,
            // The model has no word on these paths: nothing but the end of the launch orders them.
            ConflictKind::Unordered if is(|access| matches!(access.proxy, Proxy::ReadOnly | Proxy::Surface)) => return RACE_PROXY,
            ConflictKind::Unordered => {}
        }
        if is(|access| access.op.agent == Agent::Async(AsyncKind::Wgmma)) {
            return RACE_WGMMA;
        }
        if is(|access| access.copy != 0) {
            return RACE_ASYNC_COPY;
        }
        if self.scope_is_too_narrow(first, access) || self.has_missed(block_slot, conflict, access) {
            return RACE_SCOPE;
        }
        let on_object = uses_object(first) || uses_object(access);
        if is(|access| access.action == SideAction::Atomic) && is(|access| access.strong.is_none()) && !on_object {
            return RACE_MIXED_ATOMIC;
        }
        match owner {
            ShadowMemory::Global => RACE_GLOBAL,
            ShadowMemory::Block(_) => self.hazard(first, access),
        }
    }

    /// Read after write, write after read, or write after write. Which of the two came first in this run is chance: the path from one to
    /// the other without a barrier decides, and where there is none or both, their order in the code, as far as control can flow from one
    /// to the other.
    fn hazard(&mut self, a: &Access, b: &Access) -> FindingId {
        let Some((read, write)) = self.read_and_write(a, b) else { return RACE_SHARED_WAW };
        for cut in [Cut::Any, Cut::OfBlock] {
            let mut is_open = |from: &Access, to: &Access| self.reachability.reaches_uncut(&self.program, from.pc, to.pc, cut);
            match (is_open(write, read), is_open(read, write)) {
                (true, false) => return RACE_SHARED_RAW,
                (false, true) => return RACE_SHARED_WAR,
                (true, true) | (false, false) => {}
            }
        }
        let mut flows = |from: &Access, to: &Access| self.reachability.reaches_without_back_edge(&self.program, from.pc, to.pc);
        if flows(read, write) && !flows(write, read) { RACE_SHARED_WAR } else { RACE_SHARED_RAW }
    }

    /// The one that reads and the one that writes; none if both write.
    fn read_and_write<'a>(&self, a: &'a Access, b: &'a Access) -> Option<(&'a Access, &'a Access)> {
        let reads = |access: &Access| access.action == SideAction::Read || uses_object(access);
        match (reads(a), reads(b)) {
            (true, _) => Some((a, b)),
            (_, true) => Some((b, a)),
            (false, false) => None,
        }
    }

    /// Whether a read and a write of shared memory race in the same iteration of a loop, or across iterations.
    fn loop_iteration(&mut self, id: FindingId, distance: Distance, a: &Access, b: &Access) -> LoopIteration {
        let shared = (id == RACE_SHARED_RAW || id == RACE_SHARED_WAR) && distance <= Distance::Block;
        let Some((read, write)) = self.read_and_write(a, b).filter(|_| shared) else { return LoopIteration::Same };
        let cut = if distance <= Distance::Warp { Cut::Any } else { Cut::OfBlock };
        let mut is_open = |from: &Access, to: &Access| self.reachability.reaches_uncut(&self.program, from.pc, to.pc, cut);
        match (is_open(write, read), is_open(read, write)) {
            (true, true) => LoopIteration::Both,
            (false, true) if !self.reachability.reaches_without_back_edge(&self.program, read.pc, write.pc) => LoopIteration::Next,
            _ => LoopIteration::Same,
        }
    }

    fn scope_is_too_narrow(&self, a: &Access, b: &Access) -> bool {
        let (Some(x), Some(y)) = (a.strong, b.strong) else { return false };
        x.min(y) < scope_of(a.op.block, b.op.block, self.order.cluster())
    }

    /// Whether the two would be ordered if all scopes were as wide as the grid.
    fn has_missed(&self, block_slot: u32, conflict: &Conflict, access: &Access) -> bool {
        let Some(block) = self.order.block(block_slot) else { return false };
        let missed = &block.warps[access.op.warp].missed;
        let first = &conflict.first;
        missed.iter().filter(|(lanes, _)| lanes.intersects(conflict.second_lanes)).any(|(_, clock)| {
            clock.of(first.op.block).is_some_and(|known| known.own.of(first.op.warp, conflict.first_lanes) > first.op.tick)
        })
    }

    fn relation(&mut self, id: FindingId, distance: Distance, a: &Access, b: &Access) -> Relation {
        let sizes = a.strong.is_some() && b.strong.is_some() && a.bytes != b.bytes;
        Relation { distance, sizes, turns: self.loop_iteration(id, distance, a, b), is_lone_warp: self.order.warps() == 1 }
    }

    fn distance(&self, a: &Access, b: &Access) -> Distance {
        match scope_of(a.op.block, b.op.block, self.order.cluster()) {
            Scope::Cta if (a.op.tick, a.pc, a.op.warp) == (b.op.tick, b.pc, b.op.warp) => Distance::Instruction,
            Scope::Cta if a.op.warp == b.op.warp => Distance::Warp,
            Scope::Cta | Scope::None => Distance::Block,
            Scope::Cluster => Distance::Cluster,
            Scope::Gpu | Scope::Sys => Distance::Grid,
        }
    }

    pub(super) fn side(&self, access: &Access, lanes: LaneMask) -> Side {
        access.side(lanes, self.index_of(access.op.block))
    }

    /// The index of a block in the grid.
    fn index_of(&self, number: u32) -> [u32; 3] {
        self.prepared.as_ref().map_or([0; 3], |prepared| prepared.block_index(u64::from(number)))
    }

    /// That of the block in `block_slot`.
    pub(super) fn index_in(&self, block_slot: u32) -> [u32; 3] {
        self.order.block(block_slot).map_or([0; 3], |block| self.index_of(block.number))
    }

    /// The bytes that lanes of both accesses touched, which are not the same thread: those of the conflict, and those beside it.
    fn common_bytes(&self, owner: ShadowMemory, conflict: &Conflict, access: &Access) -> Touched {
        let log = if owner == ShadowMemory::Global { &self.log } else { &self.shared_log };
        let first = &conflict.first;
        let bytes = u64::from(first.bytes.min(access.bytes).clamp(1, 16));
        let mut touched = Touched::of(conflict.address..conflict.address.saturating_add(bytes));
        let same_warp = (first.op.block, first.op.warp, first.op.agent) == (access.op.block, access.op.warp, access.op.agent);
        for lane in access.op.lanes.iter() {
            let Some(address) = access.lane_addresses.address(lane, log) else { break };
            let others = first.lanes_at(address, log);
            let is_shared = if same_warp { !others.without(LaneMask::of(lane)).is_empty() } else { !others.is_empty() };
            if is_shared {
                touched.add(address..address.saturating_add(u64::from(access.bytes.max(1))));
            }
        }
        touched
    }

    /// Whether all that the conflict is about are bytes of which the launch says nothing, and neither side reads them: what is read may go
    /// anywhere.
    fn ignored(&mut self, id: FindingId, owner: ShadowMemory, of: (&Conflict, &Access), touched: &Touched) -> Option<Tolerated> {
        let (conflict, access) = of;
        let are_writes = conflict.first.action == SideAction::Write && access.action == SideAction::Write;
        if self.ignored.is_empty() || owner != ShadowMemory::Global || id.severity() == Severity::Note || !are_writes {
            return None;
        }
        let whole = conflict.address..conflict.address.saturating_add(conflict.first.bytes.min(access.bytes).into());
        let is_ignored = |range: &Range<u64>| self.ignored.iter().any(|all| all.start <= range.start && range.end <= all.end);
        let are_all = !touched.ranges().is_empty() && [&whole].into_iter().chain(touched.ranges()).all(is_ignored);
        if are_all {
            self.contention.ignored.get_or_insert(access.pc);
        }
        are_all.then_some(Tolerated::Ignored)
    }

    fn touched(&self, owner: ShadowMemory, conflict: &Conflict, access: &Access) -> MemoryRange {
        let bytes = conflict.first.bytes.min(access.bytes).min(16);
        let address = conflict.address;
        match owner {
            ShadowMemory::Global => MemoryRange { space: Space::Global, block: [0; 3], address, bytes },
            ShadowMemory::Block(block_slot) => {
                let block = self.index_in(block_slot);
                MemoryRange { space: Space::Shared, block, address, bytes }
            }
        }
    }

    /// The synchronization between the two, and its gaps.
    fn chain(&self, block_slot: u32, first: &Side, second: &Side, a: &Access, b: &Access) -> Vec<Link> {
        let in_flight = |side: &Side| self.program.code[side.place.pc.index()].op.flight_word();
        let link = |side: &Side| Link { place: Some(side.place), text: format!("{} {}", actor(side, in_flight(side)), action(side)) };
        let mut chain = vec![link(first)];
        if let Some(block) = self.order.block(block_slot)
            && a.op.block == b.op.block
        {
            let warp = &block.warps[b.op.warp];
            let barrier_text = |what: &str, tick: Tick| match tick {
                Tick::START => format!("{what} have not met at a barrier yet"),
                tick => format!("{what} last met at a barrier at time {}, which orders only what came before", tick - 1),
            };
            chain.push(Link { place: None, text: barrier_text("all threads of the block", block.all_before) });
            if a.op.warp == b.op.warp && warp.warp_before > block.all_before {
                chain.push(Link { place: None, text: barrier_text("the lanes of the warp", warp.warp_before) });
            }
        } else if a.op.block != b.op.block {
            chain.push(Link {
                place: None,
                text: "nothing that the first thread released reached the second one in a scope that holds both".into(),
            });
        }
        chain.push(link(second));
        chain
    }
}

/// Whether the one is an operation on an mbarrier that is there, and the other no such operation.
fn is_overlap(one: &Access, other: &Access) -> bool {
    uses_object(one) && !other.is_mbarrier
}

/// Whether an access is an operation on an mbarrier that must be there.
pub(super) fn uses_object(access: &Access) -> bool {
    access.is_mbarrier && access.action != SideAction::Write
}

fn actor(side: &Side, in_flight: &str) -> String {
    let lanes = if side.lanes.count() == 1 { format!("lane {}", side.lanes.first()) } else { format!("{} lanes", side.lanes.count()) };
    let [x, y, z] = side.place.block;
    match side.copy {
        Some(copy) => format!("{in_flight} #{copy}, issued by block ({x},{y},{z}) warp {} {lanes},", side.place.warp),
        None => format!("block ({x},{y},{z}) warp {} {lanes}", side.place.warp),
    }
}

fn action(side: &Side) -> &'static str {
    match side.action {
        SideAction::Read => "reads",
        SideAction::Write => "writes",
        SideAction::Atomic => "reads and writes atomically",
        SideAction::Synchronize => "synchronizes",
        SideAction::Use => "uses it",
        SideAction::Exit => "exits",
    }
}
