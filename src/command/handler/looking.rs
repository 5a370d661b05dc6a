//! Values, displays, memory and code.

use crate::command::call::{Call, Piece};
use crate::command::context::Context;
use crate::command::display;
use crate::command::error::CommandError;
use crate::command::outcome::Outcome;
use crate::debug::value::Format;

/// What a handler answers.
type Answer = Result<Outcome, CommandError>;

pub fn print(context: &mut Context<'_>, call: &Call) -> Answer {
    let format = format(call)?;
    let piece = call.required("EXPRESSION")?;
    let value = context.value(piece)?.text(&context.session.scene(), format);
    Ok(Outcome::Value { what: piece.text.clone(), value })
}

pub fn display(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(piece) = call.piece("EXPRESSION") else { return Ok(Outcome::Displays(display::shown(context.session))) };
    let format = format(call)?.map_or(String::new(), |format| format!("/{} ", format.letter()));
    context.value(piece)?;
    context.session.displays.push(format!("{format}{}", piece.text));
    let mut shown = display::shown(context.session);
    Ok(Outcome::Displays(shown.pop().into_iter().collect()))
}

pub fn undisplay(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(arg) = call.arg("N") else {
        context.session.displays.iter_mut().for_each(String::clear);
        return Ok(Outcome::Nothing);
    };
    for number in &arg.numbers {
        if !display::remove(context.session, *number) {
            return Err(arg.piece.error(format!("there is no display {number}")));
        }
    }
    Ok(Outcome::Nothing)
}

pub fn displays(context: &mut Context<'_>, _: &Call) -> Answer {
    let rows = display::numbered(context.session).map(|(number, what)| format!("{number}: {what}\n"));
    let text: String = rows.collect();
    Ok(Outcome::Text(if text.is_empty() { "there are no displays\n".to_string() } else { text }))
}

/// The format behind the slash.
fn format(call: &Call) -> Result<Option<Format>, CommandError> {
    let Some(piece) = &call.suffix else { return Ok(None) };
    let mut letters = piece.text.chars();
    match (letters.next().and_then(Format::from_letter), letters.next()) {
        (Some(format), None) => Ok(Some(format)),
        _ => Err(unknown_format(piece)),
    }
}

fn unknown_format(piece: &Piece) -> CommandError {
    let letters: Vec<String> = crate::debug::value::format::LETTERS.iter().map(|(letter, _, name)| format!("{letter} {name}")).collect();
    piece.error(format!("there is no format '{}'", piece.text)).with_help(letters.join(", "))
}
