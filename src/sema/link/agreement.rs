//! Checks that linked modules declare their common variables alike: the linker allocates each of them once.

use std::collections::{BTreeMap, HashMap};

use super::is_external;
use crate::base::{Diagnostic, Span};
use crate::sema::variable::{VariableLayout, layout};
use crate::syntax::tree::{Init, Item, Linkage, Module, Variable};

/// Compares each declaration and definition of an external variable with the chosen definition, whose name has the span in `chosen`, or
/// with the first declaration if no module defines it. The span of an error is that of the later one.
pub(super) fn check(modules: &[Module<'_>], chosen: &HashMap<String, Span>, diags: &mut Vec<Diagnostic>) {
    let mut variables: BTreeMap<&str, Vec<&Variable<'_>>> = BTreeMap::new();
    let mut functions: BTreeMap<&str, Span> = BTreeMap::new();
    for item in modules.iter().flat_map(|module| &module.items) {
        if let Item::Variable(variable) = item
            && variable.linkage.is_some()
        {
            variables.entry(variable.name.text).or_default().push(variable);
        } else if let Item::Function(function) = item
            && is_external(function)
        {
            functions.entry(function.name.text).or_insert(function.name.span);
        }
    }
    for (name, all) in variables {
        let of_another = |function: &Span| all.iter().map(|variable| variable.name.span).find(|span| span.source != function.source);
        if let Some((function, variable)) = functions.get(name).and_then(|function| Some((*function, of_another(function)?))) {
            let message = format!("'{name}' is a function in one module and a variable in another");
            diags.push(Diagnostic::error("link", function.max(variable), message).with_label(function.min(variable), "the other one"));
            continue;
        }
        let defined = all.iter().find(|variable| chosen.get(name) == Some(&variable.name.span));
        let Some(first) = defined.or(all.first()) else { continue };
        // Modules may declare dynamic shared memory with different types.
        if defined.is_none() && first.space.text == "shared" {
            continue;
        }
        for other in all.iter().filter(|other| other.name.span.source != first.name.span.source) {
            let Some(what) = difference(first, other) else { continue };
            let (later, earlier) = (first.name.span.max(other.name.span), first.name.span.min(other.name.span));
            let error = Diagnostic::error("link", later, format!("'{name}' has another {what} here than in another module"));
            diags.push(
                error.with_label(earlier, "the other one").with_help("a variable that modules share is declared alike in all of them"),
            );
        }
    }
}

/// The first property that differs between the definition and another declaration.
fn difference(one: &Variable<'_>, other: &Variable<'_>) -> Option<&'static str> {
    // Invalid declarations are reported by the analysis.
    let (Ok(first), Ok(second)) = (layout(one), layout(other)) else { return None };
    let lengths = (length(one, &first), length(other, &second));
    let is_as_long = matches!(lengths, (None, _) | (_, None)) || lengths.0 == lengths.1;
    let inner = |layout: &VariableLayout| layout.shape.iter().skip(1).copied().collect::<Vec<u64>>();
    if one.space.text != other.space.text {
        Some("state space")
    } else if other.linkage == Some(Linkage::Common) && one.linkage != Some(Linkage::Extern) {
        // Common variables may differ in type and size; the chosen one is the largest (PTX ISA, ".common").
        let bytes = lengths.0.map_or(first.bytes, |length| length.saturating_mul(row_bytes(&first)));
        (second.bytes > bytes).then_some("length")
    } else if (first.ty, first.opaque, first.components, first.is_array())
        != (second.ty, second.opaque, second.components, second.is_array())
    {
        Some("type")
    } else if !is_as_long || inner(&first) != inner(&second) {
        Some("length")
    } else {
        None
    }
}

/// Bytes of one element of the first dimension of an array, or of a variable that is not an array.
fn row_bytes(layout: &VariableLayout) -> u64 {
    layout.shape.iter().skip(1).fold(layout.element_bytes(), |bytes, length| bytes.saturating_mul(*length))
}

/// The first extent of an array; `None` for an unsized declaration.
fn length(variable: &Variable<'_>, layout: &VariableLayout) -> Option<u64> {
    match (&variable.init, layout.is_unsized) {
        (Some(Init::List(list, _)), true) => Some(list.len() as u64),
        (_, true) => None,
        (_, false) => layout.shape.first().copied(),
    }
}
