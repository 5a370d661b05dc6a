//! The input of the drawing of a pane, and the state of its view.

use std::collections::BTreeMap;

use super::program_facts::ProgramFacts;
use crate::debug::session::Session;
use crate::ui::tui::keymap::KeyMap;

/// The input of the drawing of a pane.
pub struct DrawContext<'a> {
    /// The session.
    pub session: &'a Session,
    /// The key map.
    pub keys: &'a KeyMap,
    /// The lines that are shown, and live registers.
    pub facts: &'a ProgramFacts,
    /// The variables of the source that registers hold now, by register.
    pub variables: &'a BTreeMap<String, String>,
    /// The lines of the output so far.
    pub transcript: &'a [String],
    /// The number of the pane in its layout.
    pub number: usize,
    /// True if it takes keys.
    pub active: bool,
}

/// The state of a pane's view, which is retained between drawings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewState {
    /// The number of rows by which the user scrolled down from the default position.
    pub down: i64,
    /// The number of columns by which the user scrolled to the right.
    pub right: i64,
    /// The first row that was shown.
    pub top: i64,
    /// The search text, in lower case.
    pub search: String,
    /// A pending step to the next match, 1, or to the previous one, -1.
    pub step: i64,
    /// The command line for [`Move::Choose`](crate::ui::tui::keymap::Move::Choose).
    pub choice: Option<String>,
    /// The location of the cursor, for commands, and its breakpoint.
    pub cursor: Option<(String, Option<u32>)>,
    /// True if a source pane shows the source of the PTX instead of the PTX, or the reverse.
    pub other_text: bool,
    /// The number of rows of a page.
    pub page: i64,
    /// The line of the console that the search has found.
    pub found: Option<usize>,
    /// The line of the console that the next drawing puts into the first row.
    pub first_line: Option<usize>,
    /// The clickable columns of the title, and their command lines.
    pub in_title: Vec<(usize, String)>,
}

impl ViewState {
    /// The visible rows of `total` in a pane of `height` rows that shows the first rows by default; clamps the scroll offset.
    pub fn window(&mut self, total: usize, height: usize) -> std::ops::Range<usize> {
        let (total, height) = (signed(total), signed(height));
        self.down = self.down.min(total - height).max(0);
        self.page = height;
        unsigned(self.down)..unsigned((self.down + height).min(total))
    }

    /// The visible rows of a pane with a cursor that is at row `here` by default, and the row of the cursor. The view scrolls only if the
    /// cursor leaves it.
    pub fn window_around(&mut self, here: usize, total: usize, height: usize) -> (std::ops::Range<usize>, usize) {
        let (here, total, height) = (signed(here), signed(total), signed(height));
        let cursor = here.saturating_add(self.down).min(total - 1).max(0);
        (self.down, self.page) = (cursor - here, height);
        let margin = (height / 5).min(3);
        if cursor < self.top + margin || cursor >= self.top + height - margin {
            self.top = cursor - height / 2;
        }
        self.top = self.top.min(total - height).max(0);
        (unsigned(self.top)..unsigned((self.top + height).min(total)), unsigned(cursor))
    }
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX / 2).min(i64::MAX / 2)
}

fn unsigned(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}
