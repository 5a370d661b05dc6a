//! What a run is for, and why it stopped.

use super::breakpoints::Event;
use super::case::Fault;
use super::findings::FindingText;
use super::focus::Focus;
use crate::machine::{LaneMask, Tick};
use crate::program::Pc;

/// Which way in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Execute.
    Forward,
    /// Go back through what was executed.
    Backward,
}

/// What a run is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// Until something stops it.
    Continue,
    /// The same from the start, where the first instruction may be a stop as well.
    Run,
    /// One instruction, `count` times.
    Instruction {
        /// How often.
        count: u64,
        /// Calls count as one instruction.
        over_calls: bool,
    },
    /// One line, `count` times.
    Line {
        /// How often.
        count: u64,
        /// Calls belong to the line they stand on.
        over_calls: bool,
    },
    /// Until the selected frame returns; backwards, to where it was called.
    Finish,
    /// Until the focused lane stands behind the current line in the same frame: loops run to their end.
    Until,
    /// Until the focused lane stands at one of these instructions; in the same frame or its callers if `this_frame`.
    Advance {
        /// The instructions.
        pcs: Vec<Pc>,
        /// Whether the current frame's return stops as well (`until LOCATION`).
        this_frame: bool,
    },
    /// Until the focused warp is about to do it, or has done it.
    Event(Event),
}

/// How much of the grid one step steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StepUnit {
    /// The focused lane's next instruction.
    Lane,
    /// The focused warp's next instruction.
    #[default]
    Warp,
    /// The next instruction of any warp of the focused block.
    Block,
    /// The next instruction of any.
    Grid,
}

/// What stepping a warp does when the focused lane is not among those that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DivergentStep {
    /// The focus moves to a lane that runs.
    #[default]
    Follow,
    /// The others run until the focused lane does again.
    Wait,
}

/// A stop: where the session now stands, and why.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Time.
    pub time: Tick,
    /// The thread the user looks at now.
    pub focus: Focus,
    /// The focus is on another warp than before.
    pub focus_moved: bool,
    /// Why the focus left the thread that was looked at before, if that is not there any more or not yet.
    pub left: Option<String>,
    /// The launch that runs now, if it is another one than before; from 0.
    pub new_launch: Option<usize>,
    /// Why.
    pub reasons: Vec<Reason>,
    /// Instructions that other warps issued during a step, because the focused one needed them.
    pub others: Option<Others>,
    /// What logpoints wrote on the way.
    pub log: Vec<String>,
}

/// What other warps did during a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Others {
    /// Warp-instructions.
    pub instructions: u64,
    /// What the focused warp needed them for.
    pub need: Need,
}

/// Why other warps ran during a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It waited at this barrier.
    Barrier(u32),
    /// It waited for lanes of its own warp, or its turn was over.
    Turn,
    /// It read a flag again and again that others must set.
    Flag,
    /// The past is replayed as it was.
    Recorded,
}

/// Why a run stopped.
#[derive(Clone, Debug)]
pub enum Reason {
    /// A breakpoint.
    Breakpoint {
        /// Its number.
        number: u32,
        /// It was temporary and is gone.
        temporary: bool,
    },
    /// A watched place was touched.
    Watchpoint(Touch),
    /// Something caught.
    Caught {
        /// The catchpoint's number, or none for `run-to`.
        number: Option<u32>,
        /// What happened.
        event: Event,
        /// The block of the warp that it happened to.
        block: [u32; 3],
        /// That warp.
        warp: u32,
        /// The lanes it happened to.
        lanes: LaneMask,
        /// More about it, in words.
        told: Option<Box<str>>,
    },
    /// A checker found something.
    Finding(Box<FindingText>),
    /// What was asked for is done.
    Done,
    /// The user interrupted.
    Interrupted,
    /// All blocks have finished.
    Ended,
    /// An instruction faulted, or nobody can go on.
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
        /// Why.
        message: String,
    },
}

impl Reason {
    /// The number of the breakpoint, watchpoint or catchpoint that stopped; none for other reasons.
    pub fn number(&self) -> Option<u32> {
        match self {
            Self::Breakpoint { number, .. } | Self::BadCondition { number, .. } => Some(*number),
            Self::Watchpoint(touch) => touch.number,
            Self::Caught { number, .. } => *number,
            _ => None,
        }
    }
}

/// One touch of a watched place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The watchpoint's number; none in a history.
    pub number: Option<u32>,
    /// What was touched.
    pub name: String,
    /// When: the tick of the instruction.
    pub time: Tick,
    /// The instruction.
    pub pc: Pc,
    /// The warp that executed it.
    pub by: Focus,
    /// Its lanes that touched the place.
    pub lanes: LaneMask,
    /// Whether it wrote.
    pub write: bool,
    /// The asynchronous copy or matrix multiplication that touched it, which the instruction issued, and when it did.
    pub copy: Option<(u64, Tick)>,
    /// Of a compare-and-swap, all lanes that tried; `lanes` are those that won. None of anything else.
    pub tried: Option<LaneMask>,
    /// Of memory, its first address, and the first byte that the access touched, if threads did it.
    pub address: Option<(u64, u64)>,
    /// The bytes before; for a register of several lanes, of the lowest that changed.
    pub old: Vec<u8>,
    /// The bytes after.
    pub new: Vec<u8>,
}
