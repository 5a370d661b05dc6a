//! Certificates: whether the findings of a run hold for every order of its warps, its blocks and its completing copies.
//!
//! The happens-before relation of a run is that of every other run if no value that depends on the order controls which instructions
//! execute, which addresses they access, what they synchronize on, or what they store. Two kinds of values depend on the order: those that
//! several threads access by unordered strong operations (what an atomic returns; what an exchange or a store leaves in memory; what a
//! load reads), and those that an instruction reads of the machine (clocks, the multiprocessor, the lanes that execute together, whether a
//! phase is complete). The condition of a loop that only waits for a change controls nothing, if one thread makes the change.
//!
//! Floats that several threads add to one location have the same sum but for its rounding.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::findings::{FindingText, Severity};
use super::never_ran::NeverRan;
use super::run::is_partial;
use super::value_flow::{FollowedSources, Influence, ValueFlow, accessed_buffers};
use crate::cfg::{ControlFlow, is_wait_loop};
use crate::check::{Checks, UnorderedAccesses};
use crate::flow::result_uses::ResultUses;
use crate::isa::{AtomicFn, SystemFn, TypeKind};
use crate::launch::{Case, PlannedLaunch};
use crate::program::{AtomicOp, ControlOp, FuncId, MbarrierOp, MemoryOp, MoveOp, Named, Op, Pc, Program};

/// Special registers whose values differ from run to run.
const NONDETERMINISTIC: [&str; 4] = ["%clock", "%globaltimer", "%smid", "%warpid"];

/// True if the instruction at `pc` names a special register whose values differ from run to run.
pub(in crate::debug) fn reads_nondeterministic(program: &Program, pc: Pc) -> bool {
    program.mentions(pc).iter().any(|mention| match mention.named {
        Named::Special(register) => NONDETERMINISTIC.iter().any(|name| register.name().starts_with(name)),
        Named::Variable(_) | Named::Callee(_) => false,
    })
}

/// A certificate: a statement on the other orders (schedules) of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Certificate {
    /// The findings hold for every order.
    EveryOrder {
        /// Whether results may differ in the rounding of sums.
        may_round_differently: bool,
        /// The blocks that ran, if not all did: the statement is about these alone.
        #[serde(skip_serializing_if = "Option::is_none")]
        blocks: Option<RanBlocks>,
        /// The memory accesses that a made-up launch never executed; other values may show other findings.
        #[serde(skip_serializing_if = "Option::is_none")]
        never_ran: Option<NeverRan>,
        /// A wait because of which the findings hold only while all blocks are resident at once: else the kernel may hang.
        #[serde(skip_serializing_if = "Option::is_none")]
        resident: Option<ForwardWait>,
        /// Whether the kernel accessed the reserved part of shared memory, which is the toolkit's libraries' own and not compared.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        has_reserved: bool,
    },
    /// Something depends on the order.
    Depends(Dependence),
    /// Too much was accessed to compare all of it.
    Undecided {
        /// Accesses that were not compared.
        accesses: u64,
    },
}

/// How many blocks ran of the launches of which not all did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RanBlocks {
    /// Blocks that ran.
    pub ran: u64,
    /// Blocks of these launches.
    pub of: u64,
}

impl RanBlocks {
    /// Those of a case; none if all its blocks run.
    fn of_case(case: &Case) -> Option<Self> {
        let partial = || case.launches.iter().filter(|launch| is_partial(launch));
        let (ran, of) = (partial().map(|launch| launch.blocks.len() as u64).sum(), partial().map(PlannedLaunch::block_count).sum());
        (ran < of).then_some(Self { ran, of })
    }
}

/// A block that waits for a block that starts later, in a launch that is not cooperative. On a device that cannot hold all blocks, the
/// later one starts when another has finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForwardWait {
    /// The number of blocks of the launch.
    pub blocks: u64,
    /// The block that waits.
    pub block: [u32; 3],
    /// The line of the load of its wait loop: `file.ptx:12`.
    pub place: String,
    /// The block that it waits for.
    pub waits_for: [u32; 3],
}

/// The first thing that depends on the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dependence {
    /// The value that depends on the order: `what atom.global.add.u32 returns`.
    pub on: String,
    /// The line: `file.ptx:12`.
    pub place: String,
    /// What it may influence, as a noun, and the line; none for a value in memory that no instruction reads.
    pub decides: Option<(&'static str, String)>,
}

/// The certificate of a run that `executed` these instructions; none if a finding is an error or a checker did not run.
pub fn certificate(
    (program, case): (&Program, &Case),
    executed: &BTreeSet<Pc>,
    (findings, unordered_accesses): (&[FindingText], &UnorderedAccesses),
    checks: Checks,
) -> Option<Certificate> {
    if checks != Checks::ALL || findings.iter().any(|finding| finding.severity == Severity::Error) {
        return None;
    }
    if unordered_accesses.uncompared > 0 {
        return Some(Certificate::Undecided { accesses: unordered_accesses.uncompared });
    }
    if let Some(warning) = findings.iter().find(|finding| finding.severity == Severity::Warning) {
        let place = warning
            .site()
            .map_or_else(String::new, |site| site.lines.first().map_or_else(String::new, |line| format!("{}:{}", line.file, line.line)));
        return Some(Certificate::Depends(Dependence { on: warning.id.word().to_string(), place, decides: None }));
    }
    if let Some(pc) = unordered_accesses.ignored {
        let on = "a race on bytes that expect_ignoring names".to_string();
        return Some(Certificate::Depends(Dependence { on, place: program.place(pc), decides: None }));
    }
    let mut classifier = Classifier { program, unordered_accesses, result_uses: ResultUses::default(), flows: BTreeMap::new() };
    let found: Vec<(Pc, OrderDependent)> = executed.iter().flat_map(|pc| classifier.of(*pc).into_iter().map(|part| (*pc, part))).collect();
    let mut certificate = judge((program, case), executed, &found);
    if let Certificate::EveryOrder { blocks, never_ran, resident, has_reserved, .. } = &mut certificate {
        *blocks = RanBlocks::of_case(case);
        *never_ran = NeverRan::of_run(program, case, executed);
        *resident = classifier.forward_wait();
        *has_reserved = unordered_accesses.has_reserved;
    }
    Some(certificate)
}

fn judge((program, case): (&Program, &Case), executed: &BTreeSet<Pc>, found: &[(Pc, OrderDependent)]) -> Certificate {
    let opcode = |pc: Pc| program.opcode(pc).map_or_else(String::new, |opcode| opcode.text.to_string());
    if let Some((pc, _)) = found.iter().find(|(_, part)| *part == OrderDependent::Memory) {
        let on = format!("what {} leaves in memory", opcode(*pc));
        return Certificate::Depends(Dependence { on, place: program.place(*pc), decides: None });
    }
    if let Some((pc, _)) = found.iter().find(|(_, part)| *part == OrderDependent::Allocation) {
        return Certificate::Depends(Dependence { on: "the address that malloc returns".into(), place: program.place(*pc), decides: None });
    }
    if found.is_empty() {
        return Certificate::EveryOrder {
            may_round_differently: false,
            blocks: None,
            never_ran: None,
            resident: None,
            has_reserved: false,
        };
    }
    let mut flow = ValueFlow::of(program, executed, accessed_buffers(program, case));
    for (pc, part) in found {
        let one = BTreeSet::from([*pc]);
        let sources = match part {
            OrderDependent::Result | OrderDependent::Memory | OrderDependent::Allocation => {
                FollowedSources { results: one, ..FollowedSources::default() }
            }
            OrderDependent::Rounding => FollowedSources { written: one, ..FollowedSources::default() },
        };
        let influences = flow.influences(&sources);
        let more_than_rounding = |(influence, _): &(Influence, Pc)| *part != OrderDependent::Rounding || *influence != Influence::Stored;
        let mut influenced = influences.into_iter().find(more_than_rounding);
        if influenced.is_none() && *part == OrderDependent::Rounding {
            let results = flow.discrete();
            let first = results.first().copied();
            let influences = flow.influences(&FollowedSources { results, ..FollowedSources::default() });
            influenced = influences.into_iter().next().map(|(influence, at)| (influence, first.unwrap_or(at)));
        }
        if let Some((influence, at)) = influenced {
            let on = match part {
                OrderDependent::Result | OrderDependent::Memory | OrderDependent::Allocation => format!("what {} returns", opcode(*pc)),
                OrderDependent::Rounding => format!("the rounding of what {} adds up", opcode(*pc)),
            };
            return Certificate::Depends(Dependence {
                on,
                place: program.place(*pc),
                decides: Some((influence.words(), program.place(at))),
            });
        }
    }
    let may_round_differently = found.iter().any(|(_, part)| *part == OrderDependent::Rounding);
    Certificate::EveryOrder { may_round_differently, blocks: None, never_ran: None, resident: None, has_reserved: false }
}

/// The part of an instruction's effect that depends on the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OrderDependent {
    /// Its result.
    Result,
    /// The value that it leaves in memory.
    Memory,
    /// The rounding of what it leaves in memory.
    Rounding,
    /// The address that it returns.
    Allocation,
}

struct Classifier<'a> {
    program: &'a Program,
    unordered_accesses: &'a UnorderedAccesses,
    result_uses: ResultUses,
    /// The control flow of the functions analysed so far.
    flows: BTreeMap<FuncId, ControlFlow>,
}

impl Classifier<'_> {
    /// The parts of the effect of the instruction at `pc` that depend on the order.
    fn of(&mut self, pc: Pc) -> Vec<OrderDependent> {
        let inst = &self.program.code[pc.index()];
        match &inst.op {
            Op::Atomic(op) => self.of_atomic(pc, op),
            // Of weak loads those that come after a write only because an atomic has observed it.
            Op::Memory(MemoryOp::Load { .. } | MemoryOp::LoadVector { .. }) => {
                let depends = self.is_contended(pc) && !(self.controls_only_wait(pc) && self.has_one_writer(pc));
                if depends { vec![OrderDependent::Result] } else { Vec::new() }
            }
            Op::Memory(MemoryOp::Store { .. } | MemoryOp::StoreVector { .. }) => {
                let depends = self.unordered_accesses.unordered_with(pc).any(|other| self.writes(other));
                if depends { vec![OrderDependent::Memory] } else { Vec::new() }
            }
            Op::Mbarrier(MbarrierOp::Wait { .. } | MbarrierOp::PendingCount { .. }) | Op::Move(MoveOp::ActiveMask { .. }) => {
                self.unless_only_wait(pc)
            }
            // The result is returned in a parameter, which value flow does not follow.
            Op::Control(ControlOp::SystemCall { f: SystemFn::Malloc, .. }) => vec![OrderDependent::Allocation],
            _ if reads_nondeterministic(self.program, pc) => self.unless_only_wait(pc),
            _ => Vec::new(),
        }
    }

    fn unless_only_wait(&mut self, pc: Pc) -> Vec<OrderDependent> {
        if self.controls_only_wait(pc) { Vec::new() } else { vec![OrderDependent::Result] }
    }

    fn of_atomic(&mut self, pc: Pc, op: &AtomicOp) -> Vec<OrderDependent> {
        if !self.is_contended(pc) {
            return Vec::new();
        }
        let (AtomicOp::Single { f, ty, .. } | AtomicOp::Vector { f, ty, .. }) = op;
        let stored = match f {
            AtomicFn::Cas | AtomicFn::Exch => Some(OrderDependent::Memory),
            AtomicFn::Add if ty.kind() == TypeKind::Float => Some(OrderDependent::Rounding),
            // Operations of one kind give the same result in any order; operations of several kinds do not.
            AtomicFn::Add
            | AtomicFn::And
            | AtomicFn::Or
            | AtomicFn::Xor
            | AtomicFn::Inc
            | AtomicFn::Dec
            | AtomicFn::Min
            | AtomicFn::Max => {
                let is_other = |other: Pc| self.atomic_function(other).is_some_and(|of| of != *f) || self.stores(other);
                self.unordered_accesses.unordered_with(pc).any(is_other).then_some(OrderDependent::Memory)
            }
        };
        let is_used = self.result_uses.is_result_used(self.program, pc);
        stored.into_iter().chain(is_used.then_some(OrderDependent::Result)).collect()
    }

    fn is_contended(&self, pc: Pc) -> bool {
        self.unordered_accesses.unordered_with(pc).next().is_some()
    }

    /// The operation of the atomic at `pc`.
    fn atomic_function(&self, pc: Pc) -> Option<AtomicFn> {
        let Op::Atomic(AtomicOp::Single { f, .. } | AtomicOp::Vector { f, .. }) = self.program.code[pc.index()].op else { return None };
        Some(f)
    }

    fn stores(&self, pc: Pc) -> bool {
        matches!(self.program.code[pc.index()].op, Op::Memory(MemoryOp::Store { .. } | MemoryOp::StoreVector { .. }))
    }

    fn writes(&self, pc: Pc) -> bool {
        self.stores(pc) || self.atomic_function(pc).is_some()
    }

    /// True if the load at `pc` contends only with stores, and each of these with no other write.
    fn has_one_writer(&self, pc: Pc) -> bool {
        let mut writers = self.unordered_accesses.unordered_with(pc).filter(|other| self.writes(*other));
        writers.all(|writer| self.stores(writer) && !self.unordered_accesses.unordered_with(writer).any(|other| self.writes(other)))
    }

    /// The first wait for what a block that starts later writes.
    fn forward_wait(&mut self) -> Option<ForwardWait> {
        let unordered_accesses = self.unordered_accesses;
        let read = unordered_accesses.forward_reads.iter().find(|read| self.waits_at(read.reader))?;
        let place = self.program.place(read.reader);
        Some(ForwardWait { blocks: read.blocks, block: read.block, place, waits_for: read.later })
    }

    /// True if a wait loop repeats until the instruction at `pc` reads what it waits for.
    fn waits_at(&mut self, pc: Pc) -> bool {
        !self.result_uses.uses(self.program, pc).controls.is_empty() && self.controls_only_wait(pc)
    }

    /// True if the result of the instruction at `pc` controls only whether a wait loop repeats.
    fn controls_only_wait(&mut self, pc: Pc) -> bool {
        let Some(function) = self.program.function_at(pc) else { return false };
        let flow = self.flows.entry(function).or_insert_with(|| ControlFlow::new(self.program, function));
        is_wait_loop(self.program, flow, &mut self.result_uses, pc)
    }
}
