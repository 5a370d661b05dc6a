//! The types that the user chose for variables, in session files.

use serde::{Deserialize, Serialize};

use super::Saved;
use crate::debug::arrays::{ArrayType, ArrayTypes, parse_array_type, type_words};
use crate::isa::Space;
use crate::program::{Program, VarId, Variable};

/// The type that the user chose for a variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Type")]
pub struct SavedType {
    /// The variable.
    pub variable: String,
    /// The function that it is declared in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Its type, in the command's syntax.
    pub ty: String,
}

impl Saved {
    /// Puts the types that the user chose for variables into the file.
    pub fn set_types(&mut self, program: &Program, arrays: &ArrayTypes) {
        let chosen = arrays.all_chosen().filter_map(|(id, ty)| Some((program.variables.get(id.index())?, ty)));
        let saved = chosen.map(|(variable, ty)| SavedType {
            variable: variable.name.to_string(),
            function: function_of(program, variable),
            ty: type_words(ty.ty, &ty.shape, variable.bytes == 0 && variable.location.space == Space::Shared),
        });
        self.types = saved.collect();
    }

    /// The types of the file for the variables of `program`.
    ///
    /// # Errors
    /// There is no such variable, or the type does not fill it, in one line.
    pub fn types(&self, program: &Program) -> Result<Vec<(VarId, ArrayType)>, String> {
        let read = |saved: &SavedType| {
            let matches = |variable: &Variable| *variable.name == *saved.variable && function_of(program, variable) == saved.function;
            let found = program.variables.iter().position(matches);
            let index = found.ok_or_else(|| format!("the module has no variable '{}' there", saved.variable))?;
            let ty = parse_array_type(&saved.ty, &program.variables[index], None);
            let ty = ty.map_err(|error| format!("the type of '{}' cannot be read: {}", saved.variable, error.message))?;
            Ok((VarId::new(index), ty))
        };
        self.types.iter().map(read).collect()
    }
}

fn function_of(program: &Program, variable: &Variable) -> Option<String> {
    let function = &program.functions[variable.function?.index()];
    Some(function.name.to_string())
}
