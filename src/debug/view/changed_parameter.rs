//! What a change of a kernel's parameter means for its threads.

use crate::debug::edit::Edit;
use crate::debug::eval_context::EvalContext;
use crate::isa::Space;
use crate::program::registers::register_of_slot;
use crate::program::{Base, Inst, MemoryOp, Op, Pc, Program, SrcKind, operands};

/// That an edit of a kernel's parameter is one for all threads, and which instruction loads what it was; none for other edits.
pub fn changed_parameter(context: &EvalContext<'_>, edit: &Edit) -> Option<String> {
    let Edit::Memory { space: Space::Param, address, bytes, .. } = edit else { return None };
    let program = context.program();
    let function = &program.functions[context.machine.config().kernel.index()];
    let changed = *address..address.saturating_add(bytes.len() as u64);
    let loads = |pc: &Pc| loaded_from(program, &program.code[pc.index()]).is_some_and(|at| changed.contains(&at));
    let load = function.code.clone().map(Pc).find(loads).map(|pc| {
        let written = operands::writes(&program.code[pc.index()], program);
        let register = written.last().and_then(|written| register_of_slot(function, pc, written.bank, written.slot));
        let into = register.map_or(String::new(), |register| format!(" into {register}"));
        format!("; a thread that has executed {} keeps what that has loaded{into}", program.place(pc))
    });
    Some(format!("  this is a parameter of the kernel, the same for all threads of the launch{}", load.unwrap_or_default()))
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
