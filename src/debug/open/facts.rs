//! Facts about a launch that is made up: from files beside the module, and from its debug data.

use std::path::{Path, PathBuf};

use crate::base::{Diagnostic, Sources};
use crate::debug::expression::type_called;
use crate::debug::source_names::{self, types};
use crate::dwarf::{LazyDebugInfo, PointerKind, Type};
use crate::isa::ScalarType;
use crate::launch::{self, Element, Kind, LaunchFacts, PlannedLaunch, Study};
use crate::program::{FuncId, Program, parameter_types};

/// The facts about a launch of `kernel`: what pointers point to is what the debug data says, where no file beside the module says it, or
/// else what the types in its mangled name say, if its accesses are of whole elements of these.
///
/// # Errors
/// A file of Triton cannot be read, is damaged, or does not match the kernel; each error has its file and line.
pub(super) fn facts(
    module: &Path,
    program: &Program,
    kernel: FuncId,
    folders: &[PathBuf],
    sources: &mut Sources,
) -> Result<LaunchFacts, Vec<Diagnostic>> {
    let mut facts = launch::sibling_files::facts(module, program, kernel, folders, sources)?;
    if facts.elements.is_empty() {
        facts.elements.extend(elements(program, kernel));
    }
    if facts.elements.is_empty() {
        facts.elements.extend(elements_of_name(program, kernel));
    }
    Ok(facts)
}

/// The types of the elements that the kernel's parameters point to, by index, as the debug data has them.
fn elements(program: &Program, kernel: FuncId) -> Vec<(usize, ScalarType)> {
    let data = LazyDebugInfo::default();
    let Some(info) = data.get(program) else { return Vec::new() };
    let parameters = source_names::parameters(info, &program.functions[kernel.index()]);
    let element = |(index, variable): (usize, &crate::dwarf::Variable)| {
        let Type::Pointer { kind: PointerKind::Pointer, to, .. } = &info.types[info.stripped(variable.ty)?] else { return None };
        let element = types::scalar(info, *to)?;
        Some((index, if element == ScalarType::Pred { ScalarType::U8 } else { element }))
    };
    parameters.into_iter().enumerate().filter_map(element).collect()
}

/// The elements that the kernel of `launch` takes its parameters to point to, by their index: those that it computes with, if all its
/// accesses by it are to such; or else those of a file of Triton beside `module` or of the debug data; or those of the type in its mangled
/// name, if its accesses are of whole ones.
pub fn pointee_elements(program: &Program, launch: &PlannedLaunch, module: &Path) -> Vec<Option<Element>> {
    let known = facts(module, program, launch.kernel, &[], &mut Sources::default()).unwrap_or_default();
    let unknown = LaunchFacts::default();
    let (study, kernel) = (Study::new(program, launch.kernel, "", &unknown), &program.functions[launch.kernel.index()]);
    let element = |index| {
        let of_code = study.uniform_elements(index).map(|elements| elements.element);
        let of_facts = || known.elements.get(&index).and_then(|ty| Element::from_name(ty.word()));
        of_code.filter(|element| element.kind() == Kind::Float).or_else(of_facts).or(of_code)
    };
    (0..kernel.params.len()).map(element).collect()
}

/// The types of the elements that the kernel's parameters point to by their types in its mangled name, such as `float const*`, by index:
/// those of which its accesses are whole ones, and that it does not compute with as floats of another type.
fn elements_of_name(program: &Program, kernel: FuncId) -> Vec<(usize, ScalarType)> {
    let function = &program.functions[kernel.index()];
    let types = parameter_types(&function.name).filter(|types| types.len() == function.params.len()).unwrap_or_default();
    let element = |(index, ty): (usize, String)| {
        let words: Vec<&str> = ty.strip_suffix('*')?.split_whitespace().filter(|word| !["const", "volatile"].contains(word)).collect();
        let ty = type_called(&words)?;
        Some((index, ty, Element::from_name(ty.word()).filter(|element| element.kind() != Kind::Bits)?))
    };
    let named: Vec<(usize, ScalarType, Element)> = types.into_iter().enumerate().filter_map(element).collect();
    if named.is_empty() {
        return Vec::new();
    }
    let unknown = LaunchFacts::default();
    let study = Study::new(program, kernel, "", &unknown);
    let fits = |(index, _, element): &(usize, ScalarType, Element)| {
        let of_code = study.uniform_elements(*index).map(|elements| elements.element);
        study.accesses_whole(*index, element.bytes()) && of_code.is_none_or(|of_code| of_code.kind() != Kind::Float || of_code == *element)
    };
    named.into_iter().filter(fits).map(|(index, ty, _)| (index, ty)).collect()
}
