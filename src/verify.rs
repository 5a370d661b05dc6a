//! `--verify`: every launch of every launch file, compared with what it expects; with `--shard` a part of them.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};

use ptxdbg::args::{Args, Format};
use ptxdbg::base::run_jobs;
use ptxdbg::debug::certificate::Certificate;
use ptxdbg::debug::fidelity::{Fidelity, fidelity};
use ptxdbg::debug::open::{Module, open};
use ptxdbg::debug::saved::identity;
use ptxdbg::debug::{
    CaseReport, Criteria, FindingBudget, LaunchChoice, OpenError, Opened, RunError, RunOptions, SwappedSections, verify_case_until,
};
use ptxdbg::launch::Case;
use ptxdbg::machine::Digest;
use ptxdbg::program::Program;
use ptxdbg::ui::fixing::Fixer;
use ptxdbg::ui::interrupt;
use ptxdbg::ui::merge::VerifiedShard;
use ptxdbg::ui::output::Standard;
use ptxdbg::ui::refusal::{Failure, Status};
use ptxdbg::ui::text::junit::Suite;
use ptxdbg::ui::text::sarif::Log;
use ptxdbg::ui::text::{self, Style};

use super::{launch_requests, style, write_log};

/// `--verify`: reports wrong cases, and how many passed. Launch files are all read before anything runs. Of a module with errors the
/// first shard says so.
pub fn verify(args: &Args) -> Result<Status, Failure> {
    let style = style(args, std::io::stdout().is_terminal());
    interrupt::listen_once();
    let mut requests = launch_requests(args);
    if requests.is_empty() {
        requests = args.kernels.iter().map(|kernel| args.request(vec![kernel.clone()], LaunchChoice::Sibling)).collect();
    }
    let mut verified = Verified::new(args, style);
    let mut opened = Vec::new();
    for request in &requests {
        match open(request) {
            // There is nothing to compare with.
            Ok(Opened { empty_sibling: Some(file), .. }) => {
                return Err(Failure::Message(format!("{} is empty: it expects nothing", file.display())));
            }
            Ok(one) => opened.push(one),
            // A module with errors fails as a whole; the others are still verified.
            Err(OpenError::Module(module)) if args.shard.is_none_or(|shard| shard.has(0)) => verified.refuse(&module)?,
            Err(OpenError::Module(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let cases: Vec<_> = opened.iter().flat_map(|one| one.plan.cases.iter().map(|case| (&one.program, case))).collect();
    let (criteria, options) = (Criteria { exact: args.exact, failing: args.failing() }, args.run_options());
    if let Some(shard) = args.shard {
        let run = run_of(args, &cases, &options).map_err(RunError::from)?;
        verified.shard = Some(VerifiedShard::new(shard, run, cases.len() as u64, args.max_findings));
    }
    let chosen: Vec<usize> = (0..cases.len()).filter(|index| args.shard.is_none_or(|shard| shard.has(*index as u64))).collect();
    let jobs = args.job_count();
    // What is left over by the cases is for the changes that are tried, and for the blocks of a launch.
    let jobs_of_case = jobs.div_ceil(chosen.len().max(1));
    let fixer = Fixer::new(options.clone(), args.fix, jobs_of_case);
    let options = RunOptions { jobs: jobs_of_case, ..options };
    let job = |index: u64, _: &dyn Fn() -> bool| {
        let (program, case) = cases[chosen[index as usize]];
        let mut report = verify_case_until(program, case, &options, criteria, interrupt::pressed)?;
        fixer.report(program, case, &mut report)?;
        Ok::<_, RunError>(report)
    };
    let failed = RefCell::new(None);
    run_jobs(
        jobs,
        chosen.len() as u64,
        job,
        || failed.borrow().is_none(),
        |index, report| {
            if failed.borrow().is_some() {
                return;
            }
            let case = chosen[index as usize];
            let added = report.map_err(Failure::from).and_then(|report| verified.add(case, cases[case].0, report));
            *failed.borrow_mut() = added.err();
        },
    );
    match failed.into_inner() {
        None => {
            let status = verified.finish(None)?;
            fixer.save(args.ptx.as_deref(), args.format == Format::Human).map_err(Failure::Message)?;
            Ok(status)
        }
        Some(Failure::Interrupted(case)) => verified.finish(Some(case)),
        Some(failure) => Err(failure),
    }
}

/// What distinguishes the run of all cases from others, as digits: cases, and options that change what is printed.
fn run_of(args: &Args, cases: &[(&std::sync::Arc<Program>, &Case)], options: &RunOptions) -> Result<String, ptxdbg::launch::DataError> {
    let mut digest = Digest::default();
    digest.bytes(format!("{} {:?} {} {}", args.exact, args.failing(), args.max_findings, args.fix).as_bytes());
    for (program, case) in cases {
        digest.word(identity(program, case, options)?.value());
    }
    Ok(format!("{:016x}", digest.value()))
}

/// The totals of `--verify` so far.
struct Verified {
    style: Style,
    out: Standard,
    log: Log,
    suite: Suite,
    budget: FindingBudget,
    fidelity: Fidelity,
    passed: usize,
    failed: usize,
    certified: usize,
    /// Critical sections that were executed once more in the other order.
    swapped_sections: SwappedSections,
    /// The part of the cases that is run, if it is not all of them.
    shard: Option<VerifiedShard>,
}

impl Verified {
    fn new(args: &Args, style: Style) -> Self {
        let (log, budget) = (Log::default(), FindingBudget::new(args.max_findings));
        Self {
            style,
            out: Standard::output(),
            log,
            suite: Suite::default(),
            budget,
            fidelity: Fidelity::default(),
            passed: 0,
            failed: 0,
            certified: 0,
            swapped_sections: SwappedSections::default(),
            shard: None,
        }
    }

    /// Counts and reports a module with errors.
    fn refuse(&mut self, module: &Module) -> Result<(), Failure> {
        self.failed += 1;
        self.log.diagnostics(&module.sources, &module.diagnostics);
        self.suite.diagnostics(&module.sources, &module.diagnostics);
        self.out.styled(&text::diagnostics(&module.sources, &module.diagnostics, self.style))?;
        Ok(())
    }

    /// Counts and reports the result of the case with this index; an error if it was interrupted.
    fn add(&mut self, index: usize, program: &Program, mut report: CaseReport) -> Result<(), Failure> {
        if interrupt::pressed() {
            return Err(Failure::Interrupted(report.name));
        }
        let style = self.style;
        let has_passed = report.passed;
        self.passed += usize::from(has_passed);
        self.failed += usize::from(!has_passed);
        self.budget.limit_report(&mut report, matches!(style, Style::Json));
        self.log.case(&report);
        self.suite.case(&report);
        let mut lines = String::new();
        if !has_passed || report.part.is_some() || matches!(style, Style::Json) && !report.findings.is_empty() {
            lines += &text::case_report(&report, style);
        }
        let fidelity = fidelity(program, &report.executed);
        if let Some(shard) = &mut self.shard {
            shard.executed(index as u64, &fidelity);
        }
        self.fidelity.add(fidelity);
        self.swapped_sections.add(report.swapped_sections);
        self.certified += usize::from(matches!(report.certificate, Some(Certificate::EveryOrder { blocks: None, .. })));
        if let Some(certificate) = &report.certificate {
            self.log.certificate(&report.name, certificate);
        }
        // What depends on the order may be why a case failed.
        let is_shown = matches!(style, Style::Json) || !has_passed && matches!(style, Style::Human { .. });
        if let Some(certificate) = report.certificate.as_ref().filter(|_| is_shown) {
            lines += &text::certificate(&report.name, certificate, style);
        }
        if let Some(shard) = &mut self.shard {
            shard.printed(index as u64, lines.lines().count());
        }
        self.out.write_all(lines.as_bytes())?;
        Ok(())
    }

    /// Reports the totals; an error with the case in which it was interrupted, if it was.
    fn finish(mut self, interrupted: Option<String>) -> Result<Status, Failure> {
        let Self { style, passed, failed, .. } = self;
        self.out.write_all(text::omitted(self.budget.omitted(), style).as_bytes())?;
        self.log.omitted(self.budget.omitted());
        self.out.write_all(text::fidelity(&self.fidelity, style).as_bytes())?;
        self.out.write_all(text::certified(self.certified, passed + failed, style).as_bytes())?;
        self.out.write_all(text::swapped_sections(self.swapped_sections, style).as_bytes())?;
        self.out.write_all(text::verdict(passed, failed, style).as_bytes())?;
        if let Some(shard) = self.shard.filter(|_| matches!(style, Style::Json)) {
            self.out.write_all(shard.line(&self.fidelity, interrupted.is_some()).as_bytes())?;
        }
        write_log(&self.log, &self.suite, style, &mut self.out)?;
        self.out.flush()?;
        if let Some(case) = interrupted {
            return Err(Failure::Interrupted(case));
        }
        Ok(if failed == 0 { Status::Well } else { Status::Wrong })
    }
}
