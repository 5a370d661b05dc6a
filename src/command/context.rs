//! What a command works on.

use std::ops::Range;

use super::error::CommandError;
use super::outcome::Outcome;
use super::piece::Piece;
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

/// What a command works on.
pub struct Context<'a> {
    /// The session.
    pub session: &'a mut Session,
    /// What commands remember from one to the next.
    pub state: &'a mut CommandState,
    /// Asked while the kernel runs.
    pub interrupt: &'a mut dyn InterruptCheck,
    /// The user has said yes to what this command asks.
    pub confirmed: bool,
}

/// What commands remember from one to the next, and the session does not.
#[derive(Debug, Default)]
pub struct CommandState {
    /// What an empty line stands for.
    pub again: Option<String>,
    /// What `x` showed last, and where it goes on.
    pub examined: Option<(Examine, Scalar)>,
    /// What `list` showed last.
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
    pub fn locate(&self, piece: &Piece) -> Result<Resolved, CommandError> {
        let here = self.session.scene().frame().ok().map(|frame| frame.pc);
        let location = Location::parse(&piece.text).map_err(|error| piece.wrong(error))?;
        location.resolve(self.session.program(), here).map_err(|error| piece.wrong(error.at(0..piece.text.len())))
    }

    /// An expression that was read.
    pub fn expression(&self, piece: &Piece) -> Result<Expression, CommandError> {
        Expression::parse(&piece.text).map_err(|error| {
            let message = format!("{}; expected {}", error.message, error.expected);
            piece.wrong_from(error.column, message)
        })
    }

    /// The value of an expression for the focused lane.
    pub fn value(&self, piece: &Piece) -> Result<Value, CommandError> {
        let value = self.expression(piece)?.evaluate(&self.session.scene());
        value.map_err(|error| piece.wrong_from(error.column, error.to_string()))
    }

    /// The place that an expression names.
    pub fn target(&self, piece: &Piece) -> Result<Target, CommandError> {
        let target = self.expression(piece)?.target(&self.session.scene());
        target.map_err(|error| piece.wrong_from(error.column, error.to_string()))
    }

    /// The place that an expression names for some threads.
    pub fn target_for(&self, piece: &Piece, threads: &ThreadFilter) -> Result<Target, CommandError> {
        let target = self.expression(piece)?.target_for(&self.session.scene(), threads);
        target.map_err(|error| piece.wrong_from(error.column, error.to_string()))
    }

    /// An event that `catch` and `run-to` know.
    pub fn event(&self, piece: &Piece) -> Result<Event, CommandError> {
        let scene = self.session.scene();
        Event::parse(&piece.text, |name| mbarrier_address(&scene, name)).map_err(|error| piece.wrong(error))
    }

    /// Threads that a listing or a breakpoint is limited to.
    pub fn filter(&self, piece: &Piece) -> Result<ThreadFilter, CommandError> {
        let filter = ThreadFilter::parse(&piece.text, &self.session.scene().extents());
        filter.map_err(|error| piece.wrong_from(error.column, error.message))
    }

    /// Why the focused thread stands nowhere.
    pub fn absence(&self) -> CommandError {
        let error = self.session.scene().frame().err();
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
