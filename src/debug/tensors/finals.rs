//! The values that statements of the source leave in their variables.
//!
//! All operations of `k = load(p + i)` stand at its line under the name `k`: the addresses, the mask and the load. What the variable gets
//! is the result that none of the others goes on with; of a statement that loads, what is computed from the load.

use std::collections::{BTreeMap, BTreeSet};

use crate::ttgir::{Definition, Module, Op, OpId, Place, ValueId};

/// What a statement leaves in its variable.
#[derive(Clone, Debug)]
pub struct Final {
    /// The value.
    pub value: ValueId,
    /// The line of the statement.
    pub line: u32,
}

/// A statement: the variable, and the file and line.
type Statement<'m> = (&'m str, &'m str, u32);

/// The values that statements leave in each variable, in order of the text.
pub fn finals(module: &Module) -> BTreeMap<String, Vec<Final>> {
    let mut found: BTreeMap<String, Vec<Final>> = BTreeMap::new();
    let mut users: Vec<Vec<OpId>> = vec![Vec::new(); module.values.len()];
    for (index, op) in module.ops.iter().enumerate() {
        op.operands.iter().for_each(|operand| users[operand.index()].push(OpId::new(index)));
    }
    for ((name, file, line), values) in statements(module) {
        let is_of = |place: &Place| place.line == line && place.file == file && place.names.iter().any(|other| other == name);
        let column = |op: &Op| op.places.iter().find(|place| is_of(place)).map(|place| place.column);
        // What goes to memory or is copied there is the value still.
        let gives = |op: &&Op| op.results.iter().any(|result| module.value(*result).ty.element().is_some());
        let going_on = |value: &ValueId| {
            let users = users[value.index()].iter().map(|user| module.op(*user));
            users.filter(gives).filter_map(column).collect::<Vec<u32>>()
        };
        let own = |value: &ValueId| defining(module, *value).and_then(column);
        // The same part of an expression may be there several times, for other layouts and other rounds.
        let inner: BTreeSet<u32> =
            values.iter().filter_map(|value| own(value).filter(|own| going_on(value).iter().any(|column| column != own))).collect();
        let is_last = |value: &&ValueId| going_on(value).is_empty() && own(value).is_some_and(|own| !inner.contains(&own));
        let last: Vec<ValueId> = values.iter().filter(is_last).copied().collect();
        let loaded = loaded(module, &values);
        let of_load: Vec<ValueId> = last.iter().filter(|value| loaded.contains(value)).copied().collect();
        let is_copy = |op: &Op| op.name.contains("async_copy") || op.name.contains("async_tma_copy");
        let is_in_memory = module.ops.iter().any(|op| is_copy(op) && op.places.iter().any(is_of));
        let chosen = match of_load.is_empty() {
            false => of_load,
            // What is copied to shared memory and used there comes to no register.
            true if is_in_memory => Vec::new(),
            true => last,
        };
        found.entry(name.to_string()).or_default().extend(chosen.into_iter().map(|value| Final { value, line }));
    }
    found.values_mut().for_each(|list| list.sort_by_key(|one| one.value));
    found
}

fn defining(module: &Module, value: ValueId) -> Option<&Op> {
    match module.value(value).definition {
        Definition::Result(op, _) => Some(module.op(op)),
        Definition::Argument(_) | Definition::Region(_) => None,
    }
}

/// The values of the operations of each statement. What the compiler adds to a loop stands at its place, under the names of what its
/// rounds hand on, and is none; neither are the statements of Triton's library.
fn statements(module: &Module) -> BTreeMap<Statement<'_>, Vec<ValueId>> {
    let loops: Vec<&Place> = module.ops.iter().filter(|op| op.name.starts_with("scf.")).filter_map(|op| op.places.first()).collect();
    let mut found: BTreeMap<Statement<'_>, Vec<ValueId>> = BTreeMap::new();
    for (index, value) in module.values.iter().enumerate() {
        let id = ValueId::new(index);
        // Of what waits for several results the first is that of the statement.
        if matches!(value.definition, Definition::Result(_, 1..)) {
            continue;
        }
        let Some(op) = defining(module, id).filter(|_| value.ty.element().is_some()) else { continue };
        // What a reduction combines two elements by is no value of the statement.
        let is_combining = op.parent.is_some_and(|parent| matches!(module.op(parent).name.as_str(), "tt.reduce" | "tt.scan"));
        if is_combining || op.places.first().is_some_and(|place| loops.iter().any(|other| other.is_at(place))) {
            continue;
        }
        for place in op.places.iter().filter(|place| !place.is_of_library) {
            for name in &place.names {
                found.entry((name, &place.file, place.line)).or_default().push(id);
            }
        }
    }
    found
}

/// The values that are loaded, or computed from such ones.
fn loaded(module: &Module, values: &[ValueId]) -> BTreeSet<ValueId> {
    let mut found = BTreeSet::new();
    for value in values {
        let Some(op) = defining(module, *value) else { continue };
        if matches!(op.name.as_str(), "tt.load" | "ttg.local_load") || op.operands.iter().any(|operand| found.contains(operand)) {
            found.insert(*value);
        }
    }
    found
}
