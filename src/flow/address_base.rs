//! The base of an address: the variable or kernel parameter at which the pointer arithmetic starts.
//!
//! The analysis is flow-insensitive: a fact holds for a register in the whole function. Compilers write most registers once; for a
//! register that is reused, the fact covers all its values. Sums, moves and conversions of addresses keep the base; the result of every
//! other operation is a number without a base, such as a product that is an index. So is a value loaded from memory.

use smallvec::SmallVec;

use crate::isa::{IntBinary, IntTernary, Space};
use crate::program::operands::{call_results, parameter_registers, writes};
use crate::program::{
    Address, AtomicOp, Bank, Base, ControlOp, ConvertOp, Dst, FuncId, Inst, IntegerOp, MemoryOp, MoveOp, Named, Op, Pc, Program, SelectOp,
    Src, SrcKind, VarId,
};

/// The base of pointer arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressBase {
    /// A variable.
    Variable(VarId),
    /// The kernel parameter at this byte offset; a pointer or a number.
    Param(u32),
}

/// A sorted set of bases.
type Bases = SmallVec<[AddressBase; 2]>;

/// The bases of a value: `must` are in it however it was computed, `may` are in it in at least one of the ways.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BasesOfValue {
    must: Bases,
    may: Bases,
}

impl BasesOfValue {
    fn of(base: AddressBase) -> Self {
        Self { must: SmallVec::from_slice(&[base]), may: SmallVec::from_slice(&[base]) }
    }

    /// The only base for which `is_pointer` is true; `None` if there are several, or if the value may lack it.
    pub fn unique(&self, mut is_pointer: impl FnMut(AddressBase) -> bool) -> Option<AddressBase> {
        let mut pointers = self.may.iter().copied().filter(|base| is_pointer(*base));
        let only = pointers.next().filter(|only| self.must.contains(only))?;
        pointers.next().is_none().then_some(only)
    }

    fn plus(mut self, other: &Self) -> Self {
        add(&mut self.must, &other.must);
        add(&mut self.may, &other.may);
        self
    }

    /// Merges the facts of another way to compute the value; true if they change.
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.must.len(), self.may.len());
        self.must.retain(|base| other.must.contains(base));
        add(&mut self.may, &other.may);
        before != (self.must.len(), self.may.len())
    }
}

fn add(bases: &mut Bases, more: &[AddressBase]) {
    for base in more {
        if let Err(at) = bases.binary_search(base) {
            bases.insert(at, *base);
        }
    }
}

/// A term of a sum.
#[derive(Clone, Copy)]
enum Term {
    Register(usize),
    Base(AddressBase),
}

/// An assignment: the register `to` gets the sum of `terms`, and of numbers.
struct Sum {
    to: usize,
    terms: SmallVec<[Term; 2]>,
}

/// The loads, stores and atomics of a function whose addresses have a base, in order, each with its bases.
pub fn address_bases(program: &Program, function: FuncId) -> Vec<(Pc, BasesOfValue)> {
    let cells = Cells { program, narrow: program.functions[function.index()].slots.b32 as usize };
    let code = program.functions[function.index()].code.clone();
    let parameters = parameter_registers(&program.functions[function.index()]);
    let mut sums: Vec<Sum> = parameters.iter().filter_map(|d| cells.sum(d.bank, Dst(d.slot), SmallVec::new())).collect();
    code.clone().map(Pc).for_each(|pc| cells.add_sums(pc, &mut sums));
    let size = cells.narrow + program.functions[function.index()].slots.b64 as usize;
    let values = solve(&sums, size);
    let of = |pc: Pc| {
        let term = cells.address(pc, address(&program.code[pc.index()])?)?;
        let value = value(&values, &[term])?;
        (!value.must.is_empty()).then_some((pc, value))
    };
    code.map(Pc).filter_map(of).collect()
}

/// The least fixed point; `None` for a register that is never written.
fn solve(sums: &[Sum], size: usize) -> Vec<Option<BasesOfValue>> {
    let mut values: Vec<Option<BasesOfValue>> = vec![None; size];
    let mut changes = true;
    while changes {
        changes = false;
        for Sum { to, terms } in sums {
            let Some(new) = value(&values, terms) else { continue };
            changes |= match &mut values[*to] {
                Some(known) => known.join(&new),
                none => none.replace(new).is_none(),
            };
        }
    }
    values
}

/// The bases of a sum; `None` while a term is unknown.
fn value(values: &[Option<BasesOfValue>], terms: &[Term]) -> Option<BasesOfValue> {
    let parts = terms.iter().map(|term| match term {
        Term::Base(base) => Some(BasesOfValue::of(*base)),
        Term::Register(cell) => values[*cell].clone(),
    });
    parts.reduce(|all, part| Some(all?.plus(&part?))).unwrap_or_else(|| Some(BasesOfValue::default()))
}

/// The numbering of the registers of a function: first those of 32 bits, then those of 64.
struct Cells<'p> {
    program: &'p Program,
    /// The number of 32-bit registers.
    narrow: usize,
}

impl Cells<'_> {
    fn cell(&self, bank: Bank, slot: usize) -> Option<usize> {
        match bank {
            Bank::B32 => Some(slot),
            Bank::B64 => Some(self.narrow + slot),
            Bank::Pred => None,
        }
    }

    /// The assignment of the sum of `terms` to `d`; `None` for a register that cannot hold an address.
    fn sum(&self, bank: Bank, d: Dst, terms: SmallVec<[Term; 2]>) -> Option<Sum> {
        let to = if d.is_sink() { None } else { self.cell(bank, d.0.index()) };
        to.map(|to| Sum { to, terms })
    }

    fn term(&self, pc: Pc, bank: Bank, source: Src) -> Option<Term> {
        match source.kind() {
            SrcKind::Reg(slot) => Some(Term::Register(self.cell(bank, slot.index())?)),
            SrcKind::Const(_) => Some(Term::Base(self.variable(pc)?)),
            SrcKind::Special(_) => None,
        }
    }

    /// The only variable that the statement names, if it is in shared, global or local memory.
    fn variable(&self, pc: Pc) -> Option<AddressBase> {
        let mut named = self.program.mentions(pc).iter().filter_map(|mention| match mention.named {
            Named::Variable(variable) => Some(variable),
            Named::Special(_) | Named::Callee(_) => None,
        });
        let only = named.next().filter(|first| named.all(|other| other == *first))?;
        let space = self.program.variables[only.index()].location.space;
        matches!(space, Space::Shared | Space::Global | Space::Local).then_some(AddressBase::Variable(only))
    }

    fn address(&self, pc: Pc, address: Address) -> Option<Term> {
        match address.base {
            Base::Narrow(source) => self.term(pc, Bank::B32, source),
            Base::Wide(source) => self.term(pc, Bank::B64, source),
            Base::Frame => Some(Term::Base(self.variable(pc)?)),
        }
    }

    /// The byte offset, in the kernel parameters, that a load reads.
    fn param_offset(&self, inst: &Inst) -> Option<u32> {
        let Op::Memory(MemoryOp::Load { access, address, .. } | MemoryOp::LoadVector { access, address, .. }) = inst.op else {
            return None;
        };
        let (source, is_wide) = match (access.space, address.base) {
            (Space::Param, Base::Narrow(source)) => (source, false),
            (Space::Param, Base::Wide(source)) => (source, true),
            _ => return None,
        };
        let start = match (source.kind(), is_wide) {
            (SrcKind::Const(index), false) => u64::from(*self.program.consts32.get(index as usize)?),
            (SrcKind::Const(index), true) => *self.program.consts64.get(index as usize)?,
            (SrcKind::Reg(_) | SrcKind::Special(_), _) => return None,
        };
        u32::try_from(start.checked_add_signed(i64::from(address.offset))?).ok()
    }

    /// Adds the assignments of an instruction to `sums`.
    fn add_sums(&self, pc: Pc, sums: &mut Vec<Sum>) {
        let inst = &self.program.code[pc.index()];
        if let Some((bank, d, sources)) = summands(&inst.op) {
            let terms = |of: &[(Bank, Src)]| of.iter().filter_map(|(bank, source)| self.term(pc, *bank, *source)).collect();
            return sums.extend(sources.iter().filter_map(|of| self.sum(bank, d, terms(of))));
        }
        if let Op::Move(MoveOp::FrameAddress { wide, d, .. }) = inst.op {
            let base = self.variable(pc).map(Term::Base);
            return sums.extend(self.sum(Bank::of_wide(wide), d, base.into_iter().collect()));
        }
        let mut param = self.param_offset(inst);
        let mut written = writes(inst, self.program);
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            written.extend(call_results(self.program, call));
        }
        for register in written {
            let base = param.map(|offset| Term::Base(AddressBase::Param(offset)));
            sums.extend(self.sum(register.bank, Dst(register.slot), base.into_iter().collect()));
            param = param.and_then(|offset| offset.checked_add(if register.bank == Bank::B64 { 8 } else { 4 }));
        }
    }
}

/// A register and its alternative values: each is the sum of these operands, and of numbers.
type Summands = (Bank, Dst, SmallVec<[SmallVec<[(Bank, Src); 2]>; 2]>);

/// The operands of an instruction that adds or copies values which may be addresses; `None` for other instructions.
fn summands(op: &Op) -> Option<Summands> {
    let sum = |bank: Bank, d: Dst, terms: &[(Bank, Src)]| Some((bank, d, SmallVec::from_iter([SmallVec::from_slice(terms)])));
    if let Op::Move(MoveOp::Move { width, d, a }) = *op {
        return sum(width.bank(), d, &[(width.bank(), a)]);
    }
    if let Op::Move(MoveOp::ConvertAddress { wide, d, a, .. }) = *op {
        return sum(Bank::of_wide(wide), d, &[(Bank::of_wide(wide), a)]);
    }
    if let Op::Integer(IntegerOp::Binary { f: f @ (IntBinary::Add | IntBinary::Sub), ty, d, a, b }) = *op {
        let terms = [(ty.bank(), a), (ty.bank(), b)];
        return sum(ty.bank(), d, if f == IntBinary::Add { &terms } else { &terms[..1] });
    }
    if let Op::Integer(IntegerOp::Ternary { f: IntTernary::MadLo | IntTernary::Mad24Lo, ty, d, c, .. }) = *op {
        return sum(ty.bank(), d, &[(ty.bank(), c)]);
    }
    if let Op::Integer(IntegerOp::MadWide { ty, d, c, .. }) = *op {
        return sum(ty.twice_bank(), d, &[(ty.twice_bank(), c)]);
    }
    if let Op::Convert(ConvertOp::Single { mode, d, a }) = *op {
        return sum(Bank::of_wide(mode.d_bits == 64), d, &[(Bank::of_wide(mode.a_bits == 64), a)]);
    }
    if let Op::Select(SelectOp::Select { width, d, a, b, .. } | SelectOp::SelectSign { width, d, a, b, .. }) = *op {
        let alternative = |source: Src| SmallVec::from_slice(&[(width.bank(), source)]);
        return Some((width.bank(), d, SmallVec::from_iter([alternative(a), alternative(b)])));
    }
    None
}

/// The address of a load, a store or an atomic.
fn address(inst: &Inst) -> Option<Address> {
    if let Op::Memory(
        MemoryOp::Load { address, .. }
        | MemoryOp::LoadVector { address, .. }
        | MemoryOp::Store { address, .. }
        | MemoryOp::StoreVector { address, .. },
    )
    | Op::Atomic(AtomicOp::Single { address, .. } | AtomicOp::Vector { address, .. }) = inst.op
    {
        return Some(address);
    }
    None
}
