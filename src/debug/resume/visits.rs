//! Breakpoints on lines of the source stop once for each block and visit; with a condition, once for each warp and visit.
//!
//! The n-th visit of a block to a line begins when the first of its threads comes there for the n-th time; the other threads that come
//! there for the n-th time belong to the same visit. A condition holds for some warps and not for others, so each warp of the block has
//! visits of its own then, which begin where it first holds. Passes are counted from the beginning of the launch, so that a visit begins
//! at the same instruction in whichever direction the session runs and whenever the breakpoint was set: what was executed before that is
//! executed again, once.

use std::collections::{BTreeMap, BTreeSet};

use crate::debug::focus::ThreadFilter;
use crate::debug::timeline::Input;
use crate::machine::{IssuePoint, LANES, LaneMask, Machine, Tick};

/// The visits to the line of a breakpoint.
#[derive(Default)]
pub(in crate::debug) struct Visits {
    /// The condition and the threads of the breakpoint.
    pub limits: (Option<String>, ThreadFilter),
    /// The inputs of the run before `known`.
    pub inputs: Vec<(Tick, Input)>,
    /// All passes before this time are counted.
    pub known: Tick,
    launch: usize,
    /// How often each lane has passed, by block and warp.
    passes: BTreeMap<([u32; 3], u32), [u32; LANES]>,
    /// The visits that have begun: their block, their warp if there is a condition, and their number.
    begun: BTreeSet<([u32; 3], Option<u32>, u32)>,
    /// The times at which visits begin.
    beginnings: BTreeSet<Tick>,
}

impl Visits {
    /// No visits yet to a breakpoint with this condition and these threads.
    pub fn limited_by(limits: (Option<String>, ThreadFilter)) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Counts a pass of `lanes` at `point`; true if a visit begins there. `holds` says whether the condition does.
    pub fn pass(
        &mut self,
        (machine, launch): (&Machine, usize),
        point: &IssuePoint,
        lanes: LaneMask,
        holds: impl FnOnce() -> bool,
    ) -> bool {
        if point.tick < self.known {
            return self.beginnings.contains(&point.tick);
        }
        self.known = point.tick + 1;
        if self.launch != launch {
            (self.launch, self.passes, self.begun) = (launch, BTreeMap::new(), BTreeSet::new());
        }
        let warp = (point.block, point.warp.number());
        if !self.passes.contains_key(&warp) {
            self.passes.retain(|(block, _), _| machine.block(*block).is_some());
            self.begun.retain(|(block, ..)| machine.block(*block).is_some());
        }
        let passes = self.passes.entry(warp).or_insert([0; LANES]);
        lanes.iter().for_each(|lane| passes[lane] = passes[lane].saturating_add(1));
        let visitor = self.limits.0.as_ref().map(|_| point.warp.number());
        let visit = (point.block, visitor, lanes.iter().map(|lane| passes[lane]).max().unwrap_or(0));
        let begins = !self.begun.contains(&visit) && holds();
        if begins {
            self.begun.insert(visit);
            self.beginnings.insert(point.tick);
        }
        begins
    }
}
