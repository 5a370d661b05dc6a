//! The special-function unit against recordings in `fixtures/special_functions`.

use ptxdbg::num::{Bf16, F16, special};
use serde_json::Value;

/// A function of one word, or of the two operands of a quotient.
type Form = fn(&[u64]) -> u64;

fn float(word: u64) -> f32 {
    f32::from_bits(word as u32)
}

/// Applies a function to both halves of a word.
fn halves(word: u64, f: fn(u16) -> u16) -> u64 {
    u64::from(f((word >> 16) as u16)) << 16 | u64::from(f(word as u16))
}

/// The forms by their names in the fixture.
#[rustfmt::skip]
const FORMS: &[(&str, Form)] = &[
    ("rcp_approx_f32", |w| special::rcp(float(w[0]), false).to_bits().into()),
    ("rcp_approx_ftz_f32", |w| special::rcp(float(w[0]), true).to_bits().into()),
    ("sqrt_approx_f32", |w| special::sqrt(float(w[0]), false).to_bits().into()),
    ("sqrt_approx_ftz_f32", |w| special::sqrt(float(w[0]), true).to_bits().into()),
    ("rsqrt_approx_f32", |w| special::rsqrt(float(w[0]), false).to_bits().into()),
    ("rsqrt_approx_ftz_f32", |w| special::rsqrt(float(w[0]), true).to_bits().into()),
    ("ex2_approx_f32", |w| special::ex2(float(w[0]), false).to_bits().into()),
    ("ex2_approx_ftz_f32", |w| special::ex2(float(w[0]), true).to_bits().into()),
    ("lg2_approx_f32", |w| special::lg2(float(w[0]), false).to_bits().into()),
    ("lg2_approx_ftz_f32", |w| special::lg2(float(w[0]), true).to_bits().into()),
    ("sin_approx_f32", |w| special::sin(float(w[0])).to_bits().into()),
    ("sin_approx_ftz_f32", |w| special::sin(float(w[0])).to_bits().into()),
    ("cos_approx_f32", |w| special::cos(float(w[0])).to_bits().into()),
    ("cos_approx_ftz_f32", |w| special::cos(float(w[0])).to_bits().into()),
    ("tanh_approx_f32", |w| special::tanh(float(w[0])).to_bits().into()),
    ("div_approx_f32", |w| special::div_approx(float(w[0]), float(w[1]), false).to_bits().into()),
    ("div_approx_ftz_f32", |w| special::div_approx(float(w[0]), float(w[1]), true).to_bits().into()),
    ("div_full_f32", |w| special::div_full(float(w[0]), float(w[1]), false).to_bits().into()),
    ("div_full_ftz_f32", |w| special::div_full(float(w[0]), float(w[1]), true).to_bits().into()),
    ("rcp_approx_ftz_f64", |w| special::rcp_f64(f64::from_bits(w[0])).to_bits()),
    ("rsqrt_approx_f64", |w| special::rsqrt_f64(f64::from_bits(w[0]), false).to_bits()),
    ("rsqrt_approx_ftz_f64", |w| special::rsqrt_f64(f64::from_bits(w[0]), true).to_bits()),
    ("ex2_approx_f16", |w| special::ex2_f16(F16(w[0] as u16)).0.into()),
    ("ex2_approx_f16x2", |w| halves(w[0], |x| special::ex2_f16(F16(x)).0)),
    ("ex2_approx_ftz_bf16", |w| special::ex2_bf16(Bf16(w[0] as u16)).0.into()),
    ("ex2_approx_ftz_bf16x2", |w| halves(w[0], |x| special::ex2_bf16(Bf16(x)).0)),
    ("tanh_approx_f16", |w| special::tanh_f16(F16(w[0] as u16)).0.into()),
    ("tanh_approx_f16x2", |w| halves(w[0], |x| special::tanh_f16(F16(x)).0)),
    ("tanh_approx_bf16", |w| special::tanh_bf16(Bf16(w[0] as u16)).0.into()),
    ("tanh_approx_bf16x2", |w| halves(w[0], |x| special::tanh_bf16(Bf16(x)).0)),
];

/// The name of a chunk sum or checksum, and the form it is of.
const SWEEPS: &[(&str, &str)] = &[
    ("rcp", "rcp_approx_f32"),
    ("rcp_ftz", "rcp_approx_ftz_f32"),
    ("rsqrt", "rsqrt_approx_f32"),
    ("rsqrt_ftz", "rsqrt_approx_ftz_f32"),
    ("sqrt", "sqrt_approx_f32"),
    ("sqrt_ftz", "sqrt_approx_ftz_f32"),
    ("ex2", "ex2_approx_f32"),
    ("ex2_ftz", "ex2_approx_ftz_f32"),
    ("lg2", "lg2_approx_f32"),
    ("lg2_ftz", "lg2_approx_ftz_f32"),
    ("sin", "sin_approx_f32"),
    ("cos", "cos_approx_f32"),
    ("tanh", "tanh_approx_f32"),
    ("rcp64", "rcp_approx_ftz_f64"),
    ("rsqrt64_ftz", "rsqrt_approx_ftz_f64"),
    ("rsqrt64", "rsqrt_approx_f64"),
    ("ex2_f16", "ex2_approx_f16"),
    ("tanh_f16", "tanh_approx_f16"),
    ("ex2_bf16", "ex2_approx_ftz_bf16"),
    ("tanh_bf16", "tanh_approx_bf16"),
];

fn form(name: &str) -> Form {
    FORMS.iter().find(|row| row.0 == name).unwrap_or_else(|| panic!("no form {name}")).1
}

fn form_of_sweep(sweep: &str) -> (Form, bool) {
    let name = SWEEPS.iter().find(|row| row.0 == sweep).unwrap_or_else(|| panic!("no sweep {sweep}")).1;
    (form(name), name.ends_with("f64"))
}

fn hexadecimal(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap(), 16).unwrap()
}

fn fixture() -> Value {
    serde_json::from_str(include_str!("../../fixtures/special_functions/vectors.json")).unwrap()
}

#[test]
fn vectors() {
    let fixture = fixture();
    let forms = fixture["vectors"].as_object().unwrap();
    assert_eq!(forms.len(), FORMS.len());
    for (name, rows) in forms {
        for row in rows.as_array().unwrap() {
            let words: Vec<u64> = row.as_array().unwrap().iter().map(hexadecimal).collect();
            let (expected, operands) = words.split_last().unwrap();
            let got = form(name)(operands);
            assert_eq!(got, *expected, "{name} of {operands:x?}: got {got:#x}, the hardware {expected:#x}");
        }
    }
}

/// Mixes an argument and a result into a number that sums up well.
fn mix(x: u32, y: u32) -> u32 {
    let z = y ^ x.wrapping_mul(0x9e37_79b1);
    let z = (z ^ z >> 16).wrapping_mul(0x7feb_352d);
    let z = (z ^ z >> 15).wrapping_mul(0x846c_a68b);
    z ^ z >> 16
}

#[test]
fn all_arguments_from_1_to_1_and_a_128th() {
    for (sweep, expected) in fixture()["chunk_sums"].as_object().unwrap() {
        let (f, wide) = form_of_sweep(sweep);
        let sum = (0x3f80_0000u32..0x3f81_0000).fold(0u32, |sum, x| {
            let y = f(&[u64::from(x) << if wide { 32 } else { 0 }]);
            sum.wrapping_add(mix(x, if wide { mix(y as u32, (y >> 32) as u32) } else { y as u32 }))
        });
        assert_eq!(u64::from(sum), hexadecimal(expected), "{sweep}");
    }
}

/// CRC-32 (IEEE).
fn crc32(bytes: impl Iterator<Item = u8>) -> u32 {
    !bytes
        .fold(!0u32, |crc, byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 != 0 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }))
}

#[test]
fn all_16_bit_arguments() {
    for (sweep, expected) in fixture()["crc32_of_all_16_bit_arguments"].as_object().unwrap() {
        let (f, _) = form_of_sweep(sweep);
        let crc = crc32((0..=0xffffu64).flat_map(|x| (f(&[x]) as u16).to_le_bytes()));
        assert_eq!(u64::from(crc), hexadecimal(expected), "{sweep}");
    }
}
