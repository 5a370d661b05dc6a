//! All forms of `mov`, conversions, and conversions of addresses.

use super::super::decode_context::{RegisterRef, Value};
use super::address_operand::{absolute_address, frame_offset, is_in_frame};
use super::availability::require_at_least;
use super::constant;
use super::element::{self, Element};
use super::family::{Decoded, Decoding};
use super::operand::{Arg, is_plain, not_a_register, special_type, width};
use super::space::same_space;
use super::vector::{Elements, check_not_all_sinks, dests, elements, is_of_same_size, same_width, sources, unbraced};
use crate::base::{Diagnostic, Span};
use crate::isa::{BoolOp, ClusterDecode, Compare, IntType, MoveDecode, SPECIAL_REGISTERS, ScalarType, Space, TypeKind, Width, agrees};
use crate::program::map::function_address;
use crate::program::{Bank, ClusterOp, CompareOp, ConvertMode, ConvertOp, Dst, Location, MoveOp, Op, PredSrc, SelectOp, SpecialRef, Src};
use crate::syntax::tree::{Operand, OperandKind};

/// First PTX version with addresses of functions.
const FUNCTION_ADDRESSES: (u8, u8) = (2, 1);

impl<'a> Decoding<'_, 'a> {
    /// Moves and conversions.
    pub(super) fn movement(&mut self, decode: MoveDecode) -> Decoded {
        match decode {
            MoveDecode::Plain if self.ty() == ScalarType::Pred => self.move_predicate(),
            MoveDecode::Plain => self.move_any(),
            MoveDecode::Vector => self.move_vector(),
            MoveDecode::Convert => self.convert(),
            MoveDecode::ConvertPair => {
                Ok(Op::Convert(ConvertOp::Pair { mode: self.convert_mode(), d: self.dst(0)?, a: self.src(1)?, b: self.src(2)? }))
            }
            MoveDecode::ConvertPack => {
                let to = self.matched.types.first().copied().unwrap_or(ScalarType::U16);
                let c = if self.args.len() > 3 { self.src(3)? } else { self.cx.const32(0) };
                Ok(Op::Convert(ConvertOp::Pack { to, from: ScalarType::S32, d: self.dst(0)?, a: self.src(1)?, b: self.src(2)?, c }))
            }
            MoveDecode::ConvertAddress => self.convert_address(),
            MoveDecode::IsSpace => self.is_space(),
        }
    }

    fn move_predicate(&mut self) -> Decoded {
        let d = self.dst(0)?;
        let Some(Arg::Special(special)) = self.args.get(1) else { return Ok(Op::Select(SelectOp::PredMove { d, a: self.pred(1)? })) };
        let (a, b) = (self.cx.special(*special), self.cx.const32(0));
        let (combine, c) = (BoolOp::And, PredSrc::Const(true));
        Ok(Op::Compare(CompareOp::SetpInt { cmp: Compare::Ne, ty: IntType::U32, combine, c, p: d, q: Dst::SINK, a, b }))
    }

    /// `mov` of anything but predicates: its operands determine the operation.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other value stands for itself")]
    fn move_any(&mut self) -> Decoded {
        let [d, a] = self.instruction.operands.as_slice() else { return Err(self.operand_mismatch(0)) };
        let (d, a) = (unbraced(d), unbraced(a));
        if let Some(parts) = elements(d, self.cx)? {
            return self.unpack(d.span, parts, a);
        }
        let d = self.move_dest(d)?;
        if let Some(parts) = elements(a, self.cx)? {
            return self.pack(d, a.span, parts);
        }
        match &a.kind {
            OperandKind::Expr(expr) => match self.cx.resolve(expr)? {
                Value::RegisterOffset(register, offset) => {
                    let sum = element::sum(register, offset, expr, self.cx).ok_or_else(|| not_a_register(a.span))?;
                    self.move_value(d, &Value::Register(sum), a.span)
                }
                value => self.move_value(d, &value, a.span),
            },
            OperandKind::Index(name, index) => match element::read(*name, index, self.ty().bits() > 32, self.cx)? {
                Element::Fixed(location) => self.move_address(d, location, false, a.span),
                Element::Computed(register, _) => self.move_value(d, &Value::Register(register), a.span),
            },
            OperandKind::Not(_)
            | OperandKind::Pair(..)
            | OperandKind::Vector(_)
            | OperandKind::Address(_)
            | OperandKind::AddressList(_)
            | OperandKind::List(_) => Err(not_a_register(a.span)),
        }
    }

    /// `mov.v2` and `mov.v4` of vector registers.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
    fn move_vector(&mut self) -> Decoded {
        let [d, a] = self.instruction.operands.as_slice() else { return Err(self.operand_mismatch(0)) };
        let (ty, count, bits) = (self.ty(), self.matched.vector(), self.width(self.ty())?);
        if let (Some(to), Some(value)) = (elements(d, self.cx)?, self.scalar_value(a)?) {
            return self.unpack_evenly(&to, &value, a.span);
        }
        let (Some(to), Some(from)) = (elements(d, self.cx)?, self.special_vector(a)?.or(elements(a, self.cx)?)) else {
            return Err(Diagnostic::error("operand", a.span, "vectors are copied here").with_help("write {a, b} or a vector register"));
        };
        for (value, span) in to.iter().chain(&from) {
            match value {
                Value::Register(register) if is_of_same_size(ty, register.ty) => {}
                Value::Register(register) => self.check(*register, ty, *span)?,
                Value::Special(_) => {}
                _ => return Err(not_a_register(*span)),
            }
        }
        if to.len() != count || from.len() != count {
            return Err(Diagnostic::error("operand", d.span, format!("{count} elements are needed here")));
        }
        let list = sources(&from, ty, width(ty), self.cx)?;
        Ok(Op::Move(MoveOp::Vector { width: bits, d: self.cx.dest_list(&dests(&to)), a: self.cx.source_list(&list) }))
    }

    /// The value of a scalar operand: a register, a special register or a constant.
    fn scalar_value(&mut self, operand: &Operand<'a>) -> Result<Option<Value>, Diagnostic> {
        let OperandKind::Expr(expr) = &operand.kind else { return Ok(None) };
        let value = self.cx.resolve(expr)?;
        Ok(matches!(value, Value::Register(_) | Value::Special(_) | Value::Int { .. }).then_some(value))
    }

    /// `mov.v4.u32 {a, b, c, d}, r`, which the manual does not mention: the assembler distributes the bits of `r` evenly.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other values are refused, or not modelled")]
    fn unpack_evenly(&mut self, to: &Elements, value: &Value, span: Span) -> Decoded {
        let (ty, count) = (self.ty(), self.matched.vector());
        for (value, span) in to {
            match value {
                Value::Register(register) => self.check(*register, ty, *span)?,
                Value::Sink => {}
                _ => return Err(not_a_register(*span)),
            }
        }
        if to.len() != count {
            return Err(Diagnostic::error("operand", span, format!("{count} elements are needed here")));
        }
        let a = match value {
            Value::Special(special) if is_plain(*special) => Some(self.cx.special(*special)),
            Value::Register(register) if register.bank == Bank::B32 && register.ty.bits() == 32 => Some(Src::reg(register.slot)),
            Value::Int { value, .. } => Some(self.cx.const32(*value as u32)),
            _ => None,
        };
        let Some(a) = a.filter(|_| ty.bits() <= 32) else {
            let why = format!("'{}' of a value that is not a vector", self.instruction.opcode.text);
            return Ok(Op::Unsupported { why: self.cx.unsupported(why) });
        };
        Ok(Op::Move(MoveOp::Unpack { part: (32 / count) as u8, parts: self.cx.dest_list(&dests(to)), a }))
    }

    /// The components of `%tid` and other vector registers, which only `mov.v2` and `mov.v4` read as a whole.
    fn special_vector(&mut self, operand: &Operand<'a>) -> Result<Option<Elements>, Diagnostic> {
        let OperandKind::Expr(expr) = &operand.kind else { return Ok(None) };
        let Value::SpecialVector(components) = self.cx.resolve(expr)? else { return Ok(None) };
        Ok(Some(components.iter().map(|special| (Value::Special(*special), operand.span)).collect()))
    }

    /// `mapa` and `getctarank`.
    pub(super) fn cluster(&mut self, decode: ClusterDecode) -> Decoded {
        let (d, wide, generic) = (self.dst(0)?, self.ty().bits() == 64, self.space().is_none());
        let a = match self.args.get(1).copied() {
            Some(Arg::Symbol(location)) if location.space != Space::Shared => {
                let message = format!("the variable is in .{}, not in .shared", location.space.word());
                return Err(Diagnostic::error("operand", self.operand_span(1), message)
                    .with_help("blocks of a cluster have their own copies of shared variables only"));
            }
            Some(Arg::Symbol(location)) => self.address_of(location),
            _ => self.src(1)?,
        };
        match decode {
            ClusterDecode::MapShared => Ok(Op::Cluster(ClusterOp::MapShared { wide, generic, d, a, b: self.src(2)? })),
            ClusterDecode::ClusterRank => Ok(Op::Cluster(ClusterOp::Rank { wide, generic, d, a })),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
    fn move_dest(&mut self, operand: &Operand<'a>) -> Result<Dst, Diagnostic> {
        let OperandKind::Expr(expr) = &operand.kind else { return Err(not_a_register(operand.span)) };
        match self.cx.resolve(expr)? {
            Value::Register(register) => {
                self.check(register, self.ty(), operand.span)?;
                Ok(Dst(register.slot))
            }
            Value::Special(_) => {
                Err(Diagnostic::error("operand", operand.span, "a special register cannot be written").with_help("it is read-only"))
            }
            _ => Err(not_a_register(operand.span)),
        }
    }

    fn check(&self, register: RegisterRef, ty: ScalarType, span: Span) -> Result<(), Diagnostic> {
        if agrees(ty, register.ty, false) {
            return Ok(());
        }
        let message = format!("a register of type .{} where '{}' needs .{}", register.ty.word(), self.instruction.opcode.text, ty.word());
        let help = if register.ty.bits() == ty.bits() && ty.kind() != TypeKind::Predicate {
            format!("write mov.b{} to move bits as they are", ty.bits())
        } else {
            "convert it with cvt, or use a register of the right type".to_string()
        };
        Err(Diagnostic::error("type", span, message).with_help(help))
    }

    fn move_value(&mut self, d: Dst, value: &Value, span: Span) -> Decoded {
        let ty = self.ty();
        if ty == ScalarType::B128 {
            return self.move_wide(d, value, span);
        }
        let width = self.width(ty)?;
        if let Some(bits) = constant::bits(value, ty, span) {
            return Ok(Op::Move(MoveOp::Move { width, d, a: self.constant(bits?) }));
        }
        match value {
            Value::Register(register) => {
                self.check(*register, ty, span)?;
                Ok(Op::Move(MoveOp::Move { width, d, a: Src::reg(register.slot) }))
            }
            Value::Special(special) => self.move_special(d, *special, span),
            Value::Symbol { location, .. } => self.move_address(d, *location, false, span),
            Value::Function(function) => {
                require_at_least(FUNCTION_ADDRESSES, 0, "the address of a function", span, self.cx)?;
                let address = function_address(&self.cx.map(), function.0);
                Ok(Op::Move(MoveOp::Move { width, d, a: self.constant(address) }))
            }
            Value::SpecialVector(_) => {
                Err(Diagnostic::error("operand", span, "this special register is a vector").with_help("read one component: .x, .y or .z"))
            }
            Value::Label => Err(Diagnostic::error("operand", span, "a label has no address").with_help("use brx.idx to branch by a table")),
            Value::Modified { .. }
            | Value::Vector(_)
            | Value::RegisterOffset(..)
            | Value::Int { .. }
            | Value::Float(_)
            | Value::Float32Bits(_)
            | Value::Float64Bits(_)
            | Value::Sink => Err(not_a_register(span)),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
    fn move_wide(&mut self, d: Dst, value: &Value, span: Span) -> Decoded {
        match value {
            Value::Register(register) => {
                self.check(*register, ScalarType::B128, span)?;
                Ok(Op::Move(MoveOp::Move128 { d, a: Src::reg(register.slot) }))
            }
            Value::Int { value, unsigned } => {
                let high = if !unsigned && (*value as i64) < 0 { u64::MAX } else { 0 };
                let parts = [self.cx.const64(*value), self.cx.const64(high)];
                Ok(Op::Move(MoveOp::Pack { part: 64, parts: self.cx.source_list(&parts), d }))
            }
            _ => Err(not_a_register(span)),
        }
    }

    /// A constant of the width of the instruction.
    fn constant(&mut self, bits: u64) -> Src {
        if self.ty().bits() > 32 { self.cx.const64(bits) } else { self.cx.const32(bits as u32) }
    }

    fn move_special(&mut self, d: Dst, special: SpecialRef, span: Span) -> Decoded {
        let (ty, declared) = (self.ty(), special_type(special));
        let narrows = ty.bits() < declared.bits() && ty.bits() >= narrowest(special);
        if declared.bits() != ty.bits() && !narrows || ty.kind() == TypeKind::Float {
            return Err(Diagnostic::error("type", span, format!("this special register is .{}, not .{}", declared.word(), ty.word()))
                .with_help(format!("read it with mov.{}", declared.word())));
        }
        let width = self.width(ty)?;
        if !is_plain(special) {
            return Ok(Op::Move(MoveOp::ReadSpecial { register: special.0, width, d }));
        }
        let a = self.cx.special(special);
        if narrows {
            return Ok(Op::Convert(ConvertOp::Single { mode: ConvertMode::of_integers(ScalarType::U16, ScalarType::U32), d, a }));
        }
        Ok(Op::Move(MoveOp::Move { width, d, a }))
    }

    /// The address of a variable; a generic one if `generic`.
    fn move_address(&mut self, d: Dst, location: Location, generic: bool, span: Span) -> Decoded {
        let ty = self.ty();
        if ty.kind() == TypeKind::Float || ty.bits() < 32 {
            return Err(Diagnostic::error("type", span, format!("an address is not .{}", ty.word()))
                .with_help(format!("move it with mov.u{}", self.cx.address_bits())));
        }
        let width = self.width(ty)?;
        if is_in_frame(location) {
            return Ok(Op::Move(MoveOp::FrameAddress { wide: width == Width::B64, generic, d, offset: frame_offset(location, span)? }));
        }
        let a = self.address_of(location);
        Ok(Op::Move(MoveOp::Move { width, d, a }))
    }

    /// The address of a variable that is not in a frame.
    fn address_of(&mut self, location: Location) -> Src {
        let wide = self.ty().bits() > 32;
        let address = absolute_address(location);
        if location.space == Space::Shared { self.cx.shared_address(address, wide) } else { self.constant(address) }
    }

    /// `mov.b64 d, {a, b}`
    fn pack(&mut self, d: Dst, span: Span, parts: Elements) -> Decoded {
        let part = self.part_type(&parts, span)?;
        let list = sources(&parts, part, width(part), self.cx)?;
        Ok(Op::Move(MoveOp::Pack { part: part.bits() as u8, parts: self.cx.source_list(&list), d }))
    }

    /// `mov.b64 {a, b}, c`
    fn unpack(&mut self, span: Span, parts: Elements, source: &Operand<'a>) -> Decoded {
        let part = self.part_type(&parts, span)?;
        check_not_all_sinks(&parts, span)?;
        let OperandKind::Expr(expr) = &source.kind else { return Err(not_a_register(source.span)) };
        let value = self.cx.resolve(expr)?;
        let ty = self.ty();
        let a = match (constant::bits(&value, ty, source.span), value) {
            (Some(bits), _) => self.constant(bits?),
            (None, Value::Register(register)) => {
                self.check(register, ty, source.span)?;
                Src::reg(register.slot)
            }
            _ => return Err(not_a_register(source.span)),
        };
        Ok(Op::Move(MoveOp::Unpack { part: part.bits() as u8, parts: self.cx.dest_list(&dests(&parts)), a }))
    }

    /// The untyped type of each part, whose widths add up to that of the instruction's type.
    fn part_type(&self, parts: &Elements, span: Span) -> Result<ScalarType, Diagnostic> {
        let ty = self.ty();
        if ty.kind() != TypeKind::Untyped {
            return Err(Diagnostic::error("type", span, format!("'{}' does not take a vector", self.instruction.opcode.text))
                .with_help(format!("write mov.b{}", ty.bits())));
        }
        let part = match (ty.bits(), parts.len()) {
            (128, 2) => ScalarType::B64,
            (128, 4) | (64, 2) => ScalarType::B32,
            (64, 4) | (32, 2) => ScalarType::B16,
            (32, 4) | (16, 2) => ScalarType::B8,
            _ => {
                return Err(Diagnostic::error("operand", span, format!("{} elements do not make .{}", parts.len(), ty.word()))
                    .with_help("a vector here has 2 or 4 elements"));
            }
        };
        for (value, span) in parts {
            if let Value::Register(register) = value {
                self.check(*register, part, *span)?;
            }
        }
        same_width(parts, part, span)?;
        Ok(part)
    }

    fn convert(&mut self) -> Decoded {
        match self.args.get(1).copied() {
            Some(Arg::Source { a, .. }) => Ok(Op::Convert(ConvertOp::Single { mode: self.convert_mode(), d: self.dst(0)?, a })),
            // The low bits of the value that `mov` would read.
            Some(Arg::Special(special)) if self.narrows() => {
                let width = self.width(self.matched.types.first().copied().unwrap_or(ScalarType::U32))?;
                Ok(Op::Move(MoveOp::ReadSpecial { register: special.0, width, d: self.dst(0)? }))
            }
            Some(Arg::Special(_)) => {
                let why =
                    format!("'{}' of a special register that changes or is wide: read it with mov first", self.instruction.opcode.text);
                Ok(Op::Unsupported { why: self.cx.unsupported(why) })
            }
            _ => Err(self.operand_mismatch(1)),
        }
    }

    /// True if a conversion only truncates an integer to its low 32 or 64 bits.
    fn narrows(&self) -> bool {
        let mode = self.convert_mode();
        let is_integer = |ty: ScalarType| ty.kind() != TypeKind::Float;
        let (to, from) = (mode.to.bits(), mode.from.bits());
        is_integer(mode.to) && is_integer(mode.from) && !mode.sat && to <= from && to >= 32 && u32::from(mode.d_bits) == to
    }

    /// True if a conversion flushes without `.ftz`: those of `.f32` on targets without subnormal floats. Up to PTX 1.4 those from and to
    /// 64-bit types do not (PTX ISA 1.4, "cvt").
    fn flushes_always(&self) -> bool {
        let types = &self.matched.types;
        let is_wide = types.iter().any(|ty| ty.bits() == 64);
        self.cx.target().0 < 20 && types.contains(&ScalarType::F32) && !(is_wide && self.cx.version() <= (1, 4))
    }

    fn convert_mode(&self) -> ConvertMode {
        let has = |word: &str| self.matched.has(word);
        let bits = |index: usize| match self.args.get(index) {
            Some(Arg::Dest { bits, .. } | Arg::Source { bits, .. }) => *bits,
            _ => 32,
        };
        ConvertMode {
            to: self.matched.types.first().copied().unwrap_or(ScalarType::U32),
            from: self.matched.ty(),
            rounding: self.rounding(),
            to_integral: ["rni", "rzi", "rmi", "rpi"].into_iter().any(has),
            ftz: has("ftz") || self.flushes_always(),
            sat: has("sat"),
            relu: has("relu"),
            satfinite: has("satfinite"),
            d_bits: bits(0),
            a_bits: bits(1),
        }
    }

    fn convert_address(&mut self) -> Decoded {
        let space = self.space().unwrap_or(Space::Generic);
        let (d, to_space) = (self.dst(0)?, self.matched.has("to"));
        let width = self.width(self.ty())?;
        let span = self.instruction.operands.get(1).map_or(self.instruction.span, |operand| operand.span);
        let a = match self.args.get(1).copied() {
            Some(Arg::Symbol(_)) if to_space => {
                return Err(Diagnostic::error("operand", span, "a variable's address is in its space already")
                    .with_help("take it with mov, or leave out '.to' for the generic address"));
            }
            Some(Arg::Symbol(location)) if !same_space(location.space, space) => {
                let message = format!("the variable is in .{}, not in .{}", location.space.word(), space.word());
                return Err(Diagnostic::error("operand", span, message));
            }
            Some(Arg::Symbol(location)) if is_in_frame(location) => return self.move_address(d, location, true, span),
            Some(Arg::Symbol(location)) => self.address_of(location),
            _ => self.src(1)?,
        };
        if space == Space::Global {
            return Ok(Op::Move(MoveOp::Move { width, d, a }));
        }
        Ok(Op::Move(MoveOp::ConvertAddress { space, to_space, wide: width == Width::B64, d, a }))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
    fn is_space(&mut self) -> Decoded {
        let p = self.dst(0)?;
        let space = self.space().unwrap_or(Space::Generic);
        let Some(Operand { kind: OperandKind::Expr(expr), span }) = self.instruction.operands.get(1) else {
            return Err(not_a_register(self.instruction.span));
        };
        match self.cx.resolve(expr)? {
            Value::Register(register) if [32, 64].contains(&register.ty.bits()) && register.ty.kind() != TypeKind::Float => {
                Ok(Op::Move(MoveOp::IsSpace { space, wide: register.ty.bits() == 64, p, a: Src::reg(register.slot) }))
            }
            Value::Int { value, .. } => Ok(Op::Move(MoveOp::IsSpace { space, wide: true, p, a: self.cx.const64(value) })),
            _ => Err(Diagnostic::error("operand", *span, "isspacep needs a register with a generic address")
                .with_help("make the generic address with cvta first")),
        }
    }
}

/// Width of the narrowest `mov` that reads `special`: some registers had 16 bits in PTX 1.x, and old code still reads them that way.
fn narrowest(special: SpecialRef) -> u32 {
    const ONCE_NARROW: &[&str] = &["%tid", "%ntid", "%ctaid", "%nctaid", "%gridid"];
    let name = SPECIAL_REGISTERS.get(usize::from(special.0)).map_or("", |register| register.name);
    if ONCE_NARROW.contains(&name.split('.').next().unwrap_or(name)) { 16 } else { special_type(special).bits() }
}
