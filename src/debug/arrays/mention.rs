//! The variables that statements and initial values name: decoded code has only their addresses.

use smallvec::SmallVec;

use crate::isa::Space;
use crate::program::{Mention, Named, Pc, Program, VarId, Variable};

/// The variables that each statement names, in order of their ids.
pub fn named_variables(program: &Program) -> Vec<SmallVec<[VarId; 1]>> {
    let named = |pc: usize| {
        let mut named: SmallVec<[VarId; 1]> = program.mentions(Pc::new(pc)).iter().filter_map(variable).collect();
        named.sort_unstable();
        named.dedup();
        named
    };
    (0..program.code.len()).map(named).collect()
}

/// The variable that a name stands for.
pub fn variable(mention: &Mention) -> Option<VarId> {
    match mention.named {
        Named::Variable(id) => Some(id),
        Named::Special(_) | Named::Callee(_) => None,
    }
}

/// Variables whose address is an initial value, each with the variable that holds the address.
pub fn initial_addresses(program: &Program) -> Vec<(VarId, VarId)> {
    let size = (program.address_bits / 8) as usize;
    let holders = program.variables.iter().enumerate().filter(|(_, holder)| holder.ty.bytes() as usize == size);
    let words = holders.flat_map(|(index, holder)| holder.init.chunks_exact(size).map(move |word| (VarId::new(index), word)));
    let found = words.filter_map(|(holder, word)| {
        let bits = word.iter().rev().fold(0, |bits: u64, byte| bits << 8 | u64::from(*byte));
        let variable = program.variables.iter().position(|variable| holds(program, variable, bits))?;
        Some((VarId::new(variable), holder))
    });
    found.collect()
}

/// True if a variable of the module contains an address, which may be generic.
fn holds(program: &Program, variable: &Variable, bits: u64) -> bool {
    let (space, start) = program.map.window_of(bits);
    let location = variable.location;
    let at = (if space == location.space { bits - start } else { bits }).checked_sub(location.address);
    matches!(location.space, Space::Global | Space::Const) && at.is_some_and(|at| at < variable.bytes)
}
