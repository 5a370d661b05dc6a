//! Structures and arrays of the source over the lanes of a warp: `p nd.arr@*`.

use super::evaluate::{Evaluator, Referent};
use super::parsed::Expression;
use super::tree::{Node, NodeKind};
use crate::debug::eval_context::EvalContext;
use crate::debug::focus::Focus;
use crate::debug::source_names::{SourceObject, types};
use crate::debug::target::BitField;
use crate::debug::value::{Format, SourceValue, Value, number};
use crate::dwarf::Type;
use crate::machine::LaneMask;

/// The objects that the operand of `@` is in each lane, or why it is none; none if it is no object of the source, or if it is a number and
/// `numbers` is not set, or the other way round.
pub(super) fn over_lanes(expression: &Expression, context: &EvalContext<'_>, numbers: bool) -> Option<ObjectsOfLanes> {
    let (inner, requested) = &match &expression.root.kind {
        NodeKind::Lanes(inner, requested) => ((**inner).clone(), requested.mask),
        // `*p@0..3` is what `p` points to in these lanes.
        NodeKind::Dereference(pointer) => match &pointer.kind {
            NodeKind::Lanes(pointer, requested) => {
                (Node { at: expression.root.at, kind: NodeKind::Dereference(pointer.clone()) }, requested.mask)
            }
            _ => return None,
        },
        _ => return None,
    };
    let mut evaluator = Evaluator::new(context);
    if evaluator.counted(&expression.root).is_some() {
        return None;
    }
    match evaluator.referent(inner) {
        Ok(Referent::Source(object)) if is_aggregate(&object) != numbers => {}
        Ok(Referent::Slice(_)) if !numbers => {}
        Ok(_) | Err(_) => return None,
    }
    let lanes = evaluator.lanes_for(&expression.root, *requested).ok()?;
    let of_lane = |lane: usize| {
        let context = context.refocused(Focus { lane: lane as u32, ..context.focus });
        let mut evaluator = Evaluator::new(&context);
        let object = match evaluator.referent(inner) {
            Ok(Referent::Source(object)) => {
                let value = object.value(&context, evaluator.own_frame()).map_err(|error| error.to_string());
                value.map(|value| holding_field(value, &object))
            }
            Ok(Referent::Slice(row)) => match evaluator.objects(inner, &row) {
                Ok(Value::Source(objects)) => Ok(objects),
                Ok(_) => return None,
                Err(error) => Err(error.to_string()),
            },
            Ok(_) => return None,
            Err(error) => Err(error.to_string()),
        };
        Some((lane as u32, object))
    };
    lanes.iter().map(of_lane).collect::<Option<_>>().map(ObjectsOfLanes)
}

/// An object of the source in each of some lanes, or why it is none there.
#[derive(Clone, Debug)]
pub struct ObjectsOfLanes(Vec<(u32, Result<SourceValue, String>)>);

impl ObjectsOfLanes {
    /// The objects, with their lanes.
    pub fn objects(&mut self) -> impl Iterator<Item = (u32, &mut SourceValue)> {
        self.0.iter_mut().filter_map(|(lane, object)| Some((*lane, object.as_mut().ok()?)))
    }

    /// They as text, equal ones together.
    pub fn rows(&self, context: &EvalContext<'_>, format: Option<Format>) -> Vec<(LaneMask, String)> {
        let mut rows: Vec<(LaneMask, String)> = Vec::new();
        for (lane, object) in &self.0 {
            let context = context.refocused(Focus { lane: *lane, ..context.focus });
            let text = object.as_ref().map_or_else(|error| format!("<{error}>"), |object| object.text(&context, format));
            let lane = LaneMask::of(*lane as usize % 32);
            match rows.iter_mut().find(|(_, other)| *other == text) {
                Some((same, _)) => *same |= lane,
                None => rows.push((lane, text)),
            }
        }
        rows
    }
}

/// The value of a bit field as the bytes that hold its bits: those of its type may reach beyond the object.
fn holding_field(value: SourceValue, object: &SourceObject<'_>) -> SourceValue {
    match object.bits {
        Some(bits) => SourceValue { bytes: vec![0; BitField::holding_bytes(bits) as usize], ..value },
        None => value,
    }
}

/// True for a structure, an array or an enumeration, which is not shown as a number.
fn is_aggregate(object: &SourceObject<'_>) -> bool {
    let is_number = || types::scalar(object.info, object.ty).is_some_and(|ty| number::elements(ty).1 == 1);
    match object.stripped() {
        Some(Type::Record { .. }) => !is_number(),
        Some(Type::Array { .. } | Type::Enumeration { .. }) => true,
        _ => false,
    }
}
