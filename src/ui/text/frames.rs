//! The text of the focused thread's call stack and local variables.

use super::report::code_place;
use super::table::Table;
use crate::debug::shown_name;
use crate::debug::value::ValueText;
use crate::debug::view::{FrameRow, LocalRow, ScopeRow, Stack};

/// The maximum number of elements of an array that are shown.
const ELEMENTS: usize = 8;

/// `backtrace`
pub fn stack(stack: &Stack) -> Table {
    let mut table = Table::new(&[">#", "function", "at", ""]);
    for FrameRow { number, function, at, focused } in &stack.frames {
        table.push(*focused, [number.to_string(), shown_name(function).into_owned(), code_place(at), at.statement.clone()]);
    }
    if stack.left_out > 0 {
        table.note = Some(format!("and {} more frames, the outermost '{}'", stack.left_out, shown_name(&stack.kernel)));
    }
    table
}

/// `info locals`
pub fn locals(rows: &[LocalRow]) -> Table {
    let mut table = Table::new(&["name", "kind", "type", "value"]);
    for LocalRow { name, space, ty, value } in rows {
        let value = match value {
            Ok(value) => in_one_line(value),
            Err(error) => error.clone(),
        };
        table.push(false, [name.clone(), space.clone(), ty.describe(), value]);
    }
    table.or_note("the function has no parameters and no local variables")
}

/// `info scope`
pub fn scope(rows: &[ScopeRow]) -> Table {
    let mut table = Table::new(&["name", "declaration", "bytes", "where"]);
    for ScopeRow { name, declaration, place, bytes } in rows {
        table.push(false, [name.clone(), declaration.clone(), bytes.to_string(), place.clone()]);
    }
    table.or_note("no variables are in scope here")
}

/// A value in one line; for an array, the first elements.
fn in_one_line(value: &ValueText) -> String {
    match value {
        ValueText::Scalar(text) => text.clone(),
        ValueText::Lanes(lanes) => lanes.values.join(" "),
        ValueText::Tensor(tensor) => tensor.ty.clone(),
        ValueText::Array(array) => {
            let more = if array.more || array.elements.len() > ELEMENTS { " …" } else { "" };
            let shown: Vec<&str> = array.elements.iter().take(ELEMENTS).map(String::as_str).collect();
            format!("{{{}{more}}}", shown.join(", "))
        }
    }
}
