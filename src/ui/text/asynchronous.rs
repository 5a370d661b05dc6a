//! The text of mbarriers, and of pipelines over time.

use super::report::{actor, code_place, grouped};
use super::table::Table;
use crate::base::Dim3;
use crate::base::Tick;
use crate::debug::view::{
    Contribution, EndedPhase, MbarrierAction, MbarrierView, MbarrierWaiter, Pipeline, Stage, StageState, TransactionBytes, cells,
};

/// The width of a pipeline in plain text, in columns.
const WIDTH: usize = 110;

/// An mbarrier in detail.
pub fn mbarrier(view: &MbarrierView) -> String {
    let MbarrierView { name, block, address, phase, arrivals, bytes, made_at, made_by, .. } = view;
    let made = format!("t={}  {}  {}", grouped(*made_at), actor(made_by, *block), code_place(&made_by.at));
    let mut lines = vec![format!("{name}: mbarrier at shared {address:#x} of block {}\n  made: {made}", Dim3(*block))];
    let (bytes, action) = (transaction_bytes(bytes), |one: &MbarrierAction| action(one, *block));
    let next = view.next.map_or(String::new(), |next| format!(", the next phase wants {next}"));
    let (arrived, expected) = arrivals;
    lines.push(format!("  phase {phase}, parity {}: {arrived} of {expected} arrivals{next}; bytes: {bytes}", phase & 1));
    lines.extend(view.overwritten.map(|word| format!("  its bytes were overwritten: they read {word:#018x}")));
    lines.extend(view.waiters.iter().map(waiter));
    if !view.copies.is_empty() {
        let copies: Vec<String> = view.copies.iter().map(|copy| format!("#{copy}")).collect();
        lines.push(format!("  copies in flight that complete on it: {}", copies.join(" ")));
    }
    if !view.actions.is_empty() {
        let forgotten = if view.forgotten > 0 { format!(", the latest {} of many", view.actions.len()) } else { String::new() };
        lines.push(format!("  in this phase{forgotten}:"));
        lines.extend(view.actions.iter().map(|one| format!("    {}", action(one))));
    }
    if !view.history.is_empty() {
        lines.push("  phases that have ended, and what ended them:".to_string());
        lines.extend(view.history.iter().map(|EndedPhase { number, last, .. }| format!("    {number}: {}", action(last))));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// `t=9,101  producer warp 0 lane 0  ring.ptx:88  expected 16384 bytes`
fn action(action: &MbarrierAction, block: [u32; 3]) -> String {
    let MbarrierAction { time, by, what, copy } = action;
    let copy = copy.map_or(String::new(), |copy| format!("copy #{copy} "));
    format!("t={}  {}  {}  {copy}{}", grouped(*time), actor(by, block), code_place(&by.at), contribution(*what))
}

/// `arrived 32 times`, `completed 16,384 bytes`
fn contribution(what: Contribution) -> String {
    let times = |count: u32| if count == 1 { "once".to_string() } else { format!("{count} times") };
    match what {
        Contribution::Arrived(count) => format!("arrived {}", times(count)),
        Contribution::Dropped(count) => format!("arrived {} and dropped out", times(count)),
        Contribution::ExpectTx(bytes) => format!("expected {} bytes", grouped(u64::from(bytes))),
        Contribution::CompleteTx(bytes) => format!("completed {} bytes", grouped(u64::from(bytes))),
    }
}

/// `16,368 of 16,384, 16 missing`
pub fn transaction_bytes(bytes: &TransactionBytes) -> String {
    let TransactionBytes { expected, outstanding, in_flight } = *bytes;
    let missing = outstanding.saturating_sub_unsigned(in_flight);
    let open = outstanding.unsigned_abs();
    let come = match expected {
        _ if outstanding < 0 => format!("{} more than expected", grouped(open)),
        Some(0) if in_flight > 0 => "none expected".to_string(),
        Some(0) => "none".to_string(),
        Some(expected) => format!("{} of {}", grouped(expected.saturating_sub(open)), grouped(expected)),
        None => format!("{} outstanding", grouped(open)),
    };
    let flying = if in_flight > 0 { format!(", {} in flight", grouped(in_flight)) } else { String::new() };
    let missing = if missing > 0 { format!(", {} missing", grouped(missing.unsigned_abs())) } else { String::new() };
    come + &flying + &missing
}

/// `info mbarriers`: a row for each.
pub fn mbarriers(views: &[MbarrierView]) -> Table {
    let mut table = Table::new(&["mbarrier", ">phase", ">parity", "arrivals", "bytes", "waiting (parity)", ">address"]);
    for view in views {
        let phase = view.overwritten.map_or_else(|| view.phase.to_string(), |word| format!("overwritten: {word:#018x}"));
        let parity = |waiter: &MbarrierWaiter| waiter.parity.map_or("differs".to_string(), |parity| parity.to_string());
        let waiting: Vec<String> =
            view.waiters.iter().map(|waiter| format!("{} ({})", waiter.threads.describe(), parity(waiter))).collect();
        let cells = [
            view.name.clone(),
            phase,
            (view.phase & 1).to_string(),
            format!("{} of {}", view.arrivals.0, view.arrivals.1),
            transaction_bytes(&view.bytes),
            if waiting.is_empty() { "none".to_string() } else { waiting.join(", ") },
            format!("{:#x}", view.address),
        ];
        table.push(view.focused, cells);
    }
    table.or_note("this block has no mbarriers")
}

fn waiter(waiter: &MbarrierWaiter) -> String {
    let MbarrierWaiter { threads, parity, at } = waiter;
    let parity = parity.map_or("phases of different parity".to_string(), |parity| format!("the phase of parity {parity}"));
    format!("  waiting for {parity}: {} at {}", threads.describe(), code_place(at))
}

/// A stage of a pipeline as a row of text.
pub struct StageRow {
    /// `full[1]`
    pub name: String,
    /// Its states in order of time: the state, its drawing, and the time when it began.
    pub runs: Vec<(Option<StageState>, String, Tick)>,
    /// A note at the end of the row.
    pub verdict: &'static str,
}

/// The heading of a pipeline, which has its first and last time, and its rows, in `width` columns.
pub fn stage_rows(pipeline: &Pipeline, width: usize) -> (String, Vec<StageRow>) {
    let names = pipeline.stages.iter().map(|stage| stage.name.chars().count()).max().unwrap_or(0);
    let hangs = pipeline.stages.iter().any(|stage| stage.never_full);
    let verdict = if hangs { NEVER_FULL.len() + 1 } else { 0 };
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

/// Runs of equal adjacent cells, each drawn with the name of its state if there is room.
fn runs(states: &[Option<StageState>], times: &[Tick]) -> Vec<(Option<StageState>, String, Tick)> {
    let mut runs = Vec::new();
    let mut at = 0;
    for run in states.chunk_by(|a, b| a == b) {
        let state = run.first().copied().flatten();
        let word = state.map(StageState::word).filter(|word| word.len() < run.len()).unwrap_or("");
        let text = format!("{word}{}", glyph(state).repeat(run.len() - word.len()));
        runs.push((state, text, times.get(at).copied().unwrap_or(Tick::START)));
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
