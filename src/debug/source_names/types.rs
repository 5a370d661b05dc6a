//! Types of the source: as C++ writes them, and the numbers that they are.

use crate::dwarf::{DebugInfo, Encoding, Enumerator, Member, PointerKind, RecordKind, Scope, ScopeKind, Type, TypeId};
use crate::isa::ScalarType;
use crate::program::Pc;

/// Most types in each other that are written.
const NESTING_MAX: u32 = 24;
/// Most types in each other that are compared before their names decide.
const SAME_NESTING_MAX: u32 = 4;
/// Blanks before a member.
const INDENT: &str = "    ";

/// The name of a type: `const float *`, `float [4][8]`, `app::Point`.
pub fn name(info: &DebugInfo, ty: Option<TypeId>) -> String {
    declaration(info, ty, "")
}

/// The declaration of `what` with a type: `float tile[4][8]`.
pub fn declaration(info: &DebugInfo, ty: Option<TypeId>, what: &str) -> String {
    declared(info, ty, what.to_string(), NESTING_MAX)
}

/// The name of the type of a pointer to an object of type `to`.
pub fn pointer_name(info: &DebugInfo, to: Option<TypeId>) -> String {
    let is_grouped = to.is_some_and(|to| matches!(info.types[to], Type::Array { .. } | Type::Function { .. }));
    declaration(info, to, if is_grouped { "(*)" } else { "*" })
}

fn declared(info: &DebugInfo, ty: Option<TypeId>, what: String, depth: u32) -> String {
    declared_with(info, ty, what, depth, None)
}

/// The same, with another text in the place of the name of one type.
fn declared_with(info: &DebugInfo, ty: Option<TypeId>, what: String, depth: u32, named: Option<(TypeId, &str)>) -> String {
    let declared = |info: &DebugInfo, ty: Option<TypeId>, what: String, depth: u32| declared_with(info, ty, what, depth, named);
    let with = |name: &str| if what.is_empty() { name.to_string() } else { format!("{name} {what}") };
    let Some(id) = ty else { return with("void") };
    if depth == 0 {
        return with("...");
    }
    if let Some((_, text)) = named.filter(|(base, _)| *base == id) {
        return with(text);
    }
    let depth = depth - 1;
    match &info.types[id] {
        Type::Base { name, .. } | Type::Typedef { name, .. } | Type::Unspecified { name, .. } => with(name),
        Type::Record { name: Some(name), .. } | Type::Enumeration { name: Some(name), .. } => with(name),
        Type::Record { kind, name: None, .. } => with(&format!("{} {{...}}", keyword(*kind))),
        Type::Enumeration { name: None, .. } => with("enum {...}"),
        Type::Pointer { kind, to, .. } => {
            let sign = match kind {
                PointerKind::Pointer => "*",
                PointerKind::Reference => "&",
                PointerKind::RvalueReference => "&&",
            };
            let binds_weaker = to.is_some_and(|to| matches!(info.types[to], Type::Array { .. } | Type::Function { .. }));
            declared(info, *to, if binds_weaker { format!("({sign}{what})") } else { format!("{sign}{what}") }, depth)
        }
        Type::Array { of, extent, .. } => {
            let extent = extent.map_or("[]".to_string(), |extent| format!("[{extent}]"));
            declared(info, *of, format!("{what}{extent}"), depth)
        }
        Type::Qualified { word: "", to } => declared(info, *to, what, depth),
        Type::Qualified { word, to } => match to.map(|to| &info.types[to]) {
            Some(Type::Pointer { .. }) => {
                let after = if what.is_empty() { format!(" {word}") } else { format!(" {word} {what}") };
                declared(info, *to, after, depth)
            }
            _ => format!("{word} {}", declared(info, *to, what, depth)),
        },
        Type::Function { result, params } => {
            let params: Vec<String> = params.iter().map(|param| declared(info, *param, String::new(), depth)).collect();
            let params = if params.is_empty() { "void".to_string() } else { params.join(", ") };
            declared(info, *result, format!("{what}({params})"), depth)
        }
    }
}

/// The type of the function of the module that begins at an instruction: `int (int)`.
pub fn of_function(info: &DebugInfo, start: Pc) -> Option<String> {
    let is_it = |scope: &&Scope| matches!(scope.kind, ScopeKind::Function { .. }) && scope.contains(start);
    let scope = info.scopes.iter().find(is_it)?;
    let params = scope.variables.iter().filter(|variable| variable.is_parameter).map(|variable| name(info, variable.ty));
    let params: Vec<String> = params.collect();
    let params = if params.is_empty() { "void".to_string() } else { params.join(", ") };
    Some(format!("{} ({params})", name(info, scope.result)))
}

/// The bytes of an object of type `of` before its base `base`, which may be one of a base; none if that is no base of it.
pub fn base_offset(info: &DebugInfo, of: Option<TypeId>, base: Option<TypeId>) -> Option<u64> {
    base_within(info, of, info.stripped(base)?, NESTING_MAX)
}

fn base_within(info: &DebugInfo, of: Option<TypeId>, base: TypeId, depth: u32) -> Option<u64> {
    let depth = depth.checked_sub(1)?;
    let Type::Record { members, .. } = &info.types[info.stripped(of)?] else { return None };
    members.iter().filter(|member| member.is_base).find_map(|member| {
        let is_it = is_same(info, info.stripped(member.ty)?, base);
        let inner = if is_it { Some(0) } else { base_within(info, member.ty, base, depth) };
        inner?.checked_add(member.offset)
    })
}

/// True if two types are one: data may have a type more than once.
pub(super) fn is_same(info: &DebugInfo, a: TypeId, b: TypeId) -> bool {
    is_same_within(info, Some(a), Some(b), SAME_NESTING_MAX)
}

fn is_same_within(info: &DebugInfo, a: Option<TypeId>, b: Option<TypeId>, depth: u32) -> bool {
    if a == b {
        return true;
    }
    let (Some(a), Some(b)) = (a, b) else { return false };
    if depth == 0 {
        return name(info, Some(a)) == name(info, Some(b)) && info.bytes(Some(a)) == info.bytes(Some(b));
    }
    let same = |a: Option<TypeId>, b: Option<TypeId>| is_same_within(info, a, b, depth - 1);
    match (&info.types[a], &info.types[b]) {
        (Type::Record { name: Some(of_a), bytes, members, .. }, Type::Record { name: Some(of_b), bytes: other, members: others, .. }) => {
            let is_same_member =
                |(a, b): (&Member, &Member)| (&a.name, a.offset, a.bits) == (&b.name, b.offset, b.bits) && same(a.ty, b.ty);
            (of_a, bytes, members.len()) == (of_b, other, others.len()) && members.iter().zip(others).all(is_same_member)
        }
        (Type::Typedef { name: of_a, to }, Type::Typedef { name: of_b, to: other }) => of_a == of_b && same(*to, *other),
        (Type::Pointer { kind, to, .. }, Type::Pointer { kind: other_kind, to: other, .. }) => kind == other_kind && same(*to, *other),
        (Type::Array { of, extent, .. }, Type::Array { of: other, extent: others, .. }) => extent == others && same(*of, *other),
        (Type::Qualified { word, to }, Type::Qualified { word: other_word, to: other }) => word == other_word && same(*to, *other),
        (of_a, of_b) => of_a == of_b,
    }
}

fn keyword(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Struct => "struct",
        RecordKind::Class => "class",
        RecordKind::Union => "union",
    }
}

/// A type in full, as `ptype` shows it: typedefs are followed, and a record has its members.
pub fn layout(info: &DebugInfo, ty: Option<TypeId>) -> String {
    let Some(id) = info.stripped(ty) else { return name(info, ty) };
    match &info.types[id] {
        Type::Record { kind, name, members, .. } => record(info, (*kind, name.as_deref()), members, NESTING_MAX),
        Type::Enumeration { name, enumerators, .. } => {
            let name = name.as_deref().map_or(String::new(), |name| format!("{name} "));
            format!("enum {name}{{{}}}", enumerator_list(enumerators))
        }
        Type::Pointer { .. } | Type::Array { .. } => match base_record(info, id) {
            // The declaration with the members of the structure in the place of its name.
            Some((base, members)) => declared_with(info, Some(id), String::new(), NESTING_MAX, Some((base, &members))),
            None => self::name(info, Some(id)),
        },
        Type::Base { .. } | Type::Function { .. } | Type::Unspecified { .. } => self::name(info, Some(id)),
        Type::Typedef { .. } | Type::Qualified { .. } => self::name(info, ty),
    }
}

/// The structure that a type points to or is an array of, and its layout.
fn base_record(info: &DebugInfo, ty: TypeId) -> Option<(TypeId, String)> {
    let mut ty = ty;
    for _ in 0..NESTING_MAX {
        ty = match &info.types[ty] {
            Type::Pointer { to, .. } | Type::Qualified { to, .. } => (*to)?,
            Type::Array { of, .. } => (*of)?,
            Type::Typedef { .. } => {
                let target = info.stripped(Some(ty)).filter(|target| matches!(info.types[*target], Type::Record { .. }))?;
                return Some((ty, layout(info, Some(target))));
            }
            Type::Record { members, .. } if !members.is_empty() => return Some((ty, layout(info, Some(ty)))),
            Type::Record { .. } | Type::Base { .. } | Type::Enumeration { .. } | Type::Function { .. } | Type::Unspecified { .. } => {
                return None;
            }
        };
    }
    None
}

/// `RED, GREEN = 5, BLUE`: a value stands where it is not the one after that before.
fn enumerator_list(enumerators: &[Enumerator]) -> String {
    let mut next = 0;
    let text = |Enumerator { name, value }: &Enumerator| {
        let text = if *value == next { name.to_string() } else { format!("{name} = {value}") };
        next = value.wrapping_add(1);
        text
    };
    enumerators.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn record(info: &DebugInfo, (kind, name): (RecordKind, Option<&str>), members: &[Member], depth: u32) -> String {
    let (bases, members): (Vec<&Member>, Vec<&Member>) = members.iter().partition(|member| member.is_base);
    let bases: Vec<String> = bases.iter().map(|base| format!("public {}", self::name(info, base.ty))).collect();
    let bases = if bases.is_empty() { String::new() } else { format!(": {} ", bases.join(", ")) };
    let mut text = format!("{} {}{bases}{{\n", keyword(kind), name.map_or(String::new(), |name| format!("{name} ")));
    for member in members {
        // The members of a record without a name are members of this one.
        if let (None, None, Some(Type::Record { kind, members, .. })) =
            (&member.name, member.bits, info.stripped(member.ty).map(|ty| &info.types[ty]))
            && depth > 0
        {
            let inner = record(info, (*kind, None), members, depth - 1);
            text.push_str(&format!("{INDENT}{};\n", inner.replace('\n', &format!("\n{INDENT}"))));
            continue;
        }
        let bits = member.bits.map_or(String::new(), |(_, count)| format!(" : {count}"));
        text.push_str(&format!("{INDENT}{}{bits};\n", declaration(info, member.ty, member.name.as_deref().unwrap_or(""))));
    }
    text + "}"
}

/// Records that are numbers, by their names.
const NUMBERS: &[(&str, ScalarType)] = &[
    ("__half", ScalarType::F16),
    ("half", ScalarType::F16),
    ("__half2", ScalarType::F16x2),
    ("half2", ScalarType::F16x2),
    ("__nv_bfloat16", ScalarType::BF16),
    ("__nv_bfloat162", ScalarType::BF16x2),
    ("__nv_fp8_e4m3", ScalarType::E4M3),
    ("__nv_fp8_e5m2", ScalarType::E5M2),
];

/// The number that a type is, if it is one: of a base type, an enumeration, a pointer, or a record such as `__half`.
pub fn scalar(info: &DebugInfo, ty: Option<TypeId>) -> Option<ScalarType> {
    let id = info.stripped(ty)?;
    match &info.types[id] {
        Type::Base { encoding: Encoding::Boolean, .. } => Some(ScalarType::Pred),
        Type::Base { encoding: Encoding::Float, bytes, name } => match bytes {
            2 if name.contains("bf") => Some(ScalarType::BF16),
            2 => Some(ScalarType::F16),
            4 => Some(ScalarType::F32),
            8 => Some(ScalarType::F64),
            _ => None,
        },
        Type::Base { encoding, bytes, .. } => integer(matches!(encoding, Encoding::Signed | Encoding::SignedCharacter), *bytes),
        Type::Enumeration { bytes, enumerators, .. } => integer(enumerators.iter().any(|one| one.value < 0), *bytes),
        Type::Record { name: Some(name), bytes, .. } => {
            NUMBERS.iter().find(|row| row.0 == &**name && u64::from(row.1.bytes()) == *bytes).map(|row| row.1)
        }
        Type::Pointer { bytes, .. } => integer(false, *bytes),
        Type::Record { name: None, .. }
        | Type::Array { .. }
        | Type::Typedef { .. }
        | Type::Qualified { .. }
        | Type::Function { .. }
        | Type::Unspecified { .. } => None,
    }
}

fn integer(signed: bool, bytes: u64) -> Option<ScalarType> {
    Some(match (signed, bytes) {
        (true, 1) => ScalarType::S8,
        (false, 1) => ScalarType::U8,
        (true, 2) => ScalarType::S16,
        (false, 2) => ScalarType::U16,
        (true, 4) => ScalarType::S32,
        (false, 4) => ScalarType::U32,
        (true, 8) => ScalarType::S64,
        (false, 8) => ScalarType::U64,
        (_, 16) => ScalarType::B128,
        _ => return None,
    })
}

/// True for a signed integer.
pub fn is_signed(info: &DebugInfo, ty: Option<TypeId>) -> bool {
    matches!(scalar(info, ty), Some(ScalarType::S8 | ScalarType::S16 | ScalarType::S32 | ScalarType::S64))
}

/// True for a pointer or a reference.
pub fn is_pointer(info: &DebugInfo, ty: Option<TypeId>) -> bool {
    info.stripped(ty).is_some_and(|ty| matches!(info.types[ty], Type::Pointer { .. }))
}

/// The type of pointers to `to`, if the data has it.
pub fn pointer_to(info: &DebugInfo, to: TypeId) -> Option<TypeId> {
    let is_it = |ty: &Type| matches!(ty, Type::Pointer { kind: PointerKind::Pointer, to: Some(other), .. } if *other == to);
    info.types.entries().find(|(_, ty)| is_it(ty)).map(|(id, _)| id)
}

/// True for a character.
pub fn is_character(info: &DebugInfo, ty: Option<TypeId>) -> bool {
    let stripped = info.stripped(ty).map(|id| &info.types[id]);
    matches!(stripped, Some(Type::Base { encoding: Encoding::SignedCharacter | Encoding::UnsignedCharacter, bytes: 1, .. }))
}

/// The type of an element of an array, and the number of elements if it is known; none if the type is no array.
pub fn array(info: &DebugInfo, ty: Option<TypeId>) -> Option<(Option<TypeId>, Option<u64>)> {
    match info.types[info.stripped(ty)?] {
        Type::Array { of, extent, .. } => Some((of, extent)),
        Type::Base { .. }
        | Type::Pointer { .. }
        | Type::Record { .. }
        | Type::Enumeration { .. }
        | Type::Typedef { .. }
        | Type::Qualified { .. }
        | Type::Function { .. }
        | Type::Unspecified { .. } => None,
    }
}

/// The member called `name` and its offset, also one of a base or of an anonymous record in the record.
pub fn member<'i>(info: &'i DebugInfo, ty: Option<TypeId>, name: &str) -> Option<(&'i Member, u64)> {
    member_within(info, ty, name, NESTING_MAX)
}

fn member_within<'i>(info: &'i DebugInfo, ty: Option<TypeId>, name: &str, depth: u32) -> Option<(&'i Member, u64)> {
    let depth = depth.checked_sub(1)?;
    let Type::Record { members, .. } = &info.types[info.stripped(ty)?] else { return None };
    if let Some(own) = members.iter().find(|member| member.name.as_deref() == Some(name)) {
        return Some((own, own.offset));
    }
    // `Base::member` is the member of that base, or of this record.
    if let Some((class, own)) = name.rsplit_once("::") {
        let is_class = |ty| {
            let full = self::name(info, ty);
            full == class || full.strip_suffix(class).is_some_and(|outer| outer.ends_with("::"))
        };
        if is_class(ty) {
            return member_within(info, ty, own, depth);
        }
    }
    let nameless = members.iter().filter(|member| member.is_base || member.name.is_none());
    nameless.into_iter().find_map(|outer| {
        let (member, offset) = member_within(info, outer.ty, name, depth)?;
        Some((member, offset.checked_add(outer.offset)?))
    })
}

/// The names of the members of a record, those of its bases included.
pub fn member_names(info: &DebugInfo, ty: Option<TypeId>) -> Vec<&str> {
    let Some(Type::Record { members, .. }) = info.stripped(ty).map(|id| &info.types[id]) else { return Vec::new() };
    members.iter().filter_map(|member| member.name.as_deref()).collect()
}
