//! The values of the displays, shown at every stop.

use std::ops::Range;

use super::display_list::{Display, numbered};
use super::eval_context::EvalContext;
use super::expression::{Expression, ObjectsOfLanes};
use super::session::{InterruptCheck, Session};
use super::source_names;
use super::source_names::values::UNDEFINED;
use super::target::Target;
use super::value::{Format, Shown, Value, ValueText};
use super::view::{Examine, Shape, examine, undefined_lanes};
use crate::machine::LaneMask;

/// The instructions of the scope of an expression that is displayed, the innermost of those of its variables; none if it names none.
pub fn scope_of(expression: &Expression, context: &EvalContext<'_>) -> Option<Vec<Range<u32>>> {
    let frame = context.frame().ok()?;
    let code = |name: &str| {
        let variable = source_names::find(context, Some(&frame), name.split('.').next().unwrap_or(name))?;
        Some(variable.info.scopes[variable.scope?].code.clone())
    };
    let codes = expression.names().into_iter().filter_map(code);
    codes.min_by_key(|code| code.iter().map(|range| range.end - range.start).sum::<u32>())
}

/// True if the selected frame is in the scope of a display: elsewhere other variables have these names, as in gdb.
fn is_in_scope(display: &Display, context: &EvalContext<'_>) -> bool {
    let is_there = |scope: &Vec<Range<u32>>| context.frame().is_ok_and(|frame| scope.iter().any(|code| code.contains(&frame.position().0)));
    display.scope.as_ref().is_none_or(is_there)
}

/// All displays whose variables are in scope, evaluated in a context.
pub fn shown(session: &Session, context: &EvalContext<'_>) -> Vec<Shown> {
    let row = |(number, Display { what, .. }): (usize, &Display)| {
        let (format, text) = parts(what);
        let value = evaluated(text, context);
        let undefined = undefined_lanes(context, text) | value.as_ref().map_or(LaneMask::NONE, Evaluated::undefined);
        let value = value.and_then(|value| value.text(format, context));
        Shown { number, what: what.clone(), value, undefined }
    };
    numbered(&session.displays).filter(|(_, display)| is_in_scope(display, context)).map(row).collect()
}

impl Session {
    /// All displays for the focused thread. What it has not written of local memory is shown as such.
    pub fn shown_displays(&mut self, interrupt: &mut dyn InterruptCheck) -> Vec<Shown> {
        let mut rows = shown(self, &self.eval_context());
        for row in &mut rows {
            let (format, text) = parts(&row.what);
            let unset = Expression::parse(text).ok().and_then(|expression| self.unset_reference(&expression, interrupt));
            if unset.is_some() {
                row.value = Ok(ValueText::Scalar(UNDEFINED.to_string()));
                continue;
            }
            let mut value = evaluated(text, &self.eval_context());
            match &mut value {
                Ok(Evaluated::Objects(objects)) => self.note_unwritten_in_lanes(objects.objects(), interrupt),
                Ok(Evaluated::Value(value @ Value::Lanes(_), _)) => {
                    if let Ok(expression) = Expression::parse(text) {
                        self.note_unwritten_numbers(&expression, value, interrupt);
                        row.undefined |= value.undefined();
                    }
                }
                Ok(Evaluated::Value(value @ (Value::Source(_) | Value::Array(_)), _)) => self.note_unwritten(value, interrupt),
                Ok(Evaluated::Value(Value::Scalar(_), _)) => {
                    let target = Expression::parse(text).ok().and_then(|expression| expression.target(&self.eval_context()).ok());
                    if let Some(Target::Memory(place)) = target {
                        row.undefined = self.unwritten_lanes(&place, interrupt);
                    }
                    continue;
                }
                Err(_) => {
                    let format = if let Manner::In(format) = format { Some(format) } else { None };
                    row.value = self.last_known(text, format, interrupt).map_or_else(|| row.value.clone(), |last| Ok(last.text()));
                    continue;
                }
                Ok(Evaluated::Value(..)) => continue,
            }
            row.value = value.and_then(|value| value.text(format, &self.eval_context()));
        }
        rows
    }
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

/// What a display shows.
enum Evaluated {
    /// Objects of the source in several lanes.
    Objects(ObjectsOfLanes),
    /// Another value.
    Value(Value, Expression),
}

fn evaluated(text: &str, context: &EvalContext<'_>) -> Result<Evaluated, String> {
    let expression = Expression::parse(text).map_err(|error| error.to_string())?;
    if let Some(objects) = expression.objects_over_lanes(context) {
        return Ok(Evaluated::Objects(objects));
    }
    let value = expression.evaluate(context).map_err(|error| error.to_string())?;
    Ok(Evaluated::Value(value, expression))
}

impl Evaluated {
    /// The lanes that have no value yet.
    fn undefined(&self) -> LaneMask {
        if let Self::Value(value, _) = self { value.undefined() } else { LaneMask::NONE }
    }

    fn text(&self, manner: Manner, context: &EvalContext<'_>) -> Result<ValueText, String> {
        let format = if let Manner::In(format) = manner { Some(format) } else { None };
        match (self, manner) {
            (Self::Objects(objects), _) => {
                let rows = objects.rows(context, format);
                let rows = rows.iter().map(|(lanes, text)| format!("{}: {text}", lanes.describe()));
                Ok(ValueText::Scalar(rows.collect::<Vec<String>>().join("; ")))
            }
            (Self::Value(value, expression), Manner::Typed | Manner::In(_)) => Ok(expression.formatted(value, format, context)),
            (Self::Value(value, _), Manner::Instruction) => instruction(context, value),
        }
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
