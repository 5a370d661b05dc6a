//! The tracked registers of a warp, by call frame: the lanes in which they are undefined.

use std::collections::BTreeMap;

use super::bitwise::{ALL, UndefinedBits};
use super::origin::{Cause, Origin, OriginId, OriginTable, Origins};
use super::tracked::{TrackedRegisters, Tracking};
use crate::machine::{Issue, IssuePoint, LANES, LaneMask, PerLane};
use crate::program::FuncId;
use crate::program::operands::RegisterOperand;

/// The call frames of a warp.
#[derive(Clone, Default)]
pub(super) struct WarpFrames {
    /// Lanes that have not exited.
    pub live: LaneMask,
    /// The operands that its lanes contribute to a warp collective, where some of them may still wait for others.
    pub contributed: ContributedOperands,
    /// The origins of undefined values.
    pub origins: OriginTable,
    /// True if it has loaded an undefined value, which may be in every register now.
    pub has_loaded: bool,
    frames: Vec<Frame>,
}

/// The operands that the lanes of a warp contribute to a warp collective.
#[derive(Clone, Default)]
pub(super) struct ContributedOperands {
    /// The lanes whose value is undefined.
    pub values: LaneMask,
    /// The lanes in which another operand is undefined, such as the source lane.
    pub controls: LaneMask,
    /// The origins of these values.
    pub origins: Origins,
}

/// The tracked registers of a call in progress.
#[derive(Clone)]
pub(super) struct Frame {
    /// Depth in the call stack.
    depth: u32,
    function: FuncId,
    /// For each tracked register, the lanes in which it is undefined.
    undefined: Vec<LaneMask>,
    /// The number of registers that are undefined in some lane.
    count: usize,
    /// For each, the origins of the values of these lanes, if any is known.
    origins: Vec<Option<Box<PerLane<OriginId>>>>,
    /// For registers that are undefined in part, the bits in these lanes.
    bits: BTreeMap<usize, Box<UndefinedBits>>,
}

impl WarpFrames {
    /// A warp without undefined registers.
    pub fn new(live: LaneMask) -> Self {
        Self { live, ..Self::default() }
    }

    /// The frame of a function at this depth of the call stack, and the origins.
    pub fn frame(&mut self, tracked: &TrackedRegisters, depth: u32, function: FuncId) -> (&mut Frame, &mut OriginTable) {
        let index = self.frames.iter().position(|frame| (frame.depth, frame.function) == (depth, function)).unwrap_or_else(|| {
            self.frames.push(Frame::new(tracked, depth, function));
            self.frames.len() - 1
        });
        (&mut self.frames[index], &mut self.origins)
    }

    /// Lanes call: the registers of the callee, or of all possible callees, are unwritten.
    pub fn enter(&mut self, tracking: &Tracking, callee: Option<FuncId>, issue: &Issue) {
        for (function, tracked) in tracking.functions().filter(|(function, _)| callee.is_none_or(|callee| callee == *function)) {
            let is_known = self.frames.iter().any(|frame| (frame.depth, frame.function) == (issue.depth + 1, function));
            if is_known || !tracked.unwritten.is_empty() {
                self.frame(tracked, issue.depth + 1, function).0.enter(tracked, issue.active);
            }
        }
    }

    /// True if nothing is undefined.
    pub fn is_defined(&self) -> bool {
        (self.contributed.values | self.contributed.controls).is_empty() && self.frames.iter().all(|frame| frame.count == 0)
    }

    /// Lanes exit: none of their registers is undefined any more.
    pub fn clear_lanes(&mut self, lanes: LaneMask) {
        self.contributed.values &= !lanes;
        self.contributed.controls &= !lanes;
        self.frames.iter_mut().for_each(|frame| frame.clear_lanes(lanes));
    }
}

impl ContributedOperands {
    /// The lanes `active` contribute operands, which are undefined in `values` and `controls`.
    pub fn record(&mut self, active: LaneMask, (values, controls): (LaneMask, LaneMask), origins: &Origins) {
        debug_assert!(active.contains_all(values | controls), "lanes that take part contribute something");
        self.values = self.values & !active | values;
        self.controls = self.controls & !active | controls;
        origins.lanes.iter().filter_map(|lane| Some((lane, origins.of(lane)?))).for_each(|(lane, id)| self.origins.set(lane, id));
    }

    /// The origin of the undefined value that a lane of `lanes` contributes.
    pub fn value(&self, lanes: LaneMask) -> Option<OriginId> {
        let undefined = self.values & lanes;
        if undefined.is_empty() { None } else { self.origins.of(undefined.first()) }
    }

    /// The origin of another operand of `lane`, if it is undefined.
    pub fn control(&self, lane: usize) -> Option<OriginId> {
        if !self.controls.contains(lane) { None } else { self.origins.of(lane) }
    }
}

impl Frame {
    fn new(tracked: &TrackedRegisters, depth: u32, function: FuncId) -> Self {
        let origins = vec![None; tracked.len()];
        let mut frame = Self { depth, function, undefined: vec![LaneMask::NONE; tracked.len()], count: 0, origins, bits: BTreeMap::new() };
        frame.enter(tracked, LaneMask::ALL);
        frame
    }

    /// Lanes enter the function: the registers that it may read before it writes them are undefined.
    fn enter(&mut self, tracked: &TrackedRegisters, lanes: LaneMask) {
        self.clear_lanes(lanes);
        for number in &tracked.unwritten {
            self.set(*number, (lanes, lanes));
            if let Some(bits) = self.bits.get_mut(number) {
                lanes.iter().for_each(|lane| bits[lane] = ALL);
            }
            if let Some(origins) = &mut self.origins[*number] {
                lanes.iter().for_each(|lane| origins[lane] = OriginId::UNKNOWN);
            }
        }
    }

    /// Nothing is undefined in `lanes`.
    fn clear_lanes(&mut self, lanes: LaneMask) {
        if self.count > 0 {
            (0..self.undefined.len()).for_each(|number| self.set(number, (lanes, LaneMask::NONE)));
        }
    }

    /// In `lanes`, a register becomes undefined for those in `undefined`, and defined for the others.
    fn set(&mut self, number: usize, (lanes, undefined): (LaneMask, LaneMask)) {
        let mask = &mut self.undefined[number];
        let before = !mask.is_empty();
        *mask = *mask & !lanes | undefined;
        self.count = self.count + usize::from(!mask.is_empty()) - usize::from(before);
    }

    /// The lanes in which a register is undefined.
    pub fn undefined(&self, tracked: &TrackedRegisters, register: RegisterOperand) -> LaneMask {
        tracked.numbers(register).fold(LaneMask::NONE, |lanes, number| lanes | self.undefined[number])
    }

    /// The undefined bits of a register of one slot in the lanes in which it is undefined; none if all are.
    pub fn bits(&self, tracked: &TrackedRegisters, register: RegisterOperand) -> Option<&UndefinedBits> {
        if self.bits.is_empty() {
            return None;
        }
        let mut numbers = tracked.numbers(register);
        match (numbers.next(), numbers.next()) {
            (Some(number), None) => self.bits.get(&number).map(Box::as_ref),
            _ => None,
        }
    }

    /// The lanes of `executing` that read a register while it is undefined, at `point`.
    pub fn read(
        &mut self,
        tracked: &TrackedRegisters,
        register: RegisterOperand,
        (executing, point): (LaneMask, IssuePoint),
        table: &mut OriginTable,
    ) -> Origins {
        let mut read = Origins::default();
        for number in tracked.numbers(register) {
            for lane in (self.undefined[number] & executing).iter() {
                let id = &mut self.origins[number].get_or_insert_with(|| Box::new([OriginId::UNKNOWN; LANES]))[lane];
                if *id == OriginId::UNKNOWN {
                    *id = table.add(Origin { point, lane, register, cause: Cause::Unwritten });
                }
                read.set(lane, *id);
            }
        }
        read
    }

    /// The lanes `active` write a register; the value is undefined in those in `undefined`, with these origins or that of another lane. The
    /// bits of a register of one slot that are undefined there are `bits`, or all.
    pub fn write_bits(
        &mut self,
        tracked: &TrackedRegisters,
        register: RegisterOperand,
        (active, undefined): (LaneMask, LaneMask),
        origins: &Origins,
        bits: &UndefinedBits,
    ) {
        self.write(tracked, register, (active, undefined), origins);
        let partly = undefined.filter(|lane| bits[lane] != ALL);
        for number in tracked.numbers(register).filter(|_| !partly.is_empty()) {
            let known = self.bits.entry(number).or_insert_with(|| Box::new([ALL; LANES]));
            partly.iter().for_each(|lane| known[lane] = bits[lane]);
        }
    }

    /// The same with all bits undefined.
    pub fn write(
        &mut self,
        tracked: &TrackedRegisters,
        register: RegisterOperand,
        (active, undefined): (LaneMask, LaneMask),
        origins: &Origins,
    ) {
        assert!(active.contains_all(undefined), "lanes that write nothing write nothing undefined");
        let any = origins.any().unwrap_or(OriginId::UNKNOWN);
        for number in tracked.numbers(register) {
            self.set(number, (active, undefined));
            if self.undefined[number].is_empty() {
                self.bits.remove(&number);
            } else if let Some(bits) = self.bits.get_mut(&number) {
                undefined.iter().for_each(|lane| bits[lane] = ALL);
            }
            if !undefined.is_empty() {
                let ids = self.origins[number].get_or_insert_with(|| Box::new([OriginId::UNKNOWN; LANES]));
                undefined.iter().for_each(|lane| ids[lane] = origins.of(lane).unwrap_or(any));
            }
        }
    }
}
