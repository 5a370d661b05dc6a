//! `info locals`: variables and parameters of the selected frame's function.

use serde::Serialize;

use super::arrays::Origin;
use super::symbols::TypeName;
use crate::debug::expression::Expression;
use crate::debug::scene::{Scene, SceneError};
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
    /// What it holds, or why that cannot be said.
    pub value: Result<ValueText, String>,
}

/// Parameters and `.local` variables, with where they lie and what they hold.
///
/// # Errors
/// The thread is not on the machine.
pub fn locals(scene: &Scene<'_>, format: Option<Format>) -> Result<Vec<LocalRow>, SceneError> {
    let scene = &scene.with_names_as_in_ptx();
    let frame = scene.frame()?;
    let function = scene.function(&frame);
    let row = |name: &str, space, ty| LocalRow { name: name.to_string(), space, ty, value: value(scene, name, format) };
    let mut rows = Vec::new();
    for param in function.params.iter().chain(&function.results) {
        let extent = if param.is_array { format!("[{}]", param.bytes / param.ty.bytes().max(1)) } else { String::new() };
        rows.push(row(&param.name, "param", TypeName { words: format!("{}{extent}", param.ty.word()), origin: Origin::Declared }));
    }
    let own = scene.program().variables.iter().filter(|variable| variable.function == Some(frame.function));
    for variable in own.filter(|variable| matches!(variable.location.space, Space::Local | Space::ParamFunc)) {
        rows.push(row(&variable.name, variable.location.space.word(), TypeName::new(scene, variable)));
    }
    Ok(rows)
}

fn value(scene: &Scene<'_>, name: &str, format: Option<Format>) -> Result<ValueText, String> {
    let expression = Expression::parse(name).map_err(|error| error.to_string())?;
    let value = expression.evaluate(scene).map_err(|error| error.to_string())?;
    Ok(value.text(scene, format))
}
