//! Taint analysis of the results of some instructions: the addresses, branches, synchronization and stores that they influence.
//!
//! Registers are followed by name and memory by state space, ignoring the order of instructions, over those that were executed. So every
//! influence is found, and some that did not happen.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;
use smallvec::{SmallVec, smallvec};

use crate::flow::cells::Cells;
use crate::flow::taint::Taint;
use crate::isa::{Space, TypeKind};
use crate::program::operands::{self, RegisterOperands, Use, registers_of};
use crate::program::{CallId, CallTarget, ControlOp, ConvertOp, Effect, FuncId, Inst, Op, Pc, Program, Purpose};

/// What a value may influence, other than values of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decides {
    /// An address.
    Address,
    /// The direction of a branch, or whether a thread executes an instruction.
    Branch,
    /// A barrier, or an exchange between threads.
    Synchronization,
    /// A value that is stored.
    Stored,
}

/// The values that are followed.
#[derive(Clone, Debug, Default)]
pub(super) struct FollowedSources {
    /// The registers that these instructions write.
    pub results: BTreeSet<Pc>,
    /// The memory that these instructions write to.
    pub written: BTreeSet<Pc>,
}

impl Decides {
    /// The noun with its article: `an address`.
    pub fn words(self) -> &'static str {
        match self {
            Decides::Address => "an address",
            Decides::Branch => "a branch",
            Decides::Synchronization => "a synchronization",
            Decides::Stored => "what is stored",
        }
    }
}

/// The memories that are followed, each as one cell.
const SPACES: [Space; 6] = [Space::Generic, Space::Global, Space::Const, Space::Shared, Space::Local, Space::Param];

/// The space in which an operation reads or writes values; mbarriers and tensor maps hold none.
fn value_space(op: &Op) -> Option<Space> {
    op.access().filter(|_| op.purpose() != Purpose::Parameter).map(|access| access.space)
}

/// Whether an operation makes integers, bits or truth values of what it reads.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others compute with floats, or move what they read")]
fn is_discrete(op: &Op) -> bool {
    match op {
        Op::Integer(_) | Op::Bits(_) | Op::Video(_) | Op::Compare(_) => true,
        Op::Convert(ConvertOp::Single { mode, .. } | ConvertOp::Pair { mode, .. }) => mode.to.kind() != TypeKind::Float,
        _ => false,
    }
}

/// The flow of values.
pub(super) struct ValueFlow<'a> {
    program: &'a Program,
    /// The instructions that were executed, each with its function.
    executed: Vec<(FuncId, Pc)>,
    cells: Cells,
    /// Which cells are computed from which. Cells are the registers, then [`SPACES`], then all memory.
    taint: Taint,
    /// The cells whose values depend on the sources.
    followed: FixedBitSet,
}

impl<'a> ValueFlow<'a> {
    fn new(program: &'a Program) -> Self {
        let cells = Cells::of_program(program);
        let count = cells.count() + SPACES.len() + 1;
        let mut flow = Self { program, executed: Vec::new(), cells, taint: Taint::new(count), followed: FixedBitSet::with_capacity(count) };
        SPACES.iter().for_each(|space| flow.taint.rule([flow.stored_in(*space)], [flow.all_memory()]));
        flow
    }

    /// The flow of values by these instructions.
    pub fn of(program: &'a Program, executed: &BTreeSet<Pc>) -> Self {
        let mut flow = Self::new(program);
        for id in (0..program.functions.len()).map(FuncId::new) {
            let code = &program.functions[id.index()].code;
            let executed = executed.range(Pc(code.start)..Pc(code.end));
            flow.executed.extend(executed.map(|pc| (id, *pc)));
        }
        for index in 0..flow.executed.len() {
            let (id, pc) = flow.executed[index];
            flow.execute(id, &program.code[pc.index()]);
        }
        flow
    }

    /// The influences of the values of `sources`, with the first instruction for each.
    pub fn decided(&mut self, sources: &FollowedSources) -> BTreeMap<Decides, Pc> {
        let inst = |pc: Pc| &self.program.code[pc.index()];
        let computed = self.executed.iter().filter(|(_, pc)| sources.results.contains(pc));
        let results = computed.flat_map(|(id, pc)| self.written(*id, inst(*pc)));
        let spaces = sources.written.iter().filter_map(|pc| inst(*pc).op.access());
        let memories = spaces.map(|access| self.stored_in(access.space));
        self.followed = self.taint.spread(results.chain(memories).collect::<Vec<_>>());
        let mut decided = BTreeMap::new();
        for (id, pc) in &self.executed {
            self.decisions(*id, *pc).for_each(|decides| {
                decided.entry(decides).or_insert(*pc);
            });
        }
        decided
    }

    /// The instructions that make of the values followed last what a small difference may change as a whole: integers, bits, truth values.
    pub fn discrete(&self) -> BTreeSet<Pc> {
        let is_discrete = |(function, pc): &&(FuncId, Pc)| {
            let inst = &self.program.code[pc.index()];
            is_discrete(&inst.op) && self.reads(*function, inst, |used| used == Use::Read)
        };
        self.executed.iter().filter(is_discrete).map(|(_, pc)| *pc).collect()
    }

    /// The cell of what is stored through addresses of `space`: the shared memory of a block is that of its cluster, parameters of
    /// functions are local.
    fn stored_in(&self, space: Space) -> usize {
        let memory = match space {
            Space::Generic => 0,
            Space::Global => 1,
            Space::Const => 2,
            Space::Shared | Space::SharedCluster => 3,
            Space::Local | Space::ParamFunc => 4,
            Space::Param => 5,
        };
        self.cells.count() + memory
    }

    fn all_memory(&self) -> usize {
        self.cells.count() + SPACES.len()
    }

    /// The cells of what may be loaded through addresses of `space`.
    fn loaded_from(&self, space: Space) -> SmallVec<[usize; 2]> {
        match space {
            Space::Generic => smallvec![self.all_memory()],
            Space::Param => smallvec![self.stored_in(space)],
            Space::Global | Space::Const | Space::Shared | Space::SharedCluster | Space::Local | Space::ParamFunc => {
                smallvec![self.stored_in(space), self.stored_in(Space::Generic)]
            }
        }
    }

    fn execute(&mut self, function: FuncId, inst: &Inst) {
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            return self.call(function, call);
        }
        let Some(space) = value_space(&inst.op) else { return self.compute(function, inst, SmallVec::new()) };
        let effects = inst.op.effects(self.program);
        let loaded = if effects.has(Effect::ReadsMemory) { self.loaded_from(space) } else { SmallVec::new() };
        if effects.has(Effect::WritesMemory) {
            self.store(function, inst, space);
            self.taint.rule(loaded, self.written(function, inst));
        } else {
            self.compute(function, inst, loaded);
        }
    }

    fn written(&self, function: FuncId, inst: &Inst) -> Vec<usize> {
        let written = operands::writes(inst, self.program);
        written.into_iter().flat_map(|register| self.cells.frame(function).of(register)).collect()
    }

    /// The cells of the registers that `inst` uses in one of these ways.
    fn used(&self, function: FuncId, inst: &Inst, wanted: impl Fn(Use) -> bool) -> SmallVec<[usize; 4]> {
        let mut cells = SmallVec::new();
        registers_of(inst, self.program, |used, register| {
            if wanted(used) {
                cells.extend(self.cells.frame(function).of(register));
            }
        });
        cells
    }

    /// The results of `inst` are computed from all that it reads and from `loaded`.
    fn compute(&mut self, function: FuncId, inst: &Inst, loaded: SmallVec<[usize; 2]>) {
        let read = self.used(function, inst, |used| used != Use::Write);
        self.taint.rule(read.into_iter().chain(loaded), self.written(function, inst));
    }

    fn store(&mut self, function: FuncId, inst: &Inst, space: Space) {
        let stored = self.used(function, inst, |used| used == Use::Read || used == Use::Guard);
        self.taint.rule(stored, [self.stored_in(space)]);
    }

    /// Arguments go to the callee's parameters and its results come back; `.param` variables lie in local memory.
    fn call(&mut self, caller: FuncId, call: CallId) {
        let site = &self.program.calls[call];
        let callees: Vec<FuncId> = match site.target {
            CallTarget::Direct(callee) => vec![callee],
            CallTarget::Indirect { .. } => (0..self.program.functions.len()).map(FuncId::new).collect(),
        };
        for callee in callees {
            let function = &self.program.functions[callee.index()];
            let arguments = site.args.iter().filter_map(operands::argument_register).collect();
            self.pass((caller, arguments), (callee, operands::parameter_registers(function)));
            self.pass((callee, operands::result_registers(function)), (caller, operands::call_results(self.program, call)));
        }
    }

    /// If any of one side is made of a source, so may all of the other be.
    fn pass(&mut self, (from, given): (FuncId, RegisterOperands), (to, taken): (FuncId, RegisterOperands)) {
        let cells = |function: FuncId, registers: RegisterOperands| {
            let frame = *self.cells.frame(function);
            registers.into_iter().flat_map(move |register| frame.of(register))
        };
        let (given, taken) = (cells(from, given), cells(to, taken));
        self.taint.rule(given, taken);
    }

    fn decisions(&self, function: FuncId, pc: Pc) -> impl Iterator<Item = Decides> + use<> {
        let inst = &self.program.code[pc.index()];
        let index = inst.op.purpose() == Purpose::Target;
        let address = self.reads(function, inst, |used| used == Use::Address);
        let branch = self.reads(function, inst, |used| used == Use::Guard || index && used == Use::Read);
        let synchronization = inst.op.synchronizes() && self.reads(function, inst, |used| used != Use::Write);
        let stores = value_space(&inst.op).is_some() && inst.op.effects(self.program).has(Effect::WritesMemory);
        let stored = stores && self.reads(function, inst, |used| used == Use::Read);
        let kinds = [
            (address, Decides::Address),
            (branch, Decides::Branch),
            (synchronization, Decides::Synchronization),
            (stored, Decides::Stored),
        ];
        kinds.into_iter().filter(|(holds, _)| *holds).map(|(_, decides)| decides)
    }

    /// Whether a value of a source is in a register that `inst` uses in one of these ways.
    fn reads(&self, function: FuncId, inst: &Inst, wanted: impl Fn(Use) -> bool) -> bool {
        self.used(function, inst, wanted).iter().any(|cell| self.followed.contains(*cell))
    }
}
