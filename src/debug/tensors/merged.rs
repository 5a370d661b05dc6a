//! The variables of the source whose values the compiler has found to be those of other variables: Triton's first code, `NAME.source`,
//! still names them.

use std::collections::BTreeMap;

use super::finals::{Final, finals, is_alike, variable_name};
use crate::ttgir::{Definition, Module, OpId, ValueId};

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
    add_initial(variables, module, first);
}

/// Adds what statements before a loop give the variables that its rounds hand on, where the compiler has made one constant of several:
/// that has no place of the source.
fn add_initial(variables: &mut BTreeMap<String, Vec<Final>>, module: &Module, first: &Module) {
    let loops = |module: &Module| (0..module.ops.len()).map(OpId::new).filter(|id| module.op(*id).name == "scf.for").collect::<Vec<_>>();
    let place = |module: &Module, id: OpId| module.op(id).places.first().cloned();
    for first_loop in loops(first) {
        let Some(at) = place(first, first_loop) else { continue };
        let alike: Vec<OpId> = loops(module).into_iter().filter(|id| place(module, *id).is_some_and(|place| place.is_at(&at))).collect();
        // A loop that the compiler has taken apart has other values before its first round.
        let (&[own], true) =
            (&*alike, loops(first).iter().filter(|id| place(first, **id).is_some_and(|place| place.is_at(&at))).count() == 1)
        else {
            continue;
        };
        for before in first.carried(first_loop) {
            let Some(given) = first.definer(before.initial).and_then(|op| first.op(op).places.first()) else { continue };
            let Some(name) = variable_name(first, before.argument, variables).filter(|name| given.names.contains(name)) else { continue };
            let of_name = |one: &crate::ttgir::Carried| variable_name(module, one.argument, variables).as_ref() == Some(&name);
            let mut initial = module.carried(own).into_iter().filter(of_name).map(|one| one.initial);
            let (Some(value), None) = (initial.next(), initial.next()) else { continue };
            let is_constant = module.definer(value).is_some_and(|op| module.op(op).name == "arith.constant");
            let list = variables.entry(name).or_default();
            if is_constant && list.iter().all(|one| one.line > given.line) {
                list.insert(0, Final { value, line: given.line });
            }
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
