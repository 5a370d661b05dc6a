//! Scopes and variables of the entries.

use std::sync::Arc;

use gimli::{AttributeValue, DwTag, constants as dw};

use super::address::instructions;
use super::attributes::address_space;
use super::entries::{Entries, Slice};
use super::location::Location;
use super::model::{Call, DebugInfo, LocationEntry, Scope, ScopeId, ScopeKind, Variable};

/// Most entries of a list of locations, and most ranges of a scope.
const ENTRIES_MAX: usize = 1 << 16;

/// Reads all scopes and variables of a module.
pub(super) fn read(entries: &Entries<'_, '_>, info: &mut DebugInfo) {
    // The scope that each entry is or lies in; none outside of functions, and in those that have no code.
    let mut scopes: Vec<Option<ScopeId>> = Vec::with_capacity(entries.nodes.len());
    let mut outside: Vec<bool> = Vec::with_capacity(entries.nodes.len());
    for (index, node) in entries.nodes.iter().enumerate() {
        let parent = node.parent.and_then(|parent| scopes[parent]);
        let is_outside = node.parent.is_none_or(|parent| outside[parent]);
        let tag = node.entry.tag();
        let scope = match tag {
            dw::DW_TAG_subprogram => scope(entries, index, tag, None),
            dw::DW_TAG_lexical_block | dw::DW_TAG_inlined_subroutine if parent.is_some() => scope(entries, index, tag, parent),
            _ => None,
        };
        let id = scope.map(|scope| info.scopes.push(scope));
        // A block without code of its own lies in the one around it, but a function without code is a declaration.
        scopes.push(id.or(parent.filter(|_| tag != dw::DW_TAG_subprogram)));
        let is_namespace = matches!(tag, dw::DW_TAG_compile_unit | dw::DW_TAG_namespace | dw::DW_TAG_partial_unit);
        outside.push(is_outside && is_namespace);
        if !matches!(tag, dw::DW_TAG_variable | dw::DW_TAG_formal_parameter | dw::DW_TAG_constant) {
            continue;
        }
        let Some(variable) = variable(entries, index) else { continue };
        match parent {
            Some(parent) => info.scopes[parent].variables.push(variable),
            None if is_outside && !variable.locations.is_empty() => info.globals.push(variable),
            None => {}
        }
    }
}

/// The scope that an entry is; none if it has no code.
fn scope(entries: &Entries<'_, '_>, index: usize, tag: DwTag, parent: Option<ScopeId>) -> Option<Scope> {
    let node = &entries.nodes[index];
    let unit = &entries.units.get(node.unit)?.unit;
    let mut ranges = entries.dwarf.die_ranges(unit, &node.entry).ok()?;
    let mut code = Vec::new();
    while let Ok(Some(range)) = ranges.next()
        && code.len() < ENTRIES_MAX
    {
        code.extend(instructions(&range));
    }
    if code.is_empty() {
        return None;
    }
    let linkage = [dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name];
    let linkage_name = || linkage.into_iter().find_map(|name| entries.text(index, name));
    let kind = match tag {
        dw::DW_TAG_subprogram => ScopeKind::Function { name: entries.qualified_name(index), linkage_name: linkage_name() },
        dw::DW_TAG_inlined_subroutine => ScopeKind::Inlined {
            name: entries.qualified_name(index),
            linkage_name: linkage_name(),
            call: Call { line: entries.line(index, dw::DW_AT_call_file, dw::DW_AT_call_line) },
        },
        _ => ScopeKind::Block,
    };
    let frame_base = match entries.own(node, dw::DW_AT_frame_base) {
        Some(AttributeValue::Exprloc(expression)) => Some(Location::decode(expression.0, unit.encoding(), entries.addresses)),
        _ => None,
    };
    let result = if tag == dw::DW_TAG_subprogram { entries.type_of(index) } else { None };
    Some(Scope { kind, code, parent, variables: Vec::new(), frame_base, result })
}

/// A variable; none if it has no name.
fn variable(entries: &Entries<'_, '_>, index: usize) -> Option<Variable> {
    let name = entries.text(index, dw::DW_AT_name)?;
    let node = &entries.nodes[index];
    let linkage = [dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name];
    let linkage_name: Option<Arc<str>> = linkage.into_iter().find_map(|attribute| entries.text(index, attribute));
    let line = entries.line(index, dw::DW_AT_decl_file, dw::DW_AT_decl_line);
    // nvcc sets no flag on its own variables, but they have a reserved name and no line.
    let is_undeclared = line.is_none() && name.starts_with("__");
    Some(Variable {
        linkage_name: linkage_name.filter(|linkage| *linkage != name),
        name,
        ty: entries.type_of(index),
        is_parameter: node.entry.tag() == dw::DW_TAG_formal_parameter,
        is_artificial: is_undeclared || entries.flag(index, dw::DW_AT_artificial),
        line,
        space: address_space(entries, index),
        locations: locations(entries, index),
    })
}

fn locations(entries: &Entries<'_, '_>, index: usize) -> Vec<LocationEntry> {
    let node = &entries.nodes[index];
    let Some(unit) = entries.units.get(node.unit).map(|unit| &unit.unit) else { return Vec::new() };
    let decode = |bytes: Slice<'_>| Location::decode(bytes, unit.encoding(), entries.addresses);
    let everywhere = |location| vec![LocationEntry { code: None, location }];
    match entries.own(node, dw::DW_AT_location) {
        Some(AttributeValue::Exprloc(expression)) => match decode(expression.0) {
            location if location.0.is_empty() => Vec::new(),
            location => everywhere(location),
        },
        Some(value) => {
            let Ok(Some(mut list)) = entries.dwarf.attr_locations(unit, value) else { return Vec::new() };
            let mut found = Vec::new();
            while let Ok(Some(entry)) = list.next()
                && found.len() < ENTRIES_MAX
            {
                let location = decode(entry.data.0);
                found.extend(instructions(&entry.range).map(|code| LocationEntry { code: Some(code), location }));
            }
            found
        }
        None => constant(entries, index).map_or_else(Vec::new, everywhere),
    }
}

/// The location of a variable that is a constant.
fn constant(entries: &Entries<'_, '_>, index: usize) -> Option<Location> {
    let (value, _) = entries.value(index, dw::DW_AT_const_value)?;
    if let AttributeValue::Block(bytes) = value {
        return Some(Location::constant(bytes.slice()));
    }
    let number = value.sdata_value().or_else(|| value.udata_value().map(u64::cast_signed))?;
    Some(Location::constant(&number.to_le_bytes()))
}
