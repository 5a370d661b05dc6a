//! Arrays that a compiler declares by the byte: what an element of theirs is, the declaration does not say.

use super::Expression;
use super::tree::{Node, NodeKind};
use crate::debug::names::scope::{Named, look_up};
use crate::debug::scene::Scene;
use crate::isa::ScalarType;
use crate::program::short_name;

/// How an expression that names a part of an array of bytes is written for elements of a type: `((f32*)As)[17]`. None of another
/// expression, and of an array in which nothing wider than a byte can be expected: it is not aligned for it.
pub(super) fn retyped(expression: &Expression, scene: &Scene<'_>) -> Option<Retyped> {
    let name = array_name(&expression.root)?;
    let Some(Named::Memory(place)) = look_up(scene, scene.frame().ok().as_ref(), name) else { return None };
    let is_array = place.elements.is_some() || !place.shape.is_empty();
    if place.ty != ScalarType::B8 || !is_array {
        return None;
    }
    let variables = scene.program().variables.iter();
    let align =
        variables.filter(|variable| &*variable.name == name || short_name(&variable.name) == name).map(|variable| variable.align).max()?;
    let ty = match align {
        0 | 1 => return None,
        2 => ScalarType::F16,
        8 => ScalarType::F64,
        _ => ScalarType::F32,
    };
    let cast = format!("(({}*){name})", ty.word());
    let whole = matches!(expression.root.kind, NodeKind::Name(_));
    let text = if whole { format!("{cast}[0..7]") } else { expression.text.replacen(name, &cast, 1) };
    Some(Retyped { name: name.to_string(), align, ty, text })
}

/// An array of bytes, seen as one of wider elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retyped {
    /// Its name, as it was typed.
    pub name: String,
    /// Its alignment in bytes.
    pub align: u32,
    /// A type that the alignment suggests.
    pub ty: ScalarType,
    /// The expression for elements of that type.
    pub text: String,
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
