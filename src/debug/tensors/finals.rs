//! The values that statements of the source leave in their variables.
//!
//! All operations of `k = load(p + i)` stand at its line under the name `k`: the addresses, the mask and the load. What the variable gets
//! is the result that none of the others goes on with; of a statement that loads, what is computed from the load.

use std::collections::{BTreeMap, BTreeSet};

use crate::ttgir::{Definition, Module, Op, OpId, Place, ValueId, ValueType};

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
        let column = |op: &Op| op.places.iter().chain(&op.others).find(|place| is_of(place)).map(|place| place.column);
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
    let is_region = |op: &&Op| matches!(op.name.as_str(), "scf.for" | "scf.while" | "scf.if");
    let loops: Vec<&Place> = module.ops.iter().filter(is_region).filter_map(|op| op.places.first()).collect();
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
        for place in op.places.iter().chain(&op.others).filter(|place| !place.is_of_library) {
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

/// The variables of what loops and branches hand on: those of what the branches or rounds give there. Of a loop, what its rounds take may
/// have the variable's name.
pub fn region_names(module: &Module, finals: &BTreeMap<String, Vec<Final>>) -> BTreeMap<ValueId, Vec<String>> {
    let mut named: BTreeMap<ValueId, Vec<String>> = BTreeMap::new();
    for (name, list) in finals {
        list.iter().for_each(|one| named.entry(one.value).or_default().push(name.clone()));
    }
    let mut regions: BTreeMap<ValueId, Vec<String>> = BTreeMap::new();
    // Inner operations come after those around them.
    for id in (0..module.ops.len()).rev().map(OpId::new) {
        let given = |value: ValueId| {
            let value = origin(module, value);
            let is_inside = module.definer(value).is_some_and(|op| module.region_in(op, id).is_some());
            if is_inside { named.get(&value).cloned().unwrap_or_default() } else { Vec::new() }
        };
        let mut found: Vec<(ValueId, Vec<String>)> = Vec::new();
        for one in module.branched(id) {
            let names: BTreeSet<String> = [one.then, one.otherwise].into_iter().flat_map(given).collect();
            found.push((one.result, names.into_iter().collect()));
        }
        for one in module.carried(id) {
            let is_alike = |name: &String| {
                let ty = &module.value(one.argument).ty;
                finals.get(name).is_none_or(|list| list.iter().any(|other| is_alike(&module.value(other.value).ty, ty)))
            };
            let own = variable_name(module, one.argument, finals).filter(is_alike);
            let names = own.map_or_else(|| given(one.handed_on), |own| vec![own]);
            found.push((one.argument, names.clone()));
            found.extend(one.result.map(|result| (result, names)));
        }
        if let Some(counter) = module.op(id).arguments.first().filter(|_| module.op(id).name == "scf.for") {
            let own = variable_name(module, *counter, finals).filter(|name| !finals.contains_key(name));
            found.push((*counter, own.into_iter().collect()));
        }
        for (value, names) in found.into_iter().filter(|(_, names)| !names.is_empty()) {
            named.insert(value, names.clone());
            regions.insert(value, names);
        }
    }
    regions
}

/// True for types that differ in their layouts at most.
pub fn is_alike(a: &ValueType, b: &ValueType) -> bool {
    match (a, b) {
        (ValueType::Tensor(a), ValueType::Tensor(b)) => (&a.shape, a.element) == (&b.shape, b.element),
        (ValueType::Scalar(a), ValueType::Scalar(b)) => a == b,
        (ValueType::Tensor(_) | ValueType::Scalar(_) | ValueType::Other, _) => false,
    }
}

/// The value that another one is in another layout, or that something has waited for.
fn origin(module: &Module, mut value: ValueId) -> ValueId {
    while let Some(op) = defining(module, value).filter(|op| op.name == "ttg.convert_layout")
        && let Some(from) = op.operands.first()
    {
        value = *from;
    }
    value
}

/// The name of a variable that is that of a value in the text, perhaps with a number after it.
pub fn variable_name(module: &Module, value: ValueId, finals: &BTreeMap<String, Vec<Final>>) -> Option<String> {
    let name = module.value(value).name.trim_start_matches('%');
    if finals.contains_key(name) {
        return Some(name.to_string());
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let base = name.rsplit_once('_').filter(|(_, number)| is_number(number)).map_or(name, |(base, _)| base);
    let is_invented = is_number(base) || base.strip_prefix("arg").is_some_and(is_number) || base.starts_with("cst");
    (!is_invented && !base.is_empty()).then(|| base.to_string())
}
