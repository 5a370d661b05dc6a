//! Address flow: the addresses of variables in registers, frames and calls, flow-insensitive.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use super::affine_form::AffineForm;
use super::fact::{Fact, derived, masked, with_unknown_offset};
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
    MemoryOp, MoveOp, Op, Param, ParamStorage, Pc, Program, SelectOp, Slot, Src, SrcKind, VarId, Variable, WarpOp, WarpgroupOp, map,
};

/// A use through which an address escapes the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// It is stored in memory.
    Stored(Pc),
    /// It is loaded from an array in a frame, at an index known only at run time.
    Loaded(Pc),
    /// It is passed to an unknown function or a system call.
    Passed(Pc),
    /// It is the initial value of a variable.
    Initial(VarId),
}

/// The addresses in every register of a program.
pub struct Flow<'p> {
    pub program: &'p Program,
    facts: Vec<Option<Fact>>,
    /// Indices of the registers in `facts`; words of frames come after them.
    cells: Cells,
    /// Indices in `facts` of the words of frames, by function and offset.
    frames: BTreeMap<(FuncId, i64), u32>,
    /// The registers that several instructions write (hand-written code, and compiled code at joins): inside a basic block they hold the
    /// value written last.
    rewritten: Vec<Rewritten>,
    /// The facts of such registers at the current instruction, if its basic block has written them.
    in_block: BTreeMap<u32, Fact>,
    /// The facts of such registers before each instruction that reads them.
    before: Vec<SmallVec<[(u32, Fact); 1]>>,
    /// The variables that a statement names.
    named: Vec<SmallVec<[VarId; 1]>>,
    pub escapes: BTreeMap<VarId, Escape>,
    /// The worklist: functions that read a fact which has changed.
    worklist: Worklist,
    /// The function of each fact.
    owners: Vec<FuncId>,
    /// The callers of each function.
    callers: Edges,
    /// True once words of frames without a fact count as holding any number.
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
            in_block: BTreeMap::new(),
            before: vec![SmallVec::new(); program.code.len()],
            named: named_variables(program),
            escapes: BTreeMap::new(),
            worklist: Worklist::full(program.functions.len(), Order::Ascending),
            owners: owners.collect(),
            callers: callers(program),
            frames_are_known: false,
        };
        flow.set_parameters();
        flow.solve();
        flow.frames_are_known = true;
        flow.worklist = Worklist::full(program.functions.len(), Order::Ascending);
        flow.solve();
        for (variable, holder) in initial_addresses(program) {
            flow.escapes.entry(variable).or_insert(Escape::Initial(holder));
        }
        flow
    }

    /// Processes functions until no fact changes.
    fn solve(&mut self) {
        while let Some(function) = self.worklist.pop() {
            self.follow_function(FuncId::new(function));
        }
    }

    fn follow_function(&mut self, id: FuncId) {
        let function = &self.program.functions[id.index()];
        let mut labels = function.labels.iter().map(|(_, pc)| *pc).peekable();
        self.in_block.clear();
        for pc in function.code.clone().map(Pc) {
            if labels.peek().is_some_and(|label| *label <= pc) {
                while labels.next_if(|label| *label <= pc).is_some() {}
                self.in_block.clear();
            }
            self.record_before(id, pc);
            self.follow(id, pc);
            // Lanes that do not execute it keep the old value, and a call may change any.
            let keeps = |inst: &Inst| inst.guard.is_none() && !matches!(inst.op, Op::Control(ControlOp::Call { .. }));
            if !keeps(&self.program.code[pc.index()]) {
                self.in_block.clear();
            }
        }
    }

    /// Adds the functions that read a changed fact to the worklist; any function may read words of frames.
    fn requeue_readers(&mut self, cell: u32) {
        if cell as usize >= self.cells.count() {
            self.worklist.push_all();
            return;
        }
        let owner = self.owners[cell as usize];
        self.worklist.push(owner.index());
        self.callers.successor_nodes(owner.index()).for_each(|caller| self.worklist.push(caller));
    }

    /// Records the facts of the rewritten registers that the instruction at `pc` reads.
    fn record_before(&mut self, function: FuncId, pc: Pc) {
        let inst = &self.program.code[pc.index()];
        let mut before = SmallVec::new();
        registers_of(inst, self.program, |used, register| {
            let cell = self.cell(function, register.bank, register.slot);
            let is_read = matches!(used, Use::Read | Use::Address) && self.rewritten(cell) != Rewritten::Never;
            if let Some(fact) = self.in_block.get(&cell).filter(|_| is_read) {
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

    /// Sets the parameters of functions, which the host or an unknown caller may fill, to unknown numbers.
    fn set_parameters(&mut self) {
        for (index, function) in self.program.functions.iter().enumerate() {
            for register in operands::parameter_registers(function) {
                let cell = self.cell(FuncId::new(index), register.bank, register.slot);
                self.facts[cell as usize] = Some(Fact::number(AffineForm::unknown()));
            }
        }
    }

    /// The number of a register among all of the program.
    pub fn cell(&self, function: FuncId, bank: Bank, slot: Slot) -> u32 {
        self.cells.frame(function).cell(bank, slot)
    }

    /// The number of registers.
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

    /// The fact of `source` for the instruction at `pc` of `function`; none if no value reaches it.
    pub fn value(&self, function: FuncId, pc: Pc, bank: Bank, source: Src) -> Option<Fact> {
        match source.kind() {
            SrcKind::Reg(slot) => {
                let cell = self.cell(function, bank, slot);
                let in_block = self.before[pc.index()].iter().find(|(known, _)| *known == cell).map(|(_, fact)| fact.clone());
                in_block.or_else(|| self.facts.get(cell as usize).cloned().flatten())
            }
            SrcKind::Special(_) => Some(Fact::number(AffineForm::unknown())),
            SrcKind::Const(index) => {
                let bits = match bank {
                    Bank::B64 => self.program.consts64.get(index as usize).map(|bits| bits.cast_signed())?,
                    Bank::B32 | Bank::Pred => self.program.consts32.get(index as usize).map(|bits| i64::from(bits.cast_signed()))?,
                };
                Some(self.constant(function, pc, bits))
            }
        }
    }

    /// The fact of a constant: an address if the statement names a variable.
    fn constant(&self, function: FuncId, pc: Pc, bits: i64) -> Fact {
        let named = &self.named[pc.index()];
        let inside = |id: &&VarId| {
            let variable = &self.program.variables[id.index()];
            let offset = self.offset_in(function, variable, bits);
            offset >= 0 && (variable.bytes == 0 || offset.unsigned_abs() < variable.bytes)
        };
        // A statement may name several variables; the end address of one is not inside it.
        let of = named.iter().find(inside).or(named.first());
        match of {
            Some(id) => Fact::of(&[*id], AffineForm::constant(self.offset_in(function, &self.program.variables[id.index()], bits))),
            None => Fact::number(AffineForm::constant(bits)),
        }
    }

    /// The offset in `variable` of an address in its space, or of a generic one.
    fn offset_in(&self, function: FuncId, variable: &Variable, bits: i64) -> i64 {
        let (space, start) = self.program.map.window_of(bits.cast_unsigned());
        let in_space = if space == variable.location.space { bits.wrapping_sub_unsigned(start) } else { bits };
        let base = match variable.bytes {
            0 => map::SHARED_RESERVED + u64::from(self.program.functions[function.index()].shared_bytes),
            _ => variable.location.address,
        };
        in_space.wrapping_sub_unsigned(base)
    }

    /// The fact of a memory operand's address.
    pub fn address(&self, function: FuncId, pc: Pc, address: Address) -> Option<Fact> {
        let base = match address.base {
            Base::Wide(source) => self.value(function, pc, Bank::B64, source)?,
            Base::Narrow(source) => self.value(function, pc, Bank::B32, source)?,
            Base::Frame => return Some(self.frame_address(function, pc, i64::from(address.offset))),
        };
        let form = base.form.plus(&AffineForm::constant(i64::from(address.offset)));
        Some(Fact { form, ..base })
    }

    fn frame_address(&self, function: FuncId, pc: Pc, offset: i64) -> Fact {
        let named = &self.named[pc.index()];
        match named.iter().find(|id| self.program.variables[id.index()].function == Some(function)) {
            Some(id) => {
                let base = self.program.variables[id.index()].location.address;
                Fact::of(&[*id], AffineForm::constant(offset.wrapping_sub_unsigned(base)))
            }
            None => Fact::number(AffineForm::unknown()),
        }
    }

    /// The offset of an address in the frame of `function`, if it is a single one.
    fn frame_offset(&self, function: FuncId, pc: Pc, address: Address) -> Option<i64> {
        if address.base == Base::Frame {
            return Some(i64::from(address.offset));
        }
        let fact = self.address(function, pc, address)?;
        let [id] = fact.variables[..] else { return None };
        let variable = &self.program.variables[id.index()];
        let is_local = variable.function == Some(function) && is_in_frame(variable);
        let offset = fact.form.as_constant().filter(|_| is_local)?;
        Some(offset.wrapping_add_unsigned(variable.location.address))
    }

    fn set(&mut self, cell: u32, fact: Fact) {
        let fact = if self.rewritten(cell) == Rewritten::Multiplied { Fact { form: AffineForm::scattered(), ..fact } } else { fact };
        let is_wider = match &mut self.facts[cell as usize] {
            Some(known) => known.join(&fact),
            unknown => {
                *unknown = Some(fact);
                true
            }
        };
        if is_wider {
            self.requeue_readers(cell);
        }
    }

    fn write(&mut self, function: FuncId, bank: Bank, d: Dst, fact: Option<Fact>) {
        if let (Some(fact), false) = (fact, d.is_sink()) {
            self.write_cell(self.cell(function, bank, d.0), fact);
        }
    }

    /// Writes a register; reads that follow in the same basic block see only this fact.
    fn write_cell(&mut self, cell: u32, fact: Fact) {
        if self.rewritten(cell) != Rewritten::Never {
            self.in_block.insert(cell, fact.clone());
        }
        self.set(cell, fact);
    }

    /// Records that the addresses of the fact's variables escape, and with them the addresses stored in these variables.
    fn escape(&mut self, fact: &Fact, escape: Escape) {
        for id in &fact.variables {
            if self.escapes.insert(*id, *self.escapes.get(id).unwrap_or(&escape)).is_none() {
                self.escape_contents(*id, escape);
            }
        }
    }

    /// Records that the addresses stored in a variable of a frame escape.
    fn escape_contents(&mut self, id: VarId, escape: Escape) {
        let variable = &self.program.variables[id.index()];
        let Some(function) = variable.function.filter(|_| is_in_frame(variable)) else { return };
        let start = variable.location.address.cast_signed();
        let range = start..start.saturating_add_unsigned(variable.bytes);
        let cells = self.frames.iter().filter(|((owner, at), _)| *owner == function && range.contains(at)).map(|(_, cell)| *cell);
        let stored: Vec<Fact> = cells.filter_map(|cell| self.facts[cell as usize].clone()).filter(Fact::is_address).collect();
        stored.iter().for_each(|fact| self.escape(fact, escape));
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
            Op::Convert(ConvertOp::Single { mode, d, a }) if is_integer(mode.to) && is_integer(mode.from) && mode.from.bits() >= 32 => {
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
                    // Compilers use `or` for an addition without carries.
                    IntBinary::Or if a.form.as_constant().is_some() || b.form.as_constant().is_some() => a.plus(&b),
                    IntBinary::And => masked(&a, &b),
                    IntBinary::Min | IntBinary::Max if !a.is_address() && !b.is_address() => {
                        Fact::number(AffineForm::multiple_of(a.form.alignment().min(b.form.alignment())))
                    }
                    IntBinary::Or | IntBinary::Xor => with_unknown_offset(&a, &b),
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

    /// The results of any other operation are derived from the addresses that it reads.
    fn combine(&mut self, function: FuncId, pc: Pc, inst: &Inst) {
        let mut result = Fact::number(AffineForm::unknown());
        let mut written = SmallVec::<[u32; 4]>::new();
        registers_of(inst, self.program, |used, register| match (used, register.bank) {
            (Use::Write, Bank::B32 | Bank::B64) => {
                written.extend(register.slot.run(register.width).map(|slot| self.cell(function, register.bank, slot)));
            }
            (Use::Read, Bank::B32 | Bank::B64) => {
                let fact = self.value(function, pc, register.bank, Src::reg(register.slot));
                if let Some(fact) = fact.filter(Fact::is_address) {
                    result = derived(&result, &fact);
                }
            }
            (Use::Guard | Use::Address | Use::Read | Use::Write, _) => {}
        });
        // An atomic operation or an asynchronous store writes to memory.
        if matches!(inst.op, Op::Atomic(_) | Op::Async(AsyncOp::Copy { .. })) {
            self.escape(&result, Escape::Stored(pc));
        }
        // The results of matrix and atomic operations are values of memory, or computed from them.
        if matches!(inst.op, Op::Matrix { .. } | Op::Wgmma(WarpgroupOp::Multiply { .. }) | Op::Atomic(_)) {
            result = Fact::number(AffineForm::unknown());
        }
        written.into_iter().for_each(|cell| self.write_cell(cell, result.clone()));
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
                    None if self.frames_are_known => Some(Fact::number(AffineForm::unknown())),
                    known => known,
                },
                None => Some(Fact::number(AffineForm::unknown())),
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
            let fact = if matches!(source.kind(), SrcKind::Const(_)) && !self.stores_address(pc) {
                Fact::number(AffineForm::unknown())
            } else {
                fact
            };
            match start {
                Some(start) => {
                    let cell = self.frame_cell(function, start + index * i64::from(bits / 8));
                    self.set(cell, fact);
                }
                None => self.escape(&fact, Escape::Stored(pc)),
            }
        }
    }

    /// True if the constant that a store stores, its last operand, is the address of a variable.
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
            let passed: Vec<Fact> = site.args.iter().flat_map(|argument| self.argument_facts(caller, pc, argument)).collect();
            passed.iter().for_each(|fact| self.escape(fact, Escape::Passed(pc)));
            for register in operands::call_results(program, call) {
                self.set(self.cell(caller, register.bank, register.slot), Fact::number(AffineForm::unknown()));
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

    /// The facts of an argument, word by word.
    fn argument_facts(&mut self, caller: FuncId, pc: Pc, argument: &CallArg) -> Vec<Fact> {
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

    /// Copies the fact of an argument to its parameter, or of a result to the caller.
    fn pass(&mut self, (caller, pc, argument): (FuncId, Pc, &CallArg), (callee, param): (FuncId, &Param), inwards: bool) {
        for add in (0..i64::from(param.bytes)).step_by(4) {
            let inner = match param.storage {
                ParamStorage::Register(bank, slot) => self.cell(callee, bank, slot),
                ParamStorage::Frame(offset) => self.frame_cell(callee, i64::from(offset) + add),
                ParamStorage::Kernel(_) => continue,
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
            let fact = fact.or_else(|| self.frames_are_known.then(|| Fact::number(AffineForm::unknown())));
            fact.into_iter().for_each(|fact| self.set(to, fact));
        }
    }

    /// The pairs of a variable of dynamic shared memory and a function whose code names it.
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

/// True if a variable is in the frame of its function.
fn is_in_frame(variable: &Variable) -> bool {
    matches!(variable.location.space, Space::Local | Space::ParamFunc)
}

/// True if values of a type are integers.
fn is_integer(ty: crate::isa::ScalarType) -> bool {
    matches!(ty.kind(), TypeKind::Signed | TypeKind::Unsigned | TypeKind::Untyped)
}
