//! Matrix products against 794 dot products recorded on the H200, and against properties that must hold.

use proptest::prelude::*;
use ptxdbg::num::Rounding;
use ptxdbg::num::matrix::{Accumulator, Element, LANES, Operands, Product, Rule, multiply, multiply_f64};
use serde_json::Value;

fn hexadecimal(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap(), 16).unwrap()
}

fn hexadecimals(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(hexadecimal).collect()
}

/// The elements in the order of k. Those of a product in two steps are recorded by steps: of four columns the first two belong to the
/// first step.
fn in_order(value: &Value, rule: &str) -> Vec<u64> {
    if rule != "fp8chain" {
        return hexadecimals(value);
    }
    let [first, second] = [&value[0], &value[1]].map(hexadecimals);
    first.chunks(2).zip(second.chunks(2)).flat_map(|(first, second)| [first, second].concat()).collect()
}

fn element(word: &str) -> Element {
    match word {
        "f16" => Element::F16,
        "bf16" => Element::Bf16,
        "tf32" => Element::Tf32,
        "e4m3" => Element::E4m3,
        "e5m2" => Element::E5m2,
        other => panic!("no element {other}"),
    }
}

fn product(rule: &str, types: &str, k: usize) -> Product {
    let types: Vec<&str> = types.split('.').collect();
    let accumulator = |word: &str| if word == "f16" { Accumulator::F16 } else { Accumulator::F32 };
    let rule = match rule {
        "fp8chain" => Rule::ConvertedToHalves,
        "m8n8k4" => Rule::Chain,
        _ if types[0] == "e8m13" => Rule::Fused13Bits,
        _ => Rule::Fused,
    };
    let (a, b) = (element(types[1]), element(types[2]));
    Product { m: 1, n: LANES, k, a, b, c: accumulator(types[3]), d: accumulator(types[0]), rule }
}

/// A row times a matrix all of whose columns are the same.
fn row_times_columns(product: &Product, a: &[u64], b: &[u64], c: u64) -> Vec<u32> {
    let a: Vec<u32> = a.iter().map(|&bits| bits as u32).collect();
    let b: Vec<u32> = b.iter().flat_map(|&bits| [bits as u32; LANES]).collect();
    multiply(pulp::Arch::new(), product, Operands { a: &a, b: &b, sparse_rows: None }, vec![c as u32; LANES])
}

#[test]
fn recorded_dot_products() {
    let vectors: Value = serde_json::from_str(include_str!("../../../fixtures/tensor_cores/vectors.json")).unwrap();
    let vectors = vectors.as_array().unwrap();
    assert_eq!(vectors.len(), 794);
    for vector in vectors {
        let [rule, types] = ["rule", "types"].map(|field| vector[field].as_str().unwrap());
        let [a, b] = ["a", "b"].map(|field| in_order(&vector[field], rule));
        let [c, d] = ["c", "d"].map(|field| hexadecimal(&vector[field]));
        let got = if rule == "f64fma" {
            let numbers = |words: &[u64]| words.iter().copied().map(f64::from_bits).collect::<Vec<f64>>();
            let result = multiply_f64([1, 1, a.len()], &numbers(&a), &numbers(&b), &numbers(&[c]), Rounding::Nearest);
            vec![result[0].to_bits()]
        } else {
            row_times_columns(&product(rule, types, a.len()), &a, &b, c).into_iter().map(u64::from).collect()
        };
        assert!(got.iter().all(|&got| got == d), "{}: got {got:x?}, the hardware {d:#x}", vector["kernel"]);
    }
}

/// Without a vector unit the same functions run, and nothing may differ.
#[test]
fn vector_units_change_nothing() {
    let product = product("fused", "f32.bf16.bf16.f32", 16);
    let (a, b): (Vec<u32>, Vec<u32>) =
        ((0..16).map(|i| (i * 0x1357) & 0xffff).collect(), (0..128).map(|i| (i * 0x2461) & 0xffff).collect());
    let d = |arch| multiply(arch, &product, Operands { a: &a, b: &b, sparse_rows: None }, vec![0x3f80_0000; LANES]);
    assert_eq!(d(pulp::Arch::new()), d(pulp::Arch::Scalar));
}

const BYTES: Product = Product {
    m: 1,
    n: LANES,
    k: 2,
    a: Element::U8,
    b: Element::S8,
    c: Accumulator::S32,
    d: Accumulator::S32,
    rule: Rule::Integer { saturate: false },
};

#[test]
fn integers_wrap_or_are_clamped_once() {
    // 255 * 127 + 255 * -128 = -255.
    let near = (i32::MIN + 100) as u32;
    assert_eq!(row_times_columns(&BYTES, &[255, 255], &[127, 0x80], near.into())[0], near.wrapping_sub(255));
    let clamped = Product { rule: Rule::Integer { saturate: true }, ..BYTES };
    assert_eq!(row_times_columns(&clamped, &[255, 255], &[127, 0x80], near.into())[0], i32::MIN as u32);
    // The sum stays in range on the whole, though not on the way.
    assert_eq!(row_times_columns(&clamped, &[255, 255], &[0x80, 127], near.into())[0], i32::MIN as u32);
    assert_eq!(row_times_columns(&clamped, &[255, 254], &[127, 0x80], (i32::MAX as u32 - 1).into())[0], (i32::MAX - 1 - 127) as u32);
}

#[test]
fn nibbles_have_signs_of_their_own() {
    let nibbles = Product { a: Element::S4, b: Element::U4, ..BYTES };
    // -1 * 15 + 7 * 2 + 10.
    assert_eq!(row_times_columns(&nibbles, &[0xf, 7], &[0xf, 2], 10)[0], 9);
}

#[test]
fn bits_are_counted() {
    let differing = Product { a: Element::B1, b: Element::B1, rule: Rule::Xor, ..BYTES };
    assert_eq!(row_times_columns(&differing, &[0xff, 0], &[0x0f, 1], 100)[0], 105);
    let common = Product { rule: Rule::And, ..differing };
    assert_eq!(row_times_columns(&common, &[0xff, 0], &[0x0f, 1], 100)[0], 104);
}

#[test]
fn what_a_sparse_row_does_not_keep_has_no_effect() {
    let product = product("fused", "f32.f16.f16.f32", 2);
    let b: Vec<u32> = [0x7c00, 0x4000, 0x7e00, 0x4200].into_iter().flat_map(|bits| [bits; LANES]).collect();
    let multiply = |kept: &[u16]| {
        let operands = Operands { a: &[0x3c00, 0x3c00], b: &b, sparse_rows: Some(kept) };
        multiply(pulp::Arch::new(), &product, operands, vec![0; LANES])[0]
    };
    assert_eq!(multiply(&[1, 3]), 5.0f32.to_bits());
    assert_eq!(multiply(&[0, 1]), f32::INFINITY.to_bits());
    assert_eq!(multiply(&[1, 2]), 0x7fff_ffff);
    assert_eq!(multiply(&[1, 9]), 2.0f32.to_bits());
}

#[test]
fn doubles_are_rounded_at_each_step() {
    let tiny = f64::EPSILON / 4.0;
    let up = |rounding| multiply_f64([1, 1, 2], &[tiny, tiny], &[1.0, 1.0], &[1.0], rounding)[0];
    assert_eq!(up(Rounding::Nearest), 1.0);
    assert_eq!(up(Rounding::Up), 1.0 + 2.0 * f64::EPSILON);
}

proptest! {
    /// The order of K does not matter inside one sum, and a product of one term plus zero is that term.
    #[test]
    fn order_does_not_matter(a in prop::collection::vec(any::<u16>(), 16), b in prop::collection::vec(any::<u16>(), 16), c in any::<u32>()) {
        let product = product("fused", "f32.f16.f16.f32", 16);
        let words = |words: &[u16]| words.iter().map(|&word| u64::from(word)).collect::<Vec<u64>>();
        let (a, b) = (words(&a), words(&b));
        let reversed = |words: &[u64]| words.iter().rev().copied().collect::<Vec<u64>>();
        let forwards = row_times_columns(&product, &a, &b, c.into());
        prop_assert_eq!(forwards, row_times_columns(&product, &reversed(&a), &reversed(&b), c.into()));
    }
}
