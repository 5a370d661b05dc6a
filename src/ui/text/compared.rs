//! The text of a comparison of two runs.

use super::report::{grouped, last_writer, many, site};
use crate::base::Dim3;
use crate::debug::compare::{Difference, RunComparison, SideReport, StoreText};

/// What ran on both sides, and the first difference. `files` are those of A and B.
pub fn compared(found: &RunComparison, files: [&str; 2]) -> String {
    let sides = ["A", "B"].iter().zip(files).zip(&found.sides).map(|((name, file), report)| side(name, file, report));
    sides.collect::<String>() + &result(found)
}

/// `A  saxpy.ptx  saxpy: 5,120 ticks, 1,024 stores of 256 threads`
pub fn side(name: &str, file: &str, report: &SideReport) -> String {
    let SideReport { kernels, ticks, stores, threads, fault } = report;
    let (ticks, stores, threads) = (many(*ticks, "tick"), many(*stores, "store"), many(*threads, "thread"));
    let head = format!("{name}  {file}  {}: {ticks}, {stores} of {threads}\n", kernels.join(", "));
    let fault = fault.as_ref().map_or(String::new(), |fault| {
        let at = fault.site().map_or(String::new(), |at| format!("\n     {}", site(at)));
        format!("   stops: {}{at}\n", fault.message)
    });
    head + &fault
}

fn result(found: &RunComparison) -> String {
    let Some(difference) = &found.difference else {
        return match (found.interrupted, found.bytes) {
            (true, _) => "interrupted: not compared\n".to_string(),
            (false, Some(bytes)) => format!("equal: all stores, and {} of memory at the end\n", many(bytes, "byte")),
            (false, None) => "equal: all stores up to where both stop\n".to_string(),
        };
    };
    match difference {
        Difference::Store { block, thread, a, b } => {
            let head = format!("differ in a store of block {} thread {}\n", Dim3(*block), Dim3(*thread));
            let others = found.threads.filter(|threads| *threads > 1);
            let others = others.map_or(String::new(), |threads| format!("{} threads store something else\n", grouped(threads)));
            head + &store("A", a.as_deref()) + &store("B", b.as_deref()) + &others
        }
        Difference::Memory { element, values: [a, b], writers, elements } => {
            let writer = |index: usize| writers[index].as_ref().map_or_else(|| "never written".to_string(), last_writer);
            let others = if *elements > 1 { format!("{} elements differ\n", grouped(*elements)) } else { String::new() };
            format!(
                "differ in the memory at the end, where all stores are equal: {element}\n  A  {a}; {}\n  B  {b}; {}\n{others}",
                writer(0),
                writer(1)
            )
        }
        Difference::Stop => "differ in where they stop; the stores up to there are equal\n".to_string(),
    }
}

/// `  A  t=12  block (0,0,0) warp 0 lane 17  a.ptx:30 (a.cu:7)  st.global.f32 [%rd1], %f4   3.5 to y[17]`
pub fn store(name: &str, store: Option<&StoreText>) -> String {
    let Some(StoreText { site: at, memory, value }) = store else { return format!("  {name}  no such store\n") };
    let what = value.as_ref().map_or_else(|| format!("to {memory}"), |value| format!("{value} to {memory}"));
    format!("  {name}  {}   {what}\n", site(at))
}
