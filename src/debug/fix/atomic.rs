//! Replaces a read-modify-write (a load, an operation and a store of one location) by an atomic.
//!
//! If there is an atomic for the operation, it replaces the store if nothing else uses the loaded value, otherwise the load. Any other pure
//! computation becomes a loop around a compare-and-swap, from the load on.

use std::collections::{BTreeMap, BTreeSet};

use super::patch::TextChange;
use super::statement::{Modifiers, rewritten};
use crate::check::FunctionAnalysis;
use crate::flow::def_use::Definition;
use crate::isa::{AtomicFn, Ordering};
use crate::program::operands::{RegisterOperand, Use, reads, registers_of, writes};
use crate::program::{MemoryOp, Op, Pc, Program};

/// A load and a store of one location, in one function.
pub(super) struct ReadModifyWrite<'a> {
    pub program: &'a Program,
    pub analysis: &'a FunctionAnalysis,
    pub load: Pc,
    pub store: Pc,
}

/// State spaces of atomics, as modifiers.
const SPACES: &[&str] = &["global", "shared", "shared::cta", "shared::cluster"];

/// Pairs of a type of the operation and the type of the atomic.
type Types = &'static [(&'static str, &'static str)];

/// The atomics with their modifiers, and their types by the types of the operation.
const OPERATIONS: &[(AtomicFn, &str, Types)] = &[
    (AtomicFn::Add, "add", &[("u32", "u32"), ("s32", "s32"), ("u64", "u64"), ("s64", "u64"), ("f32", "f32"), ("f64", "f64")]),
    (AtomicFn::Min, "min", &[("u32", "u32"), ("s32", "s32"), ("u64", "u64"), ("s64", "s64")]),
    (AtomicFn::Max, "max", &[("u32", "u32"), ("s32", "s32"), ("u64", "u64"), ("s64", "s64")]),
    (AtomicFn::And, "and", &[("b32", "b32"), ("b64", "b64")]),
    (AtomicFn::Or, "or", &[("b32", "b32"), ("b64", "b64")]),
    (AtomicFn::Xor, "xor", &[("b32", "b32"), ("b64", "b64")]),
];

/// All operations of [`OPERATIONS`].
pub(super) fn functions() -> Vec<AtomicFn> {
    OPERATIONS.iter().map(|(f, ..)| *f).collect()
}

/// Types of `atom.max` and `atom.min`.
const MIN_MAX_TYPES: &[&str] = &["s32", "u32", "s64", "u64"];

/// A comparison before a store to the location that it compares.
struct Test {
    /// `max` or `min`
    word: &'static str,
    /// The type of the comparison.
    ty: &'static str,
    /// The loads of the value that is compared with the stored one.
    loads: BTreeSet<Pc>,
}

/// The atomic of the operation, without its address.
struct Operation {
    /// The instruction that computes the stored value.
    producer: Pc,
    /// `add.u32`
    name: String,
    /// The statements that compute the other operand, and this operand.
    operand: (String, String),
}

/// A store of a value that a register carries from one store to the next.
struct AccumulatedStore {
    store: Pc,
    /// The instruction that computes the stored value.
    producer: Pc,
    /// The number of its operand that is the value stored before, and of the other one.
    carried: usize,
    operand: usize,
}

impl ReadModifyWrite<'_> {
    /// The alternative changes that replace it by the atomic `f`.
    pub fn by_atomic(&self, f: AtomicFn) -> Vec<(Vec<TextChange>, String)> {
        let Some(operation) = self.operation(f) else { return Vec::new() };
        let (Some(address), Some(loaded)) = (self.operand(self.store, 0), self.operand(self.load, 0)) else { return Vec::new() };
        let (setup, operand) = &operation.operand;
        let guard = self.guard(self.store);
        let place = |stem: &str, result: &str| {
            let space = self.space_modifier();
            let head = if setup.is_empty() { String::new() } else { format!("{{ {setup} ") };
            let tail = if setup.is_empty() { "" } else { " }" };
            format!("{head}{guard}{stem}.relaxed.gpu{space}.{} {result}{address}, {operand};{tail}", operation.name)
        };
        let remove = |pc: Pc| TextChange::Replace(pc, String::new());
        let mut found = Vec::new();
        let is_sole_use = self.uses(self.load) == [operation.producer.index()] && self.uses(operation.producer) == [self.store.index()];
        if is_sole_use && self.are_sources_unchanged(operation.producer, operation.producer, self.store) {
            let changes = vec![remove(self.load), remove(operation.producer), TextChange::Replace(self.store, place("red", ""))];
            found.push((changes, format!("red.{}", operation.name)));
        }
        if self.are_sources_unchanged(operation.producer, self.load, operation.producer) {
            let changes = vec![TextChange::Replace(self.load, place("atom", &format!("{loaded}, "))), remove(self.store)];
            found.push((changes, format!("atom.{}", operation.name)));
        }
        found
    }

    /// The change that repeats everything from the load on until a compare-and-swap succeeds.
    pub fn compare_and_swap(&self, number: usize) -> Option<(Vec<TextChange>, String)> {
        let (Op::Memory(MemoryOp::Load { bits, reg_bits, .. }), Op::Memory(MemoryOp::Store { bits: stored, reg_bits: from, .. })) =
            (&self.program.code[self.load.index()].op, &self.program.code[self.store.index()].op)
        else {
            return None;
        };
        let fits = bits == reg_bits && stored == from && bits == stored && matches!(bits, 16 | 32 | 64);
        if !fits || self.load >= self.store || !self.can_repeat() {
            return None;
        }
        let (address, value, loaded) = (self.operand(self.store, 0)?, self.operand(self.store, 1)?, self.operand(self.load, 0)?);
        let from = self.operand(self.load, 1)?;
        let strong = rewritten(&self.program.opcode(self.load)?.text, Modifiers::semantics(Ordering::Relaxed), self.program)?;
        let space = self.space_modifier();
        let ty = if value.starts_with("0f") || value.starts_with("0F") || value.starts_with("0d") || value.starts_with("0D") {
            "f"
        } else {
            "b"
        };
        let guard = self.guard(self.load);
        let begin = format!(
            "$fix_again_{number}:\n\t.reg .b{bits} %fix_old_{number};\n\t{guard}{strong} {loaded}, {from};\n\tmov.b{bits} \
             %fix_old_{number}, {loaded};"
        );
        let skip = self.skip(self.store, &format!("$fix_done_{number}"));
        let end = format!(
            "{skip}{{\n\t.reg .b{bits} %fix_new, %fix_seen;\n\t.reg .pred %fix_differs;\n\tmov.{ty}{bits} %fix_new, \
             {value};\n\tatom.relaxed.gpu{space}.cas.b{bits} %fix_seen, {address}, %fix_old_{number}, \
             %fix_new;\n\tsetp.ne.s{bits} %fix_differs, %fix_seen, %fix_old_{number};\n\t@%fix_differs bra $fix_again_{number};\n\t}}\n\
             $fix_done_{number}:",
        );
        Some((vec![TextChange::Replace(self.load, begin), TextChange::Replace(self.store, end)], format!("atom.cas.b{bits} in a loop")))
    }

    /// The changes that replace each of `stores` by the atomic `f`, for a sum that a register carries from one store to the next; the
    /// loads before the first ones are removed.
    pub fn accumulated(&self, f: AtomicFn, stores: &BTreeSet<Pc>) -> Option<(Vec<TextChange>, String)> {
        let (_, word, types) = OPERATIONS.iter().find(|(listed, ..)| *listed == f)?;
        let mut name = String::new();
        let changes = self.each_accumulated(stores, |AccumulatedStore { store, producer, operand, .. }| {
            let opcode = self.program.opcode(producer)?;
            let ty = types.iter().find(|(listed, _)| opcode.text.ends_with(&format!(".{listed}"))).map(|(_, atomic)| *atomic)?;
            (opcode.stem() == *word).then_some(())?;
            let (address, operand, space) = (self.operand(store, 0)?, self.operand(producer, operand)?, self.space_modifier());
            name = format!("red.{word}.{ty}");
            Some(format!("{}red.relaxed.gpu{space}.{word}.{ty} {address}, {operand};", self.guard(store)))
        })?;
        Some((changes, name))
    }

    /// The same for an operation without an atomic: each store becomes a loop around a compare-and-swap.
    pub fn accumulated_by_swaps(&self, stores: &BTreeSet<Pc>) -> Option<(Vec<TextChange>, String)> {
        let mut name = String::new();
        let changes = self.each_accumulated(stores, |AccumulatedStore { store, producer, carried, operand }| {
            let Op::Memory(MemoryOp::Store { bits, reg_bits, .. }) = self.program.code[store.index()].op else { return None };
            let is_whole = bits == reg_bits && matches!(bits, 32 | 64) && self.program.guard_text(producer).is_none();
            (is_whole && self.program.operand_texts(producer).len() == 3).then_some(())?;
            let (address, opcode) = (self.operand(store, 0)?, &self.program.opcode(producer)?.text);
            let mut sources = [String::from("%fix_old"), self.operand(producer, operand)?];
            if carried > operand {
                sources.reverse();
            }
            let (space, number, [a, b]) = (self.space_modifier(), store.index(), sources);
            let skip = self.skip(store, &format!("$fix_done_{number}"));
            name = format!("atom.cas.b{bits} in a loop");
            Some(format!(
                "{skip}{{\n\t.reg .b{bits} %fix_old, %fix_new, %fix_seen;\n\t.reg .pred %fix_differs;\n\tld.relaxed.gpu{space}.b{bits} \
                 %fix_old, {address};\n$fix_again_{number}:\n\t{opcode} %fix_new, {a}, {b};\n\tatom.relaxed.gpu{space}.cas.b{bits} \
                 %fix_seen, {address}, %fix_old, %fix_new;\n\tsetp.ne.s{bits} %fix_differs, %fix_seen, %fix_old;\n\tmov.b{bits} \
                 %fix_old, %fix_seen;\n\t@%fix_differs bra $fix_again_{number};\n\t}}\n$fix_done_{number}:"
            ))
        })?;
        Some((changes, name))
    }

    /// The changes that replace each of `stores` of a value that a register carries from one to the next by `atomic`, and remove the loads
    /// before the first ones and the operations on that register.
    fn each_accumulated(
        &self,
        stores: &BTreeSet<Pc>,
        mut atomic: impl FnMut(AccumulatedStore) -> Option<String>,
    ) -> Option<Vec<TextChange>> {
        let mut producers: BTreeMap<Pc, Pc> = BTreeMap::new();
        for store in stores {
            let value = reads(&self.program.code[store.index()], self.program);
            let mut defined = value.iter().filter_map(|register| self.analysis.sole_definition(*register, store.index()));
            let stored = self.operand(*store, 1)?;
            let producer = defined.find(|at| self.operand(Pc(*at as u32), 0).as_ref() == Some(&stored))?;
            producers.insert(*store, Pc(producer as u32));
        }
        let (mut changes, mut loads) = (Vec::new(), BTreeSet::new());
        let producer_indices: BTreeSet<usize> = producers.values().map(|pc| pc.index()).collect();
        for (&store, &producer) in &producers {
            let (defining, carried, operand) = [(1, 2), (2, 1)].into_iter().find_map(|(carried, other)| {
                let from = self.carried(producer, carried, &producer_indices)?;
                let is_same = |at: &usize| self.analysis.is_same_location(self.program, Pc(*at as u32), store);
                from.iter().all(is_same).then_some((from, carried, other))
            })?;
            loads.extend(defining);
            self.are_sources_unchanged(producer, producer, store).then_some(())?;
            changes.push(TextChange::Replace(store, atomic(AccumulatedStore { store, producer, carried, operand })?));
        }
        let users = loads.iter().map(|at| Pc(*at as u32)).chain(producers.values().copied()).flat_map(|pc| self.uses(pc));
        let is_own = |at: &usize| producer_indices.contains(at) || stores.contains(&Pc(*at as u32));
        let all_own = users.collect::<BTreeSet<usize>>().iter().all(is_own);
        changes.extend(loads.iter().chain(&producer_indices).map(|at| TextChange::Replace(Pc(*at as u32), String::new())));
        (all_own && !loads.is_empty()).then_some(changes)
    }

    /// The changes that replace each of `stores` by an atomic maximum or minimum, if the test before it compares the stored value with the
    /// value loaded or stored before. The test remains, which is correct for a location that only grows (or only shrinks), and its loads
    /// become strong.
    pub fn by_min_max(&self, stores: &BTreeSet<Pc>) -> Option<(Vec<TextChange>, String)> {
        let tests: Option<Vec<Test>> = stores.iter().map(|store| self.test(*store, stores)).collect();
        let tests = tests?;
        let kinds: BTreeSet<(&str, &str)> = tests.iter().map(|test| (test.word, test.ty)).collect();
        let loads: BTreeSet<Pc> = tests.iter().flat_map(|test| test.loads.iter().copied()).collect();
        let [(word, ty)] = kinds.into_iter().collect::<Vec<_>>()[..] else { return None };
        let space = self.space_modifier();
        let mut changes = Vec::new();
        for store in stores {
            let (address, value) = (self.operand(*store, 0)?, self.operand(*store, 1)?);
            let text = format!("{}red.relaxed.gpu{space}.{word}.{ty} {address}, {value};", self.guard(*store));
            changes.push(TextChange::Replace(*store, text));
        }
        changes.extend(loads.iter().map(|load| TextChange::Modify(*load, Modifiers::semantics(Ordering::Relaxed))));
        (!loads.is_empty()).then(|| (changes, format!("red.{word}.{ty}")))
    }

    /// The comparison that controls `store`.
    fn test(&self, store: Pc, stores: &BTreeSet<Pc>) -> Option<Test> {
        let (branch, is_taken) = self.controlling_guard(store)?;
        let mut guard = Vec::new();
        registers_of(&self.program.code[branch.index()], self.program, |used, register| {
            guard.extend((used == Use::Guard).then_some(register));
        });
        let producer = Pc(self.analysis.sole_definition(*guard.first()?, branch.index())? as u32);
        let negate = self.program.code[branch.index()].guard.is_some_and(|guard| guard.negate);
        let words: Vec<&str> = self.program.opcode(producer)?.text.split('.').collect();
        let ["setp", comparison, ty] = words[..] else { return None };
        let (a, b, value) = (self.operand(producer, 1)?, self.operand(producer, 2)?, self.operand(store, 1)?);
        let carried = match (a == value, b == value) {
            (true, false) => 1,
            (false, true) => 0,
            (true, true) | (false, false) => return None,
        };
        let holds_if_less = match comparison {
            "lt" | "le" | "lo" | "ls" => true,
            "gt" | "ge" | "hi" | "hs" => false,
            _ => return None,
        };
        // True if the store is executed when the value in memory is less than the stored one.
        let is_less = holds_if_less ^ (carried == 1) ^ (is_taken == negate);
        let word = if is_less { "max" } else { "min" };
        self.are_sources_unchanged(producer, producer, store).then_some(())?;
        let ty = MIN_MAX_TYPES.iter().find(|listed| **listed == ty)?;
        let register = *reads(&self.program.code[producer.index()], self.program).get(carried)?;
        let from = self.analysis.def_use().definitions_past_entry(register, producer.index());
        let values: BTreeSet<String> = stores.iter().filter_map(|store| self.operand(*store, 1)).collect();
        let mut loads = BTreeSet::new();
        for definition in from {
            let Definition::At(at) = definition else { return None };
            let pc = Pc(at as u32);
            let is_moved = self.program.opcode(pc).is_some_and(|opcode| opcode.stem() == "mov");
            if self.is_load(at) && self.analysis.is_same_location(self.program, pc, store) {
                loads.insert(pc);
            } else if !(is_moved && self.operand(pc, 1).is_some_and(|moved| values.contains(&moved))) {
                return None;
            }
        }
        Some(Test { word, ty, loads })
    }

    /// The instruction whose guard controls `store`: itself, or the branch before its block; and whether the store is on the taken side of
    /// the branch.
    fn controlling_guard(&self, store: Pc) -> Option<(Pc, bool)> {
        if self.program.guard_text(store).is_some() {
            return Some((store, true));
        }
        let flow = self.analysis.flow();
        let block = flow.block_of(store)?;
        let [before] = flow.predecessors(block) else { return None };
        let branch = Pc(flow.code(*before).end - 1);
        let is_branch = matches!(self.program.code[branch.index()].op, Op::Control(crate::program::ControlOp::Branch { .. }));
        let is_next = flow.code(block).start == branch.0 + 1;
        (is_branch && self.program.guard_text(branch).is_some()).then_some((branch, !is_next))
    }

    /// The loads that define the operand of the producer, if it has no definitions other than them and `producers`.
    fn carried(&self, producer: Pc, operand: usize, producers: &BTreeSet<usize>) -> Option<BTreeSet<usize>> {
        let text = self.operand(producer, operand)?;
        let register = |at: usize, text: &str| {
            let inst = &self.program.code[at];
            let number = self.program.operand_texts(Pc(at as u32)).iter().skip(1).position(|listed| listed == text)?;
            reads(inst, self.program).get(number).copied()
        };
        let (mut worklist, mut visited, mut loads) = (vec![(producer.index(), text)], BTreeSet::new(), BTreeSet::new());
        while let Some((at, text)) = worklist.pop() {
            if !visited.insert(at) {
                continue;
            }
            for definition in self.analysis.def_use().definitions_past_entry(register(at, &text)?, at) {
                let Definition::At(from) = definition else { return None };
                if self.is_load(from) {
                    loads.insert(from);
                } else if producers.contains(&from) {
                    worklist.push((from, self.carried_operand(from, producers)?));
                } else {
                    return None;
                }
            }
        }
        Some(loads)
    }

    /// The operand of a producer that is defined by other producers, or by a load.
    fn carried_operand(&self, at: usize, producers: &BTreeSet<usize>) -> Option<String> {
        let texts = self.program.operand_texts(Pc(at as u32));
        let registers = reads(&self.program.code[at], self.program);
        let is_defined = |register: &RegisterOperand| {
            let definitions = self.analysis.def_use().definitions_past_entry(*register, at);
            let defined = |definition: &Definition| matches!(definition, Definition::At(from) if producers.contains(from));
            definitions.iter().any(defined)
        };
        let carried = registers.iter().position(is_defined).or_else(|| {
            registers.iter().position(|register| {
                let definitions = self.analysis.def_use().definitions_past_entry(*register, at);
                let is_own = |from: usize| self.is_load(from) && self.analysis.is_same_location(self.program, Pc(from as u32), self.store);
                definitions.iter().any(|definition| matches!(definition, Definition::At(from) if is_own(*from)))
            })
        });
        texts.get(carried? + 1).cloned()
    }

    fn operation(&self, f: AtomicFn) -> Option<Operation> {
        let block = self.analysis.flow().block_of(self.load)?;
        let value = self.operand(self.store, 1)?;
        let producer =
            (self.load.0 + 1..self.store.0).rev().map(Pc).find(|pc| self.operand(*pc, 0).is_some_and(|defined| defined == value))?;
        let together = [producer, self.store].iter().all(|pc| self.analysis.flow().block_of(*pc) == Some(block));
        if !together || self.program.guard_text(self.load) != self.program.guard_text(self.store) {
            return None;
        }
        let opcode = self.program.opcode(producer)?;
        let (stem, ty) = (opcode.stem(), opcode.text.rsplit('.').next()?);
        let (_, word, types) = OPERATIONS.iter().find(|(listed, ..)| *listed == f)?;
        let ty = types.iter().find(|(listed, _)| *listed == ty).map(|(_, atomic)| *atomic)?;
        let loaded = self.operand(self.load, 0)?;
        let (a, b) = (self.operand(producer, 1)?, self.operand(producer, 2)?);
        let other = match (a == loaded, b == loaded) {
            (true, false) => b,
            (false, true) if stem != "sub" => a,
            _ => return None,
        };
        let operand = match stem {
            "sub" => (format!(".reg .{ty} %fix_negative; neg.{} %fix_negative, {other};", ty.replace('u', "s")), "%fix_negative".into()),
            _ if stem == *word => (String::new(), other),
            _ => return None,
        };
        Some(Operation { producer, name: format!("{word}.{ty}"), operand })
    }

    fn operand(&self, pc: Pc, number: usize) -> Option<String> {
        self.program.operand_texts(pc).into_iter().nth(number)
    }

    /// `@%p1 ` of a guarded statement.
    fn guard(&self, pc: Pc) -> String {
        self.program.guard_text(pc).map_or(String::new(), |guard| format!("@{guard} "))
    }

    /// A branch to `label` where the guard of the statement at `pc` is false; empty if it has none.
    fn skip(&self, pc: Pc, label: &str) -> String {
        self.program.guard_text(pc).map_or(String::new(), |guard| match guard.strip_prefix('!') {
            Some(holds) => format!("@{holds} bra {label};\n\t"),
            None => format!("@!{guard} bra {label};\n\t"),
        })
    }

    /// `.global`, or nothing for generic addresses.
    fn space_modifier(&self) -> String {
        self.space().map_or(String::new(), |space| format!(".{space}"))
    }

    fn space(&self) -> Option<&str> {
        self.program.opcode(self.store)?.text.split('.').find(|word| SPACES.contains(word))
    }

    /// The instructions that use a result of the instruction at `pc`.
    fn uses(&self, pc: Pc) -> Vec<usize> {
        let defined = writes(&self.program.code[pc.index()], self.program);
        let takes = |register: &RegisterOperand, at: usize| {
            let same = defined.iter().any(|listed| listed.bank == register.bank && listed.slot == register.slot);
            same && self.analysis.def_use().definitions_past_entry(*register, at).contains(&Definition::At(pc.index()))
        };
        let users = self.analysis.code().map(Pc::index);
        users.filter(|at| reads(&self.program.code[*at], self.program).iter().any(|register| takes(register, *at))).collect()
    }

    /// True if no instruction after `from` and before `to` writes a source of the instruction at `pc`, other than the loaded value.
    fn are_sources_unchanged(&self, pc: Pc, from: Pc, to: Pc) -> bool {
        let loaded = writes(&self.program.code[self.load.index()], self.program);
        let is_loaded =
            |register: &RegisterOperand| loaded.iter().any(|listed| listed.bank == register.bank && listed.slot == register.slot);
        let needed: Vec<RegisterOperand> = reads(&self.program.code[pc.index()], self.program).iter().copied().collect();
        let written = (from.0 + 1..to.0).flat_map(|at| writes(&self.program.code[at as usize], self.program).to_vec());
        written
            .into_iter()
            .all(|defined| is_loaded(&defined) || needed.iter().all(|listed| (listed.bank, listed.slot) != (defined.bank, defined.slot)))
    }

    /// True if the code between the load and the store can be executed again: it only computes and branches, and reads no register that it
    /// has changed before.
    fn can_repeat(&self) -> bool {
        let between = self.load.index() + 1..self.store.index();
        let pure = between.clone().all(|at| {
            let op = &self.program.code[at].op;
            op.effects(self.program).only_computes()
                || matches!(op, Op::Control(crate::program::ControlOp::Branch { .. }))
                || self.is_load(at)
        });
        let inside = self.load.index()..self.store.index();
        let defined: Vec<RegisterOperand> = inside.clone().flat_map(|at| writes(&self.program.code[at], self.program).to_vec()).collect();
        let is_defined =
            |register: &RegisterOperand| defined.iter().any(|listed| (listed.bank, listed.slot) == (register.bank, register.slot));
        let again = |at: usize| {
            let read = reads(&self.program.code[at], self.program);
            let mut changed = read.iter().filter(|register| is_defined(register));
            changed.all(|register| {
                let definitions = self.analysis.def_use().definitions_past_entry(*register, at);
                definitions.iter().all(|definition| matches!(definition, Definition::At(from) if inside.contains(from)))
            })
        };
        pure && (self.load.index()..=self.store.index()).all(again)
    }

    fn is_load(&self, at: usize) -> bool {
        matches!(&self.program.code[at].op, Op::Memory(op) if op.is_load())
    }
}
