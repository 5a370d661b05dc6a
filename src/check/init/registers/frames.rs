//! The watched registers of a warp: in which lanes they are undefined, call by call.

use super::origin::{self, Origin, Origins};
use super::watched::{Watch, Watched};
use crate::machine::{Issue, LaneMask, Place, lanes_of};
use crate::program::FuncId;
use crate::program::operands::RegisterOperand;

/// The calls of a warp.
#[derive(Clone, Default)]
pub(super) struct WarpFrames {
    /// Lanes that have not exited.
    pub live: LaneMask,
    /// What its lanes bring to an exchange, where some of them may still wait for others.
    pub offers: Offers,
    frames: Vec<Frame>,
}

/// What the lanes of a warp bring to an exchange.
#[derive(Clone, Default)]
pub(super) struct Offers {
    /// The lanes whose value is undefined.
    pub values: LaneMask,
    /// Those in which another operand is undefined, such as the lane that they take from.
    pub controls: LaneMask,
    /// Where that comes from.
    pub origins: Origins,
}

/// The watched registers of a call in progress.
#[derive(Clone)]
pub(super) struct Frame {
    /// Calls in progress.
    depth: u32,
    function: FuncId,
    /// For each watched register, the lanes in which it is undefined.
    undefined: Vec<LaneMask>,
    /// For each, where the values of these lanes come from, as far as anybody has read them.
    origins: Vec<Origins>,
}

impl WarpFrames {
    /// A warp nothing of which is undefined.
    pub fn new(live: LaneMask) -> Self {
        Self { live, ..Self::default() }
    }

    /// The frame of a function in which its caller stands so deep.
    pub fn frame(&mut self, watched: &Watched, depth: u32, function: FuncId) -> &mut Frame {
        let index = self.frames.iter().position(|frame| (frame.depth, frame.function) == (depth, function)).unwrap_or_else(|| {
            self.frames.push(Frame::new(watched, depth, function));
            self.frames.len() - 1
        });
        &mut self.frames[index]
    }

    /// Lanes call: the registers of the function, or of all that may be it, are unwritten.
    pub fn enter(&mut self, watch: &Watch, callee: Option<FuncId>, issue: &Issue) {
        for (function, watched) in watch.functions.iter().filter(|(function, _)| callee.is_none_or(|callee| callee == **function)) {
            self.frame(watched, issue.depth + 1, *function).enter(watched, issue.active);
        }
    }

    /// Whether nothing is undefined.
    pub fn is_defined(&self) -> bool {
        self.offers.values | self.offers.controls == 0 && self.frames.iter().all(|frame| frame.undefined.iter().all(|lanes| *lanes == 0))
    }
}

impl Offers {
    /// What the lanes `active` bring now.
    pub fn bring(&mut self, active: LaneMask, (values, controls): (LaneMask, LaneMask), origins: Origins) {
        self.values = self.values & !active | values;
        self.controls = self.controls & !active | controls;
        self.origins.extend(origins);
    }

    /// Where the undefined value that a lane of `lanes` brings comes from.
    pub fn value(&self, lanes: LaneMask) -> Option<Origin> {
        lanes_of(self.values & lanes).find_map(|lane| self.origins.get(&lane)).copied()
    }

    /// Where another operand of `lane` comes from, if it is undefined.
    pub fn control(&self, lane: usize) -> Option<Origin> {
        if self.controls >> lane & 1 == 0 { None } else { self.origins.get(&lane).copied() }
    }
}

impl Frame {
    fn new(watched: &Watched, depth: u32, function: FuncId) -> Self {
        let mut frame = Self { depth, function, undefined: vec![0; watched.len()], origins: vec![Origins::new(); watched.len()] };
        frame.enter(watched, LaneMask::MAX);
        frame
    }

    /// Lanes enter the function: what it may read before it writes it is undefined. All else it writes first.
    fn enter(&mut self, watched: &Watched, lanes: LaneMask) {
        for number in &watched.unwritten {
            self.undefined[*number] |= lanes;
            self.origins[*number].retain(|lane, _| lanes >> lane & 1 == 0);
        }
    }

    /// The lanes in which a register is undefined.
    pub fn undefined(&self, watched: &Watched, register: RegisterOperand) -> LaneMask {
        watched.numbers(register).fold(0, |lanes, number| lanes | self.undefined[number])
    }

    /// Where the values of the lanes of `executing` come from that read a register undefined, at `place`.
    pub fn read(&mut self, watched: &Watched, register: RegisterOperand, executing: LaneMask, place: Place) -> Origins {
        let mut read = Origins::new();
        for number in watched.numbers(register) {
            for lane in lanes_of(self.undefined[number] & executing) {
                let unwritten = Origin { place, lane, register, absent: None };
                let origin = *self.origins[number].entry(lane).or_insert(unwritten);
                origin::add(&mut read, [(lane, origin)]);
            }
        }
        read
    }

    /// The lanes `active` write a register, and what `undefined` of them write is so, for these reasons or those of another lane.
    pub fn write(&mut self, watched: &Watched, register: RegisterOperand, (active, undefined): (LaneMask, LaneMask), origins: &Origins) {
        let any = origins.values().next();
        for number in watched.numbers(register) {
            self.undefined[number] = self.undefined[number] & !active | undefined;
            let of = lanes_of(undefined).filter_map(|lane| Some((lane, *origins.get(&lane).or(any)?)));
            self.origins[number].extend(of);
        }
    }
}
