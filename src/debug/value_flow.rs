//! Taint analysis of the results of some instructions: the addresses, branches, synchronization and stores that they influence.
//!
//! The analysis is flow-insensitive, over the instructions that were executed. It follows registers by name, memory by state space, and
//! global memory by the buffer from which the address is computed. It finds every influence, and some that did not happen.

use std::collections::{BTreeMap, BTreeSet};

use fixedbitset::FixedBitSet;
use smallvec::{SmallVec, smallvec};

use crate::flow::address_base::{AddressBase, BasesOfValue, address_bases};
use crate::flow::cells::Cells;
use crate::flow::param_cells::ParamCells;
use crate::flow::taint::Taint;
use crate::isa::{Space, TypeKind};
use crate::launch::{Case, ParamValue};
use crate::program::operands::{self, Use, registers_of};
use crate::program::{
    CallArg, CallId, CallTarget, ControlOp, ConvertOp, Effect, FuncId, Inst, Op, Param, ParamStorage, Pc, Program, Purpose,
};

/// An influence of a value on something other than a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Influence {
    /// An address.
    Address,
    /// The direction of a branch, or whether a thread executes an instruction.
    Branch,
    /// A barrier, or an exchange between threads.
    Synchronization,
    /// A value that is stored.
    Stored,
}

/// The sources of the taint.
#[derive(Clone, Debug, Default)]
pub(super) struct FollowedSources {
    /// The registers that these instructions write.
    pub results: BTreeSet<Pc>,
    /// The memory that these instructions write to.
    pub written: BTreeSet<Pc>,
}

impl Influence {
    /// The noun with its article: `an address`.
    pub fn words(self) -> &'static str {
        match self {
            Influence::Address => "an address",
            Influence::Branch => "a branch",
            Influence::Synchronization => "a synchronization",
            Influence::Stored => "what is stored",
        }
    }
}

/// The state spaces that are followed, each as one cell.
const SPACES: [Space; 6] = [Space::Generic, Space::Global, Space::Const, Space::Shared, Space::Local, Space::Param];

/// The space in which an operation reads or writes values; mbarriers and tensor maps hold none.
fn value_space(op: &Op) -> Option<Space> {
    op.access().filter(|_| op.purpose() != Purpose::Parameter).map(|access| access.space)
}

/// True if an operation computes integers, bits or truth values from its sources.
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
    /// The cells that each cell is computed from. Cells are the registers, then [`SPACES`], then all memory, all buffers, each buffer, and
    /// the parameters of functions.
    taint: Taint,
    buffers: AccessedBuffers,
    /// The parameters of functions, which calls copy.
    params: ParamCells,
    /// The cells whose values depend on the sources.
    followed: FixedBitSet,
}

/// The number of the buffer that a load, store or atomic accesses, if it is known.
pub(super) type AccessedBuffers = BTreeMap<Pc, usize>;

/// The buffer of every access of the kernel whose address is computed from one buffer, if `case` has a single launch. An access that
/// reaches another buffer is a finding.
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
        let buffer_count = buffers.values().max().map_or(0, |last| last + 1);
        let params = ParamCells::of_program(program, cells.count() + SPACES.len() + 2 + buffer_count);
        let count = params.end();
        let (taint, followed) = (Taint::new(count), FixedBitSet::with_capacity(count));
        let mut flow = Self { program, executed: Vec::new(), cells, taint, buffers, params, followed };
        SPACES.iter().for_each(|space| flow.taint.add_rule([flow.stored_in(*space)], [flow.all_memory()]));
        (0..buffer_count).for_each(|buffer| flow.taint.add_rule([flow.buffer(buffer)], [flow.all_memory(), flow.all_buffers()]));
        flow
    }

    /// The flow of values through these instructions, which access `buffers`.
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
    pub fn influences(&mut self, sources: &FollowedSources) -> BTreeMap<Influence, Pc> {
        let inst = |pc: Pc| &self.program.code[pc.index()];
        let computed = self.executed.iter().filter(|(_, pc)| sources.results.contains(pc));
        let results = computed.flat_map(|(id, pc)| self.written(*id, inst(*pc)));
        let spaces = sources.written.iter().filter_map(|pc| Some((*pc, inst(*pc).op.access()?)));
        let memories = spaces.map(|(pc, access)| self.stored_by(pc, access.space));
        self.followed = self.taint.spread(results.chain(memories).collect::<Vec<_>>());
        let source = sources.results.iter().chain(&sources.written).min().copied();
        let mut influences: BTreeMap<Influence, Pc> = BTreeMap::new();
        for (id, pc) in &self.executed {
            self.influences_of(*id, *pc).for_each(|influence| {
                let at = influences.entry(influence).or_insert(*pc);
                if source.is_some_and(|source| *at < source && *pc > source) {
                    *at = *pc;
                }
            });
        }
        influences
    }

    /// The instructions that turn the values followed last into discrete ones (integers, bits, truth values), which a rounding difference
    /// may change completely.
    pub fn discrete(&self) -> BTreeSet<Pc> {
        let is_discrete = |(function, pc): &&(FuncId, Pc)| {
            let inst = &self.program.code[pc.index()];
            is_discrete(&inst.op) && self.reads(*function, inst, |used| used == Use::Read)
        };
        self.executed.iter().filter(is_discrete).map(|(_, pc)| *pc).collect()
    }

    /// The cell of values stored through addresses of `space`: the shared memory of a block counts as that of its cluster, parameters of
    /// functions as local memory.
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

    /// The cell of the buffer that the instruction at `pc` accesses; none outside global memory.
    fn buffer_at(&self, pc: Pc, space: Space) -> Option<usize> {
        let is_global = matches!(space, Space::Global | Space::Generic);
        self.buffers.get(&pc).filter(|_| is_global).map(|number| self.buffer(*number))
    }

    /// The cell of values that the instruction at `pc` stores through addresses of `space`.
    fn stored_by(&self, pc: Pc, space: Space) -> usize {
        self.buffer_at(pc, space).unwrap_or_else(|| self.stored_in(space))
    }

    /// The cells of values that the instruction at `pc` may load through addresses of `space`.
    fn loaded_by(&self, pc: Pc, space: Space) -> SmallVec<[usize; 2]> {
        match (self.buffer_at(pc, space), space) {
            (Some(buffer), _) => smallvec![buffer, self.stored_in(Space::Global), self.stored_in(Space::Generic)],
            (None, Space::Global) => smallvec![self.all_buffers(), self.stored_in(Space::Global), self.stored_in(Space::Generic)],
            (None, _) => self.loaded_from(space),
        }
    }

    /// The cells of values that may be loaded through addresses of `space` of no known buffer.
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
        if let Some(params) = self.params.accessed(self.program, function, &inst.op) {
            return match inst.op.effects(self.program).has(Effect::WritesMemory) {
                true => self.store(function, inst, params),
                false => self.compute(function, inst, params.into()),
            };
        }
        let Some(space) = value_space(&inst.op) else { return self.compute(function, inst, SmallVec::new()) };
        let effects = inst.op.effects(self.program);
        let loaded = if effects.has(Effect::ReadsMemory) { self.loaded_by(pc, space) } else { SmallVec::new() };
        if effects.has(Effect::WritesMemory) {
            self.store(function, inst, [self.stored_by(pc, space)]);
            self.taint.add_rule(loaded, self.written(function, inst));
        } else {
            self.compute(function, inst, loaded);
        }
    }

    fn written(&self, function: FuncId, inst: &Inst) -> Vec<usize> {
        let written = operands::writes(inst, self.program);
        written.into_iter().flat_map(|register| self.cells.frame(function).of(register)).collect()
    }

    /// The cells of the registers that `inst` has with one of the wanted uses.
    fn used(&self, function: FuncId, inst: &Inst, wanted: impl Fn(Use) -> bool) -> SmallVec<[usize; 4]> {
        let mut cells = SmallVec::new();
        registers_of(inst, self.program, |used, register| {
            if wanted(used) {
                cells.extend(self.cells.frame(function).of(register));
            }
        });
        cells
    }

    /// Adds the rule that the results of `inst` are computed from all that it reads and from `loaded`.
    fn compute(&mut self, function: FuncId, inst: &Inst, loaded: SmallVec<[usize; 2]>) {
        let read = self.used(function, inst, |used| used != Use::Write);
        self.taint.add_rule(read.into_iter().chain(loaded), self.written(function, inst));
    }

    fn store(&mut self, function: FuncId, inst: &Inst, to: impl IntoIterator<Item = usize>) {
        let stored = self.used(function, inst, |used| used == Use::Read || used == Use::Guard);
        self.taint.add_rule(stored, to);
    }

    /// Adds the rules of a call, from arguments to parameters and from results to the caller's registers and `.param` variables.
    fn call(&mut self, caller: FuncId, call: CallId) {
        let site = &self.program.calls[call];
        let callees: Vec<FuncId> = match site.target {
            CallTarget::Direct(callee) => vec![callee],
            CallTarget::Indirect { .. } => (0..self.program.functions.len()).map(FuncId::new).collect(),
        };
        for callee in callees {
            let function = &self.program.functions[callee.index()];
            for (argument, param) in site.args.iter().zip(&function.params) {
                self.copy(self.argument(caller, argument), self.param(callee, param));
            }
            for (result, param) in site.results.iter().zip(&function.results) {
                self.copy(self.param(callee, param), self.argument(caller, result));
            }
        }
    }

    /// Adds the rules of a copy, word by word.
    fn copy(&mut self, from: Vec<usize>, to: Vec<usize>) {
        if from.len() == to.len() {
            from.into_iter().zip(to).for_each(|(from, to)| self.taint.add_rule([from], [to]));
        } else {
            self.taint.add_rule(from, to);
        }
    }

    /// The cells of an argument or a result of a call; empty for a constant.
    fn argument(&self, caller: FuncId, argument: &CallArg) -> Vec<usize> {
        match *argument {
            CallArg::Frame { offset, bytes } => self.params_at(caller, offset, bytes),
            CallArg::Value(..) | CallArg::Pred(_) | CallArg::Ignored => {
                operands::argument_register(argument).into_iter().flat_map(|register| self.cells.frame(caller).of(register)).collect()
            }
        }
    }

    /// The cells of a parameter or result of a function.
    fn param(&self, callee: FuncId, param: &Param) -> Vec<usize> {
        match param.storage {
            ParamStorage::Frame(offset) => self.params_at(callee, offset, param.bytes),
            ParamStorage::Register(bank, slot) => vec![self.cells.frame(callee).cell(bank, slot) as usize],
            ParamStorage::Kernel(_) => Vec::new(),
        }
    }

    fn params_at(&self, function: FuncId, offset: u32, bytes: u32) -> Vec<usize> {
        self.params.of(function, offset, bytes).unwrap_or_else(|| vec![self.stored_in(Space::Local)])
    }

    /// True if the instruction gives a followed value to a function of the system.
    fn prints(&self, function: FuncId, op: &Op) -> bool {
        let Op::Control(ControlOp::SystemCall { call, .. }) = op else { return false };
        let arguments = self.program.calls[*call].args.iter().flat_map(|argument| self.argument(function, argument));
        arguments.into_iter().any(|cell| self.followed.contains(cell))
    }

    fn influences_of(&self, function: FuncId, pc: Pc) -> impl Iterator<Item = Influence> + use<> {
        let inst = &self.program.code[pc.index()];
        let index = inst.op.purpose() == Purpose::Target;
        let address = self.reads(function, inst, |used| used == Use::Address);
        let branch = self.reads(function, inst, |used| used == Use::Guard || index && used == Use::Read);
        let synchronization = inst.op.synchronizes() && self.reads(function, inst, |used| used != Use::Write);
        let stores = value_space(&inst.op).is_some() && inst.op.effects(self.program).has(Effect::WritesMemory);
        // A parameter is stored for the callee, which is followed.
        let is_passed = self.params.accessed(self.program, function, &inst.op).is_some();
        let stored = stores && !is_passed && self.reads(function, inst, |used| used == Use::Read) || self.prints(function, &inst.op);
        let kinds = [
            (address, Influence::Address),
            (branch, Influence::Branch),
            (synchronization, Influence::Synchronization),
            (stored, Influence::Stored),
        ];
        kinds.into_iter().filter(|(applies, _)| *applies).map(|(_, influence)| influence)
    }

    /// True if a value computed from a source is in a register that `inst` has with one of the wanted uses.
    fn reads(&self, function: FuncId, inst: &Inst, wanted: impl Fn(Use) -> bool) -> bool {
        self.used(function, inst, wanted).iter().any(|cell| self.followed.contains(*cell))
    }
}
