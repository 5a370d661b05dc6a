//! How the text of a statement fits between other instructions: whole statements, brackets that close, names that stay inside.

use super::effects::Effect;
use super::text::Text;
use crate::base::Diagnostic;

/// Directives that declare names.
const DECLARATIONS: &[&str] = &[".reg", ".local", ".shared", ".param", ".const", ".global"];

/// What a statement says of itself besides its text.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredEffects {
    /// Whether it is `volatile`; none where the template stands alone, without `asm`.
    pub volatile: Option<bool>,
    /// Whether it has outputs: without any, the compiler takes it as volatile.
    pub outputs: bool,
    /// Whether it says that it changes memory.
    pub memory: bool,
}

/// What keeps `text` from standing between other instructions (errors), or from being there twice, as it is when the function around it
/// is inlined or a loop unrolled (warnings; the guide's 1.2.1); and effects that the statement does not declare (warnings; 1.2.2).
pub fn check(text: &Text, says: DeclaredEffects) -> Vec<Diagnostic> {
    let mut scan = Scan { text, open: Vec::new(), statement: None, last: 0, says, diags: Vec::new() };
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

/// Bytes of blanks or of a comment that `rest` begins with.
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
    /// Places of brackets that are open, and whether each is a scope, not a list of operands.
    open: Vec<(usize, bool)>,
    /// Where the statement begins that is being read.
    statement: Option<usize>,
    /// Where what was read last ends.
    last: usize,
    /// What the statement says; an effect that is reported counts as said.
    says: DeclaredEffects,
    diags: Vec<Diagnostic>,
}

impl Scan<'_> {
    /// Reads what stands at `at`; its length.
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

    /// Whether the colon at `at` ends a label, which is reported where it would be there twice.
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

    /// Reports an effect that the statement does not declare.
    fn effect(&mut self, effect: Effect, opcode: &str, at: std::ops::Range<usize>) {
        let span = self.text.span(at);
        // A template that stands alone has no place for a clobber; that a barrier orders accesses is no news there.
        let is_reported = self.says.memory || effect == Effect::Orders && self.says.volatile.is_none();
        if effect.needs_clobber() && !is_reported {
            self.says.memory = true;
            let warning = Diagnostic::warning("clobber", span, format!("{}, and the statement does not say so", effect.describe(opcode)));
            self.diags.push(warning.with_help("the compiler may move accesses over it: asm volatile(… : \"memory\")"));
        }
        if self.says.volatile == Some(false) && self.says.outputs {
            self.says.volatile = Some(true);
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
