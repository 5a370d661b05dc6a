//! A bundle of a launch that was kept: its module, a launch file, and memory before and after it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::kept::{Kept, Region};
use super::modules::{self, Variable};
use crate::api::{Planned, RunOptions};
use crate::base::counted;
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
    let text = modules::find(&image, &kept.kernel, kept.architecture).map_err(&wrong)?.text;
    let variables = modules::variables(&text);
    fs::write(folder.join(MODULE), text).map_err(|error| wrong(error.to_string()))?;
    let launch = launch(&kept, folder, &variables).map_err(&wrong)?;
    let path = folder.join(LAUNCH);
    fs::write(&path, Content::Launch(launch).to_text() + "\n").map_err(|error| wrong(error.to_string()))?;
    let (planned, _) = Planned::open(&path).map_err(|error| wrong(error.to_string()))?;
    planned.bundle(0, &RunOptions::default(), &output, &notes(&kept)).map_err(|error| wrong(error.to_string()))?;
    Ok(lines(&kept, &output))
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
    let end = match kept.status {
        0 => String::new(),
        status => format!("; there it ended with error {status} of the driver, so nothing is expected"),
    };
    format!("captured: launch {} of {}{device}{end}", kept.number, shown_name(&kept.kernel)).replace(char::is_control, " ")
}

/// What is said of a bundle.
fn lines(kept: &Kept, output: &Path) -> Vec<String> {
    let bytes: u64 = kept.regions.iter().map(|region| region.kept.end - region.kept.start).sum();
    let regions = counted(kept.regions.len() as u64, "region");
    let first = format!("{}, {regions} of memory with {} in {}", notes(kept), counted(bytes, "byte"), output.display());
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
                initial.insert(name.clone(), Init::File(region.before.clone()));
                if variable.is_global && is_known {
                    expected.insert(name.clone(), Init::File(region.after.as_ref().unwrap_or(&region.before).clone()));
                }
            }
            None => memory.push(memory_of(region, folder, is_known)?),
        }
    }
    let params = kept.params.iter().map(|(_, bytes)| param(bytes, &kept.regions)).collect();
    let triple = |[x, y, z]: [u32; 3]| (x, y, z);
    Ok(Launch {
        module: Some(MODULE.to_string()),
        cluster: kept.cluster.map(triple),
        dynamic_shared: kept.shared,
        cooperative: kept.cooperative,
        memory,
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
    fn bundles_are_named_for_the_kernel() {
        assert_eq!(file_name("_Z5scaleIfEvPT_S0_i"), "scale.ptxcap");
        assert_eq!(file_name("triton_poi_fused_add_0"), "triton_poi_fused_add_0.ptxcap");
        assert_eq!(numbered(PathBuf::from("x/gemm.ptxcap"), Some(2)), Path::new("x/gemm.2.ptxcap"));
    }
}
