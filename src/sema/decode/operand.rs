//! Decoding and checking of operands, as the form of the instruction describes them.

use smallvec::SmallVec;

use super::super::decode_context::{DecodeContext, RegisterRef, Value};
use super::address_operand::{self, AddressOperand};
use super::constant;
use super::element::{self, Element};
use super::name::{name_expr, predicate};
use super::space::SPACES;
use super::vector::{Elements, check_not_all_sinks, dests, elements, is_of_same_size, same_width, sources, unbraced};
use crate::base::{Diagnostic, Span};
use crate::isa::{
    Matched, OperandForm, OperandRole, OperandType, RegisterCount, SPECIAL_REGISTERS, ScalarType, Space, SpecialKind, TypeKind, agrees,
    is_bits_only,
};
use crate::program::{Address, Bank, Dst, ListId, Location, MoveOp, Op, PredSrc, SpecialRef, Src};
use crate::syntax::tree::{Expr, ExprKind, Instruction, Name, Operand, OperandKind};

/// Instructions that accept an array element as an address.
const INDEXING: &[&str] = &["ld", "ldu", "st"];

/// A decoded operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arg {
    /// Omitted.
    Absent,
    /// A destination register, its width in bits, and the predicate after `|`.
    Dest { d: Dst, bits: u8, second: Option<Dst> },
    /// A source, the width in bits of its register, and its value if it is a constant.
    Source { a: Src, bits: u8, constant: Option<u64> },
    /// A source predicate.
    Pred(PredSrc),
    /// A special register that cannot be a [`Src`]: it changes or has 64 bits.
    Special(SpecialRef),
    /// The address of a variable.
    Symbol(Location),
    /// An operand that must be a constant.
    Constant(u64),
    /// A memory address.
    AddressOperand(AddressOperand),
    /// Registers of a vector, in `Program::dests` if written and `Program::sources` if read, and their width in bits.
    Vector { list: ListId, bits: u8 },
    /// The same with the predicate after `|`.
    VectorAnd { list: ListId, bits: u8, second: Dst },
    /// The generic address of a tensor map, and coordinates in the tensor, in `Program::sources`.
    Tensor { map: Address, coordinates: ListId },
    /// Decoded by the family.
    Raw,
}

/// The operands of an instruction, in the order of its form.
pub(super) type Args = SmallVec<[Arg; 6]>;

/// Decodes all operands of `instruction`; if it returns `None`, the errors are in `diags`.
pub(super) fn read_all<'a>(
    matched: &Matched,
    instruction: &Instruction<'a>,
    cx: &mut dyn DecodeContext<'a>,
    diags: &mut Vec<Diagnostic>,
) -> Option<Args> {
    let errors = diags.len();
    let mut args = Args::new();
    if matched.form.any_operands {
        return Some(args);
    }
    let present = match present(matched, instruction) {
        Ok(present) => present,
        Err(error) => {
            diags.push(error);
            return None;
        }
    };
    let mut operands = instruction.operands.iter();
    for (form, is_present) in matched.form.operands.iter().zip(present) {
        let operand = if is_present { operands.next() } else { None };
        let arg = operand.map_or(Ok(Arg::Absent), |operand| Reader { matched, form, cx }.read(operand));
        args.push(arg.unwrap_or_else(|error| {
            diags.push(error);
            Arg::Absent
        }));
    }
    (diags.len() == errors).then_some(args)
}

/// For each operand of the form true if it is present: optional ones are filled from the left.
fn present(matched: &Matched, instruction: &Instruction<'_>) -> Result<SmallVec<[bool; 6]>, Diagnostic> {
    let goes_with = |operand: &OperandForm| operand.only_with.is_none_or(|words| words.split('|').any(|word| matched.has(word)));
    let operands = &matched.form.operands;
    let is_needed = |operand: &OperandForm| (!operand.optional || operand.only_with.is_some()) && goes_with(operand);
    let needed = operands.iter().filter(|operand| is_needed(operand)).count();
    let count = instruction.operands.len();
    let mut spare = count.saturating_sub(needed);
    let present: SmallVec<[bool; 6]> = operands
        .iter()
        .map(|operand| {
            let optional = operand.optional && operand.only_with.is_none() && spare > 0;
            spare -= usize::from(optional);
            optional || is_needed(operand)
        })
        .collect();
    if count < needed || spare > 0 { Err(wrong_count(matched, instruction, needed)) } else { Ok(present) }
}

fn wrong_count(matched: &Matched, instruction: &Instruction<'_>, needed: usize) -> Diagnostic {
    let count = instruction.operands.len();
    let operands = |count: usize| if count == 1 { "1 operand".to_string() } else { format!("{count} operands") };
    let message = format!("'{}' takes {}, not {count}", instruction.opcode.text, operands(needed));
    let span = instruction.operands.get(needed).map_or(instruction.span, |operand| operand.span);
    let (_, form) = matched.form.row.syntax.split_once(char::is_whitespace).unwrap_or(("", ""));
    let left_out = matched.form.operands.iter().find_map(|operand| operand.only_with.filter(|_| count > needed));
    let help = match left_out {
        Some(words) => format!("a further operand goes with .{}", words.replace('|', " .")),
        None if form.trim().is_empty() => "it takes none".to_string(),
        None => format!("its operands are {}", plain_operands(matched)),
    };
    Diagnostic::error("operand", span, message).with_help(help)
}

/// `d, [a], b` of a form, without annotations.
fn plain_operands(matched: &Matched) -> String {
    let name = |operand: &OperandForm| match (operand.role, operand.pair) {
        (OperandRole::Address, _) if operand.registers.is_some() => format!("[{}, {{c}}]", operand.name),
        (OperandRole::Address, _) => format!("[{}]", operand.name),
        (_, Some(true)) => format!("{}|q", operand.name),
        _ => operand.name.to_string(),
    };
    matched.form.operands.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Decodes one operand.
struct Reader<'r, 'a> {
    matched: &'r Matched,
    form: &'r OperandForm,
    cx: &'r mut dyn DecodeContext<'a>,
}

impl<'a> Reader<'_, 'a> {
    fn read(&mut self, operand: &Operand<'a>) -> Result<Arg, Diagnostic> {
        if let Some(count) = self.form.registers {
            let count = match count {
                RegisterCount::Fixed(count) => count,
                RegisterCount::Dimensions(less) => self.matched.dimensions().saturating_sub(less),
                RegisterCount::Columns(divisor) => self.matched.columns() / divisor,
            };
            if self.form.or_descriptor && matches!(operand.kind, OperandKind::Expr(_)) {
                return self.descriptor(operand);
            }
            return if self.form.role == OperandRole::Address { self.tensor(operand, count) } else { self.registers(operand, count) };
        }
        let operand = unbraced(operand);
        match self.form.role {
            OperandRole::Any => {
                resolve_names(operand, self.cx)?;
                Ok(Arg::Raw)
            }
            OperandRole::Label => Ok(Arg::Raw),
            OperandRole::Address
                if matches!(operand.kind, OperandKind::Index(..)) && (self.form.register_only || !INDEXING.contains(&self.opcode())) =>
            {
                let message = format!("'{}' takes an address in brackets", self.opcode());
                Err(Diagnostic::error("operand", operand.span, message).with_help("write [variable+bytes]"))
            }
            OperandRole::Address => address_operand::read(operand, self.named_space(), self.form, self.cx).map(Arg::AddressOperand),
            OperandRole::Dest => self.dest(operand),
            OperandRole::Source => self.source(operand),
        }
    }

    /// The space that the opcode names for the operand.
    fn named_space(&self) -> Option<Space> {
        let mut parts = self.matched.modifiers.iter().flatten().flat_map(|word| word.text.split('.'));
        match self.form.space {
            Some(space) => parts.any(|part| SPACES.iter().any(|row| row.0 == part)).then_some(space),
            None => self.matched.choose(SPACES),
        }
    }

    /// `[a, {c, d}]`: a tensor map and `count` coordinates (PTX ISA, "Tensors").
    #[expect(clippy::wildcard_enum_match_arm, reason = "what are no coordinates has been refused before")]
    fn tensor(&mut self, operand: &Operand<'a>, count: usize) -> Result<Arg, Diagnostic> {
        let OperandKind::AddressList(parts) = &operand.kind else {
            return Err(Diagnostic::error("operand", operand.span, "a tensor map and coordinates are needed here")
                .with_help("write [a, {c}], with a coordinate for every dimension"));
        };
        let [map, coordinates] = parts.as_slice() else {
            return Err(Diagnostic::error("operand", operand.span, "one tensor map and one list of coordinates are needed here"));
        };
        let OperandKind::Expr(expr) = &map.kind else { return Err(not_a_register(map.span)) };
        if let Value::RegisterOffset(..) = self.cx.resolve(expr)? {
            return Err(Diagnostic::error("operand", map.span, "the address of a tensor map cannot have an offset here")
                .with_help("add it to the register with add.s64 first"));
        }
        let span = map.span;
        let map = Operand { kind: OperandKind::Address(expr.clone()), span };
        let map = address_operand::read(&map, None, self.form, self.cx)?;
        if map.space.is_some_and(|space| matches!(space, Space::Shared | Space::Local)) {
            return Err(Diagnostic::error("operand", span, "a tensor map lies in global, constant or parameter memory"));
        }
        let map = map.address;
        match self.registers(coordinates, count)? {
            Arg::Vector { list, .. } => Ok(Arg::Tensor { map, coordinates: list }),
            other => Ok(other),
        }
    }

    /// A matrix descriptor (PTX ISA, "Matrix Descriptor Format").
    fn descriptor(&mut self, operand: &Operand<'a>) -> Result<Arg, Diagnostic> {
        let OperandKind::Expr(expr) = &operand.kind else { return Err(not_a_register(operand.span)) };
        let value = self.cx.resolve(expr)?;
        self.scalar(&value, ScalarType::U64, operand.span)
    }

    /// The type of the operand in its form.
    fn ty(&self) -> ScalarType {
        match self.form.ty {
            OperandType::Last => self.matched.ty(),
            OperandType::Nth(index) => self.matched.types.get(index).copied().unwrap_or_else(|| self.matched.ty()),
            OperandType::Double => double(self.matched.ty()),
            OperandType::Fixed(ty) => ty,
        }
    }

    fn dest(&mut self, operand: &Operand<'a>) -> Result<Arg, Diagnostic> {
        if self.form.vector && self.matched.vector() > 1 {
            return self.vector_dest(operand);
        }
        match (&operand.kind, self.form.pair) {
            (OperandKind::Expr(expr), None | Some(false)) => {
                let (d, bits) = self.dest_register(expr, self.ty(), self.form.sink)?;
                Ok(Arg::Dest { d, bits, second: None })
            }
            (OperandKind::Pair(first, second), Some(_)) => {
                let (OperandKind::Expr(first), OperandKind::Expr(second)) = (&first.kind, &second.kind) else {
                    return Err(not_a_register(operand.span));
                };
                let (d, bits) = self.dest_register(first, self.ty(), self.form.sink)?;
                let is_sink_allowed = self.form.pair == Some(false) && d != Dst::SINK;
                let (q, _) = self.dest_register(second, ScalarType::Pred, is_sink_allowed)?;
                Ok(Arg::Dest { d, bits, second: Some(q) })
            }
            (OperandKind::Pair(_, second), None) => {
                Err(Diagnostic::error("operand", second.span, format!("'{}' has no second destination", self.matched.form.opcode)))
            }
            (_, Some(true)) => Err(Diagnostic::error("operand", operand.span, "two destinations are needed here")
                .with_help(format!("write {}|q; '_' stands for one that is not wanted", self.form.name))),
            _ => Err(not_a_register(operand.span)),
        }
    }

    /// `{a, b}`, or `{a, b}|p` if the form has a second destination.
    fn vector_dest(&mut self, operand: &Operand<'a>) -> Result<Arg, Diagnostic> {
        let OperandKind::Pair(first, second) = &operand.kind else { return self.vector(operand) };
        let (OperandKind::Expr(predicate), Some(_)) = (&second.kind, self.form.pair) else {
            return Err(Diagnostic::error("operand", second.span, format!("'{}' has no second destination", self.opcode())));
        };
        let arg = self.vector(first)?;
        let (second, _) = self.dest_register(predicate, ScalarType::Pred, true)?;
        Ok(if let Arg::Vector { list, bits } = arg { Arg::VectorAnd { list, bits, second } } else { arg })
    }

    /// A destination register and its width, or `_` if `sink`.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
    fn dest_register(&mut self, expr: &Expr<'a>, ty: ScalarType, sink: bool) -> Result<(Dst, u8), Diagnostic> {
        match self.cx.resolve(expr)? {
            Value::Register(_) if self.form.sink_only => {
                Err(Diagnostic::error("operand", expr.span, format!("'{}' gives no result here", self.opcode()))
                    .with_help("write '_' where the address is in the shared memory of the cluster"))
            }
            Value::Register(register) => {
                self.check_type(register, ty, expr.span)?;
                Ok((Dst(register.slot), width(register.ty)))
            }
            Value::Sink if sink => Ok((Dst::SINK, width(ty))),
            Value::Sink => Err(Diagnostic::error("operand", expr.span, format!("'{}' needs a register here", self.matched.form.opcode))
                .with_help("'_' may stand for one of two destinations, for an element of a vector and for the result of 'atom'")),
            Value::Special(_) => {
                Err(Diagnostic::error("operand", expr.span, "a special register cannot be written").with_help("it is read-only"))
            }
            _ => Err(not_a_register(expr.span)),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "every other value stands for itself")]
    fn source(&mut self, operand: &Operand<'a>) -> Result<Arg, Diagnostic> {
        let ty = self.ty();
        if self.form.vector && self.matched.vector() > 1 {
            return self.vector(operand);
        }
        match &operand.kind {
            OperandKind::Expr(expr) if ty == ScalarType::Pred => self.predicate_source(expr),
            OperandKind::Expr(expr) if self.form.or_predicate && self.is_predicate(expr)? => self.predicate_source(expr),
            OperandKind::Not(name) if self.form.or_predicate => self.negated(*name),
            OperandKind::Expr(expr) => match self.cx.resolve(expr)? {
                Value::RegisterOffset(register, offset) => self.sum(register, offset, expr, ty),
                Value::Symbol { location, .. } if self.opcode() == "st" && matches!(expr.kind, ExprKind::Binary(..)) => {
                    self.address_value(location, ty, operand.span)
                }
                value => self.scalar(&value, ty, operand.span),
            },
            OperandKind::Index(name, index) if self.form.address_of => match element::read(*name, index, ty.bits() > 32, self.cx)? {
                Element::Fixed(location) => Ok(Arg::Symbol(location)),
                Element::Computed(register, _) => self.scalar(&Value::Register(register), ty, operand.span),
            },
            OperandKind::Not(name) if ty == ScalarType::Pred && self.form.negatable => self.negated(*name),
            OperandKind::Not(name) => Err(Diagnostic::error("operand", name.span, "'!' stands before predicates only")),
            OperandKind::Address(_) => Err(Diagnostic::error("operand", operand.span, "no address is needed here")
                .with_help(format!("'{}' reads registers; load the value first", self.matched.form.opcode))),
            OperandKind::Pair(..)
            | OperandKind::Vector(_)
            | OperandKind::Index(..)
            | OperandKind::AddressList(_)
            | OperandKind::List(_) => Err(not_a_register(operand.span)),
        }
    }

    /// `r+4` as a value.
    fn sum(&mut self, register: RegisterRef, offset: i64, expr: &Expr<'a>, ty: ScalarType) -> Result<Arg, Diagnostic> {
        self.check_type(register, ty, expr.span)?;
        let sum = element::sum(register, offset, expr, self.cx).ok_or_else(|| not_a_register(expr.span))?;
        self.scalar(&Value::Register(sum), ty, expr.span)
    }

    /// `variable+4` as a value, which ptxas accepts even if it does not accept `variable`.
    fn address_value(&mut self, location: Location, ty: ScalarType, span: Span) -> Result<Arg, Diagnostic> {
        if !matches!(ty.bits(), 32 | 64) || ty.kind() == TypeKind::Float {
            return Err(Diagnostic::error("type", span, format!("an address is not .{}", ty.word())));
        }
        let wide = ty.bits() == 64;
        let a = if address_operand::is_in_frame(location) {
            let address = self.cx.temporary(ty, "address".to_string());
            let (d, offset) = (Dst(address.slot), address_operand::frame_offset(location, span)?);
            self.cx.insert_before(Op::Move(MoveOp::FrameAddress { wide, generic: false, d, offset }));
            Src::reg(address.slot)
        } else if location.space == Space::Shared {
            self.cx.shared_address(location.address, wide)
        } else if wide {
            self.cx.const64(address_operand::absolute_address(location))
        } else {
            self.cx.const32(address_operand::absolute_address(location) as u32)
        };
        Ok(Arg::Source { a, bits: width(ty), constant: None })
    }

    fn is_predicate(&mut self, expr: &Expr<'a>) -> Result<bool, Diagnostic> {
        Ok(matches!(self.cx.resolve(expr)?, Value::Register(register) if register.bank == Bank::Pred))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
    fn predicate_source(&mut self, expr: &Expr<'a>) -> Result<Arg, Diagnostic> {
        match self.cx.resolve(expr)? {
            Value::Register(register) if register.bank == Bank::Pred => Ok(Arg::Pred(PredSrc::Reg { slot: register.slot, negate: false })),
            Value::Int { value, .. } if self.form.range.is_some_and(|(low, high)| !(low..=high).contains(&value)) => {
                Err(Diagnostic::error("operand", expr.span, format!("'{}' takes 0 or 1 here, not {}", self.opcode(), value as i64))
                    .with_help("0 is false, 1 is true"))
            }
            Value::Int { value, .. } if !self.form.register_only => Ok(Arg::Pred(PredSrc::Const(value != 0))),
            Value::Special(special) if self.form.special && special_type(special) == ScalarType::Pred => Ok(Arg::Special(special)),
            Value::Register(register) => Err(self.wrong_type(register, ScalarType::Pred, expr.span)),
            _ => Err(Diagnostic::error("operand", expr.span, "a predicate is needed here")),
        }
    }

    fn negated(&mut self, name: Name<'a>) -> Result<Arg, Diagnostic> {
        let register = predicate(name, self.cx)?;
        Ok(Arg::Pred(PredSrc::Reg { slot: register.slot, negate: true }))
    }

    /// A value that is read as `ty`.
    fn scalar(&mut self, value: &Value, ty: ScalarType, span: Span) -> Result<Arg, Diagnostic> {
        if let Some(bits) = constant::bits(value, ty, span) {
            let bits = bits?;
            self.check_number(value, bits, ty, span)?;
            return self.constant(bits, ty, span);
        }
        match value {
            Value::Register(register) if self.form.constant_only => Err(self.not_a_constant(*register, span)),
            Value::Register(register) => {
                self.check_type(*register, ty, span)?;
                Ok(Arg::Source { a: Src::reg(register.slot), bits: width(register.ty), constant: None })
            }
            Value::Special(special) if self.form.special => self.special(*special, ty, span),
            Value::Special(_) => Err(Diagnostic::error("operand", span, format!("'{}' cannot read a special register", self.opcode()))
                .with_help("read it with mov first")),
            Value::Symbol { location, .. } if self.form.address_of => Ok(Arg::Symbol(*location)),
            Value::Symbol { .. } | Value::Function(_) => {
                Err(Diagnostic::error("operand", span, format!("'{}' cannot use an address as a value", self.opcode()))
                    .with_help("take the address with mov first, or load what is there with ld"))
            }
            Value::Modified { .. }
            | Value::Vector(_)
            | Value::RegisterOffset(..)
            | Value::SpecialVector(_)
            | Value::Int { .. }
            | Value::Float(_)
            | Value::Float32Bits(_)
            | Value::Float64Bits(_)
            | Value::Label
            | Value::Sink => Err(not_a_register(span)),
        }
    }

    fn constant(&mut self, bits: u64, ty: ScalarType, span: Span) -> Result<Arg, Diagnostic> {
        if self.form.register_only {
            return Err(Diagnostic::error("operand", span, format!("'{}' needs a register here", self.opcode()))
                .with_help("move the constant into a register first"));
        }
        if self.form.constant_only {
            return Ok(Arg::Constant(bits));
        }
        let a = if ty.bits() > 32 { self.cx.const64(bits) } else { self.cx.const32(bits as u32) };
        Ok(Arg::Source { a, bits: width(ty), constant: Some(bits) })
    }

    /// Checks that the form accepts a constant. Its restrictions apply to the number before truncation.
    fn check_number(&self, value: &Value, bits: u64, ty: ScalarType, span: Span) -> Result<(), Diagnostic> {
        let too_wide = constant::too_wide(value, ty);
        let given = || too_wide.map_or_else(|| signed(bits, ty), |number| number.to_string());
        let refused = |wanted: String| {
            let message = format!("'{}' takes {wanted} here, not {}", self.opcode(), given());
            Err(Diagnostic::error("operand", span, message))
        };
        if !self.form.values.is_empty() && (too_wide.is_some() || !self.form.values.contains(&bits)) {
            let values = self.form.values.iter().map(|value| signed(*value, ty)).collect::<Vec<_>>().join(" or ");
            return refused(format!("the number {values}"));
        }
        if let Some(multiple) = self.form.multiple.filter(|multiple| !bits.is_multiple_of(*multiple)) {
            return refused(format!("a multiple of {multiple}"));
        }
        if let Some((low, high)) = self.form.range.filter(|(low, high)| too_wide.is_some() || !(*low..=*high).contains(&bits)) {
            return refused(format!("a number from {low} to {high}")).map_err(|error| error.with_help("a register may hold any number"));
        }
        Ok(())
    }

    /// A special register: a plain source if it is constant and has at most 32 bits.
    fn special(&mut self, special: SpecialRef, ty: ScalarType, span: Span) -> Result<Arg, Diagnostic> {
        let declared = special_type(special);
        // Before PTX 2.0 thread and block indices had 16 bits, and code of that time still reads them so.
        if declared.bits() < ty.bits() || declared == ScalarType::Pred || ty.kind() == TypeKind::Float {
            return Err(Diagnostic::error("type", span, format!("this special register is .{}, not .{}", declared.word(), ty.word()))
                .with_help(format!("read it as .{}", declared.word())));
        }
        if is_plain(special) {
            Ok(Arg::Source { a: self.cx.special(special), bits: width(declared), constant: None })
        } else {
            Ok(Arg::Special(special))
        }
    }

    /// `{a, b}`, or a vector register, with the number of elements in the opcode.
    fn vector(&mut self, operand: &Operand<'a>) -> Result<Arg, Diagnostic> {
        self.registers(operand, self.matched.vector())
    }

    /// `{a, b}`, or a vector register, of `count` elements.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
    fn registers(&mut self, operand: &Operand<'a>, count: usize) -> Result<Arg, Diagnostic> {
        let values = self.elements(operand)?;
        if values.len() != count {
            return Err(Diagnostic::error("operand", operand.span, format!("{} needed here, not {}", elements_are(count), values.len())));
        }
        let (ty, is_dest) = (self.ty(), self.form.role == OperandRole::Dest);
        if is_dest {
            check_not_all_sinks(&values, operand.span)?;
        }
        let is_integer = |value: &Value| matches!(value, Value::Register(register) if is_of_same_size(ty, register.ty));
        let takes_integers = self.form.vector && values.iter().any(|(value, _)| is_integer(value));
        for (value, span) in &values {
            match value {
                Value::Register(register) if takes_integers && is_of_same_size(ty, register.ty) => {}
                other if takes_integers && !matches!(other, Value::Register(_) | Value::Sink) => return Err(not_a_register(*span)),
                Value::Register(register) => self.check_type(*register, ty, *span)?,
                Value::Sink if is_dest => {}
                other if !is_dest && constant::bits(other, ty, *span).is_some() => {}
                _ => return Err(not_a_register(*span)),
            }
        }
        let bits = same_width(&values, ty, operand.span)?;
        let list = if is_dest { self.dest_list(&values) } else { self.source_list(&values, ty, bits)? };
        Ok(Arg::Vector { list, bits })
    }

    fn elements(&mut self, operand: &Operand<'a>) -> Result<Elements, Diagnostic> {
        elements(operand, self.cx)?.ok_or_else(|| {
            Diagnostic::error("operand", operand.span, "a vector is needed here").with_help("write its elements in braces: {a, b}")
        })
    }

    fn dest_list(&mut self, values: &Elements) -> ListId {
        self.cx.dest_list(&dests(values))
    }

    fn source_list(&mut self, values: &Elements, ty: ScalarType, bits: u8) -> Result<ListId, Diagnostic> {
        let sources = sources(values, ty, bits, self.cx)?;
        Ok(self.cx.source_list(&sources))
    }

    fn opcode(&self) -> &'static str {
        self.matched.form.opcode
    }

    fn check_type(&self, register: RegisterRef, ty: ScalarType, span: Span) -> Result<(), Diagnostic> {
        // An `.f16x2` register may hold a value of the instruction's type, but not a count or a mask.
        let is_count = matches!(self.form.ty, OperandType::Fixed(_))
            && !matches!(ty.kind(), TypeKind::Untyped | TypeKind::Float)
            && register.ty == ScalarType::F16x2;
        let agrees = agrees(ty, register.ty, self.form.wider) && !is_count;
        if agrees { Ok(()) } else { Err(self.wrong_type(register, ty, span)) }
    }

    fn wrong_type(&self, register: RegisterRef, ty: ScalarType, span: Span) -> Diagnostic {
        let message = format!("a register of type .{} where '{}' needs .{}", register.ty.word(), self.opcode(), ty.word());
        let error = Diagnostic::error("type", span, message);
        match (ty.kind(), register.ty.kind()) {
            (TypeKind::Predicate, _) => error.with_help("declare it with .reg .pred, or compare it with setp"),
            (_, TypeKind::Predicate) => error.with_help("turn the predicate into a number with selp"),
            _ if register.ty.bits() != ty.bits() => error.with_help("convert it with cvt, or use a register of the right size"),
            _ if is_bits_only(ty) => error.with_help(format!("declare it with .reg .b{}", ty.bits())),
            _ => error.with_help(format!("move its bits into a .{} register with mov.b{}", ty.word(), ty.bits())),
        }
    }

    fn not_a_constant(&self, register: RegisterRef, span: Span) -> Diagnostic {
        let message = format!("'{}' needs a constant here, not a register of type .{}", self.opcode(), register.ty.word());
        Diagnostic::error("operand", span, message)
    }
}

/// Resolves every name in an operand that is not decoded further, so that unknown ones are reported.
pub(super) fn resolve_names<'a>(operand: &Operand<'a>, cx: &mut dyn DecodeContext<'a>) -> Result<(), Diagnostic> {
    match &operand.kind {
        OperandKind::Expr(expr) | OperandKind::Address(expr) => cx.resolve(expr).map(|_| ()),
        OperandKind::Not(name) => cx.resolve(&name_expr(*name)).map(|_| ()),
        OperandKind::Index(name, index) => {
            cx.resolve(&name_expr(*name))?;
            cx.resolve(index).map(|_| ())
        }
        OperandKind::Pair(first, second) => {
            resolve_names(first, cx)?;
            resolve_names(second, cx)
        }
        OperandKind::Vector(parts) | OperandKind::AddressList(parts) | OperandKind::List(parts) => {
            parts.iter().try_for_each(|part| resolve_names(part, cx))
        }
    }
}

/// True if `special` can be a [`Src`].
pub(super) fn is_plain(special: SpecialRef) -> bool {
    let register = SPECIAL_REGISTERS.get(usize::from(special.0));
    register.is_some_and(|register| register.kind == SpecialKind::Fixed && register.ty.bits() <= 32)
}

/// The type of a special register.
pub(super) fn special_type(special: SpecialRef) -> ScalarType {
    SPECIAL_REGISTERS.get(usize::from(special.0)).map_or(ScalarType::U32, |register| register.ty)
}

/// Width of a register in bits: at least 16, since 8-bit registers are extended.
pub(super) fn width(ty: ScalarType) -> u8 {
    ty.bits().max(16) as u8
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other types are not widened")]
fn double(ty: ScalarType) -> ScalarType {
    use ScalarType::{S16, S32, S64, U16, U32, U64};
    match ty {
        U16 => U32,
        U32 => U64,
        S16 => S32,
        S32 => S64,
        other => other,
    }
}

/// The bits of a constant of type `ty` as a signed number, so that `-1` in the source is `-1` in the message.
fn signed(bits: u64, ty: ScalarType) -> String {
    let number = if ty.bits() == 32 { i64::from(bits as u32 as i32) } else { bits as i64 };
    number.to_string()
}

/// The error for an operand that must be a register.
pub(super) fn not_a_register(span: Span) -> Diagnostic {
    Diagnostic::error("operand", span, "a register is needed here")
}

fn elements_are(count: usize) -> String {
    if count == 1 { "1 element is".to_string() } else { format!("{count} elements are") }
}
