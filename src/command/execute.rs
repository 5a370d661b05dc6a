//! Executes a command line.

use super::context::Context;
use super::error::CommandError;
use super::outcome::Outcome;
use super::parse::parse;
use super::spec::Repeat;
use crate::debug::stop::Stop;

/// Executes the command `line`.
///
/// # Errors
/// The reason why it was not executed; nothing has changed then.
pub fn execute(line: &str, context: &mut Context<'_>) -> Result<Outcome, CommandError> {
    context.state.again = None;
    let call = parse(line)?;
    let before = context.session.focus;
    let outcome = match (call.spec.handler)(context, &call)? {
        // A command may run several times: its stop is that of the last run, with the focus from before the first.
        Outcome::Stop(stop) => Outcome::Stop(Box::new(Stop { before, ..*stop })),
        outcome => outcome,
    };
    // A handler may have set the command that an empty line repeats.
    if context.state.again.is_none() {
        context.state.again = match call.spec.repeats {
            Repeat::No => None,
            Repeat::Same => Some(line.to_string()),
            Repeat::Continue => Some(line.split_whitespace().next().unwrap_or_default().to_string()),
        };
    }
    Ok(outcome)
}
