//! Whether what was found in a run holds for every order of its launches: of warps, of blocks, and of copies that end.
//!
//! The happens-before relation of a run is that of every other run, if nothing that was left to chance decides which instructions are
//! executed, which addresses they access, what they synchronize on, or what they store. Left to chance is what several threads access
//! by strong operations that nothing orders (what an atomic returns; what an exchange, or a store, leaves; what a load reads), and what
//! the instruction says of the machine: clocks, the multiprocessor, the lanes that execute together, whether a phase has ended yet.
//! A loop that only waits until something changes decides nothing, if one thread changes it.
//!
//! Floats that several threads add to one location have the same sum but for its rounding.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::findings::{FindingText, Severity};
use super::never_ran::NeverRan;
use super::value_flow::{Decides, FollowedSources, ValueFlow, accessed_buffers};
use crate::cfg::{ControlFlow, is_wait_loop};
use crate::check::{Checks, Contention};
use crate::flow::result_uses::ResultUses;
use crate::isa::{AtomicFn, Ordering, SystemFn, TypeKind};
use crate::launch::Case;
use crate::program::{AtomicOp, ControlOp, FuncId, MbarrierOp, MemoryOp, MoveOp, Named, Op, Pc, Program};

/// Registers whose value is chance.
const REGISTERS: [&str; 4] = ["%clock", "%globaltimer", "%smid", "%warpid"];

/// A certificate: a statement on the other orders (schedules) of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Certificate {
    /// The findings hold for every order.
    EveryOrder {
        /// Whether results may differ in the rounding of sums.
        may_round_differently: bool,
        /// What the launch, which is made up, does not lead to; so that other values may show other findings.
        #[serde(skip_serializing_if = "Option::is_none")]
        never_ran: Option<NeverRan>,
    },
    /// Something depends on the order.
    Depends(Dependence),
    /// Too much was accessed to compare all of it.
    Undecided {
        /// Accesses that were not compared.
        accesses: u64,
    },
}

/// The first thing that depends on the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dependence {
    /// The value that depends on the order: `what atom.global.add.u32 returns`.
    pub on: String,
    /// The line: `file.ptx:12`.
    pub place: String,
    /// What it may influence, as a noun, and the line; none if it is a value that stays in memory.
    pub decides: Option<(&'static str, String)>,
}

/// The certificate of a run that executed these instructions; none if a finding is an error or a checker did not run.
pub fn certificate(
    (program, case): (&Program, &Case),
    executed: &BTreeSet<Pc>,
    (findings, contention): (&[FindingText], &Contention),
    checks: Checks,
) -> Option<Certificate> {
    if checks != Checks::ALL || findings.iter().any(|finding| finding.severity == Severity::Error) {
        return None;
    }
    if contention.undecided > 0 {
        return Some(Certificate::Undecided { accesses: contention.undecided });
    }
    if let Some(warning) = findings.iter().find(|finding| finding.severity == Severity::Warning) {
        let place = warning
            .site()
            .map_or_else(String::new, |site| site.lines.first().map_or_else(String::new, |line| format!("{}:{}", line.file, line.line)));
        return Some(Certificate::Depends(Dependence { on: warning.id.word().to_string(), place, decides: None }));
    }
    if let Some(pc) = contention.ignored {
        let on = "a race on bytes that expect_ignoring names".to_string();
        return Some(Certificate::Depends(Dependence { on, place: program.place(pc), decides: None }));
    }
    let mut chances = Chances { program, contention, result_uses: ResultUses::default(), flows: BTreeMap::new() };
    let found: Vec<(Pc, Chance)> = executed.iter().flat_map(|pc| chances.of(*pc).into_iter().map(|chance| (*pc, chance))).collect();
    let mut certificate = judge((program, case), executed, &found);
    if let Certificate::EveryOrder { never_ran, .. } = &mut certificate {
        *never_ran = NeverRan::of_run(program, case, executed);
    }
    Some(certificate)
}

fn judge((program, case): (&Program, &Case), executed: &BTreeSet<Pc>, found: &[(Pc, Chance)]) -> Certificate {
    let opcode = |pc: Pc| program.opcode(pc).map_or_else(String::new, |opcode| opcode.text.to_string());
    if let Some((pc, _)) = found.iter().find(|(_, chance)| *chance == Chance::Memory) {
        let on = format!("what {} leaves in memory", opcode(*pc));
        return Certificate::Depends(Dependence { on, place: program.place(*pc), decides: None });
    }
    if let Some((pc, _)) = found.iter().find(|(_, chance)| *chance == Chance::Allocation) {
        return Certificate::Depends(Dependence { on: "the address that malloc returns".into(), place: program.place(*pc), decides: None });
    }
    if found.is_empty() {
        return Certificate::EveryOrder { may_round_differently: false, never_ran: None };
    }
    let mut flow = ValueFlow::of(program, executed, accessed_buffers(program, case));
    for (pc, chance) in found {
        let one = BTreeSet::from([*pc]);
        let sources = match chance {
            Chance::Result | Chance::Memory | Chance::Allocation => FollowedSources { results: one, ..FollowedSources::default() },
            Chance::Rounding => FollowedSources { written: one, ..FollowedSources::default() },
        };
        let decided = flow.decided(&sources);
        let more_than_rounding = |(decides, _): &(Decides, Pc)| *chance != Chance::Rounding || *decides != Decides::Stored;
        let mut decision = decided.into_iter().find(more_than_rounding);
        if decision.is_none() && *chance == Chance::Rounding {
            let results = flow.discrete();
            let first = results.first().copied();
            let decided = flow.decided(&FollowedSources { results, ..FollowedSources::default() });
            decision = decided.into_iter().next().map(|(decides, at)| (decides, first.unwrap_or(at)));
        }
        if let Some((decides, at)) = decision {
            let on = match chance {
                Chance::Result | Chance::Memory | Chance::Allocation => format!("what {} returns", opcode(*pc)),
                Chance::Rounding => format!("the rounding of what {} adds up", opcode(*pc)),
            };
            return Certificate::Depends(Dependence { on, place: program.place(*pc), decides: Some((decides.words(), program.place(at))) });
        }
    }
    let may_round_differently = found.iter().any(|(_, chance)| *chance == Chance::Rounding);
    Certificate::EveryOrder { may_round_differently, never_ran: None }
}

/// The part of an instruction's effect that depends on the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chance {
    /// Its result.
    Result,
    /// The value that it leaves in memory.
    Memory,
    /// The rounding of what it leaves in memory.
    Rounding,
    /// The address that it returns.
    Allocation,
}

struct Chances<'a> {
    program: &'a Program,
    contention: &'a Contention,
    result_uses: ResultUses,
    /// The control flow of the functions that were looked at.
    flows: BTreeMap<FuncId, ControlFlow>,
}

impl Chances<'_> {
    /// The parts of the effect of the instruction at `pc` that depend on the order.
    fn of(&mut self, pc: Pc) -> Vec<Chance> {
        let inst = &self.program.code[pc.index()];
        match &inst.op {
            Op::Atomic(op) => self.of_atomic(pc, op),
            Op::Memory(MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. }) if access.ordering != Ordering::Weak => {
                let is_chance = self.is_contended(pc) && !(self.waits(pc) && self.has_one_writer(pc));
                if is_chance { vec![Chance::Result] } else { Vec::new() }
            }
            Op::Memory(MemoryOp::Store { .. } | MemoryOp::StoreVector { .. }) => {
                let is_chance = self.contention.with(pc).any(|other| self.writes(other));
                if is_chance { vec![Chance::Memory] } else { Vec::new() }
            }
            Op::Mbarrier(MbarrierOp::Wait { .. } | MbarrierOp::PendingCount { .. }) | Op::Move(MoveOp::ActiveMask { .. }) => {
                self.unless_waiting(pc)
            }
            // The result comes back in a parameter, which is not followed.
            Op::Control(ControlOp::SystemCall { f: SystemFn::Malloc, .. }) => vec![Chance::Allocation],
            _ if self.reads_chance(pc) => self.unless_waiting(pc),
            _ => Vec::new(),
        }
    }

    fn unless_waiting(&mut self, pc: Pc) -> Vec<Chance> {
        if self.waits(pc) { Vec::new() } else { vec![Chance::Result] }
    }

    fn of_atomic(&mut self, pc: Pc, op: &AtomicOp) -> Vec<Chance> {
        if !self.is_contended(pc) {
            return Vec::new();
        }
        let (AtomicOp::Single { f, ty, .. } | AtomicOp::Vector { f, ty, .. }) = op;
        let left = match f {
            AtomicFn::Cas | AtomicFn::Exch => Some(Chance::Memory),
            AtomicFn::Add if ty.kind() == TypeKind::Float => Some(Chance::Rounding),
            // Operations of one kind give the same in any order; of several kinds they do not.
            AtomicFn::Add
            | AtomicFn::And
            | AtomicFn::Or
            | AtomicFn::Xor
            | AtomicFn::Inc
            | AtomicFn::Dec
            | AtomicFn::Min
            | AtomicFn::Max => {
                let is_other = |other: Pc| self.function(other).is_some_and(|of| of != *f) || self.stores(other);
                self.contention.with(pc).any(is_other).then_some(Chance::Memory)
            }
        };
        let is_used = self.result_uses.is_result_used(self.program, pc);
        left.into_iter().chain(is_used.then_some(Chance::Result)).collect()
    }

    fn is_contended(&self, pc: Pc) -> bool {
        self.contention.with(pc).next().is_some()
    }

    /// The operation of the atomic at `pc`.
    fn function(&self, pc: Pc) -> Option<AtomicFn> {
        let Op::Atomic(AtomicOp::Single { f, .. } | AtomicOp::Vector { f, .. }) = self.program.code[pc.index()].op else { return None };
        Some(f)
    }

    fn stores(&self, pc: Pc) -> bool {
        matches!(self.program.code[pc.index()].op, Op::Memory(MemoryOp::Store { .. } | MemoryOp::StoreVector { .. }))
    }

    fn writes(&self, pc: Pc) -> bool {
        self.stores(pc) || self.function(pc).is_some()
    }

    /// Whether the load at `pc` contends with stores alone, each of which contends with no other write.
    fn has_one_writer(&self, pc: Pc) -> bool {
        let mut writers = self.contention.with(pc).filter(|other| self.writes(*other));
        writers.all(|writer| self.stores(writer) && !self.contention.with(writer).any(|other| self.writes(other)))
    }

    fn reads_chance(&self, pc: Pc) -> bool {
        self.program.mentions(pc).iter().any(|mention| match mention.named {
            Named::Special(register) => REGISTERS.iter().any(|name| register.name().starts_with(name)),
            Named::Variable(_) | Named::Callee(_) => false,
        })
    }

    /// Whether the result of the instruction at `pc` only decides whether a loop waits on.
    fn waits(&mut self, pc: Pc) -> bool {
        let Some(function) = self.program.function_at(pc) else { return false };
        let flow = self.flows.entry(function).or_insert_with(|| ControlFlow::new(self.program, function));
        is_wait_loop(self.program, flow, &mut self.result_uses, pc)
    }
}
