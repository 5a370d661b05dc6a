//! The command loop: executes lines, writes their outcomes, and performs the requests that commands make to the front end.
//!
//! The prompt and scripts read lines and answers from different sources ([`Frontend`]); everything else is here, so that a command
//! behaves the same in both.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bad_line::BadLine;
use super::interrupt;
use super::output::Output;
#[cfg(debug_assertions)]
use super::provoke;
use super::script::{Script, ScriptFrontend};
use super::shell;
use super::text;
use super::tour::{self, Story, Tour};
use crate::command::{Collected, CommandError, CommandState, Context, LayoutRequest, Outcome, TourRequest, execute, is_blank_or_comment};
use crate::debug::findings::{FindingText, Severity};
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::stop::{Reason, Stop};

/// The most commands of the user that one line executes.
const EXPANSIONS_MAX: usize = 1024;
/// The maximum nesting of scripts that execute scripts.
const SOURCE_DEPTH_MAX: usize = 16;
/// The prompt that is written before an echoed line of a script.
pub const PROMPT: &str = "(ptxdbg) ";

/// A session and the state of its command loop.
pub struct Console {
    /// Locked while a command is executed, and not while a question is asked.
    session: Arc<Mutex<Session>>,
    state: CommandState,
    /// Questions are answered with yes.
    yes: bool,
    /// The lowest severity of a finding that makes the run fail.
    pub failing: Severity,
    /// True if a fault or a finding of that severity was reported.
    pub has_failed: bool,
    /// The nesting of the scripts that are being executed.
    depth: usize,
    /// The tour that is under way.
    tour: Option<Tour>,
}

/// A line that is to be executed.
struct Pending {
    line: String,
    /// True if it is one of the commands of a breakpoint that has stopped.
    is_of_breakpoint: bool,
}

impl Pending {
    fn typed(line: &str) -> Self {
        Self { line: line.to_string(), is_of_breakpoint: false }
    }

    fn of_breakpoint(line: String) -> Self {
        Self { line, is_of_breakpoint: true }
    }
}

/// The source of command lines and answers.
pub trait Frontend {
    /// The next line of a command that takes several lines; `None` at the end of the input.
    fn more(&mut self, prompt: &str, out: &mut dyn Write) -> io::Result<Option<Result<String, BadLine>>>;
    /// The answer to a yes-or-no question; `None` if questions cannot be asked.
    fn confirm(&mut self, question: &str, out: &mut dyn Write) -> io::Result<Option<bool>>;
    /// The check for Ctrl-C while the kernel runs.
    fn interrupt(&mut self) -> Box<dyn InterruptCheck>;
    /// Changes or saves the layout of the screen; returns the message for the user.
    fn layout(&mut self, _: &LayoutRequest) -> Result<String, CommandError> {
        Err(no_screen())
    }
}

/// The error of a layout command without a screen.
pub fn no_screen() -> CommandError {
    CommandError::new("there is no screen here").with_help("ptxdbg opens it on a terminal, where neither --plain nor --batch is given")
}

/// The control flow after a line.
pub enum Flow {
    /// Continue with the next line.
    Continue,
    /// The line failed.
    Failed(Failed),
    /// Ctrl-C was pressed while a script was executed: the rest of it is skipped.
    Interrupted,
    /// The session ends.
    Quit,
}

/// A line that failed.
pub struct Failed {
    /// The line.
    pub line: String,
    /// The error.
    pub error: CommandError,
    /// File and line, if the line is in a script.
    pub place: Option<String>,
}

impl Console {
    /// A console for a session; with `yes`, questions are answered with yes.
    pub fn new(session: Session, yes: bool) -> Self {
        Self {
            session: Arc::new(Mutex::new(session)),
            state: CommandState::default(),
            yes,
            failing: Severity::Error,
            has_failed: false,
            depth: 0,
            tour: None,
        }
    }

    /// Begins a tour; returns its introduction and its first step.
    pub fn begin_tour(&mut self, story: &'static Story) -> String {
        self.tour.insert(Tour::new(story)).welcome()
    }

    /// Shows the tour, or goes on with it.
    fn guide(&mut self, request: TourRequest) -> Result<String, CommandError> {
        let none = || CommandError::new("there is no tour").with_help("ptxdbg --tour begins one, with a kernel of its own");
        let tour = match (&mut self.tour, request) {
            // A session has one kernel for all its time, so another tour begins another session.
            (tour, TourRequest::Begin(name)) if tour.as_ref().is_none_or(|tour| tour.name() != name) => {
                let message =
                    format!("the tour '{name}' has a kernel of its own, and a session has one: 'quit', then {}", tour::start(name));
                return Err(CommandError::new(message));
            }
            (tour, _) => tour.as_mut().ok_or_else(none)?,
        };
        Ok(match request {
            TourRequest::Show => tour.step(),
            TourRequest::Next => tour.skip(),
            TourRequest::Leave => tour.show(false),
            TourRequest::Resume | TourRequest::Begin(_) => tour.show(true),
        })
    }

    /// The session.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        locked(&self.session)
    }

    /// The session, for another thread that reads it while a question is asked.
    pub fn shared(&self) -> Arc<Mutex<Session>> {
        Arc::clone(&self.session)
    }

    /// The command that an empty line repeats.
    pub fn repeated(&self) -> Option<&str> {
        self.state.again.as_deref()
    }

    /// Executes a line, and the commands of the breakpoints at which it stops.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn line(&mut self, line: &str, frontend: &mut dyn Frontend, out: &mut dyn Output) -> io::Result<Flow> {
        let mut pending = VecDeque::from([Pending::typed(line)]);
        let mut expansions = 0;
        while let Some(Pending { line, .. }) = pending.pop_front() {
            if is_blank_or_comment(&line) {
                continue;
            }
            let written = self.session().printed();
            let commands = self.breakpoint_commands();
            let executed = self.execute_confirmed(&line, frontend, out)?;
            out.follow_settings(&self.session().settings)?;
            let outcome = match executed {
                Ok(outcome) => outcome,
                Err(error) => return Ok(Flow::Failed(Failed { line, error, place: None })),
            };
            match outcome {
                Outcome::Quit => return Ok(Flow::Quit),
                Outcome::Stop(stop) => {
                    let is_silent = enqueue(&stop, commands, &mut pending);
                    out.printed(&self.session().printed_since(written))?;
                    out.stopped(&stop);
                    self.write_stop(&stop, is_silent, out)?;
                }
                Outcome::Collect(collected) => match collect(&mut pending, frontend, out)? {
                    Ok(lines) => self.keep(collected, lines),
                    Err(bad) => return Ok(Flow::Failed(bad.into())),
                },
                Outcome::Lines(lines) => {
                    expansions += 1;
                    if expansions > EXPANSIONS_MAX {
                        let error = CommandError::new(format!("commands of 'define' execute each other more than {EXPANSIONS_MAX} times"));
                        return Ok(Flow::Failed(Failed { line, error, place: None }));
                    }
                    lines.iter().rev().for_each(|line| pending.push_front(Pending::typed(line)));
                }
                Outcome::Shell(command) => {
                    if let Err(error) = self.shell(&command, frontend, out)? {
                        return Ok(Flow::Failed(Failed { line, error, place: None }));
                    }
                }
                Outcome::Layout(request) => match frontend.layout(&request) {
                    Ok(text) => out.write_all(text.as_bytes())?,
                    Err(error) => return Ok(Flow::Failed(Failed { line, error, place: None })),
                },
                Outcome::Tour(request) => match self.guide(request) {
                    Ok(text) => out.write_all(text.as_bytes())?,
                    Err(error) => return Ok(Flow::Failed(Failed { line, error, place: None })),
                },
                Outcome::Source(path) => match self.source(&path, frontend, out)? {
                    Flow::Continue => {}
                    other => return Ok(other),
                },
                Outcome::Printed(bytes) => out.printed(&bytes)?,
                Outcome::Explored(explored) => {
                    self.has_failed |= explored.is_wrong(self.failing);
                    out.write_all(text::explored(&explored).as_bytes())?;
                    out.answered(&Outcome::Explored(explored));
                }
                said => {
                    out.answered(&said);
                    out.write_all(text::outcome(&said).as_bytes())?;
                }
            }
        }
        if let Some(next) = self.tour.as_mut().and_then(|tour| tour.typed(line)) {
            out.write_all(next.as_bytes())?;
        }
        Ok(Flow::Continue)
    }

    /// Runs a command of the shell and writes what it writes.
    fn shell(&mut self, command: &str, frontend: &mut dyn Frontend, out: &mut dyn Output) -> io::Result<Result<(), CommandError>> {
        let mut interrupt = frontend.interrupt();
        let ran = shell::run(command, &mut || interrupt.should_continue(&self.session()), &mut |bytes| out.printed(bytes))?;
        Ok(ran.map_err(CommandError::new))
    }

    /// Executes a line; if it asks a question, asks the front end and executes it again with the answer.
    fn execute_confirmed(
        &mut self,
        line: &str,
        frontend: &mut dyn Frontend,
        out: &mut dyn Write,
    ) -> io::Result<Result<Outcome, CommandError>> {
        let question = match self.execute(line, frontend, self.yes) {
            Ok(Outcome::Ask(question)) => question,
            done => return Ok(done),
        };
        match frontend.confirm(&question, out)? {
            Some(true) => Ok(self.execute(line, frontend, true)),
            Some(false) => Ok(Ok(Outcome::Nothing)),
            None => {
                Ok(Err(CommandError::new(question)
                    .with_help("a script may do that with --yes on the command line, or after 'set confirm off'")))
            }
        }
    }

    fn execute(&mut self, line: &str, frontend: &mut dyn Frontend, confirmed: bool) -> Result<Outcome, CommandError> {
        let mut interrupt = frontend.interrupt();
        let mut session = locked(&self.session);
        #[cfg(debug_assertions)]
        provoke::end_at(line);
        execute(line, &mut Context { session: &mut session, state: &mut self.state, interrupt: &mut *interrupt, confirmed })
    }

    /// Writes a stop and the displays, unless its commands begin with `silent`.
    fn write_stop(&mut self, stop: &Stop, silent: bool, out: &mut dyn Write) -> io::Result<()> {
        let failing = self.failing;
        let is_error = |finding: &FindingText| finding.severity >= failing;
        self.has_failed |=
            stop.reasons.iter().any(|reason| matches!(reason, Reason::Fault(_))) || self.session().findings().iter().any(is_error);
        if silent {
            return Ok(());
        }
        let is_over = stop.reasons.iter().any(|reason| matches!(reason, Reason::Ended));
        let displays = if is_over { String::new() } else { text::displays(&stop.displays) };
        let text = text::stop(stop) + &displays;
        out.write_all(text.as_bytes())
    }

    /// The commands of each breakpoint that has some, copied before a run, because a temporary breakpoint is deleted when it stops.
    fn breakpoint_commands(&self) -> Vec<(u32, Vec<String>)> {
        let session = self.session();
        let breakpoints = session.breakpoints.iter().filter(|breakpoint| !breakpoint.commands.is_empty());
        breakpoints.map(|breakpoint| (breakpoint.number, breakpoint.commands.clone())).collect()
    }

    /// Keeps lines as what they were collected for; deleted breakpoints are skipped.
    fn keep(&mut self, collected: Collected, lines: Vec<String>) {
        match collected {
            Collected::Breakpoints(numbers) => {
                let mut session = self.session();
                for number in numbers {
                    if let Ok(breakpoint) = session.breakpoints.get_mut(number) {
                        breakpoint.commands = lines.clone();
                    }
                }
            }
            Collected::Command(name) => self.state.user.define(&name, lines),
            Collected::Help(name) => self.state.user.document(&name, lines),
        }
    }

    /// Executes the commands of a file.
    fn source(&mut self, path: &Path, frontend: &mut dyn Frontend, out: &mut dyn Output) -> io::Result<Flow> {
        if self.depth == SOURCE_DEPTH_MAX {
            let error = CommandError::new(format!("{}: scripts execute each other more than {SOURCE_DEPTH_MAX} deep", path.display()));
            return Ok(Flow::Failed(Failed { line: String::new(), error, place: None }));
        }
        let mut script = match Script::read(path) {
            Ok(script) => script.silently(),
            Err(message) => return Ok(Flow::Failed(Failed { line: String::new(), error: CommandError::new(message), place: None })),
        };
        self.depth += 1;
        let flow = self.script(&mut script, Some(frontend), out);
        self.depth -= 1;
        flow
    }

    /// Executes the lines of a script, up to the first that fails. Questions go to `asked`, if there is one.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn script(&mut self, script: &mut Script, mut asked: Option<&mut dyn Frontend>, out: &mut dyn Output) -> io::Result<Flow> {
        while let Some(line) = script.next_line() {
            let line = match line {
                Ok(line) => line,
                Err(bad) => {
                    script.echo(PROMPT, &bad.line, out)?;
                    return Ok(Flow::Failed(bad.into()));
                }
            };
            script.echo(PROMPT, &line, out)?;
            let asked = asked.as_mut().map(|frontend| &mut **frontend as &mut dyn Frontend);
            match self.line(&line, &mut ScriptFrontend { script, asked }, out)? {
                Flow::Continue if interrupt::pressed() => return Ok(Flow::Interrupted),
                Flow::Continue => {}
                Flow::Failed(failed) => return Ok(Flow::Failed(Failed { place: failed.place.or(script.place()), ..failed })),
                flow @ (Flow::Interrupted | Flow::Quit) => return Ok(flow),
            }
        }
        Ok(Flow::Continue)
    }
}

/// Puts the commands of the breakpoints at which a run stopped before the pending lines; true if they begin with `silent`. A stop ends
/// the commands of the breakpoint before; those of a command of the user go on.
fn enqueue(stop: &Stop, commands: Vec<(u32, Vec<String>)>, pending: &mut VecDeque<Pending>) -> bool {
    let numbers: Vec<u32> = stop.reasons.iter().filter_map(Reason::number).collect();
    let due: Vec<String> = commands.into_iter().filter(|(number, _)| numbers.contains(number)).flat_map(|(_, lines)| lines).collect();
    let is_silent = due.iter().any(|line| line == "silent");
    pending.retain(|pending| !pending.is_of_breakpoint);
    due.into_iter().filter(|line| line != "silent").rev().for_each(|line| pending.push_front(Pending::of_breakpoint(line)));
    is_silent
}

/// Waits for the session and locks it.
pub fn locked(session: &Mutex<Session>) -> MutexGuard<'_, Session> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<BadLine> for Failed {
    fn from(bad: BadLine) -> Self {
        Self { line: bad.line, error: bad.error, place: bad.place }
    }
}

/// Reads lines up to the matching `end`, from the pending commands or else from the front end. Lines after one that is not UTF-8 are read,
/// too.
fn collect(pending: &mut VecDeque<Pending>, frontend: &mut dyn Frontend, out: &mut dyn Write) -> io::Result<Result<Vec<String>, BadLine>> {
    let mut lines = Vec::new();
    let (mut depth, mut first_bad) = (0, None);
    loop {
        let next = pending.pop_front().map_or_else(|| frontend.more(">", out), |pending| Ok(Some(Ok(pending.line))))?;
        let line = match next {
            None => {
                let error = CommandError::new("the lines are over before their 'end': none of them is kept");
                let line = lines.pop().unwrap_or_default();
                return Ok(Err(first_bad.unwrap_or(BadLine { line, error, place: None })));
            }
            Some(Ok(line)) => line.trim().to_string(),
            Some(Err(bad)) => {
                first_bad.get_or_insert(bad);
                continue;
            }
        };
        match line.split_whitespace().next() {
            Some("end") if depth == 0 => return Ok(first_bad.map_or(Ok(lines), Err)),
            Some("end") => depth -= 1,
            Some("commands" | "define" | "document") => depth += 1,
            _ => {}
        }
        lines.push(line);
    }
}
