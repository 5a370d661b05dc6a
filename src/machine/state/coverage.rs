//! Coverage, which a debugger shows without a replay: the executions of each instruction, and the targets that lanes took at branches.
//!
//! Only launches with [`Instrumentation`](crate::machine::Instrumentation) record it. It belongs to the state of the machine, so a snapshot
//! restores the counts of its tick. A run adds at the begin and the end of straight-line code (`exec::coverage_counter`); the count of each
//! instruction is summed up on demand.

use std::collections::BTreeMap;

use crate::machine::state::lanes::LaneMask;
use crate::program::operands::{self, RegisterOperand};
use crate::program::{ControlOp, Op, Pc, Program, SyncOp};

/// The number of lanes of a launch that have executed each instruction, without those that faulted or still wait there for others.
#[derive(Clone, Debug, Default, Hash)]
pub struct Coverage {
    /// The difference array of the counts: lanes that execute an instruction, less those that execute the instruction before it; modulo
    /// 2^64.
    differences: Vec<u64>,
    /// Lanes that reached an instruction and for which its guard did not hold.
    predicated_off: Vec<u64>,
    /// Lanes that branched from a `brx.idx` to one of its targets.
    indexed: BTreeMap<(Pc, Pc), u64>,
}

impl Coverage {
    /// The coverage before the first tick, of a program of `instructions` instructions.
    pub(in crate::machine) fn new(instructions: usize) -> Self {
        Self { differences: vec![0; instructions + 1], predicated_off: vec![0; instructions], indexed: BTreeMap::new() }
    }

    /// The sums.
    pub fn tally(&self) -> Tally<'_> {
        let mut lanes = 0_u64;
        let sums = self.differences.iter().map(|difference| {
            lanes = lanes.wrapping_add(*difference);
            lanes
        });
        Tally { coverage: self, lanes: sums.collect() }
    }

    /// Counts an execution of the instructions from `start` to before `end` by `lanes`.
    #[inline]
    pub(in crate::machine) fn add(&mut self, start: Pc, end: Pc, lanes: LaneMask) {
        debug_assert!(start < end && end.index() < self.differences.len(), "a range outside the program");
        let lanes = u64::from(lanes.count());
        if let Some(difference) = self.differences.get_mut(start.index()) {
            *difference = difference.wrapping_add(lanes);
        }
        if let Some(difference) = self.differences.get_mut(end.index()) {
            *difference = difference.wrapping_sub(lanes);
        }
    }

    /// Counts `lanes` for which the guard of the instruction at `pc` did not hold.
    pub(in crate::machine) fn add_predicated_off(&mut self, pc: Pc, lanes: LaneMask) {
        self.predicated_off[pc.index()] += u64::from(lanes.count());
    }

    /// Counts `lanes` that branched from the `brx.idx` at `from` to `to`.
    pub(in crate::machine) fn add_indexed(&mut self, from: Pc, to: Pc, lanes: LaneMask) {
        *self.indexed.entry((from, to)).or_default() += u64::from(lanes.count());
    }

    /// Adds the executions of another part of the grid.
    pub(in crate::machine) fn add_part(&mut self, part: &Self) {
        let Self { differences, predicated_off, indexed } = part;
        assert!(self.differences.len() == differences.len(), "the parts are of one program");
        self.differences.iter_mut().zip(differences).for_each(|(sum, difference)| *sum = sum.wrapping_add(*difference));
        self.predicated_off.iter_mut().zip(predicated_off).for_each(|(sum, lanes)| *sum += lanes);
        indexed.iter().for_each(|(edge, lanes)| *self.indexed.entry(*edge).or_default() += lanes);
    }

    /// Its size in bytes.
    pub(in crate::machine) fn bytes(&self) -> u64 {
        (size_of_val(&*self.differences) + size_of_val(&*self.predicated_off) + self.indexed.len() * size_of::<((Pc, Pc), u64)>()) as u64
    }
}

/// [`Coverage`], summed up for every instruction.
#[derive(Clone, Debug)]
pub struct Tally<'a> {
    coverage: &'a Coverage,
    lanes: Vec<u64>,
}

impl Tally<'_> {
    /// Lanes that executed the instruction at `pc` or skipped it because its guard did not hold.
    pub fn lanes(&self, pc: Pc) -> u64 {
        self.lanes[pc.index()]
    }

    /// Lanes that took the control-flow edge from `from`, the last instruction of its basic block, to `to`.
    pub fn edge_lanes(&self, program: &Program, from: Pc, to: Pc) -> u64 {
        let (inst, predicated_off) = (&program.code[from.index()], self.coverage.predicated_off[from.index()]);
        let fell_through = if to.0 == from.0 + 1 { predicated_off } else { 0 };
        let Op::Control(op) = inst.op else { return self.lanes(from) };
        match op {
            ControlOp::Branch { target, .. } => {
                fell_through + if target == to { self.lanes(from).saturating_sub(predicated_off) } else { 0 }
            }
            ControlOp::BranchIndexed { .. } => fell_through + self.coverage.indexed.get(&(from, to)).copied().unwrap_or(0),
            ControlOp::Return { .. } | ControlOp::Exit | ControlOp::Trap => fell_through,
            ControlOp::Call { .. } | ControlOp::SystemCall { .. } | ControlOp::Breakpoint => self.lanes(from),
        }
    }
}

/// The registers that each instruction of a program writes when it executes. Not listed are the results of calls, written at the return,
/// and of barriers, written at their completion.
pub struct WriteTable {
    /// The start of the registers of each instruction, and the end.
    starts: Vec<u32>,
    registers: Vec<RegisterOperand>,
}

impl WriteTable {
    pub(in crate::machine) fn new(program: &Program) -> Self {
        let mut writes = Self { starts: vec![0], registers: Vec::new() };
        for inst in &program.code {
            if !matches!(inst.op, Op::Sync(SyncOp::Barrier { .. })) {
                writes.registers.extend(operands::writes(inst, program));
            }
            writes.starts.push(writes.registers.len() as u32);
        }
        writes
    }

    /// The registers that the instruction at `pc` writes.
    pub fn of(&self, pc: Pc) -> &[RegisterOperand] {
        self.in_range(pc, Pc(pc.0 + 1))
    }

    /// The registers that the instructions from `start` to before `end` write.
    pub fn in_range(&self, start: Pc, end: Pc) -> &[RegisterOperand] {
        &self.registers[self.starts[start.index()] as usize..self.starts[end.index()] as usize]
    }
}
