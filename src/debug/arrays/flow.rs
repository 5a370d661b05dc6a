//! Where the addresses of variables go: through registers, frames and calls, without order of execution.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use super::fact::{Fact, derived, loose, masked};
use super::form::Form;
use super::mention::{initial_addresses, named_variables, variable};
use super::rewritten::{Rewritten, rewritten};
use crate::base::Span;
use crate::flow::cells::Cells;
use crate::flow::graph::{Edges, Graph as _};
use crate::flow::worklist::{Order, Worklist};
use crate::isa::{IntBinary, IntTernary, IntType, Shift, Space, TypeKind};
use crate::program::operands::{self, Use, registers_of};
use crate::program::{
    Address, AsyncOp, Bank, Base, BitsOp, CallArg, CallId, ClusterOp, ControlOp, ConvertOp, Dst, FuncId, Function, Inst, IntegerOp,
    MemoryOp, MoveOp, Op, Param, ParamPlace, Pc, Program, SelectOp, Slot, Src, SrcKind, VarId, Variable, WarpOp, WarpgroupOp, map,
};

/// Where an address goes that is not followed further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// Into memory.
    Stored(Pc),
    /// Out of an array of a frame, from a place that is known only in the run.
    Loaded(Pc),
    /// To a function that is not known, or that the system provides.
    Passed(Pc),
    /// Into the initial value of a variable.
    Initial(VarId),
}

/// The addresses in every register of a program.
pub struct Flow<'p> {
    pub program: &'p Program,
    facts: Vec<Option<Fact>>,
    /// Numbers of the registers among the facts; words of frames come after them.
    cells: Cells,
    /// Words of frames that hold what was stored there.
    frames: BTreeMap<(FuncId, i64), u32>,
    /// Registers that code writes at several places, as people do and compilers do where paths meet: inside a block they hold what was
    /// written last.
    rewritten: Vec<Rewritten>,
    /// What such registers hold where the block that is followed stands, as far as it has written them.
    here: BTreeMap<u32, Fact>,
    /// What such registers hold before each instruction that reads them.
    before: Vec<SmallVec<[(u32, Fact); 1]>>,
    /// The variables that a statement names.
    named: Vec<SmallVec<[VarId; 1]>>,
    pub escapes: BTreeMap<VarId, Escape>,
    /// The functions to be followed once more, as something is known that they read.
    open: Worklist,
    /// The function of each fact.
    owners: Vec<FuncId>,
    /// The functions that call each.
    callers: Edges,
    /// Whether words of frames of which nothing is known hold any number.
    frames_are_known: bool,
}

impl<'p> Flow<'p> {
    /// Follows the addresses of all variables of `program`.
    pub fn new(program: &'p Program) -> Self {
        let cells = Cells::of_program(program);
        let functions = (0..program.functions.len()).map(FuncId::new);
        let owners = functions.flat_map(|id| {
            let slots = program.functions[id.index()].slots;
            std::iter::repeat_n(id, (slots.b32 + slots.b64 + slots.pred) as usize)
        });
        let mut flow = Self {
            program,
            facts: vec![None; cells.count()],
            rewritten: rewritten(program, &cells),
            cells,
            frames: BTreeMap::new(),
            here: BTreeMap::new(),
            before: vec![SmallVec::new(); program.code.len()],
            named: named_variables(program),
            escapes: BTreeMap::new(),
            open: Worklist::full(program.functions.len(), Order::Ascending),
            owners: owners.collect(),
            callers: callers(program),
            frames_are_known: false,
        };
        flow.enter_functions();
        flow.canonicalize();
        flow.frames_are_known = true;
        flow.open = Worklist::full(program.functions.len(), Order::Ascending);
        flow.canonicalize();
        for (variable, holder) in initial_addresses(program) {
            flow.escapes.entry(variable).or_insert(Escape::Initial(holder));
        }
        flow
    }

    /// Follows functions until no fact grows wider.
    fn canonicalize(&mut self) {
        while let Some(function) = self.open.pop() {
            self.follow_function(FuncId::new(function));
        }
    }

    fn follow_function(&mut self, id: FuncId) {
        let function = &self.program.functions[id.index()];
        let mut labels = function.labels.iter().map(|(_, pc)| *pc).peekable();
        self.here.clear();
        for pc in function.code.clone().map(Pc) {
            if labels.peek().is_some_and(|label| *label <= pc) {
                while labels.next_if(|label| *label <= pc).is_some() {}
                self.here.clear();
            }
            self.note_before(id, pc);
            self.follow(id, pc);
            // Lanes that do not execute it keep what they had, and a call leaves nothing that is known.
            let keeps = |inst: &Inst| inst.guard.is_none() && !matches!(inst.op, Op::Control(ControlOp::Call { .. }));
            if !keeps(&self.program.code[pc.index()]) {
                self.here.clear();
            }
        }
    }

    /// A fact has grown wider: the functions that read it are followed once more. Words of frames may be read by any.
    fn grow(&mut self, cell: u32) {
        if cell as usize >= self.cells.count() {
            self.open.push_all();
            return;
        }
        let owner = self.owners[cell as usize];
        self.open.push(owner.index());
        self.callers.successor_nodes(owner.index()).for_each(|caller| self.open.push(caller));
    }

    /// Keeps what the rewritten registers hold that the instruction at `pc` reads.
    fn note_before(&mut self, function: FuncId, pc: Pc) {
        let inst = &self.program.code[pc.index()];
        let mut before = SmallVec::new();
        registers_of(inst, self.program, |used, register| {
            let cell = self.cell(function, register.bank, register.slot);
            let is_read = matches!(used, Use::Read | Use::Address) && self.rewritten(cell) != Rewritten::Never;
            if let Some(fact) = self.here.get(&cell).filter(|_| is_read) {
                before.push((cell, fact.clone()));
            }
        });
        if let Some(known) = self.before.get_mut(pc.index()) {
            *known = before;
        }
    }

    fn rewritten(&self, cell: u32) -> Rewritten {
        self.rewritten.get(cell as usize).copied().unwrap_or_default()
    }

    /// The parameters of functions that the host or an unknown caller fills.
    fn enter_functions(&mut self) {
        for (index, function) in self.program.functions.iter().enumerate() {
            for register in operands::parameter_registers(function) {
                let cell = self.cell(FuncId::new(index), register.bank, register.slot);
                self.facts[cell as usize] = Some(Fact::number(Form::unknown()));
            }
        }
    }

    /// The number of a register among all of the program.
    pub fn cell(&self, function: FuncId, bank: Bank, slot: Slot) -> u32 {
        self.cells.frame(function).cell(bank, slot)
    }

    /// How many registers there are.
    pub fn cells(&self) -> usize {
        self.facts.len()
    }

    fn frame_cell(&mut self, function: FuncId, offset: i64) -> u32 {
        let next = self.facts.len() as u32;
        let cell = *self.frames.entry((function, offset)).or_insert(next);
        if cell == next {
            self.facts.push(None);
        }
        cell
    }

    /// What the instruction at `pc` of `function` reads in `source`; none if nothing reaches it.
    pub fn value(&self, function: FuncId, pc: Pc, bank: Bank, source: Src) -> Option<Fact> {
        match source.kind() {
            SrcKind::Reg(slot) => {
                let cell = self.cell(function, bank, slot);
                let here = self.before[pc.index()].iter().find(|(known, _)| *known == cell).map(|(_, fact)| fact.clone());
                here.or_else(|| self.facts.get(cell as usize).cloned().flatten())
            }
            SrcKind::Special(_) => Some(Fact::number(Form::unknown())),
            SrcKind::Const(index) => {
                let bits = match bank {
                    Bank::B64 => self.program.consts64.get(index as usize).map(|bits| bits.cast_signed())?,
                    Bank::B32 | Bank::Pred => self.program.consts32.get(index as usize).map(|bits| i64::from(bits.cast_signed()))?,
                };
                Some(self.constant(function, pc, bits))
            }
        }
    }

    /// A constant: an address where the statement names a variable.
    fn constant(&self, function: FuncId, pc: Pc, bits: i64) -> Fact {
        let named = &self.named[pc.index()];
        let inside = |id: &&VarId| {
            let variable = &self.program.variables[id.index()];
            let offset = self.offset_in(function, variable, bits);
            offset >= 0 && (variable.bytes == 0 || offset.unsigned_abs() < variable.bytes)
        };
        // A statement may name several variables, and the end of one is no part of it.
        let of = named.iter().find(inside).or(named.first());
        match of {
            Some(id) => Fact::of(&[*id], Form::constant(self.offset_in(function, &self.program.variables[id.index()], bits))),
            None => Fact::number(Form::constant(bits)),
        }
    }

    /// Where in `variable` an address in its space, or a generic one, is.
    fn offset_in(&self, function: FuncId, variable: &Variable, bits: i64) -> i64 {
        let (space, start) = self.program.map.window_of(bits.cast_unsigned());
        let in_space = if space == variable.location.space { bits.wrapping_sub_unsigned(start) } else { bits };
        let base = match variable.bytes {
            0 => map::SHARED_RESERVED + u64::from(self.program.functions[function.index()].shared_bytes),
            _ => variable.location.address,
        };
        in_space.wrapping_sub_unsigned(base)
    }

    /// The address that a memory operand of `function` means.
    pub fn address(&self, function: FuncId, pc: Pc, address: Address) -> Option<Fact> {
        let base = match address.base {
            Base::Wide(source) => self.value(function, pc, Bank::B64, source)?,
            Base::Narrow(source) => self.value(function, pc, Bank::B32, source)?,
            Base::Frame => return Some(self.frame_address(function, pc, i64::from(address.offset))),
        };
        let form = base.form.plus(&Form::constant(i64::from(address.offset)));
        Some(Fact { form, ..base })
    }

    fn frame_address(&self, function: FuncId, pc: Pc, offset: i64) -> Fact {
        let named = &self.named[pc.index()];
        match named.iter().find(|id| self.program.variables[id.index()].function == Some(function)) {
            Some(id) => {
                let base = self.program.variables[id.index()].location.address;
                Fact::of(&[*id], Form::constant(offset.wrapping_sub_unsigned(base)))
            }
            None => Fact::number(Form::unknown()),
        }
    }

    /// The offset in the frame of `function` that an address means, if it is but one.
    fn frame_offset(&self, function: FuncId, pc: Pc, address: Address) -> Option<i64> {
        if address.base == Base::Frame {
            return Some(i64::from(address.offset));
        }
        let fact = self.address(function, pc, address)?;
        let [id] = fact.variables[..] else { return None };
        let variable = &self.program.variables[id.index()];
        let is_own = variable.function == Some(function) && is_in_frame(variable);
        let offset = fact.form.as_constant().filter(|_| is_own)?;
        Some(offset.wrapping_add_unsigned(variable.location.address))
    }

    fn set(&mut self, cell: u32, fact: Fact) {
        let fact = if self.rewritten(cell) == Rewritten::Multiplied { Fact { form: Form::scattered(), ..fact } } else { fact };
        let is_wider = match &mut self.facts[cell as usize] {
            Some(known) => known.join(&fact),
            unknown => {
                *unknown = Some(fact);
                true
            }
        };
        if is_wider {
            self.grow(cell);
        }
    }

    fn write(&mut self, function: FuncId, bank: Bank, d: Dst, fact: Option<Fact>) {
        if let (Some(fact), false) = (fact, d.is_sink()) {
            self.write_cell(self.cell(function, bank, d.0), fact);
        }
    }

    /// Writes a register, which holds no more than that where it is read next in its block.
    fn write_cell(&mut self, cell: u32, fact: Fact) {
        if self.rewritten(cell) != Rewritten::Never {
            self.here.insert(cell, fact.clone());
        }
        self.set(cell, fact);
    }

    /// Notes that the variables' addresses go where they are not followed, and so do those that lie in them.
    fn escape(&mut self, fact: &Fact, escape: Escape) {
        for id in &fact.variables {
            if self.escapes.insert(*id, *self.escapes.get(id).unwrap_or(&escape)).is_none() {
                self.escape_contents(*id, escape);
            }
        }
    }

    /// Notes that the addresses that lie in a variable of a frame are not followed any more.
    fn escape_contents(&mut self, id: VarId, escape: Escape) {
        let variable = &self.program.variables[id.index()];
        let Some(function) = variable.function.filter(|_| is_in_frame(variable)) else { return };
        let start = variable.location.address.cast_signed();
        let range = start..start.saturating_add_unsigned(variable.bytes);
        let cells = self.frames.iter().filter(|((owner, at), _)| *owner == function && range.contains(at)).map(|(_, cell)| *cell);
        let held: Vec<Fact> = cells.filter_map(|cell| self.facts[cell as usize].clone()).filter(Fact::is_address).collect();
        held.iter().for_each(|fact| self.escape(fact, escape));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`arithmetic` follows the other operations")]
    fn follow(&mut self, function: FuncId, pc: Pc) {
        let inst = &self.program.code[pc.index()];
        let value = |flow: &Self, bank: Bank, source: Src| flow.value(function, pc, bank, source);
        match inst.op {
            Op::Memory(MemoryOp::Load { bits, reg_bits, d, address, .. }) => self.load(function, pc, (bits, reg_bits), &[d], address),
            Op::Memory(MemoryOp::LoadVector { bits, reg_bits, parts, address, .. }) => {
                self.load(function, pc, (bits, reg_bits), &self.program.dests[parts], address);
            }
            Op::Memory(MemoryOp::Store { bits, reg_bits, a, address, .. }) => self.store(function, pc, (bits, reg_bits), &[a], address),
            Op::Memory(MemoryOp::StoreVector { bits, reg_bits, parts, address, .. }) => {
                self.store(function, pc, (bits, reg_bits), &self.program.sources[parts], address);
            }
            Op::Control(ControlOp::Call { call, .. }) => self.call(function, pc, call),
            Op::Control(ControlOp::SystemCall { call, .. }) => {
                self.call(function, pc, call);
                self.combine(function, pc, inst);
            }
            Op::Move(MoveOp::Move { width, d, a }) => self.write(function, width.bank(), d, value(self, width.bank(), a)),
            Op::Move(MoveOp::Vector { width, d, a }) => {
                let (dests, sources) = (&self.program.dests[d], &self.program.sources[a]);
                dests.iter().zip(sources).for_each(|(d, a)| self.write(function, width.bank(), *d, value(self, width.bank(), *a)));
            }
            Op::Move(MoveOp::FrameAddress { wide, d, offset, .. }) => {
                let fact = self.frame_address(function, pc, i64::from(offset));
                self.write(function, Bank::of_wide(wide), d, Some(fact));
            }
            Op::Move(MoveOp::ConvertAddress { wide, d, a, .. }) => {
                self.write(function, Bank::of_wide(wide), d, value(self, Bank::of_wide(wide), a));
            }
            Op::Cluster(ClusterOp::MapShared { wide, d, a, .. }) => {
                self.write(function, Bank::of_wide(wide), d, value(self, Bank::of_wide(wide), a));
            }
            Op::Warp(WarpOp::Shuffle { d, a, .. }) => self.write(function, Bank::B32, d, value(self, Bank::B32, a)),
            Op::Select(SelectOp::Select { width, d, a, b, .. }) => {
                self.write(function, width.bank(), d, value(self, width.bank(), a));
                self.write(function, width.bank(), d, value(self, width.bank(), b));
            }
            Op::Convert(ConvertOp::Single { mode, d, a }) if is_whole(mode.to) && is_whole(mode.from) && mode.from.bits() >= 32 => {
                self.write(function, Bank::of_wide(mode.d_bits == 64), d, value(self, Bank::of_wide(mode.a_bits == 64), a));
            }
            _ => self.arithmetic(function, pc, inst),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what the other operations make of addresses is derived from them")]
    fn arithmetic(&mut self, function: FuncId, pc: Pc, inst: &Inst) {
        let value = |bank: Bank, source: Src| self.value(function, pc, bank, source);
        let both = |ty: IntType, a: Src, b: Src| Some((value(ty.bank(), a)?, value(ty.bank(), b)?));
        let product = |(a, b): (Fact, Fact)| match a.is_address() || b.is_address() {
            true => derived(&a, &b),
            false => Fact::number(a.form.product(&b.form)),
        };
        match inst.op {
            Op::Integer(IntegerOp::Binary { f, ty, d, a, b }) => {
                let Some((a, b)) = both(ty, a, b) else { return };
                let fact = match f {
                    IntBinary::Add => a.plus(&b),
                    IntBinary::Sub => a.minus(&b),
                    IntBinary::MulLo | IntBinary::Mul24Lo => product((a, b)),
                    // Compilers write an addition without carries so.
                    IntBinary::Or if a.form.as_constant().is_some() || b.form.as_constant().is_some() => a.plus(&b),
                    IntBinary::And => masked(&a, &b),
                    IntBinary::Min | IntBinary::Max if !a.is_address() && !b.is_address() => {
                        Fact::number(Form::multiple_of(a.form.alignment().min(b.form.alignment())))
                    }
                    IntBinary::Or | IntBinary::Xor => loose(&a, &b),
                    _ => derived(&a, &b),
                };
                self.write(function, ty.bank(), d, Some(fact));
            }
            Op::Integer(IntegerOp::Ternary { f: IntTernary::MadLo | IntTernary::Mad24Lo, ty, d, a, b, c }) => {
                let fact = both(ty, a, b).map(product).zip(value(ty.bank(), c)).map(|(product, c)| product.plus(&c));
                self.write(function, ty.bank(), d, fact);
            }
            Op::Integer(IntegerOp::MulWide { ty, d, a, b }) => self.write(function, ty.twice_bank(), d, both(ty, a, b).map(product)),
            Op::Integer(IntegerOp::MadWide { ty, d, a, b, c }) => {
                let fact = both(ty, a, b).map(product).zip(value(ty.twice_bank(), c)).map(|(product, c)| product.plus(&c));
                self.write(function, ty.twice_bank(), d, fact);
            }
            Op::Bits(BitsOp::Shift { f: Shift::Left, ty, d, a, b }) => {
                let Some((a, b)) = value(ty.bank(), a).zip(value(Bank::B32, b)) else { return };
                let fact = match b.form.as_constant() {
                    Some(count @ 0..=62) if !a.is_address() => Fact::number(a.form.times(1 << count)),
                    _ => derived(&a, &b),
                };
                self.write(function, ty.bank(), d, Some(fact));
            }
            _ => self.combine(function, pc, inst),
        }
    }

    /// What another operation makes of addresses is derived from them.
    fn combine(&mut self, function: FuncId, pc: Pc, inst: &Inst) {
        let mut made = Fact::number(Form::unknown());
        let mut written = SmallVec::<[u32; 4]>::new();
        registers_of(inst, self.program, |used, register| match (used, register.bank) {
            (Use::Write, Bank::B32 | Bank::B64) => {
                written.extend(register.slot.run(register.width).map(|slot| self.cell(function, register.bank, slot)));
            }
            (Use::Read, Bank::B32 | Bank::B64) => {
                let fact = self.value(function, pc, register.bank, Src::reg(register.slot));
                if let Some(fact) = fact.filter(Fact::is_address) {
                    made = derived(&made, &fact);
                }
            }
            (Use::Guard | Use::Address | Use::Read | Use::Write, _) => {}
        });
        // What an atomic operation or an asynchronous store writes is in memory.
        if matches!(inst.op, Op::Atomic(_) | Op::Async(AsyncOp::Copy { .. })) {
            self.escape(&made, Escape::Stored(pc));
        }
        // What matrices and atomics give is what they found in memory, or made of that.
        if matches!(inst.op, Op::Matrix { .. } | Op::Wgmma(WarpgroupOp::Multiply { .. }) | Op::Atomic(_)) {
            made = Fact::number(Form::unknown());
        }
        written.into_iter().for_each(|cell| self.write_cell(cell, made.clone()));
    }

    fn load(&mut self, function: FuncId, pc: Pc, (bits, reg_bits): (u8, u8), dests: &[Dst], address: Address) {
        let bank = Bank::of_wide(bits.max(reg_bits) >= 64);
        let start = self.frame_offset(function, pc, address);
        if start.is_none()
            && let Some(fact) = self.address(function, pc, address)
        {
            fact.variables.iter().for_each(|id| self.escape_contents(*id, Escape::Loaded(pc)));
        }
        for (index, d) in (0..).zip(dests) {
            let found = start.map(|start| self.frame_cell(function, start + index * i64::from(bits / 8)));
            let fact = match found {
                Some(cell) => match self.facts[cell as usize].clone() {
                    None if self.frames_are_known => Some(Fact::number(Form::unknown())),
                    known => known,
                },
                None => Some(Fact::number(Form::unknown())),
            };
            self.write(function, bank, *d, fact.clone());
            if bits == 128 && !d.is_sink() {
                self.write(function, bank, Dst(d.0.offset(1)), fact);
            }
        }
    }

    fn store(&mut self, function: FuncId, pc: Pc, (bits, reg_bits): (u8, u8), sources: &[Src], address: Address) {
        let bank = Bank::of_wide(bits.max(reg_bits) >= 64);
        let start = self.frame_offset(function, pc, address);
        for (index, source) in (0..).zip(sources) {
            let Some(fact) = self.value(function, pc, bank, *source) else { continue };
            // A statement that names a variable as its address stores a number.
            let fact =
                if matches!(source.kind(), SrcKind::Const(_)) && !self.stores_address(pc) { Fact::number(Form::unknown()) } else { fact };
            match start {
                Some(start) => {
                    let cell = self.frame_cell(function, start + index * i64::from(bits / 8));
                    self.set(cell, fact);
                }
                None => self.escape(&fact, Escape::Stored(pc)),
            }
        }
    }

    /// Whether the value that a store of a constant stores is the address of a variable: it is the last operand.
    fn stores_address(&self, pc: Pc) -> bool {
        let Some(value) = self.program.operands(pc).last() else { return false };
        let is_inside = |span: Span| value.start <= span.start && span.end <= value.end;
        self.program.mentions(pc).iter().any(|mention| variable(mention).is_some() && is_inside(mention.span))
    }

    fn call(&mut self, caller: FuncId, pc: Pc, call: CallId) {
        let program = self.program;
        let site = &program.calls[call];
        let callee = site.target.direct().filter(|callee| !program.functions[callee.index()].code.is_empty());
        let Some(callee) = callee else {
            let given: Vec<Fact> = site.args.iter().flat_map(|argument| self.given(caller, pc, argument)).collect();
            given.iter().for_each(|fact| self.escape(fact, Escape::Passed(pc)));
            for register in operands::call_results(program, call) {
                self.set(self.cell(caller, register.bank, register.slot), Fact::number(Form::unknown()));
            }
            return;
        };
        let function: &Function = &program.functions[callee.index()];
        for (argument, param) in site.args.iter().zip(&function.params) {
            self.pass((caller, pc, argument), (callee, param), true);
        }
        for (result, param) in site.results.iter().zip(&function.results) {
            self.pass((caller, pc, result), (callee, param), false);
        }
    }

    /// What an argument is, word by word.
    fn given(&mut self, caller: FuncId, pc: Pc, argument: &CallArg) -> Vec<Fact> {
        match *argument {
            CallArg::Value(bank, source) => self.value(caller, pc, bank, source).into_iter().collect(),
            CallArg::Frame { offset, bytes } => {
                let known = |at: u32| self.frames.get(&(caller, i64::from(at)));
                let cells = (offset..offset + bytes).filter_map(known);
                cells.filter_map(|cell| self.facts[*cell as usize].clone()).collect()
            }
            CallArg::Pred(_) | CallArg::Ignored => Vec::new(),
        }
    }

    /// Hands an argument to its parameter, or a result to where it goes.
    fn pass(&mut self, (caller, pc, argument): (FuncId, Pc, &CallArg), (callee, param): (FuncId, &Param), inwards: bool) {
        for add in (0..i64::from(param.bytes)).step_by(4) {
            let inner = match param.place {
                ParamPlace::Register(bank, slot) => self.cell(callee, bank, slot),
                ParamPlace::Frame(offset) => self.frame_cell(callee, i64::from(offset) + add),
                ParamPlace::Kernel(_) => continue,
            };
            let outer = match *argument {
                CallArg::Value(bank, source) => match source.kind() {
                    SrcKind::Reg(slot) => self.cell(caller, bank, slot),
                    SrcKind::Const(_) | SrcKind::Special(_) => {
                        let fact = self.value(caller, pc, bank, source).filter(|_| inwards);
                        fact.into_iter().for_each(|fact| self.set(inner, fact));
                        continue;
                    }
                },
                CallArg::Frame { offset, bytes: _ } => self.frame_cell(caller, i64::from(offset) + add),
                CallArg::Pred(_) | CallArg::Ignored => continue,
            };
            let (from, to) = if inwards { (outer, inner) } else { (inner, outer) };
            let fact = self.facts[from as usize].clone();
            let fact = fact.or_else(|| self.frames_are_known.then(|| Fact::number(Form::unknown())));
            fact.into_iter().for_each(|fact| self.set(to, fact));
        }
    }

    /// The functions whose code names dynamic shared memory, by each variable that stands for it.
    pub fn users_of_dynamic(&self) -> BTreeSet<(VarId, FuncId)> {
        let program = self.program;
        let functions = program.functions.iter().enumerate();
        let named = functions.flat_map(|(index, function)| function.code.clone().map(move |pc| (FuncId::new(index), pc)));
        let users = named.flat_map(|(function, pc)| self.named[pc as usize].iter().map(move |id| (*id, function)));
        users.filter(|(id, _)| program.variables[id.index()].bytes == 0).collect()
    }
}

/// The functions that call each function by its name, as edges from there.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations call nothing")]
fn callers(program: &Program) -> Edges {
    let functions = program.functions.iter().zip(0..);
    let calls = functions.flat_map(|(function, caller)| function.code.clone().map(move |pc| (pc, caller)));
    let callees = calls.filter_map(|(pc, caller)| match program.code[pc as usize].op {
        Op::Control(ControlOp::Call { call, .. } | ControlOp::SystemCall { call, .. }) => {
            Some((program.calls[call].target.direct()?.0, caller))
        }
        _ => None,
    });
    Edges::new(program.functions.len(), &callees.collect::<Vec<_>>())
}

/// Whether a variable lies in the frame of every call of its function.
fn is_in_frame(variable: &Variable) -> bool {
    matches!(variable.location.space, Space::Local | Space::ParamFunc)
}

/// Whether values of a type are integers.
fn is_whole(ty: crate::isa::ScalarType) -> bool {
    matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Untyped)
}
