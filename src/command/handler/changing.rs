//! Changing registers, memory and settings.

use crate::command::call::{Call, Piece};
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::Outcome;
use crate::debug::nearest;
use crate::debug::settings::{SETTINGS, Setting};

/// What a handler answers.
type Answer = Result<Outcome, CommandError>;

pub fn set(context: &mut Context<'_>, call: &Call) -> Answer {
    let Some(arg) = call.args.first() else { return Err(call.missing("SETTING VALUE | PLACE = VALUE")) };
    if arg.piece.text.contains('=') { assign(context, &arg.piece) } else { put(context, &arg.piece) }
}

pub fn set_variable(context: &mut Context<'_>, call: &Call) -> Answer {
    assign(context, call.required("PLACE = VALUE")?)
}

/// `listsize 20`
fn put(context: &mut Context<'_>, piece: &Piece) -> Answer {
    let (name, value) = piece.text.split_once(char::is_whitespace).unwrap_or((&piece.text, ""));
    let name = Piece { text: name.to_string(), start: piece.start };
    let setting = setting(&name)?;
    let value_at = piece.span().end - value.trim_start().len();
    let value = Piece { text: value.trim().to_string(), start: value_at };
    if value.text.is_empty() {
        return Err(value.error(format!("expected {}", setting.kind.in_words())));
    }
    setting.put(&mut context.session.settings, &value.text).map_err(|message| value.error(message))?;
    context.session.apply_settings();
    Ok(Outcome::Nothing)
}

pub fn show(context: &mut Context<'_>, call: &Call) -> Answer {
    let settings = &context.session.settings;
    let row = |setting: &Setting| format!("{:16} {:8} {}\n", setting.name, (setting.get)(settings), setting.help);
    let text = match call.piece("SETTING") {
        Some(name) => row(setting(name)?),
        None => SETTINGS.iter().map(row).collect(),
    };
    Ok(Outcome::Text(text))
}

/// The setting that `name` names, in full or as a prefix of one only.
fn setting(name: &Piece) -> Result<&'static Setting, CommandError> {
    let fitting: Vec<&Setting> = SETTINGS.iter().filter(|setting| setting.name.starts_with(&name.text)).collect();
    match fitting.as_slice() {
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
