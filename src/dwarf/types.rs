//! The types of the entries.

use std::sync::Arc;

use gimli::{AttributeValue, DwTag, constants as dw};

use super::attributes::address_space;
use super::entries::Entries;
use super::model::{DebugInfo, Encoding, Enumerator, EnumeratorOf, Member, PointerKind, RecordKind, Type, TypeId};

/// The tags of types.
const TYPE_TAGS: &[DwTag] = &[
    dw::DW_TAG_base_type,
    dw::DW_TAG_unspecified_type,
    dw::DW_TAG_pointer_type,
    dw::DW_TAG_reference_type,
    dw::DW_TAG_rvalue_reference_type,
    dw::DW_TAG_ptr_to_member_type,
    dw::DW_TAG_structure_type,
    dw::DW_TAG_class_type,
    dw::DW_TAG_union_type,
    dw::DW_TAG_array_type,
    dw::DW_TAG_enumeration_type,
    dw::DW_TAG_typedef,
    dw::DW_TAG_template_alias,
    dw::DW_TAG_const_type,
    dw::DW_TAG_volatile_type,
    dw::DW_TAG_restrict_type,
    dw::DW_TAG_atomic_type,
    dw::DW_TAG_subroutine_type,
];

/// Reads all types of a module.
pub(super) fn read(entries: &mut Entries<'_, '_>, info: &mut DebugInfo) {
    // First the ids, since a type may name one that stands after it.
    let is_type = |index: &usize| TYPE_TAGS.contains(&entries.nodes[*index].entry.tag());
    let indices: Vec<usize> = (0..entries.nodes.len()).filter(is_type).collect();
    let first = info.types.ids().len();
    entries.types = indices.iter().enumerate().map(|(number, index)| (*index, TypeId::new(first + number))).collect();
    let children = children(entries);
    // Rows of arrays of several dimensions, which have no entry, come after all entries.
    let mut rows = Rows { next: first + indices.len(), types: Vec::new() };
    for index in indices {
        let ty = type_at(entries, index, children.get(index).map_or(&[], Vec::as_slice), &mut rows);
        let name = match &ty {
            Type::Record { name, .. } | Type::Enumeration { name, .. } => name.clone(),
            Type::Base { name, .. } | Type::Typedef { name, .. } => Some(Arc::clone(name)),
            Type::Pointer { .. } | Type::Array { .. } | Type::Qualified { .. } | Type::Function { .. } | Type::Unspecified { .. } => None,
        };
        let id = entries.types.get(&index).copied();
        if let (Type::Enumeration { enumerators, .. }, Some(id)) = (&ty, id) {
            for Enumerator { name, value } in enumerators {
                let starts = name.match_indices("::").map(|(at, sign)| at + sign.len());
                for start in std::iter::once(0).chain(starts) {
                    let found = info.enumerators.entry(name[start..].into()).or_default();
                    found.push(EnumeratorOf { value: *value, ty: id, is_whole: start == 0 });
                }
            }
        }
        let is_declaration = matches!(ty, Type::Record { is_declaration: true, .. });
        let id = info.types.push(ty);
        if let Some(name) = name.filter(|_| !is_declaration) {
            info.type_names.entry(name).or_default().push(id);
            info.type_lines.extend(entries.line(index, dw::DW_AT_decl_file, dw::DW_AT_decl_line).map(|line| (id, line)));
        }
    }
    for row in rows.types {
        info.types.push(row);
    }
}

/// The types of the rows of arrays.
struct Rows {
    /// The number of the next type.
    next: usize,
    types: Vec<Type>,
}

impl Rows {
    /// The array of `extents` elements, outermost first.
    fn array(&mut self, of: Option<TypeId>, extents: &[Option<u64>], is_vector: bool) -> Type {
        let (outermost, inner) = extents.split_first().map_or((None, extents), |(first, rest)| (*first, rest));
        let mut of = of;
        for extent in inner.iter().rev() {
            self.types.push(Type::Array { of, extent: *extent, is_vector: false });
            of = Some(TypeId::new(self.next));
            self.next += 1;
        }
        Type::Array { of, extent: outermost, is_vector }
    }
}

/// The entries in each entry that is a type.
fn children(entries: &Entries<'_, '_>) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); entries.nodes.len()];
    for (index, node) in entries.nodes.iter().enumerate() {
        if let Some(parent) = node.parent.filter(|parent| entries.types.contains_key(parent)) {
            children[parent].push(index);
        }
    }
    children
}

/// The name of a type. nvcc gives those without a name one of its own, `Packed::{unnamed type#1}`, which counts as none.
fn type_name(entries: &Entries<'_, '_>, index: usize) -> Option<Arc<str>> {
    let is_named = |name: &Arc<str>| !name.rsplit("::").next().is_some_and(|last| last.starts_with("{unnamed "));
    entries.qualified_name(index).filter(is_named)
}

fn type_at(entries: &Entries<'_, '_>, index: usize, children: &[usize], rows: &mut Rows) -> Type {
    let name = || type_name(entries, index);
    let bytes = entries.number(index, dw::DW_AT_byte_size).unwrap_or(0);
    let to = entries.type_of(index);
    let qualified = |word| Type::Qualified { word, to };
    match entries.nodes[index].entry.tag() {
        dw::DW_TAG_base_type => Type::Base {
            name: name().unwrap_or_else(|| "?".into()),
            encoding: encoding(entries, index),
            bytes: size(entries, index, bytes),
        },
        dw::DW_TAG_pointer_type => pointer(entries, index, PointerKind::Pointer),
        dw::DW_TAG_reference_type => pointer(entries, index, PointerKind::Reference),
        dw::DW_TAG_rvalue_reference_type => pointer(entries, index, PointerKind::RvalueReference),
        dw::DW_TAG_structure_type => record(entries, index, children, RecordKind::Struct),
        dw::DW_TAG_class_type => record(entries, index, children, RecordKind::Class),
        dw::DW_TAG_union_type => record(entries, index, children, RecordKind::Union),
        dw::DW_TAG_array_type => {
            let subranges = children.iter().filter(|child| is(entries, **child, dw::DW_TAG_subrange_type));
            let extents: Vec<Option<u64>> = subranges.map(|child| extent(entries, *child)).collect();
            rows.array(to, &extents, entries.flag(index, dw::DW_AT_GNU_vector))
        }
        dw::DW_TAG_enumeration_type => {
            let enumerators = children.iter().filter(|child| is(entries, **child, dw::DW_TAG_enumerator));
            let enumerators = enumerators.filter_map(|child| enumerator(entries, *child)).collect();
            Type::Enumeration { name: name(), bytes: if bytes > 0 { bytes } else { 4 }, enumerators }
        }
        dw::DW_TAG_typedef | dw::DW_TAG_template_alias => match name() {
            Some(name) => Type::Typedef { name, to },
            None => qualified(""),
        },
        dw::DW_TAG_const_type => qualified("const"),
        dw::DW_TAG_volatile_type => qualified("volatile"),
        dw::DW_TAG_restrict_type => qualified("restrict"),
        dw::DW_TAG_atomic_type => qualified("_Atomic"),
        dw::DW_TAG_subroutine_type => {
            let params = children.iter().filter(|child| is(entries, **child, dw::DW_TAG_formal_parameter));
            Type::Function { result: to, params: params.map(|child| entries.type_of(*child)).collect() }
        }
        _ => Type::Unspecified { name: name().unwrap_or_else(|| "?".into()), bytes },
    }
}

fn is(entries: &Entries<'_, '_>, index: usize, tag: DwTag) -> bool {
    entries.nodes[index].entry.tag() == tag
}

/// The bytes of a base type; some compilers give bits.
fn size(entries: &Entries<'_, '_>, index: usize, bytes: u64) -> u64 {
    if bytes > 0 { bytes } else { entries.number(index, dw::DW_AT_bit_size).map_or(0, |bits| bits.div_ceil(8)) }
}

fn encoding(entries: &Entries<'_, '_>, index: usize) -> Encoding {
    match entries.value(index, dw::DW_AT_encoding) {
        Some((AttributeValue::Encoding(encoding), _)) => match encoding {
            dw::DW_ATE_signed => Encoding::Signed,
            dw::DW_ATE_unsigned => Encoding::Unsigned,
            dw::DW_ATE_float => Encoding::Float,
            dw::DW_ATE_boolean => Encoding::Boolean,
            dw::DW_ATE_signed_char => Encoding::SignedCharacter,
            dw::DW_ATE_unsigned_char => Encoding::UnsignedCharacter,
            dw::DW_ATE_address => Encoding::Address,
            _ => Encoding::Other,
        },
        _ => Encoding::Other,
    }
}

fn pointer(entries: &Entries<'_, '_>, index: usize, kind: PointerKind) -> Type {
    let width = entries.units.get(entries.nodes[index].unit).map_or(8, |unit| u64::from(unit.unit.encoding().address_size));
    Type::Pointer {
        kind,
        to: entries.type_of(index),
        bytes: entries.number(index, dw::DW_AT_byte_size).unwrap_or(width),
        space: address_space(entries, index),
    }
}

fn record(entries: &Entries<'_, '_>, index: usize, children: &[usize], kind: RecordKind) -> Type {
    let members = children.iter().filter_map(|child| member(entries, *child)).collect();
    Type::Record {
        kind,
        name: type_name(entries, index),
        bytes: entries.number(index, dw::DW_AT_byte_size).unwrap_or(0),
        members,
        is_declaration: entries.flag(index, dw::DW_AT_declaration),
    }
}

/// A member or base; none for what has no place in the record, such as a static member.
fn member(entries: &Entries<'_, '_>, index: usize) -> Option<Member> {
    let tag = entries.nodes[index].entry.tag();
    if !matches!(tag, dw::DW_TAG_member | dw::DW_TAG_inheritance) || entries.flag(index, dw::DW_AT_external) {
        return None;
    }
    let name = entries.text(index, dw::DW_AT_name);
    // EDG writes a base as a member that is named after it.
    let base_of_edg = name.as_deref().is_some_and(|name| name.starts_with("__b_") || name.starts_with("__v_"));
    let is_base = tag == dw::DW_TAG_inheritance || base_of_edg;
    let offset = member_offset(entries, index);
    let bits = entries.number(index, dw::DW_AT_bit_size).and_then(|count| {
        let count = u32::try_from(count).ok().filter(|count| (1..=64).contains(count))?;
        let first = match (entries.number(index, dw::DW_AT_data_bit_offset), entries.number(index, dw::DW_AT_bit_offset)) {
            // Counted from the start of the record.
            (Some(from_start), _) => from_start.checked_sub(offset.checked_mul(8)?)?,
            // Counted from the highest bit of the storage unit.
            (None, from_top) => {
                let storage = entries.number(index, dw::DW_AT_byte_size).unwrap_or(4).checked_mul(8)?;
                storage.checked_sub(from_top?)?.checked_sub(u64::from(count))?
            }
        };
        Some((u32::try_from(first).ok()?, count))
    });
    // A field whose bits lie far from the offset is read from the byte that holds its lowest bit.
    let (offset, bits) = match bits {
        Some((first, count)) => (offset.checked_add(u64::from(first / 8))?, Some((first % 8, count))),
        None => (offset, None),
    };
    Some(Member { name: if is_base { None } else { name }, ty: entries.type_of(index), offset, bits, is_base })
}

fn member_offset(entries: &Entries<'_, '_>, index: usize) -> u64 {
    let Some((value, _)) = entries.value(index, dw::DW_AT_data_member_location) else { return 0 };
    match value {
        // Before version 4, an expression that adds the offset.
        AttributeValue::Exprloc(expression) => {
            let mut bytes = expression.0;
            let code = gimli::Reader::read_u8(&mut bytes).ok().map(gimli::DwOp);
            match code {
                Some(dw::DW_OP_plus_uconst | dw::DW_OP_constu) => gimli::Reader::read_uleb128(&mut bytes).unwrap_or(0),
                _ => 0,
            }
        }
        other => other.udata_value().unwrap_or(0),
    }
}

/// The number of elements of one dimension.
fn extent(entries: &Entries<'_, '_>, index: usize) -> Option<u64> {
    let count = entries.number(index, dw::DW_AT_count);
    let lower = entries.number(index, dw::DW_AT_lower_bound).unwrap_or(0);
    let from_bounds = || entries.number(index, dw::DW_AT_upper_bound)?.checked_sub(lower)?.checked_add(1);
    // A bound of -1 is an array without a size.
    count.or_else(from_bounds).filter(|count| *count <= i64::MAX as u64 && *count != u64::from(u32::MAX))
}

fn enumerator(entries: &Entries<'_, '_>, index: usize) -> Option<Enumerator> {
    let (value, _) = entries.value(index, dw::DW_AT_const_value)?;
    let value = value.sdata_value().or_else(|| value.udata_value().map(u64::cast_signed))?;
    Some(Enumerator { name: entries.qualified_name(index)?, value })
}
