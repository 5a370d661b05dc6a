//! Bundles with only the memory that their run needs.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::Error;
use crate::base::save::cause;
use crate::debug::bundle::{Manifest, is_bundle};
use crate::debug::open::open;
use crate::debug::saved::Saved;
use crate::debug::session::{NeverInterrupt, Session};
use crate::debug::shrink::{KeptPages, NeededMemory, is_same_run, needed_memory};
use crate::debug::{LaunchChoice, Opened, Overrides, Request, RunOptions};
use crate::launch::file::{Buffer, Init, Launch, Memory};
use crate::launch::{Case, Content, PlannedBuffer, pages, relocate};

/// What [`shrink`] has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The bundle.
    pub path: PathBuf,
    /// Bytes of the file before and after.
    pub file_bytes: [u64; 2],
    /// Bytes of memory, initial and expected, before and after.
    pub memory_bytes: [u64; 2],
}

/// Writes the bundle at `path` to `output` with only the pages of memory that its run reads, and of the expected memory those that it
/// writes or that differ from the memory before. The run of that bundle is the same; another one that reads something else stops there
/// (`memory.not_captured`). None if `interrupt` returned true.
///
/// # Errors
/// It is no bundle or of several cases, its session has changed the run, or `output` is a file of another kind or cannot be written.
pub fn shrink(path: &Path, output: &Path, interrupt: &dyn Fn() -> bool) -> Result<Option<Shrunk>, Error> {
    let wrong = |what: &str| Error::File(format!("{}: {what}", path.display()));
    if let Err(error) = fs::File::open(path) {
        return Err(wrong(&cause(&error)));
    }
    if !is_bundle(path) {
        return Err(wrong("this is no bundle: 'ptxdbg capture' and 'bundle FILE' in a session write them"));
    }
    // What is found after the run is known at once.
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    if let Some(folder) = folder {
        return Err(Error::File(format!("{}: there is no folder {}", output.display(), folder.display())));
    }
    let manifest = Manifest::read(path).map_err(Error::File)?;
    let options = manifest.run_options(path).map_err(Error::File)?;
    let saved = Saved::read(&Manifest::session_of(path)).map_err(|error| Error::File(error.to_string()))?;
    if !saved.inputs.is_empty() {
        return Err(wrong(
            "its session has changed the run ('set', 'restore', 'complete'): what that needs is not known, so it stays as it is",
        ));
    }
    let request = |launch| {
        let overrides = Overrides { kernel: manifest.kernel.clone(), ..Overrides::default() };
        Request { modules: manifest.module_paths(path), launch: LaunchChoice::File(launch), overrides }
    };
    let opened = open(&request(Manifest::launch_of(path)))?;
    let [case] = opened.plan.cases.as_slice() else { return Err(wrong("it has several independent launches, and one is shrunk")) };
    let needed = needed_memory(&opened.program, case, &options, interrupt)?;
    if needed.run.interrupted || interrupt() {
        return Ok(None);
    }
    let cannot = |error: std::io::Error| Error::File(format!("cannot keep the memory in a temporary folder: {}", cause(&error)));
    let folder = tempfile::tempdir().map_err(cannot)?;
    let content = content_in(&opened, &needed, folder.path()).map_err(cannot)?.ok_or_else(|| wrong("it has no launch file"))?;
    let launch = folder.path().join("launch.ron");
    fs::write(&launch, content.to_text() + "\n").map_err(cannot)?;
    let smaller = open(&request(launch))?;
    if !is_same(&smaller, &options, &needed, interrupt)? {
        return Err(wrong("with less memory its run is another one, so it stays as it is"));
    }
    let memory_bytes = [case, &smaller.plan.cases[0]].map(memory_bytes);
    let bytes_before = fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut session = Session::new(smaller, 0, options)?;
    session.restore(saved, &mut NeverInterrupt).map_err(Error::File)?;
    // What a capture has kept beside the launch stays; members that are there already are not replaced.
    let others = Manifest::top_members(path).map_err(Error::File)?;
    session.bundle(output, &manifest.notes, &others).map_err(Error::File)?;
    let bytes_after = fs::metadata(output).map_or(0, |metadata| metadata.len());
    Ok(Some(Shrunk { path: output.to_path_buf(), file_bytes: [bytes_before, bytes_after], memory_bytes }))
}

/// True if the run of the smaller memory is the one that is known.
fn is_same(smaller: &Opened, options: &RunOptions, needed: &NeededMemory, interrupt: &dyn Fn() -> bool) -> Result<bool, Error> {
    let [case] = smaller.plan.cases.as_slice() else { return Ok(false) };
    Ok(is_same_run((&smaller.program, case), options, needed, interrupt)?)
}

/// The launch file with the kept pages, which are written to `folder`; none without a launch file.
fn content_in(opened: &Opened, needed: &NeededMemory, folder: &Path) -> std::io::Result<Option<Content>> {
    let Some(launch) = &opened.launch else { return Ok(None) };
    let mut content = launch.content.clone();
    relocate(&mut content, &launch.folder, folder);
    let is_sequence = matches!(content, Content::Sequence(_));
    let is_suite = matches!(content, Content::Suite(_));
    let buffers = &opened.plan.cases[0].buffers;
    for (number, launch) in content.launches_mut().iter_mut().enumerate() {
        // Of a suite, the launch that was chosen is the only one of the case.
        if is_suite && !launch.is_of(opened.launch.as_ref().and_then(|launch| launch.kernel.as_deref())) {
            continue;
        }
        let number = if is_sequence { number } else { 0 };
        for (index, planned) in buffers.iter().enumerate().filter(|(_, buffer)| buffer.launch == number) {
            let before = keep(needed.before.get(index), folder, &format!("memory{index}.pages"))?;
            let after = keep(needed.after.get(index), folder, &format!("memory{index}.after.pages"))?;
            replace(launch, planned, before, after);
        }
    }
    Ok(Some(content))
}

/// Writes pages to a file; its name, if there are any to write.
fn keep(kept: Option<&Option<KeptPages>>, folder: &Path, name: &str) -> std::io::Result<Option<String>> {
    let Some(Some(kept)) = kept else { return Ok(None) };
    fs::write(folder.join(name), pages::encode(kept.iter().map(|(offset, page)| (*offset, &**page))))?;
    Ok(Some(name.to_string()))
}

/// Replaces the contents of a buffer of `launch` by files of pages.
fn replace(launch: &mut Launch, planned: &PlannedBuffer, before: Option<String>, after: Option<String>) {
    let is_of_memory = |memory: &&mut Memory| memory.name().is_some_and(|name| name == planned.name);
    if let Some(memory) = launch.memory.iter_mut().find(is_of_memory) {
        let Memory { init, expect, len, shape, .. } = memory;
        replace_contents((init, expect), (len, shape), planned, before, after);
        return;
    }
    let buffers = launch.params.iter_mut().filter_map(|param| param.buffer_mut());
    if let Some(Buffer { init, expect, len, shape, .. }) = buffers.into_iter().find(|buffer| buffer.name == planned.name) {
        replace_contents((init, expect), (len, shape), planned, before, after);
    }
}

fn replace_contents(
    (init, expect): (&mut Init, &mut Option<Init>),
    (len, shape): (&mut Option<u64>, &mut Option<Vec<u64>>),
    planned: &PlannedBuffer,
    before: Option<String>,
    after: Option<String>,
) {
    if let Some(file) = before {
        *innermost(init) = Init::Pages(file);
        // The file no longer says how long the memory is.
        if len.is_none() && shape.is_none() {
            *shape = Some(planned.shape.clone());
        }
    }
    if let (Some(file), Some(expect)) = (after, expect) {
        *expect = Init::Pages(file);
    }
}

/// The contents without the values in them.
fn innermost(init: &mut Init) -> &mut Init {
    match init {
        Init::With(inner, _) => innermost(inner),
        init => init,
    }
}

/// Bytes of the initial and expected memory of a case that are kept in files.
fn memory_bytes(case: &Case) -> u64 {
    let buffers = case.buffers.iter();
    let contents =
        buffers.flat_map(|buffer| [Some((buffer, &buffer.contents)), buffer.expect.as_ref().map(|expect| (buffer, &expect.contents))]);
    contents.flatten().map(|(buffer, contents)| contents.file_bytes(buffer.bytes)).sum()
}
