//! The text of the list of kernels, and of the current launch.

use super::table::Table;
use crate::base::{Dim3, counted};
use crate::debug::view::{KernelRow, LaunchView, ParamValue, SharedBytes, VariableOrigin};
use crate::debug::{Basis, Reason, shown_name};

/// `info kernels`
pub fn kernels(rows: &[KernelRow]) -> Table {
    let mut table = Table::new(&["kernel", ">params", ">instructions", ">registers", ">shared", "declared at"]);
    for KernelRow { name, params, instructions, registers, shared_bytes, dynamic_bytes, file, line, runs } in rows {
        let shared = dynamic_bytes.map_or(shared_bytes.to_string(), |dynamic| format!("{shared_bytes} + {dynamic} dynamic"));
        let place = format!("{file}:{line}");
        let [params, instructions] = [params, instructions].map(ToString::to_string);
        table.push(*runs, [shown_name(name).into_owned(), params, instructions, registers.to_string(), shared, place]);
    }
    table
}

/// `info launch`: `number` of `count` launches, and the reasons for made-up values.
pub fn launch(launch: &LaunchView, (number, count): (usize, usize), reasons: &[Reason]) -> Table {
    let mut table = Table::new(&["", ""]);
    let mut row = |name: &str, value: String| table.push(false, [name.to_string(), value]);
    row("kernel", shown_name(&launch.kernel).into_owned());
    row("grid", format!("{}, {}", Dim3(launch.grid), counted(launch.blocks, "block")));
    let (threads, warps) = (counted(u64::from(launch.threads), "thread"), counted(u64::from(launch.warps), "warp"));
    row("block", format!("{}, {threads} in {warps}", Dim3(launch.block)));
    if launch.cluster != [1, 1, 1] {
        row("cluster", Dim3(launch.cluster).to_string());
    }
    let SharedBytes { variables, dynamic, all } = launch.shared;
    row("shared", format!("{} of variables, {dynamic} dynamic, {all} in all", counted(u64::from(variables), "byte")));
    let LaunchView { started, resident, .. } = launch;
    row("blocks", format!("{started} started, {resident} on the machine, {} finished", started.saturating_sub(*resident)));
    if launch.has_stack {
        row("warps", "have a stack: the sides of a branch run one after the other".to_string());
    }
    for param in &launch.params {
        row(&param.name, format!(".{} {}", param.ty, value(&param.value)));
    }
    for variable in &launch.variables {
        let from = match variable.origin {
            VariableOrigin::Launch => "as the launch says",
            VariableOrigin::Module => "as the module initializes it",
            VariableOrigin::Zero => "zero: neither the module nor the launch gives it a value",
        };
        row(&variable.name, format!(".{} {}  {from}", variable.space, variable.ty));
    }
    if count > 1 {
        row("launch", format!("{} of {count}", number + 1));
    }
    for reason in reasons {
        let label = if reason.basis == Basis::Given { "given" } else { "made up" };
        row(label, format!("{}: {}", reason.what, reason.why));
    }
    table
}

/// `0x7f2000000000 <x>  f32[1024]`
fn value(value: &ParamValue) -> String {
    match value {
        ParamValue::Array(bytes) => format!("array of {bytes} bytes"),
        ParamValue::Scalar { text, buffer: None } => text.clone(),
        ParamValue::Scalar { text, buffer: Some(ty) } => format!("{text}  {ty}"),
    }
}
