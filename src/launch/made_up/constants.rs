//! The constants that a kernel reads.

use std::collections::BTreeSet;

use super::Study;
use super::flow::reachable;
use crate::isa::Space;
use crate::launch::element::{Element, Kind};
use crate::launch::variable_args::declared;
use crate::program::{FuncId, Named, Pc, Program, VarId, Variable, source_name};

/// The `.const` variables named in code that is reachable from `kernel`, in the order of declaration.
pub fn constants_of(program: &Program, kernel: FuncId) -> BTreeSet<VarId> {
    let functions = reachable(program, kernel);
    let pcs = functions.iter().flat_map(|function| program.functions[function.index()].code.clone());
    let named = pcs.flat_map(|pc| program.mentions(Pc(pc))).filter_map(|mention| match mention.named {
        Named::Variable(id) => Some(id),
        Named::Special(_) | Named::Callee(_) => None,
    });
    named.filter(|id| program.variables[id.index()].location.space == Space::Const).collect()
}

/// An example argument that gives `variable` a value: `scale=1.5` for a single number, `coef=@x.npy` for an array.
fn argument_for(variable: &Variable) -> String {
    let name = source_name(&variable.name);
    let single = declared(variable).filter(|element| u64::from(element.bytes()) == variable.bytes);
    match single.map(Element::kind) {
        Some(Kind::Float) => format!("{name}=1.5"),
        Some(Kind::Unsigned | Kind::Signed | Kind::Bits) => format!("{name}=1"),
        None => format!("{name}=@x.npy"),
    }
}

impl<'a> Study<'a> {
    /// The constants that the kernel reads and that have no value, by their names in the source, each with an example argument.
    pub fn constants(&self) -> Vec<(&'a str, String)> {
        let variables: &'a [Variable] = &self.program.variables;
        let read = constants_of(self.program, self.id).into_iter().map(|id| &variables[id.index()]);
        let is_given = |name: &str| self.known.variables.iter().any(|given| given.name == name);
        let unset = read.filter(|variable| variable.init.is_empty() && variable.opaque.is_none() && !is_given(&variable.name));
        unset.map(|variable| (source_name(&variable.name), argument_for(variable))).collect()
    }
}
