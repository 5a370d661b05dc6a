//! `find`: queries over the run.

use crate::base::Tick;
use crate::command::argument_text::ArgumentText;
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::Outcome;
use crate::debug::find::{FoundText, GroupRow, Query, USAGE};
use crate::debug::findings::FindingText;

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

pub fn find(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("QUERY")?;
    if argument.text.split_whitespace().next() == Some("findings") {
        return findings(context, argument);
    }
    let query = context.session.query(&argument.text).map_err(|error| argument.shifted_error(error))?;
    let found = context.session.find(&query, context.interrupt);
    if let [event] = found.events.as_slice() {
        context.state.again = Some(format!("goto {}", event.time));
    }
    let until = query.until.min(context.session.recorded());
    Ok(Outcome::Found(FoundText::new(&context.session.eval_context(), &query, &found, until)))
}

/// `find findings [between T1 T2] [count|first|last|by line]`: what the checkers have found, by their times.
fn findings(context: &mut Context<'_>, argument: &ArgumentText) -> Answer {
    // The same words as of other queries: only those that select by time and count have a meaning.
    let as_query = format!("barriers{}", argument.text.trim_start().trim_start_matches("findings"));
    let query = Query::parse(&as_query, &context.session.eval_context(), &context.session.marks, context.session.time());
    let query = query.map_err(|error| argument.shifted_error(error).with_help(USAGE))?;
    if query.place.is_some() || query.condition.is_some() || query.threads != Default::default() {
        return Err(argument
            .error("findings are found by their times: leave 'of', 'by' and 'where' out")
            .with_help("'findings' lists them"));
    }
    let is_between = |time: Tick| query.from <= time && time < query.until;
    let timed = context.session.findings().into_iter().map(|finding| (finding_time(&finding), finding));
    let findings: Vec<_> = timed.filter(|(time, _)| time.is_none_or(is_between)).collect();
    let row = |(time, finding): &(Option<Tick>, FindingText)| {
        let time = time.map_or(String::new(), |time| format!(" at t={time}"));
        GroupRow { what: format!("finding {}{time}: {}", finding.number, finding.id.word()), times: finding.count }
    };
    let groups = findings.iter().map(row).collect();
    let until = query.until.min(context.session.recorded());
    let (times, instructions) = (findings.iter().map(|(_, finding)| finding.count).sum(), findings.len() as u64);
    Ok(Outcome::Found(FoundText { times, instructions, events: Vec::new(), groups, until, interrupted: false }))
}

/// The time of the later side of a finding.
fn finding_time(finding: &FindingText) -> Option<Tick> {
    finding.second.as_ref().or(finding.first.as_ref()).map(|side| side.site.time)
}
