//! Registers at module scope, which PTX before 3.0 has: one per thread, shared by all functions.
//!
//! Every function declares them again, so that they are in its frame. A call passes those that the callee, directly or indirectly, uses as
//! hidden parameters, and copies them back as hidden results. Recursion and indirect calls are not possible in such a module, since there
//! is no calling convention.

use std::collections::BTreeSet;

use super::builder::ModuleBuilder;
use crate::base::Diagnostic;
use crate::flow::graph::Edges;
use crate::flow::reach::closure;
use crate::flow::solver::{Analysis, Direction, solve};
use crate::isa::ScalarType;
use crate::program::{Bank, CallArg, CallTarget, ControlOp, FuncId, Function, Op, Param, ParamStorage, PredSrc, Program, Slot, Slots, Src};

/// A register by its bank and number, the same in all functions.
type ModuleRegister = (Bank, u32);

/// Passes the module's registers in all calls.
///
/// # Errors
/// Recursion, indirect calls, and calls of functions without a body.
pub(super) fn pass_in_calls(module: &mut ModuleBuilder<'_>) -> Result<(), Diagnostic> {
    if module.registers.is_empty() && module.local_bytes() == 0 {
        return Ok(());
    }
    let program = &module.program;
    let callees: Vec<BTreeSet<usize>> = (0..program.functions.len()).map(|function| program.callees(function).collect()).collect();
    check_calls(&module.program, &callees)?;
    let direct = module.program.functions.iter().zip(&module.module_slots).map(|(function, slots)| used_by(function, *slots)).collect();
    let calls: Vec<(u32, u32)> =
        callees.iter().zip(0..).flat_map(|(callees, caller)| callees.iter().map(move |callee| (caller, *callee as u32))).collect();
    let used = solve(&Edges::new(callees.len(), &calls), &Used(direct));
    for (index, registers) in used.iter().enumerate() {
        add_params(&mut module.program, FuncId::new(index), registers, &callees, &used);
    }
    Ok(())
}

/// The registers that each function's code uses directly; the analysis adds those of its callees.
struct Used(Vec<BTreeSet<ModuleRegister>>);

impl Analysis for Used {
    type Fact = BTreeSet<ModuleRegister>;
    const DIRECTION: Direction = Direction::Backward;

    fn bottom(&self) -> Self::Fact {
        BTreeSet::new()
    }

    fn start(&self, function: usize) -> Option<Self::Fact> {
        self.0.get(function).cloned()
    }

    /// The identity: a caller needs all registers that its callees use.
    fn transfer(&self, _: usize, _: &mut Self::Fact) {}
}

/// The registers of the module that the code of `function` uses; `declared` is the number of module registers at its declaration.
fn used_by(function: &Function, declared: Slots) -> BTreeSet<ModuleRegister> {
    let banks = [(Bank::B32, declared.b32), (Bank::B64, declared.b64), (Bank::Pred, declared.pred)];
    let all = banks.into_iter().flat_map(|(bank, count)| (0..count).map(move |number| (bank, number)));
    all.filter(|(bank, number)| function.placement.slot(*bank, *number).is_some()).collect()
}

/// Checks that all calls are direct, to functions of the module, and not recursive.
fn check_calls(program: &Program, callees: &[BTreeSet<usize>]) -> Result<(), Diagnostic> {
    let refused = |function: &Function, what: &str| {
        let message = format!("'{}' {what}, which does not go with registers or local variables of the module", function.name);
        Err(Diagnostic::error("space", function.span, message).with_help("declare them in the functions that use them"))
    };
    for (index, function) in program.functions.iter().enumerate() {
        if closure(callees.len(), callees[index].iter().copied(), |callee| callees[callee].iter().copied()).contains(index) {
            return refused(function, "calls itself");
        }
        let code = &program.code[function.code.start as usize..function.code.end as usize];
        let is_indirect = |op: &Op| {
            if let Op::Control(ControlOp::Call { call, .. }) = op {
                return matches!(program.calls[*call].target, CallTarget::Indirect { .. });
            }
            matches!(op, Op::Unsupported { .. } | Op::Control(ControlOp::SystemCall { .. }))
        };
        if code.iter().any(|inst| is_indirect(&inst.op)) {
            return refused(function, "calls what this module does not define, or through a register");
        }
    }
    Ok(())
}

/// Assigns `registers` slots in function `id`, makes them its parameters and results, and passes those of each callee at its calls.
fn add_params(
    program: &mut Program,
    id: FuncId,
    registers: &BTreeSet<ModuleRegister>,
    callees: &[BTreeSet<usize>],
    used: &[BTreeSet<ModuleRegister>],
) {
    let function = &mut program.functions[id.index()];
    let slots: Vec<(ModuleRegister, Slot)> =
        registers.iter().map(|register| (*register, function.placement.assign(register.0, register.1, 1))).collect();
    function.slots = function.placement.slots;
    if !function.is_kernel {
        let params: Vec<Param> = slots.iter().map(|((bank, number), slot)| param(function, *bank, *number, *slot)).collect();
        function.params.extend(params.iter().cloned());
        function.results.extend(params);
    }
    let code = function.code.start as usize..function.code.end as usize;
    if callees[id.index()].is_empty() {
        return;
    }
    for inst in &program.code[code] {
        let Op::Control(ControlOp::Call { call, .. }) = inst.op else { continue };
        let site = &mut program.calls[call];
        let CallTarget::Direct(callee) = site.target else { continue };
        let passed = slots.iter().filter(|(register, _)| used[callee.index()].contains(register));
        let args: Vec<CallArg> = passed.map(|((bank, _), slot)| argument(*bank, *slot)).collect();
        site.args.extend(&args);
        site.results.extend(args);
    }
}

fn argument(bank: Bank, slot: Slot) -> CallArg {
    match bank {
        Bank::Pred => CallArg::Pred(PredSrc::Reg { slot, negate: false }),
        Bank::B32 | Bank::B64 => CallArg::Value(bank, Src::reg(slot)),
    }
}

fn param(function: &Function, bank: Bank, number: u32, slot: Slot) -> Param {
    let declared = function.registers.iter().filter(|register| register.bank == bank);
    let named = declared.flat_map(|register| register.components().map(move |(name, at)| (name, at, register.ty)));
    let found = named.into_iter().find(|(_, at, _)| *at == number);
    let (name, ty) = found.map_or((String::new(), ScalarType::B32), |(name, _, ty)| (name, ty));
    Param {
        name: name.into(),
        ty,
        bytes: ty.bytes(),
        align: ty.bytes().max(1),
        is_array: false,
        opaque: None,
        pointer: None,
        component: None,
        storage: ParamStorage::Register(bank, slot),
    }
}
