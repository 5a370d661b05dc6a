//! Values that are kept under names with a `$`.

use super::evaluate::{Evaluated, Evaluator, Referent, moved, refused};
use super::tree::{Node, NodeKind};
use crate::debug::kept_values::Kept;
use crate::debug::source_names::{ObjectPlace, SourceObject};
use crate::debug::value::{Array, Scalar, Type, Value};

/// An array that is kept, or a row of it.
#[derive(Clone, Copy)]
pub(super) struct KeptElements<'a> {
    of: &'a Array,
    /// The number of the first element.
    first: u64,
    /// The indices that have been taken.
    depth: usize,
}

impl<'a> KeptElements<'a> {
    fn shape(&self) -> &'a [u64] {
        self.of.shape.get(self.depth..).unwrap_or(&[])
    }

    /// Element or row `index`; none beyond the elements that were kept.
    pub fn element(&self, index: i128) -> Option<Referent<'a>> {
        let (extent, rest) = self.shape().split_first()?;
        let index = u64::try_from(index).ok().filter(|index| index < extent)?;
        let first = self.first + index * rest.iter().product::<u64>();
        if rest.is_empty() {
            let bits = *self.of.elements.get(usize::try_from(first).ok()?)?;
            return Some(Referent::Value(Scalar::new(Type::Scalar(self.of.ty), bits)));
        }
        Some(Referent::Kept(Self { first, depth: self.depth + 1, ..*self }))
    }

    /// The indices that exist, in words.
    pub fn range(&self) -> String {
        let extent = self.shape().first().copied().unwrap_or(0);
        match self.of.elements.len() {
            kept if (kept as u64) < self.of.shape.iter().product() => format!("of this array the first {kept} elements are kept"),
            _ => format!("this array has elements 0 to {}", extent.saturating_sub(1)),
        }
    }

    /// The row as an array of its own.
    pub fn array(&self) -> Array {
        let (from, count) = (self.first, self.shape().iter().product::<u64>());
        let elements = self.of.elements.iter().skip(from as usize).take(count as usize).copied().collect();
        let address = moved(self.of.address, i128::from(from), u64::from(self.of.ty.bytes()));
        Array { address, shape: self.shape().to_vec(), elements, unwritten: Vec::new(), ..*self.of }
    }

    /// The address that the row had.
    pub fn address(&self) -> Scalar {
        let Array { ty, space, address, .. } = *self.of;
        Scalar::new(Type::Pointer(space, ty), u128::from(moved(address, i128::from(self.first), u64::from(ty.bytes()))))
    }
}

impl<'a> Evaluator<'a> {
    /// The value that the whole expression is, if it names one that is kept.
    pub fn kept_value(&self, node: &Node) -> Evaluated<Option<Value>> {
        let NodeKind::Name(name) = &node.kind else { return Ok(None) };
        // The component of a vector is a part of the name's token.
        if !name.starts_with('$') || name.contains('.') || self.is_a_register_or_label(name) {
            return Ok(None);
        }
        match self.context.kept.and_then(|kept| kept.get(name)) {
            Some(Kept::Value(value)) => Ok(Some(value.clone())),
            Some(nothing) => Err(refused(node, nothing_text(name, &nothing))),
            None => Ok(None),
        }
    }

    fn is_a_register_or_label(&self, name: &str) -> bool {
        crate::debug::names::scope::look_up(&self.context, self.frame.as_ref().ok(), name).is_some()
    }

    /// What a name with a `$` means, if nothing else has it; of a value with lanes that of the lane.
    pub fn kept_name(&self, node: &Node, name: &str) -> Evaluated<Option<Referent<'a>>> {
        if let Some((outer, component)) = name.rsplit_once('.') {
            return match self.kept_name(node, outer)? {
                Some(Referent::Source(object)) => self.member_of(node, &object, component).map(Some),
                Some(_) | None => Ok(None),
            };
        }
        let value = match self.context.kept.and_then(|kept| kept.get(name)) {
            Some(Kept::Value(value)) => value,
            Some(nothing) => return Err(refused(node, nothing_text(name, &nothing))),
            None => return Ok(None),
        };
        Ok(Some(match value {
            Value::Scalar(scalar) => Referent::Value(*scalar),
            Value::Array(array) => Referent::Kept(KeptElements { of: array, first: 0, depth: 0 }),
            Value::Lanes(lanes) => {
                let lane = self.at_lane.map_or(self.context.focus.lane, |frame| frame.lane) as usize;
                if lane >= lanes.bits.len() || !lanes.mask.contains(lane) {
                    return Err(refused(node, format!("{name} has no value for lane {lane}")));
                }
                Referent::Value(Scalar::new(lanes.ty, lanes.bits[lane]))
            }
            Value::Source(source) => match self.context.debug_info() {
                Some(info) => Referent::Source(SourceObject { info, ty: source.ty, place: ObjectPlace::Kept(&source.bytes), bits: None }),
                None => return Err(refused(node, format!("{name} is of a type of the source, which is not known here"))),
            },
            Value::Tensor(_) => return Err(refused(node, format!("{name} is a tensor, which is shown alone"))),
        }))
    }
}

/// Why a name with a `$` has no value.
fn nothing_text(name: &str, nothing: &Kept<'_>) -> String {
    match nothing {
        Kept::OutOfHistory(number) => format!("the history has no value {number}: 'show values' lists it"),
        Kept::Void | Kept::Value(_) => match crate::debug::kept_values::variable_name(name) {
            Some(_) => format!("'{name}' has no value: 'set {name} = VALUE' gives it one"),
            None => format!("'{name}' has no value: 'print' has kept none"),
        },
    }
}
