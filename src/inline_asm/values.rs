//! Values from the command line for operands without a value.

use super::operand::Role;
use super::statement::Statement;
use crate::base::{Diagnostic, SourceFile, Sources, Span};

impl Statement {
    /// Sets the operands without a value to the arguments, in order; each becomes a file of `sources`.
    ///
    /// # Errors
    /// Arguments that cannot be parsed or do not match, and those for which there is no operand.
    pub fn set_values(&mut self, sources: &mut Sources, args: &[String]) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let mut without_value = self.operands.iter_mut().enumerate().filter(|(_, operand)| operand.lacks_value());
        for (index, arg) in args.iter().enumerate() {
            let source = sources.add(SourceFile::new(format!("--arg {}", index + 1), arg.as_str()));
            let Some((number, operand)) = without_value.next() else {
                let span = Span::new(source, 0, arg.len() as u32);
                errors.push(Diagnostic::error("arg", span, "there is no operand left that wants a value"));
                continue;
            };
            let name = if operand.expression.is_empty() { format!("operand{number}") } else { operand.expression.clone() };
            operand.value_source = source;
            match operand.read_value(arg, source, &name) {
                Ok(value) => operand.value = Some(value),
                Err(error) => errors.push(error),
            }
        }
        errors
    }

    /// Errors for operands without a value: all that are read, or, if not `all`, those that must be known at compile time.
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
