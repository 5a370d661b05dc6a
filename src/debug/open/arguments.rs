//! Applies command-line arguments to a launch file: parameters, memory, module variables, blocks, and what is expected.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::expectations;
use super::formals::{formals_of, variables_of};
use crate::base::{Diagnostic, SourceFile, SourceId, Sources, Span};
use crate::container::bundle;
use crate::launch::block_list::BlockRange;
use crate::launch::param_args::{self, Formal, ParamArgs};
use crate::launch::variable_args::{self, Names, VariableArg};
use crate::launch::{self, Content, LaunchFile, Overrides, ValuePath, expect_args, memory_args};
use crate::program::Program;

/// Applies the arguments for parameters and expected buffer contents to the launch file; a line for the user if it expects less then.
pub(super) fn apply_arguments(
    file: &mut LaunchFile,
    overrides: &Overrides,
    program: &Arc<Program>,
    module: &Path,
) -> Result<Option<String>, Vec<Diagnostic>> {
    place_blocks(file, &overrides.blocks);
    let of_bundle = bundle::is_bundle(&file.folder).then(|| file.content.clone());
    let (launch, formals) = apply_params(file, overrides, program, module)?;
    let note = of_bundle.and_then(|before| expectations::forget_of_others(file, before, overrides));
    expect(file, overrides, (launch, &formals), program)?;
    expectations::loosen(file, overrides)?;
    Ok(note)
}

/// Applies the arguments for parameters to the launch file; the number of the launch that arguments apply to, and its parameters if any are
/// named.
fn apply_params(
    file: &mut LaunchFile,
    overrides: &Overrides,
    program: &Arc<Program>,
    module: &Path,
) -> Result<(usize, Vec<Formal>), Vec<Diagnostic>> {
    if overrides.params.is_empty() && overrides.expect.is_empty() {
        return Ok((0, Vec::new()));
    }
    let sole = sole_launch(file, overrides);
    let found = sole.and_then(|number| {
        let launch = file.launches().get(number)?.1;
        let alone = overrides.kernel.as_deref().filter(|_| matches!(file.content, Content::Launch(_)));
        let kernel = launch::choose_kernel(program, alone.or(launch.kernel.as_deref())).ok()?;
        Some((number, formals_of(program, kernel, (module, &overrides.folders), launch)))
    });
    let named = add_arguments(&mut file.sources, "--arg", &overrides.params);
    // A kernel that does not exist is reported when the launch is resolved.
    if let (Some((number, formals)), false) = (&found, named.is_empty()) {
        let (mut args, variables) = (texts(&named, &overrides.params), variables_of(program));
        let memory = file.launches().get(*number).map(|(_, launch)| launch.memory.clone()).unwrap_or_default();
        let given_memory = memory_args::take(&mut args, formals, &memory, Path::new(""))?;
        let names = Names { params: formals, variables: &variables };
        let given = param_args::read(&args, names, Path::new(""))?;
        let initialized_variables = variable_args::read(&args, names, Path::new(""))?;
        set_params(file, *number, given);
        set_memory(file, *number, given_memory);
        set_variables(file, *number, initialized_variables);
    } else if let (None, Some(word)) = (sole, named.first()) {
        let span = Span::new(*word, 0, overrides.params[0].len() as u32);
        let message = format!("the launch file has {} launches, and a parameter is changed of one alone", file.launches().len());
        return Err(vec![Diagnostic::error("arg", span, message).with_help("choose a kernel that has one launch there: -k NAME")]);
    }
    Ok(found.unwrap_or((0, Vec::new())))
}

/// The number of the launch that arguments apply to: the sole one, or the sole one of the chosen kernel.
fn sole_launch(file: &LaunchFile, overrides: &Overrides) -> Option<usize> {
    let is_suite = matches!(file.content, Content::Suite(_));
    let wanted = overrides.kernel.as_deref().filter(|_| is_suite);
    let launches = file.launches();
    let mut chosen = launches.iter().enumerate().filter(|(_, (_, launch))| launch.is_of(wanted));
    let sole = chosen.next().map(|(number, _)| number);
    sole.filter(|_| chosen.next().is_none())
}

/// The path of launch number `number` in its file, and the folder that its data files are relative to.
fn path_of(file: &LaunchFile, number: usize) -> (ValuePath, PathBuf) {
    let place = file.launches().get(number).map(|(place, _)| place.clone()).unwrap_or_default();
    (place, file.folder.clone())
}

/// Has mistakes in the blocks that the command line names shown there.
pub(super) fn place_blocks(file: &mut LaunchFile, blocks: &[BlockRange]) {
    if blocks.is_empty() {
        return;
    }
    let ranges: Vec<String> = blocks.iter().map(ToString::to_string).collect();
    let source = file.sources.add(SourceFile::new("--blocks", ranges.join(";")));
    let places: Vec<ValuePath> = file.launches().iter().map(|(place, _)| place.field("blocks")).collect();
    file.given.extend(places.into_iter().map(|place| (place, source)));
}

/// Sets the parameters `given` in launch number `number`.
fn set_params(file: &mut LaunchFile, number: usize, given: ParamArgs) {
    let (place, folder) = path_of(file, number);
    for (index, (mut param, source)) in given {
        launch::carry_param(&mut param, Path::new(""), &folder);
        let Some(launch) = file.content.launches_mut().get_mut(number) else { return };
        match launch.params.get_mut(index) {
            Some(before) => before.set(param),
            // A parameter that is missing before it in the launch file is reported as an error of the launch.
            None => launch.params.push(param),
        }
        file.given.push((place.param(index), source));
    }
}

/// Sets the memory `given` in launch number `number`.
fn set_memory(file: &mut LaunchFile, number: usize, given: Vec<memory_args::MemoryArg>) {
    let (place, folder) = path_of(file, number);
    for mut given in given {
        launch::carry_init(&mut given.buffer.init, Path::new(""), &folder);
        let (source, Some(launch)) = (given.source, file.content.launches_mut().get_mut(number)) else { return };
        let place = given.put(launch, &place);
        file.given.push((place, source));
    }
}

/// Sets the module variables `given` in launch number `number`.
fn set_variables(file: &mut LaunchFile, number: usize, given: Vec<VariableArg>) {
    let (place, folder) = path_of(file, number);
    for mut given in given {
        launch::carry_init(&mut given.init, Path::new(""), &folder);
        let Some(launch) = file.content.launches_mut().get_mut(number) else { return };
        let place = given.place(&place);
        let source = given.source;
        given.put(launch);
        file.given.push((place, source));
    }
}

/// Adds the buffer contents that the command line expects to `file`.
pub(super) fn expect(
    file: &mut LaunchFile,
    overrides: &Overrides,
    (launch, formals): (usize, &[Formal]),
    program: &Program,
) -> Result<(), Vec<Diagnostic>> {
    let named = add_arguments(&mut file.sources, "--expect", &overrides.expect);
    let variables = if named.is_empty() { Vec::new() } else { variables_of(program) };
    let params = expect_args::ArgNames { launch, formals, variables: &variables, folder: Path::new("") };
    expect_args::expect(file, &texts(&named, &overrides.expect), overrides.tolerance, params)
}

/// Adds each argument as a source text named after `option`.
pub(super) fn add_arguments(sources: &mut Sources, option: &str, args: &[String]) -> Vec<SourceId> {
    let named = |(index, arg): (usize, &String)| SourceFile::new(format!("{option} {}", index + 1), arg.as_str());
    args.iter().enumerate().map(|arg| sources.add(named(arg))).collect()
}

pub(super) fn texts<'a>(named: &[SourceId], args: &'a [String]) -> Vec<(SourceId, &'a str)> {
    named.iter().copied().zip(args.iter().map(String::as_str)).collect()
}
