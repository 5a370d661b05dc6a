//! Sessions of the debugger, line by line.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ptxdbg::api::{InterruptCheck, Session};
use ptxdbg::debug::session;
use ptxdbg::ui::bad_line::BadLine;
use ptxdbg::ui::console::{Console, Flow, Frontend};
use ptxdbg::ui::text;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::PtxdbgError;
use crate::run::is_interrupted;

/// A session of the debugger: it takes the commands that its prompt takes, and answers with the text that the prompt shows.
#[pyclass(name = "Session", frozen, module = "ptxdbg")]
pub struct PySession {
    console: Mutex<Console>,
}

impl PySession {
    /// About a session, before its first command.
    pub fn of(session: Session) -> Self {
        Self { console: Mutex::new(Console::new(session.into_engine(), true)) }
    }
}

/// Whether Ctrl-C was pressed while a command was executed.
#[derive(Default)]
struct Interrupted(Arc<AtomicBool>);

impl InterruptCheck for Interrupted {
    fn should_continue(&mut self, _: &session::Session) -> bool {
        let pressed = is_interrupted();
        self.0.fetch_or(pressed, Ordering::Relaxed);
        !pressed
    }
}

/// Where one line comes from, and those that belong to it.
struct Lines<'a> {
    more: std::str::Lines<'a>,
    interrupted: Arc<AtomicBool>,
}

impl Frontend for Lines<'_> {
    fn more(&mut self, _: &str, _: &mut dyn Write) -> std::io::Result<Option<Result<String, BadLine>>> {
        Ok(self.more.next().map(|line| Ok(line.to_string())))
    }

    fn confirm(&mut self, _: &str, _: &mut dyn Write) -> std::io::Result<Option<bool>> {
        Ok(Some(true))
    }

    fn interrupt(&mut self) -> Box<dyn InterruptCheck> {
        Box::new(Interrupted(self.interrupted.clone()))
    }
}

#[pymethods]
impl PySession {
    /// Executes a command, and returns what the prompt shows. Of several lines each is executed, and a block of commands takes those up to
    /// its `end`.
    fn execute(&self, py: Python<'_>, command: &str) -> PyResult<String> {
        py.detach(|| {
            let mut console = self.console.lock().unwrap_or_else(PoisonError::into_inner);
            let (mut out, interrupted) = (Vec::new(), Arc::default());
            let mut lines = Lines { more: command.lines(), interrupted: Arc::clone(&interrupted) };
            while let Some(line) = lines.more.next() {
                let flow = console.line(line, &mut lines, &mut out).map_err(|error| PtxdbgError::new_err(error.to_string()))?;
                if interrupted.load(Ordering::Relaxed) {
                    return Err(PyKeyboardInterrupt::new_err(()));
                }
                match flow {
                    Flow::On => {}
                    Flow::Failed(failed) => return Err(PtxdbgError::new_err(text::failed(&failed, false).trim_end().to_string())),
                    Flow::Interrupted | Flow::Quit => break,
                }
            }
            Ok(String::from_utf8_lossy(&out).into_owned())
        })
    }

    fn __repr__(&self) -> String {
        "<ptxdbg.Session>".to_string()
    }
}
