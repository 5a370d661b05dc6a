//! Contraction of products with additions, which use the unrounded product.

use super::flow::Function;
use super::saved_registers::two_registers;
use crate::isa::{Factored, FloatBinary, FloatMode, FloatTernary, FloatType, FloatUnary, Rounding, ScalarType, Width};
use crate::program::operands::RegisterOperand;
use crate::program::{Contraction, ContractionKind, ConvertOp, Dst, FloatOp, Inst, MoveOp, Op, Pc, Program, Slot, Src, SrcKind};

/// A product that may be contracted with additions. For a reciprocal, `b` is its operand.
#[derive(Clone, Copy)]
pub(super) struct FusibleProduct {
    pub(super) f: Factored,
    pub(super) ty: FloatType,
    pub(super) mode: FloatMode,
    pub(super) d: Dst,
    pub(super) a: Src,
    pub(super) b: Src,
}

/// A product whose only uses are additions.
struct Product {
    at: usize,
    uses: Vec<Use>,
    /// True if some factor is in no register at the last use.
    loses_factors: bool,
}

/// An addition of a product.
#[derive(Clone, Copy)]
struct Use {
    at: usize,
    alias: Alias,
}

/// A register that holds the product, or its negative.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Alias {
    pub(super) slot: Slot,
    negated: bool,
}

/// Contracts products with additions in function number `index`.
pub(super) fn contract_sums(program: &mut Program, index: usize, function: &Function) {
    let code = program.functions[index].code.start as usize..program.functions[index].code.end as usize;
    let products: Vec<Product> = code.filter_map(|at| function.product(program, at)).collect();
    contract_products(program, index, &products);
}

/// The product that `op` computes, if it may be contracted with additions.
pub(super) fn fusible_product(op: &Op) -> Option<FusibleProduct> {
    let Op::Float(op) = *op else { return None };
    let (f, ty, mode, d, a, b) = match op {
        FloatOp::Binary { f, ty, mode, d, a, b } => (factored(f, mode.modifiers.ftz)?, ty, mode, d, a, b),
        // With `.ftz` the result of the special-function unit is not scaled, also of 64 bits.
        FloatOp::Unary { f: FloatUnary::RcpApprox, ty, mode, d, a } if !mode.modifiers.ftz => (Factored::Reciprocal, ty, mode, d, a, a),
        FloatOp::Unary { .. } | FloatOp::Ternary { .. } | FloatOp::ProductWithFactors { .. } | FloatOp::TestProperty { .. } => return None,
    };
    (mode.contract && !mode.modifiers.sat && !d.is_sink()).then_some(FusibleProduct { f, ty, mode, d, a, b })
}

/// The function of a binary operation as a product, if it is one.
fn factored(f: FloatBinary, ftz: bool) -> Option<Factored> {
    match f {
        FloatBinary::Mul => Some(Factored::Mul),
        FloatBinary::DivApprox => Some(Factored::Quotient { full: false, known: false, ftz }),
        FloatBinary::DivApproxKnown => Some(Factored::Quotient { full: false, known: true, ftz }),
        FloatBinary::DivFull => Some(Factored::Quotient { full: true, known: false, ftz }),
        FloatBinary::DivFullKnown => Some(Factored::Quotient { full: true, known: true, ftz }),
        FloatBinary::MulInverseEx2 => Some(Factored::MulInverseEx2),
        FloatBinary::Add | FloatBinary::Sub | FloatBinary::Div | FloatBinary::Copysign => None,
        FloatBinary::Min | FloatBinary::MinNan | FloatBinary::MinXorSign | FloatBinary::MinNanXorSign => None,
        FloatBinary::Max | FloatBinary::MaxNan | FloatBinary::MaxXorSign | FloatBinary::MaxNanXorSign => None,
    }
}

impl Function {
    /// The product at `at`, if all its uses are additions that can be contracted with it. Products of constants are folded instead.
    fn product(&self, program: &Program, at: usize) -> Option<Product> {
        let inst = program.code.get(at).filter(|inst| inst.guard.is_none())?;
        let fusible = fusible_product(&inst.op)?;
        if self.is_folded(program, &fusible, at) {
            return None;
        }
        let in_block = !self.is_rematerialized(program, &fusible, at);
        let mut product = Product { at, uses: Vec::new(), loses_factors: fusible.f != Factored::Mul };
        let mut aliases = vec![(Alias { slot: fusible.d.0, negated: false }, at)];
        while let Some((alias, definition)) = aliases.pop() {
            for reader in self.readers(register(fusible.ty, alias.slot), definition, in_block)? {
                let inst = &program.code[reader];
                if adds_product(&inst.op, fusible.ty, fusible.mode.modifiers.ftz, alias) {
                    product.uses.push(Use { at: reader, alias });
                } else {
                    aliases.push((self.alias_made_by(program, inst, reader, (fusible.ty, fusible.mode.modifiers.ftz), alias)?, reader));
                }
            }
        }
        product.uses.sort_unstable_by_key(|sum| sum.at);
        let has_repeated_use = product.uses.windows(2).any(|pair| pair[0].at == pair[1].at);
        let is_unchanged = |factor: Src| match factor.kind() {
            SrcKind::Reg(slot) => product.uses.iter().all(|sum| self.def_use.is_unchanged(register(fusible.ty, slot), at, sum.at)),
            SrcKind::Const(_) | SrcKind::Special(_) => true,
        };
        product.loses_factors |= !(is_unchanged(fusible.a) && is_unchanged(fusible.b));
        (!has_repeated_use && !product.uses.is_empty()).then_some(product)
    }

    /// True if the assembler folds the product.
    pub(super) fn is_folded(&self, program: &Program, fusible: &FusibleProduct, at: usize) -> bool {
        [fusible.a, fusible.b].iter().all(|factor| self.folded_value(program, *factor, fusible.ty.bank(), at).is_some())
    }

    /// True if the assembler recomputes the product at its uses in other blocks: one factor needs no register, so it needs no more
    /// registers there.
    fn is_rematerialized(&self, program: &Program, fusible: &FusibleProduct, at: usize) -> bool {
        let constant = |factor: Src| self.needs_no_register(program, factor, fusible.ty.bank(), at);
        match fusible.f {
            _ if matches!(fusible.ty, FloatType::F16x2 | FloatType::BF16x2) => false,
            Factored::Mul => constant(fusible.a) || constant(fusible.b),
            Factored::Quotient { known: true, .. } => true,
            Factored::Quotient { full: false, ftz: true, .. } => constant(fusible.a),
            Factored::Quotient { .. } | Factored::Reciprocal | Factored::MulInverseEx2 => false,
            Factored::RcpOperand | Factored::Ex2Operand => false,
        }
    }

    /// The new alias if `inst` at `at` only copies or negates `alias`, of a product of this type and `.ftz`.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the assembler is known to do it to these instructions, and to no others")]
    pub(super) fn alias_made_by(
        &self,
        program: &Program,
        inst: &Inst,
        at: usize,
        (ty, ftz): (FloatType, bool),
        alias: Alias,
    ) -> Option<Alias> {
        if inst.guard.is_some() {
            return None;
        }
        let flush_agrees = |mode: FloatMode| !mode.modifiers.ftz || ftz;
        match inst.op {
            Op::Move(MoveOp::Move { width, d, .. }) if width == width_of(ty) => Some(Alias { slot: d.0, ..alias }),
            Op::Float(FloatOp::Unary { f: FloatUnary::Neg, ty: other, mode, d, .. }) if other == ty && flush_agrees(mode) => {
                Some(Alias { slot: d.0, negated: !alias.negated })
            }
            Op::Float(FloatOp::Binary { f: FloatBinary::Min | FloatBinary::Max, ty: other, mode, d, a, b }) if a == b => {
                (other == ty && flush_agrees(mode)).then_some(Alias { slot: d.0, ..alias })
            }
            Op::Float(FloatOp::Binary { f: FloatBinary::Mul, ty: other, mode, d, a, b }) if other == ty && flush_agrees(mode) => {
                let one = if a == Src::reg(alias.slot) { b } else { a };
                let sign = self
                    .sign_of_one(program, one, ty, at)
                    .filter(|_| mode.modifiers.rounding == Rounding::Nearest && !mode.modifiers.sat)?;
                (mode.contract || !sign).then_some(Alias { slot: d.0, negated: alias.negated != sign })
            }
            Op::Convert(ConvertOp::Single { mode, d, .. }) => {
                let is_plain = !mode.to_integral && !mode.sat && (!mode.ftz || ftz);
                (is_plain && mode.from == ScalarType::F32 && mode.to == ScalarType::F32).then_some(Alias { slot: d.0, ..alias })
            }
            _ => None,
        }
    }
}

/// The register with the number `slot` that holds a value of type `ty`.
pub(super) fn register(ty: FloatType, slot: Slot) -> RegisterOperand {
    RegisterOperand { bank: ty.bank(), slot, width: 1 }
}

/// The width of a register that holds a value of type `ty`.
pub(super) fn width_of(ty: FloatType) -> Width {
    match ty {
        FloatType::F64 => Width::B64,
        FloatType::F16 | FloatType::BF16 => Width::B16,
        FloatType::F32 | FloatType::F16x2 | FloatType::BF16x2 => Width::B32,
    }
}

/// True if `op` is an addition of the product in `alias` and another operand, of the product's type.
fn adds_product(op: &Op, ty: FloatType, ftz: bool, alias: Alias) -> bool {
    let Op::Float(FloatOp::Binary { f: FloatBinary::Add | FloatBinary::Sub, ty: other, mode, a, b, .. }) = *op else { return false };
    let product = Src::reg(alias.slot);
    other == ty && mode.contract && mode.modifiers.ftz == ftz && (a == product) != (b == product)
}

/// Contracts the products of function number `index` with their uses: first those with one use, and in a sum of two the first operand.
fn contract_products(program: &mut Program, index: usize, products: &[Product]) {
    let single = |product: &&Product| product.uses.len() == 1;
    for product in products.iter().filter(single) {
        let at = product.uses[0].at;
        let has_rival = products.iter().filter(single).any(|other| other.at != product.at && other.uses[0].at == at);
        if !has_rival || is_first_operand(program, product.uses[0]) {
            contract_product(program, index, product);
        }
    }
    for product in products.iter().filter(|product| !single(product)) {
        if product.uses.iter().all(|sum| matches!(program.code[sum.at].op, Op::Float(FloatOp::Binary { .. }))) {
            contract_product(program, index, product);
        }
    }
}

fn is_first_operand(program: &Program, sum: Use) -> bool {
    matches!(program.code[sum.at].op, Op::Float(FloatOp::Binary { a, .. }) if a == Src::reg(sum.alias.slot))
}

/// Replaces each addition that uses the product by a fused multiply-add.
fn contract_product(program: &mut Program, index: usize, product: &Product) {
    let Some(FusibleProduct { f, ty, mode, d, mut a, mut b }) = fusible_product(&program.code[product.at].op) else { return };
    if product.loses_factors {
        let saved = two_registers(&mut program.functions[index], ty);
        program.code[product.at].op = Op::Float(FloatOp::ProductWithFactors { f, ty, mode, d, a, b, factors: saved });
        (a, b) = (Src::reg(saved.0), Src::reg(saved.0.offset(1)));
    }
    for sum in &product.uses {
        let Op::Float(FloatOp::Binary { f, ty, mode, d, a: left, b: right }) = program.code[sum.at].op else { continue };
        let is_left = left == Src::reg(sum.alias.slot);
        let c = if is_left { right } else { left };
        let f = match (f, is_left, sum.alias.negated) {
            (FloatBinary::Sub, true, false) => FloatTernary::MulSub,
            (FloatBinary::Sub, true, true) => FloatTernary::NegMulSub,
            (FloatBinary::Sub, false, false) | (FloatBinary::Add, _, true) => FloatTernary::NegMulAdd,
            _ => FloatTernary::Fma,
        };
        program.code[sum.at].op = Op::Float(FloatOp::Ternary { f, ty, mode, d, a, b, c });
        program.contractions.push(Contraction { kind: ContractionKind::Sum, second: Pc::new(sum.at), first: Pc::new(product.at) });
    }
}
