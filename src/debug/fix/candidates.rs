//! Plans the text changes for the candidate remedies of a finding.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::atomic::ReadModifyWrite;
use super::barrier_positions::{Participants, UnrolledCopies, barrier_positions};
use super::calls::{self, at_calls};
use super::copies::copies;
use super::executing_warps::ExecutingWarps;
use super::insertions::Insertions;
use super::patch::TextChange;
use super::phase_wait::{self, FirstWait, Ring};
use super::plan::FixPlan;
use super::statement::{Modifiers, fences, wait_all};
use crate::cfg::ControlFlow;
use crate::check::faults::{MBARRIER_INVALIDATED, MBARRIER_UNINITIALIZED};
use crate::check::race::catalogue::CLUSTER_EXITED;
use crate::check::sync::catalogue::BARRIER_COUNT;
use crate::check::{BarrierLevel, Candidate, Construct, CopyKind, Finding, FunctionAnalysis, Position, Remedy, SideAction};
use crate::check::{FindingId, Side, ThreadDistance};
use crate::debug::users_calls::place_with_line;
use crate::isa::{AtomicFn, MbarrierFn, Ordering, Scope, Space};
use crate::program::{ClusterOp, ControlOp, FuncId, MbarrierOp, MemoryOp, Op, Pc, Program, SrcKind, SyncOp};

/// Maximum number of plans for one candidate.
const PLANS_MAX: usize = 16;

/// Plans changes, with the analyses of the functions so far.
pub(super) struct Planner<'a> {
    program: &'a Program,
    insertions: Arc<Insertions<'a>>,
    analyses: BTreeMap<FuncId, FunctionAnalysis>,
    /// Threads of a block of the launch.
    threads: u32,
    /// The warps that execute each instruction, once a candidate asks for them.
    pub warps: Option<ExecutingWarps>,
}

impl<'a> Planner<'a> {
    pub fn new(program: &'a Program) -> Self {
        Self { program, insertions: Arc::new(Insertions::new(program)), analyses: BTreeMap::new(), threads: 0, warps: None }
    }

    /// The plans for the candidates of a finding, the likeliest first. `pcs` are the instructions of the finding.
    pub fn plans(&mut self, candidates: &[Candidate], pcs: &[Pc], threads: u32) -> Vec<FixPlan> {
        self.threads = threads;
        let mut plans: Vec<FixPlan> = Vec::new();
        for plan in candidates.iter().flat_map(|candidate| self.combined(candidate, pcs)).collect::<Vec<_>>() {
            if !plans.contains(&plan) {
                plans.push(plan);
            }
        }
        plans
    }

    fn combined(&mut self, candidate: &[Remedy], pcs: &[Pc]) -> Vec<FixPlan> {
        let mut plans = vec![FixPlan::default()];
        for remedy in candidate {
            let options = self.options(*remedy, pcs);
            plans = plans.iter().flat_map(|plan| options.iter().map(|option| plan.with(option))).take(PLANS_MAX).collect();
        }
        plans
    }

    /// The alternative plans for one remedy.
    fn options(&mut self, remedy: Remedy, pcs: &[Pc]) -> Vec<FixPlan> {
        let (program, insertions) = (self.program, Arc::clone(&self.insertions));
        let insert =
            |at: Position, text: String| FixPlan::new(vec![TextChange::Insert(at, text.clone())], insertions.inserted(at, &text, None));
        match remedy {
            Remedy::Barrier(level, one, other) => {
                let barriers = |positions: &Vec<Position>| insertions.barriers_at(level, positions);
                self.between(Participants::of(level), one, other, pcs).iter().map(barriers).collect()
            }
            Remedy::NamedBarrier(one, other) => self.named_barriers(one, other, pcs),
            Remedy::BarrierAt(level, at) => {
                let positions = at_calls(program, at, pcs).into_iter().flat_map(|at| self.convergent_position(at));
                positions.map(|at| insertions.barriers_at(level, &[at])).collect()
            }
            Remedy::ClusterArrive(at) => vec![insert(at, "barrier.cluster.arrive;".into())],
            Remedy::ClusterWait(at) => {
                self.convergent_position(at).into_iter().map(|at| insert(at, "barrier.cluster.wait;".into())).collect()
            }
            Remedy::Fence(scope, at) => {
                let construct = Some(Construct::Fence).filter(|_| scope == Scope::Gpu);
                let plan = |at: Position, text: String| {
                    let description = insertions.inserted(at, &text, construct);
                    FixPlan::new(vec![TextChange::Insert(at, text)], description)
                };
                let plans = |at: Position| fences(scope, program).into_iter().map(move |text| plan(at, text));
                at_calls(program, at, pcs).into_iter().flat_map(plans).collect()
            }
            Remedy::ProxyFence(at) => vec![insert(at, "fence.proxy.async;".into())],
            Remedy::Arrive(waiting, at) => arrival(program, waiting).into_iter().map(|text| insert(at, text)).collect(),
            Remedy::WgmmaFence(at) => vec![insert(at, "wgmma.fence.sync.aligned;".into())],
            Remedy::WaitAll(kind, at) => {
                // Before a barrier that is there, the wait makes the copies of all threads visible to all.
                let barrier = Some(at.pc()).filter(|_| kind == CopyKind::CpAsync).and_then(|pc| barrier_before(program, pc));
                std::iter::once(at).chain(barrier.map(Position::Before)).map(|at| insert(at, wait_all(kind))).collect()
            }
            Remedy::Commit(before) => vec![insert(Position::Before(before), "cp.async.commit_group;".into())],
            Remedy::Order(pc, ordering) => self.modified(pc, Modifiers::semantics(ordering), pcs),
            Remedy::Scope(pc, scope) => self.modified(pc, Modifiers::scope(scope), pcs),
            Remedy::WaitGroup(pc, pending) => {
                let description = {
                    let at = place_with_line(program, kernel_of(program, pcs), pc);
                    format!("{} {pending} at {at}", program.opcode(pc).map_or("", |opcode| &opcode.text))
                };
                vec![FixPlan::new(vec![TextChange::Operand(pc, 0, pending.to_string())], description)]
            }
            Remedy::FirstThread(pc) => vec![by_first_thread(program, pc)],
            Remedy::PhaseWait(brings, takes) => self.phase_waits(brings, takes, pcs),
            Remedy::OtherParity(pc) => other_parity(program, pc).into_iter().collect(),
            Remedy::Atomic { load, store, f } => self.by_atomic(load, store, f, pcs),
        }
    }

    /// Other modifiers for the instruction at `pc` and for its copies; if these do not hold, for those that are in the finding.
    fn modified(&mut self, pc: Pc, modifiers: Modifiers, pcs: &[Pc]) -> Vec<FixPlan> {
        let copies = self.copies(pc);
        let change = |pc: &Pc| FixPlan::modify(*pc, modifiers);
        let plan = |copies: &[Pc]| copies.iter().map(change).fold(FixPlan::default(), |all, one| all.with(&one));
        let of_finding: Vec<Pc> = copies.iter().copied().filter(|copy| *copy == pc || pcs.contains(copy)).collect();
        vec![plan(&copies), plan(&of_finding)]
    }

    fn by_atomic(&mut self, load: Pc, store: Pc, f: Option<AtomicFn>, pcs: &[Pc]) -> Vec<FixPlan> {
        let program = self.program;
        let copies = self.copies(store);
        let is_store = |pc: &Pc| matches!(program.code[pc.index()].op, Op::Memory(MemoryOp::Store { .. }));
        let stored: BTreeSet<Pc> = copies.iter().copied().chain(pcs.iter().copied().filter(is_store)).collect();
        let Some(analysis) = self.analysis(load) else { return Vec::new() };
        let pairs: Option<Vec<(Pc, Pc)>> = copies.iter().map(|copy| Some((load_before(program, analysis, *copy)?, *copy))).collect();
        let pairs = pairs.unwrap_or_else(|| vec![(load, store)]);
        let read_modify_write = |(load, store): (Pc, Pc)| ReadModifyWrite { program, analysis, load, store };
        let plan = |(changes, opcode): (Vec<TextChange>, String), (load, store): (Pc, Pc)| {
            let description = format!("{opcode} for the load at {} and the store at {}", place(program, load), place(program, store));
            FixPlan::new(changes, description)
        };
        let mut plans = Vec::new();
        let carried = |f: &AtomicFn| accumulated(&read_modify_write((load, store)), *f, &stored);
        let functions = f.map_or_else(super::atomic::functions, |f| vec![f]);
        if stored.len() > 1 {
            plans.extend(functions.iter().filter_map(carried));
        }
        for f in &functions {
            let alternatives: Vec<Vec<FixPlan>> = pairs
                .iter()
                .map(|pair| read_modify_write(*pair).by_atomic(*f).into_iter().map(|changes| plan(changes, *pair)).collect())
                .collect();
            let count = alternatives.iter().map(Vec::len).min().unwrap_or(0);
            plans.extend((0..count).map(|index| alternatives.iter().fold(FixPlan::default(), |all, plans| all.with(&plans[index]))));
        }
        plans.extend(functions.iter().filter_map(carried));
        plans.extend(f.is_none().then(|| by_min_max(&read_modify_write((load, store)), &stored)).flatten());
        let swaps: Option<Vec<FixPlan>> =
            pairs.iter().map(|pair| Some(plan(read_modify_write(*pair).compare_and_swap(pair.0.index())?, *pair))).collect();
        plans.extend(swaps.map(|swaps| swaps.iter().fold(FixPlan::default(), |all, one| all.with(one))));
        plans.extend(accumulated_by_swaps(&read_modify_write((load, store)), &stored));
        plans
    }

    /// The copies of the statement at `pc`, itself included.
    fn copies(&mut self, pc: Pc) -> Vec<Pc> {
        let program = self.program;
        self.analysis(pc).map_or_else(|| vec![pc], |analysis| copies(program, analysis, pc))
    }

    fn analysis(&mut self, pc: Pc) -> Option<&FunctionAnalysis> {
        let program = self.program;
        let function = program.function_at(pc)?;
        let new = || FunctionAnalysis::new(program, function, &ControlFlow::new(program, function));
        Some(self.analyses.entry(function).or_insert_with(new))
    }

    fn between(&mut self, participants: Participants, one: Pc, other: Pc, pcs: &[Pc]) -> Vec<Vec<Position>> {
        let program = self.program;
        if program.function_at(one) != program.function_at(other) {
            let mut sets: Vec<Vec<Position>> = Vec::new();
            for (one, other) in calls::pairs(program, one, other) {
                sets.extend(self.between(participants, one, other, pcs));
            }
            let sides = [Position::Before(other), Position::After(one)];
            sets.extend(sides.into_iter().flat_map(|at| self.convergent_position(at)).map(|at| vec![at]));
            return sets;
        }
        let Some(analysis) = self.analysis(one) else { return Vec::new() };
        let opcode = |pc: Pc| program.statement(pc).map(|statement| statement.opcode);
        let with_opcode_of = |like: Pc| pcs.iter().copied().filter(|pc| opcode(*pc) == opcode(like)).collect::<Vec<_>>();
        let (ones, others) = (with_opcode_of(one), with_opcode_of(other));
        barrier_positions((program, analysis), participants, (one, other), &UnrolledCopies { one: &ones, other: &others })
    }

    /// Named barriers of the warps that execute one of two instructions. Where some execute both: one on the path from the first to the
    /// second. Where different warps execute them: one after the first and before the second, and for loops a second one after both.
    fn named_barriers(&mut self, one: Pc, other: Pc, pcs: &[Pc]) -> Vec<FixPlan> {
        let (program, insertions) = (self.program, Arc::clone(&self.insertions));
        let free: Vec<u32> = (1..16).rev().filter(|id| !uses_barrier(program, *id)).take(2).collect();
        let [first, second] = free[..] else { return Vec::new() };
        let (block, rounded) = (self.threads, self.threads.div_ceil(32) * 32);
        let insert = |at: Position, id: u32, threads: u32| {
            let text = named_barrier(program, id, Some(threads).filter(|threads| *threads != rounded));
            // The number of warps that execute a statement depends on the size of the block.
            let condition = if threads == rounded { String::new() } else { format!(" (for blocks of {block} threads)") };
            FixPlan::new(vec![TextChange::Insert(at, text.clone())], insertions.inserted(at, &text, None) + &condition)
        };
        let executing = self.warps.as_ref().and_then(|warps| warps.threads_at(one, other));
        if let Some((threads, true)) = executing {
            let barriers =
                |positions: Vec<Position>| positions.iter().fold(FixPlan::default(), |all, at| all.with(&insert(*at, first, threads)));
            return self.between(Participants::Some, one, other, pcs).into_iter().take(PLANS_MAX).map(barriers).collect();
        }
        if one == other || rounded == 0 {
            return Vec::new();
        }
        let mut counts: Vec<u32> = executing.map(|(threads, _)| threads).into_iter().collect();
        counts.extend([rounded, 64].into_iter().filter(|threads| executing.is_none_or(|(known, _)| known != *threads)));
        counts.retain(|threads| *threads <= rounded);
        counts.dedup();
        counts
            .into_iter()
            .flat_map(|threads| {
                let forward = insert(Position::After(one), first, threads).with(&insert(Position::Before(other), first, threads));
                let back = insert(Position::After(one), second, threads).with(&insert(Position::After(other), second, threads));
                [forward.clone(), forward.with(&back)]
            })
            .collect()
    }

    /// Waits for the phases of the kernel's mbarriers: before `takes`, or before `brings`, whose first waits pass.
    fn phase_waits(&mut self, brings: Pc, takes: Pc, pcs: &[Pc]) -> Vec<FixPlan> {
        let (program, insertions) = (self.program, Arc::clone(&self.insertions));
        let mbarriers = self.warps.as_ref().map(|warps| warps.mbarriers.clone()).unwrap_or_default();
        let Some(kernel) = program.function_at(takes).filter(|function| program.functions[function.index()].is_kernel) else {
            return Vec::new();
        };
        let rings = phase_wait::rings(program, kernel, &mbarriers);
        if rings.is_empty() || program.function_at(brings) != Some(kernel) {
            return Vec::new();
        }
        let Some(analysis) = self.analysis(takes) else { return Vec::new() };
        let opcode = |pc: Pc| program.statement(pc).map(|statement| statement.opcode);
        // Of unrolled copies, the first one.
        let first_like = |like: Pc| pcs.iter().copied().filter(|pc| opcode(*pc) == opcode(like)).min().unwrap_or(like);
        let waits = |pc: Pc, first: FirstWait| {
            let wait = |at: Position, ring: &Ring| {
                let (changes, text) = phase_wait::wait(program, kernel, ring, (at, first), phase_wait::is_repeated(analysis, at));
                FixPlan::new(changes, insertions.inserted(at, &text, Some(Construct::PhaseWait)))
            };
            let positions = phase_wait::positions(program, analysis, pc);
            positions.into_iter().flat_map(|at| rings.iter().map(move |ring| wait(at, ring)).collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        let (after, before) = (waits(first_like(takes), FirstWait::Waits), waits(first_like(brings), FirstWait::Passes));
        let longest = after.len().max(before.len());
        (0..longest).flat_map(|index| after.get(index).into_iter().chain(before.get(index)).cloned().collect::<Vec<_>>()).collect()
    }

    /// The position itself if all threads of the block reach it together, otherwise the nearest such position before or after it.
    fn convergent_position(&mut self, at: Position) -> Vec<Position> {
        let Some(analysis) = self.analysis(at.pc()) else { return Vec::new() };
        let flow = analysis.flow();
        let Some(block) = flow.block_of(at.pc()) else { return Vec::new() };
        if !analysis.is_divergent(block) {
            return vec![at];
        }
        let next = |block: &crate::cfg::BlockId| match at {
            Position::Before(_) => flow.idom(*block),
            Position::After(_) => flow.ipdom(*block),
        };
        let common = std::iter::successors(Some(block), next).take(16).find(|block| !analysis.is_divergent(*block));
        let position = |block: crate::cfg::BlockId| match at {
            Position::Before(_) => Position::Before(Pc(flow.code(block).end - 1)),
            Position::After(_) => Position::Before(Pc(flow.code(block).start)),
        };
        common.map(position).into_iter().collect()
    }
}

/// Waits at barrier `id` for this number of threads, or for all threads of the block.
fn named_barrier(program: &Program, id: u32, threads: Option<u32>) -> String {
    let opcode = if program.version >= (6, 0) { "barrier.sync" } else { "bar.sync" };
    threads.map_or_else(|| format!("{opcode} {id};"), |threads| format!("{opcode} {id}, {threads};"))
}

/// An arrival at the barrier of the instruction at `waiting`, if that names a number and a count.
fn arrival(program: &Program, waiting: Pc) -> Option<String> {
    let operands = program.operand_texts(waiting);
    let [id, count] = operands.as_slice() else { return None };
    let is_number = |text: &String| text.chars().all(|digit| digit.is_ascii_digit());
    let opcode = if program.version >= (6, 0) { "barrier.arrive" } else { "bar.arrive" };
    (is_number(id) && is_number(count)).then(|| format!("{opcode} {id}, {count};"))
}

/// The last barrier of the block in the text before an instruction, in the same function.
fn barrier_before(program: &Program, pc: Pc) -> Option<Pc> {
    let code = program.functions[program.function_at(pc)?.index()].code.clone();
    (code.start..pc.0).rev().map(Pc).find(|pc| matches!(program.code[pc.index()].op, Op::Sync(SyncOp::Barrier { .. })))
}

/// True if some instruction of the program may use barrier `id` of its block.
fn uses_barrier(program: &Program, id: u32) -> bool {
    program.code.iter().any(|inst| match inst.op {
        Op::Sync(SyncOp::Barrier { id: operand, .. }) => match operand.kind() {
            SrcKind::Const(index) => program.consts32.get(index as usize).is_none_or(|number| *number == id),
            SrcKind::Reg(_) | SrcKind::Special(_) => true,
        },
        _ => false,
    })
}

/// The statement, executed only by thread (0,0,0) of each block.
fn by_first_thread(program: &Program, pc: Pc) -> FixPlan {
    let (statement, guard) = (program.text(pc), program.guard_text(pc));
    let bare = guard.iter().fold(statement.as_str(), |text, guard| text.strip_prefix(&format!("@{guard}")).unwrap_or(text).trim_start());
    let test = match &guard {
        Some(guard) => format!("setp.eq.and.u32 %fix_first, %fix_id, 0, {guard};"),
        None => "setp.eq.u32 %fix_first, %fix_id, 0;".into(),
    };
    let rest: String = ["%tid.y", "%tid.z"].map(|id| format!("mov.u32 %fix_next, {id}; or.b32 %fix_id, %fix_id, %fix_next; ")).concat();
    let changed =
        format!("{{ .reg .pred %fix_first; .reg .b32 %fix_id, %fix_next; mov.u32 %fix_id, %tid.x; {rest}{test} @%fix_first {bare} }}");
    let description = format!("thread (0,0,0) alone executes {} at {}", bare.trim_end_matches(';'), place(program, pc));
    FixPlan::new(vec![TextChange::Replace(pc, changed)], description)
}

/// The kernel of the instructions of a finding.
fn kernel_of(program: &Program, pcs: &[Pc]) -> Option<FuncId> {
    pcs.iter().filter_map(|pc| program.function_at(*pc)).find(|function| program.functions[function.index()].is_kernel)
}

/// The place of an instruction with its line of the source.
fn place(program: &Program, pc: Pc) -> String {
    place_with_line(program, None, pc)
}

/// The statement that waits for the phase of the other parity.
fn other_parity(program: &Program, pc: Pc) -> Option<FixPlan> {
    let (statement, operands) = (program.text(pc), program.operand_texts(pc));
    program.opcode(pc).filter(|opcode| opcode.text.contains(".parity"))?;
    let parity = operands.get(2)?;
    let (head, tail) = statement.split_at(statement.rfind(']')?);
    let changed =
        format!("{{ .reg .b32 %fix_parity; xor.b32 %fix_parity, {parity}, 1; {head}{} }}", tail.replacen(parity, "%fix_parity", 1));
    Some(FixPlan::new(vec![TextChange::Replace(pc, changed)], format!("the other parity in {statement} at {}", place(program, pc))))
}

/// Sums that a register carries over several stores: each store becomes the atomic.
fn accumulated(read_modify_write: &ReadModifyWrite<'_>, f: AtomicFn, stores: &BTreeSet<Pc>) -> Option<FixPlan> {
    Some(accumulation_plan(read_modify_write.program, stores, read_modify_write.accumulated(f, stores)?))
}

/// Other operations that a register carries over several stores: each store becomes a loop around a compare-and-swap.
fn accumulated_by_swaps(read_modify_write: &ReadModifyWrite<'_>, stores: &BTreeSet<Pc>) -> Option<FixPlan> {
    Some(accumulation_plan(read_modify_write.program, stores, read_modify_write.accumulated_by_swaps(stores)?))
}

fn accumulation_plan(program: &Program, stores: &BTreeSet<Pc>, (changes, opcode): (Vec<TextChange>, String)) -> FixPlan {
    let places: Vec<String> = stores.iter().map(|pc| place(program, *pc)).collect();
    FixPlan::new(changes, format!("{opcode} for the store at {}, and no load before", places.join(", ")))
}

/// Minima and maxima by a test before a store: each store becomes the atomic, and each load a strong one.
fn by_min_max(read_modify_write: &ReadModifyWrite<'_>, stores: &BTreeSet<Pc>) -> Option<FixPlan> {
    let program = read_modify_write.program;
    let (changes, opcode) = read_modify_write.by_min_max(stores)?;
    let places: Vec<String> = stores.iter().map(|pc| place(program, *pc)).collect();
    Some(FixPlan::new(changes, format!("{opcode} for the store at {}, and ld.relaxed for the test", places.join(", "))))
}

/// The last load of the same location before a store, in text order.
fn load_before(program: &Program, analysis: &FunctionAnalysis, store: Pc) -> Option<Pc> {
    let is_load = |pc: &Pc| matches!(program.code[pc.index()].op, Op::Memory(MemoryOp::Load { .. }));
    analysis.code().take_while(|pc| *pc < store).filter(|pc| is_load(pc) && analysis.is_same_location(program, *pc, store)).last()
}

/// Candidates that may order the two sides of a finding, tried after those of its advice.
pub(super) fn further_candidates(program: &Program, finding: &Finding) -> Vec<Candidate> {
    let Some(first) = &finding.first else { return Vec::new() };
    let (one, other) = intended_order(finding, first);
    let mut found: Vec<Candidate> = Vec::new();
    match finding.distance {
        Some(ThreadDistance::Warp) => {
            found.push(vec![Remedy::Barrier(BarrierLevel::Warp, one, other)]);
            found.push(vec![Remedy::Barrier(BarrierLevel::Block, one, other)]);
        }
        Some(ThreadDistance::Block | ThreadDistance::Instruction) => {
            found.push(vec![Remedy::Barrier(BarrierLevel::Block, one, other)]);
            found.push(vec![Remedy::NamedBarrier(one, other)]);
            let is_read_first = first.copy.is_none() && finding.second.copy.is_some();
            let (brings, takes) = if is_read_first { (other, one) } else { (one, other) };
            found.push(vec![Remedy::PhaseWait(brings, takes)]);
            // The run may have met the two in the order that is not meant.
            found.extend(Some(vec![Remedy::Barrier(BarrierLevel::Block, other, one)]).filter(|_| one != other));
        }
        Some(ThreadDistance::Cluster) => found.push(vec![Remedy::Barrier(BarrierLevel::Cluster, one, other)]),
        // Where one thread of each block synchronizes the grid, the others may have to meet it.
        Some(ThreadDistance::Grid) => {
            let at = [Position::Before(other), Position::Before(one), Position::After(one), Position::After(other)];
            found.extend(at.map(|at| vec![Remedy::BarrierAt(BarrierLevel::Block, at)]));
        }
        None => {}
    }
    // A read-modify-write does not become atomic by strong accesses.
    let is_update = finding.candidates.iter().flatten().any(|remedy| matches!(remedy, Remedy::Atomic { .. }));
    let is_global = finding.memory.is_some_and(|memory| memory.space == Space::Global);
    if is_global && !is_update && first.copy.is_none() && finding.second.copy.is_none() {
        let reads = [first, &finding.second].into_iter().any(|side| side.action != SideAction::Write);
        let weak =
            [first, &finding.second].into_iter().filter(|side| side.action != SideAction::Atomic && is_plain(program, side.point.pc));
        let strong: Candidate = weak.map(|side| Remedy::Order(side.point.pc, Ordering::Relaxed)).collect();
        found.extend(Some(strong).filter(|strong| reads && !strong.is_empty()));
        // A scope makes a weak access strong, and orders nothing more.
        let scopes: Candidate =
            [one, other].into_iter().filter(|pc| !is_plain(program, *pc)).map(|pc| Remedy::Scope(pc, Scope::Gpu)).collect();
        found.extend(Some(scopes).filter(|scopes| scopes.len() == 2));
    }
    found
}

/// The candidate that is tried before those of the advice: all users of an mbarrier meet after its initialization.
pub(super) fn first_candidate(program: &Program, finding: &Finding) -> Option<Candidate> {
    let pc = finding.first.as_ref()?.point.pc;
    program.code[pc.index()].op.initializes_mbarrier().then(|| vec![Remedy::BarrierAt(BarrierLevel::Block, Position::After(pc))])
}

/// True if the instruction is a weak load or store.
fn is_plain(program: &Program, pc: Pc) -> bool {
    matches!(&program.code[pc.index()].op, Op::Memory(op) if op.access().ordering == Ordering::Weak)
}

/// Candidates for the fault that stopped a launch of `kernel`.
pub(super) fn fault_candidates(program: &Program, kernel: FuncId, fault: FindingId) -> Vec<Candidate> {
    let code = program.functions[kernel.index()].code.clone().map(Pc);
    let op = |pc: &Pc| program.code[pc.index()].op;
    let at_each = |updates: MbarrierFn, at: fn(Pc) -> Position| {
        let updates = code.clone().filter(move |pc| matches!(op(pc), Op::Mbarrier(MbarrierOp::Update { f, .. }) if f == updates));
        updates.map(|pc| vec![Remedy::BarrierAt(BarrierLevel::Block, at(pc))]).collect()
    };
    if fault == CLUSTER_EXITED {
        let is_exit = |pc: &Pc| matches!(op(pc), Op::Control(ControlOp::Exit | ControlOp::Return { uniform: _ }));
        // The end of the code is no statement.
        let exits = code.clone().filter(|pc| is_exit(pc) && program.statement(*pc).is_some());
        return vec![exits.map(|exit| Remedy::BarrierAt(BarrierLevel::Cluster, Position::Before(exit))).collect()];
    }
    if fault == BARRIER_COUNT {
        // Two arrivals without a wait between.
        let arrivals = code.filter(|pc| matches!(op(pc), Op::Cluster(ClusterOp::Arrive { .. })));
        return arrivals.map(|pc| vec![Remedy::ClusterWait(Position::After(pc))]).collect();
    }
    if fault == MBARRIER_UNINITIALIZED {
        at_each(MbarrierFn::Init, Position::After)
    } else if fault == MBARRIER_INVALIDATED {
        at_each(MbarrierFn::Inval, Position::Before)
    } else {
        Vec::new()
    }
}

/// Arrivals at the named barrier that threads wait at with the instruction `waiting`, by the warps that do not: after each of their
/// accesses, the last one first.
pub(super) fn missing_arrivals(waiting: Pc, warps: &ExecutingWarps) -> Vec<Candidate> {
    let after = |pc: Pc| vec![Remedy::Arrive(waiting, Position::After(pc))];
    warps.only_by_others(waiting).into_iter().rev().take(PLANS_MAX).map(after).collect()
}

/// The two instructions of a finding in the intended order: by its id, otherwise as executed.
fn intended_order(finding: &Finding, first: &Side) -> (Pc, Pc) {
    let (one, other) = (first.point.pc, finding.second.point.pc);
    let read_first = first.action == SideAction::Read;
    match finding.id.word() {
        "race.shared.raw" if read_first => (other, one),
        "race.shared.war" if !read_first => (other, one),
        _ => (one, other),
    }
}

/// The class of findings in which a change of the program may turn one into another: all races are one class.
pub(super) fn finding_class(id: FindingId) -> &'static str {
    if id.is_race() { "race" } else { id.word() }
}
