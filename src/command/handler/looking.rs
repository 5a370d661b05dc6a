//! Values, displays, memory and code.

use crate::command::call::{Call, Piece};
use crate::command::context::Context;
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
    let Some(piece) = call.piece("EXPRESSION") else { return Ok(Outcome::Displays(context.desk.displays.shown(&context.session.scene()))) };
    let format = format(call)?;
    let expression = context.expression(piece)?;
    context.value(piece)?;
    let number = context.desk.displays.add(expression, format);
    let scene = context.session.scene();
    let new = context.desk.displays.iter().filter(|display| display.number == number);
    Ok(Outcome::Displays(new.map(|display| display.shown(&scene)).collect()))
}

pub fn undisplay(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(arg) = call.arg("N") else {
        context.desk.displays.clear();
        return Ok(Outcome::Nothing);
    };
    for number in &arg.numbers {
        if !context.desk.displays.remove(*number) {
            return Err(arg.piece.error(format!("there is no display {number}")));
        }
    }
    Ok(Outcome::Nothing)
}

pub fn displays(context: &mut Context<'_>, _: &Call) -> Answer {
    let rows = context.desk.displays.iter().map(|display| format!("{}: {}\n", display.number, display.what()));
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
