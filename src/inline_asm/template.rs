//! Expansion of `%` references in the template to PTX.

use super::statement::Statement;
use super::text::Text;
use crate::base::Diagnostic;

/// The template with operand references replaced by `names`, as by nvcc, and its mistakes. A statement without operands is not expanded.
pub fn expand(statement: &Statement, names: &[String]) -> (Text, Vec<Diagnostic>) {
    let template = &statement.template;
    if names.is_empty() {
        return (template.clone(), Vec::new());
    }
    let whole = template.whole();
    let mut expander = Expander { template, names, text: Text::new(whole.source, whole.start), diags: Vec::new() };
    let (mut at, text) = (0, template.as_str());
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = rest.find('%').unwrap_or(rest.len());
        expander.copy(at, plain);
        at += plain;
        if plain < rest.len() {
            at += expander.reference(at);
        }
    }
    (expander.text, expander.diags)
}

struct Expander<'a> {
    template: &'a Text,
    names: &'a [String],
    text: Text,
    diags: Vec<Diagnostic>,
}

impl Expander<'_> {
    /// Copies bytes unchanged.
    fn copy(&mut self, at: usize, length: usize) {
        for (offset, c) in self.template.as_str().get(at..at + length).unwrap_or_default().char_indices() {
            let from = at + offset;
            self.text.push(c.encode_utf8(&mut [0; 4]), self.template.origin(from..from + c.len_utf8()));
        }
    }

    /// Expands the `%` at `at`; returns the number of consumed bytes.
    fn reference(&mut self, at: usize) -> usize {
        let rest = self.template.as_str().get(at + 1..).unwrap_or_default();
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        let mut chars = rest.chars();
        let (first, second) = (chars.next(), chars.next());
        match (first, second) {
            _ if digits > 0 => {
                self.operand(at, digits);
                1 + digits
            }
            (Some('%'), _) => {
                self.text.push("%", self.template.origin(at..at + 2));
                2
            }
            (None, _) => self.error(at, 1, "'%' stands at the end of the template", "a '%' of the PTX is written '%%'"),
            (Some('['), _) => {
                let help = "operands of device code have numbers only: %0, %1, …";
                self.error(at, 2, "operands cannot be named", help)
            }
            (Some(c), Some(next)) if c.is_ascii_alphabetic() && next.is_ascii_digit() => {
                let message = format!("'%{c}' before a number is an operand modifier, and there are none");
                self.error(at, 3, &message, &format!("a register called %{c}{next} is written %%{c}{next}"))
            }
            (Some(c), _) if c.is_ascii_alphabetic() => {
                let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let name = rest.get(..word).unwrap_or_default();
                let warning =
                    Diagnostic::warning("template", self.template.span(at..at + 1 + word), format!("'%{name}' refers to no operand"));
                self.diags.push(warning.with_help(format!("it is taken as it is; a '%' of the PTX is written '%%': %%{name}")));
                self.copy(at, 1);
                1
            }
            (Some(c), _) => {
                let length = 1 + c.len_utf8();
                let warning = Diagnostic::warning("template", self.template.span(at..at + length), format!("nvcc leaves '%{c}' out"));
                self.diags.push(warning.with_help(format!("write '{c}' for the sign itself, '%%{c}' for both")));
                length
            }
        }
    }

    fn operand(&mut self, at: usize, digits: usize) {
        let length = 1 + digits;
        let number = self.template.as_str().get(at + 1..at + length).unwrap_or_default();
        match number.parse().ok().and_then(|number: usize| self.names.get(number)) {
            Some(name) => self.text.push(name, self.template.origin(at..at + length)),
            None => {
                let last = self.names.len().saturating_sub(1);
                let message = format!("there is no operand %{number}: the last one is %{last}");
                self.error(at, length, &message, "operands are numbered from %0, outputs first; one with '+' counts once");
            }
        }
    }

    fn error(&mut self, at: usize, length: usize, message: &str, help: &str) -> usize {
        self.diags.push(Diagnostic::error("template", self.template.span(at..at + length), message).with_help(help));
        length
    }
}
