//! Commands in JSON: with `--format json` each command of a script is one object.
//!
//! `docs/commands.schema.json` has its schema.

use serde::Serialize;
use serde_json::{Value, json};

use crate::command::{CommandError, Outcome, View};
use crate::debug::breakpoints::BreakpointRow;
use crate::debug::explore::ExplorationReport;
use crate::debug::stop::Stop;

/// What a command said, as data.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// The kind of answer.
    answer: &'static str,
    /// Its data; null where the text alone has them.
    data: Value,
}

impl Answer {
    /// The answer of a command that is no stop.
    pub fn of(outcome: &Outcome) -> Self {
        let (answer, data) = match outcome {
            Outcome::Value { what, value, undefined, .. } => {
                ("value", json!({ "expression": what, "value": value, "undefined_lanes": undefined }))
            }
            Outcome::Bare { value, undefined } => ("value", json!({ "value": value, "undefined_lanes": undefined })),
            Outcome::Displays(shown) => ("displays", json!(shown)),
            Outcome::Writes { what, writes, changes, unchanged, interrupted, bytes: _ } => {
                let data = json!({
                    "place": what, "writes": writes, "changes": changes, "unchanged": unchanged, "interrupted": interrupted
                });
                ("writes", data)
            }
            Outcome::Branches(rows) => ("branches", json!(rows)),
            Outcome::BranchDiff(diff) => ("diff", json!(diff)),
            Outcome::Marks(marks) => ("marks", json!(marks)),
            Outcome::When { now, recorded, end } => ("time", json!({ "now": now, "recorded": recorded, "has_ended": end.is_some() })),
            Outcome::Focus { focus, site, frame } => ("focus", json!({ "thread": focus, "at": site.as_ref().ok(), "frame": frame })),
            Outcome::View(view) => of_view(view),
            Outcome::Several(outcomes) => ("several", json!(outcomes.iter().map(Self::of).collect::<Vec<_>>())),
            Outcome::Applied(applied) => {
                let row = |(focus, outcome): &(_, Result<Outcome, String>)| match outcome {
                    Ok(outcome) => json!({ "thread": focus, "answer": Self::of(outcome) }),
                    Err(message) => json!({ "thread": focus, "error": message }),
                };
                ("threads", applied.iter().map(row).collect())
            }
            Outcome::NewBreakpoint { row, .. } => ("breakpoint", json!({ "number": row.number, "what": row.what })),
            Outcome::Breakpoints(rows) => ("breakpoints", rows.iter().map(breakpoint).collect()),
            Outcome::Found(found) => ("found", json!(found)),
            Outcome::Explored(ExplorationReport { shard: Some(shard), .. }) => ("exploration", json!(shard)),
            Outcome::Nothing => ("nothing", Value::Null),
            Outcome::Text(_)
            | Outcome::Printed(_)
            | Outcome::Explored(_)
            | Outcome::Fixed(..)
            | Outcome::Stop(_)
            | Outcome::Apply(..)
            | Outcome::Complete(_)
            | Outcome::Collect(_)
            | Outcome::Lines(_)
            | Outcome::Shell(_)
            | Outcome::Ask(_)
            | Outcome::Source(_)
            | Outcome::Layout(_)
            | Outcome::Tour(_)
            | Outcome::Quit => ("text", Value::Null),
        };
        Self { answer, data }
    }

    /// A stop.
    pub fn of_stop(stop: &Stop) -> Self {
        Self { answer: "stop", data: json!(stop) }
    }
}

fn breakpoint(row: &BreakpointRow) -> Value {
    let BreakpointRow { number, kind, what, enabled, hits, .. } = row;
    json!({ "number": number, "kind": kind, "what": what, "enabled": enabled, "hits": hits })
}

/// The views whose rows are data of their own.
fn of_view(view: &View) -> (&'static str, Value) {
    match view {
        View::ArrayTypes(rows) => ("array_types", json!(rows)),
        View::MayRead(view) => ("may_read", json!(view)),
        View::Checks(rows) => ("checks", json!(rows)),
        View::FragmentElements(rows) => ("fragment_elements", json!(rows)),
        View::Symbols { rows, .. } => ("symbols", json!(rows)),
        View::Shared(rows) => ("shared", json!(rows)),
        View::Allocations(rows) => ("allocations", json!(rows)),
        View::Roles(rows) => ("roles", json!(rows)),
        View::RoleGuess(guess) => ("role_guess", json!(guess)),
        View::Stack(stack) => ("stack", json!(stack)),
        View::Frame(frame) => ("frame", json!(frame)),
        View::Locals(rows) => ("locals", json!(rows)),
        View::Scope(rows) => ("scope", json!(rows)),
        View::Blocks(rows) => ("blocks", json!(rows)),
        View::Warps(warps) => ("warps", json!(warps)),
        View::Lanes(rows) => ("lanes", json!(rows)),
        View::Threads(threads) => ("threads", json!(threads)),
        View::Barriers(rows) => ("barriers", json!(rows)),
        View::Kernels(rows) => ("kernels", json!(rows)),
        View::Launch { launch, number, count, .. } => ("launch", json!({ "launch": launch, "number": number, "count": count })),
        View::InFlight(rows) => ("in_flight", json!(rows)),
        View::MbarrierList(rows) | View::Mbarriers(rows) => ("mbarriers", json!(rows)),
        View::Findings { findings, suppressed, recorded, certificate } => {
            ("findings", json!({ "findings": findings, "suppressed": suppressed, "recorded": recorded, "certificate": certificate }))
        }
        View::Finding(finding) => ("finding", json!(finding)),
        View::SynchronizationPath(finding, warps) => ("finding", json!({ "finding": finding, "warps": warps })),
        View::Target(_)
        | View::Skips(_)
        | View::Descriptor(_)
        | View::Registers(_)
        | View::Examined { .. }
        | View::Listing(_)
        | View::Explanation(_)
        | View::ControlFlow(_)
        | View::Divergence(_)
        | View::Fragment(_)
        | View::Source(_)
        | View::Pipeline(_)
        | View::Fidelity(_)
        | View::Mismatches(_) => ("text", Value::Null),
    }
}

/// The record of a command: what it said, as data and as text, or why it failed.
pub fn command(line: &str, answers: &[Answer], text: &str, failed: Option<&CommandError>) -> String {
    let error = failed.map(|error| json!({ "message": error.message, "column": error.column(line), "help": error.help }));
    let record = json!({ "kind": "command", "command": line, "ok": failed.is_none(), "answers": answers, "text": text, "error": error });
    crate::ui::visible::visible_json(&format!("{record}\n"))
}
