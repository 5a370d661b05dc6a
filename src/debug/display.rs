//! The displays, shown at every stop: the session's list of arguments of `display`. Numbers count from 1 and are never used again.

use super::eval_context::EvalContext;
use super::expression::Expression;
use super::value::{Format, Shown, ValueText};
use super::view::undefined_lanes;

/// All displays, evaluated in a context.
pub fn shown(displays: &[String], context: &EvalContext<'_>) -> Vec<Shown> {
    let row = |(number, what): (usize, &str)| {
        let (format, text) = parts(what);
        let undefined = undefined_lanes(context, text);
        Shown { number, what: what.to_string(), value: value(format, text, context), undefined }
    };
    numbered(displays).map(row).collect()
}

/// All displays with their numbers.
pub fn numbered(displays: &[String]) -> impl Iterator<Item = (usize, &str)> {
    displays.iter().enumerate().map(|(index, what)| (index + 1, what.as_str())).filter(|(_, what)| !what.is_empty())
}

/// Removes display number `number`; false if there is none.
pub fn remove(displays: &mut [String], number: u64) -> bool {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let entry = index.and_then(|index| displays.get_mut(index)).filter(|what| !what.is_empty());
    entry.map(std::mem::take).is_some()
}

/// The format and the expression of `/x %r1`.
fn parts(what: &str) -> (Option<Format>, &str) {
    match what.strip_prefix('/').and_then(|rest| rest.split_once(' ')) {
        Some((letters, text)) => (letters.chars().next().and_then(Format::from_letter), text),
        None => (None, what),
    }
}

fn value(format: Option<Format>, text: &str, context: &EvalContext<'_>) -> Result<ValueText, String> {
    let expression = Expression::parse(text).map_err(|error| error.to_string())?;
    let value = expression.evaluate(context).map_err(|error| error.to_string())?;
    Ok(value.text(context, format))
}
