//! The findings of many orders, one finding for one cause.

use std::sync::Arc;

use super::order::Order;
use crate::check::{Finding, SameCause};
use crate::debug::fault::Fault;
use crate::debug::findings::{FindingText, describe_case};
use crate::debug::roles::Roles;
use crate::debug::run::RunError;
use crate::launch::Case;
use crate::program::Program;

/// A finding, and the orders that show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundInOrders {
    /// As it is in the order that shows it first.
    pub finding: FindingText,
    /// Whether the session's own order shows it.
    pub is_own: bool,
    /// The number of other orders that show it.
    pub orders: u64,
    /// The options that replay the first of them.
    pub replay: Option<String>,
    /// The length of that order's options.
    length: usize,
}

impl FoundInOrders {
    /// The same with what the warps are called.
    #[must_use]
    pub fn with_roles(self, roles: &Roles) -> Self {
        Self { finding: self.finding.with_roles(roles), ..self }
    }
}

/// The findings of several orders.
pub(super) struct United {
    pub program: Arc<Program>,
    pub case: Arc<Case>,
    pub orders: Order,
    pub found: Vec<FoundInOrders>,
    /// The findings of the checkers, with their indices in `found`.
    known: Vec<(Finding, usize)>,
    same_cause: SameCause,
}

impl United {
    pub fn new(program: &Arc<Program>, case: &Arc<Case>, orders: Order) -> Self {
        Self {
            program: Arc::clone(program),
            case: Arc::clone(case),
            orders,
            found: Vec::new(),
            known: Vec::new(),
            same_cause: SameCause::default(),
        }
    }

    /// Takes what was found in order `index`: what stopped it, and what the checkers found.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn take(&mut self, index: u64, fault: Option<&Fault>, findings: &[Finding]) -> Result<(), RunError> {
        let mut seen = Vec::new();
        let mut new = Vec::new();
        for finding in findings {
            let (program, same_cause) = (&self.program, &mut self.same_cause);
            match self.known.iter_mut().find(|(known, _)| same_cause.holds(program, known, finding)) {
                None => new.push(finding.clone()),
                Some((known, at)) => {
                    seen.push(*at);
                    // What is shown is the one whose remedy orders all others, in the shortest order that shows it.
                    let (found, length) = (&mut self.found[*at], self.orders.length(index));
                    let is_shorter = known.rank() == finding.rank() && !found.is_own && length < found.length;
                    if known.rank() < finding.rank() || is_shorter {
                        let options = self.orders.options(index);
                        let mut texts = describe_case(program, &self.case, &options, std::slice::from_ref(finding))?;
                        *known = finding.clone();
                        (found.finding, found.length) = (texts.swap_remove(0), length);
                        found.replay = (index > 0).then(|| self.orders.replay(index, false));
                    }
                }
            }
        }
        if !new.is_empty() {
            let texts = describe_case(&self.program, &self.case, &self.orders.options(index), &new)?;
            for (finding, text) in new.into_iter().zip(texts) {
                self.known.push((finding, self.found.len()));
                seen.push(self.found.len());
                self.add(text, index);
            }
        }
        if let Some(fault) = fault {
            let text = FindingText::of_fault(0, fault);
            let same = self.found.iter().position(|known| is_same_fault(&known.finding, &text));
            seen.push(same.unwrap_or(self.found.len()));
            match same {
                None => self.add(text, index),
                Some(at) if !self.found[at].is_own && self.orders.length(index) < self.found[at].length => {
                    let (replay, length) = (Some(self.orders.replay(index, false)), self.orders.length(index));
                    let known = &mut self.found[at];
                    (known.finding, known.replay, known.length) = (text, replay, length);
                }
                Some(_) => {}
            }
        }
        seen.sort_unstable();
        seen.dedup();
        for at in seen {
            self.count(at, index);
        }
        Ok(())
    }

    fn add(&mut self, finding: FindingText, index: u64) {
        let length = self.orders.length(index);
        self.found.push(FoundInOrders { finding, is_own: false, orders: 0, replay: None, length });
    }

    /// Order `index` shows what is at `at`.
    fn count(&mut self, at: usize, index: u64) {
        let found = &mut self.found[at];
        if index == 0 {
            found.is_own = true;
            return;
        }
        found.orders += 1;
        if found.replay.is_none() {
            found.replay = Some(self.orders.replay(index, false));
        }
    }
}

/// Whether two runs were stopped by the same: at the same place, or with threads that wait at the same places.
fn is_same_fault(one: &FindingText, other: &FindingText) -> bool {
    let places = |finding: &FindingText| {
        let waiting = finding.waiting.iter().map(|waiting| waiting.site.place.clone());
        let mut places: Vec<String> = finding.second.iter().map(|side| side.site.place.clone()).chain(waiting).collect();
        places.sort();
        places.dedup();
        places
    };
    (one.id, one.launch) == (other.id, other.launch) && places(one) == places(other)
}
