//! How far the results of some instructions spread, and what they decide there.
//!
//! Registers are followed by name and memory by space, without regard to order, over the instructions that were executed: whatever
//! an inexact result did decide is found, and sometimes what it did not.

use std::collections::{BTreeMap, BTreeSet};

use crate::isa::Space;
use crate::program::operands::{self, RegisterOperand, Use, registers_of};
use crate::program::{AtomicOp, Bank, CallId, CallTarget, ControlOp, FuncId, Inst, MemoryOp, Op, Pc, Program, SyncOp};

/// What a value may decide beside other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decides {
    /// An address.
    Address,
    /// Which way a thread goes, or whether it executes an instruction.
    Branch,
    /// A barrier, or an exchange between threads.
    Synchronization,
}

impl Decides {
    /// As one says it: `an address`.
    pub fn words(self) -> &'static str {
        match self {
            Decides::Address => "an address",
            Decides::Branch => "a branch",
            Decides::Synchronization => "a synchronization",
        }
    }
}

/// What the results of `sources` may have decided, with the first instruction for each.
pub(super) fn decided(program: &Program, executed: &BTreeSet<Pc>, sources: &BTreeSet<Pc>) -> BTreeMap<Decides, Pc> {
    let mut spread = Spread { program, sources, registers: BTreeSet::new(), spaces: BTreeSet::new() };
    if sources.is_empty() {
        return BTreeMap::new();
    }
    let functions = || (0..program.functions.len() as u32).map(FuncId);
    let code = |id: FuncId| {
        let code = &program.functions[id.index()].code;
        executed.range(Pc(code.start)..Pc(code.end)).copied()
    };
    loop {
        let before = (spread.registers.len(), spread.spaces.len());
        functions().for_each(|id| code(id).for_each(|pc| spread.execute(id, pc)));
        if before == (spread.registers.len(), spread.spaces.len()) {
            break;
        }
    }
    let mut decided = BTreeMap::new();
    for (id, pc) in functions().flat_map(|id| code(id).map(move |pc| (id, pc))) {
        spread.decisions(id, pc).for_each(|decides| {
            decided.entry(decides).or_insert(pc);
        });
    }
    decided
}

/// Where inexact values are.
struct Spread<'a> {
    program: &'a Program,
    sources: &'a BTreeSet<Pc>,
    registers: BTreeSet<(FuncId, Bank, u32)>,
    spaces: BTreeSet<Space>,
}

impl Spread<'_> {
    fn execute(&mut self, function: FuncId, pc: Pc) {
        let inst = &self.program.code[pc.index()];
        match inst.op {
            Op::Control(ControlOp::Call { call, .. }) => self.call(function, call),
            Op::Memory(MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. }) if self.is_inexact(access.space) => {
                self.write(function, inst);
            }
            Op::Memory(MemoryOp::Store { access, .. } | MemoryOp::StoreVector { access, .. }) => self.store(function, inst, access.space),
            Op::Atomic(AtomicOp::Single { access, .. } | AtomicOp::Vector { access, .. }) => {
                self.store(function, inst, access.space);
                if self.is_inexact(access.space) {
                    self.write(function, inst);
                }
            }
            _ if self.sources.contains(&pc) || self.reads(function, inst, |used| used != Use::Write) => self.write(function, inst),
            _ => {}
        }
    }

    fn store(&mut self, function: FuncId, inst: &Inst, space: Space) {
        if self.reads(function, inst, |used| used == Use::Read || used == Use::Guard) {
            self.spaces.insert(memory_of(space));
        }
    }

    /// Arguments go to the callee's parameters and its results come back; `.param` variables lie in local memory.
    fn call(&mut self, caller: FuncId, call: CallId) {
        let Some(site) = self.program.calls.get(call.index()) else { return };
        let callees: Vec<FuncId> = match site.target {
            CallTarget::Direct(callee) => vec![callee],
            CallTarget::Indirect { .. } => (0..self.program.functions.len() as u32).map(FuncId).collect(),
        };
        for callee in callees {
            let function = &self.program.functions[callee.index()];
            let arguments = site.args.iter().filter_map(operands::argument_register);
            self.pass((caller, arguments.collect()), (callee, operands::parameter_registers(function).to_vec()));
            let results = operands::result_registers(function).to_vec();
            self.pass((callee, results), (caller, operands::call_results(self.program, call).to_vec()));
        }
    }

    /// If any of one side is inexact, so may all of the other be.
    fn pass(&mut self, (from, given): (FuncId, Vec<RegisterOperand>), (to, taken): (FuncId, Vec<RegisterOperand>)) {
        if given.iter().any(|register| self.holds(from, *register)) {
            self.registers.extend(taken.iter().map(|register| (to, register.bank, register.slot)));
        }
    }

    fn write(&mut self, function: FuncId, inst: &Inst) {
        let written = operands::writes(inst, self.program);
        let slots = written.iter().flat_map(|register| (0..register.width).map(|part| (register.bank, register.slot + part)));
        self.registers.extend(slots.map(|(bank, slot)| (function, bank, slot)));
    }

    fn decisions(&self, function: FuncId, pc: Pc) -> impl Iterator<Item = Decides> + use<> {
        let inst = &self.program.code[pc.index()];
        let between_threads = matches!(inst.op, Op::Sync(SyncOp::Barrier { .. } | SyncOp::WarpSync { .. }) | Op::Warp(_));
        let index = matches!(inst.op, Op::Control(ControlOp::BranchIndexed { .. }));
        let address = self.reads(function, inst, |used| used == Use::Address);
        let branch = self.reads(function, inst, |used| used == Use::Guard || index && used == Use::Read);
        let synchronization = between_threads && self.reads(function, inst, |used| used != Use::Write);
        let kinds = [(address, Decides::Address), (branch, Decides::Branch), (synchronization, Decides::Synchronization)];
        kinds.into_iter().filter(|(holds, _)| *holds).map(|(_, decides)| decides)
    }

    /// Whether an inexact value is in a register that `inst` uses in one of these ways.
    fn reads(&self, function: FuncId, inst: &Inst, wanted: impl Fn(Use) -> bool) -> bool {
        let mut found = false;
        registers_of(inst, self.program, |used, register| found |= wanted(used) && self.holds(function, register));
        found
    }

    fn holds(&self, function: FuncId, register: RegisterOperand) -> bool {
        (0..register.width).any(|part| self.registers.contains(&(function, register.bank, register.slot + part)))
    }

    fn is_inexact(&self, space: Space) -> bool {
        match memory_of(space) {
            Space::Generic => !self.spaces.is_empty(),
            space => self.spaces.contains(&space) || self.spaces.contains(&Space::Generic) && space != Space::Param,
        }
    }
}

/// The memory that a space is in: the shared memory of a block is that of its cluster, parameters of functions are local.
fn memory_of(space: Space) -> Space {
    match space {
        Space::ParamFunc => Space::Local,
        Space::SharedCluster => Space::Shared,
        other => other,
    }
}
