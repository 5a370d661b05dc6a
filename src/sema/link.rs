//! Several modules as one, as the linker makes one program of them (PTX ISA, "Linking Directives"): `.extern` of one is what is visible in
//! another, of weak definitions one counts, and names that are a module's own stay apart.

mod agreement;
mod names;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::header::{Header, target_name};
use super::variable::layout;
use crate::base::{Diagnostic, Span};
use crate::syntax::tree::{Expr, ExprKind, Function, Init, Item, Linkage, Module, Name, Variable};

use names::{files_from, rename};

/// The names of each module that another one has as well, with those that stand for them.
pub(super) type Renames = Vec<BTreeMap<String, String>>;

/// Names of `modules` that are their own and denote something else in another one. They are called by the number of the module, from 1:
/// `helper$2`.
pub(super) fn renames(modules: &[Module<'_>]) -> Renames {
    let own: Vec<BTreeSet<&str>> = modules.iter().map(|module| own_names(module).collect()).collect();
    let shared: Vec<BTreeSet<&str>> = modules.iter().map(|module| shared_names(module).collect()).collect();
    let all: BTreeSet<&str> = own.iter().chain(&shared).flatten().copied().collect();
    let clashes = |number: usize, name: &str| {
        let is_shared = shared.iter().enumerate().any(|(other, names)| other != number && names.contains(name));
        is_shared || own[..number].iter().any(|names| names.contains(name))
    };
    let renamed = |number: usize| {
        let clashing = own[number].iter().filter(|name| clashes(number, name));
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

/// Names of functions and variables that no other module sees, and labels of debug data.
fn own_names<'m>(module: &'m Module<'_>) -> impl Iterator<Item = &'m str> {
    module.items.iter().flat_map(|item| match item {
        Item::Variable(variable) if variable.linkage.is_none() => vec![variable.name.text],
        Item::Function(function) if !is_shared(function) => vec![function.name.text],
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

/// Names that mean the same in all modules.
fn shared_names<'m>(module: &'m Module<'_>) -> impl Iterator<Item = &'m str> {
    module.items.iter().filter_map(|item| match item {
        Item::Variable(variable) if variable.linkage.is_some() => Some(variable.name.text),
        Item::Function(function) if is_shared(function) => Some(function.name.text),
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

/// Kernels are seen by the driver whatever is said of them.
fn is_shared(function: &Function<'_>) -> bool {
    function.is_kernel || function.linkage.is_some()
}

/// The header of all, if those of the modules go together; `starts` are the places of the modules.
pub(super) fn header(headers: &[Header], starts: &[Span], diags: &mut Vec<Diagnostic>) -> Header {
    let mut whole = headers[0];
    for (header, start) in headers.iter().zip(starts).skip(1) {
        let differs = |help: &str, here: String, there: String| {
            let error = Diagnostic::error("link", *start, format!("this module is for {here}, and those before it for {there}"));
            error.with_label(starts[0], "the first one").with_help(help)
        };
        match common_target(header.target, whole.target) {
            Some(target) => whole.target = target,
            None => {
                let help = "modules that are linked run on one device: their targets have one major version";
                diags.push(differs(help, target_name(header.target), target_name(whole.target)));
            }
        }
        if header.address_bits != whole.address_bits {
            let bits = |header: &Header| format!("addresses of {} bits", header.address_bits);
            diags.push(differs("modules that are linked have one size of addresses", bits(header), bits(&whole)));
        }
        whole.version = whole.version.max(header.version);
        whole.is_debug |= header.is_debug;
        whole.maps_f64 |= header.maps_f64;
        whole.has_samplers |= header.has_samplers;
    }
    whole
}

/// The least device that runs code of both targets, as nvlink 13.0 links them: code runs on devices of the same major version and no lower
/// minor one, and that of `sm_90a` and the like on that very device alone.
fn common_target(one: (u32, Option<char>), other: (u32, Option<char>)) -> Option<(u32, Option<char>)> {
    let (low, high) = if one.0 <= other.0 { (one, other) } else { (other, one) };
    // Of suffixes that of one device, `a`, says more than that of its family, `f`.
    let suffix = [Some('a'), Some('f')].into_iter().find(|suffix| [low.1, high.1].contains(suffix)).flatten();
    let runs = low.0 == high.0 || low.0 / 10 == high.0 / 10 && low.1 != Some('a');
    runs.then_some((high.0, if low.0 == high.0 { suffix } else { high.1.or(low.1) }))
}

/// Modules as one.
pub(super) struct Linked<'a> {
    /// It has one definition of each name.
    pub(super) module: Module<'a>,
    /// Functions that come again after their definition in another module, which says the same of them.
    pub(super) repeated: Vec<Function<'a>>,
}

/// The modules as one, in order, with the names that `renames` gives.
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
            let kept = match item {
                Item::Version { .. } | Item::Target { .. } | Item::AddressSize { .. } if number > 0 => None,
                Item::Variable(variable) => one_variable(variable, &chosen, &declarations, &defined),
                Item::Function(function) if is_shared(&function) && defined.contains(function.name.text) => {
                    repeated.push(*function);
                    None
                }
                Item::Function(function) => Some(one_function(function, &chosen)),
                other @ (Item::Version { .. }
                | Item::Target { .. }
                | Item::AddressSize { .. }
                | Item::Alias { .. }
                | Item::File { .. }
                | Item::Loc(_)
                | Item::Pragma { .. }
                | Item::Section { .. }) => Some(other),
            };
            here.extend(kept.as_ref().and_then(definition).map(|found| found.name.text));
            items.extend(kept);
        }
        defined.extend(here);
    }
    Linked { module: Module { items }, repeated }
}

/// What an item defines for all modules.
#[derive(Clone, Copy)]
struct Definition<'a> {
    name: Name<'a>,
    /// That of a kernel is visible, whatever is said of it.
    linkage: Linkage,
    /// Bytes of a variable.
    size: u64,
}

fn definition<'a>(item: &Item<'a>) -> Option<Definition<'a>> {
    let found = match item {
        Item::Variable(variable) => Definition { name: variable.name, linkage: variable.linkage?, size: size(variable) },
        Item::Function(function) if function.body.is_some() && is_shared(function) => {
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

/// The definition that counts of each name: the strong one, the first weak one, or of common variables the largest. Two strong ones are an
/// error with both places.
fn choose(modules: &[Module<'_>], diags: &mut Vec<Diagnostic>) -> HashMap<String, Span> {
    let mut chosen: HashMap<String, (Definition<'_>, usize)> = HashMap::new();
    let all = modules.iter().enumerate().flat_map(|(number, module)| module.items.iter().map(move |item| (number, item)));
    for (number, found) in all.filter_map(|(number, item)| Some((number, definition(item)?))) {
        let name = found.name.text;
        let Some((first, of)) = chosen.get(name).copied() else {
            chosen.insert(name.to_string(), (found, number));
            continue;
        };
        // Twice in one module is an error of that module.
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

/// Bytes of a variable; what cannot be declared is reported where it is analyzed.
fn size(variable: &Variable<'_>) -> u64 {
    layout(variable).map_or(0, |layout| layout.bytes)
}

/// The variables that count, by name, as other modules may declare them.
type Declarations<'a> = HashMap<&'a str, Variable<'a>>;

/// Those of the definitions in `chosen`; an array that is as long as its list has the length of that.
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

/// The variable, as a declaration if another definition counts; nothing where that has been before.
fn one_variable<'a>(
    mut variable: Variable<'a>,
    chosen: &HashMap<String, Span>,
    declarations: &Declarations<'a>,
    defined: &BTreeSet<&str>,
) -> Option<Item<'a>> {
    let is_shared = variable.linkage.is_some();
    if is_shared && defined.contains(variable.name.text) {
        return None;
    }
    let is_elsewhere = chosen.get(variable.name.text).is_some_and(|chosen| chosen.source != variable.name.span.source);
    if let Some(declared) = declarations.get(variable.name.text).filter(|_| is_shared && is_elsewhere) {
        if variable.linkage == Some(Linkage::Extern) {
            // A declaration without a length has that of the definition, so that it has its place.
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

/// The same of a function that no module before defines.
fn one_function<'a>(mut function: Box<Function<'a>>, chosen: &HashMap<String, Span>) -> Item<'a> {
    let name = function.name.text;
    // What another module defines is declared here, as a function of the same module would be.
    if is_shared(&function) && chosen.get(name).is_some_and(|chosen| chosen.source != function.name.span.source) {
        (function.linkage, function.body) = (Some(Linkage::Visible), None);
    }
    Item::Function(function)
}
