//! Applies command-line arguments to a launch file: parameters, memory and module variables.

use std::path::{Path, PathBuf};

use crate::launch::param_args::ParamArgs;
use crate::launch::variable_args::VariableArg;
use crate::launch::{self, LaunchFile, ValuePath, memory_args};

/// The path of launch number `number` in its file, and the folder that its data files are relative to.
fn path_of(file: &LaunchFile, number: usize) -> (ValuePath, PathBuf) {
    let place = file.launches().get(number).map(|(place, _)| place.clone()).unwrap_or_default();
    (place, file.folder.clone())
}

/// Sets the parameters `given` in launch number `number`.
pub(super) fn set_params(file: &mut LaunchFile, number: usize, given: ParamArgs) {
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
pub(super) fn set_memory(file: &mut LaunchFile, number: usize, given: Vec<memory_args::MemoryArg>) {
    let (place, folder) = path_of(file, number);
    for mut given in given {
        launch::carry_init(&mut given.buffer.init, Path::new(""), &folder);
        let (source, Some(launch)) = (given.source, file.content.launches_mut().get_mut(number)) else { return };
        let place = given.put(launch, &place);
        file.given.push((place, source));
    }
}

/// Sets the module variables `given` in launch number `number`.
pub(super) fn set_variables(file: &mut LaunchFile, number: usize, given: Vec<VariableArg>) {
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
