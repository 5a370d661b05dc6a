//! `info kernels` and `info launch`.

use super::Table;
use crate::base::{Dim3, counted};
use crate::debug::expression::little_endian;
use crate::debug::names::scope::{Named, look_up};
use crate::debug::scene::Scene;
use crate::debug::value::{Scalar, Type};
use crate::machine::DivergencePolicy;
use crate::program::{Function, ParamPlace};

/// The kernels of the module; the one that runs is marked.
pub fn kernels(scene: &Scene<'_>) -> Table {
    let program = scene.program();
    let mut table = Table::new(&["kernel", ">params", ">instructions", ">registers", ">shared", "declared at"]);
    for id in program.kernels() {
        let kernel = &program.functions[id.index()];
        let slots = kernel.slots.b32 + kernel.slots.b64 + kernel.slots.pred;
        let file = program.sources_text.file(kernel.span.source);
        let cells = [
            kernel.name.to_string(),
            kernel.params.len().to_string(),
            kernel.code.len().to_string(),
            slots.to_string(),
            kernel.shared_bytes.to_string(),
            format!("{}:{}", file.short_name(), file.line_of(kernel.span.start)),
        ];
        table.push(id == scene.machine.config().kernel, cells);
    }
    table
}

/// How the kernel that runs was launched: dimensions, memory and parameters.
pub fn launch(scene: &Scene<'_>) -> Table {
    let (machine, config) = (scene.machine, scene.machine.config());
    let kernel = &scene.program().functions[config.kernel.index()];
    let mut table = Table::new(&["", ""]);
    let mut row = |name: &str, value: String| table.push(false, [name.to_string(), value]);
    let warps = scene.extents().warps();
    row("kernel", kernel.name.to_string());
    row("grid", format!("{}, {}", Dim3(config.grid), counted(machine.block_count(), "block")));
    let threads = counted(u64::from(scene.extents().threads()), "thread");
    row("block", format!("{}, {threads} in {}", Dim3(config.block), counted(u64::from(warps), "warp")));
    if config.cluster != [1, 1, 1] {
        row("cluster", Dim3(config.cluster).to_string());
    }
    let dynamic = config.dynamic_shared;
    row(
        "shared",
        format!("{} of variables, {dynamic} dynamic, {} in all", counted(u64::from(kernel.shared_bytes), "byte"), machine.shared_bytes()),
    );
    let (resident, started) = (machine.resident_blocks().count(), machine.blocks_started());
    row("blocks", format!("{started} started, {resident} on the machine, {} finished", started.saturating_sub(resident as u64)));
    if config.divergence == DivergencePolicy::Stack {
        row("warps", "have a stack: the sides of a branch run one after the other".to_string());
    }
    for param in &kernel.params {
        row(&param.name, param_value(scene, kernel, &param.name));
    }
    table
}

/// `.u64 0x7f2000000000 <x>`
fn param_value(scene: &Scene<'_>, kernel: &Function, name: &str) -> String {
    let Some(param) = kernel.params.iter().find(|param| &*param.name == name) else { return String::new() };
    let ParamPlace::Kernel(offset) = param.place else { return String::new() };
    let all = &scene.machine.config().params;
    let bytes = all.get(offset as usize..).and_then(|rest| rest.get(..param.bytes as usize)).unwrap_or(&[]);
    if param.is_array {
        return format!(".{} array of {} bytes", param.ty.word(), param.bytes);
    }
    let value = Scalar::new(Type::Scalar(param.ty), little_endian(bytes)).text(scene, None);
    // An address of a buffer says more with the buffer's type.
    let buffer = value.split_once('<').and_then(|(_, symbol)| symbol.split(['+', '>']).next());
    let ty = match buffer.and_then(|buffer| look_up(scene, None, buffer)) {
        Some(Named::Memory(place)) => {
            let extents: String = place.shape.iter().map(|extent| format!("[{extent}]")).collect();
            format!("  {}{extents}", place.ty.word())
        }
        _ => String::new(),
    };
    format!(".{} {value}{ty}", param.ty.word())
}
