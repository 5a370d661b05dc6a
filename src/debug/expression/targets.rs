//! Expressions as targets of watchpoints and assignments.

use super::evaluate::{EvaluationError, Evaluator, Extent, Referent, Row, is_without_value, refused};
use super::operators;
use super::parsed::Expression;
use super::tree::{Node, NodeKind};
use crate::debug::edit::Edit;
use crate::debug::eval_context::{EvalContext, Frame};
use crate::debug::memory::{self, ByteRange};
use crate::debug::names::scope::RegisterLocation;
use crate::debug::source_names::{ObjectPlace, SourceObject, types};
use crate::debug::target::{BitField, MemoryTarget, RegisterTarget, Target};
use crate::debug::value::{Scalar, Type, Value};
use crate::isa::ScalarType;
use crate::machine::LaneMask;
use crate::program::{Pc, Slot};

/// Why a value cannot be assigned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssignmentError {
    /// It names no target.
    #[error(transparent)]
    IssuePoint(#[from] EvaluationError),
    /// The value does not fit the target.
    #[error("{0}")]
    Value(String),
}

/// The target that an expression names.
pub(super) fn target(expression: &Expression, context: &EvalContext<'_>) -> Result<Target, EvaluationError> {
    let root = &expression.root;
    let mut evaluator = Evaluator::new(context);
    if evaluator.names_tensor(root) {
        return Err(refused(root, evaluator.tensor_is_no_place(root)));
    }
    // `x@3` are three objects here as where they are shown.
    if let Some(row) = evaluator.counted(root) {
        let extent = row_extent(&row).ok_or_else(|| no_target(root))?;
        return memory(expression, context, &extent);
    }
    let Some(requested) = root.lanes() else {
        return match evaluator.referent(root)? {
            Referent::Register(location) => {
                register_target(expression, &evaluator, &location, LaneMask::of((context.focus.lane % 32) as usize))
            }
            Referent::Memory(extent) => memory(expression, context, &extent),
            Referent::Source(object) => source(expression, &evaluator, &object, LaneMask::of((context.focus.lane % 32) as usize)),
            // As findings name a place in bytes: `dyn+0x1f0`.
            Referent::Value(pointer @ Scalar { ty: Type::Pointer(_, ty), .. }) if ty.bytes() == 1 => {
                memory(expression, context, &evaluator.dereference(root, &pointer)?)
            }
            Referent::Slice(row) => match row_extent(&row) {
                Some(extent) => memory(expression, context, &extent),
                None => Err(no_target(root)),
            },
            Referent::Value(_) | Referent::Vector3(_) | Referent::Kept(_) => Err(no_target(root)),
        };
    };
    let NodeKind::Lanes(inner, _) = &root.kind else {
        return Err(refused(root, "a place over lanes is written as PLACE@LANES".to_string()));
    };
    let lanes = evaluator.lanes_for(root, requested)?;
    match evaluator.referent(inner)? {
        Referent::Register(location) => register_target(expression, &evaluator, &location, lanes),
        Referent::Source(object) if matches!(object.place, ObjectPlace::Register(_)) => source(expression, &evaluator, &object, lanes),
        Referent::Memory(_) | Referent::Source(_) => {
            Err(refused(root, "memory of several lanes is watched lane by lane, or as one range".to_string()))
        }
        Referent::Value(_) | Referent::Vector3(_) | Referent::Kept(_) | Referent::Slice(..) => Err(no_target(inner)),
    }
}

pub(super) fn register_target(
    expression: &Expression,
    evaluator: &Evaluator<'_>,
    location: &RegisterLocation,
    lanes: LaneMask,
) -> Result<Target, EvaluationError> {
    let node = innermost(&expression.root);
    let at = |error: crate::debug::eval_context::ThreadError| EvaluationError { column: node.at, reason: error.into() };
    let frame = evaluator.frame.clone().map_err(at)?;
    let name = if let NodeKind::Name(name) = &node.kind { name.clone() } else { expression.text.clone() };
    let slot =
        slot_in_file(&frame, location).ok_or_else(|| EvaluationError { column: node.at, reason: super::Reason::NoValue(name.clone()) })?;
    let function = evaluator.context.function(&frame);
    Ok(Target::Register(RegisterTarget {
        name,
        block: frame.block.index,
        warp: frame.warp_number,
        lanes,
        bank: location.bank,
        slot,
        width: location.width,
        ty: location.ty,
        function_start: Pc(function.code.start),
        depth: frame.depth,
    }))
}

/// The slot in the warp's register file.
fn slot_in_file(frame: &Frame<'_>, location: &RegisterLocation) -> Option<Slot> {
    Some(location.slot?.in_frame(frame.base.slot(location.bank)))
}

/// The register or the memory of an object of the source.
fn source(
    expression: &Expression,
    evaluator: &Evaluator<'_>,
    object: &SourceObject<'_>,
    lanes: LaneMask,
) -> Result<Target, EvaluationError> {
    match object.place {
        ObjectPlace::Register(location) => register_target(expression, evaluator, &location, lanes),
        ObjectPlace::Memory(space, address) => match (source_extent(object), object.bits) {
            (Some(extent), None) => memory(expression, &evaluator.context, &extent),
            (Some(Extent { ty, .. }), Some(bits)) => {
                let elements = Some(u64::from(BitField::holding_bytes(bits)));
                let holding = Extent { space, address, ty: ScalarType::B8, elements, shape: &[] };
                let target = memory(expression, &evaluator.context, &holding)?;
                let Target::Memory(target) = target else { return Ok(target) };
                Ok(Target::Memory(MemoryTarget { ty, field: Some(object.field(bits)), ..target }))
            }
            (None, _) => Err(no_target(&expression.root)),
        },
        ObjectPlace::Value(_) | ObjectPlace::Kept(_) => Err(no_target(&expression.root)),
    }
}

/// The memory of an object of the source: a number, or all bytes of an aggregate; of an array, by its elements.
fn source_extent<'a>(object: &SourceObject<'_>) -> Option<Extent<'a>> {
    let ObjectPlace::Memory(space, address) = object.place else { return None };
    let bytes = object.bytes();
    let (ty, elements) = match types::scalar(object.info, object.ty) {
        Some(ScalarType::Pred) => (ScalarType::U8, None),
        Some(ty) => (ty, None),
        None => {
            let element = types::array(object.info, object.ty).and_then(|(of, _)| types::scalar(object.info, of));
            let element = element.filter(|ty| *ty != ScalarType::Pred).unwrap_or(ScalarType::B8);
            (element, Some(bytes / u64::from(element.bytes()).max(1)))
        }
    };
    (bytes > 0).then_some(Extent { space, address, ty, elements, shape: &[] })
}

/// The memory of objects that stand side by side.
fn row_extent<'a>(row: &Row<'_>) -> Option<Extent<'a>> {
    let extent = source_extent(&row.first).filter(|extent| extent.bytes() == row.stride && row.first.bits.is_none())?;
    let elements = extent.elements.unwrap_or(1).checked_mul(row.count)?;
    Some(Extent { elements: Some(elements), ..extent })
}

pub(super) fn memory(expression: &Expression, context: &EvalContext<'_>, extent: &Extent<'_>) -> Result<Target, EvaluationError> {
    let found = memory::locate(context, extent.space, extent.address, extent.bytes());
    let at = |error: memory::MemoryError| EvaluationError { column: expression.root.at, reason: error.into() };
    let ByteRange { space, owner, address, bytes } = found.map_err(at)?;
    let frame = expression.frame_of_references(context);
    Ok(Target::Memory(MemoryTarget { name: expression.text.clone(), space, owner, address, bytes, ty: extent.ty, field: None, frame }))
}

pub(super) fn innermost(node: &Node) -> &Node {
    if let NodeKind::Lanes(inner, _) = &node.kind { innermost(inner) } else { node }
}

fn no_target(node: &Node) -> EvaluationError {
    refused(node, "this is a value, not a place: a register or something in memory is wanted".to_string())
}

/// The edits of `set TARGET = VALUE`.
pub(super) fn assign(expression: &Expression, context: &EvalContext<'_>, value: &Value) -> Result<Vec<Edit>, AssignmentError> {
    let root = &expression.root;
    let is_assigned = matches!(innermost(root).kind, NodeKind::Name(_));
    let mut evaluator = Evaluator { is_assigned, ..Evaluator::new(context) };
    let Some(requested) = root.lanes() else {
        let scalar = one(value, context)?;
        let referent = evaluator.referent(root)?;
        return edits(expression, &evaluator, referent, &scalar, context.focus.lane);
    };
    let mask = match value {
        // `x@* = x@* + 1` is about the lanes that have a value.
        Value::Lanes(lanes) if requested == LaneMask::ALL => evaluator.lanes_for(root, lanes.mask)?,
        _ => evaluator.lanes_for(root, requested)?,
    };
    let (mut all, mut first) = (Vec::new(), None);
    for lane in mask.iter() {
        let edits_of_lane = evaluator.in_lane(root, lane, |evaluator| {
            evaluator.with_at_lane_focused(root, |inner| {
                let referent = inner.referent(innermost(root))?;
                Ok(in_lane(value, lane, context).and_then(|scalar| edits(expression, inner, referent, &scalar, lane as u32)))
            })
        });
        match edits_of_lane {
            Ok(edits) => all.extend(edits?),
            // Another group of lanes may stand where the variable is not in scope.
            Err(error) if is_without_value(&error.reason) => {
                first.get_or_insert(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(error) = first.filter(|_| all.is_empty()) {
        return Err(error.into());
    }
    Ok(all)
}

/// The edit that gives a bit field a value: the bytes that hold it, with its bits.
fn field_edit(
    expression: &Expression,
    evaluator: &Evaluator<'_>,
    object: &SourceObject<'_>,
    value: &Scalar,
) -> Result<Vec<Edit>, AssignmentError> {
    let Target::Memory(MemoryTarget { space, owner, address, bytes, field: Some(field), .. }) =
        source(expression, evaluator, object, LaneMask::NONE)?
    else {
        return Err(AssignmentError::Value("a bit field in a register is not assigned: assign the register".to_string()));
    };
    let ty = types::scalar(object.info, object.ty).ok_or_else(|| no_target(&expression.root))?;
    let mut holding = vec![0; bytes as usize];
    let range = ByteRange { space, owner, address, bytes };
    if memory::fill(evaluator.context.machine, &range, &mut holding).is_none() {
        return Err(no_target(&expression.root).into());
    }
    let number = operators::cast(value, ty).map_err(AssignmentError::Value)?;
    let bytes = field.set(&holding, number.bits);
    Ok(vec![Edit::Memory { space, owner, address, bytes }])
}

fn one(value: &Value, context: &EvalContext<'_>) -> Result<Scalar, AssignmentError> {
    match value {
        Value::Scalar(scalar) => Ok(*scalar),
        Value::Lanes(_) => {
            Err(AssignmentError::Value("the value has one number a lane: name the place with the same lanes, as in %r1@*".to_string()))
        }
        Value::Array(_) => Err(AssignmentError::Value("an array is assigned element by element".to_string())),
        Value::Tensor(_) => Err(AssignmentError::Value("a tensor is not assigned: assign the registers that hold it".to_string())),
        // An enumerator, or a character.
        Value::Source(source) => {
            source.scalar(context).ok_or_else(|| AssignmentError::Value("an object is assigned member by member".to_string()))
        }
    }
}

fn in_lane(value: &Value, lane: usize, context: &EvalContext<'_>) -> Result<Scalar, AssignmentError> {
    match value {
        Value::Lanes(lanes) if lanes.mask.contains(lane) => Ok(Scalar { ty: lanes.ty, bits: lanes.bits[lane] }),
        Value::Lanes(_) => Err(AssignmentError::Value(format!("the value has nothing for lane {lane}"))),
        other => one(other, context),
    }
}

fn edits(
    expression: &Expression,
    evaluator: &Evaluator<'_>,
    referent: Referent<'_>,
    value: &Scalar,
    lane: u32,
) -> Result<Vec<Edit>, AssignmentError> {
    let converted = |ty: ScalarType| operators::cast(value, ty).map_err(AssignmentError::Value);
    match referent {
        Referent::Source(object) if object.bits.is_none() => {
            let ty = types::scalar(object.info, object.ty);
            let ty = ty.ok_or_else(|| AssignmentError::Value("an object is assigned member by member".to_string()))?;
            match (object.place, source_extent(&object)) {
                (ObjectPlace::Register(location), _) => {
                    // The register may be wider than the variable, or of another type with the same bits.
                    let bits = converted(ty)?.bits;
                    let value = Scalar::new(Type::Scalar(location.ty), bits);
                    edits(expression, evaluator, Referent::Register(location), &value, lane)
                }
                (_, Some(extent)) => edits(expression, evaluator, Referent::Memory(extent), value, lane),
                (_, None) => Err(no_target(&expression.root).into()),
            }
        }
        Referent::Source(object) => field_edit(expression, evaluator, &object, value),
        Referent::Register(location) => {
            let Target::Register(target) = register_target(expression, evaluator, &location, LaneMask::of((lane % 32) as usize))? else {
                return Err(no_target(&expression.root).into());
            };
            let bits = converted(location.ty)?.bits;
            let part = |index: u32| Edit::Register {
                block: target.block,
                warp: target.warp,
                lanes: target.lanes,
                bank: target.bank,
                slot: target.slot.offset(index),
                value: (bits >> (64 * index)) as u64,
            };
            Ok((0..location.width).map(part).collect())
        }
        Referent::Memory(extent) if extent.elements.is_none() => {
            let Target::Memory(target) = memory(expression, &evaluator.context, &extent)? else {
                return Err(no_target(&expression.root).into());
            };
            let Scalar { ty, bits } = converted(extent.ty)?;
            debug_assert_eq!(ty, Type::Scalar(extent.ty));
            let bytes = bits.to_le_bytes()[..(target.bytes as usize).min(16)].to_vec();
            Ok(vec![Edit::Memory { space: target.space, owner: target.owner, address: target.address, bytes }])
        }
        Referent::Memory(_) => Err(AssignmentError::Value("an array is assigned element by element, as in x[3]".to_string())),
        Referent::Value(_) | Referent::Vector3(_) | Referent::Kept(_) | Referent::Slice(..) => Err(no_target(&expression.root).into()),
    }
}
