//! Member masks of `bar.warp.sync` and of warp collectives (PTX ISA, "bar.warp.sync", "shfl.sync", "vote.sync", "match.sync",
//! "redux.sync", "elect.sync").
//!
//! A lane must be in its own mask. Lanes that execute an instruction together must not name masks that overlap and differ. A lane for which
//! others wait in `bar.warp.sync` must arrive there with their mask: one that exits after it synchronized with another mask never will.
//! Lanes that exited earlier need not arrive.

use std::collections::BTreeMap;

use crate::base::WarpId;
use crate::check::finding::{Finding, Side, SideAction};
use crate::check::lane_text::lanes_do;
use crate::check::reachability::Reachability;
use crate::check::reporter::Reporter;
use crate::check::sync::barrier::{CLUSTER, barrier_name};
use crate::check::sync::catalogue::SYNC_MEMBERMASK;
use crate::machine::{GroupState, IssuePoint, LaneMask, LaunchEnd, SyncEvent, Tick, UnfinishedBlock, UnfinishedGroup};
use crate::program::Program;

/// Ticks of waiting for running lanes of the same warp after which the wait is taken to be endless.
const LONG_WAIT: u64 = 1 << 15;

/// The masks that the warps of the blocks on the machine name.
#[derive(Clone, Default)]
pub(super) struct Masks {
    /// By block, in order of launch, and warp.
    warps: BTreeMap<(u64, WarpId), WarpMasks>,
}

/// The last masks that lanes of a warp named.
#[derive(Clone, Default)]
struct WarpMasks {
    /// The lanes that wait in a `bar.warp.sync` that not all its lanes have reached.
    waiting: Vec<MaskUse>,
    /// The last use of a partial mask by each lane.
    last: Vec<MaskUse>,
    /// The other uses of masks by the current instruction.
    simultaneous: Vec<MaskUse>,
}

/// Lanes that execute an instruction with a mask.
#[derive(Clone, Copy)]
struct MaskUse {
    point: IssuePoint,
    lanes: LaneMask,
    members: LaneMask,
}

impl MaskUse {
    fn side(&self) -> Side {
        Side::new(self.point, self.lanes, SideAction::Synchronize)
    }

    /// True if the masks differ and one of them names a lane of the other use.
    fn conflicts(&self, other: &MaskUse) -> bool {
        self.members != other.members && !(self.members & other.lanes | other.members & self.lanes).is_empty()
    }
}

impl Masks {
    /// A launch begins.
    pub fn begin(&mut self) {
        self.warps.clear();
    }

    /// Lanes reach a `bar.warp.sync`, or a warp collective if not `waits`; the lanes `live` have not exited.
    pub fn uses_mask(&mut self, event: &SyncEvent<'_>, members: LaneMask, waits: bool, live: LaneMask, to: &mut Reporter<'_>) -> bool {
        assert!(!event.lanes.is_empty() && live.contains_all(event.lanes), "lanes that have not exited synchronize");
        let mask_use = MaskUse { point: event.point, lanes: event.lanes, members };
        // Mostly all lanes synchronize at once.
        if members == LaneMask::ALL && event.lanes == live {
            return false;
        }
        let mut found = !members.contains_all(mask_use.lanes) && to.report(not_in_mask(&mask_use));
        let warp = self.warps.entry((event.block_id.number, event.point.warp)).or_default();
        let same = |other: &MaskUse| (other.point.tick, other.point.pc) == (mask_use.point.tick, mask_use.point.pc);
        warp.simultaneous.retain(same);
        if let Some(other) = warp.simultaneous.iter().find(|other| other.conflicts(&mask_use)) {
            found |= to.report(differing_masks(other, &mask_use));
        }
        warp.simultaneous.push(mask_use);
        if waits {
            warp.arrive(mask_use, live);
        }
        found
    }

    /// The run was ended though threads could continue: reports lanes that have waited long for lanes of their warp that still run.
    pub fn report_spinning(&self, end: &LaunchEnd, to: &mut Reporter<'_>) {
        for ((number, warp), masks) in &self.warps {
            let Some(warp) = end.block(*number).and_then(|block| block.warps.get(warp.index())) else { continue };
            for waiting in masks.waiting.iter().filter(|waiting| end.tick.saturating_since(waiting.point.tick) >= LONG_WAIT) {
                let missing = waiting.members & warp.live & !waiting.lanes;
                if let Some(group) = warp.groups.iter().find(|group| group.lanes.intersects(missing) && group.state == GroupState::Ready) {
                    to.report(spinning_lanes(waiting, group, to.program));
                }
            }
        }
    }

    /// Lanes exit: reports lanes that wait for them.
    pub fn exited(&mut self, event: &SyncEvent<'_>, live: LaneMask, reachability: &mut Reachability, to: &mut Reporter<'_>) -> bool {
        let key = (event.block_id.number, event.point.warp);
        let Some(warp) = self.warps.get_mut(&key) else { return false };
        assert!(live.contains_all(event.lanes), "a lane exits once");
        let mut found = false;
        for waiting in &warp.waiting {
            let exiting = waiting.members & event.lanes & !waiting.lanes;
            let other_use = warp.last.iter().find(|last| {
                let is_other_use =
                    last.point.tick > waiting.point.tick || reachability.are_exclusive(to.program, last.point.pc, waiting.point.pc);
                last.lanes.intersects(exiting) && last.members != waiting.members && is_other_use
            });
            found |= other_use.is_some_and(|other_use| to.report(exited_after_other_mask(other_use, waiting, exiting)));
        }
        if event.lanes.contains_all(live) {
            self.warps.remove(&key);
        }
        found
    }
}

impl WarpMasks {
    fn arrive(&mut self, mask_use: MaskUse, live: LaneMask) {
        self.last.iter_mut().for_each(|last| last.lanes &= !mask_use.lanes);
        self.last.retain(|last| !last.lanes.is_empty());
        self.last.push(mask_use);
        match self.waiting.iter_mut().find(|waiting| waiting.members == mask_use.members) {
            Some(waiting) => waiting.lanes |= mask_use.lanes,
            None => self.waiting.push(mask_use),
        }
        self.waiting.retain(|waiting| !waiting.lanes.contains_all(waiting.members & live));
    }
}

/// No warp can make progress: reports lanes that wait for each other at instructions with masks.
pub(super) fn deadlock(block: &UnfinishedBlock, tick: Tick, to: &mut Reporter<'_>) {
    for (warp, number) in block.warps.iter().zip(0..) {
        for (index, group) in warp.groups.iter().enumerate() {
            let missing = group.state.members() & !group.lanes & warp.live;
            let other = warp
                .groups
                .iter()
                .enumerate()
                .find(|(_, other)| other.lanes.intersects(missing) && other.state.members().intersects(group.lanes));
            // Each of the two waits for the other: it is reported once.
            let Some((_, other)) = other.filter(|(other, _)| *other > index) else { continue };
            let mask_use = |group: &UnfinishedGroup| MaskUse {
                point: IssuePoint { pc: group.current_pc, tick, block: block.index, warp: WarpId::new(number) },
                lanes: group.lanes,
                members: group.state.members(),
            };
            to.report(waiting_for_each_other(
                (&mask_use(group), group.has_mask),
                (&mask_use(other), other.has_mask),
                warp.live,
                to.program,
            ));
        }
    }
}

fn not_in_mask(mask_use: &MaskUse) -> Finding {
    let lanes = mask_use.lanes & !mask_use.members;
    let why = format!("{} this with the mask {:#010x}, which leaves them out", lanes_do(lanes, "execute"), mask_use.members);
    let fix =
        "name in the mask every lane that executes the instruction: take it from activemask or from a ballot before the branch".to_string();
    Finding::new(SYNC_MEMBERMASK, Side::new(mask_use.point, lanes, SideAction::Synchronize), why, fix)
}

const ONLY_THOSE_THAT_COME: &str = "include in each mask only the lanes that reach that instruction";

const SAME_MASK: &str = "give all lanes that meet there the same mask, which names just them";

fn differing_masks(first: &MaskUse, second: &MaskUse) -> Finding {
    let why = format!(
        "{} the mask {:#010x} and {} the mask {:#010x} at once: the masks overlap and differ",
        lanes_do(first.lanes, "name"),
        first.members,
        second.lanes.describe(),
        second.members
    );
    let finding = Finding::new(SYNC_MEMBERMASK, second.side(), why, SAME_MASK.to_string());
    Finding { first: Some(first.side()), ..finding }
}

fn exited_after_other_mask(other_use: &MaskUse, waiting: &MaskUse, exiting: LaneMask) -> Finding {
    let why = format!(
        "{} for {} of the mask {:#010x}, which executed a bar.warp.sync with the mask {:#010x} instead, and exited",
        lanes_do(waiting.lanes, "wait"),
        (exiting & other_use.lanes).describe(),
        waiting.members,
        other_use.members
    );
    let finding = Finding::new(SYNC_MEMBERMASK, other_use.side(), why, SAME_MASK.to_string());
    Finding { first: Some(waiting.side()), ..finding }
}

fn spinning_lanes(waiting: &MaskUse, group: &UnfinishedGroup, program: &Program) -> Finding {
    let why = format!(
        "{} for {} of the mask {:#010x}, which never arrive: they loop at {}",
        lanes_do(waiting.lanes, "wait"),
        group.lanes.describe(),
        waiting.members,
        program.place(group.pc)
    );
    let fix = "let no lane wait for lanes that wait for it: give away what they spin on before all of them meet".to_string();
    let finding = Finding::new(SYNC_MEMBERMASK, waiting.side(), why, fix);
    let first = Side::new(IssuePoint { pc: group.pc, ..waiting.point }, group.lanes, SideAction::Synchronize);
    Finding { first: Some(first), ..finding }
}

/// Two groups of lanes, each with whether its instruction has a mask, wait for each other.
fn waiting_for_each_other(one: (&MaskUse, bool), other: (&MaskUse, bool), live: LaneMask, program: &Program) -> Finding {
    let described = |(mask_use, has_mask): (&MaskUse, bool)| {
        let missing = mask_use.members & !mask_use.lanes & live;
        let at = program.place(mask_use.point.pc);
        let mask =
            if has_mask { format!(" of the mask {:#010x}", mask_use.members) } else { ", as all lanes of the warp must execute it".into() };
        format!("{} at {at} for {}{mask}", lanes_do(mask_use.lanes, "wait"), missing.describe())
    };
    let why = format!("{}, and {}: each waits for the other", described(one), described(other));
    let fix = match one.1 && other.1 {
        true => ONLY_THOSE_THAT_COME,
        false => "have all lanes of the warp execute the instruction together: move it out of the branch",
    };
    let finding = Finding::new(SYNC_MEMBERMASK, one.0.side(), why, fix.to_string());
    Finding { first: Some(other.0.side()), ..finding }
}

/// No warp can make progress: lanes of a group wait, at an instruction with a mask, for lanes that wait for them at a barrier.
pub(super) fn waiting_for_lanes_at_barrier(
    (group, tick): (&UnfinishedGroup, Tick),
    at_barrier: Side,
    barrier: u32,
    program: &Program,
) -> Finding {
    let (members, others) = (group.state.members(), at_barrier.lanes);
    let why = format!(
        "{} at {} for {} of the mask {members:#010x}, and those wait at {}{}: each waits for the other",
        lanes_do(group.lanes, "wait"),
        program.place(group.current_pc),
        (members & others).describe(),
        if barrier == CLUSTER { "the " } else { "" },
        barrier_name(barrier)
    );
    let waiting = Side::new(IssuePoint { pc: group.current_pc, tick, ..at_barrier.point }, group.lanes, SideAction::Synchronize);
    Finding { first: Some(at_barrier), ..Finding::new(SYNC_MEMBERMASK, waiting, why, ONLY_THOSE_THAT_COME.to_string()) }
}
