//! `find`: queries over the run.

use std::collections::BTreeMap;

use crate::base::Tick;
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::Outcome;
use crate::debug::find::{FoundText, GroupRow, Grouping, Happening, Query, Wanted};
use crate::debug::findings::FindingText;
use crate::debug::session::Session;
use crate::debug::view::grouped;

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

pub fn find(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("QUERY")?;
    let query = context.session.query(&argument.text).map_err(|error| argument.shifted_error(error))?;
    let until = query.until.min(context.session.recorded());
    if query.happening == Happening::Findings {
        return Ok(Outcome::Found(findings(context.session, &query, until)));
    }
    let found = context.session.find(&query, context.interrupt);
    if let [event] = found.events.as_slice() {
        context.state.again = Some(format!("goto {}", event.time));
    }
    Ok(Outcome::Found(FoundText::new(&context.session.eval_context(), &query, &found, until)))
}

/// The findings that a query asks for.
fn findings(session: &Session, query: &Query, until: Tick) -> FoundText {
    let is_between = |finding: &FindingText| time(finding).is_none_or(|time| query.from <= time && time < query.until);
    let is_of = |finding: &FindingText| query.place.as_ref().is_none_or(|place| session.is_about(finding, place));
    let mut found = session.findings();
    found.retain(|finding| is_between(finding) && is_of(finding) && is_by(finding, query));
    let (times, instructions) = (found.iter().map(|finding| finding.count).sum(), found.len() as u64);
    let groups = match query.wanted {
        Wanted::All => found.iter().map(row).collect(),
        Wanted::Count => Vec::new(),
        Wanted::First => found.iter().min_by_key(|finding| time(finding)).map(row).into_iter().collect(),
        Wanted::Last => found.iter().max_by_key(|finding| time(finding)).map(row).into_iter().collect(),
        Wanted::By(grouping) => grouped_by(&found, grouping),
    };
    FoundText {
        times,
        instructions,
        counted: "finding",
        events: Vec::new(),
        groups,
        from: query.from,
        until,
        block: None,
        is_first: false,
        no_value: None,
        interrupted: false,
    }
}

/// True if one of the sides, or a warp that waits, is of the threads that a query asks for.
fn is_by(finding: &FindingText, query: &Query) -> bool {
    let sites = finding.sides().map(|side| &side.site).chain(finding.waiting.iter().map(|waiting| &waiting.site));
    let mut passing = sites.map(|site| site.lanes & query.threads.lanes_of(site.block, site.warp));
    query.threads == Default::default() || passing.any(|lanes| !lanes.is_empty())
}

/// `finding 1 at t=31: race.shared.raw`
fn row(finding: &FindingText) -> GroupRow {
    let time = time(finding).map_or(String::new(), |time| format!(" at t={}", grouped(time)));
    GroupRow { what: format!("finding {}{time}: {}", finding.number, finding.id.word()), times: finding.count }
}

/// The times of findings by the instruction of the later side, or by its lanes; the most frequent first.
fn grouped_by(found: &[FindingText], grouping: Grouping) -> Vec<GroupRow> {
    let mut times: BTreeMap<(usize, String), u64> = BTreeMap::new();
    for finding in found {
        let Some(site) = finding.site() else { continue };
        let keys: Vec<(usize, String)> = match grouping {
            Grouping::Lane => site.lanes.iter().map(|lane| (lane, format!("lane {lane}"))).collect(),
            Grouping::Line | Grouping::Value => vec![(0, format!("{}  {}", site.place, site.statement))],
        };
        keys.into_iter().for_each(|key| *times.entry(key).or_default() += finding.count);
    }
    let mut rows: Vec<GroupRow> = times.into_iter().map(|((_, what), times)| GroupRow { what, times }).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.times));
    rows
}

/// The time of the later side of a finding.
fn time(finding: &FindingText) -> Option<Tick> {
    finding.second.as_ref().or(finding.first.as_ref()).map(|side| side.site.time)
}
