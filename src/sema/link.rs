//! Linking of several modules into one (PTX ISA, "Linking Directives"): `.extern` declarations are resolved to visible definitions of other
//! modules, one of several weak definitions is chosen, and names with internal linkage are renamed if they clash.

mod agreement;
pub mod grid_sync;
mod names;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::header::{Header, target_name};
use super::variable::layout;
use crate::base::{Diagnostic, Span};
use crate::syntax::tree::{Expr, ExprKind, Function, Init, Item, Linkage, Module, Name, Variable};

use names::{files_from, rename};

/// For each module, the internal names that clash with names of other modules, with their replacements.
pub(super) type Renames = Vec<BTreeMap<String, String>>;

/// Replacements for internal names of `modules` that another module has too: the name with the number of its module, from 1, as in
/// `helper$2`.
pub(super) fn renames(modules: &[Module<'_>]) -> Renames {
    let internal: Vec<BTreeSet<&str>> = modules.iter().map(|module| internal_names(module).collect()).collect();
    let external: Vec<BTreeSet<&str>> = modules.iter().map(|module| external_names(module).collect()).collect();
    let all: BTreeSet<&str> = internal.iter().chain(&external).flatten().copied().collect();
    let clashes = |number: usize, name: &str| {
        let is_external = external.iter().enumerate().any(|(other, names)| other != number && names.contains(name));
        is_external || internal[..number].iter().any(|names| names.contains(name))
    };
    let renamed = |number: usize| {
        let clashing = internal[number].iter().filter(|name| clashes(number, name));
        clashing.map(|name| (name.to_string(), free_name(name, number, &all))).collect()
    };
    (0..modules.len()).map(renamed).collect()
}

fn free_name(name: &str, number: usize, all: &BTreeSet<&str>) -> String {
    let mut free = format!("{name}${}", number + 1);
    while all.contains(free.as_str()) {
        free.push('_');
    }
    free
}

/// Names of functions and variables that are not visible in other modules, and labels of debug data.
fn internal_names<'m>(module: &'m Module<'_>) -> impl Iterator<Item = &'m str> {
    module.items.iter().flat_map(|item| match item {
        Item::Variable(variable) if variable.linkage.is_none() => vec![variable.name.text],
        Item::Function(function) if !is_external(function) => vec![function.name.text],
        Item::Alias { name, .. } => vec![name.text],
        Item::Section { labels, .. } => labels.iter().map(|label| label.text).collect(),
        Item::Variable(_)
        | Item::Function(_)
        | Item::Version { .. }
        | Item::Target { .. }
        | Item::AddressSize { .. }
        | Item::File { .. }
        | Item::Loc(_)
        | Item::Pragma { .. } => Vec::new(),
    })
}

/// Names with external linkage, which denote the same in all modules.
fn external_names<'m>(module: &'m Module<'_>) -> impl Iterator<Item = &'m str> {
    module.items.iter().filter_map(|item| match item {
        Item::Variable(variable) if variable.linkage.is_some() => Some(variable.name.text),
        Item::Function(function) if is_external(function) => Some(function.name.text),
        Item::Variable(_)
        | Item::Function(_)
        | Item::Alias { .. }
        | Item::Section { .. }
        | Item::Version { .. }
        | Item::Target { .. }
        | Item::AddressSize { .. }
        | Item::File { .. }
        | Item::Loc(_)
        | Item::Pragma { .. } => None,
    })
}

/// True if the function has external linkage. Kernels always have it.
fn is_external(function: &Function<'_>) -> bool {
    function.is_kernel || function.linkage.is_some()
}

/// The header of the linked module; incompatible headers are reported at `starts`, the starts of the modules.
pub(super) fn header(headers: &[Header], starts: &[Span], diags: &mut Vec<Diagnostic>) -> Header {
    let mut merged = headers[0];
    for (header, start) in headers.iter().zip(starts).skip(1) {
        let differs = |help: &str, here: String, there: String| {
            let error = Diagnostic::error("link", *start, format!("this module is for {here}, and those before it for {there}"));
            error.with_label(starts[0], "the first one").with_help(help)
        };
        match common_target(header.target, merged.target) {
            Some(target) => merged.target = target,
            None => {
                let help = "modules that are linked run on one device: their targets have one major version";
                diags.push(differs(help, target_name(header.target), target_name(merged.target)));
            }
        }
        if header.address_bits != merged.address_bits {
            let bits = |header: &Header| format!("addresses of {} bits", header.address_bits);
            diags.push(differs("modules that are linked have one size of addresses", bits(header), bits(&merged)));
        }
        merged.version = merged.version.max(header.version);
        merged.is_debug |= header.is_debug;
        merged.maps_f64 |= header.maps_f64;
        merged.has_samplers |= header.has_samplers;
    }
    merged
}

/// The lowest target that runs code of both, as nvlink 13.0 links them: code runs on devices of the same major version and at least its
/// minor version, and code of `sm_90a` and the like only on exactly that device.
fn common_target(one: (u32, Option<char>), other: (u32, Option<char>)) -> Option<(u32, Option<char>)> {
    let (low, high) = if one.0 <= other.0 { (one, other) } else { (other, one) };
    // The suffix of one device, `a`, is more specific than that of a family, `f`.
    let suffix = [Some('a'), Some('f')].into_iter().find(|suffix| [low.1, high.1].contains(suffix)).flatten();
    let runs = low.0 == high.0 || low.0 / 10 == high.0 / 10 && low.1 != Some('a');
    runs.then_some((high.0, if low.0 == high.0 { suffix } else { high.1.or(low.1) }))
}

/// The linked module.
pub(super) struct Linked<'a> {
    /// It has one definition of each name.
    pub(super) module: Module<'a>,
    /// Declarations of functions after their definition in another module, to be compared with it.
    pub(super) repeated: Vec<Function<'a>>,
}

/// Links the modules, in order, after applying `renames`.
pub(super) fn link<'a>(mut modules: Vec<Module<'a>>, renames: &'a Renames, diags: &mut Vec<Diagnostic>) -> Linked<'a> {
    let mut files = 0;
    for (module, renames) in modules.iter_mut().zip(renames) {
        rename(module, renames);
        files = files_from(module, files);
    }
    let chosen = choose(&modules, diags);
    agreement::check(&modules, &chosen, diags);
    let declarations = declarations(&modules, &chosen);
    let (mut items, mut repeated) = (Vec::new(), Vec::new());
    let mut defined: BTreeSet<&str> = BTreeSet::new();
    for (number, module) in modules.into_iter().enumerate() {
        let mut here = Vec::new();
        for item in module.items {
            let linked = match item {
                Item::Version { .. } | Item::Target { .. } | Item::AddressSize { .. } if number > 0 => None,
                Item::Variable(variable) => linked_variable(variable, &chosen, &declarations, &defined),
                Item::Function(function) if is_external(&function) && defined.contains(function.name.text) => {
                    repeated.push(*function);
                    None
                }
                Item::Function(function) => Some(linked_function(function, &chosen)),
                other @ (Item::Version { .. }
                | Item::Target { .. }
                | Item::AddressSize { .. }
                | Item::Alias { .. }
                | Item::File { .. }
                | Item::Loc(_)
                | Item::Pragma { .. }
                | Item::Section { .. }) => Some(other),
            };
            here.extend(linked.as_ref().and_then(definition).map(|found| found.name.text));
            items.extend(linked);
        }
        defined.extend(here);
    }
    Linked { module: Module { items }, repeated }
}

/// An external definition of an item.
#[derive(Clone, Copy)]
struct Definition<'a> {
    name: Name<'a>,
    /// A kernel without linkage is `.visible`.
    linkage: Linkage,
    /// Bytes of a variable.
    size: u64,
}

fn definition<'a>(item: &Item<'a>) -> Option<Definition<'a>> {
    let found = match item {
        Item::Variable(variable) => Definition { name: variable.name, linkage: variable.linkage?, size: size(variable) },
        Item::Function(function) if function.body.is_some() && is_external(function) => {
            Definition { name: function.name, linkage: function.linkage.unwrap_or(Linkage::Visible), size: 0 }
        }
        Item::Function(_)
        | Item::Alias { .. }
        | Item::Section { .. }
        | Item::Version { .. }
        | Item::Target { .. }
        | Item::AddressSize { .. }
        | Item::File { .. }
        | Item::Loc(_)
        | Item::Pragma { .. } => return None,
    };
    (found.linkage != Linkage::Extern).then_some(found)
}

/// The chosen definition of each name: the strong one, the first weak one, or the largest common variable. Two strong ones are an error
/// with both spans.
fn choose(modules: &[Module<'_>], diags: &mut Vec<Diagnostic>) -> HashMap<String, Span> {
    let mut chosen: HashMap<String, (Definition<'_>, usize)> = HashMap::new();
    let all = modules.iter().enumerate().flat_map(|(number, module)| module.items.iter().map(move |item| (number, item)));
    for (number, found) in all.filter_map(|(number, item)| Some((number, definition(item)?))) {
        let name = found.name.text;
        let Some((first, of)) = chosen.get(name).copied() else {
            chosen.insert(name.to_string(), (found, number));
            continue;
        };
        // A second definition in one module is reported when that module is analyzed.
        if of == number {
            continue;
        }
        let is_better = match (first.linkage, found.linkage) {
            (Linkage::Visible, Linkage::Visible) => {
                let error = Diagnostic::error("link", found.name.span, format!("'{name}' is defined in two of the modules"));
                let help = "make one of them .weak, or leave out '.visible'";
                diags.push(error.with_label(first.name.span, "the other definition").with_help(help));
                false
            }
            (Linkage::Weak | Linkage::Common, Linkage::Visible) | (Linkage::Common, Linkage::Weak) => true,
            (Linkage::Common, Linkage::Common) => found.size > first.size,
            (Linkage::Visible | Linkage::Weak | Linkage::Common | Linkage::Extern, _) => false,
        };
        if is_better {
            chosen.insert(name.to_string(), (found, number));
        }
    }
    chosen.into_iter().map(|(name, (found, _))| (name, found.name.span)).collect()
}

/// Bytes of a variable; 0 if its declaration is invalid, which is reported by the analysis.
fn size(variable: &Variable<'_>) -> u64 {
    layout(variable).map_or(0, |layout| layout.bytes)
}

/// `.extern` declarations of the chosen variables, by name.
type Declarations<'a> = HashMap<&'a str, Variable<'a>>;

/// The declarations of the definitions in `chosen`; an unsized array gets the length of its initializer list.
fn declarations<'a>(modules: &[Module<'a>], chosen: &HashMap<String, Span>) -> Declarations<'a> {
    let mut declarations = Declarations::new();
    for item in modules.iter().flat_map(|module| &module.items) {
        let Item::Variable(variable) = item else { continue };
        if chosen.get(variable.name.text) != Some(&variable.name.span) {
            continue;
        }
        let mut declared = Variable { linkage: Some(Linkage::Extern), init: None, ..variable.clone() };
        if let (Some(first @ None), Some(Init::List(list, span))) = (declared.shape.first_mut(), &variable.init) {
            *first = Some(Expr { kind: ExprKind::Int { value: list.len() as u64, unsigned: false }, span: *span });
        }
        declarations.insert(variable.name.text, declared);
    }
    declarations
}

/// The variable, as a declaration if another definition is chosen; `None` if it is defined already.
fn linked_variable<'a>(
    mut variable: Variable<'a>,
    chosen: &HashMap<String, Span>,
    declarations: &Declarations<'a>,
    defined: &BTreeSet<&str>,
) -> Option<Item<'a>> {
    let is_external = variable.linkage.is_some();
    if is_external && defined.contains(variable.name.text) {
        return None;
    }
    let is_elsewhere = chosen.get(variable.name.text).is_some_and(|chosen| chosen.source != variable.name.span.source);
    if let Some(declared) = declarations.get(variable.name.text).filter(|_| is_external && is_elsewhere) {
        if variable.linkage == Some(Linkage::Extern) {
            // An unsized declaration gets the length of the definition, so that its address can be allocated.
            if matches!(variable.shape.first(), Some(None)) && declared.shape.len() == variable.shape.len() {
                variable.shape.clone_from(&declared.shape);
            }
            variable.align.clone_from(&declared.align);
        } else {
            // Common variables may have several types.
            variable = Variable { name: variable.name, span: variable.span, ..declared.clone() };
        }
    }
    Some(Item::Variable(variable))
}

/// The function, as a declaration if another module has its chosen definition.
fn linked_function<'a>(mut function: Box<Function<'a>>, chosen: &HashMap<String, Span>) -> Item<'a> {
    let name = function.name.text;
    // A function that another module defines is declared like one of the same module.
    if is_external(&function) && chosen.get(name).is_some_and(|chosen| chosen.source != function.name.span.source) {
        (function.linkage, function.body) = (Some(Linkage::Visible), None);
    }
    Item::Function(function)
}
