//! Locations by line, of the PTX text or of the source language.

use std::collections::{BTreeMap, BTreeSet};

use super::copies::{accesses, copies, is_noticed};
use super::resolved::Resolved;
use crate::base::{SourceId, file_name};
use crate::cfg::{BlockId, ControlFlow, Loop};
use crate::debug::argument::ArgumentError;
use crate::debug::body::{is_copy_at_head, is_passed};
use crate::debug::inlined::{CallInPlace, calls_at};
use crate::debug::skip::is_path_called as is_called;
use crate::dwarf::{DebugInfo, LazyDebugInfo, Scope, ScopeId, ScopeKind};
use crate::program::{ControlOp, FuncId, MoveOp, Op, Pc, Program, SourceLine};

/// The instructions of a line of `file`, or of the PTX text if no file is named: of the first module, if several are linked. A line
/// without instructions means the next line with some, as in gdb.
///
/// # Errors
/// There is no such file, or no instruction on the line or after it.
pub(super) fn resolve(program: &Program, data: Option<&LazyDebugInfo>, file: Option<&str>, line: u32) -> Result<Resolved, ArgumentError> {
    let source = |pc: Pc| program.spans.get(pc.index()).map(|span| span.source);
    let Some(file) = file else { return resolve_ptx(program, line, |pc| source(pc) == source(Pc(0))) };
    let numbers: Vec<u32> = program.source_files.iter().filter(|(_, name)| is_called(name, file)).map(|(number, _)| *number).collect();
    if !numbers.is_empty() {
        return resolve_source(program, data.and_then(|data| data.get(program)), (&numbers, file), line);
    }
    if is_ptx_file(program, file) {
        return resolve_ptx(program, line, |pc| is_called(ptx_name(program, pc), file));
    }
    let sources = program.source_files.iter().map(|(_, name)| file_name(name));
    let files: BTreeSet<SourceId> = program.spans.iter().map(|span| span.source).collect();
    let ptx = files.into_iter().map(|source| program.sources_text.file(source).short_name());
    let known: Vec<&str> = ptx.chain(sources).collect();
    let error = ArgumentError::new(format!("no code comes from a file '{file}'")).with_nearest(file, known.iter().copied());
    Err(if error.help.is_some() { error } else { error.with_help(format!("there is code of {}", known.join(", "))) })
}

/// True if `file` names a file with code of the program: a PTX text, or one of the source.
pub(super) fn is_file(program: &Program, file: &str) -> bool {
    is_ptx_file(program, file) || program.source_files.iter().any(|(_, name)| is_called(name, file))
}

fn is_ptx_file(program: &Program, file: &str) -> bool {
    program.spans.first().is_some_and(|_| (0..program.code.len()).any(|index| is_called(ptx_name(program, Pc::new(index)), file)))
}

fn ptx_name(program: &Program, pc: Pc) -> &str {
    program.spans.get(pc.index()).map_or("", |span| program.sources_text.file(span.source).name())
}

fn resolve_ptx(program: &Program, line: u32, in_file: impl Fn(Pc) -> bool) -> Result<Resolved, ArgumentError> {
    let lines = || (0..program.code.len()).map(Pc::new).filter(|pc| in_file(*pc)).map(|pc| (program.line(pc), pc));
    let name = |pc| file_name(ptx_name(program, pc)).to_string();
    match lines().filter(|(at, _)| *at >= line).min() {
        Some((at, pc)) => Ok(Resolved { note: moved_note(&name(pc), line, at), ..Resolved::at(vec![pc]) }),
        None => Err(match lines().max() {
            Some((last, pc)) => {
                ArgumentError::new(format!("no instruction on line {line} of {} or after it; the last is on line {last}", name(pc)))
            }
            None => ArgumentError::new("the module has no instructions"),
        }),
    }
}

fn moved_note(file: &str, from: u32, to: u32) -> Option<String> {
    (from != to).then(|| format!("no instruction on line {from} of {file}: line {to} instead"))
}

fn resolve_source(
    program: &Program,
    info: Option<&DebugInfo>,
    (files, name): (&[u32], &str),
    line: u32,
) -> Result<Resolved, ArgumentError> {
    let calls_of_data = info.map_or(BTreeMap::new(), |info| calls_of_data(program, info));
    // The line of a call is that of the function in its place too.
    let places = |pc: usize| places(program, &calls_of_data, Pc::new(pc)).map(|place| place.at);
    let lines = || (0..program.code.len()).flat_map(places).filter(|at| files.contains(&at.file) && at.line > 0).map(|at| at.line);
    let Some(at) = lines().filter(|at| *at >= line).min() else {
        return Err(match lines().max() {
            Some(last) => {
                ArgumentError::new(format!("no instruction comes from line {line} of {name} or after it; the last comes from line {last}"))
            }
            None => ArgumentError::new(format!("no instruction comes from {name}"))
                .with_help("the module names the file, but its instructions have no '.loc' of it"),
        });
    };
    let wanted = Wanted { program, files, line: at, calls_of_data };
    let pcs = beginnings(&wanted, entries(&wanted));
    Ok(Resolved { note: moved_note(name, line, at), is_source_line: true, ..Resolved::at(pcs) })
}

/// The instructions of a line at which it is entered: from the line before, by a branch from another line, or with the
/// function. A block that has the line of the one before it and only passes on is not entered.
fn entries(wanted: &Wanted<'_>) -> Vec<Pc> {
    let program = wanted.program;
    let mut entered: Vec<Pc> = Vec::new();
    for function in &program.functions {
        for pc in function.code.clone() {
            match wanted.is_on_line(pc) {
                true if pc > function.code.start && wanted.is_on_line(pc - 1) => {}
                true if is_copy_at_head(program, Pc(pc)) => {}
                true => entered.push(Pc(pc)),
                false => {
                    let is_entry = |target: &&Pc| wanted.is_on_line(target.0) && !is_passed(program, **target);
                    entered.extend(targets(program, pc as usize).iter().filter(is_entry));
                }
            }
        }
    }
    entered.sort();
    entered.dedup();
    entered
}

/// A place in the source, or a call that leads to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    at: SourceLine,
    /// Which of the calls on a line it is, where debug data says so.
    scope: Option<ScopeId>,
}

/// The calls around instructions of which debug data alone knows them, innermost first.
type CallsOfData = BTreeMap<u32, Vec<Place>>;

fn calls_of_data(program: &Program, info: &DebugInfo) -> CallsOfData {
    let is_inlined = |scope: &&Scope| matches!(scope.kind, ScopeKind::Inlined { .. });
    let ranges = info.scopes.iter().filter(is_inlined).flat_map(|scope| &scope.code);
    // The branch before a range may belong to the call too.
    let code: BTreeSet<u32> = ranges.flat_map(|range| range.start.saturating_sub(1)..range.end).collect();
    let place = |call: CallInPlace| Place { at: call.place(), scope: call.scope };
    let calls = |pc: u32| (pc, calls_at(program, Some(info), Pc(pc)).into_iter().map(place).collect());
    code.into_iter().filter(|pc| !program.inlined_calls.contains_key(&Pc(*pc))).map(calls).collect()
}

/// The place of an instruction, and those of the calls around it, innermost first.
fn places(program: &Program, calls: &CallsOfData, pc: Pc) -> impl Iterator<Item = Place> {
    let of_loc = program.source_places(pc).map(|at| Place { at, scope: None });
    of_loc.chain(calls.get(&pc.0).into_iter().flatten().copied())
}

/// A line of a file.
struct Wanted<'a> {
    program: &'a Program,
    files: &'a [u32],
    line: u32,
    calls_of_data: CallsOfData,
}

impl Wanted<'_> {
    fn is_here(&self, place: &Place) -> bool {
        self.files.contains(&place.at.file) && place.at.line == self.line
    }

    fn places(&self, pc: Pc) -> impl Iterator<Item = Place> {
        places(self.program, &self.calls_of_data, pc)
    }

    fn is_on_line(&self, pc: u32) -> bool {
        self.places(Pc(pc)).any(|place| self.is_here(&place))
    }

    /// True if others notice what the line does from an entry on.
    fn is_noticed(&self, entry: Pc) -> bool {
        self.piece(entry).any(|pc| is_noticed(self.program, pc))
    }

    /// The instructions of the line from an entry on.
    fn piece(&self, entry: Pc) -> impl Iterator<Item = u32> {
        let end = self.program.code.len() as u32;
        (entry.0..end).take_while(|pc| self.is_on_line(*pc))
    }

    /// True if a later line has decided about a branch between the two places, both of which every thread passes: the line is executed
    /// again, as in an unrolled loop.
    fn comes_again(&self, graph: &ControlFlow, first: Pc, next: Pc, calls: &[Place]) -> bool {
        let (Some(from), Some(to)) = (graph.block_of(first), graph.block_of(next)) else { return false };
        if self.piece(next).all(|pc| stands_anywhere(self.program, pc)) {
            return false;
        }
        let is_later = |branch: u32| self.line_within(branch, calls).is_some_and(|line| line > self.line);
        // Each of them dominates the next place and is passed on every way from the first one.
        let before = std::iter::successors(Some(to), |block| graph.idom(*block)).take_while(|block| *block != from);
        let deciding = before.chain([from]).filter(|block| *block != to && graph.successors(*block).len() > 1);
        let is_joined = |block: &BlockId| std::iter::successors(Some(*block), |block| graph.ipdom(*block)).any(|after| after == to);
        deciding.filter(is_joined).any(|block| is_later(graph.code(block).end - 1))
    }

    /// True if what the line computes at `early` was moved there from `entry`, where it accesses memory: an earlier line does something
    /// between them that others notice.
    fn is_hoisted(&self, early: Pc, entry: Pc, calls: &[Place]) -> bool {
        let is_earlier = |pc: u32| self.line_within(pc, calls).is_some_and(|line| line < self.line);
        let accesses = |entry: Pc| self.piece(entry).any(|pc| accesses(self.program, pc));
        !accesses(early) && accesses(entry) && (early.0..entry.0).any(|pc| is_noticed(self.program, pc) && is_earlier(pc))
    }

    /// The line of the file that an instruction comes from in these calls, perhaps by others; none of other files.
    fn line_within(&self, pc: u32, calls: &[Place]) -> Option<u32> {
        let chain: Vec<Place> = self.places(Pc(pc)).collect();
        let place = chain.strip_suffix(calls).and_then(<[Place]>::last).map(|place| place.at);
        place.filter(|place| self.files.contains(&place.file) && place.line > 0).map(|place| place.line)
    }

    /// The calls around the line: one visit stays in them.
    fn calls(&self, pc: Pc) -> Vec<Place> {
        let chain: Vec<Place> = self.places(pc).collect();
        let outermost = chain.iter().rposition(|place| self.is_here(place)).map_or(0, |number| number + 1);
        chain[outermost..].to_vec()
    }

    /// True if the line, in these calls, stands in the body of a loop: the loop has lines before it, or it is a `do` loop that ends
    /// after it, and its branches back are of other lines. Those of a `for` or a `while` are of the line with its condition, which is
    /// evaluated once more than the body.
    fn is_in_body(&self, graph: &ControlFlow, one: &Loop, calls: &[Place]) -> bool {
        let line = |pc: u32| self.line_within(pc, calls);
        let goes_back = |block: &&BlockId| graph.successors(**block).contains(&one.header);
        let backs = || one.blocks.iter().filter(goes_back).map(|block| graph.code(*block).end - 1);
        let code = || one.blocks.iter().flat_map(|block| graph.code(*block));
        let has_lines_before = code().filter_map(line).any(|line| line < self.line);
        // The condition of a `do` loop is its last line, and none of it is outside.
        let function = code().next().and_then(|pc| self.program.function_at(Pc(pc)));
        let all = || function.map_or(0..0, |id| self.program.functions[id.index()].code.clone());
        let is_inside = |pc: u32| graph.block_of(Pc(pc)).is_some_and(|block| one.blocks.contains(&block));
        let ends_with =
            |last: u32| code().filter_map(line).all(|line| line <= last) && all().all(|pc| is_inside(pc) || line(pc) != Some(last));
        let is_do = || backs().all(|back| line(back).is_some_and(|last| last > self.line && ends_with(last)));
        (has_lines_before || is_do()) && !backs().any(|back| self.is_on_line(back))
    }
}

/// The entries at which a visit of the line begins: the code of a line that a compiler takes apart is entered again and again in the same
/// visit. An entry goes on with a visit if every path to it leads through another one with the same calls in the same loops, and it begins
/// no copy of the line; one that a compiler has moved out of a loop, in whose body the line is, belongs to the visits inside, unless others
/// notice what it does, and what others do not notice belongs to what they do before it. What is computed before an earlier line has done
/// something belongs to the accesses of the line.
fn beginnings(wanted: &Wanted<'_>, entries: Vec<Pc>) -> Vec<Pc> {
    let program = wanted.program;
    let function = |pc: Pc| program.function_at(pc);
    let functions: BTreeSet<FuncId> = entries.iter().filter_map(|pc| function(*pc)).collect();
    let graphs: Graphs = functions.into_iter().map(|id| (id, ControlFlow::new(program, id))).collect();
    let (copies, guards) = copied(wanted, &graphs, &entries);
    let belongs_to = |pc: Pc, other: Pc| {
        let Some((graph, here, there)) = blocks_of(program, &graphs, pc, other) else { return false };
        let headers = |block| loops_around(graph, block).map(|one| one.header);
        let is_after = if here == there { other < pc } else { graph.dominates(there, here) };
        let calls = wanted.calls(pc);
        let is_early = || copies.is_empty() && wanted.is_hoisted(other, pc, &calls);
        let goes_on = || {
            let is_in_row = is_after && headers(here).eq(headers(there));
            is_in_row && !copies.contains(&pc) && !is_early() && (program.is_debug || !wanted.comes_again(graph, other, pc, &calls))
        };
        let is_hoisted = || {
            let is_before = if here == there { pc < other } else { graph.dominates(here, there) };
            copies.is_empty() && is_before && wanted.is_hoisted(pc, other, &calls)
        };
        let is_sunk = || is_after && !copies.contains(&pc) && wanted.is_noticed(other) && !wanted.is_noticed(pc);
        let is_entered = |one: &&Loop| !one.blocks.contains(&here);
        let is_moved_out = || {
            !wanted.is_noticed(pc)
                && graph.dominates(here, there)
                && loops_around(graph, there).filter(is_entered).any(|one| wanted.is_in_body(graph, one, &calls))
        };
        pc != other && calls == wanted.calls(other) && (goes_on() || is_sunk() || is_moved_out() || is_hoisted())
    };
    entries.iter().copied().filter(|pc| !guards.contains(pc) && !entries.iter().any(|other| belongs_to(*pc, *other))).collect()
}

/// The control-flow graphs of functions with entries.
type Graphs = BTreeMap<FuncId, ControlFlow>;

/// The blocks of two instructions, and the graph of the function that both are in; none if there is no such function.
fn blocks_of<'g>(program: &Program, graphs: &'g Graphs, first: Pc, second: Pc) -> Option<(&'g ControlFlow, BlockId, BlockId)> {
    let function = program.function_at(first).filter(|id| program.function_at(second) == Some(*id))?;
    let graph = graphs.get(&function)?;
    Some((graph, graph.block_of(first)?, graph.block_of(second)?))
}

/// The loops that hold a block.
fn loops_around(graph: &ControlFlow, block: BlockId) -> impl Iterator<Item = &Loop> {
    graph.loops().iter().filter(move |one| one.blocks.contains(&block))
}

/// The first instructions of the copies of the line, and the guards before the first of several copies, which ask whether there is one.
fn copied(wanted: &Wanted<'_>, graphs: &Graphs, entries: &[Pc]) -> (BTreeSet<Pc>, BTreeSet<Pc>) {
    let program = wanted.program;
    let function = |pc: Pc| program.function_at(pc);
    // Entries that every path passes one after the other, in the same loops and with the same calls. Those of other calls stand between.
    let mut by_calls = entries.to_vec();
    by_calls.sort_by_cached_key(|pc| (function(*pc), wanted.calls(*pc), *pc));
    let straight = by_calls.chunk_by(|pc, next| {
        let Some((graph, here, there)) = blocks_of(program, graphs, *pc, *next) else { return false };
        let headers = |block| loops_around(graph, block).map(|one| one.header);
        graph.dominates(here, there) && headers(here).eq(headers(there)) && wanted.calls(*pc) == wanted.calls(*next)
    });
    let (mut begins, mut guards) = (BTreeSet::new(), BTreeSet::new());
    for pcs in straight {
        let found = copies(program, pcs, |pc| wanted.is_on_line(pc));
        let before = pcs.iter().copied().take_while(|pc| found.first().is_some_and(|first| pc < first));
        guards.extend(before.filter(|pc| wanted.piece(*pc).all(|pc| decides(program, pc))));
        begins.extend(found);
    }
    (begins, guards)
}

/// True for a copy of a register and the conversion of an address: the compiler puts it where its result is used.
fn stands_anywhere(program: &Program, pc: u32) -> bool {
    let op = program.code.get(pc as usize).map(|inst| &inst.op);
    matches!(op, Some(Op::Move(MoveOp::Move { .. } | MoveOp::ConvertAddress { .. })))
}

/// True for a comparison and a branch.
fn decides(program: &Program, pc: u32) -> bool {
    let op = program.code.get(pc as usize).map(|inst| &inst.op);
    matches!(op, Some(Op::Compare(_) | Op::Control(ControlOp::Branch { .. })))
}

/// The branch targets of the instruction at `index`.
fn targets(program: &Program, index: usize) -> &[Pc] {
    match program.code.get(index).map(|inst| &inst.op) {
        Some(Op::Control(ControlOp::Branch { target, uniform: _ })) => std::slice::from_ref(target),
        Some(Op::Control(ControlOp::BranchIndexed { index: _, table, uniform: _ })) => &program.tables[*table],
        _ => &[],
    }
}
