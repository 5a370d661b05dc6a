//! `info symbols`, `info shared` and `info allocations`: named objects and their addresses.

use serde::Serialize;

use super::arrays::{Origin, origin};
use crate::debug::arrays::type_words;
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::{Expression, SourceTypeName, type_called};
use crate::debug::names::scope;
use crate::debug::names::symbols::{self, Symbol};
use crate::debug::source_names::{self, types};
use crate::debug::value::{Scalar, Type, Value};
use crate::dwarf::{Scope, ScopeKind};
use crate::isa::Space;
use crate::program::{FuncId, Pc, Program, Variable, listed_name, map, shown_name};

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TypeName {
    /// `f32[4][8]`
    pub words: String,
    /// Its origin.
    pub origin: Origin,
}

impl TypeName {
    /// The type of `variable`.
    pub(super) fn new(context: &EvalContext<'_>, variable: &Variable) -> Self {
        let is_unsized = variable.bytes == 0 && variable.location.space == Space::Shared;
        let (ty, shape) = scope::variable_type(context, variable);
        Self { words: type_words(ty, shape, is_unsized), origin: origin(context, variable) }
    }

    /// `f32[4][8]`, with its origin if it is not declared.
    pub fn describe(&self) -> String {
        match self.origin {
            Origin::Declared => self.words.clone(),
            Origin::Accesses => format!("{}, from its accesses", self.words),
            Origin::User => format!("{}, as given", self.words),
        }
    }
}

/// A named object of the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SymbolRow {
    /// The name.
    pub name: String,
    /// Its kind.
    pub kind: SymbolKind,
    /// The address: for a local variable in its frame, for a label the number of its instruction.
    pub address: u64,
    /// The function that it is in.
    pub owner: Option<String>,
}

/// The kind of a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum SymbolKind {
    /// A kernel.
    Kernel,
    /// Another function.
    Function,
    /// A label.
    Label,
    /// A variable.
    Variable {
        /// The word of its state space.
        space: &'static str,
        /// True if its address is relative to a frame.
        in_frame: bool,
        /// Its type.
        ty: TypeName,
        /// Its bytes.
        bytes: u64,
    },
}

/// Functions, labels and variables whose names contain `part`; labels only of the focused function.
pub fn symbols(context: &EvalContext<'_>, part: &str) -> Vec<SymbolRow> {
    let program = context.program();
    let map = &program.map;
    let functions = program.functions.iter().enumerate().map(|(index, function)| SymbolRow {
        name: function.name.to_string(),
        kind: if function.is_kernel { SymbolKind::Kernel } else { SymbolKind::Function },
        address: map::function_address(map, FuncId::new(index).0),
        owner: None,
    });
    let variables = program.variables.iter().map(|variable| variable_row(context, variable));
    let function = &program.functions[context.current_function().index()];
    let labels = function.labels.iter().map(|(label, pc)| SymbolRow {
        name: label.to_string(),
        kind: SymbolKind::Label,
        address: u64::from(pc.0),
        owner: Some(function.name.to_string()),
    });
    functions.chain(variables).chain(labels).filter(|row| row.name.contains(part) || listed_name(&row.name).contains(part)).collect()
}

/// The name of the inlined function that a scope is.
fn inlined_name(scope: &Scope) -> Option<&str> {
    match &scope.kind {
        ScopeKind::Inlined { name, .. } => name.as_deref(),
        ScopeKind::Function { .. } | ScopeKind::Block => None,
    }
}

/// The names that functions have in the source: those of the module, and those that stand in the place of their calls.
pub fn functions_of_source(context: &EvalContext<'_>) -> Vec<String> {
    let program = context.program();
    let by_lines = program.inlined_functions.entries().filter_map(|(_, name)| name.as_deref());
    let scopes = context.debug_info().map(|info| info.scopes.entries().map(|(_, scope)| scope));
    let by_debug_data = scopes.into_iter().flatten().filter_map(inlined_name);
    let all = program.functions.iter().map(|function| &*function.name).chain(by_lines).chain(by_debug_data);
    all.map(|name| shown_name(name).into_owned()).collect()
}

/// True if something has this name in some function or at some time: a register, a variable, a parameter, a label, a buffer, a function.
pub fn is_known_anywhere(context: &EvalContext<'_>, name: &str) -> bool {
    // The component of a vector is a part of its name; what is kept may come later.
    let whole = name.split('.').next().unwrap_or(name);
    if name.starts_with('$') || [name, whole].into_iter().any(|name| scope::look_up(context, context.frame().ok().as_ref(), name).is_some())
    {
        return true;
    }
    let of_source = context.debug_info().is_some_and(|info| {
        let locals = info.scopes.entries().flat_map(|(_, scope)| &scope.variables);
        let called = |variable: &crate::dwarf::Variable| *variable.name == *whole || shown_name(&variable.name) == whole;
        locals.chain(&info.globals).any(called) || info.enumerators.contains_key(name)
    });
    let is_word = || Expression::parse(name).is_ok_and(|expression| expression.evaluate(context).is_ok());
    let is_tensor = || context.tensors().is_some_and(|tensors| tensors.is_tensor(whole));
    of_source || scope::is_in_a_function(context.program(), whole) || is_tensor() || is_word()
}

/// The names of the types of the source that contain `part`.
pub fn types_of_source(context: &EvalContext<'_>, part: &str) -> Vec<String> {
    let names = context.debug_info().into_iter().flat_map(|info| info.type_names.keys());
    names.filter(|name| name.contains(part)).map(ToString::to_string).collect()
}

/// The name that was probably meant.
pub fn nearest_name(context: &EvalContext<'_>, name: &str) -> Option<String> {
    let names = scope::names(context);
    crate::isa::nearest(name, names.iter().map(String::as_str)).map(str::to_string)
}

/// The type that `text` names, `struct V *` or `unsigned long`, where no variable is called so; with `in_full` with its members.
///
/// # Errors
/// Several types are called so, and nothing says which is meant.
pub fn named_type(context: &EvalContext<'_>, text: &str, in_full: bool) -> Result<Option<String>, String> {
    let SourceTypeName { name, pointers } = SourceTypeName::of(text.trim());
    let (name, pointers) = (&*name, if pointers == 0 { String::new() } else { format!(" {}", "*".repeat(pointers)) });
    if source_names::find(context, context.frame().ok().as_ref(), name).is_some() {
        return Ok(None);
    }
    let named = source_names::type_called(context, name)?;
    if let Some((info, ty)) = context.debug_info().zip(named) {
        return Ok(Some(if in_full { types::layout(info, Some(ty)) } else { types::name(info, Some(ty)) } + &pointers));
    }
    let words: Vec<&str> = name.split_whitespace().collect();
    Ok(type_called(&words).map(|_| words.join(" ") + &pointers))
}

/// Where the code of the function with this address begins: `collatz.ptx:25`; none for one without code.
pub fn function_place(program: &Program, address: u64) -> Option<String> {
    let code = &program.functions[symbols::function_at(program, address)?.index()].code;
    (!code.is_empty()).then(|| program.place(Pc(code.start)))
}

/// The variable, buffer or function that a value is an address in.
pub fn symbol_of(context: &EvalContext<'_>, value: &Value) -> Option<Symbol> {
    match *value {
        Value::Array(ref array) => symbols::symbol(context, array.space, array.address),
        Value::Source(ref object) if context.debug_info().is_some_and(|info| types::array(info, object.ty).is_some()) => {
            let (space, address) = object.place?;
            symbols::symbol(context, space, address)
        }
        Value::Scalar(Scalar { ty: Type::Code, bits }) => symbols::code_symbol(context.program(), Pc(bits as u32)),
        Value::Scalar(Scalar { ty: Type::Pointer(space, _) | Type::SourcePointer(space, ..), bits }) => {
            symbols::symbol(context, space, bits as u64)
        }
        Value::Scalar(Scalar { ty: Type::Function, bits }) => {
            let function = symbols::function_at(context.program(), bits as u64)?;
            Some(Symbol { name: context.program().functions[function.index()].name.to_string(), offset: 0, rank: None })
        }
        // A shared address is a small number, which is no generic address.
        Value::Scalar(Scalar { ty: Type::Scalar(_), bits }) => {
            [Space::Generic, Space::Shared].into_iter().find_map(|space| symbols::symbol(context, space, bits as u64))
        }
        Value::Lanes(_) | Value::Source(_) | Value::Tensor(_) => None,
    }
}

fn variable_row(context: &EvalContext<'_>, variable: &Variable) -> SymbolRow {
    let place = scope::variable_location(context, variable, None);
    let kind = SymbolKind::Variable {
        space: place.space.word(),
        in_frame: matches!(place.space, Space::Local | Space::ParamFunc),
        ty: TypeName::new(context, variable),
        bytes: scope::variable_bytes(context, variable),
    };
    let owner = variable.function.map(|owner| context.program().functions[owner.index()].name.to_string());
    SymbolRow { name: variable.name.to_string(), kind, address: place.address, owner }
}

/// A range of the shared memory of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedRow {
    /// The object there.
    pub kind: SharedKind,
    /// Its address.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// An object in shared memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum SharedKind {
    /// The part reserved for the system.
    System,
    /// A variable.
    Variable {
        /// Its name.
        name: String,
        /// Its type.
        ty: TypeName,
    },
    /// Dynamic shared memory, with the variables that denote it.
    Dynamic(Vec<String>),
}

/// The objects in the shared memory of a block.
pub fn shared(context: &EvalContext<'_>) -> Vec<SharedRow> {
    let mut rows = vec![SharedRow { kind: SharedKind::System, address: 0, bytes: map::SHARED_RESERVED }];
    let all = || context.program().variables.iter().filter(|variable| variable.location.space == Space::Shared);
    let mut variables: Vec<&Variable> = all().filter(|variable| variable.bytes > 0).collect();
    variables.sort_by_key(|variable| variable.location.address);
    rows.extend(variables.into_iter().map(|variable| SharedRow {
        kind: SharedKind::Variable { name: variable.name.to_string(), ty: TypeName::new(context, variable) },
        address: variable.location.address,
        bytes: variable.bytes,
    }));
    let address = scope::dynamic_shared(context);
    let bytes = context.machine.shared_bytes().saturating_sub(address);
    if bytes > 0 {
        let names = all().filter(|variable| variable.bytes == 0).map(|variable| variable.name.to_string()).collect();
        rows.push(SharedRow { kind: SharedKind::Dynamic(names), address, bytes });
    }
    rows
}

/// An allocation in global or constant memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AllocationRow {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: AllocationKind,
    /// Its address.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// The kind of an allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum AllocationKind {
    /// A variable of the module.
    Variable {
        /// `global` or `const`.
        space: &'static str,
        /// Its type.
        ty: TypeName,
    },
    /// A buffer of the launch; its type, such as `f32[64]`, if that is known.
    Buffer(Option<String>),
}

/// The objects in global and constant memory: buffers of the launch and variables of the module.
pub fn allocations(context: &EvalContext<'_>) -> Vec<AllocationRow> {
    let device = context.machine.device();
    let all = device
        .global()
        .allocations()
        .map(|each| ("global", each))
        .chain(device.constant_memory().allocations().map(|each| ("const", each)));
    all.map(|(space, allocation)| {
        let variable = context.program().variables.iter().find(|variable| {
            variable.location.address == allocation.base && matches!(variable.location.space, Space::Global | Space::Const)
        });
        let kind = match variable {
            Some(variable) => AllocationKind::Variable { space, ty: TypeName::new(context, variable) },
            None => AllocationKind::Buffer(buffer_type(context, &allocation.name)),
        };
        AllocationRow { name: allocation.name.to_string(), kind, address: allocation.base, bytes: allocation.bytes }
    })
    .collect()
}

fn buffer_type(context: &EvalContext<'_>, name: &str) -> Option<String> {
    let buffer = context.buffers.iter().find(|buffer| *buffer.name == *name)?;
    let extents: String = buffer.shape.iter().map(|extent| format!("[{extent}]")).collect();
    Some(format!("{}{extents}", buffer.ty.word()))
}
