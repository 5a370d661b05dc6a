//! What instructions take untyped registers for.
//!
//! Some compilers declare every register `.b32`, those that hold floating-point numbers as well. A register that floating-point
//! instructions of one type read or write, and no integer instruction does, holds numbers of that type; it is shown, computed with and
//! set as such. Moves, loads, stores and shuffles say nothing either way.

use std::sync::OnceLock;

use super::registers::RegisterPlace;
use crate::debug::arrays::ArrayTypes;
use crate::isa::{FloatType, ScalarType, TypeKind};
use crate::program::operands::{Use, registers_of};
use crate::program::{AtomicOp, Bank, ClusterOp, CompareOp, ControlOp, ConvertOp, FloatOp, FuncId, Function, MoveOp, Op, Program};

/// The types that instructions give to registers, worked out for a function when it is first asked for, and to arrays.
#[derive(Default)]
pub struct Usage {
    functions: Vec<OnceLock<Types>>,
    /// What the elements of arrays are that are declared by the byte.
    pub arrays: ArrayTypes,
}

/// What the registers of a function are taken for, by slot.
#[derive(Default)]
struct Types {
    b32: Vec<Taken>,
    b64: Vec<Taken>,
}

/// What a register is taken for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Taken {
    /// Nothing so far.
    #[default]
    Unknown,
    /// This type.
    For(ScalarType),
    /// An integer, or different types.
    Mixed,
}

impl Usage {
    /// For the functions of `program`.
    pub fn new(program: &Program) -> Self {
        Self { functions: program.functions.iter().map(|_| OnceLock::new()).collect(), arrays: ArrayTypes::default() }
    }

    /// The type that a register has in effect: its own, or of an untyped one what instructions take it for.
    pub fn type_of(&self, program: &Program, function: FuncId, register: &RegisterPlace) -> ScalarType {
        let (true, Some(slot)) = (register.ty.kind() == TypeKind::Untyped, register.slot) else { return register.ty };
        let (Some(cell), Some(body)) = (self.functions.get(function.index()), program.functions.get(function.index())) else {
            return register.ty;
        };
        let types = cell.get_or_init(|| Types::of(program, body));
        let bank = if register.bank == Bank::B64 { &types.b64 } else { &types.b32 };
        match bank.get(slot as usize) {
            Some(Taken::For(ty)) if ty.bits() == register.ty.bits() => *ty,
            _ => register.ty,
        }
    }
}

impl Types {
    fn of(program: &Program, function: &Function) -> Self {
        let mut types = Types::default();
        for pc in function.code.clone() {
            let Some(inst) = program.code.get(pc as usize) else { continue };
            let Some((read, written)) = types_of(&inst.op) else { continue };
            registers_of(inst, program, |used, register| {
                let bank = match register.bank {
                    Bank::B32 => &mut types.b32,
                    Bank::B64 => &mut types.b64,
                    Bank::Pred => return,
                };
                let taken = match used {
                    Use::Read => read,
                    Use::Write => written,
                    Use::Address => Taken::Mixed,
                    Use::Guard => return,
                };
                let slot = register.slot as usize;
                if bank.len() <= slot {
                    bank.resize(slot + 1, Taken::Unknown);
                }
                let agrees = matches!(bank[slot], Taken::Unknown) || bank[slot] == taken;
                bank[slot] = if agrees { taken } else { Taken::Mixed };
            });
        }
        types
    }
}

/// What an operation takes its sources and its results for; none if it says nothing.
fn types_of(op: &Op) -> Option<(Taken, Taken)> {
    let both = |ty: ScalarType| Some((taken(ty), taken(ty)));
    match op {
        Op::Float(
            FloatOp::Unary { ty, .. } | FloatOp::Binary { ty, .. } | FloatOp::Ternary { ty, .. } | FloatOp::KeepingProduct { ty, .. },
        ) => both(scalar(*ty)),
        Op::Float(FloatOp::TestProperty { ty, .. }) | Op::Compare(CompareOp::SetpFloat { ty, .. }) => both(scalar(*ty)),
        Op::Compare(CompareOp::SetFloat { from, to, .. }) => Some((taken(scalar(*from)), taken(*to))),
        Op::Convert(ConvertOp::Single { mode, .. } | ConvertOp::Pair { mode, .. }) => Some((taken(mode.from), taken(mode.to))),
        Op::Atomic(AtomicOp::Single { ty, .. } | AtomicOp::Vector { ty, .. }) => both(*ty),
        Op::Integer(_)
        | Op::Move(MoveOp::Vector { .. })
        | Op::Cluster(ClusterOp::MapShared { .. } | ClusterOp::Rank { .. })
        | Op::Control(ControlOp::SystemCall { .. })
        | Op::Video(_)
        | Op::Bits(_)
        | Op::Compare(CompareOp::SetpInt { .. }) => Some((Taken::Mixed, Taken::Mixed)),
        _ => None,
    }
}

fn taken(ty: ScalarType) -> Taken {
    if ty.kind() == TypeKind::Float { Taken::For(ty) } else { Taken::Mixed }
}

fn scalar(ty: FloatType) -> ScalarType {
    match ty {
        FloatType::F32 => ScalarType::F32,
        FloatType::F64 => ScalarType::F64,
        FloatType::F16 => ScalarType::F16,
        FloatType::F16x2 => ScalarType::F16x2,
        FloatType::BF16 => ScalarType::BF16,
        FloatType::BF16x2 => ScalarType::BF16x2,
    }
}
