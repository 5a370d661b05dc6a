//! Functions and kernels: parameters, directives, and consistency of all their declarations.

use super::body::{BodyBuilder, PRAGMA_SINCE};
use super::builder::{ModuleBuilder, Progress, undeclared};
use super::const_expr;
use super::decode_context::DecodeContext;
use super::header::Header;
use super::parameter::{PARAMETER_LIST, is_anonymous, kernel_end, kernel_parameter, parameter_bank};
use super::scope::Symbol;
use crate::base::{Diagnostic, Span};
use crate::program::{FuncId, Function, Limits, Param, ParamStorage};
use crate::syntax::tree::{self, FunctionDirective, Linkage, Name};

/// First PTX version in which a kernel may be declared without a body.
const KERNEL_PROTOTYPES: (u8, u8) = (3, 0);

/// Analyzes a declaration or definition at module scope.
pub(super) fn analyze<'a>(module: &mut ModuleBuilder<'a>, function: &tree::Function<'a>) {
    let name = function.name;
    let Some(id) = module.index.number(name.text) else {
        let error = Diagnostic::error("name", name.span, format!("'{}' is an alias of a function that is not defined here", name.text));
        module.diags.push(error);
        return;
    };
    module.diags.extend(module.check_module_name(name).err());
    if module.index.functions[id.index()].name.text != name.text {
        declare_alias(module, function, id);
        return;
    }
    match module.scopes.find(name.text) {
        Some((Symbol::Function(_), _)) => {}
        _ => {
            if let Err(error) = module.scopes.declare(name, Symbol::Function(id), None) {
                module.diags.push(error);
                return;
            }
        }
    }
    let earlier = check_order(module, function, id);
    check_signature(function, &module.header, &mut module.diags);
    let mut builder = BodyBuilder::new(module, id, function.is_kernel);
    let results = parameters(&mut builder, function, &function.results, Direction::Result);
    let params = parameters(&mut builder, function, &function.params, Direction::Input);
    if let Some(first) = earlier
        && let Some(difference) = difference(builder.function_mut(), function.is_kernel, &params, &results)
    {
        let error = Diagnostic::error("type", name.span, format!("'{}' is declared differently before: {difference}", name.text));
        builder.diags().push(error.with_label(first, "the first declaration is here"));
    }
    let param_bytes = params.iter().filter_map(kernel_end).max().unwrap_or(0);
    let limits = limits(&function.directives, builder.diags());
    let entry = builder.function_mut();
    *entry = Function {
        span: name.span,
        is_kernel: function.is_kernel,
        params,
        results,
        param_bytes,
        limits: merge(entry.limits, limits),
        ..undeclared(name)
    };
    match &function.body {
        Some(body) => builder.build(body, function.span),
        None => builder.abandon(),
    }
}

/// Checks that the declaration of a function agrees with its definition in another module.
pub(super) fn compare<'a>(module: &mut ModuleBuilder<'a>, function: &tree::Function<'a>) {
    let name = function.name;
    // A name that is also a variable is reported elsewhere.
    let Some(id) = module.index.number(name.text) else { return };
    check_signature(function, &module.header, &mut module.diags);
    let mut builder = BodyBuilder::new(module, id, function.is_kernel);
    let results = parameters(&mut builder, function, &function.results, Direction::Result);
    let params = parameters(&mut builder, function, &function.params, Direction::Input);
    let defined = builder.function_mut();
    let first = defined.span;
    if let Some(difference) = difference(defined, function.is_kernel, &params, &results) {
        let error = Diagnostic::error("type", name.span, format!("'{}' is declared differently before: {difference}", name.text));
        builder.diags().push(error.with_label(first, "the first declaration is here"));
    }
    builder.abandon();
}

/// Declares an alias, `.func fAlias;`: a second name for function `id`.
fn declare_alias<'a>(module: &mut ModuleBuilder<'a>, function: &tree::Function<'a>, id: FuncId) {
    let name = function.name;
    if function.body.is_some() {
        module.diags.push(Diagnostic::error("duplicate", name.span, format!("'{}' has a body and cannot be an alias as well", name.text)));
    } else if !matches!(module.scopes.find(name.text), Some((Symbol::Function(_), _)))
        && let Err(error) = module.scopes.declare(name, Symbol::Function(id), None)
    {
        module.diags.push(error);
    }
}

/// Checks an `.alias` directive.
pub(super) fn check_alias(module: &mut ModuleBuilder<'_>, name: Name<'_>, target: Name<'_>) {
    if !matches!(module.scopes.find(name.text), Some((Symbol::Function(_), _))) {
        let error = Diagnostic::error("name", name.span, format!("alias '{}' is not declared", name.text));
        module.diags.push(error.with_help(format!("declare it before: '.func {};'", name.text)));
    }
    match module.index.number(target.text) {
        Some(id) if module.index.functions[id.index()].has_body && !module.index.functions[id.index()].is_kernel => {}
        _ => {
            let error = Diagnostic::error("name", target.span, format!("'{}' is not a function defined in this module", target.text));
            module.diags.push(error.with_help("an alias stands for a '.func' with a body"));
        }
    }
}

/// Reports functions that are declared without `.extern` and defined nowhere.
pub(super) fn check_defined(module: &mut ModuleBuilder<'_>) {
    for (progress, entry) in module.progress.iter().zip(&module.index.functions) {
        if let Progress { declared: Some(declared), defined: None, is_extern: false, .. } = *progress {
            let error = Diagnostic::error("name", declared, format!("'{}' is declared but not defined in this module", entry.name.text));
            module.diags.push(error.with_help("give it a body, or declare it '.extern'"));
        }
    }
}

/// Directives that only kernels have (PTX ISA, "Performance-Tuning Directives" and "Cluster Dimension Directives").
const KERNEL_DIRECTIVES: &[&str] =
    &["maxntid", "reqntid", "minnctapersm", "maxnctapersm", "reqnctapercluster", "explicitcluster", "maxclusterrank", "blocksareclusters"];

/// Directives with the PTX version and the target that they need (PTX ISA, "Cluster Dimension Directives").
const NEWER_DIRECTIVES: &[(&str, (u8, u8), u32)] = &[
    ("reqnctapercluster", (7, 8), 90),
    ("explicitcluster", (7, 8), 90),
    ("maxclusterrank", (7, 8), 90),
    ("blocksareclusters", (9, 0), 90),
];

/// Checks the results and directives in the header of a kernel or function.
fn check_signature(function: &tree::Function<'_>, header: &Header, diags: &mut Vec<Diagnostic>) {
    if let Some(result) = function.results.first().filter(|_| function.is_kernel) {
        let error = Diagnostic::error("linkage", result.span, "a kernel returns nothing");
        diags.push(error.with_help("write results to global memory"));
    }
    if let [_, second, ..] = function.results.as_slice()
        && function.results.iter().any(|result| result.space.text != "reg")
    {
        let error = Diagnostic::error("space", second.span, "several results must all be registers");
        diags.push(error.with_help("declare them '.reg', or return one array in '.param' space"));
    }
    if let Some(param) = function.params.first().filter(|_| function.is_kernel && header.version < PARAMETER_LIST) {
        let error = Diagnostic::error("version", param.span, "a list of parameters requires PTX 1.4");
        diags.push(error.with_help("before, '.param' declarations stand in the body of the kernel"));
    }
    if function.is_kernel && function.body.is_none() {
        diags.extend(header.require(KERNEL_PROTOTYPES, 0, "a kernel without a body", function.name.span).err());
    }
    for directive in &function.directives {
        let name = directive.name;
        if name.text == "pragma" {
            diags.extend(header.require(PRAGMA_SINCE, 0, "'.pragma'", name.span).err());
        }
        if let Some((word, ptx, sm)) = NEWER_DIRECTIVES.iter().find(|row| row.0 == name.text) {
            diags.extend(header.require(*ptx, *sm, &format!("'.{word}'"), name.span).err());
        }
        let message = match name.text {
            word if !function.is_kernel && KERNEL_DIRECTIVES.contains(&word) => format!("'.{word}' is a directive of kernels"),
            "noreturn" if function.is_kernel => "'.noreturn' is a directive of functions".to_string(),
            "noreturn" if !function.results.is_empty() => "'.noreturn' does not go with results".to_string(),
            "maxnctapersm" if header.version >= (2, 1) => "'.maxnctapersm' is gone from PTX 2.1 on; write '.minnctapersm'".to_string(),
            _ => continue,
        };
        diags.push(Diagnostic::error("directive", name.span, message));
    }
}

/// A description of the first difference between an earlier declaration and this one.
fn difference(earlier: &Function, is_kernel: bool, params: &[Param], results: &[Param]) -> Option<String> {
    if earlier.is_kernel != is_kernel {
        return Some("a kernel in one place, a function in the other".to_string());
    }
    if (earlier.params.len(), earlier.results.len()) != (params.len(), results.len()) {
        return Some("the number of parameters".to_string());
    }
    let pairs = earlier.params.iter().zip(params).chain(earlier.results.iter().zip(results));
    let differing = pairs.map(|(old, new)| {
        let word = if std::mem::discriminant(&old.storage) != std::mem::discriminant(&new.storage) {
            "state space"
        } else if (old.ty, old.bytes, old.is_array) != (new.ty, new.bytes, new.is_array) {
            "type"
        } else if old.align != new.align {
            "alignment"
        } else {
            return None;
        };
        Some(format!("the {word} of '{}'", new.name))
    });
    differing.flatten().next()
}

/// Checks for duplicate definitions and inconsistent linkage; returns the span of an earlier declaration.
fn check_order(module: &mut ModuleBuilder<'_>, function: &tree::Function<'_>, id: FuncId) -> Option<Span> {
    let name = function.name;
    let progress = &mut module.progress[id.index()];
    let earlier = progress.declared;
    let first = *progress.declared.get_or_insert(name.span);
    let differs = function.linkage.is_some_and(|linkage| progress.linkage != Some(linkage));
    let error = match (progress.defined, &function.body) {
        (Some(defined), _) => {
            let error = Diagnostic::error("duplicate", name.span, format!("'{}' is defined already", name.text));
            Some(error.with_label(defined, "the definition is here"))
        }
        (None, Some(_)) if function.linkage == Some(Linkage::Extern) => {
            let error = Diagnostic::error("linkage", name.span, format!("'{}' is '.extern' and has a body", name.text));
            Some(error.with_help("leave out '.extern', or the body"))
        }
        (None, Some(_)) if progress.is_extern => {
            let error =
                Diagnostic::error("linkage", name.span, format!("'{}' is declared '.extern' but defined in this module", name.text));
            Some(error.with_label(first, "declared '.extern' here").with_help("declare it without '.extern'"))
        }
        // A declaration without linkage has that of an earlier one; declarations of linked modules were compared by `link`.
        (None, _) if earlier.is_some_and(|earlier| earlier.source == name.span.source) && differs => {
            let error = Diagnostic::error("linkage", name.span, format!("'{}' is declared with another linkage before", name.text));
            Some(error.with_label(first, "the first declaration is here").with_help("write the same before all its declarations"))
        }
        _ => None,
    };
    progress.is_extern |= function.linkage == Some(Linkage::Extern);
    progress.linkage = function.linkage.or(progress.linkage);
    progress.defined = progress.defined.or_else(|| function.body.as_ref().map(|_| name.span));
    module.diags.extend(error);
    earlier
}

/// The direction of a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Input,
    Result,
}

/// Declares the parameters of a function in its scope; invalid ones are reported and skipped.
fn parameters<'a>(
    builder: &mut BodyBuilder<'_, 'a>,
    function: &tree::Function<'a>,
    variables: &[tree::Variable<'a>],
    direction: Direction,
) -> Vec<Param> {
    let mut bank = parameter_bank(builder.version());
    let mut params: Vec<Param> = Vec::new();
    for variable in variables {
        let declared = if function.is_kernel {
            kernel_parameter(&mut bank, variable).map(|param| vec![param])
        } else {
            builder.function_parameter(variable)
        };
        let declared = declared.and_then(|declared| {
            let in_memory = declared.iter().all(|param| !matches!(param.storage, ParamStorage::Register(..)));
            if !is_anonymous(variable.name) && in_memory {
                let index = params.len();
                let symbol = if direction == Direction::Input { Symbol::Param(index) } else { Symbol::Result(index) };
                builder.declare(variable.name, symbol, None)?;
            }
            Ok(declared)
        });
        match declared {
            Ok(declared) => params.extend(declared),
            Err(error) => builder.diags().push(error),
        }
    }
    params
}

/// Merges the limits of two declarations; of the same directive, the earlier value is used.
fn merge(earlier: Limits, later: Limits) -> Limits {
    Limits {
        required_block: earlier.required_block.or(later.required_block),
        max_block: earlier.max_block.or(later.max_block),
        required_cluster: earlier.required_cluster.or(later.required_cluster),
        max_cluster: earlier.max_cluster.or(later.max_cluster),
        explicit_cluster: earlier.explicit_cluster || later.explicit_cluster,
        max_registers: earlier.max_registers.or(later.max_registers),
    }
}

/// The launch limits that the directives between parameters and body set.
fn limits(directives: &[FunctionDirective<'_>], diags: &mut Vec<Diagnostic>) -> Limits {
    let mut limits = Limits::default();
    for directive in directives {
        if let Err(error) = limit(directive, &mut limits) {
            diags.push(error);
        }
    }
    let span_of = |name: &str| directives.iter().find(|directive| directive.name.text == name).map(|directive| directive.name.span);
    for (one, other) in [("maxntid", "reqntid"), ("maxclusterrank", "reqnctapercluster")] {
        if let (Some(first), Some(second)) = (span_of(one), span_of(other)) {
            let error = Diagnostic::error("directive", first.max(second), format!("'.{one}' and '.{other}' exclude each other"));
            diags.push(error.with_label(first.min(second), "the other one is here"));
        }
    }
    if let Some(span) = span_of("blocksareclusters")
        && (span_of("reqntid").is_none() || span_of("reqnctapercluster").is_none())
    {
        diags.push(Diagnostic::error("directive", span, "'.blocksareclusters' needs '.reqntid' and '.reqnctapercluster'"));
    }
    limits
}

fn limit(directive: &FunctionDirective<'_>, limits: &mut Limits) -> Result<(), Diagnostic> {
    match directive.name.text {
        "reqntid" => limits.required_block = Some(dimensions(directive)?),
        "maxntid" => limits.max_block = Some(dimensions(directive)?),
        "reqnctapercluster" => limits.required_cluster = cluster_dimensions(directive)?,
        "maxclusterrank" => limits.max_cluster = cluster_dimensions(directive)?.map(|blocks| blocks[0]),
        "explicitcluster" | "blocksareclusters" => limits.explicit_cluster = true,
        "maxnreg" => limits.max_registers = Some(dimensions(directive)?[0]),
        "minnctapersm" => {
            dimensions(directive)?;
        }
        // The parser accepts names of directives only, and the remaining ones are hints for the assembler.
        _ => {}
    }
    Ok(())
}

/// One to three positive numbers; missing ones are 1.
fn dimensions(directive: &FunctionDirective<'_>) -> Result<[u32; 3], Diagnostic> {
    numbers(directive, 1)
}

/// The numbers of a cluster directive: `None` if all are 0; otherwise a 0 is taken as 1.
fn cluster_dimensions(directive: &FunctionDirective<'_>) -> Result<Option<[u32; 3]>, Diagnostic> {
    let count = directive.values.len().min(3);
    let dimensions = numbers(directive, 0)?;
    let is_set = dimensions[..count].iter().any(|dimension| *dimension > 0);
    Ok(is_set.then(|| dimensions.map(|dimension| dimension.max(1))))
}

/// One to three numbers of at least `least`; missing ones are 1.
fn numbers(directive: &FunctionDirective<'_>, least: u32) -> Result<[u32; 3], Diagnostic> {
    let name = directive.name;
    if !(1..=3).contains(&directive.values.len()) {
        let message = format!("'.{}' takes one to three numbers, not {}", name.text, directive.values.len());
        return Err(Diagnostic::error("count", name.span, message));
    }
    let mut dimensions = [1; 3];
    for (dimension, value) in dimensions.iter_mut().zip(&directive.values) {
        let number = const_expr::evaluate_count(value)?;
        *dimension = match u32::try_from(number) {
            Ok(number) if number >= least => number,
            _ => {
                return Err(Diagnostic::error(
                    "value",
                    value.span,
                    format!("'.{}' takes positive 32-bit numbers, not {number}", name.text),
                ));
            }
        };
    }
    Ok(dimensions)
}
