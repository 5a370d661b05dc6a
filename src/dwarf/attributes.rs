//! Attributes of entries, with those of the entries that they complete.

use std::sync::Arc;

use gimli::{AttributeValue, DwAt, constants as dw};

use super::entries::{Entries, Node, Slice};
use super::model::TypeId;
use crate::isa::Space;
use crate::program::{SourceLine, demangled};

/// Most entries that complete each other.
const ORIGINS_MAX: usize = 8;
/// Most namespaces and classes around a name.
const QUALIFIERS_MAX: usize = 32;

impl<'a> Entries<'a, '_> {
    /// The value of an attribute of the entry itself.
    pub fn own(&self, node: &Node<'a>, name: DwAt) -> Option<AttributeValue<Slice<'a>>> {
        node.entry.attr_value(name)
    }

    /// The value of an attribute of the entry, or of the one that it is an instance or the definition of, with the unit of that.
    pub fn value(&self, index: usize, name: DwAt) -> Option<(AttributeValue<Slice<'a>>, usize)> {
        self.with_origins(index).find_map(|index| Some((self.own(&self.nodes[index], name)?, self.nodes[index].unit)))
    }

    /// The entry and those that it completes: its abstract origin, its declaration.
    pub fn with_origins(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let next = |index: &usize| {
            let node = &self.nodes[*index];
            let origin = [dw::DW_AT_abstract_origin, dw::DW_AT_specification].into_iter().find_map(|name| self.own(node, name));
            self.target(origin?, node.unit)
        };
        std::iter::successors(Some(index), next).take(ORIGINS_MAX)
    }

    /// The entry that a reference in unit `unit` means.
    pub fn target(&self, value: AttributeValue<Slice<'a>>, unit: usize) -> Option<usize> {
        let offset = match value {
            AttributeValue::UnitRef(offset) => self.units.get(unit)?.start.checked_add(offset.0)?,
            AttributeValue::DebugInfoRef(offset) => offset.0,
            _ => return None,
        };
        self.by_offset.get(&offset).copied()
    }

    /// A string attribute.
    pub fn text(&self, index: usize, name: DwAt) -> Option<Arc<str>> {
        let (value, unit) = self.value(index, name)?;
        let text = self.dwarf.attr_string(&self.units.get(unit)?.unit, value).ok()?;
        Some(text.to_string_lossy().into_owned().into()).filter(|text: &Arc<str>| !text.is_empty())
    }

    /// A number.
    pub fn number(&self, index: usize, name: DwAt) -> Option<u64> {
        self.value(index, name)?.0.udata_value()
    }

    /// True if a flag is there and set.
    pub fn flag(&self, index: usize, name: DwAt) -> bool {
        matches!(self.value(index, name), Some((AttributeValue::Flag(true), _)))
    }

    /// The type that the entry's `DW_AT_type` names.
    pub fn type_of(&self, index: usize) -> Option<TypeId> {
        let (value, unit) = self.value(index, dw::DW_AT_type)?;
        self.types.get(&self.target(value, unit)?).copied()
    }

    /// The name of an entry, as the source has it: demangled, with the namespaces and classes around it.
    pub fn qualified_name(&self, index: usize) -> Option<Arc<str>> {
        let name = self.text(index, dw::DW_AT_name)?;
        if let Some(demangled) = demangled_data(&name) {
            return Some(demangled.into());
        }
        let declared = self.with_origins(index).last().unwrap_or(index);
        let around = std::iter::successors(self.nodes[declared].parent, |index| self.nodes[*index].parent).take(QUALIFIERS_MAX);
        let named = around.filter_map(|index| match self.nodes[index].entry.tag() {
            dw::DW_TAG_namespace => Some(self.text(index, dw::DW_AT_name).unwrap_or_else(|| "(anonymous namespace)".into())),
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type => self.text(index, dw::DW_AT_name),
            _ => None,
        });
        let mut parts: Vec<Arc<str>> = named.collect();
        if parts.is_empty() {
            return Some(name);
        }
        parts.reverse();
        parts.push(name);
        Some(parts.join("::").into())
    }

    /// The place of a declaration or a call.
    pub fn line(&self, index: usize, file: DwAt, line: DwAt) -> Option<SourceLine> {
        let number = |value: Option<(AttributeValue<Slice<'a>>, usize)>| match value?.0 {
            AttributeValue::FileIndex(index) => u32::try_from(index).ok(),
            other => u32::try_from(other.udata_value()?).ok(),
        };
        let line = number(self.value(index, line))?;
        Some(SourceLine { file: number(self.value(index, file))?, line, column: 0 })
    }
}

/// `app::BLUE` for `_ZN3app4BLUEE`; none for a name that is not mangled.
fn demangled_data(name: &str) -> Option<String> {
    if name.starts_with("_Z") { demangled(name) } else { None }
}

/// The state space of `DW_AT_address_class` (PTX interoperability, "Debug information").
pub(super) fn address_space(entries: &Entries<'_, '_>, index: usize) -> Option<Space> {
    let class = match entries.value(index, dw::DW_AT_address_class)?.0 {
        AttributeValue::AddressClass(class) => class.0,
        other => other.udata_value()?,
    };
    match class {
        4 => Some(Space::Const),
        5 => Some(Space::Global),
        6 => Some(Space::Local),
        7 => Some(Space::Param),
        8 => Some(Space::Shared),
        12 => Some(Space::Generic),
        _ => None,
    }
}
