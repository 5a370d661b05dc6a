//! Products and the additions that take them before they are rounded.

use super::flow::Function;
use super::kept::two_registers;
use crate::isa::{Factored, FloatBinary, FloatMode, FloatTernary, FloatType, FloatUnary, Rounding, ScalarType, Width};
use crate::program::operands::RegisterOperand;
use crate::program::{Contraction, ContractionKind, ConvertOp, Dst, FloatOp, Inst, MoveOp, Op, Pc, Program, Slot, Src, SrcKind};

/// A product that may be joined with additions, as its instruction computes it: a reciprocal is that of `b`.
#[derive(Clone, Copy)]
pub(super) struct FusibleProduct {
    pub(super) f: Factored,
    pub(super) ty: FloatType,
    pub(super) mode: FloatMode,
    pub(super) d: Dst,
    pub(super) a: Src,
    pub(super) b: Src,
}

/// A product that only goes into additions.
struct Product {
    at: usize,
    uses: Vec<Use>,
    /// Whether no register holds a factor up to the last use.
    loses_factors: bool,
}

/// An addition of a product.
#[derive(Clone, Copy)]
struct Use {
    at: usize,
    copy: Alias,
}

/// A register that holds the product, or its negative.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Alias {
    pub(super) slot: Slot,
    negated: bool,
}

/// Joins products and additions in function number `index`.
pub(super) fn contract_sums(program: &mut Program, index: usize, function: &Function) {
    let code = program.functions[index].code.start as usize..program.functions[index].code.end as usize;
    let products: Vec<Product> = code.filter_map(|at| function.product(program, at)).collect();
    join(program, index, &products);
}

/// What `op` computes, if it is a product that may be joined with additions.
pub(super) fn open_product(op: &Op) -> Option<FusibleProduct> {
    let Op::Float(op) = *op else { return None };
    let (f, ty, mode, d, a, b) = match op {
        FloatOp::Binary { f, ty, mode, d, a, b } => (factored(f, mode.words.ftz)?, ty, mode, d, a, b),
        // With `.ftz` the special-function unit gives the reciprocal itself, of 64 bits as well.
        FloatOp::Unary { f: FloatUnary::RcpApprox, ty, mode, d, a } if !mode.words.ftz => (Factored::Reciprocal, ty, mode, d, a, a),
        FloatOp::Unary { .. } | FloatOp::Ternary { .. } | FloatOp::KeepingProduct { .. } | FloatOp::TestProperty { .. } => return None,
    };
    (mode.contract && !mode.words.sat && !d.is_sink()).then_some(FusibleProduct { f, ty, mode, d, a, b })
}

/// What an operation of two operands is as a product, if it is one.
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
    /// The product at `at`, if all its uses are additions that can be joined with it. What is computed of constants alone is a constant.
    fn product(&self, program: &Program, at: usize) -> Option<Product> {
        let inst = program.code.get(at).filter(|inst| inst.guard.is_none())?;
        let open = open_product(&inst.op)?;
        if self.is_folded(program, &open, at) {
            return None;
        }
        let inside = !self.is_rematerialized(program, &open, at);
        let mut product = Product { at, uses: Vec::new(), loses_factors: open.f != Factored::Mul };
        let mut copies = vec![(Alias { slot: open.d.0, negated: false }, at)];
        while let Some((copy, made)) = copies.pop() {
            for reader in self.readers(register(open.ty, copy.slot), made, inside)? {
                let inst = &program.code[reader];
                if takes_product(&inst.op, open.ty, open.mode.words.ftz, copy) {
                    product.uses.push(Use { at: reader, copy });
                } else {
                    copies.push((self.copied(program, inst, reader, (open.ty, open.mode.words.ftz), copy)?, reader));
                }
            }
        }
        product.uses.sort_unstable_by_key(|sum| sum.at);
        let is_twice_in_one = product.uses.windows(2).any(|pair| pair[0].at == pair[1].at);
        let is_unchanged = |factor: Src| match factor.kind() {
            SrcKind::Reg(slot) => product.uses.iter().all(|sum| self.def_use.is_unchanged(register(open.ty, slot), at, sum.at)),
            SrcKind::Const(_) | SrcKind::Special(_) => true,
        };
        product.loses_factors |= !(is_unchanged(open.a) && is_unchanged(open.b));
        (!is_twice_in_one && !product.uses.is_empty()).then_some(product)
    }

    /// Whether the assembler computes the product itself.
    pub(super) fn is_folded(&self, program: &Program, open: &FusibleProduct, at: usize) -> bool {
        [open.a, open.b].iter().all(|factor| self.known(program, *factor, open.ty.bank(), at).is_some())
    }

    /// Whether the assembler moves the product to its uses in other blocks: one factor is a constant, so that it takes no more registers
    /// there.
    fn is_rematerialized(&self, program: &Program, open: &FusibleProduct, at: usize) -> bool {
        let constant = |factor: Src| self.is_constant(program, factor, open.ty.bank(), at);
        match open.f {
            _ if matches!(open.ty, FloatType::F16x2 | FloatType::BF16x2) => false,
            Factored::Mul => constant(open.a) || constant(open.b),
            Factored::Quotient { known: true, .. } => true,
            Factored::Quotient { full: false, ftz: true, .. } => constant(open.a),
            Factored::Quotient { .. } | Factored::Reciprocal | Factored::MulInverseEx2 => false,
            Factored::RcpOperand | Factored::Ex2Operand => false,
        }
    }

    /// The copy that the instruction `inst` at `at` makes of `copy`, a product of this type and `.ftz`, if it does nothing else.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the assembler is known to do it to these instructions, and to no others")]
    pub(super) fn copied(&self, program: &Program, inst: &Inst, at: usize, (ty, ftz): (FloatType, bool), copy: Alias) -> Option<Alias> {
        if inst.guard.is_some() {
            return None;
        }
        let flushes_no_more = |mode: FloatMode| !mode.words.ftz || ftz;
        match inst.op {
            Op::Move(MoveOp::Move { width, d, .. }) if width == width_of(ty) => Some(Alias { slot: d.0, ..copy }),
            Op::Float(FloatOp::Unary { f: FloatUnary::Neg, ty: other, mode, d, .. }) if other == ty && flushes_no_more(mode) => {
                Some(Alias { slot: d.0, negated: !copy.negated })
            }
            Op::Float(FloatOp::Binary { f: FloatBinary::Min | FloatBinary::Max, ty: other, mode, d, a, b }) if a == b => {
                (other == ty && flushes_no_more(mode)).then_some(Alias { slot: d.0, ..copy })
            }
            Op::Float(FloatOp::Binary { f: FloatBinary::Mul, ty: other, mode, d, a, b }) if other == ty && flushes_no_more(mode) => {
                let one = if a == Src::reg(copy.slot) { b } else { a };
                let sign =
                    self.sign_of_one(program, one, ty, at).filter(|_| mode.words.rounding == Rounding::Nearest && !mode.words.sat)?;
                (mode.contract || !sign).then_some(Alias { slot: d.0, negated: copy.negated != sign })
            }
            Op::Convert(ConvertOp::Single { mode, d, .. }) => {
                let is_plain = !mode.to_integral && !mode.sat && (!mode.ftz || ftz);
                (is_plain && mode.from == ScalarType::F32 && mode.to == ScalarType::F32).then_some(Alias { slot: d.0, ..copy })
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

/// Whether this is an addition of the product in `copy` and something else, of the product's type.
fn takes_product(op: &Op, ty: FloatType, ftz: bool, copy: Alias) -> bool {
    let Op::Float(FloatOp::Binary { f: FloatBinary::Add | FloatBinary::Sub, ty: other, mode, a, b, .. }) = *op else { return false };
    let product = Src::reg(copy.slot);
    other == ty && mode.contract && mode.words.ftz == ftz && (a == product) != (b == product)
}

/// Joins the products of function number `index` with their uses: those with one use first, and of two of a sum the first operand's.
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
        if product.uses.iter().all(|sum| matches!(program.code[sum.at].op, Op::Float(FloatOp::Binary { .. }))) {
            join_one(program, index, product);
        }
    }
}

fn is_first_operand(program: &Program, sum: Use) -> bool {
    matches!(program.code[sum.at].op, Op::Float(FloatOp::Binary { a, .. }) if a == Src::reg(sum.copy.slot))
}

/// Makes one operation of the multiplication and each addition that uses it.
fn join_one(program: &mut Program, index: usize, product: &Product) {
    let Some(FusibleProduct { f, ty, mode, d, mut a, mut b }) = open_product(&program.code[product.at].op) else { return };
    if product.loses_factors {
        let kept = two_registers(&mut program.functions[index], ty);
        program.code[product.at].op = Op::Float(FloatOp::KeepingProduct { f, ty, mode, d, a, b, kept });
        (a, b) = (Src::reg(kept.0), Src::reg(kept.0.offset(1)));
    }
    for sum in &product.uses {
        let Op::Float(FloatOp::Binary { f, ty, mode, d, a: left, b: right }) = program.code[sum.at].op else { continue };
        let is_left = left == Src::reg(sum.copy.slot);
        let c = if is_left { right } else { left };
        let f = match (f, is_left, sum.copy.negated) {
            (FloatBinary::Sub, true, false) => FloatTernary::MulSub,
            (FloatBinary::Sub, true, true) => FloatTernary::NegMulSub,
            (FloatBinary::Sub, false, false) | (FloatBinary::Add, _, true) => FloatTernary::NegMulAdd,
            _ => FloatTernary::Fma,
        };
        program.code[sum.at].op = Op::Float(FloatOp::Ternary { f, ty, mode, d, a, b, c });
        program.contracted.push(Contraction { how: ContractionKind::Sum, taker: Pc::new(sum.at), given: Pc::new(product.at) });
    }
}
