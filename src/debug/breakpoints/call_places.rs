//! Functions in the place of their calls as locations: where they begin, and the frame that a stop there selects.

use std::collections::{BTreeMap, BTreeSet};

use super::location::Location;
use crate::cfg::ControlFlow;
use crate::debug::inlined;
use crate::debug::skip::is_path_called;
use crate::dwarf::{DebugInfo, LazyDebugInfo, ScopeKind};
use crate::program::{FuncId, InlinedCall, InlinedFunctionId, Pc, Program, SourceLine, is_called, operands};

/// The instructions with which a function called `name` begins in the place of its calls.
pub(super) fn entries(program: &Program, info: Option<&DebugInfo>, name: &str) -> Vec<Pc> {
    let names = program.inlined_functions.entries();
    let wanted: Vec<_> =
        names.filter(|(_, other)| other.as_deref().is_some_and(|other| is_called(other, name))).map(|(id, _)| id).collect();
    let mut found = begins(program, &wanted);
    if found.is_empty() {
        let scopes = info.into_iter().flat_map(|info| info.scopes.entries());
        let begins = scopes.filter_map(|(_, scope)| {
            let ScopeKind::Inlined { name: own, linkage_name, .. } = &scope.kind else { return None };
            let is_it = |other: &str| other == name || is_called(other, name);
            let is_named = linkage_name.as_deref().is_some_and(is_it) || own.as_deref().is_some_and(is_it);
            scope.code.iter().map(|code| Pc(code.start)).min().filter(|_| is_named)
        });
        found.extend(begins);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The instructions at which calls of the functions begin, by `.loc`.
fn begins(program: &Program, wanted: &[InlinedFunctionId]) -> Vec<Pc> {
    let is_wanted = |call: &InlinedCall| call.function.is_some_and(|id| wanted.contains(&id));
    let mut found: Vec<(Pc, &[InlinedCall])> = Vec::new();
    let mut before: Option<(Pc, &[InlinedCall])> = None;
    for (pc, calls) in &program.inlined_calls {
        // The calls around an instruction are innermost first: those of one place end alike.
        let is_next = |last: Pc| (last.0 + 1..pc.0).all(|between| !inlined::has_line(program, Pc(between)));
        let goes_on = |from: usize| before.is_some_and(|(last, around)| is_next(last) && around.ends_with(&calls[from..]));
        if let Some(from) = (0..calls.len()).find(|from| is_wanted(&calls[*from]) && !goes_on(*from)) {
            found.push((*pc, &calls[from..]));
        }
        before = Some((*pc, calls));
    }
    let functions: BTreeSet<FuncId> = found.iter().filter_map(|(pc, _)| program.function_at(*pc)).collect();
    let graphs: BTreeMap<FuncId, ControlFlow> = functions.into_iter().map(|id| (id, ControlFlow::new(program, id))).collect();
    let is_early = |(pc, calls): &(Pc, &[InlinedCall])| {
        let Some((id, graph)) = program.function_at(*pc).and_then(|id| Some((id, graphs.get(&id)?))) else { return false };
        let others = found.iter().filter(|(other, around)| other != pc && around == calls && program.function_at(*other) == Some(id));
        others.into_iter().any(|(other, _)| is_hoisted(program, graph, *pc, *other, calls))
    };
    found.iter().filter(|place| !is_early(place)).map(|(pc, _)| *pc).collect()
}

/// True if an instruction computes something that depends on nothing, which may stand anywhere.
fn is_constant(program: &Program, pc: u32) -> bool {
    let inst = program.code.get(pc as usize);
    inst.is_some_and(|inst| inst.op.effects(program).only_computes() && operands::reads(inst, program).is_empty())
}

/// True if the constants of a call at `pc` were moved there from before `other` of the same call: a condition of an earlier line of a
/// caller stands between them.
fn is_hoisted(program: &Program, graph: &ControlFlow, pc: Pc, other: Pc, calls: &[InlinedCall]) -> bool {
    let around = |pc: u32| program.inlined_calls.get(&Pc(pc)).map_or(&[][..], Vec::as_slice);
    let (Some(here), Some(there)) = (graph.block_of(pc), graph.block_of(other)) else { return false };
    let end = program.code.len() as u32;
    let mut piece = (pc.0..end).take_while(|at| around(*at).ends_with(calls));
    if here == there || !graph.dominates(here, there) || !piece.all(|at| is_constant(program, at)) {
        return false;
    }
    let is_earlier = |branch: u32| {
        let (own, calls_of_branch) = (program.source_line(Pc(branch)), around(branch));
        calls.iter().enumerate().any(|(number, call)| {
            let caller = &calls[number + 1..];
            let Some(inner) = calls_of_branch.strip_suffix(caller).filter(|_| !calls_of_branch.ends_with(&calls[number..])) else {
                return false;
            };
            let line = inner.last().map(|inner| inner.at).or(own);
            line.is_some_and(|line| line.file == call.at.file && line.line > 0 && line.line < call.at.line)
        })
    };
    graph.blocks().any(|(block, code)| {
        let decides = graph.successors(block).len() > 1 && block != there && graph.dominates(here, block) && graph.dominates(block, there);
        decides && is_earlier(code.end - 1)
    })
}

/// The names of the functions that stand in the place of calls, as the source has them.
pub(super) fn names(program: &Program) -> impl Iterator<Item = String> {
    let all = program.inlined_functions.entries();
    all.filter_map(|(_, name)| crate::program::plain_name(name.as_deref()?).map(str::to_string))
}

/// The frame that a stop at `pc` selects, for a breakpoint at the location `text`: where the location is the line of a call, or a function
/// with another one in it that begins there, that of the caller.
pub fn frame_of(text: &str, program: &Program, data: &LazyDebugInfo, pc: Pc) -> u32 {
    if !program.inlined_calls.contains_key(&pc) && program.debug_sections.is_empty() {
        return 0;
    }
    let frame = match Location::parse(text) {
        Ok(Location::Line { file: Some(file), line }) => {
            let calls = inlined::calls_at(program, data.get(program), pc);
            let own = program.source_line(pc);
            let lines = std::iter::once(own).chain(calls.iter().map(|call| call.at));
            let is_of_file =
                |place: &SourceLine| program.source_files.iter().any(|(number, name)| *number == place.file && is_path_called(name, &file));
            let after = |place: Option<SourceLine>| place.filter(|place| is_of_file(place) && place.line >= line).map(|place| place.line);
            lines.enumerate().filter_map(|(frame, place)| Some((after(place)?, frame))).min().map(|(_, frame)| frame)
        }
        Ok(Location::Name { name, .. }) => {
            let calls = inlined::calls_at(program, data.get(program), pc);
            let inlined = calls.iter().position(|call| call.function.as_deref().is_some_and(|own| is_called(own, &name)));
            // The body of a function may begin with another one in the place of its call.
            let own = program.function_at(pc).is_some_and(|id| is_called(&program.functions[id.index()].name, &name));
            inlined.or(own.then_some(calls.len()))
        }
        Ok(_) | Err(_) => None,
    };
    frame.unwrap_or(0) as u32
}
