//! Tensor copies and changes of tensor maps, and their bracketed operands: a map and coordinates.

use super::async_copy::REDUCTIONS;
use super::family::{Decoded, Decoding};
use super::operand::Arg;
use crate::base::Diagnostic;
use crate::isa::{TensorDecode, TensorField, TensorMode};
use crate::program::{Address, AsyncOp, Completion, CopyOp, Op, Src, TensorCopy, TensorMapOp};

impl Decoding<'_, '_> {
    /// A tensor copy, or a change of a tensor map.
    pub(super) fn tensor(&mut self, decode: TensorDecode) -> Decoded {
        match decode {
            TensorDecode::TensorCopy => self.tensor_copy(),
            TensorDecode::TensorMapReplace => self.replace_field(),
            TensorDecode::TensorMapCopy => {
                Ok(Op::TensorMap(TensorMapOp::Copy { to: self.address_operand(0)?.address, from: self.address_operand(1)?.address }))
            }
        }
    }

    /// The operands of a load are shared memory, the tensor and an mbarrier; those of a store or a reduction the tensor and shared memory.
    fn tensor_copy(&mut self) -> Decoded {
        let is_load = self.matched.has("mbarrier::complete_tx::bytes");
        let (tensor, shared) = if is_load { (1, 0) } else { (0, 1) };
        let (map, coordinates) = self.map_and_coordinates(tensor)?;
        let im2col = self.matched.has("im2col") || self.matched.has("im2col_no_offs");
        let copy = TensorCopy {
            mode: if im2col { TensorMode::Im2col } else { TensorMode::Tile },
            map,
            coordinates,
            offsets: self.im2col_offsets()?,
            shared: self.space_address(shared)?,
            reduction: self.matched.choose(REDUCTIONS),
            completion: if is_load { Completion::Mbarrier(self.space_address(2)?) } else { Completion::BulkGroup },
            multicast: self.mask()?,
        };
        Ok(Op::Async(AsyncOp::Copy { copy: self.cx.copy(CopyOp::Tensor(Box::new(copy))) }))
    }

    /// `[map, {x, y}]`, operand `index`: the generic address of the map, and the coordinates.
    fn map_and_coordinates(&self, index: usize) -> Result<(Address, Box<[Src]>), Diagnostic> {
        match self.args.get(index) {
            Some(Arg::Tensor { map, coordinates }) => Ok((*map, self.cx.sources(*coordinates))),
            _ => Err(self.operand_mismatch(index)),
        }
    }

    /// The `im2colOffsets` operand: two values fewer than coordinates.
    fn im2col_offsets(&self) -> Result<Box<[Src]>, Diagnostic> {
        let Some(index) = self.matched.form.operands.iter().position(|operand| operand.name == "o") else { return Ok(Box::default()) };
        match self.args.get(index) {
            Some(Arg::Vector { list, .. }) => Ok(self.cx.sources(*list)),
            _ => Err(self.operand_mismatch(index)),
        }
    }

    /// `tensormap.replace`: the map, the dimension for fields that have a value per dimension, the new value.
    fn replace_field(&mut self) -> Decoded {
        let field = self.matched.choose(TensorField::WORDS).ok_or_else(|| self.type_mismatch())?;
        let (access, address) = self.access(0)?;
        let value = 1 + usize::from(field.is_by_dimension());
        let ordinal = if field.is_by_dimension() { self.constant_value(1).unwrap_or(0) } else { 0 };
        self.check_constant(field, value)?;
        let a = match (self.src(value), self.constant_value(value)) {
            (Err(_), Some(constant)) => self.cx.const32(constant as u32),
            (a, _) => a?,
        };
        Ok(Op::TensorMap(TensorMapOp::ReplaceField { field, ordinal: ordinal as u8, access, a, address }))
    }

    /// Checks constants that need a later version or target than the instruction.
    fn check_constant(&self, field: TensorField, index: usize) -> Result<(), Diagnostic> {
        let target = self.cx.target();
        let (first, is_available, needed) = match field {
            TensorField::ElemType => (13, self.cx.version() >= (8, 7) && target.0 >= 100, "PTX 8.7 and sm_100 or higher"),
            TensorField::SwizzleMode => (4, target == (103, Some('a')), "sm_103a"),
            TensorField::GlobalAddress
            | TensorField::Rank
            | TensorField::BoxDim
            | TensorField::GlobalDim
            | TensorField::GlobalStride
            | TensorField::ElementStride
            | TensorField::InterleaveLayout
            | TensorField::SwizzleAtomicity
            | TensorField::FillMode => return Ok(()),
        };
        match self.constant_value(index) {
            Some(value) if value >= first && !is_available => {
                let message = format!("{value} as the new .{} requires {needed}", field.word());
                Err(Diagnostic::error("target", self.operand_span(index), message))
            }
            _ => Ok(()),
        }
    }
}
