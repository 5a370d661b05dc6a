//! The special-function unit against the recordings in `fixtures/special_functions`. `benches/sweep.rs` compares all arguments.

mod forms;

use forms::{FORMS, Function, crc32};
use serde_json::Value;

fn form(opcode: &str) -> Function {
    FORMS.iter().find(|row| row.0 == opcode).unwrap_or_else(|| panic!("no form {opcode}")).1
}

fn hexadecimal(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap(), 16).unwrap()
}

fn sweeps() -> Value {
    serde_json::from_str(include_str!("../../../fixtures/special_functions/sweeps.json")).unwrap()
}

fn apply(function: Function, operands: &[u64]) -> u64 {
    match (function, operands) {
        (Function::Narrow(f), [x]) => {
            let mut word = [*x as u32];
            f(&mut word);
            word[0].into()
        }
        (Function::Wide(f), [x]) => {
            let mut word = [*x];
            f(&mut word);
            word[0]
        }
        (Function::Quotient(f), [a, b]) => f(*a as u32, *b as u32).into(),
        _ => panic!("{} operands", operands.len()),
    }
}

#[test]
fn vectors() {
    let vectors: Value = serde_json::from_str(include_str!("../../../fixtures/special_functions/vectors.json")).unwrap();
    let vectors = vectors.as_object().unwrap();
    assert_eq!(vectors.len(), FORMS.len());
    for (opcode, rows) in vectors {
        for row in rows.as_array().unwrap() {
            let words: Vec<u64> = row.as_array().unwrap().iter().map(hexadecimal).collect();
            let (expected, operands) = words.split_last().unwrap();
            let got = apply(form(opcode), operands);
            assert_eq!(got, *expected, "{opcode} of {operands:x?}: got {got:#x}, the hardware {expected:#x}");
        }
    }
}

#[test]
fn a_chunk_of_each_sweep() {
    for (opcode, recorded) in sweeps()["sweeps"].as_object().unwrap() {
        assert_eq!(u64::from(form(opcode).chunk_sum(0x3f80)), hexadecimal(&recorded["one"]), "{opcode}");
    }
}

/// Every 16,381st argument: some hundred with every sign and exponent.
#[test]
fn arguments_from_everywhere() {
    const STRIDE: usize = 16_381;
    for (opcode, recorded) in sweeps()["sweeps"].as_object().unwrap() {
        let sum = form(opcode).sum((0..=u32::MAX).step_by(STRIDE).collect());
        assert_eq!(u64::from(sum), hexadecimal(&recorded["strided"]), "{opcode}: got {sum:08x}");
    }
}

#[test]
fn all_16_bit_arguments() {
    for (opcode, expected) in sweeps()["crc32_of_all_16_bit_arguments"].as_object().unwrap() {
        let crc = crc32((0..1 << 16).flat_map(|x| (apply(form(opcode), &[x]) as u16).to_le_bytes()));
        assert_eq!(u64::from(crc), hexadecimal(expected), "{opcode}");
    }
}
