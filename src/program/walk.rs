//! The registers of the operands of one operation, each shown with its bank and how it is used.

use smallvec::SmallVec;

use super::{
    Address, Bank, Base, CallArg, CallId, CallTarget, Dst, Function, ListId, Param, ParamPlace, PredSrc, Program, Slot, Src, SrcKind,
};

/// A register as an instruction names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterOperand {
    /// Its bank.
    pub bank: Bank,
    /// Its slot, counted from the frame's base.
    pub slot: Slot,
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

/// The caller's registers that the results of `call` are written to when its callee returns.
pub fn call_results(program: &Program, call: CallId) -> RegisterOperands {
    let results = &program.calls[call].results;
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

fn slot_of(source: Src) -> Option<Slot> {
    match source.kind() {
        SrcKind::Reg(slot) => Some(slot),
        SrcKind::Const(_) | SrcKind::Special(_) => None,
    }
}

/// Shows the registers of an operation.
pub struct Walk<'p> {
    pub(super) program: &'p Program,
    pub(super) visit: &'p mut dyn FnMut(Use, RegisterOperand),
}

impl<'p> Walk<'p> {
    /// What a call reads: the function it calls, and its arguments.
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

    /// What a call writes when its callee returns.
    pub(super) fn call_results(&mut self, call: CallId) {
        for register in call_results(self.program, call) {
            self.show(Use::Write, register.bank, register.slot, register.width);
        }
    }

    pub(super) fn show(&mut self, used: Use, bank: Bank, slot: Slot, width: u32) {
        (self.visit)(used, RegisterOperand { bank, slot, width });
    }

    /// Sources and destination of one bank.
    pub(super) fn same<const N: usize>(&mut self, bank: Bank, d: Dst, sources: [Src; N]) {
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
            self.show(used, bank, slot, width);
        }
    }

    pub(super) fn dest(&mut self, bank: Bank, d: Dst, width: u32) {
        if !d.is_sink() {
            self.show(Use::Write, bank, d.0, width);
        }
    }

    pub(super) fn predicate(&mut self, source: PredSrc) {
        if let PredSrc::Reg { slot, negate: _ } = source {
            self.show(Use::Read, Bank::Pred, slot, 1);
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
