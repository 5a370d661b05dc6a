//! `info kernels` and `info launch`.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::debug::eval_context::EvalContext;
use crate::debug::expression::little_endian;
use crate::debug::names::scope::{Named, look_up};
use crate::debug::value::{Scalar, Type};
use crate::launch::constants_of;
use crate::machine::DivergencePolicy;
use crate::program::{Param, ParamStorage, VarId, source_name};

use super::symbols::TypeName;

/// A kernel of the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelRow {
    /// Its name.
    pub name: String,
    /// Number of parameters.
    pub params: usize,
    /// Number of instructions.
    pub instructions: usize,
    /// Number of registers of a thread.
    pub registers: u32,
    /// Bytes of its static shared memory.
    pub shared_bytes: u32,
    /// Bytes of its dynamic shared memory, if it is running and has some.
    pub dynamic_bytes: Option<u32>,
    /// The file that it is declared in, without folders.
    pub file: String,
    /// The line there, from 1.
    pub line: u32,
    /// True if it is running.
    pub runs: bool,
}

/// The kernels of the module.
pub fn kernels(context: &EvalContext<'_>) -> Vec<KernelRow> {
    let program = context.program();
    let row = |id: crate::program::FuncId| {
        let kernel = &program.functions[id.index()];
        let file = program.sources_text.file(kernel.span.source);
        let config = context.machine.config();
        let runs = id == config.kernel;
        KernelRow {
            name: kernel.name.to_string(),
            params: kernel.params.len(),
            instructions: kernel.code.len(),
            registers: kernel.slots.b32 + kernel.slots.b64 + kernel.slots.pred,
            shared_bytes: kernel.shared_bytes,
            dynamic_bytes: (runs && config.dynamic_shared > 0).then_some(config.dynamic_shared),
            file: file.short_name().to_string(),
            line: file.line_of(kernel.span.start),
            runs,
        }
    };
    program.kernels().map(row).collect()
}

/// The launch of the running kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchView {
    /// The kernel.
    pub kernel: String,
    /// Blocks of the grid in x, y and z.
    pub grid: [u32; 3],
    /// Number of blocks of the grid.
    pub blocks: u64,
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Number of threads of a block.
    pub threads: u32,
    /// Number of warps of a block.
    pub warps: u32,
    /// Blocks of a cluster in x, y and z.
    pub cluster: [u32; 3],
    /// Bytes of shared memory of a block.
    pub shared: SharedBytes,
    /// Number of blocks that have started.
    pub started: u64,
    /// Number of blocks that have started and not finished.
    pub resident: u64,
    /// True if diverged lanes run in the order of a reconvergence stack.
    pub has_stack: bool,
    /// The parameters.
    pub params: Vec<ParamRow>,
    /// The constants that the kernel reads, and the variables that the launch sets.
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
    /// The source of its value.
    pub origin: VariableOrigin,
}

/// The source of a variable's value at the beginning of a launch.
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
    /// Static shared memory.
    pub variables: u32,
    /// Dynamic shared memory.
    pub dynamic: u32,
    /// The total, with the bytes reserved for the system.
    pub all: u64,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParamRow {
    /// Its name in the source if known, otherwise in the PTX.
    pub name: String,
    /// Its type, or the element type of an array: `u64`.
    pub ty: &'static str,
    /// Its value.
    pub value: ParamValue,
}

/// The value of a kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum ParamValue {
    /// An array of this many bytes.
    Array(u32),
    /// A value.
    Scalar {
        /// The value as text, an address with its symbol.
        text: String,
        /// The type of the buffer that it is an address of: `f32[1024]`.
        buffer: Option<String>,
    },
}

/// The launch of the running kernel: dimensions, memory, parameters and variables; `given` are the variables that the launch sets.
pub fn launch(context: &EvalContext<'_>, given: &BTreeSet<VarId>) -> LaunchView {
    let (machine, config) = (context.machine, context.machine.config());
    let kernel = &context.program().functions[config.kernel.index()];
    let shared = SharedBytes { variables: kernel.shared_bytes, dynamic: config.dynamic_shared, all: machine.shared_bytes() };
    LaunchView {
        kernel: kernel.name.to_string(),
        grid: config.grid,
        blocks: machine.block_count(),
        block: config.block,
        threads: context.extents().threads(),
        warps: context.extents().warps(),
        cluster: config.cluster,
        shared,
        started: machine.blocks_started(),
        resident: machine.resident_blocks().count() as u64,
        has_stack: config.divergence == DivergencePolicy::Stack,
        params: kernel.params.iter().enumerate().filter_map(|(index, param)| param_row(context, index, param)).collect(),
        variables: constants_of(context.program(), config.kernel).union(given).map(|id| variable_row(context, *id, given)).collect(),
    }
}

fn variable_row(context: &EvalContext<'_>, id: VarId, given: &BTreeSet<VarId>) -> VariableRow {
    let variable = &context.program().variables[id.index()];
    let origin = match (given.contains(&id), variable.init.is_empty()) {
        (true, _) => VariableOrigin::Launch,
        (false, false) => VariableOrigin::Module,
        (false, true) => VariableOrigin::Zero,
    };
    let ty = TypeName::new(context, variable).words;
    VariableRow { name: source_name(&variable.name).to_string(), space: variable.location.space.word(), ty, origin }
}

/// None for a parameter of a function that is called.
fn param_row(context: &EvalContext<'_>, index: usize, param: &Param) -> Option<ParamRow> {
    let ParamStorage::Kernel(offset) = param.storage else { return None };
    let value = if param.is_array { ParamValue::Array(param.bytes) } else { scalar(context, param, offset) };
    let name = context.param_names.and_then(|names| names.get(&index)).cloned().unwrap_or_else(|| param.name.to_string());
    Some(ParamRow { name, ty: param.ty.word(), value })
}

fn scalar(context: &EvalContext<'_>, param: &Param, offset: u32) -> ParamValue {
    let all = &context.machine.config().params;
    let bytes = all.get(offset as usize..).and_then(|rest| rest.get(..param.bytes as usize)).unwrap_or(&[]);
    let text = Scalar::new(Type::Scalar(param.ty), little_endian(bytes)).text(context, None);
    // The address of a buffer is shown with the buffer's type.
    let name = text.split_once('<').and_then(|(_, symbol)| symbol.split(['+', '>']).next());
    let buffer = match name.and_then(|name| look_up(context, None, name)) {
        Some(Named::Memory(place)) => {
            let extents: String = place.shape.iter().map(|extent| format!("[{extent}]")).collect();
            Some(format!("{}{extents}", place.ty.word()))
        }
        _ => None,
    };
    ParamValue::Scalar { text, buffer }
}
