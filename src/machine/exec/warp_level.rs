//! Warp collectives (PTX ISA, "shfl", "vote", "match", "redux", "elect").
//!
//! The forms with a member mask wait until the live lanes of the mask have reached an instruction with the same qualifiers: mostly the same
//! one, but lanes on different sides of a branch may reach different ones (CUDA C++ Programming Guide, "Independent Thread Scheduling").
//! Lanes with different masks, such as the tiles of a partitioned warp, execute separate collectives.

use smallvec::SmallVec;

use super::operands::Lanes;
use crate::isa::{IntType, ReduxFn, ShuffleMode, VoteMode, Width};
use crate::machine::event::{Collective, Event, SyncKind};
use crate::machine::event_kind::EventKind;
use crate::machine::exec::warp_run::{Executed, Flow, Group, WarpRun};
use crate::machine::state::issue_point::IssuePoint;
use crate::machine::state::lanes::{LANES, LaneMask, PerLane, blend};
use crate::machine::state::trap::TrapKind;
use crate::machine::state::warp::{GroupState, LaneGroup};
use crate::num::float::{self, Extremum};
use crate::program::{Dst, Family as _, Op, Pc, Src, WarpOp};

impl<'a, const OBSERVED: bool> WarpRun<'a, OBSERVED> {
    /// Executes a warp collective.
    pub(super) fn warp_level(&mut self, op: &WarpOp, group: &Group, active: LaneMask) -> Executed {
        let mask = match op {
            WarpOp::Shuffle { mask, .. } | WarpOp::Vote { mask, .. } => *mask,
            WarpOp::Match { mask, .. } | WarpOp::Redux { mask, .. } | WarpOp::Elect { mask, .. } => Some(*mask),
        };
        if let WarpOp::Redux { f, ty, .. } = op
            && !matches!(ty, IntType::U32 | IntType::S32)
        {
            return Err(self.trap(TrapKind::Unsupported, active, &format!("redux {f:?} of {ty:?} is not modelled")));
        }
        let Some(mask) = mask else {
            self.execute_tile(op, group, (active, active));
            return Ok(Flow::Next);
        };
        let (mut waiting, mut released) = (Tiles::new(), false);
        for (tile, members) in tiles(self.lanes(group, active).get32(mask), active) {
            self.report_sync(tile, SyncKind::Collective { members });
            if group.mask.contains_all(self.warp.live & members) {
                self.execute_tile(op, group, (tile, members));
                continue;
            }
            let others = self.waiting_elsewhere(op, group, members);
            if !others.is_empty()
                && others.iter().fold(group.mask, |all, (other, _)| all | other.mask) & members == members & self.warp.live
            {
                self.execute_with_waiting(op, group, (tile, members), &others);
                released = true;
            } else {
                waiting.push((tile, members));
            }
        }
        match (waiting.is_empty(), released) {
            (true, false) => Ok(Flow::Next),
            _ => Ok(self.wait_at(group, &waiting)),
        }
    }

    /// Makes the lanes of each tile wait at the instruction for its members; the others continue after it.
    pub(super) fn wait_at(&mut self, group: &Group, waiting: &Tiles) -> Flow {
        self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
        for (tile, members) in waiting {
            self.waiting |= *tile;
            self.warp.split(group.index, *tile, group.pc);
            if let Some(waiting) = self.warp.groups.last_mut() {
                waiting.state = GroupState::AtSync { members: *members };
            }
        }
        self.warp.groups.retain(|group| !group.mask.is_empty());
        Flow::Reselect
    }

    /// Executes the collective for the lanes of a tile, all at this instruction.
    fn execute_tile(&mut self, op: &WarpOp, group: &Group, (tile, members): (LaneMask, LaneMask)) {
        debug_assert!(!tile.is_empty() && group.mask.contains_all(tile), "lanes take part that do not run");
        self.pass_in_warp(tile);
        if self.reports_collective(tile) {
            self.report_collective(op, group, tile, (tile, members));
        }
        let mut lanes = self.lanes(group, tile);
        let values = inputs(&lanes, op);
        write_results(&mut lanes, op, tile, &values);
    }

    /// True if a collective of these lanes may have to be reported. If all lanes take part, no source is absent.
    #[inline(always)]
    fn reports_collective(&self, participants: LaneMask) -> bool {
        self.wants(EventKind::Collective) || self.wants(EventKind::AbsentSource) && participants != LaneMask::ALL
    }

    /// Reports that the lanes `mask` of `group` are about to execute a collective of the lanes `participants`, if the observer receives it.
    fn report_collective(&mut self, op: &WarpOp, group: &Group, mask: LaneMask, (participants, members): (LaneMask, LaneMask)) {
        let sources = sources(&self.lanes(group, mask), op);
        let absent = sources.map_or(LaneMask::NONE, |sources| mask.filter(|lane| !participants.contains(sources[lane] as usize)));
        if absent.is_empty() && !self.wants(EventKind::Collective) {
            return;
        }
        let (point, live, depth) = (IssuePoint { pc: group.pc, ..self.point }, self.warp.live, self.depth(group));
        let has_mask = op.has_member_mask();
        let collective = Collective { point, lanes: mask, participants, members, has_mask, live, depth, sources, absent };
        self.emit(&Event::Collective(&collective));
        if !absent.is_empty() {
            self.update_wants();
        }
    }

    /// The groups that wait at other instructions for the same collective of `members`.
    fn waiting_elsewhere(&self, op: &WarpOp, group: &Group, members: LaneMask) -> SmallVec<[(Group, &'a WarpOp); 2]> {
        let program = self.program;
        let waits = |(index, other): (usize, &LaneGroup)| {
            let here = other.pc == group.pc && other.frame == group.frame;
            if here || other.state != (GroupState::AtSync { members }) {
                return None;
            }
            let Op::Warp(other_op) = &program.code[other.pc.index()].op else { return None };
            is_same_collective(op, other_op).then_some((Group { index, pc: other.pc, mask: other.mask, frame: other.frame }, other_op))
        };
        self.warp.groups.iter().enumerate().filter_map(waits).collect()
    }

    /// Executes the collective for the lanes of a tile and the groups that wait at other instructions, and wakes these.
    fn execute_with_waiting(&mut self, op: &WarpOp, group: &Group, (tile, members): (LaneMask, LaneMask), others: &[(Group, &WarpOp)]) {
        let parties = || std::iter::once((op, *group, tile)).chain(others.iter().map(|(other, op)| (*op, *other, other.mask)));
        let (mut values, mut all) = ([0; 32], LaneMask::NONE);
        for (op, group, mask) in parties() {
            blend(&mut values, &inputs(&self.lanes(&group, mask), op), mask);
            all |= mask;
        }
        self.pass_in_warp(all);
        for (op, group, mask) in parties() {
            if self.reports_collective(all) {
                self.report_collective(op, &group, mask, (all, members));
            }
            write_results(&mut self.lanes(&group, mask), op, all, &values);
        }
        assert!(self.warp.live.contains_all(all), "lanes take part that have exited");
        for (other, _) in others {
            self.count_late(other);
            let group = &mut self.warp.groups[other.index];
            group.pc = Pc(other.pc.0 + 1);
            group.state = GroupState::Ready;
        }
    }
}

/// The source lanes of a `shfl`, if it is one.
fn sources(lanes: &Lanes<'_>, op: &WarpOp) -> Option<PerLane<u32>> {
    let WarpOp::Shuffle { f, b, c, .. } = op else { return None };
    Some(shuffle_sources(lanes, *f, [*b, *c]).0)
}

/// True if two instructions are the same collective, apart from operands.
fn is_same_collective(one: &WarpOp, other: &WarpOp) -> bool {
    match (one, other) {
        (WarpOp::Shuffle { f, .. }, WarpOp::Shuffle { f: other, .. }) => f == other,
        (WarpOp::Vote { f, .. }, WarpOp::Vote { f: other, .. }) => f == other,
        (WarpOp::Match { all, width, .. }, WarpOp::Match { all: other, width: of_other, .. }) => (all, width) == (other, of_other),
        (WarpOp::Redux { f, ty, .. }, WarpOp::Redux { f: other, ty: of_other, .. }) => (f, ty) == (other, of_other),
        (WarpOp::Elect { .. }, WarpOp::Elect { .. }) => true,
        _ => false,
    }
}

/// The input of each lane to a collective.
fn inputs(lanes: &Lanes<'_>, op: &WarpOp) -> PerLane<u64> {
    match op {
        WarpOp::Shuffle { a, .. } | WarpOp::Redux { a, .. } | WarpOp::Match { width: Width::B32, a, .. } => lanes.get32(*a).map(u64::from),
        WarpOp::Match { a, .. } => *lanes.get64(*a),
        WarpOp::Vote { p, .. } => {
            let bits = lanes.pred(*p);
            std::array::from_fn(|lane| u64::from(bits.contains(lane)))
        }
        WarpOp::Elect { .. } => [0; 32],
    }
}

/// Writes the results of a collective of the lanes `all`, from the input of each, for `lanes`.
fn write_results(lanes: &mut Lanes<'_>, op: &WarpOp, all: LaneMask, values: &PerLane<u64>) {
    match op {
        WarpOp::Shuffle { f, d, p, b, c, .. } => shuffle(lanes, *f, (*d, *p), [*b, *c], values),
        WarpOp::Vote { f, d, .. } => vote(lanes, *f, *d, all, values),
        WarpOp::Match { all: agree, d, p, .. } => match_lanes(lanes, *agree, (*d, *p), all, values),
        WarpOp::Redux { f, ty, d, .. } => redux(lanes, *f, *ty, *d, all, values),
        WarpOp::Elect { d, p, .. } => {
            let leader = all.first();
            lanes.put32(*d, &[leader as u32; 32]);
            lanes.put_pred(*p, LaneMask::of(leader));
        }
    }
}

/// Tiles: lanes that execute a collective together, each with its member mask.
pub(super) type Tiles = SmallVec<[(LaneMask, LaneMask); 2]>;

/// The lanes of `active`, grouped by their member mask.
pub(super) fn tiles(masks: &PerLane<u32>, active: LaneMask) -> Tiles {
    let mut tiles = Tiles::new();
    let mut rest = active;
    while !rest.is_empty() {
        let members = masks[rest.first()];
        let same = LaneMask::from_fn(|lane| masks[lane] == members);
        tiles.push((rest & same, LaneMask::from_bits(members)));
        rest &= !same;
    }
    tiles
}

/// `shfl`: writes the value of each lane's source lane, and the predicate for sources in range.
fn shuffle(lanes: &mut Lanes<'_>, mode: ShuffleMode, (d, p): (Dst, Dst), control: [Src; 2], values: &PerLane<u64>) {
    let (sources, in_range) = shuffle_sources(lanes, mode, control);
    lanes.put32(d, &sources.map(|source| values[source as usize % LANES] as u32));
    lanes.put_pred(p, in_range);
}

/// The source lane of each lane of `lanes`, which is the lane itself if the source is out of range; and the lanes whose source is in range.
#[inline(always)]
fn shuffle_sources(lanes: &Lanes<'_>, mode: ShuffleMode, [b, c]: [Src; 2]) -> (PerLane<u32>, LaneMask) {
    let (offsets, controls) = (lanes.get32(b), lanes.get32(c));
    let (mut sources, mut in_range) = ([0; 32], LaneMask::NONE);
    for lane in lanes.mask.iter() {
        let (source, good) = shuffle_source(mode, lane as u32, offsets[lane] & 31, controls[lane]);
        sources[lane] = if good { source } else { lane as u32 };
        in_range |= if good { LaneMask::of(lane) } else { LaneMask::NONE };
    }
    (sources, in_range)
}

/// The source lane of `shfl`, and true if it is inside the segment (PTX ISA, "shfl": clamp in bits 0-4, segment mask in bits 8-12).
pub fn shuffle_source(mode: ShuffleMode, lane: u32, offset: u32, control: u32) -> (u32, bool) {
    let (clamp, segment) = (control & 31, control >> 8 & 31);
    let max = lane & segment | clamp & !segment;
    let min = lane & segment;
    let (source, good) = match mode {
        ShuffleMode::Up => (lane.wrapping_sub(offset), lane as i32 - offset as i32 >= max as i32),
        ShuffleMode::Down => (lane + offset, lane + offset <= max),
        ShuffleMode::Bfly => (lane ^ offset, lane ^ offset <= max),
        ShuffleMode::Idx => (min | offset & !segment, min | offset & !segment <= max),
    };
    (source & 31, good)
}

fn vote(lanes: &mut Lanes<'_>, mode: VoteMode, d: Dst, mask: LaneMask, votes: &PerLane<u64>) {
    let bits = LaneMask::from_fn(|lane| votes[lane] & 1 != 0) & mask;
    let truth = match mode {
        VoteMode::Ballot => return lanes.put32(d, &[bits.bits(); 32]),
        VoteMode::All => bits == mask,
        VoteMode::Any => !bits.is_empty(),
        VoteMode::Uni => bits == mask || bits.is_empty(),
    };
    lanes.put_pred(d, LaneMask::all_if(truth));
}

fn match_lanes(lanes: &mut Lanes<'_>, all: bool, (d, p): (Dst, Dst), mask: LaneMask, values: &PerLane<u64>) {
    let same_as = |lane: usize| mask.filter(|other| values[other] == values[lane]);
    if !all {
        let mut out = [0; 32];
        mask.iter().for_each(|lane| out[lane] = same_as(lane).bits());
        return lanes.put32(d, &out);
    }
    let agree = same_as(mask.first()) == mask;
    lanes.put32(d, &[if agree { mask.bits() } else { 0 }; 32]);
    lanes.put_pred(p, LaneMask::all_if(agree));
}

/// The minimum or maximum of two `f32`, or of their magnitudes.
fn float_extremum(x: u32, y: u32, abs: bool, extremum: impl Fn(f32, f32) -> f32) -> u32 {
    let operand = |bits: u32| f32::from_bits(if abs { bits & 0x7fff_ffff } else { bits });
    extremum(operand(x), operand(y)).to_bits()
}

fn redux(lanes: &mut Lanes<'_>, f: ReduxFn, ty: IntType, d: Dst, mask: LaneMask, values: &PerLane<u64>) {
    let signed = ty == IntType::S32;
    let fold = |x: u32, y: u32| match f {
        ReduxFn::Add => x.wrapping_add(y),
        ReduxFn::And => x & y,
        ReduxFn::Or => x | y,
        ReduxFn::Xor => x ^ y,
        ReduxFn::Min if signed => (x as i32).min(y as i32) as u32,
        ReduxFn::Max if signed => (x as i32).max(y as i32) as u32,
        ReduxFn::Min => x.min(y),
        ReduxFn::Max => x.max(y),
        ReduxFn::MinF32 { abs, nan } => float_extremum(x, y, abs, |x, y| float::min(x, y, Extremum { nan, ..Extremum::default() })),
        ReduxFn::MaxF32 { abs, nan } => float_extremum(x, y, abs, |x, y| float::max(x, y, Extremum { nan, ..Extremum::default() })),
    };
    // For a single value too, `f32` functions take the magnitude and canonicalize NaNs.
    let one = |value: u32| if matches!(f, ReduxFn::MinF32 { .. } | ReduxFn::MaxF32 { .. }) { fold(value, value) } else { value };
    let result = mask.iter().map(|lane| one(values[lane] as u32)).reduce(fold).unwrap_or(0);
    lanes.put32(d, &[result; 32]);
}
