//! Functions of the values in several lanes: `any(x > 3)`, `sum(x@0-7)`.

use super::evaluate::{Evaluated, Evaluator, refused};
use super::operators;
use super::tree::{Aggregate, BinaryOp, Node, NodeKind};
use crate::debug::value::{Lanes, Scalar, Type};
use crate::isa::{ScalarType, TypeKind};

impl Evaluator<'_> {
    /// A function of the values in several lanes: those of the `@` inside, otherwise the active ones.
    pub fn aggregate(&mut self, aggregate: Aggregate, inner: &Node) -> Evaluated<Scalar> {
        let lanes = match inner.lanes() {
            Some(requested) => self.over_lanes(inner, requested, false)?,
            None => {
                let active = self.frame_at(inner)?.group.mask;
                self.over_lanes(inner, active, true)?
            }
        };
        if !lanes.undefined.is_empty() {
            return Err(refused(inner, undefined_text(inner, &lanes)));
        }
        let mut values = lanes.iter().map(|(_, scalar)| scalar);
        let refuse = |message| refused(inner, message);
        let better = |keep: BinaryOp| {
            move |best: Evaluated<Scalar>, value: Scalar| {
                let best = best?;
                let wins = operators::binary(keep, &value, &best).map_err(refuse)?.is_true();
                Ok(if wins { value } else { best })
            }
        };
        let first = Scalar { ty: lanes.ty, bits: lanes.bits[lanes.mask.first()] };
        match aggregate {
            Aggregate::Any => Ok(Scalar::truth(values.any(|value| value.is_true()))),
            Aggregate::All => Ok(Scalar::truth(values.all(|value| value.is_true()))),
            Aggregate::Uniform => Ok(Scalar::truth(values.all(|value| value.bits == first.bits))),
            Aggregate::Min => values.fold(Ok(first), better(BinaryOp::Lt)),
            Aggregate::Max => values.fold(Ok(first), better(BinaryOp::Gt)),
            Aggregate::Sum => {
                let zero = operators::common_type(&first, &first).map_err(refuse)?;
                let wide = match zero.kind() {
                    TypeKind::Float => ScalarType::F64,
                    TypeKind::Unsigned => ScalarType::U64,
                    _ => ScalarType::S64,
                };
                let start = Scalar { ty: Type::Scalar(wide), bits: 0 };
                values
                    .try_fold(start, |sum, value| operators::binary(BinaryOp::Add, &sum, &operators::convert(&value, wide)).map_err(refuse))
            }
        }
    }
}

/// That a value over lanes is none, since some of them have not assigned what it is made of.
fn undefined_text(node: &Node, lanes: &Lanes) -> String {
    let inner = if let NodeKind::Lanes(inner, _) = &node.kind { inner } else { node };
    let text = format!("'{}' has no value yet in {}", super::print::text(inner), lanes.undefined.describe());
    // Lanes that are named further in are no hint.
    match inner.lanes() {
        Some(_) => text,
        None => format!("{text}: {}@{} has one in each", super::print::operand(inner), lanes.mask.list()),
    }
}
