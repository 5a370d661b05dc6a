//! Which bytes tensor copies move, against what an H200 moved: the maps, coordinates and buffers of `hardware/tensor_copy.ron`, without
//! executing its kernels. The results of reductions are for `recordings` to say.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::path::Path;

use ptxdbg::debug::open::open;
use ptxdbg::debug::{LaunchChoice, Opened, Overrides, Request};
use ptxdbg::isa::TensorMode;
use ptxdbg::launch::{Case, Contents, ParamValue};
use ptxdbg::machine::tensor::{Direction, Request as Copy, TensorBox};
use ptxdbg::program::{Program, TensorMap};

/// Where the tensor lies: anywhere.
const BASE: u64 = 1 << 32;

fn opened(name: &str) -> Opened {
    let launch = LaunchChoice::File(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/{name}.ron")));
    open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() }).unwrap()
}

/// A launch of the suite, taken apart.
struct Recorded<'c> {
    kernel: &'c str,
    map: TensorMap,
    /// Index of the tensor's buffer, and of the one that shared memory is stored to or comes from.
    buffers: [usize; 2],
    /// The scalars after the map: coordinates, offsets, transaction bytes, words of shared memory.
    scalars: Vec<i32>,
}

fn recorded<'c>(program: &'c Program, case: &Case) -> Recorded<'c> {
    let [launch] = case.launches.as_slice() else { panic!("{}: one launch each", case.name) };
    let mut scalars = Vec::new();
    let (mut tensor, mut other) = (None, None);
    for param in &launch.params {
        match &param.value {
            ParamValue::TensorMap { buffer, map } => tensor = Some((*buffer, TensorMap { address: BASE, ..**map })),
            ParamValue::Bytes(bytes) => scalars.push(bytes.iter().rev().fold(0, |value, byte| value << 8 | i32::from(*byte))),
            ParamValue::Address { buffer, .. } => other = Some(*buffer),
            ParamValue::Struct { .. } => panic!("{}: no recorded kernel has a structure", case.name),
        }
    }
    let (buffer, map) = tensor.unwrap();
    Recorded { kernel: &program.functions[launch.kernel.index()].name, map, buffers: [buffer, other.unwrap()], scalars }
}

fn bytes(contents: &Contents, len: u64) -> Vec<u8> {
    let mut all = match contents {
        Contents::Byte(byte) => vec![*byte; len as usize],
        _ => vec![0; len as usize],
    };
    contents
        .fill(len, &mut |offset, piece| {
            all[offset as usize..][..piece.len()].copy_from_slice(piece);
            Ok::<(), ptxdbg::launch::DataError>(())
        })
        .unwrap();
    all
}

impl Recorded<'_> {
    fn request(&self, direction: Direction) -> Copy {
        let rank = self.map.rank;
        let mode = if self.kernel.starts_with("im2col") { TensorMode::Im2col } else { TensorMode::Tile };
        let spatial = if mode == TensorMode::Im2col { rank - 2 } else { 0 };
        let at = |index: usize, limit: usize| if index < limit { self.scalars[index] } else { 0 };
        Copy {
            direction,
            mode,
            rank,
            coordinates: std::array::from_fn(|d| at(d, rank)),
            offsets: std::array::from_fn(|d| at(rank + d, rank + spatial) as u16),
            shared: 0,
        }
    }
}

#[test]
fn loads_and_stores_move_what_the_hardware_moved() {
    let opened = opened("hardware/tensor_copy");
    let mut seen = [0; 2];
    for case in &opened.plan.cases {
        let recorded = recorded(&opened.program, case);
        let [tensor, other] = recorded.buffers.map(|index| &case.buffers[index]);
        let mut global = bytes(&tensor.contents, tensor.bytes);
        if recorded.kernel.starts_with("reduce") {
            continue;
        }
        let is_store = recorded.kernel.starts_with("store");
        let request = recorded.request(if is_store { Direction::Store } else { Direction::Load });
        let copy = TensorBox::new(&recorded.map, request).unwrap_or_else(|fault| panic!("{}: {}", case.name, fault.message));
        let mut shared = if is_store { bytes(&other.contents, other.bytes) } else { vec![0xcc; 1 << 15] };
        let fill = copy.fill();
        copy.swizzled_runs(|piece| {
            for byte in 0..piece.bytes {
                let at = (piece.shared + byte) as usize;
                match piece.global {
                    Some(address) if is_store => global[(address + byte - BASE) as usize] = shared[at],
                    Some(address) => shared[at] = global[(address + byte - BASE) as usize],
                    None => shared[at] = fill[at % 2],
                }
            }
        });
        let (got, buffer) = if is_store { (global, tensor) } else { (shared, other) };
        let expect = buffer.expect.as_ref().unwrap();
        let expected = bytes(&expect.contents, buffer.bytes);
        assert!(got[..expected.len()] == expected, "{}: {:?} of {:?}", case.name, request, recorded.map);
        seen[usize::from(is_store)] += 1;
    }
    assert_eq!(seen, [105, 21]);
}
