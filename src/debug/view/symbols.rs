//! `info symbols`, `info shared` and `info allocations`: what has a name, and where it lies.

use super::Table;
use super::arrays::{Origin, origin};
use crate::debug::arrays::type_words;
use crate::debug::names::scope;
use crate::debug::scene::Scene;
use crate::isa::Space;
use crate::program::{FuncId, Variable, map};

/// Functions, labels and variables whose names contain `part`; labels only of the focused function.
pub fn symbols(scene: &Scene<'_>, part: &str) -> Table {
    let program = scene.program();
    let mut table = Table::new(&["name", "kind", "type", ">address", ">bytes", "in"]);
    let mut add = |name: &str, [kind, ty, address, bytes, owner]: [String; 5]| {
        if name.contains(part) {
            table.push(false, [name.to_string(), kind, ty, address, bytes, owner]);
        }
    };
    let map = map::map(program.address_bits);
    for (index, function) in program.functions.iter().enumerate() {
        let kind = if function.is_kernel { "kernel" } else { "function" };
        let address = format!("{:#x}", map::function_address(map, FuncId::new(index).0));
        add(&function.name, [kind.to_string(), String::new(), address, String::new(), String::new()]);
    }
    for variable in &program.variables {
        let owner = variable.function.map_or(String::new(), |function| program.functions[function.index()].name.to_string());
        add(&variable.name, variable_cells(scene, variable, owner));
    }
    let focused = scene.frame().map_or(scene.machine.config().kernel, |frame| frame.function);
    let function = &program.functions[focused.index()];
    for (label, pc) in &function.labels {
        add(label, ["label".to_string(), String::new(), pc.0.to_string(), String::new(), function.name.to_string()]);
    }
    table.or_note(&if part.is_empty() { "the module names nothing".to_string() } else { format!("no name contains '{part}'") })
}

fn variable_cells(scene: &Scene<'_>, variable: &Variable, owner: String) -> [String; 5] {
    let place = scope::variable_place(scene, variable, None);
    let bytes = scope::variable_bytes(scene, variable);
    // Local variables have an address only in a frame.
    let address = match place.space {
        Space::Local | Space::ParamFunc => format!("frame+{}", place.address),
        _ => format!("{:#x}", place.address),
    };
    [place.space.word().to_string(), type_name(scene, variable), address, bytes.to_string(), owner]
}

/// `f32[4][8]`, and where that is from if it is not declared.
pub(super) fn type_name(scene: &Scene<'_>, variable: &Variable) -> String {
    let is_open = variable.bytes == 0 && variable.location.space == Space::Shared;
    let (ty, shape) = scope::variable_type(scene, variable);
    let words = type_words(ty, shape, is_open);
    match origin(scene, variable) {
        Origin::Declared => words,
        Origin::Accesses => format!("{words}, from its accesses"),
        Origin::User => format!("{words}, as given"),
    }
}

/// What lies in the shared memory of a block.
pub fn shared(scene: &Scene<'_>) -> Table {
    let mut table = Table::new(&["name", "type", ">address", ">bytes"]);
    let row = |name: &str, ty: String, start: u64, bytes: u64| [name.to_string(), ty, format!("{start:#x}"), bytes.to_string()];
    table.push(false, row("(kept by the system)", String::new(), 0, map::SHARED_RESERVED));
    let program = scene.program();
    let mut variables: Vec<&Variable> = program.variables.iter().filter(|variable| variable.location.space == Space::Shared).collect();
    variables.retain(|variable| variable.bytes > 0);
    variables.sort_by_key(|variable| variable.location.address);
    for variable in variables {
        table.push(false, row(&variable.name, type_name(scene, variable), variable.location.address, variable.bytes));
    }
    let start = scope::dynamic_shared(scene);
    let bytes = scene.machine.shared_bytes().saturating_sub(start);
    if bytes > 0 {
        let names = program.variables.iter().filter(|variable| variable.location.space == Space::Shared && variable.bytes == 0);
        let names: Vec<&str> = names.map(|variable| &*variable.name).collect();
        let name = if names.is_empty() { "(dynamic)".to_string() } else { format!("{} (dynamic)", names.join(", ")) };
        table.push(false, row(&name, String::new(), start, bytes));
    }
    table
}

/// What lies in global and constant memory: buffers of the launch and variables of the module.
pub fn allocations(scene: &Scene<'_>) -> Table {
    let mut table = Table::new(&["name", "kind", "type", ">address", ">bytes"]);
    let device = scene.machine.device();
    let all =
        device.global().allocations().map(|each| ("global", each)).chain(device.constants().allocations().map(|each| ("const", each)));
    for (space, allocation) in all {
        let variable = scene.program().variables.iter().find(|variable| {
            variable.location.address == allocation.base && matches!(variable.location.space, Space::Global | Space::Const)
        });
        let buffer = scene.buffers.iter().find(|buffer| *buffer.name == *allocation.name);
        let (kind, ty) = match (variable, buffer) {
            (Some(variable), _) => (format!("{space} variable"), type_name(scene, variable)),
            (None, Some(buffer)) => {
                let extents: String = buffer.shape.iter().map(|extent| format!("[{extent}]")).collect();
                ("buffer".to_string(), format!("{}{extents}", buffer.ty.word()))
            }
            (None, None) => ("buffer".to_string(), String::new()),
        };
        let (address, bytes) = (format!("{:#x}", allocation.base), allocation.bytes.to_string());
        table.push(false, [allocation.name.to_string(), kind, ty, address, bytes]);
    }
    table.or_note("there is no global memory")
}
