//! Functions in the place of their calls: which of them an instruction belongs to, by `.loc` or else by debug data.
//!
//! Debug data has one range of instructions for an inlined function, from its first to its last, which may hold instructions of others.
//! `.loc` says it for each instruction, so it decides where a function has both, and debug data adds the scopes with variables.

use std::sync::Arc;

use crate::dwarf::{DebugInfo, ScopeId, ScopeKind};
use crate::program::{ControlOp, InlinedCall, Op, Pc, Program, SourceLine, qualified_name};

/// The line of what has none.
const NO_LINE: SourceLine = SourceLine { file: 0, line: 0, column: 0 };

/// A call in whose place the called function stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallInPlace {
    /// The called function, as the source has it; none if it is not known.
    pub function: Option<Arc<str>>,
    /// The place of the call, if it is known.
    pub at: Option<SourceLine>,
    /// The scope of the function's variables, if there is debug data of it.
    pub scope: Option<ScopeId>,
}

impl CallInPlace {
    /// The place of the call; line 0 if it is not known.
    pub fn place(&self) -> SourceLine {
        self.at.unwrap_or(NO_LINE)
    }
}

/// True if an instruction comes from a line of the source. What compilers add by themselves, as between the blocks of an inlined function,
/// has line 0 and is of no call: it does not end the function.
pub fn has_line(program: &Program, pc: Pc) -> bool {
    program.source_line(pc).is_some_and(|line| line.line > 0)
}

/// The line of an instruction and those of the inlined calls around it, innermost first.
pub fn places_at(program: &Program, info: Option<&DebugInfo>, pc: Pc) -> Vec<SourceLine> {
    let own = program.source_line(pc);
    own.into_iter().chain(calls_at(program, info, pc).iter().map(CallInPlace::place)).collect()
}

/// The inlined calls around an instruction, innermost first.
pub fn calls_at(program: &Program, info: Option<&DebugInfo>, pc: Pc) -> Vec<CallInPlace> {
    let of_loc = calls_of_loc(program, pc);
    if of_loc.is_some_and(<[_]>::is_empty) {
        return Vec::new();
    }
    let scopes = info.map_or(Vec::new(), |info| scopes_at(program, info, pc));
    let mut of_scopes: Vec<CallInPlace> = info.map_or(Vec::new(), |info| scopes.iter().filter_map(|id| call_of_scope(info, *id)).collect());
    let Some(calls) = of_loc else { return of_scopes };
    // The scopes are those of the outermost calls.
    let inner = calls.len().saturating_sub(of_scopes.len());
    let mut calls: Vec<CallInPlace> = calls.iter().map(|call| call_of_loc(program, call)).collect();
    for (call, of_scope) in calls.iter_mut().skip(inner).zip(&mut of_scopes) {
        call.scope = of_scope.scope;
        call.function = call.function.take().or_else(|| of_scope.function.take());
    }
    calls
}

/// The scopes of debug data around an instruction, innermost first; of several inlined functions whose ranges hold it, those of the calls
/// that `.loc` names.
pub fn scopes_at(program: &Program, info: &DebugInfo, pc: Pc) -> Vec<ScopeId> {
    let Some(calls) = calls_of_loc(program, pc) else {
        return scopes_entered(program, info, pc).unwrap_or_else(|| info.scopes_at(pc));
    };
    let holding = info.scopes_holding(pc).into_iter();
    let chains = holding.map(|id| std::iter::successors(Some(id), |id| info.scopes[*id].parent).collect::<Vec<ScopeId>>());
    let matching = chains.filter_map(|chain| {
        let inlined: Vec<SourceLine> = chain.iter().rev().filter_map(|id| call_place(info, *id)).collect();
        let mut pairs = inlined.iter().zip(calls.iter().rev());
        let is_named = inlined.len() <= calls.len() && pairs.all(|(own, call)| (own.file, own.line) == (call.at.file, call.at.line));
        is_named.then_some((inlined.len(), chain.len(), chain))
    });
    // A scope comes after its parent, so the last of the longest is the innermost.
    matching.max_by_key(|(inlined, length, _)| (*inlined, *length)).map_or(Vec::new(), |(.., chain)| chain)
}

/// The scopes around a branch to the next instruction that a compiler puts before the range of an inlined function, with the line of the
/// call in a function further out: it is of that function. None if the instruction is no such branch.
fn scopes_entered(program: &Program, info: &DebugInfo, pc: Pc) -> Option<Vec<ScopeId>> {
    let next = Pc(pc.0 + 1);
    let inst = program.code.get(pc.index()).filter(|inst| inst.guard.is_none())?;
    let is_entry = matches!(inst.op, Op::Control(ControlOp::Branch { target, .. }) if target == next);
    let own = program.source_line(pc).filter(|line| is_entry && line.line > 0)?;
    let mut scopes = info.scopes_at(next);
    let is_called_here = |id: &ScopeId| call_place(info, *id).is_some_and(|at| (at.file, at.line) == (own.file, own.line));
    let level = scopes.iter().position(is_called_here)?;
    let around = scopes.split_off(level + 1);
    (around.len() > info.scopes_at(pc).len()).then_some(around)
}

/// The calls that `.loc` says, if it says any in the function.
fn calls_of_loc(program: &Program, pc: Pc) -> Option<&[InlinedCall]> {
    let function = &program.functions[program.function_at(pc)?.index()];
    program.inlined_calls.range(Pc(function.code.start)..Pc(function.code.end)).next()?;
    Some(program.inlined_calls.get(&pc).map_or(&[], Vec::as_slice))
}

fn call_of_loc(program: &Program, call: &InlinedCall) -> CallInPlace {
    let name = call.function.and_then(|id| program.inlined_functions[id].as_ref());
    CallInPlace { function: name.map(in_source), at: Some(call.at), scope: None }
}

fn call_of_scope(info: &DebugInfo, id: ScopeId) -> Option<CallInPlace> {
    let ScopeKind::Inlined { name, linkage_name, call } = &info.scopes[id].kind else { return None };
    // Triton gives all that it inlines the name of the kernel.
    let around = std::iter::successors(Some(id), |id| info.scopes[*id].parent).last().map(|id| &info.scopes[id].kind);
    let is_of_kernel = matches!(around, Some(ScopeKind::Function { name: kernel, .. }) if kernel == name);
    let function = linkage_name.as_ref().map(in_source).or_else(|| name.clone().filter(|_| !is_of_kernel));
    Some(CallInPlace { function, at: call.line, scope: Some(id) })
}

/// The place of the call of an inlined function; none for other scopes.
fn call_place(info: &DebugInfo, id: ScopeId) -> Option<SourceLine> {
    match &info.scopes[id].kind {
        ScopeKind::Inlined { call, .. } => Some(call.line.unwrap_or(NO_LINE)),
        ScopeKind::Function { .. } | ScopeKind::Block => None,
    }
}

/// A function's name with namespaces and template arguments, without parameters.
fn in_source(name: &Arc<str>) -> Arc<str> {
    qualified_name(name).map_or_else(|| Arc::clone(name), Arc::from)
}
