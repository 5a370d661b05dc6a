//! The names of the kernel's parameters in frames without debug data of variables: what the text of the source says of them.
//!
//! The module has the value that a parameter is passed with, and nothing of a variable that it becomes. The name of a parameter means that
//! value in the kernel itself, unless the text of the kernel changes the parameter, and not in other functions, which may have a parameter
//! or a variable of the same name.

use crate::debug::eval_context::{EvalContext, Frame};
use crate::debug::frame_scopes::line_of;
use crate::debug::source_names::function_name;
use crate::launch::cuda;
use crate::program::last_component;

/// What the name of a parameter of the kernel means in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The parameter, which has its value for good.
    Parameter,
    /// The variable that the kernel makes of this parameter, whose value is known at entry only.
    Changed(usize),
    /// Nothing of this function: what the launch calls so.
    Elsewhere,
    /// A name that this function may use for something of its own.
    OfFunction,
}

/// What `name` means in a frame, if it is the name of a parameter of the kernel.
pub fn meaning(context: &EvalContext<'_>, frame: &Frame<'_>, name: &str) -> Option<Meaning> {
    let (index, _) = context.param_names?.iter().find(|(_, other)| *other == name)?;
    if is_of_kernel(context, frame) {
        return Some(if is_changed(context, name) { Meaning::Changed(*index) } else { Meaning::Parameter });
    }
    let program = context.program();
    let text = || context.source_texts?.file(program, line_of(context, frame.position(), frame.inlined)?.file);
    let function = function_name(context, frame)?;
    let mentions = text().and_then(|text| cuda::mentions(text.text(), last_component(&function), name));
    Some(if mentions == Some(false) { Meaning::Elsewhere } else { Meaning::OfFunction })
}

/// True if the function of a frame is the kernel, and no function in the place of a call.
pub fn is_of_kernel(context: &EvalContext<'_>, frame: &Frame<'_>) -> bool {
    frame.function == context.machine.config().kernel && frame.inlined == context.calls_around(frame)
}

/// True if the text of the kernel may give the parameter `name` another value.
pub fn is_changed(context: &EvalContext<'_>, name: &str) -> bool {
    let (Some(texts), Some(names)) = (context.source_texts, context.param_names) else { return false };
    let names: Vec<&str> = names.values().map(String::as_str).collect();
    texts.changed(context.program(), context.machine.config().kernel, &names).is_some_and(|changed| changed.contains(name))
}
