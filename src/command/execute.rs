//! Executes a command line.

use super::argument_text::ArgumentText;
use super::call::Call;
use super::complete::{self, KnownNames};
use super::context::Context;
use super::error::CommandError;
use super::gdb_words;
use super::handler::assigning::changes;
use super::lookup;
use super::outcome::Outcome;
use super::parse::{parse, parse_with_roles};
use super::spec::Repeat;
use super::table::{self, TABLE};
use crate::debug::eval_context::ThreadError;
use crate::debug::focus::Focus;
use crate::debug::stop::Stop;

/// Executes the command `line`.
///
/// # Errors
/// The reason why it was not executed; nothing has changed then.
pub fn execute(line: &str, context: &mut Context<'_>) -> Result<Outcome, CommandError> {
    context.state.again = None;
    let line = &context.state.user.without_alias(line);
    if let Some(lines) = context.state.user.lines(line) {
        return Ok(Outcome::Lines(lines));
    }
    if let Some(word) = gdb_words::find(line) {
        return word.answer();
    }
    let roles: Vec<&str> = context.session.roles.all().into_iter().map(|(name, _)| name).collect();
    let call = match (parse_with_roles(line, &roles), gdb_words::find_shortened(line)) {
        (Ok(call), _) => call,
        (Err(_), Some(word)) if lookup::find(&TABLE, line).is_err() => return word.answer(),
        (Err(error), _) => return Err(error),
    };
    let outcome = execute_call(context, &call)?;
    // A handler may have set the command that an empty line repeats.
    if context.state.again.is_none() {
        context.state.again = match call.spec.repeats {
            Repeat::No => None,
            Repeat::Same => Some(line.clone()),
            Repeat::Continue => Some(line.split_whitespace().next().unwrap_or_default().to_string()),
        };
    }
    Ok(outcome)
}

/// Executes a parsed command.
///
/// # Errors
/// The reason why it was not executed.
pub fn execute_call(context: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    let before = context.session.focus;
    Ok(match (call.spec.handler)(context, call).map_err(|error| with_way_back(context, error))? {
        // A command may run several times: its stop is that of the last run, with the focus from before the first.
        Outcome::Stop(stop) => Outcome::Stop(Box::new(Stop { before, ..*stop })),
        Outcome::Apply(threads, line) => apply(context, &threads, &line)?,
        Outcome::Complete(line) => Outcome::Text(completions(context, &line)),
        outcome => outcome,
    })
}

/// The error with what to do, if the reason is that the focused block has finished.
fn with_way_back(context: &Context<'_>, error: CommandError) -> CommandError {
    let session = &context.session;
    let gone = session.eval_context().frame().err().filter(|gone| matches!(gone, ThreadError::Finished { .. }));
    let is_gone = gone.is_some_and(|gone| error.message.contains(&gone.to_string()));
    match session.is_at_end() {
        _ if !is_gone || error.help.is_some() => error,
        true => error.with_help("the run ends here: 'reverse-stepi' goes back into it, 'start' to its beginning"),
        false => error.with_help("'info blocks' lists those that run, 'reverse-stepi' goes back to where this one did"),
    }
}

/// The lines that a line can go on to.
fn completions(context: &Context<'_>, line: &str) -> String {
    let completion = complete::complete(line, &KnownNames::of(context.session));
    let lines: String = completion.candidates.iter().map(|candidate| format!("{}{candidate}\n", &line[..completion.start])).collect();
    if lines.is_empty() { format!("nothing completes '{line}'\n") } else { lines }
}

/// Executes a line for several threads, and comes back to the focused one.
fn apply(context: &mut Context<'_>, threads: &[Focus], line: &ArgumentText) -> Result<Outcome, CommandError> {
    let inner = parse(&context.state.user.without_alias(&line.text))?;
    if !table::only_shows(inner.spec) {
        let why = format!("'{}' does more than show something: it is done once, for the whole run", inner.spec.name);
        return Err(line.error_at(0, why));
    }
    if inner.args.first().is_some_and(|arg| inner.spec.name == "print" && changes(&arg.argument.text)) {
        return Err(line.error_at(0, "this assigns: '@' after a place names several lanes, as in set %r1@0-7 = 5"));
    }
    let before = context.session.focus;
    let mut outcomes = Vec::new();
    for focus in threads {
        context.session.focus = *focus;
        let outcome = execute_call(context, &inner);
        outcomes.push((*focus, outcome.map_err(|error| error.message)));
    }
    context.session.focus = before;
    Ok(Outcome::Applied(outcomes))
}
