//! What the debugger says when it starts.

use super::report::triple;
use crate::debug::Opened;

/// What was opened, in one line: the kernel, how it is launched, and who said so.
pub fn welcome(opened: &Opened) -> String {
    let Some(case) = opened.plan.cases.first() else { return String::new() };
    let Some(launch) = case.launches.first() else { return String::new() };
    let kernel = opened.program.functions.get(launch.kernel.index()).map_or("", |function| &function.name);
    let (grid, block) = (triple(launch.grid), triple(launch.block));
    let launches = match case.launches.len() {
        1 => String::new(),
        count => format!("; the first of {count} launches"),
    };
    let cases = match opened.plan.cases.len() {
        1 => String::new(),
        count => format!("; the first of {count} cases, --kernel picks another"),
    };
    let made_up = if opened.made_up.is_some() { "; the launch is made up, 'info launch' shows it" } else { "" };
    format!("{kernel}: grid {grid}, block {block}{launches}{cases}{made_up}\n")
}
