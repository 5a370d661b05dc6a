//! One launch on several cores: parts of its grid run side by side, each on a copy of the machine before the launch.
//!
//! That is right if no block touches what another one writes, nothing is found, and no block asks where or when it runs. The first is
//! recorded while the parts run ([`touched`]), the last is seen in the code ([`separable`]). If anything else comes out, the parts are
//! dropped, and the launch runs in order: so the result is always that of the run in order, tick by tick.

mod separable;
mod touched;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::options::RunOptions;
use crate::base::run_jobs;
use crate::check::{Checkers, read_only_buffers};
use crate::machine::{Machine, NullObserver, Observer, Step};
use separable::is_separable;
use touched::{Touched, Touching};

/// Warp-instructions between two looks at whether to end.
const SLICE: u64 = 1 << 16;

/// A part that has finished.
struct Part {
    machine: Machine,
    checkers: Option<Checkers>,
    touched: Touched,
}

/// A launch that is about to run.
pub(super) struct Launch<'a> {
    pub options: &'a RunOptions,
    /// Its index in the case.
    pub index: usize,
    pub interrupt: &'a dyn Fn() -> bool,
}

impl Launch<'_> {
    /// Runs the launch of `machine`, which has not begun, in parts side by side, and moves machine and checkers to its end. False, with
    /// nothing changed, if it must run in order.
    pub fn run(&self, machine: &mut Machine, checkers: Option<&mut Checkers>) -> bool {
        let jobs = self.options.jobs;
        if jobs < 2 || machine.block_count() < 2 || !is_separable(machine, self.options) || is_short(machine, self.options.short) {
            return false;
        }
        let parts = machine.parts_of_grid(jobs as u64);
        let Some(parts) = self.run_parts(machine, checkers.as_deref(), &parts) else { return false };
        if (1..parts.len()).any(|later| parts[..later].iter().any(|earlier| earlier.touched.meets(&parts[later].touched))) {
            return false;
        }
        join(machine, checkers, parts, self.options.step_limit)
    }

    /// All parts in order; none if one of them does not come to its end with nothing found.
    fn run_parts(&self, machine: &Machine, checkers: Option<&Checkers>, parts: &[Range<u64>]) -> Option<Vec<Part>> {
        let (mut done, fails, launch) = (Vec::new(), AtomicBool::new(false), (self.options, self.index));
        let run = |number: u64, should_end: &dyn Fn() -> bool| {
            let part = (!fails.load(Ordering::Relaxed))
                .then(|| {
                    run_part(launch, (machine, checkers), parts[number as usize].clone(), &|| should_end() || fails.load(Ordering::Relaxed))
                })
                .flatten();
            if part.is_none() {
                fails.store(true, Ordering::Relaxed);
            }
            part
        };
        let is_complete = run_jobs(self.options.jobs, parts.len() as u64, run, || !(self.interrupt)(), |_, part| done.extend(part));
        (is_complete && done.len() == parts.len()).then_some(done)
    }
}

/// Runs the blocks of a part of the launch with this index; none if it does not come to its end with nothing found.
fn run_part(
    (options, index): (&RunOptions, usize),
    (whole, checkers): (&Machine, Option<&Checkers>),
    blocks: Range<u64>,
    should_end: &dyn Fn() -> bool,
) -> Option<Part> {
    let mut machine = whole.with_part_of_grid(blocks);
    let (mut checkers, start) = (checkers.map(Checkers::for_part), machine.launch_start());
    let mut touched = Touched::new(read_only_buffers(machine.program(), &start));
    checkers.iter_mut().for_each(|checkers| checkers.begin(index, &start));
    let mut touching = Touching { touched: &mut touched, checkers: checkers.as_mut() };
    loop {
        match machine.run(SLICE, &mut touching as &mut dyn Observer) {
            Step::Done => break,
            Step::Budget if !should_end() => {}
            Step::Budget | Step::Paused | Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) | Step::OverLimit(_) => {
                return None;
            }
        }
        if options.step_limit.is_some_and(|limit| machine.tick() - machine.start() >= limit) {
            return None;
        }
    }
    checkers.iter_mut().for_each(|checkers| checkers.end(&machine.launch_end(), None));
    (!machine.in_flight().has_copies()).then_some(Part { machine, checkers, touched })
}

/// True if the launch ends within `ticks` ticks, by itself or not, which a copy of the machine finds out.
fn is_short(machine: &Machine, ticks: u64) -> bool {
    ticks > 0 && !matches!(machine.clone().run(ticks, &mut NullObserver), Step::Budget)
}

/// Moves machine and checkers to the end of all parts; false, with nothing changed, if that is not what they are after a run in order.
fn join(machine: &mut Machine, checkers: Option<&mut Checkers>, parts: Vec<Part>, step_limit: Option<u64>) -> bool {
    let mut end = machine.with_part_of_grid(0..0);
    let mut of_parts = Vec::new();
    for Part { machine: part, checkers, touched } in parts {
        end.join_part(&part, machine, touched.written());
        of_parts.extend(checkers);
    }
    if step_limit.is_some_and(|limit| end.tick() - end.start() >= limit) || checkers.is_some_and(|checkers| !checkers.join_parts(of_parts))
    {
        return false;
    }
    *machine = end;
    true
}

#[cfg(test)]
mod tests {
    use std::hash::{Hash as _, Hasher as _};
    use std::sync::Arc;

    use super::*;
    use crate::check::Checks;
    use crate::debug::open::open;
    use crate::debug::{LaunchChoice, Overrides, Request, start_case};
    use crate::machine::Digest;
    use crate::program::Program;

    /// A machine before the launch of a kernel of `benches/kernels`, or of a module with this text.
    fn start(kernel: &str, options: &RunOptions) -> (Machine, Arc<Program>) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/kernels/{kernel}.ron"));
        let request = Request { modules: Vec::new(), launch: LaunchChoice::File(path), overrides: Overrides::default() };
        let opened = open(&request).unwrap();
        let machine = start_case(&opened.program, &opened.plan.cases[0], options).unwrap();
        (machine.unwrap_or_else(|fault| unreachable!("{}", fault.message)), opened.program)
    }

    /// True if the launch runs in parts; then it has been compared with a run in order.
    fn runs_in_parts(kernel: &str, checks: Checks) -> bool {
        let options = RunOptions { jobs: 2, checks, ..RunOptions::unwatched() };
        let (mut machine, program) = start(kernel, &options);
        let mut in_order = machine.clone();
        let mut checkers = (checks != Checks::NONE).then(|| Checkers::new(&program, checks));
        let before = machine.digest();
        if !(Launch { options: &options, index: 0, interrupt: &|| false }).run(&mut machine, checkers.as_mut()) {
            assert_eq!(machine.digest(), before, "what does not run in parts is unchanged");
            return false;
        }
        assert!(matches!(in_order.run(u64::MAX, &mut NullObserver), Step::Done));
        assert_eq!((machine.tick(), machine.thread_instructions()), (in_order.tick(), in_order.thread_instructions()));
        assert!(matches!(machine.run(u64::MAX, &mut NullObserver), Step::Done), "all blocks have finished");
        let memory = |machine: &Machine| {
            let mut digest = Digest::default();
            machine.device().hash(&mut digest);
            digest.finish()
        };
        assert_eq!(memory(&machine), memory(&in_order));
        true
    }

    #[test]
    fn blocks_that_do_not_meet_run_side_by_side() {
        for kernel in ["saxpy", "sgemm", "sgemm_async", "nbody", "collatz"] {
            assert!(runs_in_parts(kernel, Checks::NONE) && runs_in_parts(kernel, Checks::ALL), "{kernel}");
        }
        // Atomics in global memory.
        assert!(!runs_in_parts("histogram", Checks::NONE) && !runs_in_parts("split_k", Checks::ALL));
    }
}
