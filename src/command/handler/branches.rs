//! The branches of the run.

use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::Outcome;
use crate::debug::branches::KeptRun;
use crate::debug::view::grouped;

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

/// The answer to a change, after a line on the run that it has kept.
pub fn with_kept(kept: Option<KeptRun>, answer: Outcome) -> Outcome {
    let Some(KeptRun { branch, recorded, present }) = kept else { return answer };
    let line = format!("the run to t={} is kept as branch '{branch}'; this is '{present}'\n", grouped(recorded.0));
    Outcome::Several(vec![Outcome::Text(line), answer])
}

pub fn list(context: &mut Context<'_>, _: &Call) -> Answer {
    Ok(Outcome::Branches(context.session.branches()))
}

pub fn switch(context: &mut Context<'_>, call: &Call) -> Answer {
    let name = call.required("NAME")?;
    let stop = context.session.switch(&name.text, context.interrupt);
    stop.map(|stop| Outcome::Stop(Box::new(stop))).map_err(|message| name.error(message).with_help("branches lists them"))
}

pub fn diff(context: &mut Context<'_>, call: &Call) -> Answer {
    let name = call.argument("NAME");
    let found = context.session.diff_branches(name.map(|name| name.text.as_str()), context.interrupt);
    found.map(|diff| Outcome::BranchDiff(Box::new(diff))).map_err(|message| match name {
        Some(name) => name.error(message).with_help("branches lists them"),
        None => CommandError::new(message),
    })
}
