//! Commands from files, from the command line and from standard input, executed without a prompt. Each is written before its answer,
//! so that what is written reads as a session.

use std::io::{self, Write};

use super::console::Front;
use crate::debug::session::{Pace, Unhurried};

/// Lines to execute, and where they come from.
pub struct Script {
    name: String,
    lines: Vec<String>,
    /// Lines given out.
    at: usize,
    /// Whether lines are written before their answers.
    echo: bool,
}

impl Script {
    /// The lines of `text`; `name` is how messages call where they come from.
    pub fn new(name: impl Into<String>, text: &str) -> Self {
        Self { name: name.into(), lines: text.lines().map(str::to_string).collect(), at: 0, echo: true }
    }

    /// Its lines are not written.
    pub fn silently(self) -> Self {
        Self { echo: false, ..self }
    }

    /// The next line.
    pub fn next_line(&mut self) -> Option<String> {
        let line = self.lines.get(self.at)?.clone();
        self.at += 1;
        Some(line)
    }

    /// Where the line stands that was given out last: `setup.ptxdbg:3`.
    pub fn place(&self) -> String {
        format!("{}:{}", self.name, self.at)
    }

    /// Writes a line as if it had been typed at a prompt.
    pub fn echo(&self, prompt: &str, line: &str, out: &mut dyn Write) -> io::Result<()> {
        if self.echo { writeln!(out, "{prompt}{line}") } else { Ok(()) }
    }
}

/// A script, and who started it.
pub struct Reading<'a> {
    /// The script.
    pub script: &'a mut Script,
    /// Whom to ask; none if there is nobody.
    pub asked: Option<&'a mut dyn Front>,
}

impl Front for Reading<'_> {
    fn more(&mut self, prompt: &str, out: &mut dyn Write) -> io::Result<Option<String>> {
        let line = self.script.next_line();
        if let Some(line) = &line {
            self.script.echo(prompt, line, out)?;
        }
        Ok(line)
    }

    fn confirm(&mut self, question: &str, out: &mut dyn Write) -> io::Result<Option<bool>> {
        self.asked.as_mut().map_or(Ok(None), |asked| asked.confirm(question, out))
    }

    fn pace(&mut self) -> Box<dyn Pace> {
        match &mut self.asked {
            Some(asked) => asked.pace(),
            None => Box::new(Unhurried),
        }
    }
}
