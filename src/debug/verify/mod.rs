//! Verification of a case: run it, compare findings and buffers with the expected ones, and find the last writer of each wrong element.

mod expected_findings;
mod judge;
mod omitted;
mod part;
mod typed;
mod writer;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::base::Severity;
use crate::check::faults::LIVELOCK;
use crate::debug::awaited::explain_awaited;
use crate::debug::certificate::{Certificate, certificate};
use crate::debug::findings::FindingText;
use crate::debug::names::memory_name::subscript;
use crate::debug::run::{CaseRun, RunError, RunOptions, SwappedSections, Written, run_case_until};
use crate::debug::value::element_text;
use crate::launch::{self, Case, Compared, Element, ExpectedFindings, Kind, Mismatch, PlannedBuffer, Tolerance, join_ranges};
use crate::machine::Device;
use crate::program::{Pc, Program};

pub use judge::{Deviation, Judgement, judge};
pub use omitted::{FindingBudget, Omitted};
pub use part::ComparedPart;
pub(in crate::debug) use typed::typed_by_stores;
pub use writer::{Writer, last_writers};

use expected_findings::compare_findings;

/// Largest number of wrong elements of a buffer that are listed; the rest are counted.
pub const MISMATCHES_LISTED: usize = 3;

/// Most warp-instructions of a launch that is expected to spin forever.
const SPIN_LIMIT: u64 = 1 << 20;

/// The criteria for the result of a case.
#[derive(Clone, Copy, Debug)]
pub struct Criteria {
    /// Ignore tolerances: compare bit for bit.
    pub exact: bool,
    /// The lowest severity at which a finding fails a launch without expected findings.
    pub failing: Severity,
}

/// The result of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseReport {
    /// Its name.
    pub name: String,
    /// True if it is as expected.
    pub passed: bool,
    /// The failures, as far as they are printed; none if it passed.
    pub failures: Vec<Failure>,
    /// All findings, expected or not.
    pub findings: Vec<FindingText>,
    /// The instructions that were executed.
    pub executed: BTreeSet<Pc>,
    /// The statement that the findings hold in every order; none if there are errors or a checker was off.
    pub certificate: Option<Certificate>,
    /// The pairs of critical sections that were executed in the opposite order.
    pub swapped_sections: SwappedSections,
    /// The part of the memory that was compared, if not all blocks ran.
    pub part: Option<ComparedPart>,
}

/// A difference from what the launch file expects.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Failure {
    /// An element has the wrong value.
    Mismatch {
        /// The element, such as `out0[17]`.
        element: String,
        /// Its value.
        value: String,
        /// The value it must have, or be close to.
        expected: String,
        /// The thread and instruction that wrote it last.
        #[serde(rename = "last_written_by")]
        writer: Option<Writer>,
    },
    /// The number of wrong elements of a buffer, and their deviation.
    Mismatches {
        /// The buffer.
        buffer: String,
        /// The number of wrong elements.
        wrong: u64,
        /// Elements of the buffer.
        elements: u64,
        /// The largest difference; none where elements are bits, not finite, or differ by the bits of equal numbers only.
        largest: Option<f64>,
        /// The smallest absolute tolerance that accepts them all, rounded up to three digits.
        atol: Option<f64>,
        /// The smallest relative one.
        rtol: Option<f64>,
    },
    /// A finding that the launch file does not expect.
    Finding {
        /// The finding.
        finding: Box<FindingText>,
    },
    /// None of the expected findings was reported.
    NoFinding {
        /// The kernel.
        kernel: String,
        /// The ids, one of which was expected.
        expected: Vec<String>,
        /// The checkers that would find them and did not run.
        #[serde(rename = "checkers_off")]
        off: Vec<&'static str>,
    },
    /// An expected finding is on another line.
    WrongLine {
        /// The finding.
        finding: Box<FindingText>,
        /// The source line it was expected on.
        #[serde(rename = "expected_line")]
        expected: u32,
    },
    /// A line of printf output is not the expected one.
    Printed {
        /// Its number, from 1.
        line: usize,
        /// The line that was written; none if there is no such line.
        value: Option<String>,
        /// The line that is expected; none if there must be no such line.
        expected: Option<String>,
    },
}

/// The comparison of the memory at the end of a run with what the launch file expects.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// The launch file expects no values and no text.
    NothingExpected,
    /// The run stopped before its end, so nothing was compared.
    NotCompared,
    /// The differences; none if all is as expected.
    Compared(Vec<Failure>),
    /// The differences in the part of the memory that was compared, since only some blocks ran.
    Part(Vec<Failure>, ComparedPart),
}

impl Comparison {
    /// True if there are differences.
    pub fn is_wrong(&self) -> bool {
        matches!(self, Comparison::Compared(failures) | Comparison::Part(failures, _) if !failures.is_empty())
    }
}

/// True if the launch file expects contents of some buffer.
pub(in crate::debug) fn expects_memory(case: &Case) -> bool {
    case.buffers.iter().any(|buffer| buffer.expect.is_some())
}

/// True if the launch file expects contents of some buffer, or printf output.
pub(in crate::debug) fn expects_anything(case: &Case) -> bool {
    case.printed.is_some() || expects_memory(case)
}

/// Compares the buffers and the printf output of `run`, a run of `case`, with what the launch file expects.
///
/// # Errors
/// Errors that do not come from the kernel.
pub fn compare_expected(program: &Arc<Program>, case: &Case, options: &RunOptions, run: &CaseRun) -> Result<Comparison, RunError> {
    if !expects_anything(case) {
        return Ok(Comparison::NothingExpected);
    }
    if run.fault.is_some() || run.interrupted {
        return Ok(Comparison::NotCompared);
    }
    let failures = compare(program, case, options, false, run)?;
    Ok(match compared_part(case, run) {
        None => Comparison::Compared(failures),
        Some(part) => Comparison::Part(failures, part),
    })
}

/// The part of the memory that is compared, if not all blocks ran.
fn compared_part(case: &Case, run: &CaseRun) -> Option<ComparedPart> {
    run.written.as_ref().filter(|_| expects_memory(case)).map(|written| ComparedPart::new(case, &run.addresses, written))
}

/// Runs `case` and reports the differences from what the launch file expects. With `exact`, tolerances are ignored.
///
/// # Errors
/// Errors that do not come from the kernel.
pub fn verify_case(program: &Arc<Program>, case: &Case, options: &RunOptions, exact: bool) -> Result<CaseReport, RunError> {
    verify_case_until(program, case, options, Criteria { exact, failing: Severity::Error }, || false)
}

/// Like [`verify_case`], until `interrupt` returns true: the findings up to then, without failures.
///
/// # Errors
/// As of [`verify_case`].
pub fn verify_case_until(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    criteria: Criteria,
    interrupt: impl Fn() -> bool,
) -> Result<CaseReport, RunError> {
    let mut run = run_case_until(program, case, &with_limit(case, options), &interrupt)?;
    explain_awaited(program, case, options, &mut run, &interrupt)?;
    if run.interrupted {
        return Ok(CaseReport {
            name: case.name.clone(),
            passed: true,
            failures: Vec::new(),
            findings: run.findings,
            executed: run.executed,
            certificate: None,
            swapped_sections: run.swapped_sections,
            part: None,
        });
    }
    let mut failures = compare_findings(program, case, &run, options.checks, criteria.failing);
    if run.fault.is_none() {
        failures.extend(compare(program, case, options, criteria.exact, &run)?);
    }
    let certificate = certificate((program, case), &run.executed, (&run.findings, &run.unordered_accesses), options.checks);
    let part = compared_part(case, &run);
    Ok(CaseReport {
        name: case.name.clone(),
        passed: failures.is_empty(),
        failures,
        findings: run.findings,
        executed: run.executed,
        certificate,
        swapped_sections: run.swapped_sections,
        part,
    })
}

/// The options, with a step limit if they have none and the launch file expects a livelock.
fn with_limit(case: &Case, options: &RunOptions) -> RunOptions {
    let spins =
        |findings: &ExpectedFindings| matches!(findings, ExpectedFindings::AnyOf { ids, .. } if ids.iter().any(|id| id == LIVELOCK.word()));
    let may_spin = case.launches.iter().filter_map(|launch| launch.findings.as_ref()).any(spins);
    let step_limit = options.step_limit.or(may_spin.then_some(SPIN_LIMIT));
    RunOptions { step_limit, ..options.clone() }
}

/// The differences of the buffers and the printf output from the expected ones.
fn compare(program: &Arc<Program>, case: &Case, options: &RunOptions, exact: bool, run: &CaseRun) -> Result<Vec<Failure>, RunError> {
    let mut failures = compare_buffers(program, case, options, exact, run)?;
    // Of a text that all blocks write together, the part of some is not known.
    let printed = compare_printed(case, run.device.as_ref()).filter(|_| run.written.is_none());
    failures.extend(printed.map(|(line, value, expected)| Failure::Printed { line, value, expected }));
    Ok(failures)
}

/// A line number, from 1, with the line that was written and the expected line.
type WrongLine = (usize, Option<String>, Option<String>);

/// The first line of printf output that is not as expected.
fn compare_printed(case: &Case, device: Option<&Device>) -> Option<WrongLine> {
    let (expected, written) = (case.printed.as_ref()?, device?.printed().bytes());
    if expected == written {
        return None;
    }
    let lines = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    let (expected, written): (Vec<String>, Vec<String>) = (lines(expected), lines(written));
    let same = expected.iter().zip(&written).take_while(|(expected, written)| expected == written).count();
    Some((same + 1, written.get(same).cloned(), expected.get(same).cloned()))
}

/// What the memory at the end of a run has, and the launch file does not expect.
#[derive(Default)]
pub(in crate::debug) struct WrongMemory<'a> {
    /// The first wrong elements of each buffer, with the index of the buffer.
    pub elements: Vec<(usize, &'a PlannedBuffer, Mismatch)>,
    /// The totals of each buffer with wrong elements, with its index.
    pub totals: Vec<(usize, Failure)>,
}

/// The memory at the end of a run.
#[derive(Clone, Copy)]
pub(in crate::debug) struct ComparedMemory<'a> {
    /// The memory.
    pub device: &'a Device,
    /// The addresses of the buffers.
    pub addresses: &'a [u64],
    /// What the blocks wrote, if only some of them ran: nothing else is compared.
    pub written: Option<&'a Written>,
    /// Wrong elements of a buffer that are described.
    pub described: usize,
}

/// Compares the buffers of `case` with what the launch file expects.
///
/// # Errors
/// A data file can no longer be read.
pub(in crate::debug) fn wrong_memory<'a>(case: &'a Case, memory: ComparedMemory<'_>, exact: bool) -> Result<WrongMemory<'a>, RunError> {
    let mut wrong = WrongMemory::default();
    for (index, buffer) in case.buffers.iter().enumerate() {
        let Some(address) = memory.addresses.get(index) else { continue };
        let comparison = compare_buffer(memory, *address, buffer, exact)?;
        wrong.totals.extend((comparison.wrong > 0).then(|| (index, mismatches(buffer, &comparison))));
        wrong.elements.extend(comparison.first.into_iter().map(|mismatch| (index, buffer, mismatch)));
    }
    Ok(wrong)
}

fn compare_buffers(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    exact: bool,
    run: &CaseRun,
) -> Result<Vec<Failure>, RunError> {
    let Some(device) = &run.device else { return Ok(Vec::new()) };
    let compared = ComparedMemory { device, addresses: &run.addresses, written: run.written.as_ref(), described: MISMATCHES_LISTED };
    let WrongMemory { elements, totals } = wrong_memory(case, compared, exact)?;
    if elements.is_empty() {
        return Ok(Vec::new());
    }
    let ranges: Vec<_> = elements.iter().map(|(index, buffer, mismatch)| element_range(run.addresses[*index], buffer, mismatch)).collect();
    let writers = last_writers(program, case, options, &ranges)?;
    let stored = elements.iter().zip(&writers).map(|((index, ..), writer)| (*index, writer.as_ref().map(|writer| writer.pc)));
    if let Some(typed) = typed_by_stores(program, case, &stored.collect::<Vec<_>>()) {
        return compare_buffers(program, &typed, options, exact, run);
    }
    let described = elements.iter().zip(writers).map(|((index, buffer, mismatch), writer)| (*index, failure(buffer, mismatch, writer)));
    let mut all: Vec<(usize, Failure)> = described.chain(totals).collect();
    all.sort_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(_, failure)| failure).collect())
}

/// The address and the bytes of a wrong element of the buffer at `address`.
pub(in crate::debug) fn element_range(address: u64, buffer: &PlannedBuffer, mismatch: &Mismatch) -> (u64, u64) {
    let size = u64::from(buffer.element.bytes());
    (address + mismatch.index * size, size)
}

/// The summary of the wrong elements of a buffer.
fn mismatches(buffer: &PlannedBuffer, comparison: &launch::Comparison) -> Failure {
    let is_number = buffer.element.kind() != Kind::Bits;
    let finite = |number: f64| Some(number).filter(|number| is_number && number.is_finite());
    let distance = comparison.distance;
    let is_integral = distance.largest.fract() == 0.0;
    Failure::Mismatches {
        buffer: buffer.name.clone(),
        wrong: comparison.wrong,
        elements: buffer.bytes / u64::from(buffer.element.bytes()),
        largest: finite(distance.largest),
        atol: finite(if is_integral && distance.absolute == distance.largest { distance.absolute } else { rounded_up(distance.absolute) }),
        rtol: finite(rounded_up(distance.relative)),
    }
}

/// `number` rounded up to three digits.
fn rounded_up(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    let text = format!("{number:.2e}");
    let near: f64 = text.parse().unwrap_or(f64::INFINITY);
    if near >= number {
        return near;
    }
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let next = mantissa.parse::<f64>().map_or(f64::INFINITY, |mantissa| mantissa + 0.01);
    format!("{next:.2}e{exponent}").parse().unwrap_or(f64::INFINITY)
}

/// The first wrong elements of a buffer, their number, and their deviation.
fn compare_buffer(memory: ComparedMemory<'_>, address: u64, buffer: &PlannedBuffer, exact: bool) -> Result<launch::Comparison, RunError> {
    let Some(expect) = &buffer.expect else { return Ok(launch::Comparison::default()) };
    let ComparedMemory { device, written, described, .. } = memory;
    let only = written.map(|written| part::stored_of(buffer, address, written));
    let read = |offset: u64, out: &mut [u8]| device.read(address + offset, out).map_err(RunError::from);
    let tolerance = if exact { Tolerance::Bits } else { expect.tolerance };
    let PlannedBuffer { element, bytes, ignored, .. } = buffer;
    let mut unknown: Vec<_> = device.unknown(address, *bytes).into_iter().map(|range| range.start - address..range.end - address).collect();
    join_ranges(&mut unknown);
    let compared =
        Compared { element: *element, tolerance, bytes: *bytes, ignored, unknown: &unknown, only: only.as_deref(), kept: described };
    expect.compare(&compared, read)
}

fn failure(buffer: &PlannedBuffer, mismatch: &Mismatch, writer: Option<Writer>) -> Failure {
    let [element, value, expected] = described(buffer, mismatch);
    Failure::Mismatch { element, value, expected, writer }
}

/// A wrong element, its value, and the expected value.
pub(in crate::debug) fn described(buffer: &PlannedBuffer, mismatch: &Mismatch) -> [String; 3] {
    let element = format!("{}{}", buffer.name, subscript(&buffer.shape, mismatch.index));
    [element, show(buffer.element, mismatch.value), show(buffer.element, mismatch.expected)]
}

/// The value as text, for floats with the bits: different values may have the same text.
fn show(element: Element, bits: u64) -> String {
    match element.kind() {
        Kind::Float => format!("{} ({})", element_text(element, bits), element.show_bits(bits)),
        Kind::Bits | Kind::Unsigned | Kind::Signed => element_text(element, bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_rounded_up_to_three_digits() {
        for (number, rounded) in
            [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (3.0517578125e-5, 3.06e-5), (0.9999, 1.0), (9.991, 10.0), (123_456.0, 124_000.0)]
        {
            assert_eq!(rounded_up(number), rounded, "{number}");
            assert!(rounded_up(number) >= number, "{number}");
        }
        assert_eq!(rounded_up(f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn floats_show_their_bits() {
        assert_eq!(show(Element::F32, 0x3fc0_0000), "1.5 (0x3fc00000)");
        assert_eq!(show(Element::B32, 3), "0x00000003");
    }
}
