//! The text of the focused thread's call stack and local variables.

use super::report::code_place;
use super::table::Table;
use crate::debug::skip::{Skip, SkipKind};
use crate::debug::value::ValueText;
use crate::debug::view::{FrameRow, FrameView, LocalRow, ScopeRow, SourceArgument, Stack};
use crate::debug::{FileLine, shown_name};

/// The maximum number of elements of an array that are shown.
const ELEMENTS: usize = 8;

/// `backtrace`; a source column where a frame has one. Of inlined functions, the innermost has the instruction. Where there is little
/// room, functions are without their arguments.
pub fn stack(stack: &Stack, arguments: bool) -> Table {
    let call = |row: &FrameRow| if arguments { call(row) } else { function(row).to_string() };
    let has_source = stack.frames.iter().any(|row| row.source.is_some());
    let mut table = Table::new(if has_source { &[">#", "function", "source", "at", ""] } else { &[">#", "function", "at", ""] });
    let mut is_same = false;
    for row in &stack.frames {
        let (at, statement) = if is_same { (String::new(), String::new()) } else { (code_place(&row.at), row.at.statement.clone()) };
        is_same = row.inlined;
        let source = row.source.as_ref().map_or(String::new(), FileLine::short);
        match has_source {
            true => table.push(row.focused, [row.number.to_string(), call(row), source, at, statement]),
            false => table.push(row.focused, [row.number.to_string(), call(row), at, statement]),
        }
    }
    if stack.left_out > 0 {
        table.note = Some(format!("and {} more frames, the outermost '{}'", stack.left_out, shown_name(&stack.kernel)));
    }
    table
}

/// `backtrace full`: each frame with its variables below it.
pub fn stack_in_full(stack: &Stack) -> String {
    let frame = |(row, locals): (&FrameRow, &Vec<LocalRow>)| {
        let value = |row: &LocalRow| match &row.value {
            Ok(value) => in_one_line(value),
            Err(error) => format!("<{error}>"),
        };
        let lines: String = locals.iter().map(|row| format!("        {} = {}\n", row.name, value(row))).collect();
        frame_line(row) + if lines.is_empty() { "        no variables are in scope\n" } else { &lines }
    };
    let frames: String = stack.frames.iter().zip(&stack.locals).map(frame).collect();
    let more = if stack.left_out > 0 { format!("and {} more frames\n", stack.left_out) } else { String::new() };
    frames + &more
}

/// `#1  scaled (pair=..., factor=2) at scopes.cu:14`
pub fn frame_line(row: &FrameRow) -> String {
    let source = row.source.as_ref().map_or(String::new(), |line| format!(" at {}", line.short()));
    format!("#{}  {}{source}\n", row.number, call(row))
}

/// The function of a frame, `??` if its name is not known.
fn function(row: &FrameRow) -> &str {
    if row.function.is_empty() { "??" } else { &row.function }
}

/// `scaled (pair=..., factor=2)`
fn call(row: &FrameRow) -> String {
    let function = function(row);
    if row.arguments.is_empty() {
        return function.to_string();
    }
    let argument = |SourceArgument { name, value }: &SourceArgument| format!("{name}={}", value.as_deref().unwrap_or("<no value>"));
    format!("{function} ({})", row.arguments.iter().map(argument).collect::<Vec<_>>().join(", "))
}

/// `info frame`
pub fn frame(view: &FrameView) -> String {
    let FrameView { frame, caller, function, local_base, local_bytes, locals } = view;
    let source = |row: &FrameRow| row.source.as_ref().map_or(String::new(), |line| format!(" at {}", line.short()));
    let mut lines = vec![format!("frame {}: {}{}", frame.number, call(frame), source(frame))];
    lines.push(format!("  {}: {}", code_place(&frame.at), frame.at.statement));
    if let Some(caller) = caller {
        let how = if frame.inlined { "inlined into" } else { "called by" };
        lines.push(format!("  {how} frame {}, {}{}", caller.number, call(caller), source(caller)));
    }
    let memory = match local_bytes {
        0 => "no local memory".to_string(),
        bytes => format!("{bytes} bytes of local memory from {local_base:#x}"),
    };
    lines.push(format!("  registers of {}, {memory}", shown_name(function)));
    if !locals.is_empty() {
        lines.push(format!("  variables: {}", locals.join(", ")));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// `info skip`
pub fn skips(rows: &[Skip]) -> Table {
    let mut table = Table::new(&[">#", "on", "what", "name"]);
    for Skip { number, enabled, what, .. } in rows {
        let (kind, name) = match what {
            SkipKind::File(name) => ("file", name),
            SkipKind::Files(name) => ("files", name),
            SkipKind::Function(name) => ("function", name),
        };
        table.push(false, [number.to_string(), if *enabled { "yes" } else { "no" }.to_string(), kind.to_string(), name.clone()]);
    }
    table.or_note("nothing is skipped")
}

/// `info locals`
pub fn locals(rows: &[LocalRow]) -> Table {
    let mut table = Table::new(&["name", "kind", "type", "value"]);
    for LocalRow { name, space, ty, value, is_hidden: _, hidden: _ } in rows {
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
