//! A short comparison of a run's results with the launch file: only the largest deviation, to compare many runs.

use serde::{Deserialize, Serialize};

use super::{ComparedMemory, compare_buffer, compare_printed, show};
use crate::debug::names::memory_name::subscript;
use crate::debug::run::{CaseRun, RunError};
use crate::debug::value::element_text;
use crate::launch::{Case, Mismatch, PlannedBuffer};

/// The judgement on the results of a finished run.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// The launch file expects no values and no text.
    NothingExpected,
    /// The results are as expected, within the tolerances.
    Right,
    /// The results deviate.
    Wrong(Deviation),
}

/// The largest deviation of a run from the expected results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deviation {
    /// Its description: `C[35][0] = 22.6, expected 26.2`.
    pub what: String,
    /// The difference from the expected value; infinite if it is not a number, which JSON has no number for.
    #[serde(serialize_with = "bits", deserialize_with = "of_bits")]
    pub distance: f64,
}

/// A number as its bits, so that each is read as it was written.
fn bits<S: serde::Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(number.to_bits())
}

fn of_bits<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    u64::deserialize(deserializer).map(f64::from_bits)
}

impl Deviation {
    /// True if it is worse than another one.
    pub fn is_worse_than(&self, other: &Self) -> bool {
        self.distance > other.distance
    }
}

/// Judges the buffers and the printf output of `run`, a finished run of `case`.
///
/// # Errors
/// Errors that do not come from the kernel.
pub fn judge(case: &Case, run: &CaseRun) -> Result<Judgement, RunError> {
    if case.printed.is_none() && case.buffers.iter().all(|buffer| buffer.expect.is_none()) {
        return Ok(Judgement::NothingExpected);
    }
    let mut worst: Option<Deviation> = None;
    let mut add = |deviation: Deviation| {
        if worst.as_ref().is_none_or(|worst| deviation.is_worse_than(worst)) {
            worst = Some(deviation);
        }
    };
    if let Some(device) = &run.device {
        let memory = ComparedMemory { device, addresses: &run.addresses, written: run.written.as_ref(), described: 0 };
        for (buffer, address) in case.buffers.iter().zip(&run.addresses) {
            let comparison = compare_buffer(memory, *address, buffer, false)?;
            let distance = comparison.distance.largest;
            comparison.worst.iter().for_each(|mismatch| add(Deviation { what: mismatch_text(buffer, mismatch), distance }));
        }
    }
    if let Some((line, value, expected)) = compare_printed(case, run.device.as_ref()).filter(|_| run.written.is_none()) {
        let text = |line: Option<String>| line.map_or_else(|| "nothing".to_string(), |line| format!("{line:?}"));
        let what = format!("line {line} of what printf wrote is {}, expected {}", text(value), text(expected));
        add(Deviation { what, distance: 0.0 });
    }
    Ok(worst.map_or(Judgement::Right, Judgement::Wrong))
}

/// `C[35][0] = 22.6, expected 26.2`; with the bits if both values have the same text.
fn mismatch_text(buffer: &PlannedBuffer, mismatch: &Mismatch) -> String {
    let plain = |bits: u64| element_text(buffer.element, bits);
    let (mut value, mut expected) = (plain(mismatch.value), plain(mismatch.expected));
    if value == expected {
        (value, expected) = (show(buffer.element, mismatch.value), show(buffer.element, mismatch.expected));
    }
    format!("{}{} = {value}, expected {expected}", buffer.name, subscript(&buffer.shape, mismatch.index))
}
