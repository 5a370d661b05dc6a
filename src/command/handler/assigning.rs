//! Assignments to registers, memory and variables with a `$`: `set PLACE = VALUE`, and those of `print`, `i = 3`, `a[i++]`.

use super::branches::with_kept;
use crate::command::argument_text::ArgumentText;
use crate::command::context::Context;
use crate::command::error::CommandError;
use crate::command::outcome::Outcome;
use crate::debug::branches::KeptRun;
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::{AssignmentError, Expression, Stepper};
use crate::debug::value::{Scalar, Value};
use crate::debug::view;

/// The result of a handler.
type Answer = Result<Outcome, CommandError>;

/// The answer to an expression of `print` that assigns, `i = 3`, `++i`, `a[i++]`; none if it does not.
pub fn assigned(context: &mut Context<'_>, argument: &ArgumentText) -> Result<Option<Outcome>, CommandError> {
    if let Some(at) = assignment_sign(&argument.text) {
        let answer = assign(context, argument)?;
        let place = part(argument, 0, at - compound_operator(&argument.text[..at]).len());
        // A place with a step is not evaluated again.
        if let Ok(value) = context.value(&place) {
            context.session.kept.keep(value);
        }
        return Ok(Some(answer));
    }
    let expression = context.expression_with_steps(argument)?;
    if !expression.has_steps() {
        return Ok(None);
    }
    let change = format!("set {}", argument.text);
    let mut assigner = Assigner { context, argument, change: &change, kept: None, note: None };
    let value = match expression.step() {
        // Its value has the type of the place, as one of an enumeration has.
        Some((step, place)) => {
            let place = place.stepped(&mut assigner)?;
            let before = assigner.value(&place)?;
            place.make_step(step, &mut assigner)?;
            if step.is_after { before } else { assigner.value(&place)? }
        }
        None => {
            let stepped = expression.stepped(&mut assigner)?;
            assigner.value(&stepped)?
        }
    };
    let Assigner { kept, note, .. } = assigner;
    let shown = kept_value(context, argument.text.clone(), &value);
    context.session.kept.keep(value);
    Ok(Some(with_kept(kept, with_note(note, shown))))
}

/// Assigns to a register, memory, or a variable with a `$`: `%r1 = 5`, `$x = %r1`.
pub fn assign(context: &mut Context<'_>, argument: &ArgumentText) -> Answer {
    let Some(at) = assignment_sign(&argument.text) else {
        return Err(argument.error_at(argument.text.len(), "expected '= VALUE' after the place"));
    };
    let operator = compound_operator(&argument.text[..at]);
    let place = part(argument, 0, at - operator.len());
    let value = part(argument, at + 1, argument.text.len());
    let (target, new) = (context.expression_with_steps(&place)?, context.expression_with_steps(&value)?);
    let change = format!("set {}", argument.text);
    let mut assigner = Assigner { context, argument: &place, change: &change, kept: None, note: None };
    let stepped = target.stepped(&mut assigner)?;
    let stepped = if new.has_steps() { stepped.fixed(&mut assigner)? } else { stepped };
    assigner.argument = &value;
    let has_steps = target.has_steps() || new.has_steps();
    let new = new.stepped(&mut assigner)?;
    let of_one_lane = target.has_lanes().then(|| one_for_all(&assigner.context.session.eval_context(), &new, &value.text)).flatten();
    // `x += 1` is `x = (x) + (1)`.
    let new = stepped.combined(operator, &new).unwrap_or(new);
    let new = match assigner.value(&new)? {
        // As in C, a pointer to the first element.
        Value::Array(_) if stepped.is_name() => Value::Scalar(assigner.number(&new)?),
        other => other,
    };
    assigner.argument = &place;
    assigner.give(&stepped, &new, &value)?;
    let Assigner { kept, note, .. } = assigner;
    let note = note.or(of_one_lane);
    if context.session.variable_to_set(&place.text).is_some() {
        return Ok(kept_value(context, place.text, &new));
    }
    let what = if has_steps { ArgumentText { text: stepped.to_string(), ..place } } else { place };
    let eval_context = context.session.eval_context();
    let new = stepped.evaluate(&as_place(&stepped, eval_context)).map_err(|error| context.evaluation_error(&what, &error))?;
    let undefined = view::undefined_lanes(&eval_context, &what.text) | new.undefined();
    let value = new.text(&eval_context, None);
    let (in_flight, bytes) = (super::looking::in_flight(context, &what), super::looking::array_note(context, &what, "set"));
    let changed = Outcome::Value { in_flight, bytes, what: what.text, value, undefined, unrounded_uses: None };
    Ok(with_kept(kept, with_note(note, changed)))
}

/// What the user may not expect of `x@* = i`: all lanes are given the `i` of the focused one, though others have another.
fn one_for_all(context: &EvalContext<'_>, value: &Expression, text: &str) -> Option<String> {
    let of_each = Expression::parse(&format!("({text})@*")).ok().filter(|_| !value.has_lanes())?;
    let Ok(Value::Lanes(lanes)) = of_each.evaluate(context) else { return None };
    let focused = context.focus.lane as usize % lanes.bits.len();
    let differs = lanes.mask.contains(focused) && lanes.mask.iter().any(|lane| lanes.bits[lane] != lanes.bits[focused]);
    let own = if value.is_name() { format!("{text}@*") } else { format!("({text})@*") };
    differs.then(|| format!("  each of these lanes gets the {text} of lane {focused}; {own} is each lane's own"))
}

/// What makes the assignments of a command.
struct Assigner<'c, 'a> {
    context: &'c mut Context<'a>,
    /// The text that errors are about.
    argument: &'c ArgumentText,
    /// The command, in words.
    change: &'c str,
    /// The run that the first assignment has left.
    kept: Option<KeptRun>,
    /// What the user may not expect.
    note: Option<String>,
}

impl Assigner<'_, '_> {
    fn value(&self, expression: &Expression) -> Result<Value, CommandError> {
        let value = expression.evaluate(&self.context.session.eval_context());
        value.map_err(|error| self.context.evaluation_error(self.argument, &error))
    }

    /// Gives `place` a value, which `text` is about.
    fn give(&mut self, place: &Expression, value: &Value, text: &ArgumentText) -> Result<(), CommandError> {
        if let Some(name) = self.context.session.variable_to_set(place.text()) {
            self.context.session.kept.set(name, value.clone());
            return Ok(());
        }
        let eval_context = self.context.session.eval_context();
        let mut edits = place.assign(&as_place(place, eval_context), value).map_err(|error| match error {
            AssignmentError::IssuePoint(error) => self.argument.error_at(error.column, error.to_string()),
            AssignmentError::Value(message) => text.error(message),
        })?;
        let parameter = edits.iter().find_map(|edit| view::changed_parameter(&eval_context, edit));
        let note = parameter.map(|view::ChangedParameter { copies, note }| {
            edits.extend(copies);
            note
        });
        let view::ChangedVariable { copies, note: of_variable } = view::changed_variable(&eval_context, place, &edits);
        edits.extend(copies);
        let note = note.or(of_variable);
        let kept = self.context.session.edit(edits, self.change).map_err(|error| self.argument.error(error.to_string()))?;
        self.kept = self.kept.take().or(kept);
        self.note = self.note.take().or(note);
        Ok(())
    }
}

impl Stepper for Assigner<'_, '_> {
    type Error = CommandError;

    fn number(&mut self, expression: &Expression) -> Result<Scalar, CommandError> {
        let number = expression.number(&self.context.session.eval_context());
        number.map_err(|error| self.context.evaluation_error(self.argument, &error))
    }

    fn assign(&mut self, place: &Expression, value: &Expression) -> Result<(), CommandError> {
        let value = self.value(value)?;
        self.give(place, &value, self.argument)
    }

    fn refused(&self, at: usize, message: &str) -> CommandError {
        self.argument.error_at(at, message)
    }
}

/// The context in which a place that is a name alone means the variable: a pointer to a buffer, not the elements of that.
fn as_place<'a>(place: &Expression, context: EvalContext<'a>) -> EvalContext<'a> {
    if place.is_name() { context.with_names_as_in_source() } else { context }
}

fn with_note(note: Option<String>, answer: Outcome) -> Outcome {
    match note {
        Some(note) => Outcome::Several(vec![answer, Outcome::Text(format!("{note}\n"))]),
        None => answer,
    }
}

/// The value of something that has no place, as an answer.
pub(super) fn kept_value(context: &Context<'_>, what: String, value: &Value) -> Outcome {
    let undefined = value.undefined();
    let value = value.text(&context.session.eval_context(), None);
    Outcome::Value { what, value, undefined, unrounded_uses: None, in_flight: None, bytes: None }
}

/// True if an expression of `print` changes something.
pub fn changes(text: &str) -> bool {
    assignment_sign(text).is_some() || Expression::parse_with_steps(text).is_ok_and(|expression| expression.has_steps())
}

/// Byte offset of the `=` of an assignment: not part of `==`, `<=`, `>=` or `!=`.
pub fn assignment_sign(text: &str) -> Option<usize> {
    let signs = text.match_indices('=').map(|(at, _)| at);
    let is_shift = |at: usize| text[..at].ends_with("<<") || text[..at].ends_with(">>");
    let is_comparison = |at: usize, sign: &[char]| text[..at].ends_with(sign) && !is_shift(at) || text[at + 1..].starts_with('=');
    signs.into_iter().find(|at| !is_comparison(*at, &['=', '<', '>', '!']))
}

/// The operator of `x += 1` that stands at the end of what is before the `=`; empty if none does.
fn compound_operator(before: &str) -> &'static str {
    const OPERATORS: &[&str] = &["<<", ">>", "+", "-", "*", "/", "%", "&", "|", "^"];
    OPERATORS.iter().find(|operator| before.ends_with(**operator)).copied().unwrap_or("")
}

/// The bytes `start..end` of an argument, without the blanks around them.
fn part(argument: &ArgumentText, start: usize, end: usize) -> ArgumentText {
    let text = argument.text.get(start..end).unwrap_or_default();
    let blanks = text.len() - text.trim_start().len();
    ArgumentText { text: text.trim().to_string(), start: argument.start + start + blanks }
}
