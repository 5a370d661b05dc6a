//! Selection and predicates (PTX ISA, "Comparison and Selection Instructions": `selp`, `slct`; logic on `.pred`).

use super::bits::combine;
use super::operands::{Lane, Lanes};
use crate::isa::Width;
use crate::machine::exec::warp_run::LaneOperation;
use crate::machine::state::lanes::LaneMask;
use crate::num::compare::at_least_zero;
use crate::program::{Dst, SelectOp, Src};

/// Selections.
pub(super) struct Selection;

impl LaneOperation for Selection {
    type Op = SelectOp;

    #[inline(always)]
    fn execute(lanes: &mut Lanes<'_>, op: &SelectOp) {
        match *op {
            SelectOp::Select { width, d, a, b, p } => {
                let choice = lanes.pred(p);
                by_width(lanes, width, d, (a, b), choice);
            }
            SelectOp::SelectSign { width, float, ftz, d, a, b, c } => {
                let choice = match (float, ftz) {
                    (false, _) => lanes.test1(c, |c: i32| c >= 0),
                    (true, false) => lanes.test1(c, |c: f32| at_least_zero(c, false)),
                    (true, true) => lanes.test1(c, |c: f32| at_least_zero(c, true)),
                };
                by_width(lanes, width, d, (a, b), choice);
            }
            SelectOp::PredBinary { f, d, a, b } => {
                let bits = combine(f, lanes.pred(a), lanes.pred(b));
                lanes.put_pred(d, bits);
            }
            SelectOp::PredMove { d, a } => {
                let bits = lanes.pred(a);
                lanes.put_pred(d, bits);
            }
        }
    }
}

/// Writes `a` in the lanes of `choice`, and `b` in the others.
#[inline(always)]
pub(super) fn by_width(lanes: &mut Lanes<'_>, width: Width, d: Dst, (a, b): (Src, Src), choice: LaneMask) {
    match width {
        Width::B16 | Width::B32 => choose::<u32>(lanes, d, a, b, choice),
        Width::B64 => choose::<u64>(lanes, d, a, b, choice),
    }
}

#[inline(always)]
fn choose<T: Lane>(lanes: &mut Lanes<'_>, d: Dst, a: Src, b: Src, choice: LaneMask) {
    let (a, b) = (T::get(lanes, a), T::get(lanes, b));
    let mut out = *b;
    for lane in 0..32 {
        out[lane] = if choice.contains(lane) { a[lane] } else { b[lane] };
    }
    T::put(lanes, d, &out);
}
