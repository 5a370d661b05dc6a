//! The parameters and variables that arguments of the command line can name, with their types.

use std::path::{Path, PathBuf};

use super::facts;
use crate::base::Sources;
use crate::debug::arrays;
use crate::launch::file::{Launch, Param};
use crate::launch::param_args::{Formal, ParamType};
use crate::launch::variable_args::{self, VariableFormal};
use crate::launch::{Element, Kind, Study};
use crate::program::{FuncId, Program};

/// The variables of the module that arguments can set; variables that nvcc declares as bytes have the types that their accesses show.
pub fn variables_of(program: &Program) -> Vec<VariableFormal> {
    let typed = arrays::infer(program).into_iter().filter_map(|(id, known)| match known {
        arrays::Inference::Typed(inferred) => Some((id, Element::from_name(inferred.ty.ty.word())?)),
        arrays::Inference::Bytes(_) => None,
    });
    variable_args::formals(program, &typed.collect())
}

/// The parameters of `kernel` with their names: those of the launch's buffers, of the files next to the module, and of the kernel.
pub(in crate::debug) fn formals_of(
    program: &Program,
    kernel: FuncId,
    (module, folders): (&Path, &[PathBuf]),
    launch: &Launch,
) -> Vec<Formal> {
    // Errors in files next to the module do not matter if there is a launch file.
    let known = facts::facts(module, program, kernel, folders, &mut Sources::default()).unwrap_or_default();
    let mut formals = Study::new(program, kernel, "", &known).formals();
    for (formal, param) in formals.iter_mut().zip(&launch.params) {
        if let Some(buffer) = param.buffer() {
            formal.names.insert(0, buffer.name.clone());
        }
        formal.ty = own_in(param, formal.ty);
    }
    formals
}

/// The type of a parameter that is `param` in a launch: the launch has types where the code has widths only.
fn own_in(param: &Param, own: ParamType) -> ParamType {
    let says_type = |element: &Element| element.kind() != Kind::Bits;
    match (own, param.buffer(), param.scalar()) {
        (ParamType::Pointer(_) | ParamType::AnyOfWidth(_), Some(buffer), _) if says_type(&buffer.elem) => {
            ParamType::Pointer(Some(buffer.elem))
        }
        (ParamType::AnySign(element), _, Some((said, _))) if said == element => ParamType::AnySign(element),
        (ParamType::Scalar(element) | ParamType::AnySign(element), _, Some((reason_text, _)))
            if says_type(&reason_text) && reason_text.bytes() == element.bytes() =>
        {
            ParamType::Scalar(reason_text)
        }
        (own, _, _) => own,
    }
}
