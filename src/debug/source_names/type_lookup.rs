//! The type that a name of the source means: several types may have one name, in namespaces, classes and functions.
//!
//! The debug data of nvcc has no namespaces around structures and typedefs; what is around them is known as far as mangled names of
//! functions say it ([`DebugInfo::qualified_types`]).

use super::types;
use crate::debug::eval_context::{EvalContext, Frame};
use crate::debug::file_line::FileLine;
use crate::debug::frame_scopes;
use crate::dwarf::{DebugInfo, ScopeKind, Type, TypeId};
use crate::program::{Pc, SourceLine, enclosing, shown_name, unqualified_name};

/// Words that may stand before the name of a type.
const KEYWORDS: &[&str] = &["struct", "union", "class", "enum", "const", "volatile", "typename"];
/// Most template arguments in each other that are compared.
const NESTING_MAX: u32 = 16;

/// The type called `name` at the stop, perhaps after `struct` or `const`; blanks do not count. None if no type is called so.
///
/// # Errors
/// Several types are called so, and nothing says which is meant.
pub fn type_called(context: &EvalContext<'_>, name: &str) -> Result<Option<TypeId>, String> {
    let Some(info) = context.debug_info() else { return Ok(None) };
    let frame = context.frame().ok();
    let typed = without_keywords(name);
    let all = candidates(info, typed);
    let (plain, is_outside) = typed.strip_prefix("::").map_or((typed, false), |plain| (plain, true));
    let meant = if is_outside || enclosing(plain).is_some() {
        qualified(info, &all, plain, is_outside)
    } else {
        unqualified(context, frame.as_ref(), &all, plain)
    };
    match distinct(info, &meant).as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        several => used(context, frame.as_ref(), several).map(Some).ok_or_else(|| ambiguous(context, info, typed, several)),
    }
}

fn without_keywords(name: &str) -> &str {
    let mut name = name.trim();
    while let Some((word, rest)) = name.split_once(char::is_whitespace).filter(|(word, _)| KEYWORDS.contains(word)) {
        (_, name) = (word, rest.trim_start());
    }
    name
}

/// All types that `name` may mean: those of this name, or else those whose names are the same without what is around them.
fn candidates(info: &DebugInfo, name: &str) -> Vec<TypeId> {
    let typed = canonical(info, name.strip_prefix("::").unwrap_or(name), NESTING_MAX);
    let last = unqualified_name(&typed);
    let called = |is_it: &dyn Fn(&str) -> bool| {
        let of_name = info.type_names.iter().filter(|(other, _)| is_it(other));
        of_name.flat_map(|(_, types)| types.iter().copied()).collect::<Vec<TypeId>>()
    };
    if let Some(exact) = info.type_names.get(name).filter(|_| enclosing(name).is_some()) {
        return exact.clone();
    }
    let head = last.split('<').next().unwrap_or(last);
    // Most names differ before they are compared in full.
    let may_be = |other: &str| other.contains(head);
    let exact = called(&|other| may_be(other) && canonical(info, other, NESTING_MAX) == typed);
    if !exact.is_empty() && enclosing(&typed).is_some() {
        return exact;
    }
    let bare = canonical_bare(last);
    called(&|other| may_be(other) && canonical_bare(unqualified_name(&canonical(info, other, NESTING_MAX))) == bare)
}

/// Of the types, those that a name with `::` means: those that are known to be there, or else those of which
/// it is not known where they are.
fn qualified(info: &DebugInfo, all: &[TypeId], name: &str, is_outside: bool) -> Vec<TypeId> {
    let name = canonical(info, name, NESTING_MAX);
    let is_it = |ty: &TypeId| {
        full_name(info, *ty).is_some_and(|full| {
            let full = canonical(info, &full, NESTING_MAX);
            full == name || !is_outside && full.strip_suffix(&*name).is_some_and(|around| around.ends_with("::"))
        })
    };
    let known: Vec<TypeId> = all.iter().copied().filter(is_it).collect();
    if known.is_empty() { all.iter().copied().filter(|ty| full_name(info, *ty).is_none()).collect() } else { known }
}

/// Of the types, those that a name without `::` means at the stop, as in C++: those that the function declares, of the innermost class or
/// namespace around it that has one, those outside of all or of which it is not known where they are, or else all.
fn unqualified(context: &EvalContext<'_>, frame: Option<&Frame<'_>>, all: &[TypeId], name: &str) -> Vec<TypeId> {
    let Some(info) = context.debug_info() else { return Vec::new() };
    let lines = frame.map(|frame| lines_of_function(context, info, frame)).unwrap_or_default();
    let own = all.iter().copied().filter(|ty| info.type_lines.get(ty).is_some_and(|at| is_among(&lines, *at)));
    let own: Vec<TypeId> = own.collect();
    if !own.is_empty() {
        return own;
    }
    let name = canonical(info, name, NESTING_MAX);
    let function = frame.and_then(|frame| super::function_name(context, frame));
    let mut around = function.map(|function| canonical(info, &shown_name(&function), NESTING_MAX)).unwrap_or_default();
    while let Some(namespace) = enclosing(&around).map(str::to_string) {
        let here = format!("{namespace}::{name}");
        let is_here = |ty: &&TypeId| full_name(info, **ty).is_some_and(|full| canonical(info, &full, NESTING_MAX) == here);
        let found: Vec<TypeId> = all.iter().filter(is_here).copied().collect();
        if !found.is_empty() {
            return found;
        }
        around = namespace;
    }
    let is_outside = |ty: &&TypeId| full_name(info, **ty).is_none_or(|full| enclosing(&full).is_none());
    let outside: Vec<TypeId> = all.iter().filter(is_outside).copied().collect();
    if outside.is_empty() { all.to_vec() } else { outside }
}

/// The name of a type with what is around it; none if that is not known.
fn full_name(info: &DebugInfo, ty: TypeId) -> Option<String> {
    let own = || Some(types::name(info, Some(ty))).filter(|name| enclosing(name).is_some());
    // Data of other compilers, which has namespaces, has them around all types.
    info.qualified_types.get(&ty).map(ToString::to_string).or_else(own)
}

/// The first and last lines of the function of the frame in each file.
fn lines_of_function(context: &EvalContext<'_>, info: &DebugInfo, frame: &Frame<'_>) -> Vec<(u32, u32, u32)> {
    let scopes = frame_scopes::scopes_of(context, info, frame);
    let Some(function) = scopes.into_iter().find(|id| !matches!(info.scopes[*id].kind, ScopeKind::Block)) else { return Vec::new() };
    let function = &info.scopes[function];
    let of_variables = function.variables.iter().filter_map(|variable| variable.line);
    let of_code = function.code.iter().flat_map(Clone::clone).filter_map(|pc| context.program().source_line(Pc(pc)));
    let Some(file) = of_variables.clone().next().or_else(|| of_code.clone().next()).map(|line| line.file) else { return Vec::new() };
    let all: Vec<u32> = of_variables.chain(of_code).filter(|line| line.file == file && line.line > 0).map(|line| line.line).collect();
    all.iter().min().zip(all.iter().max()).map(|(first, last)| (file, *first, *last)).into_iter().collect()
}

/// True if the line is within the lines of a function, but not that of its header, where types of one line of several functions stand.
fn is_among(lines: &[(u32, u32, u32)], at: SourceLine) -> bool {
    lines.iter().any(|(file, first, last)| at.file == *file && *first < at.line && at.line <= *last)
}

/// The types without those that are one with an earlier one.
fn distinct(info: &DebugInfo, all: &[TypeId]) -> Vec<TypeId> {
    let mut kept: Vec<TypeId> = Vec::new();
    for ty in all {
        let is_known = |other: &TypeId| types::is_same(info, *other, *ty) && full_name(info, *other) == full_name(info, *ty);
        if !kept.iter().any(is_known) {
            kept.push(*ty);
        }
    }
    kept
}

/// The only one of the types that variables of the function at the stop have.
fn used(context: &EvalContext<'_>, frame: Option<&Frame<'_>>, several: &[TypeId]) -> Option<TypeId> {
    let (info, frame) = (context.debug_info()?, frame?);
    let mut found = None;
    for id in frame_scopes::scopes_of(context, info, frame) {
        for variable in &info.scopes[id].variables {
            let Some(ty) = mentioned(info, variable.ty, several) else { continue };
            if found.is_some_and(|other| other != ty) {
                return None;
            }
            found = Some(ty);
        }
        if !matches!(info.scopes[id].kind, ScopeKind::Block) {
            break;
        }
    }
    found
}

/// The one of the types that a type is, or points to, or is an array of.
fn mentioned(info: &DebugInfo, ty: Option<TypeId>, several: &[TypeId]) -> Option<TypeId> {
    let mut ty = ty?;
    for _ in 0..NESTING_MAX {
        if let Some(same) = several.iter().find(|other| **other == ty || types::is_same(info, **other, ty)) {
            return Some(*same);
        }
        ty = match &info.types[ty] {
            Type::Pointer { to, .. } | Type::Qualified { to, .. } | Type::Typedef { to, .. } => (*to)?,
            Type::Array { of, .. } => (*of)?,
            Type::Base { .. } | Type::Record { .. } | Type::Enumeration { .. } | Type::Function { .. } | Type::Unspecified { .. } => {
                return None;
            }
        };
    }
    None
}

/// That several types are called `name`, with what is known of them.
fn ambiguous(context: &EvalContext<'_>, info: &DebugInfo, name: &str, several: &[TypeId]) -> String {
    const SHOWN: usize = 6;
    let described = |ty: &TypeId| {
        let own = full_name(info, *ty).unwrap_or_else(|| types::name(info, Some(*ty)));
        let target = match &info.types[*ty] {
            Type::Typedef { to, .. } => format!("{}, ", types::name(info, *to)),
            _ => String::new(),
        };
        let line = info.type_lines.get(ty).and_then(|line| FileLine::of(context.program(), *line));
        let place = line.map_or(String::new(), |line| format!(" at {}", line.short()));
        format!("{own} ({target}{} bytes{place})", info.bytes(Some(*ty)))
    };
    let shown: Vec<String> = several.iter().take(SHOWN).map(described).collect();
    let more = if several.len() > SHOWN { format!(" and {} more", several.len() - SHOWN) } else { String::new() };
    format!("{} types are called '{name}': {}{more}: which one is meant is not known here", several.len(), shown.join(", "))
}

/// A name with its template arguments as compilers write them: typedefs of numbers are followed, blanks and suffixes of numbers left out.
fn canonical(info: &DebugInfo, name: &str, depth: u32) -> String {
    let name = name.trim();
    let (Some(open), Some(close)) = (name.find('<'), name.rfind('>')) else { return words(name) };
    if depth == 0 || close < open {
        return words(name);
    }
    // `Vec<int>::Type` has a part after its arguments, which may have some as well.
    if let Some(around) = enclosing(name) {
        return format!("{}::{}", canonical(info, around, depth - 1), canonical(info, unqualified_name(name), depth - 1));
    }
    let arguments = split(&name[open + 1..close]).into_iter().map(|argument| canonical_argument(info, argument, depth - 1));
    format!("{}<{}>{}", words(&name[..open]), arguments.collect::<Vec<_>>().join(","), words(&name[close + 1..]))
}

/// The arguments of a template, which commas separate.
fn split(arguments: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, c) in arguments.char_indices() {
        depth += i32::from(matches!(c, '<' | '(')) - i32::from(matches!(c, '>' | ')'));
        if c == ',' && depth == 0 {
            parts.push(&arguments[start..at]);
            start = at + 1;
        }
    }
    parts.push(&arguments[start..]);
    parts
}

fn canonical_argument(info: &DebugInfo, argument: &str, depth: u32) -> String {
    let argument = argument.trim();
    // `(unsigned int)4`, as EDG writes a number.
    let value = argument.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(argument, |(_, value)| value.trim());
    if value.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return value.trim_end_matches(['u', 'U', 'l', 'L']).to_string();
    }
    match value {
        "true" => return "1".to_string(),
        "false" => return "0".to_string(),
        _ => {}
    }
    let head = value.trim_end_matches(|c: char| matches!(c, '*' | '&') || c.is_whitespace());
    let (signs, plain) = (words(&value[head.len()..]), head.strip_prefix("const ").unwrap_or(head));
    let is_const = plain.len() < head.len();
    let target = info.type_names.get(plain).and_then(|types| match types.as_slice() {
        [only] => info.stripped(Some(*only)),
        _ => None,
    });
    let followed = target.map(|ty| types::name(info, Some(ty))).filter(|name| name != plain);
    let plain = match followed {
        Some(name) => {
            if depth > 0 {
                canonical(info, &name, depth - 1)
            } else {
                words(&name)
            }
        }
        None => canonical(info, plain, depth),
    };
    format!("{}{plain}{signs}", if is_const { "const " } else { "" })
}

/// A name with its words as compilers write them: `unsigned int` for `unsigned`, without other blanks.
fn words(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    let is_number = |word: &&str| matches!(*word, "unsigned" | "signed" | "long" | "short" | "int" | "char");
    if words.len() < 2 && !words.iter().any(&is_number) || !words.iter().all(is_number) {
        return words.concat();
    }
    let has = |word: &str| words.contains(&word);
    let longs = words.iter().filter(|word| **word == "long").count();
    let sign = if has("unsigned") { "unsigned " } else { "" };
    let size = match (longs, has("short"), has("char")) {
        (0, false, true) if has("signed") => "signed char",
        (0, false, true) => "char",
        (0, true, _) => "short",
        (0, false, false) => "int",
        (1, ..) => "long",
        _ => "long long",
    };
    format!("{sign}{size}")
}

/// A name without what is around its template arguments, which EDG leaves out.
fn canonical_bare(name: &str) -> String {
    let Some((head, rest)) = name.split_once('<') else { return unqualified_name(name).to_string() };
    let Some(close) = rest.rfind('>') else { return name.to_string() };
    let arguments = split(&rest[..close]).into_iter().map(canonical_bare);
    format!("{}<{}>{}", unqualified_name(head), arguments.collect::<Vec<_>>().join(","), &rest[close + 1..])
}

#[cfg(test)]
mod tests {
    use super::{canonical, canonical_bare, enclosing, unqualified_name};
    use crate::dwarf::DebugInfo;

    #[test]
    fn names_of_types_are_compared_without_blanks_and_suffixes() {
        let info = DebugInfo::default();
        let canonical = |name| canonical(&info, name, 8);
        assert_eq!(canonical("Stack<int2, (int)4>"), canonical("Stack< int2,4u >"));
        assert_eq!(canonical("app::Box<long unsigned>"), "app::Box<unsigned long>");
        assert_eq!(canonical("vec4<float>::Type"), "vec4<float>::Type");
        assert_eq!(canonical("Pair<Box<unsigned>, const char *>"), "Pair<Box<unsigned int>,const char*>");
        assert_eq!(canonical_bare("Box<a::P,b::Box<c::Q>>"), "Box<P,Box<Q>>");
        assert_eq!((enclosing("a::Box<b::P>"), enclosing("Box<b::P>"), unqualified_name("a::Box<b::P>")), (Some("a"), None, "Box<b::P>"));
    }
}
