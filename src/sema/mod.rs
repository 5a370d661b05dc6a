//! Semantic analysis: from the syntax tree to a program with resolved names, types, addresses and code.
//!
//! A module is analyzed in two passes. First its [`index`] numbers the functions and [`shared`] lays out shared memory, which depends on
//! the call graph. Then its items are analyzed in order, since PTX requires declarations before uses: [`module`] allocates variables and
//! computes their initial bytes, [`function`] analyzes parameters and directives, and [`body`] translates each statement into one
//! instruction with [`decode`], for which it resolves names through the trait `decode_context::DecodeContext`. All errors of a file are
//! reported.

#![warn(clippy::wildcard_enum_match_arm)]

mod address_size;
mod body;
mod builder;
mod call;
mod const_expr;
mod constants;
mod contract;
mod decode;
mod decode_context;
mod file;
mod function;
mod header;
mod index;
mod initializer;
mod inline_asm;
mod inline_sites;
mod inlined;
mod insert;
mod labels;
mod link;
mod module;
mod module_registers;
mod parameter;
mod resolve;
mod scope;
mod shared;
mod suggest;
mod variable;

use crate::base::{Diagnostic, SourceId, Sources, Span};
use crate::program::Program;
use crate::program::map::Maps;
use crate::syntax::tree::{Function, Item, Module};

pub use file::{FileError, Loaded, load, load_at, load_file, load_file_at, load_linked, read_file};

/// Turns a module that was read from file `id` of `sources` into a program.
///
/// It is `Some` if and only if no diagnostic is an error. Its address map is that of `maps`.
pub fn analyze(sources: Sources, id: SourceId, module: &Module<'_>, maps: &Maps) -> (Option<Program>, Vec<Diagnostic>) {
    let mut diags = Vec::new();
    let header = header::read(module, Span::new(id, 0, 0), &mut diags);
    analyze_as(sources, &[id], (module, &[], header), diags, maps)
}

/// Turns modules that were read from files `ids` of `sources` into one program, as the linker does. Modules after these are of the device
/// runtime, and fit every header.
///
/// It is `Some` if and only if no diagnostic is an error.
pub fn analyze_linked(sources: Sources, ids: &[SourceId], modules: Vec<Module<'_>>, maps: &Maps) -> (Option<Program>, Vec<Diagnostic>) {
    assert!(!ids.is_empty() && ids.len() <= modules.len(), "each module is of a file");
    let mut diags = Vec::new();
    let starts: Vec<Span> = ids.iter().map(|id| Span::new(*id, 0, 0)).collect();
    let headers: Vec<_> = modules.iter().zip(&starts).map(|(module, start)| header::read(module, *start, &mut diags)).collect();
    let header = link::header(&headers, &starts, &mut diags);
    let renames = link::renames(&modules);
    let linked = link::link(modules, &renames, &mut diags);
    if diags.iter().any(|diag| diag.code == "link") {
        // Modules that cannot be linked are not analyzed further, since that would give follow-up errors.
        return (None, diags);
    }
    analyze_as(sources, ids, (&linked.module, &linked.repeated, header), diags, maps)
}

/// Turns the module linked from `ids` into a program; `repeated` are declarations to compare with its functions.
fn analyze_as(
    sources: Sources,
    ids: &[SourceId],
    (module, repeated, header): (&Module<'_>, &[Function<'_>], header::Header),
    mut diags: Vec<Diagnostic>,
    maps: &Maps,
) -> (Option<Program>, Vec<Diagnostic>) {
    let index = index::Index::new(module);
    let shared = shared::SharedLayout::new(module, &index, &mut diags);
    let mut builder = builder::ModuleBuilder::new(header, index, shared, diags, maps);
    builder.reserve_local(module);
    builder.program.inline_asm = ids.iter().flat_map(|id| inline_asm::regions(*id, inline_asm::code(module, &sources, *id))).collect();
    builder.inlined.read_comments(ids, &sources, module);
    for item in &module.items {
        match item {
            Item::Variable(variable) => builder.module_variable(variable),
            Item::Function(function) => function::analyze(&mut builder, function),
            Item::Alias { name, target, .. } => function::check_alias(&mut builder, *name, *target),
            Item::File { index, name, span } => builder.source_file(*index, name, *span),
            Item::Loc(loc) => builder.diags.push(
                Diagnostic::error("order", loc.span, "'.loc' outside of a function").with_help("it describes the instructions after it"),
            ),
            Item::Pragma { texts, span } => builder.module_pragma(texts, *span),
            Item::Section { name, labels, span, .. } => builder.section(name, labels, *span),
            Item::Version { .. } | Item::Target { .. } | Item::AddressSize { .. } => {}
        }
    }
    repeated.iter().for_each(|function| function::compare(&mut builder, function));
    builder.program.modules = ids.to_vec();
    builder.finish(sources)
}
