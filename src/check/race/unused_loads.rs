//! Loads whose value is thrown away: what is computed from it is stored by other lanes only, or is not selected.
//!
//! A tile with fewer elements than the block has threads is loaded by all of them, each element several times, and one thread of each
//! stores it: compilers of tiles (Triton) do so. In a kernel that works in place the other loads race with that store, but no result
//! depends on what they read, also where it decides which way the value is computed. The guards of stores are evaluated where they follow
//! from thread indices, parameters and constants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::advice::FunctionAnalysis;
use crate::check::undefined_operands::Operands;
use crate::isa::ShuffleMode;
use crate::machine::{FrameBase, LANES, LaneMask, PerLane, PreparedLaunch, ScratchWarp, shuffle_source};
use crate::program::operands::{RegisterOperand, Use, reads, registers_of, writes};
use crate::program::{Bank, CompareOp, ControlOp, Effect, Guard, Inst, Op, Pc, PredSrc, Program, SelectOp, Src, SrcKind, WarpOp};

/// The most warps whose loads are remembered.
const MAX_WARPS: usize = 1 << 12;

/// The most steps in which a guard is computed that is evaluated.
const MAX_DEPTH: usize = 256;

/// A load by a warp: the instruction, the number of the block, and the warp.
type WarpLoad = (Pc, u32, u32);

/// A cache of what was found.
#[derive(Clone, Default)]
pub(super) struct UnusedLoads {
    /// The loads whose values no guard and no selection keeps from being used.
    always_used: BTreeSet<Pc>,
    /// The lanes that may use what they load.
    used: BTreeMap<WarpLoad, LaneMask>,
}

impl UnusedLoads {
    /// True if the lanes do not use the values that the warp loads at `load`.
    pub fn are_unused(
        &mut self,
        (load, block, warp): WarpLoad,
        lanes: impl FnOnce() -> LaneMask,
        (program, prepared): (&Program, &PreparedLaunch),
        analysis: impl FnOnce() -> Option<Arc<FunctionAnalysis>>,
    ) -> bool {
        if self.always_used.contains(&load) {
            return false;
        }
        if let Some(used) = self.used.get(&(load, block, warp)) {
            return !used.intersects(lanes());
        }
        if program.function_at(load) != Some(prepared.config.kernel) {
            self.always_used.insert(load);
            return false;
        }
        let scratch = ScratchWarp::new(program, prepared, block.into(), warp);
        let (Some(scratch), Some(analysis)) = (scratch, analysis()) else { return false };
        let mut walk = Walk { program, analysis: &analysis, scratch, unknown: BTreeMap::new(), depth: 0, has_known: false };
        let used = walk.used(load);
        if !walk.has_known {
            self.always_used.insert(load);
            return false;
        }
        if self.used.len() >= MAX_WARPS {
            self.used.clear();
        }
        self.used.insert((load, block, warp), used);
        !used.intersects(lanes())
    }
}

/// A walk along the uses of a value, in all lanes of a warp at once.
struct Walk<'a> {
    program: &'a Program,
    analysis: &'a FunctionAnalysis,
    /// Holds the values of registers that follow from the launch.
    scratch: ScratchWarp<'a>,
    /// For each register that was evaluated, the lanes in which its value is not known.
    unknown: BTreeMap<RegisterOperand, LaneMask>,
    /// Registers that are being evaluated.
    depth: usize,
    /// True if the truth of some guard or selector is known in a lane.
    has_known: bool,
}

impl Walk<'_> {
    /// The lanes whose value that is loaded at `load` may decide anything or be stored, by any lane.
    fn used(&mut self, load: Pc) -> LaneMask {
        let mut held: BTreeMap<RegisterOperand, Origins> = BTreeMap::new();
        let mut worklist: Vec<RegisterOperand> = Vec::new();
        for register in writes(&self.program.code[load.index()], self.program) {
            held.insert(register, std::array::from_fn(LaneMask::of));
            worklist.push(register);
        }
        let mut used = LaneMask::NONE;
        while let Some(register) = worklist.pop() {
            let origins = held.get(&register).copied().unwrap_or_default();
            for at in self.analysis.code() {
                let inst = &self.program.code[at.index()];
                if !reads(inst, self.program).iter().any(|read| overlaps(*read, register)) {
                    continue;
                }
                let exchange = self.exchange(inst, register);
                let given = exchange.as_ref().map_or(origins, |exchange| exchange.given(&origins));
                let is_selected = self.may_execute(inst) & self.may_select(inst, register);
                let decided = if self.is_branch_on(inst, register) { self.decided(at) } else { BTreeSet::from([at]) };
                for at in decided {
                    let inst = &self.program.code[at.index()];
                    let lanes = is_selected & self.may_execute(inst);
                    if exchange.is_none() && !self.has_results_only(inst, register) {
                        used |= union(&origins, lanes);
                        continue;
                    }
                    for result in writes(inst, self.program) {
                        let known = held.entry(result).or_default();
                        let before = *known;
                        lanes.iter().for_each(|lane| known[lane] |= given[lane]);
                        if *known != before {
                            worklist.push(result);
                        }
                    }
                }
            }
        }
        used
    }

    /// True if the register decides whether lanes take the branch.
    fn is_branch_on(&self, inst: &Inst, register: RegisterOperand) -> bool {
        let guards = |Guard { slot, .. }: Guard| overlaps(RegisterOperand { bank: Bank::Pred, slot, width: 1 }, register);
        inst.guard.is_some_and(guards) && is_branch(inst)
    }

    /// The instructions that lanes execute or not by the branch at `branch` and by those among them, without branches to later code: they
    /// have no other effect.
    fn decided(&self, branch: Pc) -> BTreeSet<Pc> {
        let (mut decided, mut branches) = (BTreeSet::new(), vec![branch]);
        while let Some(branch) = branches.pop() {
            for at in self.analysis.code().filter(|at| *at != branch && self.analysis.is_control_dependent(*at, branch)) {
                if decided.insert(at) && is_branch(&self.program.code[at.index()]) {
                    branches.push(at);
                }
            }
        }
        decided.retain(|at| !self.leads_forwards(*at));
        decided.extend((!self.leads_forwards(branch)).then_some(branch));
        decided
    }

    /// True for a branch to later code: lanes that take it do not execute anything again.
    fn leads_forwards(&self, at: Pc) -> bool {
        matches!(self.program.code[at.index()].op, Op::Control(ControlOp::Branch { target, .. }) if target > at)
    }

    /// The exchange, if `shfl` or `redux` gives the register, or a sum with it, to lanes of the warp, and uses it for nothing else.
    fn exchange(&self, inst: &Inst, register: RegisterOperand) -> Option<Exchange> {
        let (value, others, exchange) = if let Op::Warp(WarpOp::Shuffle { f, a, b, c, mask, .. }) = inst.op {
            (a, [Some(b), Some(c), mask], self.shuffle(f, b, c))
        } else if let Op::Warp(WarpOp::Redux { a, mask, .. }) = inst.op {
            (a, [Some(mask), None, None], Exchange::All)
        } else {
            return None;
        };
        let is = |source: Src| matches!(source.kind(), SrcKind::Reg(slot) if slot == register.slot);
        (register.bank == Bank::B32 && is(value) && !others.into_iter().flatten().any(is)).then_some(exchange)
    }

    /// What lanes get from each other by a `shfl`.
    fn shuffle(&self, mode: ShuffleMode, offset: Src, control: Src) -> Exchange {
        let constant = |source: Src| match source.kind() {
            SrcKind::Const(index) => self.program.consts32.get(index as usize).copied(),
            SrcKind::Reg(_) | SrcKind::Special(_) => None,
        };
        let (Some(offset), Some(control)) = (constant(offset), constant(control)) else { return Exchange::All };
        let source = |lane: usize| match shuffle_source(mode, lane as u32, offset & 31, control) {
            (source, true) => source as usize,
            (_, false) => lane,
        };
        Exchange::From(Box::new(std::array::from_fn(source)))
    }

    /// True if the register flows into the results of the instruction, or decides whether it has them, and has no other effect.
    fn has_results_only(&self, inst: &Inst, register: RegisterOperand) -> bool {
        let effects = inst.op.effects(self.program);
        let mut is_operand = effects.only_computes() && !effects.has(Effect::UsesCarry);
        registers_of(inst, self.program, |used, read| {
            is_operand &= !(overlaps(read, register) && matches!(used, Use::Address));
        });
        is_operand
    }

    /// The lanes in which the guard of an instruction is not known to be false.
    fn may_execute(&mut self, inst: &Inst) -> LaneMask {
        let Some(Guard { slot, negate }) = inst.guard else { return LaneMask::ALL };
        !self.known_false(PredSrc::Reg { slot, negate })
    }

    /// The lanes in which the register may be the source that `selp` selects; all for other instructions.
    fn may_select(&mut self, inst: &Inst, register: RegisterOperand) -> LaneMask {
        let Op::Select(SelectOp::Select { a, b, p, .. }) = inst.op else { return LaneMask::ALL };
        let is = |source: Src| matches!(source.kind(), SrcKind::Reg(slot) if slot == register.slot && register.bank != Bank::Pred);
        let negated = match p {
            PredSrc::Reg { slot, negate } => PredSrc::Reg { slot, negate: !negate },
            PredSrc::Const(truth) => PredSrc::Const(!truth),
        };
        match (is(a), is(b)) {
            (true, false) => !self.known_false(p),
            (false, true) => !self.known_false(negated),
            (true, true) | (false, false) => LaneMask::ALL,
        }
    }

    /// The lanes in which a predicate is known to be false.
    fn known_false(&mut self, predicate: PredSrc) -> LaneMask {
        let (register, negate) = match predicate {
            PredSrc::Const(truth) => return LaneMask::all_if(!truth),
            PredSrc::Reg { slot, negate } => (RegisterOperand { bank: Bank::Pred, slot, width: 1 }, negate),
        };
        let known = !self.unknown_in(register);
        self.has_known |= !known.is_empty();
        let truth = self.scratch.warp().registers.pred.get(register.slot.index()).copied().unwrap_or(LaneMask::NONE);
        known & if negate { truth } else { !truth }
    }

    /// The lanes in which the value of a register does not follow from the launch. Its value is in the scratch warp afterwards.
    fn unknown_in(&mut self, register: RegisterOperand) -> LaneMask {
        if let Some(unknown) = self.unknown.get(&register) {
            return *unknown;
        }
        // A register that depends on itself is unknown, as is one that is computed in many steps.
        self.unknown.insert(register, LaneMask::ALL);
        if self.depth == MAX_DEPTH {
            return LaneMask::ALL;
        }
        self.depth += 1;
        let unknown = self.evaluate(register);
        self.depth -= 1;
        self.unknown.insert(register, unknown);
        unknown
    }

    fn evaluate(&mut self, register: RegisterOperand) -> LaneMask {
        let def_use = self.analysis.def_use();
        let Some(at) = def_use.sole_write(register).filter(|_| register.width == 1) else { return LaneMask::ALL };
        let inst = &self.program.code[at];
        let mut any = LaneMask::NONE;
        for read in reads(inst, self.program) {
            any |= self.unknown_in(read);
        }
        if !self.scratch.execute(Pc(at as u32)) {
            return LaneMask::ALL;
        }
        if any.is_empty() || !absorbs(&inst.op) {
            return any;
        }
        let unknown = &self.unknown;
        let undefined = |bank, slot| unknown.get(&RegisterOperand { bank, slot, width: 1 }).copied().unwrap_or(LaneMask::ALL);
        let (frame, active) = (FrameBase::default(), LaneMask::ALL);
        let operands = Operands { program: self.program, warp: self.scratch.warp(), frame, active, undefined };
        inst.op.undefined_in(&operands, any)
    }
}

/// For each lane, the lanes whose loaded value may be part of what a register holds there.
type Origins = PerLane<LaneMask>;

/// The lanes whose value is part of what the register holds in some of `lanes`.
fn union(origins: &Origins, lanes: LaneMask) -> LaneMask {
    lanes.iter().fold(LaneMask::NONE, |all, lane| all | origins[lane])
}

/// What lanes get from each other.
enum Exchange {
    /// Each the value of one lane.
    From(Box<PerLane<usize>>),
    /// What may come from every lane.
    All,
}

impl Exchange {
    /// What a register holds afterwards of one with `origins`.
    fn given(&self, origins: &Origins) -> Origins {
        match self {
            Self::From(sources) => std::array::from_fn(|lane| origins[sources[lane]]),
            Self::All => [union(origins, LaneMask::ALL); LANES],
        }
    }
}

/// True for `bra`.
fn is_branch(inst: &Inst) -> bool {
    matches!(inst.op, Op::Control(ControlOp::Branch { .. }))
}

/// True if a known operand can decide the result of an operation whose other operands are unknown, such as false that of an `and`.
fn absorbs(op: &Op) -> bool {
    let is_selection = matches!(op, Op::Select(SelectOp::Select { .. } | SelectOp::PredBinary { .. } | SelectOp::PredMove { .. }));
    is_selection || matches!(op, Op::Integer(_) | Op::Compare(CompareOp::SetpInt { .. } | CompareOp::SetpFloat { .. }))
}

/// True if two registers share a slot.
fn overlaps(one: RegisterOperand, other: RegisterOperand) -> bool {
    let end = |register: RegisterOperand| register.slot.0 + register.width;
    one.bank == other.bank && one.slot.0 < end(other) && other.slot.0 < end(one)
}
