//! Structures and arrays of the source over the lanes of a warp: `p nd.arr@*`.

use super::evaluate::{Evaluator, Referent};
use super::parsed::Expression;
use super::tree::NodeKind;
use crate::debug::eval_context::EvalContext;
use crate::debug::focus::Focus;
use crate::debug::source_names::{SourceObject, types};
use crate::debug::value::{Format, number};
use crate::dwarf::Type;
use crate::machine::LaneMask;

/// The objects that the operand of `@` is in each lane, as text, equal ones together; none if it is a number, or no object of the source.
pub(super) fn over_lanes(expression: &Expression, context: &EvalContext<'_>, format: Option<Format>) -> Option<Vec<(LaneMask, String)>> {
    let NodeKind::Lanes(inner, requested) = &expression.root.kind else { return None };
    let mut evaluator = Evaluator::new(context);
    match evaluator.referent(inner) {
        Ok(Referent::Source(object)) if is_aggregate(&object) => {}
        Ok(_) | Err(_) => return None,
    }
    let lanes = evaluator.lanes_for(&expression.root, *requested).ok()?;
    let mut found: Vec<(LaneMask, String)> = Vec::new();
    for lane in lanes.iter() {
        let context = context.refocused(Focus { lane: lane as u32, ..context.focus });
        let mut evaluator = Evaluator::new(&context);
        let text = match evaluator.referent(inner) {
            Ok(Referent::Source(object)) => object
                .value(&context, evaluator.own_frame())
                .map_or_else(|error| format!("<{error}>"), |value| value.text(&context, format)),
            Ok(_) => return None,
            Err(error) => format!("<{error}>"),
        };
        match found.iter_mut().find(|(_, other)| *other == text) {
            Some((same, _)) => *same |= LaneMask::of(lane),
            None => found.push((LaneMask::of(lane), text)),
        }
    }
    Some(found)
}

/// True for a structure or an array that is not shown as a number.
fn is_aggregate(object: &SourceObject<'_>) -> bool {
    let is_number = || types::scalar(object.info, object.ty).is_some_and(|ty| number::elements(ty).1 == 1);
    match object.stripped() {
        Some(Type::Record { .. }) => !is_number(),
        Some(Type::Array { .. }) => true,
        _ => false,
    }
}
