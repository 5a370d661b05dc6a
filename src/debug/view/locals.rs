//! `info locals`: variables and parameters of the selected frame's function.

use super::Table;
use crate::debug::expression::Expression;
use crate::debug::scene::{Scene, SceneError};
use crate::debug::value::{Format, ValueText};
use crate::isa::Space;

/// Elements of an array that are shown.
const ELEMENTS: usize = 8;

/// Parameters and `.local` variables, with where they lie and what they hold.
///
/// # Errors
/// The thread is not on the machine.
pub fn locals(scene: &Scene<'_>, format: Option<Format>) -> Result<Table, SceneError> {
    let scene = &scene.with_names_as_in_ptx();
    let frame = scene.frame()?;
    let function = scene.function(&frame);
    let mut table = Table::new(&["name", "kind", "type", "value"]);
    for param in function.params.iter().chain(&function.results) {
        let extent = if param.is_array { format!("[{}]", param.bytes / param.ty.bytes().max(1)) } else { String::new() };
        let cells = ["param".to_string(), format!("{}{extent}", param.ty.word())];
        add(&mut table, scene, &param.name, cells, format);
    }
    let own = scene.program().variables.iter().filter(|variable| variable.function == Some(frame.function));
    for variable in own.filter(|variable| matches!(variable.location.space, Space::Local | Space::ParamFunc)) {
        let cells = [variable.location.space.word().to_string(), super::symbols::type_name(scene, variable)];
        add(&mut table, scene, &variable.name, cells, format);
    }
    Ok(table.or_note("the function has no parameters and no local variables"))
}

fn add(table: &mut Table, scene: &Scene<'_>, name: &str, [kind, ty]: [String; 2], format: Option<Format>) {
    let value = match Expression::parse(name).map(|expression| expression.evaluate(scene)) {
        Ok(Ok(value)) => match value.text(scene, format) {
            ValueText::Scalar(text) => text,
            ValueText::Lanes(lanes) => lanes.values.join(" "),
            ValueText::Array(array) => {
                let more = if array.more || array.elements.len() > ELEMENTS { " …" } else { "" };
                let shown: Vec<&str> = array.elements.iter().take(ELEMENTS).map(String::as_str).collect();
                format!("{{{}{more}}}", shown.join(", "))
            }
        },
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    table.push(false, [name.to_string(), kind, ty, value]);
}
