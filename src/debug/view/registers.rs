//! `info registers`: the registers of the selected frame, of the focused lane or of all lanes of the warp.

use crate::debug::expression::{Expression, register_bits};
use crate::debug::names::scope::{self, RegisterPlace};
use crate::debug::scene::{Frame, Scene, SceneError};
use crate::debug::target::Target;
use crate::debug::value::{Format, Lanes, Scalar, Type, Value, ValueText};
use crate::machine::LaneMask;
use crate::program::Register;

/// A register with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterRow {
    /// Its name.
    pub name: String,
    /// Its declared type.
    pub ty: String,
    /// Its value.
    pub value: ValueText,
    /// Of the lanes that the value is of, those that have never written the register: what it holds there is undefined.
    pub undefined: LaneMask,
}

/// How values are looked up and written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Values {
    /// Those of every lane that is in the function, instead of the focused one's.
    pub all_lanes: bool,
    /// With `all_lanes`: without the lanes for which the register is undefined, unless it is undefined for all.
    pub defined: bool,
    /// How they are written.
    pub format: Option<Format>,
}

/// The registers in scope that code names, in order of declaration. `wanted` chooses by name; with `all_lanes`, the values of every
/// lane that is in the function.
///
/// # Errors
/// The thread is not on the machine.
pub fn registers(
    scene: &Scene<'_>,
    wanted: impl Fn(&str) -> bool,
    all_lanes: bool,
    format: Option<Format>,
) -> Result<Vec<RegisterRow>, SceneError> {
    let names = register_names(scene, wanted)?;
    register_rows(scene, names.iter().map(String::as_str), Values { all_lanes, defined: false, format })
}

/// The names of the registers in scope that code names and `wanted` chooses, in order of declaration.
///
/// # Errors
/// The thread is not on the machine.
pub fn register_names(scene: &Scene<'_>, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>, SceneError> {
    let frame = scene.frame()?;
    let function = scene.function(&frame);
    let in_scope: Vec<_> = function.registers.iter().filter(|register| register.scope.contains(&frame.pc.0)).collect();
    let of = |declaration: &Register| {
        let named = declaration.components().filter(|(_, number)| function.placement.slot(declaration.bank, *number).is_some());
        // An inner scope may hide the register of this declaration.
        let is_inside = |other: &&Register| other.scope.len() < declaration.scope.len();
        let has_inner = in_scope.iter().any(is_inside);
        let is_seen = |name: &str| !has_inner || scope::register(function, frame.pc, name).is_some_and(|place| is_of(declaration, &place));
        named.map(|(name, _)| name).filter(|name| wanted(name) && is_seen(name)).collect::<Vec<_>>()
    };
    Ok(in_scope.iter().flat_map(|declaration| of(declaration)).collect())
}

/// The registers of these names, in their order; names of no register in scope are left out.
///
/// # Errors
/// The thread is not on the machine.
pub fn register_rows<'n>(scene: &Scene<'_>, names: impl Iterator<Item = &'n str>, how: Values) -> Result<Vec<RegisterRow>, SceneError> {
    let frame = scene.frame()?;
    let function = scene.function(&frame);
    let lanes = scene.lanes_in(&frame);
    let row = |name: &str| {
        let place = scope::register(function, frame.pc, name).filter(|place| place.slot.is_some())?;
        let place = scope::in_effect(scene, frame.function, place);
        let shown = if how.all_lanes { lanes } else { LaneMask::of((frame.lane % 32) as usize) };
        let undefined = undefined(scene, &frame, &place, shown);
        let with_value = if how.defined && undefined != shown { shown & !undefined } else { shown };
        let value = value(scene, &frame, &place, how.all_lanes.then_some(with_value)).text(scene, how.format);
        Some(RegisterRow { name: name.to_string(), ty: place.ty.word().to_string(), value, undefined })
    };
    Ok(names.filter_map(row).collect())
}

/// What a register holds in these lanes, or in the frame's own lane.
fn value(scene: &Scene<'_>, frame: &Frame<'_>, place: &RegisterPlace, lanes: Option<LaneMask>) -> Value {
    let ty = Type::Scalar(place.ty);
    let Some(lanes) = lanes else { return Value::Scalar(Scalar::new(ty, register_bits(frame, place).unwrap_or(0))) };
    let mut values = Lanes { ty, mask: lanes, bits: [0; 32] };
    for lane in lanes.iter() {
        let own = scene.same_frame(frame, lane as u32);
        values.bits[lane] = own.and_then(|own| register_bits(&own, place)).unwrap_or(0);
    }
    Value::Lanes(Box::new(values))
}

/// The lanes of `lanes` that have not written all of a register.
fn undefined(scene: &Scene<'_>, frame: &Frame<'_>, place: &RegisterPlace, lanes: LaneMask) -> LaneMask {
    let (Some(written), Some(slot)) = (&frame.warp.registers.written, place.slot) else { return LaneMask::NONE };
    let defined = |lane: &usize| {
        scene.same_frame(frame, *lane as u32).is_some_and(|own| {
            let first = slot.in_frame(own.base.slot(place.bank));
            first.run(place.width).all(|slot| written.lanes(place.bank, slot).contains(*lane))
        })
    };
    lanes.filter(|lane| !defined(&lane))
}

/// Of the lanes whose register the expression `text` names, those that have not written all of it; none where it names no register.
pub fn undefined_lanes(scene: &Scene<'_>, text: &str) -> LaneMask {
    let target = Expression::parse(text).ok().and_then(|expression| expression.target(scene).ok());
    let (Some(Target::Register(target)), Ok(warp)) = (target, scene.warp()) else { return LaneMask::NONE };
    let Some(written) = &warp.registers.written else { return LaneMask::NONE };
    target.lanes.filter(|lane| !target.slot.run(target.width).all(|slot| written.lanes(target.bank, slot).contains(lane)))
}

fn is_of(declaration: &Register, place: &RegisterPlace) -> bool {
    (declaration.ty, declaration.bank) == (place.ty, place.bank)
}
