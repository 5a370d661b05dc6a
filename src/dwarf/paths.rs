//! Where variables are on the paths that threads take.
//!
//! A compiler's list of locations has ranges of the text: a range begins at the instruction from which on the variable is in a register,
//! and goes on, over blocks that other paths lead to, until the next one begins. A thread that jumps into a range has not passed its begin,
//! so that the variable is for this thread where it was before. A range is therefore taken for what it begins with, an assignment on the
//! paths that pass there, and what holds at an instruction is found for all paths to it: the registers that have the value of the variable,
//! copies among them. Where the paths have none in common, or the register has been given another value, the variable has no location.
//!
//! A range that begins with a register which had the value that the variable had before, as nvcc has it for `while (n-- > 0)`, contradicts
//! the assignment since: it is no assignment if both are of one line, and the variable has no location if not.

mod entered;
mod lost;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use fixedbitset::FixedBitSet;
use lost::Known;

use super::assigned::SourceText;
use super::location::{Location, Operation};
use super::model::{DebugInfo, LocationEntry, Scope, Variable};
use crate::cfg::ControlFlow;
use crate::flow::graph::{Blocks, Graph};
use crate::flow::solver::{Analysis, Direction, Lattice, solve};
use crate::isa::Width;
use crate::program::operands::{RegisterOperand, call_results, reads, writes};
use crate::program::registers::{RegisterLocation, register, register_of_slot};
use crate::program::{Bank, ControlOp, FuncId, Function, Inst, MoveOp, Op, Pc, PredSrc, Program, SelectOp, Slot, SourceLine, Src, SrcKind};

/// Most ranges of a variable that are followed.
const RANGES_MAX: usize = 1 << 10;

/// Replaces the ranges of the text of all variables in registers by what holds on the paths to each instruction.
pub(super) fn follow(program: &Program, info: &mut DebugInfo, source: Option<&dyn SourceText>) {
    let mut functions: BTreeMap<FuncId, Code<'_>> = BTreeMap::new();
    let known = if program.is_debug { Known::new(program, info, source) } else { Known::default() };
    let mut scopes = std::mem::take(&mut info.scopes);
    for scope in &mut scopes {
        let Some(id) = scope.code.first().and_then(|code| program.function_at(Pc(code.start))) else { continue };
        // Compilers write several variables of one name for parts of one.
        let names: Vec<_> =
            scope.variables.iter().filter(|variable| !variable.is_parameter).map(|variable| variable.name.clone()).collect();
        let is_part = |variable: &Variable| names.iter().filter(|name| **name == variable.name).count() > 1;
        let mut variables = std::mem::take(&mut scope.variables);
        for variable in variables.iter_mut().filter(|variable| !is_part(variable) && (may_move(variable) || lost::may_lose(variable))) {
            let code = functions.entry(id).or_insert_with(|| Code::new(program, id, &known));
            let is_byte = info.bytes(variable.ty) == 1;
            if let Some(found) = in_scope(code, scope, variable, is_byte, &known) {
                variable.locations = found;
            }
        }
        scope.variables = variables;
    }
    info.scopes = scopes;
}

/// The locations of a variable that hold on the paths to each instruction; none if the data has them.
fn in_scope(code: &Code<'_>, scope: &Scope, variable: &Variable, is_byte: bool, known: &Known) -> Option<Vec<LocationEntry>> {
    if let Some(locations) = lost::complete(code, scope, variable, is_byte, known) {
        let completed = Variable { locations, ..variable.clone() };
        return Some(Followed::new(code, &scope.code, &completed)?.entries());
    }
    if let [LocationEntry { code: None, location }] = variable.locations.as_slice() {
        return entered::entries(code, &scope.code, location).filter(|_| !variable.is_parameter);
    }
    let followed = Followed::new(code, &scope.code, variable).filter(|_| is_in_ranges(variable));
    followed.map(|followed| followed.entries()).filter(|found| !found.is_empty())
}

/// True if the location of a variable depends on paths.
fn may_move(variable: &Variable) -> bool {
    let is_one = matches!(variable.locations.as_slice(), [LocationEntry { code: None, .. }]);
    is_in_ranges(variable) || is_one && !variable.is_parameter
}

fn is_in_ranges(variable: &Variable) -> bool {
    let in_register = |entry: &LocationEntry| entry.code.is_some() && matches!(entry.location.0.as_slice(), [Operation::Register(_)]);
    variable.locations.len() <= RANGES_MAX && variable.locations.iter().any(in_register)
}

/// The code of a function.
struct Code<'p> {
    program: &'p Program,
    function: &'p Function,
    flow: ControlFlow,
    /// The instructions that labels stand at.
    labels: BTreeSet<u32>,
    /// The instructions that write each register.
    writes: BTreeMap<(Bank, Slot), Vec<u32>>,
    /// The instructions that make a truth value for other blocks which no variable has, and its register.
    truths: Vec<(u32, String)>,
}

impl<'p> Code<'p> {
    fn new(program: &'p Program, id: FuncId, known: &Known) -> Self {
        let function = &program.functions[id.index()];
        let mut all: BTreeMap<(Bank, Slot), Vec<u32>> = BTreeMap::new();
        for pc in function.code.clone() {
            for register in written(program, &program.code[pc as usize]) {
                all.entry(register).or_default().push(pc);
            }
        }
        let labels = function.labels.iter().map(|(_, pc)| pc.0).collect();
        let mut code = Self { program, function, flow: ControlFlow::new(program, id), labels, writes: all, truths: Vec::new() };
        code.truths = if program.is_debug { lost::truths(&code, id, known) } else { Vec::new() };
        code
    }
}

impl Code<'_> {
    /// The instruction that writes a register next, in the same block and before it is read.
    fn written_next(&self, pc: u32, register: &RegisterLocation) -> Option<u32> {
        let block = self.flow.block_of(Pc(pc))?;
        let is_own = |operand: &RegisterOperand| {
            slots(register).any(|(bank, slot)| bank == operand.bank && operand.slot.run(operand.width).any(|other| other == slot))
        };
        for pc in pc..self.flow.code(block).end {
            let inst = &self.program.code[pc as usize];
            if reads(inst, self.program).iter().any(is_own) {
                return None;
            }
            if slots(register).any(|slot| written(self.program, inst).contains(&slot)) {
                return inst.guard.is_none().then_some(pc);
            }
        }
        None
    }

    /// Where a truth value is that the next write of a register takes from a predicate: in the predicate, from its last write on.
    fn in_predicate(&self, range: &Range<u32>, register: &RegisterLocation) -> Option<LocationEntry> {
        let next = self.written_next(range.start, register)?;
        let slot = truth_value(self.program, next)?.predicate;
        let first = self.flow.code(self.flow.block_of(Pc(next))?).start;
        let writes = self.writes.get(&(Bank::Pred, slot))?;
        let last = writes.iter().rev().find(|pc| (first..next).contains(pc)).filter(|pc| **pc + 1 < range.end)?;
        let name = register_of_slot(self.function, Pc(next), Bank::Pred, slot)?;
        let location = Location(vec![Operation::Register(name.into())]);
        Some(LocationEntry { code: Some((last + 1).max(range.start)..range.end), location })
    }
}

/// An instruction that makes a truth value of a predicate, 1 or 0.
struct TruthValue {
    width: Width,
    to: (Bank, Slot),
    predicate: Slot,
}

/// The instruction as one that makes a truth value, if it does.
fn truth_value(program: &Program, pc: u32) -> Option<TruthValue> {
    let Op::Select(SelectOp::Select { width, d, a, b, p: PredSrc::Reg { slot, negate: false } }) = program.code[pc as usize].op else {
        return None;
    };
    let constant = |operand: Src| match (operand.kind(), width) {
        (SrcKind::Const(index), Width::B64) => program.consts64.get(index as usize).copied(),
        (SrcKind::Const(index), Width::B16 | Width::B32) => program.consts32.get(index as usize).copied().map(u64::from),
        (SrcKind::Reg(_) | SrcKind::Special(_), _) => None,
    };
    let is_truth = (constant(a), constant(b)) == (Some(1), Some(0));
    is_truth.then_some(TruthValue { width, to: (width.bank(), d.0), predicate: slot })
}

/// The registers that an instruction writes; those of a call are written when it returns.
fn written(program: &Program, inst: &Inst) -> Vec<(Bank, Slot)> {
    let results = if let Op::Control(ControlOp::Call { call, .. }) = inst.op { call_results(program, call) } else { writes(inst, program) };
    results.iter().flat_map(|operand| operand.slot.run(operand.width).map(move |slot| (operand.bank, slot))).collect()
}

/// The register that an instruction copies in all lanes, and the one that it copies it to.
fn copied(inst: &Inst) -> Option<((Bank, Slot), (Bank, Slot))> {
    let Op::Move(MoveOp::Move { width, d, a }) = inst.op else { return None };
    let SrcKind::Reg(from) = a.kind() else { return None };
    inst.guard.is_none().then_some(((width.bank(), from), (width.bank(), d.0)))
}

/// A variable in the code of its function.
struct Followed<'c, 'p> {
    code: &'c Code<'p>,
    /// The instructions of the block that declares it.
    scope: &'c [Range<u32>],
    /// Its ranges in the text.
    ranges: Vec<(Range<u32>, usize)>,
    /// Its places, each once, with the registers that they are.
    places: Vec<(Location, Option<RegisterLocation>)>,
    /// The instructions at which something happens to it.
    points: BTreeSet<u32>,
    /// Of the places the registers that nothing but an assignment to the variable writes.
    own: FixedBitSet,
    /// It is a parameter, whose register is loaded from memory that has its value already.
    is_parameter: bool,
}

/// What is known of a variable where a thread stands; none where no path leads.
#[derive(Clone)]
struct State(Option<Held>);

#[derive(Clone, PartialEq, Eq)]
struct Held {
    /// The places that have the value of the variable.
    places: FixedBitSet,
    /// Those whose register has not been written yet: the first write gives it the value that the variable begins with.
    pending: FixedBitSet,
    /// Those whose register still has a value that the variable had before.
    old: FixedBitSet,
    /// The line of the instruction that has assigned the value, if it is one for all paths.
    line: Option<SourceLine>,
    /// The variable has not been given a value on any path.
    is_new: bool,
    /// Of all places the registers that nothing but an assignment to the variable writes.
    own: FixedBitSet,
}

impl Lattice for State {
    fn join(&mut self, other: &Self) -> bool {
        let Some(other) = &other.0 else { return false };
        let Some(own) = &mut self.0 else {
            self.0 = Some(other.clone());
            return true;
        };
        let before = own.clone();
        own.old.union_with(&other.old);
        own.line = own.line.filter(|line| Some(*line) == other.line);
        let (old, line) = (own.old.clone(), own.line);
        match (own.is_new, other.is_new) {
            (true, true) => {}
            // A thread on whose path the variable was not assigned has not written a register of its own, which is known of each thread.
            (true, false) => {
                *own = Held { old, line, ..other.clone() };
                own.places.intersect_with(&other.own);
            }
            (false, true) => own.places.intersect_with(&other.own),
            (false, false) => {
                own.places.intersect_with(&other.places);
                own.pending.intersect_with(&other.pending);
            }
        }
        *own != before
    }
}

impl<'c, 'p> Followed<'c, 'p> {
    fn new(code: &'c Code<'p>, scope: &'c [Range<u32>], variable: &Variable) -> Option<Self> {
        let mut followed = Self {
            code,
            scope,
            ranges: Vec::new(),
            places: Vec::new(),
            points: BTreeSet::new(),
            own: FixedBitSet::new(),
            is_parameter: variable.is_parameter,
        };
        let whole = &code.function.code;
        for entry in &variable.locations {
            let range = entry.code.clone().unwrap_or_else(|| whole.clone());
            let known = followed.places.iter().position(|(location, _)| *location == entry.location);
            let place = match known {
                Some(place) => place,
                None => followed.add_place(&entry.location, Pc(range.start))?,
            };
            followed.points.extend([range.start, range.end].into_iter().filter(|pc| whole.contains(pc)));
            followed.ranges.push((range, place));
        }
        followed.own = FixedBitSet::with_capacity(followed.places.len());
        let own: Vec<usize> = (0..followed.places.len()).filter(|place| followed.is_own(*place)).collect();
        followed.own.extend(own);
        Some(followed)
    }

    /// Adds a place; none for a register that is not declared.
    fn add_place(&mut self, location: &Location, at: Pc) -> Option<usize> {
        let held = match location.0.as_slice() {
            [Operation::Register(name)] => Some(register(self.code.function, at, name)?),
            _ => None,
        };
        for register in held.iter().flat_map(slots) {
            self.points.extend(self.code.writes.get(&register).into_iter().flatten());
        }
        self.places.push((location.clone(), held));
        Some(self.places.len() - 1)
    }

    /// What holds where a block of code begins. In the next round of a loop around the block that declares it, a variable is another one,
    /// which has no value yet: the register has that of the one before.
    fn begin(&self, node: usize, held: &mut Held) {
        let start = Blocks::code(&self.code.flow, node).start;
        let mut before = self.code.flow.predecessor_nodes(node).map(|before| Blocks::code(&self.code.flow, before).start);
        if !self.is_in_scope(start) && before.any(|before| before >= start) {
            self.leave(held);
        }
    }

    /// What holds where a block of code has ended.
    fn end(&self, node: usize, held: &mut Held) {
        let code = Blocks::code(&self.code.flow, node);
        let mut after = self.code.flow.successor_nodes(node).map(|after| Blocks::code(&self.code.flow, after).start);
        if !self.is_in_scope(code.end.saturating_sub(1)) && after.any(|after| after <= code.start) {
            self.leave(held);
        }
    }

    fn is_in_scope(&self, pc: usize) -> bool {
        self.scope.iter().any(|range| (range.start as usize..range.end as usize).contains(&pc))
    }

    fn leave(&self, held: &mut Held) {
        if !held.is_new {
            *held = self.nowhere(false);
        }
    }

    /// The place that the text says for an instruction.
    fn in_text(&self, pc: u32) -> Option<usize> {
        self.ranges.iter().find(|(range, _)| range.contains(&pc)).map(|(_, place)| *place)
    }

    fn is_begin(&self, pc: u32) -> bool {
        self.ranges.iter().any(|(range, _)| range.start == pc)
    }

    /// True if the variable ceases to have a value before an instruction. A range ends as well where its register is given another one.
    fn is_end(&self, pc: u32) -> bool {
        let before = pc.checked_sub(1).and_then(|before| self.code.program.code.get(before as usize));
        let written = before.map_or_else(Vec::new, |inst| written(self.code.program, inst));
        let is_overwritten = |place: usize| self.places[place].1.iter().flat_map(slots).any(|slot| written.contains(&slot));
        let ends = |(range, place): &(Range<u32>, usize)| range.end == pc && !is_overwritten(*place);
        self.in_text(pc).is_none() && self.ranges.iter().any(ends)
    }

    fn nowhere(&self, is_new: bool) -> Held {
        let none = FixedBitSet::with_capacity(self.places.len());
        Held { places: none.clone(), pending: none.clone(), old: none, line: None, is_new, own: self.own.clone() }
    }

    /// What holds once the variable is given another value, which is in `place`.
    fn given(&self, held: &Held, place: usize, pc: u32) -> Held {
        let mut given = self.nowhere(false);
        given.old = held.old.clone();
        given.old.extend(held.places.ones().filter(|other| *other != place && self.places[*other].1.is_some()));
        given.old.set(place, false);
        given.places.insert(place);
        given.line = self.line_before(pc);
        given
    }

    /// The line of the instruction before another one, which has assigned what holds there.
    fn line_before(&self, pc: u32) -> Option<SourceLine> {
        self.code.program.source_line(Pc(pc.checked_sub(1)?))
    }

    /// True if whatever writes the register of a place assigns to the variable.
    fn is_own(&self, place: usize) -> bool {
        let begins = |pc: &u32| self.is_begin(pc + 1) && self.in_text(pc + 1) == Some(place);
        let mut writes = self.places[place].1.iter().flat_map(slots).flat_map(|slot| self.code.writes.get(&slot)).flatten();
        self.places[place].1.is_some() && writes.all(begins)
    }

    /// What holds before an instruction that a thread comes to.
    fn enter(&self, pc: u32, held: &mut Held) {
        match self.in_text(pc).filter(|_| self.is_begin(pc)) {
            Some(place) if held.places.contains(place) => {}
            Some(place) if held.old.contains(place) && held.line.is_some() && held.line == self.line_before(pc) => {}
            Some(place) if held.old.contains(place) => *held = Held { old: held.old.clone(), ..self.nowhere(false) },
            Some(place) => {
                *held = self.given(held, place, pc);
                let first = self.places[place].1.iter().flat_map(slots).filter_map(|slot| self.code.writes.get(&slot)?.first()).min();
                held.pending.set(place, first.is_some_and(|first| *first >= pc));
            }
            None if self.is_end(pc) => *held = self.nowhere(false),
            None => {}
        }
    }

    /// What an instruction does to the places.
    fn execute(&self, pc: u32, held: &mut Held) {
        let inst = &self.code.program.code[pc as usize];
        let written = written(self.code.program, inst);
        let copied = copied(inst);
        let has_copied = copied.is_some_and(|(from, _)| held.places.ones().any(|place| self.is_at(place, from)));
        for place in 0..self.places.len() {
            let Some(register) = &self.places[place].1 else { continue };
            if !slots(register).any(|slot| written.contains(&slot)) {
                continue;
            }
            held.old.set(place, false);
            let is_copy = has_copied && copied.is_some_and(|(_, to)| self.is_at(place, to));
            let is_given = self.in_text(pc + 1) == Some(place) && !self.is_begin(pc + 1) && self.code.labels.contains(&(pc + 1));
            if is_copy {
                held.places.insert(place);
            } else if held.pending.contains(place) {
                held.pending.set(place, false);
            } else if is_given {
                *held = self.given(held, place, pc + 1);
            } else {
                held.places.set(place, false);
            }
        }
    }

    /// True if a place is a register.
    fn is_at(&self, place: usize, (bank, slot): (Bank, Slot)) -> bool {
        self.places[place].1.is_some_and(|register| (register.bank, register.slot, register.width) == (bank, Some(slot), 1))
    }

    /// The locations that hold on all paths.
    fn entries(&self) -> Vec<LocationEntry> {
        let states = solve(&self.code.flow, self);
        let mut entries: Vec<LocationEntry> = Vec::new();
        for (block, state) in states.into_iter().enumerate() {
            let Some(mut held) = state.0 else { continue };
            self.begin(block, &mut held);
            let code = Blocks::code(&self.code.flow, block);
            let code = code.start as u32..code.end as u32;
            self.walk(&code, &mut held, |held, range| {
                let Some(place) = self.shown(held, range.start) else { return };
                let (location, register) = &self.places[place];
                if location.0.is_empty() {
                    return;
                }
                // Until it is written, a register has what was in it before.
                if let Some(register) = register.as_ref().filter(|_| held.pending.contains(place) && !self.is_parameter)
                    && self.code.written_next(range.start, register).is_some()
                {
                    entries.extend(self.code.in_predicate(&range, register));
                    return;
                }
                let is_next = |last: &&mut LocationEntry| {
                    last.location == *location && last.code.as_ref().is_some_and(|code| code.end == range.start)
                };
                match entries.last_mut().filter(is_next).and_then(|last| last.code.as_mut()) {
                    Some(last) => last.end = range.end,
                    None => entries.push(LocationEntry { code: Some(range), location: location.clone() }),
                }
            });
        }
        entries
    }

    /// Of several places with the value that which the text says.
    fn shown(&self, held: &Held, pc: u32) -> Option<usize> {
        self.in_text(pc).filter(|place| held.places.contains(*place)).or_else(|| held.places.ones().next())
    }

    /// Goes through a block, and visits what holds in each of its parts.
    fn walk(&self, code: &Range<u32>, held: &mut Held, mut visit: impl FnMut(&Held, Range<u32>)) {
        let mut from = code.start;
        for pc in self.points.range(code.clone()).copied() {
            if from < pc {
                visit(held, from..pc);
            }
            self.enter(pc, held);
            visit(held, pc..pc + 1);
            self.execute(pc, held);
            from = pc + 1;
        }
        if from < code.end {
            visit(held, from..code.end);
        }
    }
}

fn slots(register: &RegisterLocation) -> impl Iterator<Item = (Bank, Slot)> + use<> {
    let (bank, width) = (register.bank, register.width);
    register.slot.into_iter().flat_map(move |slot| slot.run(width).map(move |slot| (bank, slot)))
}

impl Analysis for Followed<'_, '_> {
    type Fact = State;
    const DIRECTION: Direction = Direction::Forward;

    fn bottom(&self) -> State {
        State(None)
    }

    fn start(&self, node: usize) -> Option<State> {
        (node == 0 && self.code.flow.nodes() > 0).then(|| State(Some(self.nowhere(true))))
    }

    fn transfer(&self, node: usize, fact: &mut State) {
        let code = Blocks::code(&self.code.flow, node);
        if let Some(held) = &mut fact.0 {
            self.begin(node, held);
            self.walk(&(code.start as u32..code.end as u32), held, |_, _| {});
            self.end(node, held);
        }
    }
}
