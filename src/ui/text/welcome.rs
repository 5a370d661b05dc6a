//! The first line of output of the debugger.

use std::path::Path;

use crate::base::Dim3;
use crate::debug::{Opened, shown_name};

/// The kernel, its grid and block, and the origin of the launch in one line; `file` is the launch file, if there is one.
pub fn welcome(opened: &Opened, file: Option<&Path>) -> String {
    let Some(case) = opened.plan.cases.first() else { return String::new() };
    let Some(launch) = case.launches.first() else { return String::new() };
    let kernel = &opened.program.functions[launch.kernel.index()].name;
    let (grid, block) = (Dim3(launch.grid), Dim3(launch.block));
    let launches = match case.launches.len() {
        1 => String::new(),
        count => format!("; the first of {count} launches"),
    };
    let cases = match opened.plan.cases.len() {
        1 => String::new(),
        count => format!("; the first of {count} cases, --kernel picks another"),
    };
    let source = match file {
        _ if let Some(empty) = &opened.empty_sibling => {
            format!("; {} is empty: a made-up launch, 'info launch' says why", empty.display())
        }
        _ if opened.made_up.is_some() => "; a made-up launch, 'info launch' says why".to_string(),
        Some(file) => format!(", from {}", file.display()),
        None => String::new(),
    };
    let kernel = shown_name(kernel);
    format!("{kernel}: grid {grid}, block {block}{source}{launches}{cases}\n")
}
