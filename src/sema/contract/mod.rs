//! Contraction: a multiplication and an addition without a rounding modifier become one operation that rounds once.
//!
//! PTX leaves it open whether they do (PTX ISA, "add", "sub", "mul": "may be contracted"); the assembler does it, and so what a GPU
//! computes follows. Its rule, as seen in what ptxas 13.0 makes of small functions, holds inside a basic block:
//!
//! - the product is joined with every addition and subtraction that uses it, or with none: one other use, a use in another block or
//!   behind a call, and none is joined;
//! - types and `.ftz` agree; the multiplication has no guard and no `.sat`;
//! - what `mov` and `neg` make of the product, without a guard, counts as the product;
//! - of the sum of two products the one with a single use is joined, the first operand's if both have;
//! - modules for the debugger (`.target .., debug`) are left as they are.
//!
//! The multiplication itself stays where it is, so that its register can be looked at. Where a factor is overwritten before the
//! addition, it becomes [`Op::KeepingMul`], which keeps the factors in registers without a name. What was joined is listed in
//! [`Program::joined`].

use std::collections::BTreeSet;
use std::ops::Range;

use crate::isa::{FloatBinary, FloatTernary, FloatType, FloatUnary, Width};
use crate::program::operands::{RegisterOperand, RegisterOperands, reads, result_registers, writes};
use crate::program::{Bank, Dst, Function as Code, Inst, Joined, Op, Pc, Program, Src, SrcKind};

/// A multiplication whose product only goes into additions.
struct Product {
    at: usize,
    uses: Vec<Use>,
    /// Whether a factor is overwritten before the last use.
    loses_factors: bool,
}

/// An addition of a product.
#[derive(Clone, Copy)]
struct Use {
    at: usize,
    copy: Copy,
}

/// A register that holds the product, or its negative.
#[derive(Clone, Copy, PartialEq)]
struct Copy {
    slot: u32,
    negated: bool,
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
        let live = function.live_behind(program, &blocks, &result_registers(&program.functions[index]));
        for (block, live) in blocks.iter().zip(&live) {
            let products: Vec<Product> = block.clone().filter_map(|at| function.product(program, at, block.end, live)).collect();
            join(program, index, &products);
        }
    }
    program.joined.sort_unstable_by_key(|joined| (joined.sum, joined.product));
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

/// The blocks that may be executed after the one that ends before `end`.
fn followers(program: &Program, blocks: &[Range<usize>], end: usize) -> Vec<usize> {
    let Some(last) = end.checked_sub(1).and_then(|last| program.code.get(last)) else { return Vec::new() };
    let mut starts: Vec<usize> = match &last.op {
        Op::Branch { target, .. } => vec![target.index()],
        Op::BranchIndexed { table, .. } => program.tables[table.index()].iter().map(|target| target.index()).collect(),
        _ => Vec::new(),
    };
    let ends = matches!(last.op, Op::Branch { .. } | Op::BranchIndexed { .. } | Op::Return { .. } | Op::Exit);
    if !ends || last.guard.is_some() {
        starts.push(end);
    }
    starts.iter().filter_map(|start| blocks.binary_search_by_key(start, |block| block.start).ok()).collect()
}

/// The registers that a block reads before it writes them, and those that it writes.
#[derive(Default)]
struct Facts {
    exposed: BTreeSet<RegisterOperand>,
    written: BTreeSet<RegisterOperand>,
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

    /// The registers that are read behind each block before they are written again; `results` are behind every one.
    fn live_behind(&self, program: &Program, blocks: &[Range<usize>], results: &[RegisterOperand]) -> Vec<BTreeSet<RegisterOperand>> {
        let facts: Vec<Facts> = blocks.iter().map(|block| self.facts(program, block)).collect();
        let followers: Vec<Vec<usize>> = blocks.iter().map(|block| followers(program, blocks, block.end)).collect();
        let mut live: Vec<BTreeSet<RegisterOperand>> = vec![results.iter().copied().collect(); blocks.len()];
        let mut changes = true;
        while changes {
            changes = false;
            for index in (0..blocks.len()).rev() {
                let before = live[index].len();
                for follower in &followers[index] {
                    let passes: Vec<_> = live[*follower].difference(&facts[*follower].written).copied().collect();
                    live[index].extend(passes);
                    live[index].extend(facts[*follower].exposed.iter().copied());
                }
                changes |= live[index].len() != before;
            }
        }
        live
    }

    fn facts(&self, program: &Program, block: &Range<usize>) -> Facts {
        let mut facts = Facts::default();
        for at in block.clone() {
            let (reads, writes) = self.accesses(at);
            facts.exposed.extend(reads.iter().filter(|register| !facts.written.contains(*register)));
            // A guarded write may leave the old value.
            if program.code[at].guard.is_none() {
                facts.written.extend(writes.iter().copied());
            }
        }
        facts
    }

    /// The multiplication at `at`, if all uses of its product up to the end of the block are additions that can be joined with it.
    fn product(&self, program: &Program, at: usize, end: usize, live: &BTreeSet<RegisterOperand>) -> Option<Product> {
        let inst = program.code.get(at).filter(|inst| inst.guard.is_none() && is_open(&inst.op))?;
        let Op::FloatBinary { ty, mode, d, a, b, .. } = inst.op else { return None };
        let register = |slot: u32| RegisterOperand { bank: bank(ty), slot, width: 1 };
        let factors = [a, b].map(|factor| slot(factor).map(register));
        let mut factors_stand = !factors.contains(&Some(register(d.0)));
        let mut product = Product { at, uses: Vec::new(), loses_factors: false };
        let mut copies = vec![Copy { slot: d.0, negated: false }];
        for later in at + 1..end {
            let (reads, writes) = self.accesses(later);
            let inst = &program.code[later];
            let mut read = copies.iter().filter(|copy| reads.contains(&register(copy.slot)));
            let made = match (read.next().copied(), read.next()) {
                (None, _) => None,
                (Some(copy), None) if takes_product(&inst.op, ty, mode.ftz, copy) => {
                    product.uses.push(Use { at: later, copy });
                    product.loses_factors |= !factors_stand;
                    None
                }
                (Some(copy), None) => Some(copied(inst, ty, mode.ftz, copy)?),
                (Some(_), Some(_)) => return None,
            };
            let survives = |copy: &Copy| !writes.contains(&register(copy.slot));
            if inst.guard.is_some() && !copies.iter().all(survives) {
                return None;
            }
            copies.retain(survives);
            copies.extend(made);
            if copies.is_empty() {
                break;
            }
            factors_stand &= !factors.iter().flatten().any(|factor| writes.contains(factor));
        }
        let stays = copies.iter().any(|copy| live.contains(&register(copy.slot)));
        (!stays && !product.uses.is_empty()).then_some(product)
    }
}

fn bank(ty: FloatType) -> Bank {
    if ty == FloatType::F64 { Bank::B64 } else { Bank::B32 }
}

/// The copy that `inst` makes of `copy`, if it does nothing else.
fn copied(inst: &Inst, ty: FloatType, ftz: bool, copy: Copy) -> Option<Copy> {
    let width = match ty {
        FloatType::F64 => Width::B64,
        FloatType::F16 | FloatType::BF16 => Width::B16,
        FloatType::F32 | FloatType::F16x2 | FloatType::BF16x2 => Width::B32,
    };
    match inst.op {
        _ if inst.guard.is_some() => None,
        Op::Move { width: other, d, .. } if other == width => Some(Copy { slot: d.0, ..copy }),
        Op::FloatUnary { f: FloatUnary::Neg, ty: other, mode, d, .. } if other == ty && mode.ftz == ftz => {
            Some(Copy { slot: d.0, negated: !copy.negated })
        }
        _ => None,
    }
}

/// Whether this is an addition of the product in `copy` and something else, of the product's type.
fn takes_product(op: &Op, ty: FloatType, ftz: bool, copy: Copy) -> bool {
    let Op::FloatBinary { f: FloatBinary::Add | FloatBinary::Sub, ty: other, mode, a, b, .. } = *op else { return false };
    let product = Src::reg(copy.slot);
    other == ty && mode.contract && mode.ftz == ftz && (a == product) != (b == product)
}

/// Joins the products of a block of function number `index` with their uses: those with one use first, and of two of a sum the first
/// operand's.
fn join(program: &mut Program, index: usize, products: &[Product]) {
    let single = |product: &&Product| product.uses.len() == 1;
    for product in products.iter().filter(single) {
        let at = product.uses[0].at;
        let rival = products.iter().filter(single).any(|other| other.at != product.at && other.uses[0].at == at);
        if !rival || is_first_operand(program, product.uses[0]) {
            join_one(program, index, product);
        }
    }
    for product in products.iter().filter(|product| !single(product)) {
        if product.uses.iter().all(|sum| matches!(program.code[sum.at].op, Op::FloatBinary { .. })) {
            join_one(program, index, product);
        }
    }
}

fn is_first_operand(program: &Program, sum: Use) -> bool {
    matches!(program.code[sum.at].op, Op::FloatBinary { a, .. } if a == Src::reg(sum.copy.slot))
}

/// Makes one operation of the multiplication and each addition that uses it.
fn join_one(program: &mut Program, index: usize, product: &Product) {
    let Op::FloatBinary { ty, mode, d, mut a, mut b, .. } = program.code[product.at].op else { return };
    if product.loses_factors {
        let kept = keep(&mut program.functions[index], ty);
        program.code[product.at].op = Op::KeepingMul { ty, mode, d, a, b, kept };
        (a, b) = (Src::reg(kept.0), Src::reg(kept.0 + 1));
    }
    for sum in &product.uses {
        let Op::FloatBinary { f, ty, mode, d, a: left, b: right } = program.code[sum.at].op else { continue };
        let is_left = left == Src::reg(sum.copy.slot);
        let c = if is_left { right } else { left };
        let f = match (f, is_left, sum.copy.negated) {
            (FloatBinary::Sub, true, false) => FloatTernary::MulSub,
            (FloatBinary::Sub, true, true) => FloatTernary::NegMulSub,
            (FloatBinary::Sub, false, false) | (FloatBinary::Add, _, true) => FloatTernary::NegMulAdd,
            _ => FloatTernary::Fma,
        };
        program.code[sum.at].op = Op::FloatTernary { f, ty, mode, d, a, b, c };
        program.joined.push(Joined { sum: Pc::new(sum.at), product: Pc::new(product.at) });
    }
}

/// Two more registers of the function, side by side.
fn keep(function: &mut Code, ty: FloatType) -> Dst {
    let slots = if ty == FloatType::F64 { &mut function.slots.b64 } else { &mut function.slots.b32 };
    *slots += 2;
    Dst(*slots - 2)
}

fn slot(source: Src) -> Option<u32> {
    match source.kind() {
        SrcKind::Reg(slot) => Some(slot),
        SrcKind::Const(_) | SrcKind::Special(_) => None,
    }
}
