//! Names of the source in the scope of a thread: its variables, their types and values, from the debug data of compilers.
//!
//! [`find`] looks up a name, [`SourceVariable::object`] locates a variable for a thread, [`types`] writes types as C++ does and [`values`]
//! writes values as gdb does.

mod object;
mod type_lookup;
pub mod types;
pub mod values;
mod watched;

pub(in crate::debug) use object::first_write;
pub use object::{ObjectError, ObjectPlace, Parts, SourceObject};
pub use type_lookup::type_called;
pub use watched::Extract;

use std::ops::Range;
use std::sync::Arc;

use super::eval_context::{EvalContext, Frame};
use super::file_line::source_line;
use super::frame_scopes;
use super::inlined::calls_at;
use crate::base::counted;
use crate::dwarf::{DebugInfo, DwarfError, EnumeratorOf, Scope, ScopeId, ScopeKind, Type, Variable};
use crate::program::{Function, Pc, Program, SourceLine, enclosing, short_name, shown_name, unqualified_name, visible};

/// A variable of the source.
#[derive(Clone, Copy, Debug)]
pub struct SourceVariable<'a> {
    /// The debug data.
    pub info: &'a DebugInfo,
    /// The variable.
    pub variable: &'a Variable,
    /// The scope that declares it; none outside of functions.
    pub scope: Option<ScopeId>,
}

/// The variable called `name` in the innermost scope around the instruction of `frame` that has one, or outside of functions.
pub fn find<'a>(context: &EvalContext<'a>, frame: Option<&Frame<'a>>, name: &str) -> Option<SourceVariable<'a>> {
    if name.starts_with(['%', '$']) {
        return None;
    }
    let info = context.debug_info()?;
    let local = frame.and_then(|frame| {
        let scopes = frame_scopes::scopes_of(context, info, frame);
        scopes.into_iter().find_map(|id| called(info, frame, &info.scopes[id], id, name))
    });
    let global = || {
        let in_module = |variable: &'a Variable| (variable, variable.linkage_name.as_deref().unwrap_or(&variable.name));
        let around = frame.and_then(|frame| function_name(context, frame));
        let found = visible(info.globals.iter().map(in_module), around.as_deref(), name);
        let by_own_name =
            || info.globals.iter().find(|variable| in_module(variable).1 == name || short_name(in_module(variable).1) == name);
        found.or_else(by_own_name).map(|variable| SourceVariable { info, variable, scope: None })
    };
    local.or_else(global)
}

/// The name of the function of a frame, which may be one in the place of its call.
pub fn function_name(context: &EvalContext<'_>, frame: &Frame<'_>) -> Option<Arc<str>> {
    let calls = calls_at(context.program(), context.source_data(), frame.position());
    match calls.get(frame.inlined as usize) {
        Some(call) => call.function.clone(),
        None => Some(Arc::clone(&context.function(frame).name)),
    }
}

/// The variable of a scope called `name`. Of several with one name, as compilers write them for parts of one, that which has a location
/// here, or else the last.
fn called<'a>(info: &'a DebugInfo, frame: &Frame<'_>, scope: &'a Scope, id: ScopeId, name: &str) -> Option<SourceVariable<'a>> {
    let named = || scope.variables.iter().filter(|variable| &*variable.name == name);
    let variable = named().find(|variable| variable.location_at(frame.position()).is_some()).or_else(|| named().next_back())?;
    Some(SourceVariable { info, variable, scope: Some(id) })
}

/// Why `name` means nothing here if it is a variable of another part of the function of `frame`: where it is in scope.
pub fn out_of_scope(context: &EvalContext<'_>, frame: &Frame<'_>, name: &str) -> Option<ObjectError> {
    let (info, program, here) = (context.debug_info()?, context.program(), frame.position());
    let function = &context.function(frame).code;
    let is_of_function = |scope: &&Scope| {
        let is_inside = |code: &Range<u32>| function.start <= code.start && code.end <= function.end && code.start < code.end;
        !scope.code.is_empty() && scope.code.iter().all(is_inside) && scope.variables.iter().any(|variable| &*variable.name == name)
    };
    let extent = |scope: &Scope| {
        let first = scope.code.iter().map(|code| code.start).min().unwrap_or(0);
        first..scope.code.iter().map(|code| code.end).max().unwrap_or(0)
    };
    let mut scopes: Vec<Range<u32>> =
        info.scopes_beginning_in(function).into_iter().map(|id| &info.scopes[id]).filter(is_of_function).map(extent).collect();
    scopes.sort_by_key(|code| code.start);
    let scope = scopes.iter().find(|code| here.0 < code.start).or(scopes.last())?;
    let lines: Vec<SourceLine> = scope.clone().filter_map(|pc| program.source_line(Pc(pc))).collect();
    let first = source_line(program, Pc(scope.start)).unwrap_or_else(|| program.place(Pc(scope.start)));
    let place = if here.0 < scope.start {
        format!("from {first} on")
    } else {
        let of_file = lines.iter().filter(|line| lines.first().is_some_and(|first| first.file == line.file));
        let last = of_file.map(|line| line.line).max().unwrap_or_else(|| program.line(Pc(scope.end.saturating_sub(1))));
        format!("from {first} to line {last}")
    };
    Some(ObjectError::OutOfScope { name: name.to_string(), place })
}

/// The variables in scope at the instruction of `frame` that the source declares, innermost scope first, those that an inner one hides too;
/// with `parameters` the parameters of the innermost function instead.
pub fn in_scope<'a>(context: &EvalContext<'a>, frame: &Frame<'a>, parameters: bool) -> Option<Vec<SourceVariable<'a>>> {
    let info = context.debug_info()?;
    let scopes = frame_scopes::scopes_of(context, info, frame);
    if scopes.is_empty() {
        return None;
    }
    let mut found: Vec<SourceVariable<'a>> = Vec::new();
    for id in scopes {
        let scope = &info.scopes[id];
        // `this` is a parameter that the source does not declare.
        let of_scope =
            scope.variables.iter().filter(|variable| variable.is_parameter == parameters && (parameters || !variable.is_artificial));
        for variable in of_scope {
            // Several variables of one name in a scope are parts of one, but the parameters of a pack are not.
            match parameters {
                true => found.push(SourceVariable { info, variable, scope: Some(id) }),
                false if !found.iter().any(|other| other.scope == Some(id) && other.variable.name == variable.name) => {
                    found.extend(called(info, frame, scope, id, &variable.name));
                }
                false => {}
            }
        }
        // The variables of a function that calls an inlined one are those of another frame.
        if !matches!(scope.kind, ScopeKind::Block) {
            break;
        }
    }
    Some(found)
}

/// True if the variable is a pointer to numbers that the kernel takes, the launch has a buffer of its name, and the variable points to its
/// start: the name means the buffer, as it does where a module has no debug data and after the kernel has ended. Once the kernel has moved
/// the pointer, the name means the pointer. The type of a buffer is no structure, so that the name of a pointer to one means the pointer.
pub fn is_pointer_to_own_buffer<'a>(context: &EvalContext<'a>, frame: Option<&Frame<'a>>, source: &SourceVariable<'a>) -> bool {
    let Some((frame, start)) = frame.zip(own_buffer(context, frame, source)) else { return false };
    source.pointer(context, frame).or_else(|| source.pointer_as_passed(context, frame)) == Some(start)
}

/// True if the name means the buffer for a while only, in some threads: where the variable points to its start.
pub fn may_point_elsewhere<'a>(context: &EvalContext<'a>, frame: Option<&Frame<'a>>, source: &SourceVariable<'a>) -> bool {
    let Some((frame, start)) = frame.zip(own_buffer(context, frame, source)) else { return false };
    source.pointer_as_passed(context, frame) != Some(start)
}

/// The address of the buffer that has the name of a pointer to numbers among the parameters of the kernel, and of what is in the place of
/// calls in it.
fn own_buffer<'a>(context: &EvalContext<'a>, frame: Option<&Frame<'a>>, source: &SourceVariable<'a>) -> Option<u64> {
    let SourceVariable { info, variable, .. } = source;
    let is_pointer = info.stripped(variable.ty).is_some_and(|ty| match info.types[ty] {
        Type::Pointer { to, .. } => to.is_none() || types::scalar(info, to).is_some_and(|_| !types::is_pointer(info, to)),
        _ => false,
    });
    let is_of_kernel = frame.is_some_and(|frame| frame.function == context.machine.config().kernel);
    if !(variable.is_parameter && is_pointer && is_of_kernel) {
        return None;
    }
    let mut allocations = context.machine.device().global().allocations();
    allocations.find(|allocation| *allocation.name == *variable.name).map(|allocation| allocation.base)
}

/// The parameters of a function in the source, in order; none if the debug data has not as many as the module.
pub fn parameters<'a>(info: &'a DebugInfo, function: &Function) -> Vec<&'a Variable> {
    let scope = info.function_at(Pc(function.code.start));
    let parameters: Vec<&Variable> =
        scope.into_iter().flat_map(|scope| &scope.variables).filter(|variable| variable.is_parameter).collect();
    if parameters.len() == function.params.len() { parameters } else { Vec::new() }
}

/// The names, with what is around them, of all enumerators whose last part is that of `name`.
pub fn whole_names_of_enumerators<'a>(context: &EvalContext<'a>, name: &str) -> Vec<&'a str> {
    let Some(info) = context.debug_info() else { return Vec::new() };
    let last = unqualified_name(name);
    let whole = info.enumerators.iter().filter(|(_, ones)| ones.iter().any(|one| one.is_whole)).map(|(full, _)| &**full);
    whole.filter(|full| unqualified_name(full) == last).collect()
}

/// The enumerator that `name` means at the stop, as an object of its type: as in C++ that of the innermost class or namespace around the
/// function that has one, or the one outside of all; or else the only one that ends so. None if several do.
pub fn enumerator<'a>(context: &EvalContext<'a>, frame: Option<&Frame<'_>>, name: &str) -> Option<SourceObject<'a>> {
    let info = context.debug_info()?;
    // Whole names have their last parts here too.
    let called = info.enumerators.get(name.strip_prefix("::").unwrap_or(name))?;
    let whole = |name: &str| info.enumerators.get(name).and_then(|ones| ones.iter().find(|one| one.is_whole));
    let function = frame.and_then(|frame| function_name(context, frame)).map(|function| shown_name(&function).to_string());
    let around = std::iter::successors(function.as_deref().and_then(enclosing), |name| enclosing(name));
    let found = match name.strip_prefix("::") {
        Some(name) => whole(name),
        None => around.map(|around| format!("{around}::{name}")).find_map(|name| whole(&name)).or_else(|| whole(name)).or_else(|| {
            let (first, others) = called.split_first()?;
            others.iter().all(|other| (other.value, other.ty) == (first.value, first.ty)).then_some(first)
        }),
    };
    let EnumeratorOf { value, ty, .. } = *found?;
    let bytes = usize::try_from(info.bytes(Some(ty))).ok()?;
    Some(SourceObject { info, ty: Some(ty), place: ObjectPlace::Value(Parts::of(&value.to_le_bytes(), bytes)), bits: None })
}

/// The object that a member function is called for, `this`, if it has a member called `name` that no variable of the function hides.
pub fn member_of_this<'a>(context: &EvalContext<'a>, frame: Option<&Frame<'a>>, name: &str) -> Option<SourceVariable<'a>> {
    if find(context, frame, name).is_some_and(|variable| variable.scope.is_some()) {
        return None;
    }
    let this = find(context, frame, "this").filter(|this| this.scope.is_some())?;
    let Type::Pointer { to, .. } = this.info.types[this.info.stripped(this.variable.ty)?] else { return None };
    types::member(this.info, to, name).map(|_| this)
}

impl SourceVariable<'_> {
    /// The instructions in which the variable has a location, in words: `lines 12 to 40`.
    pub fn ranges(&self, program: &Program) -> String {
        let lines = |code: &Range<u32>| {
            let line = |pc: u32| program.line(Pc(pc));
            let (first, last) = (line(code.start), line(code.end.saturating_sub(1)));
            if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
        };
        const SHOWN: usize = 4;
        let all: Vec<String> = self.variable.locations.iter().filter_map(|entry| entry.code.as_ref().map(lines)).collect();
        let more = if all.len() > SHOWN { format!(" and {} more", all.len() - SHOWN) } else { String::new() };
        format!("{}{more}", all[..all.len().min(SHOWN)].join(", "))
    }
}

/// What of the debug data could not be read, in one line; none if all could.
pub fn problem(program: &Program, info: &DebugInfo) -> Option<String> {
    let first = info.problems.first()?;
    let place = match first {
        DwarfError::Text { span, .. } => {
            let file = program.sources_text.file(span.source);
            format!("{}:{}: ", file.short_name(), file.line_of(span.start))
        }
        DwarfError::Bytes(_) => String::new(),
    };
    let more = match info.problems.len() {
        1 => String::new(),
        count => format!(", and {}", counted(count as u64 - 1, "other problem")),
    };
    Some(format!("a part of the debug data cannot be read: {place}{first}{more}"))
}
