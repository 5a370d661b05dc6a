//! Exchange between the lanes of a warp (PTX ISA, "shfl", "vote", "match", "redux", "elect").
//!
//! The forms with a member mask wait until its lanes that have not exited stand at the same instruction. Lanes that name different
//! masks, as the tiles of a partitioned warp do, are exchanges of their own.

use smallvec::SmallVec;

use super::operands::Lanes;
use super::{Executed, Flow, Group, WarpRun};
use crate::isa::{IntType, ReduxFn, ShuffleMode, VoteMode, Width};
use crate::machine::event::Order;
use crate::machine::lanes::{LaneMask, PerLane, first_lane, lanes_of};
use crate::machine::trap::TrapKind;
use crate::machine::warp::GroupState;
use crate::program::{Dst, Op, Pc, PredSrc, Src};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes an exchange between lanes.
    pub(super) fn warp_level(&mut self, op: &Op, group: &Group, active: LaneMask) -> Executed {
        let mask = match op {
            Op::Shuffle { mask, .. } | Op::Vote { mask, .. } => *mask,
            Op::Match { mask, .. } | Op::Redux { mask, .. } | Op::Elect { mask, .. } => Some(*mask),
            other => unreachable!("{other:?} exchanges nothing"),
        };
        if let Op::Redux { f, ty, .. } = op
            && !matches!(ty, IntType::U32 | IntType::S32)
        {
            return Err(self.trap(TrapKind::Unsupported, active, &format!("redux {f:?} of {ty:?} is not modelled")));
        }
        let Some(mask) = mask else {
            self.among(op, group, active);
            return Ok(Flow::Next);
        };
        let mut waiting = Tiles::new();
        for (tile, members) in tiles(self.lanes(group, active).get32(mask), active) {
            self.report_order(tile, Order::Exchange { members });
            if self.warp.live & members & !group.mask == 0 {
                self.among(op, group, tile);
            } else {
                waiting.push((tile, members));
            }
        }
        if waiting.is_empty() { Ok(Flow::Next) } else { Ok(self.wait_at(group, &waiting)) }
    }

    /// Makes the lanes of each tile wait at the instruction for its members; the others go on past it.
    pub(super) fn wait_at(&mut self, group: &Group, waiting: &Tiles) -> Flow {
        self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
        for (tile, members) in waiting {
            self.waiting |= tile;
            self.warp.split(group.index, *tile, group.pc);
            if let Some(waiting) = self.warp.groups.last_mut() {
                waiting.state = GroupState::AtSync { members: *members };
            }
        }
        self.warp.groups.retain(|group| group.mask != 0);
        Flow::Reselect
    }

    /// Executes the operation among the lanes of `tile`.
    fn among(&mut self, op: &Op, group: &Group, tile: LaneMask) {
        let mut lanes = self.lanes(group, tile);
        match op {
            Op::Shuffle { f, d, p, a, b, c, .. } => shuffle(&mut lanes, *f, (*d, *p), [*a, *b, *c]),
            Op::Vote { f, d, p, .. } => vote(&mut lanes, *f, *d, *p),
            Op::Match { all, width, d, p, a, .. } => match_lanes(&mut lanes, *all, *width, (*d, *p), *a),
            Op::Redux { f, ty, d, a, .. } => redux(&mut lanes, *f, *ty, *d, *a),
            Op::Elect { d, p, .. } => {
                let leader = lanes.mask.trailing_zeros();
                lanes.put32(*d, &[leader; 32]);
                lanes.put_pred(*p, 1 << leader);
            }
            other => unreachable!("{other:?} exchanges nothing"),
        }
    }
}

/// Lanes that exchange among themselves, and the member mask they name.
pub(super) type Tiles = SmallVec<[(LaneMask, LaneMask); 2]>;

/// The lanes of `active` by the mask each of them names.
pub(super) fn tiles(masks: &PerLane<u32>, active: LaneMask) -> Tiles {
    let mut tiles = Tiles::new();
    let mut rest = active;
    while rest != 0 {
        let members = masks[first_lane(rest)];
        let same = masks.iter().enumerate().fold(0, |same, (lane, mask)| same | LaneMask::from(*mask == members) << lane);
        tiles.push((rest & same, members));
        rest &= !same;
    }
    tiles
}

/// `shfl`: the source lane of each lane, whether it is in range, and its value.
fn shuffle(lanes: &mut Lanes<'_>, mode: ShuffleMode, (d, p): (Dst, Dst), [a, b, c]: [Src; 3]) {
    let (values, offsets, controls) = (*lanes.get32(a), *lanes.get32(b), *lanes.get32(c));
    let (mut out, mut in_range) = ([0; 32], 0);
    for lane in lanes_of(lanes.mask) {
        let (source, good) = shuffle_source(mode, lane as u32, offsets[lane] & 31, controls[lane]);
        out[lane] = if good { values[source as usize] } else { values[lane] };
        in_range |= LaneMask::from(good) << lane;
    }
    lanes.put32(d, &out);
    lanes.put_pred(p, in_range);
}

/// The lane read from, and whether it lies inside the segment (PTX ISA, "shfl": clamp in bits 0-4, segment mask in bits 8-12).
fn shuffle_source(mode: ShuffleMode, lane: u32, offset: u32, control: u32) -> (u32, bool) {
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

fn vote(lanes: &mut Lanes<'_>, mode: VoteMode, d: Dst, p: PredSrc) {
    let (mask, bits) = (lanes.mask, lanes.pred(p) & lanes.mask);
    let truth = match mode {
        VoteMode::Ballot => return lanes.put32(d, &[bits; 32]),
        VoteMode::All => bits == mask,
        VoteMode::Any => bits != 0,
        VoteMode::Uni => bits == mask || bits == 0,
    };
    lanes.put_pred(d, if truth { LaneMask::MAX } else { 0 });
}

fn match_lanes(lanes: &mut Lanes<'_>, all: bool, width: Width, (d, p): (Dst, Dst), a: Src) {
    let values = if width == Width::B64 { *lanes.get64(a) } else { lanes.get32(a).map(u64::from) };
    let mask = lanes.mask;
    let same_as = |lane: usize| lanes_of(mask).filter(|other| values[*other] == values[lane]).fold(0, |mask, other| mask | 1 << other);
    if !all {
        let mut out = [0; 32];
        lanes_of(mask).for_each(|lane| out[lane] = same_as(lane));
        return lanes.put32(d, &out);
    }
    let agree = same_as(first_lane(mask)) == mask;
    lanes.put32(d, &[if agree { mask } else { 0 }; 32]);
    lanes.put_pred(p, if agree { LaneMask::MAX } else { 0 });
}

fn redux(lanes: &mut Lanes<'_>, f: ReduxFn, ty: IntType, d: Dst, a: Src) {
    let values: PerLane<u32> = *lanes.get32(a);
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
    };
    let result = lanes_of(lanes.mask).map(|lane| values[lane]).reduce(fold).unwrap_or(0);
    lanes.put32(d, &[result; 32]);
}
