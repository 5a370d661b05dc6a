//! A case being debugged.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use super::error::Error;
use super::launch::Planned;
use super::prompt::Prompt;
use crate::command::{CommandError, CommandState, Context, Outcome, execute};
use crate::debug::RunOptions;
use crate::debug::saved::Saved;
use crate::debug::session::{self, InterruptCheck, NeverInterrupt};

/// A debugging session: a recorded run, the current position in it, breakpoints and settings. It executes the command lines of the
/// prompt, and answers each with an [`Outcome`] instead of text.
///
/// ```
/// use ptxdbg::api::{Launch, Module, Outcome, Reason, RunOptions, ValueText};
///
/// let module = Module::from_text("k.ptx", "
///     .version 8.0
///     .target sm_80
///     .visible .entry k()
///     {
///         .reg .b32 %r<3>;
///         mov.u32 %r1, %tid.x;
///         mul.lo.u32 %r2, %r1, 3;
///         ret;
///     }")?;
/// let mut session = Launch::new().grid([1, 1, 1]).block([32, 1, 1]).plan(&module)?.session(0, &RunOptions::default())?;
///
/// let Outcome::NewBreakpoint { row, .. } = session.execute("break 9")? else { panic!() };
/// assert_eq!(row.number, 1);
/// let Outcome::Stop(stop) = session.execute("run")? else { panic!() };
/// assert!(matches!(stop.reasons[..], [Reason::Breakpoint { number: 1, .. }]));
/// session.execute("lane 7")?;
/// let Outcome::Value { value, .. } = session.execute("print %r2")? else { panic!() };
/// assert_eq!(value, ValueText::Scalar("21".to_string()));
///
/// // A line that cannot be executed is an error, and does not change the session.
/// let error = session.execute("print %r9").unwrap_err();
/// assert_eq!(error.column("print %r9"), Some(7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session {
    engine: session::Session,
    state: CommandState,
    /// Keeps the folder of the files that it reads.
    folder: Option<Arc<TempDir>>,
}

impl Session {
    pub(super) fn new(planned: Planned, case: usize, options: &RunOptions) -> Result<Self, Error> {
        let (opened, folder) = planned.into_parts(case, options)?;
        Ok(Self { engine: session::Session::new(opened, case, options.clone())?, state: CommandState::default(), folder })
    }

    /// With the text of Triton's intermediate code, if there is one.
    pub(super) fn described(mut self, tensors: Option<&str>) -> Self {
        if let Some(text) = tensors {
            self.engine.describe_tensors(text.to_string());
        }
        self
    }

    /// Moves to the position in the session file at `path`. Commands of breakpoints are dropped, as the file may be untrusted.
    pub(super) fn at(mut self, path: &Path) -> Result<Self, Error> {
        let mut saved = Saved::read(path).map_err(|error| Error::File(error.to_string()))?;
        saved.remove_commands();
        self.engine.restore(saved, &mut NeverInterrupt).map_err(Error::File)?;
        Ok(self)
    }

    /// Changes to answers as text. State between commands, such as the command that an empty line repeats, is reset.
    pub fn into_prompt(self) -> Prompt {
        Prompt::new(self.engine, self.folder)
    }

    /// Executes a command line, as it is typed at the prompt. A command that would discard recorded history is answered with
    /// [`Outcome::Ask`], and not executed: [`Self::confirm`] executes it.
    ///
    /// Commands that need a front end are left to the caller: the lines of a script ([`Outcome::Source`]), commands of breakpoints
    /// ([`Outcome::Collect`]) and layouts.
    ///
    /// # Errors
    /// The reason why it was not executed; the session is then unchanged.
    pub fn execute(&mut self, line: &str) -> Result<Outcome, CommandError> {
        self.execute_with(line, &mut NeverInterrupt, false)
    }

    /// Executes a command line that was answered with [`Outcome::Ask`].
    ///
    /// # Errors
    /// As of [`Self::execute`].
    pub fn confirm(&mut self, line: &str) -> Result<Outcome, CommandError> {
        self.execute_with(line, &mut NeverInterrupt, true)
    }

    /// Executes a command line; `interrupt` is called every few milliseconds of a run: false stops it.
    ///
    /// # Errors
    /// As of [`Self::execute`].
    pub fn execute_with(&mut self, line: &str, interrupt: &mut dyn InterruptCheck, confirmed: bool) -> Result<Outcome, CommandError> {
        execute(line, &mut Context { session: &mut self.engine, state: &mut self.state, interrupt, confirmed })
    }

    /// The internal session, for state that no command shows. Its interface may change with any version.
    pub fn engine(&self) -> &session::Session {
        &self.engine
    }
}
