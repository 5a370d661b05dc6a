//! The JSON output: one object a line, each with a `kind`. ptxdbg(1) documents the fields.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::base::{Diagnostic, Sources, Span};
use crate::debug::certificate::Certificate;
use crate::debug::compare::RunComparison;
use crate::debug::fidelity::Fidelity;
use crate::debug::findings::FindingText;
use crate::debug::open::modules::{Kernel, ListedFile, ListedModule, Problem, demangled};
use crate::debug::{BufferHead, CaseReport, ComparedPart, Comparison, Failure, LaunchRun, Omitted, Reason, Summary, Trust};
use crate::ui::visible::visible_json;

/// A line of output.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Record<'a> {
    Diagnostic {
        file: &'a str,
        line: u32,
        column: u32,
        severity: &'a str,
        code: &'a str,
        message: &'a str,
        help: &'a Option<String>,
        spans: Vec<SpanRecord<'a>>,
    },
    Kernel {
        file: String,
        module: String,
        member: Option<&'a str>,
        source: Option<&'a str>,
        packing: Option<&'a str>,
        version: &'a str,
        target: &'a str,
        name: &'a str,
        demangled: Option<String>,
        params: Vec<Value>,
        shared: Option<u64>,
        dynamic_shared: bool,
        launch_file: String,
        has_launch_file: bool,
    },
    Unread {
        place: &'a str,
        message: &'a str,
    },
    Case {
        name: &'a str,
        passed: bool,
        failures: &'a [Failure],
        findings: &'a [FindingText],
        #[serde(skip_serializing_if = "Option::is_none")]
        part: Option<&'a ComparedPart>,
    },
    FindingsOmitted {
        count: u64,
        by_id: Map<String, Value>,
    },
    Verdict {
        passed: usize,
        failed: usize,
    },
    Fidelity {
        opcodes: Vec<OpcodeRecord<'a>>,
        approximate_may_have_decided: Vec<DecidedRecord<'a>>,
    },
    Certificate {
        name: &'a str,
        #[serde(flatten)]
        certificate: &'a Certificate,
    },
    Run {
        launches: &'a [LaunchRun],
        findings: &'a [FindingText],
        printed: String,
        printed_lost: u64,
        interrupted: bool,
        buffers: &'a [BufferHead],
    },
    Comparison {
        name: &'a str,
        compared: bool,
        passed: bool,
        failures: &'a [Failure],
        #[serde(skip_serializing_if = "Option::is_none")]
        part: Option<&'a ComparedPart>,
    },
    Compared {
        files: [&'a str; 2],
        equal: bool,
        #[serde(flatten)]
        found: &'a RunComparison,
    },
    Note {
        text: &'a str,
    },
    Error {
        message: &'a str,
    },
    MadeUp {
        launch_file: &'a str,
        reasons: Vec<ReasonRecord<'a>>,
    },
}

/// The reason for a value of a made-up launch.
#[derive(Serialize)]
pub(super) struct ReasonRecord<'a> {
    what: &'a str,
    why: &'a str,
}

/// A span of a file. Offsets are in bytes; lines and columns start at 1, columns are in characters.
#[derive(Serialize)]
struct SpanRecord<'a> {
    file: &'a str,
    start: u32,
    end: u32,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    label: Option<&'a str>,
}

/// The fidelity of an opcode.
#[derive(Serialize)]
struct OpcodeRecord<'a> {
    opcode: &'a str,
    trust: &'a str,
    recorded_by: &'a [&'a str],
    place: &'a str,
}

/// A possible influence of an approximate result.
#[derive(Serialize)]
struct DecidedRecord<'a> {
    what: &'a str,
    place: &'a str,
}

fn line(record: &Record<'_>) -> String {
    // `json!` sorts the keys.
    visible_json(&format!("{}\n", json!(record)))
}

/// A diagnostic.
pub fn diagnostic(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let position = sources.position(diagnostic.span);
    let labels = diagnostic.labels.iter().map(|label| span(sources, label.span, Some(&label.text)));
    line(&Record::Diagnostic {
        file: sources.file(diagnostic.span.source).name(),
        line: position.line,
        column: position.column,
        severity: diagnostic.severity.word(),
        code: diagnostic.code,
        message: &diagnostic.message,
        help: &diagnostic.help,
        spans: std::iter::once(span(sources, diagnostic.span, None)).chain(labels).collect(),
    })
}

fn span<'a>(sources: &'a Sources, span: Span, label: Option<&'a str>) -> SpanRecord<'a> {
    let file = sources.file(span.source);
    let (first, last) = (file.position(span.start), file.position(span.end));
    SpanRecord {
        file: file.name(),
        start: span.start,
        end: span.end,
        line: first.line,
        column: first.column,
        end_line: last.line,
        end_column: last.column,
        label,
    }
}

/// The kernels of a file, a line each, and the parts that cannot be read.
pub fn listed(listed: &ListedFile) -> String {
    let kernels = listed.modules.iter().flat_map(|module| module.outline.kernels.iter().map(move |kernel| (module, kernel)));
    let kernel = |(module, kernel): (&ListedModule, &Kernel)| {
        line(&Record::Kernel {
            file: listed.path.display().to_string(),
            module: module.path.display().to_string(),
            member: module.member.as_deref(),
            source: module.source.as_deref(),
            packing: module.packing,
            version: &module.outline.version,
            target: &module.outline.target,
            name: &kernel.name,
            demangled: demangled(&kernel.name),
            params: kernel.params.iter().map(|param| json!({ "name": param.name, "type": param.text(), "bytes": param.bytes() })).collect(),
            shared: kernel.shared,
            dynamic_shared: kernel.dynamic_shared,
            launch_file: listed.launch_file.display().to_string(),
            has_launch_file: listed.has_launch_file,
        })
    };
    kernels.map(kernel).chain(listed.problems.iter().map(unread)).collect()
}

/// A part of a file that cannot be read.
pub fn unread(problem: &Problem) -> String {
    line(&Record::Unread { place: &problem.place, message: &problem.what })
}

/// The result of a case.
pub fn case(report: &CaseReport) -> String {
    let CaseReport { name, passed, failures, findings, part, .. } = report;
    line(&Record::Case { name, passed: *passed, failures, findings, part: part.as_ref() })
}

/// The number of findings that were not printed, by id.
pub fn omitted(omitted: &Omitted) -> String {
    line(&Record::FindingsOmitted { count: omitted.values().sum(), by_id: by_id(omitted) })
}

/// The counts by the names of the ids, in order of the table of findings.
pub(super) fn by_id(omitted: &Omitted) -> Map<String, Value> {
    omitted.iter().map(|(id, count)| (id.word().to_string(), json!(count))).collect()
}

/// The last line of a verification.
pub fn verdict(passed: usize, failed: usize) -> String {
    line(&Record::Verdict { passed, failed })
}

/// The fidelity of a run.
pub fn fidelity(fidelity: &Fidelity) -> String {
    let opcodes = fidelity.opcodes.iter().map(|row| {
        let (trust, recorded_by) = match row.trust {
            Trust::Recorded(suites) => ("bit_exact", suites),
            Trust::Manual => ("manual", &[][..]),
            Trust::Approximate => ("approximate", &[][..]),
        };
        OpcodeRecord { opcode: &row.opcode, trust, recorded_by, place: &row.place }
    });
    let influences = fidelity.influences.iter().map(|(influence, place)| DecidedRecord { what: influence.words(), place });
    line(&Record::Fidelity { opcodes: opcodes.collect(), approximate_may_have_decided: influences.collect() })
}

/// The certificate of a run.
pub fn certificate(name: &str, certificate: &Certificate) -> String {
    line(&Record::Certificate { name, certificate })
}

/// The summary of a run.
pub fn summary(summary: &Summary) -> String {
    line(&Record::Run {
        launches: &summary.launches,
        findings: &summary.findings,
        printed: String::from_utf8_lossy(&summary.printed).into_owned(),
        printed_lost: summary.printed_lost,
        interrupted: summary.interrupted,
        buffers: &summary.buffers,
    })
}

/// The comparison of the memory at the end of a run with the expected values; empty if nothing is expected.
pub fn comparison(name: &str, comparison: &Comparison) -> String {
    let (compared, failures, part) = match comparison {
        Comparison::NothingExpected => return String::new(),
        Comparison::NotCompared => (false, &[][..], None),
        Comparison::Compared(failures) => (true, failures.as_slice(), None),
        Comparison::Part(failures, part) => (true, failures.as_slice(), Some(part)),
    };
    line(&Record::Comparison { name, compared, passed: compared && failures.is_empty(), failures, part })
}

/// The comparison of the runs of two files.
pub fn compared(found: &RunComparison, files: [&str; 2]) -> String {
    line(&Record::Compared { files, equal: found.is_equal(), found })
}

/// The error that ended the program.
pub fn error(message: &str) -> String {
    line(&Record::Error { message })
}

/// A note on a choice that no argument specified.
pub fn note(text: &str) -> String {
    line(&Record::Note { text })
}

/// A launch file that was made up.
pub fn made_up(text: &str, reasons: &[Reason]) -> String {
    line(&Record::MadeUp { launch_file: text, reasons: reason_records(reasons) })
}

/// The reasons for the values of a made-up launch.
pub(super) fn reason_records(reasons: &[Reason]) -> Vec<ReasonRecord<'_>> {
    reasons.iter().map(|Reason { what, why, .. }| ReasonRecord { what, why }).collect()
}
