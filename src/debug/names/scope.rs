//! Lookup of names in the scope of a thread.
//!
//! PTX names are looked up from the inside out: registers of the scopes around the program counter, then variables and parameters of the
//! function, labels, and variables and functions of the module. Buffers of the launch come next: PTX does not know their names; and last
//! what the source calls a variable of the module, whose name the compiler mangles. But if a
//! kernel's parameter and a buffer have the same name, in PTX or in the source, as in a launch without a file, the name means the buffer,
//! also after the kernel has ended: the parameter is only the buffer's address, `&NAME`.

use std::collections::BTreeSet;

use crate::debug::eval_context::{Buffer, EvalContext, Frame};
use crate::debug::frame_scopes;
use crate::debug::source_names;
use crate::isa::{ScalarType, Space, TypeKind, nearest};
use crate::machine::{FrameBase, Registers};
use crate::program::operands::{Use, registers_of};
use crate::program::registers::number_of;
pub use crate::program::registers::{RegisterLocation, register, register_of_slot, registers_called};
use crate::program::{
    Bank, FuncId, Function, LocalVariable, Param, ParamStorage, Pc, Program, Register, Variable, is_called, is_signed_parameter,
    listed_name, map, short_name, shown_name,
};

/// A memory location with the type of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLocation<'a> {
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

impl MemoryLocation<'_> {
    /// Extent of every dimension, including one whose size the launch gives.
    pub fn extents(&self) -> Vec<u64> {
        self.elements.iter().chain(self.shape).copied().collect()
    }
}

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    /// A register.
    Register(RegisterLocation),
    /// A variable, parameter or buffer.
    Memory(MemoryLocation<'a>),
    /// A buffer of unknown type.
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

/// The meaning of `name` in `frame`; without a frame, in the module and the launch.
pub fn look_up<'a>(context: &EvalContext<'a>, frame: Option<&Frame<'a>>, name: &str) -> Option<Named<'a>> {
    let named = |name: &str| {
        let local = frame.and_then(|frame| in_function(context, frame, name));
        let elsewhere = || in_module(context, name).or_else(|| buffer(context, name));
        local.or_else(elsewhere).or_else(|| if frame.is_none() { kernel_param(context, name) } else { None })
    };
    let of_source = || {
        let variable = module_variable_called(context, name)?;
        Some(Named::Memory(variable_location(context, variable, None)))
    };
    // As in gdb, a register is also called by its name with `$`.
    let of_dollar = || named(&format!("%{}", name.strip_prefix('$')?));
    let by_letters = || register_by_letters(context, frame?, name);
    let of_function = || only_function(context.program(), name);
    let found = named(name).or_else(|| named(numbered_param(context, name)?)).or_else(of_source).or_else(of_dollar);
    found.or_else(by_letters).or_else(of_function)
}

/// The register that `R6`, `r6` or `$R6` is: its letters and its number, as debuggers of hardware write registers.
fn register_by_letters<'a>(context: &EvalContext<'a>, frame: &Frame<'a>, name: &str) -> Option<Named<'a>> {
    let word = name.strip_prefix('$').unwrap_or(name);
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_numbered = !letters.is_empty() && letters.len() < word.len() && letters.chars().all(|c| c.is_ascii_alphabetic());
    let ptx = is_numbered.then(|| format!("%{}", word.to_ascii_lowercase()))?;
    let found = register(context.function(frame), frame.pc, &ptx)?;
    Some(Named::Register(with_type_in_effect(context, frame.function, found)))
}

/// The function with code that the source calls `name`, if there is one alone.
fn only_function<'a>(program: &Program, name: &str) -> Option<Named<'a>> {
    let mut with_code = program.functions_called(name).into_iter().filter(|id| !program.functions[id.index()].code.is_empty());
    let only = with_code.next()?;
    with_code.next().is_none().then_some(Named::Function(only))
}

/// A parameter that PTX declares unsigned, as every integer, with the sign that the mangled name of its function says.
fn with_sign<'a>(function: &Function, param: &Param, named: Named<'a>) -> Named<'a> {
    let index = function.params.iter().position(|other| std::ptr::eq(other, param));
    let is_signed = !param.is_array && index.and_then(|index| is_signed_parameter(function, index)) == Some(true);
    let signed = ScalarType::from_word(&format!("s{}", param.ty.bits())).filter(|_| is_signed && param.ty.kind() == TypeKind::Unsigned);
    match (signed, named) {
        (Some(ty), Named::Register(location)) => Named::Register(RegisterLocation { ty, ..location }),
        (Some(ty), Named::Memory(location)) => Named::Memory(MemoryLocation { ty, ..location }),
        (_, named) => named,
    }
}

/// The PTX name of the kernel's parameter that the source calls `word`, or of parameter N for `param_N`.
fn numbered_param<'a>(context: &EvalContext<'a>, word: &str) -> Option<&'a str> {
    let kernel = context.program().functions.get(context.machine.config().kernel.index())?;
    let of_source = context.param_names.and_then(|names| names.iter().find(|(_, name)| *name == word)).map(|(index, _)| *index);
    let number = of_source.or_else(|| word.strip_prefix("param_")?.parse().ok())?;
    kernel.params.get(number).map(|param| &*param.name)
}

/// A parameter of the kernel, which is in memory of the launch even without a live thread.
fn kernel_param<'a>(context: &EvalContext<'a>, name: &str) -> Option<Named<'a>> {
    let kernel = context.program().functions.get(context.machine.config().kernel.index())?;
    let param = kernel.params.iter().find(|param| &*param.name == name)?;
    let ParamStorage::Kernel(offset) = param.storage else { return None };
    let of_launch = if context.names_as_in_ptx { None } else { buffer_of_param(context, name) };
    of_launch.or_else(|| Some(with_sign(kernel, param, param_in_memory(param, Space::Param, u64::from(offset)))))
}

/// The buffer that has the name of the kernel's parameter `name`, or the name that the source gives it.
fn buffer_of_param<'a>(context: &EvalContext<'a>, name: &str) -> Option<Named<'a>> {
    let of_source = || {
        let kernel = context.program().functions.get(context.machine.config().kernel.index())?;
        let index = kernel.params.iter().position(|param| &*param.name == name)?;
        buffer(context, context.param_names?.get(&index)?)
    };
    buffer(context, name).or_else(of_source)
}

/// True if a function of the module has a register, a variable, a parameter or a label with this name.
pub fn is_in_a_function(program: &Program, name: &str) -> bool {
    let has = |function: &Function| {
        let param = || function.params.iter().chain(&function.results).any(|param| &*param.name == name);
        let label = || function.labels.iter().any(|(label, _)| &**label == name);
        function.registers.iter().any(|register| number_of(register, name).is_some()) || param() || label()
    };
    let variable = |variable: &Variable| &*variable.name == name || short_name(&variable.name) == name;
    program.functions.iter().any(has) || program.variables.iter().any(variable)
}

/// The register with its type in effect.
pub fn with_type_in_effect(context: &EvalContext<'_>, function: FuncId, register: RegisterLocation) -> RegisterLocation {
    let ty = context.inferred.map_or(register.ty, |inferred| inferred.type_of(context.program(), function, &register));
    RegisterLocation { ty, ..register }
}

fn in_function<'a>(context: &EvalContext<'a>, frame: &Frame<'a>, name: &str) -> Option<Named<'a>> {
    let function = context.function(frame);
    if let Some(register) = register(function, frame.pc, name) {
        return Some(Named::Register(with_type_in_effect(context, frame.function, register)));
    }
    if let Some(variable) = own_variable(context.program(), function, frame.pc, name) {
        return Some(Named::Memory(variable_location(context, variable, Some(frame))));
    }
    if let Some(param) = function.params.iter().chain(&function.results).find(|param| &*param.name == name) {
        let is_of_launch = matches!(param.storage, ParamStorage::Kernel(_)) && !context.names_as_in_ptx;
        let of_launch = is_of_launch.then(|| buffer_of_param(context, name)).flatten();
        return Some(of_launch.unwrap_or_else(|| with_sign(function, param, param_location(param, frame))));
    }
    function.labels.iter().find(|(label, _)| &**label == name).map(|(_, pc)| Named::Label(*pc))
}

/// The variable of a function that `name` means at an instruction.
fn own_variable<'a>(program: &'a Program, function: &Function, pc: Pc, name: &str) -> Option<&'a Variable> {
    let all = || function.variables.iter().map(|local| (local.scope.contains(&pc.0), &program.variables[local.id.index()]));
    let in_scope = || all().rev().filter(|(is_in_scope, _)| *is_in_scope);
    // A variable keeps its memory where its name ends; what is passed to one call and to the next has one name, and is not kept.
    let elsewhere = || all().filter(|(is_in_scope, variable)| !is_in_scope && variable.location.space != Space::ParamFunc);
    let visible = || in_scope().chain(elsewhere()).map(|(_, variable)| variable);
    // A compiler mangles the name of a variable; its name in the source will do.
    visible().find(|variable| &*variable.name == name).or_else(|| visible().find(|variable| short_name(&variable.name) == name))
}

fn in_module<'a>(context: &EvalContext<'a>, name: &str) -> Option<Named<'a>> {
    let program = context.program();
    if let Some(variable) = module_variables(context).find(|variable| &*variable.name == name) {
        return Some(Named::Memory(variable_location(context, variable, None)));
    }
    program.function(name).map(Named::Function)
}

/// The variables of the module, without those in the shared memory of other kernels.
pub fn module_variables<'a>(context: &EvalContext<'a>) -> impl Iterator<Item = &'a Variable> + use<'a> {
    let kernel = context.machine.config().kernel;
    let of_module = context.program().variables.iter().filter(|variable| variable.function.is_none());
    of_module.filter(move |variable| variable.location.space != Space::Shared || variable.is_in_shared_of(kernel))
}

/// The variable of the module that `name` denotes: the one with exactly this name, otherwise the only one whose source name matches
/// ([`is_called`]).
fn module_variable_called<'a>(context: &EvalContext<'a>, name: &str) -> Option<&'a Variable> {
    let exact = module_variables(context).find(|variable| &*variable.name == name);
    exact.or_else(|| {
        let mut called = module_variables(context).filter(|variable| is_called(&variable.name, name));
        called.next().filter(|_| called.next().is_none())
    })
}

fn buffer<'a>(context: &EvalContext<'a>, name: &str) -> Option<Named<'a>> {
    let mut allocations = context.machine.device().global().allocations();
    let allocation = allocations.find(|allocation| &*allocation.name == name)?;
    let (address, bytes) = (allocation.base, allocation.bytes);
    let typed = context.buffers.iter().find(|buffer| buffer.name == name);
    Some(match typed {
        Some(Buffer { ty, shape, .. }) => Named::Memory(MemoryLocation { space: Space::Global, address, ty: *ty, shape, elements: None }),
        None => Named::Untyped { address, bytes },
    })
}

/// The location of a variable; for one of a function, in `frame` of that function.
pub fn variable_location<'a>(context: &EvalContext<'a>, variable: &'a Variable, frame: Option<&Frame<'a>>) -> MemoryLocation<'a> {
    let base = frame.filter(|_| variable.function.is_some()).map_or(0, |frame| u64::from(frame.base.local));
    let (space, address) = match variable.location.space {
        space @ (Space::Local | Space::ParamFunc) => (space, base + variable.location.address),
        Space::Shared if variable.bytes == 0 => (Space::Shared, dynamic_shared(context)),
        space => (space, variable.location.address),
    };
    let (ty, shape) = variable_type(context, variable);
    if variable.bytes > 0 || space != Space::Shared {
        return MemoryLocation { space, address, ty, shape, elements: None };
    }
    // Rows that do not fill the dynamic shared memory are ignored.
    let (bytes, size) = (context.machine.shared_bytes().saturating_sub(address), u64::from(ty.bytes().max(1)));
    let row = shape.iter().fold(size, |bytes, extent| bytes.saturating_mul(*extent));
    let (row, shape): (u64, &[u64]) = if row > 0 && bytes >= row && bytes.is_multiple_of(row) { (row, shape) } else { (size, &[]) };
    MemoryLocation { space, address, ty, shape, elements: Some(bytes / row) }
}

/// The type of a variable's elements and its extents: set by the user, inferred for an array of bytes, or declared. For dynamic shared
/// memory, whose size the launch gives, the outermost extent is left out.
pub fn variable_type<'a>(context: &EvalContext<'a>, variable: &'a Variable) -> (ScalarType, &'a [u64]) {
    let array = context.inferred.and_then(|inferred| inferred.arrays.type_of(context.program(), variable));
    match array {
        Some(array) => (array.ty, &array.shape),
        None if variable.bytes == 0 && variable.location.space == Space::Shared => (variable.ty, &[]),
        None => (variable.ty, &variable.shape),
    }
}

/// The bytes of a variable; of dynamic shared memory, those of the launch.
pub fn variable_bytes(context: &EvalContext<'_>, variable: &Variable) -> u64 {
    match (variable.location.space, variable.bytes) {
        (Space::Shared, 0) => context.machine.shared_bytes().saturating_sub(dynamic_shared(context)),
        (_, bytes) => bytes,
    }
}

/// The variable that `name` means in the focused thread's function, in the kernel, or in the module.
pub fn variable_called<'a>(context: &EvalContext<'a>, name: &str) -> Option<&'a Variable> {
    let program = context.program();
    let own = match context.frame() {
        Ok(frame) => own_variable(program, context.function(&frame), frame.pc, name),
        Err(_) => {
            let kernel = &program.functions[context.machine.config().kernel.index()];
            own_variable(program, kernel, Pc(kernel.code.start), name)
        }
    };
    own.or_else(|| module_variable_called(context, name))
}

/// The bits of a register in a frame; none if no code names it.
pub fn register_bits(frame: &Frame<'_>, location: &RegisterLocation) -> Option<u128> {
    bits_of_lane(&frame.warp.registers, frame.base, location, frame.lane as usize % 32)
}

/// The bits of a register of a lane in the frame that begins at `base`; none if no code names it.
pub fn bits_of_lane(registers: &Registers, base: FrameBase, location: &RegisterLocation, lane: usize) -> Option<u128> {
    let first = location.slot?.in_frame(base.slot(location.bank)).index();
    match location.bank {
        Bank::B32 => registers.b32.get(first).map(|register| u128::from(register[lane])),
        Bank::Pred => registers.pred.get(first).map(|bits| u128::from(bits.contains(lane))),
        Bank::B64 => {
            let half = |index: usize| registers.b64.get(first + index).map(|register| u128::from(register[lane]));
            let high = if location.width > 1 { half(1)? } else { 0 };
            Some(half(0)? | high << 64)
        }
    }
}

/// True if the lane of `frame` has written the register, or nothing notes what is written.
pub fn is_written(frame: &Frame<'_>, register: &RegisterLocation) -> bool {
    let (Some(written), Some(slot)) = (&frame.warp.registers.written, register.slot) else { return true };
    let first = slot.in_frame(frame.base.slot(register.bank));
    first.run(register.width).all(|slot| written.lanes(register.bank, slot).contains(frame.lane as usize % 32))
}

/// The start address of the block's dynamic shared memory.
pub fn dynamic_shared(context: &EvalContext<'_>) -> u64 {
    let kernel = &context.program().functions[context.machine.config().kernel.index()];
    map::SHARED_RESERVED + u64::from(kernel.shared_bytes)
}

/// The register or memory of a parameter of `frame`'s function.
pub fn param_location<'a>(param: &Param, frame: &Frame<'_>) -> Named<'a> {
    match param.storage {
        ParamStorage::Register(bank, slot) => {
            Named::Register(RegisterLocation { ty: param.ty, bank, slot: Some(slot), width: param.ty.bits().div_ceil(64).max(1) })
        }
        ParamStorage::Frame(offset) => param_in_memory(param, Space::Local, u64::from(frame.base.local) + u64::from(offset)),
        ParamStorage::Kernel(offset) => param_in_memory(param, Space::Param, u64::from(offset)),
    }
}

fn param_in_memory<'a>(param: &Param, space: Space, address: u64) -> Named<'a> {
    let elements = param.is_array.then(|| u64::from(param.bytes / param.ty.bytes().max(1)));
    Named::Memory(MemoryLocation { space, address, ty: param.ty, shape: &[], elements })
}

/// Every name that [`look_up`] knows, for completion; without registers of `%r<100>` that no code names.
pub fn names(context: &EvalContext<'_>) -> Vec<String> {
    let mut names = Vec::new();
    if let Ok(frame) = context.frame() {
        let function = context.function(&frame);
        for register in function.registers.iter().filter(|register| register.scope.contains(&frame.pc.0)) {
            let used = register.components().filter(|(_, number)| function.placement.slot(register.bank, *number).is_some());
            names.extend(used.map(|(name, _)| name));
        }
        let is_known = |name: &&str| own_variable(context.program(), function, frame.pc, name).is_some();
        let variables = context.program().variables_of(frame.function).map(|variable| short_name(&variable.name));
        names.extend(variables.filter(is_known).map(str::to_string));
        names.extend(function.params.iter().chain(&function.results).map(|param| param.name.to_string()));
        names.extend(function.labels.iter().map(|(label, _)| label.to_string()));
    }
    if let Some(info) = context.debug_info() {
        let scopes = context.frame().map_or(Vec::new(), |frame| frame_scopes::scopes_of(context, info, &frame));
        let locals = scopes.into_iter().flat_map(|id| &info.scopes[id].variables);
        names.extend(locals.chain(&info.globals).map(|variable| variable.name.to_string()));
    }
    let program = context.program();
    for variable in module_variables(context) {
        names.extend([variable.name.to_string(), shown_name(&variable.name).into_owned()]);
    }
    names.extend(program.functions.iter().map(|function| function.name.to_string()));
    names.extend(context.param_names.into_iter().flatten().map(|(_, name)| name.clone()));
    names.extend(context.machine.device().global().allocations().map(|allocation| allocation.name.to_string()));
    names.sort();
    names.dedup();
    names
}

/// What a call of the function is passed, or returns, under this name.
fn passed_elsewhere<'a>(program: &Program, function: &'a Function, name: &str) -> Option<&'a LocalVariable> {
    let is_passed = |local: &&LocalVariable| {
        let variable = &program.variables[local.id.index()];
        variable.location.space == Space::ParamFunc && &*variable.name == name
    };
    function.variables.iter().find(is_passed)
}

/// The kernels that have a shared variable of this name, if it is one of others than the kernel that runs.
fn other_kernels(context: &EvalContext<'_>, name: &str) -> Option<String> {
    let program = context.program();
    let is_meant = |variable: &&Variable| variable.location.space == Space::Shared && is_called(&variable.name, name);
    let kernels = program.variables.iter().filter(is_meant).flat_map(|variable| &variable.kernels);
    let names: BTreeSet<String> = kernels.map(|kernel| listed_name(&program.functions[kernel.index()].name).into_owned()).collect();
    let named = names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| format!("it is in the shared memory of other kernels: {named}"))
}

/// A hint for an unknown `name`: the registers of a declaration that has too few, or a similar name.
pub fn hint(context: &EvalContext<'_>, name: &str) -> Option<String> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let function = context.frame().ok().map(|frame| context.function(&frame));
    let numbered = |register: &&Register| stem != name && register.count.is_some() && &*register.name == stem;
    if let Some(register) = function.and_then(|function| function.registers.iter().find(numbered)) {
        let count = register.count.unwrap_or(0);
        return Some(format!("'{stem}<{count}>' declares '{stem}0' to '{stem}{}'", count.saturating_sub(1)));
    }
    if let Some(local) = function.and_then(|function| passed_elsewhere(context.program(), function, name)) {
        return Some(format!("it is passed in a call, at {}, and is no more than that", context.program().place(Pc(local.scope.start))));
    }
    if let Some(problem) = context.debug_info().and_then(|info| source_names::problem(context.program(), info)) {
        return Some(problem);
    }
    let called = module_variables(context).filter(|variable| is_called(&variable.name, name));
    let called: Vec<_> = called.map(|variable| shown_name(&variable.name)).collect();
    if called.len() > 1 {
        return Some(format!("several variables are: {}", called.join(", ")));
    }
    if let Some(kernels) = other_kernels(context, name) {
        return Some(kernels);
    }
    let functions = context.program().functions_called(name);
    if functions.len() > 1 {
        let functions: Vec<_> = functions.iter().map(|id| listed_name(&context.program().functions[id.index()].name)).collect();
        return Some(format!("several functions are: '{}'", functions.join("', '")));
    }
    let inlined =
        || context.program().inlined_functions.entries().any(|(_, other)| other.as_deref().is_some_and(|other| is_called(other, name)));
    if inlined() {
        return Some("the compiler has put this function in the place of its calls".to_string());
    }
    let names = names(context);
    let specials = crate::isa::SPECIAL_REGISTERS.iter().map(|register| register.name);
    let meant = nearest(name, names.iter().map(String::as_str).chain(specials)).map(|meant| format!("did you mean '{meant}'?"));
    let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let has_only_lines = is_word && context.debug_info().is_none() && !context.program().source_files.is_empty();
    meant.or_else(|| has_only_lines.then(|| "the module has lines of the source and no variables, which nvcc -G gives".to_string()))
}

/// The type of the register that an instruction loads or stores: declared, or inferred for an untyped one.
pub fn data_type(context: &EvalContext<'_>, pc: Pc) -> Option<ScalarType> {
    let program = context.program();
    let inst = program.code.get(pc.index())?;
    let id = program.function_at(pc)?;
    let function = &program.functions[id.index()];
    let (mut loaded, mut stored) = (None, None);
    registers_of(inst, program, |used, register| {
        let slot = (register.bank, register.slot);
        match used {
            Use::Write if register.bank != Bank::Pred => loaded = loaded.or(Some(slot)),
            Use::Read => stored = stored.or(Some(slot)),
            Use::Write | Use::Address | Use::Guard => {}
        }
    });
    let (bank, slot) = loaded.or(stored)?;
    let name = register_of_slot(function, pc, bank, slot)?;
    Some(with_type_in_effect(context, id, register(function, pc, &name)?).ty)
}
