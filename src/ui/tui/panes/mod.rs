//! The panes: each draws plain data of the engine on a canvas, and only what is in sight.
//!
//! A pane holds no state of the machine. What it remembers from one drawing to the next is a [`Sight`]: how far it was scrolled, where
//! its cursor is, what was searched for.

mod cfg;
mod code;
mod look;
mod memory;
pub mod originals;
mod pane;
mod pipeline;
mod prose;
mod registers;
mod source;
mod table;
mod timeline;
mod warps;
mod words;

pub use look::{Look, Sight};
pub use pane::{PANES, Pane, RegistersOf, Show};

use registers::Pinned;

use super::canvas::{Canvas, Target};
use super::theme::Role;

impl Pane {
    /// Draws the pane; the title that stands above it.
    pub fn draw(&self, look: &Look<'_>, sight: &mut Sight, canvas: &mut Canvas<'_>) -> String {
        match self {
            Pane::Source { counts } => source::draw(look, sight, canvas, (false, *counts)),
            Pane::Original { counts } => source::draw(look, sight, canvas, (true, *counts)),
            Pane::Cfg => cfg::draw(look, sight, canvas),
            Pane::Registers { of, only, watches, operands } => {
                registers::draw(look, sight, canvas, (*of, only), Pinned { watches: *watches, operands: *operands })
            }
            Pane::Memory { of, only, show } => memory::draw(look, sight, canvas, (*of, only, *show)),
            Pane::Warps => warps::draw(look, sight, canvas),
            Pane::Sync => table::sync(look, sight, canvas),
            Pane::Mbarriers => table::mbarriers(look, sight, canvas),
            Pane::Copies => table::copies(look, sight, canvas),
            Pane::Pipeline => pipeline::draw(look, sight, canvas),
            Pane::Stack => table::stack(look, sight, canvas),
            Pane::Locals => table::locals(look, sight, canvas),
            Pane::Watches => table::watches(look, sight, canvas),
            Pane::Breakpoints => table::breakpoints(look, sight, canvas),
            Pane::Timeline => timeline::draw(look, sight, canvas),
            Pane::Console => prose::console(look, sight, canvas),
            Pane::Help => prose::help(look, sight, canvas),
            Pane::Findings => prose::findings(look, sight, canvas),
        }
    }
}

impl Canvas<'_> {
    /// A text that stands in a pane instead of what it would show.
    pub fn say(&mut self, text: &str) {
        for (y, line) in super::canvas::wrapped(text, self.width().saturating_sub(2)).iter().enumerate() {
            self.text(1, y, line, Role::Dim);
        }
    }

    /// Makes the row `y` one that the cursor can be put on.
    pub fn row_target(&mut self, y: usize, number: usize, row: i64) {
        let width = self.width();
        self.on_click((0, y, width), Target::Row(number, row));
    }
}
