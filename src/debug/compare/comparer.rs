//! The runs of a comparison: each reports its stores.

use super::regions::RegionNames;
use super::side::{Pairing, Side};
use super::stores::{Store, StoreObserver};
use super::tally::Tallies;
use crate::debug::run::{CaseRun, Job, RunError, Runner};
use crate::launch::Tolerance;
use crate::machine::{Instrumentation, Observer};

/// What the parts of a comparison share.
pub struct Comparer<'a> {
    pub sides: [Side<'a>; 2],
    pub region_names: RegionNames,
    pub pairing: Pairing,
    /// True if buffers have the same addresses in both runs.
    pub has_same_addresses: bool,
    pub tolerance: Option<Tolerance>,
    pub interrupt: &'a dyn Fn() -> bool,
}

impl Comparer<'_> {
    /// True if some numbers may differ.
    pub fn is_tolerant(&self) -> bool {
        let buffers = &self.sides[0].case.buffers;
        self.tolerance.is_some()
            || buffers.iter().filter_map(|buffer| buffer.expect.as_ref()).any(|expect| expect.tolerance != Tolerance::Bits)
    }

    /// Runs a side to its end; returns the run with the tallies of its threads.
    pub fn tally(&self, side: usize) -> Result<(CaseRun, Tallies), RunError> {
        let mut tallies = Tallies::default();
        let run = self.run(side, &mut |store: &Store| {
            tallies.add(store);
            false
        })?;
        Ok((run, tallies))
    }

    /// Runs a side, and calls `each` for each store in order of time, until it returns true.
    pub fn run(&self, side: usize, each: &mut dyn FnMut(&Store) -> bool) -> Result<CaseRun, RunError> {
        let Side { program, case, options, inputs } = self.sides[side];
        let mut runner = Runner::new(Job { program, case, options, instrumentation: Instrumentation::Nothing });
        let stopped = std::cell::Cell::new(false);
        let interrupt = || stopped.get() || (self.interrupt)();
        (runner.interrupt, runner.inputs) = (&interrupt, inputs);
        while !stopped.get()
            && runner.run_next(|machine, launch| {
                let regions = self.region_names.regions(side, machine.device());
                let mut observer = StoreObserver::new(launch.index(), regions, (self.pairing, self.has_same_addresses), &stopped, each);
                launch.run(machine, &mut observer as &mut dyn Observer)
            })?
        {}
        Ok(runner.run)
    }
}
