//! Where a kernel's parameters go: through registers, arguments of calls and variables of frames, up to addresses and conditions.
//!
//! Every register and every word of a frame is a cell; instructions are edges between cells, of a few kinds. Facts travel along the
//! edges until nothing changes ([`crate::flow::worklist`]): from which words of the parameters a value is made, which of them it still is
//! but for a sum, and which floating-point format it has. The following is without order and forgets nothing. What goes through memory
//! other than frames is not followed.

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
    MatrixOp, MemoryOp, MoveOp, Op, Param, ParamPlace, Program, SelectOp, Slot, Src, SrcKind, WarpOp, WarpgroupOp,
};

/// Words of the parameters, one bit each; those past the 64th are not followed.
pub type ParamParts = u64;

/// A part of a parameter that the code loads at once: the whole of a scalar, a member of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ParamPart {
    /// Which parameter.
    pub param: usize,
    /// Where in it, in bytes.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
}

/// What is known of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fact {
    /// The words its value is computed from.
    pub value: ParamParts,
    /// Those that it is, but for sums and conversions.
    pub direct: ParamParts,
    /// Those that it is, but for sums: pointers keep their width.
    pub pointer: ParamParts,
    /// The words whose buffers its value was loaded from.
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
    /// The bits moved up by 16: a `.bf16` becomes an `.f32`.
    Upper,
    /// What the buffer holds at this address.
    Load,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: u32,
    to: u32,
    kind: Kind,
}

/// What is known of every register of a kernel and of the functions it calls.
pub struct Flow<'a> {
    pub program: &'a Program,
    pub kernel: &'a Function,
    /// The functions whose code may run, the kernel first.
    pub functions: Vec<FuncId>,
    /// The words of the parameters that the code loads, in order of bit.
    pub words: Vec<ParamPart>,
    /// Numbers of the registers; words of frames come after them.
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
            words: Vec::new(),
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

    /// What is known of a register of `function`.
    pub fn fact(&self, function: FuncId, bank: Bank, slot: Slot) -> Fact {
        self.facts.get(self.cell(function, bank, slot) as usize).copied().unwrap_or_default()
    }

    /// What is known of a value that `function` reads.
    pub fn fact_of(&self, function: FuncId, bank: Bank, source: Src) -> Fact {
        slot_of(source).map_or(Fact::default(), |slot| self.fact(function, bank, slot))
    }

    /// What is known of the base of an address.
    pub fn base(&self, function: FuncId, address: Address) -> Fact {
        match address.base {
            Base::Wide(source) => self.fact_of(function, Bank::B64, source),
            Base::Narrow(source) => self.fact_of(function, Bank::B32, source),
            Base::Frame => Fact::default(),
        }
    }

    /// The number of a register.
    pub(super) fn cell(&self, function: FuncId, bank: Bank, slot: Slot) -> u32 {
        self.cells.frame(function).cell(bank, slot)
    }

    /// The number of the register that a source is, if it is one.
    pub(super) fn cell_of(&self, function: FuncId, bank: Bank, source: Src) -> Option<u32> {
        slot_of(source).map(|slot| self.cell(function, bank, slot))
    }

    /// The cells that the values of `cells` are computed from, these among them; what is loaded from memory comes from nowhere.
    pub(super) fn makers(&self, cells: impl IntoIterator<Item = u32>) -> Reached {
        let sources = |cell: usize| {
            let computed = self.edges.iter().filter(move |edge| edge.to as usize == cell && edge.kind != Kind::Load);
            computed.map(|edge| edge.from as usize)
        };
        closure(self.facts.len(), cells.into_iter().map(|cell| cell as usize), sources)
    }

    /// Whether the value of `cell` is computed from an earlier one of its own.
    pub(super) fn is_made_of_itself(&self, cell: u32) -> bool {
        let direct = self.edges.iter().filter(|edge| edge.to == cell && edge.kind != Kind::Load).map(|edge| edge.from);
        self.makers(direct).contains(cell as usize)
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
        code.iter().for_each(|(function, _, inst)| self.note_frame_address(*function, inst));
        for (function, _, inst) in &code {
            self.edges_of(*function, inst);
            for (bank, slot, ty) in hints::of(self.program, inst) {
                let cell = self.cell(*function, bank, slot) as usize;
                self.facts[cell].hint.get_or_insert(ty);
            }
        }
        // Arguments in frames are known by the words that either side accesses, which are all known by now.
        for (function, _, inst) in &code {
            if let Op::Control(ControlOp::Call { call, .. } | ControlOp::SystemCall { call, .. }) = inst.op {
                self.call(*function, call);
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "compilers compute the address of a frame with these operations")]
    fn note_frame_address(&mut self, function: FuncId, inst: &Inst) {
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

    /// The offset in the frame that an address means, if it means one.
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

    fn carry(&mut self, function: FuncId, kind: Kind, bank: Bank, d: Dst, sources: &[Src]) {
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

    /// Edges of what goes from registers to registers.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the results of the other operations are derived from their sources")]
    fn computed(&mut self, function: FuncId, inst: &Inst) {
        match inst.op {
            Op::Move(MoveOp::Move { width, d, a }) => self.carry(function, Kind::Same, width.bank(), d, &[a]),
            Op::Move(MoveOp::Move128 { d, a }) => {
                self.carry(function, Kind::Same, Bank::B64, d, &[a]);
                self.carry(function, Kind::Same, Bank::B64, Dst(d.0.offset(1)), &[a.next()]);
            }
            Op::Move(MoveOp::ConvertAddress { wide, d, a, .. }) => self.carry(function, Kind::Same, Bank::of_wide(wide), d, &[a]),
            Op::Select(SelectOp::Select { width, d, a, b, .. }) => self.carry(function, Kind::Same, width.bank(), d, &[a, b]),
            Op::Warp(WarpOp::Shuffle { d, a, .. }) => self.carry(function, Kind::Same, Bank::B32, d, &[a]),
            Op::Move(MoveOp::Vector { width, d, a }) => {
                let (dests, sources) = (&self.program.dests[d], &self.program.sources[a]);
                dests.iter().zip(sources).for_each(|(d, a)| self.carry(function, Kind::Same, width.bank(), *d, &[*a]));
            }
            Op::Move(MoveOp::Pack { part, parts, d }) => self.pack(function, part, &self.program.sources[parts], d),
            Op::Move(MoveOp::Unpack { part, parts, a }) => self.unpack(function, part, &self.program.dests[parts], a),
            Op::Integer(IntegerOp::Binary { f: IntBinary::Add | IntBinary::Sub, ty, d, a, b }) => {
                self.carry(function, Kind::Sum, ty.bank(), d, &[a, b]);
            }
            Op::Integer(IntegerOp::Binary { f: IntBinary::And, ty, d, a, b }) if self.constant(ty.bank(), b) == Some(0xffff_0000) => {
                self.carry(function, Kind::Upper, ty.bank(), d, &[a]);
            }
            Op::Integer(IntegerOp::Ternary { f: IntTernary::MadLo, ty, d, c, .. }) => self.carry(function, Kind::Sum, ty.bank(), d, &[c]),
            Op::Integer(IntegerOp::MadWide { d, c, .. }) => self.carry(function, Kind::Sum, Bank::B64, d, &[c]),
            Op::Bits(BitsOp::Shift { f: Shift::Left, ty, d, a, b }) if self.constant(Bank::B32, b) == Some(16) => {
                self.carry(function, Kind::Upper, ty.bank(), d, &[a]);
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

    /// The words of the parameters that lie at a constant address of the parameter space.
    fn load_param(&mut self, function: FuncId, bytes: u32, bank: Bank, dests: &[Dst], address: Address) {
        let base = match address.base {
            Base::Wide(source) => self.constant(Bank::B64, source),
            Base::Narrow(source) => self.constant(Bank::B32, source),
            Base::Frame => None,
        };
        let Some(start) = base.map(|base| base.wrapping_add_signed(i64::from(address.offset))) else { return };
        for (d, at) in dests.iter().zip((start..).step_by(bytes as usize)).filter(|(d, _)| !d.is_sink()) {
            let Some(bit) = self.word(at, bytes) else { continue };
            let cell = self.cell(function, bank, d.0) as usize;
            let fact = &mut self.facts[cell];
            (fact.value, fact.direct, fact.pointer) = (fact.value | bit, fact.direct | bit, fact.pointer | bit);
        }
    }

    /// The bit of the word of `bytes` bytes at an offset of the parameter bank.
    fn word(&mut self, at: u64, bytes: u32) -> Option<ParamParts> {
        let place = |param: &Param| match param.place {
            ParamPlace::Kernel(offset) => at.checked_sub(u64::from(offset)).filter(|inside| *inside < u64::from(param.bytes)),
            ParamPlace::Register(..) | ParamPlace::Frame(_) => None,
        };
        let found = self.kernel.params.iter().enumerate().find_map(|(index, param)| Some((index, place(param)?)));
        let (param, offset) = found?;
        let word = ParamPart { param, offset: offset as u32, bytes };
        let index = self.words.iter().position(|known| *known == word).unwrap_or_else(|| {
            self.words.push(word);
            self.words.len() - 1
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

    /// Edges between an argument and its parameter, or a result and where it goes.
    fn pass_value(&mut self, caller: FuncId, argument: &CallArg, callee: FuncId, param: &Param, inwards: bool) {
        let outer = |flow: &mut Self, add: i64| match *argument {
            CallArg::Value(bank, source) => slot_of(source).map(|slot| flow.cell(caller, bank, slot)),
            CallArg::Frame { offset, bytes: _ } => Some(flow.frame_cell(caller, i64::from(offset) + add)),
            CallArg::Pred(_) | CallArg::Ignored => None,
        };
        let inner = |flow: &mut Self, add: i64| match param.place {
            ParamPlace::Register(bank, slot) => Some(flow.cell(callee, bank, slot)),
            ParamPlace::Frame(offset) => Some(flow.frame_cell(callee, i64::from(offset) + add)),
            ParamPlace::Kernel(_) => None,
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

    /// Carries facts along the edges until nothing changes. Formats travel against the code's order as well, and of several the one that
    /// comes first stays: sweeps over the edges go up and down.
    fn propagate(&mut self) {
        let ends = self.edges.iter().zip(0..).flat_map(|(edge, index)| [(edge.from, index), (edge.to, index)]);
        let count = self.facts.len().max(self.edges.len());
        let touching = Edges::new(count, &ends.collect::<Vec<_>>());
        let mut open = Worklist::full(self.edges.len(), Order::Alternating);
        while let Some(index) = open.pop() {
            let edge = self.edges[index];
            let (from, to) = self.cross(edge);
            let changed = [(edge.from, from), (edge.to, to)].into_iter().filter(|(_, is_changed)| *is_changed);
            changed.flat_map(|(cell, _)| touching.successor_nodes(cell as usize)).for_each(|index| open.push(index));
        }
    }

    /// Carries facts over one edge; whether that was anything new for the cell it comes from, and for the one it goes to.
    fn cross(&mut self, Edge { from, to, kind }: Edge) -> (bool, bool) {
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
        let is_news = source.hint.is_none() && back.is_some();
        source.hint = source.hint.or(back);
        (is_news, target != before)
    }
}

/// The functions that `kernel` can reach by calls of their names, itself first.
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
