//! Launches that nobody wrote: made up from the kernel alone, or from one word for each parameter.

use super::element::{Element, Kind, Number};
use super::file::{Buffer, Content, Init, Launch, Param};
use super::read::{LaunchFile, Origin};
use super::{pointers, words};
use crate::base::{Diagnostic, SourceFile, Sources};
use crate::program::{self, Function};
use std::collections::BTreeMap;
use std::path::Path;

/// Threads of a block where the kernel does not say.
const BLOCK_DEFAULT: u32 = 32;
/// Elements of a made-up buffer at least.
const ELEMENTS_MIN: u64 = 1024;

/// A launch of one block of `kernel` with values that let most kernels run: as many elements as threads, everywhere.
///
/// Every parameter that the code uses as a pointer gets a buffer large enough to be indexed by two numbers below the number of
/// threads; every other integer is the number of threads; every other float is 1.
pub fn made_up(program: &program::Program, kernel: &Function, module: &str) -> Content {
    let pointers = pointers::find(program, kernel);
    let threads: u64 = default_block(kernel).iter().map(|extent| u64::from(*extent)).product();
    let value = |(index, formal): (usize, &program::Param)| match pointers.get(&index) {
        Some(element) => Param::Buffer(buffer(&formal.name, element.unwrap_or(Element::B32), threads)),
        None => small_number(formal, threads),
    };
    let params = kernel.params.iter().enumerate().map(value).collect();
    Content::Launch(launch(kernel, Some(module.to_string()), params))
}

/// A launch of one block of `kernel` with a parameter for each word, as [`words::parse`] reads them.
///
/// # Errors
/// Words that cannot be read, with the collection that holds them.
pub fn from_words(kernel: &Function, words: &[String], folder: &Path) -> Result<LaunchFile, (Sources, Vec<Diagnostic>)> {
    let mut sources = Sources::default();
    let whole = sources.add(SourceFile::new("the command line", words.join(" ")));
    let (mut params, mut ids, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for (index, word) in words.iter().enumerate() {
        let id = sources.add(SourceFile::new(format!("--arg {}", index + 1), word.as_str()));
        ids.push(id);
        let name = kernel.params.get(index).map_or_else(|| format!("arg{index}"), |formal| formal.name.to_string());
        match words::parse(word, id, &name) {
            Ok(param) => params.push(param),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err((sources, errors));
    }
    let content = Content::Launch(launch(kernel, None, params));
    Ok(LaunchFile { content, folder: folder.to_path_buf(), sources, origin: Origin::Words(whole, ids) })
}

fn launch(kernel: &Function, module: Option<String>, params: Vec<Param>) -> Launch {
    let [x, y, z] = default_block(kernel);
    let cluster = kernel.limits.required_cluster.unwrap_or([1; 3]);
    Launch {
        module,
        kernel: Some(kernel.name.to_string()),
        grid: (cluster[0], cluster[1], cluster[2]),
        block: (x, y, z),
        cluster: None,
        dynamic_shared: 0,
        cooperative: false,
        params,
        bind: BTreeMap::new(),
        printed: None,
        findings: None,
    }
}

fn default_block(kernel: &Function) -> [u32; 3] {
    kernel.limits.required_block.or(kernel.limits.max_block).unwrap_or([BLOCK_DEFAULT, 1, 1])
}

fn buffer(name: &str, elem: Element, threads: u64) -> Buffer {
    let len = threads.saturating_mul(threads).clamp(ELEMENTS_MIN, 1 << 20);
    let init = Init::Iota { start: Number::Integer(0), step: Number::Integer(1) };
    Buffer { name: name.to_string(), elem, len: Some(len), shape: None, init, expect: None, tolerance: None }
}

fn small_number(formal: &program::Param, threads: u64) -> Param {
    let element = Element::from_name(formal.ty.word()).filter(|element| !formal.is_array && element.bytes() == formal.bytes);
    match element {
        Some(element) if element.kind() == Kind::Float => Param::from_scalar(element, Number::Float(1.0)),
        Some(element) => Param::from_scalar(element, Number::Integer(threads.min(100).into())),
        None => Param::Bytes("00".repeat(formal.bytes as usize)),
    }
}
