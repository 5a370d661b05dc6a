//! The text of fixes that were tried.

use std::collections::BTreeMap;

use crate::base::counted;
use crate::debug::findings::{FailedFix, FindingText, FixOutcome, Outputs};
use crate::debug::fix::{FixReport, FixReports};

/// The maximum number of changes that are listed of those that failed for the same reason.
const SHOWN: usize = 3;

/// The lines of a finding on its fix: the proposal of its checker, or the result of trying it.
pub fn advice(finding: &FindingText) -> Vec<String> {
    match &finding.tried {
        Some(tried) => outcome(tried),
        None if finding.fix.is_empty() => Vec::new(),
        None => vec![format!("fix     {}", finding.fix)],
    }
}

/// The results of trying the fixes of findings, a few lines each.
pub fn reports(fixed: &FixReports) -> String {
    let report = |FixReport { finding, id, outcome }: &FixReport| {
        let lines = self::outcome(outcome).into_iter().map(|line| format!("  {line}\n"));
        format!("finding {finding}: {id}\n{}", lines.collect::<String>())
    };
    let interrupted = if fixed.interrupted { "interrupted before everything was tried\n" } else { "" };
    let none = if fixed.reports.is_empty() { "nothing was found wrong\n" } else { "" };
    fixed.reports.iter().map(report).collect::<String>() + none + interrupted
}

fn outcome(outcome: &FixOutcome) -> Vec<String> {
    match outcome {
        FixOutcome::Held { changes, outputs, orders, failed: _, remains } => {
            let mut lines = held(changes, outputs, *orders);
            lines.extend(remains.as_ref().map(|remainder| format!("but     with all changes together {remainder}")));
            lines
        }
        FixOutcome::GoneAlready { with } => {
            let numbers: Vec<String> = with.iter().map(usize::to_string).collect();
            vec![format!("tried   gone with the changes for finding {}", numbers.join(" and "))]
        }
        FixOutcome::NoneHeld { tried } => vec![none_held(tried)],
        FixOutcome::NothingToTry => vec!["tried   nothing: no change of the program is known for it".to_string()],
    }
}

fn held(changes: &[String], outputs: &Outputs, orders: u64) -> Vec<String> {
    let mut lines: Vec<String> =
        changes.iter().enumerate().map(|(index, change)| format!("{}{change}", if index == 0 { "fix     " } else { "        " })).collect();
    let these = if changes.len() == 1 { "this change" } else { "these changes" };
    let left = match outputs {
        Outputs::AsExpected => "the outputs are as the launch expects".to_string(),
        Outputs::NotAsExpected(what) => format!("the outputs are not as the launch expects: {what}"),
        Outputs::Unchanged => "the outputs are unchanged".to_string(),
        Outputs::Changed(what) => format!("the outputs are others: {what}"),
        Outputs::Vary(seed) => format!("the outputs differ from those under --schedule random --seed {seed} --async random:{seed}"),
        Outputs::NotCompared => "the run stops before its end, as it did".to_string(),
    };
    let also = if orders == 0 { String::new() } else { format!("; so it is in {} that show it", counted(orders, "other order")) };
    lines.push(format!("tried   with {these} the finding is gone, no new one comes, {left}{also}"));
    lines
}

/// The first few of the texts, and the number of the others.
fn shortened(texts: &[String], separator: &str) -> String {
    let shown = texts.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(separator);
    let more = texts.len().saturating_sub(SHOWN);
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// One line with the changes that failed, grouped by reason.
fn none_held(tried: &[FailedFix]) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
    for FailedFix { changes, why } in tried {
        let index = *indices.entry(why).or_insert_with(|| {
            reasons.push((why, Vec::new()));
            reasons.len() - 1
        });
        reasons[index].1.push(shortened(changes, " with "));
    }
    let reasons: Vec<String> = reasons.into_iter().map(|(why, changes)| format!("{} ({why})", shortened(&changes, ", "))).collect();
    let count = tried.len();
    let these = if count == 1 { "the change tried does not hold".to_string() } else { format!("none of the {count} changes tried holds") };
    format!("tried   {these}: {}", reasons.join("; "))
}
