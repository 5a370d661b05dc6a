//! Comparison, selection, and logic on predicates.

use super::family::{Decoded, Decoding, float_type, int_type};
use crate::base::Diagnostic;
use crate::isa::{BoolOp, Compare, CompareDecode, ScalarType};
use crate::program::{CompareOp, Op, PredSrc, SelectOp};

/// The comparison modifiers.
#[rustfmt::skip]
const COMPARISONS: &[(&str, Compare)] = &[
    ("eq", Compare::Eq), ("ne", Compare::Ne), ("lt", Compare::Lt), ("le", Compare::Le), ("gt", Compare::Gt), ("ge", Compare::Ge),
    ("lo", Compare::Lt), ("ls", Compare::Le), ("hi", Compare::Gt), ("hs", Compare::Ge),
    ("equ", Compare::Equ), ("neu", Compare::Neu), ("ltu", Compare::Ltu), ("leu", Compare::Leu), ("gtu", Compare::Gtu),
    ("geu", Compare::Geu),
    ("num", Compare::Num), ("nan", Compare::Nan),
];

impl Decoding<'_, '_> {
    /// Comparison, selection, and logic on predicates.
    pub(super) fn comparison(&mut self, decode: CompareDecode) -> Decoded {
        match decode {
            CompareDecode::Setp => self.setp(),
            CompareDecode::Set => self.set(),
            CompareDecode::Select => {
                let width = self.width(self.ty())?;
                Ok(Op::Select(SelectOp::Select { width, d: self.dst(0)?, a: self.src(1)?, b: self.src(2)?, p: self.pred(3)? }))
            }
            CompareDecode::SelectSign => self.select_sign(),
            CompareDecode::PredBinary(f) => Ok(Op::Select(SelectOp::PredBinary { f, d: self.dst(0)?, a: self.pred(1)?, b: self.pred(2)? })),
            CompareDecode::PredNot => {
                let a = match self.pred(1)? {
                    PredSrc::Const(value) => PredSrc::Const(!value),
                    PredSrc::Reg { slot, negate } => PredSrc::Reg { slot, negate: !negate },
                };
                Ok(Op::Select(SelectOp::PredMove { d: self.dst(0)?, a }))
            }
        }
    }

    fn setp(&mut self) -> Decoded {
        let (cmp, combine) = self.compare()?;
        let (p, q) = (self.dst(0)?, self.second_dst(0));
        let (a, b, c) = (self.src(1)?, self.src(2)?, self.pred(3)?);
        if let Some(ty) = float_type(self.ty()) {
            return Ok(Op::Compare(CompareOp::SetpFloat { cmp, ty, ftz: self.float_mode().modifiers.ftz, combine, c, p, q, a, b }));
        }
        Ok(Op::Compare(CompareOp::SetpInt { cmp, ty: self.int_type()?, combine, c, p, q, a, b }))
    }

    fn set(&mut self) -> Decoded {
        let (cmp, combine) = self.compare()?;
        let to = self.matched.types.first().copied().unwrap_or(ScalarType::U32);
        let d = self.dst(0)?;
        let (a, b, c) = (self.src(1)?, self.src(2)?, self.pred(3)?);
        if let Some(from) = float_type(self.ty()) {
            return Ok(Op::Compare(CompareOp::SetFloat { cmp, from, to, ftz: self.float_mode().modifiers.ftz, combine, c, d, a, b }));
        }
        let from = int_type(self.ty()).ok_or_else(|| self.type_mismatch())?;
        Ok(Op::Compare(CompareOp::SetInt { cmp, from, to, combine, c, d, a, b }))
    }

    fn select_sign(&mut self) -> Decoded {
        let width = self.width(self.matched.types.first().copied().unwrap_or(ScalarType::U32))?;
        let float = self.ty() == ScalarType::F32;
        let ftz = self.float_mode().modifiers.ftz;
        Ok(Op::Select(SelectOp::SelectSign { width, float, ftz, d: self.dst(0)?, a: self.src(1)?, b: self.src(2)?, c: self.src(3)? }))
    }

    /// The comparison, and the Boolean operator that combines it with a predicate.
    fn compare(&self) -> Result<(Compare, BoolOp), Diagnostic> {
        let cmp = self.matched.choose(COMPARISONS).ok_or_else(|| self.type_mismatch())?;
        let combine = self.matched.choose(&[("and", BoolOp::And), ("or", BoolOp::Or), ("xor", BoolOp::Xor)]).unwrap_or(BoolOp::And);
        Ok((cmp, combine))
    }
}
