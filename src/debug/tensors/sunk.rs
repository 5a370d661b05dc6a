//! The registers of numbers whose instructions the compiler has moved into a branch: these have no place of the source any more, and are
//! found by what they compute from.

use super::binding::{self, Binding, Part};
use super::code::Code;
use crate::program::operands::RegisterOperand;
use crate::ttgir::{Definition, Module, Op, ValueId, ValueType};

/// The opcodes that operations on one number become.
const OPCODES: [(&str, &str); 13] = [
    ("arith.addf", "add."),
    ("arith.subf", "sub."),
    ("arith.mulf", "mul."),
    ("arith.divf", "div."),
    ("arith.maxnumf", "max."),
    ("arith.minnumf", "min."),
    ("arith.sitofp", "cvt."),
    ("arith.truncf", "cvt."),
    ("arith.extf", "cvt."),
    ("math.sqrt", "sqrt."),
    ("math.rsqrt", "rsqrt."),
    ("math.exp2", "ex2."),
    ("math.log2", "lg2."),
];

/// Most operations in each other that are compared.
const DEPTH_MAX: u32 = 4;

/// The register of a number of which no instruction has the place: that of the only instruction without a line that computes the same from
/// the same, as far as the code shows it, if no other operation can be meant.
pub fn bind(module: &Module, code: &Code, value: ValueId) -> Option<Binding> {
    let Definition::Result(id, 0) = module.value(value).definition else { return None };
    let op = module.op(id);
    opcode(module, op)?;
    let without_line = |pc: &u32| code.places(*pc).iter().all(|place| place.line == 0);
    let mut fitting = code.all().filter(|pc| without_line(pc) && computes(module, code, op, *pc, DEPTH_MAX));
    let (Some(pc), None) = (fitting.next(), fitting.next()) else { return None };
    let is_alike = |other: &Op| {
        let is_unbound = |result: &ValueId| binding::bind(module, code, *result, None).is_empty();
        other.results != op.results && other.results.iter().all(is_unbound) && computes(module, code, other, pc, DEPTH_MAX)
    };
    if module.ops.iter().any(|other| opcode(module, other).is_some() && is_alike(other)) {
        return None;
    }
    let bits = module.value(value).ty.element()?.bits();
    // What else it writes is the result before it is rounded.
    let RegisterOperand { bank, slot, .. } = *code.writes(pc).first()?;
    Some(Binding { parts: vec![Part { bank, slot, shift: 0, bits }], writers: vec![pc] })
}

/// True if the instruction at `pc` may be what the operation has become, with its operands.
fn computes(module: &Module, code: &Code, op: &Op, pc: u32, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    if opcode(module, op).is_none_or(|opcode| !code.opcode(pc).starts_with(opcode)) {
        return false;
    }
    let sources = sources(code, pc);
    let is_constant = |value: &&ValueId| module.definer(**value).is_some_and(|op| module.op(op).name == "arith.constant");
    let mut all: Vec<ValueId> = op.operands.clone();
    all.dedup();
    let variable: Vec<ValueId> = all.iter().filter(|value| !is_constant(value)).copied().collect();
    // A constant may stand in the instruction itself.
    let Some(operands) = [all, variable].into_iter().find(|list| list.len() == sources.len()) else { return false };
    let holds = |operands: &mut dyn Iterator<Item = &ValueId>| {
        operands.zip(&sources).all(|(operand, register)| may_hold(module, code, *operand, *register, depth))
    };
    let is_commutative = matches!(op.name.as_str(), "arith.addf" | "arith.mulf" | "arith.maxnumf" | "arith.minnumf");
    holds(&mut operands.iter()) || is_commutative && holds(&mut operands.iter().rev())
}

/// The registers that an instruction reads, of those that one instruction writes together the first: what ptxas contracts is read before
/// it is rounded.
fn sources(code: &Code, pc: u32) -> Vec<RegisterOperand> {
    let writers = |register: &RegisterOperand| code.writers((register.bank, register.slot));
    let mut found: Vec<RegisterOperand> = Vec::new();
    for register in code.reads(pc) {
        if !found.iter().any(|other| !writers(other).is_empty() && writers(other) == writers(register)) {
            found.push(*register);
        }
    }
    found
}

/// True if a register that one instruction writes may hold the value.
fn may_hold(module: &Module, code: &Code, value: ValueId, register: RegisterOperand, depth: u32) -> bool {
    let &[writer] = code.writers((register.bank, register.slot)) else { return false };
    let writes = |start: &str| code.opcode(writer).starts_with(start);
    match module.value(value).definition {
        Definition::Argument(_) => writes("ld.param."),
        Definition::Region(_) => false,
        Definition::Result(id, _) => match module.op(id) {
            op if op.name == "arith.constant" => writes("mov.") && code.reads(writer).is_empty(),
            // Warps reduce together by shared memory.
            op if op.name == "tt.reduce" => writes("ld.shared.") || writes("shfl.") || writes("add.") || writes("max."),
            op => computes(module, code, op, writer, depth),
        },
    }
}

/// The beginning of the opcode of what the operation becomes; none for one that is on tensors, or no arithmetic.
fn opcode(module: &Module, op: &Op) -> Option<&'static str> {
    let is_number = |value: &ValueId| matches!(module.value(*value).ty, ValueType::Scalar(_));
    let is_scalar = op.results.len() == 1 && op.results.iter().chain(&op.operands).all(is_number);
    OPCODES.iter().find(|row| row.0 == op.name && is_scalar).map(|row| row.1)
}
