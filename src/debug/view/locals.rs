//! `info locals` and `info args`: variables and parameters of the selected frame's function.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::arrays::Origin;
use super::mentioned::UnwrittenBytes;
use super::symbols::TypeName;
use crate::debug::eval_context::{EvalContext, Frame, ThreadError};
use crate::debug::expression::Expression;
use crate::debug::inlined;
use crate::debug::names::{parameters, scope};
use crate::debug::source_names::values::UNDEFINED;
use crate::debug::source_names::{self, ObjectPlace, SourceObject, SourceVariable, types};
use crate::debug::target::{MemoryTarget, Target};
use crate::debug::tensors::Tensors;
use crate::debug::value::{Array, Format, SourceValue, Value, ValueText};
use crate::dwarf::{ScopeId, Storage};
use crate::isa::Space;
use crate::program::{Param, Pc, parameter_types};

/// The kind of a variable that is in the registers of all threads.
pub(super) const TENSOR: &str = "tensor";

/// A parameter or a variable of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LocalRow {
    /// Its name.
    pub name: String,
    /// The state space that it is in, `param`, `local`; or its register; `tensor` for one of a Triton program; empty if it is nowhere.
    pub space: String,
    /// `u32`, `f32[4]`; of a variable of the source, as C++ writes it.
    pub ty: TypeName,
    /// Its value, or the reason that it has none.
    pub value: Result<ValueText, String>,
    /// True if its name means another variable, which hides it or is of the same pack.
    #[serde(skip)]
    pub is_hidden: bool,
    /// The object that a hidden variable is, if it has a place.
    #[serde(skip)]
    pub hidden: Option<SourceValue>,
}

impl LocalRow {
    /// Shows in an object what the thread has not written.
    pub fn note_unwritten(&mut self, context: &EvalContext<'_>, unwritten: &UnwrittenBytes<'_>) {
        if self.is_hidden {
            if let Some(value) = &self.hidden
                && let Some(place) = value.place
            {
                let unwritten = unwritten(place, value.bytes.len());
                self.value = Ok(Value::Source(SourceValue { unwritten, ..value.clone() }).text(context, None));
            }
            return;
        }
        if Expression::parse(&self.name).is_ok_and(|name| follows_unset(&name, context, unwritten)) {
            self.value = Ok(ValueText::Scalar(UNDEFINED.to_string()));
            return;
        }
        let evaluated = Expression::parse(&self.name).ok().and_then(|name| name.evaluate(context).ok());
        if let Some(Value::Source(value)) = &evaluated
            && let Some(place) = value.place
        {
            let unwritten = unwritten(place, value.bytes.len());
            self.value = Ok(Value::Source(SourceValue { unwritten, ..value.clone() }).text(context, None));
            return;
        }
        if let Some(Value::Array(array)) = evaluated {
            let unwritten = unwritten((array.space, array.address), array.elements.len() * array.ty.bytes() as usize);
            if !unwritten.is_empty() {
                self.value = Ok(Value::Array(Array { unwritten, ..array }).text(context, None));
            }
            return;
        }
        let target = Expression::parse(&self.name).ok().and_then(|name| name.target(context).ok());
        if let Some(Target::Memory(MemoryTarget { space, address, bytes, .. })) = target
            && unwritten((space, address), usize::try_from(bytes).unwrap_or(0)).contains(&true)
        {
            self.value = Ok(ValueText::Scalar(UNDEFINED.to_string()));
        }
    }
}

/// True if an expression follows a reference that the thread has not set.
pub(super) fn follows_unset(expression: &Expression, context: &EvalContext<'_>, unwritten: &UnwrittenBytes<'_>) -> bool {
    let references = expression.references(context);
    references.iter().any(|reference| reference.memory.is_some_and(|place| unwritten(place, reference.bytes).contains(&true)))
}

/// The variables of the source in scope, innermost scope first; where the module has no debug data of the function, its parameters and
/// its `.local` variables.
///
/// # Errors
/// The thread is not resident.
pub fn locals(context: &EvalContext<'_>, format: Option<Format>) -> Result<Vec<LocalRow>, ThreadError> {
    let frame = context.frame()?;
    if let Some(mut rows) = of_source(context, &frame, false, format) {
        rows.iter_mut().for_each(|row| as_tensor(context, row));
        rows.extend(tensors(context, &rows, format));
        return Ok(rows);
    }
    let mut rows = arguments(context, format)?;
    rows.extend(tensors(context, &rows, format));
    let context = &context.with_names_as_in_ptx();
    for local in &context.function(&frame).variables {
        let variable = &context.program().variables[local.id.index()];
        // What is passed to a call has a value around that call, often under the name of what another one is passed.
        let is_listed = match variable.location.space {
            Space::Local => true,
            Space::ParamFunc => local.scope.contains(&frame.pc.0),
            Space::Generic | Space::Global | Space::Const | Space::Shared | Space::SharedCluster | Space::Param => false,
        };
        if !is_listed {
            continue;
        }
        if rows.iter().any(|row| *row.name == *variable.name) {
            continue;
        }
        let ty = TypeName::new(context, variable);
        rows.push(row(context, &variable.name, variable.location.space.word(), ty, format));
    }
    Ok(rows)
}

/// The row of a variable that is a tensor: the debug data has the type and the register of one of its elements.
fn as_tensor(context: &EvalContext<'_>, row: &mut LocalRow) {
    let Some(tensors) = context.tensors().filter(|tensors| tensors.is_tensor(&row.name)) else { return };
    let Some((words, _)) = tensors.type_of(&row.name) else { return };
    (row.ty.words, row.space) = (words, TENSOR.to_string());
    if let Ok(ValueText::Tensor(tensor)) = &row.value {
        row.value = Ok(tensor.in_short());
    }
}

/// The variables of a Triton program that other rows do not name, in short: of a tensor its first elements.
fn tensors(context: &EvalContext<'_>, others: &[LocalRow], format: Option<Format>) -> Vec<LocalRow> {
    let Some(tensors) = context.tensors() else { return Vec::new() };
    let row = |name: &str| {
        let ty = TypeName { words: tensors.type_of(name)?.0, origin: Origin::Declared };
        let value =
            value(context, name, format).map(|value| if let ValueText::Tensor(tensor) = &value { tensor.in_short() } else { value });
        let space = if tensors.is_tensor(name) { TENSOR } else { "" };
        Some(LocalRow { name: name.to_string(), space: space.to_string(), ty, value, is_hidden: false, hidden: None })
    };
    let is_other = |name: &&str| !others.iter().any(|row| row.name == *name);
    tensors.names().filter(is_other).filter_map(row).collect()
}

/// The variables of the source that registers hold where the focused thread is, by register; none where there is no debug data.
pub fn variables_in_registers(context: &EvalContext<'_>) -> BTreeMap<String, String> {
    let Ok(frame) = context.frame() else { return BTreeMap::new() };
    let variables = source_names::in_scope(context, &frame, false).unwrap_or_default();
    // The innermost variable comes first.
    let places = variables.into_iter().rev().map(|variable| (place(context, &frame, &variable), variable.variable.name.to_string()));
    places.filter(|(place, _)| place.starts_with('%')).collect()
}

/// The parameters of the function: of the source, or of the module.
///
/// # Errors
/// The thread is not resident.
pub fn arguments(context: &EvalContext<'_>, format: Option<Format>) -> Result<Vec<LocalRow>, ThreadError> {
    let frame = context.frame()?;
    // Triton's debug data has no parameters, but its own code has.
    let of_triton = context.tensors().filter(|tensors| tensors.kernel() == frame.function).map(Tensors::parameter_types);
    let is_inlined = context.calls_around(&frame) != frame.inlined;
    let is_of_kernel = parameters::is_of_kernel(context, &frame);
    let has_none = is_inlined || context.function(&frame).params.is_empty();
    if let Some(rows) = of_source(context, &frame, true, format).filter(|rows| !rows.is_empty() || of_triton.is_none() && has_none) {
        return Ok(rows);
    }
    // The parameters of the module are not those of a function in the place of its call.
    if is_inlined && of_triton.is_none() {
        return Ok(Vec::new());
    }
    let in_source = context;
    let context = &context.with_names_as_in_ptx();
    let function = context.function(&frame);
    let all = function.params.iter().chain(&function.results).enumerate();
    // The signature has the types of the source, if the compiler took no parameter away or apart.
    let of_source = parameter_types(&function.name).filter(|types| types.len() == function.params.len()).unwrap_or_default();
    let names = context.param_names.filter(|_| frame.function == context.machine.config().kernel);
    let of = |(index, param): (usize, &Param)| {
        let extent = if param.is_array { format!("[{}]", param.bytes / param.ty.bytes().max(1)) } else { String::new() };
        let of_triton = of_triton.as_ref().and_then(|types| types.get(&index)).filter(|_| index < function.params.len());
        let words = of_triton.or(of_source.get(index)).cloned().unwrap_or_else(|| format!("{}{extent}", param.ty.word()));
        let named = names.and_then(|names| names.get(&index)).filter(|_| index < function.params.len());
        let row = row(context, &param.name, "param", TypeName { words, origin: Origin::Declared }, format);
        let at_entry = |name: &String| if is_of_kernel { as_known(in_source, name) } else { name.clone() };
        LocalRow { name: named.map_or(row.name, at_entry), ..row }
    };
    Ok(all.map(of).collect())
}

/// The name of a parameter of the kernel; as in gdb `n@entry` if the kernel may change it, so that its value is known at entry only.
fn as_known(context: &EvalContext<'_>, name: &str) -> String {
    if parameters::is_changed(context, name) { format!("{name}@entry") } else { name.to_string() }
}

/// A parameter of a function in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceArgument {
    /// Its name.
    pub name: String,
    /// Its value in short: `...` for a structure or an array; none if it has none here.
    pub value: Option<String>,
}

/// The parameters of a frame's function in the source, if the debug data or the launch names them.
pub fn source_arguments(context: &EvalContext<'_>, frame: &Frame<'_>) -> Vec<SourceArgument> {
    if let Some(variables) = source_names::in_scope(context, frame, true).filter(|variables| !variables.is_empty()) {
        let argument = |variable: &SourceVariable<'_>| {
            let object = variable.object(context, Some(frame)).ok().filter(|object| is_written(frame, object));
            let value = object.and_then(|object| object.value(context, Some(frame)).ok());
            SourceArgument { name: variable.variable.name.to_string(), value: value.map(|value| value.in_short(context)) }
        };
        return variables.iter().map(argument).collect();
    }
    let names = context.param_names.filter(|_| frame.depth == 0 && context.calls_around(frame) == frame.inlined);
    let in_source = context;
    let context = &context.with_names_as_in_ptx();
    let params = &context.function(frame).params;
    let argument = |(index, name): (&usize, &String)| {
        let value = value(context, &params.get(*index)?.name, None).ok();
        // As in gdb, an aggregate is not shown in full.
        let value = value.map(|value| if let ValueText::Scalar(text) = value { text } else { "...".to_string() });
        Some(SourceArgument { name: as_known(in_source, name), value })
    };
    names.into_iter().flatten().filter_map(argument).collect()
}

/// False for an object in a register that the thread has not written.
fn is_written(frame: &Frame<'_>, object: &SourceObject<'_>) -> bool {
    match &object.place {
        ObjectPlace::Register(register) => scope::is_written(frame, register),
        ObjectPlace::Memory(..) | ObjectPlace::Value(_) | ObjectPlace::Kept(_) => true,
    }
}

fn row(context: &EvalContext<'_>, name: &str, space: &str, ty: TypeName, format: Option<Format>) -> LocalRow {
    LocalRow { name: name.to_string(), space: space.to_string(), ty, value: value(context, name, format), is_hidden: false, hidden: None }
}

fn of_source<'a>(context: &EvalContext<'a>, frame: &Frame<'a>, parameters: bool, format: Option<Format>) -> Option<Vec<LocalRow>> {
    let variables = source_names::in_scope(context, frame, parameters)?;
    let context = &context.with_names_as_in_source();
    let mut rows: Vec<LocalRow> = Vec::new();
    for variable in variables {
        let ty = TypeName { words: types::name(variable.info, variable.variable.ty), origin: Origin::Declared };
        let space = place(context, frame, &variable);
        let name = &variable.variable.name;
        let meant = source_names::find(context, Some(frame), name);
        let is_hidden = meant.is_none_or(|meant| !std::ptr::eq(meant.variable, variable.variable));
        rows.push(match is_hidden {
            true => {
                let object = hidden_value(context, frame, &variable);
                let value = object.clone().map(|value| Value::Source(value).text(context, format));
                LocalRow { name: name.to_string(), space, ty, value, is_hidden, hidden: object.ok() }
            }
            false => row(context, name, &space, ty, format),
        });
    }
    Some(rows)
}

/// The value of a variable whose name means another one.
fn hidden_value<'a>(context: &EvalContext<'a>, frame: &Frame<'a>, variable: &SourceVariable<'a>) -> Result<SourceValue, String> {
    let object = variable.object(context, Some(frame)).map_err(|error| error.to_string())?;
    if !is_written(frame, &object) {
        return Err(format!("'{}' has no value yet", variable.variable.name));
    }
    object.value(context, Some(frame)).map_err(|error| error.to_string())
}

/// Where a variable is: the name of its register, or the state space.
fn place(context: &EvalContext<'_>, frame: &Frame<'_>, variable: &SourceVariable<'_>) -> String {
    match variable.object(context, Some(frame)).map(|object| object.place) {
        Ok(ObjectPlace::Register(register)) => {
            let function = context.function(frame);
            let name = register.slot.and_then(|slot| scope::register_of_slot(function, frame.pc, register.bank, slot));
            name.unwrap_or_else(|| "register".to_string())
        }
        Ok(ObjectPlace::Memory(space, _)) => space.word().to_string(),
        Ok(ObjectPlace::Value(_) | ObjectPlace::Kept(_)) | Err(_) => String::new(),
    }
}

pub(super) fn value(context: &EvalContext<'_>, name: &str, format: Option<Format>) -> Result<ValueText, String> {
    let expression = Expression::parse(name).map_err(|error| error.to_string())?;
    let value = expression.evaluate(context).map_err(|error| error.to_string())?;
    Ok(value.text(context, format))
}

/// A variable in the scope of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScopeRow {
    /// Its name.
    pub name: String,
    /// Its declaration, as C++ writes it: `float tile[4][8]`.
    pub declaration: String,
    /// Where it is at the instruction: a register, or the lines in which it is anywhere.
    pub place: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The variables of the source in the scopes around an instruction, innermost first; none if the module has no debug data of it.
pub fn scope_at(context: &EvalContext<'_>, pc: Pc) -> Option<Vec<ScopeRow>> {
    let info = context.debug_info()?;
    let scopes = inlined::scopes_at(context.program(), info, pc);
    if scopes.is_empty() {
        return None;
    }
    let all = scopes.into_iter().flat_map(|id| info.scopes[id].variables.iter().map(move |variable| (id, variable)));
    let row = |(id, variable)| {
        let variable = SourceVariable { info, variable, scope: Some(id) };
        ScopeRow {
            name: variable.variable.name.to_string(),
            declaration: types::declaration(info, variable.variable.ty, &variable.variable.name),
            place: place_at(context, &variable, pc),
            bytes: info.bytes(variable.variable.ty),
        }
    };
    Some(all.map(row).collect())
}

fn place_at(context: &EvalContext<'_>, variable: &SourceVariable<'_>, pc: Pc) -> String {
    match (variable.variable.location_at(pc), variable.variable.locations.as_slice()) {
        (Some(location), _) => match location.registers().next() {
            Some(register) => register.to_string(),
            None => match location.constant_place() {
                Some(Storage::Value(_) | Storage::Bytes(_)) => "a constant".to_string(),
                Some(Storage::Register(_) | Storage::Memory(_) | Storage::Pieces(_)) | None => {
                    variable.variable.space.map_or("memory", Space::word).to_string()
                }
            },
        },
        (None, []) => "nowhere: the compiler has removed it".to_string(),
        (None, _) => format!("nowhere here, but in {}", variable.ranges(context.program())),
    }
}

/// Where the variable `name` of the source is, in a sentence; none if there is no such variable.
pub fn where_is(context: &EvalContext<'_>, name: &str) -> Option<String> {
    let frame = context.frame().ok();
    let variable = source_names::find(context, frame.as_ref(), name)?;
    let kind = if variable.variable.is_parameter { "parameter" } else { "variable" };
    let at = match variable.object(context, frame.as_ref()) {
        Ok(object) => match object.place {
            ObjectPlace::Register(_) => format!("in register {}", frame.map_or(String::new(), |frame| place(context, &frame, &variable))),
            ObjectPlace::Memory(space, address) => format!("in {} memory at {address:#x}", space.word()),
            ObjectPlace::Value(_) | ObjectPlace::Kept(_) => "without a place: the debug data has its value".to_string(),
        },
        Err(error) => return Some(error.to_string()),
    };
    Some(format!("'{name}' is a {kind} of {} bytes, {at}", variable.info.bytes(variable.variable.ty)))
}

/// Why no variable is in scope, with those of the function that are elsewhere.
pub fn no_locals(context: &EvalContext<'_>) -> Option<String> {
    let without_data =
        "no variables are known here: the module has no debug data of them, which nvcc -G gives; 'info args' has the parameters";
    let Some(info) = context.debug_info() else { return Some(without_data.to_string()) };
    let frame = context.frame().ok()?;
    let Some(function) = inlined::scopes_at(context.program(), info, frame.position()).last().copied() else {
        return Some(without_data.to_string());
    };
    let is_of_function = |id: &ScopeId| std::iter::successors(Some(*id), |id| info.scopes[*id].parent).any(|id| id == function);
    let scopes: BTreeSet<ScopeId> = info.scopes[function].code.iter().flat_map(|code| info.scopes_beginning_in(code)).collect();
    let variables = scopes.into_iter().filter(is_of_function).map(|id| &info.scopes[id]).flat_map(|scope| {
        let code = scope.code.iter().map(|code| code.start).min().unwrap_or(0);
        let locals = scope.variables.iter().filter(|variable| !variable.is_parameter && !variable.is_artificial);
        locals.map(move |variable| format!("{} from line {} on", variable.name, context.program().line(Pc(code))))
    });
    let found: Vec<String> = variables.collect();
    match found.is_empty() {
        true => Some("the function has no local variables".to_string()),
        false => Some(format!("no local variables are in scope here; the function has {}", found.join(", "))),
    }
}

/// Why the parameters of a function in the place of its call are not known, if they are not.
pub fn no_arguments(context: &EvalContext<'_>) -> Option<String> {
    let frame = context.frame().ok()?;
    let is_inlined = context.calls_around(&frame) != frame.inlined;
    let has_data = source_names::in_scope(context, &frame, true).is_some();
    (is_inlined && !has_data).then(|| {
        "the parameters of a function in the place of its call are not known: the module has no debug data of them, which nvcc -G gives"
            .to_string()
    })
}

/// True if `name` is a variable of the source.
pub fn is_of_source(context: &EvalContext<'_>, name: &str) -> bool {
    source_names::find(context, context.frame().ok().as_ref(), name).is_some()
}

/// What of the debug data could not be read, in one line; none if all could.
pub fn debug_data_problem(context: &EvalContext<'_>) -> Option<String> {
    source_names::problem(context.program(), context.debug_info()?)
}
