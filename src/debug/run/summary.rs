//! The results of a run: its launches, and the first elements of every buffer.

use std::collections::BTreeSet;

use super::error::RunError;
use super::runner::{CaseRun, LaunchRun};
use super::swapped_sections::SwappedSections;
use crate::check::UnorderedAccesses;
use crate::debug::findings::FindingText;
use crate::debug::value::element_text;
use crate::launch::{Case, PlannedBuffer};
use crate::machine::Device;
use crate::program::Pc;

/// Most elements of a buffer that are shown.
const ELEMENTS_SHOWN: u64 = 8;

/// The results of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The launches that were run.
    pub launches: Vec<LaunchRun>,
    /// The findings; the fault that stopped it is the last.
    pub findings: Vec<FindingText>,
    /// Output of printf.
    pub printed: Vec<u8>,
    /// Bytes that did not fit the buffer of printf.
    pub printed_lost: u64,
    /// Its buffers.
    pub buffers: Vec<BufferHead>,
    /// Outcomes that depended on the schedule, as observed by the race checker.
    pub unordered_accesses: UnorderedAccesses,
    /// The pairs of critical sections that were executed in the opposite order.
    pub swapped_sections: SwappedSections,
    /// The instructions that were executed.
    pub executed: BTreeSet<Pc>,
    /// True if it was interrupted before its end.
    pub interrupted: bool,
}

/// The start of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BufferHead {
    /// Its name.
    pub name: String,
    /// Its type, such as `f32[1024]`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its first elements.
    pub values: Vec<String>,
    /// True if there are more.
    pub more: bool,
}

/// Summarizes `run`, which is a run of `case`.
///
/// # Errors
/// A buffer is not at the address where it was allocated.
pub fn summarize(case: &Case, run: CaseRun) -> Result<Summary, RunError> {
    let heads = case.buffers.iter().zip(&run.addresses).map(|(buffer, address)| head(run.device.as_ref(), buffer, *address));
    let buffers = heads.collect::<Result<_, _>>()?;
    let printed = run.device.as_ref().map(Device::printed).cloned().unwrap_or_default();
    let CaseRun { launches, findings, unordered_accesses, swapped_sections, executed, interrupted, .. } = run;
    let (bytes, printed_lost) = (printed.bytes().to_vec(), printed.lost());
    Ok(Summary { launches, findings, printed: bytes, printed_lost, buffers, unordered_accesses, swapped_sections, executed, interrupted })
}

fn head(device: Option<&Device>, buffer: &PlannedBuffer, address: u64) -> Result<BufferHead, RunError> {
    let size = u64::from(buffer.element.bytes());
    let shown = (buffer.bytes / size).min(ELEMENTS_SHOWN);
    let mut bytes = vec![0; (shown * size) as usize];
    let mut values = Vec::new();
    if let Some(device) = device {
        device.read(address, &mut bytes)?;
        let text = |(at, bytes): (u64, &[u8])| match device.unknown(at, size).is_empty() {
            true => element_text(buffer.element, buffer.element.read(bytes)),
            false => "?".to_string(),
        };
        values = (address..).step_by(size as usize).zip(bytes.chunks_exact(size as usize)).map(text).collect();
    }
    let extents: String = buffer.shape.iter().map(|extent| format!("[{extent}]")).collect();
    let more = buffer.bytes > shown * size;
    Ok(BufferHead { name: buffer.name.clone(), ty: format!("{}{extents}", buffer.element.name()), values, more })
}
