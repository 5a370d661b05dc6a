//! The constants that a kernel reads.

use std::collections::BTreeSet;

use super::Study;
use super::flow::reachable;
use crate::isa::Space;
use crate::program::{FuncId, Named, Pc, Program, VarId, source_name};

/// The `.const` variables that code which `kernel` can reach names, in the order of declaration.
pub fn constants_of(program: &Program, kernel: FuncId) -> BTreeSet<VarId> {
    let functions = reachable(program, kernel);
    let pcs = functions.iter().flat_map(|function| program.functions[function.index()].code.clone());
    let named = pcs.flat_map(|pc| program.mentions(Pc(pc))).filter_map(|mention| match mention.named {
        Named::Variable(id) => Some(id),
        Named::Special(_) => None,
    });
    named.filter(|id| program.variables[id.index()].location.space == Space::Const).collect()
}

impl Study<'_> {
    /// The constants that the kernel reads and that nothing gives a value, by their names in the source.
    pub fn constants(&self) -> Vec<&str> {
        let variables = &self.program.variables;
        let read = constants_of(self.program, self.id).into_iter().map(|id| &variables[id.index()]);
        let is_given = |name: &str| self.known.variables.iter().any(|given| given.name == name);
        let open = read.filter(|variable| variable.init.is_empty() && variable.handle.is_none() && !is_given(&variable.name));
        open.map(|variable| source_name(&variable.name)).collect()
    }
}
