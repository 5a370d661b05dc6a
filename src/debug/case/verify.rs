//! Verification of a case: run it, judge what stopped it, compare what it left in the buffers.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::fault::Fault;
use super::run::{CaseRun, RunError, RunOptions, run_case};
use super::writer::{Writer, last_writers};
use crate::launch::{Case, Element, Findings, Kind, Mismatch, PlannedBuffer, Tolerance};
use crate::machine::Device;
use crate::program::{Pc, Program};

/// Wrong elements of a buffer that are told one by one; the rest are counted.
const MISMATCHES_TOLD: usize = 3;

/// Findings that running a kernel shows by itself; the others need a checker.
const FOUND_BY_RUNNING: &[&str] = &[
    "assert",
    "barrier.count",
    "deadlock",
    "image.handle",
    "launch.bounds",
    "livelock",
    "memory.misaligned",
    "memory.null",
    "memory.out_of_bounds",
    "memory.read_only",
    "memory.space",
    "stack.overflow",
    "trap",
    "unsupported",
];

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseReport {
    /// Its name.
    pub name: String,
    /// What is wrong; nothing if it passed.
    pub failures: Vec<Failure>,
    /// The instructions that were executed.
    pub executed: BTreeSet<Pc>,
}

/// One thing that is not as the launch file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An element has the wrong value.
    Mismatch {
        /// The element, such as `out0[17]`.
        element: String,
        /// Its value.
        value: String,
        /// The value it must have, or be close to.
        expected: String,
        /// Who wrote it last.
        writer: Option<Writer>,
    },
    /// Further elements of a buffer are wrong.
    MoreMismatches {
        /// The buffer.
        buffer: String,
        /// How many more.
        more: u64,
        /// Elements of the buffer.
        elements: u64,
    },
    /// A launch did not reach its end, and that is not what the launch file says.
    Fault(Box<Fault>),
    /// None of the findings that the launch file says was found.
    NoFinding {
        /// The kernel.
        kernel: String,
        /// The ids, one of which was expected.
        expected: Vec<String>,
    },
    /// A finding is the right one on the wrong line.
    WrongLine {
        /// What was found.
        fault: Box<Fault>,
        /// The source line it was expected on.
        expected: u32,
    },
    /// A line that printf wrote is not the right one.
    Printed {
        /// Its number, from 1.
        line: usize,
        /// What was written there; nothing if there is no such line.
        value: Option<String>,
        /// What must be written there; nothing if there must be no such line.
        expected: Option<String>,
    },
    /// The launch file says something that this build cannot judge.
    NotJudged {
        /// What, in one line.
        reason: String,
    },
}

/// Runs `case` and says what is not as the launch file says. With `exact` tolerances are ignored.
///
/// # Errors
/// Reasons outside the kernel.
pub fn verify_case(program: &Arc<Program>, case: &Case, options: &RunOptions, exact: bool) -> Result<CaseReport, RunError> {
    let run = run_case(program, case, options)?;
    let mut failures: Vec<Failure> = run.fault.as_ref().and_then(|fault| judge_fault(case, fault)).into_iter().collect();
    if run.fault.is_none() {
        failures.extend(case.launches.iter().filter_map(|launch| {
            let kernel = &program.functions[launch.kernel.index()].name;
            judge_silence(kernel, launch.findings.as_ref())
        }));
        failures.extend(compare_buffers(program, case, options, exact, &run)?);
        failures.extend(compare_printed(case, run.device.as_ref()));
    }
    Ok(CaseReport { name: case.name.clone(), failures, executed: run.executed })
}

/// What is wrong with a case that `fault` stopped.
fn judge_fault(case: &Case, fault: &Fault) -> Option<Failure> {
    let findings = case.launches.get(fault.launch).and_then(|launch| launch.findings.as_ref());
    let Some(Findings::AnyOf { ids, line }) = findings else { return Some(Failure::Fault(Box::new(fault.clone()))) };
    if !ids.iter().any(|id| id == fault.id) {
        return Some(Failure::Fault(Box::new(fault.clone())));
    }
    let wrong_line = line.filter(|line| !fault.source_lines.is_empty() && !fault.source_lines.contains(line))?;
    Some(Failure::WrongLine { fault: Box::new(fault.clone()), expected: wrong_line })
}

/// What is wrong with a launch in which nothing was found.
fn judge_silence(kernel: &str, findings: Option<&Findings>) -> Option<Failure> {
    let Some(Findings::AnyOf { ids, .. }) = findings else { return None };
    let unchecked: Vec<&str> = ids.iter().map(String::as_str).filter(|id| !FOUND_BY_RUNNING.contains(id)).collect();
    Some(match unchecked.as_slice() {
        [] => Failure::NoFinding { kernel: kernel.to_string(), expected: ids.clone() },
        ids => Failure::NotJudged { reason: format!("this build has no checker for {}", ids.join(", ")) },
    })
}

/// The first line that is not what printf must have written.
fn compare_printed(case: &Case, device: Option<&Device>) -> Option<Failure> {
    let (expected, written) = (case.printed.as_ref()?, device?.printed().bytes());
    if expected == written {
        return None;
    }
    let lines = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    let (expected, written): (Vec<String>, Vec<String>) = (lines(expected), lines(written));
    let same = expected.iter().zip(&written).take_while(|(expected, written)| expected == written).count();
    Some(Failure::Printed { line: same + 1, value: written.get(same).cloned(), expected: expected.get(same).cloned() })
}

/// A wrong element with its buffer.
type Wrong<'a> = (usize, &'a PlannedBuffer, Mismatch);

fn compare_buffers(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    exact: bool,
    run: &CaseRun,
) -> Result<Vec<Failure>, RunError> {
    let Some(device) = &run.device else { return Ok(Vec::new()) };
    let mut wrong: Vec<Wrong<'_>> = Vec::new();
    let mut more = Vec::new();
    for (index, buffer) in case.buffers.iter().enumerate() {
        let Some(address) = run.addresses.get(index) else { continue };
        let (first, count) = compare_buffer(device, *address, buffer, exact)?;
        let untold = count - first.len() as u64;
        wrong.extend(first.into_iter().map(|mismatch| (index, buffer, mismatch)));
        if untold > 0 {
            let elements = buffer.bytes / u64::from(buffer.element.bytes());
            more.push((index, Failure::MoreMismatches { buffer: buffer.name.clone(), more: untold, elements }));
        }
    }
    if wrong.is_empty() {
        return Ok(Vec::new());
    }
    let range = |(index, buffer, mismatch): &Wrong<'_>| {
        let size = u64::from(buffer.element.bytes());
        (run.addresses[*index] + mismatch.index * size, size)
    };
    let writers = last_writers(program, case, options, &wrong.iter().map(range).collect::<Vec<_>>())?;
    let told = wrong.iter().zip(writers).map(|((index, buffer, mismatch), writer)| (*index, failure(buffer, mismatch, writer)));
    let mut all: Vec<(usize, Failure)> = told.chain(more).collect();
    all.sort_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(_, failure)| failure).collect())
}

/// The first wrong elements, and how many there are.
fn compare_buffer(device: &Device, address: u64, buffer: &PlannedBuffer, exact: bool) -> Result<(Vec<Mismatch>, u64), RunError> {
    let Some(expect) = &buffer.expect else { return Ok((Vec::new(), 0)) };
    let read = |offset: u64, out: &mut [u8]| device.read(address + offset, out).map_err(RunError::from);
    let tolerance = if exact { Tolerance::Bits } else { expect.tolerance };
    let comparison = expect.compare(buffer.element, tolerance, buffer.bytes, MISMATCHES_TOLD, read)?;
    Ok((comparison.first, comparison.wrong))
}

fn failure(buffer: &PlannedBuffer, mismatch: &Mismatch, writer: Option<Writer>) -> Failure {
    Failure::Mismatch {
        element: format!("{}{}", buffer.name, subscript(&buffer.shape, mismatch.index)),
        value: show(buffer.element, mismatch.value),
        expected: show(buffer.element, mismatch.expected),
        writer,
    }
}

/// `[17]`, or `[1][7]` of a buffer of two dimensions.
fn subscript(shape: &[u64], index: u64) -> String {
    let mut rest = index;
    let mut parts = Vec::new();
    for extent in shape.iter().skip(1).rev() {
        parts.push(format!("[{}]", rest % extent.max(&1)));
        rest /= extent.max(&1);
    }
    parts.push(format!("[{rest}]"));
    parts.into_iter().rev().collect()
}

/// The value, and of floats the bits as well: two that differ may look the same.
fn show(element: Element, bits: u64) -> String {
    match element.kind() {
        Kind::Float => format!("{} ({})", element.show(bits), element.show_bits(bits)),
        Kind::Bits | Kind::Unsigned | Kind::Signed => element.show(bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscript_has_as_many_parts_as_the_shape() {
        assert_eq!(subscript(&[100], 17), "[17]");
        assert_eq!(subscript(&[10, 10], 17), "[1][7]");
        assert_eq!(subscript(&[2, 3, 4], 23), "[1][2][3]");
        assert_eq!(subscript(&[], 0), "[0]");
    }

    #[test]
    fn floats_show_their_bits() {
        assert_eq!(show(Element::F32, 0x3fc0_0000), "1.5 (0x3fc00000)");
        assert_eq!(show(Element::B32, 3), "0x00000003");
    }
}
