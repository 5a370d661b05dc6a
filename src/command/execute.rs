//! From a line to its outcome.

use super::context::Context;
use super::error::CommandError;
use super::outcome::Outcome;
use super::parse::parse;
use super::spec::Repeat;
use crate::debug::stop::Stop;

/// Does what `line` says.
///
/// # Errors
/// Why it was not done; nothing has changed then.
pub fn execute(line: &str, context: &mut Context<'_>) -> Result<Outcome, CommandError> {
    context.state.again = None;
    let call = parse(line)?;
    let before = context.session.focus;
    let outcome = match (call.spec.handler)(context, &call)? {
        // A command may take several runs: its stop is that of the last.
        Outcome::Stop(stop) => Outcome::Stop(Box::new(Stop { before, ..*stop })),
        outcome => outcome,
    };
    // A handler may have said already what comes next.
    if context.state.again.is_none() {
        context.state.again = match call.spec.repeats {
            Repeat::No => None,
            Repeat::Same => Some(line.to_string()),
            Repeat::GoOn => Some(line.split_whitespace().next().unwrap_or_default().to_string()),
        };
    }
    Ok(outcome)
}
