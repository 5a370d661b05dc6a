//! How long one matrix multiplication takes, instruction by instruction.
//!
//! A kernel of little but the instruction is run by the interpreter on one warp, with elements that differ in every lane, or of `wgmma` on
//! the four warps of a warpgroup: the rows that begin with types are those of `wgmma.m64n256k16`. The last row is its arithmetic alone. The
//! table at the end shows the fastest run of each.
//!
//! `cargo bench --bench matrix`

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench that cannot run says so and ends; its table is its result"
)]

mod job;

use std::path::Path;
use std::time::Duration;

use criterion::SamplingMode;
use job::Job;
use ptxdbg::num::matrix::{Accumulator, Element, Operands, Product, Rule, multiply};

/// An instruction, the registers of its fragments D, A, B and C (`.f64` ones if so), and the microseconds that one may take.
type Form = (&'static str, [u32; 4], bool, f64);

#[rustfmt::skip]
const FORMS: &[Form] = &[
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", [4, 4, 2, 4], false, 1.0),
    ("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", [2, 4, 2, 2], false, 1.0),
    ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", [4, 4, 2, 4], false, 1.0),
    ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", [4, 4, 2, 4], false, 1.0),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", [4, 4, 2, 4], false, 3.0),
    ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", [4, 4, 2, 4], false, 3.0),
    ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", [2, 1, 1, 2], true, 3.0),
    ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", [8, 8, 8, 8], false, 6.0),
];

/// A form of `wgmma.m64n256k16`: what it is called here, the types D, A and B, the registers of its D, and the bits that all its elements
/// have and that they may have.
type WarpgroupForm = (&'static str, &'static str, u32, [u32; 2]);

/// Halves below 1, `bf16` numbers from 2^-15 to 2, and tiny ones of very different magnitudes, from 2^-127 to 2^-8.
const WARPGROUP_FORMS: &[WarpgroupForm] = &[
    ("f32.f16.f16", "f32.f16.f16", 128, [0, 0x3bff_3bff]),
    ("f16.f16.f16", "f16.f16.f16", 64, [0, 0x3bff_3bff]),
    ("f32.bf16.bf16", "f32.bf16.bf16", 128, [0x3800_3800, 0x07ff_07ff]),
    ("f32.bf16.bf16, tiny elements", "f32.bf16.bf16", 128, [0, 0x3bff_3bff]),
];

/// Products of a warpgroup in a row.
const WARPGROUP_COUNT: u32 = 64;

/// The longest that `wgmma.m64n256k16` may take, in microseconds.
const WARPGROUP: f64 = 60.0;

/// Instructions in a row, and how often they are repeated.
const UNROLLED: u32 = 16;
const ROUNDS: u32 = 256;

fn main() {
    let mut criterion = job::criterion();
    let mut group = criterion.benchmark_group("matrix");
    group.sampling_mode(SamplingMode::Flat);
    let mut rows = Vec::new();
    for form in FORMS {
        let job = Job::load(&written(form.0, 32, &module(form)));
        let mut shortest = Duration::MAX;
        group.bench_function(form.0, |bencher| {
            bencher.iter_custom(|count| job::measure(count, &mut shortest, || job.start(), job::run));
        });
        rows.push((form.0, shortest / (UNROLLED * ROUNDS), form.3));
    }
    for form in WARPGROUP_FORMS {
        let job = Job::load(&written(&format!("wgmma.{}", form.0), 128, &warpgroup_module(form)));
        let mut shortest = Duration::MAX;
        group.bench_function(format!("wgmma.m64n256k16.{}", form.0), |bencher| {
            bencher.iter_custom(|count| job::measure(count, &mut shortest, || job.start(), job::run));
        });
        rows.push((form.0, shortest / WARPGROUP_COUNT, WARPGROUP));
    }
    let name = "arithmetic of wgmma.m64n256k16.f32.f16.f16";
    let mut shortest = Duration::MAX;
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|count| job::measure(count, &mut shortest, warpgroup_operands, multiply_warpgroup));
    });
    rows.push((name, shortest, WARPGROUP));
    group.finish();
    criterion.final_summary();
    println!("{:<56}{:>10}{:>10}", "instruction", "us", "target");
    for (name, shortest, target) in rows.iter().filter(|row| row.1 < Duration::from_secs(1)) {
        println!("{name:<56}{:>10.2}{target:>10}", shortest.as_secs_f64() * 1e6);
    }
}

/// A, B and C of 64 by 256 by 16, of small numbers.
fn warpgroup_operands() -> [Vec<u32>; 3] {
    let halves = |count: u32| (0..count).map(|index| 0x3c00 + index.wrapping_mul(2_654_435_761) % 0x400).collect();
    [halves(64 * 16), halves(16 * 256), vec![0; 64 * 256]]
}

fn multiply_warpgroup([a, b, c]: &mut [Vec<u32>; 3]) {
    let (element, sum) = (Element::F16, Accumulator::F32);
    let product = Product { m: 64, n: 256, k: 16, a: element, b: element, c: sum, d: sum, rule: Rule::Fused };
    *c = multiply(pulp::Arch::new(), &product, Operands { a, b, sparse_rows: None }, std::mem::take(c));
}

/// Writes a module and the file that launches its kernel with a block of `threads` threads; returns the path.
fn written(name: &str, threads: u32, module: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let launch = format!("Launch(module: \"{name}.ptx\", kernel: \"multiply\", grid: (1, 1, 1), block: ({threads}, 1, 1), params: [])");
    let path = folder.join(format!("{name}.ron"));
    std::fs::write(folder.join(format!("{name}.ptx")), module).unwrap();
    std::fs::write(&path, launch).unwrap();
    path.to_str().unwrap().to_string()
}

/// A warpgroup that multiplies what is in shared memory, all of it small numbers, and waits for every product.
fn warpgroup_module((_, types, registers, [set, free]): &WarpgroupForm) -> String {
    let names: Vec<String> = (0..*registers).map(|index| format!("%d{index}")).collect();
    let mut text = format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry multiply()\n{{\n\
        .reg .b32 %d<128>;\n.reg .u32 %t, %at, %value, %first;\n.reg .b64 %a, %b;\n.reg .pred %more;\n\
        .shared .align 1024 .b8 tile[10240];\nmov.u32 %t, %tid.x;\nmov.u32 %first, tile;\nmad.lo.u32 %at, %t, 4, %first;\nFILL:\n\
        mad.lo.u32 %value, %at, 66051, 0x38003800;\nand.b32 %value, %value, {free};\nor.b32 %value, %value, {set};\n\
        st.shared.u32 [%at], %value;\nadd.u32 %at, %at, 512;\nsub.u32 %value, %at, %first;\nsetp.lt.u32 %more, %value, 10240;\n\
        @%more bra FILL;\nfence.proxy.async;\nbar.sync 0;\nshr.u32 %first, %first, 4;\ncvt.u64.u32 %a, %first;\n\
        or.b64 %a, %a, 0x1000080000;\nadd.u64 %b, %a, 128;\nwgmma.fence.sync.aligned;\n"
    );
    for _ in 0..WARPGROUP_COUNT {
        text += &format!("wgmma.mma_async.sync.aligned.m64n256k16.{types} {{{}}}, %a, %b, 1, 1, 1, 0, 0;\n", names.join(", "));
        text += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    }
    text + "ret;\n}\n"
}

fn module((opcode, [d, a, b, c], is_wide, _): &Form) -> String {
    let (ty, start) = if *is_wide { ("b64", "cvt.u64.u32") } else { ("b32", "mov.b32") };
    let list = |name: &str, count: u32| {
        let names: Vec<String> = (0..count).map(|index| format!("%{name}{index}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let mut text = format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry multiply()\n{{\n\
         .reg .{ty} %d<8>, %a<8>, %b<8>, %c<8>;\n.reg .u32 %i, %t;\n.reg .pred %again;\nmov.u32 %t, %tid.x;\n"
    );
    for (name, count) in [("a", *a), ("b", *b), ("c", *c)] {
        for index in 0..count {
            // Halves and floats between 2^-15 and 2 in all types, and bytes.
            text += &format!("mad.lo.u32 %i, %t, 66051, {};\nand.b32 %i, %i, 0x07ff07ff;\n", 197 * index);
            text += &format!("or.b32 %i, %i, 0x38003800;\n{start} %{name}{index}, %i;\n");
        }
    }
    text += "mov.u32 %i, 0;\nAGAIN:\n";
    for _ in 0..UNROLLED {
        text += &format!("{opcode} {}, {}, {}, {};\n", list("d", *d), list("a", *a), list("b", *b), list("c", *c));
    }
    text + &format!("add.u32 %i, %i, 1;\nsetp.lt.u32 %again, %i, {ROUNDS};\n@%again bra AGAIN;\nret;\n}}\n")
}
