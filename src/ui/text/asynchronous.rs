//! The asynchronous machine for people: one mbarrier in full, and pipelines over time.

use super::report::grouped;
use crate::base::Dim3;
use crate::debug::view::{Deed, MbarrierView, MbarrierWaiter, Pipeline, Stage, StageState, cells};

/// Columns of a pipeline in plain text.
const WIDTH: usize = 110;

/// An mbarrier with all that is known of it.
pub fn mbarrier(view: &MbarrierView) -> String {
    let MbarrierView { name, block, address, phase, arrivals, bytes, made, .. } = view;
    let mut lines = vec![format!("{name}: mbarrier at shared {address:#x} of block {}\n  made: {}", Dim3(*block), deed(made))];
    let next = view.next.map_or(String::new(), |next| format!(", the next phase wants {next}"));
    let (came, wanted) = arrivals;
    lines.push(format!("  phase {phase}, parity {}: {came} of {wanted} arrivals{next}; bytes: {bytes}", phase & 1));
    lines.extend(view.overwritten.map(|word| format!("  its bytes were overwritten: they read {word:#018x}")));
    lines.extend(view.waiters.iter().map(waiter));
    if !view.copies.is_empty() {
        let copies: Vec<String> = view.copies.iter().map(|copy| format!("#{copy}")).collect();
        lines.push(format!("  copies in flight that complete on it: {}", copies.join(" ")));
    }
    if !view.deeds.is_empty() {
        let forgotten = if view.forgotten > 0 { format!(", the latest {} of many", view.deeds.len()) } else { String::new() };
        lines.push(format!("  in this phase{forgotten}:"));
        lines.extend(view.deeds.iter().map(|one| format!("    {}", deed(one))));
    }
    if !view.history.is_empty() {
        lines.push("  phases that have ended, and what ended them:".to_string());
        lines.extend(view.history.iter().map(|(number, _, last)| format!("    {number}: {}", deed(last))));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// `t=9,101  producer warp 0 lane 0  ring.ptx:88  expected 16384 bytes`
fn deed(deed: &Deed) -> String {
    let Deed { time, who, at, what } = deed;
    format!("t={}  {who}  {at}  {what}", grouped(*time)).trim_end().to_string()
}

fn waiter(waiter: &MbarrierWaiter) -> String {
    let MbarrierWaiter { who, parity, at } = waiter;
    let parity = parity.map_or("phases of different parity".to_string(), |parity| format!("the phase of parity {parity}"));
    format!("  waiting for {parity}: {who} at {at}")
}

/// A stage of a pipeline in a row of text.
pub struct StageRow {
    /// `full[1]`
    pub name: String,
    /// What it was, one behind the other: what, how it is drawn, and when it began.
    pub runs: Vec<(Option<StageState>, String, u64)>,
    /// What there is to say behind it.
    pub verdict: &'static str,
}

/// The rows of a pipeline in `width` columns, and the heading above them: its first and its last time.
pub fn stage_rows(pipeline: &Pipeline, width: usize) -> (String, Vec<StageRow>) {
    let names = pipeline.stages.iter().map(|stage| stage.name.chars().count()).max().unwrap_or(0);
    let is_stuck = pipeline.stages.iter().any(|stage| stage.never_full);
    let verdict = if is_stuck { NEVER_FULL.len() + 1 } else { 0 };
    let room = width.saturating_sub(names + 2 + verdict);
    let cells = cells(pipeline, room);
    let row = |(stage, states): (&Stage, &Vec<Option<StageState>>)| StageRow {
        name: format!("{:names$}  ", stage.name),
        runs: runs(states, &cells.times),
        verdict: if stage.never_full { NEVER_FULL } else { "" },
    };
    let first = cells.times.first().map_or(String::new(), |time| format!("t={}", grouped(*time)));
    let last = format!("t={}", grouped(cells.end));
    let gap = cells.times.len().saturating_sub(first.chars().count() + last.chars().count()).max(1);
    let heading = format!("{}{first}{}{last}", " ".repeat(names + 2), " ".repeat(gap));
    (heading, pipeline.stages.iter().zip(&cells.stages).map(row).collect())
}

const NEVER_FULL: &str = "never full";

/// Neighbouring cells that are alike, drawn with their word where there is room.
fn runs(states: &[Option<StageState>], times: &[u64]) -> Vec<(Option<StageState>, String, u64)> {
    let mut runs = Vec::new();
    let mut at = 0;
    for run in states.chunk_by(|a, b| a == b) {
        let state = run.first().copied().flatten();
        let word = state.map(StageState::word).filter(|word| word.len() < run.len()).unwrap_or("");
        let text = format!("{word}{}", glyph(state).repeat(run.len() - word.len()));
        runs.push((state, text, times.get(at).copied().unwrap_or(0)));
        at += run.len();
    }
    runs
}

fn glyph(state: Option<StageState>) -> &'static str {
    match state {
        None => " ",
        Some(StageState::Fill) => "▒",
        Some(StageState::Full) => "█",
        Some(StageState::Read) => "▓",
        Some(StageState::Empty) => "·",
    }
}

/// A pipeline as rows of text.
pub fn pipeline(pipeline: &Pipeline) -> String {
    let mut text = String::new();
    if !pipeline.stages.is_empty() {
        let (heading, rows) = stage_rows(pipeline, WIDTH);
        text += &format!("{heading}\n");
        for StageRow { name, runs, verdict } in rows {
            let cells: String = runs.iter().map(|(_, text, _)| text.as_str()).collect();
            text += &format!("{}\n", format!("{name}{cells} {verdict}").trim_end());
        }
    }
    text + &pipeline.note.as_ref().map_or(String::new(), |note| format!("{note}\n"))
}
