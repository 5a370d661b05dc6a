//! Which registers an instruction reads and writes.
//!
//! An [`Op`] names slots only; their banks follow from its types and widths, as `machine::exec` reads them. Slots count from the base
//! of the frame that executes the instruction. A `call` reads its arguments; its results are written when the callee returns, into
//! the frame of the caller: [`call_results`]. A `ret` reads what [`result_registers`] names.

mod matrix;
mod memory;
mod wgmma;

use smallvec::SmallVec;

use super::{
    Address, Bank, Base, CallArg, CallId, CallTarget, Dst, Function, Inst, ListId, Op, Param, ParamPlace, PredSrc, Program, Src, SrcKind,
};
use crate::isa::{BarrierFn, FloatType, IntType, VoteMode, Width};

/// A register as an instruction names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterOperand {
    /// Its bank.
    pub bank: Bank,
    /// Its slot, counted from the frame's base.
    pub slot: u32,
    /// Slots it takes: 2 for `.b128`, else 1.
    pub width: u32,
}

/// How an instruction uses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// As the predicate before it, which decides the lanes that execute it.
    Guard,
    /// As the base of the address it accesses, or calls.
    Address,
    /// As a value it reads.
    Read,
    /// As a place for a result. Lanes that do not execute it keep what they had.
    Write,
}

/// A few registers.
pub type RegisterOperands = SmallVec<[RegisterOperand; 4]>;

/// Shows `visit` every register that `inst` uses, what it reads before what it writes. One that is used twice is shown twice.
pub fn registers_of(inst: &Inst, program: &Program, visit: impl FnMut(Use, RegisterOperand)) {
    let mut walk = Walk { program, visit };
    if let Some(guard) = inst.guard {
        walk.show(Use::Guard, Bank::Pred, guard.slot, 1);
    }
    walk.operation(&inst.op);
}

/// The registers that `inst` reads: its guard, the base of its address and its sources.
pub fn reads(inst: &Inst, program: &Program) -> RegisterOperands {
    collect(inst, program, |used| used != Use::Write)
}

/// Whether an operation only makes registers of registers, each lane for itself.
pub fn computes(op: &Op) -> bool {
    matches!(
        op,
        Op::IntUnary { .. }
            | Op::BitCount { .. }
            | Op::IntBinary { .. }
            | Op::IntTernary { .. }
            | Op::MulWide { .. }
            | Op::MadWide { .. }
            | Op::Carry { .. }
            | Op::Shift { .. }
            | Op::Lop3 { .. }
            | Op::BitField32 { .. }
            | Op::BitExtract { .. }
            | Op::BitInsert { .. }
            | Op::FloatUnary { .. }
            | Op::FloatBinary { .. }
            | Op::FloatTernary { .. }
            | Op::SetpInt { .. }
            | Op::SetpFloat { .. }
            | Op::SetInt { .. }
            | Op::SetFloat { .. }
            | Op::Select { .. }
            | Op::SelectSign { .. }
            | Op::PredBinary { .. }
            | Op::PredMove { .. }
            | Op::Convert { .. }
            | Op::Move { .. }
            | Op::MoveVector { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::ReadSpecial { .. }
    )
}

/// The registers that `inst` writes when it is executed; none for a call, whose results come when it returns.
pub fn writes(inst: &Inst, program: &Program) -> RegisterOperands {
    collect(inst, program, |used| used == Use::Write)
}

/// The registers that the addresses of `inst` start from.
pub fn address_registers(inst: &Inst, program: &Program) -> RegisterOperands {
    collect(inst, program, |used| used == Use::Address)
}

/// The caller's registers that the results of `call` are written to when its callee returns.
pub fn call_results(program: &Program, call: CallId) -> RegisterOperands {
    let results = program.calls.get(call.index()).map_or(&[][..], |site| &site.results);
    results.iter().filter_map(argument_register).collect()
}

/// The registers of its own frame in which `function` finds its parameters when it is entered.
pub fn parameter_registers(function: &Function) -> RegisterOperands {
    function.params.iter().filter_map(param_register).collect()
}

/// The registers of its own frame from which `function` hands its results back: what its `ret` reads.
pub fn result_registers(function: &Function) -> RegisterOperands {
    function.results.iter().filter_map(param_register).collect()
}

fn collect(inst: &Inst, program: &Program, wanted: impl Fn(Use) -> bool) -> RegisterOperands {
    let mut registers = RegisterOperands::new();
    registers_of(inst, program, |used, register| {
        if wanted(used) && !registers.contains(&register) {
            registers.push(register);
        }
    });
    registers
}

/// The register of the caller that holds an argument or takes a result, if one does.
pub fn argument_register(argument: &CallArg) -> Option<RegisterOperand> {
    match *argument {
        CallArg::Value(bank, value) => slot_of(value).map(|slot| RegisterOperand { bank, slot, width: 1 }),
        CallArg::Pred(PredSrc::Reg { slot, negate: _ }) => Some(RegisterOperand { bank: Bank::Pred, slot, width: 1 }),
        CallArg::Pred(PredSrc::Const(_)) | CallArg::Frame { offset: _, bytes: _ } | CallArg::Ignored => None,
    }
}

fn param_register(param: &Param) -> Option<RegisterOperand> {
    match param.place {
        ParamPlace::Register(bank, slot) => Some(RegisterOperand { bank, slot, width: 1 }),
        ParamPlace::Frame(_) | ParamPlace::Kernel(_) => None,
    }
}

fn slot_of(source: Src) -> Option<u32> {
    match source.kind() {
        SrcKind::Reg(slot) => Some(slot),
        SrcKind::Const(_) | SrcKind::Special(_) => None,
    }
}

/// Shows the registers of an operation.
struct Walk<'p, V> {
    program: &'p Program,
    visit: V,
}

impl<V: FnMut(Use, RegisterOperand)> Walk<'_, V> {
    fn operation(&mut self, op: &Op) {
        match op {
            Op::Nop | Op::Exit | Op::Trap | Op::Breakpoint => {}
            Op::Unsupported { why: _ } | Op::Fence { kind: _, ordering: _, scope: _ } => {}
            Op::Branch { target: _, uniform: _ } | Op::Return { uniform: _ } => {}
            Op::BranchIndexed { index, table: _, uniform: _ } => self.read(Bank::B32, *index),
            Op::Call { call, uniform: _ } => self.call(*call),
            Op::SystemCall { f: _, call } => {
                self.call(*call);
                let program = self.program;
                call_results(program, *call)
                    .iter()
                    .for_each(|register| self.show(Use::Write, register.bank, register.slot, register.width));
            }
            Op::IntUnary { .. }
            | Op::BitCount { .. }
            | Op::IntBinary { .. }
            | Op::IntTernary { .. }
            | Op::MulWide { .. }
            | Op::MadWide { .. }
            | Op::Carry { .. }
            | Op::Dot { .. } => self.integer(op),
            Op::Shift { .. }
            | Op::Lop3 { .. }
            | Op::Lop3Pred { .. }
            | Op::BitField32 { .. }
            | Op::BitExtract { .. }
            | Op::BitInsert { .. } => self.bits(op),
            Op::FloatUnary { .. }
            | Op::FloatBinary { .. }
            | Op::FloatTernary { .. }
            | Op::KeepingProduct { .. }
            | Op::TestProperty { .. } => {
                self.float(op);
            }
            Op::Video { .. } | Op::VideoMad { .. } | Op::VideoSimd { .. } => self.video(op),
            Op::SetpInt { .. } | Op::SetpFloat { .. } | Op::SetInt { .. } | Op::SetFloat { .. } => self.comparison(op),
            Op::Select { .. } | Op::SelectSign { .. } | Op::PredBinary { .. } | Op::PredMove { .. } => self.selection(op),
            Op::Convert { .. } | Op::ConvertPair { .. } | Op::ConvertPack { .. } | Op::ConvertAddress { .. } | Op::IsSpace { .. } => {
                self.conversion(op);
            }
            Op::Move { .. } | Op::Move128 { .. } | Op::Pack { .. } | Op::Unpack { .. } | Op::MoveVector { .. } | Op::CachePolicy { .. } => {
                self.movement(op);
            }
            Op::MapShared { .. } | Op::ClusterRank { .. } => self.cluster(op),
            Op::FrameAddress { .. } | Op::ReadSpecial { .. } | Op::ActiveMask { .. } => self.position(op),
            Op::Alloca { .. } | Op::StackSave { .. } | Op::StackRestore { .. } => self.stack(op),
            Op::Load { .. } | Op::LoadVector { .. } | Op::Store { .. } | Op::StoreVector { .. } => self.memory(op),
            Op::Atomic { .. } | Op::AtomicVector { .. } => self.atomic(op),
            Op::Image { access } => self.image(*access),
            Op::Matrix { matrix } => self.matrix(*matrix),
            Op::AsyncCopy { copy } => self.async_copy(*copy),
            Op::ReplaceTensorField { field, ordinal: _, access: _, a, address } => {
                self.address(*address);
                self.read(wide(field.is_wide()), *a);
            }
            Op::CopyTensorMap { to, from } => {
                self.address(*to);
                self.address(*from);
            }
            Op::Wgmma { wgmma } => self.wgmma(*wgmma),
            Op::WgmmaFence | Op::WgmmaCommit | Op::WgmmaWait { pending: _ } => {}
            Op::CommitCopies { .. } | Op::WaitCopies { .. } | Op::ClusterArrive { .. } | Op::ClusterWait { .. } => {}
            Op::Mbarrier { .. } | Op::MbarrierWait { .. } | Op::PendingCount { .. } => self.mbarrier(op),
            Op::Barrier { .. } | Op::WarpSync { .. } => self.sync(op),
            Op::Shuffle { .. } | Op::Vote { .. } | Op::Match { .. } | Op::Redux { .. } | Op::Elect { .. } => self.warp_level(op),
        }
    }

    fn integer(&mut self, op: &Op) {
        match *op {
            Op::IntUnary { f: _, ty, d, a } => self.same(of_int(ty), d, [a]),
            Op::BitCount { f: _, ty, d, a } => {
                self.read(of_int(ty), a);
                self.write(Bank::B32, d);
            }
            Op::IntBinary { f: _, ty, d, a, b } => self.same(of_int(ty), d, [a, b]),
            Op::IntTernary { f: _, ty, d, a, b, c } => self.same(of_int(ty), d, [a, b, c]),
            Op::MulWide { ty, d, a, b } => {
                self.read_all(of_int(ty), [a, b]);
                self.write(of_twice(ty), d);
            }
            Op::MadWide { ty, d, a, b, c } => {
                self.read_all(of_int(ty), [a, b]);
                self.read(of_twice(ty), c);
                self.write(of_twice(ty), d);
            }
            // Where the function takes no `c`, it is a constant.
            Op::Carry { f: _, ty, carry_in: _, carry_out: _, d, a, b, c } => self.same(of_int(ty), d, [a, b, c]),
            Op::Dot { f: _, a_signed: _, b_signed: _, d, a, b, c } => self.same(Bank::B32, d, [a, b, c]),
            ref other => unreachable!("{other:?} is no integer arithmetic"),
        }
    }

    fn bits(&mut self, op: &Op) {
        match *op {
            Op::Shift { f: _, ty, d, a, b } => {
                self.read(of_int(ty), a);
                self.read(Bank::B32, b);
                self.write(of_int(ty), d);
            }
            Op::Lop3 { lut: _, d, a, b, c } | Op::BitField32 { f: _, d, a, b, c } => self.same(Bank::B32, d, [a, b, c]),
            Op::Lop3Pred { lut: _, f: _, d, p, a, b, c, q } => {
                self.predicate(q);
                self.same(Bank::B32, d, [a, b, c]);
                self.write(Bank::Pred, p);
            }
            Op::BitExtract { ty, d, a, b, c } => {
                self.read(of_int(ty), a);
                self.read_all(Bank::B32, [b, c]);
                self.write(of_int(ty), d);
            }
            Op::BitInsert { width, d, a, b, c, e } => {
                self.read_all(of_width(width), [a, b]);
                self.read_all(Bank::B32, [c, e]);
                self.write(of_width(width), d);
            }
            ref other => unreachable!("{other:?} is no operation on bits"),
        }
    }

    fn float(&mut self, op: &Op) {
        match *op {
            Op::FloatUnary { f: _, ty, mode: _, d, a } => self.same(of_float(ty), d, [a]),
            Op::FloatBinary { f: _, ty, mode: _, d, a, b } => self.same(of_float(ty), d, [a, b]),
            Op::KeepingProduct { f: _, ty, mode: _, d, a, b, kept } => {
                self.same(of_float(ty), d, [a, b]);
                self.write(of_float(ty), kept);
                self.write(of_float(ty), Dst(kept.0 + 1));
            }
            Op::FloatTernary { f: _, ty, mode: _, d, a, b, c } => self.same(of_float(ty), d, [a, b, c]),
            Op::TestProperty { f: _, ty, p, a } => {
                self.read(of_float(ty), a);
                self.write(Bank::Pred, p);
            }
            ref other => unreachable!("{other:?} is no floating-point arithmetic"),
        }
    }

    fn video(&mut self, op: &Op) {
        match *op {
            Op::Video { mode: _, d, a, b, c } | Op::VideoMad { mode: _, d, a, b, c } | Op::VideoSimd { mode: _, d, a, b, c } => {
                self.same(Bank::B32, d, [a, b, c]);
            }
            ref other => unreachable!("{other:?} is no video instruction"),
        }
    }

    fn comparison(&mut self, op: &Op) {
        match *op {
            Op::SetpInt { cmp: _, ty, combine: _, c, p, q, a, b } => self.compare(of_int(ty), [a, b], c, Bank::Pred, &[p, q]),
            Op::SetpFloat { cmp: _, ty, ftz: _, combine: _, c, p, q, a, b } => {
                self.compare(of_float(ty), [a, b], c, Bank::Pred, &[p, q]);
            }
            Op::SetInt { cmp: _, from, to: _, combine: _, c, d, a, b } => self.compare(of_int(from), [a, b], c, Bank::B32, &[d]),
            Op::SetFloat { cmp: _, from, to: _, ftz: _, combine: _, c, d, a, b } => {
                self.compare(of_float(from), [a, b], c, Bank::B32, &[d]);
            }
            ref other => unreachable!("{other:?} is no comparison"),
        }
    }

    fn compare(&mut self, from: Bank, sources: [Src; 2], c: PredSrc, to: Bank, dests: &[Dst]) {
        self.read_all(from, sources);
        self.predicate(c);
        dests.iter().for_each(|d| self.write(to, *d));
    }

    fn selection(&mut self, op: &Op) {
        match *op {
            Op::Select { width, d, a, b, p } => {
                self.predicate(p);
                self.same(of_width(width), d, [a, b]);
            }
            Op::SelectSign { width, float: _, ftz: _, d, a, b, c } => {
                self.read(Bank::B32, c);
                self.same(of_width(width), d, [a, b]);
            }
            Op::PredBinary { f: _, d, a, b } => {
                self.predicate(a);
                self.predicate(b);
                self.write(Bank::Pred, d);
            }
            Op::PredMove { d, a } => {
                self.predicate(a);
                self.write(Bank::Pred, d);
            }
            ref other => unreachable!("{other:?} is no selection"),
        }
    }

    fn conversion(&mut self, op: &Op) {
        match *op {
            Op::Convert { mode, d, a } => {
                self.read(wide(mode.a_bits == 64), a);
                self.write(wide(mode.d_bits == 64), d);
            }
            Op::ConvertPair { mode: _, d, a, b } => self.same(Bank::B32, d, [a, b]),
            Op::ConvertPack { to: _, from: _, d, a, b, c } => self.same(Bank::B32, d, [a, b, c]),
            Op::ConvertAddress { space: _, to_space: _, wide: is_wide, d, a } => self.same(wide(is_wide), d, [a]),
            Op::IsSpace { space: _, wide: is_wide, p, a } => {
                self.read(wide(is_wide), a);
                self.write(Bank::Pred, p);
            }
            ref other => unreachable!("{other:?} is no conversion"),
        }
    }

    fn movement(&mut self, op: &Op) {
        match *op {
            Op::Move { width, d, a } => self.same(of_width(width), d, [a]),
            Op::CachePolicy { priorities: _, d, fraction } => {
                self.read(Bank::B32, fraction);
                self.write(Bank::B64, d);
            }
            Op::Move128 { d, a } => {
                self.source(Use::Read, Bank::B64, a, 2);
                self.dest(Bank::B64, d, 2);
            }
            Op::Pack { part, parts, d } => {
                let parts = self.sources(parts);
                parts.iter().for_each(|part_source| self.read(wide(part == 64), *part_source));
                let (bank, width) = of_bits(usize::from(part) * parts.len());
                self.dest(bank, d, width);
            }
            Op::Unpack { part, parts, a } => {
                let parts = self.dests(parts);
                let (bank, width) = of_bits(usize::from(part) * parts.len());
                self.source(Use::Read, bank, a, width);
                parts.iter().for_each(|d| self.write(wide(part == 64), *d));
            }
            Op::MoveVector { width, d, a } => {
                self.sources(a).iter().for_each(|a| self.read(of_width(width), *a));
                self.dests(d).iter().for_each(|d| self.write(of_width(width), *d));
            }
            ref other => unreachable!("{other:?} is no move"),
        }
    }

    fn cluster(&mut self, op: &Op) {
        match *op {
            Op::MapShared { wide: is_wide, generic: _, d, a, b } => {
                self.read(wide(is_wide), a);
                self.read(Bank::B32, b);
                self.write(wide(is_wide), d);
            }
            Op::ClusterRank { wide: is_wide, generic: _, d, a } => {
                self.read(wide(is_wide), a);
                self.write(Bank::B32, d);
            }
            ref other => unreachable!("{other:?} is not about the cluster"),
        }
    }

    /// What depends on where and when it is executed, and reads no register.
    fn position(&mut self, op: &Op) {
        match *op {
            Op::FrameAddress { wide: is_wide, generic: _, d, offset: _ } => self.write(wide(is_wide), d),
            Op::ReadSpecial { register: _, width, d } => self.write(of_width(width), d),
            Op::ActiveMask { d } => self.write(Bank::B32, d),
            ref other => unreachable!("{other:?} reads registers"),
        }
    }

    fn stack(&mut self, op: &Op) {
        match *op {
            Op::Alloca { wide: is_wide, d, size, align: _ } => self.same(wide(is_wide), d, [size]),
            Op::StackSave { wide: is_wide, d } => self.write(wide(is_wide), d),
            Op::StackRestore { wide: is_wide, a } => self.read(wide(is_wide), a),
            ref other => unreachable!("{other:?} does not manage the stack"),
        }
    }

    fn call(&mut self, call: CallId) {
        let program = self.program;
        let Some(site) = program.calls.get(call.index()) else { return };
        if let CallTarget::Indirect { address, wide: is_wide, candidates: _ } = &site.target {
            self.source(Use::Address, wide(*is_wide), *address, 1);
        }
        for register in site.args.iter().filter_map(argument_register) {
            (self.visit)(Use::Read, register);
        }
    }

    fn sync(&mut self, op: &Op) {
        match *op {
            Op::Barrier { f, aligned: _, id, count, d, p } => {
                self.read(Bank::B32, id);
                count.into_iter().for_each(|count| self.read(Bank::B32, count));
                self.predicate(p);
                match f {
                    BarrierFn::Sync | BarrierFn::Arrive => {}
                    BarrierFn::RedPopc => self.write(Bank::B32, d),
                    BarrierFn::RedAnd | BarrierFn::RedOr => self.write(Bank::Pred, d),
                }
            }
            Op::WarpSync { mask } => self.read(Bank::B32, mask),
            ref other => unreachable!("{other:?} is no barrier"),
        }
    }

    fn warp_level(&mut self, op: &Op) {
        match *op {
            Op::Shuffle { f: _, d, p, a, b, c, mask } => {
                mask.into_iter().for_each(|mask| self.read(Bank::B32, mask));
                self.same(Bank::B32, d, [a, b, c]);
                self.write(Bank::Pred, p);
            }
            Op::Vote { f, d, p, mask } => {
                mask.into_iter().for_each(|mask| self.read(Bank::B32, mask));
                self.predicate(p);
                self.write(if f == VoteMode::Ballot { Bank::B32 } else { Bank::Pred }, d);
            }
            Op::Match { all: _, width, d, p, a, mask } => {
                self.read(of_width(width), a);
                self.read(Bank::B32, mask);
                self.write(Bank::B32, d);
                self.write(Bank::Pred, p);
            }
            Op::Redux { f: _, ty: _, d, a, mask } => self.same(Bank::B32, d, [a, mask]),
            Op::Elect { d, p, mask } => {
                self.read(Bank::B32, mask);
                self.write(Bank::B32, d);
                self.write(Bank::Pred, p);
            }
            ref other => unreachable!("{other:?} exchanges nothing"),
        }
    }
}

impl<'p, V: FnMut(Use, RegisterOperand)> Walk<'p, V> {
    fn show(&mut self, used: Use, bank: Bank, slot: u32, width: u32) {
        (self.visit)(used, RegisterOperand { bank, slot, width });
    }

    /// Sources and destination of one bank.
    fn same<const N: usize>(&mut self, bank: Bank, d: Dst, sources: [Src; N]) {
        self.read_all(bank, sources);
        self.write(bank, d);
    }

    fn read_all<const N: usize>(&mut self, bank: Bank, sources: [Src; N]) {
        sources.into_iter().for_each(|source| self.read(bank, source));
    }

    fn read(&mut self, bank: Bank, source: Src) {
        self.source(Use::Read, bank, source, 1);
    }

    fn write(&mut self, bank: Bank, d: Dst) {
        self.dest(bank, d, 1);
    }

    fn source(&mut self, used: Use, bank: Bank, source: Src, width: u32) {
        if let Some(slot) = slot_of(source) {
            self.show(used, bank, slot, width);
        }
    }

    fn dest(&mut self, bank: Bank, d: Dst, width: u32) {
        if !d.is_sink() {
            self.show(Use::Write, bank, d.0, width);
        }
    }

    fn predicate(&mut self, source: PredSrc) {
        if let PredSrc::Reg { slot, negate: _ } = source {
            self.show(Use::Read, Bank::Pred, slot, 1);
        }
    }

    fn address(&mut self, Address { base, offset: _ }: Address) {
        match base {
            Base::Narrow(source) => self.source(Use::Address, Bank::B32, source, 1),
            Base::Wide(source) => self.source(Use::Address, Bank::B64, source, 1),
            Base::Frame => {}
        }
    }

    fn sources(&self, list: ListId) -> &'p [Src] {
        self.program.sources.get(list.index()).map_or(&[], |list| list)
    }

    fn dests(&self, list: ListId) -> &'p [Dst] {
        self.program.dests.get(list.index()).map_or(&[], |list| list)
    }
}

fn wide(is_wide: bool) -> Bank {
    if is_wide { Bank::B64 } else { Bank::B32 }
}

/// The bank of a value of so many bits, and the slots it takes there.
fn of_bits(bits: usize) -> (Bank, u32) {
    (wide(bits >= 64), if bits >= 128 { 2 } else { 1 })
}

/// The register that holds a memory element of `bits`, which may be narrower than the register.
fn of_element(bits: u8, reg_bits: u8) -> (Bank, u32) {
    of_bits(usize::from(bits.max(reg_bits)))
}

/// The bank of registers of `width`.
pub fn of_width(width: Width) -> Bank {
    wide(width == Width::B64)
}

/// The bank of registers of type `ty`.
pub fn of_int(ty: IntType) -> Bank {
    wide(matches!(ty, IntType::U64 | IntType::S64))
}

/// The bank of a product of twice the width of `ty`.
fn of_twice(ty: IntType) -> Bank {
    wide(!matches!(ty, IntType::U16 | IntType::S16))
}

/// The bank of registers of type `ty`.
pub fn of_float(ty: FloatType) -> Bank {
    wide(ty == FloatType::F64)
}
