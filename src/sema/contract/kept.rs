//! Registers without a name, which keep what an operation was given after its own registers have changed.

use crate::isa::FloatType;
use crate::program::{Dst, Function as Code, Slot};

/// Two more registers of the function, side by side.
pub(super) fn two_registers(function: &mut Code, ty: FloatType) -> Dst {
    let slots = if ty == FloatType::F64 { &mut function.slots.b64 } else { &mut function.slots.b32 };
    *slots += 2;
    Dst(Slot(*slots - 2))
}
