//! The places that an expression names for threads other than the focused one: `watch %f3 block 1,0,0 warp 3 lane 2`.

use super::evaluate::{EvaluationError, Evaluator, Reason, Referent, refused};
use super::parsed::Expression;
use super::place::{innermost, register_target, target};
use super::tree::NodeKind;
use crate::debug::focus::{Focus, ThreadFilter};
use crate::debug::names::scope::{self, RegisterPlace};
use crate::debug::scene::{Scene, SceneError};
use crate::debug::target::{RegisterTarget, Target};
use crate::isa::Space;
use crate::machine::LaneMask;

/// The place that an expression names for the threads of `filter`. A register, and what lies in the shared or local memory of a thread,
/// is that of the threads; anything else is what it is for the focused thread, and the filter limits only which threads touch it.
pub(super) fn target_for(expression: &Expression, scene: &Scene<'_>, filter: &ThreadFilter) -> Result<Target, EvaluationError> {
    let here = target(expression, scene);
    if *filter == ThreadFilter::default() {
        return here.or_else(|error| not_started(expression, scene, scene.focus.lane_mask()).unwrap_or(Err(error)));
    }
    if let Ok(Target::Memory(memory)) = &here
        && passes(filter, memory.space, &memory.owner)
    {
        return here;
    }
    let wanted = lanes(expression, filter, &scene.focus)?;
    let there = scene.refocused(filter.first(&scene.focus, wanted));
    match named(expression, &there) {
        Some(Ok(Target::Register(register))) => Ok(Target::Register(RegisterTarget { lanes: live(&there, wanted), ..register })),
        Some(other) => other,
        None => not_started(expression, &there, wanted).unwrap_or_else(|| target(expression, &there)),
    }
}

/// Whether a thread of the filter can touch what lies in the memory of `owner`.
fn passes(filter: &ThreadFilter, space: Space, owner: &Focus) -> bool {
    let block = filter.block.is_none_or(|block| block == owner.block);
    match space {
        Space::Shared | Space::SharedCluster => block,
        Space::Local | Space::ParamFunc => filter.lanes_of(owner.block, owner.warp).intersects(owner.lane_mask()),
        Space::Generic | Space::Global | Space::Const | Space::Param => true,
    }
}

/// The lanes whose register is meant: those of the filter, those after `@`, or both; all of the warp if only a warp or block is named.
fn lanes(expression: &Expression, filter: &ThreadFilter, focus: &Focus) -> Result<LaneMask, EvaluationError> {
    let after_at = expression.root.lanes();
    let mask = match (filter.lanes, after_at) {
        (Some(lanes), at) => lanes & at.unwrap_or(LaneMask::ALL),
        (None, Some(at)) => at,
        (None, None) if filter.warp.is_some() => LaneMask::ALL,
        (None, None) => focus.lane_mask(),
    };
    if !mask.is_empty() { Ok(mask) } else { Err(refused(&expression.root, "the lanes after '@' are none of the lanes named".to_string())) }
}

/// Those of the lanes that the warp has and that have not exited.
fn live(scene: &Scene<'_>, wanted: LaneMask) -> LaneMask {
    let live = scene.warp().map_or(LaneMask::ALL, |warp| warp.live);
    if !live.intersects(wanted) { wanted } else { live & wanted }
}

/// The register that the expression names where the thread of `scene` stands; none if it names none, or the thread is not there.
fn named(expression: &Expression, scene: &Scene<'_>) -> Option<Result<Target, EvaluationError>> {
    let node = innermost(&expression.root);
    let mut evaluator = Evaluator::new(scene);
    match evaluator.thing(node) {
        Ok(Referent::Register(place)) => Some(register_target(expression, &evaluator, &place, scene.focus.lane_mask())),
        Ok(Referent::Memory(_) | Referent::Value(_) | Referent::Triple(_)) | Err(_) => None,
    }
}

/// A register of the kernel in a block that has not started; none if the expression names none, or the block has started.
fn not_started(expression: &Expression, scene: &Scene<'_>, lanes: LaneMask) -> Option<Result<Target, EvaluationError>> {
    let Err(SceneError::NotStarted { block, .. }) = scene.block() else { return None };
    let node = innermost(&expression.root);
    let NodeKind::Name(name) = &node.kind else { return None };
    let kernel = scene.machine.config().kernel;
    let function = &scene.program().functions[kernel.index()];
    let places = scope::registers_called(function, name);
    let (first, rest) = places.split_first()?;
    if !rest.is_empty() {
        let message = format!("'{name}' is declared in several scopes: which of them is meant is known once the block has started");
        return Some(Err(refused(node, message)));
    }
    let place: RegisterPlace = scope::in_effect(scene, kernel, *first);
    let Some(slot) = place.slot else {
        return Some(Err(EvaluationError { column: node.at, reason: Reason::NoValue(name.clone()) }));
    };
    Some(Ok(Target::Register(RegisterTarget {
        name: name.clone(),
        block,
        warp: scene.focus.warp,
        lanes: lanes & scene.machine.lanes_of_warp(scene.focus.warp),
        bank: place.bank,
        slot,
        width: place.width,
        ty: place.ty,
        function_start: crate::program::Pc(function.code.start),
        depth: 0,
    })))
}
