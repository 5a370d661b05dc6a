//! The types that the user chose for variables and buffers, in session files.

use serde::{Deserialize, Serialize};

use super::Saved;
use crate::debug::arrays::{ArrayType, ArrayTypes, TypedMemory, parse_array_type, type_words};
use crate::debug::eval_context::Buffer;
use crate::isa::Space;
use crate::launch::Case;
use crate::program::{Program, VarId, Variable};

/// The type that the user chose for a variable or a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Type")]
pub struct SavedType {
    /// The variable, or a buffer of the launch.
    pub variable: String,
    /// The function that it is declared in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Its type, in the command's syntax.
    pub ty: String,
}

/// What the user chose a type for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// A variable of the module.
    Variable(VarId),
    /// A buffer of the launch.
    Buffer(String),
}

impl Saved {
    /// Puts the types that the user chose into the file.
    pub fn set_types(&mut self, program: &Program, arrays: &ArrayTypes) {
        let chosen = arrays.all_chosen().filter_map(|(id, ty)| Some((program.variables.get(id.index())?, ty)));
        let saved = chosen.map(|(variable, ty)| SavedType {
            variable: variable.name.to_string(),
            function: function_of(program, variable),
            ty: type_words(ty.ty, &ty.shape, variable.bytes == 0 && variable.location.space == Space::Shared),
        });
        let of_buffer = |(name, ty): (&String, &ArrayType)| SavedType {
            variable: name.clone(),
            function: None,
            ty: type_words(ty.ty, &ty.shape, false),
        };
        self.types = saved.chain(arrays.chosen_buffers().iter().map(of_buffer)).collect();
    }

    /// The types of the file for the variables of `program` and the buffers of `case`.
    ///
    /// # Errors
    /// There is no such variable or buffer, or the type does not fill it, in one line.
    pub fn types(&self, program: &Program, case: &Case) -> Result<Vec<(Typed, ArrayType)>, String> {
        let buffers = Buffer::of_case(case);
        let read = |saved: &SavedType| {
            let matches = |variable: &Variable| *variable.name == *saved.variable && function_of(program, variable) == saved.function;
            let buffer = || buffers.iter().find(|buffer| buffer.name == saved.variable && saved.function.is_none());
            let (typed, memory) = match (program.variables.iter().position(matches), buffer()) {
                (Some(index), _) => (Typed::Variable(VarId::new(index)), TypedMemory::of(&program.variables[index], None)),
                (None, Some(buffer)) => (Typed::Buffer(buffer.name.clone()), TypedMemory::Buffer(buffer.bytes())),
                (None, None) => {
                    return Err(format!("the module has no variable '{}' there, and the launch no such buffer", saved.variable));
                }
            };
            let ty = parse_array_type(&saved.ty, memory);
            let ty = ty.map_err(|error| format!("the type of '{}' cannot be read: {}", saved.variable, error.message))?;
            Ok((typed, ty))
        };
        self.types.iter().map(read).collect()
    }
}

fn function_of(program: &Program, variable: &Variable) -> Option<String> {
    let function = &program.functions[variable.function?.index()];
    Some(function.name.to_string())
}
