//! The kinds of panes, as in layout files.

use serde::{Deserialize, Serialize};

use crate::debug::view::MemorySpace;

/// A pane with its options, as in a layout file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Pane {
    /// The PTX text, and the threads on each line.
    Source {
        /// With how many lanes have executed each line.
        #[serde(default, skip_serializing_if = "is_false")]
        counts: bool,
    },
    /// The source of the PTX, and the threads on each line.
    Original {
        /// With how many lanes have executed each line.
        #[serde(default, skip_serializing_if = "is_false")]
        counts: bool,
    },
    /// The focused function as a graph.
    Cfg,
    /// Registers of the selected frame.
    Registers {
        /// The focused lane, or all lanes of the warp.
        #[serde(default)]
        of: RegistersOf,
        /// Only those whose name contains this.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        only: String,
        /// With the displays above them.
        #[serde(default, skip_serializing_if = "is_false")]
        displays: bool,
        /// With the operands of the current instruction above them.
        #[serde(default, skip_serializing_if = "is_false")]
        operands: bool,
    },
    /// The state of every warp of the focused block, and the blocks of the grid.
    Warps,
    /// Named barriers.
    Sync,
    /// Mbarriers: phases, arrivals, bytes, waiting threads.
    Mbarriers,
    /// Asynchronous copies in flight.
    Copies,
    /// The stages of a pipeline over time.
    Pipeline,
    /// Variables and buffers of a state space.
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
    /// The banks of shared memory that the next access touches.
    Banks,
    /// The writes of a location on weak memory.
    Writes,
    /// The matrices in the registers of a matrix instruction.
    Fragments,
    /// The call stack.
    Stack,
    /// Variables and parameters of the selected frame.
    Locals,
    /// The displays.
    Displays,
    /// Breakpoints, watchpoints and catchpoints.
    Breakpoints,
    /// The recorded time.
    Timeline,
    /// The output so far.
    Console,
    /// The keys.
    Help,
    /// The findings of the checkers.
    Findings,
}

/// The names of all panes in layout files, each with a description.
pub const PANES: [(&str, &str); 21] = [
    ("Source", "The PTX text, with breakpoints, and for each line which lanes of the focused warp and which other warps stand there."),
    ("Original", "The same of the text that the PTX was made from, CUDA or Triton, where .loc names it and its file is found."),
    ("Cfg", "The control flow of the focused function as a graph, with the threads in each block; a list where there is no room."),
    ("Registers", "Registers of the selected frame: of the focused lane, or in a row for each what all lanes of the warp hold."),
    ("Warps", "What every warp of the focused block does, equal ones in one row, and the blocks of the grid."),
    ("Sync", "The named barriers of the focused block: which threads have arrived and which are missing."),
    ("Mbarriers", "The mbarriers of the focused block: phases, arrivals, transaction bytes, and which threads wait for which parity."),
    ("Copies", "The asynchronous copies in flight of the focused block or into it, and their groups."),
    ("Pipeline", "The mbarriers that copies complete on, over time: when each was filled, full, read and empty."),
    ("Memory", "Variables and buffers of a space of memory, element by element; F3 shows them as a heat map."),
    ("Banks", "The banks of shared memory that the lanes of the warp touch next, the conflicts, and what would spare them."),
    ("Writes", "On weak memory, the writes of what the focused lane accesses next, and which of them each thread may read."),
    ("Fragments", "The matrices in the registers of the matrix instruction that is next or was the last, each element with its lane."),
    ("Stack", "The calls that the focused lane is inside of."),
    ("Locals", "Variables and parameters of the selected frame."),
    ("Displays", "What was typed after 'display', with its values."),
    ("Breakpoints", "Breakpoints, watchpoints and catchpoints."),
    ("Timeline", "The recorded time as a bar, with the present, stops and marks."),
    ("Console", "What was typed and answered."),
    ("Findings", "What was found wrong so far, with both sides; a click goes to one of them."),
    ("Help", "The keys."),
];

/// The lanes whose registers are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RegistersOf {
    /// The focused lane.
    #[default]
    Lane,
    /// All lanes of the warp: a row shows 32 values.
    Warp,
}

/// The format of the memory pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryFormat {
    /// Elements of the declared type; a matrix row by row.
    #[default]
    Elements,
    /// Bytes in hexadecimal and as characters.
    Bytes,
    /// Elements in rows of this many.
    Tile(u32),
    /// Elements as shades of their magnitude.
    Heat,
}

impl MemoryFormat {
    /// True for the default format.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Pane {
    /// True if it scrolls to the location of the focused thread.
    pub fn follows(&self) -> bool {
        matches!(self, Pane::Source { .. } | Pane::Original { .. } | Pane::Cfg | Pane::Timeline)
    }

    /// The number of columns by which the left and right keys scroll.
    pub fn stride(&self) -> i64 {
        if matches!(self, Pane::Memory { .. } | Pane::Registers { .. } | Pane::Fragments | Pane::Timeline) { 1 } else { 4 }
    }
}

fn is_false(option: &bool) -> bool {
    !option
}
