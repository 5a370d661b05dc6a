//! Declarations of parameters of functions, and their storage.

use super::variable::{self, Region, VariableLayout};
use crate::base::Diagnostic;
use crate::isa::{ScalarType, Space};
use crate::program::{Param, ParamStorage};
use crate::syntax::tree::{self, Name};

/// Bytes of kernel parameters, before and since PTX 8.1.
const PARAM_BYTES_OLD: u64 = 4352;
const PARAM_BYTES: u64 = 32764;

/// First PTX version whose kernels declare parameters in a list; before, they are declared in the body.
pub(super) const PARAMETER_LIST: (u8, u8) = (1, 4);

/// End of a kernel parameter in the parameter bank.
pub(super) fn kernel_end(param: &Param) -> Option<u32> {
    if let ParamStorage::Kernel(offset) = param.storage { Some(offset + param.bytes) } else { None }
}

/// True if a parameter of a prototype has no name.
pub(super) fn is_anonymous(name: Name<'_>) -> bool {
    matches!(name.text, "" | "_")
}

/// An empty parameter bank of a kernel.
pub(super) fn parameter_bank(version: (u8, u8)) -> Region {
    let end = if version >= (8, 1) { PARAM_BYTES } else { PARAM_BYTES_OLD };
    Region { noun: "the kernel's parameter space", next: 0, end }
}

/// The parameter of a kernel that `variable` declares, allocated in `bank`.
pub(super) fn kernel_parameter(bank: &mut Region, variable: &tree::Variable<'_>) -> Result<Param, Diagnostic> {
    let layout = variable::layout(variable)?;
    check_memory_parameter(variable, &layout)?;
    if variable.space.text != "param" {
        let message = format!("kernel parameter '{}' must be '.param'", variable.name.text);
        return Err(Diagnostic::error("space", variable.space.span, message));
    }
    if layout.components > 1 {
        let error = Diagnostic::error("type", variable.ty.span, "a kernel parameter cannot be a vector");
        return Err(error.with_help("declare an array of bytes with the alignment of the vector: .align 16 .b8 name[16]"));
    }
    if layout.is_unsized {
        return Err(Diagnostic::error(
            "size",
            variable.name.span,
            format!("the size of kernel parameter '{}' is not known", variable.name.text),
        ));
    }
    let offset = bank.allocate(layout.bytes, layout.align, variable.name.span)?;
    let mut param = param(variable, &layout, ParamStorage::Kernel(offset as u32))?;
    param.pointer = variable.pointer.as_ref().map_or(Ok(None), pointer_space)?;
    Ok(param)
}

/// Checks a `.param` parameter of any function.
pub(super) fn check_memory_parameter(variable: &tree::Variable<'_>, layout: &VariableLayout) -> Result<(), Diagnostic> {
    if variable.init.is_some() {
        return Err(Diagnostic::error("space", variable.name.span, "a parameter cannot be initialized"));
    }
    if layout.ty == ScalarType::Pred && variable.space.text == "param" {
        return Err(Diagnostic::error("type", variable.ty.span, "a predicate can only be a register"));
    }
    Ok(())
}

/// The error for an alignment after the type, which only parameters of kernels may have.
pub(super) fn check_bare_align(variable: &tree::Variable<'_>) -> Result<(), Diagnostic> {
    let Some(align) = &variable.bare_align else { return Ok(()) };
    Err(Diagnostic::error("syntax", align.span, "an alignment stands before the type").with_help("write '.param .align 8 .b8 name[16]'"))
}

/// The error for a vector in `.param` space of a function, which is not allowed.
pub(super) fn check_vector_in_param(variable: &tree::Variable<'_>, layout: &VariableLayout) -> Result<(), Diagnostic> {
    if layout.components == 1 || variable.space.text != "param" {
        return Ok(());
    }
    let error = Diagnostic::error("type", variable.ty.span, "a '.param' variable cannot be a vector");
    Err(error.with_help("declare an array of bytes with the alignment of the vector, or pass a vector register"))
}

/// The parameters that a `.reg` declaration makes, one per component, stored in `storages`.
pub(super) fn register_params(
    variable: &tree::Variable<'_>,
    layout: &VariableLayout,
    storages: &[ParamStorage],
) -> Result<Vec<Param>, Diagnostic> {
    let scalar = VariableLayout { bytes: u64::from(layout.ty.bytes()), components: 1, ..layout.clone() };
    let count = storages.len() as u32;
    let component = |(storage, index): (&ParamStorage, u32)| {
        let one = param(variable, &scalar, *storage)?;
        if count == 1 {
            return Ok(one);
        }
        let name = format!("{}.{}", variable.name.text, ["x", "y", "z", "w"][index as usize & 3]);
        Ok(Param { name: name.into(), component: Some((index, count)), ..one })
    };
    storages.iter().zip(0..).map(component).collect()
}

/// The parameter that `variable` declares, stored in `storage`.
pub(super) fn param(variable: &tree::Variable<'_>, layout: &VariableLayout, storage: ParamStorage) -> Result<Param, Diagnostic> {
    let bytes = u32::try_from(layout.bytes).map_err(|_| {
        Diagnostic::error("size", variable.name.span, format!("parameter '{}' of {} bytes is too large", variable.name.text, layout.bytes))
    })?;
    Ok(Param {
        name: variable.name.text.into(),
        ty: layout.ty,
        bytes,
        align: layout.align,
        is_array: layout.is_array(),
        opaque: layout.opaque,
        pointer: None,
        component: None,
        storage,
    })
}

fn pointer_space(pointer: &tree::Pointer<'_>) -> Result<Option<Space>, Diagnostic> {
    if let Some(align) = &pointer.align {
        variable::alignment(align)?;
    }
    let Some(space) = pointer.space else { return Ok(Some(Space::Generic)) };
    match space.text {
        "global" => Ok(Some(Space::Global)),
        "const" => Ok(Some(Space::Const)),
        "shared" => Ok(Some(Space::Shared)),
        "local" => Ok(Some(Space::Local)),
        _ => Err(Diagnostic::error("space", space.span, format!("a parameter cannot point to '.{}'", space.text))
            .with_help("the spaces are '.global', '.const', '.shared' and '.local'")),
    }
}
