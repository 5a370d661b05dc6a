//! A visitor of the register operands of one operation, each with its bank and its use.

use smallvec::SmallVec;

use super::{
    Address, Bank, Base, CallArg, CallId, CallTarget, Dst, Function, ListId, Param, ParamStorage, PredSrc, Program, Slot, Src, SrcKind,
};

/// A register operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterOperand {
    /// Its bank.
    pub bank: Bank,
    /// Its slot, counted from the frame's base.
    pub slot: Slot,
    /// Number of slots: 2 for `.b128`, otherwise 1.
    pub width: u32,
}

/// The use of a register by an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// As its guard predicate.
    Guard,
    /// As the base of an address that it accesses or calls.
    Address,
    /// As another value that it reads.
    Read,
    /// As a destination. Lanes that do not execute the instruction keep the old value.
    Write,
}

/// A few registers.
pub type RegisterOperands = SmallVec<[RegisterOperand; 4]>;

/// The caller's registers that the results of `call` are written to when its callee returns.
pub fn call_results(program: &Program, call: CallId) -> RegisterOperands {
    let results = &program.calls[call].results;
    results.iter().filter_map(argument_register).collect()
}

/// The registers that hold the parameters of `function` on entry.
pub fn parameter_registers(function: &Function) -> RegisterOperands {
    function.params.iter().filter_map(param_register).collect()
}

/// The registers that hold the results of `function` on return: its `ret` reads them.
pub fn result_registers(function: &Function) -> RegisterOperands {
    function.results.iter().filter_map(param_register).collect()
}

/// The caller's register that holds an argument or receives a result, if it is in a register.
pub fn argument_register(argument: &CallArg) -> Option<RegisterOperand> {
    match *argument {
        CallArg::Value(bank, value) => slot_of(value).map(|slot| RegisterOperand { bank, slot, width: 1 }),
        CallArg::Pred(PredSrc::Reg { slot, negate: _ }) => Some(RegisterOperand { bank: Bank::Pred, slot, width: 1 }),
        CallArg::Pred(PredSrc::Const(_)) | CallArg::Frame { offset: _, bytes: _ } | CallArg::Ignored => None,
    }
}

fn param_register(param: &Param) -> Option<RegisterOperand> {
    match param.storage {
        ParamStorage::Register(bank, slot) => Some(RegisterOperand { bank, slot, width: 1 }),
        ParamStorage::Frame(_) | ParamStorage::Kernel(_) => None,
    }
}

fn slot_of(source: Src) -> Option<Slot> {
    match source.kind() {
        SrcKind::Reg(slot) => Some(slot),
        SrcKind::Const(_) | SrcKind::Special(_) => None,
    }
}

/// Visits the registers of an operation.
pub struct OperandVisitor<'p> {
    pub(super) program: &'p Program,
    pub(super) visit: &'p mut dyn FnMut(Use, RegisterOperand),
}

impl<'p> OperandVisitor<'p> {
    /// The registers that a call reads: its target if indirect, and its arguments.
    pub(super) fn call(&mut self, call: CallId) {
        let program = self.program;
        let site = &program.calls[call];
        if let CallTarget::Indirect { address, wide: is_wide, candidates: _ } = &site.target {
            self.source(Use::Address, Bank::of_wide(*is_wide), *address, 1);
        }
        for register in site.args.iter().filter_map(argument_register) {
            (self.visit)(Use::Read, register);
        }
    }

    /// The registers that a call writes when its callee returns.
    pub(super) fn call_results(&mut self, call: CallId) {
        for register in call_results(self.program, call) {
            self.visit_slot(Use::Write, register.bank, register.slot, register.width);
        }
    }

    pub(super) fn visit_slot(&mut self, used: Use, bank: Bank, slot: Slot, width: u32) {
        (self.visit)(used, RegisterOperand { bank, slot, width });
    }

    /// Sources and a destination of the same bank.
    pub(super) fn one_bank<const N: usize>(&mut self, bank: Bank, d: Dst, sources: [Src; N]) {
        self.read_all(bank, sources);
        self.write(bank, d);
    }

    /// A comparison: its sources, the predicate it is combined with, and its destinations.
    pub(super) fn compare(&mut self, from: Bank, sources: [Src; 2], c: PredSrc, to: Bank, dests: &[Dst]) {
        self.read_all(from, sources);
        self.predicate(c);
        dests.iter().for_each(|d| self.write(to, *d));
    }

    pub(super) fn read_all<const N: usize>(&mut self, bank: Bank, sources: [Src; N]) {
        sources.into_iter().for_each(|source| self.read(bank, source));
    }

    pub(super) fn read(&mut self, bank: Bank, source: Src) {
        self.source(Use::Read, bank, source, 1);
    }

    pub(super) fn write(&mut self, bank: Bank, d: Dst) {
        self.dest(bank, d, 1);
    }

    pub(super) fn source(&mut self, used: Use, bank: Bank, source: Src, width: u32) {
        if let Some(slot) = slot_of(source) {
            self.visit_slot(used, bank, slot, width);
        }
    }

    pub(super) fn dest(&mut self, bank: Bank, d: Dst, width: u32) {
        if !d.is_sink() {
            self.visit_slot(Use::Write, bank, d.0, width);
        }
    }

    pub(super) fn predicate(&mut self, source: PredSrc) {
        if let PredSrc::Reg { slot, negate: _ } = source {
            self.visit_slot(Use::Read, Bank::Pred, slot, 1);
        }
    }

    pub(super) fn address(&mut self, Address { base, offset: _ }: Address) {
        match base {
            Base::Narrow(source) => self.source(Use::Address, Bank::B32, source, 1),
            Base::Wide(source) => self.source(Use::Address, Bank::B64, source, 1),
            Base::Frame => {}
        }
    }

    pub(super) fn sources(&self, list: ListId) -> &'p [Src] {
        &self.program.sources[list]
    }

    pub(super) fn dests(&self, list: ListId) -> &'p [Dst] {
        &self.program.dests[list]
    }
}
