//! Moves, packing, addresses and special registers (PTX ISA, "Data Movement and Conversion Instructions": `mov`, `cvta`, `isspacep`).

use crate::isa::{Space, Width};
use crate::machine::exec::operands::Lanes;
use crate::machine::exec::warp_run::{Flow, Group, WarpRun};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::special;
use crate::program::{Dst, ListId, MoveOp, Program, Src};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes a move.
    #[inline(always)]
    pub(super) fn moves(&mut self, op: &MoveOp, group: &Group, active: LaneMask) -> Flow {
        match *op {
            MoveOp::Move { .. }
            | MoveOp::Move128 { .. }
            | MoveOp::Vector { .. }
            | MoveOp::Pack { .. }
            | MoveOp::Unpack { .. }
            | MoveOp::ConvertAddress { .. } => move_values(self.program, &mut self.lanes(group, active), op),
            MoveOp::CachePolicy { priorities, d, fraction } => self.cache_policy(priorities, d, fraction, group, active),
            MoveOp::FrameAddress { wide, generic, d, offset } => self.frame_address(wide, generic, d, offset, group, active),
            MoveOp::ReadSpecial { register, width, d } => {
                let value = special::changing_value(register, self.clock_jump.clock(self.point.tick));
                self.put(group, active, width == Width::B64, d, value);
            }
            MoveOp::ActiveMask { d } => self.put(group, active, false, d, u64::from(active.bits())),
            MoveOp::IsSpace { space, wide, p, a } => self.is_space(space, wide, p, a, group, active),
        }
        Flow::Next
    }

    fn cache_policy(&mut self, priorities: u8, d: Dst, fraction: Src, group: &Group, active: LaneMask) {
        let mut lanes = self.lanes(group, active);
        let values = lanes.get32(fraction).map(|bits| cache_policy(priorities, f32::from_bits(bits)));
        lanes.put64(d, &values);
    }

    fn frame_address(&mut self, wide: bool, generic: bool, d: Dst, offset: i32, group: &Group, active: LaneMask) {
        let address = i64::from(group.frame.local).wrapping_add(i64::from(offset)) as u64;
        let window = if generic { self.program.map.window_start(Space::Local) } else { 0 };
        self.put(group, active, wide, d, address.wrapping_add(window));
    }

    /// Writes the same value to all lanes.
    pub(super) fn put(&mut self, group: &Group, active: LaneMask, wide: bool, d: Dst, value: u64) {
        let mut lanes = self.lanes(group, active);
        if wide { lanes.put64(d, &[value; 32]) } else { lanes.put32(d, &[value as u32; 32]) }
    }

    fn is_space(&mut self, space: Space, wide: bool, p: Dst, a: Src, group: &Group, active: LaneMask) {
        let lanes = self.lanes(group, active);
        let addresses = if wide { *lanes.get64(a) } else { lanes.get32(a).map(u64::from) };
        let holds = |lane: usize| {
            let Ok((actual, _, _)) = self.owner(addresses[lane], Space::Generic) else { return false };
            actual == space || (space, actual) == (Space::SharedCluster, Space::Shared)
        };
        let truth = LaneMask::ALL.filter(holds);
        self.lanes(group, active).put_pred(p, truth);
    }
}

/// The value of a cache policy, as code for sm_90 computes it: the priorities, and below them the fraction in sixteenths, minus one.
fn cache_policy(priorities: u8, fraction: f32) -> u64 {
    const STEPS: f32 = 15.99;
    let sixteenths = (fraction * STEPS) as u32 & 15;
    u64::from(priorities) << 56 | u64::from(sixteenths) << 52
}

/// Executes a move that depends on registers and the map of addresses alone.
pub(super) fn move_values(program: &Program, lanes: &mut Lanes<'_>, op: &MoveOp) {
    match *op {
        MoveOp::Move { width: Width::B64, d, a } => {
            let value = *lanes.get64(a);
            lanes.put64(d, &value);
        }
        MoveOp::Move { d, a, .. } => {
            let value = *lanes.get32(a);
            lanes.put32(d, &value);
        }
        MoveOp::Move128 { d, a } => move_128(lanes, d, a),
        MoveOp::Vector { width, d, a } => move_vector(program, lanes, width, d, a),
        MoveOp::Pack { part, parts, d } => pack(program, lanes, part, parts, d),
        MoveOp::Unpack { part, parts, a } => unpack(program, lanes, part, parts, a),
        MoveOp::ConvertAddress { space, to_space, wide, d, a } => convert_address(program, lanes, space, to_space, wide, (d, a)),
        MoveOp::CachePolicy { .. }
        | MoveOp::FrameAddress { .. }
        | MoveOp::ReadSpecial { .. }
        | MoveOp::ActiveMask { .. }
        | MoveOp::IsSpace { .. } => unreachable!("{op:?} depends on more than registers"),
    }
}

fn move_vector(program: &Program, lanes: &mut Lanes<'_>, width: Width, d: ListId, a: ListId) {
    let (to, from) = (&program.dests[d], &program.sources[a]);
    if width == Width::B64 {
        let values: Vec<_> = from.iter().map(|a| *lanes.get64(*a)).collect();
        to.iter().zip(&values).for_each(|(d, value)| lanes.put64(*d, value));
    } else {
        let values: Vec<_> = from.iter().map(|a| *lanes.get32(*a)).collect();
        to.iter().zip(&values).for_each(|(d, value)| lanes.put32(*d, value));
    }
}

fn move_128(lanes: &mut Lanes<'_>, d: Dst, a: Src) {
    let (low, high) = (*lanes.get64(a), *lanes.get64(a.next()));
    if !d.is_sink() {
        lanes.put64(d, &low);
        lanes.put64(Dst(d.0.offset(1)), &high);
    }
}

/// `mov.bN d, {..}`: parts of up to 32 bits into one word, or two of 64 bits into a pair.
fn pack(program: &Program, lanes: &mut Lanes<'_>, part: u8, parts: ListId, d: Dst) {
    let parts = &program.sources[parts];
    if part == 64 {
        let halves: Vec<_> = parts.iter().map(|part| *lanes.get64(*part)).collect();
        for (index, half) in halves.iter().enumerate() {
            lanes.put64(Dst(d.0.offset(index as u32)), half);
        }
        return;
    }
    let mut words = [0_u64; 32];
    for (index, source) in parts.iter().enumerate() {
        let values = lanes.get32(*source);
        let mask = (1_u64 << part) - 1;
        (0..32).for_each(|lane| words[lane] |= (u64::from(values[lane]) & mask) << (index * part as usize));
    }
    match part as usize * parts.len() {
        64 => lanes.put64(d, &words),
        128 => pack_128(lanes, parts, d),
        _ => lanes.put32(d, &words.map(|word| word as u32)),
    }
}

/// Four parts of 32 bits into a pair of 64-bit slots.
fn pack_128(lanes: &mut Lanes<'_>, parts: &[Src], d: Dst) {
    let values: Vec<_> = parts.iter().map(|part| *lanes.get32(*part)).collect();
    for (index, pair) in values.chunks_exact(2).enumerate() {
        let word = std::array::from_fn(|lane| u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32);
        lanes.put64(Dst(d.0.offset(index as u32)), &word);
    }
}

/// `mov.bN {..}, a`.
fn unpack(program: &Program, lanes: &mut Lanes<'_>, part: u8, parts: ListId, a: Src) {
    let parts = &program.dests[parts];
    let bits = part as usize * parts.len();
    let low = if bits >= 64 { *lanes.get64(a) } else { lanes.get32(a).map(u64::from) };
    let high = if bits == 128 { *lanes.get64(a.next()) } else { [0; 32] };
    for (index, d) in parts.iter().enumerate() {
        let at = index * part as usize;
        let word = if at >= 64 { &high } else { &low };
        let values = word.map(|word| word >> (at % 64));
        if part == 64 {
            lanes.put64(*d, &values);
        } else {
            let mask = (1_u64 << part) - 1;
            lanes.put32(*d, &values.map(|value| (value & mask) as u32));
        }
    }
}

fn convert_address(program: &Program, lanes: &mut Lanes<'_>, space: Space, to_space: bool, wide: bool, (d, a): (Dst, Src)) {
    let window = program.map.window_start(space);
    let convert = |address: u64| if to_space { address.wrapping_sub(window) } else { address.wrapping_add(window) };
    if wide {
        let out = lanes.get64(a).map(convert);
        lanes.put64(d, &out);
    } else {
        let out = lanes.get32(a).map(|address| convert(u64::from(address)) as u32);
        lanes.put32(d, &out);
    }
}
