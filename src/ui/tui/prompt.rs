//! The prompt below the panes: the line editor and its callbacks.
//!
//! Keys of the key map that are not needed to edit a line are bound in the editor. A key that only scrolls panes is handled at once. A key
//! that executes a command or starts browsing ends the current read; the next read begins with the unfinished line and its cursor. The read
//! must end because the prompt shows the focus and the time, and the editor measures the prompt only once per read.
//!
//! A terminal whose size changes resets the scroll region. A thread compares sizes and wakes the editor with a message that moves nothing;
//! the editor then draws its line again, on its own thread, and calls the hooks before it does.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustyline::{Cmd, ConditionalEventHandler, EventContext, ExternalPrinter, RepeatCount};

use super::keymap::{Key, KeyPress, Named};
use super::keys::{self, BROWSE};
use super::run::{Run, TypeAhead};
use super::screen::Answer;
use super::shared::Shared;
use super::terminal::{LaidOutSize, Pasting, Size};
use crate::command::complete::KnownNames;
use crate::command::{CommandError, LayoutRequest};
use crate::debug::session::InterruptCheck;
use crate::ui::bad_line::BadLine;
use crate::ui::console::Frontend;
use crate::ui::repl::editor::{BLOCK, EditorHooks, Line, LineEditor};
use crate::ui::tty::keyboard;

/// Moves the cursor up and down again: printing it makes the editor draw its line.
const WAKE: &str = "\x1b[A\n";
/// The interval at which the size of the terminal is checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// An event at the prompt.
#[derive(Debug)]
pub enum Event {
    /// A line was typed, or several were pasted.
    Line(String),
    /// The key of this command was pressed.
    Key(String),
    /// The key of browse mode was pressed.
    Browse,
    /// A line that is not valid UTF-8 was typed.
    NotText(BadLine),
    /// The line was discarded.
    Nothing,
    /// The end of the input.
    End,
}

/// The prompt.
pub struct Prompt {
    shared: Arc<Shared>,
    editor: LineEditor,
    hooks: Arc<PaneHooks>,
    pressed: Arc<Mutex<Option<Pressed>>>,
    typed: TypeAhead,
    /// The initial text of the next read, before and after the cursor.
    initial: (String, String),
}

/// A key that ended the read of a line, and the unfinished line.
struct Pressed {
    event: Event,
    line: String,
    cursor: usize,
}

/// The callbacks of the line editor.
struct PaneHooks {
    shared: Arc<Shared>,
    /// True while a line is read.
    reading: AtomicBool,
    /// True if the screen must be drawn in full.
    stale: AtomicBool,
}

impl Prompt {
    /// The prompt of a screen.
    pub fn new(shared: Arc<Shared>, color: bool) -> io::Result<Self> {
        // crossterm must install its SIGWINCH handler before the line editor, which later restores the handler that it has found.
        crossterm::event::poll(Duration::ZERO)?;
        crossterm::style::force_color_output(true);
        let hooks = Arc::new(PaneHooks { shared: Arc::clone(&shared), reading: AtomicBool::new(false), stale: AtomicBool::new(false) });
        let mut editor = LineEditor::new(color, Some(Arc::clone(&hooks) as Arc<dyn EditorHooks>))?;
        let pressed = Arc::new(Mutex::new(None));
        bind(&mut editor, &shared, &pressed);
        watch_size(editor.printer()?, Arc::clone(&hooks), shared.screen_terminal().terminal.laid_out());
        Ok(Self { shared, editor, hooks, pressed, typed: TypeAhead::default(), initial: Default::default() })
    }

    /// Updates the names that are completed.
    pub fn update_names(&mut self) {
        let mut names = KnownNames::of(&self.shared.session());
        names.layouts = self.shared.screen_terminal().screen.layouts();
        names.layouts.extend(["next".to_string(), "prev".to_string()]);
        self.editor.set_names(names);
    }

    /// Errors of the history file that have not been reported.
    pub fn complaints(&mut self) -> Vec<String> {
        self.editor.complaints()
    }

    /// Keys that were pressed while the kernel ran.
    pub fn typed(&self) -> &TypeAhead {
        &self.typed
    }

    /// Waits for the next event. `line_start` is the prompt.
    pub fn next(&mut self, line_start: &str) -> io::Result<Event> {
        if let Some(event) = self.typed_ahead(line_start)? {
            return Ok(event);
        }
        let (before, after) = std::mem::take(&mut self.initial);
        let line = self.read(line_start, (&before, &after))?;
        let pressed = self.pressed.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Pressed { event, line, cursor }) = pressed {
            let (before, after) = line.split_at_checked(cursor).unwrap_or((&line, ""));
            self.initial = (before.to_string(), after.to_string());
            if let Event::Key(command) = &event {
                self.show_command(line_start, command)?;
            }
            return Ok(event);
        }
        match line {
            Line::Typed(line) => {
                self.editor.remember(&line)?;
                // Lines that were pasted together are shown one by one as they are executed.
                if !line.contains('\n') {
                    self.shared.screen_terminal().record(&format!("{line_start}{line}"));
                }
                Ok(Event::Line(line))
            }
            Line::NotText(bad) => {
                self.shared.screen_terminal().record(&format!("{line_start}{}", bad.line));
                Ok(Event::NotText(bad))
            }
            Line::Dropped => Ok(Event::Nothing),
            Line::End => Ok(Event::End),
        }
    }

    /// Reads a line; callbacks draw the panes in the meantime.
    fn read(&mut self, line_start: &str, begun: (&str, &str)) -> io::Result<Line> {
        self.hooks.reading.store(true, Ordering::SeqCst);
        let line = self.editor.read(line_start, begun);
        self.hooks.reading.store(false, Ordering::SeqCst);
        self.hooks.draw_if(|shared| shared.screen_terminal().withdraw_any_offer());
        line
    }

    /// Shows a command as if it had been typed in place of the unfinished line.
    fn show_command(&mut self, line_start: &str, command: &str) -> io::Result<()> {
        let session = self.shared.session();
        let mut screen_terminal = self.shared.screen_terminal();
        let is_alone = self.initial.0.is_empty() && self.initial.1.is_empty();
        if is_alone && line_start.len() < usize::from(Size::now().columns) {
            screen_terminal.terminal.clear_input_row()?;
        } else {
            screen_terminal.lay_out(&session)?;
        }
        screen_terminal.print(&format!("{line_start}{command}"))
    }

    /// The next event of the keys that were typed while the kernel ran. An unfinished line is the initial text of the next read.
    fn typed_ahead(&mut self, line_start: &str) -> io::Result<Option<Event>> {
        loop {
            let key = self.typed.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(press) = key else { return Ok(None) };
            match press.key {
                Key::Named(Named::Enter) => {
                    let (before, after) = std::mem::take(&mut self.initial);
                    let line = keyboard::typed(before + &after);
                    let (Ok(shown) | Err(BadLine { line: shown, .. })) = &line;
                    self.shared.screen_terminal().print(&format!("{line_start}{shown}"))?;
                    let line = match line {
                        Ok(line) => line,
                        Err(bad) => return Ok(Some(Event::NotText(bad))),
                    };
                    self.editor.remember(&line)?;
                    return Ok(Some(Event::Line(line)));
                }
                Key::Named(Named::Backspace) => drop(self.initial.0.pop()),
                Key::Char(c) if !press.control && !press.alt => self.initial.0.push(c),
                _ if press == BROWSE => return Ok(Some(Event::Browse)),
                _ if press.is_for_editing() => {}
                _ => {
                    let answer = self.shared.screen_terminal().screen.key(press);
                    if let Answer::Command(command) = answer {
                        self.shared.screen_terminal().print(&format!("{line_start}{command}"))?;
                        return Ok(Some(Event::Key(command)));
                    }
                }
            }
        }
    }
}

impl Frontend for Prompt {
    fn more(&mut self, prompt: &str, _: &mut dyn Write) -> io::Result<Option<Result<String, BadLine>>> {
        if self.editor.begins_block() {
            self.shared.screen_terminal().print(BLOCK)?;
        }
        match self.read(prompt, ("", ""))? {
            Line::Typed(line) => {
                self.shared.screen_terminal().record(&format!("{prompt}{line}"));
                Ok(Some(Ok(line)))
            }
            Line::NotText(bad) => {
                self.shared.screen_terminal().record(&format!("{prompt}{}", bad.line));
                Ok(Some(Err(bad)))
            }
            Line::Dropped | Line::End => Ok(None),
        }
    }

    fn confirm(&mut self, question: &str, out: &mut dyn Write) -> io::Result<Option<bool>> {
        self.hooks.reading.store(true, Ordering::SeqCst);
        let answer = self.editor.confirm(question, out);
        self.hooks.reading.store(false, Ordering::SeqCst);
        if let Ok(Some(yes)) = &answer {
            self.shared.screen_terminal().record(&format!("{question}: {}", if *yes { "yes" } else { "no" }));
        }
        answer
    }

    fn interrupt(&mut self) -> Box<dyn InterruptCheck> {
        Box::new(Run::new(Arc::clone(&self.shared), Arc::clone(&self.typed)))
    }

    fn layout(&mut self, request: &LayoutRequest) -> Result<String, CommandError> {
        self.shared.screen_terminal().request(request)
    }
}

/// Binds the keys of the key map that are not needed to edit a line, and those with a fixed meaning.
fn bind(editor: &mut LineEditor, shared: &Arc<Shared>, pressed: &Arc<Mutex<Option<Pressed>>>) {
    let keys: Vec<KeyPress> =
        shared.screen_terminal().screen.keys().iter().map(|(press, _)| press).filter(|press| !press.is_for_editing()).collect();
    let panes = keys.into_iter().map(|press| (press, KeyEffect::Pane(press)));
    let fixed = [
        (BROWSE, KeyEffect::Browse),
        (KeyPress::plain(Key::Named(Named::Escape)), KeyEffect::Escape),
        (keys::control('l'), KeyEffect::LayOut),
        (keys::control('z'), KeyEffect::Suspend),
    ];
    for (press, effect) in panes.chain(fixed) {
        editor.bind(keys::bound(press), KeyHandler { shared: Arc::clone(shared), pressed: Arc::clone(pressed), effect });
    }
}

/// The effect of a key while a line is read.
enum KeyEffect {
    Pane(KeyPress),
    Browse,
    Escape,
    LayOut,
    Suspend,
}

struct KeyHandler {
    shared: Arc<Shared>,
    pressed: Arc<Mutex<Option<Pressed>>>,
    effect: KeyEffect,
}

impl KeyHandler {
    /// Ends the read of the line, unless a command waits for an answer.
    fn end(&self, event: Event, context: &EventContext<'_>) -> Cmd {
        if self.shared.is_executing() {
            return Cmd::Noop;
        }
        let pressed = Pressed { event, line: context.line().to_string(), cursor: context.pos() };
        *self.pressed.lock().unwrap_or_else(PoisonError::into_inner) = Some(pressed);
        Cmd::AcceptLine
    }

    fn execute(&self, context: &EventContext<'_>) -> io::Result<Cmd> {
        let session = self.shared.session();
        let mut screen_terminal = self.shared.screen_terminal();
        let answer = match &self.effect {
            KeyEffect::LayOut => {
                screen_terminal.lay_out(&session)?;
                return Ok(Cmd::Repaint);
            }
            KeyEffect::Suspend => {
                screen_terminal.terminal.suspend(Pasting::Marked)?;
                screen_terminal.lay_out(&session)?;
                return Ok(Cmd::Repaint);
            }
            KeyEffect::Browse => return Ok(self.end(Event::Browse, context)),
            KeyEffect::Escape => screen_terminal.screen.close_overlay(),
            KeyEffect::Pane(press) => screen_terminal.screen.key(*press),
        };
        match answer {
            // The text to search for is typed in browse mode.
            Answer::Changed if screen_terminal.screen.is_typing() => Ok(self.end(Event::Browse, context)),
            Answer::Command(line) => Ok(self.end(Event::Key(line), context)),
            Answer::Changed => screen_terminal.draw(&session).map(|()| Cmd::Noop),
            Answer::Ignored => Ok(Cmd::Noop),
        }
    }
}

impl ConditionalEventHandler for KeyHandler {
    /// Never returns `None`, with which the editor would wait for another key and lose it. A write error is reported by the next write.
    fn handle(&self, _: &rustyline::Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        Some(self.execute(context).unwrap_or(Cmd::Noop))
    }
}

impl PaneHooks {
    /// Draws the panes if `change` returns true.
    fn draw_if(&self, change: impl FnOnce(&Shared) -> bool) {
        if change(&self.shared) {
            let session = self.shared.session();
            let _ = self.shared.screen_terminal().draw(&session);
        }
    }
}

impl EditorHooks for PaneHooks {
    /// During a search of the history the editor cannot be woken: the screen is drawn now, and again after the search.
    fn before_drawing(&self, typing: bool) {
        let stale = if typing { self.stale.swap(false, Ordering::SeqCst) } else { self.stale.load(Ordering::SeqCst) };
        if stale {
            let session = self.shared.session();
            let _ = self.shared.screen_terminal().lay_out(&session);
        }
    }

    fn offer(&self, line: &str, candidates: &[String]) {
        self.draw_if(|shared| {
            shared.screen_terminal().offer(line, candidates);
            true
        });
    }

    fn edited(&self, line: &str) {
        self.draw_if(|shared| shared.screen_terminal().withdraw_offer(line));
    }
}

/// Starts a thread that wakes the editor when the size of the terminal changes.
fn watch_size(mut printer: impl ExternalPrinter + Send + 'static, hooks: Arc<PaneHooks>, laid_out: LaidOutSize) {
    std::thread::spawn(move || {
        let mut woken_for = None;
        loop {
            std::thread::sleep(WATCH_INTERVAL);
            let size = Size::now();
            if hooks.reading.load(Ordering::SeqCst) && laid_out.differs(size) && woken_for != Some(size) {
                hooks.stale.store(true, Ordering::SeqCst);
                if printer.print(WAKE.to_string()).is_err() {
                    return;
                }
                woken_for = Some(size);
            } else if !laid_out.differs(size) {
                woken_for = None;
            }
        }
    });
}
