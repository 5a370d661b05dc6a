//! What stepping passes over.

use crate::base::file_name;
use crate::command::argument_text::ArgumentText;
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::{Outcome, View};
use crate::debug::nearest;
use crate::debug::skip::{Skip, SkipKind, Skips};
use crate::debug::view::{self, FrameRow};

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

/// `skip`, `skip NAME`, `skip -fi FILE`, `-gfi PATTERN`, `-fu FUNCTION`.
pub fn skip(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(argument) = call.argument("FUNCTION") else { return add(context, None, SkipKind::Function) };
    let words: Vec<&str> = argument.text.split_whitespace().collect();
    match words.as_slice() {
        ["-fi" | "-file", name] => added(context, SkipKind::File((*name).to_string())),
        ["-gfi" | "-gfile", pattern] => added(context, SkipKind::Files((*pattern).to_string())),
        ["-fu" | "-function", ..] => {
            let name = argument.text.trim_start().split_once(char::is_whitespace).map_or("", |(_, name)| name.trim());
            added(context, SkipKind::Function(name.to_string()))
        }
        ["-rfu" | "-rfunction", ..] => {
            Err(argument.error("regular expressions are not known").with_help("skip function NAME, in which * stands for any letters"))
        }
        [option, ..] if option.starts_with('-') => {
            Err(argument.error(format!("'{option}' is no option of skip")).with_help("there are -fi FILE, -gfi PATTERN and -fu FUNCTION"))
        }
        _ => add(context, Some(argument), SkipKind::Function),
    }
}

pub fn file(context: &mut Context<'_>, call: &Call) -> Answer {
    add(context, call.argument("FILE"), SkipKind::File)
}

pub fn function(context: &mut Context<'_>, call: &Call) -> Answer {
    add(context, call.argument("FUNCTION"), SkipKind::Function)
}

/// Adds an entry; without a name, for the file or function of the selected frame.
fn add(context: &mut Context<'_>, name: Option<&ArgumentText>, kind: fn(String) -> SkipKind) -> Answer {
    let name = match name {
        Some(name) => name.text.trim().to_string(),
        None => {
            let frame = view::frame(&context.session.eval_context()).map_err(|error| CommandError::new(error.to_string()))?.frame;
            of_frame(frame, &kind(String::new())).ok_or_else(|| CommandError::new("what the selected frame is of is not known: name it"))?
        }
    };
    added(context, kind(name))
}

fn of_frame(frame: FrameRow, kind: &SkipKind) -> Option<String> {
    match kind {
        SkipKind::Function(_) => Some(frame.function).filter(|name| !name.is_empty()),
        SkipKind::File(_) | SkipKind::Files(_) => frame.source.map(|line| line.file),
    }
}

fn added(context: &mut Context<'_>, kind: SkipKind) -> Answer {
    let text = match &kind {
        SkipKind::File(name) => format!("file {name} will be skipped when stepping"),
        SkipKind::Files(pattern) => format!("files {pattern} will be skipped when stepping"),
        SkipKind::Function(name) => format!("function {name} will be skipped when stepping"),
    };
    let unknown = unknown_text(context, &kind);
    let number = context.session.skips.add(kind);
    Ok(Outcome::Text(format!("skip {number}: {text}\n{unknown}")))
}

/// A line if nothing of the module is what is to be skipped, perhaps with what was meant: it may be a start-up file that names it.
fn unknown_text(context: &Context<'_>, kind: &SkipKind) -> String {
    let mut alone = Skips::default();
    alone.clear();
    alone.add(kind.clone());
    let program = context.session.program();
    let (what, name, known): (&str, &String, Vec<String>) = match kind {
        SkipKind::Function(name) => ("function", name, view::functions_of_source(&context.session.eval_context())),
        SkipKind::File(name) | SkipKind::Files(name) => ("file", name, program.source_files.iter().map(|(_, file)| file.clone()).collect()),
    };
    let is_known = |own: &String| match kind {
        SkipKind::Function(_) => alone.skips_function(own),
        SkipKind::File(_) | SkipKind::Files(_) => alone.skips_file(own),
    };
    if known.iter().any(is_known) {
        return String::new();
    }
    let short: Vec<&str> = known.iter().map(|own| file_name(own)).collect();
    let meant = nearest(name, short.iter().copied()).map_or(String::new(), |meant| format!(": did you mean '{meant}'?"));
    format!("  no {what} of this module is called so{meant}\n")
}

pub fn delete(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(arg) = call.arg("N") else {
        context.session.skips.clear();
        return Ok(Outcome::Nothing);
    };
    each(&arg.numbers, &arg.argument, |number| context.session.skips.delete(number))
}

pub fn enable(context: &mut Context<'_>, call: &Call, enabled: bool) -> Answer {
    let skips = &mut context.session.skips;
    let Some(arg) = call.arg("N") else {
        let all: Vec<u32> = skips.entries().iter().map(|skip| skip.number).collect();
        all.into_iter().for_each(|number| _ = skips.enable(number, enabled));
        return Ok(Outcome::Nothing);
    };
    each(&arg.numbers, &arg.argument, |number| skips.enable(number, enabled))
}

fn each(numbers: &[u64], argument: &ArgumentText, mut change: impl FnMut(u32) -> bool) -> Answer {
    for number in numbers {
        if !u32::try_from(*number).is_ok_and(&mut change) {
            return Err(argument.error(format!("there is no skip {number}")).with_help("info skip lists them"));
        }
    }
    Ok(Outcome::Nothing)
}

pub fn list(context: &mut Context<'_>, _: &Call) -> Answer {
    let rows: Vec<Skip> = context.session.skips.entries().to_vec();
    Ok(Outcome::View(View::Skips(rows)))
}
