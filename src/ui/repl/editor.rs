//! Editing a line: history, completion, hints.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use rustyline::completion::{Completer, Pair, longest_common_prefix};
use rustyline::config::BellStyle;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{
    ColorMode, CompletionType, ConditionalEventHandler, Config, Editor, Event, EventHandler, ExternalPrinter, Helper, KeyEvent,
};

use super::running::Watch;
use crate::command::complete::{KnownNames, complete, hint};
use crate::debug::session::Pace;
use crate::ui::console::Front;
use crate::ui::terminal_kind::moves_the_cursor;
use crate::ui::{files, interrupt};

/// Lines that the history file keeps.
const HISTORY_MAX: usize = 10_000;

/// What is said before the lines of a command that takes several.
pub const BLOCK: &str = "a command a line, up to one that says end";

/// Reads lines from a terminal.
pub struct LineEditor {
    editor: Editor<Words, FileHistory>,
    history: Option<PathBuf>,
    color: bool,
    /// Lines of a command that takes several are being read.
    in_block: bool,
}

/// What lies around the line on a screen, and wants to know what becomes of it.
pub trait Around: Send + Sync {
    /// The line is about to be drawn; `typing` is false while a line of the history is searched.
    fn before_drawing(&self, typing: bool);
    /// Several things could stand at the end of `line`.
    fn offer(&self, line: &str, candidates: &[String]);
    /// The line reads so now.
    fn edited(&self, line: &str);
}

/// What the user did at the prompt.
pub enum Line {
    /// Typed a line.
    Typed(String),
    /// Dropped it, with Ctrl-C.
    Dropped,
    /// Left, with Ctrl-D.
    End,
}

impl LineEditor {
    /// One that knows the lines of earlier sessions, alone on the terminal or with something around it.
    pub fn new(color: bool, around: Option<Arc<dyn Around>>) -> io::Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY_MAX)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(io::Error::other)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .bell_style(if around.is_some() { BellStyle::None } else { BellStyle::Audible })
            // What is drawn in colour is decided here; without this, what is around would not be told of drawing either.
            .color_mode(ColorMode::Forced)
            .build();
        let lines = FileHistory::with_config(&config);
        let mut editor = Editor::with_history(config, lines).map_err(io::Error::other)?;
        editor.set_helper(Some(Words { names: KnownNames::default(), color, around }));
        let history = files::history();
        if let Some(path) = &history {
            // There is none the first time.
            let _ = editor.load_history(path);
        }
        interrupt::listen();
        Ok(Self { editor, history, color, in_block: false })
    }

    /// From now on completes these names.
    pub fn know(&mut self, names: KnownNames) {
        self.in_block = false;
        if let Some(words) = self.editor.helper_mut() {
            words.names = names;
        }
    }

    /// Whether this is the first line of a command that takes several.
    pub fn begins_block(&mut self) -> bool {
        !std::mem::replace(&mut self.in_block, true)
    }

    /// Reads a line, which the history keeps.
    pub fn line(&mut self, prompt: &str) -> io::Result<Line> {
        let line = self.read(prompt, ("", ""))?;
        if let Line::Typed(line) = &line {
            self.remember(line)?;
        }
        Ok(line)
    }

    /// The history keeps a line.
    pub fn remember(&mut self, line: &str) -> io::Result<()> {
        self.editor.add_history_entry(line).map(|_| ()).map_err(io::Error::other)
    }

    /// From now on a key does what `handler` says.
    pub fn bind(&mut self, key: KeyEvent, handler: impl ConditionalEventHandler + 'static) {
        self.editor.bind_sequence(Event::KeySeq(vec![key]), EventHandler::Conditional(Box::new(handler)));
    }

    /// What can write above the line while it is read.
    pub fn printer(&mut self) -> io::Result<impl ExternalPrinter + Send + use<>> {
        self.editor.create_external_printer().map_err(io::Error::other)
    }

    /// Reads a line that begins as what stands before and behind the cursor.
    pub fn read(&mut self, prompt: &str, begun: (&str, &str)) -> io::Result<Line> {
        if !moves_the_cursor() {
            return typed(prompt);
        }
        let styled = if self.color { format!("\x1b[1m{prompt}\x1b[0m") } else { prompt.to_string() };
        match self.editor.readline_with_initial(&(prompt, styled), begun) {
            Ok(line) => Ok(Line::Typed(line)),
            Err(ReadlineError::Interrupted) => Ok(Line::Dropped),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// Writes the lines of this session to the history file. A file that cannot be written is no reason to complain on leaving.
    pub fn save(&mut self) {
        let Some(path) = &self.history else { return };
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let _ = made.map_err(ReadlineError::from).and_then(|()| self.editor.append_history(path));
    }
}

/// Reads a line where nothing can be edited.
fn typed(prompt: &str) -> io::Result<Line> {
    let mut out = io::stdout();
    write!(out, "{prompt}")?;
    out.flush()?;
    let mut line = String::new();
    let length = io::stdin().read_line(&mut line)?;
    Ok(if length == 0 { Line::End } else { Line::Typed(line.trim_end_matches(['\r', '\n']).to_string()) })
}

impl Front for LineEditor {
    fn more(&mut self, prompt: &str, out: &mut dyn io::Write) -> io::Result<Option<String>> {
        if self.begins_block() {
            writeln!(out, "{BLOCK}")?;
        }
        match self.line(prompt)? {
            Line::Typed(line) => Ok(Some(line)),
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
                Line::Dropped | Line::End => return Ok(Some(false)),
            }
        }
    }

    fn pace(&mut self) -> Box<dyn Pace> {
        Box::new(Watch::new())
    }
}

/// Completes and hints from the table of commands and the names of the session.
struct Words {
    names: KnownNames,
    color: bool,
    around: Option<Arc<dyn Around>>,
}

impl Words {
    /// Offers all that could stand behind `start`; what they have in common is written at once.
    fn offer(&self, line: &str, start: usize, around: &dyn Around, pairs: Vec<Pair>) -> Vec<Pair> {
        let word = line.get(start..).unwrap_or_default();
        let common = longest_common_prefix(&pairs).filter(|common| common.len() > word.len()).map(str::to_string);
        let text = format!("{}{}", line.get(..start).unwrap_or_default(), common.as_deref().unwrap_or(word));
        around.offer(&text, &pairs.into_iter().map(|pair| pair.display).collect::<Vec<_>>());
        common.into_iter().map(|common| Pair { replacement: common.clone(), display: common }).collect()
    }
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &rustyline::Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let line = line.get(..pos).unwrap_or(line);
        let completion = complete(line, &self.names);
        let word = line.get(completion.start..).unwrap_or_default();
        let files = if completion.files { files::beginning_with(word) } else { Vec::new() };
        // A word that is complete is followed by a blank, a folder by what it holds.
        let pair = |text: String| {
            let end = if text.ends_with('/') || text.ends_with('(') { "" } else { " " };
            Pair { replacement: format!("{text}{end}"), display: text }
        };
        let pairs: Vec<Pair> = completion.candidates.into_iter().chain(files).map(pair).collect();
        let pairs = match &self.around {
            Some(around) if pairs.len() > 1 => self.offer(line, completion.start, &**around, pairs),
            _ => pairs,
        };
        Ok((completion.start, pairs))
    }
}

impl Hinter for Words {
    type Hint = String;

    fn hint(&self, line: &str, pos: usize, _: &rustyline::Context<'_>) -> Option<String> {
        if let Some(around) = &self.around {
            around.edited(line);
        }
        if pos < line.len() { None } else { hint(line, &self.names) }
    }
}

impl Highlighter for Words {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, typing: bool) -> Cow<'b, str> {
        if let Some(around) = &self.around {
            around.before_drawing(typing);
        }
        Cow::Borrowed(prompt)
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.color { Cow::Owned(format!("\x1b[2m{hint}\x1b[0m")) } else { Cow::Borrowed(hint) }
    }
}

impl Validator for Words {}

impl Helper for Words {}
