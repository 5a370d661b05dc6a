//! The screen on its terminal: the panes, the output below them, and the list of completions.

use std::io;
use std::path::Path;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::canvas::fitted;
use super::layout::layouts;
use super::picture;
use super::screen::Screen;
use super::terminal::Terminal;
use super::theme::Theme;
use super::wrap::wrapped;
use crate::base::{counted, save};
use crate::command::{CommandError, LayoutRequest};
use crate::debug::session::Session;
use crate::debug::settings::Settings;
use crate::ui::transcript_file::TranscriptFile;
use crate::ui::visible::visible;

/// Blanks between two columns of candidates.
const GAP: usize = 2;

/// The screen and its terminal.
pub struct ScreenTerminal {
    /// The panes.
    pub screen: Screen,
    /// The terminal on which they are shown.
    pub terminal: Terminal,
    /// The file that gets all output, if the user wants one.
    transcript_file: TranscriptFile,
    offer: Option<Candidates>,
    /// True while the first row below the panes says where the rest of an answer is.
    is_marked: bool,
}

/// The completions of a line.
struct Candidates {
    line: String,
    candidates: Vec<String>,
}

impl ScreenTerminal {
    /// The screen on this terminal.
    pub fn new(screen: Screen, terminal: Terminal) -> Self {
        Self { screen, terminal, transcript_file: TranscriptFile::default(), offer: None, is_marked: false }
    }

    /// Switches to the alternate screen and draws everything.
    pub fn enter(&mut self, session: &Session) -> io::Result<()> {
        self.terminal.enter()?;
        self.lay_out(session)
    }

    /// Draws the panes; everything if the size of the terminal has changed.
    pub fn draw(&mut self, session: &Session) -> io::Result<()> {
        if self.terminal.is_stale() {
            return self.lay_out(session);
        }
        let panes = self.panes(session);
        self.terminal.show(panes)
    }

    /// Draws everything, at the size of the terminal.
    pub fn lay_out(&mut self, session: &Session) -> io::Result<()> {
        self.terminal.measure();
        self.is_marked = false;
        let panes = self.panes(session);
        self.terminal.lay_out(panes)
    }

    fn panes(&mut self, session: &Session) -> Buffer {
        let area = self.terminal.panes();
        let mut buffer = Buffer::empty(area);
        if !area.is_empty() {
            self.screen.set_theme(Theme::of(session.settings.theme));
            self.screen.set_rows_below(self.terminal.rows_below().saturating_sub(usize::from(self.is_marked)));
            self.screen.draw(session, area, &mut buffer);
        }
        if let Some(offer) = &self.offer {
            offer.draw(&mut buffer);
        }
        buffer
    }

    /// Prints lines without colours.
    pub fn print(&mut self, text: &str) -> io::Result<()> {
        self.print_styled(&visible(text))
    }

    /// Prints lines with escape sequences for colours.
    pub fn print_styled(&mut self, text: &str) -> io::Result<()> {
        self.add_output(text);
        self.terminal.print(text)
    }

    fn add_output(&mut self, text: &str) {
        self.is_marked = false;
        let added = self.screen.add_output(text);
        self.transcript_file.add(&added.iter().flat_map(|line| [line, "\n"]).collect::<String>());
    }

    /// Starts or ends the transcript in a file, as the settings say; returns the error of the file, once.
    pub fn follow_settings(&mut self, settings: &Settings) -> Option<String> {
        let so_far = self.screen.transcript().iter().map(String::as_str);
        self.transcript_file.follow(settings.transcript.as_deref(), so_far);
        self.transcript_file.complaint()
    }

    /// Shows the output from the line `first` on instead of the panes, if it is longer than the rows below them; where the panes matter, if
    /// it fills them, and else how many rows of it have left the screen.
    pub fn read_long_answer(&mut self, first: usize, panes_matter: bool) -> io::Result<()> {
        let panes = self.terminal.panes();
        // Without panes there is nothing that it could be shown instead of.
        if panes.is_empty() {
            return Ok(());
        }
        let (above, below) = (usize::from(panes.height), self.terminal.rows_below());
        let most = if panes_matter { above } else { below };
        // The first line is the command: its answer is what has to fit.
        let rows = self.rows_from(first + 1);
        // The pane has a title, and the command stands before its answer.
        match rows {
            rows if rows <= below => Ok(()),
            rows if rows <= most => self.mark_cut(first + 1),
            rows if rows + 2 <= above + below => {
                self.screen.read_what_left();
                Ok(())
            }
            _ => {
                self.screen.read_from(first);
                self.mark_first_row("… the end of it is below; PgDn or Enter reads on")
            }
        }
    }

    /// Says how many rows of the output from the line `first` on have left the screen, if any have.
    pub fn mark_cut(&mut self, first: usize) -> io::Result<()> {
        let (rows, below) = (self.rows_from(first), self.terminal.rows_below());
        if rows <= below || self.terminal.panes().is_empty() {
            return Ok(());
        }
        self.mark_first_row(&format!("… {} above: PgUp", counted((rows - below + 1) as u64, "row")))
    }

    /// The rows of the screen that the output from the line `first` on takes.
    fn rows_from(&self, first: usize) -> usize {
        let columns = usize::from(self.terminal.panes().width).max(1);
        self.screen.transcript().get(first..).unwrap_or_default().iter().map(|line| wrapped(line, columns).len()).sum()
    }

    fn mark_first_row(&mut self, text: &str) -> io::Result<()> {
        self.is_marked = true;
        self.terminal.mark_first_row(text)
    }

    /// Records lines that are already on the screen.
    pub fn record(&mut self, text: &str) {
        let text = visible(text);
        self.add_output(&text);
        self.terminal.record(&text);
    }

    /// Changes or saves the layout; returns a message for the user.
    pub fn request(&mut self, request: &LayoutRequest) -> Result<String, CommandError> {
        let command = match request {
            LayoutRequest::Export(file) => return self.export(file),
            LayoutRequest::List => return Ok(self.screen.list_layouts()),
            LayoutRequest::Show(name) => layouts::Command::Show(name),
            LayoutRequest::Save(name) => layouts::Command::Save(name),
        };
        let message = self.screen.layout_command(command).map_err(|error| CommandError::new(error.to_string()))?;
        Ok(message + "\n")
    }

    /// Writes the panes and the last lines below them to a file.
    fn export(&self, file: &str) -> Result<String, CommandError> {
        let lines = self.screen.transcript();
        let below = lines.get(lines.len().saturating_sub(self.terminal.rows_below())..).unwrap_or_default();
        let shown = self.terminal.shown();
        let picture = if file.ends_with(".svg") { picture::svg(shown, below) } else { picture::text(shown, below) };
        save::save(Path::new(file), &[picture.as_bytes()])
            .map_err(|error| CommandError::new(format!("{file}: {}", save::cause(&error))))?;
        Ok(format!("{} written to {file}\n", counted(picture.len() as u64, "byte")))
    }

    /// Shows the completions of `line` above it.
    pub fn offer(&mut self, line: &str, candidates: &[String]) {
        let candidates = candidates.iter().map(|text| visible(text).into_owned()).collect();
        self.offer = Some(Candidates { line: line.to_string(), candidates });
    }

    /// Removes the completions of another line; true if there were any.
    pub fn withdraw_offer(&mut self, line: &str) -> bool {
        self.offer.take_if(|offer| offer.line != line).is_some()
    }

    /// Removes the completions; true if there were any.
    pub fn withdraw_any_offer(&mut self) -> bool {
        self.offer.take().is_some()
    }
}

impl Candidates {
    /// Draws the completions in columns over at most the lower half of the panes; those that do not fit are counted.
    fn draw(&self, buffer: &mut Buffer) {
        let area = buffer.area;
        let widest = self.candidates.iter().map(|text| Span::raw(text).width()).max().unwrap_or(0) + GAP;
        let columns = (usize::from(area.width) / widest).max(1);
        let rows = self.candidates.len().div_ceil(columns).min(usize::from(area.height / 2));
        let Some(top) = u16::try_from(rows).ok().filter(|rows| *rows > 0).map(|rows| area.height - rows) else { return };
        let style = Style::new().add_modifier(Modifier::REVERSED);
        let below = Rect { y: top, height: area.height - top, ..area };
        for position in below.positions() {
            if let Some(cell) = buffer.cell_mut(position) {
                cell.reset();
                cell.set_style(style);
            }
        }
        let room = rows * columns;
        let shown = if self.candidates.len() > room { room - 1 } else { self.candidates.len() };
        let more = (shown < self.candidates.len()).then(|| format!("{} more", self.candidates.len() - shown));
        for (index, text) in self.candidates.iter().take(shown).chain(&more).enumerate() {
            let (x, y) = (index / rows * widest, usize::from(top) + index % rows);
            if let (Ok(x), Ok(y)) = (u16::try_from(x), u16::try_from(y)) {
                let room = usize::from(area.width.saturating_sub(x));
                buffer.set_stringn(x, y, fitted(text, room.min(widest)), room, style);
            }
        }
    }
}
