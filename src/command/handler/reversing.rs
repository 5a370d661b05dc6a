//! Going to any time, marks, and the writes to a place.

use crate::base::Tick;
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::{Outcome, View};
use crate::debug::focus::ThreadFilter;
use crate::debug::marks::{Mark, TimeArgument};
use crate::debug::resume::{History, LastWriter};
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::stop::Stop;
use crate::debug::target::Target;
use crate::debug::verify::MISMATCHES_LISTED;
use crate::debug::{Site, WatchedAccessText};

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

pub fn goto(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("TICK")?;
    let time = context.session.marks.parse_time(&argument.text, context.session.time()).map_err(|error| argument.shifted_error(error))?;
    match time {
        TimeArgument::Start => stopped(context.session.seek(Tick::START, context.interrupt)),
        TimeArgument::End => stopped(context.session.seek_end(context.interrupt)),
        TimeArgument::Tick(tick) => stopped(context.session.seek(tick, context.interrupt)),
        TimeArgument::Mark(mark) => {
            context.session.focus = mark.focus;
            stopped(context.session.seek(mark.time, context.interrupt))
        }
    }
}

pub fn mismatches(context: &mut Context<'_>, call: &Call) -> Answer {
    let listed = call.number("COUNT").and_then(|count| usize::try_from(count).ok()).unwrap_or(MISMATCHES_LISTED);
    let found = context.session.mismatches(listed, context.interrupt).map_err(CommandError::new)?;
    context.state.mismatches = Some(listed);
    if let Some(first) = found.rows.iter().find(|row| row.writer.is_some()) {
        context.state.again = Some(format!("goto mismatch {}", first.number));
    }
    Ok(Outcome::View(View::Mismatches(found)))
}

pub fn goto_mismatch(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("N")?;
    let listed = context.state.mismatches.unwrap_or(MISMATCHES_LISTED);
    let rows = context.session.mismatches(listed, context.interrupt).map_err(CommandError::new)?.rows;
    let number = call.number("N").and_then(|number| usize::try_from(number).ok());
    let Some(row) = rows.iter().find(|row| Some(row.number) == number) else {
        return Err(argument.error(match rows.len() {
            0 => format!("there is no mismatch {}: all is as expected", argument.text),
            1 => format!("there is no mismatch {}: there is 1", argument.text),
            count => format!("there is no mismatch {}: 1 to {count} are listed", argument.text),
        }));
    };
    match &row.writer {
        Some(LastWriter::Lanes(site)) => stopped(context.session.seek_thread(site.time, site.focus(), context.interrupt)),
        Some(LastWriter::User(time)) => stopped(context.session.seek(*time, context.interrupt)),
        None => Err(argument.error(format!("{} was never written: there is no such time", row.element))),
    }
}

pub fn back(context: &mut Context<'_>, _: &Call) -> Answer {
    let stop = context.session.back(context.interrupt);
    stopped(stop.ok_or_else(|| CommandError::new("there is no position before this one"))?)
}

pub fn forward(context: &mut Context<'_>, _: &Call) -> Answer {
    let stop = context.session.forward(context.interrupt);
    stopped(stop.ok_or_else(|| CommandError::new("there is no position to go forward to: 'back' leaves them"))?)
}

fn stopped(stop: Stop) -> Answer {
    Ok(Outcome::Stop(Box::new(stop)))
}

pub fn mark(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("NAME")?;
    let place = Site::of(&context.session.eval_context()).map_or(String::new(), |site| site.place);
    let mark = Mark { time: context.session.time(), focus: context.session.focus, place };
    context.session.marks.set(&argument.text, mark).map_err(|error| argument.shifted_error(error))?;
    Ok(Outcome::Nothing)
}

pub fn checkpoint(context: &mut Context<'_>, _: &Call) -> Answer {
    let place = Site::of(&context.session.eval_context()).map_or(String::new(), |site| site.place);
    let mark = Mark { time: context.session.time(), focus: context.session.focus, place };
    let number = (1_u64..).find(|number| context.session.marks.get(&checkpoint_name(*number)).is_err()).unwrap_or(1);
    let time = mark.time;
    context.session.marks.set(&checkpoint_name(number), mark)?;
    Ok(Outcome::Text(format!("checkpoint {number} at t={time}: 'restart {number}' comes back\n")))
}

pub fn restart(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("N")?;
    let number = call.number("N").unwrap_or(0);
    let mark = context.session.marks.get(&checkpoint_name(number)).cloned();
    let mark = mark.map_err(|_| argument.error(format!("there is no checkpoint {number}")).with_help("info checkpoints lists them"))?;
    context.session.focus = mark.focus;
    stopped(context.session.seek(mark.time, context.interrupt))
}

pub fn delete_checkpoints(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(arg) = call.arg("N") else { return Err(call.missing("N")) };
    for number in &arg.numbers {
        if context.session.marks.delete(&checkpoint_name(*number)).is_err() {
            return Err(arg.argument.error(format!("there is no checkpoint {number}")).with_help("info checkpoints lists them"));
        }
    }
    Ok(Outcome::Nothing)
}

/// The name of the mark of checkpoint number `number`.
fn checkpoint_name(number: u64) -> String {
    format!("checkpoint-{number}")
}

pub fn goto_launch(context: &mut Context<'_>, call: &Call) -> Answer {
    let argument = call.required("N")?;
    let count = context.session.launches();
    let number = call.number("N").and_then(|number| usize::try_from(number).ok()).filter(|number| (1..=count).contains(number));
    let number = number.ok_or_else(|| argument.error(format!("there is no launch {}: they are 1 to {count}", argument.text)))?;
    stopped(context.session.seek_launch(number - 1, context.interrupt))
}

pub fn marks(context: &mut Context<'_>, _: &Call) -> Answer {
    let marks = context.session.marks.by_time().into_iter().map(|(name, mark)| (name.to_string(), mark.clone()));
    Ok(Outcome::Marks(marks.collect()))
}

pub fn when(context: &mut Context<'_>, _: &Call) -> Answer {
    let session = &context.session;
    Ok(Outcome::When { now: session.time(), recorded: session.recorded(), end: session.ended().cloned() })
}

pub fn last(context: &mut Context<'_>, call: &Call) -> Answer {
    let answer = search(context, call, Session::last)?;
    if let Outcome::Writes { writes, changes, .. } = &answer {
        let time = writes.first().map(|write| write.site.time).or(changes.first().map(|change| change.time));
        context.state.again = time.map(|time| format!("goto {time}"));
    }
    Ok(answer)
}

pub fn first(context: &mut Context<'_>, call: &Call) -> Answer {
    search(context, call, Session::first)
}

pub fn history(context: &mut Context<'_>, call: &Call) -> Answer {
    search(context, call, Session::history)
}

/// The writes that `find` finds to the register or memory that the argument PLACE names.
fn search(context: &mut Context<'_>, call: &Call, find: fn(&mut Session, &Target, &mut dyn InterruptCheck) -> History) -> Answer {
    let argument = call.required("PLACE").map_err(|error| CommandError {
        help: Some(format!("usage: {}; lines typed come back with the up key and Ctrl-R", call.spec.usage())),
        ..error
    })?;
    let target = match context.variable(argument, &ThreadFilter::default())?.map_or_else(|| context.target(argument), Ok) {
        Ok(target) => target,
        Err(error) => context.expression(argument).ok().and_then(|place| context.session.shared_place(&place)).ok_or(error)?,
    };
    let history = find(context.session, &target, context.interrupt);
    // A variable that has no value says why.
    if matches!(target, Target::Variable(_)) && (history.writes.len(), history.changes.len()) == (0, 0) && !history.interrupted {
        context.value(argument)?;
    }
    let eval_context = context.session.eval_context();
    let writes = history.writes.iter().map(|write| WatchedAccessText::new(&eval_context, write)).collect();
    // For a whole array, the written elements are shown with the types of the writes.
    let bytes = super::looking::array_note(context, argument, call.spec.name).filter(|_| argument.text.contains('['));
    let History { changes, unchanged, interrupted, writes: _ } = history;
    Ok(Outcome::Writes { what: argument.text.clone(), writes, changes, unchanged, interrupted, bytes })
}
