//! Arguments of the command line for parameters of a kernel: by name or in order, with an explicit type or the kernel's.
//!
//! ```text
//! u32=40   f32[1024]=iota        a type, as arg_syntax.rs parses it, for the next parameter
//! 40   @x.npy   1,2,3            the same with the kernel's type
//! n=40   x=@x.npy   x=[1024]     by name; [1024] is a buffer of the kernel's type
//! n=u32=40   x=f32[1024]=iota    by name and with a type
//! p=bytes=0011aabb   p=@p.bin    a struct by value
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::arg_syntax::{ArgReader, split};
use super::data::DataFiles;
use super::element::{Element, Kind, Number};
use super::file::{Buffer, Compare, Init, Param, Parts};
use super::npy::Header;
use super::npy_types::{element_of, saving};
use super::variable_args::{Names, VariableFormal};
use crate::base::{Diagnostic, SourceId, counted, read_bounded};
use crate::isa::nearest;

/// A parameter that an argument can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formal {
    /// Its names; the first is that of its buffer.
    pub names: Vec<String>,
    /// Its type in the kernel.
    pub ty: ParamType,
}

impl Formal {
    /// The shortest name: the first, or `param_N` for a compiler's `KERNEL_param_N`.
    pub fn short(&self) -> &str {
        let (first, last) = (self.names.first().map_or("", String::as_str), self.names.last().map_or("", String::as_str));
        let is_decorated = last.starts_with("param_") && first.ends_with(&format!("_{last}"));
        if is_decorated { last } else { first }
    }
}

/// The type of a parameter, as the kernel's declaration and code show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// A number of this type.
    Scalar(Element),
    /// An integer of this width, signed or not: PTX declares `int` and `unsigned` as `.u32`.
    AnySign(Element),
    /// An address of elements, of this type if the code shows it.
    Pointer(Option<Element>),
    /// An address of elements that the code only copies: they may have any type of this width.
    AnyOfWidth(Element),
    /// This many bytes by value.
    Struct(u32),
    /// A tensor map over an array of this many dimensions, and of elements of this type if that is known.
    TensorMap(usize, Option<Element>),
}

impl ParamType {
    /// `f32 buffer`, `u32`, `struct of 16 bytes`
    fn describe(self) -> String {
        match self {
            ParamType::Scalar(element) | ParamType::AnySign(element) => element.name().to_string(),
            ParamType::Pointer(Some(element)) | ParamType::AnyOfWidth(element) => format!("{} buffer", element.name()),
            ParamType::Pointer(None) => "buffer".to_string(),
            ParamType::Struct(bytes) => format!("struct of {bytes} bytes"),
            ParamType::TensorMap(dimensions, _) => format!("tensor map of {}", counted(dimensions as u64, "dimension")),
        }
    }

    /// The type of a number, or of the elements at an address.
    pub fn element(self) -> Option<Element> {
        match self {
            ParamType::Scalar(element) | ParamType::AnySign(element) | ParamType::AnyOfWidth(element) => Some(element),
            ParamType::Pointer(element) | ParamType::TensorMap(_, element) => element,
            ParamType::Struct(_) => None,
        }
    }
}

/// Parameter values from arguments, by index, each with the source of its argument.
pub type ParamArgs = BTreeMap<usize, (Param, SourceId)>;

/// Parses the arguments for parameters among `args`; data files are relative to `folder`.
///
/// # Errors
/// Every mistake in them.
pub fn read(args: &[(SourceId, &str)], names: Names<'_>, folder: &Path) -> Result<ParamArgs, Vec<Diagnostic>> {
    let formals = names.params;
    let (mut given, mut errors, mut order) = (ParamArgs::new(), Vec::new(), 0);
    for (source, arg) in &names.not_of_variables(args) {
        let reader = ParamArgReader { reader: ArgReader { arg, source: *source }, names, folder };
        let read = reader.target(&mut order).and_then(|(index, spec)| {
            assert!(index < formals.len(), "a word is for one of the parameters");
            let name = &formals[index].names[0];
            match given.contains_key(&index) {
                true => Err(reader.reader.error(arg, format!("parameter '{name}' is given twice"), "one word a parameter")),
                false => Ok((index, with_param_seed(reader.param(index, spec)?, index, spec))),
            }
        });
        match read {
            Ok((index, param)) => drop(given.insert(index, (param, *source))),
            Err(error) => errors.push(error),
        }
    }
    dedup_help(&mut errors);
    if errors.is_empty() { Ok(given) } else { Err(errors) }
}

/// Removes from the help of each error the text that the help of an earlier one has.
pub(super) fn dedup_help(errors: &mut [Diagnostic]) {
    let mut said = BTreeSet::new();
    for error in errors {
        let Some(help) = error.help.take() else { continue };
        let end = if help.starts_with("did you mean ") { help.find("? ").map_or(0, |end| end + 2) } else { 0 };
        let (meant, rest) = help.split_at(end);
        let is_new = said.insert(rest.to_string());
        error.help = if is_new { Some(help) } else { Some(meant.trim_end().to_string()).filter(|meant| !meant.is_empty()) };
    }
}

/// The value that `spec`, a part of the argument `argument`, has for `formal`.
pub(super) fn one<'a>(arg: &'a str, source: SourceId, spec: &'a str, formal: &'a Formal, folder: &'a Path) -> Result<Param, Diagnostic> {
    let names = Names { params: std::slice::from_ref(formal), variables: &[] };
    ParamArgReader { reader: ArgReader { arg, source }, names, folder }.param(0, spec)
}

/// Gives random numbers without an explicit seed a different seed for every parameter.
fn with_param_seed(mut param: Param, index: usize, spec: &str) -> Param {
    if let Some(Buffer { init: Init::Random { seed, .. }, .. }) = param.buffer_mut()
        && spec.ends_with("random")
    {
        *seed = index as u64 + 1;
    }
    param
}

/// The index of the parameter called `name`: by its first name, or else by another one.
pub fn called(formals: &[Formal], name: &str) -> Option<usize> {
    let by_first = formals.iter().position(|formal| formal.names.first().is_some_and(|first| first == name));
    by_first.or_else(|| formals.iter().position(|formal| formal.names.iter().any(|known| known == name)))
}

/// Help for an unknown name: a similar one, and all parameters in order and variables with their types.
pub(super) fn unknown_help(name: &str, names: Names<'_>) -> String {
    const LETTERS_MIN: usize = 3;
    let formals = names.params;
    let of_params = || formals.iter().flat_map(|formal| formal.names.iter().map(String::as_str));
    let known = || of_params().chain(names.variables.iter().map(VariableFormal::short));
    let in_other_case = known().find(|known| known.eq_ignore_ascii_case(name));
    let like = || nearest(name, known()).filter(|_| name.len() >= LETTERS_MIN);
    let meant = in_other_case.or_else(like).map_or(String::new(), |meant| format!("did you mean '{meant}'? "));
    let listed: Vec<String> = formals.iter().map(|formal| format!("{} ({})", formal.short(), formal.ty.describe())).collect();
    let variables: Vec<String> = names.variables.iter().map(VariableFormal::describe).collect();
    let variables = if variables.is_empty() { String::new() } else { format!("; variables: {}", variables.join(", ")) };
    let numbered = match formals.len() {
        0 => return format!("{meant}the kernel has no parameters{variables}"),
        1 => "param_0".to_string(),
        count => format!("param_0 to param_{}", count - 1),
    };
    let has_names = formals.iter().enumerate().any(|(index, formal)| formal.short() != format!("param_{index}"));
    let other = match has_names {
        true => format!("; also {numbered}"),
        false => {
            "; names need the source: give KERNEL.cu, or PTX that 'nvcc -ptx -lineinfo' makes of a KERNEL.cu that is there".to_string()
        }
    };
    format!("{meant}parameters: {}{other}{variables}", listed.join(", "))
}

/// The parameter named before the first `=` or `[` of an argument, and the rest.
fn named<'w>(arg: &'w str, formals: &[Formal]) -> Option<(usize, &'w str)> {
    let end = arg.find(['=', '['])?;
    let (name, rest) = arg.split_at(end);
    let index = called(formals, name)?;
    Some((index, rest.strip_prefix('=').unwrap_or(rest)))
}

/// The parser of one argument.
struct ParamArgReader<'a> {
    reader: ArgReader<'a>,
    names: Names<'a>,
    folder: &'a Path,
}

impl<'a> ParamArgReader<'a> {
    /// The index of the parameter that the argument is for, and the rest. `order` counts the arguments without a name.
    fn target(&self, order: &mut usize) -> Result<(usize, &'a str), Diagnostic> {
        let arg = self.reader.arg;
        if let Some(named) = named(arg, self.names.params) {
            return Ok(named);
        }
        let (left, _, value) = split(arg);
        let is_name = left.starts_with(|letter: char| letter.is_ascii_alphabetic() || "_$%".contains(letter));
        if is_name && value.is_some() && left != "bytes" && Element::from_name(left).is_none() {
            let types = if split(arg).1.is_some() { format!("; types: {}", Element::names()) } else { String::new() };
            let help = format!("{}{types}", unknown_help(left, self.names));
            return Err(self.reader.error(left, format!("'{left}' is neither a parameter nor a type"), &help));
        }
        *order += 1;
        match *order <= self.names.params.len() {
            true => Ok((*order - 1, arg)),
            false => {
                let help = "words without a name stand in the order of the parameters";
                Err(self.reader.error(arg, format!("the kernel has only {}", counted(self.names.params.len() as u64, "parameter")), help))
            }
        }
    }

    /// The value of the parameter in `spec`.
    fn param(&self, index: usize, spec: &'a str) -> Result<Param, Diagnostic> {
        let Formal { names, ty } = &self.names.params[index];
        let name = &names[0];
        if let Some(digits) = spec.strip_prefix("bytes=") {
            return Ok(Param::Bytes(digits.to_string(), Parts::new()));
        }
        let (explicit, extents, _) = split(spec);
        if Element::from_name(explicit).is_some() {
            return match (self.reader.typed(spec, name)?, *ty) {
                (Param::Buffer(buffer), ty) => self.mapped(self.with_named_type(buffer, spec)?, ty, spec).map(Param::Buffer),
                (_, ParamType::TensorMap(dimensions, element)) => Err(self.no_array(spec, name, dimensions, element)),
                (scalar, _) => Ok(scalar),
            };
        }
        let is_untyped_buffer = explicit.is_empty() && extents.is_some();
        match *ty {
            ty @ (ParamType::Pointer(_) | ParamType::AnyOfWidth(_) | ParamType::TensorMap(..)) if is_untyped_buffer => {
                let (_, extents, value) = split(spec);
                let element = ty.element().unwrap_or(Element::B32);
                let buffer = self.reader.buffer(element, extents.unwrap_or(""), value, name)?;
                self.mapped(self.with_kernel_type(buffer, ty, spec)?, ty, spec).map(Param::Buffer)
            }
            ParamType::TensorMap(dimensions, element) if !spec.starts_with('@') => Err(self.no_array(spec, name, dimensions, element)),
            ty @ (ParamType::Pointer(_) | ParamType::AnyOfWidth(_) | ParamType::TensorMap(..)) => {
                self.mapped(self.pointer(spec, name, ty)?, ty, spec).map(Param::Buffer)
            }
            ParamType::Scalar(element) => self.scalar(spec, name, element),
            ParamType::AnySign(element) => {
                let signed = element.signed().filter(|_| spec.starts_with('-'));
                self.scalar(spec, name, signed.unwrap_or(element))
            }
            ParamType::Struct(bytes) => self.structure(spec, name, bytes),
        }
    }

    fn scalar(&self, spec: &'a str, name: &str, element: Element) -> Result<Param, Diagnostic> {
        let ty = element.name();
        if spec.starts_with('@') || split(spec).1.is_some() {
            let help = format!("{name}=40, or with a type {name}={ty}=40");
            return Err(self.reader.error(spec, format!("'{name}' is a number ({ty}), not a buffer"), &help));
        }
        match self.reader.number(spec)? {
            Number::Float(_) if element.kind() == Kind::Bits => {
                let like =
                    [Element::F16, Element::BF16, Element::F32, Element::F64].into_iter().filter(|like| like.bytes() == element.bytes());
                let help = like.map(|like| format!("{name}={}={spec}", like.name())).collect::<Vec<_>>().join(" or ");
                Err(self.reader.error(
                    spec,
                    format!("the kernel does not say which type of {} bits '{name}' has", element.bytes() * 8),
                    &help,
                ))
            }
            number => match element.encode(number) {
                Ok(_) => Ok(Param::from_scalar(element, number)),
                Err(message) => Err(self.reader.error(spec, message, &format!("'{name}' is a {ty}"))),
            },
        }
    }

    fn pointer(&self, spec: &'a str, name: &str, param_type: ParamType) -> Result<Buffer, Diagnostic> {
        let element = param_type.element().unwrap_or(Element::B32);
        let is_whole = spec.starts_with('@') || spec.contains(',') && !spec.contains('(');
        if !is_whole {
            let init = self.reader.init(element, spec, true);
            let ty = element.name();
            if let Ok(init) = &init
                && init.is_generated()
            {
                return Ok(buffer_of(name, element, init.clone()));
            }
            let help = match init {
                Ok(Init::Values(_)) => format!("a buffer of {spec}: {name}=[1024]={spec}; an address: {name}=u64={spec}"),
                _ => format!("{name}=[1024]={spec}, {name}=@x.npy, {name}=1,2,3, with a type {name}={ty}[1024]={spec}"),
            };
            return Err(self.reader.error(spec, format!("'{name}' is a pointer to {ty}, so the word says a buffer and its length"), &help));
        }
        let init = self.reader.init(element, spec, true)?;
        self.with_kernel_type(buffer_of(name, element, init), param_type, spec)
    }

    /// The shortest name of the parameter whose first name is `name`.
    fn short<'n>(&'n self, name: &'n str) -> &'n str {
        self.names.params.iter().find(|formal| formal.names[0] == name).map_or(name, Formal::short)
    }

    /// The buffer, with the element type of its data file if the kernel's type allows it.
    fn with_kernel_type(&self, mut buffer: Buffer, ty: ParamType, spec: &'a str) -> Result<Buffer, Diagnostic> {
        let Init::File(file) = &buffer.init else { return Ok(buffer) };
        // A file that cannot be read is reported when the launch is resolved.
        let Ok(data) = DataFiles::default().get(&self.folder.join(file)) else { return Ok(buffer) };
        match element_of(&data, ty) {
            Ok(element) => buffer.elem = element,
            Err(misfit) => {
                let is_map = matches!(ty, ParamType::TensorMap(..));
                let named = data.npy.as_ref().and_then(Header::element).filter(|_| !is_map);
                let as_it_is = named.map(|ty| {
                    format!(", or name its type, for its bytes as they are: {}={}[]=@{file}", self.short(&buffer.name), ty.name())
                });
                let help = format!("{}{}", misfit.help, as_it_is.unwrap_or_default());
                let message = format!("{}, and the kernel reads {}", misfit.holds, ty.element().unwrap_or(Element::B32).name());
                return Err(self.reader.error(spec, message, &help));
            }
        }
        Ok(buffer)
    }

    /// The buffer; if the explicit type is an integer or untyped and the data file has another type, with the file's bytes unconverted.
    fn with_named_type(&self, mut buffer: Buffer, spec: &'a str) -> Result<Buffer, Diagnostic> {
        let Init::File(file) = &buffer.init else { return Ok(buffer) };
        let Ok(data) = DataFiles::default().get(&self.folder.join(file)) else { return Ok(buffer) };
        let Some(header) = data.npy.as_ref().filter(|header| !header.fills(buffer.elem)) else {
            return Ok(buffer);
        };
        let (named, size) = (buffer.elem.name(), u64::from(buffer.elem.bytes()));
        if buffer.elem.kind() == Kind::Float {
            let message = format!("'{file}' holds elements of {}, and the word says {named}", header.dtype());
            let help = format!("{}; for its bytes as they are {}=b32[]=@{file}", saving(&data, buffer.elem), self.short(&buffer.name));
            return Err(self.reader.error(spec, message, &help));
        }
        let given = header.elements().and_then(|elements| elements.checked_mul(header.element_bytes)).unwrap_or(u64::MAX);
        let elements = match (&buffer.shape, buffer.len) {
            (Some(shape), _) => shape.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent)),
            (None, len) => len.or(Some(given / size)),
        };
        if elements.and_then(|elements| elements.checked_mul(size)) != Some(given) {
            let message = format!("'{file}' has {given} bytes of data, which are not the {named} that the word says");
            return Err(self.reader.error(spec, message, &format!("{size} bytes are one {named}")));
        }
        if buffer.shape.is_none() && buffer.len.is_none() {
            let is_as_wide = header.element_bytes == size;
            (buffer.shape, buffer.len) = if is_as_wide { (Some(header.shape.clone()), None) } else { (None, elements) };
        }
        buffer.init = Init::Slice { file: file.clone(), offset: header.data_offset };
        Ok(buffer)
    }

    /// Checks the array of a tensor map, which has as many dimensions as its copies have coordinates; other buffers are unchanged.
    fn mapped(&self, mut buffer: Buffer, ty: ParamType, spec: &'a str) -> Result<Buffer, Diagnostic> {
        let ParamType::TensorMap(dimensions, element) = ty else { return Ok(buffer) };
        // A file that cannot be read is reported when the launch is resolved.
        let Some(shape) = shape_of(&buffer, self.folder) else { return Ok(buffer) };
        if shape.len() != dimensions {
            let message =
                format!("an array of {} for '{}', a tensor map of {dimensions}", counted(shape.len() as u64, "dimension"), buffer.name);
            return Err(self.reader.error(spec, message, &map_help(&buffer.name, dimensions, element)));
        }
        // A map of integers copies any elements of their width; one of floats determines the element type.
        let is_map_of = |element: Element| {
            let moved = element.kind() != Kind::Float || buffer.elem.kind() == Kind::Bits;
            buffer.elem == element || moved && buffer.elem.bytes() == element.bytes()
        };
        if let Some(element) = element.filter(|element| !is_map_of(*element)) {
            let message = format!("elements of {} for '{}', a tensor map of {}", buffer.elem.name(), buffer.name, element.name());
            return Err(self.reader.error(spec, message, &map_help(&buffer.name, dimensions, Some(element))));
        }
        let row = shape.last().map_or(0, |extent| extent.saturating_mul(buffer.elem.bytes().into()));
        if dimensions > 1 && row % MAP_STRIDE != 0 {
            let message = format!("rows of {row} bytes for '{}'", buffer.name);
            let help = format!("the rows of a tensor map are a multiple of {MAP_STRIDE} bytes (cuTensorMapEncodeTiled, globalStrides)");
            return Err(self.reader.error(spec, message, &help));
        }
        (buffer.shape, buffer.len) = (Some(shape), None);
        Ok(buffer)
    }

    fn no_array(&self, spec: &'a str, name: &str, dimensions: usize, element: Option<Element>) -> Diagnostic {
        let message = format!("'{name}' is a tensor map, so the word says the array that it describes");
        self.reader.error(spec, message, &map_help(name, dimensions, element))
    }

    fn structure(&self, spec: &'a str, name: &str, bytes: u32) -> Result<Param, Diagnostic> {
        let help = format!("{name}=bytes=0011aabb…, {bytes} bytes in hexadecimal, or {name}=@FILE with these bytes");
        let Some(file) = spec.strip_prefix('@') else {
            return Err(self.reader.error(spec, format!("'{name}' is a struct of {bytes} bytes"), &help));
        };
        let read = read_bounded(&self.folder.join(file), u64::from(bytes)).map_err(|error| format!("'{file}' cannot be read: {error}"));
        match read {
            Ok(Some(data)) if data.len() == bytes as usize => Ok(Param::bytes(&data)),
            Ok(_) => Err(self.reader.error(spec, format!("'{file}' does not have {bytes} bytes"), &help)),
            Err(message) => Err(self.reader.error(spec, message, &help)),
        }
    }
}

/// A buffer without an explicit length.
fn buffer_of(name: &str, elem: Element, init: Init) -> Buffer {
    let (expect, tolerance, compare) = (None, None, Compare::default());
    Buffer { name: name.to_string(), elem, len: None, shape: None, init, expect, tolerance, compare }
}

/// Alignment of `globalStrides` of a tensor map.
const MAP_STRIDE: u64 = 16;

/// Help for an argument with the array of a tensor map.
fn map_help(name: &str, dimensions: usize, element: Option<Element>) -> String {
    let extents = vec!["64"; dimensions].join(",");
    format!(
        "{name}=@x.npy with as many dimensions as the map, {name}={}[{extents}]=random, {name}=bytes=… (128 of them)",
        element.unwrap_or(Element::F16).name()
    )
}

/// The extents and the name of an array.
pub type Array = (Vec<u64>, String);

/// The arrays among `params`; data files are relative to `folder`.
pub fn arrays<'a>(params: impl Iterator<Item = &'a Param>, folder: &Path) -> Vec<Array> {
    params.filter_map(Param::buffer).filter_map(|buffer| Some((shape_of(buffer, folder)?, buffer.name.clone()))).collect()
}

/// The distinct extents of the arrays other than 1.
pub fn extents(arrays: &[Array]) -> Vec<u64> {
    distinct(arrays.iter().flat_map(|(shape, _)| shape.iter().copied()))
}

/// The distinct numbers of elements of the arrays with several dimensions.
pub fn totals(arrays: &[Array]) -> Vec<u64> {
    let several = arrays.iter().filter(|(shape, _)| shape.len() >= 2);
    distinct(several.filter_map(|(shape, _)| shape.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent))))
}

fn distinct(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut found = Vec::new();
    for number in numbers.filter(|number| *number > 1) {
        if !found.contains(&number) {
            found.push(number);
        }
    }
    found
}

/// Elements of the arrays, and the name of one, if all have one dimension and the same length.
pub fn length(arrays: &[Array]) -> Option<(u64, String)> {
    let (shape, name) = arrays.first()?;
    let is_same = shape.len() == 1 && arrays.iter().all(|array| array.0 == *shape);
    is_same.then(|| (shape[0], name.clone()))
}

/// Elements of a row of the matrices among the arrays, and the name of one, if all rows have the same length.
pub fn row(arrays: &[Array]) -> Option<(u64, String)> {
    let mut rows = arrays.iter().filter(|(shape, _)| shape.len() >= 2).filter_map(|(shape, name)| Some((*shape.last()?, name)));
    let (first, name) = rows.next()?;
    rows.all(|(row, _)| row == first).then(|| (first, name.clone()))
}

fn shape_of(buffer: &Buffer, folder: &Path) -> Option<Vec<u64>> {
    match (&buffer.shape, buffer.len, &buffer.init) {
        (Some(shape), ..) => Some(shape.clone()),
        (None, Some(len), _) => Some(vec![len]),
        (None, None, Init::File(file)) => Some(DataFiles::default().get(&folder.join(file)).ok()?.npy.as_ref()?.shape.clone()),
        (None, None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formals() -> Vec<Formal> {
        let formal = |name: &str, ty| Formal { names: vec![name.to_string()], ty };
        vec![
            formal("x", ParamType::Pointer(Some(Element::F32))),
            formal("n", ParamType::Scalar(Element::U32)),
            formal("s", ParamType::Struct(4)),
            formal("h", ParamType::Scalar(Element::B16)),
            formal("i", ParamType::AnySign(Element::U32)),
        ]
    }

    fn names(params: &[Formal]) -> Names<'_> {
        Names { params, variables: &[] }
    }

    fn one(arg: &str) -> Result<(usize, Param), String> {
        let given = read(&[(SourceId(0), arg)], names(&formals()), Path::new("nowhere"));
        let given = given.map_err(|errors| format!("{}..{}: {}", errors[0].span.start, errors[0].span.end, errors[0].message))?;
        Ok(given.into_iter().map(|(index, (param, _))| (index, param)).next().unwrap())
    }

    #[test]
    fn names_and_own_types_are_understood() {
        let buffer = |elem, len, init| {
            Param::Buffer(Buffer {
                name: "x".to_string(),
                elem,
                len,
                shape: None,
                init,
                expect: None,
                tolerance: None,
                compare: Compare::default(),
            })
        };
        let file = || Init::File("x.npy".to_string());
        let integers = [1, 2].map(Number::Integer).to_vec();
        for (arg, index, param) in [
            ("n=40", 1, Param::U32(Number::Integer(40))),
            ("i=40", 4, Param::U32(Number::Integer(40))),
            ("i=-40", 4, Param::S32(Number::Integer(-40))),
            ("n=s32=-1", 1, Param::S32(Number::Integer(-1))),
            ("x=@x.npy", 0, buffer(Element::F32, None, file())),
            ("@x.npy", 0, buffer(Element::F32, None, file())),
            ("x=[64]", 0, buffer(Element::F32, Some(64), Init::Zero)),
            ("x[64]=1.5", 0, buffer(Element::F32, Some(64), Init::Fill(Number::Float(1.5)))),
            ("x=zero", 0, buffer(Element::F32, None, Init::Zero)),
            ("x=1,2", 0, buffer(Element::F32, None, Init::Values(integers))),
            ("x=u8[]=@x.npy", 0, buffer(Element::U8, None, file())),
            ("x=u64=0", 0, Param::U64(Number::Integer(0))),
            ("s=bytes=00112233", 2, Param::Bytes("00112233".to_string(), Parts::new())),
            ("h=bf16=1.5", 3, Param::BF16(Number::Float(1.5))),
            ("f32[64]", 0, buffer(Element::F32, Some(64), Init::Zero)),
        ] {
            assert_eq!(one(arg), Ok((index, param)), "{arg}");
        }
    }

    #[test]
    fn what_does_not_fit_is_said() {
        for (arg, message) in [
            ("y=40", "0..1: 'y' is neither a parameter nor a type"),
            ("n=@x.npy", "2..8: 'n' is a number (u32), not a buffer"),
            ("n=-1", "2..4: -1 does not fit U32, which holds 0 to 4294967295"),
            ("i=-2147483649", "2..13: -2147483649 does not fit S32, which holds -2147483648 to 2147483647"),
            ("x=40", "2..4: 'x' is a pointer to f32, so the word says a buffer and its length"),
            ("h=1.5", "2..5: the kernel does not say which type of 16 bits 'h' has"),
            ("s=1", "2..3: 's' is a struct of 4 bytes"),
            ("s=@x.bin", "2..8: 'x.bin' cannot be read"),
            ("n=", "2..2: a number is missing"),
            ("x=[4", "4..4: ']' is missing"),
        ] {
            let error = one(arg).unwrap_err();
            assert!(error.starts_with(message), "{arg}: {error}");
        }
    }

    #[test]
    fn words_without_a_name_stand_in_order() {
        let args = [(SourceId(0), "[8]"), (SourceId(1), "h=7"), (SourceId(2), "3")];
        let given = read(&args, names(&formals()), Path::new("")).unwrap();
        assert_eq!(given.keys().copied().collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(given[&1], (Param::U32(Number::Integer(3)), SourceId(2)));
        let twice = read(&[(SourceId(0), "[8]"), (SourceId(1), "x=[8]")], names(&formals()), Path::new("")).unwrap_err();
        assert_eq!(twice[0].message, "parameter 'x' is given twice");
        let many = ["[8]", "1", "bytes=00112233", "1", "1", "1"].map(|word| (SourceId(0), word));
        assert_eq!(read(&many, names(&formals()), Path::new("")).unwrap_err()[0].message, "the kernel has only 5 parameters");
    }
}
