//! What pairs of operations give that the vendor's assembler joins, and single operations that it folds: `fixtures/contracted`. And what of
//! other operations follows from the manual alone.

#![allow(clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::look::one_warp::one_warp;
use ptxdbg::base::Sources;
use ptxdbg::machine::{Device, Machine, NullObserver, Step};
use ptxdbg::program::{Op, Program};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// A row of a fixture: the instructions, the registers they start from, and the one they leave.
struct Row<'a> {
    body: &'a str,
    inputs: Vec<(&'a str, u64)>,
    result: (&'a str, u64),
}

fn rows(text: &str) -> impl Iterator<Item = Row<'_>> {
    let register = |word: &str| word.split_once('=').map(|(name, bits)| (name.len(), u64::from_str_radix(bits, 16).unwrap())).unwrap();
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(move |line| {
        let [body, inputs, result] = line.split(" | ").collect::<Vec<_>>().try_into().unwrap();
        let named = |word: &'_ str| (register(word).0, register(word).1);
        let inputs = inputs.split(' ').map(|word| (&word[..named(word).0], named(word).1)).collect();
        Row { body, inputs, result: (&result[..named(result).0], named(result).1) }
    })
}

/// The type in which a register of this name is loaded and stored.
fn memory_type(register: &str) -> &'static str {
    match register.as_bytes()[1] {
        b'f' => "f32",
        b'd' => "f64",
        b'h' => "b16",
        b'l' => "b64",
        _ => "b32",
    }
}

/// A module with a kernel for each row: it loads the inputs after the place of its result.
fn module(rows: &[Row<'_>]) -> Arc<Program> {
    let mut text = ".version 8.0 .target sm_90 .address_size 64\n".to_string();
    for (number, row) in rows.iter().enumerate() {
        let load =
            |(index, (name, _)): (usize, &(&str, u64))| format!("ld.global.{} {name}, [%o+{}]; ", memory_type(name), 16 * (index + 1));
        let loads: String = row.inputs.iter().enumerate().map(load).collect();
        let (result, ty) = (row.result.0, memory_type(row.result.0));
        text += &format!(
            ".visible .entry k{number}(.param .u64 out) {{ .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %l<9>;
            .reg .pred %p; .reg .b64 %o; ld.param.u64 %o, [out]; {loads} {}; st.global.{ty} [%o], {result}; ret; }}\n",
            row.body
        );
    }
    let (program, diagnostics) = ptxdbg::sema::load(&mut Sources::default(), "rows.ptx", text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    program.unwrap()
}

/// The bits that kernel `number` leaves.
fn result(program: &Arc<Program>, number: usize, row: &Row<'_>) -> u64 {
    let mut device = Device::new(program.clone());
    let out = device.allocate("out", 256, Some(0)).unwrap();
    for (index, (_, bits)) in row.inputs.iter().enumerate() {
        device.write(out + 16 * (index as u64 + 1), &bits.to_le_bytes()).unwrap();
    }
    let mut machine = Machine::new(device, one_warp(program.function(&format!("k{number}")).unwrap(), out)).unwrap();
    assert_eq!(machine.run(1 << 12, &mut NullObserver), Step::Done, "{}", row.body);
    let mut bytes = [0; 8];
    machine.device().read(out, &mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

fn disagreeing(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(fixtures().join("joined").join(name)).unwrap();
    let rows: Vec<Row<'_>> = rows(&text).collect();
    assert!(!rows.is_empty(), "{name}");
    let program = module(&rows);
    let wrong = |(number, row): (usize, &Row<'_>)| {
        let (is, should) = (result(&program, number, row), row.result.1);
        (is != should).then(|| format!("{} | {:x?}: {is:x} for {should:x}", row.body, row.inputs))
    };
    rows.iter().enumerate().filter_map(wrong).collect()
}

/// Each pair that is joined, with operands for which it matters.
#[test]
fn joined_pairs_give_what_the_assembler_s_code_gives() {
    let wrong = disagreeing("pairs.txt");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reciprocals of constants are those that stand in the machine code.
#[test]
fn divisors_that_are_constants_have_the_assembler_s_reciprocal() {
    let wrong = disagreeing("constants.txt");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The bits that `redux.sync` gives for these values of the first lanes; the others have the last one.
fn reduced(words: &str, values: &[u32]) -> u32 {
    let text = format!(
        ".version 8.8 .target sm_100f .address_size 64 .visible .entry k(.param .u64 out) {{ .reg .b64 %o, %a; .reg .b32 %t, %m; .reg .f32 %f;
        ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %o; ld.global.f32 %f, [%a];
        redux.sync.{words}.f32 %f, %f, 0xffffffff; st.global.f32 [%a], %f; ret; }}"
    );
    let (program, diagnostics) = ptxdbg::sema::load(&mut Sources::default(), "redux.ptx", text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let program = program.unwrap();
    let mut device = Device::new(program.clone());
    let out = device.allocate("out", 128, Some(0)).unwrap();
    for lane in 0..32 {
        let value = values.get(lane).or(values.last()).unwrap();
        device.write(out + 4 * lane as u64, &value.to_le_bytes()).unwrap();
    }
    let mut machine = Machine::new(device, one_warp(program.function("k").unwrap(), out)).unwrap();
    assert_eq!(machine.run(1 << 12, &mut NullObserver), Step::Done, "{words}");
    let mut bytes = [0; 128];
    machine.device().read(out, &mut bytes).unwrap();
    let lanes: Vec<u32> = bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    assert!(lanes.iter().all(|lane| *lane == lanes[0]), "{words}: {lanes:x?}");
    lanes[0]
}

/// PTX ISA, "redux.sync": +0 is above -0; `.abs` takes magnitudes; a NaN wins with `.NaN` and is no value without; the NaN is canonical.
#[test]
fn floats_are_reduced_over_lanes() {
    const ONE: u32 = 0x3f80_0000;
    const MINUS_TWO: u32 = 0xc000_0000;
    const NAN: u32 = 0xffc0_1234;
    const CANONICAL: u32 = 0x7fff_ffff;
    let cases: &[(&str, &[u32], u32)] = &[
        ("max", &[MINUS_TWO, ONE, MINUS_TWO], ONE),
        ("min", &[ONE, MINUS_TWO, ONE], MINUS_TWO),
        ("max.abs", &[ONE, MINUS_TWO, ONE], 0x4000_0000),
        ("min.abs", &[MINUS_TWO, 0xbf80_0000, MINUS_TWO], ONE),
        ("max", &[0x8000_0000, 0, 0x8000_0000], 0),
        ("min", &[0, 0x8000_0000, 0], 0x8000_0000),
        ("max", &[1, 2, 0x8000_0003], 2),
        ("max", &[NAN, ONE, MINUS_TWO], ONE),
        ("max.NaN", &[NAN, ONE, MINUS_TWO], CANONICAL),
        ("min.abs.NaN", &[ONE, NAN, ONE], CANONICAL),
        ("min.abs", &[0x8000_0000, NAN, ONE], 0),
        ("max", &[NAN], CANONICAL),
        ("min.NaN", &[NAN], CANONICAL),
        ("max", &[0xff80_0000, ONE, 0x7f80_0000], 0x7f80_0000),
    ];
    for (words, values, expected) in cases {
        assert_eq!(reduced(words, values), *expected, "{words} of {values:x?}");
    }
}

/// Of what compilers wrote, only the matrix unit of sm_100 is not modelled.
#[test]
fn nothing_of_the_corpus_is_unsupported_but_tcgen05() {
    let mut unsupported = 0;
    for entry in std::fs::read_dir(fixtures().join("corpus")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let program = ptxdbg::sema::load(&mut Sources::default(), "corpus.ptx", text).0.unwrap();
        for (inst, pc) in program.code.iter().zip((0..).map(ptxdbg::program::Pc)) {
            if let Op::Unsupported { .. } = inst.op {
                assert!(program.text(pc).contains("tcgen05."), "{}: {}", path.display(), program.text(pc));
                unsupported += 1;
            }
        }
    }
    assert_eq!(unsupported, 107);
}
