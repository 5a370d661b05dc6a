//! Scripts, saving, quitting.

use std::path::{Path, PathBuf};

use crate::base::{counted, save};
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::{LayoutRequest, Outcome};
use crate::debug::bundle::is_inside;
use crate::debug::saved::Saved;

pub fn source(_: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    Ok(Outcome::Source(PathBuf::from(&call.required("FILE")?.text)))
}

pub fn save(context: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    let file = call.required("FILE")?;
    let text = context.session.saved().to_text();
    save::save(Path::new(&file.text), &[text.as_bytes()]).map_err(|error| file.error(save::cause(&error)))?;
    Ok(Outcome::Nothing)
}

pub fn load(context: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    let file = call.required("FILE")?;
    let path = Path::new(&file.text);
    let mut saved = Saved::read(path).map_err(|error| file.error(error.to_string()))?;
    let left_out = if is_inside(path) { saved.remove_commands() } else { 0 };
    let mut stop = context.session.restore(saved, context.interrupt).map_err(|message| file.error(message))?;
    if left_out > 0 {
        let breakpoints = counted(left_out, "breakpoint");
        stop.log.push(format!("warning: the commands of {breakpoints} are left out: a bundle may come from anywhere, and runs none"));
    }
    Ok(Outcome::Stop(Box::new(stop)))
}

pub fn launch(context: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    let Some(argument) = call.argument("CHANGES") else {
        return context.session.launch_text(Path::new("")).map(Outcome::Text).map_err(CommandError::new);
    };
    if let Some(question) = context.ask_to_restart() {
        return Ok(question);
    }
    let changes = without_blanks_around_signs(&argument.text);
    let changes: Vec<&str> = changes.split_whitespace().collect();
    let stop = context.session.relaunch(&changes, context.interrupt).map_err(|message| argument.error(message))?;
    Ok(Outcome::Stop(Box::new(stop)))
}

/// `n = 64` as `n=64`: blanks separate changes.
fn without_blanks_around_signs(text: &str) -> String {
    let parts: Vec<&str> = text.split('=').map(str::trim).collect();
    parts.join("=")
}

pub fn bundle(context: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    let file = call.required("FILE")?;
    let notes = call.text("NOTES").unwrap_or_default();
    context.session.bundle(Path::new(&file.text), notes, &[]).map(Outcome::Text).map_err(|message| file.error(message))
}

pub fn save_launch(context: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    let file = call.required("FILE")?;
    context.session.save_launch(Path::new(&file.text)).map(Outcome::Text).map_err(|message| file.error(message))
}

pub fn layout(_: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    Ok(Outcome::Layout(call.argument("LAYOUT").map_or(LayoutRequest::List, |name| LayoutRequest::Show(name.text.clone()))))
}

pub fn save_layout(_: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    Ok(Outcome::Layout(LayoutRequest::Save(call.required("FILE")?.text.clone())))
}

pub fn quit(_: &mut Context<'_>, _: &Call) -> Result<Outcome, CommandError> {
    Ok(Outcome::Quit)
}
