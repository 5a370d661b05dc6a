//! Results for continuous integration: JUnit's XML, one document for all cases that were verified or run.
//!
//! A case of a launch file is a test case. What is not as expected, and each finding that makes the run fail, is a failure of it; an error
//! that ended the program is an error.

use std::fmt::Write as _;

use super::{finding, report};
use crate::base::{Diagnostic, Sources};
use crate::debug::export::xml_escaped;
use crate::debug::findings::{FindingText, Severity};
use crate::debug::{CaseReport, Comparison, Summary, shown_name};
use crate::ui::visible::visible;

/// A document.
#[derive(Debug, Default)]
pub struct Suite {
    cases: Vec<TestCase>,
}

/// A test case.
#[derive(Debug)]
struct TestCase {
    name: String,
    problems: Vec<Problem>,
}

/// A reason why a test case did not pass.
#[derive(Debug)]
struct Problem {
    /// The element of the document: `failure` or `error`.
    element: &'static str,
    /// The kind of problem: the id of a finding, or `expect`.
    kind: String,
    /// The text; its first line is the message.
    text: String,
}

impl Suite {
    /// Adds the result of a case of `--verify`.
    pub fn case(&mut self, case: &CaseReport) {
        let text = report::case(case);
        let problems = if text.is_empty() && case.passed { Vec::new() } else { vec![failure("expect", text)] };
        self.cases.push(TestCase { name: shown_name(&case.name).into_owned(), problems });
    }

    /// Adds the result of a run of `--batch`, which fails at findings of `failing` or worse.
    pub fn run(&mut self, name: &str, summary: &Summary, comparison: &Comparison, failing: Severity) {
        let found = summary.findings.iter().filter(|finding| finding.severity >= failing);
        let mut problems: Vec<Problem> = found.map(|found: &FindingText| failure(found.id.word(), finding(found))).collect();
        if comparison.is_wrong() {
            problems.push(failure("expect", report::comparison(name, comparison, &[])));
        }
        self.cases.push(TestCase { name: shown_name(name).into_owned(), problems });
    }

    /// Adds the mistakes of a module.
    pub fn diagnostics(&mut self, sources: &Sources, diagnostics: &[Diagnostic]) {
        let name = diagnostics.first().map_or("module", |first| sources.file(first.span.source).name());
        let text = super::diagnostic::render_all(sources, diagnostics, false);
        self.cases
            .push(TestCase { name: name.to_string(), problems: vec![Problem { element: "error", kind: "module".to_string(), text }] });
    }

    /// Adds a module of `--check`: it passes without an error.
    pub fn module(&mut self, name: &str, sources: &Sources, diagnostics: &[Diagnostic]) {
        match diagnostics.iter().any(Diagnostic::is_error) {
            true => self.diagnostics(sources, diagnostics),
            false => self.cases.push(TestCase { name: name.to_string(), problems: Vec::new() }),
        }
    }

    /// Adds the error that ended the program.
    pub fn error(&mut self, message: &str) {
        let problem = Problem { element: "error", kind: "ptxdbg".to_string(), text: message.to_string() };
        self.cases.push(TestCase { name: "ptxdbg".to_string(), problems: vec![problem] });
    }

    /// The document.
    pub fn to_text(&self) -> String {
        let count = |element: &str| self.cases.iter().filter(|case| case.problems.iter().any(|problem| problem.element == element)).count();
        let counts = format!("tests=\"{}\" failures=\"{}\" errors=\"{}\"", self.cases.len(), count("failure"), count("error"));
        let mut text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite name=\"ptxdbg\" {counts}>\n");
        for TestCase { name, problems } in &self.cases {
            let start = format!("<testcase classname=\"ptxdbg\" name=\"{}\"", escaped(name));
            if problems.is_empty() {
                // A `String` can always be written to.
                let _ = writeln!(text, "{start}/>");
                continue;
            }
            let _ = writeln!(text, "{start}>");
            for Problem { element, kind, text: about } in problems {
                let message = about.lines().next().unwrap_or_default();
                let _ = writeln!(
                    text,
                    "<{element} type=\"{}\" message=\"{}\">{}</{element}>",
                    escaped(kind),
                    escaped(message),
                    escaped(about.trim_end())
                );
            }
            let _ = writeln!(text, "</testcase>");
        }
        text + "</testsuite>\n</testsuites>\n"
    }
}

fn failure(kind: &str, text: String) -> Problem {
    Problem { element: "failure", kind: kind.to_string(), text }
}

/// `text` as the value of an attribute or as text of XML, in which control characters have no place.
fn escaped(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| visible(line).into_owned()).collect();
    xml_escaped(&lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::Suite;

    #[test]
    fn texts_are_escaped() {
        let mut suite = Suite::default();
        suite.error("a < b & \"c\"\u{1b}[0m");
        let text = suite.to_text();
        assert!(text.contains("message=\"a &lt; b &amp; &quot;c&quot;\\x1b[0m\"") || text.contains("&quot;c&quot;"), "{text}");
        assert!(!text.contains('\u{1b}') && text.contains("errors=\"1\""), "{text}");
    }
}
