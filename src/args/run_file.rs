//! What one file on the command line says of a run: a bundle, a launch file, or what holds PTX.

use std::path::{Path, PathBuf};

use crate::debug::bundle::{Manifest, is_bundle};
use crate::debug::{LaunchChoice, RunOptions};
use crate::launch::nvcc::Compiler;
use crate::ui::files;

/// A file, taken apart.
pub(super) struct RunFile {
    /// The modules; none if the launch names them.
    pub modules: Vec<PathBuf>,
    /// The launch.
    pub launch: LaunchChoice,
    /// The options of a bundle, without checkers; those of any run without one.
    pub options: RunOptions,
}

impl RunFile {
    /// Takes the file at `path`; `launch` is the launch file that is given with it.
    ///
    /// # Errors
    /// It has a launch of its own, or is a bundle that cannot be read.
    pub fn new(path: &Path, launch: Option<&PathBuf>) -> Result<Self, String> {
        let modules = vec![path.to_path_buf()];
        let mut file = Self { modules, launch: LaunchChoice::Sibling, options: RunOptions::unwatched() };
        let is_launch_file = path.extension().is_some_and(|extension| extension == "ron");
        let is_bundle = is_bundle(path);
        if is_bundle {
            let manifest = Manifest::read(path)?;
            file.options = manifest.run_options(path)?;
            (file.modules, file.launch) = (manifest.module_paths(path), LaunchChoice::File(Manifest::launch_of(path)));
        } else if is_launch_file {
            (file.modules, file.launch) = (Vec::new(), LaunchChoice::File(path.to_path_buf()));
        }
        if let Some(launch) = launch {
            if is_bundle || is_launch_file {
                return Err(format!("{} has a launch of its own: leave --launch out", path.display()));
            }
            file.launch = LaunchChoice::File(launch.clone());
        }
        Ok(file)
    }
}

/// The compiler of CUDA C++, with these arguments of the user.
pub(super) fn compiler(arguments: Option<&str>) -> Compiler {
    Compiler { nvcc: files::nvcc(), arguments: arguments.unwrap_or("").split_whitespace().map(str::to_string).collect() }
}
