//! The references of the source that an expression follows.

use super::evaluate::{Evaluator, FollowedReference};
use super::parsed::Expression;
use super::targets::innermost;
use crate::debug::eval_context::EvalContext;
use crate::debug::source_names;
use crate::debug::target::FrameTarget;

impl Expression {
    /// The references that it follows for the focused thread, in the order in which it does; also if they lead nowhere.
    pub fn references(&self, context: &EvalContext<'_>) -> Vec<FollowedReference> {
        let mut evaluator = Evaluator { has_hints: false, ..Evaluator::new(context) };
        let _ = evaluator.referent(innermost(&self.root));
        evaluator.followed.into_inner()
    }

    /// The frame that gives the expression its meaning, if it names memory by a reference of that frame.
    pub(super) fn frame_of_references(&self, context: &EvalContext<'_>) -> Option<FrameTarget> {
        let frame = context.frame().ok().filter(|_| !self.references(context).is_empty())?;
        let own = |name: &str| source_names::find(context, Some(&frame), name).filter(|variable| variable.scope.is_some());
        let variable = self.names().into_iter().find_map(|name| own(name).or_else(|| own(name.split('.').next()?)))?;
        Some(FrameTarget {
            block: frame.block.index,
            warp: frame.warp_number,
            lanes: context.focus.lane_mask(),
            depth: frame.depth,
            code: variable.frame_code(context, &frame),
        })
    }
}
