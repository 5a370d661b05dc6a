//! The dimensions in which a kernel distinguishes its threads, and its blocks.
//!
//! `(%tid.z * %ntid.y + %tid.y) * ..` linearizes the thread index for any shape of block, as the same products of `%ctaid` linearize
//! the block index: both are no evidence of the shape. Cooperative groups do so, and always read all dimensions.

use std::collections::BTreeMap;

use super::flow::{Flow, slot_of};
use crate::isa::{IntBinary, IntTernary};
use crate::program::operands;
use crate::program::{Bank, CompareOp, ConvertOp, FuncId, IntegerOp, MoveOp, Op, Pc, Program, Slot, Src, SrcKind};

/// The part of an index computation that a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    /// The index in y.
    Y,
    /// The index in z.
    Z,
    /// The extent in y.
    Rows,
    /// The product of the last two.
    ProductZ,
}

/// True for y and for z if the code uses that index of `%tid` other than to linearize it. A comparison selects one thread, as in
/// cooperative groups, and does not count.
pub fn of_threads(flow: &Flow<'_>) -> [bool; 2] {
    let names = [("%tid.y", Index::Y), ("%tid.z", Index::Z), ("%ntid.y", Index::Rows)];
    Dimensions::new(flow, &names).used(true)
}

/// True for y and for z if the code uses that index of `%ctaid` other than to linearize it.
pub fn of_blocks(flow: &Flow<'_>) -> [bool; 2] {
    let names = [("%ctaid.y", Index::Y), ("%ctaid.z", Index::Z), ("%nctaid.y", Index::Rows)];
    Dimensions::new(flow, &names).used(false)
}

/// The registers that hold an index.
struct Dimensions<'f, 'p> {
    flow: &'f Flow<'p>,
    names: &'f [(&'static str, Index)],
    held: BTreeMap<(FuncId, Bank, Slot), Index>,
}

impl<'f, 'p> Dimensions<'f, 'p> {
    fn new(flow: &'f Flow<'p>, names: &'f [(&'static str, Index)]) -> Self {
        let mut dimensions = Self { flow, names, held: BTreeMap::new() };
        for (function, _, inst) in flow.code() {
            if let Some((bank, slot, index)) = dimensions.result(function, &inst.op) {
                dimensions.held.insert((function, bank, slot), index);
            }
        }
        dimensions
    }

    /// The index that an operation writes to a register: that of a special register, converted to another width, or a product of two.
    #[expect(clippy::wildcard_enum_match_arm, reason = "compilers linearize indices with these operations")]
    fn result(&self, function: FuncId, op: &Op) -> Option<(Bank, Slot, Index)> {
        let index = |bank: Bank, source: Src| self.index(function, bank, source);
        match *op {
            Op::Move(MoveOp::Move { width, d, a }) => Some((width.bank(), d.0, index(width.bank(), a)?)),
            Op::Convert(ConvertOp::Single { mode, d, a }) => {
                let bank = |bits: u8| Bank::of_wide(bits == 64);
                Some((bank(mode.d_bits), d.0, index(bank(mode.a_bits), a)?))
            }
            Op::Integer(IntegerOp::MulWide { ty, d, a, b }) => {
                self.is_product(function, ty.bank(), [a, b]).then_some((Bank::B64, d.0, Index::ProductZ))
            }
            Op::Integer(IntegerOp::Binary { f: IntBinary::MulLo, ty, d, a, b }) => {
                self.is_product(function, ty.bank(), [a, b]).then_some((ty.bank(), d.0, Index::ProductZ))
            }
            _ => None,
        }
    }

    fn index(&self, function: FuncId, bank: Bank, source: Src) -> Option<Index> {
        match source.kind() {
            SrcKind::Special(special) => {
                let name = self.flow.program.specials[special as usize].name();
                self.names.iter().find(|row| row.0 == name).map(|row| row.1)
            }
            SrcKind::Reg(_) | SrcKind::Const(_) => self.held.get(&(function, bank, slot_of(source)?)).copied(),
        }
    }

    /// True if one of two factors is the index in z, and the other the extent in y.
    fn is_product(&self, function: FuncId, bank: Bank, factors: [Src; 2]) -> bool {
        let held = factors.map(|factor| self.index(function, bank, factor));
        held == [Some(Index::Z), Some(Index::Rows)] || held == [Some(Index::Rows), Some(Index::Z)]
    }

    /// True if an operation is a step of linearizing an index.
    #[expect(clippy::wildcard_enum_match_arm, reason = "compilers linearize indices with these operations")]
    fn linearizes(&self, function: FuncId, op: &Op) -> bool {
        let index = |bank: Bank, source: Src| self.index(function, bank, source);
        match *op {
            Op::Integer(IntegerOp::Ternary { f: IntTernary::MadLo, ty, a, b, c, .. }) => {
                self.is_product(function, ty.bank(), [a, b]) && index(ty.bank(), c) == Some(Index::Y)
            }
            Op::Integer(IntegerOp::Binary { f: IntBinary::Add, ty, a, b, .. }) => {
                let held = [index(ty.bank(), a), index(ty.bank(), b)];
                held == [Some(Index::ProductZ), Some(Index::Y)] || held == [Some(Index::Y), Some(Index::ProductZ)]
            }
            _ => self.result(function, op).is_some(),
        }
    }

    /// True for y and for z if that index is used for something else; with `ignores_comparisons` comparisons do not count.
    fn used(&self, ignores_comparisons: bool) -> [bool; 2] {
        let mut found = [false; 2];
        if self.held.is_empty() {
            return found;
        }
        for (function, pc, inst) in self.flow.code() {
            let is_compared = ignores_comparisons && matches!(inst.op, Op::Compare(CompareOp::SetpInt { .. }));
            let is_joined = matches!(inst.op, Op::Integer(IntegerOp::Binary { f: IntBinary::Or, .. }));
            if is_compared || is_joined || self.linearizes(function, &inst.op) || is_in_library(self.flow.program, pc) {
                continue;
            }
            for register in operands::reads(inst, self.flow.program) {
                match self.held.get(&(function, register.bank, register.slot)) {
                    Some(Index::Y) => found[0] = true,
                    Some(Index::Z) => found[1] = true,
                    Some(Index::Rows | Index::ProductZ) | None => {}
                }
            }
        }
        found
    }
}

/// True if an instruction's source line is in a header of cooperative groups.
fn is_in_library(program: &Program, pc: u32) -> bool {
    let line = program.source_line(Pc(pc));
    let file = line.and_then(|line| program.source_files.iter().find(|file| file.0 == line.file));
    file.is_some_and(|file| file.1.contains("cooperative_groups"))
}
