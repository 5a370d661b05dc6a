//! Opcodes whose results are exact: they were executed by kernels recorded on hardware, and all results agreed bit for bit.
//!
//! `recorded.txt` has a line for each: the opcode, the numbers of operands it was recorded with, and the suites that test it, which are
//! names of launch files in `fixtures/hardware`; or `programs` for opcodes that only the programs of `fixtures/programs` use. A test
//! generates it from those files, and fails if it is not up to date.

use std::collections::HashMap;
use std::sync::LazyLock;

/// An opcode with its recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// As PTX spells it.
    pub opcode: &'static str,
    /// The numbers of operands it was recorded with.
    pub operands: Vec<usize>,
    /// The suites that have it.
    pub suites: Vec<&'static str>,
}

/// The evidence for the result of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// It agrees with recordings on hardware, by these suites.
    Recorded(&'static [&'static str]),
    /// It follows the manual; there is no recording.
    Manual,
    /// It may differ from hardware in the last bits.
    Approximate,
}

/// The evidence for the results of this opcode.
pub fn trust(opcode: &str) -> Trust {
    match BY_OPCODE.get(opcode) {
        _ if is_filtered_in_three_dimensions(opcode) => Trust::Approximate,
        Some(recorded) => Trust::Recorded(&recorded.suites),
        None => Trust::Manual,
    }
}

/// True if it may filter eight texels: the hardware's weights for them are not known exactly.
fn is_filtered_in_three_dimensions(opcode: &str) -> bool {
    opcode.starts_with("tex.") && opcode.contains(".3d.") && opcode.ends_with(".f32")
}

/// All opcodes that were recorded, in alphabetical order.
pub fn recorded() -> &'static [Recorded] {
    &RECORDED
}

static RECORDED: LazyLock<Vec<Recorded>> = LazyLock::new(|| include_str!("recorded.txt").lines().filter_map(read).collect());

static BY_OPCODE: LazyLock<HashMap<&'static str, &'static Recorded>> =
    LazyLock::new(|| RECORDED.iter().map(|recorded| (recorded.opcode, recorded)).collect());

/// Parses a line: `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 7,8 matrix_more wgmma`.
fn read(line: &'static str) -> Option<Recorded> {
    let mut words = line.split(' ');
    let (opcode, operands) = (words.next()?, words.next()?.split(',').filter_map(|count| count.parse().ok()).collect());
    Some(Recorded { opcode, operands, suites: words.collect() })
}
