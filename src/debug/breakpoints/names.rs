//! Functions and labels as places in the code.

use super::lines;
use super::resolved::Resolved;
use crate::debug::argument::ArgumentError;
use crate::program::{Function, Pc, Program, plain_name};

/// The first instruction of the function `name`, or the instruction at the label `name`: of the function at `here` first, else of the
/// only one that has it. `scope` names the function of a label, or the file of a function.
///
/// # Errors
/// There is none, or there are several.
pub(super) fn resolve(program: &Program, scope: Option<&str>, name: &str, here: Option<Pc>) -> Result<Resolved, ArgumentError> {
    if let Some(scope) = scope.filter(|scope| !lines::is_ptx_file(program, scope)) {
        return in_function(program, scope, name);
    }
    let functions = functions_called(program, name);
    if !functions.is_empty() {
        return first_instruction(name, &functions);
    }
    let focused = here.and_then(|pc| program.function_at(pc)).map(|id| &program.functions[id.index()]);
    if let Some(found) = focused.and_then(|function| label(function, name)) {
        return Ok(found);
    }
    let holders: Vec<(&Function, Resolved)> =
        program.functions.iter().filter_map(|function| Some((function, label(function, name)?))).collect();
    match holders.as_slice() {
        [(_, found)] => Ok(found.clone()),
        [] => Err(unknown(program, name)),
        several => {
            let candidates: Vec<String> = several.iter().map(|(function, _)| format!("{}:{name}", function.name)).collect();
            Err(ArgumentError::new(format!("{} functions have a label '{name}'", several.len()))
                .with_help(format!("write {}", candidates.join(" or "))))
        }
    }
}

fn in_function(program: &Program, scope: &str, name: &str) -> Result<Resolved, ArgumentError> {
    let functions = functions_called(program, scope);
    let function = match functions.as_slice() {
        [only] => *only,
        [] => {
            let names = program.functions.iter().map(|function| &*function.name);
            return Err(ArgumentError::new(format!("there is no function or file '{scope}'")).with_nearest(scope, names));
        }
        several => return Err(ambiguous(scope, several)),
    };
    label(function, name).ok_or_else(|| {
        let labels = function.labels.iter().map(|(label, _)| &**label);
        ArgumentError::new(format!("'{}' has no label '{name}'", function.name)).with_nearest(name, labels)
    })
}

/// The functions whose name it is; those whose plain name it is if there are none.
fn functions_called<'p>(program: &'p Program, name: &str) -> Vec<&'p Function> {
    let exact: Vec<&Function> = program.functions.iter().filter(|function| &*function.name == name).collect();
    if !exact.is_empty() {
        return exact;
    }
    program.functions.iter().filter(|function| plain_name(&function.name) == Some(name)).collect()
}

fn first_instruction(name: &str, functions: &[&Function]) -> Result<Resolved, ArgumentError> {
    let mut with_code = functions.iter().filter(|function| !function.code.is_empty());
    match (with_code.next(), with_code.next()) {
        (Some(function), None) => Ok(Resolved { pcs: vec![Pc(function.code.start)], note: None }),
        (None, _) => Err(ArgumentError::new(format!("the module only declares '{name}': it has no instructions"))),
        (Some(_), Some(_)) => Err(ambiguous(name, functions)),
    }
}

fn ambiguous(name: &str, functions: &[&Function]) -> ArgumentError {
    let names: Vec<&str> = functions.iter().map(|function| &*function.name).collect();
    ArgumentError::new(format!("'{name}' may be {} functions", names.len())).with_help(format!("write {}", names.join(" or ")))
}

/// The instructions at label `name` of a function: several if scopes of it have one each.
fn label(function: &Function, name: &str) -> Option<Resolved> {
    let pcs: Vec<Pc> = function.labels.iter().filter(|(label, _)| &**label == name).map(|(_, pc)| *pc).collect();
    (!pcs.is_empty()).then_some(Resolved { pcs, note: None })
}

fn unknown(program: &Program, name: &str) -> ArgumentError {
    let labels = program.functions.iter().flat_map(|function| function.labels.iter().map(|(label, _)| &**label));
    let functions = program.functions.iter().flat_map(|function| [Some(&*function.name), plain_name(&function.name)]).flatten();
    ArgumentError::new(format!("there is no function or label '{name}'")).with_nearest(name, functions.chain(labels))
}
