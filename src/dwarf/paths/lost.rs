//! Assignments that debug data has nothing of.
//!
//! `nvcc -G` leaves out that a truth value is assigned where another block of the code uses it (`selp.u16 %rs3, 1, 0, %p6` is all that
//! there is), or where nothing does. The register that the variable had before then has a value that the source has replaced. The text of
//! the source says which lines assign to the variable: where one alone is assigned, and the line makes one truth value for other blocks,
//! its register is the variable's from there on; else the variable has no value. Without the text, all variables of a byte lose theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Code, TruthValue, slots, truth_value};
use crate::cfg::BlockId;
use crate::dwarf::assigned::{Assignment, Declaration, SourceText};
use crate::dwarf::location::{Location, Operation};
use crate::dwarf::model::{DebugInfo, LocationEntry, Scope, Variable};
use crate::isa::Width;
use crate::program::operands::reads;
use crate::program::registers::{RegisterLocation, register, register_of_slot};
use crate::program::{Bank, FuncId, Pc, Program, Slot, SourceLine};

/// What is asked of the whole of the data before its variables are followed.
#[derive(Default)]
pub(super) struct Known {
    /// The statements that assign to a variable, by the place of its declaration and its name.
    assignments: BTreeMap<(SourceLine, String), Vec<Assignment>>,
    /// The registers of each function that its variables name.
    named: BTreeMap<FuncId, BTreeSet<String>>,
}

impl Known {
    pub(super) fn new(program: &Program, info: &DebugInfo, source: Option<&dyn SourceText>) -> Self {
        let mut known = Self::default();
        let mut files: BTreeMap<u32, Vec<Declaration<'_>>> = BTreeMap::new();
        for (_, scope) in info.scopes.entries() {
            let Some(id) = scope.code.first().and_then(|code| program.function_at(Pc(code.start))) else { continue };
            let named = known.named.entry(id).or_default();
            for variable in &scope.variables {
                named.extend(variable.locations.iter().flat_map(|entry| entry.location.registers()).map(str::to_string));
                if let Some(line) = variable.line.filter(|_| may_lose(variable)) {
                    let declaration = Declaration { name: &variable.name, line, is_parameter: variable.is_parameter };
                    files.entry(line.file).or_default().push(declaration);
                }
            }
        }
        for (file, variables) in files {
            let found = source.map_or(Vec::new(), |source| source.assignments(program, file, &variables));
            let found = variables.iter().zip(found).filter_map(|(variable, found)| Some((key(variable.line, variable.name), found?)));
            known.assignments.extend(found);
        }
        known
    }

    fn names(&self, id: FuncId, register: &str) -> bool {
        self.named.get(&id).is_some_and(|named| named.contains(register))
    }
}

fn key(line: SourceLine, name: &str) -> (SourceLine, String) {
    (line, name.to_string())
}

/// True if a variable may be in a register.
pub(super) fn may_lose(variable: &Variable) -> bool {
    let is_register = |entry: &LocationEntry| matches!(entry.location.0.as_slice(), [Operation::Register(_)]);
    variable.locations.iter().all(is_register)
}

/// The instructions that make a truth value for other blocks in a register that no variable names, and this register.
pub(super) fn truths(code: &Code<'_>, id: FuncId, known: &Known) -> Vec<(u32, String)> {
    let name_of = |slot: &(Bank, Slot), pc: u32| register_of_slot(code.function, Pc(pc), slot.0, slot.1);
    let made = code.function.code.clone().filter_map(|pc| {
        let TruthValue { to, predicate, .. } = truth_value(code.program, pc).filter(|truth| truth.width == Width::B16)?;
        let register = name_of(&to, pc).filter(|name| !known.names(id, name))?;
        // The value of a variable that is in the predicate is made for this variable.
        let is_of_variable = name_of(&(Bank::Pred, predicate), pc).is_some_and(|name| known.names(id, &name));
        (!is_of_variable && code.writes.get(&to)?.len() == 1).then_some((pc, to, register))
    });
    let made: Vec<(u32, (Bank, Slot), String)> = made.collect();
    let mut used: BTreeSet<(Bank, Slot)> = BTreeSet::new();
    let blocks: BTreeMap<(Bank, Slot), Option<BlockId>> = made.iter().map(|(pc, to, _)| (*to, code.flow.block_of(Pc(*pc)))).collect();
    for pc in code.function.code.clone().filter(|_| !made.is_empty()) {
        for operand in reads(&code.program.code[pc as usize], code.program) {
            let slot = (operand.bank, operand.slot);
            if blocks.get(&slot).is_some_and(|block| *block != code.flow.block_of(Pc(pc))) {
                used.insert(slot);
            }
        }
    }
    made.into_iter().filter(|(_, to, _)| used.contains(to)).map(|(pc, _, register)| (pc, register)).collect()
}

/// The ranges of a variable with those that begin where the data has nothing of an assignment, without a location where the value is not
/// known; none if the data has all.
pub(super) fn complete(code: &Code<'_>, scope: &Scope, variable: &Variable, is_byte: bool, known: &Known) -> Option<Vec<LocationEntry>> {
    if !(code.program.is_debug && is_byte && may_lose(variable)) {
        return None;
    }
    let lines = variable.line.and_then(|line| known.assignments.get(&key(line, &variable.name)));
    let lost = Lost { code, scope, variable, ranges: ranges(code, scope, variable), assignments: lines.map_or(&[], Vec::as_slice) };
    let mut begins: BTreeMap<u32, Location> = BTreeMap::new();
    match lines {
        Some(lines) => lines.iter().for_each(|assignment| begins.extend(lost.begins(assignment))),
        None if !lost.ranges.is_empty() => begins.extend(lost.truths().map(|(pc, _)| (pc + 1, NOWHERE))),
        None => {}
    }
    begins.retain(|pc, _| scope.contains(Pc(*pc)) && !lost.ranges.iter().any(|(range, _)| range.start == *pc));
    (!begins.is_empty()).then(|| lost.entries(&begins))
}

/// The location of a variable that has none.
const NOWHERE: Location = Location(Vec::new());

/// The ranges of a variable in the text. One register in all of its scope is its place from its writes on.
fn ranges(code: &Code<'_>, scope: &Scope, variable: &Variable) -> Vec<(Range<u32>, Location)> {
    let end = scope.code.iter().map(|code| code.end).max().unwrap_or(0);
    let mut ranges: Vec<(Range<u32>, Location)> = Vec::new();
    for entry in &variable.locations {
        match &entry.code {
            Some(range) => ranges.push((range.clone(), entry.location.clone())),
            None if variable.is_parameter => ranges.push((code.function.code.start..end, entry.location.clone())),
            None => {
                let begins: Vec<u32> = writes_of(code, scope, &entry.location).map(|pc| made_at(code, pc) + 1).collect();
                let ends = begins.iter().skip(1).copied().chain([end]);
                ranges.extend(begins.iter().zip(ends).map(|(begin, end)| (*begin..end, entry.location.clone())));
            }
        }
    }
    ranges.sort_by_key(|(range, _)| range.start);
    ranges
}

/// The instructions that write the register of a location, in order.
fn writes_of(code: &Code<'_>, scope: &Scope, location: &Location) -> impl Iterator<Item = u32> {
    let at = Pc(scope.code.first().map_or(0, |code| code.start));
    let registers: Vec<RegisterLocation> = location.registers().filter_map(|name| register(code.function, at, name)).collect();
    let writes: BTreeSet<u32> = registers.iter().flat_map(slots).filter_map(|slot| code.writes.get(&slot)).flatten().copied().collect();
    writes.into_iter()
}

/// The instruction that makes the value that another one writes: of a truth value, the one that writes its predicate before.
fn made_at(code: &Code<'_>, pc: u32) -> u32 {
    let made = || {
        let predicate = (Bank::Pred, truth_value(code.program, pc)?.predicate);
        let first = code.flow.code(code.flow.block_of(Pc(pc))?).start;
        code.writes.get(&predicate)?.iter().rev().find(|made| (first..pc).contains(made)).copied()
    };
    made().unwrap_or(pc)
}

/// A variable whose assignments are compared with the data.
struct Lost<'c, 'p> {
    code: &'c Code<'p>,
    scope: &'c Scope,
    variable: &'c Variable,
    ranges: Vec<(Range<u32>, Location)>,
    assignments: &'c [Assignment],
}

impl Lost<'_, '_> {
    /// The line of an instruction, if it is of the file that declares the variable.
    fn line(&self, pc: u32) -> Option<u32> {
        let file = self.variable.line?.file;
        self.code.program.source_line(Pc(pc)).filter(|line| line.file == file && line.line > 0).map(|line| line.line)
    }

    fn is_on(&self, pc: u32, assignment: &Assignment) -> bool {
        self.line(pc).is_some_and(|line| assignment.lines.contains(&line))
    }

    /// The instructions of the scope.
    fn inside(&self) -> impl Iterator<Item = u32> {
        self.scope.code.iter().cloned().flatten()
    }

    fn truths(&self) -> impl Iterator<Item = &(u32, String)> {
        self.code.truths.iter().filter(|(pc, _)| self.scope.contains(Pc(*pc)))
    }

    /// Where the variable is given a value that the data has nothing of, and where it is from there on.
    fn begins(&self, assignment: &Assignment) -> Vec<(u32, Location)> {
        let own: Vec<u32> = self.inside().filter(|pc| self.is_on(*pc, assignment)).collect();
        if own.is_empty() {
            return self.passes(assignment);
        }
        if self.has(assignment) {
            return Vec::new();
        }
        let mut truths = self.truths().filter(|(pc, _)| self.is_on(*pc, assignment));
        match (truths.next(), truths.next()) {
            (Some((pc, register)), None) if assignment.is_alone => {
                vec![(pc + 1, Location(vec![Operation::Register(register.as_str().into())]))]
            }
            _ => own.into_iter().map(|pc| (pc + 1, NOWHERE)).collect(),
        }
    }

    /// True if the data has a range that begins with an assignment, or an instruction of its lines writes a register of the variable.
    fn has(&self, assignment: &Assignment) -> bool {
        let is_other = |pc: u32| {
            let is_declared = self.variable.line.is_some_and(|line| self.line(pc) == Some(line.line));
            is_declared || self.assignments.iter().any(|other| other != assignment && self.is_on(pc, other))
        };
        let begins = |start: u32| {
            let before = start.saturating_sub(1);
            self.is_on(before, assignment) || self.is_on(start, assignment) && !is_other(before)
        };
        let mut writes = self.ranges.iter().flat_map(|(_, location)| writes_of(self.code, self.scope, location));
        self.ranges.iter().any(|(range, _)| begins(range.start))
            || writes.any(|pc| self.is_on(pc, assignment) || self.is_on(made_at(self.code, pc), assignment))
    }

    /// Where a thread passes an assignment that has no instruction; nowhere if a range begins there.
    fn passes(&self, assignment: &Assignment) -> Vec<(u32, Location)> {
        let (first, last) = (*assignment.lines.start(), *assignment.lines.end());
        let is_before = |pc: u32| pc.checked_sub(1).and_then(|before| self.line(before)).is_some_and(|line| line < first);
        let is_after = |pc: u32| self.line(pc).is_some_and(|line| line > last);
        let passed: Vec<u32> = self.inside().filter(|pc| is_before(*pc) && is_after(*pc)).collect();
        let is_known = self.ranges.iter().any(|(range, _)| passed.contains(&range.start));
        if is_known { Vec::new() } else { passed.into_iter().map(|pc| (pc, NOWHERE)).collect() }
    }

    /// The ranges, with those that begin at `begins`.
    fn entries(&self, begins: &BTreeMap<u32, Location>) -> Vec<LocationEntry> {
        let end = self.scope.code.iter().map(|code| code.end).max().unwrap_or(0);
        let next = |pc: u32| {
            let known = self.ranges.iter().map(|(range, _)| range.start).filter(|start| *start > pc).min();
            known.into_iter().chain(begins.range(pc + 1..).next().map(|(pc, _)| *pc)).min()
        };
        let mut entries: Vec<(Range<u32>, Location)> = Vec::new();
        for (range, location) in &self.ranges {
            let cut = begins.range(range.clone()).next().map_or(range.end, |(pc, _)| *pc);
            entries.push((range.start..cut, location.clone()));
        }
        for (pc, location) in begins {
            let around = self.ranges.iter().find(|(range, _)| range.contains(pc)).map(|(range, _)| range.end);
            let last = around.into_iter().chain(next(*pc)).min().unwrap_or(end);
            entries.push((*pc..last, location.clone()));
        }
        entries.sort_by_key(|(range, _)| range.start);
        entries.into_iter().map(|(range, location)| LocationEntry { code: Some(range), location }).collect()
    }
}
