//! Which panes there are, as layout files say them, and what each shows.

use serde::{Deserialize, Serialize};

use crate::debug::view::MemorySpace;

/// A pane with its options, as a layout file says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Pane {
    /// The PTX text, and the threads on each line.
    Source {
        /// With how many lanes have executed each line.
        #[serde(default, skip_serializing_if = "is_false")]
        counts: bool,
    },
    /// The text that the PTX was made from, and the threads on each line.
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
        displays: bool,
        /// With those of the present instruction above them.
        #[serde(default, skip_serializing_if = "is_false")]
        operands: bool,
    },
    /// What every warp of the focused block does, and the blocks of the grid.
    Warps,
    /// Named barriers.
    Sync,
    /// Mbarriers: phases, arrivals, bytes, waiting threads.
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
        #[serde(default, skip_serializing_if = "MemoryFormat::is_default")]
        show: MemoryFormat,
    },
    /// Calls.
    Stack,
    /// Variables and parameters of the selected frame.
    Locals,
    /// The displays.
    Displays,
    /// Breakpoints, watchpoints and catchpoints.
    Breakpoints,
    /// The recorded time.
    Timeline,
    /// What was said.
    Console,
    /// The keys.
    Help,
    /// What the checkers found.
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
    ("Displays", "What was typed after 'display', with its values."),
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
    /// The warp's: a row shows what 32 lanes hold.
    Warp,
}

/// How memory is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryFormat {
    /// Elements of the declared type; those of a matrix in its rows.
    #[default]
    Elements,
    /// Bytes in hexadecimal, with the characters they are.
    Bytes,
    /// Elements in rows of this many.
    Tile(u32),
}

impl MemoryFormat {
    /// Whether it is that of a pane that says nothing.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
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
}

fn is_false(option: &bool) -> bool {
    !option
}
