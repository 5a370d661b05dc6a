//! Demangling: names of functions and variables as in the source (C++ ABI for Itanium, "5.1.2 General Structure").

use super::spelling::normalized;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use cpp_demangle::{BorrowedSymbol, DemangleOptions, DemangleWrite};

use super::Function;
use super::name_parts::last_component;

/// The source name of a function's local variable: `full` for `_ZZ13ring_mbarrierE4full`. Other names are returned unchanged.
pub fn short_name(name: &str) -> &str {
    let last = || {
        let inner = name.strip_prefix("_ZZ")?;
        inner.match_indices('E').find_map(|(at, _)| {
            let rest = &inner[at + 1..];
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (length, identifier) = rest.split_at(digits);
            // After the name there may be a number that distinguishes variables of one name.
            let length = length.parse().ok()?;
            let (identifier, tail) = identifier.split_at_checked(length)?;
            (length > 0 && (tail.is_empty() || tail.starts_with('_'))).then_some(identifier)
        })
    };
    last().unwrap_or(name)
}

/// The last identifier of a mangled C++ name, and the rest: `gemm` and `IfEEvPT_` of `_ZN3lin4gemmIfEEvPT_`. `None` if the name is not a
/// valid mangled name.
fn last_identifier(name: &str) -> Option<(&str, &str)> {
    let encoding = name.strip_prefix("_Z")?;
    let nested = encoding.strip_prefix('N');
    let (mut rest, mut last) = (nested.unwrap_or(encoding), None);
    loop {
        // `L` before an identifier: internal linkage.
        let counted = rest.strip_prefix('L').unwrap_or(rest);
        let digits = counted.len() - counted.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            return last.map(|last| (last, rest));
        }
        let (length, after) = counted.split_at(digits);
        let (identifier, tail) = after.split_at_checked(length.parse().ok()?)?;
        (last, rest) = (Some(identifier), tail);
        if nested.is_none() {
            return Some((identifier, tail));
        }
    }
}

/// The last identifier of a mangled function (`_Z5saxpyifPfS_`, `_ZN3app5saxpyEPf`, `_ZL5saxpyv`), without namespaces and types.
pub fn plain_name(mangled: &str) -> Option<&str> {
    last_identifier(mangled).map(|(name, _)| name)
}

/// Most bytes of a demangled name: substitutions let a short mangled name expand exponentially.
const DEMANGLED_MAX: usize = 4096;
/// Most names in the cache of demangled names.
const CACHED_MAX: usize = 4096;

/// The demangled forms of a name.
#[derive(Debug)]
struct Demangled {
    /// `void lin::scale<float>(float*, int)`
    full: String,
    /// The same without result: `lin::scale<float>(float*, int)`.
    signature: String,
    /// And without parameters: `lin::scale<float>`.
    qualified: String,
}

thread_local! {
    /// The cache of demangled names: the screen is redrawn often.
    static CACHE: RefCell<BTreeMap<Box<str>, Option<Rc<Demangled>>>> = const { RefCell::new(BTreeMap::new()) };
}

/// The demangled forms of `mangled`; `None` if it is not mangled, its demangled name is too long, or demangling fails.
fn lookup(mangled: &str) -> Option<Rc<Demangled>> {
    if !mangled.starts_with("_Z") {
        return None;
    }
    CACHE.with_borrow_mut(|cache| {
        if let Some(cached) = cache.get(mangled) {
            return cached.clone();
        }
        if cache.len() >= CACHED_MAX {
            cache.clear();
        }
        let names = demangle(mangled).map(Rc::new);
        cache.insert(mangled.into(), names.clone());
        names
    })
}

fn demangle(mangled: &str) -> Option<Demangled> {
    let symbol = BorrowedSymbol::new(mangled.as_bytes()).ok()?;
    let text = |options: &DemangleOptions| {
        let mut text = BoundedText(String::new());
        symbol.structured_demangle(&mut text, options).ok()?;
        without_empty_packs(text.0)
    };
    let full = text(&DemangleOptions::new())?;
    let signature = text(&DemangleOptions::new().no_return_type())?;
    let qualified = text(&DemangleOptions::new().no_params().no_return_type())?;
    let [full, signature, qualified] = [full, signature, qualified].map(|text| without_inner_names(&text));
    Some(Demangled { full, signature, qualified })
}

/// The text without what compilers add to names: the namespace that nvcc has for what is static, `_INTERNAL_6f3ad1b2_4_a_cu_a1b2::`, and
/// the tags of Numba, `[abi:cw51cXTLSUwv1sCUt9Ww]`.
fn without_inner_names(text: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("_INTERNAL_").into_iter().chain(rest.find("[abi:")).min() {
        let (before, inner) = rest.split_at(at);
        kept.push_str(before);
        let end = if inner.starts_with('[') {
            inner.find(']').map(|end| end + 1)
        } else {
            let end = inner.find(|c| !is_name(c)).filter(|end| inner[*end..].starts_with("::"));
            end.filter(|_| !kept.ends_with(is_name)).map(|end| end + 2)
        };
        // Of what is none of them the first byte is kept, and the rest is looked at further.
        kept.push_str(if end.is_none() { &inner[..1] } else { "" });
        rest = &inner[end.unwrap_or(1)..];
        if kept.is_empty() && rest.is_empty() {
            return text.to_string();
        }
    }
    kept + rest
}

/// The text without the commas that empty parameter packs leave: `pack<>(int*)` for `pack<>(int*, )`. `None` if commas that separate
/// nothing remain.
fn without_empty_packs(text: String) -> Option<String> {
    let text = text.replace(", )", ")").replace(", >", ">");
    let is_wrong = ["(, ", "<, ", ", ,", ", )", ", >"].iter().any(|comma| text.contains(comma)) || text.ends_with(", ");
    (!is_wrong).then_some(text)
}

/// A text of at most [`DEMANGLED_MAX`] bytes: writing more is an error.
struct BoundedText(String);

impl DemangleWrite for BoundedText {
    fn write_string(&mut self, part: &str) -> std::fmt::Result {
        if self.0.len() + part.len() > DEMANGLED_MAX {
            return Err(std::fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

/// `void scale<float>(float*, float, int)` for `_Z5scaleIfEvPT_S0_i`; `None` if the name is not mangled, or too long demangled.
pub fn demangled(mangled: &str) -> Option<String> {
    let of_linked = || linked_parts(mangled).and_then(|(name, number)| Some(format!("{}${number}", lookup(name)?.full)));
    lookup(mangled).map(|names| names.full.clone()).or_else(of_linked)
}

/// The same without parameters and result: `scale<float>`, `filters::smooth`.
pub fn qualified_name(mangled: &str) -> Option<String> {
    lookup(mangled).map(|names| names.qualified.clone())
}

/// The types of the parameters of a function, as its mangled name has them: `float const*` and `int` of `_Z1kPKfi`.
pub fn parameter_types(mangled: &str) -> Option<Vec<String>> {
    let names = lookup(mangled)?;
    let list = names.signature.strip_prefix(&names.qualified)?.strip_prefix('(')?;
    let (mut types, mut depth) = (vec![String::new()], 0_u32);
    for c in list.chars() {
        match c {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' if depth == 0 => break,
            ')' | '>' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                types.push(String::new());
                continue;
            }
            _ => {}
        }
        types.last_mut()?.push(c);
    }
    let types: Vec<String> = types.into_iter().map(|ty| ty.trim().to_string()).collect();
    Some(if matches!(types.as_slice(), [only] if only.is_empty() || only == "void") { Vec::new() } else { types })
}

/// Whether the integer parameter `index` of a function is signed, as its mangled name says: PTX declares `int` as `.u32`. None if the name
/// does not say it.
pub fn is_signed_parameter(function: &Function, index: usize) -> Option<bool> {
    let types = parameter_types(&function.name).filter(|types| types.len() == function.params.len())?;
    match types.get(index)?.as_str() {
        "signed char" | "char" | "short" | "int" | "long" | "long long" => Some(true),
        "bool" | "unsigned char" | "unsigned short" | "unsigned int" | "unsigned long" | "unsigned long long" => Some(false),
        _ => None,
    }
}

/// The displayed form of a name of the module: `lin::scale<float>` for `_ZN3lin5scaleIfEEvPT_i`, `full` for a local variable. A suffix
/// such as `#2` is preserved, and a name that is not mangled is returned unchanged.
pub fn shown_name(name: &str) -> Cow<'_, str> {
    if !name.starts_with("_Z") {
        return Cow::Borrowed(name);
    }
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.'))).unwrap_or(name.len());
    let (mangled, rest) = name.split_at(end);
    let short = short_name(mangled);
    if short.len() < mangled.len() {
        return Cow::Owned(format!("{short}{rest}"));
    }
    match (lookup(mangled), linked_parts(mangled)) {
        (Some(names), _) => Cow::Owned(format!("{}{rest}", names.qualified)),
        (None, Some((name, number))) => Cow::Owned(format!("{}${number}{rest}", shown_name(name))),
        (None, None) => Cow::Borrowed(name),
    }
}

/// `_Z6helperi` and `2` of `_Z6helperi$2`: a name with internal linkage, and the number of its module among the linked ones.
fn linked_parts(mangled: &str) -> Option<(&str, &str)> {
    let (name, number) = mangled.rsplit_once('$')?;
    (!number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())).then_some((name, number))
}

/// The displayed form with parameter types, for lists, where names must differ: `lin::scale<float>(float*, int)::tile` for a local
/// variable.
pub fn listed_name(name: &str) -> Cow<'_, str> {
    lookup(name).map_or(Cow::Borrowed(name), |names| Cow::Owned(names.signature.clone()))
}

/// True if `name` denotes the function `mangled`, which may also be a name of the source: it is that name, or its source name with or
/// without namespaces, template arguments, parameters and result. White space does not matter.
pub fn is_called(mangled: &str, name: &str) -> bool {
    if mangled == name {
        return true;
    }
    // A cheap test first, so that most names of a large library are not demangled.
    if !identifier_of(name).is_some_and(|identifier| mangled.contains(identifier)) {
        return false;
    }
    let name = normalized(name);
    plain_name(mangled) == Some(&*name) || lookup(mangled).is_some_and(|names| names.matches(&name)) || is_called_in_source(mangled, &name)
}

/// True if `name` is all of the source name of the function `mangled`, with its parameters, as it is listed.
pub fn is_signature(mangled: &str, name: &str) -> bool {
    let name = normalized(name);
    let is_it = |full: &str| full.ends_with(')') && normalized(full) == name;
    is_it(&listed_name(mangled)) || demangled(mangled).is_some_and(|full| is_it(&full))
}

/// The same of a name that is not mangled, as the source has it: `lin::scale<float>` is called `scale`. `name` has no white space.
fn is_called_in_source(qualified: &str, name: &str) -> bool {
    if qualified.starts_with("_Z") {
        return false;
    }
    let qualified = normalized(qualified);
    let ends_so = |own: &str| own.ends_with(name) && is_component_start(own, own.len() - name.len());
    [without_arguments(&qualified), &qualified].into_iter().any(ends_so)
}

impl super::Program {
    /// True if the name of an operator is in the text: `V::operator+=`, `operator int`.
    pub fn names_operator(text: &str) -> bool {
        text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).any(|word| word == "operator")
    }
}

/// What `name` denotes in the function `around`, of things with names of the module or of the source: as in C++, one of the innermost
/// namespace or class around the function that has it, or outside of all; `::name` is only outside. What is nowhere there is the only one
/// that is called so ([`is_called`]).
pub fn visible<'n, T: Copy>(all: impl Iterator<Item = (T, &'n str)> + Clone, around: Option<&str>, name: &str) -> Option<T> {
    let (name, is_outside) = name.strip_prefix("::").map_or((name, false), |name| (name, true));
    let name = normalized(&name.replace(ANONYMOUS, ""));
    let identifier = last_component(&name);
    let may_be = all.filter(|(_, other)| other.contains(identifier));
    let names: Vec<(T, &str, String)> =
        may_be.map(|(it, other)| (it, other, normalized(&shown_name(other).replace(ANONYMOUS, "")))).collect();
    let around = around.filter(|_| !is_outside).map(|around| shown_name(around).replace(ANONYMOUS, "")).unwrap_or_default();
    let around = normalized(&around);
    let outer = around.match_indices("::").collect::<Vec<_>>().into_iter().rev().map(|(at, colons)| &around[..at + colons.len()]);
    for namespace in outer.filter(|outer| is_component_start(&around, outer.len())).chain([""]) {
        if let Some((it, ..)) = names.iter().find(|(.., own)| own.strip_prefix(namespace) == Some(&*name)) {
            return Some(*it);
        }
    }
    let mut called = names.iter().filter(|(_, other, _)| !is_outside && is_called(other, &name));
    called.next().filter(|_| called.next().is_none()).map(|(it, ..)| *it)
}

/// The namespace without a name, before a name in it.
pub const ANONYMOUS: &str = "(anonymous namespace)::";

/// The identifier that every mangled form of the function `name` contains: `scale` for `void lin::scale<float>(float*, int)`; empty if
/// there is none.
fn identifier_of(name: &str) -> Option<&str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let head = name.split(['<', '(']).next()?.trim_end();
    let identifier = head.rsplit(|c: char| !is_part(c)).next()?;
    if super::Program::names_operator(head) || head.is_empty() && name.contains("::") {
        return Some("");
    }
    Some(identifier).filter(|identifier| !identifier.is_empty())
}

impl Demangled {
    /// True if `name`, which has no white space, is one of the function's names.
    fn matches(&self, name: &str) -> bool {
        let [full, signature, qualified] = [&self.full, &self.signature, &self.qualified].map(|text| normalized(text));
        let (bare, params) = (without_arguments(&qualified), signature.strip_prefix(&*qualified).unwrap_or(""));
        let all = [bare.to_string(), format!("{bare}{params}"), signature, qualified];
        let ends_so = |other: &String| other.ends_with(name) && is_component_start(other, other.len() - name.len());
        // `Vec::dot` of `Vec<float, 3>::dot`, and the first arguments of several.
        let plain = || !super::Program::names_operator(&self.qualified) && ends_so(&without_all_arguments(&all[3]));
        let begins_so = || {
            let first = format!("{},", name.strip_suffix('>')?);
            all[3].find(&first).filter(|at| first.contains('<') && is_component_start(&all[3], *at))
        };
        name == full || all.iter().any(ends_so) || plain() || begins_so().is_some()
    }
}

/// True if a component of the qualified name starts at `at`: at its beginning, or after a `::` outside of `<>` and `()`.
fn is_component_start(name: &str, at: usize) -> bool {
    let before = &name[..at];
    let is_balanced = |open: char, close: char| before.matches(open).count() == before.matches(close).count();
    at < name.len() && (at == 0 || before.ends_with("::")) && is_balanced('<', '>') && is_balanced('(', ')')
}

/// `lin::scale` for `lin::scale<float>`.
fn without_arguments(qualified: &str) -> &str {
    let mut depth = 0_i64;
    let opening = qualified.char_indices().rev().find(|(_, c)| {
        depth += i64::from(*c == '>') - i64::from(*c == '<');
        depth == 0
    });
    match opening {
        Some((at, '<')) if at > 0 && qualified.ends_with('>') => &qualified[..at],
        Some(_) | None => qualified,
    }
}

/// `lin::Vec::dot` for `lin::Vec<float>::dot<int>`.
fn without_all_arguments(qualified: &str) -> String {
    let mut depth = 0_i64;
    let outside = |c: &char| {
        depth += i64::from(*c == '<');
        let is_outside = depth == 0;
        depth -= i64::from(*c == '>');
        is_outside
    };
    qualified.chars().filter(outside).collect()
}

/// The CUDA C++ name of a variable: `coef` for `_ZN3abcL4coefE`, `full` for `_ZZ13ring_mbarrierE4full`. Other names are returned
/// unchanged.
pub fn source_name(name: &str) -> &str {
    match last_identifier(name) {
        Some((last, "" | "E")) => last,
        Some(_) | None => short_name(name),
    }
}

/// True for a label that a compiler writes for debug data (`$L__tmp12`, `$L__func_begin0`): no source names it, and branches name another.
pub fn is_debug_label(label: &str) -> bool {
    let name = label.strip_prefix("$L__").unwrap_or(label);
    let numbered = |prefix: &str| {
        let number = name.strip_prefix(prefix).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    ["tmp", "func_begin", "func_end", "Ltmp", "Lfunc_begin", "Lfunc_end"].into_iter().any(numbered)
}

#[cfg(test)]
mod tests {
    use super::{
        demangled, is_called, is_signature, listed_name, parameter_types, plain_name, qualified_name, short_name, shown_name, source_name,
        visible,
    };

    #[test]
    fn names_mean_what_the_innermost_namespace_has() {
        let names =
            ["bias", "_ZN3net4biasE", "_ZN3net5inner4biasE", "_ZN3net5inner4onlyE", "_Z5scaleIiE", "_Z5scaleIfE", "_ZN12_GLOBAL__N_13ownE"];
        let meant = |around, name| visible(names.iter().map(|name| (*name, *name)), around, name);
        assert_eq!(meant(Some("_ZN3net5inner6kernelEPi"), "bias"), Some("_ZN3net5inner4biasE"));
        assert_eq!(meant(Some("_ZN3net6kernelEPi"), "bias"), Some("_ZN3net4biasE"));
        assert_eq!(meant(Some("_ZN3net6kernelEPi"), "inner::bias"), Some("_ZN3net5inner4biasE"));
        assert_eq!(meant(Some("_ZN3net6kernelEPi"), "::bias"), Some("bias"));
        assert_eq!(meant(Some("_ZN5other6kernelEPi"), "bias"), Some("bias"));
        assert_eq!(meant(None, "net::bias"), Some("_ZN3net4biasE"));
        assert_eq!(meant(None, "::only"), None);
        assert_eq!(meant(None, "only"), Some("_ZN3net5inner4onlyE"));
        assert_eq!(meant(None, "scale<float>"), Some("_Z5scaleIfE"));
        assert_eq!(meant(None, "scale"), None);
        assert_eq!(meant(None, "(anonymous namespace)::own"), Some("_ZN12_GLOBAL__N_13ownE"));
        assert_eq!(meant(None, "own"), Some("_ZN12_GLOBAL__N_13ownE"));
    }

    #[test]
    fn arguments_of_templates_may_be_left_out() {
        let dot = "_ZNK3VecIfLi3EE3dotERKS0_";
        assert!(is_called(dot, "Vec::dot") && is_called(dot, "dot") && is_called(dot, "Vec<float, 3>::dot"));
        assert!(is_called("_Z2tkIiLi2EEvPT_S0_", "tk<int>") && !is_called("_Z2tkIiLi2EEvPT_S0_", "tk<float>"));
        assert!(!is_called("_Z2tkIiLi2EEvPT_S0_", "k<int>") && !is_called(dot, "Ve::dot"));
    }

    #[test]
    fn mangled_names_have_the_types_of_parameters() {
        let types = |name| parameter_types(name).unwrap().join("; ");
        assert_eq!(types("_Z6framesPKfPfi"), "float const*; float*; int");
        assert_eq!(types("_ZN3app5scaleERKNS_5PointEi"), "app::Point const&; int");
        assert_eq!(types("_Z5applyPFiiEN4pairIifEE"), "int (*)(int); pair<int, float>");
        assert_eq!(types("_Z4idlev"), "");
        assert_eq!(parameter_types("frames"), None);
    }

    #[test]
    fn names_are_without_what_compilers_add() {
        assert_eq!(shown_name("_ZN36_INTERNAL_6f3ad1b2_4_a_cu_a1b2c3_1234L5countE"), "_ZN36_INTERNAL_6f3ad1b2_4_a_cu_a1b2c3_1234L5countE");
        assert_eq!(shown_name("_ZN36_INTERNAL_6f3ad1b2_4_a_cu_a1b2c3_1235countE"), "count");
        assert_eq!(demangled("_Z18my_INTERNAL_kerneli").as_deref(), Some("my_INTERNAL_kernel(int)"));
        assert_eq!(demangled("_Z13my_INTERNAL_fPN3app1VE").as_deref(), Some("my_INTERNAL_f(app::V*)"));
        assert_eq!(qualified_name("_ZN8__main__5saxpyB2v3B8cw51cXTLEfi").as_deref(), Some("__main__::saxpy"));
        assert!(
            is_called("lin::scale<float>", "scale") && is_called("lin::scale<float>", "lin::scale") && !is_called("lin::scale", "cale")
        );
    }

    #[test]
    fn variables_of_functions_have_short_names() {
        assert_eq!(short_name("_ZZ13ring_mbarrierE4full"), "full");
        assert_eq!(short_name("_ZZ12smooth_asyncPKfPfiiE3buf"), "buf");
        assert_eq!(short_name("_ZZ1kE1E_0"), "E");
        assert_eq!(short_name("tile"), "tile");
        assert_eq!(short_name("_ZZ1"), "_ZZ1");
    }

    #[test]
    fn mangled_names_are_those_of_the_source() {
        for (mangled, name) in [
            ("coef", "coef"),
            ("_ZL4coef", "coef"),
            ("_ZN3abc4coefE", "coef"),
            ("_ZN12_GLOBAL__N_14coefE", "coef"),
            ("_ZN51_INTERNAL_0000_4_k_cu_L4coefE", "_ZN51_INTERNAL_0000_4_k_cu_L4coefE"),
            ("_ZZ1kvE5table", "table"),
            ("_Z", "_Z"),
        ] {
            assert_eq!(source_name(mangled), name, "{mangled}");
        }
    }

    #[test]
    fn names_of_linked_modules_keep_their_number() {
        assert_eq!(shown_name("_Z6helperi$2"), "helper$2");
        assert_eq!(shown_name("_Z6helperi$12#3"), "helper$12#3");
        assert_eq!(demangled("_Z6helperi$2").as_deref(), Some("helper(int)$2"));
        assert_eq!((shown_name("helper$2"), demangled("helper$2")), ("helper$2".into(), None));
    }

    #[test]
    fn names_are_found_in_mangled_ones() {
        for (mangled, plain) in [
            ("gemm", None),
            ("_ZN3lin4gemmIfEEvPT_", Some("gemm")),
            ("_Z4gemm3Foo", Some("gemm")),
            ("_ZN12_GLOBAL__N_1L4gemmEv", Some("gemm")),
            ("_Z4gemmPKfS0_Pfi", Some("gemm")),
            ("_Z4gemmIfLi16EEvPT_", Some("gemm")),
            ("_ZN3lin4gemmEPf", Some("gemm")),
            ("_ZN12_GLOBAL__N_14gemmIfEEvPT_", Some("gemm")),
            ("_ZL4gemmv", Some("gemm")),
            ("_Z", None),
            ("_Z99gemm", None),
            ("_Z99999999999999999999999x", None),
        ] {
            assert_eq!(plain_name(mangled), plain, "{mangled}");
        }
    }

    #[test]
    fn names_are_demangled() {
        // What c++filt 2.40 prints.
        for (mangled, whole, qualified) in [
            ("_Z5scaleIfEvPT_S0_i", Some("void scale<float>(float*, float, int)"), Some("scale<float>")),
            ("_ZN7filters6smoothEPKfPfi", Some("filters::smooth(float const*, float*, int)"), Some("filters::smooth")),
            ("total", None, None),
            ("_Z", None, None),
        ] {
            assert_eq!((demangled(mangled).as_deref(), qualified_name(mangled).as_deref()), (whole, qualified), "{mangled}");
        }
    }

    #[test]
    fn a_name_without_end_is_none() {
        let doubling = format!("_Z1f{}", (0..60).map(|_| "1AIS_S_E").collect::<String>());
        let long = format!("_Z1f3fooI{}E", "N1a1bE".repeat(2000));
        assert!([doubling, long].iter().all(|name| demangled(name).is_none_or(|text| text.len() <= 4096)));
    }

    #[test]
    fn a_signature_is_all_of_a_name() {
        for name in ["lin::scale<float>(float*, int)", "void lin::scale<float>(float*,int)"] {
            assert!(is_signature("_ZN3lin5scaleIfEEvPT_i", name), "{name}");
        }
        for name in ["lin::scale<float>", "scale<float>(float*, int)", "lin::scale(float*, int)", "_ZN3lin5scaleIfEEvPT_i"] {
            assert!(!is_signature("_ZN3lin5scaleIfEEvPT_i", name), "{name}");
        }
        assert!(is_signature("_Z4gemmPKfPf", "gemm(float const*, float*)"));
    }

    #[test]
    fn a_kernel_is_meant_by_every_name_that_it_has() {
        let template = ["scale", "scale<float>", "lin::scale", "lin::scale < float >", "lin::scale<float>(float*, int)"];
        let more = ["void lin::scale<float>(float*,int)", "scale<float>(float*, int)", "lin::scale(float*, int)"];
        for name in template.into_iter().chain(more) {
            assert!(is_called("_ZN3lin5scaleIfEEvPT_i", name), "{name}");
        }
        for name in
            ["scale<double>", "scal", "", " ", "smooth", "in::scale", "detail::scale", "float>", "void", "scale(int)", "(float*, int)"]
        {
            assert!(!is_called("_ZN3lin5scaleIfEEvPT_i", name), "{name}");
        }
        for (mangled, name) in [
            ("_ZN3lin6detail5scaleEPfi", "lin::detail::scale"),
            ("_ZN3lin6detail5scaleEPfi", "detail::scale"),
            ("_ZN3lin6detail5scaleEPfi", "lin::detail::scale(float*, int)"),
            ("_ZN12_GLOBAL__N_14anonEPi", "anon"),
            ("_ZN12_GLOBAL__N_14anonEPi", "(anonymous namespace)::anon"),
            ("_Z4packIJEEvPiDpT_", "pack<>(int*)"),
            ("_ZN3BoxIiE3runEv", "Box<int>::run"),
            ("_ZN3BoxIiE3runEv", "run"),
            ("_ZN3BoxclEi", "Box::operator()"),
            ("total", "total"),
        ] {
            assert!(is_called(mangled, name), "{mangled} {name}");
        }
        assert!(!is_called("total", "tot") && !is_called("_ZN3BoxIiE3runEv", "int>::run"));
    }

    #[test]
    fn empty_packs_leave_no_commas() {
        // What c++filt 2.40 prints.
        for (mangled, whole) in [
            ("_Z4packIJEEvPiDpT_", "void pack<>(int*)"),
            ("_Z4packIJifEEvPiDpT_", "void pack<int, float>(int*, int, float)"),
            ("_Z4bothIiJEEvT_DpT0_", "void both<int>(int)"),
        ] {
            assert_eq!(demangled(mangled).as_deref(), Some(whole), "{mangled}");
        }
    }

    #[test]
    fn names_are_shown_as_the_source_has_them() {
        for (name, shown) in [
            ("_ZN3lin5scaleIfEEvPT_i", "lin::scale<float>"),
            ("_ZN3lin5scaleIfEEvPT_i#2", "lin::scale<float>#2"),
            ("_ZZ4gemmE2As", "As"),
            ("_ZN3abcL4coefE", "abc::coef"),
            ("_Z5scaleIfEvPT_S0_i_param_0", "_Z5scaleIfEvPT_S0_i_param_0"),
            ("$L__BB0_2", "$L__BB0_2"),
            ("_Z", "_Z"),
        ] {
            assert_eq!(shown_name(name), shown);
        }
        // What c++filt 2.40 prints.
        assert_eq!(listed_name("_ZZN3lin5scaleIfEEvPT_iE4tile"), "lin::scale<float>(float*, int)::tile");
        assert_eq!(listed_name("_ZZ4gemmE2As"), "gemm::As");
    }
}
