//! Grouping of findings of several runs of one case by their cause.

use super::finding::Finding;
use super::race;
use super::reachability::Reachability;
use super::reporter;
use crate::program::Program;

/// What [`CauseComparison::are_same`] and [`Finding::rank`] see of a finding, as text: findings with the same key are compared alike.
pub fn cause_key(program: &Program, finding: &Finding) -> String {
    let Finding { id, severity, launch, first, second, candidates, fix, distance, .. } = finding;
    let sides: Vec<_> = first.iter().chain([second]).map(|side| (side.point.pc, side.action)).collect();
    let fix = fix.in_program(program);
    let space = finding.memory.map(|memory| memory.space);
    let variable = race::shared_variable(program, finding);
    // The reason is compared where a race is a note for the whole kernel.
    let why = Some(&finding.why).filter(|_| *severity < id.severity());
    format!("{} {severity:?} {launch} {sides:?} {candidates:?} {fix} {distance:?} {space:?} {variable:?} {why:?}", id.word())
}

/// Compares the causes of findings of several runs of a program.
#[derive(Clone, Default)]
pub struct CauseComparison {
    reachability: Reachability,
}

impl CauseComparison {
    /// True if two findings have one cause: the same instructions, or the checker of a single run would have counted them as one.
    pub fn are_same(&mut self, program: &Program, earlier: &Finding, new: &Finding) -> bool {
        earlier.pair() == new.pair()
            || if new.id.is_race() {
                race::is_same_cause(program, &mut self.reachability, earlier, new)
            } else {
                reporter::is_same_cause(program, earlier, new)
            }
    }
}
