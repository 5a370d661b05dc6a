//! A session whose answers are text.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use crate::debug::resume::Execution;
use crate::debug::session::{self, InterruptCheck, NeverInterrupt};
use crate::debug::value::Tensor;
use crate::ui::bad_line::BadLine;
use crate::ui::console::{Console, Flow, Frontend};
use crate::ui::text;

/// A session with the text interface of the prompt, without a terminal: command lines in, text out.
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
/// // A command of several lines is passed as a whole.
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
    /// Keeps the folder of the files that the session reads.
    _folder: Option<Arc<TempDir>>,
}

/// The error of commands after `quit`.
const ENDED: &str = "the session has ended: 'quit' was executed";

/// The reason why a line was not executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PromptError {
    /// The mistake and its fix, as the prompt prints them: some lines, without the last line feed.
    pub message: String,
    /// The answers of the lines before it.
    pub answered: String,
}

/// Interrupts a command of a [`Prompt`], from any thread.
#[derive(Clone, Debug)]
pub struct Interrupter(Arc<AtomicBool>);

impl Interrupter {
    /// Stops the run of the current command, as Ctrl-C does, and the lines after it are not executed; if there is none, that of the
    /// next command.
    pub fn interrupt(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Prompt {
    pub(super) fn new(engine: session::Session, folder: Option<Arc<TempDir>>) -> Self {
        let console = Console::new(engine, false);
        Self { console, interrupted: Arc::default(), was_interrupted: false, has_ended: false, _folder: folder }
    }

    /// The tensor that a statement of a Triton program gives the variable `name`. The session goes through the run for it.
    ///
    /// # Errors
    /// In words: there is no such variable or statement, or it is not executed that often.
    pub fn tensor(&mut self, name: &str, execution: Execution) -> Result<Tensor, String> {
        self.console.session().tensor_given(name, execution, &mut NeverInterrupt)
    }

    /// A handle that interrupts commands.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::clone(&self.interrupted))
    }

    /// Executes command lines, one after the other, and answers as the prompt does. A command that needs confirmation, such as to drop
    /// recorded history, is an error: `set confirm off` executes it. Lines after `quit` are not executed.
    ///
    /// # Errors
    /// A line cannot be executed, and those after it are not; or `quit` was executed by an earlier call.
    pub fn execute(&mut self, lines: &str) -> Result<String, PromptError> {
        self.execute_until(lines, || false)
    }

    /// [`Self::execute`], until `interrupt`, which is called regularly while a kernel runs, returns true.
    ///
    /// # Errors
    /// As of [`Self::execute`].
    pub fn execute_until(&mut self, lines: &str, interrupt: fn() -> bool) -> Result<String, PromptError> {
        let interrupted = UntilInterrupted { interrupted: Arc::clone(&self.interrupted), interrupt };
        let mut lines = Lines { rest: lines.lines().map(str::to_string).collect(), interrupted };
        self.was_interrupted = false;
        if self.has_ended {
            return Err(PromptError { message: ENDED.to_string(), answered: String::new() });
        }
        let mut out: Vec<u8> = Vec::new();
        while let Some(line) = lines.rest.pop_front().filter(|_| !self.has_ended) {
            // Writing to memory does not fail.
            let flow = self.console.line(&line, &mut lines, &mut out).unwrap_or(Flow::Continue);
            self.was_interrupted = self.interrupted.swap(false, Ordering::Relaxed);
            match flow {
                Flow::Continue if self.was_interrupted => break,
                Flow::Continue => {}
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

    /// True if the last call of [`Self::execute`] was interrupted.
    pub fn was_interrupted(&self) -> bool {
        self.was_interrupted
    }

    /// True if a run has found a mistake of the kernel.
    pub fn is_wrong(&self) -> bool {
        self.console.has_failed
    }

    /// True after `quit` was executed.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// The lines to execute; a command of several lines consumes some.
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

/// Runs until [`Interrupter::interrupt`] is called, or a function returns true.
#[derive(Clone)]
struct UntilInterrupted {
    interrupted: Arc<AtomicBool>,
    interrupt: fn() -> bool,
}

impl InterruptCheck for UntilInterrupted {
    fn should_continue(&mut self, _: &session::Session) -> bool {
        if (self.interrupt)() {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        !self.interrupted.load(Ordering::Relaxed)
    }
}
