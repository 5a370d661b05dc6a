//! Arrays that a compiler declares as bytes, and whose element type cannot be inferred.

use super::parsed::Expression;
use super::tree::{Node, NodeKind};
use crate::debug::arrays::{Inference, id_of, why};
use crate::debug::eval_context::EvalContext;
use crate::debug::names::scope::{Named, look_up, variable_called};
use crate::debug::source_names;
use crate::isa::ScalarType;

/// The expression for a part of an array of bytes, rewritten for elements of a wider type: `((f32*)As)[17]`. None for other expressions,
/// for an array whose type is inferred or set by the user, and for one whose alignment allows only bytes.
pub(super) fn retyped(expression: &Expression, context: &EvalContext<'_>) -> Option<Retyped> {
    let name = array_name(&expression.root)?;
    if source_names::find(context, context.frame().ok().as_ref(), name).is_some() {
        return None;
    }
    let Some(Named::Memory(location)) = look_up(context, context.frame().ok().as_ref(), name) else { return None };
    let is_array = location.elements.is_some() || !location.shape.is_empty();
    if location.ty != ScalarType::B8 || !is_array {
        return None;
    }
    let variable = variable_called(context, name)?;
    let arrays = &context.inferred?.arrays;
    let inference = id_of(context.program(), variable).filter(|id| arrays.chosen(*id).is_none());
    let why = match arrays.inference(context.program(), inference?) {
        Some(inference @ Inference::Bytes(_)) => why(context.program(), inference),
        Some(Inference::Typed(_)) | None => return None,
    };
    let ty = match variable.align {
        0 | 1 => return None,
        2 => ScalarType::F16,
        8 => ScalarType::F64,
        _ => ScalarType::F32,
    };
    let cast = format!("(({}*){name})", ty.word());
    let is_whole_array = matches!(expression.root.kind, NodeKind::Name(_));
    let text = if is_whole_array { format!("{cast}[0..7]") } else { expression.text.replacen(name, &cast, 1) };
    Some(Retyped { name: name.to_string(), ty, text, why })
}

/// An array of bytes as an array of wider elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retyped {
    /// Its name, as it was typed.
    pub name: String,
    /// A type that the alignment suggests.
    pub ty: ScalarType,
    /// The expression for elements of that type.
    pub text: String,
    /// The reason why no type is inferred.
    pub why: String,
}

/// The name of the array that a node is, or is a part of.
fn array_name(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Name(name) => Some(name),
        NodeKind::Index(parts) => array_name(&parts[0]),
        NodeKind::Slice(parts) => array_name(&parts[0]),
        _ => None,
    }
}
