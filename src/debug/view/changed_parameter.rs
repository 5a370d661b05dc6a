//! What a change of a kernel's parameter means for its threads.
//!
//! The code of a debug build loads a parameter into a register once, and uses that: for the source both are the parameter, so that a change
//! is one of the register too, in all threads that have loaded it.

use std::ops::Range;

use crate::debug::edit::Edit;
use crate::debug::eval_context::EvalContext;
use crate::isa::Space;
use crate::program::registers::{register_of_slot, registers_called};
use crate::program::{Bank, Base, ControlOp, Function, Inst, MemoryOp, Op, Pc, Program, Slot, SrcKind, operands};

/// A change of a parameter: what is changed with it, and what the user may not expect.
#[derive(Debug)]
pub struct ChangedParameter {
    /// The changes of registers that hold the parameter.
    pub copies: Vec<Edit>,
    /// That the change is one for all threads, and what the instruction that loads the parameter has to do with it.
    pub note: String,
}

/// What a change of a kernel's parameter is; none for other edits.
pub fn changed_parameter(context: &EvalContext<'_>, edit: &Edit) -> Option<ChangedParameter> {
    let Edit::Memory { space: Space::Param, address, bytes, .. } = edit else { return None };
    let program = context.program();
    let function = &program.functions[context.machine.config().kernel.index()];
    let changed = *address..address.saturating_add(bytes.len() as u64);
    let loads = |pc: &Pc| loaded_from(program, &program.code[pc.index()]).is_some_and(|at| changed.contains(&at));
    let mut copies = Vec::new();
    let mut load_note = None;
    for pc in function.code.clone().map(Pc).filter(loads) {
        let written = operands::writes(&program.code[pc.index()], program);
        let register = written.last().and_then(|written| register_of_slot(function, pc, written.bank, written.slot));
        let is_copy = |name: &String| is_parameter_alone(context, function, name);
        let copy = register.as_ref().filter(|name| is_copy(name)).and_then(|_| copy_of(program, function, pc, &changed));
        load_note.get_or_insert_with(|| note_of(&program.place(pc), register.as_deref(), copy.is_some()));
        copies.extend(copy.into_iter().flat_map(|copy| copy.edits(context, bytes)));
    }
    let note = format!("  this is a parameter of the kernel, the same for all threads of the launch{}", load_note.unwrap_or_default());
    Some(ChangedParameter { copies, note })
}

fn note_of(place: &str, register: Option<&str>, is_copy: bool) -> String {
    match register {
        Some(register) if is_copy => format!("; {register}, which {place} loads it into, is set too in threads that have executed that"),
        Some(register) => {
            format!(
                "; a thread that has executed {place} keeps what that has loaded into {register}: 'set {register} = VALUE' changes that"
            )
        }
        None => format!("; a thread that has executed {place} keeps what that has loaded"),
    }
}

/// A register that has a parameter and nothing else as long as the kernel runs.
struct Copy {
    bank: Bank,
    slot: Slot,
    /// The bits that are loaded, and those of the register.
    bits: u8,
    reg_bits: u8,
    is_signed: bool,
}

impl Copy {
    /// The changes of the register in all threads on the machine that have written it.
    fn edits(&self, context: &EvalContext<'_>, bytes: &[u8]) -> Vec<Edit> {
        let mut value = [0; 8];
        value[..bytes.len()].copy_from_slice(bytes);
        let unused = 64 - u32::from(self.bits).min(64);
        let bits = u64::from_le_bytes(value) << unused;
        let extended = if self.is_signed { (bits.cast_signed() >> unused).cast_unsigned() } else { bits >> unused };
        let value = extended & (u64::MAX >> (64 - u32::from(self.reg_bits).clamp(1, 64)));
        let mut edits = Vec::new();
        for block in context.machine.resident_blocks() {
            for (warp, state) in (0..).zip(&block.warps) {
                // The frame of the kernel is the first one.
                let written = state.registers.written.as_ref().map(|written| written.lanes(self.bank, self.slot));
                let lanes = state.live & written.unwrap_or(state.live);
                if !lanes.is_empty() {
                    edits.push(Edit::Register { block: block.index, warp, lanes, bank: self.bank, slot: self.slot, value });
                }
            }
        }
        edits
    }
}

/// The register that an instruction loads all the changed bytes into, if nothing else writes it.
fn copy_of(program: &Program, function: &Function, pc: Pc, changed: &Range<u64>) -> Option<Copy> {
    let inst = &program.code[pc.index()];
    let Op::Memory(MemoryOp::Load { bits, signed, reg_bits, d, .. }) = inst.op else { return None };
    let is_whole = loaded_from(program, inst) == Some(changed.start) && changed.end - changed.start == u64::from(bits) / 8;
    let bank = operands::writes(inst, program).last()?.bank;
    let is_same = |other: &operands::RegisterOperand| other.bank == bank && other.slot.run(other.width).any(|slot| slot == d.0);
    let writes = |at: &u32| {
        let inst = &program.code[*at as usize];
        let results = if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            operands::call_results(program, call)
        } else {
            operands::writes(inst, program)
        };
        results.iter().any(is_same)
    };
    let is_alone = function.code.clone().filter(writes).count() == 1;
    let is_plain = program.is_debug && inst.guard.is_none() && (8..=64).contains(&bits) && reg_bits <= 64;
    (is_whole && is_alone && is_plain).then_some(Copy { bank, slot: d.0, bits, reg_bits, is_signed: signed })
}

/// True if no variable of the source but a parameter is in a register of the kernel, and the name means one register.
fn is_parameter_alone(context: &EvalContext<'_>, function: &Function, register: &str) -> bool {
    let is_of_function = |code: &Range<u32>| function.code.contains(&code.start);
    let scopes = context.debug_info().map(|info| &info.scopes);
    let mut variables = scopes.into_iter().flat_map(|scopes| scopes.iter()).filter(|scope| scope.code.iter().any(is_of_function));
    let names =
        |variable: &crate::dwarf::Variable| variable.locations.iter().any(|entry| entry.location.registers().any(|name| name == register));
    let is_of_other = variables.any(|scope| scope.variables.iter().any(|variable| !variable.is_parameter && names(variable)));
    !is_of_other && registers_called(function, register).len() == 1
}

/// The first byte of the kernel's parameters that an instruction loads by the name of one.
fn loaded_from(program: &Program, inst: &Inst) -> Option<u64> {
    let Op::Memory(op @ (MemoryOp::Load { address, .. } | MemoryOp::LoadVector { address, .. })) = &inst.op else { return None };
    let base = match address.base {
        Base::Narrow(source) => match source.kind() {
            SrcKind::Const(index) => u64::from(*program.consts32.get(index as usize)?),
            _ => return None,
        },
        Base::Wide(source) => match source.kind() {
            SrcKind::Const(index) => *program.consts64.get(index as usize)?,
            _ => return None,
        },
        Base::Frame => return None,
    };
    (op.access().space == Space::Param).then(|| base.wrapping_add_signed(address.offset.into()))
}
