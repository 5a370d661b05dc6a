//! Arguments of the command line with expected contents of buffers: `out=@y.npy`, `out=1,2,3`.

use std::path::Path;

use super::arg_syntax::ArgReader;
use super::data::DataFiles;
use super::described::{Described, described};
use super::element::{Element, Number};
use super::file::{Buffer, Compare, Init, Param, Tolerance};
use super::npy_types::{element_of, unlike};
use super::param_args::{Formal, ParamType, called, dedup_help, unknown_help};
use super::read::LaunchFile;
use super::relocate::carry_init;
use super::value_path::ValuePath;
use super::variable_args::{Names, VariableFormal};
use crate::base::{Diagnostic, SourceId};

/// One argument: the buffer's name and its elements.
struct ExpectArg<'a> {
    reader: ArgReader<'a>,
    name: &'a str,
    value: &'a str,
}

/// Tolerances as in NumPy's `allclose`; without them, elements must have the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToleranceArgs {
    /// Relative to the expected magnitude.
    pub rtol: Option<f64>,
    /// Absolute.
    pub atol: Option<f64>,
}

impl ToleranceArgs {
    /// The tolerance in the form of a launch file.
    pub fn tolerance(self) -> Option<Tolerance> {
        match (self.atol, self.rtol) {
            (None, None) => None,
            (Some(absolute), None) => Some(Tolerance::Abs(absolute)),
            (None, Some(relative)) => Some(Tolerance::Rel(relative)),
            (Some(absolute), Some(relative)) => Some(Tolerance::AbsPlusRel(absolute, relative)),
        }
    }
}

fn read<'a>(source: SourceId, arg: &'a str) -> Result<ExpectArg<'a>, Diagnostic> {
    let reader = ArgReader { arg, source };
    match arg.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok(ExpectArg { reader, name, value }),
        _ => Err(reader.error(arg, "a buffer and what it must hold are missing".to_string(), "--expect out=@y.npy")),
    }
}

/// Adds the expected contents of buffers in `args` to `file`. `named` has the names that arguments can use.
///
/// # Errors
/// Every argument that cannot be parsed, or that names no buffer.
pub fn expect(
    file: &mut LaunchFile,
    args: &[(SourceId, &str)],
    tolerance: ToleranceArgs,
    named: ArgNames<'_>,
) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    for (source, arg) in args {
        match store(file, *source, arg, tolerance, named) {
            Ok((place, _)) if file.expected.iter().any(|(known, _)| *known == place) => {
                let reader = ArgReader { arg, source: *source };
                errors.push(reader.error(arg, "what this buffer must hold is given twice".to_string(), "one --expect a buffer"));
            }
            Ok((place, tolerance_place)) => {
                file.expected.push((place, *source));
                file.expected.extend(tolerance.tolerance().map(|_| (tolerance_place, *source)));
            }
            Err(error) => errors.push(error),
        }
    }
    dedup_help(&mut errors);
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The names that arguments for one launch of a file can use.
#[derive(Clone, Copy, Debug)]
pub struct ArgNames<'a> {
    /// The index of the launch.
    pub launch: usize,
    /// The parameters.
    pub formals: &'a [Formal],
    /// The variables of the module.
    pub variables: &'a [VariableFormal],
    /// The folder that data files in arguments are relative to.
    pub folder: &'a Path,
}

/// The paths of the expected contents, and of the tolerance.
type Places = (ValuePath, ValuePath);

/// Stores one argument in its buffer; returns the paths.
fn store(file: &mut LaunchFile, source: SourceId, arg: &str, tolerance: ToleranceArgs, named: ArgNames<'_>) -> Result<Places, Diagnostic> {
    let ExpectArg { reader, name, value } = read(source, arg)?;
    let folder = file.folder.clone();
    let launches = file.launches();
    let places: Vec<ValuePath> = launches.iter().map(|(place, _)| place.clone()).collect();
    let meant = called(named.formals, name).and_then(|index| launches.get(named.launch)?.1.params.get(index)).map(buffer_of);
    let mut buffers: Vec<Described<'_>> =
        file.content.launches_mut().iter_mut().zip(&places).flat_map(|(launch, place)| described(launch, place)).collect();
    let known: Vec<String> = buffers.iter().map(|buffer| buffer.name.clone()).collect();
    let is_meant = |buffer: &Described<'_>| match &meant {
        Some(BufferTarget::Named(meant)) => buffer.name == *meant,
        Some(BufferTarget::At(address)) => buffer.at == Some(*address),
        Some(BufferTarget::None) | None => buffer.name == name,
    };
    if meant.is_none()
        && let Some(variable) = named.variables.iter().find(|variable| variable.is_called(name))
        && !buffers.iter().any(&is_meant)
    {
        return store_variable(file, &reader, (variable, value), tolerance, named);
    }
    let Some(buffer) = buffers.iter_mut().find(|buffer| is_meant(buffer)) else {
        let help = match named.formals {
            [] => format!("buffers: {}", known.join(", ")),
            formals => {
                let is_param = |known: &&String| formals.iter().any(|formal| formal.names.contains(known));
                let others: Vec<&str> = known.iter().filter(|known| !is_param(known)).map(String::as_str).collect();
                let others = if others.is_empty() { String::new() } else { format!("; other buffers: {}", others.join(", ")) };
                unknown_help(name, Names { params: formals, variables: named.variables }) + &others
            }
        };
        let message = match called(named.formals, name) {
            Some(_) => format!("'{name}' is not a buffer"),
            None => format!("there is no buffer '{name}'"),
        };
        return Err(reader.error(name, message, &help));
    };
    let init = elements(&reader, (name, buffer.elem), value, (named.folder, &folder))?;
    *buffer.expect = Some(init);
    *buffer.tolerance = tolerance.tolerance().or(*buffer.tolerance);
    Ok((buffer.place.field("expect"), buffer.place.field("tolerance")))
}

/// Stores an argument for a variable of the module; returns the paths.
fn store_variable(
    file: &mut LaunchFile,
    reader: &ArgReader<'_>,
    (variable, value): (&VariableFormal, &str),
    tolerance: ToleranceArgs,
    named: ArgNames<'_>,
) -> Result<Places, Diagnostic> {
    let places: Vec<ValuePath> = file.launches().iter().map(|(place, _)| place.clone()).collect();
    let folder = file.folder.clone();
    let launches = file.content.launches_mut();
    let (Some(launch), Some(place)) = (launches.get_mut(named.launch), places.get(named.launch)) else {
        return Err(reader.error(reader.arg, "the launch file has no launch".to_string(), "Launch(kernel: .., ..)"));
    };
    let name = variable.short();
    let Some(elem) = launch.variable_types.get(&variable.name).copied().or(variable.element()) else {
        let message = format!("'{name}' is declared by the byte, and the code does not show which elements it has");
        return Err(reader.error(name, message, &format!("variable_types: {{\"{name}\": F32}} in a launch file")));
    };
    let init = elements(reader, (name, elem), value, (named.folder, &folder))?;
    launch.variable_types.insert(variable.name.clone(), elem);
    launch.expect_variables.insert(variable.name.clone(), init);
    if let Some(tolerance) = tolerance.tolerance() {
        launch.variable_tolerances.insert(variable.name.clone(), tolerance);
    }
    let at = |field: &'static str| place.field(field).key(&variable.name);
    Ok((at("expect_variables"), at("variable_tolerances")))
}

/// The elements of `name` from `value`; data files are relative to folder `from`, and in the result to folder `to`.
fn elements<'w>(
    reader: &ArgReader<'w>,
    (name, elem): (&str, Element),
    value: &'w str,
    (from, to): (&Path, &Path),
) -> Result<Init, Diagnostic> {
    if !value.starts_with('@') && (value.ends_with(".npy") || from.join(value).is_file()) {
        return Err(reader.error(value, format!("'{value}' is not a number"), &format!("a file has @ before its name: {name}=@{value}")));
    }
    let mut init = reader.init(elem, value, true)?;
    if !matches!(init, Init::Values(_) | Init::File(_)) {
        return Err(reader.error(
            value,
            "a buffer is compared with a file or with values".to_string(),
            "--expect out=@y.npy, --expect out=1,2,3",
        ));
    }
    if let Init::File(path) = &init
        && let Ok(data) = DataFiles::default().get(&from.join(path))
        && let Some(misfit) = unlike(&data, elem)
    {
        let message = format!("{}, and '{name}' is of {}", misfit.holds, elem.name());
        return Err(reader.error(value, message, &misfit.help));
    }
    carry_init(&mut init, from, to);
    Ok(init)
}

/// The buffer that a parameter points to.
enum BufferTarget {
    /// The one of this name.
    Named(String),
    /// The memory that begins at this address.
    At(u64),
    /// None.
    None,
}

fn buffer_of(param: &Param) -> BufferTarget {
    let name = match param {
        Param::Alias(name) | Param::Offset(name, 0) => Some(name),
        param => param.buffer().map(|buffer| &buffer.name),
    };
    let address = || match param {
        Param::U64(Number::Integer(at)) | Param::B64(Number::Integer(at)) => u64::try_from(*at).ok(),
        // The eight bytes of a captured pointer, the lowest first.
        Param::Bytes(digits, parts) if parts.is_empty() && digits.len() == 16 => u64::from_str_radix(digits, 16).ok().map(u64::swap_bytes),
        _ => None,
    };
    name.map_or_else(|| address().map_or(BufferTarget::None, BufferTarget::At), |name| BufferTarget::Named(name.clone()))
}

/// Zeros in the shape of the expected contents, for a buffer that is described only there, with the index of its parameter; `None` if
/// the argument has neither a list nor a readable file, or names no pointer.
pub fn output(arg: &str, formals: &[Formal], folder: &Path) -> Option<(usize, Buffer)> {
    let (name, value) = arg.split_once('=')?;
    let index = called(formals, name)?;
    let ty = formals[index].ty;
    if !matches!(ty, ParamType::Pointer(_) | ParamType::AnyOfWidth(_) | ParamType::TensorMap(..)) {
        return None;
    }
    let Some(file) = value.strip_prefix('@') else {
        let is_list = value.contains(',') && !value.contains('(') && !matches!(ty, ParamType::TensorMap(..));
        let elem = ty.element().filter(|_| is_list)?;
        return Some((index, zeros(&formals[index].names[0], elem, vec![value.split(',').count() as u64])));
    };
    let data = DataFiles::default().get(&folder.join(file)).ok()?;
    let elem = element_of(&data, ty).ok()?;
    let shape = data.npy.as_ref().map_or_else(|| vec![data.bytes / u64::from(elem.bytes())], |header| header.shape.clone());
    // An array with another number of dimensions than the map is reported later, when the two are compared.
    if matches!(ty, ParamType::TensorMap(dimensions, _) if dimensions != shape.len()) {
        return None;
    }
    Some((index, zeros(&formals[index].names[0], elem, shape)))
}

fn zeros(name: &str, elem: Element, shape: Vec<u64>) -> Buffer {
    Buffer {
        name: name.to_string(),
        elem,
        len: None,
        shape: Some(shape),
        init: Init::Zero,
        expect: None,
        tolerance: None,
        compare: Compare::default(),
    }
}
