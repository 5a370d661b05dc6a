//! The namespaces and classes of types: EDG writes none around structures and typedefs, but mangled names of functions have them.

use std::sync::Arc;

use super::model::{DebugInfo, NESTING_MAX, ScopeKind, Type, TypeId};
use crate::program::{demangled, enclosing, last_component, parameter_types, qualified_name, unqualified_name};

/// Finds the qualified names of types that functions take and return.
pub(super) fn read(info: &mut DebugInfo) {
    let mut found: Vec<(TypeId, String)> = Vec::new();
    for (_, scope) in info.scopes.entries() {
        let (ScopeKind::Function { linkage_name: Some(mangled), .. } | ScopeKind::Inlined { linkage_name: Some(mangled), .. }) =
            &scope.kind
        else {
            continue;
        };
        let variables: Vec<_> = scope.variables.iter().filter(|variable| variable.is_parameter).collect();
        let is_member = variables.first().is_some_and(|first| &*first.name == "this");
        if let (Some(this), Some(name)) = (variables.first().filter(|_| is_member), qualified_name(mangled)) {
            found.extend(enclosing(&name).and_then(|class| named(info, this.ty, class)));
        }
        let params = parameter_types(mangled).unwrap_or_default();
        let own = variables.iter().skip(usize::from(is_member));
        found.extend(own.zip(&params).filter_map(|(variable, text)| named(info, variable.ty, text)));
        found.extend(result(mangled).and_then(|text| named(info, scope.result, &text)));
    }
    for (ty, name) in found {
        info.qualified_types.entry(ty).or_insert_with(|| Arc::from(name));
    }
}

/// The type of the result of a function, which mangled names of instances of templates have.
fn result(mangled: &str) -> Option<String> {
    let (full, qualified) = (demangled(mangled)?, qualified_name(mangled)?);
    let before = full.split_once(&*qualified)?.0.trim();
    (!before.is_empty()).then(|| before.to_string())
}

/// The type that `text` names with what is around it, found through the pointers to it; none if `text` has no more than the data.
fn named(info: &DebugInfo, ty: Option<TypeId>, text: &str) -> Option<(TypeId, String)> {
    let text = base(text);
    let mut ty = ty?;
    for _ in 0..NESTING_MAX {
        let (name, to) = match &info.types[ty] {
            Type::Pointer { to, .. } | Type::Qualified { to, .. } => (None, *to),
            Type::Array { of, .. } => (None, *of),
            Type::Typedef { name, to } => (Some(name), *to),
            Type::Record { name, .. } | Type::Enumeration { name, .. } => (name.as_ref(), None),
            Type::Base { .. } | Type::Function { .. } | Type::Unspecified { .. } => return None,
        };
        if let Some(name) = name
            && last_component(name) == last_component(unqualified_name(text))
        {
            return enclosing(name).is_none().then(|| (ty, text.to_string()));
        }
        ty = to?;
    }
    None
}

/// `app::Point` of `app::Point const*`.
fn base(text: &str) -> &str {
    let mut text = text;
    loop {
        let shorter = text.trim_end_matches(['*', '&', ' ']);
        let shorter = shorter.strip_suffix(" const").or_else(|| shorter.strip_suffix(" volatile")).unwrap_or(shorter);
        if shorter.len() == text.len() {
            return text;
        }
        text = shorter;
    }
}
