//! What instructions take untyped registers for.
//!
//! Some compilers declare every register `.b32`, those that hold floating-point numbers as well. A register that floating-point
//! instructions of one type read or write, and no integer instruction does, holds numbers of that type; it is shown, computed with and
//! set as such. Moves, loads, stores and shuffles say nothing either way.

use std::sync::OnceLock;

use super::registers::RegisterPlace;
use crate::debug::arrays::ArrayTypes;
use crate::isa::{ScalarType, TypeKind};
use crate::program::operands::{Use, registers_of};
use crate::program::{Bank, FuncId, Function, OperandKind, Program};

/// The types that instructions give to registers, worked out for a function when it is first asked for, and to arrays.
#[derive(Default)]
pub struct InferredTypes {
    functions: Vec<OnceLock<FunctionTypes>>,
    /// What the elements of arrays are that are declared by the byte.
    pub arrays: ArrayTypes,
}

/// What the registers of a function are taken for, by slot.
#[derive(Default)]
struct FunctionTypes {
    b32: Vec<InferredType>,
    b64: Vec<InferredType>,
}

/// What a register is taken for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum InferredType {
    /// Nothing so far.
    #[default]
    Unknown,
    /// This type.
    For(ScalarType),
    /// An integer, or different types.
    Mixed,
}

impl InferredTypes {
    /// For the functions of `program`.
    pub fn new(program: &Program) -> Self {
        Self { functions: program.functions.iter().map(|_| OnceLock::new()).collect(), arrays: ArrayTypes::default() }
    }

    /// The type that a register has in effect: its own, or of an untyped one what instructions take it for.
    pub fn type_of(&self, program: &Program, function: FuncId, register: &RegisterPlace) -> ScalarType {
        let (true, Some(slot)) = (register.ty.kind() == TypeKind::Untyped, register.slot) else { return register.ty };
        let (cell, body) = (&self.functions[function.index()], &program.functions[function.index()]);
        let types = cell.get_or_init(|| FunctionTypes::of(program, body));
        let bank = if register.bank == Bank::B64 { &types.b64 } else { &types.b32 };
        match bank.get(slot.index()) {
            Some(InferredType::For(ty)) if ty.bits() == register.ty.bits() => *ty,
            _ => register.ty,
        }
    }
}

impl FunctionTypes {
    fn of(program: &Program, function: &Function) -> Self {
        let mut types = FunctionTypes::default();
        for pc in function.code.clone() {
            let Some(inst) = program.code.get(pc as usize) else { continue };
            let Some((read, written)) = inst.op.operand_kinds().map(|kinds| (taken(kinds.sources), taken(kinds.results))) else { continue };
            registers_of(inst, program, |used, register| {
                let bank = match register.bank {
                    Bank::B32 => &mut types.b32,
                    Bank::B64 => &mut types.b64,
                    Bank::Pred => return,
                };
                let taken = match used {
                    Use::Read => read,
                    Use::Write => written,
                    Use::Address => InferredType::Mixed,
                    Use::Guard => return,
                };
                let slot = register.slot.index();
                if bank.len() <= slot {
                    bank.resize(slot + 1, InferredType::Unknown);
                }
                let agrees = matches!(bank[slot], InferredType::Unknown) || bank[slot] == taken;
                bank[slot] = if agrees { taken } else { InferredType::Mixed };
            });
        }
        types
    }
}

fn taken(kind: OperandKind) -> InferredType {
    match kind {
        OperandKind::Number(ty) if ty.kind() == TypeKind::Float => InferredType::For(ty),
        OperandKind::Number(_) | OperandKind::Integer => InferredType::Mixed,
    }
}
