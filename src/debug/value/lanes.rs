//! A one-line summary of the values of 32 lanes.

use super::{Format, Lanes, Scalar, Type, number};
use crate::debug::eval_context::EvalContext;
use crate::machine::LaneMask;

/// Most distinct values that are listed with their lanes.
const FEW: usize = 3;

/// The values of some lanes as text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LanesText {
    /// Their type.
    pub ty: String,
    /// The lanes that have a value.
    pub mask: LaneMask,
    /// The value of each lane of `mask`, lowest lane first.
    pub values: Vec<String>,
    /// The pattern of the values.
    pub pattern: Pattern,
}

/// A pattern of values across lanes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Pattern {
    /// All lanes have this value.
    Uniform(String),
    /// An affine function of the lane number.
    Affine {
        /// The value of lane 0, extrapolated if lane 0 has none.
        base: String,
        /// The difference between successive lanes.
        stride: String,
    },
    /// A few distinct values, the most frequent first, each with its lanes.
    Few(Vec<(String, LaneMask)>),
    /// Many distinct values.
    Mixed {
        /// The least; none for values without an order.
        min: Option<String>,
        /// The greatest.
        max: Option<String>,
        /// Number of lanes without the most frequent value.
        differing: u32,
    },
}

impl Lanes {
    /// The values and their pattern.
    pub fn summary(&self, context: &EvalContext<'_>, format: Option<Format>) -> LanesText {
        let values = self.texts(context, format).into_iter().map(|(_, text)| text).collect();
        LanesText { ty: self.ty.name(), mask: self.mask, values, pattern: self.pattern(context, format) }
    }

    fn pattern(&self, context: &EvalContext<'_>, format: Option<Format>) -> Pattern {
        let text = |bits: u128| Scalar { ty: self.ty, bits }.bare_text(context, format);
        let values = self.by_frequency();
        if let [(bits, _)] = values[..] {
            return Pattern::Uniform(text(bits));
        }
        if let Some((base, stride)) = self.affine() {
            // Lane 0 shows an address with its symbol.
            let base = if self.mask.contains(0) { text(self.bits[0]) } else { base };
            return Pattern::Affine { base, stride };
        }
        if values.len() <= FEW && self.mask.count() as usize > FEW {
            return Pattern::Few(values.into_iter().map(|(bits, lanes)| (text(bits), lanes)).collect());
        }
        let ordered = |greatest: bool| {
            let best = self.iter().map(|(_, scalar)| scalar).filter(|scalar| sort_key(scalar).is_some()).reduce(|best, scalar| {
                let less = sort_key(&scalar).partial_cmp(&sort_key(&best)) == Some(std::cmp::Ordering::Less);
                if less == greatest { best } else { scalar }
            });
            best.map(|scalar| text(scalar.bits))
        };
        // Digits of another base do not show the order of signed numbers.
        let is_ordered = matches!(format, None | Some(Format::Decimal | Format::Unsigned | Format::Float | Format::Typed(_)));
        let common = values.first().map_or(0, |(_, lanes)| lanes.count());
        Pattern::Mixed {
            min: ordered(false).filter(|_| is_ordered),
            max: ordered(true).filter(|_| is_ordered),
            differing: self.mask.count() - common,
        }
    }

    /// Every distinct value with its lanes, the most frequent first, then by lowest lane.
    fn by_frequency(&self) -> Vec<(u128, LaneMask)> {
        let mut values: Vec<(u128, LaneMask)> = Vec::new();
        for (lane, scalar) in self.iter() {
            match values.iter_mut().find(|(bits, _)| *bits == scalar.bits) {
                Some((_, lanes)) => *lanes |= LaneMask::of(lane),
                None => values.push((scalar.bits, LaneMask::of(lane))),
            }
        }
        values.sort_by_key(|(_, lanes)| (std::cmp::Reverse(lanes.count()), lanes.first()));
        values
    }

    /// Base and stride of values that are affine in the lane number, with at least three lanes.
    fn affine(&self) -> Option<(String, String)> {
        if self.mask.count() < 3 {
            return None;
        }
        match self.ty {
            Type::Scalar(ty) => {
                let integers = affine_integers(self.iter().filter_map(|(lane, scalar)| Some((lane, number::to_integer(ty, scalar.bits)?))));
                if let Some((base, stride)) = integers.filter(|_| number::to_integer(ty, 0).is_some()) {
                    return Some((base.to_string(), stride.to_string()));
                }
                let floats = self.iter().filter_map(|(lane, scalar)| Some((lane, number::to_f64(ty, scalar.bits)?)));
                let (base, stride) = affine_floats(floats)?;
                Some((base.to_string(), stride.to_string()))
            }
            Type::Pointer(..) | Type::SourcePointer(..) => {
                let (base, stride) = affine_integers(self.iter().map(|(lane, scalar)| (lane, scalar.bits.cast_signed())))?;
                Some((if base < 0 { base.to_string() } else { format!("{base:#x}") }, stride.to_string()))
            }
            Type::Code | Type::Function => None,
        }
    }
}

/// Base and stride of affine integers.
fn affine_integers(mut values: impl Iterator<Item = (usize, i128)>) -> Option<(i128, i128)> {
    let ((first, start), (second, next)) = (values.next()?, values.next()?);
    let (rise, run) = (next.checked_sub(start)?, (second - first) as i128);
    let stride = (rise % run == 0).then_some(rise / run)?;
    let base = start.checked_sub(stride.checked_mul(first as i128)?)?;
    let is_affine = |(lane, value): (usize, i128)| stride.checked_mul(lane as i128).and_then(|rise| base.checked_add(rise)) == Some(value);
    values.all(is_affine).then_some((base, stride))
}

/// Base and stride of affine floating-point numbers; every sum must be exact.
fn affine_floats(mut values: impl Iterator<Item = (usize, f64)>) -> Option<(f64, f64)> {
    let ((first, start), (second, next)) = (values.next()?, values.next()?);
    let stride = (next - start) / (second - first) as f64;
    let base = start - stride * first as f64;
    let finite = stride.is_finite() && base.is_finite() && stride != 0.0;
    (finite && values.all(|(lane, value)| base + stride * lane as f64 == value)).then_some((base, stride))
}

/// Sort key of a value: integers exactly, floating-point numbers by value. None for NaN and packed values.
fn sort_key(scalar: &Scalar) -> Option<(f64, i128)> {
    match scalar.ty {
        Type::Scalar(ty) => match number::to_f64(ty, scalar.bits) {
            Some(value) => (!value.is_nan()).then_some((value, 0)),
            None => number::to_integer(ty, scalar.bits).map(|value| (0.0, value)),
        },
        Type::Pointer(..) | Type::SourcePointer(..) | Type::Code | Type::Function => Some((0.0, scalar.bits.cast_signed())),
    }
}
