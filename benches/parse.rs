//! Reading a PTX file of 10 MB, made up in the manner of compiler output: `cargo bench --bench parse`.
//!
//! Criterion reports bytes per second of one core. The aim is well under half a second, because validation comes on top.

use std::fmt::Write;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ptxdbg::base::SourceId;
use ptxdbg::syntax::parse;

const BYTES: usize = 10_000_000;
const STEPS_OF_A_KERNEL: usize = 200;

/// A module of many kernels, at least `bytes` long.
fn module(bytes: usize) -> String {
    let mut text = ".version 8.0\n.target sm_90a\n.address_size 64\n".to_owned();
    for kernel in 0.. {
        if text.len() >= bytes {
            break;
        }
        write_kernel(&mut text, kernel);
    }
    text
}

fn write_kernel(text: &mut String, kernel: usize) {
    let _ = write!(
        text,
        ".visible .entry kernel_{kernel}(\n\t.param .u64 .ptr .global .align 16 kernel_{kernel}_0,\n\t.param .u32 kernel_{kernel}_1\n)\n\
         .maxntid 256, 1, 1\n{{\n\t.reg .pred %p<10>;\n\t.reg .b32 %r<1000>;\n\t.reg .f32 %f<1000>;\n\t.reg .b64 %rd<100>;\n\n"
    );
    for step in 0..STEPS_OF_A_KERNEL {
        write_step(text, kernel, step);
    }
    text.push_str("\tret;\n}\n");
}

/// Some of everything: memory, arithmetic, a predicate, a vector, a branch and its label.
fn write_step(text: &mut String, kernel: usize, step: usize) {
    let (next, after, offset) = (step + 1, step + 2, step * 16);
    let _ = write!(
        text,
        "\tld.param.u64 \t%rd1, [kernel_{kernel}_0];\n\tmov.u32 \t%r{step}, %tid.x;\n\tmad.lo.s32 \t%r{next}, %r{step}, %r2, {step};\n\
         \tsetp.lt.u32 \t%p1, %r{step}, %r4;\n\t@%p1 bra \t$L__BB{kernel}_{step};\n\
         \tld.global.v4.f32 \t{{%f{step}, %f2, %f3, %f4}}, [%rd1+{offset}];\n\tfma.rn.f32 \t%f{after}, %f{step}, %f{next}, 0f3F800000;\n\
         \tadd.s64 \t%rd4, %rd5, %rd6;\n\tst.global.f32 \t[%rd4], %f{step};\n$L__BB{kernel}_{step}:\n\tshl.b32 \t%r{next}, %r{step}, 2;\n"
    );
}

fn read(criterion: &mut Criterion) {
    let text = module(BYTES);
    assert!(parse(SourceId::new(0), &text).1.is_empty());
    let mut group = criterion.benchmark_group("parse");
    group.sample_size(10).throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("10 MB", |bencher| bencher.iter_with_large_drop(|| parse(SourceId::new(0), &text)));
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);
