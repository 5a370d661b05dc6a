//! The context in which a command is executed.

use std::ops::Range;

use super::argument_text::ArgumentText;
use super::error::CommandError;
use super::outcome::Outcome;
use super::user_commands::UserCommands;
use crate::base::{Tick, file_name};
use crate::debug::argument::ArgumentError;
use crate::debug::breakpoints::{Event, Location, Resolved};
use crate::debug::expression::{EvaluationError, Expression, ExpressionError};
use crate::debug::focus::{Focus, ThreadFilter};
use crate::debug::names::mbarriers::mbarrier_address;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::target::Target;
use crate::debug::value::{Scalar, Value};
use crate::debug::view::{self, CodeText, Examine};

/// The context in which a command is executed.
pub struct Context<'a> {
    /// The session.
    pub session: &'a mut Session,
    /// State between commands.
    pub state: &'a mut CommandState,
    /// Checked while the kernel runs.
    pub interrupt: &'a mut dyn InterruptCheck,
    /// The user has answered yes to the question of this command.
    pub confirmed: bool,
}

/// State of the commands that is not part of the session.
#[derive(Debug, Default)]
pub struct CommandState {
    /// The command that an empty line repeats.
    pub again: Option<String>,
    /// The last `x`, and the address where it continues.
    pub examined: Option<(Examine, Scalar)>,
    /// The last listing of `list`.
    pub listed: Option<Listed>,
    /// Wrong elements of each buffer that the last `mismatches` listed; those that `goto mismatch` means.
    pub mismatches: Option<usize>,
    /// The commands that the user has defined.
    pub user: UserCommands,
}

/// Lines that were listed.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The time and the focus of the listing; at others `list` starts at the current line again.
    pub listed_at: (Tick, Focus),
    /// The text.
    pub text: CodeText,
    /// The lines.
    pub lines: Range<u32>,
}

impl Context<'_> {
    /// The instructions at a location, which may be relative to the focused lane.
    pub fn locate(&self, argument: &ArgumentText) -> Result<Resolved, CommandError> {
        let found = self.locate_all(argument)?;
        found.ambiguous.clone().map_or(Ok(found), |error| Err(argument.shifted_error(error.at(0..argument.text.len()))))
    }

    /// The same, where the name of several functions means all of them.
    pub fn locate_all(&self, argument: &ArgumentText) -> Result<Resolved, CommandError> {
        let here = self.session.eval_context().frame().ok().map(|frame| frame.pc);
        let location = Location::parse(&argument.text).map_err(|error| argument.shifted_error(error))?;
        let data = self.session.debug_data();
        location
            .resolve_all(self.session.program(), Some(data), here)
            .map_err(|error| argument.shifted_error(error.at(0..argument.text.len())))
    }

    /// The instructions to run to: a line of the PTX text must have some.
    pub fn locate_to_run(&self, argument: &ArgumentText) -> Result<Resolved, CommandError> {
        let found = self.locate(argument)?;
        let Ok(Location::Line { file: None, line }) = Location::parse(&argument.text) else { return Ok(found) };
        if found.note.is_none() {
            return Ok(found);
        }
        let program = self.session.program();
        let span = found.pcs.first().and_then(|pc| program.spans.get(pc.index()));
        let file = span.map_or("the module", |span| program.sources_text.file(span.source).short_name());
        let error = argument.error(format!("no instruction on line {line} of {file}"));
        Err(match self.same_line_of_source(line) {
            Some(source) => error.with_help(format!("{source} is a line of the source")),
            None => error,
        })
    }

    /// `kernel.cu:15`: line 15 of the source at the stop; none if the module has none.
    pub fn same_line_of_source(&self, line: u32) -> Option<String> {
        let program = self.session.program();
        let here = self.session.eval_context().frame().ok().and_then(|frame| program.source_line(frame.pc));
        let number = here.map(|here| here.file).or_else(|| program.source_files.first().map(|(number, _)| *number))?;
        let (_, name) = program.source_files.iter().find(|(other, _)| *other == number)?;
        Some(format!("{}:{line}", file_name(name)))
    }

    /// The same for stops: as in gdb, the name of a function means where its body begins.
    pub fn locate_stops(&self, argument: &ArgumentText) -> Result<Resolved, CommandError> {
        let found = self.locate_all(argument)?;
        Ok(self.in_body(argument, found))
    }

    /// The same for one place.
    pub fn locate_body(&self, argument: &ArgumentText) -> Result<Resolved, CommandError> {
        let found = self.locate(argument)?;
        Ok(self.in_body(argument, found))
    }

    fn in_body(&self, argument: &ArgumentText, found: Resolved) -> Resolved {
        let is_name = matches!(Location::parse(&argument.text), Ok(Location::Name { .. }));
        if is_name { found.in_bodies(self.session.program()) } else { found }
    }

    /// The parsed expression.
    pub fn expression(&self, argument: &ArgumentText) -> Result<Expression, CommandError> {
        Expression::parse(&argument.text).map_err(|error| syntax_error(argument, &error))
    }

    /// The parsed expression, which may change variables, as `x++` does.
    pub fn expression_with_steps(&self, argument: &ArgumentText) -> Result<Expression, CommandError> {
        Expression::parse_with_steps(&argument.text).map_err(|error| syntax_error(argument, &error))
    }

    /// The value of an expression for the focused lane.
    pub fn value(&self, argument: &ArgumentText) -> Result<Value, CommandError> {
        let value = self.expression(argument)?.evaluate(&self.session.eval_context());
        value.map_err(|error| self.evaluation_error(argument, &error))
    }

    /// The error of an expression that has no value.
    pub fn evaluation_error(&self, argument: &ArgumentText, error: &EvaluationError) -> CommandError {
        let problem = self.session.eval_context().tensor_problem().map(str::to_string);
        let error = argument.error_at(error.column, error.to_string());
        self.with_end(argument, problem.into_iter().fold(error, CommandError::with_help))
    }

    /// The error of an expression with the array that an index leads out of, if one does.
    fn with_end(&self, argument: &ArgumentText, error: CommandError) -> CommandError {
        let note = view::past_end(&self.session.eval_context(), &argument.text).filter(|_| error.help.is_none());
        note.into_iter().fold(error, CommandError::with_help)
    }

    /// The register or memory that an expression names.
    pub fn target(&self, argument: &ArgumentText) -> Result<Target, CommandError> {
        let target = self.expression(argument)?.target(&self.session.eval_context());
        target.map_err(|error| self.with_end(argument, argument.error_at(error.column, error.to_string())))
    }

    /// The register or memory that an expression names for some threads.
    pub fn target_for(&self, argument: &ArgumentText, threads: &ThreadFilter) -> Result<Target, CommandError> {
        let target = self.expression(argument)?.target_for(&self.session.eval_context(), threads);
        target.map_err(|error| self.with_end(argument, argument.error_at(error.column, error.to_string())))
    }

    /// The variable of the source that an expression names for some threads, to be watched or searched for its history wherever it lies;
    /// none if it names something else.
    pub fn variable(&mut self, argument: &ArgumentText, threads: &ThreadFilter) -> Result<Option<Target>, CommandError> {
        let expression = self.expression(argument)?;
        let variable = expression.variable_for(&self.session.eval_context(), threads);
        match variable.map_err(|error| argument.error_at(error.column, error.to_string()))? {
            Some(Target::Variable(mut variable)) => {
                let thread = Focus { block: variable.block, warp: variable.warp, lane: variable.lanes.first() as u32, frame: 0 };
                variable.since = self.session.frame_start(thread, variable.depth, &variable.code, self.interrupt);
                Ok(Some(Target::Variable(variable)))
            }
            found => Ok(found),
        }
    }

    /// An event of `catch` or `run-to`.
    pub fn event(&self, argument: &ArgumentText) -> Result<Event, CommandError> {
        let eval_context = self.session.eval_context();
        Event::parse(&argument.text, |name| mbarrier_address(&eval_context, name)).map_err(|error| argument.shifted_error(error))
    }

    /// Threads that a listing or a breakpoint is limited to.
    pub fn filter(&self, argument: &ArgumentText) -> Result<ThreadFilter, CommandError> {
        let filter = ThreadFilter::parse(&argument.text, &self.session.eval_context().extents(), &self.session.roles);
        filter.map_err(|error| argument.error_at(error.column, error.message))
    }

    /// The error for a focused thread that is at no instruction.
    pub fn no_code_error(&self) -> CommandError {
        let error = self.session.eval_context().frame().err();
        CommandError::new(error.map_or_else(|| "there is no code here".to_string(), |error| error.to_string()))
    }

    /// The question whether the whole recording may be discarded; none if there is none, or it is confirmed.
    pub fn ask_to_restart(&self) -> Option<Outcome> {
        let recorded = self.session.recorded();
        let must_ask = recorded > Tick::START && !self.confirmed && self.session.settings.confirm;
        must_ask.then(|| Outcome::Ask(format!("the run begins anew, and what was recorded to t={recorded} is dropped")))
    }
}

fn syntax_error(argument: &ArgumentText, error: &ExpressionError) -> CommandError {
    argument.error_at(error.column, format!("{}; expected {}", error.message, error.expected))
}

impl From<ArgumentError> for CommandError {
    /// An error without a position in the line.
    fn from(error: ArgumentError) -> Self {
        CommandError { message: error.message, span: None, help: error.help }
    }
}
