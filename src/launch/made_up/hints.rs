//! Number formats of registers, as the types of instructions show them.

use crate::isa::{FloatType, ScalarType, TypeKind};
use crate::program::{
    Bank, CompareOp, ConvertMode, ConvertOp, Dst, FloatOp, Inst, ListId, MatrixOp, Op, Program, Slot, Src, WarpgroupOp, WgmmaA,
};

use super::flow::slot_of;

/// Registers of `inst` with the format of the number, or of each packed number, in them.
pub fn of(program: &Program, inst: &Inst) -> Vec<(Bank, Slot, ScalarType)> {
    let mut hints = Hints { program, found: Vec::new() };
    hints.operation(&inst.op);
    hints.found
}

/// The format of one number of a type that may be packed; `None` for types that are evidence of no format.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other types are no numbers of their own")]
pub fn single(ty: ScalarType) -> Option<ScalarType> {
    use ScalarType::{BF16, BF16x2, E4M3, E4M3x2, E4M3x4, E5M2, E5M2x2, E5M2x4, F16, F16x2, F32, F32x2, F64, S8, TF32, U8};
    match ty {
        F16 | F16x2 => Some(F16),
        BF16 | BF16x2 => Some(BF16),
        F32 | F32x2 | TF32 => Some(F32),
        E4M3 | E4M3x2 | E4M3x4 => Some(E4M3),
        E5M2 | E5M2x2 | E5M2x4 => Some(E5M2),
        F64 | S8 | U8 => Some(ty),
        _ => None,
    }
}

struct Hints<'p> {
    program: &'p Program,
    found: Vec<(Bank, Slot, ScalarType)>,
}

impl Hints<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations say no format")]
    fn operation(&mut self, op: &Op) {
        match *op {
            Op::Float(FloatOp::Unary { ty, d, a, .. }) => self.float(ty, &[d], &[a]),
            Op::Float(FloatOp::Binary { ty, d, a, b, .. } | FloatOp::ProductWithFactors { ty, d, a, b, .. }) => {
                self.float(ty, &[d], &[a, b]);
            }
            Op::Float(FloatOp::Ternary { ty, d, a, b, c, .. }) => self.float(ty, &[d], &[a, b, c]),
            Op::Float(FloatOp::TestProperty { ty, a, .. }) => self.float(ty, &[], &[a]),
            Op::Compare(CompareOp::SetpFloat { ty, a, b, .. }) => self.float(ty, &[], &[a, b]),
            Op::Compare(CompareOp::SetFloat { from, a, b, .. }) => self.float(from, &[], &[a, b]),
            Op::Convert(ConvertOp::Single { mode, d, a }) => self.convert(mode, d, &[a]),
            Op::Convert(ConvertOp::Pair { mode, d, a, b }) => self.convert(mode, d, &[a, b]),
            Op::Matrix { matrix } => {
                let MatrixOp::Multiply(multiply) = &self.program.matrices[matrix] else { return };
                let [d, a, b, c] = multiply.kind.types;
                self.written(d, multiply.d);
                [(a, multiply.a), (b, multiply.b), (c, multiply.c)].into_iter().for_each(|(ty, list)| self.read(ty, list));
            }
            Op::Wgmma(WarpgroupOp::Multiply { wgmma }) => {
                let wgmma = &self.program.wgmmas[wgmma];
                let [d, a, _] = wgmma.types;
                wgmma.d.iter().for_each(|register| self.dest(bank(d), *register, d));
                if let WgmmaA::Registers(registers) = &wgmma.a {
                    registers.iter().for_each(|register| self.source(Bank::B32, *register, a));
                }
            }
            _ => {}
        }
    }

    fn float(&mut self, ty: FloatType, dests: &[Dst], sources: &[Src]) {
        let scalar = ty.element();
        dests.iter().for_each(|d| self.dest(ty.bank(), *d, scalar));
        sources.iter().for_each(|a| self.source(ty.bank(), *a, scalar));
    }

    fn convert(&mut self, mode: ConvertMode, d: Dst, sources: &[Src]) {
        let bank = |bits: u8| if bits == 64 { Bank::B64 } else { Bank::B32 };
        if mode.to.kind() == TypeKind::Float {
            self.dest(bank(mode.d_bits), d, mode.to);
        }
        if mode.from.kind() == TypeKind::Float {
            sources.iter().for_each(|a| self.source(bank(mode.a_bits), *a, mode.from));
        }
    }

    fn written(&mut self, ty: ScalarType, list: ListId) {
        let program = self.program;
        program.dests[list].iter().for_each(|d| self.dest(bank(ty), *d, ty));
    }

    fn read(&mut self, ty: ScalarType, list: ListId) {
        let program = self.program;
        program.sources[list].iter().for_each(|a| self.source(bank(ty), *a, ty));
    }

    fn dest(&mut self, bank: Bank, d: Dst, ty: ScalarType) {
        self.found.extend(single(ty).filter(|_| !d.is_sink()).map(|ty| (bank, d.0, ty)));
    }

    fn source(&mut self, bank: Bank, a: Src, ty: ScalarType) {
        self.found.extend(single(ty).zip(slot_of(a)).map(|(ty, slot)| (bank, slot, ty)));
    }
}

/// The register bank of a matrix element.
fn bank(ty: ScalarType) -> Bank {
    Bank::of_wide(ty == ScalarType::F64)
}
