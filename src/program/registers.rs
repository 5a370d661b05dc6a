//! Registers by name, as a function declares them.

use super::{Bank, Function, Pc, Register, Slot};
use crate::isa::ScalarType;

/// A register of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterLocation {
    /// Its type in effect: the declared one, or for an untyped register the inferred one.
    pub ty: ScalarType,
    /// Its bank.
    pub bank: Bank,
    /// Slot in its frame; none if no code names the register, and it has no value.
    pub slot: Option<Slot>,
    /// Number of slots: 2 for `.b128`, otherwise 1.
    pub width: u32,
}

/// The register called `name` in the scopes around `pc`; the innermost of several.
pub fn register(function: &Function, pc: Pc, name: &str) -> Option<RegisterLocation> {
    let in_scope = function.registers.iter().filter(|register| register.scope.contains(&pc.0));
    let named = in_scope.filter_map(|register| Some((register, number_of(register, name)?)));
    let (register, number) = named.min_by_key(|(register, _)| register.scope.end - register.scope.start)?;
    let slot = function.placement.slot(register.bank, number);
    Some(RegisterLocation { ty: register.ty, bank: register.bank, slot, width: register.width() })
}

/// The registers of a function called `name`, one for each scope that declares it with another location.
pub fn registers_called(function: &Function, name: &str) -> Vec<RegisterLocation> {
    let called = function.registers.iter().filter(|register| number_of(register, name).is_some());
    let mut locations: Vec<RegisterLocation> = called.filter_map(|declared| register(function, Pc(declared.scope.start), name)).collect();
    locations.dedup();
    locations
}

/// The name at `pc` of the register in this slot of a bank; of several, that of the innermost scope.
pub fn register_of_slot(function: &Function, pc: Pc, bank: Bank, slot: Slot) -> Option<String> {
    let in_scope = function.registers.iter().filter(|register| register.bank == bank && register.scope.contains(&pc.0));
    let named = in_scope.filter_map(|register| {
        let (name, _) = register.components().find(|(_, number)| function.placement.slot(bank, *number) == Some(slot))?;
        Some((register.scope.len(), name))
    });
    named.min().map(|(_, name)| name)
}

/// The number of the register of this declaration that is called `name`.
pub fn number_of(register: &Register, name: &str) -> Option<u32> {
    let rest = name.strip_prefix(&*register.name)?;
    let (digits, component) = match register.components {
        1 => (rest, 0),
        components => {
            let (digits, letter) = rest.split_once('.')?;
            let index = ["x", "y", "z", "w"].iter().zip(["r", "g", "b", "a"]).position(|(a, b)| letter == *a || letter == b)?;
            (digits, u32::try_from(index).ok().filter(|index| *index < components)?)
        }
    };
    let index = match register.count {
        None => digits.is_empty().then_some(0)?,
        Some(count) => {
            let plain = digits == "0" || !digits.starts_with('0') && digits.bytes().all(|digit| digit.is_ascii_digit());
            digits.parse::<u32>().ok().filter(|index| plain && *index < count)?
        }
    };
    Some(register.number + (index * register.components + component) * register.width())
}
