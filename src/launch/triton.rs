//! Files that Triton writes to the folder of the PTX: `NAME.json` has the launch configuration, and `NAME.ttir` the names of the
//! parameters and the element types of pointers.
//!
//! The format is that of Triton 3.6; unknown fields are ignored, and files of older versions may lack some. A file of that name that
//! another program wrote is not used: Triton's has the number of warps and the bytes of shared memory.

mod ttir;

use std::path::Path;

use serde::Deserialize;

use super::element::Number;
use super::made_up::{LaunchFacts, MapFacts};
use super::ron_text::read_text;
use crate::base::{Diagnostic, SourceFile, SourceId, Sources, Span};
use crate::container::bundle;
use crate::isa::{OutsideFill, ScalarType, Swizzle, TensorElement};
use crate::program::{Function, TENSOR_MAP_BYTES};
use ttir::{Argument, Kind};

/// Names of the pointers to scratch memory that Triton may add after the parameters of a kernel.
const SCRATCH: [&str; 2] = ["global_scratch", "profile_scratch"];

/// The fields of `NAME.json` that determine a launch.
#[derive(Debug, Deserialize)]
struct Metadata {
    name: Option<String>,
    num_warps: Option<u32>,
    #[serde(default = "warp")]
    warp_size: u32,
    num_ctas: Option<u32>,
    cluster_dims: Option<[u32; 3]>,
    shared: Option<u32>,
    #[serde(default)]
    global_scratch_size: u64,
    #[serde(default)]
    profile_scratch_size: u64,
    #[serde(default)]
    tensordesc_meta: Option<Vec<Descriptor>>,
    #[serde(default)]
    launch_cooperative_grid: bool,
}

fn warp() -> u32 {
    32
}

/// An entry of `tensordesc_meta`: a tensor descriptor that the host encodes.
#[derive(Debug, Deserialize)]
struct Descriptor {
    /// The number of the mode: none, 32, 64 or 128 bytes.
    swizzle: u32,
    /// The number that `tensormap.replace.elemtype` gives the type.
    elem_type: u32,
    /// Elements of a box, outermost dimension first.
    block_size: Vec<u32>,
}

/// A file with its name in messages.
struct TritonFile {
    name: String,
    source: SourceId,
}

/// Reads the facts about a launch of `kernel` from Triton's files in the folder of `module`, if any. Texts are added to `sources`.
///
/// # Errors
/// A file cannot be read, is damaged, or does not match the kernel; each error has its file and line.
pub fn facts(module: &Path, kernel: &Function, sources: &mut Sources) -> Result<LaunchFacts, Vec<Diagnostic>> {
    let json = open(&module.with_extension("json"), sources)?;
    let ttir = open(&module.with_extension("ttir"), sources)?;
    let mut known = LaunchFacts::default();
    let metadata = match &json {
        Some(file) => metadata(file, sources).map_err(|error| vec![error])?,
        None => None,
    };
    let metadata = metadata.filter(|metadata| metadata.name.as_deref().is_none_or(|name| name == &*kernel.name));
    if let (Some(metadata), Some(file)) = (&metadata, &json) {
        shape(&mut known, metadata, kernel, file).map_err(|error| vec![error])?;
    }
    let arguments = ttir.as_ref().and_then(|file| Some((file, ttir::arguments(sources.file(file.source).text(), &kernel.name)?)));
    if let Some((file, arguments)) = &arguments {
        let most = arguments.list.len() + SCRATCH.len();
        if !(arguments.list.len()..=most).contains(&kernel.params.len()) {
            let (has, wants) = (arguments.list.len(), kernel.params.len());
            let message = format!("{} gives '{}' {has} arguments, and the PTX {wants} parameters", file.name, kernel.name);
            let span = Span::new(file.source, arguments.span.0 as u32, arguments.span.1 as u32);
            return Err(vec![Diagnostic::error("launch", span, message).with_help(OTHER_COMPILATION)]);
        }
        argument_facts(&mut known, &arguments.list, &file.name);
    }
    if let (Some(metadata), Some(file)) = (&metadata, &json) {
        maps(&mut known, metadata, kernel, file).map_err(|error| vec![error])?;
        let count = arguments.as_ref().map(|(_, arguments)| arguments.list.len());
        scratch(&mut known, metadata, kernel, count);
    }
    Ok(known)
}

/// The fix for files of different compilations.
const OTHER_COMPILATION: &str =
    "the files are not of one compilation: keep those of one folder of Triton's cache together, or give a launch file (-l)";

fn open(path: &Path, sources: &mut Sources) -> Result<Option<TritonFile>, Vec<Diagnostic>> {
    if !bundle::is_file(path) {
        return Ok(None);
    }
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    match read_text(path) {
        Ok(text) => Ok(Some(TritonFile { name, source: sources.add(SourceFile::new(path.display().to_string(), text)) })),
        Err(message) => {
            let source = sources.add(SourceFile::new(path.display().to_string(), ""));
            Err(vec![Diagnostic::error("launch", Span::new(source, 0, 0), message).with_help(DAMAGED_HELP)])
        }
    }
}

/// The fix for a damaged file.
const DAMAGED_HELP: &str = "compile the kernel again, remove the file, or give a launch file (-l)";

/// Parses `NAME.json`; `None` if another program wrote it.
fn metadata(file: &TritonFile, sources: &Sources) -> Result<Option<Metadata>, Diagnostic> {
    let text = sources.file(file.source);
    let wrong = |error: &serde_json::Error| {
        let at = text.offset(error.line() as u32, error.column() as u32);
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message);
        let message = format!("this is not what Triton writes of a launch: {message}");
        Diagnostic::error("launch", Span::new(file.source, at, at), message).with_help(DAMAGED_HELP)
    };
    let value: serde_json::Value = serde_json::from_str(text.text()).map_err(|error| wrong(&error))?;
    if value.get("num_warps").is_none() || value.get("shared").is_none() {
        return Ok(None);
    }
    serde_json::from_str(text.text()).map(Some).map_err(|error| wrong(&error))
}

fn shape(known: &mut LaunchFacts, metadata: &Metadata, kernel: &Function, file: &TritonFile) -> Result<(), Diagnostic> {
    let says = format!("{} says so", file.name);
    let threads = metadata.num_warps.map(|warps| warps.saturating_mul(metadata.warp_size));
    if let Some(threads) = threads.filter(|threads| !(1..=1024).contains(threads)) {
        let message = format!("{} asks for {threads} threads of a block, and 1 to 1024 are possible", file.name);
        return Err(Diagnostic::error("launch", Span::new(file.source, 0, 0), message).with_help(DAMAGED_HELP));
    }
    // Warps that a kernel adds for its own use are in .reqntid, and not in the metadata.
    if kernel.limits.required_block.is_none() {
        known.block = threads.map(|threads| ([threads, 1, 1], says.clone()));
    }
    let cluster = metadata.cluster_dims.or(metadata.num_ctas.map(|blocks| [blocks, 1, 1]));
    known.cluster = cluster.filter(|extents| extents.iter().product::<u32>() > 1).map(|extents| (extents, says.clone()));
    known.dynamic_shared = metadata.shared.map(|bytes| (bytes, says));
    known.cooperative = metadata.launch_cooperative_grid;
    Ok(())
}

fn argument_facts(known: &mut LaunchFacts, arguments: &[Argument], file: &str) {
    for (index, argument) in arguments.iter().enumerate() {
        known.names.insert(index, argument.name.clone());
        match argument.kind {
            Kind::Pointer(Some(element)) | Kind::Descriptor(Some(element)) => {
                known.elements.insert(index, element);
            }
            Kind::Pointer(None) | Kind::Descriptor(None) | Kind::Number(_) => {}
        }
    }
    for (index, argument) in arguments.iter().enumerate() {
        if let Kind::Descriptor(_) = argument.kind {
            known.map_parts.insert(index, ttir::parts_of(arguments, index).collect());
        }
    }
    for (index, one) in ttir::parts(arguments) {
        let why = if one { "the innermost stride of a tensor descriptor" } else { "what a tensor descriptor reads outside is 0" };
        known.numbers.insert(index, (Number::Integer(i128::from(one)), format!("{why} ({file})")));
    }
}

/// Tensor maps by value, in the order in which the metadata names them.
fn maps(known: &mut LaunchFacts, metadata: &Metadata, kernel: &Function, file: &TritonFile) -> Result<(), Diagnostic> {
    let is_map = |param: &crate::program::Param| param.is_array && param.bytes as usize == TENSOR_MAP_BYTES;
    let maps: Vec<usize> = (0..kernel.params.len()).filter(|index| is_map(&kernel.params[*index])).collect();
    let said = metadata.tensordesc_meta.as_deref().unwrap_or(&[]);
    for (index, descriptor) in maps.into_iter().zip(said) {
        let wrong = |message: String| {
            let message = format!("{}: {message}", file.name);
            Diagnostic::error("launch", Span::new(file.source, 0, 0), message).with_help(DAMAGED_HELP)
        };
        let swizzle = Swizzle::ALL.get(descriptor.swizzle as usize).copied();
        let swizzle = swizzle.ok_or_else(|| wrong(format!("{} is the number of no swizzle mode, which are 0 to 3", descriptor.swizzle)))?;
        let element = TensorElement::from_number(descriptor.elem_type);
        let element = element.ok_or_else(|| wrong(format!("{} is the number of no element type", descriptor.elem_type)))?;
        if !(1..=5).contains(&descriptor.block_size.len()) || descriptor.block_size.iter().any(|extent| !(1..=256).contains(extent)) {
            return Err(wrong(format!("{:?} is not a box, which has 1 to 5 extents of 1 to 256 elements", descriptor.block_size)));
        }
        let tile: Vec<u32> = boxed(&descriptor.block_size, element, swizzle);
        let why = format!("{} says so", file.name);
        known.maps.insert(index, MapFacts { element: Some(element), tile, swizzle, fill: OutsideFill::default(), why });
    }
    Ok(())
}

/// The box of a copy, innermost dimension first. Rows of a box are at most as long as the swizzle's.
fn boxed(block: &[u32], element: TensorElement, swizzle: Swizzle) -> Vec<u32> {
    let mut tile: Vec<u32> = block.iter().rev().copied().collect();
    let row = match swizzle {
        Swizzle::None => return tile,
        Swizzle::B32 => 32,
        Swizzle::B64 => 64,
        Swizzle::B128 => 128,
    };
    if let Some(inner) = tile.first_mut() {
        *inner = (*inner).min(row / element.bytes());
    }
    tile
}

/// The hidden pointers to scratch memory: a buffer for each block, or null if there is none.
fn scratch(known: &mut LaunchFacts, metadata: &Metadata, kernel: &Function, arguments: Option<usize>) {
    let pointers = || kernel.params.iter().rev().take_while(|param| param.pointer.is_some()).count();
    let first = arguments.unwrap_or(kernel.params.len() - pointers().min(SCRATCH.len()));
    let sizes = [metadata.global_scratch_size, metadata.profile_scratch_size];
    for ((index, name), size) in (first..kernel.params.len()).zip(SCRATCH).zip(sizes) {
        known.names.insert(index, name.to_string());
        known.scratch.insert(index, size);
    }
}

/// The element type that MLIR calls `name`.
fn element(name: &str) -> Option<ScalarType> {
    Some(match name {
        "f16" => ScalarType::F16,
        "bf16" => ScalarType::BF16,
        "f32" => ScalarType::F32,
        "f64" => ScalarType::F64,
        "i1" | "i8" => ScalarType::S8,
        "i16" => ScalarType::S16,
        "i32" => ScalarType::S32,
        "i64" => ScalarType::S64,
        "f8E4M3FN" | "f8E4M3FNUZ" => ScalarType::E4M3,
        "f8E5M2" | "f8E5M2FNUZ" => ScalarType::E5M2,
        _ => return None,
    })
}
