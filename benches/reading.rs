//! How fast a large file is read: 10 MB of PTX, made of many copies of one kernel, parsed and analyzed.
//!
//! `cargo bench --bench reading`

#![expect(clippy::unwrap_used, clippy::panic, reason = "a bench that cannot run says so and ends")]

mod job;

use criterion::{SamplingMode, Throughput};
use ptxdbg::base::{SourceFile, Sources};
use ptxdbg::{sema, syntax};

const BYTES: usize = 10_000_000;

fn main() {
    let text = large_module();
    let mut criterion = job::criterion();
    let mut group = criterion.benchmark_group("reading");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("parse", |bencher| {
        let mut sources = Sources::default();
        let id = sources.add(SourceFile::new("large.ptx", text.clone()));
        bencher.iter(|| assert!(syntax::parse(id, &text).1.is_empty()));
    });
    group.bench_function("parse and analyze", |bencher| {
        bencher.iter(|| {
            let (program, diagnostics) = sema::load(&mut Sources::default(), "large.ptx", text.clone());
            assert!(program.is_some(), "{:?}", diagnostics.first());
        });
    });
    group.finish();
    criterion.final_summary();
}

/// `sha256_crc` over and over under new names, in one module.
fn large_module() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/programs/sha256_crc.ptx");
    let text = std::fs::read_to_string(path).unwrap();
    let start = text.find(".visible .entry").unwrap();
    let end = text.rfind('}').unwrap() + 1;
    let mut module = text[..start].to_string();
    for copy in 0.. {
        if module.len() >= BYTES {
            break;
        }
        module += &text[start..end].replace("sha256_crc", &format!("sha256_crc_{copy}"));
        module.push('\n');
    }
    module + &text[end..]
}
