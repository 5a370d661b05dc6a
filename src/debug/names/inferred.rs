//! Types of untyped registers, inferred from the instructions that use them.
//!
//! Some compilers declare every register `.b32`, those that hold floating-point numbers as well. A register that floating-point
//! instructions of one type read or write, and no integer instruction does, holds numbers of that type; it is shown, computed with and
//! set as such. Moves, loads, stores and shuffles show no type.

use std::sync::OnceLock;

use super::scope::RegisterLocation;
use crate::debug::arrays::ArrayTypes;
use crate::isa::{ScalarType, TypeKind};
use crate::program::operands::{Use, registers_of};
use crate::program::{Bank, FuncId, Function, OperandKind, Program};

/// The inferred types of registers, computed per function at the first query, and of arrays.
#[derive(Default)]
pub struct InferredTypes {
    functions: Vec<OnceLock<FunctionTypes>>,
    /// The types of arrays that are declared as bytes.
    pub arrays: ArrayTypes,
}

/// The inferred types of the registers of a function, by slot.
#[derive(Default)]
struct FunctionTypes {
    b32: Vec<InferredType>,
    b64: Vec<InferredType>,
}

/// The type that instructions use a register as.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum InferredType {
    /// No use so far.
    #[default]
    Unknown,
    /// Only this type.
    Only(ScalarType),
    /// An integer, or different types.
    Mixed,
}

impl InferredTypes {
    /// For the functions of `program`.
    pub fn new(program: &Program) -> Self {
        Self { functions: program.functions.iter().map(|_| OnceLock::new()).collect(), arrays: ArrayTypes::default() }
    }

    /// The type in effect of a register: the declared one, or for an untyped register the inferred one.
    pub fn type_of(&self, program: &Program, function: FuncId, register: &RegisterLocation) -> ScalarType {
        let (true, Some(slot)) = (register.ty.kind() == TypeKind::Untyped, register.slot) else { return register.ty };
        let (cell, body) = (&self.functions[function.index()], &program.functions[function.index()]);
        let types = cell.get_or_init(|| FunctionTypes::of(program, body));
        let bank = if register.bank == Bank::B64 { &types.b64 } else { &types.b32 };
        match bank.get(slot.index()) {
            Some(InferredType::Only(ty)) if ty.bits() == register.ty.bits() => *ty,
            _ => register.ty,
        }
    }
}

impl FunctionTypes {
    fn of(program: &Program, function: &Function) -> Self {
        let mut types = FunctionTypes::default();
        for pc in function.code.clone() {
            let Some(inst) = program.code.get(pc as usize) else { continue };
            let Some((read, written)) = inst.op.operand_kinds().map(|kinds| (usage(kinds.sources), usage(kinds.results))) else { continue };
            registers_of(inst, program, |used, register| {
                let bank = match register.bank {
                    Bank::B32 => &mut types.b32,
                    Bank::B64 => &mut types.b64,
                    Bank::Pred => return,
                };
                let usage = match used {
                    Use::Read => read,
                    Use::Write => written,
                    Use::Address => InferredType::Mixed,
                    Use::Guard => return,
                };
                let slot = register.slot.index();
                if bank.len() <= slot {
                    bank.resize(slot + 1, InferredType::Unknown);
                }
                let agrees = matches!(bank[slot], InferredType::Unknown) || bank[slot] == usage;
                bank[slot] = if agrees { usage } else { InferredType::Mixed };
            });
        }
        types
    }
}

fn usage(kind: OperandKind) -> InferredType {
    match kind {
        OperandKind::Number(ty) if ty.kind() == TypeKind::Float => InferredType::Only(ty),
        OperandKind::Number(_) | OperandKind::Integer => InferredType::Mixed,
    }
}
