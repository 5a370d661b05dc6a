//! What the values of 32 lanes have in common, in one line.

use super::{Format, Lanes, Scalar, Type, number};
use crate::debug::scene::Scene;
use crate::machine::LaneMask;

/// Different values up to which lanes are listed value by value.
const FEW: usize = 3;

/// The values of some lanes, ready to be drawn.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LanesText {
    /// Their type.
    pub ty: String,
    /// The lanes that have a value.
    pub mask: LaneMask,
    /// The value of each lane of `mask`, lowest lane first.
    pub values: Vec<String>,
    /// What they have in common.
    pub pattern: Pattern,
}

/// What values of lanes have in common.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Pattern {
    /// All are this.
    Uniform(String),
    /// They grow by the same step from lane to lane.
    Affine {
        /// What lane 0 has, or would have.
        base: String,
        /// What a lane has more than the one before it.
        stride: String,
    },
    /// A few different values, the most frequent first, and the lanes that have each.
    Few(Vec<(String, LaneMask)>),
    /// Many different values.
    Mixed {
        /// The least; none for values without an order.
        min: Option<String>,
        /// The greatest.
        max: Option<String>,
        /// Lanes that have another value than the most frequent one.
        differing: u32,
    },
}

impl Lanes {
    /// The values and what they have in common.
    pub fn summary(&self, scene: &Scene<'_>, format: Option<Format>) -> LanesText {
        let values = self.texts(scene, format).into_iter().map(|(_, text)| text).collect();
        LanesText { ty: self.ty.name(), mask: self.mask, values, pattern: self.pattern(scene, format) }
    }

    fn pattern(&self, scene: &Scene<'_>, format: Option<Format>) -> Pattern {
        let text = |bits: u128| Scalar { ty: self.ty, bits }.bare_text(scene, format);
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
            let best = self.iter().map(|(_, scalar)| scalar).filter(|scalar| ordinal(scalar).is_some()).reduce(|best, scalar| {
                let less = ordinal(&scalar).partial_cmp(&ordinal(&best)) == Some(std::cmp::Ordering::Less);
                if less == greatest { best } else { scalar }
            });
            best.map(|scalar| text(scalar.bits))
        };
        let common = values.first().map_or(0, |(_, lanes)| lanes.count());
        Pattern::Mixed { min: ordered(false), max: ordered(true), differing: self.mask.count() - common }
    }

    /// Every different value with its lanes, the most frequent first, then by lowest lane.
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

    /// Base and stride of values that are a line over at least three lanes.
    fn affine(&self) -> Option<(String, String)> {
        if self.mask.count() < 3 {
            return None;
        }
        match self.ty {
            Type::Scalar(ty) => {
                let integers = line(self.iter().filter_map(|(lane, scalar)| Some((lane, number::to_integer(ty, scalar.bits)?))));
                if let Some((base, stride)) = integers.filter(|_| number::to_integer(ty, 0).is_some()) {
                    return Some((base.to_string(), stride.to_string()));
                }
                let floats = self.iter().filter_map(|(lane, scalar)| Some((lane, number::to_f64(ty, scalar.bits)?)));
                let (base, stride) = exact_line(floats)?;
                Some((base.to_string(), stride.to_string()))
            }
            Type::Pointer(..) => {
                let (base, stride) = line(self.iter().map(|(lane, scalar)| (lane, scalar.bits.cast_signed())))?;
                Some((if base < 0 { base.to_string() } else { format!("{base:#x}") }, stride.to_string()))
            }
            Type::Code | Type::Function => None,
        }
    }
}

/// Base and stride of integers on a line.
fn line(mut values: impl Iterator<Item = (usize, i128)>) -> Option<(i128, i128)> {
    let ((first, start), (second, next)) = (values.next()?, values.next()?);
    let (rise, run) = (next.checked_sub(start)?, (second - first) as i128);
    let stride = (rise % run == 0).then_some(rise / run)?;
    let base = start.checked_sub(stride.checked_mul(first as i128)?)?;
    let on_line = |(lane, value): (usize, i128)| stride.checked_mul(lane as i128).and_then(|rise| base.checked_add(rise)) == Some(value);
    values.all(on_line).then_some((base, stride))
}

/// The same of floating-point numbers that are small whole numbers or the like: every sum must be exact.
fn exact_line(mut values: impl Iterator<Item = (usize, f64)>) -> Option<(f64, f64)> {
    let ((first, start), (second, next)) = (values.next()?, values.next()?);
    let stride = (next - start) / (second - first) as f64;
    let base = start - stride * first as f64;
    let finite = stride.is_finite() && base.is_finite() && stride != 0.0;
    (finite && values.all(|(lane, value)| base + stride * lane as f64 == value)).then_some((base, stride))
}

/// What values are ordered by: integers exactly, floating-point numbers by value. None for NaN and packed values.
fn ordinal(scalar: &Scalar) -> Option<(f64, i128)> {
    match scalar.ty {
        Type::Scalar(ty) => match number::to_f64(ty, scalar.bits) {
            Some(value) => (!value.is_nan()).then_some((value, 0)),
            None => number::to_integer(ty, scalar.bits).map(|value| (0.0, value)),
        },
        Type::Pointer(..) | Type::Code | Type::Function => Some((0.0, scalar.bits.cast_signed())),
    }
}
