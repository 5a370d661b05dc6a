//! Commands from files, from the command line and from standard input, executed without a prompt. Each is written before its answer,
//! so that what is written reads as a session.

use std::io::{self, BufRead, Write};
use std::path::Path;

use super::bad_line::{BadLine, text_of};
use super::console::{Frontend, no_screen};
use super::interrupt::UntilInterrupted;
use crate::base::read_bounded;
use crate::command::{CommandError, LayoutRequest};
use crate::debug::session::InterruptCheck;

/// Bytes of a file of commands at most.
const BYTES_MAX: u64 = 64 << 20;

/// Lines to execute, and where they come from.
pub struct Script {
    name: String,
    lines: Box<dyn Iterator<Item = Result<String, BadLine>>>,
    /// Lines given out.
    at: usize,
    /// Whether lines are written before their answers.
    echo: bool,
    /// Whether it goes on after a line that could not be done.
    keeps_on: bool,
}

impl Script {
    /// The lines of `text`; `name` is how messages call where they come from.
    pub fn new(name: impl Into<String>, text: &str) -> Self {
        let lines: Vec<_> = text.lines().map(|line| Ok(line.to_string())).collect();
        Self { name: name.into(), lines: Box::new(lines.into_iter()), at: 0, echo: true, keeps_on: false }
    }

    /// The lines of a file.
    ///
    /// # Errors
    /// It cannot be read, in one line.
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

    /// The lines of standard input, as they come; nothing if there is not even one. As at a prompt, a line that cannot be done does not
    /// keep the next from being done.
    pub fn standard_input() -> Option<Self> {
        let mut is_over = false;
        let mut lines = io::stdin().lock().split(b'\n').map_while(move |line| {
            let line = line.map_err(|error| BadLine::unreadable(&error));
            // What cannot be read once cannot be read again.
            (!std::mem::replace(&mut is_over, line.is_err())).then(|| line.and_then(|line| text_of(without_return(line))))
        });
        let first = lines.next()?;
        let lines = Box::new(std::iter::once(first).chain(lines));
        Some(Self { name: "standard input".to_string(), lines, at: 0, echo: true, keeps_on: true })
    }

    /// Its lines are not written.
    pub fn silently(self) -> Self {
        Self { echo: false, ..self }
    }

    /// Whether it goes on after a line that could not be done.
    pub fn keeps_on(&self) -> bool {
        self.keeps_on
    }

    /// The next line, or why it is none.
    pub fn next_line(&mut self) -> Option<Result<String, BadLine>> {
        let line = self.lines.next()?;
        self.at += 1;
        Some(line.map_err(|bad| BadLine { place: Some(self.exact_place()), ..bad }))
    }

    /// Where the line stands that was given out last, `setup.ptxdbg:3`; none if it was just typed.
    pub fn place(&self) -> Option<String> {
        (!self.keeps_on).then(|| self.exact_place())
    }

    /// The same of typed lines too: `standard input:3`.
    fn exact_place(&self) -> String {
        format!("{}:{}", self.name, self.at)
    }

    /// Writes a line as if it had been typed at a prompt.
    pub fn echo(&self, prompt: &str, line: &str, out: &mut dyn Write) -> io::Result<()> {
        if self.echo { writeln!(out, "{prompt}{line}") } else { Ok(()) }
    }
}

/// A line without the carriage return that some editors put before a line feed.
fn without_return(mut line: Vec<u8>) -> Vec<u8> {
    line.pop_if(|byte| *byte == b'\r');
    line
}

/// A script, and where its questions go.
pub struct Reading<'a> {
    /// The script.
    pub script: &'a mut Script,
    /// Where questions go; none if they cannot be asked.
    pub asked: Option<&'a mut dyn Frontend>,
}

impl Frontend for Reading<'_> {
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
