//! From what the advice of a finding proposes to changes in their places.

use std::collections::{BTreeMap, BTreeSet};

use super::atomic::Update;
use super::patch::Placed;
use super::places::{Sides, barrier_places};
use super::statement::{Modifiers, barrier, fence, wait_all};
use crate::cfg::ControlFlow;
use crate::check::{BarrierLevel, Body, Candidate, Finding, Language, Position, Remedy, SideAction, Term};
use crate::check::{Distance, FindingId, Side};
use crate::isa::{AtomicFn, Ordering, Scope, Space};
use crate::program::{FuncId, MemoryOp, Op, Pc, Program, SrcKind, SyncOp};

/// Combinations of places of the changes of one candidate.
const COMBINATIONS: usize = 16;

/// Changes in their places, and what they are called, one for each line that is printed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Plan {
    pub changes: Vec<Placed>,
    pub words: Vec<String>,
}

impl Plan {
    fn new(changes: Vec<Placed>, words: String) -> Self {
        Self { changes, words: vec![words] }
    }

    /// Both.
    pub fn with(&self, other: &Self) -> Self {
        let new_words = other.words.iter().filter(|word| !self.words.contains(word));
        Self {
            changes: self.changes.iter().chain(&other.changes).cloned().collect(),
            words: self.words.iter().chain(new_words).cloned().collect(),
        }
    }
}

/// The functions of a program as the search for places sees them.
pub(super) struct Places<'a> {
    program: &'a Program,
    bodies: BTreeMap<FuncId, Body>,
    /// Threads of a block of the launch.
    threads: u32,
}

impl<'a> Places<'a> {
    pub fn new(program: &'a Program) -> Self {
        Self { program, bodies: BTreeMap::new(), threads: 0 }
    }

    /// The plans for a finding, the likeliest first: those of its advice, and what else orders its two sides. `pcs` are the instructions
    /// that are counted in it.
    pub fn plans(&mut self, candidates: &[Candidate], pcs: &[Pc], threads: u32) -> Vec<Plan> {
        self.threads = threads;
        let mut plans: Vec<Plan> = Vec::new();
        for plan in candidates.iter().flat_map(|candidate| self.combined(candidate, pcs)).collect::<Vec<_>>() {
            if !plans.contains(&plan) {
                plans.push(plan);
            }
        }
        plans
    }

    fn combined(&mut self, candidate: &[Remedy], pcs: &[Pc]) -> Vec<Plan> {
        let mut plans = vec![Plan::default()];
        for remedy in candidate {
            let options = self.options(*remedy, pcs);
            plans = plans.iter().flat_map(|plan| options.iter().map(|option| plan.with(option))).take(COMBINATIONS).collect();
        }
        plans
    }

    /// The ways to make one change.
    fn options(&mut self, remedy: Remedy, pcs: &[Pc]) -> Vec<Plan> {
        let program = self.program;
        let insert = |at: Position, text: String| Plan::new(vec![Placed::Insert(at, text.clone())], inserted(program, at, &text, None));
        match remedy {
            Remedy::Barrier(reach, one, other) => {
                let meet = |places: &Vec<Position>| meeting(program, reach, places);
                self.between(reach, one, other, pcs).iter().map(meet).collect()
            }
            Remedy::RoleBarrier(one, other) => self.of_roles(one, other),
            Remedy::BarrierAt(reach, at) => self.near(at).into_iter().map(|at| meeting(program, reach, &[at])).collect(),
            Remedy::Fence(scope, at) => {
                let (text, term) = (fence(scope, program), Some(Term::Fence).filter(|_| scope == Scope::Gpu));
                vec![Plan::new(vec![Placed::Insert(at, text.clone())], inserted(program, at, &text, term))]
            }
            Remedy::ProxyFence(at) => vec![insert(at, "fence.proxy.async;".into())],
            Remedy::WaitAll(kind, at) => vec![insert(at, wait_all(kind))],
            Remedy::Commit(before) => vec![insert(Position::Before(before), "cp.async.commit_group;".into())],
            Remedy::Order(pc, ordering) => self.modified(pc, Modifiers::semantics(ordering), pcs),
            Remedy::Scope(pc, scope) => self.modified(pc, Modifiers::scope(scope), pcs),
            Remedy::WaitGroup(pc, pending) => {
                let words = format!("{} {pending} at {}", program.opcode(pc).map_or("", |opcode| &opcode.text), program.place(pc));
                vec![Plan::new(vec![Placed::Operand(pc, 0, pending.to_string())], words)]
            }
            Remedy::FirstThread(pc) => vec![by_first_thread(program, pc)],
            Remedy::OtherParity(pc) => other_parity(program, pc).into_iter().collect(),
            Remedy::Atomic { load, store, f } => self.at_once(load, store, f, pcs),
        }
    }

    /// Other modifiers of the instruction at `pc` and of those of its unrolled copies that are counted in the finding or touch the same
    /// place: a copy that did not run in this order races in another one.
    fn modified(&mut self, pc: Pc, modifiers: Modifiers, pcs: &[Pc]) -> Vec<Plan> {
        let program = self.program;
        let copies = self.copies(pc);
        let body = self.body(pc);
        let is_same_place = |copy: Pc| body.as_ref().is_some_and(|body| body.is_same_place(program, pc, copy));
        let copies = copies.into_iter().filter(|copy| *copy == pc || pcs.contains(copy) || is_same_place(*copy));
        let change = |pc: Pc| {
            let own = program.opcode(pc).map_or("", |opcode| &opcode.text);
            let text = super::statement::rewritten(own, modifiers, program);
            let words = text.map_or_else(|| format!("other modifiers of {own}"), |text| format!("{text} for {own}"));
            Plan::new(vec![Placed::Modify(pc, modifiers)], format!("{words} at {}", program.place(pc)))
        };
        vec![copies.map(change).fold(Plan::default(), |all, one| all.with(&one))]
    }

    fn at_once(&mut self, load: Pc, store: Pc, f: Option<AtomicFn>, pcs: &[Pc]) -> Vec<Plan> {
        let program = self.program;
        let copies = self.copies(store);
        let is_store = |pc: &Pc| matches!(program.code[pc.index()].op, Op::Memory(MemoryOp::Store { .. }));
        let stored: BTreeSet<Pc> = copies.iter().copied().chain(pcs.iter().copied().filter(is_store)).collect();
        let Some(body) = self.body(load) else { return Vec::new() };
        let pairs: Option<Vec<(Pc, Pc)>> = copies.iter().map(|copy| Some((load_before(program, body, *copy)?, *copy))).collect();
        let pairs = pairs.unwrap_or_else(|| vec![(load, store)]);
        let update = |(load, store): (Pc, Pc)| Update { program, body, load, store };
        let named = |(changes, word): (Vec<Placed>, String), (load, store): (Pc, Pc)| {
            let words = format!("{word} for the load at {} and the store at {}", program.place(load), program.place(store));
            Plan::new(changes, words)
        };
        let mut plans = Vec::new();
        let carried = |f: &AtomicFn| accumulated(&update((load, store)), *f, &stored);
        let functions = f.map_or_else(super::atomic::functions, |f| vec![f]);
        if stored.len() > 1 {
            plans.extend(functions.iter().filter_map(carried));
        }
        for f in &functions {
            let ways: Vec<Vec<Plan>> =
                pairs.iter().map(|pair| update(*pair).at_once(*f).into_iter().map(|way| named(way, *pair)).collect()).collect();
            let most = ways.iter().map(Vec::len).min().unwrap_or(0);
            plans.extend((0..most).map(|way| ways.iter().fold(Plan::default(), |all, of| all.with(&of[way]))));
        }
        plans.extend(functions.iter().filter_map(carried));
        plans.extend(f.is_none().then(|| extreme(&update((load, store)), &stored)).flatten());
        let swaps: Option<Vec<Plan>> =
            pairs.iter().map(|pair| Some(named(update(*pair).compare_and_swap(pair.0.index())?, *pair))).collect();
        plans.extend(swaps.map(|swaps| swaps.iter().fold(Plan::default(), |all, one| all.with(one))));
        plans
    }

    /// Unrolled copies of the statement at `pc`, itself included: those of its line of the source with the same opcode.
    fn copies(&self, pc: Pc) -> Vec<Pc> {
        let program = self.program;
        let Some(line) = program.source_lines.get(pc.index()).copied().flatten().filter(|line| line.line > 0) else { return vec![pc] };
        let Some(function) = program.function_at(pc) else { return vec![pc] };
        let opcode = program.statement(pc).map(|statement| statement.opcode);
        let is_copy = |at: &Pc| {
            let own =
                program.source_lines[at.index()].is_some_and(|own| (own.file, own.line, own.column) == (line.file, line.line, line.column));
            own && program.statement(*at).map(|statement| statement.opcode) == opcode
        };
        program.functions[function.index()].code.clone().map(Pc).filter(is_copy).collect()
    }

    fn body(&mut self, pc: Pc) -> Option<&Body> {
        let program = self.program;
        let function = program.function_at(pc)?;
        let new = || Body::new(program, function, &ControlFlow::new(program, function));
        Some(self.bodies.entry(function).or_insert_with(new))
    }

    fn between(&mut self, reach: BarrierLevel, one: Pc, other: Pc, pcs: &[Pc]) -> Vec<Vec<Position>> {
        let program = self.program;
        if program.function_at(one) != program.function_at(other) {
            return self.near(Position::Before(other)).into_iter().chain(self.near(Position::After(one))).map(|at| vec![at]).collect();
        }
        let Some(body) = self.body(one) else { return Vec::new() };
        let action = |pc: Pc| program.statement(pc).map(|statement| statement.opcode);
        let of = |side: Pc| pcs.iter().copied().filter(|pc| action(*pc) == action(side)).collect::<Vec<_>>();
        let (ones, others) = (of(one), of(other));
        barrier_places((program, body), reach, (one, other), &Sides { one: &ones, other: &others })
    }

    /// Barriers of the threads of two sides that different warps execute: one after the first and before the second, and, where they
    /// are repeated, one that both pass after that.
    fn of_roles(&self, one: Pc, other: Pc) -> Vec<Plan> {
        let program = self.program;
        if one == other || self.threads == 0 {
            return Vec::new();
        }
        let is_used = |id: u32| {
            program.code.iter().any(|inst| match inst.op {
                Op::Sync(SyncOp::Barrier { id: own, .. }) => match own.kind() {
                    SrcKind::Const(index) => program.consts32.get(index as usize).is_none_or(|own| *own == id),
                    SrcKind::Reg(_) | SrcKind::Special(_) => true,
                },
                _ => false,
            })
        };
        let free: Vec<u32> = (1..16).rev().filter(|id| !is_used(*id)).take(2).collect();
        let [first, second] = free[..] else { return Vec::new() };
        let insert = |at: Position, id: u32, threads: u32| {
            let text = format!("{} {id}, {threads};", if program.version >= (6, 0) { "barrier.sync" } else { "bar.sync" });
            Plan::new(vec![Placed::Insert(at, text.clone())], inserted(program, at, &text, None))
        };
        let whole = self.threads.div_ceil(32) * 32;
        let counts = [whole, 64].into_iter().take(if whole > 64 { 2 } else { 1 });
        counts
            .flat_map(|threads| {
                let once = insert(Position::After(one), first, threads).with(&insert(Position::Before(other), first, threads));
                let back = insert(Position::After(one), second, threads).with(&insert(Position::After(other), second, threads));
                [once.clone(), once.with(&back)]
            })
            .collect()
    }

    /// A place that all threads of the block reach together: this one, or else the next ones before or after it.
    fn near(&mut self, at: Position) -> Vec<Position> {
        let Some(body) = self.body(at.pc()) else { return Vec::new() };
        let flow = body.flow();
        let Some(block) = flow.block_of(at.pc()) else { return Vec::new() };
        if !body.is_divergent(block) {
            return vec![at];
        }
        let next = |block: &crate::cfg::BlockId| match at {
            Position::Before(_) => flow.idom(*block),
            Position::After(_) => flow.ipdom(*block),
        };
        let common = std::iter::successors(Some(block), next).take(16).find(|block| !body.is_divergent(*block));
        let place = |block: crate::cfg::BlockId| match at {
            Position::Before(_) => Position::Before(Pc(flow.code(block).end - 1)),
            Position::After(_) => Position::Before(Pc(flow.code(block).start)),
        };
        common.map(place).into_iter().collect()
    }
}

/// The statement, executed by thread (0,0,0) of each block alone, of those that executed it.
fn by_first_thread(program: &Program, pc: Pc) -> Plan {
    let (statement, guard) = (program.text(pc), program.guard_text(pc));
    let bare = guard.iter().fold(statement.as_str(), |text, guard| text.strip_prefix(&format!("@{guard}")).unwrap_or(text).trim_start());
    let test = match &guard {
        Some(guard) => format!("setp.eq.and.u32 %fix_first, %fix_id, 0, {guard};"),
        None => "setp.eq.u32 %fix_first, %fix_id, 0;".into(),
    };
    let rest: String = ["%tid.y", "%tid.z"].map(|id| format!("mov.u32 %fix_next, {id}; or.b32 %fix_id, %fix_id, %fix_next; ")).concat();
    let changed =
        format!("{{ .reg .pred %fix_first; .reg .b32 %fix_id, %fix_next; mov.u32 %fix_id, %tid.x; {rest}{test} @%fix_first {bare} }}");
    let words = format!("thread (0,0,0) alone executes {} at {}", bare.trim_end_matches(';'), program.place(pc));
    Plan::new(vec![Placed::Replace(pc, changed)], words)
}

/// The statement that waits for the phase of the other parity.
fn other_parity(program: &Program, pc: Pc) -> Option<Plan> {
    let (statement, operands) = (program.text(pc), program.operand_texts(pc));
    program.opcode(pc).filter(|opcode| opcode.text.contains(".parity"))?;
    let parity = operands.get(2)?;
    let (head, tail) = statement.split_at(statement.rfind(']')?);
    let changed =
        format!("{{ .reg .b32 %fix_parity; xor.b32 %fix_parity, {parity}, 1; {head}{} }}", tail.replacen(parity, "%fix_parity", 1));
    Some(Plan::new(vec![Placed::Replace(pc, changed)], format!("the other parity in {statement} at {}", program.place(pc))))
}

/// Sums and the like that a register carries over several stores: each store becomes the atomic.
fn accumulated(update: &Update<'_>, f: AtomicFn, stores: &BTreeSet<Pc>) -> Option<Plan> {
    let program = update.program;
    let (changes, word) = update.accumulated(f, stores)?;
    let places: Vec<String> = stores.iter().map(|pc| program.place(*pc)).collect();
    Some(Plan::new(changes, format!("{word} for the store at {}, and no load before", places.join(", "))))
}

/// Tests before a write that keep the greater or the smaller value: each store becomes the atomic, and each load a strong one.
fn extreme(update: &Update<'_>, stores: &BTreeSet<Pc>) -> Option<Plan> {
    let program = update.program;
    let (changes, word) = update.extreme(stores)?;
    let places: Vec<String> = stores.iter().map(|pc| program.place(*pc)).collect();
    Some(Plan::new(changes, format!("{word} for the store at {}, and ld.relaxed for the test", places.join(", "))))
}

/// The last load of the same place before a store, in the order of the text.
fn load_before(program: &Program, body: &Body, store: Pc) -> Option<Pc> {
    let is_load = |pc: &Pc| matches!(program.code[pc.index()].op, Op::Memory(MemoryOp::Load { .. }));
    body.code().take_while(|pc| *pc < store).filter(|pc| is_load(pc) && body.is_same_place(program, *pc, store)).last()
}

fn meeting(program: &Program, reach: BarrierLevel, places: &[Position]) -> Plan {
    let text = barrier(reach);
    let term = match reach {
        BarrierLevel::Warp => Term::WarpBarrier,
        BarrierLevel::Block => Term::BlockBarrier,
        BarrierLevel::Cluster => Term::ClusterBarrier,
    };
    let one = |at: &Position| Plan::new(vec![Placed::Insert(*at, text.clone())], inserted(program, *at, &text, Some(term)));
    places.iter().map(one).fold(Plan::default(), |all, one| all.with(&one))
}

/// `bar.sync 0; before k.ptx:12 (k.cu:7)`, in the words of the source language where it has some: `__syncthreads() before k.cu:7, bar.sync
/// 0; before k.ptx:12`.
fn inserted(program: &Program, at: Position, text: &str, term: Option<Term>) -> String {
    let pc = at.pc();
    let language = Language::of(program, pc);
    let source = crate::debug::site::source_lines(program, pc).into_iter().next();
    match (term.filter(|_| language != Language::Ptx), source) {
        (Some(term), Some(line)) => {
            format!("{} {} {}: {text} {}", language.word(term), side(at), line.short(), self::at(program, at, false))
        }
        _ => format!("{text} {}", self::at(program, at, true)),
    }
}

fn side(at: Position) -> &'static str {
    match at {
        Position::Before(_) => "before",
        Position::After(_) => "after",
    }
}

/// `before k.ptx:12 (k.cu:7)`
fn at(program: &Program, position: Position, with_source: bool) -> String {
    let pc = position.pc();
    let source = crate::debug::site::source_lines(program, pc).into_iter().next().filter(|_| with_source);
    let source = source.map_or(String::new(), |line| format!(" ({})", line.short()));
    format!("{} {}{source}", side(position), program.place(pc))
}

/// What may order the two sides of a finding where its advice names no change, or none that held.
pub(super) fn further(finding: &Finding, is_plain: impl Fn(Pc) -> bool) -> Vec<Candidate> {
    let Some(first) = &finding.first else { return Vec::new() };
    let (one, other) = meant_order(finding, first);
    let mut found: Vec<Candidate> = Vec::new();
    match finding.distance {
        Some(Distance::Warp) => {
            found.push(vec![Remedy::Barrier(BarrierLevel::Warp, one, other)]);
            found.push(vec![Remedy::Barrier(BarrierLevel::Block, one, other)]);
        }
        Some(Distance::Block | Distance::Instruction) => {
            found.push(vec![Remedy::Barrier(BarrierLevel::Block, one, other)]);
            found.push(vec![Remedy::RoleBarrier(one, other)]);
        }
        Some(Distance::Cluster) => found.push(vec![Remedy::Barrier(BarrierLevel::Cluster, one, other)]),
        Some(Distance::Grid) | None => {}
    }
    // What must be one step is none by being strong.
    let is_update = finding.candidates.iter().flatten().any(|remedy| matches!(remedy, Remedy::Atomic { .. }));
    let is_global = finding.memory.is_some_and(|memory| memory.space == Space::Global);
    if is_global && !is_update && first.copy.is_none() && finding.second.copy.is_none() {
        let reads = [first, &finding.second].into_iter().any(|side| side.action != SideAction::Write);
        let weak = [first, &finding.second].into_iter().filter(|side| side.action != SideAction::Atomic && is_plain(side.place.pc));
        let strong: Candidate = weak.map(|side| Remedy::Order(side.place.pc, Ordering::Relaxed)).collect();
        found.extend(Some(strong).filter(|strong| reads && !strong.is_empty()));
        // A scope makes a weak access strong, and orders nothing more.
        let scopes: Candidate = [one, other].into_iter().filter(|pc| !is_plain(*pc)).map(|pc| Remedy::Scope(pc, Scope::Gpu)).collect();
        found.extend(Some(scopes).filter(|scopes| scopes.len() == 2));
    }
    found
}

/// The two instructions of a finding in the order that is meant: by its id, or else as they came.
fn meant_order(finding: &Finding, first: &Side) -> (Pc, Pc) {
    let (one, other) = (first.place.pc, finding.second.place.pc);
    let read_first = first.action == SideAction::Read;
    match finding.id.word() {
        "race.shared.raw" if read_first => (other, one),
        "race.shared.war" if !read_first => (other, one),
        _ => (one, other),
    }
}

/// The family of mistakes that an id belongs to, of which one may turn into another when a program changes.
pub(super) fn family(id: FindingId) -> &'static str {
    if id.is_race() { "race" } else { id.word() }
}
