//! What words of the command line say of a launch, put into its file.

use std::path::{Path, PathBuf};

use crate::launch::given::Given;
use crate::launch::variables::Given as VariableGiven;
use crate::launch::{self, LaunchFile, ValuePath, memory_words};

/// The place of launch number `number` in its file, and the folder that its data files are relative to.
fn place_of(file: &LaunchFile, number: usize) -> (ValuePath, PathBuf) {
    let place = file.launches().get(number).map(|(place, _)| place.clone()).unwrap_or_default();
    (place, file.folder.clone())
}

/// Puts the parameters that words give into launch number `number`.
pub(super) fn params(file: &mut LaunchFile, number: usize, given: Given) {
    let (place, folder) = place_of(file, number);
    for (index, (mut param, source)) in given {
        launch::carry_param(&mut param, Path::new(""), &folder);
        let Some(launch) = file.content.launches_mut().get_mut(number) else { return };
        match launch.params.get_mut(index) {
            Some(before) => before.give(param),
            // What is missing in the launch file before it is an error of the launch.
            None => launch.params.push(param),
        }
        file.given.push((place.param(index), source));
    }
}

/// The same for memory of the launch.
pub(super) fn memory(file: &mut LaunchFile, number: usize, given: Vec<memory_words::Given>) {
    let (place, folder) = place_of(file, number);
    for mut given in given {
        launch::carry_init(&mut given.buffer.init, Path::new(""), &folder);
        let (source, Some(launch)) = (given.source, file.content.launches_mut().get_mut(number)) else { return };
        let place = given.put(launch, &place);
        file.given.push((place, source));
    }
}

/// The same for variables of the module.
pub(super) fn variables(file: &mut LaunchFile, number: usize, given: Vec<VariableGiven>) {
    let (place, folder) = place_of(file, number);
    for mut given in given {
        launch::carry_init(&mut given.init, Path::new(""), &folder);
        let Some(launch) = file.content.launches_mut().get_mut(number) else { return };
        let place = given.place(&place);
        let source = given.source;
        given.put(launch);
        file.given.push((place, source));
    }
}
