//! Values that the command line gives to operands whose expression has none.

use super::operand::Role;
use super::statement::Statement;
use crate::base::{Diagnostic, SourceFile, Sources, Span};

impl Statement {
    /// Gives the words to the operands without a value, in order; each becomes a file of `sources`.
    ///
    /// # Errors
    /// Words that cannot be read or do not fit, and those for which there is no operand.
    pub fn give(&mut self, sources: &mut Sources, words: &[String]) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let mut wanting = self.operands.iter_mut().enumerate().filter(|(_, operand)| operand.lacks_value());
        for (index, word) in words.iter().enumerate() {
            let source = sources.add(SourceFile::new(format!("--arg {}", index + 1), word.as_str()));
            let Some((number, operand)) = wanting.next() else {
                let span = Span::new(source, 0, word.len() as u32);
                errors.push(Diagnostic::error("arg", span, "there is no operand left that wants a value"));
                continue;
            };
            let name = if operand.expression.is_empty() { format!("operand{number}") } else { operand.expression.clone() };
            operand.said = source;
            match operand.read_value(word, source, &name) {
                Ok(value) => operand.value = Some(value),
                Err(error) => errors.push(error),
            }
        }
        errors
    }

    /// Operands that still lack a value, of those whose text is to be known when it is compiled or, with `all`, of all that are read.
    pub fn lacking(&self, all: bool) -> Vec<Diagnostic> {
        let lacking = self.operands.iter().enumerate().filter(|(_, operand)| operand.lacks_value() && (all || operand.is_text()));
        let error = |(number, operand): (usize, &super::Operand)| {
            let read = if operand.role == Role::Input { "read" } else { "read and written" };
            let message = format!("operand %{number} is {read}, and nothing says what it holds");
            Diagnostic::error("value", operand.span, message)
                .with_help("say --arg and its value, once for each such operand, in order: -a 3")
        };
        lacking.map(error).collect()
    }
}
