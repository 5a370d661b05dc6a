//! Infers the element types of arrays that a compiler declares as bytes.
//!
//! nvcc writes every array in shared, constant and local memory, and every `__device__` array, as bytes: `.shared .align 4 .b8 As[1024]`.
//! The code shows its elements. [`flow`] follows the addresses of the variables through registers, frames and calls; [`evidence`] finds the
//! uses of registers; [`accesses`] lists the accesses to each variable, and [`element_type`] infers the type. The type is the one on which
//! all accesses agree; the strides of indices are the rows. If accesses disagree, or the address escapes, the array remains one of bytes.
//! A type that the user sets has precedence.

#![warn(clippy::wildcard_enum_match_arm)]

mod accesses;
mod affine_form;
mod element_type;
mod evidence;
mod fact;
mod flow;
mod inference;
mod mention;
mod rewritten;
mod type_text;
mod why;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::isa::{ScalarType, Space};
use crate::program::{FuncId, Program, VarId, Variable};

pub use flow::Escape;
pub use inference::{ArrayType, Inference, Inferred, UntypedReason};
pub use type_text::{TypedMemory, parse_array_type};
pub use why::{type_words, why};

/// The result of the analysis of a program.
#[derive(Default)]
struct Analysis {
    inferences: BTreeMap<VarId, Inference>,
    /// The functions that name dynamic shared memory by a variable.
    users: BTreeSet<(VarId, FuncId)>,
}

/// The types of the arrays of a program: inferred at the first query, or set by the user; and those that the user set for buffers.
#[derive(Default)]
pub struct ArrayTypes {
    analysis: OnceLock<Analysis>,
    chosen: BTreeMap<VarId, ArrayType>,
    chosen_buffers: BTreeMap<String, ArrayType>,
}

impl ArrayTypes {
    /// The type in effect of a variable, if it is not the declared one.
    pub fn type_of(&self, program: &Program, variable: &Variable) -> Option<&ArrayType> {
        if self.chosen.is_empty() && !is_byte_array(variable) {
            return None;
        }
        let id = id_of(program, variable)?;
        match (self.chosen.get(&id), self.inference(program, id)) {
            (Some(chosen), _) => Some(chosen),
            (None, Some(Inference::Typed(inferred))) => Some(&inferred.ty),
            (None, Some(Inference::Bytes(_)) | None) => None,
        }
    }

    /// The result of the inference for a variable that is declared as bytes.
    pub fn inference(&self, program: &Program, id: VarId) -> Option<&Inference> {
        program.variables.get(id.index()).filter(|variable| is_byte_array(variable))?;
        self.analysis(program).inferences.get(&id)
    }

    /// True if code of `function` names dynamic shared memory by this variable; other variables may have the same address.
    pub fn is_named_in(&self, program: &Program, id: VarId, function: FuncId) -> bool {
        self.analysis(program).users.contains(&(id, function))
    }

    fn analysis(&self, program: &Program) -> &Analysis {
        self.analysis.get_or_init(|| analyse(program))
    }

    /// All types that the user has set.
    pub fn all_chosen(&self) -> impl Iterator<Item = (VarId, &ArrayType)> {
        self.chosen.iter().map(|(id, ty)| (*id, ty))
    }

    /// The type that the user has set for a variable.
    pub fn chosen(&self, id: VarId) -> Option<&ArrayType> {
        self.chosen.get(&id)
    }

    /// The types that the user has set for buffers, by name.
    pub fn chosen_buffers(&self) -> &BTreeMap<String, ArrayType> {
        &self.chosen_buffers
    }

    /// Removes all types that the user has set.
    pub fn clear(&mut self) {
        self.chosen.clear();
        self.chosen_buffers.clear();
    }

    /// Sets the type of a variable; without one, the type is inferred from its accesses.
    pub fn choose(&mut self, id: VarId, ty: Option<ArrayType>) {
        match ty {
            Some(ty) => self.chosen.insert(id, ty),
            None => self.chosen.remove(&id),
        };
    }

    /// Sets the type of a buffer; without one, it is the launch's.
    pub fn choose_buffer(&mut self, name: &str, ty: Option<ArrayType>) {
        match ty {
            Some(ty) => self.chosen_buffers.insert(name.to_string(), ty),
            None => self.chosen_buffers.remove(name),
        };
    }
}

/// The number of a variable of `program`.
pub fn id_of(program: &Program, variable: &Variable) -> Option<VarId> {
    // One of the program's own is found by where it lies.
    let own = program.variables.element_offset(variable);
    own.or_else(|| program.variables.iter().position(|other| other.span == variable.span)).map(VarId::new)
}

/// True if a variable is declared as an array of bytes.
pub fn is_byte_array(variable: &Variable) -> bool {
    let is_plain = variable.ty == ScalarType::B8 && variable.is_array && variable.opaque.is_none();
    is_plain && matches!(variable.location.space, Space::Shared | Space::Global | Space::Const | Space::Local)
}

/// The result of the inference for every array of bytes.
pub fn infer(program: &Program) -> BTreeMap<VarId, Inference> {
    analyse(program).inferences
}

fn analyse(program: &Program) -> Analysis {
    if !program.variables.iter().any(is_byte_array) {
        return Analysis::default();
    }
    let flow = flow::Flow::new(program);
    let evidence = evidence::Evidence::new(&flow);
    let accesses = accesses::collect(&flow, &evidence);
    let arrays = program.variables.iter().enumerate().filter(|(_, variable)| is_byte_array(variable));
    let inferences = arrays.map(|(index, variable)| {
        let id = VarId::new(index);
        let inference = match flow.escapes.get(&id) {
            Some(escape) => Inference::Bytes(UntypedReason::Escapes(*escape)),
            None => element_type::infer(variable, &accesses[index]),
        };
        (id, inference)
    });
    Analysis { inferences: inferences.collect(), users: flow.users_of_dynamic() }
}
