//! An instruction with its form and decoded operands, and accessors that all families use.

use super::super::decode_context::DecodeContext;
use super::address_operand::AddressOperand;
use super::operand::{Arg, Args, resolve_names};
use crate::base::Diagnostic;
use crate::isa::{FloatMode, FloatType, IntType, Matched, Mode, Rounding, ScalarType, Width};
use crate::program::{Dst, Op, PredSrc, Src};
use crate::syntax::tree::Instruction;

/// An instruction with its form and its decoded operands.
pub(super) struct Decoding<'r, 'a> {
    /// The form, and the modifiers and types of the instruction in it.
    pub matched: &'r Matched,
    pub instruction: &'r Instruction<'a>,
    pub args: &'r Args,
    pub cx: &'r mut dyn DecodeContext<'a>,
}

/// An operation, or the error of the instruction.
pub(super) type Decoded = Result<Op, Diagnostic>;

impl<'a> Decoding<'_, 'a> {
    /// An unsupported instruction, at which a run stops.
    pub fn unsupported(&mut self) -> Decoded {
        if self.matched.form.any_operands {
            self.instruction.operands.iter().try_for_each(|operand| resolve_names(operand, self.cx))?;
        }
        let why = format!("'{}' is not modelled ({})", self.instruction.opcode.text, self.matched.form.row.help);
        Ok(Op::Unsupported { why: self.cx.unsupported(why) })
    }

    /// The type of the instruction.
    pub fn ty(&self) -> ScalarType {
        self.matched.ty()
    }

    /// Operand `index`, which is a destination register.
    pub fn dst(&self, index: usize) -> Result<Dst, Diagnostic> {
        match self.args.get(index) {
            Some(Arg::Dest { d, .. }) => Ok(*d),
            _ => Err(self.operand_mismatch(index)),
        }
    }

    /// The predicate after `|` in operand `index`, or the sink.
    pub fn second_dst(&self, index: usize) -> Dst {
        match self.args.get(index) {
            Some(Arg::Dest { second: Some(second), .. }) => *second,
            _ => Dst::SINK,
        }
    }

    /// Operand `index`, which is a source value.
    pub fn src(&self, index: usize) -> Result<Src, Diagnostic> {
        match self.args.get(index) {
            Some(Arg::Source { a, .. }) => Ok(*a),
            _ => Err(self.operand_mismatch(index)),
        }
    }

    /// Operand `index`, if it is a constant.
    pub fn constant_value(&self, index: usize) -> Option<u64> {
        match self.args.get(index) {
            Some(Arg::Source { constant, .. }) => *constant,
            Some(Arg::Constant(value)) => Some(*value),
            _ => None,
        }
    }

    /// Operand `index`, or `None` if it is omitted.
    pub fn optional_src(&self, index: usize) -> Result<Option<Src>, Diagnostic> {
        if self.is_absent(index) { Ok(None) } else { self.src(index).map(Some) }
    }

    /// Operand `index`, which is a source predicate; constant true if it is omitted.
    pub fn pred(&self, index: usize) -> Result<PredSrc, Diagnostic> {
        match self.args.get(index) {
            Some(Arg::Pred(pred)) => Ok(*pred),
            Some(Arg::Absent) => Ok(PredSrc::Const(true)),
            _ => Err(self.operand_mismatch(index)),
        }
    }

    /// Operand `index`, which is a memory address.
    pub fn address_operand(&self, index: usize) -> Result<AddressOperand, Diagnostic> {
        match self.args.get(index) {
            Some(Arg::AddressOperand(address)) => Ok(*address),
            _ => Err(self.operand_mismatch(index)),
        }
    }

    /// True if operand `index` is omitted.
    pub fn is_absent(&self, index: usize) -> bool {
        matches!(self.args.get(index), Some(Arg::Absent))
    }

    /// The integer type of the instruction.
    pub fn int_type(&self) -> Result<IntType, Diagnostic> {
        int_type(self.ty()).ok_or_else(|| self.type_mismatch())
    }

    /// The floating-point type of the instruction.
    pub fn float_type(&self) -> Result<FloatType, Diagnostic> {
        float_type(self.ty()).ok_or_else(|| self.type_mismatch())
    }

    /// The width of `ty`.
    pub fn width(&self, ty: ScalarType) -> Result<Width, Diagnostic> {
        match ty.bits() {
            16 => Ok(Width::B16),
            32 => Ok(Width::B32),
            64 => Ok(Width::B64),
            _ => Err(self.type_mismatch()),
        }
    }

    /// Rounding, `.ftz` and `.sat`.
    pub fn float_mode(&self) -> FloatMode {
        let is_f32 = self.ty() == ScalarType::F32;
        // Targets before sm_20 have no subnormal floats.
        let ftz = self.matched.has("ftz") || is_f32 && self.cx.target().0 < 20;
        let contract = !["rn", "rz", "rm", "rp"].into_iter().any(|word| self.matched.has(word));
        FloatMode { modifiers: Mode { rounding: self.rounding(), ftz, sat: self.matched.has("sat") }, contract }
    }

    /// The rounding modifier; to nearest if there is none.
    pub fn rounding(&self) -> Rounding {
        use Rounding::{Down, Nearest, NearestAway, Up, Zero};
        let words = [
            ("rn", Nearest),
            ("rz", Zero),
            ("rm", Down),
            ("rp", Up),
            ("rna", NearestAway),
            ("rni", Nearest),
            ("rzi", Zero),
            ("rmi", Down),
            ("rpi", Up),
        ];
        self.matched.choose(&words).unwrap_or_default()
    }

    /// The internal error for an operand that the decoder of its family does not expect.
    pub fn operand_mismatch(&self, index: usize) -> Diagnostic {
        let text = self.instruction.opcode.text;
        Diagnostic::error("internal", self.instruction.span, format!("operand {} of '{text}' is not what its family expects", index + 1))
            .with_help("this is a mistake of ptxdbg: please report it with the line")
    }

    /// The internal error for a type that the decoder of its family does not expect.
    pub fn type_mismatch(&self) -> Diagnostic {
        let text = self.instruction.opcode.text;
        Diagnostic::error("internal", self.instruction.span, format!("the type of '{text}' is not what its family expects"))
            .with_help("this is a mistake of ptxdbg: please report it with the line")
    }
}

/// The type of integer operations on `ty`.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other types are no types of the family")]
pub(super) fn int_type(ty: ScalarType) -> Option<IntType> {
    use ScalarType::{B16, B32, B64, S16, S16x2, S32, S64, U16, U16x2, U32, U64};
    Some(match ty {
        U16 | B16 => IntType::U16,
        S16 => IntType::S16,
        U32 | B32 => IntType::U32,
        S32 => IntType::S32,
        U64 | B64 => IntType::U64,
        S64 => IntType::S64,
        U16x2 => IntType::U16x2,
        S16x2 => IntType::S16x2,
        _ => return None,
    })
}

/// The type of floating-point operations on `ty`.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other types are no types of the family")]
pub(super) fn float_type(ty: ScalarType) -> Option<FloatType> {
    Some(match ty {
        ScalarType::F32 => FloatType::F32,
        ScalarType::F64 => FloatType::F64,
        ScalarType::F16 => FloatType::F16,
        ScalarType::F16x2 => FloatType::F16x2,
        ScalarType::BF16 => FloatType::BF16,
        ScalarType::BF16x2 => FloatType::BF16x2,
        _ => return None,
    })
}
