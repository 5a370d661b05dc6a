//! A launch as `cuLaunchKernel` gets it: extents, and the bytes of the parameters.

use std::collections::BTreeMap;

use super::bounds::{self, Shape};
use super::element::Element;
use super::file::{Content, Init, Launch, Memory, Param, Tolerance};
use super::init::Contents;
use super::plan::{Case, ParamValue, PlannedLaunch, PlannedParam, PlannedVariable};
use super::resolve::choose_kernel;
use super::variable_args::of_module;
use crate::base::counted;
use crate::program::{ParamStorage, Program, VarId, source_name};

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
    /// Contents of variables of the module.
    pub variables: Vec<DriverVariable>,
}

/// Contents that a variable of the module has before the launch, as `cuMemcpyHtoD` copies them to what `cuModuleGetGlobal` gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverVariable {
    /// Its name, in the module or in the source.
    pub name: String,
    /// The type of its elements, by which the debugger shows it; `None` for the declared or inferred one.
    pub element: Option<Element>,
    /// Its first bytes; the others are unchanged.
    pub bytes: Vec<u8>,
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
            variables: self.planned_variables(program)?,
            variable_types: self.variable_types(program)?,
            param_size: function.param_bytes,
            bounds: bounds::violation(function, &shape),
            findings: None,
            names: BTreeMap::new(),
            is_from_args: false,
            reasons: Vec::new(),
        };
        let (name, tolerance_of_bytes) = (function.name.to_string(), Tolerance::default());
        Ok(Case { name, launches: vec![launch], buffers: Vec::new(), tolerance_of_bytes, printed: None, begin: 0 })
    }

    /// The contents of variables; each variable has at most one.
    fn planned_variables(&self, program: &Program) -> Result<Vec<PlannedVariable>, String> {
        let mut planned: Vec<PlannedVariable> = Vec::new();
        for DriverVariable { name, bytes, .. } in &self.variables {
            let variable = variable_called(program, name)?;
            let (room, given) = (program.variables[variable.index()].bytes, bytes.len() as u64);
            if given > room {
                return Err(format!("variable '{name}' has {}, and {given} are given", counted(room, "byte")));
            }
            if planned.iter().any(|other| other.variable == variable) {
                return Err(format!("variable '{name}' is given twice"));
            }
            planned.push(PlannedVariable { variable, contents: Contents::Bytes(bytes.clone()), bytes: given, parts: Vec::new() });
        }
        Ok(planned)
    }

    fn variable_types(&self, program: &Program) -> Result<Vec<(VarId, Element)>, String> {
        let typed = self.variables.iter().filter_map(|variable| Some((variable, variable.element?)));
        typed.map(|(variable, element)| Ok((variable_called(program, &variable.name)?, element))).collect()
    }

    /// The content of a launch file for the PTX file `module` that has the same effect on `memory`. The contents of variables are
    /// `inits`, in order, and its names are those of the module.
    pub fn content(&self, module: &str, memory: Vec<Memory>, inits: Vec<Init>) -> Content {
        assert_eq!(inits.len(), self.variables.len(), "contents for each variable");
        let names = || self.variables.iter().map(|variable| variable.name.clone());
        let types = names().zip(&self.variables).filter_map(|(name, variable)| Some((name, variable.element?)));
        let params = self.params.iter().map(|value| Param::bytes(value)).collect();
        Content::Launch(Launch {
            module: Some(module.to_string()),
            cluster: self.cluster.map(|[x, y, z]| (x, y, z)),
            dynamic_shared: self.dynamic_shared,
            cooperative: self.cooperative,
            memory,
            variables: names().zip(inits).collect(),
            variable_types: types.collect(),
            ..Launch::new(self.kernel.clone(), self.grid, self.block, params)
        })
    }
}

/// The `.const` or `.global` variable called `name`, in the module or in the source.
pub fn variable_called(program: &Program, name: &str) -> Result<VarId, String> {
    let exact = of_module(program).find(|(_, variable)| &*variable.name == name);
    let called: Vec<usize> = of_module(program).filter(|(_, own)| source_name(&own.name) == name).map(|(index, _)| index).collect();
    let names: Vec<&str> = of_module(program).map(|(_, variable)| source_name(&variable.name)).collect();
    match (exact, called.as_slice(), names.as_slice()) {
        (Some((index, _)), ..) => Ok(VarId::new(index)),
        (None, [sole], _) => Ok(VarId::new(*sole)),
        (None, [], []) => Err(format!("there is no variable '{name}': the module declares no .const or .global variable")),
        (None, [], names) => Err(format!("there is no .const or .global variable '{name}'; variables: {}", names.join(", "))),
        (None, several, _) => {
            let full: Vec<&str> = several.iter().map(|index| &*program.variables[*index].name).collect();
            Err(format!("several variables are called '{name}': {}", full.join(", ")))
        }
    }
}
