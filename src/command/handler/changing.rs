//! Changing memory and settings.

use crate::base::counted;
use std::path::Path;

use super::assigning;
use super::branches::with_kept;
use crate::command::argument_text::ArgumentText;
use crate::command::call::Call;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::Outcome;
use crate::debug::edit::Edit;
use crate::debug::run::RunOptions;
use crate::debug::settings::{SETTINGS, Setting};
use crate::debug::target::{MemoryTarget, Target};
use crate::debug::transfer::{self, Layout};
use crate::debug::value::{Tensor, Value};
use crate::debug::{CompletionChoice, CompletionPolicyKind, Schedule};
use crate::debug::{memory, nearest};

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

pub fn set(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(arg) = call.args.first() else { return Err(call.missing("SETTING VALUE | PLACE = VALUE")) };
    if assigning::assignment_sign(&arg.argument.text).is_some() {
        assigning::assign(context, &arg.argument)
    } else {
        change_setting(context, &arg.argument)
    }
}

pub fn set_variable(context: &mut Context<'_>, call: &Call) -> Answer {
    assigning::assign(context, call.required("PLACE = VALUE")?)
}

/// The values of the history that are listed.
const HISTORY_SHOWN: usize = 10;

/// `show values`: the last values of the history, or those around a number.
pub fn show_values(context: &mut Context<'_>, call: &Call) -> Answer {
    let kept = &context.session.kept;
    let last = kept.history().last().map_or(0, |(number, _)| number);
    let around = call.number("N").and_then(|number| usize::try_from(number).ok());
    let first = around.map_or((last + 1).saturating_sub(HISTORY_SHOWN), |number| number.saturating_sub(HISTORY_SHOWN / 2)).max(1);
    let shown = kept.history().filter(|(number, _)| (first..first.saturating_add(HISTORY_SHOWN)).contains(number));
    let values: Vec<Outcome> = shown.map(|(number, value)| assigning::kept_value(context, format!("${number}"), value)).collect();
    match values.is_empty() {
        true => Ok(Outcome::Text("the history has no values: 'print' keeps them\n".to_string())),
        false => Ok(Outcome::Several(values)),
    }
}

/// `show convenience`: the variables with a `$`.
pub fn show_convenience(context: &mut Context<'_>, _: &Call) -> Answer {
    let named = context.session.kept.named().map(|(name, value)| assigning::kept_value(context, format!("${name}"), value));
    let values: Vec<Outcome> = named.collect();
    match values.is_empty() {
        true => Ok(Outcome::Text("no variable has a value: 'set $NAME = VALUE' gives one\n".to_string())),
        false => Ok(Outcome::Several(values)),
    }
}

/// Changes a setting: `listsize 20`.
fn change_setting(context: &mut Context<'_>, argument: &ArgumentText) -> Answer {
    let (name, value) = argument.text.split_once(char::is_whitespace).unwrap_or((&argument.text, ""));
    let name = ArgumentText { text: name.to_string(), start: argument.start };
    let setting = setting(&name)?;
    let value_at = argument.span().end - value.trim_start().len();
    let value = ArgumentText { text: value.trim().to_string(), start: value_at };
    if value.text.is_empty() {
        return Err(value.error(format!("expected {}", setting.kind.describe())));
    }
    setting.put(&mut context.session.settings, &value.text).map_err(|message| value.error(message))?;
    context.session.apply_settings();
    Ok(Outcome::Nothing)
}

/// An option of the run that can be changed at the prompt.
pub struct RunOption {
    /// Its name, that of the option of the command line.
    pub name: &'static str,
    /// Its value, as it would be typed.
    get: fn(&RunOptions) -> String,
    /// Changes it; the possible values, if the text is none of them.
    put: fn(&mut RunOptions, &str) -> Result<(), String>,
}

/// The options of the run that can be changed at the prompt.
pub const RUN_OPTIONS: [RunOption; 3] = [
    RunOption {
        name: "seed",
        get: |options| options.seed.to_string(),
        put: |options, text| {
            let seed = text.parse().map_err(|_| format!("'{text}' is not a seed: a number from 0"))?;
            if options.copies.seed() == Some(options.seed) {
                options.copies = CompletionPolicyKind::Random(seed);
            }
            options.seed = seed;
            Ok(())
        },
    },
    RunOption {
        name: "schedule",
        get: |options| options.schedule.to_string(),
        put: |options, text| Schedule::parse(text).map(|schedule| options.schedule = schedule),
    },
    RunOption {
        name: "async",
        get: |options| {
            let seed = options.copies.seed().map_or(String::new(), |seed| format!(":{seed}"));
            format!("{}{seed}", options.copies.row().name)
        },
        put: |options, text| CompletionChoice::parse(text).map(|choice| options.copies = choice.policy(options.seed)),
    },
];

/// `set seed 5`: changes an option of the run, which begins anew.
pub fn set_run_option(context: &mut Context<'_>, call: &Call) -> Answer {
    let value = call.required("VALUE")?;
    let Some(row) = RUN_OPTIONS.iter().find(|row| call.spec.name.ends_with(row.name)) else { return Ok(Outcome::Nothing) };
    let mut options = context.session.options().clone();
    (row.put)(&mut options, &value.text).map_err(|message| value.error(message))?;
    if let Some(question) = context.ask_to_restart() {
        return Ok(question);
    }
    context.session.rerun(options).map_err(|message| value.error(message))?;
    Ok(Outcome::Text(format!("{} is {}: the run begins anew\n", row.name, (row.get)(context.session.options()))))
}

/// Shows the version.
pub fn version(_: &mut Context<'_>, _: &Call) -> Answer {
    Ok(Outcome::Text(format!("ptxdbg {}\n", env!("CARGO_PKG_VERSION"))))
}

pub fn show(context: &mut Context<'_>, call: &Call) -> Answer {
    let options = context.session.options();
    let option = |row: &RunOption| format!("{:16} {:8} (of the run; 'set {}' begins it anew)\n", row.name, (row.get)(options), row.name);
    if let Some(row) = call.text("SETTING").and_then(|name| RUN_OPTIONS.iter().find(|row| row.name == name)) {
        return Ok(Outcome::Text(option(row)));
    }
    let settings = &context.session.settings;
    let row = |setting: &Setting| format!("{:16} {:8} ({})\n", setting.name, (setting.get)(settings), setting.kind.describe());
    let text = match call.argument("SETTING") {
        Some(name) => row(setting(name)?),
        None => SETTINGS.iter().map(row).chain(RUN_OPTIONS.iter().map(option)).collect(),
    };
    Ok(Outcome::Text(text))
}

/// The setting that `name` names, in full or as a prefix of only one.
fn setting(name: &ArgumentText) -> Result<&'static Setting, CommandError> {
    let matching: Vec<&Setting> = SETTINGS.iter().filter(|setting| setting.name.starts_with(&name.text)).collect();
    match matching.as_slice() {
        [only] => Ok(only),
        [] => {
            let near = nearest(&name.text, SETTINGS.iter().map(|setting| setting.name));
            Err(name.error(format!("there is no setting '{}'", name.text)).with_help("show lists them").with_nearest(near))
        }
        several => match several.iter().find(|setting| setting.name == name.text) {
            Some(exact) => Ok(exact),
            None => {
                let names: Vec<&str> = several.iter().map(|setting| setting.name).collect();
                Err(name.error(format!("'{}' is ambiguous: {}", name.text, names.join(", "))))
            }
        },
    }
}

pub fn dump(context: &mut Context<'_>, call: &Call) -> Answer {
    let (file, memory) = (call.required("FILE")?, call.required("MEMORY")?);
    if memory.text.ends_with(".npy") || memory.text.ends_with(".csv") {
        return Err(memory.error("the file comes first").with_help(format!("{} {} {}", call.spec.name, memory.text, file.text)));
    }
    if context.expression(memory)?.names_tensor(&context.session.eval_context()) {
        let Value::Tensor(tensor) = context.value(memory)? else {
            return Err(memory.error("this is one number, and a tensor or memory is written to a file"));
        };
        return dump_tensor(file, memory, &tensor);
    }
    let (place, layout) = range(context, memory)?;
    let mut bytes = vec![0; usize::try_from(place.bytes).map_err(|_| memory.error("this is more than fits in memory"))?];
    let eval_context = context.session.eval_context().refocused(place.owner);
    memory::read(&eval_context, place.space, place.address, &mut bytes).map_err(|error| memory.error(error.to_string()))?;
    let written = transfer::dump(Path::new(&file.text), &layout, &bytes).map_err(|error| file.error(error.to_string()))?;
    Ok(Outcome::Text(format!("{} written to {}\n", counted(written, "byte"), file.text)))
}

/// Writes the elements of a tensor, with what stands for those that a load has left out.
fn dump_tensor(file: &ArgumentText, argument: &ArgumentText, tensor: &Tensor) -> Answer {
    let layout = Layout { element: transfer::element_of(tensor.ty), shape: tensor.shape.clone() };
    let missing = || {
        let (count, all) = (tensor.missing(), tensor.elements.len());
        argument.error(format!("{count} of {all} elements are not known, so that nothing is written: {}", tensor.notes.join("; ")))
    };
    let size = layout.element.bytes() as usize;
    let mut bytes = Vec::new();
    for element in &tensor.elements {
        bytes.extend_from_slice(&element.bits().ok_or_else(missing)?.to_le_bytes()[..size]);
    }
    let written = transfer::dump(Path::new(&file.text), &layout, &bytes).map_err(|error| file.error(error.to_string()))?;
    Ok(Outcome::Text(format!("{} written to {}\n", counted(written, "byte"), file.text)))
}

pub fn restore(context: &mut Context<'_>, call: &Call) -> Answer {
    let (file, memory) = (call.required("FILE")?, call.required("MEMORY")?);
    let (place, layout) = range(context, memory)?;
    let bytes = transfer::restore(Path::new(&file.text), &layout).map_err(|error| file.error(error.to_string()))?;
    let count = bytes.len();
    let edit = Edit::Memory { space: place.space, owner: place.owner, address: place.address, bytes };
    let change = format!("restore {} {}", file.text, memory.text);
    let kept = context.session.edit(vec![edit], &change).map_err(|error| memory.error(error.to_string()))?;
    let text = format!("{} of {} written from {}\n", counted(count as u64, "byte"), memory.text, file.text);
    Ok(with_kept(kept, Outcome::Text(text)))
}

/// The memory that an expression names, and its layout in a file.
fn range(context: &Context<'_>, argument: &ArgumentText) -> Result<(MemoryTarget, Layout), CommandError> {
    let Target::Memory(place) = context.target(argument)? else {
        return Err(argument.error("this is a register, and memory is wanted"));
    };
    let shape = match context.value(argument)? {
        Value::Array(array) => array.shape,
        Value::Scalar(_) | Value::Lanes(_) | Value::Source(_) | Value::Tensor(_) => Vec::new(),
    };
    let typed = Layout { element: transfer::element_of(place.ty), shape };
    let fits = typed.bytes() == Some(place.bytes);
    let layout = if fits { typed } else { Layout::of(place.ty, place.bytes / u64::from(place.ty.bytes()).max(1)) };
    Ok((place, layout))
}
