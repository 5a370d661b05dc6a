//! Values that a launch assigns to variables of the module.

use super::{Resolver, Scope};
use crate::isa::Space;
use crate::launch::element::Element;
use crate::launch::file::{Buffer, Compare, Init, Launch};
use crate::launch::init::Contents;
use crate::launch::plan::{PlannedBuffer, PlannedVariable};
use crate::launch::value_path::ValuePath;
use crate::launch::variable_args::{declared, of_module};
use crate::program::{VarId, Variable};

impl<'a> Resolver<'a> {
    /// Values that the launch assigns to variables of the module.
    pub(super) fn variables(&mut self, index: usize, place: &ValuePath, launch: &Launch, scope: &mut Scope) -> Vec<PlannedVariable> {
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

    /// The element types of variables. Names that `variables` and `expect_variables` have as well are reported there.
    pub(super) fn variable_types(&mut self, place: &ValuePath, launch: &Launch) -> Vec<(VarId, Element)> {
        let list = place.field("variable_types");
        let is_named = |name: &str| launch.variables.contains_key(name) || launch.expect_variables.contains_key(name);
        let mut types = Vec::new();
        for (name, element) in &launch.variable_types {
            let known = of_module(self.program).find(|(_, variable)| *variable.name == **name).map(|(index, _)| VarId::new(index));
            let found = match known {
                None if !is_named(name) => self.variable_called(&list.key(name), name).map(|(id, _)| id),
                known => known,
            };
            types.extend(found.map(|id| (id, *element)));
        }
        types
    }

    /// Adds the variables with expected contents to the scope, as buffers.
    pub(super) fn expected_variables(&mut self, index: usize, place: &ValuePath, launch: &Launch, scope: &mut Scope) {
        let tolerances = place.field("variable_tolerances");
        for name in launch.variable_tolerances.keys().filter(|name| !launch.expect_variables.contains_key(*name)) {
            self.error(&tolerances.key(name), format!("a tolerance for variable '{name}', which 'expect_variables' does not name"));
        }
        let list = place.field("expect_variables");
        for name in launch.expect_variables.keys() {
            let places = (list.key(name), tolerances.key(name));
            let Some(planned) = self.expected_variable((&places.0, &places.1), name, launch) else { continue };
            if let Some(earlier) = scope.by_name.get(name) {
                let what = if scope.buffers[*earlier].variable.is_some() { "is said twice" } else { "is the name of a buffer as well" };
                self.error(&places.0, format!("what variable '{name}' must hold {what}"));
                continue;
            }
            scope.by_name.insert(name.clone(), scope.buffers.len());
            scope.places.push(places.0);
            scope.buffers.push(PlannedBuffer { launch: index, ..planned });
        }
    }

    /// The variable as a buffer with expected contents; the paths are those of the contents and of the tolerance.
    fn expected_variable(&mut self, places: (&ValuePath, &ValuePath), name: &str, launch: &Launch) -> Option<PlannedBuffer> {
        let (id, variable) = self.variable_called(places.0, name)?;
        if variable.location.space == Space::Const {
            self.error(places.0, format!("variable '{name}' is .const, which no kernel changes"));
            return None;
        }
        let expect = launch.expect_variables.get(name)?;
        let element = self.element_of(places.0, variable, launch.variable_types.get(name).copied(), expect)?;
        let bytes = variable.bytes;
        let shape = match declared(variable) {
            Some(own) if own == element => variable.shape.clone(),
            _ => vec![bytes / u64::from(element.bytes())],
        };
        let tolerance = launch.variable_tolerances.get(name).copied();
        let like = Buffer { shape: Some(shape.clone()), tolerance, ..named_like(name, element, Init::Zero) };
        let expect = Some(self.expect(places, &like, expect, (&shape, 0, bytes))?);
        Some(PlannedBuffer {
            name: name.to_string(),
            element,
            shape,
            bytes,
            variable: Some(id),
            padding: 0,
            at: None,
            contents: Contents::Byte(0),
            parts: Vec::new(),
            expect,
            ignored: Vec::new(),
            launch: 0,
        })
    }

    /// The `.const` or `.global` variable called `name`.
    fn variable_called(&mut self, place: &ValuePath, name: &str) -> Option<(VarId, &'a Variable)> {
        let program = self.program;
        let found = of_module(program).find(|(_, variable)| &*variable.name == name);
        if found.is_none() {
            let names: Vec<&str> = of_module(program).map(|(_, variable)| &*variable.name).collect();
            let help = if names.is_empty() { "the module declares none".to_string() } else { format!("variables: {}", names.join(", ")) };
            self.error_with_help(place, format!("there is no .const or .global variable '{name}'"), help);
        }
        found.map(|(index, variable)| (VarId::new(index), variable))
    }

    /// The element type of `variable`, which has the contents `init` in a launch file; `said` is its type there.
    fn element_of(&mut self, place: &ValuePath, variable: &Variable, said: Option<Element>, init: &Init) -> Option<Element> {
        let says_bytes = matches!(init, Init::Zero | Init::Byte(_) | Init::File(_) | Init::Slice { .. });
        match (said, declared(variable)) {
            (Some(element), _) | (None, Some(element)) => Some(element),
            (None, None) if says_bytes => Some(Element::B8),
            (None, None) => {
                let name = &variable.name;
                let help = format!("variable_types: {{\"{name}\": F32}}; types: {}", Element::names());
                let message = format!("variable '{name}' is declared by the byte, and nothing says which elements these are");
                self.error_with_help(place, message, help);
                None
            }
        }
    }

    fn variable(&mut self, place: &ValuePath, name: &str, init: &Init, said: Option<Element>) -> Option<PlannedVariable> {
        let (id, variable) = self.variable_called(place, name)?;
        if matches!(init, Init::Uninit) {
            self.error(place, format!("variable '{name}' is never uninitialized: without a value it is zero"));
            return None;
        }
        if matches!(init, Init::Pages(_)) {
            self.error(place, format!("variable '{name}' is known as a whole: Pages is for memory"));
            return None;
        }
        let element = self.element_of(place, variable, said, init)?;
        let like = named_like(name, element, init.clone());
        let (contents, bytes) = self.variable_contents(place, &like, variable.bytes)?;
        Some(PlannedVariable { variable: id, contents, bytes, parts: Vec::new() })
    }
}

/// A buffer with the element type and contents of the variable `name`.
fn named_like(name: &str, elem: Element, init: Init) -> Buffer {
    Buffer { name: name.to_string(), elem, len: None, shape: None, init, expect: None, tolerance: None, compare: Compare::default() }
}
