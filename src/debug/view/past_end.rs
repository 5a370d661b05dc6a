//! Indices that lead out of the array or buffer that they start in.

use super::contents::{MemoryObject, MemorySpace, memory_objects};
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::{Expression, PastEnd};
use crate::debug::names::symbols;
use crate::isa::Space;

/// What an expression shows instead of an element of the array or buffer that it indexes: `out[4096] is past the end of 'out' (4096
/// elements): it is in[0]`. None if it stays inside.
pub fn past_end(context: &EvalContext<'_>, text: &str) -> Option<String> {
    let of_object = || {
        let PastEnd { array, elements, is_before } = Expression::parse(text).ok()?.past_end(context)?;
        let side = if is_before { "before the start" } else { "past the end" };
        Some(format!("{} is {side} of '{array}' ({})", text.trim(), crate::base::counted(elements, "element")))
    };
    past_end_of_memory(context, text).or_else(of_object)
}

/// The same of variables of the module and buffers.
fn past_end_of_memory(context: &EvalContext<'_>, text: &str) -> Option<String> {
    let (start, reached) = Expression::parse(text).ok()?.indexed(context)?;
    // What compilers keep the variables of a function in is no array of the source.
    let (from, _) = object_at(context, start).filter(|(from, _)| !from.short_name().starts_with("__local_depot"))?;
    let found = object_at(context, reached);
    if found.as_ref().is_some_and(|(object, _)| (object.space(), object.address) == (from.space(), from.address)) {
        return None;
    }
    let (_, address) = symbols::resolve(context.program(), reached.0, reached.1);
    let side = if address < from.address { "before the start" } else { "past the end" };
    let there = found.map_or_else(
        || "nothing with a name lies there".to_string(),
        |(object, at)| {
            let size = u64::from(object.ty.bytes().max(1));
            format!("it is {}", object.element_name((at - object.address) / size))
        },
    );
    let count = crate::base::counted(from.elements, "element");
    Some(format!("{} is {side} of '{}' ({count}): {there}", text.trim(), from.short_name()))
}

/// The object at an address, and the address in its space.
fn object_at(context: &EvalContext<'_>, (space, address): (Space, u64)) -> Option<(MemoryObject, u64)> {
    let (space, address) = symbols::resolve(context.program(), space, address);
    let objects = memory_objects(context, MemorySpace::of(space)?);
    let is_there = |object: &MemoryObject| (object.address..object.end()).contains(&address);
    objects.into_iter().find(is_there).map(|object| (object, address))
}
