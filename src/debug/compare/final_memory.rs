//! The memory at the end of two runs whose stores are equal: atomics, and the order of threads that write the same address, decide it.

use super::branches::OutputDiff;
use super::comparer::Comparer;
use super::report::Difference;
use super::side::Side;
use crate::debug::names::memory_name::subscript;
use crate::debug::run::{CaseRun, RunError};
use crate::debug::value::element_text;
use crate::debug::verify::{Writer, last_writers};
use crate::launch::{Element, Kind, PlannedBuffer, Tolerance};
use crate::machine::Device;

/// Bytes that are compared at a time: a multiple of the size of every element.
const CHUNK_BYTES: u64 = 1 << 20;

/// A pair of buffers with their addresses.
struct BufferPair<'a> {
    buffer: &'a PlannedBuffer,
    addresses: [u64; 2],
    tolerance: Tolerance,
}

/// The first different element, and how many there are.
#[derive(Default)]
struct Different {
    first: Option<(usize, u64, [u64; 2])>,
    count: u64,
}

/// Compares the buffers that both runs have; returns the number of bytes, and the first difference.
///
/// # Errors
/// Errors that do not come from the kernel.
pub fn compare(comparer: &Comparer<'_>, runs: [&CaseRun; 2]) -> Result<(u64, Option<Difference>), RunError> {
    let [Some(device_a), Some(device_b)] = runs.map(|run| run.device.as_ref()) else { return Ok((0, None)) };
    let pairs = pairs_of(comparer, runs);
    let (mut bytes, mut different) = (0, Different::default());
    for (index, pair) in pairs.iter().enumerate() {
        bytes += pair.buffer.bytes;
        compare_pair([device_a, device_b], pair, index, &mut different)?;
    }
    let Some((index, element, values)) = different.first else { return Ok((bytes, None)) };
    let pair = &pairs[index];
    let size = u64::from(pair.buffer.element.bytes());
    let writer = |side: usize| -> Result<Option<Writer>, RunError> {
        let Side { program, case, options, inputs: _ } = comparer.sides[side];
        Ok(last_writers(program, case, options, &[(pair.addresses[side] + element * size, size)])?.pop().flatten())
    };
    let difference = Difference::Memory {
        element: format!("{}{}", pair.buffer.name, subscript(&pair.buffer.shape, element)),
        values: values.map(|bits| shown(pair.buffer.element, bits)),
        writers: Box::new([writer(0)?, writer(1)?]),
        elements: different.count,
    };
    Ok((bytes, Some(difference)))
}

/// Compares the buffers of two runs bit for bit: each with its first different element, and how many there are.
///
/// # Errors
/// The memory cannot be read.
pub fn outputs(comparer: &Comparer<'_>, runs: [&CaseRun; 2]) -> Result<Vec<OutputDiff>, RunError> {
    let [Some(device_a), Some(device_b)] = runs.map(|run| run.device.as_ref()) else { return Ok(Vec::new()) };
    let diff = |pair: BufferPair<'_>| {
        let mut different = Different::default();
        let (buffer, pair) = (pair.buffer, BufferPair { tolerance: Tolerance::Bits, ..pair });
        compare_pair([device_a, device_b], &pair, 0, &mut different)?;
        let first = different.first.map(|(_, element, values)| {
            let name = format!("{}{}", buffer.name, subscript(&buffer.shape, element));
            (name, values.map(|bits| shown(buffer.element, bits)))
        });
        let elements = buffer.bytes / u64::from(buffer.element.bytes()).max(1);
        Ok(OutputDiff { buffer: buffer.name.clone(), elements, different: different.count, first })
    };
    pairs_of(comparer, runs).into_iter().map(diff).collect()
}

/// The buffers that both sides have, of the same size.
fn pairs_of<'a>(comparer: &Comparer<'a>, runs: [&CaseRun; 2]) -> Vec<BufferPair<'a>> {
    let [a, b] = comparer.sides.map(|side| &side.case.buffers);
    let is_paired = a.iter().map(|buffer| buffer.bytes).eq(b.iter().map(|buffer| buffer.bytes));
    let pair = |(index, buffer): (usize, &'a PlannedBuffer)| {
        let other = if is_paired { Some(index) } else { b.iter().position(|other| other.name == buffer.name) };
        let other = other.filter(|other| b[*other].bytes == buffer.bytes)?;
        let addresses = [*runs[0].addresses.get(index)?, *runs[1].addresses.get(other)?];
        let of_buffer = buffer.expect.as_ref().map(|expect| expect.tolerance);
        let tolerance = comparer.tolerance.filter(|_| buffer.element.kind() == Kind::Float).or(of_buffer).unwrap_or(Tolerance::Bits);
        Some(BufferPair { buffer, addresses, tolerance })
    };
    a.iter().enumerate().filter_map(pair).collect()
}

fn compare_pair(devices: [&Device; 2], pair: &BufferPair<'_>, index: usize, different: &mut Different) -> Result<(), RunError> {
    let (bytes, element) = (pair.buffer.bytes, pair.buffer.element);
    let size = u64::from(element.bytes());
    let [mut a, mut b] = [Vec::new(), Vec::new()];
    for offset in (0..bytes).step_by(CHUNK_BYTES as usize) {
        let length = (bytes - offset).min(CHUNK_BYTES) as usize;
        for ((device, address), out) in devices.iter().zip(pair.addresses).zip([&mut a, &mut b]) {
            out.resize(length, 0);
            device.read(address + offset, out)?;
        }
        if a == b {
            continue;
        }
        let elements = a.chunks_exact(size as usize).zip(b.chunks_exact(size as usize)).map(|(a, b)| [element.read(a), element.read(b)]);
        for (number, [of_a, of_b]) in (offset / size..).zip(elements) {
            if of_a == of_b || pair.tolerance.accepts(element, of_b, of_a) {
                continue;
            }
            // What no capture has kept and nothing has written is not known.
            let is_known = |(device, address): (&&Device, u64)| device.unknown(address + number * size, size).is_empty();
            if devices.iter().zip(pair.addresses).all(is_known) {
                different.count += 1;
                different.first.get_or_insert((index, number, [of_a, of_b]));
            }
        }
    }
    Ok(())
}

/// The value as text, for floats with the bits.
fn shown(element: Element, bits: u64) -> String {
    match element.kind() {
        Kind::Float => format!("{} ({})", element_text(element, bits), element.show_bits(bits)),
        Kind::Bits | Kind::Unsigned | Kind::Signed => element_text(element, bits),
    }
}
