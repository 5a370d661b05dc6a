//! The variables of the source that expressions name, as targets of watchpoints and histories: `x`, `s.field`, `a[3]`, `x@*`.

use super::evaluate::{EvaluationError, Evaluator};
use super::parsed::Expression;
use super::targets::innermost;
use super::threads::{lanes, live};
use super::tree::{Node, NodeKind};
use crate::debug::eval_context::{EvalContext, Frame};
use crate::debug::focus::ThreadFilter;
use crate::debug::source_names::{self, Extract, SourceVariable, types};
use crate::debug::target::{BitField, PartStorage, Target, VARIABLE_BYTES_MAX, VariablePart, VariablePlace, VariableTarget};
use crate::debug::tensors::Part;
use crate::dwarf::{PointerKind, Type, TypeId};
use crate::isa::Space;
use crate::machine::{LaneMask, Tick};

/// A part of a variable of the source.
struct Named<'a> {
    variable: SourceVariable<'a>,
    ty: Option<TypeId>,
    offset: u64,
    /// Of a bit field: its lowest bit and its number of bits.
    bits: Option<(u32, u32)>,
}

/// The variable, or the part of one, that the expression names for the threads of `filter`; none if it names something else, or one that
/// is in no register and no memory of a thread.
pub(super) fn variable_target(
    expression: &Expression,
    context: &EvalContext<'_>,
    filter: &ThreadFilter,
) -> Result<Option<Target>, EvaluationError> {
    let is_focused = *filter == ThreadFilter::default();
    let requested = match expression.root.lanes() {
        Some(after_at) if is_focused => after_at,
        None if is_focused => context.focus.lane_mask(),
        _ => lanes(expression, filter, &context.focus)?,
    };
    let context = &if is_focused { *context } else { context.refocused(filter.representative(&context.focus, requested)) };
    let mut evaluator = Evaluator::new(context);
    // Several objects are watched as memory.
    if evaluator.counted(&expression.root).is_some() {
        return Ok(None);
    }
    let node = innermost(&expression.root);
    let Some(frame) = evaluator.own_frame() else { return Ok(None) };
    if evaluator.names_tensor(node) {
        let requested = if expression.root.lanes().is_none() && is_focused { LaneMask::ALL } else { requested };
        let lanes = evaluator.lanes_for(&expression.root, requested)?;
        return Ok(tensor(context, frame, node, lanes).map(|target| Target::Variable(Box::new(target))));
    }
    let Some(Named { variable, ty, offset, bits }) = part(context, frame, node) else { return Ok(None) };
    if source_names::is_pointer_to_own_buffer(context, Some(frame), &variable) {
        return Ok(None);
    }
    let of_type = variable.info.bytes(ty);
    let bytes = bits.map_or(of_type, |bits| u64::from(BitField::holding_bytes(bits)));
    let field = |(low, count)| {
        let signed = types::is_signed(variable.info, ty);
        BitField { low, count, signed, bytes: u32::try_from(of_type).unwrap_or(0) }
    };
    let (Ok(offset), Ok(bytes)) = (u32::try_from(offset), u32::try_from(bytes)) else { return Ok(None) };
    if !(1..=VARIABLE_BYTES_MAX).contains(&bytes) {
        return Ok(None);
    }
    let code = variable.frame_code(context, frame);
    let places = variable.places(context, frame, &code, Extract { offset, bytes });
    let lanes = evaluator.lanes_for(&expression.root, if is_focused { requested } else { live(context, requested) })?;
    let target = VariableTarget {
        name: super::print::text(node),
        block: frame.block.index,
        warp: frame.warp_number,
        lanes,
        depth: frame.depth,
        code,
        since: Tick::START,
        is_parameter: variable.variable.is_parameter,
        ty,
        tensor: None,
        bytes,
        field: bits.map(field),
        places,
    };
    let is_of_thread = |storage: &PartStorage| match storage {
        PartStorage::Register { .. } => true,
        PartStorage::Memory { space, .. } => matches!(space, Space::Local | Space::ParamFunc),
        PartStorage::Known(_) | PartStorage::Removed => false,
    };
    let is_watched = target.parts().any(|part| is_of_thread(&part.storage));
    Ok(is_watched.then(|| Target::Variable(Box::new(target))))
}

/// The elements of a variable of a Triton program that these lanes hold; none if it is in no registers.
fn tensor(context: &EvalContext<'_>, frame: &Frame<'_>, node: &Node, lanes: LaneMask) -> Option<VariableTarget> {
    let NodeKind::Name(name) = &node.kind else { return None };
    let tensors = context.tensors().filter(|tensors| tensors.kernel() == frame.function && frame.depth == 0)?;
    let watched = tensors.watched(name, frame.position().0)?;
    let part = |part: &Part| VariablePart {
        bytes: part.bits.div_ceil(8),
        storage: PartStorage::Register { bank: part.bank, slot: part.slot, width: 1, offset: part.shift / 8 },
    };
    let places: Vec<VariablePlace> =
        watched.places.iter().map(|(code, parts)| VariablePlace { code: code.clone(), parts: parts.iter().map(part).collect() }).collect();
    let bytes = places.first()?.parts.iter().map(|part| part.bytes).sum();
    Some(VariableTarget {
        name: name.clone(),
        block: frame.block.index,
        warp: frame.warp_number,
        lanes,
        depth: 0,
        code: context.function(frame).code.clone(),
        since: Tick::START,
        is_parameter: false,
        ty: None,
        tensor: Some(watched.value),
        bytes,
        field: None,
        places,
    })
}

/// The part of a variable that `node` names: the variable, a member or an element of an array by its number.
fn part<'a>(context: &EvalContext<'a>, frame: &Frame<'a>, node: &Node) -> Option<Named<'a>> {
    match &node.kind {
        NodeKind::Name(name) => match source_names::find(context, Some(frame), name) {
            Some(variable) => variable_part(variable),
            // The component of a vector is a part of the name's token.
            None => {
                let (outer, component) = name.rsplit_once('.')?;
                member(variable_part(source_names::find(context, Some(frame), outer)?)?, component)
            }
        },
        NodeKind::Member(of, name) => member(part(context, frame, of)?, name),
        NodeKind::Index(operands) => {
            let [array, index] = &**operands;
            let NodeKind::Number(index) = &index.kind else { return None };
            let Named { variable, ty, offset, bits: _ } = part(context, frame, array)?;
            let (of, extent) = types::array(variable.info, ty)?;
            let index = u64::try_from(index.bits).ok().filter(|index| extent.is_none_or(|extent| *index < extent))?;
            let offset = index.checked_mul(variable.info.bytes(of))?.checked_add(offset)?;
            Some(Named { variable, ty: of, offset, bits: None })
        }
        _ => None,
    }
}

/// A variable as a whole; none for a reference, whose name means what it refers to.
fn variable_part(variable: SourceVariable<'_>) -> Option<Named<'_>> {
    let ty = variable.variable.ty;
    (variable.scope.is_some() && !is_reference(&variable, ty)).then_some(Named { variable, ty, offset: 0, bits: None })
}

fn member<'a>(Named { variable, ty, offset, bits: _ }: Named<'a>, name: &str) -> Option<Named<'a>> {
    let (found, at) = types::member(variable.info, ty, name)?;
    let is_object = !is_reference(&variable, found.ty);
    is_object.then_some(Named { variable, ty: found.ty, offset: offset.checked_add(at)?, bits: found.bits })
}

fn is_reference(variable: &SourceVariable<'_>, ty: Option<TypeId>) -> bool {
    let stripped = variable.info.stripped(ty).map(|ty| &variable.info.types[ty]);
    matches!(stripped, Some(Type::Pointer { kind: PointerKind::Reference | PointerKind::RvalueReference, .. }))
}
