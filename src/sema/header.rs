//! `.version`, `.target` and `.address_size` (PTX ISA, "PTX Module Directives").

use crate::base::{Diagnostic, Span};
use crate::syntax::tree::{Item, Module, Name};

use super::{address_size, suggest};

/// The directives at the start of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// PTX version, major and minor.
    pub(super) version: (u8, u8),
    /// The number after `sm_`, and its suffix letter.
    pub(super) target: (u32, Option<char>),
    /// 32 or 64.
    pub(super) address_bits: u32,
    /// `.target .., debug`: code is not optimized.
    pub(super) is_debug: bool,
    /// `.target .., map_f64_to_f32`: targets without `.f64` instructions may use them.
    pub(super) maps_f64: bool,
    /// `.target .., texmode_independent`: samplers are separate objects.
    pub(super) has_samplers: bool,
}

/// First target with `.f64` instructions.
pub(super) const F64_TARGET: u32 = 13;

/// First and last minor version of every major one.
const VERSIONS: &[(u32, u32, u32)] = &[(1, 0, 5), (2, 0, 3), (3, 0, 2), (4, 0, 3), (5, 0, 0), (6, 0, 5), (7, 0, 8), (8, 0, 8), (9, 0, 9)];

/// Every target with the first PTX version that has it.
#[rustfmt::skip]
const TARGETS: &[(&str, (u8, u8))] = &[
    ("sm_10", (1, 0)), ("sm_11", (1, 0)), ("sm_12", (1, 2)), ("sm_13", (1, 2)), ("sm_20", (2, 0)), ("sm_21", (2, 0)),
    ("sm_30", (3, 0)), ("sm_32", (4, 0)), ("sm_35", (3, 1)), ("sm_37", (4, 1)), ("sm_50", (4, 0)), ("sm_52", (4, 1)), ("sm_53", (4, 2)),
    ("sm_60", (5, 0)), ("sm_61", (5, 0)), ("sm_62", (5, 0)), ("sm_70", (6, 0)), ("sm_72", (6, 1)), ("sm_75", (6, 3)),
    ("sm_80", (7, 0)), ("sm_82", (6, 2)), ("sm_86", (7, 1)), ("sm_87", (7, 4)), ("sm_88", (7, 3)), ("sm_89", (7, 8)),
    ("sm_90", (7, 8)), ("sm_90a", (8, 0)), ("sm_100", (8, 6)), ("sm_100a", (8, 6)), ("sm_100f", (8, 8)),
    ("sm_101", (8, 6)), ("sm_101a", (8, 6)), ("sm_101f", (8, 8)), ("sm_103", (8, 8)), ("sm_103a", (8, 8)), ("sm_103f", (8, 8)),
    ("sm_110", (9, 0)), ("sm_110a", (9, 0)), ("sm_110f", (9, 0)), ("sm_120", (8, 7)), ("sm_120a", (8, 7)), ("sm_120f", (8, 8)),
    ("sm_121", (8, 8)), ("sm_121a", (8, 8)), ("sm_121f", (8, 8)),
];

/// Prefix of virtual architectures: `compute_20` is treated as `sm_20`.
const VIRTUAL: &str = "compute_";

/// First PTX version that has `.address_size` (PTX ISA, ".address_size").
const ADDRESS_SIZE_SINCE: (u8, u8) = (2, 3);

/// Options of `.target` other than the architecture.
const TARGET_OPTIONS: &[&str] = &["texmode_unified", "texmode_independent", "debug", MAP_F64];

/// The option that allows `.f64` instructions on targets without them. The manual says that they are then computed in `.f32`; ptxas for
/// current GPUs does not change them, and neither does the simulator.
const MAP_F64: &str = "map_f64_to_f32";

impl Header {
    /// The error for `what`, which needs PTX version `ptx` and target `sm`, if the module's are lower.
    pub(super) fn require(&self, ptx: (u8, u8), sm: u32, what: &str, span: Span) -> Result<(), Diagnostic> {
        require((self.version, self.target), (ptx, sm), what, span)
    }
}

/// The error for `what`, which needs PTX version `ptx` and target `sm`, if `version` or `target` is lower.
pub(super) fn require(
    (version, target): ((u8, u8), (u32, Option<char>)),
    (ptx, sm): ((u8, u8), u32),
    what: &str,
    span: Span,
) -> Result<(), Diagnostic> {
    if version < ptx {
        return Err(Diagnostic::error("version", span, format!("{what} requires PTX {}.{}", ptx.0, ptx.1))
            .with_help(format!("the file says .version {}.{}", version.0, version.1)));
    }
    if target.0 < sm {
        return Err(Diagnostic::error("target", span, format!("{what} requires sm_{sm} or higher"))
            .with_help(format!("the file says .target {}", target_name(target))));
    }
    Ok(())
}

/// `sm_90a`
pub(super) fn target_name(target: (u32, Option<char>)) -> String {
    format!("sm_{}{}", target.0, target.1.map(String::from).unwrap_or_default())
}

/// The header for missing or invalid directives, so that the rest of the file can be checked.
const FALLBACK: Header =
    Header { version: (9, 0), target: (90, Some('a')), address_bits: 64, is_debug: false, maps_f64: false, has_samplers: false };

/// Reads the directives at the start of `module`; `file` is the span for reports of missing ones.
pub(super) fn read(module: &Module<'_>, file: Span, diags: &mut Vec<Diagnostic>) -> Header {
    let mut items = module.items.iter().peekable();
    let version = match items.next_if(|item| matches!(item, Item::Version { .. })) {
        Some(Item::Version { major, minor, span }) => check_version(*major, *minor, *span, diags),
        _ => {
            let span = items.peek().map_or(file, |item| span_of(item));
            let error = Diagnostic::error("version", span, "the module does not begin with '.version'");
            diags.push(error.with_help("the first directive names the PTX version, such as '.version 9.0'"));
            return Header { version: FALLBACK.version, ..read_unordered(module) };
        }
    };
    let target = match items.next_if(|item| matches!(item, Item::Target { .. })) {
        Some(Item::Target { names, span }) => check_target(names, version, *span, diags),
        _ => {
            let span = items.peek().map_or(file, |item| span_of(item));
            let error = Diagnostic::error("target", span, "'.version' is not followed by '.target'");
            diags.push(error.with_help("the second directive names the architecture, such as '.target sm_90a'"));
            return Header { version, ..read_unordered(module) };
        }
    };
    while let Some(Item::Target { names, span }) = items.next_if(|item| matches!(item, Item::Target { .. })) {
        check_target(names, version, *span, diags);
    }
    let address_bits = match items.next_if(|item| matches!(item, Item::AddressSize { .. })) {
        Some(Item::AddressSize { bits, span }) => check_address_size(*bits, version, *span, diags),
        _ => address_size::infer(module),
    };
    for item in items.filter(|item| matches!(item, Item::Version { .. } | Item::Target { .. } | Item::AddressSize { .. })) {
        if matches!(item, Item::Version { .. }) {
            let help = "a text is one module: several files are linked by 'modules' of a launch file";
            diags.push(Diagnostic::error("order", span_of(item), "another module begins here").with_help(help));
            break;
        }
        let help = "the order is '.version', '.target', '.address_size', and then everything else";
        diags.push(Diagnostic::error("order", span_of(item), "this directive belongs at the head of the module").with_help(help));
    }
    let has = |option| has_option(module, option);
    let (is_debug, maps_f64, has_samplers) = (has("debug"), has(MAP_F64), has("texmode_independent"));
    Header { version, target, address_bits, is_debug, maps_f64, has_samplers }
}

/// True if a `.target` of the module has this option.
fn has_option(module: &Module<'_>, option: &str) -> bool {
    let names = module.items.iter().filter_map(|item| if let Item::Target { names, .. } = item { Some(names) } else { None });
    names.flatten().any(|name| name.text == option)
}

/// The header for a module whose directives are out of order: they are used wherever they are, so that the rest can be checked.
fn read_unordered(module: &Module<'_>) -> Header {
    let mut header = FALLBACK;
    for item in &module.items {
        match item {
            Item::Target { names, .. } => {
                header.target = names.iter().find_map(|name| target_number(name.text)).unwrap_or(header.target);
            }
            Item::AddressSize { bits: 32, .. } => header.address_bits = 32,
            Item::Version { .. }
            | Item::AddressSize { .. }
            | Item::Variable(_)
            | Item::Function(_)
            | Item::Alias { .. }
            | Item::File { .. }
            | Item::Loc(_)
            | Item::Pragma { .. }
            | Item::Section { .. } => {}
        }
    }
    header
}

fn check_version(major: u32, minor: u32, span: Span, diags: &mut Vec<Diagnostic>) -> (u8, u8) {
    if VERSIONS.iter().any(|row| row.0 == major && (row.1..=row.2).contains(&minor)) {
        return (major as u8, minor as u8);
    }
    let newest = VERSIONS.last().map_or(0, |row| row.0);
    let help = if major > newest { format!("the newest version known here is {newest}.x") } else { "versions are 1.0 to 9.x".to_string() };
    diags.push(Diagnostic::error("version", span, format!("there is no PTX version {major}.{minor}")).with_help(help));
    FALLBACK.version
}

fn check_target(names: &[Name<'_>], version: (u8, u8), span: Span, diags: &mut Vec<Diagnostic>) -> (u32, Option<char>) {
    let mut target = None;
    for name in names {
        if TARGET_OPTIONS.contains(&name.text) {
            continue;
        }
        let digits = name.text.strip_prefix(VIRTUAL);
        let matches = |row: &str| row == name.text || digits.is_some_and(|digits| row.strip_prefix("sm_") == Some(digits));
        let Some(row) = TARGETS.iter().find(|row| matches(row.0)) else {
            let words = TARGETS.iter().map(|row| row.0).chain(TARGET_OPTIONS.iter().copied());
            let error = Diagnostic::error("target", name.span, format!("unknown target '{}'", name.text));
            diags.push(suggest::with_nearest(error, name.text, words));
            target = target.or_else(|| target_number(name.text));
            continue;
        };
        if row.1 > version {
            let message = format!("PTX {}.{} does not have target '{}'", version.0, version.1, name.text);
            diags.push(Diagnostic::error("version", name.span, message).with_help(format!("it needs '.version {}.{}'", row.1.0, row.1.1)));
        }
        target = target.or_else(|| target_number(name.text));
    }
    if let (Some((sm, _)), Some(name)) = (target, names.iter().find(|name| name.text == MAP_F64))
        && sm >= F64_TARGET
    {
        let error = Diagnostic::error("target", name.span, format!("'{MAP_F64}' is for targets before sm_{F64_TARGET}"));
        diags.push(error.with_help(format!("leave it out: sm_{sm} has '.f64' instructions")));
    }
    target.unwrap_or_else(|| {
        if !diags.iter().any(|diag| diag.code == "target") {
            let error = Diagnostic::error("target", span, "'.target' names no architecture");
            diags.push(error.with_help("add one, such as 'sm_90a'"));
        }
        FALLBACK.target
    })
}

/// Parses `sm_90a` as 90 and `a`.
fn target_number(name: &str) -> Option<(u32, Option<char>)> {
    let digits = name.strip_prefix("sm_").or(name.strip_prefix(VIRTUAL))?;
    let number = digits.trim_end_matches(|character: char| !character.is_ascii_digit());
    Some((number.parse().ok()?, digits[number.len()..].chars().next()))
}

fn check_address_size(bits: u32, version: (u8, u8), span: Span, diags: &mut Vec<Diagnostic>) -> u32 {
    if version < ADDRESS_SIZE_SINCE {
        let message = format!("'.address_size' requires PTX {}.{}", ADDRESS_SIZE_SINCE.0, ADDRESS_SIZE_SINCE.1);
        diags.push(Diagnostic::error("version", span, message).with_help("leave it out, or raise '.version'"));
    }
    if bits != 32 && bits != 64 {
        diags.push(Diagnostic::error("value", span, format!("addresses have 32 or 64 bits, not {bits}")));
        return FALLBACK.address_bits;
    }
    bits
}

/// The span of an item.
pub(super) fn span_of(item: &Item<'_>) -> Span {
    match item {
        Item::Version { span, .. }
        | Item::Target { span, .. }
        | Item::AddressSize { span, .. }
        | Item::Alias { span, .. }
        | Item::File { span, .. }
        | Item::Pragma { span, .. }
        | Item::Section { span, .. } => *span,
        Item::Variable(variable) => variable.span,
        Item::Function(function) => function.span,
        Item::Loc(loc) => loc.span,
    }
}
