//! What a name means where a thread stands.
//!
//! PTX names are looked up from the inside out: registers of the scopes around the program counter, then variables and parameters of the
//! function, labels, and what the module holds. Buffers of the launch come last: PTX does not know their names. But where a kernel's
//! parameter and a buffer have the same name, in PTX or in the source, as in a launch without a file, the name is the buffer's while the
//! kernel runs and afterwards: the parameter is no more than its address, `&NAME`.

use super::registers::number_of;
pub use super::registers::{RegisterPlace, register, register_of_slot, registers_called};
use crate::debug::scene::{Buffer, Frame, Scene};
use crate::isa::{ScalarType, Space, nearest};
use crate::program::operands::{Use, registers_of};
use crate::program::{Bank, FuncId, Function, Param, ParamPlace, Pc, Program, Register, Variable, map, short_name};

/// A place in memory with the type of what lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlace<'a> {
    /// Its space.
    pub space: Space,
    /// Its address there.
    pub address: u64,
    /// Type of an element.
    pub ty: ScalarType,
    /// Extent of every dimension, outermost first; empty for a scalar.
    pub shape: &'a [u64],
    /// For a kernel parameter or `extern` array without a shape of its own: the number of elements, of one dimension.
    pub elements: Option<u64>,
}

impl MemoryPlace<'_> {
    /// Extent of every dimension, that of an array whose size the launch says among them.
    pub fn extents(&self) -> Vec<u64> {
        self.elements.iter().chain(self.shape).copied().collect()
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    /// A register.
    Register(RegisterPlace),
    /// A variable, parameter or buffer.
    Memory(MemoryPlace<'a>),
    /// A buffer of which only the bytes are known.
    Untyped {
        /// Global address.
        address: u64,
        /// Its size.
        bytes: u64,
    },
    /// A label.
    Label(Pc),
    /// A function.
    Function(FuncId),
}

/// What `name` stands for in `frame`; with no frame, what the module and the launch know.
pub fn look_up<'a>(scene: &Scene<'a>, frame: Option<&Frame<'a>>, name: &str) -> Option<Named<'a>> {
    let named = |name: &str| {
        let local = frame.and_then(|frame| in_function(scene, frame, name));
        let elsewhere = || in_module(scene, name).or_else(|| buffer(scene, name));
        local.or_else(elsewhere).or_else(|| if frame.is_none() { kernel_param(scene, name) } else { None })
    };
    named(name).or_else(|| named(numbered_param(scene, name)?))
}

/// The name in PTX of the kernel's parameter that the source calls `word`, or words `param_N`.
fn numbered_param<'a>(scene: &Scene<'a>, word: &str) -> Option<&'a str> {
    let kernel = scene.program().functions.get(scene.machine.config().kernel.index())?;
    let of_source = scene.param_names.and_then(|names| names.iter().find(|(_, name)| *name == word)).map(|(index, _)| *index);
    let number = of_source.or_else(|| word.strip_prefix("param_")?.parse().ok())?;
    kernel.params.get(number).map(|param| &*param.name)
}

/// A parameter of the kernel, which lies in memory of the launch: no thread need be there.
fn kernel_param<'a>(scene: &Scene<'a>, name: &str) -> Option<Named<'a>> {
    let kernel = scene.program().functions.get(scene.machine.config().kernel.index())?;
    let param = kernel.params.iter().find(|param| &*param.name == name)?;
    let ParamPlace::Kernel(offset) = param.place else { return None };
    let of_launch = if scene.names_as_in_ptx { None } else { buffer_of_param(scene, name) };
    of_launch.or_else(|| Some(param_in_memory(param, Space::Param, u64::from(offset))))
}

/// The buffer that has the name of the kernel's parameter `name`, or the name that the source gives it.
fn buffer_of_param<'a>(scene: &Scene<'a>, name: &str) -> Option<Named<'a>> {
    let of_source = || {
        let kernel = scene.program().functions.get(scene.machine.config().kernel.index())?;
        let index = kernel.params.iter().position(|param| &*param.name == name)?;
        buffer(scene, scene.param_names?.get(&index)?)
    };
    buffer(scene, name).or_else(of_source)
}

/// Whether any function of the module has this name for a register, a variable, a parameter or a label.
pub fn is_in_a_function(program: &Program, name: &str) -> bool {
    let has = |function: &Function| {
        let param = || function.params.iter().chain(&function.results).any(|param| &*param.name == name);
        let label = || function.labels.iter().any(|(label, _)| &**label == name);
        function.registers.iter().any(|register| number_of(register, name).is_some()) || param() || label()
    };
    let variable = |variable: &Variable| &*variable.name == name || short_name(&variable.name) == name;
    program.functions.iter().any(has) || program.variables.iter().any(variable)
}

/// The register with the type that it has in effect.
pub fn in_effect(scene: &Scene<'_>, function: FuncId, place: RegisterPlace) -> RegisterPlace {
    let ty = scene.inferred.map_or(place.ty, |inferred| inferred.type_of(scene.program(), function, &place));
    RegisterPlace { ty, ..place }
}

fn in_function<'a>(scene: &Scene<'a>, frame: &Frame<'a>, name: &str) -> Option<Named<'a>> {
    let function = scene.function(frame);
    if let Some(register) = register(function, frame.pc, name) {
        return Some(Named::Register(in_effect(scene, frame.function, register)));
    }
    let variables = || scene.program().variables.iter().filter(|variable| variable.function == Some(frame.function));
    // A compiler decorates the name of a variable; what stands in the source is enough.
    let own =
        variables().find(|variable| &*variable.name == name).or_else(|| variables().find(|variable| short_name(&variable.name) == name));
    if let Some(variable) = own {
        return Some(Named::Memory(variable_place(scene, variable, Some(frame))));
    }
    if let Some(param) = function.params.iter().chain(&function.results).find(|param| &*param.name == name) {
        let is_of_launch = matches!(param.place, ParamPlace::Kernel(_)) && !scene.names_as_in_ptx;
        let of_launch = is_of_launch.then(|| buffer_of_param(scene, name)).flatten();
        return Some(of_launch.unwrap_or_else(|| param_place(param, frame)));
    }
    function.labels.iter().find(|(label, _)| &**label == name).map(|(_, pc)| Named::Label(*pc))
}

fn in_module<'a>(scene: &Scene<'a>, name: &str) -> Option<Named<'a>> {
    let program = scene.program();
    let variables = || program.variables.iter().filter(|variable| variable.function.is_none());
    if let Some(variable) = variables().find(|variable| &*variable.name == name) {
        return Some(Named::Memory(variable_place(scene, variable, None)));
    }
    program.function(name).map(Named::Function)
}

fn buffer<'a>(scene: &Scene<'a>, name: &str) -> Option<Named<'a>> {
    let mut allocations = scene.machine.device().global().allocations();
    let allocation = allocations.find(|allocation| &*allocation.name == name)?;
    let (address, bytes) = (allocation.base, allocation.bytes);
    let typed = scene.buffers.iter().find(|buffer| buffer.name == name);
    Some(match typed {
        Some(Buffer { ty, shape, .. }) => Named::Memory(MemoryPlace { space: Space::Global, address, ty: *ty, shape, elements: None }),
        None => Named::Untyped { address, bytes },
    })
}

/// Where a variable lies; one of a function, as `frame` of that function has it.
pub fn variable_place<'a>(scene: &Scene<'a>, variable: &'a Variable, frame: Option<&Frame<'a>>) -> MemoryPlace<'a> {
    let base = frame.filter(|_| variable.function.is_some()).map_or(0, |frame| u64::from(frame.base.local));
    let (space, address) = match variable.location.space {
        space @ (Space::Local | Space::ParamFunc) => (space, base + variable.location.address),
        Space::Shared if variable.bytes == 0 => (Space::Shared, dynamic_shared(scene)),
        space => (space, variable.location.address),
    };
    let (ty, shape) = variable_type(scene, variable);
    if variable.bytes > 0 || space != Space::Shared {
        return MemoryPlace { space, address, ty, shape, elements: None };
    }
    // Rows that do not fill the dynamic shared memory are none.
    let (bytes, size) = (scene.machine.shared_bytes().saturating_sub(address), u64::from(ty.bytes().max(1)));
    let row = shape.iter().fold(size, |bytes, extent| bytes.saturating_mul(*extent));
    let (row, shape): (u64, &[u64]) = if row > 0 && bytes >= row && bytes.is_multiple_of(row) { (row, shape) } else { (size, &[]) };
    MemoryPlace { space, address, ty, shape, elements: Some(bytes / row) }
}

/// The type of a variable's elements and its extents: what the user says, what accesses show of an array of bytes, or what is declared. Of
/// dynamic shared memory, whose size the launch says, the outermost extent is left out.
pub fn variable_type<'a>(scene: &Scene<'a>, variable: &'a Variable) -> (ScalarType, &'a [u64]) {
    let array = scene.inferred.and_then(|inferred| inferred.arrays.type_of(scene.program(), variable));
    match array {
        Some(array) => (array.ty, &array.shape),
        None if variable.bytes == 0 && variable.location.space == Space::Shared => (variable.ty, &[]),
        None => (variable.ty, &variable.shape),
    }
}

/// The bytes of a variable; of dynamic shared memory, those of the launch.
pub fn variable_bytes(scene: &Scene<'_>, variable: &Variable) -> u64 {
    match (variable.location.space, variable.bytes) {
        (Space::Shared, 0) => scene.machine.shared_bytes().saturating_sub(dynamic_shared(scene)),
        (_, bytes) => bytes,
    }
}

/// The variable that `name` stands for where the focused thread stands, in the kernel, or in the module.
pub fn variable_called<'a>(scene: &Scene<'a>, name: &str) -> Option<&'a Variable> {
    let program = scene.program();
    let function = scene.frame().map_or(scene.machine.config().kernel, |frame| frame.function);
    let of = |owner: Option<FuncId>| program.variables.iter().filter(move |variable| variable.function == owner);
    let own = of(Some(function)).find(|variable| &*variable.name == name);
    let short = || of(Some(function)).find(|variable| short_name(&variable.name) == name);
    own.or_else(short).or_else(|| of(None).find(|variable| &*variable.name == name))
}

/// Where the block's dynamic shared memory starts.
pub fn dynamic_shared(scene: &Scene<'_>) -> u64 {
    let kernel = &scene.program().functions[scene.machine.config().kernel.index()];
    map::SHARED_RESERVED + u64::from(kernel.shared_bytes)
}

/// What a parameter of the function of `frame` is.
pub fn param_place<'a>(param: &Param, frame: &Frame<'_>) -> Named<'a> {
    match param.place {
        ParamPlace::Register(bank, slot) => {
            Named::Register(RegisterPlace { ty: param.ty, bank, slot: Some(slot), width: param.ty.bits().div_ceil(64).max(1) })
        }
        ParamPlace::Frame(offset) => param_in_memory(param, Space::Local, u64::from(frame.base.local) + u64::from(offset)),
        ParamPlace::Kernel(offset) => param_in_memory(param, Space::Param, u64::from(offset)),
    }
}

fn param_in_memory<'a>(param: &Param, space: Space, address: u64) -> Named<'a> {
    let elements = param.is_array.then(|| u64::from(param.bytes / param.ty.bytes().max(1)));
    Named::Memory(MemoryPlace { space, address, ty: param.ty, shape: &[], elements })
}

/// Every name that [`look_up`] knows, registers of `%r<100>` left out that no code names; for completion.
pub fn names(scene: &Scene<'_>) -> Vec<String> {
    let mut names = Vec::new();
    if let Ok(frame) = scene.frame() {
        let function = scene.function(&frame);
        for register in function.registers.iter().filter(|register| register.scope.contains(&frame.pc.0)) {
            let used = register.components().filter(|(_, number)| function.placement.slot(register.bank, *number).is_some());
            names.extend(used.map(|(name, _)| name));
        }
        let variables = scene.program().variables.iter().filter(|variable| variable.function == Some(frame.function));
        names.extend(variables.map(|variable| short_name(&variable.name).to_string()));
        names.extend(function.params.iter().chain(&function.results).map(|param| param.name.to_string()));
        names.extend(function.labels.iter().map(|(label, _)| label.to_string()));
    }
    let program = scene.program();
    names.extend(program.variables.iter().filter(|variable| variable.function.is_none()).map(|variable| variable.name.to_string()));
    names.extend(program.functions.iter().map(|function| function.name.to_string()));
    names.extend(scene.param_names.into_iter().flatten().map(|(_, name)| name.clone()));
    names.extend(scene.machine.device().global().allocations().map(|allocation| allocation.name.to_string()));
    names.sort();
    names.dedup();
    names
}

/// What was perhaps meant by `name`: the registers of a declaration that has too few, or a name that looks like it.
pub fn hint(scene: &Scene<'_>, name: &str) -> Option<String> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let function = scene.frame().ok().map(|frame| scene.function(&frame));
    let numbered = |register: &&Register| stem != name && register.count.is_some() && &*register.name == stem;
    if let Some(register) = function.and_then(|function| function.registers.iter().find(numbered)) {
        let count = register.count.unwrap_or(0);
        return Some(format!("'{stem}<{count}>' declares '{stem}0' to '{stem}{}'", count.saturating_sub(1)));
    }
    let names = names(scene);
    let specials = crate::isa::SPECIAL_REGISTERS.iter().map(|register| register.name);
    nearest(name, names.iter().map(String::as_str).chain(specials)).map(|meant| format!("did you mean '{meant}'?"))
}

/// The type of the register that an instruction loads or stores: the declared one, or what instructions take an untyped one for.
pub fn data_type(scene: &Scene<'_>, pc: Pc) -> Option<ScalarType> {
    let program = scene.program();
    let inst = program.code.get(pc.index())?;
    let id = program.function_at(pc)?;
    let function = &program.functions[id.index()];
    let (mut loaded, mut stored) = (None, None);
    registers_of(inst, program, |used, register| {
        let place = (register.bank, register.slot);
        match used {
            Use::Write if register.bank != Bank::Pred => loaded = loaded.or(Some(place)),
            Use::Read => stored = stored.or(Some(place)),
            Use::Write | Use::Address | Use::Guard => {}
        }
    });
    let (bank, slot) = loaded.or(stored)?;
    let name = register_of_slot(function, pc, bank, slot)?;
    Some(in_effect(scene, id, register(function, pc, &name)?).ty)
}
