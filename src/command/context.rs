//! The context in which a command is executed.

use std::ops::Range;

use super::argument_text::ArgumentText;
use super::error::CommandError;
use super::outcome::Outcome;
use crate::base::SourceId;
use crate::base::Tick;
use crate::debug::argument::ArgumentError;
use crate::debug::breakpoints::{Event, Location, Resolved};
use crate::debug::expression::Expression;
use crate::debug::focus::{Focus, ThreadFilter};
use crate::debug::names::mbarriers::mbarrier_address;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::target::Target;
use crate::debug::value::{Scalar, Value};
use crate::debug::view::Examine;

/// The context in which a command is executed.
pub struct Context<'a> {
    /// The session.
    pub session: &'a mut Session,
    /// The state that commands keep.
    pub state: &'a mut CommandState,
    /// Asked while the kernel runs.
    pub interrupt: &'a mut dyn InterruptCheck,
    /// The user has said yes to what this command asks.
    pub confirmed: bool,
}

/// The state that commands keep and that is not part of the session.
#[derive(Debug, Default)]
pub struct CommandState {
    /// The command that an empty line repeats.
    pub again: Option<String>,
    /// The last `x`, and the address where it continues.
    pub examined: Option<(Examine, Scalar)>,
    /// The last listing of `list`.
    pub listed: Option<Listed>,
}

/// Lines that were listed.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The time, and the thread, from which they were: somewhere else the list begins anew.
    pub seen_from: (Tick, Focus),
    /// The file.
    pub file: SourceId,
    /// The lines.
    pub lines: Range<u32>,
}

impl Context<'_> {
    /// The instructions that a location stands for, seen from the focused lane.
    pub fn locate(&self, argument: &ArgumentText) -> Result<Resolved, CommandError> {
        let here = self.session.eval_context().frame().ok().map(|frame| frame.pc);
        let location = Location::parse(&argument.text).map_err(|error| argument.wrong(error))?;
        location.resolve(self.session.program(), here).map_err(|error| argument.wrong(error.at(0..argument.text.len())))
    }

    /// An expression that was read.
    pub fn expression(&self, argument: &ArgumentText) -> Result<Expression, CommandError> {
        Expression::parse(&argument.text).map_err(|error| {
            let message = format!("{}; expected {}", error.message, error.expected);
            argument.wrong_from(error.column, message)
        })
    }

    /// The value of an expression for the focused lane.
    pub fn value(&self, argument: &ArgumentText) -> Result<Value, CommandError> {
        let value = self.expression(argument)?.evaluate(&self.session.eval_context());
        value.map_err(|error| argument.wrong_from(error.column, error.to_string()))
    }

    /// The place that an expression names.
    pub fn target(&self, argument: &ArgumentText) -> Result<Target, CommandError> {
        let target = self.expression(argument)?.target(&self.session.eval_context());
        target.map_err(|error| argument.wrong_from(error.column, error.to_string()))
    }

    /// The place that an expression names for some threads.
    pub fn target_for(&self, argument: &ArgumentText, threads: &ThreadFilter) -> Result<Target, CommandError> {
        let target = self.expression(argument)?.target_for(&self.session.eval_context(), threads);
        target.map_err(|error| argument.wrong_from(error.column, error.to_string()))
    }

    /// An event that `catch` and `run-to` know.
    pub fn event(&self, argument: &ArgumentText) -> Result<Event, CommandError> {
        let eval_context = self.session.eval_context();
        Event::parse(&argument.text, |name| mbarrier_address(&eval_context, name)).map_err(|error| argument.wrong(error))
    }

    /// Threads that a listing or a breakpoint is limited to.
    pub fn filter(&self, argument: &ArgumentText) -> Result<ThreadFilter, CommandError> {
        let filter = ThreadFilter::parse(&argument.text, &self.session.eval_context().extents());
        filter.map_err(|error| argument.wrong_from(error.column, error.message))
    }

    /// Why the focused thread stands nowhere.
    pub fn absence(&self) -> CommandError {
        let error = self.session.eval_context().frame().err();
        CommandError::new(error.map_or_else(|| "there is no code here".to_string(), |error| error.to_string()))
    }

    /// The question whether what was recorded after the present time may be dropped; none if nothing would be, or it was answered.
    pub fn ask_to_drop(&self) -> Option<Outcome> {
        let (now, recorded) = (self.session.time(), self.session.recorded());
        let asks = recorded > now && !self.confirmed && self.session.settings.confirm;
        let question = || format!("this discards the recorded history after the current time, t={now} to t={recorded}");
        asks.then(|| Outcome::Ask(question()))
    }

    /// The question whether all that was recorded may be dropped; none if nothing was, or it was answered.
    pub fn ask_to_restart(&self) -> Option<Outcome> {
        let recorded = self.session.recorded();
        let asks = recorded > Tick::START && !self.confirmed && self.session.settings.confirm;
        asks.then(|| Outcome::Ask(format!("the run begins anew, and what was recorded to t={recorded} is dropped")))
    }
}

impl From<ArgumentError> for CommandError {
    /// One about no argument of the line.
    fn from(error: ArgumentError) -> Self {
        CommandError { message: error.message, span: None, help: error.help }
    }
}
