//! A change to the run begins a new branch, and keeps the run as it was; branches are compared.

use std::cell::RefCell;

use super::branches::{Head, KeptRun, MAIN, Origin};
use super::compare::{BranchRuns, Difference, compare_branches};
use super::findings::FindingLog;
use super::resume::Spin;
use super::session::{InterruptCheck, Session};
use super::site::Site;
use super::stop::Stop;
use super::timeline::Timeline;
use super::value::ValueText;
use super::view;
use crate::base::Tick;

/// How two branches differ, A and B.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct BranchDiff {
    /// Their names; B is the present one.
    pub names: [String; 2],
    /// The time of the first change that only one of them has.
    pub diverged: Tick,
    /// Their runs.
    pub runs: BranchRuns,
    /// The registers of the thread whose store differs first, before that store, that hold other values.
    pub registers: Vec<(String, [String; 2])>,
}

/// A row of `branches`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BranchRow {
    /// Its name.
    pub name: String,
    /// Where it comes from; none for the run without changes.
    pub origin: Option<Origin>,
    /// The time up to which it was executed.
    pub recorded: Tick,
    /// True if it has ended there.
    pub ended: bool,
    /// True if it is the present one.
    pub is_present: bool,
}

impl Session {
    /// Keeps the run as it is, if it goes beyond the present, as a branch; a new one begins.
    pub(super) fn keep_future(&mut self, change: &str) -> Option<KeptRun> {
        let (now, recorded) = (self.time(), self.recorded());
        // The end of a run is a part of it, too.
        if recorded <= now && self.ended().is_none() {
            return None;
        }
        let forked = self.timeline.fork();
        let left = std::mem::replace(&mut self.timeline, forked);
        let branches = &mut self.branches;
        branches.made += 1;
        let origin = Origin { from: branches.present.name.clone(), time: now, change: change.to_string() };
        let head = Head { name: format!("edit{}", branches.made), origin: Some(origin) };
        let present = head.name.clone();
        let left_head = std::mem::replace(&mut branches.present, head);
        let branch = left_head.name.clone();
        branches.others.push((left_head, left));
        self.apply_settings();
        Some(KeptRun { branch, recorded, present })
    }

    /// All branches, the present one included, in the order in which they were made.
    pub fn branches(&self) -> Vec<BranchRow> {
        let row = |head: &Head, timeline: &Timeline, is_present| BranchRow {
            name: head.name.clone(),
            origin: head.origin.clone(),
            recorded: timeline.recorded(),
            ended: timeline.end().is_some(),
            is_present,
        };
        let others = self.branches.others.iter().map(|(head, timeline)| row(head, timeline, false));
        let mut rows: Vec<BranchRow> = others.chain([row(&self.branches.present, &self.timeline, true)]).collect();
        rows.sort_by_key(|row| (row.name != MAIN, row.name.len(), row.name.clone()));
        rows
    }

    /// Goes to another branch, to the present time there, or to its end if that comes first.
    ///
    /// # Errors
    /// There is no such branch, in one line.
    pub fn switch(&mut self, name: &str, interrupt: &mut dyn InterruptCheck) -> Result<Stop, String> {
        let time = self.time();
        let index = self.branch_called(name)?;
        self.swap_branch(index);
        let suppressions = std::mem::take(&mut self.finding_log.suppressions);
        self.finding_log = FindingLog::default();
        self.finding_log.suppressions = suppressions;
        (self.spin, self.yielded_to, self.exploration) = (Spin::default(), None, None);
        self.apply_settings();
        Ok(self.seek(time, interrupt))
    }

    /// The index of another branch.
    pub(super) fn branch_called(&self, name: &str) -> Result<usize, String> {
        let branches = &self.branches;
        if let Some(index) = branches.others.iter().position(|(head, _)| head.name == name) {
            return Ok(index);
        }
        Err(match (branches.present.name == name, branches.others.as_slice()) {
            (true, []) => format!("'{name}' is the only branch: a change ('set') in what has run makes one"),
            (true, _) => format!("'{name}' is the present branch"),
            (false, _) => format!("there is no branch '{name}'"),
        })
    }

    /// The present run and that of branch `index` change places.
    pub(super) fn swap_branch(&mut self, index: usize) {
        let (head, timeline) = &mut self.branches.others[index];
        std::mem::swap(&mut self.branches.present, head);
        std::mem::swap(&mut self.timeline, timeline);
    }

    /// Compares another branch, by default the one that the present one comes from, with the present one.
    ///
    /// # Errors
    /// There is no such branch, or the user interrupted, in one line.
    pub fn diff_branches(&mut self, name: Option<&str>, interrupt: &mut dyn InterruptCheck) -> Result<BranchDiff, String> {
        let branches = &self.branches;
        let parent = || branches.present.origin.as_ref().map(|origin| origin.from.clone());
        let nearest = || parent().or_else(|| branches.others.last().map(|(head, _)| head.name.clone()));
        let name =
            name.map(str::to_string).or_else(nearest).ok_or("there is one branch: a change ('set') in what has run makes another")?;
        let index = self.branch_called(&name)?;
        let runs = {
            let asked = RefCell::new(interrupt);
            let is_interrupted = || !asked.borrow_mut().should_continue(self);
            let inputs = [self.branches.others[index].1.inputs(), self.inputs()];
            compare_branches((self.program(), self.case(), self.options()), inputs, &is_interrupted)
        };
        let runs = runs.map_err(|error| error.to_string())?;
        let registers = match &runs.difference {
            Some(Difference::Store { a: Some(a), b: Some(b), .. }) => {
                self.swap_branch(index);
                let of_a = self.registers_at(&a.site);
                self.swap_branch(index);
                different_registers(of_a, self.registers_at(&b.site))
            }
            _ => Vec::new(),
        };
        let (a, b) = (self.branches.others[index].1.inputs(), self.inputs());
        let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let diverged = [a, b].iter().filter_map(|inputs| inputs.get(common)).map(|(time, _)| *time).min().unwrap_or(Tick::START);
        let names = [name, self.branches.present.name.clone()];
        Ok(BranchDiff { names, diverged, runs, registers })
    }

    /// The registers of the thread of `site` before its instruction.
    fn registers_at(&mut self, site: &Site) -> Vec<(String, String)> {
        let (now, here) = (self.time(), self.focus);
        self.return_to(site.time);
        self.focus = site.focus();
        let rows = view::registers(&self.eval_context(), |_| true, false, None).unwrap_or_default();
        self.return_to(now);
        self.focus = here;
        let text = |row: view::RegisterRow| match row.value {
            ValueText::Scalar(text) => Some((row.name, if row.undefined.is_empty() { text } else { "undefined".to_string() })),
            ValueText::Lanes(_) | ValueText::Array(_) | ValueText::Tensor(_) => None,
        };
        rows.into_iter().filter_map(text).collect()
    }
}

/// The registers that hold other values, with those of both sides.
fn different_registers(a: Vec<(String, String)>, b: Vec<(String, String)>) -> Vec<(String, [String; 2])> {
    let pair = |(name, of_a): (String, String)| {
        let (_, of_b) = b.iter().find(|(other, _)| *other == name)?;
        (of_a != *of_b).then(|| (name, [of_a, of_b.clone()]))
    };
    a.into_iter().filter_map(pair).collect()
}
