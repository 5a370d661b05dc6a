//! Scripts, saving, leaving.

use std::path::PathBuf;

use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::Outcome;

pub fn source(_: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    Ok(Outcome::Source(PathBuf::from(&call.required("FILE")?.text)))
}

pub fn echo(_: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    Ok(Outcome::Text(format!("{}\n", call.text("TEXT").unwrap_or_default())))
}

pub fn quit(_: &mut Context<'_>, _: &Call) -> Result<Outcome, CommandError> {
    Ok(Outcome::Quit)
}
