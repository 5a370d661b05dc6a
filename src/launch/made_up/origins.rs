//! Origins of the addresses of a kernel's instructions: the parameters from which they are computed, and the numbers that bound them.

use super::flow::{Flow, ParamPart, ParamParts};
use crate::flow::reach::Reached;
use crate::program::operands;
use crate::program::{Bank, CompareOp, ControlOp, FuncId, Op, Pc, Program};

/// The parameters from which addresses of a kernel's instructions are computed.
pub struct Origins<'a>(Flow<'a>);

impl<'a> Origins<'a> {
    /// Follows the parameters of `kernel`.
    pub fn new(program: &'a Program, kernel: FuncId) -> Self {
        Self(Flow::new(program, kernel))
    }

    /// The parameters from which the addresses of the instruction at `pc` are computed: those whose values are used, and those whose
    /// buffers' contents are used.
    pub fn of(&self, pc: Pc) -> (Vec<usize>, Vec<usize>) {
        let (values, contents) = self.bits(pc);
        (self.params(values), self.params(contents))
    }

    /// The parameter parts that are the base of the addresses of the instruction at `pc`.
    pub fn pointers(&self, pc: Pc) -> Vec<ParamPart> {
        let Some(function) = self.function(pc) else { return Vec::new() };
        let registers = operands::address_registers(&self.0.program.code[pc.index()], self.0.program);
        let bits = registers.iter().fold(0, |bits, register| bits | self.0.fact(function, register.bank, register.slot).pointer);
        self.parts(bits).collect()
    }

    /// The parameters that bound the addresses of the instruction at `pc`: factors of an index, numbers that an index is compared with,
    /// and bounds of a loop that increments an index.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations bound nothing")]
    pub fn sizes(&self, pc: Pc) -> Vec<usize> {
        let Some(function) = self.function(pc) else { return Vec::new() };
        let flow = &self.0;
        let registers = operands::address_registers(&flow.program.code[pc.index()], flow.program);
        let slice = flow.backward_slice(registers.iter().map(|register| flow.cell(function, register.bank, register.slot)));
        let bounds = flow.code().map(|(function, at, inst)| match inst.op {
            Op::Compare(CompareOp::SetpInt { ty, a, b, .. }) => {
                let is_index = |source| flow.cell_of(function, ty.bank(), source).is_some_and(|cell| slice.contains(cell as usize));
                let direct = |source| flow.fact_of(function, ty.bank(), source).direct;
                (if is_index(a) { direct(b) } else { 0 }) | (if is_index(b) { direct(a) } else { 0 })
            }
            Op::Control(ControlOp::Branch { target, .. }) if (target.0..=at).contains(&pc.0) => {
                let advances = self.advances(function, target.0..at + 1, &slice);
                let guard = inst.guard.filter(|_| advances);
                let fact = guard.map(|guard| flow.fact(function, Bank::Pred, guard.slot)).unwrap_or_default();
                if fact.direct == 0 { fact.value } else { fact.direct }
            }
            _ => 0,
        });
        let bits = bounds.fold(self.bits(pc).0, |bits, more| bits | more);
        self.params(bits)
    }

    /// True if a register of `slice` is computed from itself in the loop `body`.
    fn advances(&self, function: FuncId, body: std::ops::Range<u32>, slice: &Reached) -> bool {
        let flow = &self.0;
        let written = body.flat_map(|pc| operands::writes(&flow.program.code[pc as usize], flow.program));
        let cells = written.map(|register| flow.cell(function, register.bank, register.slot));
        cells.filter(|cell| slice.contains(*cell as usize)).any(|cell| flow.depends_on_itself(cell))
    }

    /// The function that contains `pc`, if it is reachable from the kernel.
    fn function(&self, pc: Pc) -> Option<FuncId> {
        self.0.program.function_at(pc).filter(|function| self.0.functions.contains(function))
    }

    /// The parts from whose values the addresses of the instruction at `pc` are computed, and those from whose buffers' contents.
    fn bits(&self, pc: Pc) -> (ParamParts, ParamParts) {
        let (flow, program) = (&self.0, self.0.program);
        let Some(function) = self.function(pc) else { return (0, 0) };
        let (mut values, mut contents) = (0, 0);
        for register in operands::address_registers(&program.code[pc.index()], program) {
            let fact = flow.fact(function, register.bank, register.slot);
            (values, contents) = (values | fact.value, contents | fact.contents);
        }
        (values, contents)
    }

    fn parts(&self, bits: ParamParts) -> impl Iterator<Item = ParamPart> {
        self.0.parts.iter().take(64).enumerate().filter(move |(bit, _)| bits >> bit & 1 == 1).map(|(_, part)| *part)
    }

    fn params(&self, bits: ParamParts) -> Vec<usize> {
        let mut params: Vec<usize> = self.parts(bits).map(|part| part.param).collect();
        params.sort_unstable();
        params.dedup();
        params
    }
}
