//! The line below the panes: the line editor, and what it calls back while it waits for keys.
//!
//! Keys of the key map that no line needs are bound in the editor. What only moves panes is drawn at once; what is a command, or browsing,
//! ends the reading, and the line typed so far is what the next reading begins with, the cursor where it was. It has to end: the text
//! before the line says the focus and the time, and the editor measures it once per reading.
//!
//! A terminal that changes its size forgets the scroll region. A thread that compares sizes notices, and pokes the editor with a message
//! that moves nothing; the editor then draws its line anew, on its own thread, and calls back before it does.

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
use super::terminal::{LaidOut, Pasting, Size};
use crate::command::complete::KnownNames;
use crate::command::{CommandError, LayoutRequest};
use crate::debug::session::InterruptCheck;
use crate::ui::bad_line::BadLine;
use crate::ui::console::Frontend;
use crate::ui::repl::editor::{BLOCK, EditorHooks, Line, LineEditor};
use crate::ui::tty::keyboard;

/// Up a row and down again: it makes the editor draw its line.
const POKE: &str = "\x1b[A\n";
/// Time between two looks at the size of the terminal.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// What the user did.
#[derive(Debug)]
pub enum Event {
    /// Typed a line, or pasted several.
    Line(String),
    /// Pressed the key of a command.
    Key(String),
    /// Wants to browse.
    Browse,
    /// Typed a line that is no text.
    NotText(BadLine),
    /// Nothing that concerns the session.
    Nothing,
    /// Left.
    End,
}

/// The prompt.
pub struct Prompt {
    shared: Arc<Shared>,
    editor: LineEditor,
    hooks: Arc<PaneHooks>,
    pressed: Arc<Mutex<Option<Pressed>>>,
    typed: TypeAhead,
    /// The line that the next reading begins with, before and after the cursor.
    begun: (String, String),
}

/// A key that ended the reading of a line.
struct Pressed {
    event: Event,
    line: String,
    cursor: usize,
}

/// The panes around the line.
struct PaneHooks {
    shared: Arc<Shared>,
    /// Whether a line is read.
    reading: AtomicBool,
    /// Whether everything has to be laid out anew.
    stale: AtomicBool,
}

impl Prompt {
    /// The prompt of a screen.
    pub fn new(shared: Arc<Shared>, color: bool) -> io::Result<Self> {
        // The terminal's events must listen to changes of its size before the line editor first does, which later puts back what it found.
        crossterm::event::poll(Duration::ZERO)?;
        crossterm::style::force_color_output(true);
        let hooks = Arc::new(PaneHooks { shared: Arc::clone(&shared), reading: AtomicBool::new(false), stale: AtomicBool::new(false) });
        let mut editor = LineEditor::new(color, Some(Arc::clone(&hooks) as Arc<dyn EditorHooks>))?;
        let pressed = Arc::new(Mutex::new(None));
        bind(&mut editor, &shared, &pressed);
        watch_size(editor.printer()?, Arc::clone(&hooks), shared.stage().terminal.laid_out());
        Ok(Self { shared, editor, hooks, pressed, typed: TypeAhead::default(), begun: Default::default() })
    }

    /// From now on completes the names that there are now.
    pub fn know(&mut self) {
        let mut names = KnownNames::of(&self.shared.session());
        names.layouts = self.shared.stage().screen.layouts();
        names.layouts.push("next".to_string());
        self.editor.know(names);
    }

    /// What is wrong with the history file, once.
    pub fn complaints(&mut self) -> Vec<String> {
        self.editor.complaints()
    }

    /// Keys that were pressed while the kernel ran.
    pub fn typed(&self) -> &TypeAhead {
        &self.typed
    }

    /// Waits for the user. `line_start` stands before the line.
    pub fn next(&mut self, line_start: &str) -> io::Result<Event> {
        if let Some(event) = self.typed_ahead(line_start)? {
            return Ok(event);
        }
        let (before, after) = std::mem::take(&mut self.begun);
        let line = self.read(line_start, (&before, &after))?;
        let pressed = self.pressed.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Pressed { event, line, cursor }) = pressed {
            let (before, after) = line.split_at_checked(cursor).unwrap_or((&line, ""));
            self.begun = (before.to_string(), after.to_string());
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
                    self.shared.stage().note(&format!("{line_start}{line}"));
                }
                Ok(Event::Line(line))
            }
            Line::NotText(bad) => {
                self.shared.stage().note(&format!("{line_start}{}", bad.line));
                Ok(Event::NotText(bad))
            }
            Line::Dropped => Ok(Event::Nothing),
            Line::End => Ok(Event::End),
        }
    }

    /// Reads a line; panes are drawn meanwhile.
    fn read(&mut self, line_start: &str, begun: (&str, &str)) -> io::Result<Line> {
        self.hooks.reading.store(true, Ordering::SeqCst);
        let line = self.editor.read(line_start, begun);
        self.hooks.reading.store(false, Ordering::SeqCst);
        self.hooks.draw_if(|shared| shared.stage().withdraw_any_offer());
        line
    }

    /// Shows a command as if it had been typed instead of the line that was.
    fn show_command(&mut self, line_start: &str, command: &str) -> io::Result<()> {
        let session = self.shared.session();
        let mut stage = self.shared.stage();
        let is_alone = self.begun.0.is_empty() && self.begun.1.is_empty();
        if is_alone && line_start.len() < usize::from(Size::now().columns) {
            stage.terminal.take_back_row()?;
        } else {
            stage.lay_out(&session)?;
        }
        stage.say(&format!("{line_start}{command}"))
    }

    /// What was typed while the kernel ran, up to the end of a line or the key of a command. What has no end yet begins the next line.
    fn typed_ahead(&mut self, line_start: &str) -> io::Result<Option<Event>> {
        loop {
            let key = self.typed.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(press) = key else { return Ok(None) };
            match press.key {
                Key::Named(Named::Enter) => {
                    let (before, after) = std::mem::take(&mut self.begun);
                    let line = keyboard::typed(before + &after);
                    let (Ok(shown) | Err(BadLine { line: shown, .. })) = &line;
                    self.shared.stage().say(&format!("{line_start}{shown}"))?;
                    let line = match line {
                        Ok(line) => line,
                        Err(bad) => return Ok(Some(Event::NotText(bad))),
                    };
                    self.editor.remember(&line)?;
                    return Ok(Some(Event::Line(line)));
                }
                Key::Named(Named::Backspace) => drop(self.begun.0.pop()),
                Key::Char(c) if !press.control && !press.alt => self.begun.0.push(c),
                _ if press == BROWSE => return Ok(Some(Event::Browse)),
                _ if press.is_for_editing() => {}
                _ => {
                    let answer = self.shared.stage().screen.key(press);
                    if let Answer::Command(command) = answer {
                        self.shared.stage().say(&format!("{line_start}{command}"))?;
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
            self.shared.stage().say(BLOCK)?;
        }
        match self.read(prompt, ("", ""))? {
            Line::Typed(line) => {
                self.shared.stage().note(&format!("{prompt}{line}"));
                Ok(Some(Ok(line)))
            }
            Line::NotText(bad) => {
                self.shared.stage().note(&format!("{prompt}{}", bad.line));
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
            self.shared.stage().note(&format!("{question}: {}", if *yes { "yes" } else { "no" }));
        }
        answer
    }

    fn interrupt(&mut self) -> Box<dyn InterruptCheck> {
        Box::new(Run::new(Arc::clone(&self.shared), Arc::clone(&self.typed)))
    }

    fn layout(&mut self, request: &LayoutRequest) -> Result<String, CommandError> {
        self.shared.stage().request(request)
    }
}

/// Binds the keys of the key map that no line needs, and those that the screen itself knows.
fn bind(editor: &mut LineEditor, shared: &Arc<Shared>, pressed: &Arc<Mutex<Option<Pressed>>>) {
    let keys: Vec<KeyPress> = shared.stage().screen.keys().iter().map(|(press, _)| press).filter(|press| !press.is_for_editing()).collect();
    let panes = keys.into_iter().map(|press| (press, KeyEffect::Pane(press)));
    let own = [(BROWSE, KeyEffect::Browse), (keys::control('l'), KeyEffect::LayOut), (keys::control('z'), KeyEffect::Suspend)];
    for (press, act) in panes.chain(own) {
        editor.bind(keys::bound(press), KeyHandler { shared: Arc::clone(shared), pressed: Arc::clone(pressed), act });
    }
}

/// What a key does while a line is read.
enum KeyEffect {
    Pane(KeyPress),
    Browse,
    LayOut,
    Suspend,
}

struct KeyHandler {
    shared: Arc<Shared>,
    pressed: Arc<Mutex<Option<Pressed>>>,
    act: KeyEffect,
}

impl KeyHandler {
    /// Ends the reading of the line. What a command asks has to be answered first.
    fn end(&self, event: Event, context: &EventContext<'_>) -> Cmd {
        if self.shared.is_executing() {
            return Cmd::Noop;
        }
        let pressed = Pressed { event, line: context.line().to_string(), cursor: context.pos() };
        *self.pressed.lock().unwrap_or_else(PoisonError::into_inner) = Some(pressed);
        Cmd::AcceptLine
    }

    fn act(&self, context: &EventContext<'_>) -> io::Result<Cmd> {
        let session = self.shared.session();
        let mut stage = self.shared.stage();
        match &self.act {
            KeyEffect::LayOut => {
                stage.lay_out(&session)?;
                Ok(Cmd::Repaint)
            }
            KeyEffect::Suspend => {
                stage.terminal.suspend(Pasting::Marked)?;
                stage.lay_out(&session)?;
                Ok(Cmd::Repaint)
            }
            KeyEffect::Browse => Ok(self.end(Event::Browse, context)),
            KeyEffect::Pane(press) => match stage.screen.key(*press) {
                Answer::Command(line) => Ok(self.end(Event::Key(line), context)),
                Answer::Changed => stage.draw(&session).map(|()| Cmd::Noop),
                Answer::Ignored => Ok(Cmd::Noop),
            },
        }
    }
}

impl ConditionalEventHandler for KeyHandler {
    /// Never `None`: the editor would wait for another key then, and swallow it. An error of writing shows at the next write.
    fn handle(&self, _: &rustyline::Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        Some(self.act(context).unwrap_or(Cmd::Noop))
    }
}

impl PaneHooks {
    /// Draws the panes if they are different after `change`.
    fn draw_if(&self, change: impl FnOnce(&Shared) -> bool) {
        if change(&self.shared) {
            let session = self.shared.session();
            let _ = self.shared.stage().draw(&session);
        }
    }
}

impl EditorHooks for PaneHooks {
    /// While the history is searched the editor takes no pokes: everything is redrawn at once, and once more when it does.
    fn before_drawing(&self, typing: bool) {
        let stale = if typing { self.stale.swap(false, Ordering::SeqCst) } else { self.stale.load(Ordering::SeqCst) };
        if stale {
            let session = self.shared.session();
            let _ = self.shared.stage().lay_out(&session);
        }
    }

    fn offer(&self, line: &str, candidates: &[String]) {
        self.draw_if(|shared| {
            shared.stage().offer(line, candidates);
            true
        });
    }

    fn edited(&self, line: &str) {
        self.draw_if(|shared| shared.stage().withdraw_offer(line));
    }
}

/// Pokes the editor whenever the terminal has another size than the screen was laid out for.
fn watch_size(mut printer: impl ExternalPrinter + Send + 'static, hooks: Arc<PaneHooks>, laid_out: LaidOut) {
    std::thread::spawn(move || {
        let mut poked = None;
        loop {
            std::thread::sleep(WATCH_INTERVAL);
            let size = Size::now();
            if hooks.reading.load(Ordering::SeqCst) && laid_out.differs(size) && poked != Some(size) {
                hooks.stale.store(true, Ordering::SeqCst);
                if printer.print(POKE.to_string()).is_err() {
                    return;
                }
                poked = Some(size);
            } else if !laid_out.differs(size) {
                poked = None;
            }
        }
    });
}
