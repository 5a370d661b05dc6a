//! The displays, shown at every stop: the session's list of arguments of `display`. Numbers count from 1 and are never used again.

use super::eval_context::EvalContext;
use super::expression::Expression;
use super::value::{Format, Shown, Value, ValueText};
use super::view::{Examine, Shape, examine, undefined_lanes};

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

/// The letter after the slash of a display that shows an instruction.
pub const CODE: &str = "i";

/// How a value is displayed.
#[derive(Clone, Copy)]
enum Manner {
    /// By its type.
    Typed,
    /// In a format.
    In(Format),
    /// As the instruction at it.
    Instruction,
}

/// The manner and the expression of `/x %r1`.
fn parts(what: &str) -> (Manner, &str) {
    let manner = |name: &str| if name == CODE { Some(Manner::Instruction) } else { Format::from_name(name).map(Manner::In) };
    match what.strip_prefix('/').and_then(|rest| rest.split_once(' ')) {
        Some((name, text)) => (manner(name).unwrap_or(Manner::Typed), text),
        None => (Manner::Typed, what),
    }
}

fn value(manner: Manner, text: &str, context: &EvalContext<'_>) -> Result<ValueText, String> {
    let expression = Expression::parse(text).map_err(|error| error.to_string())?;
    let format = if let Manner::In(format) = manner { Some(format) } else { None };
    if let Some(rows) = expression.objects_over_lanes(context, format) {
        let rows = rows.iter().map(|(lanes, text)| format!("{}: {text}", lanes.describe()));
        return Ok(ValueText::Scalar(rows.collect::<Vec<String>>().join("; ")));
    }
    let value = expression.evaluate(context).map_err(|error| error.to_string())?;
    match manner {
        Manner::Typed => Ok(value.text(context, None)),
        Manner::In(format) => Ok(value.text(context, Some(format))),
        Manner::Instruction => instruction(context, &value),
    }
}

/// The instruction at a value, `7 <gemm+7>: ret`.
fn instruction(context: &EvalContext<'_>, at: &Value) -> Result<ValueText, String> {
    let one = Examine { shape: Shape::Instruction, ..Examine::default() };
    let examined = examine(context, &one, at).map_err(|error| error.to_string())?;
    let row = examined.rows.into_iter().next().ok_or("there is no instruction")?;
    let symbol = row.symbol.map_or(String::new(), |symbol| format!(" <{symbol}>"));
    Ok(ValueText::Scalar(format!("{}{symbol}: {}", row.address, row.values.join(" "))))
}
