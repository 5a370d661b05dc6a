//! The panes: each draws the visible part of a view of the debugger on a canvas.
//!
//! A pane has no state of the machine. The state that it retains between drawings is a [`ViewState`]: the scroll offset, the cursor, the
//! search text.

mod banks;
mod cfg;
mod code;
mod context;
mod fragment;
mod lane_strip;
mod memory;
mod pane;
mod pipeline;
pub mod program_facts;
mod prose;
mod registers;
mod room;
mod source;
mod table;
mod timeline;
mod warps;
mod words;

pub use context::{DrawContext, ViewState};
pub use pane::{MemoryFormat, PANES, Pane, RegistersOf};

use registers::Pinned;

use super::canvas::{Canvas, Target};
use super::theme::Role;

impl Pane {
    /// Draws the pane; returns its title.
    pub fn draw(&self, context: &DrawContext<'_>, view_state: &mut ViewState, canvas: &mut Canvas<'_>) -> String {
        match self {
            Pane::Source { counts } => source::draw(context, view_state, canvas, (false, *counts)),
            Pane::Original { counts } => source::draw(context, view_state, canvas, (true, *counts)),
            Pane::Cfg => cfg::draw(context, view_state, canvas),
            Pane::Registers { of, only, displays, operands } => {
                registers::draw(context, view_state, canvas, (*of, only), Pinned { displays: *displays, operands: *operands })
            }
            Pane::Memory { of, only, show } => memory::draw(context, view_state, canvas, (*of, only, *show)),
            Pane::Warps => warps::draw(context, view_state, canvas),
            Pane::Sync => table::sync(context, view_state, canvas),
            Pane::Mbarriers => table::mbarriers(context, view_state, canvas),
            Pane::Copies => table::copies(context, view_state, canvas),
            Pane::Pipeline => pipeline::draw(context, view_state, canvas),
            Pane::Banks => banks::draw(context, view_state, canvas),
            Pane::Writes => table::writes(context, view_state, canvas),
            Pane::Fragments => fragment::draw(context, view_state, canvas),
            Pane::Stack => table::stack(context, view_state, canvas),
            Pane::Locals => table::locals(context, view_state, canvas),
            Pane::Displays => table::displays(context, view_state, canvas),
            Pane::Breakpoints => table::breakpoints(context, view_state, canvas),
            Pane::Timeline => timeline::draw(context, view_state, canvas),
            Pane::Console => prose::console(context, view_state, canvas),
            Pane::Help => prose::help(context, view_state, canvas),
            Pane::Findings => prose::findings(context, view_state, canvas),
        }
    }
}

impl Canvas<'_> {
    /// Draws a text in place of the contents of a pane.
    pub fn placeholder(&mut self, text: &str) {
        for (y, line) in super::canvas::wrapped(text, self.width().saturating_sub(2)).iter().enumerate() {
            self.text(1, y, line, Role::Dim);
        }
    }

    /// Makes the row `y` clickable: a click moves the cursor to it.
    pub fn row_target(&mut self, y: usize, number: usize, row: i64) {
        let width = self.width();
        self.on_click((0, y, width), Target::Row(number, row));
    }
}
