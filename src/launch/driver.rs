//! A launch as `cuLaunchKernel` gets it: extents, and the bytes of the parameters.

use std::collections::BTreeMap;

use super::bounds::{self, Shape};
use super::file::{Content, Launch, Memory, Param};
use super::plan::{Case, ParamValue, PlannedLaunch, PlannedParam};
use super::resolve::choose_kernel;
use crate::program::{ParamStorage, Program};

/// The arguments of `cuLaunchKernel`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverLaunch {
    /// The kernel, by its mangled or its source name; `None` for the sole one of the module.
    pub kernel: Option<String>,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z; `None` for what the kernel requires, or one.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// True if the whole grid must be resident at once.
    pub cooperative: bool,
    /// The values of the parameters in order, little-endian. Addresses are those of the memory that the run uses.
    pub params: Vec<Vec<u8>>,
}

impl DriverLaunch {
    /// The launch of a kernel of `program`. A value that is longer than its parameter is truncated, as the driver does.
    ///
    /// # Errors
    /// There is no such kernel, an extent is 0, or values are missing, too many or too short, in one line.
    pub fn plan(&self, program: &Program) -> Result<Case, String> {
        let kernel = choose_kernel(program, self.kernel.as_deref()).map_err(|(message, help)| format!("{message}: {help}"))?;
        let function = &program.functions[kernel.index()];
        let cluster = self.cluster.or(function.limits.required_cluster).unwrap_or([1; 3]);
        let Self { grid, block, dynamic_shared, cooperative, .. } = *self;
        for (what, extents) in [("grid", grid), ("block", block), ("cluster", cluster)] {
            if extents.contains(&0) {
                return Err(format!("no extent of the {what} can be 0"));
            }
        }
        let (wanted, given) = (function.params.len(), self.params.len());
        if wanted != given {
            return Err(format!("kernel '{}' has {wanted} parameters, and {given} are given", function.name));
        }
        let mut params = Vec::new();
        for (index, (param, value)) in function.params.iter().zip(&self.params).enumerate() {
            let bytes = param.bytes as usize;
            let value = value
                .get(..bytes)
                .ok_or_else(|| format!("parameter {index} ('{}') has {bytes} bytes, and {} are given", param.name, value.len()))?;
            let ParamStorage::Kernel(offset) = param.storage else { return Err(format!("'{}' is no parameter of a kernel", param.name)) };
            params.push(PlannedParam { offset, bytes: param.bytes, value: ParamValue::Bytes(value.to_vec()) });
        }
        let shape = Shape { grid, block, cluster, dynamic_shared, cooperative };
        let launch = PlannedLaunch {
            kernel,
            grid,
            block,
            blocks: Vec::new(),
            cluster,
            dynamic_shared,
            cooperative,
            params,
            images: Vec::new(),
            variables: Vec::new(),
            param_size: function.param_bytes,
            bounds: bounds::violation(function, &shape),
            findings: None,
            names: BTreeMap::new(),
            is_from_args: false,
            reasons: Vec::new(),
        };
        Ok(Case { name: function.name.to_string(), launches: vec![launch], buffers: Vec::new(), printed: None })
    }

    /// The content of a launch file for the PTX file `module` that has the same effect on `memory`.
    pub fn content(&self, module: &str, memory: Vec<Memory>) -> Content {
        let params = self.params.iter().map(|value| Param::bytes(value)).collect();
        Content::Launch(Launch {
            module: Some(module.to_string()),
            cluster: self.cluster.map(|[x, y, z]| (x, y, z)),
            dynamic_shared: self.dynamic_shared,
            cooperative: self.cooperative,
            memory,
            ..Launch::new(self.kernel.clone(), self.grid, self.block, params)
        })
    }
}
