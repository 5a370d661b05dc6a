//! What the registers hold at each instruction on the lines: a constant of the run, the result of a comparison, or what the test has to
//! compute.
//!
//! A forward analysis over the instructions that can be reached. It begins with the registers with which the thread came to its lines. An
//! instruction whose sources are constants is executed on a scratch warp, or, if its result depends on more, has the value of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::place::{bytes_of, signed};
use super::recording::{Passage, Register, bits_of, written};
use super::refusal::Refusal;
use super::selection::Chosen;
use crate::isa::{BoolOp, Compare, IntType, Space};
use crate::machine::{PreparedLaunch, Registers, ScratchWarp};
use crate::program::operands::{Use, registers_of};
use crate::program::{Bank, CompareOp, ControlOp, Effect, Guard, Inst, MemoryOp, Op, Pc, PredSrc, Program, SelectOp, Src, SrcKind};

/// An operand of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// An integer.
    Constant(i64),
    /// A register.
    Register(Register),
}

/// A comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    pub compare: Compare,
    pub operands: [Operand; 2],
    /// True if its operands have no sign.
    pub is_unsigned: bool,
    /// Where it is made.
    pub pc: Pc,
}

impl Comparison {
    /// What holds where it does not.
    pub fn negated(self) -> Self {
        let compare = match self.compare {
            Compare::Eq => Compare::Ne,
            Compare::Ne => Compare::Eq,
            Compare::Lt => Compare::Ge,
            Compare::Ge => Compare::Lt,
            Compare::Le => Compare::Gt,
            Compare::Gt => Compare::Le,
            other => other,
        };
        Self { compare, ..self }
    }

    pub fn registers(self) -> impl Iterator<Item = Register> {
        self.operands.into_iter().filter_map(|operand| match operand {
            Operand::Register(register) => Some(register),
            Operand::Constant(_) => None,
        })
    }
}

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Always these bits.
    Constant(u64),
    /// Whether a comparison holds, of registers that have not been written since.
    Compared(Comparison),
    /// Something that the test computes.
    Computed,
}

/// Whether an instruction is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Always,
    Never,
    If(Comparison),
    /// By a predicate that is no comparison.
    Unclear,
}

/// What the registers hold that do not hold what they did at first.
pub(super) type State = BTreeMap<Register, Value>;

/// The instructions of a thread that can be reached, with what the registers hold before each.
pub(super) struct Flow<'a> {
    pub program: &'a Program,
    pub thread: &'a Chosen,
    pub passage: &'a Passage,
    prepared: Arc<PreparedLaunch>,
    before: BTreeMap<Pc, State>,
}

impl<'a> Flow<'a> {
    /// The flow of a thread from its entry on.
    pub fn of(program: &'a Program, thread: &'a Chosen, passage: &'a Passage) -> Result<Self, Refusal> {
        let prepared = passage.machine.launch_start().prepared;
        let mut flow = Self { program, thread, passage, prepared, before: BTreeMap::from([(passage.entry, State::new())]) };
        let mut open = BTreeSet::from([passage.entry]);
        while let Some(pc) = open.pop_first() {
            let after = flow.after(pc);
            for next in flow.successors(pc)?.into_iter().filter(|next| thread.has(*next)) {
                let merged = match flow.before.get(&next) {
                    Some(known) => flow.merged(known, &after),
                    None => after.clone(),
                };
                if flow.before.get(&next) != Some(&merged) {
                    flow.before.insert(next, merged);
                    open.insert(next);
                }
            }
        }
        Ok(flow)
    }

    /// The instructions that can be reached, in order.
    pub fn code(&self) -> impl DoubleEndedIterator<Item = Pc> {
        self.before.keys().copied()
    }

    pub fn inst(&self, pc: Pc) -> &'a Inst {
        &self.program.code[pc.index()]
    }

    /// What a register holds before an instruction.
    pub fn value(&self, pc: Pc, register: Register) -> Value {
        self.before.get(&pc).map_or(Value::Computed, |state| self.value_in(state, register))
    }

    /// What a register holds after an instruction that is executed.
    pub fn value_after(&self, pc: Pc, register: Register) -> Value {
        self.before.get(&pc).map_or(Value::Computed, |state| self.value_in(&self.executed(pc, state), register))
    }

    fn value_in(&self, state: &State, register: Register) -> Value {
        state.get(&register).copied().unwrap_or_else(|| Value::Constant(self.at_first(register)))
    }

    /// The bits with which the thread comes to its lines.
    pub fn at_first(&self, register: Register) -> u64 {
        self.registers().map_or(0, |registers| bits_of(registers, register, self.thread.lane))
    }

    fn registers(&self) -> Option<&Registers> {
        let block = self.passage.machine.block(self.thread.block)?;
        block.warps.get(self.thread.warp as usize).map(|warp| &warp.registers)
    }

    /// A source of `bank` as an operand of `bytes` bytes.
    pub fn operand(&self, pc: Pc, source: Src, bank: Bank, bytes: u32) -> Operand {
        match self.source(pc, source, bank) {
            Ok(bits) => Operand::Constant(signed(bits, bytes)),
            Err(register) => Operand::Register(register),
        }
    }

    /// The bits of a source, or the register of the test that has them.
    pub fn source(&self, pc: Pc, source: Src, bank: Bank) -> Result<u64, Register> {
        match source.kind() {
            SrcKind::Reg(slot) => match self.value(pc, (bank, slot)) {
                Value::Constant(bits) => Ok(bits),
                Value::Compared(_) | Value::Computed => Err((bank, slot)),
            },
            SrcKind::Const(index) if bank == Bank::B64 => Ok(self.program.consts64[index as usize]),
            SrcKind::Const(index) => Ok(self.program.consts32[index as usize].into()),
            SrcKind::Special(index) => {
                let warp = self.passage.machine.block(self.thread.block).and_then(|block| block.warps.get(self.thread.warp as usize));
                Ok(warp.and_then(|warp| warp.specials.get(index as usize)).map_or(0, |lanes| lanes[self.thread.lane].into()))
            }
        }
    }

    /// Whether an instruction is executed.
    pub fn condition(&self, pc: Pc) -> Condition {
        match self.inst(pc).guard {
            None => Condition::Always,
            Some(Guard { slot, negate }) => self.predicate(pc, PredSrc::Reg { slot, negate }),
        }
    }

    pub fn predicate(&self, pc: Pc, source: PredSrc) -> Condition {
        let of_bool = |holds| if holds { Condition::Always } else { Condition::Never };
        match source {
            PredSrc::Const(holds) => of_bool(holds),
            PredSrc::Reg { slot, negate } => match self.value(pc, (Bank::Pred, slot)) {
                Value::Constant(bits) => of_bool((bits != 0) != negate),
                Value::Compared(comparison) => Condition::If(if negate { comparison.negated() } else { comparison }),
                Value::Computed => Condition::Unclear,
            },
        }
    }

    /// The instructions that may follow, also those elsewhere.
    pub fn successors(&self, pc: Pc) -> Result<Vec<Pc>, Refusal> {
        let next = Pc(pc.0 + 1);
        let taken = match &self.inst(pc).op {
            Op::Control(ControlOp::Branch { target, .. }) => Some(*target),
            Op::Control(ControlOp::Return { .. } | ControlOp::Exit) => None,
            Op::Control(_) if self.condition(pc) != Condition::Never => return Err(Refusal::new(pc, "")),
            _ => return Ok(vec![next]),
        };
        Ok(match self.condition(pc) {
            Condition::Always => taken.into_iter().collect(),
            Condition::Never => vec![next],
            Condition::If(_) | Condition::Unclear => taken.into_iter().chain([next]).collect(),
        })
    }

    fn merged(&self, one: &State, other: &State) -> State {
        let registers: BTreeSet<Register> = one.keys().chain(other.keys()).copied().collect();
        let both = registers.into_iter().map(|register| {
            let (one, other) = (self.value_in(one, register), self.value_in(other, register));
            (register, if one == other { one } else { Value::Computed })
        });
        both.collect()
    }

    fn after(&self, pc: Pc) -> State {
        let Some(before) = self.before.get(&pc) else { return State::new() };
        match self.condition(pc) {
            Condition::Never => before.clone(),
            Condition::Always => self.executed(pc, before),
            Condition::If(_) | Condition::Unclear => self.merged(before, &self.executed(pc, before)),
        }
    }

    fn executed(&self, pc: Pc, before: &State) -> State {
        let results = self.results(pc, before);
        let mut after = before.clone();
        for (register, _) in &results {
            let is_stale = |value: &Value| matches!(value, Value::Compared(comparison) if comparison.registers().any(|of| of == *register));
            after.values_mut().filter(|value| is_stale(value)).for_each(|value| *value = Value::Computed);
        }
        after.extend(results.into_iter().map(|(register, value)| match value {
            // It compares what it overwrites.
            Value::Compared(comparison) if comparison.registers().any(|of| of == register) => (register, Value::Computed),
            value => (register, value),
        }));
        after
    }

    fn results(&self, pc: Pc, before: &State) -> Vec<(Register, Value)> {
        let registers = written(self.program, pc);
        if registers.is_empty() {
            return Vec::new();
        }
        if let Some(values) = self.computed(pc, before, &registers) {
            return values.into_iter().map(|(register, bits)| (register, Value::Constant(bits))).collect();
        }
        let compared = self.compared(pc);
        let value = |register: &Register| compared.iter().find(|(of, _)| of == register).map_or(Value::Computed, |(_, value)| *value);
        registers.iter().map(|register| (*register, value(register))).collect()
    }

    /// The constants that an instruction writes, if what it writes follows from constants.
    fn computed(&self, pc: Pc, before: &State, registers: &[Register]) -> Option<Vec<(Register, u64)>> {
        let inst = self.inst(pc);
        if !only_computes(&inst.op, self.program) || inst.op.effects(self.program).has(Effect::UsesCarry) {
            return None;
        }
        let number = self.passage.machine.block_number(self.thread.block)?;
        let mut scratch = ScratchWarp::new(self.program, &self.prepared, number, self.thread.warp)?;
        let mut is_known = true;
        registers_of(inst, self.program, |used, register| {
            for part in 0..register.width {
                let of = (register.bank, register.slot.offset(part));
                match self.value_in(before, of) {
                    Value::Constant(bits) => scratch.set(of, bits),
                    Value::Compared(_) | Value::Computed => is_known &= matches!(used, Use::Write | Use::Guard),
                }
            }
        });
        if !is_known {
            return None;
        }
        if scratch.execute(pc) {
            let after = &scratch.warp().registers;
            return Some(registers.iter().map(|register| (*register, bits_of(after, *register, self.thread.lane))).collect());
        }
        self.passage.executed.get(&pc).filter(|executed| executed.is_same).map(|executed| executed.values.clone())
    }

    /// Predicates that say whether a comparison holds.
    fn compared(&self, pc: Pc) -> Vec<(Register, Value)> {
        let value = |condition| match condition {
            Condition::Always => Value::Constant(1),
            Condition::Never => Value::Constant(0),
            Condition::If(comparison) => Value::Compared(comparison),
            Condition::Unclear => Value::Computed,
        };
        match self.inst(pc).op {
            Op::Compare(CompareOp::SetpInt { cmp, ty, combine: BoolOp::And, c, p, q, a, b }) => {
                let Some(bytes) = bytes_of(ty) else { return Vec::new() };
                let operands = [a, b].map(|source| self.operand(pc, source, ty.bank(), bytes));
                let is_unsigned = matches!(ty, IntType::U32 | IntType::U64);
                let comparison = Comparison { compare: cmp, operands, is_unsigned, pc };
                let with = self.predicate(pc, c);
                let of = |comparison| match with {
                    Condition::Always => Value::Compared(comparison),
                    Condition::Never => Value::Constant(0),
                    Condition::If(_) | Condition::Unclear => Value::Computed,
                };
                let results = [(p, comparison), (q, comparison.negated())];
                results.iter().filter(|(to, _)| !to.is_sink()).map(|(to, comparison)| ((Bank::Pred, to.0), of(*comparison))).collect()
            }
            Op::Select(SelectOp::PredMove { d, a }) => vec![((Bank::Pred, d.0), value(self.predicate(pc, a)))],
            _ => Vec::new(),
        }
    }
}

/// True if an operation only computes from registers, parameters of the kernel and constants.
pub(super) fn only_computes(op: &Op, program: &Program) -> bool {
    let reads_constants = match op {
        Op::Memory(MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. }) => {
            matches!(access.space, Space::Param | Space::Const)
        }
        _ => false,
    };
    reads_constants || op.effects(program).only_computes() && !matches!(op, Op::Nop | Op::Unsupported { .. })
}
