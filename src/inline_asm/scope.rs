//! Checks that the text of a statement is valid between other instructions: complete statements, balanced brackets, scoped names.

use super::effects::Effect;
use super::text::Text;
use crate::base::Diagnostic;

/// Directives that declare names.
const DECLARATIONS: &[&str] = &[".reg", ".local", ".shared", ".param", ".const", ".global"];

/// The effects that a statement declares outside of its template.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredEffects {
    /// True if it is `volatile`; `None` for a template without `asm`.
    pub volatile: Option<bool>,
    /// True if it has outputs: without any, the compiler treats it as volatile.
    pub outputs: bool,
    /// True if it has the clobber `"memory"`.
    pub memory: bool,
}

/// Reports text that is invalid between other instructions (errors), text that is invalid if repeated, as by inlining and loop unrolling
/// (warnings; the guide's 1.2.1), and effects that the statement does not declare (warnings; 1.2.2).
pub fn check(text: &Text, declared: DeclaredEffects) -> Vec<Diagnostic> {
    let mut scan = Scan { text, open: Vec::new(), statement: None, last: 0, declared, diags: Vec::new() };
    let mut at = 0;
    while let Some(rest) = text.as_str().get(at..).filter(|rest| !rest.is_empty()) {
        at += match skipped(rest) {
            0 => scan.next(at, rest),
            blank => blank,
        };
    }
    scan.finish();
    scan.diags
}

/// Bytes of blanks or of a comment at the start of `rest`.
fn skipped(rest: &str) -> usize {
    let end = |comment: &str, after: usize| rest.find(comment).map_or(rest.len(), |end| end + after);
    match () {
        () if rest.starts_with("//") => end("\n", 0),
        () if rest.starts_with("/*") => end("*/", 2),
        () => rest.len() - rest.trim_start().len(),
    }
}

struct Scan<'a> {
    text: &'a Text,
    /// Offsets of open braces; true for a scope, false for a vector operand.
    open: Vec<(usize, bool)>,
    /// Offset of the current PTX statement.
    statement: Option<usize>,
    /// Offset after the last token.
    last: usize,
    /// The declared effects; a reported effect counts as declared.
    declared: DeclaredEffects,
    diags: Vec<Diagnostic>,
}

impl Scan<'_> {
    /// Scans the token at `at`; returns its length.
    fn next(&mut self, at: usize, rest: &str) -> usize {
        let length = match rest.chars().next() {
            Some('"') => rest.get(1..).and_then(|inside| inside.find('"')).map_or(rest.len(), |end| end + 2),
            Some(c) => c.len_utf8(),
            None => 0,
        };
        match rest.chars().next() {
            Some('{') => {
                self.open.push((at, self.statement.is_none()));
            }
            Some('}') => match self.open.pop() {
                Some((_, true)) => self.statement = None,
                Some((_, false)) => {}
                None => {
                    let error = Diagnostic::error("syntax", self.text.span(at..at + 1), "'}' closes what the template did not open");
                    self.diags.push(error.with_help("the braces of a template must be balanced: it stands in the middle of a function"));
                }
            },
            Some(';') => {
                self.end_statement(at);
            }
            Some(':') if self.label(at) => self.statement = None,
            _ => {
                self.statement.get_or_insert(at);
            }
        }
        self.last = at + length;
        length
    }

    /// True if the colon at `at` ends a label, which is reported if repetition would duplicate it.
    fn label(&mut self, at: usize) -> bool {
        let Some(start) = self.statement else { return false };
        let name = self.text.as_str().get(start..at).unwrap_or_default().trim_end();
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%'));
        if is_name && self.open.is_empty() {
            self.not_twice(start, name.len(), &format!("the label '{name}'"), "label");
        }
        is_name
    }

    fn end_statement(&mut self, at: usize) {
        let Some(start) = self.statement.take() else { return };
        let statement = self.text.as_str().get(start..at).unwrap_or_default();
        let mut words = statement.split_whitespace();
        let mut first = words.next().unwrap_or_default();
        let directive = first.len();
        if DECLARATIONS.contains(&first) && self.open.is_empty() {
            let name = statement.split_whitespace().last().unwrap_or_default();
            self.not_twice(start, directive, &format!("the declaration of '{name}'"), "variable");
        }
        if first.starts_with('@') {
            first = words.next().unwrap_or_default();
        }
        let operands = statement.split_once(first).map_or("", |(_, operands)| operands);
        if let Some(effect) = Effect::of(first, operands) {
            self.effect(effect, first, start..start + statement.trim_end().len());
        }
    }

    /// Reports an effect if the statement does not declare it.
    fn effect(&mut self, effect: Effect, opcode: &str, at: std::ops::Range<usize>) {
        let span = self.text.span(at);
        // A template without `asm` cannot have a clobber: that a barrier orders accesses is not reported for it.
        let is_reported = self.declared.memory || effect == Effect::Orders && self.declared.volatile.is_none();
        if effect.needs_clobber() && !is_reported {
            self.declared.memory = true;
            let warning = Diagnostic::warning("clobber", span, format!("{}, and the statement does not say so", effect.describe(opcode)));
            self.diags.push(warning.with_help("the compiler may move accesses over it: asm volatile(… : \"memory\")"));
        }
        if self.declared.volatile == Some(false) && self.declared.outputs {
            self.declared.volatile = Some(true);
            let warning = Diagnostic::warning("volatile", span, format!("{}, and the statement is not volatile", effect.describe(opcode)));
            self.diags.push(warning.with_help(
                "the compiler may leave out, join and move statements whose outputs depend on their inputs alone: asm volatile(…)",
            ));
        }
    }

    fn not_twice(&mut self, start: usize, length: usize, what: &str, kind: &str) {
        let message = format!("{what} stands outside of braces: where the statement is there twice, ptxas finds a duplicate {kind}");
        let warning = Diagnostic::warning("scope", self.text.span(start..start + length), message);
        self.diags.push(warning.with_help("inlining and unrolling repeat statements: put { } around the template"));
    }

    fn finish(&mut self) {
        if let Some((at, _)) = self.open.first() {
            let error = Diagnostic::error("syntax", self.text.span(*at..*at + 1), "'{' is never closed");
            self.diags.push(error.with_help("the braces of a template must be balanced: it stands in the middle of a function"));
        } else if self.statement.is_some() {
            let span = self.text.span(self.last.saturating_sub(1)..self.last);
            let error = Diagnostic::error("syntax", span, "the last instruction of the template has no ';'");
            self.diags.push(error.with_help("every instruction ends with ';', the last one too: another follows it"));
        }
    }
}
