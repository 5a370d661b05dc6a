//! Which registers hold which elements, and which value each variable has, at each instruction.
//!
//! A forward analysis over the control flow. The instruction that completes an element of a value puts it into its register, moves copy
//! it, and any other write of the register ends it. Where paths meet, a register holds what it holds on all of them. What a loop hands
//! from round to round, and what the branches of an `scf.if` give, have registers there of their own: `meet` finds them.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::moves::Source;
use super::rules::Rules;
use crate::cfg::BlockId;
use crate::program::{Bank, Pc, Slot};
use crate::ttgir::{OpId, ValueId};

/// A register of the kernel's frame.
pub type Register = (Bank, Slot);

/// The number of a variable: an index into [`Rules::variables`].
pub type Variable = u32;

/// Most passes over the blocks: few loops are nested deeper than three.
const PASSES_MAX: u32 = 32;

/// An element of a value in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    /// The value.
    pub value: ValueId,
    /// The number of the element in a thread: that of the layout's register.
    pub number: u32,
    /// The first bit in the register.
    pub shift: u32,
    /// Its bits.
    pub bits: u32,
    /// True if it is of a round of a loop before this one.
    pub is_earlier: bool,
}

impl Element {
    fn is_same(&self, other: &Element) -> bool {
        (self.value, self.number, self.shift, self.bits) == (other.value, other.number, other.shift, other.bits)
    }
}

/// What a register holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Elements of values; several values may be the same.
    pub elements: Vec<Element>,
    /// The bits, if an instruction has put a constant there.
    pub constant: Option<u64>,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A value.
    Value {
        /// The value.
        value: ValueId,
        /// True if it is of a round of a loop before this one.
        is_earlier: bool,
        /// False if some path to here gives it none.
        is_certain: bool,
    },
    /// One of these, by the path to here.
    OneOf(BTreeSet<ValueId>),
    /// It is being computed.
    InFlight {
        /// The value.
        value: ValueId,
        /// The instruction that began.
        since: u32,
        /// The instruction that waits for it.
        until: u32,
    },
}

impl Meaning {
    /// A value of this round.
    pub fn of(value: ValueId) -> Self {
        Meaning::Value { value, is_earlier: false, is_certain: true }
    }

    fn values(&self) -> BTreeSet<ValueId> {
        match self {
            Meaning::Value { value, .. } | Meaning::InFlight { value, .. } => BTreeSet::from([*value]),
            Meaning::OneOf(values) => values.clone(),
        }
    }
}

/// What is known before an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The registers that hold something.
    pub cells: BTreeMap<Register, Cell>,
    /// The values of the variables that have one.
    pub meanings: BTreeMap<Variable, Meaning>,
    /// The loops whose first round the edge leads to.
    entering: BTreeSet<OpId>,
    /// The loops that the path has gone round.
    bypassed: BTreeSet<OpId>,
    /// The regions of `scf.if` that the path has come through.
    passed: BTreeSet<(OpId, u32)>,
}

/// An `scf.if` whose branches meet.
struct Meeting {
    /// What they give.
    results: Vec<crate::ttgir::Branched>,
    /// For each path, true if it is the one for a condition that holds; none if that is not known of all.
    ways: Option<Vec<bool>>,
}

/// The state before each block of a kernel.
#[derive(Debug)]
pub struct Contents {
    entries: Vec<Option<State>>,
    rules: Rules,
}

impl Contents {
    /// Analyzes a kernel.
    pub fn new(code: &Code, rules: Rules) -> Self {
        let count = code.control().blocks().count();
        let mut contents = Self { entries: vec![None; count], rules };
        for _ in 0..PASSES_MAX {
            if !contents.pass(code) {
                return contents;
            }
        }
        // Without a fixed point nothing is proven.
        contents.entries = vec![None; count];
        contents
    }

    /// What is said of the instructions.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What is known before an instruction.
    pub fn before(&self, code: &Code, pc: u32) -> State {
        let Some(block) = code.control().block_of(Pc(pc)) else { return State::default() };
        let Some(mut state) = self.entries.get(block.index()).cloned().flatten() else { return State::default() };
        (code.control().code(block).start..pc).for_each(|pc| self.rules.step(code, pc, &mut state));
        state
    }

    /// Calls `visit` with what is known before each instruction that can be reached, in order of the code.
    pub fn walk(&self, code: &Code, mut visit: impl FnMut(u32, &State)) {
        for (block, _) in code.control().blocks() {
            let Some(mut state) = self.entries.get(block.index()).cloned().flatten() else { continue };
            for pc in code.control().code(block) {
                visit(pc, &state);
                self.rules.step(code, pc, &mut state);
            }
        }
    }

    /// Computes the states before all blocks from the ones so far; true if one has changed.
    fn pass(&mut self, code: &Code) -> bool {
        let control = code.control();
        let mut has_changed = false;
        let blocks: Vec<BlockId> = control.blocks().map(|(block, _)| block).collect();
        for block in blocks {
            let incoming = control.predecessors(block).iter().filter_map(|from| {
                let mut state = self.entries[from.index()].clone()?;
                control.code(*from).for_each(|pc| self.rules.step(code, pc, &mut state));
                Some(self.rules.along(code, *from, block, state))
            });
            let mut incoming: Vec<State> = incoming.collect();
            if control.code(block).start == code.all().start {
                incoming.push(self.rules.start());
            }
            let entry = (!incoming.is_empty()).then(|| self.rules.meet(code, incoming));
            if entry != self.entries[block.index()] {
                self.entries[block.index()] = entry;
                has_changed = true;
            }
        }
        has_changed
    }
}

impl State {
    /// Ends all elements of a value, which an instruction begins to compute anew, and another one completes for the variables `given`.
    fn begin(&mut self, value: ValueId, (since, until): (u32, u32), given: &BTreeSet<Variable>) {
        self.end(value);
        for (variable, meaning) in &mut self.meanings {
            let is_of = given.contains(variable) && matches!(meaning, Meaning::Value { value: old, .. } if *old == value);
            if is_of && since != until {
                *meaning = Meaning::InFlight { value, since, until };
            }
        }
    }

    /// Ends all elements of a value.
    fn end(&mut self, value: ValueId) {
        for cell in self.cells.values_mut() {
            cell.elements.retain(|element| element.value != value);
        }
    }

    /// Adds elements of other values to the registers that hold elements of these.
    fn rename(&mut self, pairs: &[(ValueId, ValueId)]) {
        let renamed = |element: &Element| {
            let is_from = move |pair: &&(ValueId, ValueId)| pair.0 == element.value && !element.is_earlier;
            pairs.iter().filter(is_from).map(|(_, to)| Element { value: *to, ..*element }).collect::<Vec<_>>()
        };
        let new: Vec<(Register, Element)> = self
            .cells
            .iter()
            .flat_map(|(register, cell)| cell.elements.iter().flat_map(renamed).map(|element| (*register, element)))
            .collect();
        pairs.iter().filter(|(from, to)| from != to).for_each(|(_, to)| self.end(*to));
        for (register, element) in new {
            let cell = self.cells.entry(register).or_default();
            if !cell.elements.iter().any(|other| other.is_same(&element)) {
                cell.elements.push(element);
            }
        }
    }

    /// Says of values that a new round has begun.
    fn age(&mut self, values: &BTreeSet<ValueId>) {
        let elements = self.cells.values_mut().flat_map(|cell| &mut cell.elements);
        elements.filter(|element| values.contains(&element.value)).for_each(|element| element.is_earlier = true);
        for meaning in self.meanings.values_mut() {
            if let Meaning::Value { value, is_earlier, .. } = meaning {
                *is_earlier |= values.contains(value);
            }
        }
    }
}

impl Rules {
    /// What is known before the first instruction.
    fn start(&self) -> State {
        let meanings = self.taken.iter().map(|(variable, value)| (*variable, Meaning::of(*value))).collect();
        State { meanings, ..State::default() }
    }

    /// What the execution of an instruction changes.
    fn step(&self, code: &Code, pc: u32, state: &mut State) {
        for (value, until) in self.begins.get(&pc).into_iter().flatten() {
            let meaning = Meaning::of(*value);
            // A value that is computed from others on demand is at no time in flight.
            let means = self.means.get(until).into_iter().flatten();
            let given: BTreeSet<Variable> = means.filter(|(_, given)| *given == meaning).map(|(variable, _)| *variable).collect();
            state.begin(*value, (pc, *until), &given);
        }
        let moved = if code.is_guarded(pc) { Vec::new() } else { copies(code, pc, state) };
        for register in code.writes(pc) {
            for slot in register.slot.0..register.slot.0 + register.width {
                state.cells.remove(&(register.bank, Slot(slot)));
            }
        }
        for (register, cell) in moved {
            let held = state.cells.entry(register).or_default();
            held.elements.extend(cell.elements);
            held.constant = cell.constant;
        }
        for (register, element) in self.gives.get(&pc).into_iter().flatten() {
            state.cells.entry(*register).or_default().elements.push(*element);
        }
        for (variable, meaning) in self.means.get(&pc).into_iter().flatten() {
            state.meanings.insert(*variable, meaning.clone());
        }
        state.passed.extend(self.passes.get(&pc).into_iter().flatten());
    }

    /// What the way from one block to another changes.
    fn along(&self, code: &Code, from: BlockId, to: BlockId, mut state: State) -> State {
        state.entering.clear();
        for one in self.loops.iter().rev() {
            let (was_inside, is_inside) = (one.blocks.contains(&from), one.blocks.contains(&to));
            let pairs = |from: fn(&crate::ttgir::Carried) -> ValueId, to: fn(&crate::ttgir::Carried) -> Option<ValueId>| {
                one.carried.iter().filter_map(|carried| Some((from(carried), to(carried)?))).collect::<Vec<_>>()
            };
            let named = if was_inside && to == one.header {
                state.rename(&pairs(|one| one.handed_on, |one| Some(one.argument)));
                state.age(&one.values);
                state.passed.retain(|(op, _)| !one.inner.contains(op));
                pairs(|one| one.handed_on, |one| Some(one.argument))
            } else if was_inside && !is_inside {
                let is_last = code.control().successors(from).contains(&one.header);
                let left = match is_last {
                    true => pairs(|one| one.handed_on, |one| one.result),
                    false if from == one.header => pairs(|one| one.argument, |one| one.result),
                    false => Vec::new(),
                };
                state.rename(&left);
                left
            } else if !was_inside && to == one.header {
                state.rename(&pairs(|one| one.initial, |one| Some(one.argument)));
                state.entering.extend(one.op);
                pairs(|one| one.initial, |one| Some(one.argument))
            } else {
                Vec::new()
            };
            self.name(&mut state, named.iter().map(|(_, value)| *value));
        }
        if let Some((op, results)) = self.guards.get(&(from, to)) {
            state.bypassed.insert(*op);
            self.name(&mut state, results.iter().copied());
        }
        state
    }

    /// Gives variables the values that are theirs from here on. What is in flight stays so.
    fn name(&self, state: &mut State, values: impl Iterator<Item = ValueId>) {
        for value in values {
            for variable in self.names.get(&value).into_iter().flatten() {
                if !matches!(state.meanings.get(variable), Some(Meaning::InFlight { .. })) {
                    state.meanings.insert(*variable, Meaning::of(value));
                }
            }
        }
    }

    /// What is known where paths meet.
    fn meet(&self, code: &Code, mut incoming: Vec<State>) -> State {
        if incoming.len() == 1 {
            let mut state = incoming.remove(0);
            state.entering.clear();
            return state;
        }
        let joined = self.branches_that_meet(&incoming);
        for (state, region) in incoming.iter_mut().zip(0..) {
            for Meeting { results, ways } in &joined {
                let Some(ways) = ways else { continue };
                let resolved = |value: ValueId| self.resolved.get(&value).copied().unwrap_or(value);
                let given = |one: &crate::ttgir::Branched| resolved(if ways[region] { one.then } else { one.otherwise });
                let pairs: Vec<(ValueId, ValueId)> = results.iter().map(|one| (given(one), one.result)).collect();
                state.rename(&pairs);
            }
        }
        let mut state = State { meanings: meanings(&incoming), ..State::default() };
        let registers: BTreeSet<Register> = incoming.iter().flat_map(|state| state.cells.keys().copied()).collect();
        for register in registers {
            if let Some(cell) = self.cell(code, register, &incoming) {
                state.cells.insert(register, cell);
            }
        }
        let bypassed = incoming.iter().map(|state| state.bypassed.clone());
        state.bypassed = bypassed.reduce(|a, b| a.intersection(&b).copied().collect()).unwrap_or_default();
        state.passed = incoming.iter().flat_map(|state| state.passed.iter().copied()).collect();
        for Meeting { results, ways } in joined {
            for one in results {
                state.passed.retain(|(op, _)| Some(*op) != self.definers.get(&one.result).copied());
                match ways {
                    Some(_) => self.name(&mut state, std::iter::once(one.result)),
                    None => self.doubt(&mut state, &one),
                }
            }
        }
        state
    }

    /// Says that a variable has what one of the branches gave it.
    fn doubt(&self, state: &mut State, one: &crate::ttgir::Branched) {
        for variable in self.names.get(&one.result).into_iter().flatten() {
            state.meanings.insert(*variable, Meaning::OneOf(BTreeSet::from([one.then, one.otherwise])));
        }
    }

    /// The `scf.if` of which the paths come through different regions.
    fn branches_that_meet(&self, incoming: &[State]) -> Vec<Meeting> {
        let mut found = Vec::new();
        for branch in &self.branches {
            let ways: Vec<(bool, bool)> =
                incoming.iter().map(|state| (state.passed.contains(&(branch.op, 0)), state.passed.contains(&(branch.op, 1)))).collect();
            if ways.iter().all(|way| *way == ways[0]) {
                continue;
            }
            // A path that shows nothing has come through the region that has no instructions of its own.
            let way = |(then, otherwise): &(bool, bool)| match (then, otherwise) {
                (true, false) => Some(true),
                (false, true) => Some(false),
                (false, false) if !branch.has_code[1] => Some(false),
                (false, false) if !branch.has_code[0] => Some(true),
                _ => None,
            };
            found.push(Meeting { results: branch.results.clone(), ways: ways.iter().map(way).collect() });
        }
        found
    }

    /// What a register holds on all paths.
    fn cell(&self, code: &Code, register: Register, incoming: &[State]) -> Option<Cell> {
        let candidates: BTreeSet<Element> = incoming
            .iter()
            .filter_map(|state| state.cells.get(&register))
            .flat_map(|cell| &cell.elements)
            .map(|element| Element { is_earlier: false, ..*element })
            .collect();
        let elements = candidates.into_iter().filter_map(|element| {
            let ages = incoming.iter().map(|state| self.age_of(code, state, register, &element));
            let is_earlier = ages.collect::<Option<Vec<bool>>>()?.contains(&true);
            Some(Element { is_earlier, ..element })
        });
        let elements: Vec<Element> = elements.collect();
        let constant = |state: &State| state.cells.get(&register).and_then(|cell| cell.constant);
        let first = constant(&incoming[0]).filter(|first| incoming.iter().all(|state| constant(state) == Some(*first)));
        (!elements.is_empty() || first.is_some()).then_some(Cell { elements, constant: first })
    }

    /// True or false if a register holds an element on a path, true if that is of an earlier round; none if it does not.
    fn age_of(&self, code: &Code, state: &State, register: Register, element: &Element) -> Option<bool> {
        let cell = state.cells.get(&register);
        let find = |wanted: &Element| cell?.elements.iter().find(|held| held.is_same(wanted)).map(|held| held.is_earlier);
        if let Some(age) = find(element) {
            return Some(age);
        }
        if self.definers.contains_key(&element.value) {
            // What a branch leaves in a register that another path writes too is what the branches give: nothing else meets there.
            let is_known_elsewhere = state.cells.values().any(|cell| cell.elements.iter().any(|held| held.is_same(element)));
            let is_unknown = cell.is_none_or(|cell| cell.elements.is_empty());
            return (is_unknown && !is_known_elsewhere && code.writers(register).len() > 1).then_some(false);
        }
        let mask = u64::MAX >> (64 - element.bits.clamp(1, 64));
        let constant = cell.and_then(|cell| cell.constant).map(|constant| constant >> element.shift & mask);
        if let Some((op, bits)) = self.without_rounds.get(&element.value) {
            return (state.bypassed.contains(op) && constant == Some(*bits)).then_some(false);
        }
        let (op, initial) = *self.initials.get(&element.value)?;
        if !state.entering.contains(&op) && !state.bypassed.contains(&op) {
            return None;
        }
        if let Some(age) = find(&Element { value: initial, ..*element }) {
            return Some(age);
        }
        if cell.is_none() {
            // A register that is written before the loop too is that of what the loop hands on.
            return self.is_written_outside(code, register, op).then_some(false);
        }
        (constant.is_some() && constant == self.constants.get(&initial).copied()).then_some(false)
    }

    /// True if an instruction outside of a loop writes a register.
    fn is_written_outside(&self, code: &Code, register: Register, op: OpId) -> bool {
        let Some(one) = self.loops.iter().find(|one| one.op == Some(op)) else { return false };
        let is_inside = |pc: u32| code.control().block_of(Pc(pc)).is_some_and(|block| one.blocks.contains(&block));
        code.writers(register).iter().any(|pc| !is_inside(*pc))
    }
}

/// The registers that an instruction copies something to, with what they hold then.
fn copies(code: &Code, pc: u32, state: &State) -> Vec<(Register, Cell)> {
    let mut found: Vec<(Register, Cell)> = Vec::new();
    for moved in code.moves(pc) {
        let cell = match moved.from {
            Source::Constant(bits) => Cell { elements: Vec::new(), constant: (moved.to_shift == 0).then_some(bits) },
            Source::Register(bank, slot) => {
                let Some(cell) = state.cells.get(&(bank, slot)) else { continue };
                let is_copied =
                    |element: &&Element| element.shift >= moved.from_shift && element.shift + element.bits <= moved.from_shift + moved.bits;
                let shifted = |element: &Element| Element { shift: element.shift - moved.from_shift + moved.to_shift, ..*element };
                let is_whole = moved.to_shift == 0 && moved.from_shift == 0 && moved.bits >= 32;
                Cell {
                    elements: cell.elements.iter().filter(is_copied).map(shifted).collect(),
                    constant: cell.constant.filter(|_| is_whole),
                }
            }
        };
        match found.iter_mut().find(|(to, _)| *to == moved.to) {
            Some((_, held)) => held.elements.extend(cell.elements),
            None => found.push((moved.to, cell)),
        }
    }
    found
}

/// The values of the variables where paths meet.
fn meanings(incoming: &[State]) -> BTreeMap<Variable, Meaning> {
    let variables: BTreeSet<Variable> = incoming.iter().flat_map(|state| state.meanings.keys().copied()).collect();
    let meet = |variable: Variable| {
        let all: Vec<Option<&Meaning>> = incoming.iter().map(|state| state.meanings.get(&variable)).collect();
        let known: Vec<&Meaning> = all.iter().copied().flatten().collect();
        if let Some(in_flight) = known.iter().find(|meaning| matches!(meaning, Meaning::InFlight { .. })) {
            return (*in_flight).clone();
        }
        let values: BTreeSet<ValueId> = known.iter().flat_map(|meaning| meaning.values()).collect();
        let (mut is_earlier, mut is_certain) = (false, known.len() == all.len());
        for meaning in &known {
            match meaning {
                Meaning::Value { is_earlier: earlier, is_certain: certain, .. } => {
                    is_earlier |= earlier;
                    is_certain &= certain;
                }
                Meaning::OneOf(_) | Meaning::InFlight { .. } => {}
            }
        }
        match values.first().filter(|_| values.len() == 1) {
            Some(value) => Meaning::Value { value: *value, is_earlier, is_certain },
            None => Meaning::OneOf(values),
        }
    };
    variables.into_iter().map(|variable| (variable, meet(variable))).collect()
}
