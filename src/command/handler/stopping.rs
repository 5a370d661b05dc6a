//! Breakpoints, watchpoints and catchpoints.

use super::looking::declared_as_bytes;
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::Outcome;
use crate::command::piece::Piece;
use crate::debug::breakpoints::{Breakpoint, Condition, LogMessage, Trigger, WatchMode, breakpoint_rows};
use crate::debug::focus::ThreadFilter;
use crate::debug::target::Target;

/// What a handler answers.
type Answer = Result<Outcome, CommandError>;

pub fn breakpoint(context: &mut Context<'_>, call: &Call, temporary: bool) -> Answer {
    let here = Piece { text: String::new(), start: call.line.len() };
    let place = call.piece("LOCATION").unwrap_or(&here);
    let resolved = context.locate(place)?;
    let (breakpoint, filter) = (Breakpoint::new(Trigger::Code(resolved.pcs), what(call)), threads(context, call)?);
    add(context, call, Breakpoint { temporary, filter, ..breakpoint }, resolved.note)
}

pub fn watch(context: &mut Context<'_>, call: &Call, mode: WatchMode) -> Answer {
    let piece = call.required("PLACE")?;
    let named = threads(context, call)?;
    let target = context.target_for(piece, &named)?;
    let filter = match &target {
        // The answer says which threads' register it is.
        Target::Register(register) if named != ThreadFilter::default() => register.threads(),
        Target::Register(_) | Target::Memory(_) => named,
    };
    let note = declared_as_bytes(context, piece, call.spec.name);
    let breakpoint = Breakpoint { filter, ..Breakpoint::new(Trigger::Watch(target, mode), what(call)) };
    add(context, call, breakpoint, note)
}

pub fn catch(context: &mut Context<'_>, call: &Call, temporary: bool) -> Answer {
    let piece = call.required("EVENT")?;
    let event = context.event(piece)?;
    let (breakpoint, filter) = (Breakpoint::new(Trigger::Event(event), what(call)), threads(context, call)?);
    add(context, call, Breakpoint { temporary, filter, ..breakpoint }, None)
}

pub fn logpoint(context: &mut Context<'_>, call: &Call) -> Answer {
    let resolved = context.locate(call.required("LOCATION")?)?;
    let format = call.required("MESSAGE")?;
    let message = Some(LogMessage::parse(&format.text).map_err(|error| format.wrong(error))?);
    let breakpoint = Breakpoint::new(Trigger::Code(resolved.pcs), what(call));
    add(context, call, Breakpoint { message, ..breakpoint }, resolved.note)
}

/// What the user typed after the command, without threads and condition.
fn what(call: &Call) -> String {
    call.args.first().map_or(String::new(), |arg| arg.piece.text.clone())
}

/// The argument CONDITION.
fn condition_of(call: &Call) -> Result<Option<Condition>, CommandError> {
    let parse = |piece: &Piece| Condition::parse(&piece.text).map_err(|error| piece.wrong(error));
    call.piece("CONDITION").map(parse).transpose()
}

/// The threads that the argument THREADS names; all, if it was not given.
fn threads(context: &Context<'_>, call: &Call) -> Result<ThreadFilter, CommandError> {
    call.piece("THREADS").map_or(Ok(ThreadFilter::default()), |threads| context.filter(threads))
}

/// Adds a breakpoint under the condition that `call` names.
fn add(context: &mut Context<'_>, call: &Call, breakpoint: Breakpoint, note: Option<String>) -> Answer {
    let condition = condition_of(call)?;
    let number = context.session.breakpoints.add(Breakpoint { condition, ..breakpoint });
    let rows = breakpoint_rows(&context.session.breakpoints, context.session.program());
    let row = rows.into_iter().find(|row| row.number == number);
    Ok(row.map_or(Outcome::Nothing, |row| Outcome::NewBreakpoint { row, note }))
}

pub fn commands(context: &mut Context<'_>, call: &Call) -> Answer {
    let numbers = match call.piece("N") {
        Some(_) => numbers(context, call)?,
        None => context.session.breakpoints.iter().last().map(|breakpoint| breakpoint.number).into_iter().collect(),
    };
    if numbers.is_empty() {
        return Err(CommandError::new("there is no breakpoint to give commands to"));
    }
    Ok(Outcome::Collect(numbers))
}

pub fn condition(context: &mut Context<'_>, call: &Call) -> Answer {
    let number = number(context, call)?;
    let condition = condition_of(call)?;
    let text = if condition.is_some() { String::new() } else { format!("breakpoint {number} now stops always\n") };
    context.session.breakpoints.set_condition(number, condition)?;
    Ok(Outcome::Text(text))
}

pub fn ignore(context: &mut Context<'_>, call: &Call) -> Answer {
    let number = number(context, call)?;
    let count = call.number("COUNT").unwrap_or(0);
    context.session.breakpoints.ignore(number, count)?;
    let text = match count {
        0 => format!("breakpoint {number} stops the next time\n"),
        1 => format!("breakpoint {number} will pass once\n"),
        _ => format!("breakpoint {number} will pass {count} times\n"),
    };
    Ok(Outcome::Text(text))
}

pub fn enable(context: &mut Context<'_>, call: &Call, enabled: bool) -> Answer {
    for number in numbers(context, call)? {
        context.session.breakpoints.enable(number, enabled)?;
    }
    Ok(Outcome::Nothing)
}

pub fn delete(context: &mut Context<'_>, call: &Call) -> Answer {
    let numbers = numbers(context, call)?;
    for number in &numbers {
        context.session.breakpoints.delete(*number)?;
    }
    let text = match (call.piece("N"), numbers.len()) {
        (Some(_), _) => String::new(),
        (None, 0) => "there is no breakpoint\n".to_string(),
        (None, 1) => "1 breakpoint deleted\n".to_string(),
        (None, count) => format!("{count} breakpoints deleted\n"),
    };
    Ok(Outcome::Text(text))
}

pub fn list(context: &mut Context<'_>, _: &Call) -> Answer {
    Ok(Outcome::Breakpoints(breakpoint_rows(&context.session.breakpoints, context.session.program())))
}

/// The breakpoints that the argument N names; all, if it was not given.
fn numbers(context: &Context<'_>, call: &Call) -> Result<Vec<u32>, CommandError> {
    match call.piece("N") {
        Some(piece) => context.session.breakpoints.parse_numbers(&piece.text).map_err(|error| piece.wrong(error)),
        None => Ok(context.session.breakpoints.iter().map(|breakpoint| breakpoint.number).collect()),
    }
}

/// The breakpoint that the argument N names.
fn number(context: &Context<'_>, call: &Call) -> Result<u32, CommandError> {
    let piece = call.required("N")?;
    let number = call.number("N").and_then(|number| u32::try_from(number).ok());
    let number = number.ok_or_else(|| piece.error(format!("there is no breakpoint {}", piece.text)))?;
    context.session.breakpoints.get(number).map_err(|error| piece.wrong(error.at(0..piece.text.len())))?;
    Ok(number)
}
