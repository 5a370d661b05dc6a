//! The line editor: history, completion, hints.

use std::borrow::Cow;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use rustyline::completion::{Completer, Pair, longest_common_prefix};
use rustyline::config::BellStyle;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{
    Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, ExternalPrinter, Helper,
    KeyEvent, RepeatCount,
};

use super::history::{HistoryFile, LINES_MAX};
use super::running::RunMonitor;
use crate::command::complete::{KnownNames, complete, hint};
use crate::debug::session::InterruptCheck;
use crate::ui::bad_line::{BadLine, text_of};
use crate::ui::console::Frontend;
use crate::ui::terminal_kind::supports_cursor_movement;
use crate::ui::tty::guard::{self, TerminalUse};
use crate::ui::tty::keyboard;
use crate::ui::visible::{control_picture, visible};
use crate::ui::{files, interrupt};

/// The instruction before the lines of a command that takes several.
pub const BLOCK: &str = "a command a line, up to one that says end";

/// Reads lines from a terminal.
pub struct LineEditor {
    editor: Editor<CommandHelper, MemHistory>,
    history: Option<HistoryFile>,
    /// Errors of the history file that have not been reported.
    complaints: Vec<String>,
    color: bool,
    /// True if the line is not part of a full screen.
    is_alone: bool,
    /// Lines of a command that takes several are being read.
    in_block: bool,
}

/// Callbacks of the line editor, for the screen that contains the line.
pub trait EditorHooks: Send + Sync {
    /// Called before the line is drawn; `typing` is false during a search of the history.
    fn before_drawing(&self, typing: bool);
    /// Called if there are several completions of `line`.
    fn offer(&self, line: &str, candidates: &[String]);
    /// Called when the line has changed to `line`.
    fn edited(&self, line: &str);
}

/// The result of reading a line at the prompt.
pub enum Line {
    /// A line.
    Typed(String),
    /// A line that is not valid UTF-8.
    NotText(BadLine),
    /// Ctrl-C: the line is discarded.
    Dropped,
    /// Ctrl-D: the end of the input.
    End,
}

/// How long the key after Escape may take to be one key with it, as Alt is: readline's time, and less where Escape is a key of the screen.
const ESCAPE_MS: u16 = 500;
const ESCAPE_ON_SCREEN_MS: u16 = 100;

impl LineEditor {
    /// An editor with the history of earlier sessions. With `hooks` it is part of a full screen.
    pub fn new(color: bool, hooks: Option<Arc<dyn EditorHooks>>) -> io::Result<Self> {
        let config = Config::builder()
            .max_history_size(LINES_MAX)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(io::Error::other)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .bell_style(if hooks.is_some() { BellStyle::None } else { BellStyle::Audible })
            // Escape alone is no beginning of a key: what is typed later is itself.
            .keyseq_timeout(Some(if hooks.is_some() { ESCAPE_ON_SCREEN_MS } else { ESCAPE_MS }))
            // The prompt is coloured by this module; without this mode, the hooks would not be called before drawing.
            .color_mode(ColorMode::Forced)
            .build();
        let lines = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, lines).map_err(io::Error::other)?;
        let is_alone = hooks.is_none();
        editor.set_helper(Some(CommandHelper { names: KnownNames::default(), color, hooks }));
        if is_alone {
            editor.bind_sequence(KeyEvent::ctrl('z'), EventHandler::Conditional(Box::new(Suspend)));
        }
        let (history, remembered) = files::history().map(HistoryFile::open).unzip();
        let remembered = remembered.unwrap_or_default();
        for line in &remembered.lines {
            editor.add_history_entry(line).map_err(io::Error::other)?;
        }
        interrupt::listen();
        Ok(Self { editor, history, complaints: remembered.complaint.into_iter().collect(), color, is_alone, in_block: false })
    }

    /// Errors of the history file that have not been reported.
    pub fn complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    /// Sets the names that are completed.
    pub fn set_names(&mut self, names: KnownNames) {
        self.in_block = false;
        if let Some(helper) = self.editor.helper_mut() {
            helper.names = names;
        }
    }

    /// True for the first line of a command that takes several; later calls return false.
    pub fn begins_block(&mut self) -> bool {
        !std::mem::replace(&mut self.in_block, true)
    }

    /// Reads a line and adds it to the history.
    pub fn line(&mut self, prompt: &str) -> io::Result<Line> {
        let line = self.read(prompt, ("", ""))?;
        if let Line::Typed(line) = &line {
            self.remember(line)?;
        }
        Ok(line)
    }

    /// Adds a line to the history and to its file.
    pub fn remember(&mut self, line: &str) -> io::Result<()> {
        let is_new = self.editor.add_history_entry(line).map_err(io::Error::other)?;
        if let Some(history) = self.history.as_mut().filter(|_| is_new) {
            self.complaints.extend(history.append(line));
        }
        Ok(())
    }

    /// Binds a key to `handler`.
    pub fn bind(&mut self, key: KeyEvent, handler: impl ConditionalEventHandler + 'static) {
        self.editor.bind_sequence(Event::KeySeq(vec![key]), EventHandler::Conditional(Box::new(handler)));
    }

    /// A printer for text above the line while it is read.
    pub fn printer(&mut self) -> io::Result<impl ExternalPrinter + Send + use<>> {
        self.editor.create_external_printer().map_err(io::Error::other)
    }

    /// Reads a line; `begun` is the initial text before and after the cursor.
    pub fn read(&mut self, prompt: &str, begun: (&str, &str)) -> io::Result<Line> {
        let prompt = &*visible(prompt);
        if !supports_cursor_movement() {
            return typed(prompt);
        }
        if self.is_alone {
            guard::set_use(TerminalUse::Line)?;
        }
        let line = self.edit(prompt, begun);
        if self.is_alone {
            guard::set_use(TerminalUse::Released)?;
        }
        line
    }

    fn edit(&mut self, prompt: &str, begun: (&str, &str)) -> io::Result<Line> {
        let styled = if self.color { format!("\x1b[1m{prompt}\x1b[0m") } else { prompt.to_string() };
        match self.editor.readline_with_initial(&(prompt, styled), begun) {
            Ok(line) => Ok(Line::of(keyboard::typed(line))),
            Err(ReadlineError::Interrupted) => Ok(Line::Dropped),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

impl Line {
    fn of(line: Result<String, BadLine>) -> Self {
        match line {
            Ok(line) => Self::Typed(line),
            Err(bad) => Self::NotText(bad),
        }
    }
}

/// Reads a line without editing.
fn typed(prompt: &str) -> io::Result<Line> {
    let mut out = io::stdout();
    write!(out, "{prompt}")?;
    out.flush()?;
    let mut line = Vec::new();
    let length = io::stdin().lock().read_until(b'\n', &mut line)?;
    line.truncate(line.trim_ascii_end().len());
    Ok(if length == 0 { Line::End } else { Line::of(text_of(line)) })
}

impl Frontend for LineEditor {
    fn more(&mut self, prompt: &str, out: &mut dyn io::Write) -> io::Result<Option<Result<String, BadLine>>> {
        if self.begins_block() {
            writeln!(out, "{BLOCK}")?;
        }
        match self.line(prompt)? {
            Line::Typed(line) => Ok(Some(Ok(line))),
            Line::NotText(bad) => Ok(Some(Err(bad))),
            Line::Dropped | Line::End => Ok(None),
        }
    }

    fn confirm(&mut self, question: &str, _: &mut dyn io::Write) -> io::Result<Option<bool>> {
        loop {
            match self.read(&format!("{question}; go on? (y or n) "), ("", ""))? {
                Line::Typed(answer) => match answer.trim() {
                    "y" | "yes" => return Ok(Some(true)),
                    "n" | "no" => return Ok(Some(false)),
                    _ => {}
                },
                Line::NotText(_) => {}
                Line::Dropped | Line::End => return Ok(Some(false)),
            }
        }
    }

    fn interrupt(&mut self) -> Box<dyn InterruptCheck> {
        Box::new(RunMonitor::new())
    }
}

/// The character that is drawn for a character of the line.
fn drawn(c: char) -> char {
    match c {
        '\n' => c,
        c if keyboard::is_byte(c) => char::REPLACEMENT_CHARACTER,
        c => control_picture(c),
    }
}

/// The handler of Ctrl-Z without a full screen.
struct Suspend;

impl ConditionalEventHandler for Suspend {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        // A write error is reported by the next write.
        let pasting = |sequence: &str| io::stdout().write_all(sequence.as_bytes()).and_then(|()| io::stdout().flush());
        let _ = pasting("\x1b[?2004l\r\n").and_then(|()| guard::suspend()).and_then(|()| pasting("\x1b[?2004h"));
        Some(Cmd::Repaint)
    }
}

/// Completion and hints, from the table of commands and the names of the session.
struct CommandHelper {
    names: KnownNames,
    color: bool,
    hooks: Option<Arc<dyn EditorHooks>>,
}

impl CommandHelper {
    /// Offers all completions of the text from `start`; their common prefix is inserted at once.
    fn offer(&self, line: &str, start: usize, hooks: &dyn EditorHooks, pairs: Vec<Pair>) -> Vec<Pair> {
        let word = line.get(start..).unwrap_or_default();
        let common = longest_common_prefix(&pairs).filter(|common| common.len() > word.len()).map(str::to_string);
        let text = format!("{}{}", line.get(..start).unwrap_or_default(), common.as_deref().unwrap_or(word));
        hooks.offer(&text, &pairs.into_iter().map(|pair| pair.display).collect::<Vec<_>>());
        common.into_iter().map(|common| Pair { replacement: common.clone(), display: common }).collect()
    }
}

impl Completer for CommandHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &rustyline::Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let line = line.get(..pos).unwrap_or(line);
        let completion = complete(line, &self.names);
        let word = line.get(completion.start..).unwrap_or_default();
        let files = if completion.files { files::paths_with_prefix(word) } else { Vec::new() };
        // A complete word is followed by a blank, a folder or a function is not.
        let pair = |text: String| {
            let end = if text.ends_with('/') || text.ends_with('(') { "" } else { " " };
            Pair { replacement: format!("{text}{end}"), display: visible(&text).into_owned() }
        };
        let pairs: Vec<Pair> = completion.candidates.into_iter().chain(files).map(pair).collect();
        let pairs = match &self.hooks {
            Some(hooks) if pairs.len() > 1 => self.offer(line, completion.start, &**hooks, pairs),
            _ => pairs,
        };
        Ok((completion.start, pairs))
    }
}

impl Hinter for CommandHelper {
    type Hint = String;

    fn hint(&self, line: &str, pos: usize, _: &rustyline::Context<'_>) -> Option<String> {
        if let Some(hooks) = &self.hooks {
            hooks.edited(line);
        }
        if pos < line.len() { None } else { hint(line, &self.names) }
    }
}

impl Highlighter for CommandHelper {
    /// Control characters are drawn as visible ones.
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if line.chars().all(|c| drawn(c) == c) { Cow::Borrowed(line) } else { Cow::Owned(line.chars().map(drawn).collect()) }
    }

    /// Without this, a control character at the end of the line would be written as it was typed.
    fn highlight_char(&self, line: &str, _: usize, _: CmdKind) -> bool {
        line.chars().any(|c| drawn(c) != c)
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, typing: bool) -> Cow<'b, str> {
        if let Some(hooks) = &self.hooks {
            hooks.before_drawing(typing);
        }
        Cow::Borrowed(prompt)
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        let hint = visible(hint);
        if self.color { Cow::Owned(format!("\x1b[2m{hint}\x1b[0m")) } else { hint }
    }
}

impl Validator for CommandHelper {}

impl Helper for CommandHelper {}
