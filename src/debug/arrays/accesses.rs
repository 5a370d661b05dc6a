//! Every access to a variable: where in it, how wide, and what the bits are taken for.

use super::evidence::{ElementUse, Evidence};
use super::fact::Fact;
use super::flow::Flow;
use crate::debug::names::access::access_type;
use crate::isa::{ScalarType, TypeKind};
use crate::program::operands::{Use, registers_of};
use crate::program::{
    Address, AsyncOp, AtomicOp, Bank, CopyOp, FuncId, Inst, MatrixId, MatrixOp, MbarrierOp, MemoryOp, Op, Pc, Slot, Src, SrcKind,
    TensorMapOp, WarpgroupOp, WgmmaA,
};

use super::form::Form;

/// One access of one instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The instruction.
    pub pc: Pc,
    /// Where it is in the variable.
    pub form: Form,
    /// Bytes of an element; 0 if the instruction does not say.
    pub bytes: u32,
    /// Elements one after the other.
    pub count: u32,
    /// What the elements are taken for.
    pub taken: ElementUse,
    /// The type that the instruction names.
    pub word: Option<ScalarType>,
    /// Whether the address is made in a way that is not followed.
    pub is_derived: bool,
    /// What lies there if it is no array of numbers.
    pub object: Option<&'static str>,
}

/// The accesses to each variable, in order of the code.
pub fn collect(flow: &Flow<'_>, evidence: &Evidence) -> Vec<Vec<Access>> {
    let mut found = Found { flow, evidence, accesses: vec![Vec::new(); flow.program.variables.len()] };
    for (index, function) in flow.program.functions.iter().enumerate() {
        for pc in function.code.clone() {
            if let Some(inst) = flow.program.code.get(pc as usize) {
                found.read(FuncId::new(index), Pc(pc), inst);
            }
        }
    }
    found.accesses
}

struct Found<'f, 'p> {
    flow: &'f Flow<'p>,
    evidence: &'f Evidence,
    accesses: Vec<Vec<Access>>,
}

/// How an instruction accesses memory.
#[derive(Clone, Copy, Default)]
struct InstructionAccess {
    bytes: u32,
    count: u32,
    taken: ElementUse,
    word: Option<ScalarType>,
    object: Option<&'static str>,
}

impl Found<'_, '_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations access no array that is followed")]
    fn read(&mut self, function: FuncId, pc: Pc, inst: &Inst) {
        let program = self.flow.program;
        match inst.op {
            Op::Memory(MemoryOp::Load { bits, address, .. } | MemoryOp::Store { bits, address, .. }) => {
                self.note(function, pc, address, |found| found.plain(function, pc, inst, u32::from(bits), 1));
            }
            Op::Memory(MemoryOp::LoadVector { bits, reg_bits, address, parts, .. }) => {
                let parts: Vec<_> = program.dests[parts].iter().map(|d| Some(d.0).filter(|_| !d.is_sink())).collect();
                self.vector((function, pc, inst), (bits, reg_bits), address, &parts);
            }
            Op::Memory(MemoryOp::StoreVector { bits, reg_bits, address, parts, .. }) => {
                let parts: Vec<_> = program.sources[parts].iter().map(|source| slot_of(*source)).collect();
                self.vector((function, pc, inst), (bits, reg_bits), address, &parts);
            }
            Op::Atomic(AtomicOp::Single { ty, address, .. }) => self.note(function, pc, address, |found| {
                let access = found.plain(function, pc, inst, ty.bits(), 1);
                // The word of an addition says the size of an integer, and not whether it has a sign.
                let named = ElementUse::for_type(ty);
                let is_addition =
                    matches!(inst.op, Op::Atomic(AtomicOp::Single { f: crate::isa::AtomicFn::Add, .. })) && ty.kind() != TypeKind::Float;
                let named = if is_addition { ElementUse { signed: false, unsigned: false, ..named } } else { named };
                InstructionAccess { taken: access.taken.and(named), word: None, ..access }
            }),
            Op::Atomic(AtomicOp::Vector { ty, b, address, .. }) => self.note(function, pc, address, |_| {
                let count = program.sources[b].len() as u32;
                InstructionAccess { bytes: ty.bits() / 8, count, taken: ElementUse::for_type(ty), ..InstructionAccess::default() }
            }),
            Op::Mbarrier(MbarrierOp::Update { address, .. } | MbarrierOp::Wait { address, .. }) => {
                self.note(function, pc, address, |_| mbarrier_access());
            }
            Op::Matrix { matrix } => self.matrix(function, pc, inst, matrix),
            Op::Async(AsyncOp::Copy { copy }) => {
                self.copy(function, pc, &program.copies[copy]);
            }
            Op::TensorMap(TensorMapOp::ReplaceField { address, .. }) => self.note(function, pc, address, |_| tensor_map()),
            Op::TensorMap(TensorMapOp::Copy { to, from }) => {
                [to, from].into_iter().for_each(|address| self.note(function, pc, address, |_| tensor_map()));
            }
            Op::Wgmma(WarpgroupOp::Multiply { wgmma }) => {
                let wgmma = &program.wgmmas[wgmma];
                let a = if let WgmmaA::Shared(descriptor, _) = wgmma.a { Some(descriptor) } else { None };
                for (descriptor, ty) in a.into_iter().map(|a| (a, wgmma.types[1])).chain([(wgmma.b, wgmma.types[2])]) {
                    let fact = self.flow.value(function, pc, Bank::B64, descriptor);
                    self.note_fact(
                        pc,
                        fact,
                        InstructionAccess { count: 1, taken: ElementUse::for_type(ty), ..InstructionAccess::default() },
                    );
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, function: FuncId, pc: Pc, address: Address, access: impl FnOnce(&Self) -> InstructionAccess) {
        let fact = self.flow.address(function, pc, address);
        // Nothing is evaluated for the many accesses to buffers.
        if fact.as_ref().is_some_and(Fact::is_address) {
            let access = access(self);
            self.note_fact(pc, fact, access);
        }
    }

    fn note_fact(&mut self, pc: Pc, fact: Option<Fact>, access: InstructionAccess) {
        let Some(fact) = fact.filter(Fact::is_address) else { return };
        let InstructionAccess { bytes, count, taken, word, object } = access;
        let access = Access { pc, form: fact.form.clone(), bytes, count, taken, word, is_derived: fact.is_derived, object };
        for id in &fact.variables {
            self.accesses[id.index()].push(access.clone());
        }
    }

    /// A load, a store or an atomic, by what its registers are taken for.
    fn plain(&self, function: FuncId, pc: Pc, inst: &Inst, bits: u32, count: u32) -> InstructionAccess {
        let word = access_type(self.flow.program, pc);
        let mut taken = self.data(function, pc, inst);
        if let Op::Memory(MemoryOp::Load { bits, signed, reg_bits, .. } | MemoryOp::LoadVector { bits, signed, reg_bits, .. }) = inst.op
            && reg_bits > bits.max(16)
        {
            taken = ElementUse { ints: u32::from(bits / 8), signed: taken.signed | signed, unsigned: !signed, ..taken };
        }
        InstructionAccess { bytes: bits / 8, count, taken, word, object: None }
    }

    /// A vector of elements in these registers; where they are taken for different things, each on its own, as a member of a structure.
    fn vector(&mut self, at: (FuncId, Pc, &Inst), (bits, reg_bits): (u8, u8), address: Address, parts: &[Option<Slot>]) {
        let (function, pc, inst) = at;
        let bank = if bits.max(reg_bits) >= 64 { Bank::B64 } else { Bank::B32 };
        let width = i64::from(bits / 8);
        self.note(function, pc, address, |found| found.plain(function, pc, inst, u32::from(bits), parts.len() as u32));
        let taken = |slot: &Option<Slot>| slot.map_or(ElementUse::default(), |slot| self.evidence.of(self.flow.cell(function, bank, slot)));
        let each: Vec<ElementUse> = parts.iter().map(taken).collect();
        let are_alike = each.windows(2).all(|pair| pair[0].is_nothing() == pair[1].is_nothing());
        let says_float = access_type(self.flow.program, pc).is_some_and(|ty| ty.kind() == TypeKind::Float);
        let fact = self.flow.address(function, pc, address).filter(Fact::is_address);
        let Some(fact) = fact.filter(|_| !are_alike && !says_float && bits < 128) else { return };
        for id in &fact.variables {
            let whole = self.accesses[id.index()].pop();
            for (index, taken) in (0..).zip(&each) {
                let form = fact.form.plus(&Form::constant(index * width));
                self.accesses[id.index()].extend(whole.clone().map(|whole| Access { form, count: 1, taken: *taken, ..whole }));
            }
        }
    }

    /// What the registers that an instruction loads or stores are taken for; constants say nothing.
    fn data(&self, function: FuncId, pc: Pc, inst: &Inst) -> ElementUse {
        let mut taken = ElementUse::default();
        let is_constant = |bank: Bank, slot: Slot| {
            let fact = self.flow.value(function, pc, bank, Src::reg(slot));
            fact.is_some_and(|fact| !fact.is_address() && fact.form.as_constant().is_some())
        };
        registers_of(inst, self.flow.program, |used, register| {
            let is_data = matches!(used, Use::Read | Use::Write) && register.bank != Bank::Pred;
            if is_data && !(used == Use::Read && is_constant(register.bank, register.slot)) {
                taken = taken.and(self.evidence.of(self.flow.cell(function, register.bank, register.slot)));
            }
        });
        taken
    }

    fn matrix(&mut self, function: FuncId, pc: Pc, inst: &Inst, matrix: MatrixId) {
        match &self.flow.program.matrices[matrix] {
            MatrixOp::Load(access) | MatrixOp::Store(access) => {
                let stride = access.stride.and_then(|stride| match stride.kind() {
                    SrcKind::Const(_) | SrcKind::Reg(_) => self.flow.value(function, pc, Bank::B32, stride)?.form.as_constant(),
                    SrcKind::Special(_) => None,
                });
                let row = stride.and_then(|stride| u64::try_from(stride).ok()).map(|stride| stride * u64::from(access.bits) / 8);
                let fact = self.flow.address(function, pc, access.address).map(|fact| {
                    let element = Form::multiple_of(u64::from(access.bits / 8).max(1));
                    let rows = row.map_or(Form::constant(0), Form::multiple_of).plus(&element);
                    Fact { form: fact.form.plus(&rows), ..fact }
                });
                let (bytes, ty) = (access.bits / 8, access.fragment.ty);
                self.note_fact(
                    pc,
                    fact,
                    InstructionAccess { bytes, count: 1, taken: ElementUse::for_type(ty), ..InstructionAccess::default() },
                );
            }
            MatrixOp::LoadRows(access) | MatrixOp::StoreRows(access) => {
                let rows =
                    |found: &Self| InstructionAccess { count: 1, taken: found.data(function, pc, inst), ..InstructionAccess::default() };
                self.note(function, pc, access.address, rows);
            }
            MatrixOp::Multiply(_) | MatrixOp::Transpose { .. } => {}
        }
    }

    fn copy(&mut self, function: FuncId, pc: Pc, copy: &CopyOp) {
        let copied = |_: &Self| InstructionAccess { count: 1, ..InstructionAccess::default() };
        match copy {
            CopyOp::Lanes { to, from, .. } => {
                [to, from].into_iter().for_each(|place| self.note(function, pc, place.address, copied));
            }
            CopyOp::Bulk { to, from, reduction, completion, .. } => {
                let taken = reduction.map_or(ElementUse::default(), |(_, ty)| ElementUse::for_type(ty));
                for place in [to, from] {
                    self.note(function, pc, place.address, |found| InstructionAccess { taken, ..copied(found) });
                }
                self.completion(function, pc, completion);
            }
            CopyOp::Tensor(tensor) => {
                self.note(function, pc, tensor.map, |_| tensor_map());
                self.note(function, pc, tensor.shared.address, copied);
                self.completion(function, pc, &tensor.completion);
            }
            CopyOp::Store { to, ty, values, mbarrier, .. } => {
                let count = self.flow.program.sources[*values].len() as u32;
                self.note(function, pc, to.address, |_| InstructionAccess {
                    bytes: ty.bits() / 8,
                    count,
                    word: Some(*ty),
                    ..InstructionAccess::default()
                });
                self.note(function, pc, mbarrier.address, |_| mbarrier_access());
            }
            CopyOp::Arrive { mbarrier, .. } => self.note(function, pc, *mbarrier, |_| mbarrier_access()),
        }
    }

    fn completion(&mut self, function: FuncId, pc: Pc, completion: &crate::program::Completion) {
        if let crate::program::Completion::Mbarrier(place) = completion {
            self.note(function, pc, place.address, |_| mbarrier_access());
        }
    }
}

/// An mbarrier has 64 bits that no instruction but its own understands.
fn mbarrier_access() -> InstructionAccess {
    InstructionAccess { bytes: 8, count: 1, object: Some("an mbarrier"), ..InstructionAccess::default() }
}

fn tensor_map() -> InstructionAccess {
    InstructionAccess { count: 1, object: Some("a tensor map"), ..InstructionAccess::default() }
}

fn slot_of(source: Src) -> Option<Slot> {
    match source.kind() {
        SrcKind::Reg(slot) => Some(slot),
        SrcKind::Const(_) | SrcKind::Special(_) => None,
    }
}
