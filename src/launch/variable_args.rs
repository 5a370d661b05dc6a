//! Arguments of the command line for variables of the module: `coef=@coef.npy`, `coef=1,2,3`, `scale=0.5`, `coef=f32[]=@coef.npy`.

use std::collections::BTreeMap;
use std::path::Path;

use super::arg_syntax::{ArgReader, split};
use super::element::{Element, Kind};
use super::file::{Buffer, Init, Launch, Param};
use super::param_args::{self, Formal, ParamType};
use super::value_path::ValuePath;
use crate::base::{Diagnostic, SourceId, counted};
use crate::isa::{ScalarType, Space};
use crate::program::{Program, VarId, Variable, source_name};

/// The variables to which a launch can assign values: `.const` and `.global` ones.
pub(super) fn of_module(program: &Program) -> impl Iterator<Item = (usize, &Variable)> {
    let is_settable = |variable: &Variable| matches!(variable.location.space, Space::Const | Space::Global) && variable.bytes > 0;
    program.variables.iter().enumerate().filter(move |(_, variable)| is_settable(variable) && variable.opaque.is_none())
}

/// The declared element type of a variable; `None` for an array of bytes, as nvcc declares every array.
pub(super) fn declared(variable: &Variable) -> Option<Element> {
    let is_of_bytes = variable.ty == ScalarType::B8 && variable.is_array;
    Element::from_name(variable.ty.word()).filter(|_| !is_of_bytes)
}

/// A variable that an argument can name.
#[derive(Clone, Debug)]
pub struct VariableFormal {
    /// Its name in the module.
    pub name: String,
    /// Its names in arguments, and its type.
    formal: Formal,
    /// Its size in bytes.
    bytes: u64,
    /// Its element type, if it is declared or in `types`.
    element: Option<Element>,
}

/// The variables that arguments can name; `types` are the element types of arrays that are declared as bytes.
pub fn formals(program: &Program, types: &BTreeMap<VarId, Element>) -> Vec<VariableFormal> {
    let formal = |(index, variable): (usize, &Variable)| {
        let element = declared(variable).or_else(|| types.get(&VarId::new(index)).copied());
        let ty = match element {
            Some(element) if u64::from(element.bytes()) == variable.bytes => {
                // nvcc declares an `int` as `.u32`.
                if element.kind() == Kind::Unsigned { ParamType::AnySign(element) } else { ParamType::Scalar(element) }
            }
            element => ParamType::Pointer(element),
        };
        let name = variable.name.to_string();
        let names = vec![source_name(&name).to_string(), name.clone()];
        VariableFormal { name, formal: Formal { names, ty }, bytes: variable.bytes, element }
    };
    of_module(program).map(formal).collect()
}

/// The parameters and variables that arguments can name.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The kernel's parameters.
    pub params: &'a [Formal],
    /// The module's variables.
    pub variables: &'a [VariableFormal],
}

impl Names<'_> {
    /// The arguments that are not for a variable.
    pub fn not_of_variables<'w>(&self, args: &[(SourceId, &'w str)]) -> Vec<(SourceId, &'w str)> {
        args.iter().copied().filter(|(_, arg)| named(arg, *self).is_none()).collect()
    }
}

/// An argument for a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableArg {
    /// The variable's name in the module.
    pub name: String,
    /// The type of the elements.
    pub element: Element,
    /// The elements.
    pub init: Init,
    /// The text of the argument.
    pub source: SourceId,
}

impl VariableArg {
    /// Stores it in `launch`.
    pub fn put(self, launch: &mut Launch) {
        launch.variable_types.insert(self.name.clone(), self.element);
        launch.variables.insert(self.name, self.init);
    }

    /// Its path in the launch at `launch`.
    pub fn place(&self, launch: &ValuePath) -> ValuePath {
        launch.field("variables").key(&self.name)
    }
}

/// The variable that an argument names before its `=` or `[`, and the rest; a parameter of that name takes precedence.
fn named<'w, 'v>(arg: &'w str, names: Names<'v>) -> Option<(&'v VariableFormal, &'w str)> {
    let (name, rest) = arg.split_at(arg.find(['=', '['])?);
    let found = names.variables.iter().find(|variable| variable.is_called(name))?;
    param_args::called(names.params, name).is_none().then(|| (found, rest.strip_prefix('=').unwrap_or(rest)))
}

/// Parses the arguments for variables among `args`; data files are relative to `folder`.
///
/// # Errors
/// Every mistake in them.
pub fn read(args: &[(SourceId, &str)], names: Names<'_>, folder: &Path) -> Result<Vec<VariableArg>, Vec<Diagnostic>> {
    let (mut all, mut errors): (Vec<VariableArg>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for (source, arg) in args {
        let Some((variable, spec)) = named(arg, names) else { continue };
        let reader = ArgReader { arg, source: *source };
        if all.iter().any(|given| given.name == variable.name) {
            let message = format!("variable '{}' is given twice", variable.formal.names[0]);
            errors.push(reader.error(arg, message, "one word a variable"));
            continue;
        }
        match variable.read(&reader, spec, folder) {
            Ok((element, init)) => all.push(VariableArg { name: variable.name.clone(), element, init, source: *source }),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}

impl VariableFormal {
    /// True if `name` is one of its names in arguments.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.formal.names.iter().any(|known| known == name)
    }

    /// Its element type, if it is declared or its accesses show it.
    pub fn element(&self) -> Option<Element> {
        self.element
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its name in the source.
    pub fn short(&self) -> &str {
        &self.formal.names[0]
    }

    /// `scale (f32)`, `coef (f32[4])`
    pub(super) fn describe(&self) -> String {
        let ty = match self.element {
            Some(element) if self.elements(element) == 1 => element.name().to_string(),
            Some(element) => format!("{}[{}]", element.name(), self.elements(element)),
            None => counted(self.bytes, "byte"),
        };
        format!("{} ({ty})", self.short())
    }

    fn read<'w>(&self, reader: &ArgReader<'w>, spec: &'w str, folder: &Path) -> Result<(Element, Init), Diagnostic> {
        let name = &self.formal.names[0];
        let (ty, extents, _) = split(spec);
        let is_typed = Element::from_name(ty).is_some() || extents.is_some() || ty == "bytes" || spec.starts_with('@');
        if is_typed || matches!(self.formal.ty, ParamType::Scalar(_) | ParamType::AnySign(_)) {
            let param = param_args::one(reader.arg, reader.source, spec, &self.formal, folder)?;
            return self.contents(reader, spec, param);
        }
        let help = |ty: &str| format!("{name}=@x.npy, or with a type {name}={ty}[]=1,2,3");
        let Some(element) = self.element else {
            let message = format!("'{name}' is declared by the byte, and the code does not show which elements it has");
            return Err(reader.error(spec, message, &help("f32")));
        };
        let init = reader.init(element, spec, true)?;
        match &init {
            Init::Values(values) if values.len() == 1 => {
                let whole = format!(
                    "all of them: {name}=[{}]={spec}; the first alone: {name}={}[1]={spec}",
                    self.elements(element),
                    element.name()
                );
                Err(reader.error(spec, format!("'{name}' has {} elements of {}", self.elements(element), element.name()), &whole))
            }
            _ => Ok((element, init)),
        }
    }

    fn elements(&self, element: Element) -> u64 {
        self.bytes / u64::from(element.bytes())
    }

    /// The element type and contents, from the value that a parameter of the same type would get.
    fn contents<'w>(&self, reader: &ArgReader<'w>, spec: &'w str, param: Param) -> Result<(Element, Init), Diagnostic> {
        let name = &self.formal.names[0];
        if let Some((element, number)) = param.scalar() {
            let fits = u64::from(element.bytes()) == self.bytes;
            let message = format!("one {} for '{name}', which has {} bytes", element.name(), self.bytes);
            let help = format!("{name}={}[{}]={number}", element.name(), self.elements(element));
            return if fits { Ok((element, Init::Values(vec![number]))) } else { Err(reader.error(spec, message, &help)) };
        }
        let wrong =
            || reader.error(spec, format!("no value of variable '{name}'"), &format!("{name}=@x.npy, {name}=1,2,3, {name}=bytes=00ff"));
        match param {
            Param::Bytes(digits, _) => hexadecimal(&digits).map(|values| (Element::U8, Init::Values(values))).ok_or_else(wrong),
            Param::Buffer(buffer) => self.whole(reader, spec, buffer),
            _ => Err(wrong()),
        }
    }

    /// The contents of a buffer, if its explicit extents match the variable or the list.
    fn whole<'w>(&self, reader: &ArgReader<'w>, spec: &'w str, buffer: Buffer) -> Result<(Element, Init), Diagnostic> {
        let name = &self.formal.names[0];
        let Buffer { elem, len, shape, init, .. } = buffer;
        let said = shape.map_or(len, |shape| shape.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent)));
        let is_whole = said.is_none_or(|said| said == self.elements(elem));
        let is_listed = |values: &Vec<_>| said.is_none_or(|said| said == values.len() as u64);
        let fits = match &init {
            Init::Values(values) => is_listed(values),
            Init::File(_)
            | Init::Zero
            | Init::Uninit
            | Init::Byte(_)
            | Init::Fill(_)
            | Init::Iota { .. }
            | Init::Random { .. }
            | Init::Pages(_)
            | Init::With(..) => is_whole,
            Init::Slice { .. } => said.is_none_or(|said| said <= self.elements(elem)),
        };
        if !fits {
            let message = format!("'{name}' has {} elements of {}", self.elements(elem), elem.name());
            let help = format!("{name}={}[]=@x.npy, {name}={}[]=1,2,3: lists and files may have fewer", elem.name(), elem.name());
            return Err(reader.error(spec, message, &help));
        }
        Ok((elem, init))
    }
}

/// Bytes in hexadecimal.
fn hexadecimal(digits: &str) -> Option<Vec<super::Number>> {
    let is_whole = digits.len().is_multiple_of(2) && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) && !digits.is_empty();
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok().map(|byte| super::Number::Integer(byte.into()));
    if is_whole { (0..digits.len()).step_by(2).map(byte).collect() } else { None }
}
