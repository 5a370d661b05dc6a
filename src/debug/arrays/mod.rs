//! What the elements of arrays are that a compiler declares by the byte.
//!
//! nvcc writes every array in shared, constant and local memory, and every `__device__` array, as bytes: `.shared .align 4 .b8 As[1024]`.
//! What its elements are shows in the code. [`flow`] follows the addresses of the variables through registers, frames and calls;
//! [`evidence`] finds what registers are taken for; [`accesses`] lists what each variable is accessed with, and [`element_type`] decides.
//! The type is the one on which all accesses agree; rows are what indices are multiplied with. Where accesses disagree, or the address goes
//! where it is not followed, the array stays one of bytes, and what the user says is always taken instead.

#![warn(clippy::wildcard_enum_match_arm)]

mod accesses;
mod element_type;
mod evidence;
mod fact;
mod flow;
mod form;
mod given;
mod known;
mod mention;
mod rewritten;
mod why;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::isa::{ScalarType, Space};
use crate::program::{FuncId, Program, VarId, Variable};

pub use flow::Escape;
pub use given::given;
pub use known::{ArrayType, Inferred, Known, UntypedReason};
pub use why::{type_words, why};

/// What the code of a program shows.
#[derive(Default)]
struct Analysis {
    known: BTreeMap<VarId, Known>,
    /// The functions that name dynamic shared memory by a variable.
    users: BTreeSet<(VarId, FuncId)>,
}

/// The types of the arrays of a program, found when they are first asked for, and what the user has said instead.
#[derive(Default)]
pub struct ArrayTypes {
    analysis: OnceLock<Analysis>,
    chosen: BTreeMap<VarId, ArrayType>,
}

impl ArrayTypes {
    /// The type in effect of a variable that does not have the one it is declared with.
    pub fn type_of(&self, program: &Program, variable: &Variable) -> Option<&ArrayType> {
        if self.chosen.is_empty() && !is_of_bytes(variable) {
            return None;
        }
        let id = id_of(program, variable)?;
        match (self.chosen.get(&id), self.known(program, id)) {
            (Some(chosen), _) => Some(chosen),
            (None, Some(Known::Typed(inferred))) => Some(&inferred.ty),
            (None, Some(Known::Bytes(_)) | None) => None,
        }
    }

    /// What the accesses to a variable show, if it is declared by the byte.
    pub fn known(&self, program: &Program, id: VarId) -> Option<&Known> {
        program.variables.get(id.index()).filter(|variable| is_of_bytes(variable))?;
        self.analysis(program).known.get(&id)
    }

    /// Whether code of `function` names dynamic shared memory by this variable: others lie at the same address.
    pub fn is_named_in(&self, program: &Program, id: VarId, function: FuncId) -> bool {
        self.analysis(program).users.contains(&(id, function))
    }

    fn analysis(&self, program: &Program) -> &Analysis {
        self.analysis.get_or_init(|| analyse(program))
    }

    /// Everything that the user has said.
    pub fn all_chosen(&self) -> impl Iterator<Item = (VarId, &ArrayType)> {
        self.chosen.iter().map(|(id, ty)| (*id, ty))
    }

    /// What the user has said of a variable.
    pub fn chosen(&self, id: VarId) -> Option<&ArrayType> {
        self.chosen.get(&id)
    }

    /// Forgets everything that the user has said.
    pub fn clear(&mut self) {
        self.chosen.clear();
    }

    /// Takes a variable for an array of a type from now on; without one, for what its accesses show.
    pub fn choose(&mut self, id: VarId, ty: Option<ArrayType>) {
        match ty {
            Some(ty) => self.chosen.insert(id, ty),
            None => self.chosen.remove(&id),
        };
    }
}

/// The number of a variable of `program`.
pub fn id_of(program: &Program, variable: &Variable) -> Option<VarId> {
    program.variables.iter().position(|known| known.span == variable.span).map(VarId::new)
}

/// Whether a variable is declared as an array of bytes.
pub fn is_of_bytes(variable: &Variable) -> bool {
    let is_plain = variable.ty == ScalarType::B8 && variable.is_array && variable.opaque.is_none();
    is_plain && matches!(variable.location.space, Space::Shared | Space::Global | Space::Const | Space::Local)
}

/// What the accesses to every array of bytes show.
pub fn infer(program: &Program) -> BTreeMap<VarId, Known> {
    analyse(program).known
}

fn analyse(program: &Program) -> Analysis {
    if !program.variables.iter().any(is_of_bytes) {
        return Analysis::default();
    }
    let flow = flow::Flow::new(program);
    let evidence = evidence::Evidence::new(&flow);
    let accesses = accesses::collect(&flow, &evidence);
    let arrays = program.variables.iter().enumerate().filter(|(_, variable)| is_of_bytes(variable));
    let known = arrays.map(|(index, variable)| {
        let id = VarId::new(index);
        let known = match flow.escapes.get(&id) {
            Some(escape) => Known::Bytes(UntypedReason::Escapes(*escape)),
            None => element_type::infer(variable, &accesses[index]),
        };
        (id, known)
    });
    Analysis { known: known.collect(), users: flow.users_of_dynamic() }
}
