//! Scripts: commands from files, from the command line and from standard input, executed without a prompt. Each line is echoed before its
//! output, so that the output reads like a session.

use std::io::{self, BufRead, Write};
use std::path::Path;

use super::bad_line::{BadLine, text_of};
use super::console::{Frontend, no_screen};
use super::interrupt::UntilInterrupted;
use crate::base::read_bounded;
use crate::command::{CommandError, LayoutRequest, is_blank_or_comment};
use crate::debug::session::InterruptCheck;

/// The maximum size of a file of commands, in bytes.
const BYTES_MAX: u64 = 64 << 20;

/// Lines to execute.
pub struct Script {
    /// The name of the source in messages.
    name: String,
    lines: Box<dyn Iterator<Item = Result<String, BadLine>>>,
    /// The number of lines that have been read.
    at: usize,
    /// True if lines are written before their output.
    echo: bool,
    /// True if execution continues after a line that failed.
    continues_on_error: bool,
}

impl Script {
    /// The lines of `text`; `name` is the name of the source in messages.
    pub fn new(name: impl Into<String>, text: &str) -> Self {
        let lines: Vec<_> = text.lines().map(|line| Ok(line.to_string())).collect();
        Self { name: name.into(), lines: Box::new(lines.into_iter()), at: 0, echo: true, continues_on_error: false }
    }

    /// The lines of a file.
    ///
    /// # Errors
    /// It cannot be read: a message of one line.
    pub fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let bytes = read_bounded(path, BYTES_MAX).map_err(|error| format!("{name}: {error}"))?;
        let bytes = bytes.ok_or_else(|| format!("{name} has more than {BYTES_MAX} bytes, the most that a file of commands may have"))?;
        let line = |(index, bytes): (usize, &[u8])| {
            text_of(bytes.to_vec()).map_err(|bad| {
                let column = bad.error.column(&bad.line).unwrap_or(1);
                format!("{name}:{}:{column}: {}", index + 1, bad.error.message)
            })
        };
        let lines = bytes.split(|byte| *byte == b'\n').enumerate().map(line).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::new(name.to_string(), &lines.join("\n")))
    }

    /// The lines of standard input, read one by one; `None` if it is empty. As at a prompt, execution continues after a line that failed.
    pub fn standard_input() -> Option<Self> {
        let mut is_over = false;
        let mut lines = io::stdin().lock().split(b'\n').map_while(move |line| {
            let line = line.map_err(|error| BadLine::unreadable(&error));
            // Nothing is read after a read error.
            (!std::mem::replace(&mut is_over, line.is_err())).then(|| line.and_then(|line| text_of(without_return(line))))
        });
        let first = lines.next()?;
        let lines = Box::new(std::iter::once(first).chain(lines));
        Some(Self { name: "standard input".to_string(), lines, at: 0, echo: true, continues_on_error: true })
    }

    /// The script without echo.
    pub fn silently(self) -> Self {
        Self { echo: false, ..self }
    }

    /// True if execution continues after a line that failed.
    pub fn continues_on_error(&self) -> bool {
        self.continues_on_error
    }

    /// The number of commands that have not been read; none of standard input, which is not read to its end.
    pub fn commands_left(self) -> usize {
        if self.continues_on_error {
            return 0;
        }
        self.lines.filter(|line| line.as_ref().is_ok_and(|line| !is_blank_or_comment(line))).count()
    }

    /// The next line.
    pub fn next_line(&mut self) -> Option<Result<String, BadLine>> {
        let line = self.lines.next()?;
        self.at += 1;
        Some(line.map_err(|bad| BadLine { place: Some(self.numbered_place()), ..bad }))
    }

    /// File and line of the line that was read last, `setup.ptxdbg:3`; `None` for standard input.
    pub fn place(&self) -> Option<String> {
        (!self.continues_on_error).then(|| self.numbered_place())
    }

    /// As [`Self::place`], but also for standard input: `standard input:3`.
    fn numbered_place(&self) -> String {
        format!("{}:{}", self.name, self.at)
    }

    /// Writes a line after the prompt, unless echo is off.
    pub fn echo(&self, prompt: &str, line: &str, out: &mut dyn Write) -> io::Result<()> {
        if self.echo { writeln!(out, "{prompt}{line}") } else { Ok(()) }
    }
}

/// A line without the carriage return at its end, if it has one.
fn without_return(mut line: Vec<u8>) -> Vec<u8> {
    line.pop_if(|byte| *byte == b'\r');
    line
}

/// The front end of a script that is being executed.
pub struct ScriptFrontend<'a> {
    /// The script.
    pub script: &'a mut Script,
    /// The front end that is asked questions; `None` if they cannot be asked.
    pub asked: Option<&'a mut dyn Frontend>,
}

impl Frontend for ScriptFrontend<'_> {
    fn more(&mut self, prompt: &str, out: &mut dyn Write) -> io::Result<Option<Result<String, BadLine>>> {
        let line = self.script.next_line();
        if let Some(Ok(line) | Err(BadLine { line, .. })) = &line {
            self.script.echo(prompt, line, out)?;
        }
        Ok(line)
    }

    fn confirm(&mut self, question: &str, out: &mut dyn Write) -> io::Result<Option<bool>> {
        self.asked.as_mut().map_or(Ok(None), |asked| asked.confirm(question, out))
    }

    fn interrupt(&mut self) -> Box<dyn InterruptCheck> {
        match &mut self.asked {
            Some(asked) => asked.interrupt(),
            None => Box::new(UntilInterrupted),
        }
    }

    fn layout(&mut self, request: &LayoutRequest) -> Result<String, CommandError> {
        match &mut self.asked {
            Some(asked) => asked.layout(request),
            None => Err(no_screen()),
        }
    }
}
