//! The accesses to every variable: the location in it, the width, and the use of the bits.

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

use super::affine_form::AffineForm;

/// One access of one instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The instruction.
    pub pc: Pc,
    /// The offset in the variable.
    pub form: AffineForm,
    /// Bytes of an element; 0 if the instruction does not say.
    pub bytes: u32,
    /// Consecutive elements.
    pub count: u32,
    /// The use of the elements.
    pub usage: ElementUse,
    /// The type that the instruction names.
    pub named_type: Option<ScalarType>,
    /// True if the address is computed in a way that is not followed.
    pub is_derived: bool,
    /// The object there, if it is no array of numbers.
    pub object: Option<&'static str>,
}

/// The accesses to each variable, in order of the code.
pub fn collect(flow: &Flow<'_>, evidence: &Evidence) -> Vec<Vec<Access>> {
    let mut collector = Collector { flow, evidence, accesses: vec![Vec::new(); flow.program.variables.len()] };
    for (index, function) in flow.program.functions.iter().enumerate() {
        for pc in function.code.clone() {
            if let Some(inst) = flow.program.code.get(pc as usize) {
                collector.read(FuncId::new(index), Pc(pc), inst);
            }
        }
    }
    collector.accesses
}

struct Collector<'f, 'p> {
    flow: &'f Flow<'p>,
    evidence: &'f Evidence,
    accesses: Vec<Vec<Access>>,
}

/// The memory access of an instruction, without its address.
#[derive(Clone, Copy, Default)]
struct InstructionAccess {
    bytes: u32,
    count: u32,
    usage: ElementUse,
    named_type: Option<ScalarType>,
    object: Option<&'static str>,
}

impl Collector<'_, '_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations access no array that is followed")]
    fn read(&mut self, function: FuncId, pc: Pc, inst: &Inst) {
        let program = self.flow.program;
        match inst.op {
            Op::Memory(MemoryOp::Load { bits, address, .. } | MemoryOp::Store { bits, address, .. }) => {
                self.add(function, pc, address, |collector| collector.scalar_access(function, pc, inst, u32::from(bits), 1));
            }
            Op::Memory(MemoryOp::LoadVector { bits, reg_bits, address, parts, .. }) => {
                let parts: Vec<_> = program.dests[parts].iter().map(|d| Some(d.0).filter(|_| !d.is_sink())).collect();
                self.vector((function, pc, inst), (bits, reg_bits), address, &parts);
            }
            Op::Memory(MemoryOp::StoreVector { bits, reg_bits, address, parts, .. }) => {
                let parts: Vec<_> = program.sources[parts].iter().map(|source| slot_of(*source)).collect();
                self.vector((function, pc, inst), (bits, reg_bits), address, &parts);
            }
            Op::Atomic(AtomicOp::Single { ty, address, .. }) => self.add(function, pc, address, |collector| {
                let access = collector.scalar_access(function, pc, inst, ty.bits(), 1);
                // The type of an addition gives the size of an integer, but not whether it is signed.
                let named = ElementUse::for_type(ty);
                let is_addition =
                    matches!(inst.op, Op::Atomic(AtomicOp::Single { f: crate::isa::AtomicFn::Add, .. })) && ty.kind() != TypeKind::Float;
                let named = if is_addition { ElementUse { signed: false, unsigned: false, ..named } } else { named };
                InstructionAccess { usage: access.usage.union(named), named_type: None, ..access }
            }),
            Op::Atomic(AtomicOp::Vector { ty, b, address, .. }) => self.add(function, pc, address, |_| {
                let count = program.sources[b].len() as u32;
                InstructionAccess { bytes: ty.bits() / 8, count, usage: ElementUse::for_type(ty), ..InstructionAccess::default() }
            }),
            Op::Mbarrier(MbarrierOp::Update { address, .. } | MbarrierOp::Wait { address, .. }) => {
                self.add(function, pc, address, |_| mbarrier_access());
            }
            Op::Matrix { matrix } => self.matrix(function, pc, inst, matrix),
            Op::Async(AsyncOp::Copy { copy }) => {
                self.copy(function, pc, &program.copies[copy]);
            }
            Op::TensorMap(TensorMapOp::ReplaceField { address, .. }) => self.add(function, pc, address, |_| tensor_map()),
            Op::TensorMap(TensorMapOp::Copy { to, from }) => {
                [to, from].into_iter().for_each(|address| self.add(function, pc, address, |_| tensor_map()));
            }
            Op::Wgmma(WarpgroupOp::Multiply { wgmma }) => {
                let wgmma = &program.wgmmas[wgmma];
                let a = if let WgmmaA::Shared(descriptor, _) = wgmma.a { Some(descriptor) } else { None };
                for (descriptor, ty) in a.into_iter().map(|a| (a, wgmma.types[1])).chain([(wgmma.b, wgmma.types[2])]) {
                    let fact = self.flow.value(function, pc, Bank::B64, descriptor);
                    self.add_fact(
                        pc,
                        fact,
                        InstructionAccess { count: 1, usage: ElementUse::for_type(ty), ..InstructionAccess::default() },
                    );
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, function: FuncId, pc: Pc, address: Address, access: impl FnOnce(&Self) -> InstructionAccess) {
        let fact = self.flow.address(function, pc, address);
        // Skipped for the many accesses to buffers, whose address is in no variable.
        if fact.as_ref().is_some_and(Fact::is_address) {
            let access = access(self);
            self.add_fact(pc, fact, access);
        }
    }

    fn add_fact(&mut self, pc: Pc, fact: Option<Fact>, access: InstructionAccess) {
        let Some(fact) = fact.filter(Fact::is_address) else { return };
        let InstructionAccess { bytes, count, usage, named_type, object } = access;
        let access = Access { pc, form: fact.form.clone(), bytes, count, usage, named_type, is_derived: fact.is_derived, object };
        for id in &fact.variables {
            self.accesses[id.index()].push(access.clone());
        }
    }

    /// The access of a load, a store or an atomic, with the use of its registers.
    fn scalar_access(&self, function: FuncId, pc: Pc, inst: &Inst, bits: u32, count: u32) -> InstructionAccess {
        let named_type = access_type(self.flow.program, pc);
        let mut usage = self.data_usage(function, pc, inst);
        if let Op::Memory(MemoryOp::Load { bits, signed, reg_bits, .. } | MemoryOp::LoadVector { bits, signed, reg_bits, .. }) = inst.op
            && reg_bits > bits.max(16)
        {
            usage = ElementUse { ints: u32::from(bits / 8), signed: usage.signed | signed, unsigned: !signed, ..usage };
        }
        InstructionAccess { bytes: bits / 8, count, usage, named_type, object: None }
    }

    /// Adds a vector access. Elements with different uses are added one by one, as members of a structure.
    fn vector(&mut self, at: (FuncId, Pc, &Inst), (bits, reg_bits): (u8, u8), address: Address, parts: &[Option<Slot>]) {
        let (function, pc, inst) = at;
        let bank = if bits.max(reg_bits) >= 64 { Bank::B64 } else { Bank::B32 };
        let width = i64::from(bits / 8);
        self.add(function, pc, address, |collector| collector.scalar_access(function, pc, inst, u32::from(bits), parts.len() as u32));
        let usage = |slot: &Option<Slot>| slot.map_or(ElementUse::default(), |slot| self.evidence.of(self.flow.cell(function, bank, slot)));
        let each: Vec<ElementUse> = parts.iter().map(usage).collect();
        let are_alike = each.windows(2).all(|pair| pair[0].is_unused() == pair[1].is_unused());
        let says_float = access_type(self.flow.program, pc).is_some_and(|ty| ty.kind() == TypeKind::Float);
        let fact = self.flow.address(function, pc, address).filter(Fact::is_address);
        let Some(fact) = fact.filter(|_| !are_alike && !says_float && bits < 128) else { return };
        for id in &fact.variables {
            let vector = self.accesses[id.index()].pop();
            for (index, usage) in (0..).zip(&each) {
                let form = fact.form.plus(&AffineForm::constant(index * width));
                self.accesses[id.index()].extend(vector.clone().map(|vector| Access { form, count: 1, usage: *usage, ..vector }));
            }
        }
    }

    /// The use of the registers that an instruction loads or stores; constants show none.
    fn data_usage(&self, function: FuncId, pc: Pc, inst: &Inst) -> ElementUse {
        let mut usage = ElementUse::default();
        let is_constant = |bank: Bank, slot: Slot| {
            let fact = self.flow.value(function, pc, bank, Src::reg(slot));
            fact.is_some_and(|fact| !fact.is_address() && fact.form.as_constant().is_some())
        };
        registers_of(inst, self.flow.program, |used, register| {
            let is_data = matches!(used, Use::Read | Use::Write) && register.bank != Bank::Pred;
            if is_data && !(used == Use::Read && is_constant(register.bank, register.slot)) {
                usage = usage.union(self.evidence.of(self.flow.cell(function, register.bank, register.slot)));
            }
        });
        usage
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
                    let element = AffineForm::multiple_of(u64::from(access.bits / 8).max(1));
                    let rows = row.map_or(AffineForm::constant(0), AffineForm::multiple_of).plus(&element);
                    Fact { form: fact.form.plus(&rows), ..fact }
                });
                let (bytes, ty) = (access.bits / 8, access.fragment.ty);
                self.add_fact(
                    pc,
                    fact,
                    InstructionAccess { bytes, count: 1, usage: ElementUse::for_type(ty), ..InstructionAccess::default() },
                );
            }
            MatrixOp::LoadRows(access) | MatrixOp::StoreRows(access) => {
                let rows = |collector: &Self| InstructionAccess {
                    count: 1,
                    usage: collector.data_usage(function, pc, inst),
                    ..InstructionAccess::default()
                };
                self.add(function, pc, access.address, rows);
            }
            MatrixOp::Multiply(_) | MatrixOp::Transpose { .. } => {}
        }
    }

    fn copy(&mut self, function: FuncId, pc: Pc, copy: &CopyOp) {
        let copied = |_: &Self| InstructionAccess { count: 1, ..InstructionAccess::default() };
        match copy {
            CopyOp::Lanes { to, from, .. } => {
                [to, from].into_iter().for_each(|side| self.add(function, pc, side.address, copied));
            }
            CopyOp::Bulk { to, from, reduction, completion, .. } => {
                let usage = reduction.map_or(ElementUse::default(), |(_, ty)| ElementUse::for_type(ty));
                for side in [to, from] {
                    self.add(function, pc, side.address, |collector| InstructionAccess { usage, ..copied(collector) });
                }
                self.completion(function, pc, completion);
            }
            CopyOp::Tensor(tensor) => {
                self.add(function, pc, tensor.map, |_| tensor_map());
                self.add(function, pc, tensor.shared.address, copied);
                self.completion(function, pc, &tensor.completion);
            }
            CopyOp::Store { to, ty, values, mbarrier, .. } => {
                let count = self.flow.program.sources[*values].len() as u32;
                self.add(function, pc, to.address, |_| InstructionAccess {
                    bytes: ty.bits() / 8,
                    count,
                    named_type: Some(*ty),
                    ..InstructionAccess::default()
                });
                self.add(function, pc, mbarrier.address, |_| mbarrier_access());
            }
            CopyOp::Arrive { mbarrier, .. } => self.add(function, pc, *mbarrier, |_| mbarrier_access()),
        }
    }

    fn completion(&mut self, function: FuncId, pc: Pc, completion: &crate::program::Completion) {
        if let crate::program::Completion::Mbarrier(side) = completion {
            self.add(function, pc, side.address, |_| mbarrier_access());
        }
    }
}

/// The access to an mbarrier: 64 bits, used only by mbarrier instructions.
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
