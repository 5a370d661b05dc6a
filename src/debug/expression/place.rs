//! Expressions as places: what is watched, and what is set.

use super::evaluate::{EvaluationError, Evaluator, Extent, Referent, refused};
use super::operators;
use super::parsed::Expression;
use super::tree::{Node, NodeKind};
use crate::debug::edit::Edit;
use crate::debug::memory::{self, Bytes};
use crate::debug::names::scope::RegisterPlace;
use crate::debug::scene::{Frame, Scene};
use crate::debug::target::{MemoryTarget, RegisterTarget, Target};
use crate::debug::value::{Scalar, Type, Value};
use crate::isa::ScalarType;
use crate::machine::LaneMask;
use crate::program::{Pc, Slot};

/// Why a value cannot be assigned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssignmentError {
    /// There is no place.
    #[error(transparent)]
    IssuePoint(#[from] EvaluationError),
    /// The value does not fit the place.
    #[error("{0}")]
    Value(String),
}

/// The place that an expression names.
pub(super) fn target(expression: &Expression, scene: &Scene<'_>) -> Result<Target, EvaluationError> {
    let root = &expression.root;
    let mut evaluator = Evaluator::new(scene);
    let Some(wanted) = root.lanes() else {
        return match evaluator.thing(root)? {
            Referent::Register(place) => register_target(expression, &evaluator, &place, LaneMask::of((scene.focus.lane % 32) as usize)),
            Referent::Memory(extent) => memory(expression, scene, &extent),
            Referent::Value(_) | Referent::Triple(_) => Err(no_place(root)),
        };
    };
    let NodeKind::Lanes(inner, _) = &root.kind else {
        return Err(refused(root, "a place over lanes is written as PLACE@LANES".to_string()));
    };
    let lanes = evaluator.lanes_for(root, wanted)?;
    match evaluator.thing(inner)? {
        Referent::Register(place) => register_target(expression, &evaluator, &place, lanes),
        Referent::Memory(_) => Err(refused(root, "memory of several lanes is watched lane by lane, or as one range".to_string())),
        Referent::Value(_) | Referent::Triple(_) => Err(no_place(inner)),
    }
}

pub(super) fn register_target(
    expression: &Expression,
    evaluator: &Evaluator<'_>,
    place: &RegisterPlace,
    lanes: LaneMask,
) -> Result<Target, EvaluationError> {
    let node = innermost(&expression.root);
    let at = |error: crate::debug::scene::SceneError| EvaluationError { column: node.at, reason: error.into() };
    let frame = evaluator.frame.clone().map_err(at)?;
    let name = if let NodeKind::Name(name) = &node.kind { name.clone() } else { expression.text.clone() };
    let slot =
        slot_in_file(&frame, place).ok_or_else(|| EvaluationError { column: node.at, reason: super::Reason::NoValue(name.clone()) })?;
    let function = evaluator.scene.function(&frame);
    Ok(Target::Register(RegisterTarget {
        name,
        block: frame.block.index,
        warp: frame.warp_number,
        lanes,
        bank: place.bank,
        slot,
        width: place.width,
        ty: place.ty,
        function_start: Pc(function.code.start),
        depth: frame.depth,
    }))
}

/// The slot in the warp's register file.
fn slot_in_file(frame: &Frame<'_>, place: &RegisterPlace) -> Option<Slot> {
    Some(place.slot?.in_frame(frame.base.slot(place.bank)))
}

fn memory(expression: &Expression, scene: &Scene<'_>, extent: &Extent<'_>) -> Result<Target, EvaluationError> {
    let found = memory::locate(scene, extent.space, extent.address, extent.bytes());
    let at = |error: memory::MemoryError| EvaluationError { column: expression.root.at, reason: error.into() };
    let Bytes { space, owner, address, bytes } = found.map_err(at)?;
    Ok(Target::Memory(MemoryTarget { name: expression.text.clone(), space, owner, address, bytes, ty: extent.ty }))
}

pub(super) fn innermost(node: &Node) -> &Node {
    if let NodeKind::Lanes(inner, _) = &node.kind { innermost(inner) } else { node }
}

fn no_place(node: &Node) -> EvaluationError {
    refused(node, "this is a value, not a place: a register or something in memory is wanted".to_string())
}

/// The changes that `set PLACE = VALUE` makes.
pub(super) fn assign(expression: &Expression, scene: &Scene<'_>, value: &Value) -> Result<Vec<Edit>, AssignmentError> {
    let root = &expression.root;
    let mut evaluator = Evaluator::new(scene);
    let Some(wanted) = root.lanes() else {
        let scalar = one(value)?;
        let thing = evaluator.thing(root)?;
        return edits(expression, &evaluator, thing, &scalar, scene.focus.lane);
    };
    let mask = evaluator.lanes_for(root, wanted)?;
    let mut all = Vec::new();
    for lane in mask.iter() {
        let scalar = in_lane(value, lane)?;
        let made = evaluator.in_lane(root, lane, |evaluator| {
            evaluator.under_lanes(root, |inner| {
                let thing = inner.thing(innermost(root))?;
                Ok(edits(expression, inner, thing, &scalar, lane as u32))
            })
        })?;
        all.extend(made?);
    }
    Ok(all)
}

fn one(value: &Value) -> Result<Scalar, AssignmentError> {
    match value {
        Value::Scalar(scalar) => Ok(*scalar),
        Value::Lanes(_) => {
            Err(AssignmentError::Value("the value has one number a lane: name the place with the same lanes, as in %r1@*".to_string()))
        }
        Value::Array(_) => Err(AssignmentError::Value("an array is assigned element by element".to_string())),
    }
}

fn in_lane(value: &Value, lane: usize) -> Result<Scalar, AssignmentError> {
    match value {
        Value::Lanes(lanes) if lanes.mask.contains(lane) => Ok(Scalar { ty: lanes.ty, bits: lanes.bits[lane] }),
        Value::Lanes(_) => Err(AssignmentError::Value(format!("the value has nothing for lane {lane}"))),
        other => one(other),
    }
}

fn edits(
    expression: &Expression,
    evaluator: &Evaluator<'_>,
    thing: Referent<'_>,
    value: &Scalar,
    lane: u32,
) -> Result<Vec<Edit>, AssignmentError> {
    let converted = |ty: ScalarType| operators::cast(value, ty).map_err(AssignmentError::Value);
    match thing {
        Referent::Register(place) => {
            let Target::Register(target) = register_target(expression, evaluator, &place, LaneMask::of((lane % 32) as usize))? else {
                return Err(no_place(&expression.root).into());
            };
            let bits = converted(place.ty)?.bits;
            let part = |index: u32| Edit::Register {
                block: target.block,
                warp: target.warp,
                lanes: target.lanes,
                bank: target.bank,
                slot: target.slot.offset(index),
                value: (bits >> (64 * index)) as u64,
            };
            Ok((0..place.width).map(part).collect())
        }
        Referent::Memory(extent) if extent.elements.is_none() => {
            let Target::Memory(target) = memory(expression, &evaluator.scene, &extent)? else {
                return Err(no_place(&expression.root).into());
            };
            if target.space == crate::isa::Space::Param {
                return Err(AssignmentError::Value(memory::MemoryError::ReadOnly.to_string()));
            }
            let Scalar { ty, bits } = converted(extent.ty)?;
            debug_assert_eq!(ty, Type::Scalar(extent.ty));
            let bytes = bits.to_le_bytes()[..(target.bytes as usize).min(16)].to_vec();
            Ok(vec![Edit::Memory { space: target.space, owner: target.owner, address: target.address, bytes }])
        }
        Referent::Memory(_) => Err(AssignmentError::Value("an array is assigned element by element, as in x[3]".to_string())),
        Referent::Value(_) | Referent::Triple(_) => Err(no_place(&expression.root).into()),
    }
}
