//! The 128 bytes of tensor maps against those that the driver made.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::str::FromStr;

use ptxdbg::isa::{Interleave, L2Promotion, OutsideFill, Swizzle, TensorElement};
use ptxdbg::program::{BoxShape, RANK_MAX, TensorMap};

/// The types by the names that launch files have for them.
const ELEMENTS: [(&str, TensorElement); 13] = [
    ("U8", TensorElement::U8),
    ("U16", TensorElement::U16),
    ("U32", TensorElement::U32),
    ("S32", TensorElement::S32),
    ("U64", TensorElement::U64),
    ("S64", TensorElement::S64),
    ("F16", TensorElement::F16),
    ("F32", TensorElement::F32),
    ("F32_FTZ", TensorElement::F32Ftz),
    ("F64", TensorElement::F64),
    ("BF16", TensorElement::BF16),
    ("TF32", TensorElement::TF32),
    ("TF32_FTZ", TensorElement::TF32Ftz),
];

/// The numbers of `word`, separated by commas, and `rest` in the dimensions that it does not have.
fn list<T: FromStr + Copy, const N: usize>(word: &str, rest: T) -> [T; N]
where
    T::Err: std::fmt::Debug,
{
    let given: Vec<T> = if word == "-" { Vec::new() } else { word.split(',').map(|number| number.parse().unwrap()).collect() };
    assert!(given.len() <= N, "{word}");
    std::array::from_fn(|d| given.get(d).copied().unwrap_or(rest))
}

/// A line of the recording: the map, and its bytes.
fn recorded(line: &str) -> (TensorMap, [u8; 128]) {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |at: usize| words[at].parse::<usize>().unwrap();
    let shape = match words[0] {
        "tile" => BoxShape::Tile(list(words[10], 1)),
        "im2col" => {
            let (channels, pixels) = (number(10) as u32, number(11) as u32);
            BoxShape::Im2col { lower: list(words[12], 0), upper: list(words[13], 0), channels, pixels }
        }
        other => panic!("{other}"),
    };
    let digits = words.last().unwrap();
    let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
    assert_eq!(digits.len(), 256, "{line}");
    let map = TensorMap {
        address: u64::from_str_radix(words[2].trim_start_matches("0x"), 16).unwrap(),
        element: ELEMENTS.iter().find(|(name, _)| *name == words[1]).unwrap().1,
        rank: words[3].split(',').count(),
        dims: list(words[3], 1),
        strides: list::<u64, { RANK_MAX - 1 }>(words[4], 0),
        shape,
        element_strides: list(words[5], 1),
        interleave: Interleave::ALL[number(6)],
        swizzle: Swizzle::ALL[number(7)],
        promotion: L2Promotion::ALL[number(8)],
        fill: OutsideFill::ALL[number(9)],
    };
    (map, std::array::from_fn(byte))
}

#[test]
fn the_bytes_of_a_map_are_those_of_the_driver() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tensor/maps.txt")).unwrap();
    let mut count = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (map, bytes) = recorded(line);
        assert_eq!(map.encode(), bytes, "{line}");
        assert_eq!(TensorMap::decode(&bytes), Ok(map), "{line}");
        count += 1;
    }
    assert_eq!(count, 600);
}

#[test]
fn what_the_driver_has_made_breaks_no_rule() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tensor/maps.txt")).unwrap();
    let broken = text.lines().filter(|line| !line.starts_with('#')).map(recorded).flat_map(|(map, _)| map.check());
    let broken: Vec<String> = broken.map(|error| format!("{}: {}", error.field, error.message)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
