//! Breakpoints, watchpoints and catchpoints, in one numbered list as in gdb.
//!
//! A [`Location`], as the user writes it, is resolved to instructions, and so is an [`Event`] that instructions raise. [`Breakpoints`] is
//! the list; a run checks its [`Trigger`]s and counts its hits.

mod call_places;
mod condition;
mod copies;
mod events;
mod field;
mod lines;
mod list;
mod location;
mod message;
mod names;
mod opcode;
mod resolved;
mod view;

pub use call_places::frame_of;
pub use condition::Condition;
pub use events::{EVENTS, Occurrence, barrier_number};
pub use list::Breakpoints;
pub use location::Location;
pub use message::LogMessage;
pub use opcode::{Pattern, opcode};
pub use resolved::Resolved;
pub use view::{BreakpointLocation, BreakpointRow, breakpoint_location, breakpoint_rows};

use serde::{Deserialize, Serialize};

use super::focus::ThreadFilter;
use super::target::Target;
use crate::program::Pc;

/// One entry of `info breakpoints`.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number, never used again.
    pub number: u32,
    /// The condition in the run that triggers it.
    pub trigger: Trigger,
    /// What the user typed after the command, to show and to save.
    pub text: String,
    /// The threads that it is limited to.
    pub filter: ThreadFilter,
    /// It stops only if this is true.
    pub condition: Option<Condition>,
    /// False if it is disabled.
    pub enabled: bool,
    /// Deleted when it stops.
    pub temporary: bool,
    /// Number of hits to ignore.
    pub ignore: u64,
    /// Number of hits going forward, ignored ones included.
    pub hits: u64,
    /// Printed instead of stopping (`dprintf`); none for one that stops.
    pub message: Option<LogMessage>,
    /// Commands to run when it stops.
    pub commands: Vec<String>,
}

/// What triggers a breakpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Trigger {
    /// A thread is about to execute one of these instructions (in order).
    Code(Vec<Pc>),
    /// A block comes to a line of the source, at one of these instructions (in order): once a visit, whatever the number of warps.
    Line(Vec<Pc>),
    /// A target changes, or is accessed.
    Watch(Target, WatchMode),
    /// An event.
    Event(Event),
}

/// The accesses to a watched target that stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WatchMode {
    /// It is written and its value changes.
    Change,
    /// It is read.
    Read,
    /// It is read or written.
    Access,
}

/// An event of a run, which `catch` and `run-to` name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A group of lanes splits.
    Divergence,
    /// Groups of lanes reconverge.
    Reconvergence,
    /// A barrier of the block is about to be executed; with a number, that one.
    Barrier(Option<u32>),
    /// A launch begins.
    Launch,
    /// A call is about to be executed.
    Call,
    /// Threads are about to exit.
    Exit,
    /// A fault.
    Fault,
    /// A checker reports.
    Finding,
    /// `vprintf` is about to be called.
    Printf,
    /// An atomic operation is about to be executed.
    Atomic,
    /// An event of an mbarrier: of this one, and this event, if they are named.
    Mbarrier(Option<u32>, Option<MbarrierAct>),
    /// An asynchronous copy is issued or completes.
    Async(Option<CopyAct>),
}

/// An event of an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MbarrierAct {
    /// A phase completes.
    Phase,
    /// An arrival, an expect-tx or a complete-tx.
    Arrive,
    /// A test of whether a phase has completed, with its result.
    Wait,
}

/// An event of an asynchronous copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CopyAct {
    /// It is issued.
    Issue,
    /// It completes.
    Complete,
}
