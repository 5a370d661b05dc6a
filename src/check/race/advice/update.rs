//! Loads, operations and stores of one place that only an atomic makes one step: a lost update, and a test before a write.
//!
//! What is stored must depend on what was loaded from the same place, by value or by a branch. Where another element of the same array has
//! a part in it (a tree of sums, a butterfly, a sort) threads exchange places in turns: those want a barrier, and are no updates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::body::{Body, load_space};
use crate::check::reachability::Reachability;
use crate::flow::def_use::Definition;
use crate::flow::result_uses::ResultUses;
use crate::isa::{AtomicFn, Compare, FloatBinary, FloatTernary, IntBinary, IntTernary, Space};
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, CompareOp, FloatOp, FuncId, IntegerOp, MemoryOp, Op, Pc, Program, Src, SrcKind};

/// A load and a store of one place by a thread, the second of which depends on the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Update {
    /// The load.
    pub load: Pc,
    /// The store, or the atomic that the load decides about.
    pub store: Pc,
    /// How the one depends on the other.
    pub kind: UpdateKind,
}

/// How a store depends on a load of the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpdateKind {
    /// What is stored is computed from what was loaded; by this operation, if one atomic does it.
    Operation(Option<AtomicFn>),
    /// What was loaded decides whether it is stored; by which is greater, if `is_ordered`.
    Test {
        /// Whether a comparison by magnitude decides.
        is_ordered: bool,
    },
    /// What was loaded decides whether an atomic is executed.
    Hint,
}

/// The functions and updates that were asked for.
#[derive(Clone, Default)]
pub(in crate::check::race) struct Updates {
    bodies: BTreeMap<FuncId, Arc<Body>>,
    known: BTreeMap<Pc, Option<Update>>,
}

impl Updates {
    /// The function of an instruction.
    pub(in crate::check::race) fn body(&mut self, program: &Program, reachability: &mut Reachability, pc: Pc) -> Option<Arc<Body>> {
        let function = program.function_at(pc)?;
        let flow = reachability.flow(program, pc, pc)?;
        Some(Arc::clone(self.bodies.entry(function).or_insert_with(|| Arc::new(Body::new(program, function, flow)))))
    }

    /// The update that the access at `pc` is part of.
    pub(super) fn of(&mut self, program: &Program, parts: (&mut Reachability, &mut ResultUses), pc: Pc) -> Option<Update> {
        if let Some(known) = self.known.get(&pc) {
            return *known;
        }
        let body = self.body(program, parts.0, pc)?;
        let search = Search { program, body: &body };
        let found = search.update(pc, parts.1);
        self.known.insert(pc, found);
        found
    }

    /// The update that made the address of the store at `pc`: a counter that gives out places.
    pub(super) fn of_address(&mut self, program: &Program, parts: (&mut Reachability, &mut ResultUses), pc: Pc) -> Option<Update> {
        let body = self.body(program, parts.0, pc)?;
        let sources = body.address_sources(program, pc);
        let loads = sources.into_iter().map(|at| Pc(at as u32)).filter(|at| load_space(&program.code[at.index()].op).is_some());
        let mut updates = loads.filter_map(|load| self.of(program, (&mut *parts.0, &mut *parts.1), load));
        updates.find(|update| matches!(update.kind, UpdateKind::Operation(_)))
    }
}

/// The integer operations that an atomic does, and whether the place may be either operand.
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
struct Search<'a> {
    program: &'a Program,
    body: &'a Body,
}

impl Search<'_> {
    fn op(&self, pc: Pc) -> &Op {
        &self.program.code[pc.index()].op
    }

    fn update(&self, pc: Pc, uses: &mut ResultUses) -> Option<Update> {
        let is_load = load_space(self.op(pc)).is_some();
        let pairs = self.body.code().filter(|other| *other != pc && (load_space(self.op(*other)).is_some() != is_load));
        let pairs = pairs.filter(|other| self.body.is_same_place(self.program, pc, *other));
        let mut found: Vec<Update> = Vec::new();
        for other in pairs {
            let (load, store) = if is_load { (pc, other) } else { (other, pc) };
            let kind = self.operation(load, store).or_else(|| self.test(load, store, uses));
            found.extend(kind.map(|kind| Update { load, store, kind }));
        }
        let is_operation = |update: &&Update| matches!(update.kind, UpdateKind::Operation(_));
        found.iter().find(is_operation).or(found.first()).copied()
    }

    /// What is stored is computed from what was loaded, and from no other element of the array.
    fn operation(&self, load: Pc, store: Pc) -> Option<UpdateKind> {
        matches!(self.op(store), Op::Memory(MemoryOp::Store { .. } | MemoryOp::StoreVector { .. })).then_some(())?;
        let sources = self.body.sources(self.program, store);
        if !sources.contains(&load.index()) || self.has_neighbour(&sources, load) {
            return None;
        }
        Some(UpdateKind::Operation(self.atomic(store)))
    }

    /// Whether another load of the same array is among `sources`: of shared memory any other, of global memory one whose address comes
    /// from the same parameter.
    fn has_neighbour(&self, sources: &BTreeSet<usize>, load: Pc) -> bool {
        let shared = |space: Space| matches!(space, Space::Shared | Space::SharedCluster);
        let parameters = |at: Pc| -> BTreeSet<usize> {
            let sources = self.body.address_sources(self.program, at);
            let is_parameter = |at: &usize| load_space(&self.program.code[*at].op) == Some(Space::Param);
            sources.into_iter().filter(is_parameter).collect()
        };
        let Some(own) = load_space(self.op(load)) else { return false };
        sources.iter().map(|at| Pc(*at as u32)).filter(|at| *at != load).any(|at| match load_space(self.op(at)) {
            Some(space) if shared(space) && shared(own) => true,
            Some(space) if space == own && !self.body.is_same_place(self.program, at, load) => {
                !parameters(at).is_disjoint(&parameters(load))
            }
            Some(_) | None => false,
        })
    }

    /// The atomic that does what lies between the loads of a place and a store of it.
    fn atomic(&self, store: Pc) -> Option<AtomicFn> {
        let Op::Memory(MemoryOp::Store { bits, reg_bits, a, .. }) = *self.op(store) else { return None };
        let (bank, _) = Bank::of_element(bits, reg_bits);
        let maker = self.maker(bank, a, store.index())?;
        Chain { search: self, store, bank, carries: BTreeMap::new() }.atomic(maker)
    }

    /// The instruction that makes a value, past moves.
    fn maker(&self, bank: Bank, src: Src, at: usize) -> Option<usize> {
        let SrcKind::Reg(slot) = src.kind() else { return None };
        self.body.maker(RegisterOperand { bank, slot, width: 1 }, at)
    }

    /// What was loaded decides whether the store or the atomic is executed, and no other element of the array has a part in it.
    fn test(&self, load: Pc, store: Pc, uses: &mut ResultUses) -> Option<UpdateKind> {
        let decides = uses.uses(self.program, load).controls.clone();
        let branch = decides.into_iter().find(|branch| self.body.is_decided_by(store, *branch))?;
        let mut sources = self.body.guard_sources(self.program, branch);
        if !sources.contains(&load.index()) {
            return None;
        }
        let is_ordered = sources.iter().any(|at| is_by_magnitude(&self.program.code[*at].op));
        sources.extend(self.body.sources(self.program, store));
        if self.has_neighbour(&sources, load) {
            return None;
        }
        Some(if matches!(self.op(store), Op::Atomic(_)) { UpdateKind::Hint } else { UpdateKind::Test { is_ordered } })
    }
}

/// Operations on the way from a load to a store that are followed at most.
const CHAIN: usize = 256;

/// The way from loads of a place to a store of it, through operations each of which takes what the one before made.
struct Chain<'a> {
    search: &'a Search<'a>,
    store: Pc,
    bank: Bank,
    /// Whether what an instruction makes is the place's value after such operations; those that are being looked at count as such.
    carries: BTreeMap<usize, bool>,
}

impl Chain<'_> {
    /// The atomic that the instruction at `maker` does with the place's value, as all before it do.
    fn atomic(&mut self, maker: usize) -> Option<AtomicFn> {
        self.carries.insert(maker, true);
        let found = operands(&self.search.program.code[maker].op).and_then(|(atomic, ways)| {
            let mut is_one = |(own, other): &Way| {
                self.is_carried(*own, maker, atomic) && !other.is_some_and(|other| self.is_carried(other, maker, atomic))
            };
            ways.iter().any(&mut is_one).then_some(atomic)
        });
        self.carries.insert(maker, found.is_some());
        found
    }

    /// Whether what `src` is at `at` was loaded from the place, or made of that by the same operation.
    fn is_carried(&mut self, src: Src, at: usize, atomic: AtomicFn) -> bool {
        let SrcKind::Reg(slot) = src.kind() else { return false };
        let (program, body) = (self.search.program, self.search.body);
        let definitions = body.def_use().definitions_past_entry(RegisterOperand { bank: self.bank, slot, width: 1 }, at);
        let mut carries = |definition: &Definition| match definition {
            Definition::Entry => false,
            Definition::At(at) if load_space(&program.code[*at].op).is_some() => body.is_same_place(program, Pc(*at as u32), self.store),
            Definition::At(at) => match self.carries.get(at) {
                Some(known) => *known,
                None => self.carries.len() < CHAIN && self.atomic(*at) == Some(atomic),
            },
        };
        !definitions.is_empty() && definitions.iter().all(&mut carries)
    }
}

/// An operand that may be a place's value, and the other one.
type Way = (Src, Option<Src>);

/// The atomic that does an operation, and the ways to take its operands.
fn operands(op: &Op) -> Option<(AtomicFn, Vec<Way>)> {
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

fn is_by_magnitude(op: &Op) -> bool {
    let magnitudes = [Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge];
    matches!(op, Op::Compare(CompareOp::SetpInt { cmp, .. } | CompareOp::SetpFloat { cmp, .. }) if magnitudes.contains(cmp))
}
