//! Updates: loads, operations and stores of one location that only an atomic makes indivisible: a lost update, or a test before a write.
//!
//! The stored value must depend on a load of the same location, by data or control. If another element of the same array is involved (a
//! tree reduction, a butterfly, a sort), the threads exchange elements: that needs a barrier, and is no update.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::function_analysis::{FunctionAnalysis, load_space};
use crate::check::reachability::Reachability;
use crate::flow::def_use::Definition;
use crate::flow::result_uses::ResultUses;
use crate::isa::{AtomicFn, Compare, FloatBinary, FloatTernary, IntBinary, IntTernary, Space};
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, CompareOp, FloatOp, FuncId, IntegerOp, MemoryOp, Op, Pc, Program, Src, SrcKind};

/// A load and a store of one location by a thread, where the store depends on the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Update {
    /// The load.
    pub load: Pc,
    /// The store, or the atomic that is control-dependent on the load.
    pub store: Pc,
    /// The dependence of the store on the load.
    pub kind: UpdateKind,
}

/// The dependence of a store on a load of the same location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpdateKind {
    /// Data: the stored value is computed from the loaded one; by this operation, if an atomic does it.
    Operation(Option<AtomicFn>),
    /// Control: the loaded value controls whether the store is executed.
    Test {
        /// True if the condition is a relational comparison.
        is_relational: bool,
    },
    /// Control: the loaded value controls whether an atomic is executed.
    Hint,
}

/// A cache of the functions and updates of a program.
#[derive(Clone, Default)]
pub(in crate::check::race) struct Updates {
    analyses: BTreeMap<FuncId, Arc<FunctionAnalysis>>,
    updates: BTreeMap<Pc, Option<Update>>,
}

impl Updates {
    /// The function of an instruction.
    pub(in crate::check::race) fn analysis(
        &mut self,
        program: &Program,
        reachability: &mut Reachability,
        pc: Pc,
    ) -> Option<Arc<FunctionAnalysis>> {
        let function = program.function_at(pc)?;
        let flow = reachability.flow(program, pc, pc)?;
        Some(Arc::clone(self.analyses.entry(function).or_insert_with(|| Arc::new(FunctionAnalysis::new(program, function, flow)))))
    }

    /// The update that the access at `pc` is part of.
    pub(super) fn of(&mut self, program: &Program, parts: (&mut Reachability, &mut ResultUses), pc: Pc) -> Option<Update> {
        if let Some(update) = self.updates.get(&pc) {
            return *update;
        }
        let analysis = self.analysis(program, parts.0, pc)?;
        let search = UpdateSearch { program, analysis: &analysis };
        let found = search.update(pc, parts.1);
        self.updates.insert(pc, found);
        found
    }

    /// The update that computed the address of the store at `pc`: a counter that allocates elements.
    pub(super) fn of_address(&mut self, program: &Program, parts: (&mut Reachability, &mut ResultUses), pc: Pc) -> Option<Update> {
        let analysis = self.analysis(program, parts.0, pc)?;
        let sources = analysis.address_sources(program, pc);
        let loads = sources.into_iter().map(|at| Pc(at as u32)).filter(|at| load_space(&program.code[at.index()].op).is_some());
        let mut updates = loads.filter_map(|load| self.of(program, (&mut *parts.0, &mut *parts.1), load));
        updates.find(|update| matches!(update.kind, UpdateKind::Operation(_)))
    }
}

/// The integer operations that an atomic does, and whether the value in memory may be either operand.
const INTEGER_ATOMICS: &[(IntBinary, AtomicFn, bool)] = &[
    (IntBinary::Add, AtomicFn::Add, true),
    (IntBinary::Sub, AtomicFn::Add, false),
    (IntBinary::Min, AtomicFn::Min, true),
    (IntBinary::Max, AtomicFn::Max, true),
    (IntBinary::And, AtomicFn::And, true),
    (IntBinary::Or, AtomicFn::Or, true),
    (IntBinary::Xor, AtomicFn::Xor, true),
];

/// Looks for updates in a function.
struct UpdateSearch<'a> {
    program: &'a Program,
    analysis: &'a FunctionAnalysis,
}

impl UpdateSearch<'_> {
    fn op(&self, pc: Pc) -> &Op {
        &self.program.code[pc.index()].op
    }

    fn update(&self, pc: Pc, uses: &mut ResultUses) -> Option<Update> {
        let is_load = load_space(self.op(pc)).is_some();
        let pairs = self.analysis.code().filter(|other| *other != pc && (load_space(self.op(*other)).is_some() != is_load));
        let pairs = pairs.filter(|other| self.analysis.is_same_location(self.program, pc, *other));
        let mut found: Vec<Update> = Vec::new();
        for other in pairs {
            let (load, store) = if is_load { (pc, other) } else { (other, pc) };
            let kind = self.operation(load, store).or_else(|| self.test(load, store, uses));
            found.extend(kind.map(|kind| Update { load, store, kind }));
        }
        let is_operation = |update: &&Update| matches!(update.kind, UpdateKind::Operation(_));
        found.iter().find(is_operation).or(found.first()).copied()
    }

    /// The update if the stored value is computed from the loaded one, and from no other element of the array.
    fn operation(&self, load: Pc, store: Pc) -> Option<UpdateKind> {
        matches!(self.op(store), Op::Memory(MemoryOp::Store { .. } | MemoryOp::StoreVector { .. })).then_some(())?;
        let sources = self.analysis.sources(self.program, store);
        if !sources.contains(&load.index()) || self.uses_other_elements(&sources, load) {
            return None;
        }
        Some(UpdateKind::Operation(self.atomic(store)))
    }

    /// True if another load of the same array is among `sources`: of shared memory any other, of global memory one whose address comes
    /// from the same parameter.
    fn uses_other_elements(&self, sources: &BTreeSet<usize>, load: Pc) -> bool {
        let shared = |space: Space| matches!(space, Space::Shared | Space::SharedCluster);
        let parameters = |at: Pc| -> BTreeSet<usize> {
            let sources = self.analysis.address_sources(self.program, at);
            let is_parameter = |at: &usize| load_space(&self.program.code[*at].op) == Some(Space::Param);
            sources.into_iter().filter(is_parameter).collect()
        };
        let Some(own) = load_space(self.op(load)) else { return false };
        sources.iter().map(|at| Pc(*at as u32)).filter(|at| *at != load).any(|at| match load_space(self.op(at)) {
            Some(space) if shared(space) && shared(own) => true,
            Some(space) if space == own && !self.analysis.is_same_location(self.program, at, load) => {
                !parameters(at).is_disjoint(&parameters(load))
            }
            Some(_) | None => false,
        })
    }

    /// The atomic that replaces the loads of a location, the operations, and the store.
    fn atomic(&self, store: Pc) -> Option<AtomicFn> {
        let Op::Memory(MemoryOp::Store { bits, reg_bits, a, .. }) = *self.op(store) else { return None };
        let (bank, _) = Bank::of_element(bits, reg_bits);
        let definition = self.definition(bank, a, store.index())?;
        UpdateChain { search: self, store, bank, carries_value: BTreeMap::new() }.atomic(definition)
    }

    /// The only instruction that defines a register operand.
    fn definition(&self, bank: Bank, src: Src, at: usize) -> Option<usize> {
        let SrcKind::Reg(slot) = src.kind() else { return None };
        self.analysis.sole_definition(RegisterOperand { bank, slot, width: 1 }, at)
    }

    /// The update if the loaded value controls whether the store or the atomic is executed, and no other element of the array is involved.
    fn test(&self, load: Pc, store: Pc, uses: &mut ResultUses) -> Option<UpdateKind> {
        let controlled = uses.uses(self.program, load).controls.clone();
        let branch = controlled.into_iter().find(|branch| self.analysis.is_control_dependent(store, *branch))?;
        let mut sources = self.analysis.guard_sources(self.program, branch);
        if !sources.contains(&load.index()) {
            return None;
        }
        let is_relational = sources.iter().any(|at| is_relational_op(&self.program.code[*at].op));
        sources.extend(self.analysis.sources(self.program, store));
        if self.uses_other_elements(&sources, load) {
            return None;
        }
        Some(if matches!(self.op(store), Op::Atomic(_)) { UpdateKind::Hint } else { UpdateKind::Test { is_relational } })
    }
}

/// The most operations from a load to a store that are followed.
const MAX_OPERATIONS: usize = 256;

/// A def-use chain from loads of a location to a store of it.
struct UpdateChain<'a> {
    search: &'a UpdateSearch<'a>,
    store: Pc,
    bank: Bank,
    /// By instruction, whether its result carries the location's value; assumed of instructions that are being visited.
    carries_value: BTreeMap<usize, bool>,
}

impl UpdateChain<'_> {
    /// The atomic that does the operation at `at` on the location's value, as all operations before it do.
    fn atomic(&mut self, at: usize) -> Option<AtomicFn> {
        self.carries_value.insert(at, true);
        let found = operands(&self.search.program.code[at].op).and_then(|(atomic, pairs)| {
            let mut may_be = |(own, other): &OperandPair| {
                self.is_carried(*own, at, atomic) && !other.is_some_and(|other| self.is_carried(other, at, atomic))
            };
            pairs.iter().any(&mut may_be).then_some(atomic)
        });
        self.carries_value.insert(at, found.is_some());
        found
    }

    /// True if the value of `src` at `at` was loaded from the location, or computed from that by the same operation.
    fn is_carried(&mut self, src: Src, at: usize, atomic: AtomicFn) -> bool {
        let SrcKind::Reg(slot) = src.kind() else { return false };
        let (program, analysis) = (self.search.program, self.search.analysis);
        let definitions = analysis.def_use().definitions_past_entry(RegisterOperand { bank: self.bank, slot, width: 1 }, at);
        let mut carries_value = |definition: &Definition| match definition {
            Definition::Entry => false,
            Definition::At(at) if load_space(&program.code[*at].op).is_some() => {
                analysis.is_same_location(program, Pc(*at as u32), self.store)
            }
            Definition::At(at) => match self.carries_value.get(at) {
                Some(carries) => *carries,
                None => self.carries_value.len() < MAX_OPERATIONS && self.atomic(*at) == Some(atomic),
            },
        };
        !definitions.is_empty() && definitions.iter().all(&mut carries_value)
    }
}

/// An operand that may be the location's value, and the other one.
type OperandPair = (Src, Option<Src>);

/// The atomic that does an operation, and the possible assignments of its operands.
fn operands(op: &Op) -> Option<(AtomicFn, Vec<OperandPair>)> {
    let either = |a: Src, b: Src, both: bool| if both { vec![(a, Some(b)), (b, Some(a))] } else { vec![(a, Some(b))] };
    if let Op::Integer(IntegerOp::Binary { f, a, b, .. }) = *op {
        let (_, atomic, both) = INTEGER_ATOMICS.iter().copied().find(|(own, ..)| *own == f)?;
        return Some((atomic, either(a, b, both)));
    }
    if let Op::Integer(IntegerOp::Ternary { f: IntTernary::MadLo, c, .. }) | Op::Float(FloatOp::Ternary { f: FloatTernary::Fma, c, .. }) =
        *op
    {
        return Some((AtomicFn::Add, vec![(c, None)]));
    }
    if let Op::Float(FloatOp::Binary { f: f @ (FloatBinary::Add | FloatBinary::Sub), a, b, .. }) = *op {
        return Some((AtomicFn::Add, either(a, b, f == FloatBinary::Add)));
    }
    None
}

fn is_relational_op(op: &Op) -> bool {
    let relations = [Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge];
    matches!(op, Op::Compare(CompareOp::SetpInt { cmp, .. } | CompareOp::SetpFloat { cmp, .. }) if relations.contains(cmp))
}
