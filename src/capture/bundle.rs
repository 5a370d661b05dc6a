//! A bundle of a launch that was kept: its module, a launch file, and memory before and after it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::LAUNCHES_MAX;
use super::kept::{Kept, Region, UNFINISHED};
use super::modules::{self, Variable};
use super::{textures, triton};
use crate::api::{Planned, RunOptions};
use crate::base::counted;
use crate::container::bundle::is_bundle;
use crate::launch::Element;
use crate::launch::file::{Content, Init, Launch, Memory, Param, Parts};
use crate::launch::pages;
use crate::program::{plain_name, shown_name};

/// Names of files in the folder of a launch.
const MODULE: &str = "kernel.ptx";
const LAUNCH: &str = "launch.ron";
/// The ending of a bundle.
const ENDING: &str = "ptxcap";
/// Letters of a kernel's name in that of its bundle at most.
const NAME_MAX: usize = 80;
const PAGE: usize = pages::PAGE_BYTES as usize;

/// The name of a bundle of `kernel`.
pub fn file_name(kernel: &str) -> String {
    let name = plain_name(kernel).unwrap_or(kernel);
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = name.chars().take(NAME_MAX).map(plain).collect();
    format!("{name}.{ENDING}")
}

/// Checks, before the program runs, that bundles can be written to `output`, or where there are several to names with their numbers.
///
/// # Errors
/// They cannot be, in one line.
pub fn check_output(output: &Path, are_several: bool) -> Result<(), String> {
    let shown = output.display();
    // A path ends with a slash, or with dots.
    if output.file_name().is_none() || output.as_os_str().as_encoded_bytes().ends_with(b"/") || output.is_dir() {
        return Err(format!("-o {shown} is a folder: give the name of a file in it, such as gemm.{ENDING}"));
    }
    if output.to_string_lossy().chars().any(char::is_control) {
        return Err(format!("-o {shown} has a control character in its name, with which no bundle is read: choose another name"));
    }
    let numbers = 1..=if are_several { LAUNCHES_MAX } else { 0 };
    let names = numbers.map(|number| numbered(output.to_path_buf(), Some(number)));
    let names: Vec<PathBuf> = if are_several { names.collect() } else { vec![output.to_path_buf()] };
    match names.iter().find(|name| name.exists() && !is_bundle(name)) {
        Some(name) => Err(format!("-o {}: it is there and is no bundle, so it is left as it is: choose another name", name.display())),
        None => Ok(()),
    }
}

/// Makes a bundle of the launch in `folder`; `number` is its own among several. The lines for the user.
///
/// # Errors
/// There is none, in a line.
pub fn write(folder: &Path, output: Option<&Path>, number: Option<usize>) -> Result<Vec<String>, String> {
    let kept = Kept::read(folder)?;
    let name = shown_name(&kept.kernel).into_owned();
    let wrong = |why: String| format!("{name}: no bundle can be made of the launch: {why}");
    let output = numbered(output.map_or_else(|| PathBuf::from(file_name(&kept.kernel)), Path::to_path_buf), number);
    let image = folder.parent().unwrap_or(Path::new("")).join(&kept.module);
    let texts = modules::find(&image, &kept.kernel, kept.architecture).map_err(&wrong)?.texts;
    let variables: Vec<Variable> = texts.iter().flat_map(|text| modules::variables(text)).collect();
    let beside = triton::beside(&image, &kept.kernel);
    let first = module_name(&beside);
    let modules: Vec<String> =
        (0..texts.len()).map(|number| if number == 0 { first.clone() } else { format!("linked{number}.ptx") }).collect();
    // What a launch says of its types is read where the module lies.
    for path in &beside {
        let name = path.file_name().unwrap_or_default();
        fs::copy(path, folder.join(name)).map_err(|error| wrong(error.to_string()))?;
    }
    for (name, text) in modules.iter().zip(texts) {
        fs::write(folder.join(name), text).map_err(|error| wrong(error.to_string()))?;
    }
    let mut launch = launch(&kept, folder, &variables).map_err(&wrong)?;
    match modules.as_slice() {
        [module] => launch.module = Some(module.clone()),
        _ => launch.modules = modules,
    }
    let path = folder.join(LAUNCH);
    let planned = |launch: &Launch| {
        fs::write(&path, Content::Launch(launch.clone()).to_text() + "\n").map_err(|error| wrong(error.to_string()))?;
        Planned::open(&path).map(|(planned, _)| planned).map_err(|error| wrong(error.to_string()))
    };
    let mut planned_launch = planned(&launch)?;
    if set_elements(&mut launch.memory, &kept, &planned_launch.param_elements()) {
        planned_launch = planned(&launch)?;
    }
    planned_launch.bundle_with(0, &RunOptions::default(), &output, &notes(&kept), &beside).map_err(|error| wrong(error.to_string()))?;
    Ok(lines(&kept, &output))
}

/// The name of the module: that of the files of Triton that lie beside it, which are found by it.
fn module_name(beside: &[PathBuf]) -> String {
    let stem = beside.first().and_then(|path| path.file_stem()).and_then(|stem| stem.to_str());
    stem.map_or_else(|| MODULE.to_string(), |stem| format!("{stem}.ptx"))
}

/// `gemm.2.ptxcap` of `gemm.ptxcap` and 2.
fn numbered(path: PathBuf, number: Option<usize>) -> PathBuf {
    let Some(number) = number else { return path };
    let ending = path.extension().map_or(ENDING.to_string(), |ending| ending.to_string_lossy().into_owned());
    path.with_extension(format!("{number}.{ending}"))
}

/// What is shown where the bundle is opened, in a line.
fn notes(kept: &Kept) -> String {
    let device = kept.architecture.map_or(String::new(), |number| format!(" on sm_{number}"));
    let graph = kept.graph.map_or(String::new(), |nodes| match nodes {
        1 => ", the only node of a graph".to_string(),
        _ => format!(", a node of a graph of {nodes} nodes, which was launched in parts: those before it, it alone, those after it"),
    });
    let end = match kept.status {
        0 => String::new(),
        UNFINISHED => "; there it had not ended when the program did, so nothing is expected".to_string(),
        status => format!("; there it ended with error {status} of the driver, so nothing is expected"),
    };
    format!("captured: launch {} of {}{device}{graph}{end}", kept.number, shown_name(&kept.kernel)).replace(char::is_control, " ")
}

/// What is said of a bundle.
fn lines(kept: &Kept, output: &Path) -> Vec<String> {
    let bytes: u64 = kept.regions.iter().map(|region| region.kept.end - region.kept.start).sum();
    let regions = counted(kept.regions.len() as u64, "region");
    let images = match kept.textures.len() as u64 {
        0 => String::new(),
        count => format!(", {} of textures and surfaces", counted(count, "object")),
    };
    let first = format!("{}, {regions} of memory with {}{images} in {}", notes(kept), counted(bytes, "byte"), output.display());
    let cut = kept.is_cut.then(|| "more words look like addresses than are followed: memory may be missing".to_string());
    let partial = kept.regions.iter().filter(|region| !region.is_whole()).map(|region| {
        let Region { start, bytes, kept, .. } = region;
        let kept = counted(kept.end - kept.start, "byte");
        format!("of the {} at {start:#x} {kept} are kept: --max-bytes allows more", counted(*bytes, "byte"))
    });
    [first].into_iter().chain(cut).chain(partial).collect()
}

/// The launch file.
fn launch(kept: &Kept, folder: &Path, variables: &[Variable]) -> Result<Launch, String> {
    let is_known = kept.status == 0;
    let mut memory = Vec::new();
    let (mut initial, mut expected) = (BTreeMap::new(), BTreeMap::new());
    for region in &kept.regions {
        match &region.variable {
            Some(name) => {
                let Some(variable) = variables.iter().find(|variable| variable.name == *name).filter(|_| region.is_whole()) else {
                    continue;
                };
                // Such are the placeholders in the toolkit's headers, of which there are dozens.
                if variable.is_unused && region.bytes == 1 {
                    continue;
                }
                // The device's addresses of code mean nothing elsewhere: the module has the functions.
                if variable.names_functions {
                    continue;
                }
                initial.insert(name.clone(), Init::File(region.before.clone()));
                if variable.is_global && is_known {
                    expected.insert(name.clone(), Init::File(region.after.as_ref().unwrap_or(&region.before).clone()));
                }
            }
            None => memory.push(memory_of(region, folder, is_known)?),
        }
    }
    let (arrays, handles) = textures::images(kept, &memory, is_known)?;
    memory.extend(arrays);
    let params = kept.params.iter().map(|(_, bytes)| param(bytes, &kept.regions)).collect();
    let triple = |[x, y, z]: [u32; 3]| (x, y, z);
    Ok(Launch {
        cluster: kept.cluster.map(triple),
        dynamic_shared: kept.shared,
        cooperative: kept.cooperative,
        memory,
        handles,
        variables: initial,
        expect_variables: expected,
        ..Launch::new(Some(kept.kernel.clone()), kept.grid, kept.block, params)
    })
}

/// A parameter of these bytes; addresses in variables of the module are those that the variables have where it runs.
fn param(bytes: &[u8], regions: &[Region]) -> Param {
    const WORD: usize = size_of::<u64>();
    let mut parts = Parts::new();
    for (index, word) in bytes.chunks_exact(WORD).enumerate() {
        let word = word.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let within = |region: &&Region| region.variable.is_some() && (region.start..region.start + region.bytes).contains(&word);
        if let Some((region, name)) = regions.iter().find(within).and_then(|region| Some((region, region.variable.clone()?))) {
            parts.insert((index * WORD) as u64, Param::Offset(name, (word - region.start) as i64));
        }
    }
    match (Param::bytes(bytes), parts.is_empty()) {
        (Param::Bytes(digits, _), false) => Param::Bytes(digits, parts),
        (param, _) => param,
    }
}

/// Memory of the launch file; with `is_known`, what it must hold at the end.
fn memory_of(region: &Region, folder: &Path, is_known: bool) -> Result<Memory, String> {
    let file = |name: &String| match region.is_whole() {
        true => Ok(Init::File(name.clone())),
        false => pages_of(region, folder, name),
    };
    let expect = if is_known { Some(file(region.after.as_ref().unwrap_or(&region.before))?) } else { None };
    Ok(Memory { expect, ..Memory::at(region.start, region.bytes, file(&region.before)?) })
}

/// Gives memory that parameters point to the type of the elements that the kernel takes it for; true if any has one.
fn set_elements(memory: &mut [Memory], kept: &Kept, elements: &[Option<Element>]) -> bool {
    let word = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).map(u64::from_le_bytes).ok();
    let pointers = kept.params.iter().zip(elements).filter_map(|((_, bytes), element)| Some((word(bytes)?, *element)));
    let pointers: Vec<(u64, Option<Element>)> = pointers.collect();
    let mut is_any = false;
    for memory in memory.iter_mut() {
        let Some((start, bytes)) = memory.at.zip(memory.len) else { continue };
        let mut own = pointers.iter().filter(|(pointer, _)| (start..start + bytes).contains(pointer));
        let Some((first, Some(element))) = own.next().copied() else { continue };
        let size = u64::from(element.bytes());
        let is_uniform = own.all(|(_, other)| *other == Some(element));
        if is_uniform && bytes.is_multiple_of(size) && (first - start).is_multiple_of(size) {
            (memory.elem, memory.len) = (element, Some(bytes / size));
            is_any = true;
        }
    }
    is_any
}

/// The file of pages that has what the file `name` has of a part of memory.
fn pages_of(region: &Region, folder: &Path, name: &str) -> Result<Init, String> {
    let wrong = |error: std::io::Error| format!("{name}: {error}");
    let bytes = fs::read(folder.join(name)).map_err(wrong)?;
    let page = |(index, bytes): (usize, &[u8])| {
        let mut page = [0; PAGE];
        page[..bytes.len()].copy_from_slice(bytes);
        (region.kept.start + (index * PAGE) as u64, page)
    };
    let kept: Vec<(u64, [u8; PAGE])> = bytes.chunks(PAGE).enumerate().map(page).collect();
    let file = format!("{name}.pages");
    fs::write(folder.join(&file), pages::encode(kept.iter().map(|(offset, page)| (*offset, page)))).map_err(wrong)?;
    Ok(Init::Pages(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_the_elements_of_the_pointers_to_it() {
        let pointer = |address: u64| (0, address.to_le_bytes().to_vec());
        let of = |params: &[(u64, Vec<u8>)], elements: &[Option<Element>]| {
            let mut memory = [Memory::at(0x1000, 64, Init::Zero)];
            let is_any = set_elements(&mut memory, &Kept { params: params.to_vec(), ..Kept::default() }, elements);
            assert_eq!(is_any, memory[0].elem != Element::B8);
            (memory[0].elem, memory[0].len)
        };
        let f32 = Some(Element::F32);
        assert_eq!(of(&[pointer(0x1000)], &[f32]), (Element::F32, Some(16)));
        assert_eq!(of(&[pointer(0x2000), pointer(0x1010)], &[None, f32]), (Element::F32, Some(16)));
        // Two that take it for something else, one that is not between elements, one that is not known, a number.
        assert_eq!(of(&[pointer(0x1000), pointer(0x1010)], &[f32, Some(Element::S32)]), (Element::B8, Some(64)));
        assert_eq!(of(&[pointer(0x1002)], &[f32]), (Element::B8, Some(64)));
        assert_eq!(of(&[pointer(0x1000)], &[None]), (Element::B8, Some(64)));
        assert_eq!(of(&[(0, vec![0; 4])], &[f32]), (Element::B8, Some(64)));
    }

    #[test]
    fn bundles_are_named_for_the_kernel() {
        assert_eq!(file_name("_Z5scaleIfEvPT_S0_i"), "scale.ptxcap");
        assert_eq!(file_name("triton_poi_fused_add_0"), "triton_poi_fused_add_0.ptxcap");
        assert_eq!(numbered(PathBuf::from("x/gemm.ptxcap"), Some(2)), Path::new("x/gemm.2.ptxcap"));
    }
}
