//! That the cost of a run is linear in what it executes and in the memory that it touches: two kernels with more and more blocks, without
//! checkers and with all. `collatz` executes instructions on hardly any memory, `saxpy` touches 12 bytes for each thread.
//!
//! `cargo bench --bench cost` prints the times, and draws `docs/cost.svg`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench that cannot run says so and ends; its table is its result"
)]

mod job;

use std::fmt::Write;
use std::path::Path;

use job::Job;
use ptxdbg::check::Checks;
use ptxdbg::debug::RunOptions;

/// Runs of each size, the fastest of which counts.
const RUNS: usize = 7;

/// A kernel of `benches/kernels`, with what grows with its grid.
struct Kernel {
    name: &'static str,
    /// What the cost is compared with.
    unit: &'static str,
    grids: &'static [u32],
    /// Its parameters, for that many threads.
    params: fn(u32) -> String,
}

const KERNELS: [Kernel; 2] = [
    Kernel {
        name: "collatz",
        unit: "thread-instructions",
        grids: &[4, 8, 16, 32, 64, 128, 256, 512, 1024],
        params: |threads| format!("U32({threads}), Buffer(name: \"steps\", elem: U32, len: {threads}, init: Zero)"),
    },
    Kernel {
        name: "saxpy",
        unit: "bytes touched",
        grids: &[32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384],
        params: |threads| {
            let buffer = |name: &str| format!("Buffer(name: \"{name}\", elem: F32, len: {threads}, init: Fill(1))");
            format!("U32({threads}), F32(2.5), {}, {}", buffer("x"), buffer("y"))
        },
    },
];

/// Threads of a block.
const BLOCK: u32 = 256;

/// Bytes that a thread of `saxpy` reads and writes.
const SAXPY_BYTES: u64 = 12;

/// What was measured of a kernel with one grid: its extent on the axis, and milliseconds without checkers and with all.
type Point = (f64, [f64; 2]);

fn main() {
    let series: Vec<(&Kernel, Vec<Point>)> = KERNELS.iter().map(|kernel| (kernel, measured(kernel))).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cost.svg");
    std::fs::write(path, drawing(&series)).unwrap();
}

fn measured(kernel: &Kernel) -> Vec<Point> {
    println!("{}: nanoseconds for each of the {}, without checkers and with all", kernel.name, kernel.unit);
    let points: Vec<Point> = kernel.grids.iter().map(|grid| point(kernel, *grid)).collect();
    for (grid, (extent, times)) in kernel.grids.iter().zip(&points) {
        let [none, all] = times.map(|time| time * 1e6 / extent);
        println!("  {grid:>6} blocks {extent:>12} {none:>9.3} {all:>9.3}");
    }
    points
}

fn point(kernel: &Kernel, grid: u32) -> Point {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cost");
    std::fs::create_dir_all(&folder).unwrap();
    let module = format!("{}.ptx", kernel.name);
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/kernels").join(&module), folder.join(&module)).unwrap();
    let (name, params) = (kernel.name, (kernel.params)(grid * BLOCK));
    let text =
        format!("Launch(module: \"{module}\", kernel: \"{name}\", grid: ({grid}, 1, 1), block: ({BLOCK}, 1, 1), params: [{params}])\n");
    let file = folder.join(format!("{name}.ron"));
    std::fs::write(&file, text).unwrap();
    let job = Job::load(file.to_str().unwrap());
    let options = RunOptions::unwatched();
    let [(instructions, none), (_, all)] = [Checks::NONE, Checks::ALL].map(|checks| job.speed(&options, checks, RUNS));
    let times = [none, all].map(|time| time.as_secs_f64() * 1e3);
    let extent = if kernel.name == "saxpy" { u64::from(grid * BLOCK) * SAXPY_BYTES } else { instructions };
    (extent as f64, times)
}

/// The extents of a panel, and of the margin around it.
const PANEL: (f64, f64) = (340.0, 240.0);
const MARGIN: f64 = 60.0;

/// The series in logarithmic panels side by side: a line of slope one is a cost in proportion.
fn drawing(series: &[(&Kernel, Vec<Point>)]) -> String {
    let (width, height) = (series.len() as f64 * (PANEL.0 + MARGIN) + MARGIN, PANEL.1 + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (index, (kernel, points)) in series.iter().enumerate() {
        panel(&mut svg, MARGIN + index as f64 * (PANEL.0 + MARGIN), kernel, points);
    }
    svg + "</svg>\n"
}

fn panel(svg: &mut String, left: f64, kernel: &Kernel, points: &[Point]) {
    let times = points.iter().flat_map(|(_, times)| times).copied();
    let (across, up) = (decades(points.iter().map(|(extent, _)| *extent)), decades(times));
    let x = |extent: f64| left + (extent.log10() - across.0) / (across.1 - across.0) * PANEL.0;
    let y = |time: f64| MARGIN + PANEL.1 - (time.log10() - up.0) / (up.1 - up.0) * PANEL.1;
    for decade in across.0 as i32..=across.1 as i32 {
        let (at, bottom) = (x(10_f64.powi(decade)), MARGIN + PANEL.1);
        writeln!(svg, "<path d=\"M{at:.1} {MARGIN} V{bottom}\" stroke=\"#ddd\"/>").unwrap();
        writeln!(svg, "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">1e{decade}</text>", bottom + 16.0).unwrap();
    }
    for decade in up.0 as i32..=up.1 as i32 {
        let at = y(10_f64.powi(decade));
        writeln!(svg, "<path d=\"M{left} {at:.1} h{}\" stroke=\"#ddd\"/>", PANEL.0).unwrap();
        writeln!(svg, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{} ms</text>", left - 5.0, at + 4.0, 10_f64.powi(decade)).unwrap();
    }
    for (checks, (color, label)) in [("#1f77b4", "no checkers"), ("#d62728", "all checkers")].into_iter().enumerate() {
        let line: Vec<String> = points.iter().map(|(extent, times)| format!("{:.1},{:.1}", x(*extent), y(times[checks]))).collect();
        writeln!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\"/>", line.join(" ")).unwrap();
        let at = MARGIN + 16.0 * (checks + 1) as f64;
        writeln!(svg, "<text x=\"{}\" y=\"{at}\" fill=\"{color}\">{label}</text>", left + 8.0).unwrap();
    }
    let (center, bottom) = (left + PANEL.0 / 2.0, MARGIN + PANEL.1 + 36.0);
    writeln!(svg, "<text x=\"{center}\" y=\"{bottom}\" text-anchor=\"middle\">{} of {}</text>", kernel.unit, kernel.name).unwrap();
}

/// The powers of ten around values.
fn decades(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let (least, most) = values.fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)));
    (least.log10().floor(), most.log10().ceil())
}
