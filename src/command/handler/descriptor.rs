//! `info descriptor`.

use super::super::call::Call;
use super::super::context::Context;
use super::super::error::CommandError;
use super::super::outcome::{Outcome, View};
use crate::debug::explain;
use crate::debug::value::{Scalar, Value};
use crate::debug::view::{self, Major};

/// The fields of a matrix descriptor.
pub fn descriptor(context: &mut Context<'_>, call: &Call) -> Result<Outcome, CommandError> {
    let Some(argument) = call.argument("DESCRIPTOR") else { return of_instruction(context) };
    let major = match call.argument("MAJOR").map(|major| (major, major.text.as_str())) {
        None | Some((_, "k" | "K")) => Major::K,
        Some((_, "m" | "n" | "mn" | "M" | "N" | "MN")) => Major::MN,
        Some((major, _)) => return Err(major.error("an operand lies along k, or along m or n: write k or mn")),
    };
    let Value::Scalar(Scalar { bits, .. }) = context.value(argument)? else {
        return Err(argument.error("a descriptor is one value of 64 bits"));
    };
    Ok(Outcome::View(View::Descriptor(view::descriptor(&context.session.eval_context(), bits as u64, major))))
}

/// The descriptors of the instruction that the focused lane executes next.
fn of_instruction(context: &Context<'_>) -> Result<Outcome, CommandError> {
    let found = explain::descriptors(&context.session.eval_context());
    if found.is_empty() {
        let error = CommandError::new("the instruction here takes no matrix descriptor");
        return Err(error.with_help("stand at a wgmma.mma_async, or name the 64 bits: info descriptor %rd5"));
    }
    let mut outcomes = Vec::new();
    for (text, view) in found {
        outcomes.push(Outcome::Text(format!("{text}:\n")));
        outcomes.push(Outcome::View(View::Descriptor(view)));
    }
    Ok(Outcome::Several(outcomes))
}
