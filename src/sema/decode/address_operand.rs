//! Address operands: `[a+8]`.

use super::super::decode_context::{DecodeContext, RegisterRef, Value};
use super::availability::require_at_least;
use super::element::{self, Element};
use super::space::same_space;
use crate::base::{Diagnostic, Span};
use crate::isa::{IntBinary, IntType, OperandForm, ScalarType, Space, TypeKind};
use crate::program::{Address, Bank, Base, Dst, IntegerOp, Location, Op, Src};
use crate::syntax::tree::{Operand, OperandKind};

/// First PTX version and target with generic addresses (PTX ISA, "Generic Addressing").
const GENERIC_ADDRESSING: ((u8, u8), u32) = ((2, 0), 20);

/// An address operand, with the space of its variable if it names one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AddressOperand {
    /// The address.
    pub address: Address,
    /// Space of the variable.
    pub space: Option<Space>,
}

/// Decodes `[r]`, `[r+8]`, `[variable+8]`, `[64]` or `variable[2]` of an instruction that names the space `named`.
/// If `form` has a space and the instruction names none, a variable must be in that space, and a register holds a generic address.
pub(super) fn read<'a>(
    operand: &Operand<'a>,
    named: Option<Space>,
    form: &OperandForm,
    cx: &mut dyn DecodeContext<'a>,
) -> Result<AddressOperand, Diagnostic> {
    let value;
    let address = match &operand.kind {
        OperandKind::Address(expr) => {
            value = cx.resolve(expr)?;
            if form.register_only && matches!(value, Value::Symbol { .. }) {
                return Err(Diagnostic::error("operand", operand.span, "an address in a register is needed here")
                    .with_help("move the address of the variable into a register and write [register]"));
            }
            check_kind(&value, named, form.narrow, operand.span, cx)?;
            of_value(&value, named, operand.span, cx)
        }
        OperandKind::Index(name, index) => match element::read(*name, index, is_wide(named), cx)? {
            Element::Fixed(location) => of_location(location, operand.span, cx),
            Element::Computed(register, space) => {
                of_register(register, 0, named, cx, operand.span).map(|address| AddressOperand { space: Some(space), ..address })
            }
        },
        OperandKind::Expr(_)
        | OperandKind::Not(_)
        | OperandKind::Pair(..)
        | OperandKind::Vector(_)
        | OperandKind::AddressList(_)
        | OperandKind::List(_) => {
            Err(Diagnostic::error("operand", operand.span, "an address is needed here").with_help("write it in brackets: [a]"))
        }
    }?;
    check_space(address.space, named.or(form.space), operand.span)?;
    if named.is_none() {
        require_at_least(GENERIC_ADDRESSING.0, GENERIC_ADDRESSING.1, "an address without a state space", operand.span, cx)?;
    }
    Ok(address)
}

/// Checks the kind of an address in the space `named`: numbers are allowed in local memory only, and from sm_90 on a global or generic
/// address has 64 bits.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other values are addresses everywhere, or refused where they are read")]
fn check_kind<'a>(value: &Value, named: Option<Space>, narrow: bool, span: Span, cx: &dyn DecodeContext<'a>) -> Result<(), Diagnostic> {
    match value {
        Value::Int { .. } if named != Some(Space::Local) => {
            Err(Diagnostic::error("operand", span, "a number is an address in local memory only")
                .with_help("move the number into a register and write [register]"))
        }
        Value::Register(register) | Value::RegisterOffset(register, _)
            if !narrow && register.ty.bits() == 32 && matches!(named, None | Some(Space::Global)) && cx.target().0 >= 90 =>
        {
            Err(Diagnostic::error("type", span, format!("a register of type .{} is too narrow for an address here", register.ty.word()))
                .with_help("from sm_90 on, global and generic addresses have 64 bits"))
        }
        _ => Ok(()),
    }
}

/// Checks that the space of a variable is the one that the instruction names. Without a named space, parameters and constants cannot be
/// accessed by name (PTX ISA, "Generic Addressing").
fn check_space(variable: Option<Space>, named: Option<Space>, span: Span) -> Result<(), Diagnostic> {
    let Some(variable) = variable else { return Ok(()) };
    let (message, help) = match named {
        Some(named) if !same_space(variable, named) => {
            let message = format!("the variable is in .{}, not in .{}", variable.word(), named.word());
            (message, format!("write '.{}', or leave the space out for a generic address", variable.word()))
        }
        None if matches!(variable, Space::Const | Space::Param | Space::ParamFunc) => {
            let message = format!("the variable is in .{}, which this instruction does not name", variable.word());
            (message, format!("write '.{}' after the name of the instruction", variable.word()))
        }
        _ => return Ok(()),
    };
    Err(Diagnostic::error("operand", span, message).with_help(help))
}

fn of_value<'a>(value: &Value, named: Option<Space>, span: Span, cx: &mut dyn DecodeContext<'a>) -> Result<AddressOperand, Diagnostic> {
    match value {
        Value::Register(register) => of_register(*register, 0, named, cx, span),
        Value::RegisterOffset(register, offset) => of_register(*register, *offset, named, cx, span),
        Value::Symbol { location, .. } => of_location(*location, span, cx),
        Value::Int { value, .. } => Ok(AddressOperand { address: absolute(*value, cx), space: None }),
        Value::Modified { .. }
        | Value::Vector(_)
        | Value::Special(_)
        | Value::SpecialVector(_)
        | Value::Float(_)
        | Value::Float32Bits(_)
        | Value::Float64Bits(_)
        | Value::Function(_)
        | Value::Label
        | Value::Sink => Err(Diagnostic::error("operand", span, "this cannot be an address")
            .with_help("an address is a register, a variable or a number, perhaps plus a number")),
    }
}

/// True if addresses in the space that an instruction names may have 64 bits.
fn is_wide(named: Option<Space>) -> bool {
    matches!(named, None | Some(Space::Global | Space::Const | Space::Generic))
}

/// A register plus an offset. An offset beyond 32 bits is added by a separate operation, or truncated if addresses have 32 bits.
fn of_register<'a>(
    register: RegisterRef,
    offset: i64,
    named: Option<Space>,
    cx: &mut dyn DecodeContext<'a>,
    span: Span,
) -> Result<AddressOperand, Diagnostic> {
    let is_number = !matches!(register.ty.kind(), TypeKind::Float | TypeKind::Predicate) && register.ty != ScalarType::B128;
    if !is_number {
        return Err(Diagnostic::error("type", span, format!("a register of type .{} cannot hold an address", register.ty.word()))
            .with_help("use a register of an integer type or of .b64"));
    }
    let is_wide = register.bank == Bank::B64;
    let (source, offset) = match i32::try_from(offset) {
        Ok(offset) => (Src::reg(register.slot), offset),
        Err(_) if !is_wide || !self::is_wide(named) => (Src::reg(register.slot), offset as i32),
        Err(_) => {
            let (sum, b) = (cx.temporary(register.ty, "address".to_string()), cx.const64(offset as u64));
            let (d, a) = (Dst(sum.slot), Src::reg(register.slot));
            cx.insert_before(Op::Integer(IntegerOp::Binary { f: IntBinary::Add, ty: IntType::U64, d, a, b }));
            (Src::reg(sum.slot), 0)
        }
    };
    let base = if is_wide { Base::Wide(source) } else { Base::Narrow(source) };
    Ok(AddressOperand { address: Address { base, offset }, space: None })
}

/// The address of a variable: a constant, or an offset in the frame for variables of a function.
fn of_location<'a>(location: Location, span: Span, cx: &mut dyn DecodeContext<'a>) -> Result<AddressOperand, Diagnostic> {
    let address = if is_in_frame(location) {
        Address { base: Base::Frame, offset: frame_offset(location, span)? }
    } else if same_space(location.space, Space::Shared) {
        Address { base: Base::Wide(cx.shared_address(location.address, true)), offset: 0 }
    } else {
        absolute(absolute_address(location), cx)
    };
    Ok(AddressOperand { address, space: Some(location.space) })
}

/// A constant address.
fn absolute<'a>(address: u64, cx: &mut dyn DecodeContext<'a>) -> Address {
    Address { base: Base::Wide(cx.const64(address)), offset: 0 }
}

/// True if the variable is in a frame and its address is an offset in it. A `.local` variable of the module has an absolute local address,
/// marked by [`OF_MODULE`].
pub(super) fn is_in_frame(location: Location) -> bool {
    matches!(location.space, Space::Local | Space::ParamFunc) && location.address & OF_MODULE == 0
}

/// Bit that marks the address of a `.local` variable of the module; the low 32 bits are the address.
pub(in crate::sema) const OF_MODULE: u64 = 1 << 32;

/// The address of a variable that is not in a frame.
pub(super) fn absolute_address(location: Location) -> u64 {
    if location.space == Space::Local { location.address & (OF_MODULE - 1) } else { location.address }
}

/// The offset of a variable in its frame.
pub(super) fn frame_offset(location: Location, span: Span) -> Result<i32, Diagnostic> {
    i32::try_from(location.address as i64).map_err(|_| offset_error(span))
}

fn offset_error(span: Span) -> Diagnostic {
    Diagnostic::error("operand", span, "the offset does not fit 32 bits").with_help("add it to the register with add.s64 first")
}
