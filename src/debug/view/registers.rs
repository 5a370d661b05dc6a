//! `info registers`: the registers of the selected frame, of the focused lane or of all lanes of the warp.

use std::ops::Range;

use crate::debug::expression::register_bits;
use crate::debug::names::scope::{self, RegisterPlace};
use crate::debug::scene::{Frame, Scene, SceneError};
use crate::debug::value::{Format, Lanes, Scalar, Type, Value, ValueText};
use crate::machine::{LaneMask, lanes_of};

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

/// Which registers to show, and how.
pub struct Wanted<'a> {
    /// Chooses by name.
    pub name: &'a dyn Fn(&str) -> bool,
    /// The values of every lane that is in the function, instead of the focused one's.
    pub all_lanes: bool,
    /// How values are written.
    pub format: Option<Format>,
}

/// Some of the registers that are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterWindow {
    /// How many there are.
    pub count: usize,
    /// Those that were asked for.
    pub rows: Vec<RegisterRow>,
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
    Ok(register_window(scene, &Wanted { name: &wanted, all_lanes, format }, 0..usize::MAX)?.rows)
}

/// The registers numbered `window` of those that are wanted: only their values are looked up and written.
///
/// # Errors
/// The thread is not on the machine.
pub fn register_window(scene: &Scene<'_>, wanted: &Wanted<'_>, window: Range<usize>) -> Result<RegisterWindow, SceneError> {
    let frame = scene.frame()?;
    let function = scene.function(&frame);
    let lanes = scene.lanes_in(&frame);
    let mut found = RegisterWindow::default();
    for declaration in function.registers.iter().filter(|register| register.scope.contains(&frame.pc.0)) {
        let named = declaration.components().filter(|(_, number)| function.placement.slot(declaration.bank, *number).is_some());
        for (name, _) in named.filter(|(name, _)| (wanted.name)(name)) {
            // An inner scope may hide the register of this declaration.
            let Some(place) = scope::register(function, frame.pc, &name).filter(|place| is_of(declaration, place)) else { continue };
            found.count += 1;
            if !window.contains(&(found.count - 1)) {
                continue;
            }
            let place = scope::in_effect(scene, frame.function, place);
            let shown = if wanted.all_lanes { lanes } else { 1 << (frame.lane % 32) };
            let value = value(scene, &frame, &place, wanted.all_lanes.then_some(lanes)).text(scene, wanted.format);
            let undefined = shown & undefined(scene, &frame, &place, shown);
            found.rows.push(RegisterRow { name, ty: place.ty.word().to_string(), value, undefined });
        }
    }
    Ok(found)
}

/// What a register holds in these lanes, or in the frame's own lane.
fn value(scene: &Scene<'_>, frame: &Frame<'_>, place: &RegisterPlace, lanes: Option<LaneMask>) -> Value {
    let ty = Type::Scalar(place.ty);
    let Some(lanes) = lanes else { return Value::Scalar(Scalar::new(ty, register_bits(frame, place).unwrap_or(0))) };
    let mut values = Lanes { ty, mask: lanes, bits: [0; 32] };
    for lane in lanes_of(lanes) {
        let own = scene.same_frame(frame, lane as u32);
        values.bits[lane] = own.and_then(|own| register_bits(&own, place)).unwrap_or(0);
    }
    Value::Lanes(Box::new(values))
}

/// The lanes of `lanes` that have not written all of a register.
fn undefined(scene: &Scene<'_>, frame: &Frame<'_>, place: &RegisterPlace, lanes: LaneMask) -> LaneMask {
    let (Some(written), Some(slot)) = (&frame.warp.registers.written, place.slot) else { return 0 };
    let defined = |lane: &usize| {
        scene.same_frame(frame, *lane as u32).is_some_and(|own| {
            let first = own.base.slot(place.bank) + slot;
            (first..first + place.width).all(|slot| written.lanes(place.bank, slot) >> lane & 1 == 1)
        })
    };
    lanes_of(lanes).filter(|lane| !defined(lane)).fold(0, |mask, lane| mask | 1 << lane)
}

fn is_of(declaration: &crate::program::Register, place: &RegisterPlace) -> bool {
    (declaration.ty, declaration.bank) == (place.ty, place.bank)
}
