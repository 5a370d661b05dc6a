//! Findings for editors and continuous integration: SARIF 2.1.0, one document for all cases that were verified or run.
//!
//! The location of a result is the line of the source language if there is a `.loc`, because that line is edited, and the line of PTX
//! otherwise; the other side and the PTX are related locations. The happens-before path of a finding is its code flow.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{json, report};
use crate::base::{Diagnostic, Dim3, Sources};
use crate::debug::certificate::Certificate;
use crate::debug::findings::{FindingText, SideText, findings};
use crate::debug::{CaseReport, Comparison, Failure, FileLine, Omitted, Reason, Site, Summary};
use crate::ui::visible::visible_json;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";

/// Rule id of failures that are no findings of a checker: values that differ from the expected ones.
const MISMATCH: &str = "expect";

/// A document.
#[derive(Debug, Serialize)]
pub struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<RunResult>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    invocations: Vec<Invocation>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    properties: Map<String, Value>,
}

/// An execution of ptxdbg that ended with an error.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    tool_execution_notifications: [Notification; 1],
}

#[derive(Debug, Serialize)]
struct Notification {
    level: &'static str,
    message: Message,
}

#[derive(Debug, Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message,
}

#[derive(Debug, Serialize)]
struct Message {
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunResult {
    rule_id: String,
    level: &'static str,
    message: Message,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    code_flows: Vec<CodeFlow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    occurrence_count: Option<u64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    properties: Map<String, Value>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Debug, Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeFlow {
    thread_flows: [ThreadFlow; 1],
}

#[derive(Debug, Serialize)]
struct ThreadFlow {
    locations: Vec<FlowLocation>,
}

#[derive(Debug, Serialize)]
struct FlowLocation {
    location: Location,
}

impl Default for Log {
    /// A document without results.
    fn default() -> Self {
        let rule = |id: &'static str, text: &str| Rule { id, short_description: Message { text: text.to_string() } };
        let mut rules: Vec<Rule> = findings().map(|id| rule(id.word(), id.meaning())).collect();
        rules.push(rule(MISMATCH, "the memory at the end of a launch is not what its launch file expects"));
        let driver = Driver { name: "ptxdbg", semantic_version: env!("CARGO_PKG_VERSION"), rules };
        let (results, invocations) = (Vec::new(), Vec::new());
        let run = Run { tool: Tool { driver }, column_kind: "unicodeCodePoints", results, invocations, properties: Map::new() };
        Self { schema: SCHEMA, version: "2.1.0", runs: [run] }
    }
}

impl Log {
    /// Adds the failures of a case.
    pub fn case(&mut self, report: &CaseReport) {
        let results = report.failures.iter().map(|failure| match failure {
            Failure::Finding { finding: found } | Failure::WrongLine { finding: found, .. } => finding(found),
            failure => mismatch(&report.name, failure),
        });
        self.runs[0].results.extend(results);
    }

    /// Adds the differences between the memory at the end of the case called `name` and the expected values; cases that were not compared
    /// are listed in the property `notCompared` of the run.
    pub fn comparison(&mut self, name: &str, comparison: &Comparison) {
        match comparison {
            Comparison::NothingExpected => {}
            Comparison::Compared(failures) | Comparison::Part(failures, _) => {
                self.runs[0].results.extend(failures.iter().map(|failure| mismatch(name, failure)));
            }
            Comparison::NotCompared => {
                self.list("notCompared", json!(name));
            }
        }
    }

    /// Adds the certificate of the case called `name` to the property `certificates` of the run.
    pub fn certificate(&mut self, name: &str, certificate: &Certificate) {
        let mut entry = json!(certificate);
        if let Some(entry) = entry.as_object_mut() {
            entry.insert("name".to_string(), json!(name));
        }
        self.list("certificates", entry);
    }

    /// Adds a made-up launch file, and the reasons for its values, to the property `madeUp` of the run.
    pub fn made_up(&mut self, launch_file: &str, reasons: &[Reason]) {
        self.list("madeUp", json!({ "launchFile": launch_file, "reasons": json::reason_records(reasons) }));
    }

    /// Adds the error that ended the program.
    pub fn error(&mut self, message: &str) {
        let notification = Notification { level: "error", message: Message { text: message.to_string() } };
        self.runs[0].invocations.push(Invocation { execution_successful: false, tool_execution_notifications: [notification] });
    }

    /// Adds an entry to a property of the run that is a list.
    fn list(&mut self, property: &str, entry: Value) {
        let list = self.runs[0].properties.entry(property).or_insert_with(|| json!([]));
        list.as_array_mut().into_iter().for_each(|list| list.push(entry.clone()));
    }

    /// Adds the findings of a run.
    pub fn summary(&mut self, summary: &Summary) {
        self.runs[0].results.extend(summary.findings.iter().map(finding));
    }

    /// Adds the number of findings that are not in the document, by id, as the property `findingsOmitted` of the run.
    pub fn omitted(&mut self, omitted: &Omitted) {
        if !omitted.is_empty() {
            self.runs[0].properties.insert("findingsOmitted".to_string(), Value::Object(json::by_id(omitted)));
        }
    }

    /// Adds the diagnostics of a file.
    pub fn diagnostics(&mut self, sources: &Sources, diagnostics: &[Diagnostic]) {
        let result = |diagnostic: &Diagnostic| {
            let position = sources.position(diagnostic.span);
            let place = FileLine { file: sources.file(diagnostic.span.source).name().to_string(), line: position.line };
            let mut at = location(&place, None);
            at.physical_location.region.start_column = Some(position.column);
            let level = diagnostic.severity.word();
            RunResult { locations: vec![at], ..plain(diagnostic.code.to_string(), level, diagnostic.message.clone()) }
        };
        self.runs[0].results.extend(diagnostics.iter().map(result));
    }

    /// The text of the document.
    pub fn to_text(&self) -> String {
        visible_json(&(serde_json::to_string_pretty(self).unwrap_or_default() + "\n"))
    }
}

/// A value or a text that is not the expected one.
fn mismatch(case: &str, failure: &Failure) -> RunResult {
    plain(MISMATCH.to_string(), "error", format!("{case}: {}", report::failure(failure)))
}

fn plain(rule_id: String, level: &'static str, text: String) -> RunResult {
    RunResult {
        rule_id,
        level,
        message: Message { text },
        locations: Vec::new(),
        related_locations: Vec::new(),
        code_flows: Vec::new(),
        occurrence_count: None,
        properties: Map::new(),
    }
}

fn finding(finding: &FindingText) -> RunResult {
    let level = finding.severity.word();
    let memory = finding.memory.as_ref().map_or(String::new(), |memory| format!("{}: ", memory.named()));
    let fix = if finding.fix.is_empty() { String::new() } else { format!("fix: {}", finding.fix) };
    let launch = if finding.made_up.is_empty() { String::new() } else { format!("launch: {}", finding.made_up) };
    let sentences = [format!("{memory}{}", finding.message), finding.why.clone(), fix, launch];
    let text: Vec<String> = sentences.into_iter().filter(|text| !text.is_empty()).collect();
    let ptx = finding.site().and_then(|site| site.lines.first().filter(|_| site.lines.len() > 1));
    let first = finding.first.iter().filter_map(|side| Some(location(edited_line(&side.site)?, Some(described("first", side)))));
    let related = first.chain(ptx.map(|place| location(place, Some("in the PTX".to_string())))).collect();
    let steps = finding.chain.iter().filter_map(|link| {
        let place = edited_line(link.site.as_ref()?)?;
        Some(FlowLocation { location: location(place, Some(link.text.clone())) })
    });
    let locations: Vec<FlowLocation> = steps.collect();
    let code_flows = if locations.is_empty() { Vec::new() } else { vec![CodeFlow { thread_flows: [ThreadFlow { locations }] }] };
    RunResult {
        locations: finding.site().and_then(edited_line).map(|place| location(place, None)).into_iter().collect(),
        related_locations: related,
        code_flows,
        occurrence_count: Some(finding.count),
        properties: properties(finding),
        ..plain(finding.id.word().to_string(), level, text.join("; "))
    }
}

/// `first: warp 0 writes at time 12`
fn described(which: &str, side: &SideText) -> String {
    let Site { block, warp, time, .. } = &side.site;
    let action = side.action.map_or("stops", crate::debug::findings::SideAction::word);
    format!("{which}: {action} by block {} warp {warp} at time {time}", Dim3(*block))
}

fn properties(finding: &FindingText) -> Map<String, Value> {
    let side = |side: &SideText| {
        let Site { block, warp, lanes, thread, time, .. } = &side.site;
        json!({ "block": block, "warp": warp, "lanes": lanes, "thread": thread, "time": time })
    };
    let mut properties = Map::new();
    properties.insert("kernel".to_string(), json!(finding.kernel));
    properties.insert("launch".to_string(), json!(finding.launch));
    properties.insert("first".to_string(), json!(finding.first.as_ref().map(side)));
    properties.insert("second".to_string(), json!(finding.second.as_ref().map(side)));
    properties
}

/// The line that is edited: the line of the source language if there is one; in inlined functions, that of the outermost caller.
fn edited_line(site: &Site) -> Option<&FileLine> {
    site.lines.last()
}

fn location(place: &FileLine, message: Option<String>) -> Location {
    Location {
        physical_location: PhysicalLocation {
            artifact_location: ArtifactLocation { uri: uri(&place.file) },
            region: Region { start_line: place.line, start_column: None },
        },
        message: message.map(|text| Message { text }),
    }
}

/// A path as a URI reference, percent-encoded.
fn uri(path: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(byte);
    let escaped: String =
        path.bytes().map(|byte| if is_plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect();
    if path.starts_with('/') { format!("file://{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("dir/k.cu"), "dir/k.cu");
        assert_eq!(uri("/a b/ä.cu"), "file:///a%20b/%C3%A4.cu");
    }
}
