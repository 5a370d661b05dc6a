//! What a pane is drawn from, and what it remembers from one drawing to the next.

use super::originals::Originals;
use crate::debug::session::Session;
use crate::ui::tui::keymap::KeyMap;

/// What a pane is drawn from.
pub struct DrawContext<'a> {
    /// The session.
    pub session: &'a Session,
    /// What keys do.
    pub keys: &'a KeyMap,
    /// Texts that the PTX was made from.
    pub originals: &'a Originals,
    /// What was said so far, a line each.
    pub transcript: &'a [String],
    /// The number of the pane in its layout.
    pub number: usize,
    /// Whether it takes keys.
    pub active: bool,
}

/// What a pane remembers from one drawing to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewState {
    /// Rows between what the pane shows by itself and what the user moved to.
    pub down: i64,
    /// Columns, likewise.
    pub right: i64,
    /// The first row that was shown.
    pub top: i64,
    /// What is searched for, in lower case.
    pub search: String,
    /// A step to the next place with it, or to the one before, that is to be made.
    pub step: i64,
    /// The line that is executed when what the cursor is on is chosen.
    pub choice: Option<String>,
    /// The location of the cursor, for commands, and the breakpoint that is there.
    pub cursor: Option<(String, Option<u32>)>,
    /// A source pane shows the other text: what the PTX was made from instead of the PTX, or the other way round.
    pub other_text: bool,
    /// Rows that were shown, which are a page.
    pub page: i64,
    /// Columns of the title that can be clicked, and the line that each executes.
    pub in_title: Vec<(usize, String)>,
}

impl ViewState {
    /// The rows of `total` that are shown on `height` rows, if the pane shows its beginning by itself; the position is kept in bounds.
    pub fn window(&mut self, total: usize, height: usize) -> std::ops::Range<usize> {
        let (total, height) = (signed(total), signed(height));
        self.down = self.down.min(total - height).max(0);
        self.page = height;
        unsigned(self.down)..unsigned((self.down + height).min(total))
    }

    /// The rows that are shown, if the pane has a cursor that is at row `here` by itself. The rows that were shown before stay where
    /// they are if the cursor is among them. Returns the rows and the cursor's.
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
