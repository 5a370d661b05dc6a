//! Arrays that a compiler declares by the byte, and whose accesses do not show what their elements are.

use super::parsed::Expression;
use super::tree::{Node, NodeKind};
use crate::debug::arrays::{Known, id_of, why};
use crate::debug::names::scope::{Named, look_up, variable_called};
use crate::debug::scene::Scene;
use crate::isa::ScalarType;

/// How an expression that names a part of an array of bytes is written for elements of a type: `((f32*)As)[17]`. None of another
/// expression, of an array whose accesses show what its elements are or of which the user has said it, and of one in which nothing wider
/// than a byte can be expected: it is not aligned for it.
pub(super) fn retyped(expression: &Expression, scene: &Scene<'_>) -> Option<Retyped> {
    let name = array_name(&expression.root)?;
    let Some(Named::Memory(place)) = look_up(scene, scene.frame().ok().as_ref(), name) else { return None };
    let is_array = place.elements.is_some() || !place.shape.is_empty();
    if place.ty != ScalarType::B8 || !is_array {
        return None;
    }
    let variable = variable_called(scene, name)?;
    let arrays = &scene.inferred?.arrays;
    let known = id_of(scene.program(), variable).filter(|id| arrays.chosen(*id).is_none());
    let why = match arrays.known(scene.program(), known?) {
        Some(known @ Known::Bytes(_)) => why(scene.program(), known),
        Some(Known::Typed(_)) | None => return None,
    };
    let ty = match variable.align {
        0 | 1 => return None,
        2 => ScalarType::F16,
        8 => ScalarType::F64,
        _ => ScalarType::F32,
    };
    let cast = format!("(({}*){name})", ty.word());
    let whole = matches!(expression.root.kind, NodeKind::Name(_));
    let text = if whole { format!("{cast}[0..7]") } else { expression.text.replacen(name, &cast, 1) };
    Some(Retyped { name: name.to_string(), ty, text, why })
}

/// An array of bytes, seen as one of wider elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retyped {
    /// Its name, as it was typed.
    pub name: String,
    /// A type that the alignment suggests.
    pub ty: ScalarType,
    /// The expression for elements of that type.
    pub text: String,
    /// Why its accesses do not show a type.
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
