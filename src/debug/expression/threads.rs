//! The targets that an expression names for threads other than the focused one: `watch %f3 block 1,0,0 warp 3 lane 2`.

use super::evaluate::{EvaluationError, Evaluator, Reason, Referent, refused};
use super::parsed::Expression;
use super::targets::{innermost, register_target, target};
use super::tree::NodeKind;
use crate::debug::eval_context::{EvalContext, ThreadError};
use crate::debug::focus::{Focus, ThreadFilter};
use crate::debug::names::scope::{self, RegisterLocation};
use crate::debug::source_names::{ObjectPlace, SourceObject};
use crate::debug::target::{MemoryTarget, RegisterTarget, Target};
use crate::isa::Space;
use crate::machine::LaneMask;

/// The target that an expression names for the threads of `filter`. Registers, shared and local memory are those of these threads; any
/// other target is that of the focused thread, and the filter only limits the threads whose accesses count.
pub(super) fn target_for(expression: &Expression, context: &EvalContext<'_>, filter: &ThreadFilter) -> Result<Target, EvaluationError> {
    let focused = target(expression, context);
    if *filter == ThreadFilter::default() {
        return focused.or_else(|error| not_started(expression, context, context.focus.lane_mask()).unwrap_or(Err(error)));
    }
    if let Ok(Target::Memory(memory)) = &focused
        && passes(filter, memory.space, &memory.owner)
    {
        return focused;
    }
    let requested = lanes(expression, filter, &context.focus)?;
    let refocused = context.refocused(filter.representative(&context.focus, requested));
    match named_register(expression, &refocused) {
        Some(Ok(Target::Register(register))) => Ok(Target::Register(RegisterTarget { lanes: live(&refocused, requested), ..register })),
        Some(other) => other,
        None => {
            let waiting = not_started(expression, &refocused, requested).or_else(|| shared_to_come(expression, context, &refocused));
            waiting.unwrap_or_else(|| target(expression, &refocused))
        }
    }
}

/// The shared memory of a block that has not started: where it is for the focused block, if the expression names nothing else.
fn shared_to_come(
    expression: &Expression,
    focused: &EvalContext<'_>,
    refocused: &EvalContext<'_>,
) -> Option<Result<Target, EvaluationError>> {
    let Err(ThreadError::NotStarted { .. }) = refocused.block() else { return None };
    let in_shared = |expression: &Expression| match target(expression, focused) {
        Ok(Target::Memory(memory)) if memory.space == Space::Shared && memory.frame.is_none() => Some(memory),
        Ok(_) | Err(_) => None,
    };
    let is_shared = |name: &str| Expression::parse(name).is_ok_and(|name| in_shared(&name).is_some());
    if !expression.names().into_iter().all(is_shared) {
        return None;
    }
    in_shared(expression).map(|memory| Ok(Target::Memory(MemoryTarget { owner: refocused.focus, ..memory })))
}

/// True if a thread of the filter can access memory of `owner`.
fn passes(filter: &ThreadFilter, space: Space, owner: &Focus) -> bool {
    let block = filter.block.is_none_or(|block| block == owner.block);
    match space {
        Space::Shared | Space::SharedCluster => block,
        Space::Local | Space::ParamFunc => filter.lanes_of(owner.block, owner.warp).intersects(owner.lane_mask()),
        Space::Generic | Space::Global | Space::Const | Space::Param => true,
    }
}

/// The lanes of a register target: those of the filter, those after `@`, or both; all of the warp if only a warp or block is named.
pub(super) fn lanes(expression: &Expression, filter: &ThreadFilter, focus: &Focus) -> Result<LaneMask, EvaluationError> {
    let after_at = expression.root.lanes();
    let mask = match (filter.lanes, after_at) {
        (Some(lanes), at) => lanes & at.unwrap_or(LaneMask::ALL),
        (None, Some(at)) => at,
        (None, None) if filter.warp.is_some() => LaneMask::ALL,
        (None, None) => focus.lane_mask(),
    };
    if !mask.is_empty() { Ok(mask) } else { Err(refused(&expression.root, "the lanes after '@' are none of the lanes named".to_string())) }
}

/// The requested lanes that are live; all of them if none is.
pub(super) fn live(context: &EvalContext<'_>, requested: LaneMask) -> LaneMask {
    let live = context.warp().map_or(LaneMask::ALL, |warp| warp.live);
    if !live.intersects(requested) { requested } else { live & requested }
}

/// The register that the expression names for the thread of `context`; none if it names none, or the thread is not on the machine.
fn named_register(expression: &Expression, context: &EvalContext<'_>) -> Option<Result<Target, EvaluationError>> {
    let node = innermost(&expression.root);
    let mut evaluator = Evaluator::new(context);
    match evaluator.referent(node) {
        Ok(Referent::Register(location)) => Some(register_target(expression, &evaluator, &location, context.focus.lane_mask())),
        Ok(Referent::Source(SourceObject { place: ObjectPlace::Register(location), .. })) => {
            Some(register_target(expression, &evaluator, &location, context.focus.lane_mask()))
        }
        Ok(
            Referent::Source(_) | Referent::Memory(_) | Referent::Value(_) | Referent::Vector3(_) | Referent::Kept(_) | Referent::Slice(..),
        )
        | Err(_) => None,
    }
}

/// A register of the kernel in a block that has not started; none if the expression names none, or the block has started.
fn not_started(expression: &Expression, context: &EvalContext<'_>, lanes: LaneMask) -> Option<Result<Target, EvaluationError>> {
    let Err(ThreadError::NotStarted { block, .. }) = context.block() else { return None };
    let node = innermost(&expression.root);
    let NodeKind::Name(name) = &node.kind else { return None };
    let kernel = context.machine.config().kernel;
    let function = &context.program().functions[kernel.index()];
    let locations = scope::registers_called(function, name);
    let (first, rest) = locations.split_first()?;
    if !rest.is_empty() {
        let message = format!("'{name}' is declared in several scopes: which of them is meant is known once the block has started");
        return Some(Err(refused(node, message)));
    }
    let location: RegisterLocation = scope::with_type_in_effect(context, kernel, *first);
    let Some(slot) = location.slot else {
        return Some(Err(EvaluationError { column: node.at, reason: Reason::NoValue(name.clone()) }));
    };
    Some(Ok(Target::Register(RegisterTarget {
        name: name.clone(),
        block,
        warp: context.focus.warp,
        lanes: lanes & context.machine.lanes_of_warp(context.focus.warp),
        bank: location.bank,
        slot,
        width: location.width,
        ty: location.ty,
        function_start: crate::program::Pc(function.code.start),
        depth: 0,
    })))
}
