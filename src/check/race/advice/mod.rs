//! Advice on how to order a race, in the terms of the kernel's language. It has not been tried, so it is worded as a proposal.

mod fences;
mod function_analysis;
mod language;
mod synchronization;
mod update;

pub use function_analysis::FunctionAnalysis;
pub use language::{Construct, Language};
pub(super) use synchronization::{GroupWait, SyncAccess, SyncAccesses};
pub(super) use update::Updates;

use super::RaceChecker;
use super::access::Access;
use super::detector::Conflict;
use super::report::{LoopIterations, Relation};
use crate::check::advice_text::AdviceText;
use crate::check::catalogue::FindingId;
use crate::check::finding::{Side, SideAction, ThreadDistance};
use crate::check::race::catalogue::{RACE_LOCKSTEP, RACE_PROXY, RACE_SAME_VALUE, RACE_SCOPE, RACE_SHARED_WAW};
use crate::check::remedy::{Advice, BarrierLevel, Candidate, CopyKind, Position, Remedy};
use crate::check::statement::is_same_statement;
use crate::isa::{Ordering, Scope};
use crate::machine::{LaneMask, Proxy};
use crate::order::{Agent, AsyncKind};
use crate::program::Pc;
use update::{Update, UpdateKind};

impl RaceChecker {
    /// The advice on how to order the two sides of a conflict.
    pub(super) fn fix(&mut self, id: FindingId, relation: Relation, block_slot: u32, conflict: &Conflict, access: &Access) -> Advice {
        let first = &conflict.first;
        let language = Language::of(&self.program, access.pc);
        let update = self.update(first, access).filter(|_| ![RACE_PROXY, RACE_LOCKSTEP, RACE_SAME_VALUE].contains(&id));
        if let Some(update) = update.filter(|_| !self.is_under_lock(conflict, access)) {
            return self.fix_of_update(language, update);
        }
        let are_threads = first.op.agent == Agent::Threads && access.op.agent == Agent::Threads;
        let may_synchronize = are_threads && ![RACE_PROXY, RACE_SAME_VALUE, RACE_LOCKSTEP].contains(&id) && !relation.sizes_differ;
        if let Some(fixed) = may_synchronize.then(|| self.fix_of_synchronization(language, block_slot, conflict, access)).flatten() {
            return fixed;
        }
        let fixed = fix_of_kind(id, language, first, access).or_else(|| self.fix_of_group(language, block_slot, conflict, access));
        if let Some(fixed) = fixed.or_else(|| fix_of_copies(language, first, access)) {
            return fixed;
        }
        if relation.sizes_differ {
            let text =
                format!("consider accessing the bytes in one size on both sides, or {} between", language.name(Construct::BlockBarrier));
            return Advice::new(text, barrier_between(BarrierLevel::Block, first, access));
        }
        let initializes = |pc: Pc| self.program.code[pc.index()].op.initializes_mbarrier();
        if initializes(first.pc) && initializes(access.pc) {
            let text = "consider letting one thread initialize the mbarrier, and a barrier of all its users after it";
            let other = Some(access.pc).filter(|pc| *pc != first.pc);
            let one: Candidate = std::iter::once(first.pc).chain(other).map(Remedy::FirstThread).collect();
            let ordered = one.iter().copied().chain([Remedy::BarrierAt(BarrierLevel::Block, Position::After(access.pc))]).collect();
            return Advice::new(text, vec![one, ordered]);
        }
        self.fix_by_distance(id, language, relation, first, access)
    }

    /// True if two equal stores are a lost update: the value is computed from a load of the same location with no barrier between.
    pub(super) fn is_lost_update(&mut self, first: &Access, second: &Access) -> bool {
        let Some(Update { load, store, kind: UpdateKind::Operation(_) }) = self.update(first, second) else { return false };
        self.reachability.reaches_without_barrier(&self.program, load, store, crate::check::reachability::BarrierKind::Any)
    }

    /// The update that both accesses are part of, or one of them if the other is an atomic on the same location; or the update that
    /// computed the address of two stores.
    fn update(&mut self, first: &Access, second: &Access) -> Option<Update> {
        let is_plain = |access: &Access| !access.is_mbarrier && access.op.agent == Agent::Threads;
        if !is_plain(first) || !is_plain(second) {
            return None;
        }
        let Self { program, reachability, result_uses, updates, .. } = self;
        let mut update_of = |access: &Access| updates.of(program, (&mut *reachability, &mut *result_uses), access.pc);
        let found = match (update_of(first), update_of(second)) {
            (Some(one), Some(other)) if one == other => Some(one),
            (Some(one), Some(other)) => {
                let side = |access: &Access| -> Side { access.side(LaneMask::of(0), [0; 3]) };
                let same = is_same_statement(program, &side(first), &side(second)) || one.kind == other.kind;
                same.then_some(one)
            }
            (Some(one), None) => (second.action == SideAction::Atomic).then_some(one),
            (None, Some(other)) => (first.action == SideAction::Atomic).then_some(other),
            (None, None) => None,
        };
        if found.is_some() || first.action != SideAction::Write || second.action != SideAction::Write {
            return found;
        }
        let mut update_of_address = |access: &Access| updates.of_address(program, (&mut *reachability, &mut *result_uses), access.pc);
        update_of_address(first).filter(|update| update_of_address(second) == Some(*update))
    }

    fn fix_of_update(&self, language: Language, Update { load, store, kind }: Update) -> Advice {
        let as_atomic = |f| vec![vec![Remedy::Atomic { load, store, f }]];
        let read_strongly = vec![vec![Remedy::Order(load, Ordering::Relaxed)]];
        let line = |pc: Pc| AdviceText::default().line(pc);
        let is_one_line = line(load).in_program(&self.program) == line(store).in_program(&self.program);
        let at = if is_one_line { line(load) } else { line(load).words(" and ").line(store) };
        let strong = language.name(Construct::Strong);
        match kind {
            UpdateKind::Operation(f) => {
                let atomic = language.atomic(f);
                let what = format!("consider {atomic} for the load, the operation and the store at ");
                Advice::new(AdviceText::from(what).text(at).words(": a barrier does not make them one step"), as_atomic(f))
            }
            UpdateKind::Test { is_relational } => {
                let atomic = language.name(if is_relational { Construct::MinOrMax } else { Construct::CompareAndSwap });
                let what = format!("consider {atomic} for the test and the write at ");
                Advice::new(AdviceText::from(what).text(at).words(": a barrier does not make them one step"), as_atomic(None))
            }
            UpdateKind::Hint => {
                let what = format!("consider a strong load ({strong}) for the test at ");
                let decides = AdviceText::from(what).line(load).words(", since the atomic at ").line(store);
                Advice::new(decides.words(" decides; or no test"), read_strongly)
            }
        }
    }

    fn fix_by_distance(&mut self, id: FindingId, language: Language, relation: Relation, first: &Access, second: &Access) -> Advice {
        let name = |term| language.name(term);
        let between = match relation.iterations {
            LoopIterations::Same => "between the two",
            LoopIterations::Next => "after the read, before the next iteration of the loop writes",
            LoopIterations::Both => "between the write and the read, and after the read before the next iteration of the loop writes",
        };
        let (block, warp) = (name(Construct::BlockBarrier), name(Construct::WarpBarrier));
        let text = match relation.distance {
            ThreadDistance::Instruction if id == RACE_SHARED_WAW && language == Language::Triton => {
                "consider enable_fp_fusion=False for the kernel, with which all lanes round alike".into()
            }
            ThreadDistance::Instruction => "consider letting one lane write, or an atomic".into(),
            ThreadDistance::Warp if relation.is_lone_warp || block == warp => format!("consider {warp} {between}"),
            ThreadDistance::Warp => format!("consider {warp} {between}, or {block} if other warps touch these bytes as well"),
            ThreadDistance::Block if first.pc == second.pc && !self.is_repeated(first.pc) => {
                "consider letting one thread write, or an atomic".into()
            }
            ThreadDistance::Block if self.has_no_common_point(first, second) => format!(
                "consider {} of the warps that take part, or a release after the first ({}) that the other one acquires ({}); not all \
                 threads of the block reach a place between the two, as {block} needs",
                name(Construct::NamedBarrier),
                name(Construct::Release),
                name(Construct::Acquire)
            ),
            ThreadDistance::Block => format!("consider {block} {between}, at a point that all threads of the block reach"),
            ThreadDistance::Cluster => format!("consider {} {between}", name(Construct::ClusterBarrier)),
            ThreadDistance::Grid => format!(
                "consider a release and an acquire in {} scope ({} and an atomic flag on both sides), atomics, or two kernels",
                name(Construct::GridScope),
                name(Construct::Fence)
            ),
        };
        let level = match relation.distance {
            ThreadDistance::Warp => BarrierLevel::Warp,
            ThreadDistance::Instruction | ThreadDistance::Block => BarrierLevel::Block,
            ThreadDistance::Cluster => BarrierLevel::Cluster,
            ThreadDistance::Grid => return Advice::text_only(text),
        };
        Advice::new(text, barrier_between(level, first, second))
    }

    /// True if the instruction can be executed again by the same thread.
    fn is_repeated(&mut self, pc: Pc) -> bool {
        self.reachability.reaches_without_barrier(&self.program, pc, pc, crate::check::reachability::BarrierKind::BlockWide)
    }

    /// True if there is no point between two accesses that all threads of the block reach.
    fn has_no_common_point(&mut self, first: &Access, second: &Access) -> bool {
        let same_function = self.program.function_at(first.pc) == self.program.function_at(second.pc);
        let analysis = self.updates.analysis(&self.program, &mut self.reachability, first.pc).filter(|_| same_function);
        analysis.is_some_and(|analysis| analysis.has_no_common_point(first.pc, second.pc))
    }
}

/// The advice that depends on the kind of the mistake alone.
fn fix_of_kind(id: FindingId, language: Language, first: &Access, second: &Access) -> Option<Advice> {
    let mut candidates = Vec::new();
    let text: String = if id == RACE_PROXY {
        let unordered_proxy = [first, second].into_iter().find(|access| matches!(access.proxy, Proxy::ReadOnly | Proxy::Surface));
        match unordered_proxy.unwrap_or(second).proxy {
            Proxy::Surface => "consider letting an earlier launch write it".into(),
            Proxy::ReadOnly => {
                format!("consider reading it with {}, or letting an earlier launch write it", language.name(Construct::GenericLoad))
            }
            Proxy::TensorMap => {
                "consider releasing the change with fence.proxy.tensormap::generic.release (tensormap.cp_fenceproxy does), and \
                 fence.proxy.tensormap::generic.acquire on the map in the thread that issues the copy, before it"
                    .into()
            }
            Proxy::Generic | Proxy::Async => {
                candidates.push(vec![Remedy::ProxyFence(Position::After(first.pc))]);
                candidates.push(vec![Remedy::ProxyFence(Position::Before(second.pc))]);
                let fence = language.name(Construct::ProxyFence);
                format!("consider {fence} in each writing thread after its writes, before the barrier that orders the copy")
            }
        }
    } else if id == RACE_SAME_VALUE {
        "none is needed; to say in the code that it is meant, let one thread write".into()
    } else {
        let text =
            || format!("consider {} scope (or that of the cluster within a cluster) on both sides", language.name(Construct::GridScope));
        let both = || vec![Remedy::Scope(first.pc, Scope::Gpu), Remedy::Scope(second.pc, Scope::Gpu)];
        return (id == RACE_SCOPE).then(|| Advice::new(text(), vec![both()]));
    };
    Some(Advice::new(text, candidates))
}

/// The advice on how to order an asynchronous operation.
fn fix_of_copies(language: Language, first: &Access, second: &Access) -> Option<Advice> {
    let (copy, other) = if first.op.agent == Agent::Threads { (second, first) } else { (first, second) };
    let waits = matches!(copy.op.agent, Agent::Copy(_)).then(|| vec![Remedy::PhaseWait(copy.pc, other.pc)]);
    if first.op.agent == Agent::Threads && copy.op.agent != Agent::Threads {
        let text = "consider waiting until all threads are done with the bytes (a barrier, or an mbarrier that they arrive at) before the \
                    copy is issued";
        let candidates = waits.into_iter().chain(barrier_between(BarrierLevel::Block, first, second)).collect();
        return Some(Advice::new(text, candidates));
    }
    let mut candidates: Vec<Candidate> = waits.into_iter().collect();
    let text: String = match copy.op.agent {
        Agent::Threads => return None,
        Agent::Async(AsyncKind::Wgmma) => {
            candidates.push(vec![Remedy::WaitAll(CopyKind::Wgmma, Position::Before(second.pc))]);
            "consider wgmma.wait_group before the access".into()
        }
        Agent::Async(AsyncKind::CpAsync) => {
            let wait = Remedy::WaitAll(CopyKind::CpAsync, Position::Before(second.pc));
            candidates.extend([vec![wait], vec![wait, Remedy::BarrierAt(BarrierLevel::Block, Position::Before(second.pc))]]);
            format!(
                "consider committing the copies, waiting with {}, and {} before other threads touch the bytes",
                language.name(Construct::WaitGroup),
                language.name(Construct::BlockBarrier)
            )
        }
        Agent::Async(_) if second.copy != 0 && !is_same_thread(first, second) => {
            candidates.push(vec![
                Remedy::WaitAll(CopyKind::Bulk, Position::After(first.pc)),
                Remedy::Barrier(BarrierLevel::Block, first.pc, second.pc),
            ]);
            format!(
                "consider letting one thread copy what both write, or ordering the two copies: the first thread waits for its group ({}), \
                 and then both meet (a barrier, or an mbarrier) before the second copy is issued",
                language.name(Construct::BulkWaitGroup)
            )
        }
        Agent::Async(_) => {
            candidates.push(vec![Remedy::WaitAll(CopyKind::Bulk, Position::Before(second.pc))]);
            format!("consider committing the copies and {} before the bytes are touched", language.name(Construct::BulkWaitGroup))
        }
        Agent::Copy(_) => {
            format!("consider waiting for the mbarrier's phase ({}) before the bytes are touched", language.name(Construct::PhaseWait))
        }
    };
    Some(Advice::new(text, candidates))
}

/// True if both accesses are by one thread.
pub(super) fn is_same_thread(first: &Access, second: &Access) -> bool {
    (first.op.block, first.op.warp) == (second.op.block, second.op.warp) && first.op.lanes == second.op.lanes
}

/// A barrier between the two sides.
fn barrier_between(level: BarrierLevel, first: &Access, second: &Access) -> Vec<Candidate> {
    vec![vec![Remedy::Barrier(level, first.pc, second.pc)]]
}
