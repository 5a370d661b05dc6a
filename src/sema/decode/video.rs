//! Video instructions, whose operands may have a selector (`%r1.b0`, `%r1.h32`) or be negated.

use super::super::decode_context::{RegisterRef, Value};
use super::constant;
use super::family::{Decoded, Decoding};
use super::operand::not_a_register;
use crate::base::{Diagnostic, Span};
use crate::isa::{
    Compare, ScalarType, Shift, VideoDecode, VideoFn, VideoMadSpec, VideoPart, VideoSecond, VideoSimdSpec, VideoSpec, agrees,
};
use crate::program::{Dst, Op, Src, VideoOp};
use crate::syntax::tree::{Expr, ExprKind, OperandKind};

/// The comparison modifiers of video instructions.
const COMPARISONS: &[(&str, Compare)] =
    &[("eq", Compare::Eq), ("ne", Compare::Ne), ("lt", Compare::Lt), ("le", Compare::Le), ("gt", Compare::Gt), ("ge", Compare::Ge)];

/// An operand with its sign and selector.
struct Selected<'a> {
    register: Option<RegisterRef>,
    a: Src,
    negated: bool,
    selector: Option<&'a str>,
    span: Span,
}

impl<'a> Decoding<'_, 'a> {
    /// Video instructions.
    pub(super) fn video(&mut self, decode: VideoDecode) -> Decoded {
        match decode {
            VideoDecode::Scalar(f) => self.video_scalar(f),
            VideoDecode::Shift(direction) => {
                let wrap = self.matched.has("wrap");
                self.video_scalar(match direction {
                    Shift::Left => VideoFn::ShiftLeft { wrap },
                    Shift::Right => VideoFn::ShiftRight { wrap },
                })
            }
            VideoDecode::Set => self.video_scalar(self.video_set()?),
            VideoDecode::Mad => self.video_mad(),
            VideoDecode::Simd(f, elements) => self.video_simd(f, elements),
            VideoDecode::SimdSet(elements) => self.video_simd(self.video_set()?, elements),
        }
    }

    fn video_set(&self) -> Result<VideoFn, Diagnostic> {
        self.matched.choose(COMPARISONS).map(VideoFn::Set).ok_or_else(|| self.type_mismatch())
    }

    /// True for each of the result, `a` and `b` that has a signed type. The result of `vset` has the type of `a`.
    fn video_signs(&self) -> (bool, bool, bool) {
        let signed = |index: usize| self.matched.types.get(index) == Some(&ScalarType::S32);
        if self.matched.types.len() == 2 { (signed(0), signed(0), signed(1)) } else { (signed(0), signed(1), signed(2)) }
    }

    fn video_scalar(&mut self, f: VideoFn) -> Decoded {
        let (d, a, b) = (self.selected(0)?, self.not_negated(1)?, self.not_negated(2)?);
        let (d_signed, a_signed, b_signed) = self.video_signs();
        let c = self.optional_src(3)?;
        let words = [("add", VideoSecond::Add), ("min", VideoSecond::Min), ("max", VideoSecond::Max)];
        let second = match (self.matched.choose(&words), d.part()?) {
            (Some(_), Some(_)) => return Err(d.error("a result is put into a part of the register, or goes on into a second operation")),
            (Some(second), None) => second,
            (None, Some(part)) => VideoSecond::Merge(part),
            (None, None) => VideoSecond::Nothing,
        };
        if second != VideoSecond::Nothing && c.is_none() {
            let message = format!("'{}' needs a third source here", self.instruction.opcode.text);
            let help = "a second operation, and a part of the destination, take the rest from it";
            return Err(Diagnostic::error("operand", self.instruction.span, message).with_help(help));
        }
        let a_part = (a.part()?.unwrap_or(VideoPart::WHOLE), a_signed);
        let b_part = (b.part()?.unwrap_or(VideoPart::WHOLE), b_signed);
        let spec = VideoSpec { f, d_signed, sat: self.matched.has("sat"), a: a_part, b: b_part, second };
        Ok(Op::Video(VideoOp::Scalar { spec, d: d.dest()?, a: a.a, b: b.a, c: c.unwrap_or(b.a) }))
    }

    fn video_mad(&mut self) -> Decoded {
        let (d, a, b, c) = (self.dst(0)?, self.selected(1)?, self.selected(2)?, self.selected(3)?);
        let (_, a_signed, b_signed) = self.video_signs();
        if c.selector.is_some() {
            return Err(c.error("the summand is a whole register"));
        }
        let (negate_product, negate_c, plus_one) = (a.negated != b.negated, c.negated, self.matched.has("po"));
        if negate_product && negate_c {
            return Err(c.error("either the product or the summand can be negative, not both"));
        }
        if plus_one && (a.negated || b.negated || c.negated) {
            return Err(Diagnostic::error("modifier", self.instruction.opcode.span, "'.po' does not go with negative operands"));
        }
        let spec = VideoMadSpec {
            a: (a.part()?.unwrap_or(VideoPart::WHOLE), a_signed),
            b: (b.part()?.unwrap_or(VideoPart::WHOLE), b_signed),
            negate_product,
            negate_c,
            plus_one,
            sat: self.matched.has("sat"),
            shift: self.matched.choose(&[("shr7", 7), ("shr15", 15)]).unwrap_or(0),
        };
        Ok(Op::Video(VideoOp::Mad { spec, d, a: a.a, b: b.a, c: c.a }))
    }

    fn video_simd(&mut self, f: VideoFn, elements: u8) -> Decoded {
        let (d, a, b, c) = (self.selected(0)?, self.not_negated(1)?, self.not_negated(2)?, self.src(3)?);
        let (d_signed, a_signed, b_signed) = self.video_signs();
        let spec = VideoSimdSpec {
            f,
            elements,
            d_signed,
            signed: (a_signed, b_signed),
            sat: self.matched.has("sat"),
            accumulate: self.matched.has("add"),
            select: [a.sources(elements, 0)?, b.sources(elements, elements)?],
            mask: d.mask(elements)?,
        };
        Ok(Op::Video(VideoOp::Simd { spec, d: d.dest()?, a: a.a, b: b.a, c }))
    }

    /// Operand `index`, which cannot be negated.
    fn not_negated(&mut self, index: usize) -> Result<Selected<'a>, Diagnostic> {
        let operand = self.selected(index)?;
        if operand.negated {
            return Err(operand.error("'-' stands before operands of 'vmad' only"));
        }
        Ok(operand)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other values are constants, or refused")]
    fn selected(&mut self, index: usize) -> Result<Selected<'a>, Diagnostic> {
        let Some(operand) = self.instruction.operands.get(index) else { return Err(self.operand_mismatch(index)) };
        let OperandKind::Expr(expr) = &operand.kind else { return Err(not_a_register(operand.span)) };
        let span = operand.span;
        let (register, negated) = match self.cx.resolve(expr)? {
            Value::Register(register) => (register, false),
            Value::Modified { register, negated } => (register, negated),
            value => {
                let bits = constant::bits(&value, ScalarType::U32, span).ok_or_else(|| not_a_register(span))??;
                return Ok(Selected { register: None, a: self.cx.const32(bits as u32), negated: false, selector: None, span });
            }
        };
        if !agrees(ScalarType::U32, register.ty, false) {
            let message = format!("a register of type .{} where '{}' needs 32 bits", register.ty.word(), self.matched.form.opcode);
            return Err(Diagnostic::error("type", span, message));
        }
        let selector = selector(expr);
        Ok(Selected { register: Some(register), a: Src::reg(register.slot), negated, selector, span })
    }
}

/// `h1` of `%r1.h1` and of `-%r1.h1`.
fn selector<'a>(expr: &Expr<'a>) -> Option<&'a str> {
    match &expr.kind {
        ExprKind::Name(text) => text.rsplit_once('.').map(|(_, selector)| selector).filter(|word| word.starts_with(['b', 'h'])),
        ExprKind::Unary(_, inner) => selector(inner),
        ExprKind::Int { .. }
        | ExprKind::Float(_)
        | ExprKind::Float32Bits(_)
        | ExprKind::Float64Bits(_)
        | ExprKind::Binary(..)
        | ExprKind::Conditional(..)
        | ExprKind::Cast { .. }
        | ExprKind::Generic(_)
        | ExprKind::Mask { .. } => None,
    }
}

impl Selected<'_> {
    fn dest(&self) -> Result<Dst, Diagnostic> {
        if self.negated {
            return Err(self.error("a destination cannot be negated"));
        }
        self.register.map(|register| Dst(register.slot)).ok_or_else(|| not_a_register(self.span))
    }

    /// The byte or half that a scalar instruction selects; `None` for all 32 bits.
    fn part(&self) -> Result<Option<VideoPart>, Diagnostic> {
        let Some(selector) = self.selector else { return Ok(None) };
        let error = || self.error("this instruction selects .b0 to .b3, .h0 or .h1");
        VideoPart::from_selector(selector).map(Some).ok_or_else(error)
    }

    /// For each element of the result, element 0 first, the index of its source among the elements of both operands; consecutive ones from
    /// `first` on if there is no selector.
    fn sources(&self, elements: u8, first: u8) -> Result<[u8; 4], Diagnostic> {
        let Some(selector) = self.selector else {
            return match self.register {
                Some(_) => Ok(std::array::from_fn(|element| first + (element as u8).min(elements - 1))),
                None => Err(self.error("a constant has no halves and bytes to choose from")),
            };
        };
        let digits = digits(selector, elements).filter(|digits| digits.len() == usize::from(elements));
        let example = if elements == 2 { ".hxy, each 0 to 3" } else { ".bwxyz, each 0 to 7" };
        let digits = digits.filter(|digits| digits.iter().all(|digit| *digit < 2 * elements));
        let digits = digits.ok_or_else(|| self.error("this does not say what each lane takes").with_help(format!("write {example}")))?;
        Ok(std::array::from_fn(|element| digits.iter().rev().nth(element).copied().unwrap_or(0)))
    }

    /// The elements that a SIMD instruction computes: `.b310` denotes elements 3, 1 and 0.
    fn mask(&self, elements: u8) -> Result<u8, Diagnostic> {
        let Some(selector) = self.selector else { return Ok((1 << elements) - 1) };
        let digits =
            digits(selector, elements).filter(|digits| digits.iter().all(|digit| *digit < elements) && digits.is_sorted_by(|a, b| a > b));
        let digits = digits.ok_or_else(|| {
            let example = if elements == 2 { ".h10, .h1 or .h0" } else { ".b3210, .b31 or .b0" };
            self.error("this is not a choice of lanes").with_help(format!("write the highest first: {example}"))
        })?;
        Ok(digits.iter().fold(0, |mask, digit| mask | 1 << digit))
    }

    fn error(&self, message: &str) -> Diagnostic {
        Diagnostic::error("operand", self.span, message)
    }
}

/// The digits of a selector of halves or bytes.
fn digits(selector: &str, elements: u8) -> Option<Vec<u8>> {
    let digits = selector.strip_prefix(if elements == 2 { 'h' } else { 'b' }).filter(|digits| !digits.is_empty())?;
    digits.bytes().map(|digit| digit.is_ascii_digit().then(|| digit - b'0')).collect()
}
