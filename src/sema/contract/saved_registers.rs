//! Unnamed registers, which save operands of a contracted operation that are overwritten later.

use crate::isa::FloatType;
use crate::program::{Dst, Function as Code, Slot};

/// Allocates two adjacent registers in the function.
pub(super) fn two_registers(function: &mut Code, ty: FloatType) -> Dst {
    let slots = if ty == FloatType::F64 { &mut function.slots.b64 } else { &mut function.slots.b32 };
    *slots += 2;
    Dst(Slot(*slots - 2))
}
