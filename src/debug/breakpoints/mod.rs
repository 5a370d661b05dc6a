//! Where runs stop: breakpoints, watchpoints and catchpoints in one numbered list, as in gdb.
//!
//! A [`Location`] is a place in the code as the user names it, and becomes instructions; an [`Event`] that is about to happen becomes
//! instructions too. [`Breakpoints`] is the list; a run looks at its [`Trigger`]s and counts its hits.

mod condition;
mod events;
mod lines;
mod list;
mod location;
mod message;
mod names;
mod opcode;
mod resolved;
mod view;

pub use condition::Condition;
pub use events::{EVENTS, Occurrence, barrier_number};
pub use list::Breakpoints;
pub use location::Location;
pub use message::LogMessage;
pub use opcode::{Pattern, opcode};
pub use resolved::Resolved;
pub use view::{BreakpointPlace, BreakpointRow, breakpoint_place, breakpoint_rows};

use serde::{Deserialize, Serialize};

use super::focus::ThreadFilter;
use super::target::Target;
use crate::program::Pc;

/// One entry of `info breakpoints`.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// Its number, never used again.
    pub number: u32,
    /// What it waits for.
    pub trigger: Trigger,
    /// What the user typed after the command, to show and to save.
    pub text: String,
    /// Which threads it is for.
    pub filter: ThreadFilter,
    /// Stops only where this is true.
    pub condition: Option<Condition>,
    /// Whether it is looked at.
    pub enabled: bool,
    /// Deleted when it stops.
    pub temporary: bool,
    /// Stops to let pass.
    pub ignore: u64,
    /// Times it fired going forward, ignored ones included.
    pub hits: u64,
    /// Printed instead of stopping (`dprintf`); none for one that stops.
    pub message: Option<LogMessage>,
    /// Commands to run when it stops.
    pub commands: Vec<String>,
}

/// What a breakpoint waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Trigger {
    /// A thread is about to execute one of these instructions (in order).
    Code(Vec<Pc>),
    /// A place changes, or is touched.
    Watch(Target, WatchMode),
    /// Something happens.
    Event(Event),
}

/// Which touch of a watched place stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WatchMode {
    /// It is written and its value changes.
    Change,
    /// It is read.
    Read,
    /// It is read or written.
    Access,
}

/// Something that happens in a run, which `catch` and `run-to` name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A group of lanes splits.
    Divergence,
    /// Groups of lanes reconverge.
    Reconvergence,
    /// A barrier of the block is about to be executed; with a number, that one.
    Barrier(Option<u32>),
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
    /// Something is done to an mbarrier: to that one, and that, if they are named.
    Mbarrier(Option<u32>, Option<MbarrierAct>),
    /// An asynchronous copy is issued or ends.
    Async(Option<CopyAct>),
}

/// What is done to an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MbarrierAct {
    /// A phase ends.
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
    /// It ends.
    Complete,
}
