//! Data flow of a kernel's parameters: through registers, arguments of calls and variables of frames, to addresses and conditions.
//!
//! Every register and every word of a frame is a cell; instructions are edges between cells, of a few kinds. Facts are propagated along
//! the edges to a fixed point ([`crate::flow::worklist`]): the parts of parameters from which a value is computed, the part that it
//! equals up to a sum, and its floating-point format. The analysis is flow-insensitive. Values in memory other than frames are not
//! followed.

use std::collections::BTreeMap;

use super::hints;
use crate::flow::cells::Cells;
use crate::flow::graph::{Edges, Graph as _};
use crate::flow::reach::{Reached, closure};
use crate::flow::worklist::{Order, Worklist};
use crate::isa::{IntBinary, IntTernary, ScalarType, Shift, Space};
use crate::program::operands;
use crate::program::{
    Address, AtomicOp, Bank, Base, BitsOp, CallArg, CallId, CompareOp, ControlOp, ConvertOp, Dst, FuncId, Function, Inst, IntegerOp,
    MatrixOp, MemoryOp, MoveOp, Op, Param, ParamStorage, Program, SelectOp, Slot, Src, SrcKind, WarpOp, WarpgroupOp,
};

/// A set of parameter parts, one bit each; parts beyond the 64th are not followed.
pub type ParamParts = u64;

/// A part of a parameter that one load reads: a whole scalar, or a member of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ParamPart {
    /// Index of the parameter.
    pub param: usize,
    /// Byte offset in the parameter.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
}

/// Facts about the value of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fact {
    /// The parts from which the value is computed.
    pub value: ParamParts,
    /// The parts that it equals up to sums and conversions.
    pub direct: ParamParts,
    /// The parts that it equals up to sums: pointers keep their width.
    pub pointer: ParamParts,
    /// The parts that point to the buffers from which it was loaded.
    pub contents: ParamParts,
    /// The format of the number in it, or of each of its packed numbers.
    pub hint: Option<ScalarType>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The same bits, perhaps packed or unpacked.
    Same,
    /// A sum with it.
    Sum,
    /// The same number in another width, or compared.
    Direct,
    /// Anything else.
    Derived,
    /// The bits shifted left by 16: a `.bf16` becomes an `.f32`.
    Upper,
    /// Loaded from this address.
    Load,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: u32,
    to: u32,
    kind: Kind,
}

/// The facts about every register of a kernel and of the functions it calls.
pub struct Flow<'a> {
    pub program: &'a Program,
    pub kernel: &'a Function,
    /// The functions whose code may run, the kernel first.
    pub functions: Vec<FuncId>,
    /// The parts of the parameters that the code loads, in order of bit.
    pub parts: Vec<ParamPart>,
    /// Cell numbers of the registers; those of frames follow.
    cells: Cells,
    frames: BTreeMap<(u32, i64), u32>,
    /// Registers that hold an address in their function's frame.
    frame_addresses: BTreeMap<u32, i64>,
    edges: Vec<Edge>,
    facts: Vec<Fact>,
}

impl<'a> Flow<'a> {
    /// Follows the parameters of `kernel`.
    pub fn new(program: &'a Program, kernel: FuncId) -> Self {
        let functions = reachable(program, kernel);
        let cells = Cells::new(program, functions.iter().copied());
        let facts = vec![Fact::default(); cells.count()];
        let mut flow = Self {
            program,
            kernel: &program.functions[kernel.index()],
            functions,
            parts: Vec::new(),
            cells,
            frames: BTreeMap::new(),
            frame_addresses: BTreeMap::new(),
            edges: Vec::new(),
            facts,
        };
        flow.collect();
        flow.propagate();
        flow
    }

    /// The instructions that may run, with their functions.
    pub fn code(&self) -> impl Iterator<Item = (FuncId, u32, &'a Inst)> + '_ {
        let program = self.program;
        let code = |id: &FuncId| (*id, program.functions[id.index()].code.clone());
        self.functions.iter().map(code).flat_map(move |(id, code)| code.map(move |pc| (id, pc, &program.code[pc as usize])))
    }

    /// The facts about a register of `function`.
    pub fn fact(&self, function: FuncId, bank: Bank, slot: Slot) -> Fact {
        self.facts.get(self.cell(function, bank, slot) as usize).copied().unwrap_or_default()
    }

    /// The facts about a value that `function` reads.
    pub fn fact_of(&self, function: FuncId, bank: Bank, source: Src) -> Fact {
        slot_of(source).map_or(Fact::default(), |slot| self.fact(function, bank, slot))
    }

    /// The facts about the base of an address.
    pub fn base(&self, function: FuncId, address: Address) -> Fact {
        match address.base {
            Base::Wide(source) => self.fact_of(function, Bank::B64, source),
            Base::Narrow(source) => self.fact_of(function, Bank::B32, source),
            Base::Frame => Fact::default(),
        }
    }

    /// The cell of a register.
    pub(super) fn cell(&self, function: FuncId, bank: Bank, slot: Slot) -> u32 {
        self.cells.frame(function).cell(bank, slot)
    }

    /// The cell of a source, if it is a register.
    pub(super) fn cell_of(&self, function: FuncId, bank: Bank, source: Src) -> Option<u32> {
        slot_of(source).map(|slot| self.cell(function, bank, slot))
    }

    /// The backward slice of `cells`: the cells from which their values are computed, including themselves; loads end it.
    pub(super) fn backward_slice(&self, cells: impl IntoIterator<Item = u32>) -> Reached {
        let sources = |cell: usize| {
            let computed = self.edges.iter().filter(move |edge| edge.to as usize == cell && edge.kind != Kind::Load);
            computed.map(|edge| edge.from as usize)
        };
        closure(self.facts.len(), cells.into_iter().map(|cell| cell as usize), sources)
    }

    /// True if the value of `cell` is computed from its earlier value.
    pub(super) fn depends_on_itself(&self, cell: u32) -> bool {
        let direct = self.edges.iter().filter(|edge| edge.to == cell && edge.kind != Kind::Load).map(|edge| edge.from);
        self.backward_slice(direct).contains(cell as usize)
    }

    fn frame_cell(&mut self, function: FuncId, offset: i64) -> u32 {
        let next = self.facts.len() as u32;
        let cell = *self.frames.entry((function.0, offset)).or_insert(next);
        if cell == next {
            self.facts.push(Fact::default());
        }
        cell
    }

    fn collect(&mut self) {
        let code: Vec<(FuncId, u32, &Inst)> = self.code().collect();
        code.iter().for_each(|(function, _, inst)| self.record_frame_address(*function, inst));
        for (function, _, inst) in &code {
            self.edges_of(*function, inst);
            for (bank, slot, ty) in hints::of(self.program, inst) {
                let cell = self.cell(*function, bank, slot) as usize;
                self.facts[cell].hint.get_or_insert(ty);
            }
        }
        // Arguments in frames are matched by the words that caller or callee accesses, all of which have cells by now.
        for (function, _, inst) in &code {
            if let Op::Control(ControlOp::Call { call, .. } | ControlOp::SystemCall { call, .. }) = inst.op {
                self.call(*function, call);
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "compilers compute the address of a frame with these operations")]
    fn record_frame_address(&mut self, function: FuncId, inst: &Inst) {
        let known = |flow: &Self, bank, a| slot_of(a).and_then(|slot| flow.frame_addresses.get(&flow.cell(function, bank, slot)).copied());
        let (bank, d, offset) = match inst.op {
            Op::Move(MoveOp::FrameAddress { wide, generic: _, d, offset }) => (Bank::of_wide(wide), d, Some(i64::from(offset))),
            Op::Move(MoveOp::ConvertAddress { wide, d, a, .. }) => (Bank::of_wide(wide), d, known(self, Bank::of_wide(wide), a)),
            Op::Move(MoveOp::Move { width, d, a }) => (width.bank(), d, known(self, width.bank(), a)),
            Op::Integer(IntegerOp::Binary { f: IntBinary::Add, ty, d, a, b }) => {
                let sum = known(self, ty.bank(), a).zip(self.constant(ty.bank(), b));
                (ty.bank(), d, sum.map(|(base, add)| base + add.cast_signed()))
            }
            _ => return,
        };
        if let (Some(offset), false) = (offset, d.is_sink()) {
            let cell = self.cell(function, bank, d.0);
            self.frame_addresses.insert(cell, offset);
        }
    }

    /// The offset in the frame that an address refers to, if it does.
    fn frame_offset(&self, function: FuncId, address: Address) -> Option<i64> {
        let base = match address.base {
            Base::Frame => 0,
            Base::Wide(source) => *self.frame_addresses.get(&self.cell(function, Bank::B64, slot_of(source)?))?,
            Base::Narrow(source) => *self.frame_addresses.get(&self.cell(function, Bank::B32, slot_of(source)?))?,
        };
        Some(base + i64::from(address.offset))
    }

    fn edge(&mut self, from: u32, to: u32, kind: Kind) {
        self.edges.push(Edge { from, to, kind });
    }

    fn edges_to(&mut self, function: FuncId, kind: Kind, bank: Bank, d: Dst, sources: &[Src]) {
        for slot in sources.iter().filter_map(|source| slot_of(*source)).filter(|_| !d.is_sink()) {
            self.edge(self.cell(function, bank, slot), self.cell(function, bank, d.0), kind);
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`computed` has the other operations")]
    fn edges_of(&mut self, function: FuncId, inst: &Inst) {
        match inst.op {
            Op::Memory(MemoryOp::Load { access, bits, reg_bits, d, address, .. }) => {
                self.load(function, access.space, bits, &[d], reg_bits, address);
            }
            Op::Memory(MemoryOp::LoadVector { access, bits, reg_bits, parts, address, .. }) => {
                let dests = &self.program.dests[parts];
                self.load(function, access.space, bits, dests, reg_bits, address);
            }
            Op::Memory(MemoryOp::Store { bits, a, reg_bits, address, .. }) => self.store(function, bits, &[a], reg_bits, address),
            Op::Memory(MemoryOp::StoreVector { bits, parts, reg_bits, address, .. }) => {
                let sources = &self.program.sources[parts];
                self.store(function, bits, sources, reg_bits, address);
            }
            Op::Atomic(AtomicOp::Single { ty, d, address, .. }) => self.loaded(function, Bank::of_wide(ty.bits() == 64), &[d], address),
            Op::Matrix { matrix } => {
                let program = self.program;
                if let MatrixOp::Load(load) = &program.matrices[matrix] {
                    self.loaded(function, Bank::B32, &program.dests[load.registers], load.address);
                }
            }
            Op::Atomic(AtomicOp::Vector { .. })
            | Op::Image { .. }
            | Op::Wgmma(WarpgroupOp::Multiply { .. })
            | Op::Control(ControlOp::Call { .. }) => {}
            _ => self.computed(function, inst),
        }
    }

    /// Adds the edges of an instruction from its source to its destination registers.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the results of the other operations are derived from their sources")]
    fn computed(&mut self, function: FuncId, inst: &Inst) {
        match inst.op {
            Op::Move(MoveOp::Move { width, d, a }) => self.edges_to(function, Kind::Same, width.bank(), d, &[a]),
            Op::Move(MoveOp::Move128 { d, a }) => {
                self.edges_to(function, Kind::Same, Bank::B64, d, &[a]);
                self.edges_to(function, Kind::Same, Bank::B64, Dst(d.0.offset(1)), &[a.next()]);
            }
            Op::Move(MoveOp::ConvertAddress { wide, d, a, .. }) => self.edges_to(function, Kind::Same, Bank::of_wide(wide), d, &[a]),
            Op::Select(SelectOp::Select { width, d, a, b, .. }) => self.edges_to(function, Kind::Same, width.bank(), d, &[a, b]),
            Op::Warp(WarpOp::Shuffle { d, a, .. }) => self.edges_to(function, Kind::Same, Bank::B32, d, &[a]),
            Op::Move(MoveOp::Vector { width, d, a }) => {
                let (dests, sources) = (&self.program.dests[d], &self.program.sources[a]);
                dests.iter().zip(sources).for_each(|(d, a)| self.edges_to(function, Kind::Same, width.bank(), *d, &[*a]));
            }
            Op::Move(MoveOp::Pack { part, parts, d }) => self.pack(function, part, &self.program.sources[parts], d),
            Op::Move(MoveOp::Unpack { part, parts, a }) => self.unpack(function, part, &self.program.dests[parts], a),
            Op::Integer(IntegerOp::Binary { f: IntBinary::Add | IntBinary::Sub, ty, d, a, b }) => {
                self.edges_to(function, Kind::Sum, ty.bank(), d, &[a, b]);
            }
            Op::Integer(IntegerOp::Binary { f: IntBinary::And, ty, d, a, b }) if self.constant(ty.bank(), b) == Some(0xffff_0000) => {
                self.edges_to(function, Kind::Upper, ty.bank(), d, &[a]);
            }
            Op::Integer(IntegerOp::Ternary { f: IntTernary::MadLo, ty, d, c, .. }) => {
                self.edges_to(function, Kind::Sum, ty.bank(), d, &[c]);
            }
            Op::Integer(IntegerOp::MadWide { d, c, .. }) => self.edges_to(function, Kind::Sum, Bank::B64, d, &[c]),
            Op::Bits(BitsOp::Shift { f: Shift::Left, ty, d, a, b }) if self.constant(Bank::B32, b) == Some(16) => {
                self.edges_to(function, Kind::Upper, ty.bank(), d, &[a]);
            }
            _ => {}
        }
        let kind = match inst.op {
            Op::Convert(ConvertOp::Single { .. })
            | Op::Compare(CompareOp::SetpInt { .. })
            | Op::Select(SelectOp::PredBinary { .. } | SelectOp::PredMove { .. }) => Kind::Direct,
            _ => Kind::Derived,
        };
        let written = operands::writes(inst, self.program);
        if written.is_empty() {
            return;
        }
        for read in operands::reads(inst, self.program) {
            for write in &written {
                self.edge(self.cell(function, read.bank, read.slot), self.cell(function, write.bank, write.slot), kind);
            }
        }
    }

    fn pack(&mut self, function: FuncId, part: u8, sources: &[Src], d: Dst) {
        let bank = Bank::of_wide(sources.len() * usize::from(part) >= 64);
        for slot in sources.iter().filter_map(|source| slot_of(*source)).filter(|_| !d.is_sink()) {
            self.edge(self.cell(function, Bank::of_wide(part == 64), slot), self.cell(function, bank, d.0), Kind::Same);
        }
    }

    fn unpack(&mut self, function: FuncId, part: u8, dests: &[Dst], a: Src) {
        let bank = Bank::of_wide(dests.len() * usize::from(part) >= 64);
        let Some(slot) = slot_of(a) else { return };
        for d in dests.iter().filter(|d| !d.is_sink()) {
            self.edge(self.cell(function, bank, slot), self.cell(function, Bank::of_wide(part == 64), d.0), Kind::Same);
        }
    }

    fn load(&mut self, function: FuncId, space: Space, bits: u8, dests: &[Dst], reg_bits: u8, address: Address) {
        let bank = Bank::of_wide(bits.max(reg_bits) >= 64);
        if space == Space::Param {
            return self.load_param(function, u32::from(bits) / 8, bank, dests, address);
        }
        let Some(offset) = self.frame_offset(function, address) else { return self.loaded(function, bank, dests, address) };
        for (d, offset) in dests.iter().zip((offset..).step_by(usize::from(bits) / 8)).filter(|(d, _)| !d.is_sink()) {
            let cell = self.frame_cell(function, offset);
            self.edge(cell, self.cell(function, bank, d.0), Kind::Same);
        }
    }

    fn loaded(&mut self, function: FuncId, bank: Bank, dests: &[Dst], address: Address) {
        let (from_bank, source) = match address.base {
            Base::Wide(source) => (Bank::B64, source),
            Base::Narrow(source) => (Bank::B32, source),
            Base::Frame => return,
        };
        let Some(slot) = slot_of(source) else { return };
        for d in dests.iter().filter(|d| !d.is_sink()) {
            self.edge(self.cell(function, from_bank, slot), self.cell(function, bank, d.0), Kind::Load);
        }
    }

    fn store(&mut self, function: FuncId, bits: u8, sources: &[Src], reg_bits: u8, address: Address) {
        let bank = Bank::of_wide(bits.max(reg_bits) >= 64);
        let Some(offset) = self.frame_offset(function, address) else { return };
        for (source, offset) in sources.iter().zip((offset..).step_by(usize::from(bits) / 8)) {
            let Some(slot) = slot_of(*source) else { continue };
            let cell = self.frame_cell(function, offset);
            self.edge(self.cell(function, bank, slot), cell, Kind::Same);
        }
    }

    /// A load from a constant address of the parameter space.
    fn load_param(&mut self, function: FuncId, bytes: u32, bank: Bank, dests: &[Dst], address: Address) {
        let base = match address.base {
            Base::Wide(source) => self.constant(Bank::B64, source),
            Base::Narrow(source) => self.constant(Bank::B32, source),
            Base::Frame => None,
        };
        let Some(start) = base.map(|base| base.wrapping_add_signed(i64::from(address.offset))) else { return };
        for (d, at) in dests.iter().zip((start..).step_by(bytes as usize)).filter(|(d, _)| !d.is_sink()) {
            let Some(bit) = self.part_bit(at, bytes) else { continue };
            let cell = self.cell(function, bank, d.0) as usize;
            let fact = &mut self.facts[cell];
            (fact.value, fact.direct, fact.pointer) = (fact.value | bit, fact.direct | bit, fact.pointer | bit);
        }
    }

    /// The bit of the part of `bytes` bytes at an offset of the parameter space.
    fn part_bit(&mut self, at: u64, bytes: u32) -> Option<ParamParts> {
        let offset_in = |param: &Param| match param.storage {
            ParamStorage::Kernel(offset) => at.checked_sub(u64::from(offset)).filter(|inside| *inside < u64::from(param.bytes)),
            ParamStorage::Register(..) | ParamStorage::Frame(_) => None,
        };
        let found = self.kernel.params.iter().enumerate().find_map(|(index, param)| Some((index, offset_in(param)?)));
        let (param, offset) = found?;
        let part = ParamPart { param, offset: offset as u32, bytes };
        let index = self.parts.iter().position(|known| *known == part).unwrap_or_else(|| {
            self.parts.push(part);
            self.parts.len() - 1
        });
        (index < 64).then(|| 1 << index)
    }

    fn call(&mut self, caller: FuncId, call: CallId) {
        let program = self.program;
        let site = &program.calls[call];
        let Some(callee) = site.target.direct() else { return };
        if !self.functions.contains(&callee) {
            return;
        }
        let function = &program.functions[callee.index()];
        for (argument, param) in site.args.iter().zip(&function.params) {
            self.pass_value(caller, argument, callee, param, true);
        }
        for (result, param) in site.results.iter().zip(&function.results) {
            self.pass_value(caller, result, callee, param, false);
        }
    }

    /// Adds edges between an argument and its parameter, or between a result and its destination.
    fn pass_value(&mut self, caller: FuncId, argument: &CallArg, callee: FuncId, param: &Param, inwards: bool) {
        let outer = |flow: &mut Self, add: i64| match *argument {
            CallArg::Value(bank, source) => slot_of(source).map(|slot| flow.cell(caller, bank, slot)),
            CallArg::Frame { offset, bytes: _ } => Some(flow.frame_cell(caller, i64::from(offset) + add)),
            CallArg::Pred(_) | CallArg::Ignored => None,
        };
        let inner = |flow: &mut Self, add: i64| match param.storage {
            ParamStorage::Register(bank, slot) => Some(flow.cell(callee, bank, slot)),
            ParamStorage::Frame(offset) => Some(flow.frame_cell(callee, i64::from(offset) + add)),
            ParamStorage::Kernel(_) => None,
        };
        for add in (0..i64::from(param.bytes)).step_by(4) {
            if let (Some(outer), Some(inner)) = (outer(self, add), inner(self, add)) {
                let (from, to) = if inwards { (outer, inner) } else { (inner, outer) };
                self.edge(from, to, Kind::Same);
            }
        }
    }

    fn constant(&self, bank: Bank, source: Src) -> Option<u64> {
        let SrcKind::Const(index) = source.kind() else { return None };
        match bank {
            Bank::B64 => self.program.consts64.get(index as usize).copied(),
            Bank::B32 => self.program.consts32.get(index as usize).map(|value| u64::from(*value)),
            Bank::Pred => None,
        }
    }

    /// Propagates facts along the edges to a fixed point. Formats are propagated backward as well, and the first of several is retained:
    /// so sweeps over the edges alternate in direction.
    fn propagate(&mut self) {
        let ends = self.edges.iter().zip(0..).flat_map(|(edge, index)| [(edge.from, index), (edge.to, index)]);
        let count = self.facts.len().max(self.edges.len());
        let incident = Edges::new(count, &ends.collect::<Vec<_>>());
        let mut worklist = Worklist::full(self.edges.len(), Order::Alternating);
        while let Some(index) = worklist.pop() {
            let edge = self.edges[index];
            let (from, to) = self.transfer(edge);
            let changed = [(edge.from, from), (edge.to, to)].into_iter().filter(|(_, is_changed)| *is_changed);
            changed.flat_map(|(cell, _)| incident.successor_nodes(cell as usize)).for_each(|index| worklist.push(index));
        }
    }

    /// Propagates facts along one edge; true for its source and for its target if that changed the facts of the cell.
    fn transfer(&mut self, Edge { from, to, kind }: Edge) -> (bool, bool) {
        let (source, mut target) = (self.facts[from as usize], self.facts[to as usize]);
        let before = target;
        match kind {
            Kind::Load => target.contents |= source.pointer,
            Kind::Same | Kind::Sum | Kind::Direct | Kind::Derived | Kind::Upper => {
                target.value |= source.value;
                target.contents |= source.contents;
            }
        }
        if matches!(kind, Kind::Same | Kind::Sum | Kind::Direct) {
            target.direct |= source.direct;
        }
        if matches!(kind, Kind::Same | Kind::Sum) {
            target.pointer |= source.pointer;
        }
        if kind == Kind::Same {
            target.hint = target.hint.or(source.hint);
        }
        let back = match kind {
            Kind::Same => target.hint,
            Kind::Upper if target.hint == Some(ScalarType::F32) => Some(ScalarType::BF16),
            Kind::Upper | Kind::Sum | Kind::Direct | Kind::Derived | Kind::Load => None,
        };
        self.facts[to as usize] = target;
        let source = &mut self.facts[from as usize];
        let is_changed = source.hint.is_none() && back.is_some();
        source.hint = source.hint.or(back);
        (is_changed, target != before)
    }
}

/// The functions that `kernel` reaches by direct calls, itself first.
pub fn reachable(program: &Program, kernel: FuncId) -> Vec<FuncId> {
    let callees = |function: usize| {
        program.functions[function].code.clone().filter_map(|pc| {
            let Op::Control(ControlOp::Call { call, .. }) = program.code[pc as usize].op else { return None };
            program.calls[call].target.direct().map(FuncId::index)
        })
    };
    closure(program.functions.len(), [kernel.index()], callees).order().iter().map(|function| FuncId::new(*function)).collect()
}

pub fn slot_of(source: Src) -> Option<Slot> {
    match source.kind() {
        SrcKind::Reg(slot) => Some(slot),
        SrcKind::Const(_) | SrcKind::Special(_) => None,
    }
}
