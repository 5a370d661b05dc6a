//! The same answers for programs: one JSON object a line, each with a `kind`.

use serde_json::{Map, Value, json};

use crate::base::{Diagnostic, Sources, Span};
use crate::debug::fidelity::Fidelity;
use crate::debug::findings::{FindingText, LinkText, MemoryText, SideAction, SideText};
use crate::debug::{CaseReport, Comparison, Failure, Omitted, Reason, Site, Summary, Trust, Waiting, Writer};
use crate::ui::visible::visible_json;

fn line(value: &Value) -> String {
    visible_json(&format!("{value}\n"))
}

/// A diagnostic. Offsets count bytes, lines and columns count from 1, columns in characters.
pub fn diagnostic(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let position = sources.position(diagnostic.span);
    let labels = diagnostic.labels.iter().map(|label| span(sources, label.span, Some(&label.text)));
    let spans: Vec<Value> = std::iter::once(span(sources, diagnostic.span, None)).chain(labels).collect();
    line(&json!({
        "kind": "diagnostic",
        "file": sources.file(diagnostic.span.source).name(),
        "line": position.line,
        "column": position.column,
        "severity": diagnostic.severity.word(),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "spans": spans,
    }))
}

fn span(sources: &Sources, span: Span, label: Option<&str>) -> Value {
    let file = sources.file(span.source);
    let (start, end) = (file.position(span.start), file.position(span.end));
    json!({
        "file": file.name(),
        "start": span.start,
        "end": span.end,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "label": label,
    })
}

/// What is wrong with a case.
pub fn case(report: &CaseReport) -> String {
    let failures: Vec<Value> = report.failures.iter().map(failure).collect();
    let findings: Vec<Value> = report.findings.iter().map(finding).collect();
    line(&json!({ "kind": "case", "name": report.name, "passed": failures.is_empty(), "failures": failures, "findings": findings }))
}

/// How many findings were not printed, by id.
pub fn omitted(omitted: &Omitted) -> String {
    line(&json!({ "kind": "findings_omitted", "count": omitted.values().sum::<u64>(), "by_id": by_id(omitted) }))
}

/// The counts by the words of the ids, in order of the table of findings.
pub(super) fn by_id(omitted: &Omitted) -> Map<String, Value> {
    omitted.iter().map(|(id, count)| (id.word().to_string(), json!(count))).collect()
}

/// The last line of a verification.
pub fn verdict(passed: usize, failed: usize) -> String {
    line(&json!({ "kind": "verdict", "passed": passed, "failed": failed }))
}

/// How far a run can be trusted.
pub fn fidelity(fidelity: &Fidelity) -> String {
    let opcode = |row: &crate::debug::fidelity::OpcodeFidelity| {
        let (trust, suites) = match row.trust {
            Trust::Recorded(suites) => ("bit_exact", suites),
            Trust::Manual => ("manual", &[][..]),
            Trust::Approximate => ("approximate", &[][..]),
        };
        json!({ "opcode": row.opcode, "trust": trust, "recorded_by": suites, "place": row.place })
    };
    let decided = fidelity.decided.iter().map(|(decides, place)| json!({ "what": decides.words(), "place": place }));
    line(&json!({
        "kind": "fidelity",
        "opcodes": fidelity.opcodes.iter().map(opcode).collect::<Vec<_>>(),
        "approximate_may_have_decided": decided.collect::<Vec<_>>(),
    }))
}

/// What a run came to.
pub fn summary(summary: &Summary) -> String {
    let launch = |run: &crate::debug::LaunchRun| {
        let (grid, block) = (run.grid, run.block);
        let (ticks, instructions) = (run.ticks, run.thread_instructions);
        json!({ "kernel": run.kernel, "grid": grid, "block": block, "ticks": ticks, "thread_instructions": instructions })
    };
    let buffer = |head: &crate::debug::BufferHead| json!({ "name": head.name, "type": head.ty, "values": head.values, "more": head.more });
    line(&json!({
        "kind": "run",
        "launches": summary.launches.iter().map(launch).collect::<Vec<_>>(),
        "findings": summary.findings.iter().map(finding).collect::<Vec<_>>(),
        "printed": String::from_utf8_lossy(&summary.printed),
        "printed_lost": summary.printed_lost,
        "interrupted": summary.interrupted,
        "buffers": summary.buffers.iter().map(buffer).collect::<Vec<_>>(),
    }))
}

/// How what a run left behind compares with what is expected; nothing where nothing is expected.
pub fn comparison(name: &str, comparison: &Comparison) -> String {
    let (compared, failures) = match comparison {
        Comparison::NothingExpected => return String::new(),
        Comparison::NotCompared => (false, Vec::new()),
        Comparison::Compared(failures) => (true, failures.iter().map(failure).collect::<Vec<Value>>()),
    };
    let passed = compared && failures.is_empty();
    line(&json!({ "kind": "comparison", "name": name, "compared": compared, "passed": passed, "failures": failures }))
}

/// A launch file that was made up.
pub fn made_up(text: &str, reasons: &[Reason]) -> String {
    let reasons: Vec<Value> = reasons.iter().map(|reason| json!({ "what": reason.what, "why": reason.why })).collect();
    line(&json!({ "kind": "made_up", "launch_file": text, "reasons": reasons }))
}

fn failure(failure: &Failure) -> Value {
    match failure {
        Failure::Mismatch { element, value, expected, writer: last } => {
            let last = last.as_ref().map(writer);
            json!({ "kind": "mismatch", "element": element, "value": value, "expected": expected, "last_written_by": last })
        }
        Failure::MoreMismatches { buffer, more, elements } => {
            json!({ "kind": "more_mismatches", "buffer": buffer, "more": more, "elements": elements })
        }
        Failure::Finding(found) => json!({ "kind": "finding", "finding": finding(found) }),
        Failure::NoFinding { kernel, expected, off } => {
            json!({ "kind": "no_finding", "kernel": kernel, "expected": expected, "checkers_off": off })
        }
        Failure::WrongLine { finding: found, expected } => {
            json!({ "kind": "wrong_line", "finding": finding(found), "expected_line": expected })
        }
        Failure::Printed { line, value, expected } => json!({ "kind": "printed", "line": line, "value": value, "expected": expected }),
    }
}

fn writer(writer: &Writer) -> Value {
    let Writer { kernel, launch, block, thread, place, time } = writer;
    json!({ "kernel": kernel, "launch": launch, "block": block, "thread": thread, "place": place, "time": time })
}

/// A finding; its fields are told in ptxdbg(1).
fn finding(finding: &FindingText) -> Value {
    let waiting = |waiting: &Waiting| json!({ "site": site(&waiting.site), "warps": waiting.warps, "reason": waiting.reason });
    let link = |link: &LinkText| json!({ "site": link.site.as_ref().map(site), "text": link.text });
    json!({
        "id": finding.id.word(),
        "severity": finding.id.severity().word(),
        "number": finding.number,
        "kernel": finding.kernel,
        "launch": finding.launch,
        "message": finding.message,
        "first": finding.first.as_ref().map(side),
        "second": finding.second.as_ref().map(side),
        "memory": finding.memory.as_ref().map(memory),
        "why": finding.why,
        "made_up": finding.made_up,
        "advice": finding.advice,
        "chain": finding.chain.iter().map(link).collect::<Vec<_>>(),
        "count": finding.count,
        "source_lines": finding.source_lines,
        "waiting": finding.waiting.iter().map(waiting).collect::<Vec<_>>(),
        "waiting_more": finding.waiting_more,
    })
}

fn side(side: &SideText) -> Value {
    json!({ "site": site(&side.site), "deed": side.action.map(SideAction::word), "copy": side.copy, "value": side.value })
}

fn memory(memory: &MemoryText) -> Value {
    let MemoryText { name, symbol, space, block, address, bytes } = memory;
    json!({ "name": name, "symbol": symbol, "space": space, "block": block, "address": address, "bytes": bytes })
}

fn site(site: &Site) -> Value {
    let Site { place, statement, source, lines, inline_asm, block, warp, who: _, lanes, thread, time } = site;
    let lines: Vec<Value> = lines.iter().map(|at| json!({ "file": at.file, "line": at.line })).collect();
    json!({
        "place": place, "statement": statement, "source": source, "lines": lines, "inline_asm": inline_asm, "block": block, "warp": warp,
        "lanes": lanes, "thread": thread, "time": time,
    })
}
