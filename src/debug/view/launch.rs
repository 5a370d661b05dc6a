//! `info kernels` and `info launch`.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::debug::expression::little_endian;
use crate::debug::names::scope::{Named, look_up};
use crate::debug::scene::Scene;
use crate::debug::value::{Scalar, Type};
use crate::launch::constants_of;
use crate::machine::DivergencePolicy;
use crate::program::{Param, ParamPlace, VarId, source_name};

use super::symbols::TypeName;

/// A kernel of the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelRow {
    /// Its name.
    pub name: String,
    /// Parameters.
    pub params: usize,
    /// Instructions.
    pub instructions: usize,
    /// Registers that a thread has.
    pub registers: u32,
    /// Bytes of its shared variables of a size that is known.
    pub shared_bytes: u32,
    /// The file that it is declared in, without folders.
    pub file: String,
    /// The line there, from 1.
    pub line: u32,
    /// Whether it is the one that runs.
    pub runs: bool,
}

/// The kernels of the module.
pub fn kernels(scene: &Scene<'_>) -> Vec<KernelRow> {
    let program = scene.program();
    let row = |id: crate::program::FuncId| {
        let kernel = &program.functions[id.index()];
        let file = program.sources_text.file(kernel.span.source);
        KernelRow {
            name: kernel.name.to_string(),
            params: kernel.params.len(),
            instructions: kernel.code.len(),
            registers: kernel.slots.b32 + kernel.slots.b64 + kernel.slots.pred,
            shared_bytes: kernel.shared_bytes,
            file: file.short_name().to_string(),
            line: file.line_of(kernel.span.start),
            runs: id == scene.machine.config().kernel,
        }
    };
    program.kernels().map(row).collect()
}

/// How the kernel that runs was launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchView {
    /// The kernel.
    pub kernel: String,
    /// Blocks of the grid in x, y and z.
    pub grid: [u32; 3],
    /// Blocks of the grid.
    pub blocks: u64,
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
    /// Warps of a block.
    pub warps: u32,
    /// Blocks of a cluster in x, y and z.
    pub cluster: [u32; 3],
    /// Bytes of shared memory of a block.
    pub shared: SharedBytes,
    /// Blocks that have started.
    pub started: u64,
    /// Blocks that have started and not finished.
    pub resident: u64,
    /// Whether a warp runs the sides of a branch one after the other.
    pub has_stack: bool,
    /// The parameters.
    pub params: Vec<ParamRow>,
    /// The constants that the kernel reads, and the variables that the launch gives values.
    pub variables: Vec<VariableRow>,
}

/// A variable of the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariableRow {
    /// Its name in the source.
    pub name: String,
    /// Its state space.
    pub space: &'static str,
    /// Its type: `f32[16]`.
    pub ty: String,
    /// Where its value is from.
    pub origin: VariableOrigin,
}

/// Where the value of a variable is from at the begin of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VariableOrigin {
    /// The launch.
    Launch,
    /// Its initializer in the module.
    Module,
    /// Neither: it is zero.
    Zero,
}

/// Bytes of shared memory of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SharedBytes {
    /// Of variables of a size that is known.
    pub variables: u32,
    /// That the launch gives beside them.
    pub dynamic: u32,
    /// In all, with those that the system keeps.
    pub all: u64,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParamRow {
    /// What the source calls it, or else the PTX.
    pub name: String,
    /// Its type, of an array that of an element: `u64`.
    pub ty: &'static str,
    /// What it was given.
    pub value: ParamValue,
}

/// What a parameter of a kernel was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum ParamValue {
    /// An array of this many bytes.
    Array(u32),
    /// A value.
    Scalar {
        /// In digits, an address with its symbol.
        text: String,
        /// The type of the buffer that it is an address of: `f32[1024]`.
        buffer: Option<String>,
    },
}

/// How the kernel that runs was launched: dimensions, memory, parameters, and variables, of which the launch has `given` some values.
pub fn launch(scene: &Scene<'_>, given: &BTreeSet<VarId>) -> LaunchView {
    let (machine, config) = (scene.machine, scene.machine.config());
    let kernel = &scene.program().functions[config.kernel.index()];
    let shared = SharedBytes { variables: kernel.shared_bytes, dynamic: config.dynamic_shared, all: machine.shared_bytes() };
    LaunchView {
        kernel: kernel.name.to_string(),
        grid: config.grid,
        blocks: machine.block_count(),
        block: config.block,
        threads: scene.extents().threads(),
        warps: scene.extents().warps(),
        cluster: config.cluster,
        shared,
        started: machine.blocks_started(),
        resident: machine.resident_blocks().count() as u64,
        has_stack: config.divergence == DivergencePolicy::Stack,
        params: kernel.params.iter().enumerate().filter_map(|(index, param)| param_row(scene, index, param)).collect(),
        variables: constants_of(scene.program(), config.kernel).union(given).map(|id| variable_row(scene, *id, given)).collect(),
    }
}

fn variable_row(scene: &Scene<'_>, id: VarId, given: &BTreeSet<VarId>) -> VariableRow {
    let variable = &scene.program().variables[id.index()];
    let origin = match (given.contains(&id), variable.init.is_empty()) {
        (true, _) => VariableOrigin::Launch,
        (false, false) => VariableOrigin::Module,
        (false, true) => VariableOrigin::Zero,
    };
    let ty = TypeName::new(scene, variable).words;
    VariableRow { name: source_name(&variable.name).to_string(), space: variable.location.space.word(), ty, origin }
}

/// None for a parameter of a function that is called.
fn param_row(scene: &Scene<'_>, index: usize, param: &Param) -> Option<ParamRow> {
    let ParamPlace::Kernel(offset) = param.place else { return None };
    let value = if param.is_array { ParamValue::Array(param.bytes) } else { scalar(scene, param, offset) };
    let name = scene.param_names.and_then(|names| names.get(&index)).cloned().unwrap_or_else(|| param.name.to_string());
    Some(ParamRow { name, ty: param.ty.word(), value })
}

fn scalar(scene: &Scene<'_>, param: &Param, offset: u32) -> ParamValue {
    let all = &scene.machine.config().params;
    let bytes = all.get(offset as usize..).and_then(|rest| rest.get(..param.bytes as usize)).unwrap_or(&[]);
    let text = Scalar::new(Type::Scalar(param.ty), little_endian(bytes)).text(scene, None);
    // An address of a buffer says more with the buffer's type.
    let name = text.split_once('<').and_then(|(_, symbol)| symbol.split(['+', '>']).next());
    let buffer = match name.and_then(|name| look_up(scene, None, name)) {
        Some(Named::Memory(place)) => {
            let extents: String = place.shape.iter().map(|extent| format!("[{extent}]")).collect();
            Some(format!("{}{extents}", place.ty.word()))
        }
        _ => None,
    };
    ParamValue::Scalar { text, buffer }
}
