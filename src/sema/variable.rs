//! Declarations of variables, registers and parameters: type, shape, size and alignment.

use super::const_expr;
use super::header::Header;
use crate::base::{Diagnostic, Span};
use crate::isa::{ImageKind, ScalarType};
use crate::syntax::tree::{Expr, Name, Variable};

/// Types that can be declared; the others are instruction types only.
#[rustfmt::skip]
const DECLARABLE: &[ScalarType] = {
    use ScalarType::*;
    &[Pred, B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F16, F16x2, F32, F64]
};

/// Newer types: the first PTX version and target that have them (PTX ISA, "Fundamental Types").
const NEWER: &[(ScalarType, (u8, u8), u32)] = &[(ScalarType::F16x2, (4, 2), 53), (ScalarType::B128, (8, 3), 70)];

/// Opaque types (PTX ISA, "Texture Sampler and Surface Types"): a program can pass their values, which are handles, but not read them.
const OPAQUE: &[ImageKind] = &[ImageKind::Texture, ImageKind::Sampler, ImageKind::Surface];

/// Type, shape, size and alignment of a declared variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VariableLayout {
    /// Element type; `.b64` for an opaque type.
    pub(super) ty: ScalarType,
    /// The opaque type, if it is one: its value is a handle.
    pub(super) opaque: Option<ImageKind>,
    /// Elements of a vector, or 1.
    pub(super) components: u32,
    /// Dimensions of the array, outermost first; the first is 0 for `[]`.
    pub(super) shape: Vec<u64>,
    /// True if it is an unsized array: the first dimension is `[]`.
    pub(super) is_unsized: bool,
    /// Size in bytes; 0 for an unsized array.
    pub(super) bytes: u64,
    /// Alignment in bytes, a power of two.
    pub(super) align: u32,
}

impl VariableLayout {
    /// True if it is an array.
    pub(super) fn is_array(&self) -> bool {
        !self.shape.is_empty()
    }

    /// True if both can be declarations of the same variable: they agree, except that the first extent may be omitted.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let skipped = usize::from(self.is_unsized || other.is_unsized);
        let inner = |layout: &Self| layout.shape.iter().skip(skipped).copied().collect::<Vec<u64>>();
        (self.ty, self.opaque, self.components, self.is_array()) == (other.ty, other.opaque, other.components, other.is_array())
            && inner(self) == inner(other)
    }

    /// Bytes of one element of the array, which may be a vector.
    pub(super) fn element_bytes(&self) -> u64 {
        u64::from(self.ty.bytes()) * u64::from(self.components)
    }

    /// The shape with the components of a vector as the innermost dimension.
    pub(super) fn full_shape(&self) -> Vec<u64> {
        let components = (self.components > 1).then_some(u64::from(self.components));
        self.shape.iter().copied().chain(components).collect()
    }

    /// Sets the first dimension of an unsized array to `length`.
    ///
    /// # Errors
    /// The size does not fit 64 bits.
    pub(super) fn set_length(&mut self, length: u64, name: Name<'_>) -> Result<(), Diagnostic> {
        if let Some(first) = self.shape.first_mut() {
            *first = length;
        }
        self.is_unsized = false;
        self.bytes = self.size(name)?;
        Ok(())
    }

    fn size(&self, name: Name<'_>) -> Result<u64, Diagnostic> {
        let bytes = self.shape.iter().try_fold(self.element_bytes(), |bytes, length| bytes.checked_mul(*length));
        bytes.ok_or_else(|| Diagnostic::error("size", name.span, format!("the size of '{}' does not fit 64 bits", name.text)))
    }
}

/// Reads type, vector, shape and alignment of a declaration.
///
/// # Errors
/// Types that cannot be declared, vectors over 128 bits, dimensions and alignments that are not positive constants.
pub(super) fn layout(variable: &Variable<'_>) -> Result<VariableLayout, Diagnostic> {
    let opaque = opaque(variable);
    let ty = if opaque.is_some() { ScalarType::B64 } else { declared_type(variable.ty)? };
    let components = components(variable.vector, ty)?;
    let is_unsized = matches!(variable.shape.first(), Some(None));
    let mut layout = VariableLayout { ty, opaque, components, shape: shape(variable)?, is_unsized, bytes: 0, align: 1 };
    layout.align = match &variable.align {
        Some(align) => alignment(align)?,
        None => layout.element_bytes() as u32,
    };
    layout.bytes = layout.size(variable.name)?;
    Ok(layout)
}

/// The opaque type that is declared. PTX 1.x has state spaces for them: `.tex .u32 t;` is `.global .texref t;`.
fn opaque(variable: &Variable<'_>) -> Option<ImageKind> {
    match variable.space.text {
        "tex" => Some(ImageKind::Texture),
        "surf" => Some(ImageKind::Surface),
        _ => OPAQUE.iter().copied().find(|kind| kind.word() == variable.ty.text),
    }
}

fn declared_type(name: Name<'_>) -> Result<ScalarType, Diagnostic> {
    match ScalarType::from_word(name.text) {
        Some(ty) if DECLARABLE.contains(&ty) => Ok(ty),
        Some(ty) => {
            let error = Diagnostic::error("type", name.span, format!("nothing can be declared with type '.{}'", name.text));
            let bits = ty.bits().next_power_of_two().max(8);
            Err(error.with_help(format!("it is a type of instructions only; declare '.b{bits}'")))
        }
        None => {
            let error = Diagnostic::error("type", name.span, format!("unknown type '.{}'", name.text));
            let words = DECLARABLE.iter().map(|ty| ty.word()).chain(OPAQUE.iter().map(|kind| kind.word()));
            Err(super::suggest::with_nearest(error, name.text, words))
        }
    }
}

/// Checks that the module's version and target have the type of a declaration.
///
/// # Errors
/// They do not have it.
pub(super) fn check_available(variable: &Variable<'_>, ty: ScalarType, header: &Header) -> Result<(), Diagnostic> {
    let Some((_, (major, minor), sm)) = NEWER.iter().find(|row| row.0 == ty) else { return Ok(()) };
    if header.version >= (*major, *minor) && header.target.0 >= *sm {
        return Ok(());
    }
    let message = format!("type '.{}' requires PTX {major}.{minor} and sm_{sm} or higher", ty.word());
    Err(Diagnostic::error("target", variable.ty.span, message).with_help(format!("declare two '.b{}'", ty.bits() / 2)))
}

fn components(vector: Option<Name<'_>>, ty: ScalarType) -> Result<u32, Diagnostic> {
    let Some(vector) = vector else { return Ok(1) };
    let components = match vector.text {
        "v2" => 2,
        "v4" => 4,
        _ => {
            let error = Diagnostic::error("type", vector.span, format!("there are no declarations with '.{}'", vector.text));
            return Err(error.with_help("vectors are '.v2' or '.v4'"));
        }
    };
    if ty == ScalarType::Pred {
        return Err(Diagnostic::error("type", vector.span, "predicates cannot form vectors"));
    }
    if components * ty.bits() > 128 {
        let message = format!("a vector of {components} '.{}' is wider than 128 bits", ty.word());
        return Err(Diagnostic::error("type", vector.span, message));
    }
    Ok(components)
}

fn shape(variable: &Variable<'_>) -> Result<Vec<u64>, Diagnostic> {
    let length = |(index, length): (usize, &Option<Expr<'_>>)| match length {
        None if index == 0 => Ok(0),
        None => Err(Diagnostic::error("size", variable.name.span, "only the first dimension can be left open")),
        Some(length) => match const_expr::evaluate_count(length)? {
            0 => Err(Diagnostic::error("size", length.span, "a dimension cannot be 0")),
            length => Ok(length),
        },
    };
    variable.shape.iter().enumerate().map(length).collect()
}

/// The alignment that `expr` denotes.
///
/// # Errors
/// Not a power of two that fits 32 bits.
pub(super) fn alignment(expr: &Expr<'_>) -> Result<u32, Diagnostic> {
    let align = const_expr::evaluate_count(expr)?;
    match u32::try_from(align) {
        Ok(small) if small.is_power_of_two() => Ok(small),
        _ => Err(Diagnostic::error("value", expr.span, format!("an alignment must be a power of two, not {align}"))),
    }
}

/// Rounds `offset` up to `align`, a power of two; `None` if that does not fit 64 bits.
pub(super) fn align_up(offset: u64, align: u32) -> Option<u64> {
    offset.checked_next_multiple_of(u64::from(align))
}

/// A bump allocator of a region: aligned addresses from `next` on and below `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    /// Its noun in messages.
    pub(super) noun: &'static str,
    /// First free address.
    pub(super) next: u64,
    /// One past the last address.
    pub(super) end: u64,
}

impl Region {
    /// Allocates `bytes` bytes.
    ///
    /// # Errors
    /// There is not enough free space.
    pub(super) fn allocate(&mut self, bytes: u64, align: u32, span: Span) -> Result<u64, Diagnostic> {
        let start = align_up(self.next, align);
        let range = start.and_then(|start| Some((start, start.checked_add(bytes)?))).filter(|(_, end)| *end <= self.end);
        let Some((start, end)) = range else {
            let message =
                format!("{bytes} bytes do not fit into {}, which has {} bytes left", self.noun, self.end.saturating_sub(self.next));
            return Err(Diagnostic::error("size", span, message));
        };
        self.next = end;
        Ok(start)
    }
}
