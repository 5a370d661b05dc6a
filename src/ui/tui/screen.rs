//! The screen: a layout of panes, the active one, and the effects of keys and clicks.
//!
//! It has no state of the machine: everything is drawn from the session.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::canvas::{Canvas, Hit, Target, fitted, hit_at, width};
use super::frame::Frame;
use super::keymap::{Action, Key, KeyMap, KeyPress, Move, Named};
use super::layout::layouts::{self, LayoutStore};
use super::layout::{Arrangement, Layout, Placed};
use super::panes::program_facts::ProgramFacts;
use super::panes::{DrawContext, Pane, ViewState};
use super::theme::{Role, Theme};
use super::wrap::plain;
use crate::base::Tick;
use crate::debug::focus::Focus;
use crate::debug::session::Session;
use crate::debug::view::{original_line, variables_in_registers};

/// The maximum number of lines of the transcript.
const TRANSCRIPT_MAX: usize = 10_000;

/// The result of a key or a click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This line must be executed.
    Command(String),
    /// The screen must be drawn again.
    Changed,
    /// No effect.
    Ignored,
}

/// A mouse event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Click {
    /// A button was pressed.
    Press,
    /// The wheel was turned up.
    WheelUp,
    /// The wheel was turned down.
    WheelDown,
}

/// A pane that is shown instead of those of the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overlay {
    /// The keys.
    Keys,
    /// What was said.
    Said,
}

impl Overlay {
    fn pane(self) -> &'static Pane {
        match self {
            Self::Keys => &Pane::Help,
            Self::Said => &Pane::Console,
        }
    }
}

/// The panes and the state of their views.
pub struct Screen {
    layout: Layout,
    theme: Theme,
    keys: KeyMap,
    layouts: LayoutStore,
    /// The view state of each pane of the layout, and at the end that of the overlay.
    view_states: Vec<ViewState>,
    active: usize,
    /// True if only the active pane is shown.
    zoomed: bool,
    /// What is shown instead of the panes.
    overlay: Option<Overlay>,
    /// True in browse mode, in which the panes have all keys.
    browsing: bool,
    /// The rows of output that are visible below the panes.
    rows_below: usize,
    /// The search text that is being typed after `/`.
    search_input: Option<String>,
    /// The panes that had something to show in the last drawing, also where there was no room for them.
    filled: Vec<usize>,
    /// The pane that a key has chosen: it is shown alone where there is no room for it.
    reached: Option<usize>,
    /// The number of those without room.
    without_room: usize,
    hits: Vec<Hit>,
    last_focus: Option<(Tick, Focus)>,
    facts: ProgramFacts,
    transcript: Vec<String>,
}

impl Screen {
    /// A screen with this layout.
    pub fn new(layout: Layout, theme: Theme, keys: KeyMap) -> Self {
        let mut screen = Self {
            view_states: Vec::new(),
            layout,
            theme,
            keys,
            layouts: LayoutStore::default(),
            active: 0,
            zoomed: false,
            overlay: None,
            browsing: false,
            rows_below: 0,
            search_input: None,
            filled: Vec::new(),
            reached: None,
            without_room: 0,
            hits: Vec::new(),
            last_focus: None,
            facts: ProgramFacts::default(),
            transcript: Vec::new(),
        };
        screen.reset_view_states();
        screen
    }

    /// The screen with these layouts.
    #[must_use]
    pub fn with_layouts(self, layouts: LayoutStore) -> Self {
        Self { layouts, ..self }
    }

    /// Shows the layout for the source of the kernel, if it is not the first one.
    pub fn suit(&mut self, session: &Session) {
        let is_at_hand = |number| session.source_texts().file(session.program(), number).is_some();
        if original_line(&session.eval_context()).is_some_and(|(number, name, _)| name.ends_with(".py") && is_at_hand(number)) {
            // The layout is shipped, so that it can be read, unless the user has one of the same name that cannot.
            let _ = self.layout_command(layouts::Command::Show("triton"));
        }
    }

    /// The names of all layouts.
    pub fn layouts(&self) -> Vec<String> {
        self.layouts.names()
    }

    /// The names of all layouts with what they are for, a line each; `*` marks the one that is shown.
    pub fn list_layouts(&self) -> String {
        self.layouts.listing()
    }

    /// The key map.
    pub fn keys(&self) -> &KeyMap {
        &self.keys
    }

    /// True if a search text is being typed: it takes all keys.
    pub fn is_typing(&self) -> bool {
        self.search_input.is_some()
    }

    /// Adds output to the transcript, without colours; returns the lines that were added.
    pub fn add_output(&mut self, text: &str) -> &[String] {
        self.transcript.extend(text.lines().map(plain));
        let surplus = self.transcript.len().saturating_sub(TRANSCRIPT_MAX);
        self.transcript.drain(..surplus);
        let added = text.lines().count();
        &self.transcript[self.transcript.len().saturating_sub(added)..]
    }

    /// Changes the theme.
    pub fn set_theme(&mut self, theme: Theme) {
        self.theme = theme;
    }

    /// Shows another layout.
    pub fn set_layout(&mut self, layout: Layout) {
        self.layout = layout;
        self.reset_view_states();
    }

    fn reset_view_states(&mut self) {
        self.view_states = vec![ViewState::default(); self.layout.panes().len() + 1];
        self.active = self.layout.panes().iter().position(|pane| matches!(pane, Pane::Source { .. })).unwrap_or(0);
        (self.zoomed, self.reached, self.overlay, self.search_input) = (false, None, None, None);
    }

    /// Draws all panes.
    pub fn draw(&mut self, session: &Session, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        buffer.set_style(area, self.theme.style(Role::Text));
        self.reset_followers(session);
        self.facts.find(session);
        self.hits.clear();
        let arrangement = match self.overlay {
            Some(overlay) => alone(overlay.pane(), self.overlay_number(), area),
            None => {
                let all = arrange(&self.layout, session, area);
                self.filled = all.filled;
                self.without_room = self.filled.iter().filter(|number| !all.arrangement.shows(**number)).count();
                let is_visible = |number| all.arrangement.shows(number);
                let is_reached = self.reached == Some(self.active) && self.filled.contains(&self.active);
                if !is_visible(self.active) && !is_reached {
                    self.active = all.arrangement.panes.first().map_or(0, |placed| placed.number);
                }
                let is_alone = self.zoomed || !is_visible(self.active);
                match self.layout.panes().get(self.active) {
                    Some(pane) if is_alone => alone(pane, self.active, area),
                    _ => all.arrangement,
                }
            }
        };
        let acting = self.acting();
        draw_frame(&arrangement, area, buffer, &self.theme);
        let variables = variables_in_registers(&session.eval_context());
        for Placed { pane, number, area } in &arrangement.panes {
            let active = *number == acting;
            let (keys, transcript) = (&self.keys, &self.transcript);
            let context = DrawContext { session, keys, facts: &self.facts, variables: &variables, transcript, number: *number, active };
            let Some(view_state) = self.view_states.get_mut(*number) else { continue };
            self.hits.push(Hit { area: *area, target: Target::Pane(*number) });
            let below = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..*area };
            let title = pane.draw(&context, view_state, &mut Canvas::new(buffer, below, &self.theme, &mut self.hits));
            let search_input = self.search_input.as_ref().filter(|_| active).map(|text| format!("/{text}_"));
            let mut rule = Canvas::new(buffer, Rect { height: area.height.min(1), ..*area }, &self.theme, &mut self.hits);
            let is_title = search_input.is_none();
            let start = draw_title(&mut rule, &search_input.unwrap_or(title), active);
            if is_title {
                let cells = view_state.in_title.iter();
                cells.for_each(|(column, line)| rule.on_click((start + column, 0, 1), Target::Command(line.clone())));
            }
        }
        self.draw_notes(session, area, buffer);
    }

    /// Draws at the end of the first line that the launch is made up, and that there is no room for some panes, as far as the titles leave
    /// room for it.
    fn draw_notes(&self, session: &Session, area: Rect, buffer: &mut Buffer) {
        let origin = (!session.reasons().is_empty()).then(|| "made-up launch".to_string());
        let hidden = Some(self.without_room).filter(|count| *count > 0 && self.overlay.is_none());
        let all = |hidden: Option<String>| origin.iter().cloned().chain(hidden).collect::<Vec<_>>().join(" · ");
        let long = all(hidden.map(|count| format!("{} more {}: F6", count, if count == 1 { "pane" } else { "panes" })));
        let short = all(hidden.map(|count| format!("F6: +{count}")));
        let is_rule = |x: u16| buffer.cell((x, area.y)).is_some_and(|cell| matches!(cell.symbol(), "─" | "┬"));
        let place = |text: &String| {
            let start = area.right().checked_sub(width(text) as u16 + 3).filter(|start| *start >= area.x)?;
            (start..area.right()).all(is_rule).then(|| (start, format!(" {text} ")))
        };
        let texts = [long, short, origin.unwrap_or_default()];
        if let Some((start, text)) = texts.iter().filter(|text| !text.is_empty()).find_map(place) {
            buffer.set_string(start, area.y, text, self.theme.style(Role::Title));
        }
    }

    /// Scrolls panes that follow the focused thread back to it if the time or the focus has changed.
    fn reset_followers(&mut self, session: &Session) {
        let now = Some((session.time(), session.focus));
        if self.last_focus != now {
            let following = self.view_states.iter_mut().zip(self.layout.panes()).filter(|(_, pane)| pane.follows());
            following.for_each(|(view_state, _)| (view_state.down, view_state.right) = (0, 0));
            self.last_focus = now;
        }
    }

    /// Executes the action of a key.
    pub fn key(&mut self, key: KeyPress) -> Answer {
        if self.search_input.is_some() {
            return self.type_search(key);
        }
        match self.keys.action(key).cloned() {
            Some(Action::Command(line)) => Answer::Command(line),
            Some(Action::Move(movement)) => self.movement(movement),
            None => Answer::Ignored,
        }
    }

    fn movement(&mut self, movement: Move) -> Answer {
        match movement {
            Move::NextPane => return self.step_pane(1),
            Move::PreviousPane => return self.step_pane(-1),
            Move::Zoom => self.zoomed = !self.zoomed,
            Move::Help => self.show_overlay(Some(Overlay::Keys).filter(|keys| self.overlay != Some(*keys))),
            Move::ReadBack => return self.read_back(),
            Move::ReadOn => return self.read_on(),
            Move::OtherText => return self.show_other_text(),
            Move::NextLayout => {
                // A layout of the user that cannot be read is skipped; `layout NAME` shows its error.
                let is_found = (0..self.layouts.names().len()).any(|_| self.layout_command(layouts::Command::Show("next")).is_ok());
                return if is_found { Answer::Changed } else { Answer::Ignored };
            }
            Move::ToggleBreakpoint => return self.toggle_breakpoint(),
            Move::Choose => return self.choose(),
            Move::Search => self.search_input = Some(String::new()),
            Move::SearchSaid => {
                if !self.is_reading() {
                    self.show_overlay(Some(Overlay::Said));
                }
                self.search_input = Some(String::new());
            }
            _ => return self.scroll(movement),
        }
        Answer::Changed
    }

    /// Switches the text of the active source pane, or else of the first one; an active memory pane becomes a heat map.
    fn show_other_text(&mut self) -> Answer {
        let panes = self.layout.panes();
        let of_kind = |is_of_kind: fn(&Pane) -> bool| (0..panes.len()).filter(|number| is_of_kind(panes[*number])).collect::<Vec<_>>();
        let source = of_kind(|pane| matches!(pane, Pane::Source { .. }));
        let original = of_kind(|pane| matches!(pane, Pane::Original { .. }));
        let is_memory = matches!(panes.get(self.active), Some(Pane::Memory { .. }));
        let has_both = !source.is_empty() && !original.is_empty();
        let texts = [source, original].concat();
        let changed = if is_memory || !has_both && texts.contains(&self.active) {
            vec![self.active]
        } else if has_both {
            // Panes that show a text each change places, so that none is lost.
            texts
        } else {
            texts.into_iter().take(1).collect()
        };
        for number in &changed {
            if let Some(view_state) = self.view_states.get_mut(*number) {
                (view_state.other_text, view_state.down) = (!view_state.other_text, 0);
            }
        }
        if changed.is_empty() { Answer::Ignored } else { Answer::Changed }
    }

    /// The number of the overlay among the view states.
    fn overlay_number(&self) -> usize {
        self.view_states.len().saturating_sub(1)
    }

    /// The number of the pane that takes keys: the overlay, or else the active one.
    fn acting(&self) -> usize {
        if self.overlay.is_some() { self.overlay_number() } else { self.active }
    }

    fn show_overlay(&mut self, overlay: Option<Overlay>) {
        self.overlay = overlay;
        let number = self.overlay_number();
        if let Some(view_state) = self.view_states.get_mut(number) {
            *view_state = ViewState::default();
        }
    }

    /// Shows the panes again if something else is shown instead of them.
    pub fn close_overlay(&mut self) -> Answer {
        if self.overlay.is_none() {
            return Answer::Ignored;
        }
        self.show_overlay(None);
        Answer::Changed
    }

    /// Shows the panes again if the list of keys is shown instead of them.
    pub fn close_keys(&mut self) -> Answer {
        if self.overlay == Some(Overlay::Keys) { self.close_overlay() } else { Answer::Ignored }
    }

    /// True if something else is shown instead of the panes.
    pub fn has_overlay(&self) -> bool {
        self.overlay.is_some()
    }

    /// True if what was said is shown instead of the panes.
    pub fn is_reading(&self) -> bool {
        self.overlay == Some(Overlay::Said)
    }

    /// Begins or ends browse mode.
    pub fn set_browsing(&mut self, browsing: bool) {
        self.browsing = browsing;
    }

    /// Sets the number of rows of output that are visible below the panes.
    pub fn set_rows_below(&mut self, rows: usize) {
        self.rows_below = rows;
    }

    /// A page up in what was said; in browse mode, in the pane that takes keys.
    fn read_back(&mut self) -> Answer {
        if self.browsing || self.has_overlay() {
            return self.scroll(Move::PageUp);
        }
        self.read_what_left();
        Answer::Changed
    }

    /// Shows instead of the panes what has left the rows below them: what is visible there need not be repeated.
    pub fn read_what_left(&mut self) {
        self.show_overlay(Some(Overlay::Said));
        let (number, rows) = (self.overlay_number(), self.rows_below as i64);
        if let Some(view_state) = self.view_states.get_mut(number) {
            view_state.down = -rows;
        }
    }

    /// A page down in what was said; at its end the panes are shown again. In browse mode and in the list of keys, a page down in the pane
    /// that takes keys.
    pub fn read_on(&mut self) -> Answer {
        let is_reading = self.is_reading();
        if !is_reading && (self.browsing || self.has_overlay()) {
            return self.scroll(Move::PageDown);
        }
        let (number, rows) = (self.overlay_number(), self.rows_below as i64);
        match self.view_states.get(number) {
            Some(view_state) if is_reading && view_state.down < -rows.max(0) => self.scroll(Move::PageDown),
            _ if is_reading => {
                self.show_overlay(None);
                Answer::Changed
            }
            _ => Answer::Ignored,
        }
    }

    /// The number of lines that were said.
    pub fn line_count(&self) -> usize {
        self.transcript.len()
    }

    /// What was said, without colours.
    pub fn transcript(&self) -> &[String] {
        &self.transcript
    }

    /// Shows what was said from the line `first` on instead of the panes.
    pub fn read_from(&mut self, first: usize) {
        self.show_overlay(Some(Overlay::Said));
        let number = self.overlay_number();
        if let Some(view_state) = self.view_states.get_mut(number) {
            view_state.first_line = Some(first);
        }
    }

    fn scroll(&mut self, movement: Move) -> Answer {
        let stride = self.layout.panes().get(self.acting()).map_or(1, |pane| pane.stride());
        let acting = self.acting();
        let Some(view_state) = self.view_states.get_mut(acting) else { return Answer::Ignored };
        let far = i64::MAX / 4;
        match movement {
            Move::Up => view_state.down = view_state.down.saturating_sub(1),
            Move::Down => view_state.down = view_state.down.saturating_add(1),
            Move::PageUp => view_state.down = view_state.down.saturating_sub(view_state.page.max(1)),
            Move::PageDown => view_state.down = view_state.down.saturating_add(view_state.page.max(1)),
            Move::Start => view_state.down = -far,
            Move::End => view_state.down = far,
            Move::Left => view_state.right = view_state.right.saturating_sub(stride),
            Move::Right => view_state.right = view_state.right.saturating_add(stride),
            Move::Here => (view_state.down, view_state.right) = (0, 0),
            Move::SearchNext => view_state.step = 1,
            Move::SearchPrevious => view_state.step = -1,
            _ => return Answer::Ignored,
        }
        Answer::Changed
    }

    fn step_pane(&mut self, step: isize) -> Answer {
        let at = self.filled.iter().position(|number| *number == self.active).unwrap_or(0);
        let count = self.filled.len().max(1);
        let next = (at + count).saturating_add_signed(step) % count;
        self.active = self.filled.get(next).copied().unwrap_or(0);
        self.reached = Some(self.active);
        Answer::Changed
    }

    fn toggle_breakpoint(&self) -> Answer {
        let view_states = self.view_states.get(self.active).into_iter().chain(&self.view_states);
        match view_states.filter_map(|view_state| view_state.cursor.as_ref()).next() {
            Some((_, Some(number))) => Answer::Command(format!("delete {number}")),
            Some((location, None)) => Answer::Command(format!("break {location}")),
            None => Answer::Ignored,
        }
    }

    fn choose(&self) -> Answer {
        let choice = self.view_states.get(self.acting()).and_then(|view_state| view_state.choice.clone());
        choice.map_or(Answer::Ignored, Answer::Command)
    }

    /// Adds a key to the search text.
    fn type_search(&mut self, key: KeyPress) -> Answer {
        let acting = self.acting();
        let Some(text) = self.search_input.as_mut() else { return Answer::Ignored };
        match key.key {
            Key::Char(c) if !key.control && !key.alt => text.push(c),
            Key::Named(Named::Backspace) => drop(text.pop()),
            Key::Named(Named::Enter) => {
                let text = self.search_input.take().unwrap_or_default().to_lowercase();
                if let Some(view_state) = self.view_states.get_mut(acting) {
                    (view_state.search, view_state.step, view_state.found) = (text, 1, None);
                }
            }
            Key::Named(Named::Escape) => self.search_input = None,
            _ => return Answer::Ignored,
        }
        Answer::Changed
    }

    /// Executes a mouse event at a cell of the screen.
    pub fn click(&mut self, column: u16, row: u16, click: Click) -> Answer {
        let pane = self.hits.iter().filter(|hit| hit.area.contains((column, row).into())).find_map(|hit| match hit.target {
            Target::Pane(number) => Some(number),
            _ => None,
        });
        let Some(pane) = pane else { return Answer::Ignored };
        let Some(view_state) = self.view_states.get_mut(pane) else { return Answer::Ignored };
        match click {
            Click::WheelUp => view_state.down = view_state.down.saturating_sub(3),
            Click::WheelDown => view_state.down = view_state.down.saturating_add(3),
            Click::Press => {
                if self.overlay.is_none() {
                    self.active = pane;
                }
                match hit_at(&self.hits, column, row).cloned() {
                    Some(Target::Command(line)) => return Answer::Command(line),
                    Some(Target::Row(_, row)) => view_state.down = row,
                    _ => {}
                }
            }
        }
        Answer::Changed
    }

    /// Executes `layout` (a name, a file, `next`) or `save layout` (a file); returns a message for the user.
    ///
    /// # Errors
    /// There is no such layout, or it cannot be read or written.
    pub fn layout_command(&mut self, command: layouts::Command<'_>) -> Result<String, layouts::LayoutStoreError> {
        match command {
            layouts::Command::Show(name) => {
                let layout = self.layouts.take(name)?;
                let about = layout.about.clone();
                self.set_layout(layout);
                Ok(about)
            }
            layouts::Command::Save(path) => self.layouts.save(path, &self.layout),
        }
    }
}

/// The arrangement of the panes of a layout, and the numbers of those that have something to show.
struct Arranged<'l> {
    arrangement: Arrangement<'l>,
    filled: Vec<usize>,
}

fn arrange<'l>(layout: &'l Layout, session: &Session, area: Rect) -> Arranged<'l> {
    let panes = layout.panes();
    // Where there is no other text of the code, the pane says why there is none.
    let is_needed = |pane: &Pane| matches!(pane, Pane::Original { .. }) && !panes.iter().any(|other| matches!(other, Pane::Source { .. }));
    let rows: Vec<Option<u16>> = panes.iter().map(|pane| if is_needed(pane) { None } else { pane.rows(session) }).collect();
    let arrangement = layout.arrange(area, &rows);
    let is_filled = |(number, rows): (usize, &Option<u16>)| (*rows != Some(0) || arrangement.shows(number)).then_some(number);
    let filled = rows.iter().enumerate().filter_map(is_filled).collect();
    Arranged { arrangement, filled }
}

fn alone(pane: &Pane, number: usize, area: Rect) -> Arrangement<'_> {
    Arrangement { panes: vec![Placed { pane, number, area }], separators: Vec::new() }
}

fn draw_frame(arrangement: &Arrangement<'_>, area: Rect, buffer: &mut Buffer, theme: &Theme) {
    let mut frame = Frame::new(area);
    for Placed { area, .. } in &arrangement.panes {
        frame.across(area.x, area.y, area.width);
    }
    for separator in &arrangement.separators {
        frame.down(separator.x, separator.y, separator.height);
    }
    frame.draw(buffer, theme.style(Role::Rule));
}

/// Draws ` title ` in the line above a pane, `[title]` if it is active; returns the column at which its text begins.
fn draw_title(rule: &mut Canvas<'_>, title: &str, active: bool) -> usize {
    let room = rule.width().saturating_sub(4);
    let title = if width(title) > room { fitted(title, room) } else { title.to_string() };
    let (text, role) = if active { (format!("[{title}]"), Role::ActiveTitle) } else { (format!(" {title} "), Role::Title) };
    if room > 0 {
        rule.text(1, 0, &text, role);
    }
    2
}
