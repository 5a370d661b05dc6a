//! Which thread one looks at.

use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::{Outcome, View};
use crate::debug::Site;
use crate::debug::focus::FocusChange;
use crate::debug::roles;
use crate::debug::view;

/// What a handler answers.
type Answer = Result<Outcome, CommandError>;

/// `block 1,0,0`, `warp 2 lane 5`: the command's own name is the first of the words about threads.
pub fn by_name(context: &mut Context<'_>, call: &Call) -> Answer {
    match call.args.first() {
        None => Ok(here(context)),
        Some(arg) => {
            let start = call.line.len() - call.line.trim_start().len();
            let words = format!("{} {}", call.spec.name, arg.argument.text);
            // Columns count from the name that is written here, which may be shorter in the line.
            let shift = arg.argument.start.saturating_sub(start + call.spec.name.len() + 1);
            change(context, &words, start + shift)
        }
    }
}

/// `cuda block 1 thread 5`; words without numbers ask where the focus is.
pub fn cuda(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(arg) = call.args.first() else { return Ok(here(context)) };
    if !arg.argument.text.contains(|c: char| c.is_ascii_digit()) {
        return Ok(here(context));
    }
    // There is one kernel at a time: its number says nothing.
    let words = arg.argument.text.strip_prefix("kernel 0").unwrap_or(&arg.argument.text);
    change(context, words, arg.argument.start + arg.argument.text.len() - words.len())
}

/// Moves the focus to what `words` say, which start at byte `start` of the line.
fn change(context: &mut Context<'_>, words: &str, start: usize) -> Answer {
    let extents = context.session.eval_context().extents();
    let change = FocusChange::parse(words, &extents, &context.session.focus).map_err(|error| {
        let at = start + error.column;
        CommandError::at(at..at + 1, error.message)
    })?;
    context.session.focus = change.apply(context.session.focus, &extents);
    Ok(here(context))
}

fn here(context: &Context<'_>) -> Outcome {
    let site = Site::of(&context.session.eval_context()).map_err(|error| error.to_string());
    Outcome::Focus { focus: context.session.focus.describe(&context.session.roles), site: site.map(Box::new) }
}

pub fn frame(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(number) = call.number("N") else { return Ok(here(context)) };
    select(context, number)
}

pub fn up(context: &mut Context<'_>, call: &Call) -> Answer {
    let frame = u64::from(context.session.focus.frame);
    let last = context.session.eval_context().frames().map_or(0, |frames| frames.len() as u64).saturating_sub(1);
    if frame == last {
        return Err(CommandError::new("this is the outermost frame: the kernel itself"));
    }
    select(context, frame.saturating_add(call.count()).min(last))
}

pub fn down(context: &mut Context<'_>, call: &Call) -> Answer {
    let frame = u64::from(context.session.focus.frame);
    if frame == 0 {
        return Err(CommandError::new("this is the innermost frame"));
    }
    select(context, frame.saturating_sub(call.count()))
}

/// Selects a frame of the focused lane.
fn select(context: &mut Context<'_>, number: u64) -> Answer {
    let before = context.session.focus;
    context.session.focus.frame = u32::try_from(number).unwrap_or(u32::MAX);
    if let Err(error) = context.session.eval_context().frame() {
        context.session.focus = before;
        return Err(CommandError::new(error.to_string()));
    }
    Ok(here(context))
}

/// Names warps, guesses their names, or lists them.
pub fn role(context: &mut Context<'_>, call: &Call) -> Answer {
    let session = &mut *context.session;
    let name = call.argument("ROLE");
    match (name.map(|name| name.text.as_str()), name, call.argument("WARPS")) {
        (None, ..) => {}
        (Some("auto"), Some(name), None) => {
            let guess = session.guess_roles().ok_or_else(|| {
                name.error("the warps of this block have not diverged at a branch yet")
                    .with_help("go on to where they have, or name them: role NAME warp N")
            })?;
            session.roles = guess.roles();
            return Ok(Outcome::View(View::RoleGuess(view::role_guess(&session.eval_context(), &guess))));
        }
        (Some("clear"), _, None) => {
            session.roles.clear();
            return Ok(Outcome::Nothing);
        }
        (Some(_), Some(name), Some(argument)) => {
            let warps =
                roles::parse_warps(&argument.text, session.eval_context().extents().warps()).map_err(|error| argument.wrong(error))?;
            session.roles.set(&name.text, &warps).map_err(|error| name.wrong(error))?;
        }
        _ => return Err(call.missing("WARPS")),
    }
    Ok(Outcome::View(View::Roles(view::roles(&context.session.eval_context()))))
}
