//! Copies of one statement: compilers unroll loops, and put a remainder loop beside the unrolled one.
//!
//! A change of a statement is one of all its copies, also of those that did not run: with other sizes they race. With line information the
//! copies are the instructions of one opcode from one place in the source. Without, they are those of one opcode whose addresses are
//! computed in the same way from the same values, up to what a loop carries.

use std::collections::BTreeSet;

use crate::check::FunctionAnalysis;
use crate::flow::def_use::Definition;
use crate::program::operands::{RegisterOperand, address_registers, reads};
use crate::program::{Named, Op, Pc, Program};

/// The most instructions in a row that an address is followed through.
const DEPTH_MAX: usize = 16;

/// What a value is computed from: parameters, special registers, and the opcodes of loads.
type Origins = BTreeSet<String>;

/// The address of an access.
struct AccessAddress {
    origins: Origins,
    /// How it is computed, and the offset that the statement adds.
    computed: (Value, String),
}

impl AccessAddress {
    /// True if the addresses of two copies can be these. What a loop carries, a copy beside the loop computes.
    fn is_like(&self, other: &Self) -> bool {
        let is_carried = [self, other].iter().any(|address| matches!(address.computed.0, Value::Carried));
        self.origins == other.origins && (is_carried || self.computed == other.computed)
    }
}

/// How a value is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    /// By an instruction of this opcode with these operands that are no registers, from these values.
    Computed(String, Vec<String>, Vec<Self>),
    /// By a load from an address with these origins.
    Loaded(String, Origins),
    /// By a loop, or by one of several paths.
    Carried,
    /// It is the value at the entrance of the function.
    Entry,
}

/// The copies of the statement at `pc`, itself included, in text order.
pub(super) fn copies(program: &Program, analysis: &FunctionAnalysis, pc: Pc) -> Vec<Pc> {
    let opcode = |pc: Pc| program.statement(pc).map(|statement| statement.opcode);
    let own = opcode(pc);
    let place = |pc: Pc| {
        let line = program.source_line(pc).filter(|line| line.line > 0)?;
        Some((line.file, line.line, line.column))
    };
    let with_opcode = analysis.code().filter(|at| opcode(*at) == own);
    if let Some(own) = place(pc) {
        return with_opcode.filter(|at| place(*at) == Some(own)).collect();
    }
    let search = Search { program, analysis };
    let Some(own) = search.address(pc) else { return vec![pc] };
    with_opcode.filter(|at| *at == pc || search.address(*at).is_some_and(|address| address.is_like(&own))).collect()
}

struct Search<'a> {
    program: &'a Program,
    analysis: &'a FunctionAnalysis,
}

impl Search<'_> {
    /// The address of a load, a store or an atomic.
    fn address(&self, pc: Pc) -> Option<AccessAddress> {
        let inst = &self.program.code[pc.index()];
        matches!(inst.op, Op::Memory(_) | Op::Atomic(_)).then_some(())?;
        let [register] = address_registers(inst, self.program)[..] else { return None };
        let value = self.value(register, pc.index(), DEPTH_MAX)?;
        let operand = self.program.operand_texts(pc).into_iter().find(|text| text.starts_with('['))?;
        let offset = operand.split_once('+').map_or("", |(_, offset)| offset).to_string();
        Some(AccessAddress { origins: self.origins(pc), computed: (value, offset) })
    }

    fn value(&self, register: RegisterOperand, at: usize, depth: usize) -> Option<Value> {
        match self.analysis.def_use().definitions_past_entry(register, at)[..] {
            [Definition::At(from)] => self.computed(from, depth.checked_sub(1)?),
            [Definition::Entry] => Some(Value::Entry),
            [] | [_, ..] => Some(Value::Carried),
        }
    }

    /// The result of the instruction at `at`.
    fn computed(&self, at: usize, depth: usize) -> Option<Value> {
        let (inst, pc) = (&self.program.code[at], Pc(at as u32));
        let opcode = self.program.opcode(pc)?;
        let registers = reads(inst, self.program);
        if matches!(&inst.op, Op::Memory(op) if op.is_load()) && !registers.is_empty() {
            return Some(Value::Loaded(opcode.text.to_string(), self.origins(pc)));
        }
        let mut values = registers.into_iter().map(|register| self.value(register, at, depth)).collect::<Option<Vec<_>>>()?;
        if matches!(opcode.stem(), "mov" | "cvta") && values.len() == 1 {
            return values.pop();
        }
        let constants = self.constants(pc);
        // A copy adds its own constant to what the loop carries.
        if matches!(opcode.stem(), "add" | "or" | "sub") && !constants.is_empty() && values == [Value::Carried] {
            return values.pop();
        }
        Some(Value::Computed(opcode.text.to_string(), constants, values))
    }

    /// The sources of a statement that are no registers.
    fn constants(&self, pc: Pc) -> Vec<String> {
        let specials = self.program.mentions(pc).iter().filter_map(|mention| match mention.named {
            Named::Special(special) => Some(special.name().to_string()),
            Named::Variable(_) | Named::Callee(_) => None,
        });
        let operands = self.program.operand_texts(pc).into_iter().skip(1).filter(|text| !text.contains('%'));
        specials.chain(operands).collect()
    }

    /// The origins of the address at `pc`.
    fn origins(&self, pc: Pc) -> Origins {
        let sources = self.analysis.address_sources(self.program, pc).into_iter().map(|at| Pc(at as u32));
        sources.filter_map(|source| self.origin(source)).collect()
    }

    /// What the instruction at `pc` brings into a value, other than what it computes from other values. A number is a step or a start: the
    /// copies have their own.
    fn origin(&self, pc: Pc) -> Option<String> {
        let inst = &self.program.code[pc.index()];
        let constants = self.constants(pc);
        let is_number = constants.iter().all(|text| text.starts_with(|c: char| c.is_ascii_digit() || c == '-'));
        let brings = !inst.op.effects(self.program).only_computes() || reads(inst, self.program).is_empty() && !is_number;
        let opcode = self.program.opcode(pc)?;
        brings.then(|| format!("{} {}", opcode.text, constants.join(" ")))
    }
}
