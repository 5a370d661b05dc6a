//! What the analysis of registers knows of a kernel: which instructions complete which elements and give which variables a value, which
//! loops and branches of the code are those of Triton's, and what they hand on.

use std::collections::{BTreeMap, BTreeSet};

use super::binding::{Binding, is_converted};
use super::code::Code;
use super::compute;
use super::contents::{Element, Meaning, Register, Variable};
use crate::cfg::BlockId;
use crate::program::Pc;
use crate::ttgir::{Branched, Carried, Definition, Module, OpId, ValueId};

/// A loop of the code.
#[derive(Debug)]
pub struct LoopRule {
    /// Its blocks.
    pub blocks: BTreeSet<BlockId>,
    /// Its first block.
    pub header: BlockId,
    /// The loop of Triton's that it is; none for another one.
    pub op: Option<OpId>,
    /// What the rounds hand on.
    pub carried: Vec<Carried>,
    /// The values that a round gives.
    pub values: BTreeSet<ValueId>,
    /// The operations inside.
    pub inner: BTreeSet<OpId>,
}

/// An `scf.if`.
#[derive(Debug)]
pub struct BranchRule {
    /// The operation.
    pub op: OpId,
    /// What its branches give.
    pub results: Vec<Branched>,
    /// For each region, true if some instructions come from it alone.
    pub has_code: [bool; 2],
}

/// What is said of the instructions and of the ways between them.
#[derive(Debug, Default)]
pub struct Rules {
    /// The names of the variables.
    pub variables: Vec<String>,
    /// The values that an instruction begins anew, each with the instruction that completes it.
    pub begins: BTreeMap<u32, Vec<(ValueId, u32)>>,
    /// The elements that an instruction completes.
    pub gives: BTreeMap<u32, Vec<(Register, Element)>>,
    /// The variables that have a value after an instruction.
    pub means: BTreeMap<u32, Vec<(Variable, Meaning)>>,
    /// The regions of `scf.if` that an instruction comes from.
    pub passes: BTreeMap<u32, Vec<(OpId, u32)>>,
    /// The loops, outer ones first.
    pub loops: Vec<LoopRule>,
    /// The branches.
    pub branches: Vec<BranchRule>,
    /// The ways round a loop that has no rounds, with the results of the loop.
    pub guards: BTreeMap<(BlockId, BlockId), (OpId, Vec<ValueId>)>,
    /// The variables of what loops and branches hand on.
    pub names: BTreeMap<ValueId, Vec<Variable>>,
    /// Of what a round takes and of what a loop gives: the loop, and what it is without any round.
    pub initials: BTreeMap<ValueId, (OpId, ValueId)>,
    /// The bits of constants.
    pub constants: BTreeMap<ValueId, u64>,
    /// Of values that are computed from the result of a loop: the loop, and their bits if it has no rounds.
    pub without_rounds: BTreeMap<ValueId, (OpId, u64)>,
    /// The `scf.if` of a result.
    pub definers: BTreeMap<ValueId, OpId>,
    /// The values that are others by definition.
    pub resolved: BTreeMap<ValueId, ValueId>,
    /// The variables that the kernel takes.
    pub taken: Vec<(Variable, ValueId)>,
}

/// A value that a statement gives a variable.
#[derive(Clone, Copy, Debug)]
pub struct Giving<'t> {
    /// The variable.
    pub name: &'t str,
    /// The value.
    pub value: ValueId,
    /// Its registers in each copy of the code.
    pub bindings: &'t [Binding],
    /// True if it is the variable's first value, and the same wherever it is computed.
    pub is_constant: bool,
}

impl Rules {
    /// The rules of a kernel. `bindings` are the registers of all values, by their numbers.
    pub fn new(
        module: &Module,
        code: &Code,
        bindings: &[&[Binding]],
        givings: &[Giving<'_>],
        names: &BTreeMap<ValueId, Vec<String>>,
    ) -> Self {
        let variables: BTreeSet<&str> =
            givings.iter().map(|giving| giving.name).chain(names.values().flatten().map(String::as_str)).collect();
        let variables: Vec<String> = variables.into_iter().map(str::to_string).collect();
        let mut rules = Self { variables, ..Self::default() };
        rules.names = names.iter().map(|(value, names)| (*value, names.iter().filter_map(|name| rules.variable(name)).collect())).collect();
        for (index, copies) in bindings.iter().enumerate() {
            copies.iter().for_each(|binding| rules.binding(code, ValueId::new(index), binding));
        }
        rules.regions(module, code);
        for giving in givings {
            rules.giving(module, code, giving);
        }
        rules.results(module, code, bindings);
        rules.loops(module, code);
        let order = |meaning: &Meaning| match meaning {
            Meaning::Value { value, .. } | Meaning::InFlight { value, .. } => module.definer(*value).map(|op| module.last_inside(op)),
            Meaning::OneOf(_) => None,
        };
        rules.means.values_mut().for_each(|list| list.sort_by_key(|(_, meaning)| order(meaning)));
        let ids = (0..module.values.len()).map(ValueId::new);
        rules.resolved = ids.map(|id| (id, module.resolved(id))).filter(|(id, other)| id != other).collect();
        for (index, value) in module.values.iter().enumerate() {
            let name = value.name.trim_start_matches('%');
            if let (Definition::Argument(_), Some(variable)) = (value.definition, rules.variable(name)) {
                rules.taken.push((variable, ValueId::new(index)));
            }
        }
        rules
    }

    /// The number of a variable.
    pub fn variable(&self, name: &str) -> Option<Variable> {
        self.variables.binary_search_by(|other| other.as_str().cmp(name)).ok().map(|index| index as Variable)
    }

    fn binding(&mut self, code: &Code, value: ValueId, binding: &Binding) {
        let (Some(first), Some(last)) = (binding.writers.first(), binding.writers.last()) else { return };
        self.begins.entry(*first).or_default().push((value, *last));
        let waits = code.writes(*last).is_empty();
        for (part, number) in binding.parts.iter().zip(0..) {
            let writes = |pc: &&u32| code.writes(**pc).iter().any(|written| (written.bank, written.slot) == (part.bank, part.slot));
            let Some(writer) = binding.writers.iter().rev().find(writes) else { continue };
            let element = Element { value, number, shift: part.shift, bits: part.bits, is_earlier: false };
            self.gives.entry(if waits { *last } else { *writer }).or_default().push(((part.bank, part.slot), element));
        }
    }

    /// The event that a statement gives its variable a value.
    fn giving(&mut self, module: &Module, code: &Code, giving: &Giving<'_>) {
        let Some(variable) = self.variable(giving.name) else { return };
        let op = module.definer(giving.value);
        let is_speculated = |branch: &BranchRule| {
            let is_inside = op.is_some_and(|op| module.region_in(op, branch.op).is_some());
            let is_named = |one: &Branched| self.names.get(&one.result).is_some_and(|names| names.contains(&variable));
            is_inside && is_converted(code, module.op(branch.op)) && branch.results.iter().any(is_named)
        };
        if self.branches.iter().any(is_speculated) {
            return;
        }
        for binding in giving.bindings {
            let (Some(first), Some(last)) = (binding.writers.first(), binding.writers.last()) else { continue };
            if code.writes(*last).is_empty() {
                let meaning = Meaning::InFlight { value: giving.value, since: *first, until: *last };
                self.means.entry(*first).or_default().push((variable, meaning));
            }
            self.means.entry(*last).or_default().push((variable, Meaning::of(giving.value)));
        }
        let is_in_branch = self.branches.iter().any(|branch| op.is_some_and(|op| module.region_in(op, branch.op).is_some()));
        if giving.is_constant && !is_in_branch {
            self.taken.push((variable, giving.value));
        } else if giving.bindings.is_empty()
            && let Some(pc) = op.and_then(|op| done(module, code, op))
        {
            self.means.entry(pc).or_default().push((variable, Meaning::of(giving.value)));
        } else if giving.bindings.is_empty() {
            self.taken.push((variable, giving.value));
        }
    }

    /// The branches, and the instructions that come from their regions alone.
    fn regions(&mut self, module: &Module, code: &Code) {
        let chain = |op: OpId| {
            let places = module.op(op).places.iter();
            places.map(|place| (place.file.clone(), place.line, place.column)).collect::<Vec<_>>()
        };
        let mut of_chain: BTreeMap<Vec<(String, u32, u32)>, Vec<OpId>> = BTreeMap::new();
        let ids = || (0..module.ops.len()).map(OpId::new);
        ids().filter(|op| !module.op(*op).places.is_empty()).for_each(|op| of_chain.entry(chain(op)).or_default().push(op));
        for branch in ids().filter(|op| module.op(*op).name == "scf.if") {
            let mut has_code = [false, false];
            for ops in of_chain.values() {
                let regions: BTreeSet<Option<u32>> = ops.iter().map(|op| module.region_in(*op, branch)).collect();
                let Some(Some(region)) = regions.first().copied().filter(|_| regions.len() == 1) else { continue };
                for pc in code.of_chain(&module.op(ops[0]).places) {
                    self.passes.entry(pc).or_default().push((branch, region));
                    has_code.iter_mut().skip(region as usize).take(1).for_each(|has| *has = true);
                }
            }
            let results = module.branched(branch);
            self.definers.extend(results.iter().map(|one| (one.result, branch)));
            self.branches.push(BranchRule { op: branch, results, has_code });
        }
    }

    /// The events of branches that have become selections.
    fn results(&mut self, module: &Module, code: &Code, bindings: &[&[Binding]]) {
        for branch in &self.branches {
            if !is_converted(code, module.op(branch.op)) {
                continue;
            }
            for one in &branch.results {
                let own = bindings.get(one.result.index()).copied().unwrap_or_default();
                let last = |value: ValueId| bindings.get(value.index())?.iter().filter_map(|binding| binding.writers.last().copied()).max();
                let unheld = done(module, code, branch.op).max(last(one.then)).max(last(one.otherwise));
                let at = own.iter().filter_map(|binding| binding.writers.last().copied()).max().or(unheld);
                for (pc, variable) in
                    at.into_iter().flat_map(|pc| self.names.get(&one.result).into_iter().flatten().map(move |name| (pc, name)))
                {
                    self.means.entry(pc).or_default().push((*variable, Meaning::of(one.result)));
                }
            }
        }
    }

    fn loops(&mut self, module: &Module, code: &Code) {
        let control = code.control();
        for one in control.loops() {
            let blocks: BTreeSet<BlockId> = one.blocks.iter().copied().collect();
            let op = self.op_of_loop(module, code, &blocks, one.header);
            let mut carried = op.map_or_else(Vec::new, |op| module.carried(op));
            if let Some(op) = op {
                carried.extend(self.counter(module, code, op, &blocks));
                self.ways_round(module, code, op, one.header, &blocks);
            }
            let is_inside = |pc: &u32| control.block_of(Pc(*pc)).is_some_and(|block| blocks.contains(&block));
            let given =
                self.gives.iter().filter(|(pc, _)| is_inside(pc)).flat_map(|(_, list)| list.iter().map(|(_, element)| element.value));
            let meant =
                self.means.iter().filter(|(pc, _)| is_inside(pc)).flat_map(|(_, list)| list).filter_map(|(_, meaning)| match meaning {
                    Meaning::Value { value, .. } => Some(*value),
                    Meaning::OneOf(_) | Meaning::InFlight { .. } => None,
                });
            let inner: BTreeSet<OpId> = match op {
                Some(op) => (op.index()..module.ops.len()).map(OpId::new).filter(|other| module.region_in(*other, op).is_some()).collect(),
                None => (0..module.ops.len()).map(OpId::new).collect(),
            };
            let of_regions = inner.iter().filter(|_| op.is_some()).filter(|op| module.op(**op).name.starts_with("scf.")).flat_map(|op| {
                let op = module.op(*op);
                op.results.iter().chain(&op.arguments).copied()
            });
            let values = given.chain(meant).chain(of_regions).collect();
            for one in &carried {
                self.initials.insert(one.argument, (op.unwrap_or(OpId::new(0)), one.initial));
                self.initials.extend(one.result.map(|result| (result, (op.unwrap_or(OpId::new(0)), one.initial))));
            }
            self.loops.push(LoopRule { blocks, header: one.header, op, carried, values, inner });
        }
        for (index, value) in module.values.iter().enumerate() {
            let Definition::Result(op, _) = value.definition else { continue };
            let (op, Some(element)) = (module.op(op), value.ty.element()) else { continue };
            if op.name == "arith.constant" {
                self.constants.extend(compute::constant(op, element).map(|bits| (ValueId::new(index), bits as u64)));
            }
        }
        let initials: Vec<(ValueId, (OpId, ValueId))> = self.initials.iter().map(|(value, initial)| (*value, *initial)).collect();
        for (result, (op, initial)) in initials {
            if let Some(bits) = self.constants.get(&initial).copied() {
                self.compute_without_rounds(module, op, (result, bits));
            }
        }
    }

    /// What is computed outside of a loop from a result that is a constant if the loop has no rounds.
    fn compute_without_rounds(&mut self, module: &Module, of_loop: OpId, result: (ValueId, u64)) {
        let mut open = vec![result];
        while let Some((from, bits)) = open.pop() {
            for op in module.users(from).filter(|user| module.region_in(*user, of_loop).is_none()).map(|user| module.op(user)) {
                let (&[_], &[to]) = (&*op.operands, &*op.results) else { continue };
                let (Some(from_type), Some(to_type)) = (module.value(from).ty.element(), module.value(to).ty.element()) else { continue };
                let Some(computed) = compute::of_constant(op, from_type, to_type, u128::from(bits)) else { continue };
                if self.without_rounds.insert(to, (of_loop, computed as u64)).is_none() {
                    open.push((to, computed as u64));
                }
            }
        }
    }

    /// The loop of Triton's that a loop of the code is: its back edge has that place, or what it computes is in that loop.
    fn op_of_loop(&self, module: &Module, code: &Code, blocks: &BTreeSet<BlockId>, header: BlockId) -> Option<OpId> {
        let control = code.control();
        let is_loop = |op: &OpId| matches!(module.op(*op).name.as_str(), "scf.for" | "scf.while");
        let all = || (0..module.ops.len()).map(OpId::new).filter(is_loop);
        let ends = blocks.iter().filter(|block| control.successors(**block).contains(&header)).map(|block| control.code(*block).end - 1);
        let ends: Vec<u32> = ends.collect();
        let has_place = |op: &OpId| ends.iter().any(|end| tests(module, code, *op).contains(end));
        all().find(has_place).or_else(|| {
            let begun = |op: &OpId| {
                let is_inside = |pc: &u32| control.block_of(Pc(*pc)).is_some_and(|block| blocks.contains(&block));
                let values = self.begins.iter().filter(|(pc, _)| is_inside(pc)).flat_map(|(_, values)| values);
                values.filter(|(value, _)| module.definer(*value).is_some_and(|other| module.op(other).parent == Some(*op))).count()
            };
            all().max_by_key(begun).filter(|op| begun(op) > 0)
        })
    }

    /// The counter of a loop, with a value of its own for what a round hands on.
    fn counter(&mut self, module: &Module, code: &Code, op: OpId, blocks: &BTreeSet<BlockId>) -> Option<Carried> {
        let of_loop = module.op(op);
        let (initial, argument) = (*of_loop.operands.first()?, *of_loop.arguments.first()?);
        if of_loop.name != "scf.for" {
            return None;
        }
        let bits = module.value(argument).ty.element()?.bits();
        let handed_on = ValueId::new(module.values.len() + op.index());
        let is_inside = |pc: &u32| code.control().block_of(Pc(*pc)).is_some_and(|block| blocks.contains(&block));
        for pc in code.of_chain(&of_loop.places).filter(is_inside).filter(|pc| code.opcode(*pc).starts_with("add.s")) {
            let (Some(written), false) = (code.writes(pc).first(), code.is_guarded(pc)) else { continue };
            let goes_on = |from: &crate::program::operands::RegisterOperand| {
                let register = (from.bank, from.slot);
                let is_copied = |pc: &u32| {
                    let copy = super::moves::Source::Register(written.bank, written.slot);
                    code.moves(*pc).iter().any(|moved| moved.from == copy && moved.to == register)
                };
                from == written || code.writers(register).iter().any(is_copied)
            };
            if code.reads(pc).iter().any(goes_on) {
                let element = Element { value: handed_on, number: 0, shift: 0, bits, is_earlier: false };
                self.gives.entry(pc).or_default().push(((written.bank, written.slot), element));
            }
        }
        Some(Carried { initial, argument, handed_on, result: None })
    }

    /// The branches round a loop, for when it has no rounds.
    fn ways_round(&mut self, module: &Module, code: &Code, op: OpId, header: BlockId, blocks: &BTreeSet<BlockId>) {
        let control = code.control();
        let heads: BTreeSet<BlockId> = control.loops().iter().map(|one| one.header).filter(|head| *head != header).collect();
        let reaches = |from: BlockId| {
            let (mut open, mut seen) = (vec![from], BTreeSet::new());
            while let Some(block) = open.pop() {
                if block == header {
                    return true;
                }
                if seen.insert(block) && !heads.contains(&block) {
                    open.extend(control.successors(block));
                }
            }
            false
        };
        for pc in tests(module, code, op).into_iter().filter(|pc| code.is_guarded(*pc)) {
            let Some(block) = control.block_of(Pc(pc)).filter(|block| !blocks.contains(block)) else { continue };
            let next = control.successors(block);
            if control.code(block).end != pc + 1 || next.len() < 2 || !next.iter().any(|block| reaches(*block)) {
                continue;
            }
            for other in next.iter().filter(|block| !reaches(**block)) {
                let results = module.carried(op).into_iter().filter_map(|one| one.result);
                self.guards.insert((block, *other), (op, results.collect()));
            }
        }
    }
}

/// Most operations between a value and an operand that has instructions.
const OPERANDS_MAX: u32 = 16;

/// The instructions that decide whether a loop has another round.
fn tests(module: &Module, code: &Code, op: OpId) -> Vec<u32> {
    let condition = module.condition(op).and_then(|value| module.definer(value));
    std::iter::once(op).chain(condition).flat_map(|op| code.of_chain(&module.op(op).places)).collect()
}

/// The last instruction of an operation; of one that has none, that of what it is computed from.
pub fn done(module: &Module, code: &Code, op: OpId) -> Option<u32> {
    last_of(module, code, op, OPERANDS_MAX)
}

fn last_of(module: &Module, code: &Code, op: OpId, depth: u32) -> Option<u32> {
    let depth = depth.checked_sub(1)?;
    let own = code.of_chain(&module.op(op).places).next_back();
    own.or_else(|| {
        let operands = module.op(op).operands.iter().filter_map(|operand| module.definer(*operand));
        operands.filter_map(|operand| last_of(module, code, operand, depth)).max()
    })
}
