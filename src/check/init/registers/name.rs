//! The names of registers.

use crate::program::operands::RegisterOperand;
use crate::program::{FuncId, Program, Register};

/// The name of a register of a function, such as `%r5`.
pub(super) fn name(program: &Program, function: Option<FuncId>, register: RegisterOperand) -> String {
    let function = function.map(|id| &program.functions[id.index()]);
    let named = function.and_then(|function| {
        let declared = function.registers.iter().filter(|declared| declared.bank == register.bank);
        let has_slot = |number: u32| function.placement.slot(register.bank, number) == Some(register.slot);
        declared.flat_map(Register::components).find(|(_, number)| has_slot(*number)).map(|(name, _)| name)
    });
    named.unwrap_or_else(|| "a register".to_string())
}
