//! The variables of the source whose values the compiler has found to be those of other variables: Triton's first code, `NAME.source`,
//! still names them.

use std::collections::BTreeMap;

use super::finals::{Final, finals, is_alike};
use crate::ttgir::{Definition, Module, ValueId};

/// Most operations in each other that are compared.
const DEPTH_MAX: u32 = 16;

/// Adds to the variables of `module` those that only `first`, the code before the compiler has changed it, has: of equal values of the
/// module the first is meant.
pub fn add(variables: &mut BTreeMap<String, Vec<Final>>, module: &Module, first: &Module) {
    for (name, list) in finals(first) {
        if variables.contains_key(&name) {
            continue;
        }
        let equal = |one: &Final| {
            let value =
                (0..module.values.len()).map(ValueId::new).find(|value| is_equal((first, one.value), (module, *value), DEPTH_MAX))?;
            Some(Final { value, line: one.line })
        };
        // A variable of which one value is not known would seem to keep another one.
        let found: Option<Vec<Final>> = list.iter().map(equal).collect();
        if let Some(found) = found.filter(|found| !found.is_empty()) {
            variables.insert(name, found);
        }
    }
}

/// True if two values are computed in the same way from the same arguments of the kernel.
fn is_equal((a_module, a): (&Module, ValueId), (b_module, b): (&Module, ValueId), depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let (a_value, b_value) = (a_module.value(a), b_module.value(b));
    if !is_alike(&a_value.ty, &b_value.ty) {
        return false;
    }
    match (a_value.definition, b_value.definition) {
        (Definition::Argument(a), Definition::Argument(b)) => a == b,
        (Definition::Result(a, a_index), Definition::Result(b, b_index)) => {
            let (a, b) = (a_module.op(a), b_module.op(b));
            let is_pure = ["arith.", "tt.make_range", "tt.splat", "tt.expand_dims", "tt.broadcast", "tt.get_program_id"];
            is_pure.iter().any(|start| a.name.starts_with(start))
                && (&a.name, a_index, a.operands.len()) == (&b.name, b_index, b.operands.len())
                && attributes(&a.text).eq(attributes(&b.text))
                && a.operands.iter().zip(&b.operands).all(|(a, b)| is_equal((a_module, *a), (b_module, *b), depth))
        }
        _ => false,
    }
}

/// What the text of an operation says besides its operands.
fn attributes(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',']).filter(|word| !word.is_empty() && !word.starts_with('%'))
}
