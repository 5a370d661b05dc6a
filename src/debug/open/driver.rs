//! A launch with the arguments of a driver API call; no file is read.

use std::sync::Arc;

use super::{OpenError, Opened};
use crate::launch::{DriverLaunch, Plan};
use crate::program::Program;

/// The launch of a kernel of `program`.
///
/// # Errors
/// There is no such kernel, or the launch does not fit it.
pub fn open_driver(program: Arc<Program>, launch: &DriverLaunch) -> Result<Opened, OpenError> {
    let case = launch.plan(&program).map_err(OpenError::File)?;
    Ok(Opened { program, plan: Plan { cases: vec![case] }, made_up: None, empty_sibling: None, notes: Vec::new(), launch: None })
}
