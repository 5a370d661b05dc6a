//! Taint analysis of the results of some instructions: the addresses, branches, synchronization and stores that they influence.
//!
//! Registers are followed by name and memory by state space, of global memory the buffers that addresses are computed from, ignoring the
//! order of instructions, over those that were executed. So every influence is found, and some that did not happen.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;
use smallvec::{SmallVec, smallvec};

use crate::flow::address_base::{AddressBase, BasesOfValue, address_bases};
use crate::flow::cells::Cells;
use crate::flow::taint::Taint;
use crate::isa::{Space, TypeKind};
use crate::launch::{Case, ParamValue};
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
    /// Which cells are computed from which. Cells are the registers, then [`SPACES`], then all memory, all buffers, and each of them.
    taint: Taint,
    buffers: AccessedBuffers,
    /// The cells whose values depend on the sources.
    followed: FixedBitSet,
}

/// The buffers that loads, stores and atomics are to, by their numbers, as far as that is known.
pub(super) type AccessedBuffers = BTreeMap<Pc, usize>;

/// The buffers of the launch of `case`, if that is one, that the accesses of its kernel are to whose addresses are computed from one of
/// them. Where one reaches another buffer, that is a finding.
pub(super) fn accessed_buffers(program: &Program, case: &Case) -> AccessedBuffers {
    let [launch] = case.launches.as_slice() else { return AccessedBuffers::new() };
    let mut pointers = BTreeMap::new();
    for param in &launch.params {
        add_pointers(&param.value, u64::from(param.offset), &mut pointers);
    }
    let buffer_of = |base: AddressBase| match base {
        AddressBase::Param(offset) => pointers.get(&u64::from(offset)).copied(),
        AddressBase::Variable(_) => None,
    };
    let of = |(pc, bases): (Pc, BasesOfValue)| Some((pc, buffer_of(bases.unique(|base| buffer_of(base).is_some())?)?));
    address_bases(program, launch.kernel).into_iter().filter_map(of).collect()
}

fn add_pointers(value: &ParamValue, offset: u64, pointers: &mut BTreeMap<u64, usize>) {
    match value {
        ParamValue::Address { buffer, .. } => {
            pointers.insert(offset, *buffer);
        }
        ParamValue::Struct { parts, .. } => parts.iter().for_each(|part| add_pointers(&part.value, offset + part.offset, pointers)),
        ParamValue::Bytes(_) | ParamValue::TensorMap { .. } => {}
    }
}

impl<'a> ValueFlow<'a> {
    fn new(program: &'a Program, buffers: AccessedBuffers) -> Self {
        let cells = Cells::of_program(program);
        let of_buffers = buffers.values().max().map_or(0, |last| last + 1);
        let count = cells.count() + SPACES.len() + 2 + of_buffers;
        let (taint, followed) = (Taint::new(count), FixedBitSet::with_capacity(count));
        let mut flow = Self { program, executed: Vec::new(), cells, taint, buffers, followed };
        SPACES.iter().for_each(|space| flow.taint.rule([flow.stored_in(*space)], [flow.all_memory()]));
        (0..of_buffers).for_each(|buffer| flow.taint.rule([flow.buffer(buffer)], [flow.all_memory(), flow.all_buffers()]));
        flow
    }

    /// The flow of values by these instructions, which access `buffers`.
    pub fn of(program: &'a Program, executed: &BTreeSet<Pc>, buffers: AccessedBuffers) -> Self {
        let mut flow = Self::new(program, buffers);
        for id in (0..program.functions.len()).map(FuncId::new) {
            let code = &program.functions[id.index()].code;
            let executed = executed.range(Pc(code.start)..Pc(code.end));
            flow.executed.extend(executed.map(|pc| (id, *pc)));
        }
        for index in 0..flow.executed.len() {
            let (id, pc) = flow.executed[index];
            flow.execute(id, pc, &program.code[pc.index()]);
        }
        flow
    }

    /// The influences of the values of `sources`, with an instruction for each: the first after the first source, if there is one.
    pub fn decided(&mut self, sources: &FollowedSources) -> BTreeMap<Decides, Pc> {
        let inst = |pc: Pc| &self.program.code[pc.index()];
        let computed = self.executed.iter().filter(|(_, pc)| sources.results.contains(pc));
        let results = computed.flat_map(|(id, pc)| self.written(*id, inst(*pc)));
        let spaces = sources.written.iter().filter_map(|pc| Some((*pc, inst(*pc).op.access()?)));
        let memories = spaces.map(|(pc, access)| self.stored_by(pc, access.space));
        self.followed = self.taint.spread(results.chain(memories).collect::<Vec<_>>());
        let source = sources.results.iter().chain(&sources.written).min().copied();
        let mut decided: BTreeMap<Decides, Pc> = BTreeMap::new();
        for (id, pc) in &self.executed {
            self.decisions(*id, *pc).for_each(|decides| {
                let at = decided.entry(decides).or_insert(*pc);
                if source.is_some_and(|source| *at < source && *pc > source) {
                    *at = *pc;
                }
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

    fn all_buffers(&self) -> usize {
        self.all_memory() + 1
    }

    fn buffer(&self, number: usize) -> usize {
        self.all_buffers() + 1 + number
    }

    /// The cell of the buffer that the instruction at `pc` accesses, if it does so in global memory.
    fn buffer_at(&self, pc: Pc, space: Space) -> Option<usize> {
        let is_global = matches!(space, Space::Global | Space::Generic);
        self.buffers.get(&pc).filter(|_| is_global).map(|number| self.buffer(*number))
    }

    /// The cell of what the instruction at `pc` stores through addresses of `space`.
    fn stored_by(&self, pc: Pc, space: Space) -> usize {
        self.buffer_at(pc, space).unwrap_or_else(|| self.stored_in(space))
    }

    /// The cells of what the instruction at `pc` may load through addresses of `space`.
    fn loaded_by(&self, pc: Pc, space: Space) -> SmallVec<[usize; 2]> {
        match (self.buffer_at(pc, space), space) {
            (Some(buffer), _) => smallvec![buffer, self.stored_in(Space::Global), self.stored_in(Space::Generic)],
            (None, Space::Global) => smallvec![self.all_buffers(), self.stored_in(Space::Global), self.stored_in(Space::Generic)],
            (None, _) => self.loaded_from(space),
        }
    }

    /// The cells of what may be loaded through addresses of `space` that are of no known buffer.
    fn loaded_from(&self, space: Space) -> SmallVec<[usize; 2]> {
        match space {
            Space::Generic => smallvec![self.all_memory()],
            Space::Param => smallvec![self.stored_in(space)],
            Space::Global | Space::Const | Space::Shared | Space::SharedCluster | Space::Local | Space::ParamFunc => {
                smallvec![self.stored_in(space), self.stored_in(Space::Generic)]
            }
        }
    }

    fn execute(&mut self, function: FuncId, pc: Pc, inst: &Inst) {
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            return self.call(function, call);
        }
        let Some(space) = value_space(&inst.op) else { return self.compute(function, inst, SmallVec::new()) };
        let effects = inst.op.effects(self.program);
        let loaded = if effects.has(Effect::ReadsMemory) { self.loaded_by(pc, space) } else { SmallVec::new() };
        if effects.has(Effect::WritesMemory) {
            self.store(function, inst, self.stored_by(pc, space));
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

    fn store(&mut self, function: FuncId, inst: &Inst, to: usize) {
        let stored = self.used(function, inst, |used| used == Use::Read || used == Use::Guard);
        self.taint.rule(stored, [to]);
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
