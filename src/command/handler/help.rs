//! The help.

use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::help;
use crate::command::outcome::{Outcome, TourRequest};
use crate::command::table::TOURS;

pub fn help(context: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    let Some(topic) = call.argument("TOPIC") else { return Ok(Outcome::Text(help::topics(call.table))) };
    if let Some(own) = context.state.user.help(topic.text.trim()) {
        return Ok(Outcome::Text(own));
    }
    let about = help::about(call.table, &topic.text).map_err(|error| CommandError { span: Some(topic.span()), ..error });
    about.map(Outcome::Text)
}

pub fn tour(_: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    Ok(Outcome::Tour(match call.text("STEP") {
        Some("next") => TourRequest::Next,
        Some("leave") => TourRequest::Leave,
        Some("resume") => TourRequest::Resume,
        Some(name) => TOURS.iter().find(|tour| **tour == name).map_or(TourRequest::Show, |tour| TourRequest::Begin(tour)),
        None => TourRequest::Show,
    }))
}

pub fn apropos(_: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    Ok(Outcome::Text(help::apropos(call.table, &call.required("WORD")?.text)))
}
