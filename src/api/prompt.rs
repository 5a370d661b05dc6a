//! A session whose answers are text.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use crate::debug::Interrupt;
use crate::debug::session::{self, InterruptCheck};
use crate::ui::bad_line::BadLine;
use crate::ui::console::{Console, Flow, Frontend};
use crate::ui::text;

/// A session as the prompt has it, without a terminal: command lines in, text out.
///
/// ```
/// use ptxdbg::api::{Launch, Module, RunOptions};
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
/// let mut prompt = Launch::new().grid([1, 1, 1]).block([32, 1, 1]).plan(&module)?.prompt(0, &RunOptions::default())?;
/// prompt.execute("break 9")?;
/// assert!(prompt.execute("run")?.starts_with("breakpoint 1\n"));
/// assert_eq!(prompt.execute("print %r2")?, "%r2 = 0\n");
/// // What takes several lines is given all of them.
/// prompt.execute("commands 1\necho seen\nend")?;
/// assert!(prompt.execute("goto start\nrun")?.ends_with("seen\n"));
/// assert!(prompt.execute("print %nothing").unwrap_err().to_string().contains("'%nothing'"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Prompt {
    console: Console,
    interrupted: Arc<AtomicBool>,
    was_interrupted: bool,
    has_ended: bool,
    /// Holds the files that the session reads.
    _folder: Option<Arc<TempDir>>,
}

/// Why a line was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PromptError {
    /// What is wrong and what would be right, as the prompt prints it: some lines, without the last line feed.
    pub message: String,
    /// What was answered before that.
    pub answered: String,
}

/// Ends what a [`Prompt`] does, from any thread.
#[derive(Clone, Debug)]
pub struct Interrupter(Arc<AtomicBool>);

impl Interrupter {
    /// Stops the run of the command that is being executed where it is, as Ctrl-C does, and the lines after it are not executed; without
    /// one, that of the next command.
    pub fn interrupt(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Prompt {
    pub(super) fn new(engine: session::Session, folder: Option<Arc<TempDir>>) -> Self {
        let console = Console::new(engine, false);
        Self { console, interrupted: Arc::default(), was_interrupted: false, has_ended: false, _folder: folder }
    }

    /// What ends a command that takes long.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::clone(&self.interrupted))
    }

    /// Executes command lines, one after the other, and answers as the prompt does. A question, such as whether recorded history may be
    /// dropped, cannot be asked and is an error: `set confirm off` has such commands done. What follows `quit` is not executed, here and
    /// in later calls.
    ///
    /// # Errors
    /// A line cannot be done; those after it are not.
    pub fn execute(&mut self, lines: &str) -> Result<String, PromptError> {
        self.execute_until(lines, || false)
    }

    /// The same, which `interrupt` stops as [`Interrupter::interrupt`] does: it is asked now and then while a kernel runs.
    ///
    /// # Errors
    /// As of [`Self::execute`].
    pub fn execute_until(&mut self, lines: &str, interrupt: Interrupt) -> Result<String, PromptError> {
        let interrupted = UntilInterrupted { interrupted: Arc::clone(&self.interrupted), interrupt };
        let mut lines = Lines { rest: lines.lines().map(str::to_string).collect(), interrupted };
        self.was_interrupted = false;
        let mut out: Vec<u8> = Vec::new();
        while let Some(line) = lines.rest.pop_front().filter(|_| !self.has_ended) {
            // Memory takes all that is written.
            let flow = self.console.line(&line, &mut lines, &mut out).unwrap_or(Flow::On);
            self.was_interrupted = self.interrupted.swap(false, Ordering::Relaxed);
            match flow {
                Flow::On if self.was_interrupted => break,
                Flow::On => {}
                Flow::Quit => self.has_ended = true,
                Flow::Interrupted => break,
                Flow::Failed(failed) => {
                    let message = text::failed(&failed, false).trim_end().to_string();
                    return Err(PromptError { message, answered: String::from_utf8_lossy(&out).into_owned() });
                }
            }
        }
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// Whether the last lines that were executed were stopped.
    pub fn was_interrupted(&self) -> bool {
        self.was_interrupted
    }

    /// Whether the kernel was seen to do something wrong.
    pub fn is_wrong(&self) -> bool {
        self.console.wrong
    }

    /// Whether `quit` was executed.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// Lines that are executed, of which a command may take some.
struct Lines {
    rest: VecDeque<String>,
    interrupted: UntilInterrupted,
}

impl Frontend for Lines {
    fn more(&mut self, _: &str, _: &mut dyn Write) -> io::Result<Option<Result<String, BadLine>>> {
        Ok(self.rest.pop_front().map(Ok))
    }

    fn confirm(&mut self, _: &str, _: &mut dyn Write) -> io::Result<Option<bool>> {
        Ok(None)
    }

    fn interrupt(&mut self) -> Box<dyn InterruptCheck> {
        Box::new(self.interrupted.clone())
    }
}

/// Runs until [`Interrupter::interrupt`] is called, or a function says so.
#[derive(Clone)]
struct UntilInterrupted {
    interrupted: Arc<AtomicBool>,
    interrupt: Interrupt,
}

impl InterruptCheck for UntilInterrupted {
    fn should_continue(&mut self, _: &session::Session) -> bool {
        if (self.interrupt)() {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        !self.interrupted.load(Ordering::Relaxed)
    }
}
