//! Asynchronous matrix multiplications of a warpgroup: `wgmma.mma_async`, with registers or a descriptor for A, dense or sparse, and
//! operations on wgmma-groups.

use super::family::{Decoded, Decoding};
use super::operand::Arg;
use crate::base::Diagnostic;
use crate::isa::{Major, ScalarType, Shape, WgmmaDecode};
use crate::program::{Dst, Op, Src, WarpgroupOp, WgmmaA, WgmmaOp};

/// `imm-scale` -1, as a 32-bit constant.
const MINUS_ONE: u64 = u32::MAX as u64;

impl Decoding<'_, '_> {
    /// A `wgmma` instruction.
    pub(super) fn wgmma(&mut self, decode: WgmmaDecode) -> Decoded {
        match decode {
            WgmmaDecode::Multiply => {
                let wgmma = self.mma_async()?;
                Ok(Op::Wgmma(WarpgroupOp::Multiply { wgmma: self.cx.wgmma(wgmma) }))
            }
            WgmmaDecode::Fence => Ok(Op::Wgmma(WarpgroupOp::Fence)),
            WgmmaDecode::Commit => Ok(Op::Wgmma(WarpgroupOp::Commit)),
            WgmmaDecode::Wait => {
                let pending = self.constant_value(0).ok_or_else(|| self.operand_mismatch(0))?;
                Ok(Op::Wgmma(WarpgroupOp::Wait { pending: u32::try_from(pending).unwrap_or(u32::MAX) }))
            }
        }
    }

    fn mma_async(&mut self) -> Result<WgmmaOp, Diagnostic> {
        let types = self.wgmma_types()?;
        let modifiers = self.matched.modifiers.iter().flatten();
        let shape = modifiers.filter_map(|modifier| Shape::from_word(modifier.text)).next().ok_or_else(|| self.type_mismatch())?;
        let packed = if types[1] == ScalarType::B32 { 32 } else { 1 };
        Ok(WgmmaOp {
            shape: Shape { k: shape.k / packed, ..shape },
            types,
            d: self.accumulators()?,
            a: self.wgmma_a()?,
            b: self.src(2)?,
            b_major: self.major("u"),
            metadata: self.metadata()?,
            accumulate: self.pred(self.operand_index("s").ok_or_else(|| self.operand_mismatch(3))?)?,
            negate_a: self.constant_named("i") == Some(MINUS_ONE),
            negate_b: self.constant_named("j") == Some(MINUS_ONE),
            saturate: self.matched.has("satfinite"),
        })
    }

    /// The types of D, A and B, which may be one modifier. `.b1` is represented as 32-bit words.
    fn wgmma_types(&self) -> Result<[ScalarType; 3], Diagnostic> {
        let modifiers = self.matched.modifiers.iter().flatten().flat_map(|modifier| modifier.text.split('.'));
        let types: Vec<ScalarType> = modifiers
            .filter_map(|modifier| if modifier == "b1" { Some(ScalarType::B32) } else { ScalarType::from_word(modifier) })
            .collect();
        <[ScalarType; 3]>::try_from(types).map_err(|_| self.type_mismatch())
    }

    /// The registers of D.
    fn accumulators(&self) -> Result<Box<[Dst]>, Diagnostic> {
        let Some(Arg::Vector { list, .. }) = self.args.first() else { return Err(self.operand_mismatch(0)) };
        let registers = self.cx.dests(*list);
        if registers.iter().any(|register| register.is_sink()) {
            return Err(Diagnostic::error("operand", self.operand_span(0), "every accumulator must be a register")
                .with_help("'_' cannot stand here: the accumulators are read, too"));
        }
        Ok(registers)
    }

    fn wgmma_a(&self) -> Result<WgmmaA, Diagnostic> {
        match self.args.get(1) {
            Some(Arg::Vector { list, .. }) => Ok(WgmmaA::Registers(self.cx.sources(*list))),
            _ => Ok(WgmmaA::Shared(self.src(1)?, self.major("t"))),
        }
    }

    /// The metadata register of a sparse A, and the sparsity selector.
    fn metadata(&self) -> Result<Option<(Src, u32)>, Diagnostic> {
        let Some(metadata) = self.operand_index("e") else { return Ok(None) };
        let selector = self.constant_named("f").and_then(|selector| u32::try_from(selector).ok());
        let selector = selector.ok_or_else(|| self.operand_mismatch(metadata + 1))?;
        Ok(Some((self.src(metadata)?, selector)))
    }

    /// The majorness of an operand. `name` is the name of its `imm-trans` in the form, which not every form has.
    fn major(&self, name: &str) -> Major {
        if self.constant_named(name) == Some(1) { Major::MN } else { Major::K }
    }

    /// Index of the operand that the form calls `name`.
    fn operand_index(&self, name: &str) -> Option<usize> {
        self.matched.form.operands.iter().position(|operand| operand.name == name)
    }

    /// The value of the constant operand that the form calls `name`.
    fn constant_named(&self, name: &str) -> Option<u64> {
        self.operand_index(name).and_then(|index| self.constant_value(index))
    }
}
