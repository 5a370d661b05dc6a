//! What a command works on.

use super::call::{Call, Piece};
use super::error::CommandError;
use super::outcome::Outcome;
use crate::debug::argument::ArgumentError;
use crate::debug::breakpoints::{Location, Resolved};
use crate::debug::session::{Pace, Session};

/// What a command works on.
pub struct Context<'a> {
    /// The session.
    pub session: &'a mut Session,
    /// What commands remember from one to the next.
    pub desk: &'a mut Desk,
    /// Asked while the kernel runs.
    pub pace: &'a mut dyn Pace,
    /// The user has said yes to what this command asks.
    pub confirmed: bool,
}

/// What commands remember from one to the next, and the session does not.
#[derive(Debug, Default)]
pub struct Desk {
    /// What an empty line stands for.
    pub again: Option<String>,
}

impl Context<'_> {
    /// The instructions that a location stands for, seen from the focused lane.
    pub fn locate(&self, piece: &Piece) -> Result<Resolved, CommandError> {
        let location = Location::parse(&piece.text).map_err(|error| piece.wrong(error))?;
        let resolved = location.resolve(self.session.program(), None);
        resolved.map_err(|error| piece.wrong(error))
    }

    /// The question whether what was recorded behind the present time may be dropped; none if nothing would be, or it was answered.
    pub fn ask_to_drop(&self, what: &str) -> Option<Outcome> {
        let (now, recorded) = (self.session.time(), self.session.recorded());
        let asks = recorded > now && !self.confirmed && self.session.settings.confirm;
        let question = || format!("{what} changes the run from here on: what was recorded from t={now} to t={recorded} is dropped. Go on?");
        asks.then(|| Outcome::Ask(question()))
    }
}

impl Piece {
    /// An error about an argument, as an error about the line that it stands in.
    pub fn wrong(&self, error: ArgumentError) -> CommandError {
        let error = error.shifted(self.start);
        CommandError { message: error.message, span: error.span, help: error.help }
    }
}

impl From<ArgumentError> for CommandError {
    /// One about no argument of the line.
    fn from(error: ArgumentError) -> Self {
        CommandError { message: error.message, span: None, help: error.help }
    }
}

impl Call {
    /// How often: the argument N, or once.
    pub fn count(&self) -> u64 {
        self.number("N").unwrap_or(1)
    }
}
