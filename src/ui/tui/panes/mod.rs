//! The panes: each draws plain data of the engine on a canvas, and only what is in sight.
//!
//! A pane holds no state of the machine. What it remembers from one drawing to the next is a [`Sight`]: how far it was scrolled, where
//! its cursor is, what was searched for.

mod cfg;
mod code;
mod memory;
pub mod originals;
mod pipeline;
mod prose;
mod registers;
mod source;
mod table;
mod timeline;
mod warps;

use serde::{Deserialize, Serialize};

use memory::Show;
use originals::Originals;
use registers::Pinned;

use super::canvas::{Canvas, Target};
use super::keymap::KeyMap;
use super::theme::Role;
use crate::debug::session::Session;
use crate::debug::view::MemorySpace;

/// A pane with its options, as a layout file says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Pane {
    /// The PTX text, and who stands where.
    Source {
        /// With how many lanes have executed each line.
        #[serde(default, skip_serializing_if = "is_false")]
        counts: bool,
    },
    /// The text that the PTX was made from, and who stands where.
    Original {
        /// With how many lanes have executed each line.
        #[serde(default, skip_serializing_if = "is_false")]
        counts: bool,
    },
    /// The focused function as a graph.
    Cfg,
    /// Registers of the selected frame.
    Registers {
        /// Of the focused lane, or of all lanes of the warp.
        #[serde(default)]
        of: RegistersOf,
        /// Only those whose name contains this.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        only: String,
        /// With the displays above them.
        #[serde(default, skip_serializing_if = "is_false")]
        watches: bool,
        /// With those of the present instruction above them.
        #[serde(default, skip_serializing_if = "is_false")]
        operands: bool,
    },
    /// What every warp of the focused block does, and the blocks of the grid.
    Warps,
    /// Named barriers.
    Sync,
    /// Mbarriers: phases, arrivals, bytes, who waits.
    Mbarriers,
    /// Asynchronous copies in flight.
    Copies,
    /// The stages of a pipeline over time.
    Pipeline,
    /// Variables and buffers of a space of memory.
    Memory {
        /// The space.
        #[serde(default)]
        of: MemorySpace,
        /// Only those whose name contains this.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        only: String,
        /// As elements, bytes, or rows of a tile.
        #[serde(default, skip_serializing_if = "Show::is_default")]
        show: Show,
    },
    /// Calls.
    Stack,
    /// Variables and parameters of the selected frame.
    Locals,
    /// The displays.
    Watches,
    /// Breakpoints, watchpoints and catchpoints.
    Breakpoints,
    /// The recorded time.
    Timeline,
    /// What was said.
    Console,
    /// The keys.
    Help,
    /// How the run ends.
    Findings,
}

/// The names of all panes, as layout files have them, and what each shows.
pub const PANES: [(&str, &str); 18] = [
    ("Source", "The PTX text, with breakpoints, and for each line which lanes of the focused warp and which other warps stand there."),
    ("Original", "The same of the text that the PTX was made from, CUDA or Triton, where .loc names it and its file is found."),
    ("Cfg", "The control flow of the focused function as a graph, with the threads in each block; a list where there is no room."),
    ("Registers", "Registers of the selected frame: of the focused lane, or in a row for each what all lanes of the warp hold."),
    ("Warps", "What every warp of the focused block does, equal ones in one row, and the blocks of the grid."),
    ("Sync", "The named barriers of the focused block: which threads have arrived and which are missing."),
    ("Mbarriers", "The mbarriers of the focused block: phases, arrivals, transaction bytes, and which threads wait for which parity."),
    ("Copies", "The asynchronous copies in flight of the focused block or into it, and their groups."),
    ("Pipeline", "The mbarriers that copies complete on, over time: when each was filled, full, read and empty."),
    ("Memory", "Variables and buffers of a space of memory, element by element."),
    ("Stack", "The calls that the focused lane is inside of."),
    ("Locals", "Variables and parameters of the selected frame."),
    ("Watches", "What was typed after 'display', with its values."),
    ("Breakpoints", "Breakpoints, watchpoints and catchpoints."),
    ("Timeline", "The recorded time as a bar, with the present, stops and marks."),
    ("Console", "What was typed and answered."),
    ("Findings", "What was found wrong so far, with both sides; a click goes to one of them."),
    ("Help", "The keys."),
];

/// Whose registers are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RegistersOf {
    /// The focused lane's.
    #[default]
    Lane,
    /// The warp's: a row tells what 32 lanes hold.
    Warp,
}

/// What a pane is drawn from.
pub struct Look<'a> {
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
pub struct Sight {
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

impl Sight {
    /// The rows of `total` that are shown on `height` rows, if the pane shows its beginning by itself; the position is kept in bounds.
    pub fn window(&mut self, total: usize, height: usize) -> std::ops::Range<usize> {
        let (total, height) = (signed(total), signed(height));
        self.down = self.down.min(total - height).max(0);
        self.page = height;
        unsigned(self.down)..unsigned((self.down + height).min(total))
    }

    /// The rows that are shown, if the pane has a cursor that is at row `here` by itself. The rows that were shown before stay where
    /// they are if the cursor is among them. Returns the rows and the cursor's.
    pub fn around(&mut self, here: usize, total: usize, height: usize) -> (std::ops::Range<usize>, usize) {
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

fn is_false(option: &bool) -> bool {
    !option
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX / 2).min(i64::MAX / 2)
}

fn unsigned(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

impl Pane {
    /// Whether it shows by itself where the focused thread stands.
    pub fn follows(&self) -> bool {
        matches!(self, Pane::Source { .. } | Pane::Original { .. } | Pane::Cfg | Pane::Timeline)
    }

    /// Columns that a key to the left or to the right moves.
    pub fn stride(&self) -> i64 {
        if matches!(self, Pane::Memory { .. } | Pane::Registers { .. } | Pane::Timeline) { 1 } else { 4 }
    }

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

/// What stands at the end of a title where not all rows are in sight.
fn more(window: &std::ops::Range<usize>, total: usize) -> String {
    if window.len() >= total { String::new() } else { format!(" · {}-{} of {total}", window.start + 1, window.end) }
}

/// A count in at most four characters: `9999`, `12k`, `1.2M`, `340G`.
fn short(count: u64) -> String {
    if count < 10_000 {
        return count.to_string();
    }
    let (mut whole, mut rest, mut units) = (count, 0, ["", "k", "M", "G", "T", "P", "E"].iter());
    let mut unit = units.next();
    while whole >= 1000 {
        (rest, whole, unit) = (whole % 1000, whole / 1000, units.next());
    }
    let unit = unit.copied().unwrap_or_default();
    if whole < 10 { format!("{whole}.{}{unit}", rest / 100) } else { format!("{whole}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn counts_take_four_characters() {
        let told = [0, 9999, 10_000, 999_999, 1_299_999, 34_000_000, u64::MAX].map(short);
        assert_eq!(told, ["0", "9999", "10k", "999k", "1.2M", "34M", "18E"]);
    }
}
