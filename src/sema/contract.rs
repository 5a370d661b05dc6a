//! Contraction: a multiplication and an addition without a rounding modifier become one operation that rounds once.
//!
//! PTX leaves it open whether they do (PTX ISA, "add", "sub", "mul": "may be contracted"); the assembler does it, and so what a GPU
//! computes follows. Its rule, as seen in what ptxas 13.0 makes of small functions, holds inside a basic block:
//!
//! - the product is joined with every addition and subtraction that uses it, or with none: one other use, a use in another block or
//!   behind a call, and none is joined;
//! - types and `.ftz` agree; the multiplication has no guard and no `.sat`;
//! - of the sum of two products the one with a single use is joined, the first operand's if both have;
//! - modules for the debugger (`.target .., debug`) are left as they are.
//!
//! The multiplication itself stays where it is, so that its register can be looked at. What cannot be said of the registers as they
//! are (a factor that is overwritten before the addition, a product that passes through `neg` first) is not joined here.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::isa::{FloatBinary, FloatTernary, FloatType};
use crate::program::operands::{RegisterOperand, RegisterOperands, reads, result_registers, writes};
use crate::program::{Bank, Dst, Op, Program, Src, SrcKind};

/// A multiplication whose product only goes into additions.
struct Product {
    at: usize,
    uses: Vec<usize>,
}

/// The registers that an instruction reads, and those it writes.
type Accesses = (RegisterOperands, RegisterOperands);

/// Joins multiplications and additions in all functions of `program`.
pub(super) fn contract(program: &mut Program) {
    for index in 0..program.functions.len() {
        let code = program.functions[index].code.start as usize..program.functions[index].code.end as usize;
        if !program.code[code.clone()].iter().any(|inst| is_open(&inst.op)) {
            continue;
        }
        let accesses: Vec<Accesses> = program.code[code.clone()].iter().map(|inst| (reads(inst, program), writes(inst, program))).collect();
        let function = Function { start: code.start, accesses };
        let blocks = blocks(program, code.start, code.end);
        let mut exposed = function.exposed_reads(program, &blocks);
        exposed.extend(result_registers(&program.functions[index]));
        for block in &blocks {
            let products: Vec<Product> = block.clone().filter_map(|at| function.product(program, at, block.end, &exposed)).collect();
            join(program, &products);
        }
    }
}

/// Whether this is a multiplication that may be joined with additions.
fn is_open(op: &Op) -> bool {
    matches!(op, Op::FloatBinary { f: FloatBinary::Mul, mode, d, .. } if mode.contract && !mode.sat && !d.is_sink())
}

/// The basic blocks of `start..end`. A branch to the next instruction ends none.
fn blocks(program: &Program, start: usize, end: usize) -> Vec<Range<usize>> {
    let mut starts = vec![false; end - start + 1];
    let mut begin = |at: usize| {
        if let Some(first) = at.checked_sub(start).and_then(|at| starts.get_mut(at)) {
            *first = true;
        }
    };
    for at in start..end {
        match &program.code[at].op {
            Op::Branch { target, .. } if target.index() == at + 1 => {}
            Op::Branch { target, .. } => {
                begin(target.index());
                begin(at + 1);
            }
            Op::BranchIndexed { table, .. } => {
                program.tables[table.index()].iter().for_each(|target| begin(target.index()));
                begin(at + 1);
            }
            Op::Call { .. } | Op::SystemCall { .. } | Op::Return { .. } | Op::Exit => begin(at + 1),
            _ => {}
        }
    }
    let mut blocks = Vec::new();
    let mut first = start;
    for at in start + 1..=end {
        if at == end || starts[at - start] {
            blocks.push(first..at);
            first = at;
        }
    }
    blocks
}

/// A function and what its instructions read and write.
struct Function {
    start: usize,
    accesses: Vec<Accesses>,
}

impl Function {
    fn accesses(&self, at: usize) -> &Accesses {
        &self.accesses[at - self.start]
    }

    /// The registers that some block reads before it writes them. A guarded write may leave the old value.
    fn exposed_reads(&self, program: &Program, blocks: &[Range<usize>]) -> BTreeSet<RegisterOperand> {
        let mut exposed = BTreeSet::new();
        for block in blocks {
            let mut written: BTreeSet<RegisterOperand> = BTreeSet::new();
            for at in block.clone() {
                let (reads, writes) = self.accesses(at);
                exposed.extend(reads.iter().filter(|register| !written.contains(*register)));
                if program.code[at].guard.is_none() {
                    written.extend(writes.iter().copied());
                }
            }
        }
        exposed
    }

    /// The multiplication at `at`, if all uses of its product up to the end of the block are additions that can be joined with it.
    fn product(&self, program: &Program, at: usize, end: usize, exposed: &BTreeSet<RegisterOperand>) -> Option<Product> {
        let inst = program.code.get(at).filter(|inst| inst.guard.is_none() && is_open(&inst.op))?;
        let Op::FloatBinary { ty, mode, d, a, b, .. } = inst.op else { return None };
        let bank = if ty == FloatType::F64 { Bank::B64 } else { Bank::B32 };
        let register = |slot: u32| RegisterOperand { bank, slot, width: 1 };
        let (product, factors) = (register(d.0), [a, b].map(|factor| slot(factor).map(register)));
        let mut factors_stand = !factors.contains(&Some(product));
        let mut uses = Vec::new();
        for later in at + 1..end {
            let (reads, writes) = self.accesses(later);
            let inst = &program.code[later];
            if reads.contains(&product) {
                if !factors_stand || !takes_product(&inst.op, ty, mode.ftz, d) {
                    return None;
                }
                uses.push(later);
            }
            if writes.contains(&product) {
                return (inst.guard.is_none() && !uses.is_empty()).then_some(Product { at, uses });
            }
            factors_stand &= !factors.iter().flatten().any(|factor| writes.contains(factor));
        }
        (!exposed.contains(&product) && !uses.is_empty()).then_some(Product { at, uses })
    }
}

/// Whether this is an addition of the product in `d` and something else, of the product's type.
fn takes_product(op: &Op, ty: FloatType, ftz: bool, d: Dst) -> bool {
    let Op::FloatBinary { f: FloatBinary::Add | FloatBinary::Sub, ty: other, mode, a, b, .. } = *op else { return false };
    other == ty && mode.contract && mode.ftz == ftz && (a == Src::reg(d.0)) != (b == Src::reg(d.0))
}

/// Joins the products of a block with their uses: those with one use first, and of two of a sum the first operand's.
fn join(program: &mut Program, products: &[Product]) {
    let single = |product: &&Product| product.uses.len() == 1;
    for product in products.iter().filter(single) {
        let at = product.uses[0];
        let rival = products.iter().filter(single).any(|other| other.at != product.at && other.uses[0] == at);
        if !rival || is_first_operand(program, product, at) {
            join_one(program, product);
        }
    }
    for product in products.iter().filter(|product| !single(product)) {
        if product.uses.iter().all(|at| matches!(program.code[*at].op, Op::FloatBinary { .. })) {
            join_one(program, product);
        }
    }
}

fn is_first_operand(program: &Program, product: &Product, at: usize) -> bool {
    match (&program.code[product.at].op, &program.code[at].op) {
        (Op::FloatBinary { d, .. }, Op::FloatBinary { a, .. }) => *a == Src::reg(d.0),
        _ => false,
    }
}

/// Makes one operation of the multiplication and each addition that uses it.
fn join_one(program: &mut Program, product: &Product) {
    let Op::FloatBinary { d: Dst(slot), a, b, .. } = program.code[product.at].op else { return };
    for at in &product.uses {
        let Op::FloatBinary { f: sum, ty, mode, d, a: left, b: right } = program.code[*at].op else { continue };
        let is_left = left == Src::reg(slot);
        let c = if is_left { right } else { left };
        let f = match (sum, is_left) {
            (FloatBinary::Sub, true) => FloatTernary::MulSub,
            (FloatBinary::Sub, false) => FloatTernary::NegMulAdd,
            _ => FloatTernary::Fma,
        };
        program.code[*at].op = Op::FloatTernary { f, ty, mode, d, a, b, c };
    }
}

fn slot(source: Src) -> Option<u32> {
    match source.kind() {
        SrcKind::Reg(slot) => Some(slot),
        SrcKind::Const(_) | SrcKind::Special(_) => None,
    }
}
