//! `info fragment`.

use super::super::argument_text::ArgumentText;
use super::super::call::Call;
use super::super::context::Context;
use super::super::error::CommandError;
use super::super::outcome::{Outcome, View};
use crate::debug::view::{self, FragmentError, OperandFragment};

/// Registers as a matrix; with an element or a lane, only those elements.
pub fn fragment(context: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    let format = call.format()?;
    if call.argument("FRAGMENT").is_none() {
        return of_instruction(context, call);
    }
    let (registers, name) = (call.required("REGISTERS")?, call.required("FRAGMENT")?);
    let names = register_names(registers)?;
    let error = |error: FragmentError| match error {
        FragmentError::Name(_) | FragmentError::Count { .. } => name.error(error.to_string()),
        FragmentError::Register(_) => registers.error(error.to_string()),
        FragmentError::Thread(_) => CommandError::new(error.to_string()),
    };
    let fragment = view::fragment(&context.session.eval_context(), &name.text, &names, format).map_err(error)?;
    let element = call.argument("ROW,COLUMN").map(|argument| coordinates(argument).map(|at| (argument, at))).transpose()?;
    let lane = call.number("N");
    if element.is_none() && lane.is_none() {
        return Ok(Outcome::View(View::Fragment(fragment)));
    }
    let is_selected = |row: u32, column: u32, holder: u32| {
        element.is_none_or(|(_, at)| at == (row, column)) && lane.is_none_or(|lane| lane == u64::from(holder))
    };
    let elements = fragment.elements(|row, column, cell| is_selected(row, column, cell.lane));
    match element {
        Some((argument, at)) if elements.is_empty() => {
            Err(argument.error(match view::other_holder(&context.session.eval_context(), &name.text, at) {
                Some(warp) => format!("warp {warp} holds this element: 'warp {warp}' goes there"),
                None => "the fragment has no such element".to_string(),
            }))
        }
        _ => Ok(Outcome::View(View::FragmentElements(elements))),
    }
}

/// The fragments of the instruction that the focused lane executes next, or the one with the letter that was given.
fn of_instruction(context: &Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    let found = view::operand_fragments(&context.session.eval_context()).filter(|found| found.is_next);
    let Some(found) = found else {
        let error = CommandError::new("the instruction here has no fragments");
        return Err(error.with_help("stand at an mma, wmma or wgmma, or name registers: info fragment %r4..%r7 as mma.m16n8k16.a.f16"));
    };
    if let Some(format) = &call.suffix {
        return Err(format.error("a format needs registers").with_help("info fragment/x %r4..%r7 as mma.m16n8k16.a.f16"));
    }
    let mut operands = found.operands;
    if let Some(letter) = call.argument("REGISTERS") {
        operands.retain(|operand| letter.text.eq_ignore_ascii_case(&operand.letter.to_string()));
        if operands.is_empty() {
            let is_letter = ["a", "b", "c", "d"].iter().any(|known| letter.text.eq_ignore_ascii_case(known));
            let message = match is_letter {
                true => format!(
                    "'{}' of the instruction here is in no registers: 'info descriptor' shows matrices in shared memory",
                    letter.text
                ),
                false => format!("'{}' is not a fragment of the instruction here: a, b, c or d", letter.text),
            };
            return Err(letter.error(message));
        }
    }
    let named = |operand: OperandFragment| {
        let name = format!("{} in {}\n", operand.letter, operand.view.registers.join(", "));
        [Outcome::Text(name), Outcome::View(View::Fragment(operand.view))]
    };
    Ok(Outcome::Several(operands.into_iter().flat_map(named).collect()))
}

/// The registers of `%r4..%r7`, `%r4, %r5` and `{%r4, %r5}`.
fn register_names(argument: &ArgumentText) -> Result<Vec<String>, CommandError> {
    let mut names = Vec::new();
    for part in argument.text.trim_matches(['{', '}', ' ']).split(',').map(str::trim) {
        let Some((first, last)) = part.split_once("..") else {
            names.push(part.to_string());
            continue;
        };
        let (Some((prefix, low)), Some((other, high))) = (numbered(first.trim()), numbered(last.trim())) else {
            return Err(argument.error(format!("'{part}' is not a range of registers: write %r4..%r7")));
        };
        if prefix != other || low > high || high - low > 1024 {
            return Err(argument.error(format!("'{part}' is not a range of registers: write %r4..%r7")));
        }
        names.extend((low..=high).map(|number| format!("{prefix}{number}")));
    }
    Ok(names)
}

/// `%r` and 4 of `%r4`.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (prefix, number) = name.split_at(name.len() - digits);
    Some((prefix, number.parse().ok()?))
}

/// `3,5`
fn coordinates(argument: &ArgumentText) -> Result<(u32, u32), CommandError> {
    let pair = argument.text.trim_matches(['(', ')']).split_once(',');
    let numbers = pair.and_then(|(row, column)| Some((row.trim().parse().ok()?, column.trim().parse().ok()?)));
    numbers.ok_or_else(|| argument.error("expected a row and a column such as 3,5"))
}
