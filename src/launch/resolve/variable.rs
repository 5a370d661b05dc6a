//! Variables of the module that a launch gives values.

use super::{Resolver, Scope};
use crate::launch::element::Element;
use crate::launch::file::{Buffer, Compare, Init, Launch};
use crate::launch::plan::PlannedVariable;
use crate::launch::value_path::ValuePath;
use crate::launch::variables::{declared, of_module};
use crate::program::VarId;

impl Resolver<'_> {
    /// What the launch gives to variables of the module.
    pub(super) fn variables(&mut self, index: usize, place: &ValuePath, launch: &Launch, scope: &mut Scope) -> Vec<PlannedVariable> {
        let types = place.field("variable_types");
        for name in launch.variable_types.keys().filter(|name| !launch.variables.contains_key(*name)) {
            self.error(&types.key(name), format!("a type for variable '{name}', to which 'variables' gives nothing"));
        }
        let list = place.field("variables");
        let mut planned = Vec::new();
        for (name, init) in &launch.variables {
            let place = list.key(name);
            let (whole, parts) = init.split();
            let inner = if parts.is_some() { place.item(0) } else { place.clone() };
            let Some(variable) = self.variable(&inner, name, whole, launch.variable_types.get(name).copied()) else { continue };
            let what = format!("variable '{name}'");
            let bytes = self.program.variables[variable.variable.index()].bytes;
            let parts = parts.map_or(Vec::new(), |parts| self.parts(index, &place.field("at"), parts, (bytes, &what), scope));
            planned.push(PlannedVariable { parts, ..variable });
        }
        planned
    }

    fn variable(&mut self, place: &ValuePath, name: &str, init: &Init, said: Option<Element>) -> Option<PlannedVariable> {
        let program = self.program;
        let mut known = of_module(program).map(|(_, variable)| variable);
        let Some((index, variable)) = of_module(program).find(|(_, variable)| &*variable.name == name) else {
            let names: Vec<&str> = known.by_ref().map(|variable| &*variable.name).collect();
            let help = if names.is_empty() { "the module declares none".to_string() } else { format!("variables: {}", names.join(", ")) };
            self.error_with_help(place, format!("there is no .const or .global variable '{name}'"), help);
            return None;
        };
        if matches!(init, Init::Uninit) {
            self.error(place, format!("variable '{name}' is never uninitialized: without a value it is zero"));
            return None;
        }
        if matches!(init, Init::Pages(_)) {
            self.error(place, format!("variable '{name}' is known as a whole: Pages is for memory"));
            return None;
        }
        let says_bytes = matches!(init, Init::Zero | Init::Byte(_) | Init::File(_) | Init::Slice { .. });
        let element = match (said, declared(variable)) {
            (Some(element), _) | (None, Some(element)) => element,
            (None, None) if says_bytes => Element::B8,
            (None, None) => {
                let help = format!("variable_types: {{\"{name}\": F32}}; types: {}", Element::names());
                let message = format!("variable '{name}' is declared by the byte, and nothing says which elements these are");
                self.error_with_help(place, message, help);
                return None;
            }
        };
        let like = Buffer {
            name: name.to_string(),
            elem: element,
            len: None,
            shape: None,
            init: init.clone(),
            expect: None,
            tolerance: None,
            compare: Compare::default(),
        };
        let (contents, bytes) = self.variable_contents(place, &like, variable.bytes)?;
        Some(PlannedVariable { variable: VarId::new(index), contents, bytes, parts: Vec::new() })
    }
}
