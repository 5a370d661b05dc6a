//! Breakpoints, watchpoints and catchpoints.

use super::looking::array_note;
use crate::base::Glob;
use crate::command::argument_text::ArgumentText;
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::{Collected, Outcome};
use crate::debug::body::begin_of_body;
use crate::debug::breakpoints::{Breakpoint, Condition, Location, LogMessage, Resolved, Trigger, WatchMode, breakpoint_rows};
use crate::debug::focus::ThreadFilter;
use crate::debug::shown_name;
use crate::debug::target::Target;
use crate::debug::view;

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

pub fn breakpoint(context: &mut Context<'_>, call: &Call, temporary: bool) -> Answer {
    let here = ArgumentText { text: String::new(), start: call.line.len() };
    let location = call.argument("LOCATION").unwrap_or(&here);
    let resolved = context.locate_stops(location)?;
    let note = note_of_line(context, location, &resolved);
    let (breakpoint, filter) = (Breakpoint::new(resolved.trigger(), first_argument(call)), threads(context, call)?);
    add(context, call, Breakpoint { temporary, filter, ..breakpoint }, note)
}

/// What is said of another line that is used instead: of a line of the PTX text, how the line of the source is named.
fn note_of_line(context: &Context<'_>, location: &ArgumentText, resolved: &Resolved) -> Option<String> {
    let note = resolved.note.clone()?;
    let Ok(Location::Line { file: None, line }) = Location::parse(&location.text) else { return Some(note) };
    Some(context.same_line_of_source(line).map_or_else(|| note.clone(), |source| format!("{note}; {source} is a line of the source")))
}

pub fn watch(context: &mut Context<'_>, call: &Call, mode: WatchMode) -> Answer {
    let (argument, is_location) = &without_location_flag(call.required("PLACE")?);
    let named = threads(context, call)?;
    let mut target = match context.variable(argument, &named)? {
        Some(variable) => variable,
        None => context.target_for(argument, &named)?,
    };
    if let Target::Memory(memory) = &mut target {
        memory.frame = memory.frame.take().filter(|_| !is_location);
    }
    let filter = match &target {
        // The register is that of the selected threads.
        Target::Register(register) if named != ThreadFilter::default() => register.threads(),
        Target::Variable(variable) if named != ThreadFilter::default() => variable.threads(),
        Target::Register(_) | Target::Memory(_) | Target::Variable(_) => named,
    };
    let note = array_note(context, argument, call.spec.name);
    let variable = if let Target::Variable(variable) = &target { Some(variable.clone()) } else { None };
    let breakpoint = Breakpoint { filter, ..Breakpoint::new(Trigger::Watch(target, mode), argument.text.clone()) };
    let answer = add(context, call, breakpoint, note)?;
    if let (Some(variable), Some(number)) = (variable, context.session.breakpoints.last_number()) {
        context.session.watched_from_now(number, &variable, context.interrupt);
    }
    Ok(answer)
}

/// The place without gdb's `-l`, and whether it has that: then the watchpoint outlives the frame of a reference. An address is taken once
/// in any case.
fn without_location_flag(place: &ArgumentText) -> (ArgumentText, bool) {
    let flags = ["-location", "-l"].into_iter().filter_map(|flag| place.text.strip_prefix(flag));
    let rest = flags.filter(|rest| rest.starts_with(char::is_whitespace)).map(str::trim_start).next();
    let without = rest.map(|rest| ArgumentText { text: rest.to_string(), start: place.span().end - rest.len() });
    let is_location = without.is_some();
    (without.unwrap_or_else(|| place.clone()), is_location)
}

/// Sets a breakpoint on each function whose name matches.
pub fn break_functions(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("PATTERN")?;
    let pattern = argument.text.replace(".*", "*").replace('.', "?");
    let (from_start, pattern) = pattern.strip_prefix('^').map_or((false, pattern.as_str()), |rest| (true, rest));
    let (to_end, pattern) = pattern.strip_suffix('$').map_or((false, pattern), |rest| (true, rest));
    let glob = Glob::without_sets(&format!("{}{pattern}{}", if from_start { "" } else { "*" }, if to_end { "" } else { "*" }));
    let program = context.session.program();
    let functions = program.functions.iter().filter(|function| !function.code.is_empty());
    let matching = functions.filter(|function| glob.matches(&function.name) || glob.matches(&shown_name(&function.name)));
    let found: Vec<_> = matching.map(|function| (begin_of_body(program, function), shown_name(&function.name).into_owned())).collect();
    if found.is_empty() {
        return Err(argument.error(format!("no function matches '{}'", argument.text)).with_help("info functions lists them"));
    }
    let mut numbers = Vec::new();
    for (pc, name) in found {
        numbers.push(context.session.breakpoints.add(Breakpoint::new(Trigger::Code(vec![pc]), name)));
    }
    let mut rows = breakpoint_rows(
        &context.session.breakpoints,
        context.session.program(),
        context.session.debug_data(),
        context.session.source_texts(),
    );
    rows.retain(|row| numbers.contains(&row.number));
    Ok(Outcome::Breakpoints(rows))
}

/// Deletes the breakpoints at a location.
pub fn clear(context: &mut Context<'_>, call: &Call) -> Answer {
    let here = ArgumentText { text: String::new(), start: call.line.len() };
    let location = call.argument("LOCATION").unwrap_or(&here);
    let pcs = context.locate_stops(location)?.pcs;
    let is_there = |breakpoint: &&Breakpoint| breakpoint.pcs().iter().any(|pc| pcs.contains(pc));
    let numbers: Vec<u32> = context.session.breakpoints.iter().filter(is_there).map(|breakpoint| breakpoint.number).collect();
    if numbers.is_empty() {
        let place = if location.text.is_empty() { "here".to_string() } else { format!("at {}", location.text) };
        return Err(location.error(format!("there is no breakpoint {place}")));
    }
    let mut text = String::new();
    for number in numbers {
        context.session.breakpoints.delete(number)?;
        text += &format!("breakpoint {number} deleted\n");
    }
    Ok(Outcome::Text(text))
}

pub fn catch(context: &mut Context<'_>, call: &Call, temporary: bool) -> Answer {
    let argument = call.required("EVENT")?;
    let event = context.event(argument)?;
    let (breakpoint, filter) = (Breakpoint::new(Trigger::Event(event), first_argument(call)), threads(context, call)?);
    add(context, call, Breakpoint { temporary, filter, ..breakpoint }, None)
}

pub fn logpoint(context: &mut Context<'_>, call: &Call) -> Answer {
    let resolved = context.locate_stops(call.required("LOCATION")?)?;
    let format = call.required("MESSAGE")?;
    let message = Some(LogMessage::parse(&format.text).map_err(|error| format.shifted_error(error))?);
    let (breakpoint, filter) = (Breakpoint::new(Trigger::Code(resolved.pcs), first_argument(call)), threads(context, call)?);
    add(context, call, Breakpoint { message, filter, ..breakpoint }, resolved.note)
}

/// The first argument as typed: the location, expression or event.
fn first_argument(call: &Call) -> String {
    call.args.first().map_or(String::new(), |arg| arg.argument.text.clone())
}

/// The argument CONDITION.
fn condition_of(context: &Context<'_>, call: &Call) -> Result<Option<Condition>, CommandError> {
    let Some(argument) = call.argument("CONDITION") else { return Ok(None) };
    let condition = Condition::parse(&argument.text).map_err(|error| argument.shifted_error(error))?;
    let eval_context = context.session.eval_context();
    match condition.names().into_iter().find(|name| !view::is_known_anywhere(&eval_context, name)) {
        None => Ok(Some(condition)),
        Some(name) => {
            let at = argument.text.find(name).unwrap_or(0);
            Err(argument
                .error_at(at, format!("nothing in this module is called '{name}'"))
                .with_nearest(view::nearest_name(&eval_context, name).as_deref()))
        }
    }
}

/// The threads that the argument THREADS names; all, if it was not given.
fn threads(context: &Context<'_>, call: &Call) -> Result<ThreadFilter, CommandError> {
    call.argument("THREADS").map_or(Ok(ThreadFilter::default()), |threads| context.filter(threads))
}

/// Adds a breakpoint with the condition of `call`.
fn add(context: &mut Context<'_>, call: &Call, breakpoint: Breakpoint, note: Option<String>) -> Answer {
    let condition = condition_of(context, call)?;
    let number = context.session.breakpoints.add(Breakpoint { condition, ..breakpoint });
    context.session.kept.set_number("bpnum", number);
    let rows = breakpoint_rows(
        &context.session.breakpoints,
        context.session.program(),
        context.session.debug_data(),
        context.session.source_texts(),
    );
    let row = rows.into_iter().find(|row| row.number == number);
    Ok(row.map_or(Outcome::Nothing, |row| Outcome::NewBreakpoint { row, note }))
}

pub fn commands(context: &mut Context<'_>, call: &Call) -> Answer {
    let numbers = match call.argument("N") {
        Some(_) => numbers(context, call)?,
        None => context.session.breakpoints.iter().last().map(|breakpoint| breakpoint.number).into_iter().collect(),
    };
    if numbers.is_empty() {
        return Err(CommandError::new("there is no breakpoint to give commands to"));
    }
    Ok(Outcome::Collect(Collected::Breakpoints(numbers)))
}

pub fn condition(context: &mut Context<'_>, call: &Call) -> Answer {
    let number = number(context, call)?;
    let condition = condition_of(context, call)?;
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
    let text = match (call.argument("N"), numbers.len()) {
        (Some(_), _) => String::new(),
        (None, 0) => "there is no breakpoint\n".to_string(),
        (None, 1) => "1 breakpoint deleted\n".to_string(),
        (None, count) => format!("{count} breakpoints deleted\n"),
    };
    Ok(Outcome::Text(text))
}

/// Lists the breakpoints that `is_listed` chooses.
pub fn list(context: &mut Context<'_>, call: &Call, is_listed: impl Fn(&Breakpoint) -> bool) -> Answer {
    let session = &context.session;
    let of_kind: Vec<u32> = session.breakpoints.iter().filter(|row| is_listed(row)).map(|breakpoint| breakpoint.number).collect();
    let mut rows = breakpoint_rows(&session.breakpoints, session.program(), session.debug_data(), session.source_texts());
    if call.argument("N").is_some() {
        let numbers = numbers(context, call)?;
        for number in &numbers {
            context.session.breakpoints.get(*number)?;
        }
        rows.retain(|row| numbers.contains(&row.number));
    }
    rows.retain(|row| of_kind.contains(&row.number));
    Ok(Outcome::Breakpoints(rows))
}

/// Lists the breakpoints of one kind, which `is_listed` chooses.
pub fn list_of_kind(context: &mut Context<'_>, call: &Call, kind: &str, is_listed: impl Fn(&Breakpoint) -> bool) -> Answer {
    let answer = list(context, call, is_listed)?;
    let is_empty = matches!(&answer, Outcome::Breakpoints(rows) if rows.is_empty());
    Ok(if is_empty { Outcome::Text(format!("there are no {kind}\n")) } else { answer })
}

/// The breakpoints that the argument N names; all, if it was not given.
fn numbers(context: &Context<'_>, call: &Call) -> Result<Vec<u32>, CommandError> {
    match call.argument("N") {
        Some(argument) => context.session.breakpoints.parse_numbers(&argument.text).map_err(|error| argument.shifted_error(error)),
        None => Ok(context.session.breakpoints.iter().map(|breakpoint| breakpoint.number).collect()),
    }
}

/// The breakpoint that the argument N names.
fn number(context: &Context<'_>, call: &Call) -> Result<u32, CommandError> {
    let argument = call.required("N")?;
    let number = call.number("N").and_then(|number| u32::try_from(number).ok());
    let number = number.ok_or_else(|| argument.error(format!("there is no breakpoint {}", argument.text)))?;
    context.session.breakpoints.get(number).map_err(|error| argument.shifted_error(error.at(0..argument.text.len())))?;
    Ok(number)
}
