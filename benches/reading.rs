//! How fast large files are read: modules of 1 to 13 MB in several shapes, parsed and validated.
//!
//! The table has the processor time of the fastest of some runs, of all threads together, and what a MB costs: it is the same for every
//! size where the cost is linear.
//!
//! `cargo bench --bench reading`, or `cargo bench --bench reading -- labels` for the shapes whose names hold a word.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot run says so and ends; its table is its result")]

use std::time::Duration;

use cpu_time::ProcessTime;
use ptxdbg::base::Sources;
use ptxdbg::sema;

/// Bytes of the modules.
const SIZES: [usize; 3] = [1_000_000, 4_000_000, 13_000_000];

/// The seconds that a module of each size may take.
const LIMITS: [f64; 3] = [0.12, 0.4, 1.5];

const RUNS: usize = 3;

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A name, what the module begins and ends with, and its piece with a number.
struct Shape {
    name: &'static str,
    begin: String,
    piece: Box<dyn Fn(usize) -> String>,
    end: String,
}

fn main() {
    let word = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    println!("{:<24}{:>8}{:>10}{:>10}{:>10}", "module", "MB", "seconds", "at most", "s/MB");
    for shape in shapes().into_iter().filter(|shape| shape.name.contains(&word)) {
        for (size, limit) in SIZES.into_iter().zip(LIMITS) {
            let text = shape.module(size);
            let mega = text.len() as f64 / 1e6;
            let took = (0..RUNS).map(|_| read(&text)).min().unwrap().as_secs_f64();
            println!("{:<24}{mega:>8.1}{took:>10.3}{limit:>10}{:>10.3}", shape.name, took / mega);
        }
    }
}

/// The processor time in which a module is read.
fn read(text: &str) -> Duration {
    let begun = ProcessTime::now();
    let (program, diagnostics) = sema::load(&mut Sources::default(), "large.ptx", text);
    let took = begun.elapsed();
    assert!(program.is_some(), "{:?}", diagnostics.first());
    took
}

impl Shape {
    fn new(name: &'static str, begin: &str, end: &str, piece: impl Fn(usize) -> String + 'static) -> Self {
        Self { name, begin: HEAD.to_string() + begin, piece: Box::new(piece), end: end.to_string() }
    }

    /// As many pieces as fill the size.
    fn module(&self, bytes: usize) -> String {
        let mut text = self.begin.clone();
        for number in 0.. {
            if text.len() >= bytes {
                break;
            }
            text += &(self.piece)(number);
        }
        text + &self.end
    }
}

fn shapes() -> Vec<Shape> {
    let kernel = ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<64>;\n.reg .pred %p<4>;\n";
    let lines = format!(".file 1 \"a.cu\"\n{kernel}");
    let empty = ".visible .entry k()\n{\nret;\n}\n";
    let debug = ".visible .entry k()\n{\nret;\n}\n.section .debug_info\n{\n";
    vec![
        large_kernels(),
        Shape::new("one function", kernel, "ret;\n}\n", |n| format!("\tadd.s32 \t%r{}, %r{}, {n};\n", n % 60 + 1, n % 7 + 1)),
        Shape::new("labels", kernel, "ret;\n}\n", |n| {
            format!("$L__BB0_{n}:\n\tsetp.ne.s32 \t%p1, %r{}, {n};\n\t@%p1 bra \t$L__BB0_{};\n", n % 7 + 1, n / 2)
        }),
        Shape::new("lines of the source", &lines, "ret;\n}\n", |n| {
            format!("\t.loc\t1 {n} 3\n\tadd.s32 \t%r{}, %r{}, {n};\n", n % 60 + 1, n % 7 + 1)
        }),
        Shape::new("scopes", kernel, "ret;\n}\n", |n| format!("{{\n\t.reg .b32 \tt;\n\tmov.u32 \tt, {n};\n}}\n")),
        Shape::new("registers", kernel, "ret;\n}\n", |n| format!("\t.reg .b32 \t%t{n};\n\tmov.u32 \t%t{n}, {n};\n")),
        Shape::new("kernels", "", "", |n| {
            let body = format!(".reg .b64 %rd<3>;\n.shared .align 4 .b8 s{n}[64];\nld.param.u64 %rd1, [p];\nret;\n");
            format!(".visible .entry k{n}(.param .u64 p)\n{{\n{body}}}\n")
        }),
        Shape::new("calls", ".func f(.param .b64 p)\n{\nret;\n}\n", "", |n| {
            let callee = n.checked_sub(1).map_or("f".to_string(), |before| format!("f{before}"));
            let call = format!("{{\n.param .b64 a;\nst.param.b64 [a], %rd1;\ncall.uni {callee}, (a);\n}}");
            format!(".func f{n}(.param .b64 p)\n{{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\n{call}\nret;\n}}\n")
        }),
        Shape::new("variables", "", empty, |n| format!(".global .align 4 .u32 v{n} = {n};\n")),
        Shape::new("initial values", ".global .align 1 .b8 v[16000000] = {0", &format!("}};\n{empty}"), |n| format!(", {}", n % 256)),
        Shape::new("debug data", debug, "}\n", |_| ".b8 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n".to_string()),
        Shape::new("comments", "", empty, |n| format!("// comment {n} as long as those that compilers write, begin inline asm\n")),
    ]
}

/// `sha256_crc` over and over under new names.
fn large_kernels() -> Shape {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/programs/sha256_crc.ptx");
    let text = std::fs::read_to_string(path).unwrap();
    let start = text.find(".visible .entry").unwrap();
    let end = start + text[start..].find("\n}").unwrap() + 3;
    let kernel = text[start..end].to_string();
    Shape {
        name: "large kernels",
        begin: text[..start].to_string(),
        piece: Box::new(move |n| kernel.replace("sha256_crc", &format!("sha256_crc_{n}"))),
        end: text[end..].to_string(),
    }
}
