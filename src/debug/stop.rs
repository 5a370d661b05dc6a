//! The goal of a run, and the reasons why it stopped.

use serde::Serialize;

use super::breakpoints::Event;
use super::eval_context::ThreadError;
use super::fault::Fault;
use super::findings::FindingText;
use super::focus::Focus;
use super::site::Site;
use super::value::Shown;
use super::watched_access::{WatchedAccess, WatchedAccessText};
use crate::machine::{LaneMask, Tick};
use crate::program::Pc;

/// The direction in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Execute.
    Forward,
    /// Go back in the recorded execution.
    Backward,
}

/// The goal of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// Until something stops it.
    Continue,
    /// The same from the start, including a stop at the first instruction.
    Run,
    /// One instruction, `count` times.
    Instruction {
        /// The repeat count.
        count: u64,
        /// Calls count as one instruction.
        over_calls: bool,
    },
    /// One line, `count` times.
    Line {
        /// The repeat count.
        count: u64,
        /// A call counts as part of its line.
        over_calls: bool,
    },
    /// Until the selected frame returns; backwards, to where it was called.
    Finish,
    /// Until the focused lane is past the current line in the same frame: loops run to their end.
    Until,
    /// Until the focused lane is at one of these instructions; in the same frame or its callers if `this_frame`.
    Advance {
        /// The instructions.
        pcs: Vec<Pc>,
        /// True if the current frame's return stops as well (`until LOCATION`).
        this_frame: bool,
    },
    /// Until this event of the focused warp.
    Event(Event),
}

/// The threads that one step executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StepUnit {
    /// The focused lane's next instruction.
    Lane,
    /// The focused warp's next instruction.
    #[default]
    Warp,
    /// The next instruction of any warp of the focused block.
    Block,
    /// The next instruction of any block.
    Grid,
}

/// What a step of a warp does if the focused lane has diverged from the lanes that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DivergentStep {
    /// The focus moves to a lane that runs.
    #[default]
    Follow,
    /// The others run until the focused lane does again.
    Wait,
}

/// A stop: the position of the session, and the reasons. Names and values are those at the stop, so that it can be printed, stored and sent
/// after the session has moved on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stop {
    /// Time.
    pub time: Tick,
    /// The focused thread.
    pub focus: Focus,
    /// The same as text, with the role of its warp: `block 1,0,0 producer warp 0 lane 5`.
    pub thread: String,
    /// The instruction that it executes next, or why there is none.
    pub here: Result<Box<Site>, ThreadError>,
    /// The thread that was focused before.
    pub before: Focus,
    /// Why the focus left that thread, if it is not on the machine.
    pub left: Option<String>,
    /// The launch.
    pub launch: StoppedLaunch,
    /// The reasons.
    pub reasons: Vec<Reason>,
    /// Instructions of other warps during a step that the focused warp needed to continue.
    pub others: Option<Others>,
    /// The number of findings that are not suppressed.
    pub findings: usize,
    /// At the end of the run, the number of elements of buffers that are not as the launch expects.
    pub wrong_elements: u64,
    /// What loads of the focused thread have returned that was not the newest, on weak memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
    /// The output of logpoints during the run.
    pub log: Vec<String>,
    /// The displays.
    pub displays: Vec<Shown>,
}

impl Stop {
    /// True if the run is over: all threads have exited, or none can continue.
    pub fn is_over(&self) -> bool {
        self.reasons.iter().any(|reason| matches!(reason, Reason::Ended | Reason::Fault(_) | Reason::Broken(_)))
    }

    /// True if another thread is focused than before.
    pub fn has_other_thread(&self) -> bool {
        let thread = |focus: &Focus| (focus.block, focus.warp, focus.lane);
        thread(&self.focus) != thread(&self.before)
    }
}

/// The launch in which a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoppedLaunch {
    /// Its number in the case, from 0.
    pub number: usize,
    /// Launches of the case.
    pub count: usize,
    /// Its kernel.
    pub kernel: String,
    /// True if it is not the launch of the previous stop.
    pub is_new: bool,
    /// At the end of the run, what of its launches is made up, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_up: Option<String>,
}

/// The instructions of other warps during a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Others {
    /// Warp-instructions.
    pub instructions: u64,
    /// The reason why the focused warp needed them.
    pub need: Need,
}

/// Why other warps ran during a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Need {
    /// It waited at this barrier.
    Barrier(u32),
    /// It waited for lanes of its own warp, or its time slice was over.
    Turn,
    /// It spun on a flag that others must set.
    Flag,
    /// The recorded execution is replayed.
    Recorded,
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Reason {
    /// A breakpoint.
    Breakpoint {
        /// Its number.
        number: u32,
        /// It was temporary and is gone.
        temporary: bool,
        /// True in the first stop of a breakpoint on a line of the source that stops one of the warps of a block in a visit.
        #[serde(skip)]
        once_a_visit: bool,
    },
    /// A watched target was accessed.
    Watchpoint {
        /// The access.
        watched_access: WatchedAccess,
        /// The same with names and values.
        text: Box<WatchedAccessText>,
    },
    /// No watched lane is in the frame of a watched variable any more: the watchpoint is gone.
    VariableLeft {
        /// Its number.
        number: u32,
    },
    /// A catchpoint, or `run-to`.
    Caught {
        /// The catchpoint's number, or none for `run-to`.
        number: Option<u32>,
        /// The event.
        event: Event,
        /// The block of the warp that it happened to.
        block: [u32; 3],
        /// That warp.
        warp: u32,
        /// Its name with its role: `producer warp 0`.
        warp_name: String,
        /// The lanes it happened to.
        lanes: LaneMask,
        /// More about it, in words.
        described: Option<Box<str>>,
    },
    /// A checker found something.
    Finding(Box<FindingText>),
    /// The goal is reached.
    Done,
    /// The user interrupted.
    Interrupted,
    /// All blocks have finished.
    Ended,
    /// An instruction faulted, or no warp can make progress.
    Fault(Box<Fault>),
    /// The data of a later launch cannot be read.
    Broken(String),
    /// Going back ended at the beginning.
    Beginning,
    /// The focused thread has exited.
    ThreadExited,
    /// A condition could not be evaluated.
    BadCondition {
        /// The breakpoint.
        number: u32,
        /// The message.
        message: String,
    },
}

impl Reason {
    /// The number of the breakpoint, watchpoint or catchpoint that stopped; none for other reasons.
    pub fn number(&self) -> Option<u32> {
        match self {
            Self::Breakpoint { number, .. } | Self::BadCondition { number, .. } | Self::VariableLeft { number } => Some(*number),
            Self::Watchpoint { watched_access, .. } => watched_access.number,
            Self::Caught { number, .. } => *number,
            Self::Finding(_)
            | Self::Done
            | Self::Interrupted
            | Self::Ended
            | Self::Fault(_)
            | Self::Broken(_)
            | Self::Beginning
            | Self::ThreadExited => None,
        }
    }
}
