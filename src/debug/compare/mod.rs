//! Comparison of two runs of one kernel: the first store that differs, then the memory at the end.
//!
//! Two runs of one program, in two orders or on two captures, are compared thread by thread in program order: the n-th store of a thread
//! goes to the same address with the same value. Two programs of one kernel may order the stores to different addresses in other ways: of
//! these, the stores of each thread to each address are compared in order ([`Pairing`]). Addresses are relative to the buffer or the
//! variable they are in, as they differ from run to run.
//!
//! The first runs count the stores of each thread and digest them; threads with equal digests have equal stores. Those of the others are
//! kept and compared in rounds of as many threads as fit a bound on memory: B runs and is recorded, then A runs and is compared with it,
//! and stops at the first store that differs. So the difference that is reported is the first in the time of A, whatever the order of
//! the blocks.

mod branches;
mod comparer;
mod final_memory;
mod regions;
mod report;
mod rounds;
mod side;
mod stores;
mod tally;

pub use self::branches::{BranchRuns, OutputDiff, compare_branches};
use self::comparer::Comparer;
use self::regions::RegionNames;
pub use self::report::{Difference, RunComparison, SideReport, StoreText};
use self::rounds::{Bound, first_difference};
use self::side::Pairing;
pub use self::side::Side;
use self::tally::{Tallies, Tally};
use super::findings::FindingText;
use super::run::{CaseRun, RunError};
use crate::base::Dim3;
use crate::launch::{PlannedLaunch, Tolerance};
use crate::program::{Program, shown_name};

/// The error for runs that cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// They are no runs of one launch, in one line.
    #[error("{0}")]
    Unlike(String),
    /// An error that does not come from the kernel.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Compares two runs; `tolerance` is that of floats, else that of the launch file counts.
///
/// # Errors
/// They are of different kernels or launches, or errors that do not come from the kernel.
pub fn compare_runs(
    sides: [Side<'_>; 2],
    tolerance: Option<Tolerance>,
    interrupt: &dyn Fn() -> bool,
) -> Result<RunComparison, CompareError> {
    compare_runs_within(sides, tolerance, Bound::default(), interrupt)
}

/// [`compare_runs`], with a bound on the stores that are kept at once.
fn compare_runs_within(
    sides: [Side<'_>; 2],
    tolerance: Option<Tolerance>,
    bound: Bound,
    interrupt: &dyn Fn() -> bool,
) -> Result<RunComparison, CompareError> {
    check_alike(sides)?;
    let [a, b] = sides;
    let is_same_text = text_of(a.program) == text_of(b.program);
    let pairing = if is_same_text { Pairing::InProgramOrder } else { Pairing::ByAddress };
    let layout = |side: Side<'_>| side.case.buffers.iter().map(|buffer| (buffer.at, buffer.bytes)).collect::<Vec<_>>();
    let has_same_addresses = a.program.map == b.program.map && layout(a) == layout(b);
    let context = Comparer { sides, region_names: RegionNames::of(sides), pairing, has_same_addresses, tolerance, interrupt };
    let (run_a, tallies_a) = context.tally(0)?;
    let (run_b, tallies_b) = context.tally(1)?;
    let reports = [report(&run_a, &tallies_a), report(&run_b, &tallies_b)];
    let interrupted = run_a.interrupted || run_b.interrupted || interrupt();
    let unequal = tallies_a.unequal(&tallies_b);
    let mut found = RunComparison { sides: reports, difference: None, threads: None, bytes: None, interrupted };
    if interrupted {
        return Ok(found);
    }
    let stopped = [run_a.fault.is_some(), run_b.fault.is_some()];
    if !unequal.is_empty() {
        (found.difference, found.interrupted) = first_difference(&context, &unequal, bound, stopped)?;
        let is_exact = pairing == Pairing::InProgramOrder && !context.is_tolerant() && stopped == [false; 2];
        found.threads = Some(unequal.len() as u64).filter(|_| is_exact && found.difference.is_some());
    }
    if found.difference.is_some() || found.interrupted {
        return Ok(found);
    }
    match stopped {
        [false, false] => {
            let (bytes, difference) = final_memory::compare(&context, [&run_a, &run_b])?;
            (found.bytes, found.difference) = (Some(bytes), difference);
        }
        [true, true] if is_same_stop(&found.sides) => {}
        _ => found.difference = Some(Difference::Stop),
    }
    Ok(found)
}

/// Refuses runs of different kernels, grids or buffers.
fn check_alike([a, b]: [Side<'_>; 2]) -> Result<(), CompareError> {
    let unlike = |what: String| Err(CompareError::Unlike(what));
    if a.case.launches.len() != b.case.launches.len() {
        return unlike(format!(
            "A has {} launches and B {}: they are not runs of one kernel",
            a.case.launches.len(),
            b.case.launches.len()
        ));
    }
    for (launch_a, launch_b) in a.case.launches.iter().zip(&b.case.launches) {
        let name = |side: Side<'_>, launch: &PlannedLaunch| shown_name(&side.program.functions[launch.kernel.index()].name).into_owned();
        let (name_a, name_b) = (name(a, launch_a), name(b, launch_b));
        if name_a != name_b {
            return unlike(format!("A runs '{name_a}' and B '{name_b}': runs of one kernel are compared (-k chooses it)"));
        }
        for (what, of_a, of_b) in [("grid", launch_a.grid, launch_b.grid), ("block", launch_a.block, launch_b.block)] {
            if of_a != of_b {
                let (of_a, of_b) = (Dim3(of_a), Dim3(of_b));
                return unlike(format!("{name_a}: the {what} is {of_a} in A and {of_b} in B: runs of one launch are compared"));
            }
        }
        if launch_a.blocks != launch_b.blocks {
            return unlike(format!("{name_a}: other blocks run in A than in B: runs of one launch are compared (--blocks chooses them)"));
        }
    }
    Ok(())
}

/// The text of the modules of a program.
fn text_of(program: &Program) -> Vec<&str> {
    program.modules.iter().map(|module| program.sources_text.file(*module).text()).collect()
}

fn report(run: &CaseRun, tallies: &Tallies) -> SideReport {
    let Tally { stores, threads } = tallies.total();
    SideReport {
        kernels: run.launches.iter().map(|launch| shown_name(&launch.kernel).into_owned()).collect(),
        ticks: run.launches.iter().map(|launch| launch.ticks).sum(),
        stores,
        threads,
        fault: run.fault.as_ref().map(|fault| Box::new(FindingText::of_fault(1, fault))),
    }
}

/// True if both runs stopped for the same reason in the same statement.
fn is_same_stop([a, b]: &[SideReport; 2]) -> bool {
    let key = |side: &SideReport| {
        side.fault.as_ref().map(|fault| (fault.id, fault.message.clone(), fault.site().map(|site| site.statement.clone())))
    };
    key(a) == key(b)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use super::*;
    use crate::debug::open::{open_arguments, read_text_module};
    use crate::debug::{Opened, Overrides, RunOptions};

    /// Each of 40 threads stores 0 to 15 to four elements in turn, and thread `%odd` 1 more in turn `odd`.
    fn opened(order: [&str; 2], args: [u32; 2]) -> Opened {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 odd, .param .u32 turn)\n{{\n\
             .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<5>;\nld.param.u64 %rd1, [out]; ld.param.u32 %r1, [odd];\n\
             ld.param.u32 %r2, [turn]; mov.u32 %r3, %tid.x; mul.wide.u32 %rd2, %r3, 20; add.s64 %rd1, %rd1, %rd2; mov.u32 %r4, 0;\n\
             loop:\nmov.u32 %r5, %r4; setp.eq.u32 %p, %r3, %r1; @%p setp.eq.u32 %p, %r4, %r2; @%p add.u32 %r5, %r5, 1;\n\
             and.b32 %r6, %r4, 3; mul.wide.u32 %rd3, %r6, 4; add.s64 %rd4, %rd1, %rd3;\n{}\n{}\n\
             add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, 16; @%p bra loop;\nret;\n}}\n",
            order[0], order[1]
        );
        let path = PathBuf::from("k.ptx");
        let program = read_text_module(Path::new("k.ptx"), text).program.unwrap();
        let args = ["out=u32[200]=zero".to_string(), format!("odd=u32={}", args[0]), format!("turn=u32={}", args[1])];
        let overrides = Overrides { grid: Some([1, 1, 1]), block: Some([40, 1, 1]), ..Overrides::default() };
        open_arguments(path, program, &args, &overrides).unwrap()
    }

    /// The block, the thread and the memory of the first difference, and the time in A.
    fn difference(a: &Opened, b: &Opened, stores: u64) -> Option<([u32; 3], String, u64)> {
        let options = RunOptions::unwatched();
        let side = |opened: &'_ Opened| (Arc::clone(&opened.program), opened.plan.cases[0].clone());
        let (a, b) = (side(a), side(b));
        let sides = [&a, &b].map(|(program, case)| Side { program, case, options: &options, inputs: &[] });
        let found = compare_runs_within(sides, None, Bound { stores }, &|| false).unwrap();
        match found.difference? {
            Difference::Store { thread, a: Some(a), b: Some(_), .. } => Some((thread, a.memory, a.site.time.0)),
            other => panic!("{other:?}"),
        }
    }

    /// The same is found whatever is kept at once, of one thread or of all, in program order and by address.
    #[test]
    fn the_first_difference_is_that_of_any_bound() {
        let (first, second) = ("st.global.u32 [%rd4], %r5;", "st.global.u32 [%rd1+16], %r5;");
        for (odd, turn, memory) in [(33, 13, "out[166]"), (0, 0, "out[0]"), (39, 15, "out[198]")] {
            let (a, b) = (opened([first, second], [99, turn]), opened([first, second], [odd, turn]));
            let swapped = opened([second, first], [odd, turn]);
            let all = difference(&a, &b, 1 << 20);
            let (thread, found, time) = all.clone().unwrap();
            assert_eq!((thread, found.as_str()), ([odd, 0, 0], memory));
            for bound in [1, 3, 7, 64, 100] {
                assert_eq!(difference(&a, &b, bound), all, "{bound}");
                assert_eq!(difference(&a, &swapped, bound), Some((thread, found.clone(), time)), "{bound}");
                assert_eq!(difference(&a, &opened([second, first], [99, turn]), bound), None, "{bound}");
            }
        }
    }
}
