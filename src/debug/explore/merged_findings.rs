//! The findings of many orders, one finding for one cause.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::order::Orders;
use crate::cfg::ControlFlow;
use crate::check::faults::LIVELOCK;
use crate::check::{CauseComparison, Finding};
use crate::debug::fault::Fault;
use crate::debug::findings::{FindingText, describe_case};
use crate::debug::roles::Roles;
use crate::debug::run::RunError;
use crate::launch::Case;
use crate::program::{Pc, Program};

/// A finding, and the orders that show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedFinding {
    /// The finding in the order that is replayed.
    pub finding: FindingText,
    /// True if the session's order shows it.
    pub in_session_order: bool,
    /// The number of other orders that show it.
    pub orders: u64,
    /// The options that replay the first of them.
    pub replay: Option<String>,
    /// The length of that order's options.
    length: usize,
}

impl MergedFinding {
    /// The same with the role names of warps.
    #[must_use]
    pub fn with_roles(self, roles: &Roles) -> Self {
        Self { finding: self.finding.with_roles(roles), ..self }
    }
}

/// The findings of several orders, merged by cause.
pub(super) struct MergedFindings {
    pub program: Arc<Program>,
    pub case: Arc<Case>,
    pub orders: Orders,
    pub found: Vec<MergedFinding>,
    /// The findings of the checkers, with their indices in `found`.
    shown: Vec<(Finding, usize)>,
    loops: LoopStarts,
    causes: CauseComparison,
}

impl MergedFindings {
    pub fn new(program: &Arc<Program>, case: &Arc<Case>, orders: Orders) -> Self {
        Self {
            program: Arc::clone(program),
            case: Arc::clone(case),
            orders,
            found: Vec::new(),
            shown: Vec::new(),
            loops: LoopStarts::default(),
            causes: CauseComparison::default(),
        }
    }

    /// The place of the shown finding with the same cause.
    fn same(&mut self, finding: &Finding) -> Option<usize> {
        let (program, causes) = (&self.program, &mut self.causes);
        self.shown.iter().position(|(shown, _)| causes.are_same(program, shown, finding))
    }

    /// True if order `index` shows a finding better than the shown one at `place`: with the remedy that orders all others, or else with
    /// fewer switches.
    fn is_better(&self, place: usize, finding: &Finding, index: u64) -> bool {
        let (shown, at) = &self.shown[place];
        let found = &self.found[*at];
        let is_shorter = shown.rank() == finding.rank() && !found.in_session_order && self.orders.length(index) < found.length;
        shown.rank() < finding.rank() || is_shorter
    }

    /// The place among the findings of a fault that is the same.
    fn same_fault(&mut self, fault: &Fault) -> Option<usize> {
        let (program, loops, text) = (&self.program, &mut self.loops, FindingText::of_fault(0, fault));
        self.found.iter().position(|shown| loops.are_same(program, &shown.finding, &text))
    }

    /// True if order `index` shows a fault better than the finding at `at`.
    fn is_better_fault(&self, at: usize, index: u64) -> bool {
        !self.found[at].in_session_order && self.orders.length(index) < self.found[at].length
    }

    /// True if [`Self::add_order`] words the fault or a finding of order `index`, and does not only count it.
    pub fn needs_text(&mut self, index: u64, fault: Option<&Fault>, findings: &[Finding]) -> bool {
        let is_worded = |finding: &Finding| self.same(finding).is_none_or(|place| self.is_better(place, finding, index));
        findings.iter().any(is_worded) || fault.is_some_and(|fault| self.same_fault(fault).is_none_or(|at| self.is_better_fault(at, index)))
    }

    /// Adds the fault that stopped order `index`, and the findings of its checkers.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn add_order(&mut self, index: u64, fault: Option<&Fault>, findings: &[Finding]) -> Result<(), RunError> {
        let mut indices = Vec::new();
        let mut new = Vec::new();
        for finding in findings {
            let Some(place) = self.same(finding) else {
                new.push(finding.clone());
                continue;
            };
            let at = self.shown[place].1;
            indices.push(at);
            if self.is_better(place, finding, index) {
                let options = self.orders.options(index);
                let mut texts = describe_case(&self.program, &self.case, &options, std::slice::from_ref(finding))?;
                self.shown[place].0 = finding.clone();
                let found = &mut self.found[at];
                (found.finding, found.length) = (texts.swap_remove(0), self.orders.length(index));
                found.replay = (index > 0).then(|| self.orders.replay(index, false));
            }
        }
        if !new.is_empty() {
            let texts = describe_case(&self.program, &self.case, &self.orders.options(index), &new)?;
            for (finding, text) in new.into_iter().zip(texts) {
                self.shown.push((finding, self.found.len()));
                indices.push(self.found.len());
                self.add(text, index);
            }
        }
        if let Some(fault) = fault {
            let text = FindingText::of_fault(0, fault);
            let same = self.same_fault(fault);
            indices.push(same.unwrap_or(self.found.len()));
            match same {
                None => self.add(text, index),
                Some(at) if self.is_better_fault(at, index) => {
                    let (replay, length) = (Some(self.orders.replay(index, false)), self.orders.length(index));
                    let shown = &mut self.found[at];
                    (shown.finding, shown.replay, shown.length) = (text, replay, length);
                }
                Some(_) => {}
            }
        }
        indices.sort_unstable();
        indices.dedup();
        for at in indices {
            self.count(at, index);
        }
        Ok(())
    }

    /// Adds a finding of several orders, the first of which shows it. It is one of its own: its remedy fixes what no other does.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn add_finding(&mut self, finding: &Finding, orders: &[u64]) -> Result<(), RunError> {
        let Some((shown, others)) = orders.split_first() else { return Ok(()) };
        let texts = describe_case(&self.program, &self.case, &self.orders.options(*shown), std::slice::from_ref(finding))?;
        for text in texts {
            let at = self.found.len();
            self.add(text, *shown);
            [shown].into_iter().chain(others).for_each(|index| self.count(at, *index));
        }
        Ok(())
    }

    fn add(&mut self, finding: FindingText, index: u64) {
        let length = self.orders.length(index);
        self.found.push(MergedFinding { finding, in_session_order: false, orders: 0, replay: None, length });
    }

    /// Counts order `index` for the finding at index `at`.
    fn count(&mut self, at: usize, index: u64) {
        let found = &mut self.found[at];
        if index == 0 {
            found.in_session_order = true;
            return;
        }
        found.orders += 1;
        if found.replay.is_none() {
            found.replay = Some(self.orders.replay(index, false));
        }
    }
}

/// The first instructions of the innermost loops around others: a run may reach its step limit anywhere in a loop.
#[derive(Default)]
struct LoopStarts(BTreeMap<Pc, Pc>);

impl LoopStarts {
    /// True if two runs were stopped by the same fault: at the same instructions or loops, or with threads that wait in the same ones.
    fn are_same(&mut self, program: &Program, one: &FindingText, other: &FindingText) -> bool {
        (one.id, one.launch) == (other.id, other.launch) && self.places(program, one) == self.places(program, other)
    }

    fn places(&mut self, program: &Program, finding: &FindingText) -> BTreeSet<Pc> {
        let waiting = finding.waiting.iter().map(|waiting| waiting.site.pc);
        let all = finding.second.iter().map(|side| side.site.pc).chain(waiting);
        all.map(|pc| if finding.id == LIVELOCK { self.around(program, pc) } else { pc }).collect()
    }

    fn around(&mut self, program: &Program, pc: Pc) -> Pc {
        *self.0.entry(pc).or_insert_with(|| first_of_loop(program, pc))
    }
}

/// The first instruction of the innermost loop around one, or that one.
fn first_of_loop(program: &Program, pc: Pc) -> Pc {
    let Some(function) = program.function_at(pc) else { return pc };
    let flow = ControlFlow::new(program, function);
    let Some(block) = flow.block_of(pc) else { return pc };
    let innermost = flow.loops().iter().filter(|around| around.blocks.contains(&block)).min_by_key(|around| around.blocks.len());
    let first = innermost.and_then(|around| around.blocks.iter().map(|block| flow.code(*block).start).min());
    first.map_or(pc, Pc)
}
