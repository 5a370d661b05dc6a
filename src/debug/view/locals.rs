//! `info locals`: variables and parameters of the selected frame's function.

use serde::Serialize;

use super::arrays::Origin;
use super::symbols::TypeName;
use crate::debug::eval_context::{EvalContext, ThreadError};
use crate::debug::expression::Expression;
use crate::debug::value::{Format, ValueText};
use crate::isa::Space;

/// A parameter or a variable of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LocalRow {
    /// Its name.
    pub name: String,
    /// The state space that it is in: `param`, `local`.
    pub space: &'static str,
    /// `u32`, `f32[4]`.
    pub ty: TypeName,
    /// Its value, or the reason that it has none.
    pub value: Result<ValueText, String>,
}

/// Parameters and `.local` variables with their values.
///
/// # Errors
/// The thread is not resident.
pub fn locals(context: &EvalContext<'_>, format: Option<Format>) -> Result<Vec<LocalRow>, ThreadError> {
    let context = &context.with_names_as_in_ptx();
    let frame = context.frame()?;
    let function = context.function(&frame);
    let row = |name: &str, space, ty| LocalRow { name: name.to_string(), space, ty, value: value(context, name, format) };
    let mut rows = Vec::new();
    for param in function.params.iter().chain(&function.results) {
        let extent = if param.is_array { format!("[{}]", param.bytes / param.ty.bytes().max(1)) } else { String::new() };
        rows.push(row(&param.name, "param", TypeName { words: format!("{}{extent}", param.ty.word()), origin: Origin::Declared }));
    }
    let declared = context.program().variables.iter().filter(|variable| variable.function == Some(frame.function));
    for variable in declared.filter(|variable| matches!(variable.location.space, Space::Local | Space::ParamFunc)) {
        rows.push(row(&variable.name, variable.location.space.word(), TypeName::new(context, variable)));
    }
    Ok(rows)
}

fn value(context: &EvalContext<'_>, name: &str, format: Option<Format>) -> Result<ValueText, String> {
    let expression = Expression::parse(name).map_err(|error| error.to_string())?;
    let value = expression.evaluate(context).map_err(|error| error.to_string())?;
    Ok(value.text(context, format))
}
