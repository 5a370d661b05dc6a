//! Tensor copies and changes of tensor maps. What stands in their brackets is read here: a map and coordinates.

use super::async_copy::REDUCTIONS;
use super::family::{Decoded, Decoding};
use super::operand::not_a_register;
use super::place;
use super::vector::{Elements, elements, same_width, sources};
use crate::base::{Diagnostic, Span};
use crate::isa::{Decode, ScalarType, TensorField, TensorMode, agrees};
use crate::program::{Address, Completion, CopyOp, Op, RANK_MAX, Src, TensorCopy};
use crate::sema::operands::Value;
use crate::syntax::tree::OperandKind;

/// The words for how many coordinates there are.
const RANKS: &[(&str, usize)] = &[("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)];

impl Decoding<'_, '_> {
    /// A tensor copy, or a change of a tensor map.
    pub(super) fn tensor(&mut self) -> Decoded {
        match self.matched.form.row.decode {
            Decode::TensorCopy => self.tensor_copy(),
            Decode::TensorPrefetch => {
                self.box_place(0)?;
                self.im2col_offsets()?;
                Ok(Op::Nop)
            }
            Decode::UnsupportedTensor => {
                let tensor = self.matched.form.operands.iter().position(|operand| operand.name == "t");
                self.box_place(tensor.unwrap_or(0))?;
                self.im2col_offsets()?;
                self.unsupported()
            }
            Decode::TensorMapReplace => self.replace_field(),
            Decode::TensorMapCopy => Ok(Op::CopyTensorMap { to: self.place(0)?.address, from: self.place(1)?.address }),
            _ => Err(self.disagreement(0)),
        }
    }

    /// A load names shared memory, the tensor and a barrier object; a store or a reduction the tensor and shared memory.
    fn tensor_copy(&mut self) -> Decoded {
        let is_load = self.matched.has("mbarrier::complete_tx::bytes");
        let (tensor, shared) = if is_load { (1, 0) } else { (0, 1) };
        let (map, coordinates) = self.box_place(tensor)?;
        let im2col = self.matched.has("im2col") || self.matched.has("im2col_no_offs");
        let copy = TensorCopy {
            mode: if im2col { TensorMode::Im2col } else { TensorMode::Tile },
            map,
            coordinates,
            offsets: self.im2col_offsets()?,
            shared: self.at(shared)?,
            reduction: self.matched.choose(REDUCTIONS),
            completion: if is_load { Completion::Mbarrier(self.at(2)?) } else { Completion::BulkGroup },
            multicast: self.mask()?,
        };
        Ok(Op::AsyncCopy { copy: self.cx.copy(CopyOp::Tensor(Box::new(copy))) })
    }

    /// Whether it names one column and four rows.
    fn is_scattered(&self) -> bool {
        self.matched.has("tile::gather4") || self.matched.has("tile::scatter4")
    }

    /// Whether it walks along the width only.
    fn is_wide(&self) -> bool {
        self.matched.has("im2col::w") || self.matched.has("im2col::w::128")
    }

    fn rank(&self) -> usize {
        self.matched.choose(RANKS).unwrap_or(RANK_MAX)
    }

    /// `[map, {x, y}]`, operand `index`: the generic address of the map, and as many coordinates as the instruction says.
    fn box_place(&mut self, index: usize) -> Result<(Address, Box<[Src]>), Diagnostic> {
        let instruction = self.instruction;
        let operand = instruction.operands.get(index).ok_or_else(|| self.disagreement(index))?;
        let wrong = || {
            Diagnostic::error("operand", operand.span, "a tensor map and coordinates are needed here")
                .with_help("write [map, {x, y}]: a register with the generic address of the map, and a coordinate for each dimension")
        };
        let OperandKind::AddressList(parts) = &operand.kind else { return Err(wrong()) };
        let [map, coordinates] = parts.as_slice() else { return Err(wrong()) };
        let OperandKind::Expr(expr) = &map.kind else { return Err(wrong()) };
        if let Value::RegisterOffset(..) = self.cx.resolve(expr)? {
            return Err(Diagnostic::error("operand", map.span, "the address of a tensor map cannot have an offset here")
                .with_help("add it to the register with add.s64 first"));
        }
        let place = place::of_expr(expr, None, map.span, self.cx)?;
        let count = if self.is_scattered() { RANK_MAX } else { self.rank() };
        let Some(values) = elements(coordinates, self.cx)? else {
            return Err(Diagnostic::error("operand", coordinates.span, "coordinates are written in braces: {x, y}"));
        };
        Ok((place.address, self.vector_of(&values, count, ScalarType::B32, ("coordinate", coordinates.span))?))
    }

    /// The operand that shifts the pixels of im2col: two values less than there are coordinates, or of a walk along the width two.
    fn im2col_offsets(&mut self) -> Result<Box<[Src]>, Diagnostic> {
        let Some(index) = self.matched.form.operands.iter().position(|operand| operand.name == "o") else { return Ok(Box::default()) };
        let instruction = self.instruction;
        let operand = instruction.operands.get(index).ok_or_else(|| self.disagreement(index))?;
        let count = if self.is_wide() { 2 } else { self.rank().saturating_sub(2) };
        let Some(values) = elements(operand, self.cx)? else {
            return Err(Diagnostic::error("operand", operand.span, "offsets are written in braces: {w, h}"));
        };
        self.vector_of(&values, count, ScalarType::B16, ("offset", operand.span))
    }

    /// `count` values of type `ty`, which `what` names and places.
    fn vector_of(&mut self, values: &Elements, count: usize, ty: ScalarType, what: (&str, Span)) -> Result<Box<[Src]>, Diagnostic> {
        let (noun, span) = what;
        if values.len() != count {
            let plural = if count == 1 { "" } else { "s" };
            return Err(Diagnostic::error("operand", span, format!("{count} {noun}{plural} are needed here, not {}", values.len())));
        }
        for (value, span) in values {
            match value {
                Value::Register(register) if !agrees(ty, register.ty, false) => {
                    let message = format!("a register of type .{} where {noun}s have {} bits", register.ty.word(), ty.bits());
                    return Err(Diagnostic::error("type", *span, message));
                }
                Value::Register(_) | Value::Int { .. } => {}
                _ => return Err(not_a_register(*span)),
            }
        }
        let bits = same_width(values, ty, span)?;
        Ok(sources(values, ty, bits, self.cx)?.into_iter().collect())
    }

    /// `tensormap.replace`: the map, the dimension of fields that there is one of for each, the new value.
    fn replace_field(&mut self) -> Decoded {
        let field = self.matched.choose(TensorField::WORDS).ok_or_else(|| self.type_disagreement())?;
        let (access, address) = self.access(0)?;
        let value = 1 + usize::from(field.is_by_dimension());
        let ordinal = if field.is_by_dimension() { self.constant_value(1).unwrap_or(0) } else { 0 };
        self.check_constant(field, value)?;
        let a = match (self.src(value), self.constant_value(value)) {
            (Err(_), Some(constant)) => self.cx.const32(constant as u32),
            (a, _) => a?,
        };
        Ok(Op::ReplaceTensorField { field, ordinal: ordinal as u8, access, a, address })
    }

    /// Some values came with later versions and targets.
    fn check_constant(&self, field: TensorField, index: usize) -> Result<(), Diagnostic> {
        let target = self.cx.target();
        let (first, is_there, needed) = match field {
            TensorField::ElemType => (13, self.cx.version() >= (8, 7) && target.0 >= 100, "PTX 8.7 and sm_100 or higher"),
            TensorField::SwizzleMode => (4, target == (103, Some('a')), "sm_103a"),
            _ => return Ok(()),
        };
        match self.constant_value(index) {
            Some(value) if value >= first && !is_there => {
                let message = format!("{value} as the new .{} requires {needed}", field.word());
                Err(Diagnostic::error("target", self.operand_span(index), message))
            }
            _ => Ok(()),
        }
    }
}
