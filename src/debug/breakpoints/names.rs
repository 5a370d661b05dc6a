//! Locations by function or label.

use super::call_places;
use super::lines;
use super::resolved::Resolved;
use crate::debug::argument::ArgumentError;
use crate::dwarf::LazyDebugInfo;
use crate::program::{Function, Pc, Program, demangled, plain_name, qualified_name, shown_name};

/// The first instructions of the functions `name` and those with which it begins in the place of its calls, or the instruction at the label
/// `name`: of the function at `current`, otherwise of the only function that has it. `scope` names the function of a label, or the file of
/// a function.
///
/// # Errors
/// There is none, or there are several labels.
pub(super) fn resolve(
    program: &Program,
    data: Option<&LazyDebugInfo>,
    (scope, name): (Option<&str>, &str),
    current: Option<Pc>,
) -> Result<Resolved, ArgumentError> {
    if let Some(scope) = scope.filter(|scope| !lines::is_file(program, scope)) {
        return in_function(program, scope, name);
    }
    let functions = functions_called(program, name);
    let inlined = || call_places::entries(program, data.and_then(|data| data.get(program)), name);
    if !functions.is_empty() {
        let mut found = first_instructions(name, &functions)?;
        found.own = found.pcs.first().copied().filter(|_| found.ambiguous.is_none());
        found.pcs.extend(inlined());
        found.pcs.sort_unstable();
        found.pcs.dedup();
        return Ok(found);
    }
    let focused = current.and_then(|pc| program.function_at(pc)).map(|id| &program.functions[id.index()]);
    if let Some(found) = focused.and_then(|function| label(function, name)) {
        return Ok(found);
    }
    let holders: Vec<(&Function, Resolved)> =
        program.functions.iter().filter_map(|function| Some((function, label(function, name)?))).collect();
    match holders.as_slice() {
        [(_, found)] => Ok(found.clone()),
        [] => match inlined() {
            pcs if pcs.is_empty() => Err(unknown(program, name)),
            pcs => Ok(Resolved::at(pcs)),
        },
        several => {
            let candidates: Vec<String> = several.iter().map(|(function, _)| format!("{}:{name}", shown_name(&function.name))).collect();
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
            let names = known_names(program);
            return Err(
                ArgumentError::new(format!("there is no function or file '{scope}'")).with_nearest(scope, names.iter().map(String::as_str))
            );
        }
        several => return Err(ambiguous(scope, several)),
    };
    label(function, name).ok_or_else(|| {
        let labels = function.labels.iter().map(|(label, _)| &**label);
        ArgumentError::new(format!("'{}' has no label '{name}'", shown_name(&function.name))).with_nearest(name, labels)
    })
}

/// The functions with this name.
fn functions_called<'p>(program: &'p Program, name: &str) -> Vec<&'p Function> {
    program.functions_called(name).into_iter().map(|id| &program.functions[id.index()]).collect()
}

/// The names that functions have: in the module, and in the source.
fn known_names(program: &Program) -> Vec<String> {
    let plain = |function: &Function| plain_name(&function.name).map(str::to_string);
    let names = |function: &Function| [Some(function.name.to_string()), plain(function), qualified_name(&function.name)];
    program.functions.iter().flat_map(names).flatten().chain(call_places::names(program)).collect()
}

/// The first instructions of functions of one name.
fn first_instructions(name: &str, functions: &[&Function]) -> Result<Resolved, ArgumentError> {
    let with_code: Vec<&Function> = functions.iter().copied().filter(|function| !function.code.is_empty()).collect();
    // As in gdb, the name of a class means its constructors.
    let is_destructor = |function: &&Function| qualified_name(&function.name).is_some_and(|own| own.contains('~'));
    let (destructors, others): (Vec<&Function>, Vec<&Function>) = with_code.into_iter().partition(is_destructor);
    let meant = if others.is_empty() || name.contains('~') { destructors } else { others };
    let ambiguous = (meant.len() > 1).then(|| ambiguous(name, &meant));
    match meant.iter().map(|function| Pc(function.code.start)).collect::<Vec<Pc>>() {
        none if none.is_empty() => Err(ArgumentError::new(format!("the module only declares '{name}': it has no instructions"))),
        pcs => Ok(Resolved { ambiguous, ..Resolved::at(pcs) }),
    }
}

fn ambiguous(name: &str, functions: &[&Function]) -> ArgumentError {
    let whole = |function: &&Function| demangled(&function.name).unwrap_or_else(|| function.name.to_string());
    let names: Vec<String> = functions.iter().map(whole).collect();
    // Compilers emit some constructors twice: only their mangled names differ.
    let is_alone = |text: &String| names.iter().filter(|other| *other == text).count() == 1;
    let distinct =
        names.iter().zip(functions).map(|(text, function)| if is_alone(text) { text.clone() } else { function.name.to_string() });
    let distinct: Vec<String> = distinct.collect();
    ArgumentError::new(format!("'{name}' may be {} functions", names.len())).with_help(format!("write {}", distinct.join(" or ")))
}

/// The instructions at label `name` of a function: several if scopes of it have one each.
fn label(function: &Function, name: &str) -> Option<Resolved> {
    let pcs: Vec<Pc> = function.labels.iter().filter(|(label, _)| &**label == name).map(|(_, pc)| *pc).collect();
    (!pcs.is_empty()).then(|| Resolved::at(pcs))
}

fn unknown(program: &Program, name: &str) -> ArgumentError {
    let labels = program.functions.iter().flat_map(|function| function.labels.iter().map(|(label, _)| &**label));
    let functions = known_names(program);
    let known = functions.iter().map(String::as_str).chain(labels);
    ArgumentError::new(format!("there is no function or label '{name}'")).with_nearest(name, known)
}
