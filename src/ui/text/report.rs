//! The text of verifications and runs.

use super::finding::finding;
use super::value::some_lanes;
use crate::base::{Dim3, file_name};
use crate::debug::mismatches::{MismatchRow, Mismatches};
use crate::debug::resume::LastWriter;
pub use crate::debug::view::grouped;
use crate::debug::view::{Actor, CodePlace};
use crate::debug::{
    Basis, BufferHead, CaseReport, ComparedPart, Comparison, Failure, LaneMask, LaunchRun, Omitted, Reason, Site, SourceText, Summary,
    SwappedSections, Writer, shown_name,
};
use crate::ui::visible::visible;

/// A `FAIL` line for each failure, with its details indented below.
pub fn case(report: &CaseReport) -> String {
    let part = report.part.as_ref().map_or(String::new(), |part| compared_part(part, !report.failures.is_empty()));
    failures(&shown_name(&report.name), &report.failures) + &part
}

/// `compared     4,096 bytes that 1 of 16,384 blocks wrote`: what was compared of the memory, and where it is wrong, what else than a
/// mistake may be the reason.
fn compared_part(part: &ComparedPart, is_wrong: bool) -> String {
    let ComparedPart { bytes, updated_bytes, blocks, grid_blocks } = *part;
    let verb = |count: u64, one: &'static str, many: &'static str| if count == 1 { one } else { many };
    let atomics = match updated_bytes {
        0 => String::new(),
        bytes => {
            let is = verb(bytes, "is", "are");
            format!("; {} that atomics update {is} not: other blocks may update them, too", many(bytes, "byte"))
        }
    };
    let bytes = if bytes == 0 { "nothing".to_string() } else { many(bytes, "byte") };
    let others = if is_wrong && blocks < grid_blocks {
        "; where the other blocks write to the same places, too, it differs without them"
    } else {
        ""
    };
    format!("compared     {bytes} that {} of {} blocks wrote{atomics}{others}\n", grouped(blocks), grouped(grid_blocks))
}

fn failures(case: &str, failures: &[Failure]) -> String {
    failures.iter().map(|failure| format!("FAIL {case}: {}\n", self::failure(failure))).collect()
}

/// The comparison of the memory at the end of the case called `name` with the expected values.
pub fn comparison(name: &str, comparison: &Comparison, reasons: &[Reason]) -> String {
    let name = &*shown_name(name);
    match comparison {
        Comparison::NothingExpected => String::new(),
        Comparison::NotCompared => format!("{name}: not compared with what is expected: the run stopped before its end\n"),
        Comparison::Compared(wrong) if wrong.is_empty() => format!("{name}: as expected\n"),
        Comparison::Compared(wrong) => failures(name, wrong) + &guesses(reasons),
        Comparison::Part(wrong, part) if wrong.is_empty() && part.bytes == 0 => compared_part(part, false),
        Comparison::Part(wrong, part) if wrong.is_empty() => format!("{name}: as expected\n") + &compared_part(part, false),
        Comparison::Part(wrong, part) => failures(name, wrong) + &compared_part(part, true) + &guesses(reasons),
    }
}

/// The wrong elements at the end of a run, each with the instruction that wrote it last.
pub(super) fn mismatches(found: &Mismatches) -> String {
    let part = found.part.as_ref().map_or(String::new(), |part| compared_part(part, !found.totals.is_empty()));
    if found.totals.is_empty() {
        return "all is as expected\n".to_string() + &part;
    }
    let row = |row: &MismatchRow| {
        let MismatchRow { number, element, value, expected, writer } = row;
        let writer = match writer {
            Some(LastWriter::Lanes(site)) => short_site(site),
            Some(LastWriter::User(time)) => format!("t={}  changed by hand, not by the kernel", grouped(*time)),
            None if found.interrupted => "interrupted: its last write was not looked for".to_string(),
            None => "never written".to_string(),
        };
        format!("{number}  {element} = {value}, expected {expected}\n     {writer}\n")
    };
    let total = |total: &Failure| format!("{}\n", failure(total));
    found.rows.iter().map(row).chain(found.totals.iter().map(total)).chain([part]).collect()
}

/// The guessed values of a launch, which may be the reason for an unexpected result.
fn guesses(reasons: &[Reason]) -> String {
    let is_content = |reason: &Reason| reason.param.is_some() && !reason.is_number();
    let guessed = reasons.iter().filter(|reason| reason.basis == Basis::Guessed && !is_content(reason));
    let what: Vec<String> = guessed.map(|reason| visible(&reason.what).into_owned()).collect();
    match what.as_slice() {
        [] => String::new(),
        what => format!("  launch  made up, and maybe not as meant: {} ('info launch'; -a, --grid, --block give them)\n", what.join(", ")),
    }
}

/// `57 more findings are not printed (--max-findings): race.global 55, race.scope 2`
pub fn omitted(omitted: &Omitted) -> String {
    let all = omitted.values().sum::<u64>();
    let ids: Vec<String> = omitted.iter().map(|(id, count)| format!("{} {}", id.word(), grouped(*count))).collect();
    let (noun, verb) = if all == 1 { ("finding", "is") } else { ("findings", "are") };
    format!("{} more {noun} {verb} not printed (--max-findings): {}\n", grouped(all), ids.join(", "))
}

pub(super) fn failure(failure: &Failure) -> String {
    match failure {
        Failure::Mismatch { element, value, expected, writer } => {
            let writer = writer.as_ref().map_or_else(|| "never written".to_string(), last_writer);
            format!("{element} = {value}, expected {expected}; {writer}")
        }
        Failure::Mismatches { buffer, wrong, elements, largest, atol, rtol } => {
            let verb = if *wrong == 1 { "is" } else { "are" };
            let rounded = |largest: f64| if largest.fract() == 0.0 && largest < 1e15 { largest } else { shortened(largest) };
            let distance = largest.map_or(String::new(), |largest| format!("; the largest difference is {}", number(rounded(largest))));
            let enough = [("--atol", *atol), ("--rtol", *rtol)].into_iter().filter_map(|(option, bound)| Some((option, bound?)));
            let enough: Vec<String> = enough.map(|(option, bound)| format!("{option} {}", number(bound))).collect();
            let enough = if enough.is_empty() { String::new() } else { format!(", and {} accepts it", enough.join(" or ")) };
            format!("{buffer}: {} of its {} elements {verb} wrong{distance}{enough}", grouped(*wrong), grouped(*elements))
        }
        Failure::Finding { finding: found } => finding(found),
        Failure::NoFinding { kernel, expected, off } => {
            let off = if off.is_empty() { String::new() } else { format!("; --checks leaves out {}", off.join(" and ")) };
            format!("{}: nothing was found, expected {}{off}", shown_name(kernel), expected.join(" or "))
        }
        Failure::WrongLine { finding: found, expected } => format!("expected on line {expected} of the source: {}", finding(found)),
        Failure::Printed { line, value, expected } => {
            let text = |line: &Option<String>| line.as_ref().map_or_else(|| "nothing".to_string(), |line| format!("{line:?}"));
            format!("line {line} of what printf wrote is {}, expected {}", text(value), text(expected))
        }
    }
}

/// `number` rounded to six digits.
fn shortened(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// `0.5`, `1.25e-7`
fn number(number: f64) -> String {
    let is_plain = number == 0.0 || (1e-4..1e7).contains(&number);
    if is_plain { format!("{number}") } else { format!("{number:e}") }
}

/// `last written by block (0,0,0) thread (17,0,0) at integer.ptx:45, time 1234`
pub(super) fn last_writer(writer: &Writer) -> String {
    let Writer { kernel, launch, block, thread, pc: _, place, time } = writer;
    // Launches are counted from 1, as 'goto launch' does.
    let of = launch.map_or(String::new(), |launch| format!("launch {} ({}) ", launch + 1, shown_name(kernel)));
    format!("last written by {of}block {} thread {} at {place}, time {time}", Dim3(*block), Dim3(*thread))
}

/// The summary of a run: a line for each launch, the findings, the start of each buffer.
pub fn summary(summary: &Summary) -> String {
    let interrupted = summary.interrupted.then(|| "interrupted: what was found and written up to here\n".to_string());
    let launches = summary.launches.iter().map(launch);
    let findings = summary.findings.iter().map(|found| format!("{}\n", finding(found)));
    let sections = Some(swapped_sections(summary.swapped_sections)).filter(|text| !text.is_empty());
    launches.chain(interrupted).chain(findings).chain(sections).chain(summary.buffers.iter().map(buffer)).collect()
}

/// The numbers of pairs of critical sections that were and were not tried in the other order; empty if there are none.
pub fn swapped_sections(swapped: SwappedSections) -> String {
    let SwappedSections { tried, untried } = swapped;
    let pairs = |count: u64| format!("{} pair{}", grouped(count), if count == 1 { "" } else { "s" });
    match (tried, untried) {
        (0, 0) => String::new(),
        (_, 0) => format!("critical sections: {} tried in the other order\n", pairs(tried)),
        _ => format!("critical sections: {} tried in the other order, {} left (--orders N)\n", pairs(tried), grouped(untried)),
    }
}

fn launch(run: &LaunchRun) -> String {
    let LaunchRun { kernel, grid, block, ticks, thread_instructions } = run;
    let (grid, block) = (Dim3(*grid), Dim3(*block));
    let (ticks, instructions) = (many(*ticks, "tick"), many(*thread_instructions, "thread-instruction"));
    format!("{}: grid {grid}, block {block}: {ticks}, {instructions}\n", shown_name(kernel))
}

/// `1,024 stores`
pub(super) fn many(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// `x: f32[1024] = 0 1 2 …`
fn buffer(head: &BufferHead) -> String {
    let more = if head.more { " …" } else { "" };
    format!("{}: {} = {}{more}\n", head.name, head.ty, head.values.join(" "))
}

/// `t=84  block (0,0,0) warp 1 lanes 4,6-7  file.ptx:37  mad.lo.s32 %r7, %r7, 3, 1`
pub(super) fn site(site: &Site) -> String {
    site_of(site, &site.warp_name, &site.lanes.describe())
}

/// As [`site`], with only the first of many lanes: `lanes 2,4,6,8,… (15)`.
pub(super) fn short_site(site: &Site) -> String {
    let some = some_lanes(site.lanes);
    let count = site.lanes.count();
    let lanes = if some.ends_with('…') { format!("lanes {some} ({count})") } else { site.lanes.describe() };
    site_of(site, &site.warp_name, &lanes)
}

/// `30      sum += extra;`: a line of the source, as gdb shows it.
pub(super) fn source_text(text: &SourceText) -> String {
    format!("{:<6}  {}", text.line, visible(&text.text.replace('\t', "    "))).trim_end().to_string()
}

/// `looking.ptx:37`, with the label before it: `looking.ptx:37 <low+2>`.
pub(super) fn code_place(at: &CodePlace) -> String {
    let file = file_name(&at.file);
    let place = if file.is_empty() { "?".to_string() } else { format!("{file}:{}", at.line) };
    at.symbol.as_ref().map_or(place.clone(), |symbol| format!("{place} <{symbol}>"))
}

/// `producer warp 0 lanes 0-7`, with the block if it is not `block`, and without lanes if they are all lanes or unknown.
pub(super) fn actor(actor: &Actor, block: [u32; 3]) -> String {
    let foreign = if actor.block == block { String::new() } else { format!("block {} ", Dim3(actor.block)) };
    let is_partial = !actor.lanes.is_empty() && actor.lanes != LaneMask::ALL;
    let lanes = if is_partial { format!(" {}", actor.lanes.describe()) } else { String::new() };
    format!("{foreign}{}{lanes}", actor.warp.describe())
}

pub(super) fn site_of(site: &Site, warps: &str, lanes: &str) -> String {
    let inline_asm = site.inline_asm.then_some("inline asm");
    let origin: Vec<&str> = site.source.as_deref().into_iter().chain(inline_asm).collect();
    let source = if origin.is_empty() { String::new() } else { format!(" ({})", origin.join(", ")) };
    let Site { place, statement, .. } = site;
    format!("t={}  block {} {warps} {lanes}  {place}{source}  {statement}", grouped(site.time), Dim3(site.block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Tick;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0_u64, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_mismatch_names_element_values_and_writer() {
        let writer = Writer {
            kernel: "integer_add_u32".to_string(),
            launch: None,
            block: [0, 0, 0],
            thread: [17, 0, 0],
            pc: crate::debug::Pc(0),
            place: "integer.ptx:45".to_string(),
            time: Tick(1234),
        };
        let mismatch = |writer| Failure::Mismatch {
            element: "out0[17]".to_string(),
            value: "0x00000003".to_string(),
            expected: "0x00000004".to_string(),
            writer,
        };
        let report = |writer| {
            case(&CaseReport {
                name: "integer_add_u32".to_string(),
                passed: false,
                failures: vec![mismatch(writer)],
                findings: Vec::new(),
                executed: std::collections::BTreeSet::new(),
                certificate: None,
                swapped_sections: SwappedSections::default(),
                part: None,
            })
        };
        let described = "FAIL integer_add_u32: out0[17] = 0x00000003, expected 0x00000004; ";
        let by = "block (0,0,0) thread (17,0,0) at integer.ptx:45, time 1234\n";
        assert_eq!(report(None), format!("{described}never written\n"));
        assert_eq!(report(Some(writer.clone())), format!("{described}last written by {by}"));
        let in_sequence = Writer { launch: Some(2), ..writer };
        assert_eq!(report(Some(in_sequence)), format!("{described}last written by launch 3 (integer_add_u32) {by}"));
    }
}
