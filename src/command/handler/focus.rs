//! Changes of the focus, the selected thread and frame.

use crate::command::argument_text::ArgumentText;
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::{Outcome, View};
use crate::debug::focus::FocusChange;
use crate::debug::roles;
use crate::debug::view::{self, FrameRow};
use crate::debug::{Site, is_called};

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

/// `block 1,0,0`, `warp 2 lane 5`: the command's name is the first word of the focus change.
pub fn by_name(context: &mut Context<'_>, call: &Call) -> Answer {
    match call.args.first() {
        None => Ok(focus_outcome(context)),
        Some(arg) => {
            let start = call.line.len() - call.line.trim_start().len();
            let words = format!("{} {}", call.spec.name, arg.argument.text);
            // Columns count from the full name, which may be abbreviated in the line.
            let shift = arg.argument.start.saturating_sub(start + call.spec.name.len() + 1);
            change_focus(context, &words, start + shift)
        }
    }
}

/// `cuda block 1 thread 5`; without numbers the focus is shown.
pub fn cuda(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(arg) = call.args.first() else { return Ok(focus_outcome(context)) };
    if !arg.argument.text.contains(|c: char| c.is_ascii_digit()) {
        return Ok(focus_outcome(context));
    }
    let words = without_hardware(&arg.argument.text);
    if words.trim().is_empty() {
        return Err(arg.argument.error("one kernel runs, on one device without SMs: 'block X,Y,Z' and 'warp N' move the focus"));
    }
    let from = words.len() - words.trim_start().len();
    change_focus(context, &words[from..], arg.argument.start + from)
}

/// Blanks in place of the parts of a machine that there is one of here, with their numbers: `device 0 sm 3`.
fn without_hardware(text: &str) -> String {
    const PARTS: [&str; 4] = ["device", "sm", "kernel", "grid"];
    let mut words: Vec<String> = text.split(' ').map(str::to_string).collect();
    for index in 1..words.len() {
        if PARTS.contains(&words[index - 1].as_str()) && words[index].parse::<u64>().is_ok() {
            words[index - 1..=index].iter_mut().for_each(|word| *word = " ".repeat(word.len()));
        }
    }
    words.join(" ")
}

/// Moves the focus as `words` say; they start at byte `start` of the line.
fn change_focus(context: &mut Context<'_>, words: &str, start: usize) -> Answer {
    let extents = context.session.eval_context().extents();
    let change = FocusChange::parse(words, &extents, &context.session.focus).map_err(|error| {
        let at = start + error.column;
        CommandError::at(at..at + 1, error.message)
    })?;
    context.session.focus = change.apply(context.session.focus, &extents);
    Ok(focus_outcome(context))
}

fn focus_outcome(context: &Context<'_>) -> Outcome {
    let site = Site::of(&context.session.eval_context()).map_err(|error| error.to_string());
    Outcome::Focus { focus: context.session.focus.describe(&context.session.roles), site: site.map(Box::new), frame: None }
}

/// The focus with its frame.
fn frame_outcome(context: &Context<'_>) -> Answer {
    let session = &context.session;
    let view = view::frame(&session.eval_context()).map_err(|error| CommandError::new(error.to_string()))?;
    let site = Site::of(&session.eval_context()).map_err(|error| error.to_string());
    let frame = Some(Box::new(view.frame));
    Ok(Outcome::Focus { focus: session.focus.describe(&session.roles), site: site.map(Box::new), frame })
}

pub fn frame(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(argument) = call.args.first().map(|arg| &arg.argument) else { return frame_outcome(context) };
    let text = argument.text.trim();
    if let Some(name) = text.strip_prefix("function").filter(|rest| rest.starts_with(char::is_whitespace)) {
        return frame_of(context, argument, name.trim());
    }
    let digits = text.strip_prefix("level").map_or(text, str::trim);
    let number = digits.parse().map_err(|_| {
        argument.error(format!("expected a number or 'function NAME', not '{text}'")).with_help("backtrace lists the frames")
    })?;
    select(context, number)
}

/// Selects the innermost frame of the function `name`.
fn frame_of(context: &mut Context<'_>, argument: &ArgumentText, name: &str) -> Answer {
    let stack = view::backtrace(&context.session.eval_context(), usize::MAX).map_err(|error| CommandError::new(error.to_string()))?;
    let is_it = |row: &&FrameRow| is_called(&row.function, name);
    match stack.frames.iter().find(is_it) {
        Some(row) => select(context, u64::from(row.number)),
        None => Err(argument.error(format!("no frame is of a function '{name}'")).with_help("backtrace lists the frames")),
    }
}

pub fn up(context: &mut Context<'_>, call: &Call) -> Answer {
    let frame = u64::from(context.session.focus.frame);
    let frames = context.session.eval_context().frames().map(|frames| frames.len() as u64);
    let last = frames.map_err(|error| CommandError::new(error.to_string()))?.saturating_sub(1);
    if frame == last {
        return Err(CommandError::new("this is the outermost frame: the kernel itself"));
    }
    select(context, frame.saturating_add(call.count()).min(last))
}

pub fn down(context: &mut Context<'_>, call: &Call) -> Answer {
    let frame = u64::from(context.session.focus.frame);
    if frame == 0 {
        context.session.eval_context().frame().map_err(|error| CommandError::new(error.to_string()))?;
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
    frame_outcome(context)
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
            let warps = roles::parse_warps(&argument.text, session.eval_context().extents().warps())
                .map_err(|error| argument.shifted_error(error))?;
            session.roles.set(&name.text, &warps).map_err(|error| name.shifted_error(error))?;
        }
        _ => return Err(call.missing("WARPS")),
    }
    Ok(Outcome::View(View::Roles(view::roles(&context.session.eval_context()))))
}
