//! `info registers`: the registers of the selected frame, of the focused lane or of all lanes of the warp.

use crate::debug::expression::register_bits;
use crate::debug::names::scope::{self, RegisterPlace};
use crate::debug::scene::{Scene, SceneError};
use crate::debug::value::{Format, Lanes, Scalar, Type, Value, ValueText};
use crate::machine::lanes_of;

/// A register with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterRow {
    /// Its name.
    pub name: String,
    /// Its declared type.
    pub ty: String,
    /// Its value.
    pub value: ValueText,
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
    let frame = scene.frame()?;
    let function = scene.function(&frame);
    let lanes = scene.lanes_in(&frame);
    let mut rows = Vec::new();
    for declaration in function.registers.iter().filter(|register| register.scope.contains(&frame.pc.0)) {
        for (name, _) in
            declaration.components().filter(|(name, number)| function.placement.slot(declaration.bank, *number).is_some() && wanted(name))
        {
            // An inner scope may hide the register of this declaration.
            let Some(place) = scope::register(function, frame.pc, &name).filter(|place| is_of(declaration, place)) else { continue };
            let place = scope::in_effect(scene, frame.function, place);
            let ty = Type::Scalar(place.ty);
            let value = if all_lanes {
                let mut values = Lanes { ty, mask: lanes, bits: [0; 32] };
                for lane in lanes_of(lanes) {
                    let own = scene.same_frame(&frame, lane as u32);
                    values.bits[lane] = own.and_then(|own| register_bits(&own, &place)).unwrap_or(0);
                }
                Value::Lanes(Box::new(values))
            } else {
                Value::Scalar(Scalar::new(ty, register_bits(&frame, &place).unwrap_or(0)))
            };
            rows.push(RegisterRow { name, ty: place.ty.word().to_string(), value: value.text(scene, format) });
        }
    }
    Ok(rows)
}

fn is_of(declaration: &crate::program::Register, place: &RegisterPlace) -> bool {
    (declaration.ty, declaration.bank) == (place.ty, place.bank)
}
