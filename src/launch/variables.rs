//! Variables of the module given as words of the command line: `coef=@coef.npy`, `coef=1,2,3`, `scale=0.5`, `coef=f32[]=@coef.npy`.

use std::collections::BTreeMap;
use std::path::Path;

use super::element::Element;
use super::file::{Buffer, Init, Launch, Param};
use super::given::{self, Formal, Own};
use super::value_path::ValuePath;
use super::words::{Reader, split};
use crate::base::{Diagnostic, SourceId, counted};
use crate::isa::{ScalarType, Space};
use crate::program::{Program, VarId, Variable, source_name};

/// The variables that a launch can give values: `.const` and `.global` ones.
pub(super) fn of_module(program: &Program) -> impl Iterator<Item = (usize, &Variable)> {
    let is_given = |variable: &Variable| matches!(variable.location.space, Space::Const | Space::Global) && variable.bytes > 0;
    program.variables.iter().enumerate().filter(move |(_, variable)| is_given(variable) && variable.opaque.is_none())
}

/// The type of the elements that a variable is declared with; none of an array of bytes, as nvcc declares every array.
pub(super) fn declared(variable: &Variable) -> Option<Element> {
    let is_of_bytes = variable.ty == ScalarType::B8 && variable.is_array;
    Element::from_name(variable.ty.word()).filter(|_| !is_of_bytes)
}

/// A variable that a word can be for.
#[derive(Clone, Debug)]
pub struct VariableFormal {
    /// Its name in the module.
    pub name: String,
    /// Its names in words, and its type.
    formal: Formal,
    /// Its bytes.
    bytes: u64,
    /// The type of its elements, if it is declared or `types` says it.
    element: Option<Element>,
}

/// The variables that words can be for; `types` are those of the elements of arrays that are declared by the byte.
pub fn formals(program: &Program, types: &BTreeMap<VarId, Element>) -> Vec<VariableFormal> {
    let formal = |(index, variable): (usize, &Variable)| {
        let element = declared(variable).or_else(|| types.get(&VarId::new(index)).copied());
        let own = match element {
            Some(element) if u64::from(element.bytes()) == variable.bytes => Own::Scalar(element),
            element => Own::Pointer(element),
        };
        let name = variable.name.to_string();
        let names = vec![source_name(&name).to_string(), name.clone()];
        VariableFormal { name, formal: Formal { names, own }, bytes: variable.bytes, element }
    };
    of_module(program).map(formal).collect()
}

/// What words can name.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The kernel's parameters.
    pub params: &'a [Formal],
    /// The module's variables.
    pub variables: &'a [VariableFormal],
}

impl Names<'_> {
    /// The words that are for no variable.
    pub fn not_of_variables<'w>(&self, words: &[(SourceId, &'w str)]) -> Vec<(SourceId, &'w str)> {
        words.iter().copied().filter(|(_, word)| named(word, *self).is_none()).collect()
    }
}

/// What a word gives to a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The variable's name in the module.
    pub name: String,
    /// The type of the elements.
    pub element: Element,
    /// The elements.
    pub init: Init,
    /// The word.
    pub source: SourceId,
}

impl Given {
    /// Puts it into `launch`.
    pub fn put(self, launch: &mut Launch) {
        launch.variable_types.insert(self.name.clone(), self.element);
        launch.variables.insert(self.name, self.init);
    }

    /// Where it is in the launch at `launch`.
    pub fn place(&self, launch: &ValuePath) -> ValuePath {
        launch.field("variables").key(&self.name)
    }
}

/// The variable that a word names before its equals sign or bracket; a parameter of that name goes before.
fn named<'w, 'v>(word: &'w str, names: Names<'v>) -> Option<(&'v VariableFormal, &'w str)> {
    let (name, rest) = word.split_at(word.find(['=', '['])?);
    let found = names.variables.iter().find(|variable| variable.is_called(name))?;
    given::called(names.params, name).is_none().then(|| (found, rest.strip_prefix('=').unwrap_or(rest)))
}

/// Reads those of `words` that are for variables, each the text of its source; data files are relative to `folder`.
///
/// # Errors
/// Everything in them that cannot be read or does not fit the variable.
pub fn read(words: &[(SourceId, &str)], names: Names<'_>, folder: &Path) -> Result<Vec<Given>, Vec<Diagnostic>> {
    let (mut all, mut errors): (Vec<Given>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for (source, word) in words {
        let Some((variable, spec)) = named(word, names) else { continue };
        let reader = Reader { word, source: *source };
        if all.iter().any(|given| given.name == variable.name) {
            let message = format!("variable '{}' is given twice", variable.formal.names[0]);
            errors.push(reader.error(word, message, "one word a variable"));
            continue;
        }
        match variable.read(&reader, spec, folder) {
            Ok((element, init)) => all.push(Given { name: variable.name.clone(), element, init, source: *source }),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}

impl VariableFormal {
    /// Whether words call it so.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.formal.names.iter().any(|known| known == name)
    }

    /// The type of its elements, if it is declared or its accesses show it.
    pub(super) fn element(&self) -> Option<Element> {
        self.element
    }

    /// The name that the source has for it.
    pub(super) fn short(&self) -> &str {
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

    fn read<'w>(&self, reader: &Reader<'w>, spec: &'w str, folder: &Path) -> Result<(Element, Init), Diagnostic> {
        let name = &self.formal.names[0];
        let (ty, extents, _) = split(spec);
        let is_typed = Element::from_name(ty).is_some() || extents.is_some() || ty == "bytes" || spec.starts_with('@');
        if is_typed || matches!(self.formal.own, Own::Scalar(_)) {
            let param = given::one(reader.word, reader.source, spec, &self.formal, folder)?;
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

    /// What a word gives to the variable, of what it would give to a parameter of the same type.
    fn contents<'w>(&self, reader: &Reader<'w>, spec: &'w str, param: Param) -> Result<(Element, Init), Diagnostic> {
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

    /// The contents of a buffer, if the extents that are written with them are those of the variable or of a list.
    fn whole<'w>(&self, reader: &Reader<'w>, spec: &'w str, buffer: Buffer) -> Result<(Element, Init), Diagnostic> {
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
