//! Initial bytes of variables (PTX ISA, "Initializers").

use super::builder::ModuleBuilder;
use super::const_expr::{self, Constant};
use super::scope::Symbol;
use super::variable::VariableLayout;
use crate::base::{Diagnostic, Span, counted};
use crate::isa::{Sampler, ScalarType, Space, TypeKind, sampler_field};
use crate::program::map;
use crate::syntax::tree::{BinaryOp, Expr, ExprKind, Init, Variable};

/// First PTX version with masks.
const MASKS_SINCE: (u8, u8) = (7, 1);

/// First PTX version with the addresses of functions.
const FUNCTIONS_SINCE: (u8, u8) = (2, 1);

/// Most initialized bytes of one variable.
const BYTES_MAX: u64 = 1 << 30;

/// The initial bytes of `variable`, up to the last initialized element; an unsized array gets the length of its list.
///
/// # Errors
/// Lists that do not have the variable's shape, values of the wrong type, and addresses that are not in global or constant memory.
pub(super) fn bytes(
    module: &ModuleBuilder<'_>,
    variable: &Variable<'_>,
    init: &Init<'_>,
    layout: &mut VariableLayout,
) -> Result<Vec<u8>, Diagnostic> {
    if matches!(layout.ty, ScalarType::F16 | ScalarType::F16x2 | ScalarType::Pred) {
        let error = Diagnostic::error("type", span_of(init), format!("a variable of type '.{}' cannot be initialized", layout.ty.word()));
        return Err(error.with_help(format!("declare it '.b{}' and give its bits", layout.ty.bits())));
    }
    if layout.opaque.is_some() {
        return Ok(Vec::new());
    }
    if layout.is_unsized {
        let length = if let Init::List(values, _) = init { values.len() as u64 } else { 0 };
        layout.set_length(length, variable.name)?;
    }
    let mut writer = Writer { module, ty: layout.ty, components: layout.components, bytes: Vec::new() };
    writer.array(init, &layout.shape, 0)?;
    Ok(writer.bytes)
}

/// The sampling modes in the initializer of an opaque variable (`.texref`, `.samplerref`, `.surfref`); the launch supplies the image.
///
/// # Errors
/// The initializer is not a list of fields, or a field of a sampler has an invalid value.
pub(super) fn sampler(init: &Init<'_>) -> Result<Sampler, Diagnostic> {
    let not_fields = || {
        let error = Diagnostic::error("type", span_of(init), "a handle is initialized by a list of fields");
        error.with_help("such as '{ addr_mode_0 = wrap, filter_mode = linear }'")
    };
    let Init::List(fields, _) = init else { return Err(not_fields()) };
    let mut sampler = Sampler::default();
    for field in fields {
        let Init::Field { name, value } = field else { return Err(not_fields()) };
        let word = if let ExprKind::Name(word) = value.kind { word } else { "" };
        match name.text {
            "filter_mode" => sampler.filter = choice(sampler_field::FILTERS, word, value.span)?,
            "addr_mode_0" => sampler.address[0] = choice(sampler_field::ADDRESS_MODES, word, value.span)?,
            "addr_mode_1" => sampler.address[1] = choice(sampler_field::ADDRESS_MODES, word, value.span)?,
            "addr_mode_2" => sampler.address[2] = choice(sampler_field::ADDRESS_MODES, word, value.span)?,
            "force_unnormalized_coords" => sampler.unnormalized = const_expr::evaluate_count(value)? != 0,
            _ => {}
        }
    }
    Ok(sampler)
}

fn choice<T: Copy>(values: &[(&str, T)], word: &str, span: Span) -> Result<T, Diagnostic> {
    let found = values.iter().find(|(name, _)| *name == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        Diagnostic::error("value", span, "this field has no such value").with_help(format!("values: {}", names.join(", ")))
    })
}

fn span_of(init: &Init<'_>) -> Span {
    match init {
        Init::Value(expr) => expr.span,
        Init::List(_, span) => *span,
        Init::Field { name, value } => name.span.to(value.span),
    }
}

/// Writes values to their offsets.
struct Writer<'m, 'a> {
    module: &'m ModuleBuilder<'a>,
    ty: ScalarType,
    components: u32,
    bytes: Vec<u8>,
}

impl Writer<'_, '_> {
    /// Writes an array of dimensions `shape`, or one element if there are none, from byte `at` on.
    fn array(&mut self, init: &Init<'_>, shape: &[u64], at: u64) -> Result<(), Diagnostic> {
        let Some((length, inner)) = shape.split_first() else { return self.element(init, at) };
        let Init::List(values, span) = init else {
            return Err(Diagnostic::error("type", span_of(init), "an array is initialized by a list").with_help("write '{ .. }'"));
        };
        if values.len() as u64 > *length {
            let message = format!("{} for {}", counted(values.len() as u64, "value"), counted(*length, "element"));
            return Err(Diagnostic::error("count", *span, message).with_label(span_of(&values[*length as usize]), "the first one too many"));
        }
        let stride =
            inner.iter().fold(u64::from(self.ty.bytes()) * u64::from(self.components), |bytes, length| bytes.saturating_mul(*length));
        values.iter().zip(0..).try_for_each(|(value, index)| self.array(value, inner, at.saturating_add(stride.saturating_mul(index))))
    }

    /// Writes a scalar, or a vector whose list must be complete.
    fn element(&mut self, init: &Init<'_>, at: u64) -> Result<(), Diagnostic> {
        match init {
            Init::Field { .. } => Err(Diagnostic::error("type", span_of(init), "only handles have fields")),
            Init::Value(expr) if self.components == 1 => self.scalar(expr, at),
            Init::Value(expr) => {
                let message = format!("a vector is initialized by a list of {} values", self.components);
                Err(Diagnostic::error("type", expr.span, message))
            }
            Init::List(_, span) if self.components == 1 => Err(Diagnostic::error("type", *span, "a list where one value is needed")
                .with_help("the list is nested deeper than the variable")),
            Init::List(values, span) if values.len() != self.components as usize => {
                let message = format!("{} for a vector of {}", counted(values.len() as u64, "value"), self.components);
                Err(Diagnostic::error("count", *span, message))
            }
            Init::List(values, _) => values.iter().zip(0..).try_for_each(|(value, index): (_, u64)| match value {
                Init::Value(expr) => self.scalar(expr, at.saturating_add(index * u64::from(self.ty.bytes()))),
                other @ (Init::List(..) | Init::Field { .. }) => {
                    Err(Diagnostic::error("type", span_of(other), "one component of a vector is needed here"))
                }
            }),
        }
    }

    fn scalar(&mut self, expr: &Expr<'_>, at: u64) -> Result<(), Diagnostic> {
        let value = self.value(expr)?;
        let width = u64::from(self.ty.bytes());
        let end = at.saturating_add(width);
        if end > BYTES_MAX {
            return Err(Diagnostic::error("size", expr.span, format!("at most {BYTES_MAX} bytes of a variable can be initialized")));
        }
        if self.bytes.len() < end as usize {
            self.bytes.resize(end as usize, 0);
        }
        self.bytes[at as usize..end as usize].copy_from_slice(&u128::from(value).to_le_bytes()[..width as usize]);
        Ok(())
    }

    /// The bits of an initial value of the variable's type.
    fn value(&self, expr: &Expr<'_>) -> Result<u64, Diagnostic> {
        if let ExprKind::Mask { mask, inner } = &expr.kind {
            return self.masked(*mask, inner, expr.span);
        }
        if let Some(address) = self.address(expr)? {
            if matches!(self.ty, ScalarType::U32 | ScalarType::U64) {
                return Ok(address);
            }
            let message = format!("an address cannot initialize a variable of type '.{}'", self.ty.word());
            return Err(Diagnostic::error("type", expr.span, message)
                .with_help("declare it '.u64', or take single bytes: '0xFF00(name)' in a '.u8'"));
        }
        let constant = const_expr::evaluate(expr)?;
        let bits = match self.ty.kind() {
            TypeKind::Untyped => Some(untyped_bits(constant, self.ty)),
            TypeKind::Unsigned | TypeKind::Signed | TypeKind::Predicate => int_bits(constant),
            TypeKind::Float => float_bits(constant, self.ty),
        };
        bits.ok_or_else(|| {
            let kind = if int_bits(constant).is_some() { "an integer" } else { "a floating-point number" };
            let message = format!("{kind} cannot initialize a variable of type '.{}'", self.ty.word());
            Diagnostic::error("type", expr.span, message)
        })
    }

    /// One byte of an address or of a number: `0xFF00(name)` (PTX ISA, "Initializers").
    fn masked(&self, mask: u64, inner: &Expr<'_>, span: Span) -> Result<u64, Diagnostic> {
        self.module.header.require(MASKS_SINCE, 0, "a mask", span)?;
        let shift = mask.trailing_zeros() & !7;
        if mask.checked_shr(shift) != Some(0xff) {
            let error = Diagnostic::error("value", span, format!("{mask:#x} does not select one byte"));
            return Err(error.with_help("use 0xFF, 0xFF00, 0xFF0000, …"));
        }
        let value = match self.address(inner)? {
            Some(address) if matches!(self.ty, ScalarType::U8 | ScalarType::U32 | ScalarType::U64) => address,
            Some(_) => {
                let message = format!("a byte of an address cannot initialize a variable of type '.{}'", self.ty.word());
                return Err(Diagnostic::error("type", span, message).with_help("declare it '.u8'"));
            }
            None if self.ty.kind() == TypeKind::Float => {
                let message = format!("a byte cannot initialize a variable of type '.{}'", self.ty.word());
                return Err(Diagnostic::error("type", span, message).with_help("declare it '.u8'"));
            }
            None => const_expr::evaluate_int(inner)?,
        };
        Ok((value & mask) >> shift)
    }

    /// The value of an address expression: `name`, `generic(name)` or one of these plus a constant; `None` if it contains no name.
    fn address(&self, expr: &Expr<'_>) -> Result<Option<u64>, Diagnostic> {
        let mut offset = 0_u64;
        let mut base = expr;
        while let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) = &base.kind {
            let Ok(bytes) = const_expr::evaluate_int(right) else { return Ok(None) };
            offset = if *op == BinaryOp::Add { offset.wrapping_add(bytes) } else { offset.wrapping_sub(bytes) };
            base = left;
        }
        let address = match &base.kind {
            ExprKind::Name("WARP_SZ") => return Ok(None),
            ExprKind::Name(name) => self.symbol(name, base.span, false)?,
            ExprKind::Generic(inner) => match &inner.kind {
                ExprKind::Name(name) => self.symbol(name, inner.span, true)?,
                ExprKind::Int { .. }
                | ExprKind::Float(_)
                | ExprKind::Float32Bits(_)
                | ExprKind::Float64Bits(_)
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Conditional(..)
                | ExprKind::Cast { .. }
                | ExprKind::Generic(_)
                | ExprKind::Mask { .. } => {
                    return Err(Diagnostic::error("value", inner.span, "'generic' applies to the name of a variable"));
                }
            },
            ExprKind::Int { .. }
            | ExprKind::Float(_)
            | ExprKind::Float32Bits(_)
            | ExprKind::Float64Bits(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(..)
            | ExprKind::Cast { .. }
            | ExprKind::Mask { .. } => return Ok(None),
        };
        Ok(Some(address.wrapping_add(offset)))
    }

    fn symbol(&self, name: &str, span: Span, generic: bool) -> Result<u64, Diagnostic> {
        match self.module.scopes.find(name) {
            Some((Symbol::Function(id), _)) if !generic => {
                self.module.header.require(FUNCTIONS_SINCE, 0, "the address of a function", span)?;
                Ok(map::function_address(&self.module.map, id.0))
            }
            Some((Symbol::Variable(id), declared)) => {
                let location = self.module.program.variables[id.index()].location;
                match location.space {
                    Space::Global => Ok(location.address),
                    Space::Const if generic => Ok(self.module.map.const_window.wrapping_add(location.address)),
                    Space::Const => Ok(location.address),
                    other @ (Space::Generic | Space::Shared | Space::SharedCluster | Space::Local | Space::Param | Space::ParamFunc) => {
                        let message = format!("'{name}' is in {} memory, whose addresses differ from block to block", other.word());
                        let error = Diagnostic::error("space", span, message).with_label(declared, format!("'{name}' is declared here"));
                        Err(error.with_help("an initializer can hold addresses of '.global' and '.const' variables and of functions"))
                    }
                }
            }
            Some((symbol, declared)) => {
                let message = format!("'{name}' is {} and has no address to put here", symbol.noun());
                Err(Diagnostic::error("type", span, message).with_label(declared, "declared here"))
            }
            None => Err(self.module.unknown_name(name, span, "name")),
        }
    }
}

fn int_bits(constant: Constant) -> Option<u64> {
    match constant {
        Constant::Int { value, .. } => Some(value),
        Constant::Float(_) | Constant::Float32Bits(_) | Constant::Float64Bits(_) => None,
    }
}

/// Bits of a `.f32` or `.f64`. The assembler copies the bits of `0f..` unchanged, also into a double.
fn float_bits(constant: Constant, ty: ScalarType) -> Option<u64> {
    let value = match constant {
        Constant::Int { .. } => return None,
        Constant::Float32Bits(bits) => return Some(u64::from(bits)),
        Constant::Float(value) => value,
        Constant::Float64Bits(bits) => f64::from_bits(bits),
    };
    Some(if ty == ScalarType::F32 { u64::from(f32_bits(value)) } else { value.to_bits() })
}

/// Bits for a `.bN`: of a float those of a `.f32` in 32 bits, and the low bits of a `.f64` in any other width.
fn untyped_bits(constant: Constant, ty: ScalarType) -> u64 {
    let float = if ty == ScalarType::B32 { ScalarType::F32 } else { ScalarType::F64 };
    int_bits(constant).or_else(|| float_bits(constant, float)).unwrap_or(0)
}

/// `value` rounded to single precision; a NaN keeps its sign and the upper bits of its payload.
pub(super) fn f32_bits(value: f64) -> u32 {
    if value.is_nan() {
        let bits = value.to_bits();
        return ((bits >> 32) as u32 & 0x8000_0000) | 0x7fc0_0000 | ((bits >> 29) as u32 & 0x007f_ffff);
    }
    (value as f32).to_bits()
}
