//! The type in which an instruction takes what it loads or stores.

use super::scope;
use crate::debug::scene::Scene;
use crate::isa::ScalarType;
use crate::program::operands::{Use, registers_of};
use crate::program::{Bank, Pc, Program};

/// The type of a load, store or atomic as its opcode names it: the last of its words that is a type; none of another instruction.
pub fn access_type(program: &Program, pc: Pc) -> Option<ScalarType> {
    program.code.get(pc.index()).filter(|inst| inst.op.access().is_some())?;
    program.opcode(pc)?.matched.types.last().copied()
}

/// The type of the register that an instruction loads or stores: the declared one, or what instructions take an untyped one for.
pub fn data_type(scene: &Scene<'_>, pc: Pc) -> Option<ScalarType> {
    let program = scene.program();
    let inst = program.code.get(pc.index())?;
    let id = program.function_at(pc)?;
    let function = program.functions.get(id.index())?;
    let (mut loaded, mut stored) = (None, None);
    registers_of(inst, program, |used, register| {
        let place = (register.bank, register.slot);
        match used {
            Use::Write if register.bank != Bank::Pred => loaded = loaded.or(Some(place)),
            Use::Read => stored = stored.or(Some(place)),
            Use::Write | Use::Address | Use::Guard => {}
        }
    });
    let (bank, slot) = loaded.or(stored)?;
    let name = scope::register_of_slot(function, pc, bank, slot)?;
    Some(scope::in_effect(scene, id, scope::register(function, pc, &name)?).ty)
}
