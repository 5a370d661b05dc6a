//! What is known to be exact: the opcodes that kernels recorded on hardware executed, whose every result agreed bit for bit.
//!
//! `recorded.txt` has a line for each: the opcode as PTX spells it, the numbers of operands it was recorded with, and the suites that are
//! about it, which are the names of launch files in `fixtures/hardware`; or `programs` for what only whole programs have, those of
//! `fixtures/programs`. A test makes it from those files, and fails if it is not up to date.

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

/// How far the result of an instruction can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// It is what hardware was recorded to give, by these suites.
    Recorded(&'static [&'static str]),
    /// It is what the manual says; no recording has it.
    Manual,
    /// It is near what hardware gives, but not always the same to the last bit.
    Approximate,
}

/// How far an instruction with this opcode can be trusted.
pub fn trust(opcode: &str) -> Trust {
    match BY_OPCODE.get(opcode) {
        _ if is_filtered_in_three_dimensions(opcode) => Trust::Approximate,
        Some(recorded) => Trust::Recorded(&recorded.suites),
        None => Trust::Manual,
    }
}

/// Whether it may have to filter eight texels, whose weights are not known to the last bit.
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

/// A line: `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 7,8 matrix_more wgmma`.
fn read(line: &'static str) -> Option<Recorded> {
    let mut words = line.split(' ');
    let (opcode, operands) = (words.next()?, words.next()?.split(',').filter_map(|count| count.parse().ok()).collect());
    Some(Recorded { opcode, operands, suites: words.collect() })
}
