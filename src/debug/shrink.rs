//! The pages of memory that a run needs: those that it reads before it writes them, and those that its comparison with the expected memory
//! needs. `ptxdbg shrink` keeps these in a bundle.
//!
//! The memory of files is taken away and given back page by page where the run stops for the lack of it, so that every read counts: that of
//! the run, of critical sections in the other order, of copies and of images.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::findings::FindingText;
use super::run::{CaseRun, HostMemory, Job, RunError, RunOptions, Runner, Written, run_case_until};
use super::verify::{Comparison, compare_expected};
use crate::base::Tick;
use crate::launch::{Case, Compare, Contents, DataError, Pages, PlannedBuffer};
use crate::machine::{Instrumentation, ORIGIN_ALIGN, PAGE_BYTES, PageSource};
use crate::program::Program;

type Page = [u8; PAGE_BYTES];

/// The pages of a buffer that are kept, each with its offset from where its first page begins.
pub type KeptPages = BTreeMap<u64, Box<Page>>;

/// What a run needs of the buffers of its case.
pub struct NeededMemory {
    /// For each buffer, the pages of its initial contents; none where they are no file and stay as they are.
    pub before: Vec<Option<KeptPages>>,
    /// For each buffer, the pages of its expected contents; none where these stay as they are.
    pub after: Vec<Option<KeptPages>>,
    /// The run.
    pub run: CaseRun,
    /// Its comparison with what is expected.
    pub comparison: Comparison,
}

/// Finds the pages that a run of `case` needs.
///
/// # Errors
/// Errors that do not come from the kernel.
pub fn needed_memory(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    interrupt: &dyn Fn() -> bool,
) -> Result<NeededMemory, RunError> {
    let run = run_case_until(program, case, options, interrupt)?;
    let comparison = compare_expected(program, case, options, &run)?;
    let regions: Vec<FileRegion> = case.buffers.iter().zip(&run.addresses).filter_map(|(buffer, at)| FileRegion::of(buffer, *at)).collect();
    let mut emptied = case.clone();
    emptied.buffers.iter_mut().for_each(empty);
    let host = HostMemory::new(Box::new(FileMemory(regions)), &[]);
    let on_demand = RunOptions { host: Some(host.clone()), ..options.clone() };
    run_case_until(program, &emptied, &on_demand, interrupt)?;
    let mut written = Written::default();
    let mut runner = Runner::new(Job { program, case: &emptied, options: &on_demand, instrumentation: Instrumentation::Nothing });
    runner.interrupt = interrupt;
    while runner.run_next(|machine, launch| launch.run(machine, &mut written))? {}
    let read: BTreeMap<u64, Box<Page>> = host.pages().into_iter().collect();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (buffer, address) in case.buffers.iter().zip(&run.addresses) {
        let (of_before, of_after) = needed_of(buffer, *address, &read, (&written, run.written.is_some()))?;
        before.push(of_before);
        after.push(of_after);
    }
    Ok(NeededMemory { before, after, run, comparison })
}

/// True if the run of `case`, the same with less memory, is the one that `needed` is from: it finds the same, and leaves the same memory as
/// far as that is known.
///
/// # Errors
/// Errors that do not come from the kernel.
pub fn is_same_run(
    (program, case): (&Arc<Program>, &Case),
    options: &RunOptions,
    needed: &NeededMemory,
    interrupt: &dyn Fn() -> bool,
) -> Result<bool, RunError> {
    let run = run_case_until(program, case, options, interrupt)?;
    let comparison = compare_expected(program, case, options, &run)?;
    // The files have other names.
    let found =
        |run: &CaseRun| run.findings.iter().map(|each| (each.id, each.message.clone(), each.count, times(each))).collect::<Vec<_>>();
    if (found(&run), &run.launches, &comparison, &run.addresses)
        != (found(&needed.run), &needed.run.launches, &needed.comparison, &needed.run.addresses)
    {
        return Ok(false);
    }
    let (Some(smaller), Some(whole)) = (&run.device, &needed.run.device) else {
        return Ok(run.device.is_some() == needed.run.device.is_some());
    };
    for (buffer, address) in case.buffers.iter().zip(&run.addresses) {
        let (mut own, mut others) = ([0; PAGE_BYTES], [0; PAGE_BYTES]);
        for offset in (0..buffer.bytes).step_by(PAGE_BYTES) {
            let length = (buffer.bytes - offset).min(PAGE_BYTES as u64) as usize;
            let at = address + offset;
            smaller.read(at, &mut own[..length])?;
            whole.read(at, &mut others[..length])?;
            let unknown = smaller.unknown(at, length as u64);
            let is_known = |index: &usize| !unknown.iter().any(|range| range.contains(&(at + *index as u64)));
            if own[..length] != others[..length] && (0..length).filter(is_known).any(|index| own[index] != others[index]) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// When the sides of a finding happened.
fn times(finding: &FindingText) -> [Option<Tick>; 2] {
    [&finding.first, &finding.second].map(|side| side.as_ref().map(|side| side.site.time))
}

/// The pages of one buffer that are kept before and after the launch.
fn needed_of(
    buffer: &PlannedBuffer,
    address: u64,
    read: &BTreeMap<u64, Box<Page>>,
    (written, is_partial): (&Written, bool),
) -> Result<(Option<KeptPages>, Option<KeptPages>), DataError> {
    let lead = address % ORIGIN_ALIGN;
    let origin = address - lead;
    let is_by_index = buffer.expect.as_ref().is_none_or(|expect| expect.compare == Compare::Index);
    if !is_by_index {
        // Elements may stand anywhere, so all of them are compared.
        return Ok((None, None));
    }
    let mut before = is_file(&buffer.contents).then(KeptPages::new);
    let mut after = buffer.expect.as_ref().filter(|expect| is_file(&expect.contents)).map(|_| KeptPages::new());
    for offset in (0..lead + buffer.bytes).step_by(PAGE_BYTES) {
        let part = offset.max(lead) - lead..(offset + PAGE_BYTES as u64).min(lead + buffer.bytes) - lead;
        let page = origin + offset;
        let initial = page_of(&buffer.contents, part.clone(), lead)?;
        let expected = match &buffer.expect {
            Some(expect) => page_of(&expect.contents, part.clone(), lead)?,
            None => None,
        };
        let is_read = read.contains_key(&page);
        let updated = written.any(&(address + part.start..address + part.end));
        let differs = match (&initial, &expected) {
            // Of some blocks alone, only what they write is compared.
            _ if is_partial => false,
            (Some(initial), Some(expected)) => initial != expected,
            // Without the page there is nothing to be compared with.
            (_, None) => false,
            (None, Some(_)) => true,
        };
        if let (Some(before), Some(initial)) = (&mut before, initial)
            && (is_read || differs && !written.all(&(address + part.start..address + part.end)))
        {
            before.insert(offset, initial);
        }
        if let (Some(after), Some(expected)) = (&mut after, expected)
            && (updated || differs)
        {
            after.insert(offset, expected);
        }
    }
    // Pages have their addresses beside them: where none is left out, the file stays as it is.
    let is_less = |kept: &KeptPages, contents: &Contents| ((kept.len() * PAGE_BYTES) as u64) < contents.file_bytes(buffer.bytes);
    let before = before.filter(|kept| is_less(kept, &buffer.contents));
    let after = after.filter(|kept| buffer.expect.as_ref().is_some_and(|expect| is_less(kept, &expect.contents)));
    Ok((before, after))
}

fn is_file(contents: &Contents) -> bool {
    matches!(contents, Contents::File(_) | Contents::Pages(_))
}

/// The page of `contents` that holds `part`; none if it is not known.
fn page_of(contents: &Contents, part: Range<u64>, lead: u64) -> Result<Option<Box<Page>>, DataError> {
    let mut page: Box<Page> = Box::new([0; PAGE_BYTES]);
    let first = (part.start + lead) / PAGE_BYTES as u64 * PAGE_BYTES as u64;
    let mut is_known = !matches!(contents, Contents::Pages(_) | Contents::Uninit);
    if let Contents::Byte(byte) = contents {
        page.fill(*byte);
    }
    contents.fill_part(part, &mut |offset, bytes: &[u8]| -> Result<(), DataError> {
        let at = (offset + lead - first) as usize;
        page[at..at + bytes.len()].copy_from_slice(bytes);
        is_known = true;
        Ok(())
    })?;
    Ok(is_known.then_some(page))
}

/// Takes the contents of a file away.
fn empty(buffer: &mut PlannedBuffer) {
    let lead = buffer.at.unwrap_or_default() % ORIGIN_ALIGN;
    let file = match &buffer.contents {
        Contents::File(range) => Arc::clone(&range.file),
        Contents::Pages(pages) => Arc::clone(&pages.file),
        Contents::Uninit | Contents::Byte(_) | Contents::Generated(..) | Contents::Bytes(_) => return,
    };
    buffer.contents = Contents::Pages(Pages { file, offsets: Arc::new([]), lead });
}

/// A buffer whose contents are a file.
struct FileRegion {
    address: u64,
    bytes: u64,
    contents: Contents,
}

impl FileRegion {
    fn of(buffer: &PlannedBuffer, address: u64) -> Option<Self> {
        is_file(&buffer.contents).then(|| Self { address, bytes: buffer.bytes, contents: buffer.contents.clone() })
    }
}

/// The buffers whose contents are files, as memory that is fetched.
struct FileMemory(Vec<FileRegion>);

impl PageSource for FileMemory {
    /// There is nothing around them.
    fn extent(&mut self, _: u64) -> Option<Range<u64>> {
        None
    }

    fn page(&mut self, address: u64) -> Option<Box<Page>> {
        let origin = |region: &FileRegion| region.address - region.address % ORIGIN_ALIGN;
        let is_inside = |region: &&FileRegion| {
            let start = origin(region);
            address >= start && address < region.address + region.bytes && (address - start).is_multiple_of(PAGE_BYTES as u64)
        };
        let region = self.0.iter().find(is_inside)?;
        let (start, end) = (address.max(region.address) - region.address, (address + PAGE_BYTES as u64 - region.address).min(region.bytes));
        page_of(&region.contents, start..end, region.address % ORIGIN_ALIGN).ok().flatten()
    }
}
