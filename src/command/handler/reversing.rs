//! Going to any time, marks, and who wrote what.

use crate::command::call::{Call, Piece};
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::Outcome;
use crate::debug::nearest;
use crate::debug::stop::Stop;

/// What a handler answers.
type Answer = Result<Outcome, CommandError>;

pub fn goto(context: &mut Context<'_>, call: &Call) -> Answer {
    let piece = call.required("TICK")?;
    let stop = match (call.number("TICK"), piece.text.as_str()) {
        (Some(tick), _) => context.session.seek(tick, context.pace),
        (None, "start") => context.session.seek(0, context.pace),
        (None, "end") => context.session.seek_end(context.pace),
        (None, name) => return goto_mark(context, piece, name),
    };
    arrived(stop)
}

fn arrived(stop: Stop) -> Answer {
    Ok(Outcome::Stop(Box::new(stop)))
}

pub fn back(context: &mut Context<'_>, _: &Call) -> Answer {
    let stop = context.session.back(context.pace);
    arrived(stop.ok_or_else(|| CommandError::new("there is no position before this one"))?)
}

pub fn forward(context: &mut Context<'_>, _: &Call) -> Answer {
    let stop = context.session.forward(context.pace);
    arrived(stop.ok_or_else(|| CommandError::new("there is no position to go forward to: 'back' leaves them"))?)
}
