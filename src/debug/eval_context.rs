//! The context in which expressions and views are evaluated: the machine (the simulated GPU with one launch) at a stop, and the focused
//! thread.
//!
//! An [`EvalContext`] is cheap to make. It gives the thread's block, warp and converged lanes, and the selected call frame with its program
//! counter and its registers. The focused thread need not be live: its block may not have started or may have finished, and its lane may
//! have exited; each is an error of its own ([`ThreadError`]).

use std::collections::BTreeMap;

use crate::base::Dim3;
use crate::dwarf::{DebugInfo, LazyDebugInfo};
use crate::launch::{Case, PlannedBuffer};
use crate::machine::{Block, BlockLife, FrameBase, LANES, LaneGroup, LaneMask, Machine, Warp, frames};
use crate::program::{FuncId, Function, Pc, Program, SourceLine};

use super::focus::{Extents, Focus};
use super::inlined;
use super::kept_values::KeptValues;
use super::names::inferred::InferredTypes;
use super::roles::{NO_ROLES, Roles};
use super::source_texts::SourceTexts;
use super::tensors::{LazyTensors, Tensors};
use crate::isa::ScalarType;

/// The machine, the focused thread, and the names and types that expressions use.
#[derive(Clone, Copy)]
pub struct EvalContext<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The focused thread.
    pub focus: Focus,
    /// The types of the launch's buffers.
    pub buffers: &'a [Buffer],
    /// The inferred types of registers, if they are known.
    pub inferred: Option<&'a InferredTypes>,
    /// The names of the kernel's parameters in the source, by index, if they are known.
    pub param_names: Option<&'a BTreeMap<usize, String>>,
    /// The roles of warps.
    pub roles: &'a Roles,
    /// The values under names with a `$`, if a session keeps them.
    pub kept: Option<&'a KeptValues>,
    /// True if a name of both a parameter and a buffer means the parameter, as in the text of the module.
    pub names_as_in_ptx: bool,
    /// The debug data of the program, if names of the source are looked up.
    pub debug_data: Option<&'a LazyDebugInfo>,
    /// The texts of the source, if they are shown.
    pub source_texts: Option<&'a SourceTexts>,
    /// True if a name of both a variable of the source and a buffer means the variable, as in the source.
    pub names_as_in_source: bool,
    /// The tensors of Triton's code, if names of the source are looked up.
    pub tensor_data: Option<&'a LazyTensors>,
    /// The last values of variables that have none now, if they stand for them.
    pub last_values: Option<&'a BTreeMap<String, Vec<u8>>>,
}

/// The type of a buffer that the launch made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// Type of an element.
    pub ty: ScalarType,
    /// Extent of every dimension, outermost first.
    pub shape: Vec<u64>,
}

impl Buffer {
    /// The buffers of a case.
    pub fn of_case(case: &Case) -> Vec<Buffer> {
        case.buffers.iter().map(Self::of).collect()
    }

    /// A buffer.
    pub fn of(buffer: &PlannedBuffer) -> Self {
        let ty = ScalarType::from_word(buffer.element.name()).unwrap_or(ScalarType::B8);
        Self { name: buffer.name.clone(), ty, shape: buffer.shape.clone() }
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.shape.iter().fold(u64::from(self.ty.bytes()), |bytes, extent| bytes.saturating_mul(*extent))
    }
}

/// One call frame of one lane.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The block.
    pub block: &'a Block,
    /// The warp.
    pub warp: &'a Warp,
    /// Number of the warp in the block.
    pub warp_number: u32,
    /// The converged lanes that include the lane.
    pub group: &'a LaneGroup,
    /// The lane.
    pub lane: u32,
    /// The instruction executed next; in the frame of a caller, the call.
    pub pc: Pc,
    /// The frame of its registers and local memory.
    pub base: FrameBase,
    /// The function.
    pub function: FuncId,
    /// Calls in progress: 0 in the kernel itself.
    pub depth: u32,
    /// The number of inlined functions around its instruction that are frames of their own, further in.
    pub inlined: u32,
}

impl Frame<'_> {
    /// The instruction that the lane executes next or waits at; in the frame of a caller, the call.
    pub fn position(&self) -> Pc {
        if self.is_innermost_call() { self.group.current_pc() } else { self.pc }
    }

    /// True if the lane executes the function of this frame, and not one that it called.
    pub fn is_innermost_call(&self) -> bool {
        self.group.stack.as_ref().map_or(0, |call| call.depth) == self.depth
    }
}

/// Why a thread cannot be examined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize)]
pub enum ThreadError {
    /// The grid has no such block.
    #[error("there is no block {}: the grid's are (0,0,0) to {}", Dim3(*.block), Dim3(*.last))]
    NoBlock {
        /// Its index.
        block: [u32; 3],
        /// The last index.
        last: [u32; 3],
    },
    /// The block is not on the machine yet.
    #[error("block {} has not started: {started} of {blocks} have", Dim3(*.block))]
    NotStarted {
        /// Its index.
        block: [u32; 3],
        /// Blocks started so far.
        started: u64,
        /// Blocks of the grid.
        blocks: u64,
    },
    /// All threads of the block have exited.
    #[error("block {} has finished", Dim3(*.block))]
    Finished {
        /// Its index.
        block: [u32; 3],
    },
    /// The block has no such warp.
    #[error("there is no warp {warp}: the block's are 0 to {last}")]
    NoWarp {
        /// Its number.
        warp: u32,
        /// The last number.
        last: u32,
    },
    /// The warp has no such lane.
    #[error("warp {warp} has no lane {lane}: its lanes are {}", .lanes.list())]
    NoLane {
        /// The warp.
        warp: u32,
        /// The lane.
        lane: u32,
        /// The lanes it has.
        lanes: LaneMask,
    },
    /// The thread has exited.
    #[error("lane {lane} of warp {warp} has exited{}", live_lanes_text(*.live))]
    Exited {
        /// The warp.
        warp: u32,
        /// The lane.
        lane: u32,
        /// The lanes that have not.
        live: LaneMask,
    },
    /// The call stack is not that deep.
    #[error("there is no frame {frame}: the frames are 0 to {last}")]
    NoFrame {
        /// Its number.
        frame: u32,
        /// The outermost.
        last: u32,
    },
}

fn live_lanes_text(live: LaneMask) -> String {
    if live.is_empty() { ", like all of the warp".to_string() } else { format!("; lanes {} have not", live.list()) }
}

impl<'a> EvalContext<'a> {
    /// The context of `focus`, without types and names.
    pub fn at(machine: &'a Machine, focus: Focus) -> Self {
        Self {
            machine,
            focus,
            buffers: &[],
            inferred: None,
            param_names: None,
            roles: &NO_ROLES,
            kept: None,
            names_as_in_ptx: false,
            debug_data: None,
            source_texts: None,
            names_as_in_source: false,
            tensor_data: None,
            last_values: None,
        }
    }

    /// The same context with the types of the launch's buffers.
    #[must_use]
    pub fn with_buffers(self, buffers: &'a [Buffer]) -> Self {
        Self { buffers, ..self }
    }

    /// The same context, in which untyped registers have the types that instructions use them as.
    #[must_use]
    pub fn with_inferred_types(self, inferred: &'a InferredTypes) -> Self {
        Self { inferred: Some(inferred), ..self }
    }

    /// The same context with names of the kernel's parameters, by index.
    #[must_use]
    pub fn with_param_names(self, param_names: Option<&'a BTreeMap<usize, String>>) -> Self {
        Self { param_names, ..self }
    }

    /// The same context with roles of warps.
    #[must_use]
    pub fn with_roles(self, roles: &'a Roles) -> Self {
        Self { roles, ..self }
    }

    /// The same context with values under names with a `$`.
    #[must_use]
    pub fn with_kept_values(self, kept: &'a KeptValues) -> Self {
        Self { kept: Some(kept), ..self }
    }

    /// The same context with the names of the source.
    #[must_use]
    pub fn with_debug_data(self, debug_data: &'a LazyDebugInfo) -> Self {
        Self { debug_data: Some(debug_data), ..self }
    }

    /// The same context with the tensors of Triton's code.
    #[must_use]
    pub fn with_tensors(self, tensor_data: &'a LazyTensors) -> Self {
        Self { tensor_data: Some(tensor_data), ..self }
    }

    /// The tensors of the kernel; none if it is none of Triton's, or names mean what they mean in the text of the module.
    pub fn tensors(&self) -> Option<&'a Tensors> {
        self.tensor_data.filter(|_| !self.names_as_in_ptx)?.get(self.program(), self.machine.config().kernel)
    }

    /// Why a description of the kernel's tensors that is there is not used.
    pub fn tensor_problem(&self) -> Option<&'a str> {
        self.tensor_data.filter(|_| !self.names_as_in_ptx)?.problem(self.program(), self.machine.config().kernel)
    }

    /// The same context with the texts of the source.
    #[must_use]
    pub fn with_source_texts(self, source_texts: &'a SourceTexts) -> Self {
        Self { source_texts: Some(source_texts), ..self }
    }

    /// The text of a line of the source, if it is at hand.
    pub fn source_text(&self, place: SourceLine) -> Option<&'a str> {
        self.source_texts?.line(self.program(), place)
    }

    /// The same context, in which names mean what they mean in the source.
    #[must_use]
    pub fn with_names_as_in_source(self) -> Self {
        Self { names_as_in_source: true, ..self }
    }

    /// The debug data of the program, whatever names mean.
    pub fn source_data(&self) -> Option<&'a DebugInfo> {
        self.debug_data?.get(self.program())
    }

    /// The debug data of the program; none if it has none, or names mean what they mean in the text of the module.
    pub fn debug_info(&self) -> Option<&'a DebugInfo> {
        self.source_data().filter(|_| !self.names_as_in_ptx)
    }

    /// The same context, in which names mean what they mean in the text of the module.
    #[must_use]
    pub fn with_names_as_in_ptx(self) -> Self {
        Self { names_as_in_ptx: true, ..self }
    }

    /// The same context with another focused thread.
    #[must_use]
    pub fn refocused(self, focus: Focus) -> Self {
        Self { focus, ..self }
    }

    /// True if the focused lane is one of `lanes`.
    pub fn is_focused(&self, lanes: LaneMask) -> bool {
        self.focus.lane < LANES as u32 && lanes.contains(self.focus.lane as usize)
    }

    /// The program that runs.
    pub fn program(&self) -> &'a Program {
        self.machine.program()
    }

    /// The launch's extents.
    pub fn extents(&self) -> Extents {
        Extents::of(self.machine)
    }

    /// The focused block.
    ///
    /// # Errors
    /// It is not on the machine.
    pub fn block(&self) -> Result<&'a Block, ThreadError> {
        let block = self.focus.block;
        self.machine.block(block).ok_or_else(|| match self.machine.block_life(block) {
            None => ThreadError::NoBlock { block, last: self.machine.config().grid.map(|extent| extent.saturating_sub(1)) },
            Some(BlockLife::NotStarted) => {
                ThreadError::NotStarted { block, started: self.machine.blocks_started(), blocks: self.machine.block_count() }
            }
            Some(BlockLife::Resident | BlockLife::Finished) => ThreadError::Finished { block },
        })
    }

    /// The focused warp.
    ///
    /// # Errors
    /// The block is not on the machine, or has no such warp.
    pub fn warp(&self) -> Result<&'a Warp, ThreadError> {
        let block = self.block()?;
        let last = (block.warps.len() as u32).saturating_sub(1);
        let warp = block.warps.get(self.focus.warp as usize);
        warp.map(|warp| &**warp).ok_or(ThreadError::NoWarp { warp: self.focus.warp, last })
    }

    /// The converged lanes that include the focused lane.
    ///
    /// # Errors
    /// The thread is not on the machine.
    pub fn group(&self) -> Result<&'a LaneGroup, ThreadError> {
        self.group_of(self.focus.lane)
    }

    /// The selected frame of the focused lane.
    ///
    /// # Errors
    /// The thread is not on the machine, or its stack is not that deep.
    pub fn frame(&self) -> Result<Frame<'a>, ThreadError> {
        let (block, warp, group) = (self.block()?, self.warp()?, self.group()?);
        let frame = self.focus.frame;
        if frame == 0 {
            let missing = ThreadError::NoFrame { frame, last: 0 };
            return self.calls_of(block, warp, group, self.focus.lane).next().ok_or(missing);
        }
        let frames = || self.frames_of(block, warp, group, self.focus.lane);
        let missing = || ThreadError::NoFrame { frame, last: (frames().count() as u32).saturating_sub(1) };
        frames().nth(frame as usize).ok_or_else(missing)
    }

    /// The number of `frame`, which is one of the focused lane.
    ///
    /// # Errors
    /// The thread is not on the machine, or has no such frame.
    pub fn number_of(&self, frame: &Frame<'a>) -> Result<u32, ThreadError> {
        let frames = self.frames()?;
        let position = frames.iter().position(|other| (other.depth, other.inlined) == (frame.depth, frame.inlined));
        position.map(|number| number as u32).ok_or(ThreadError::NoFrame { frame: frame.inlined, last: frames.len() as u32 - 1 })
    }

    /// The function of the selected frame; of a thread that is not on the machine, the kernel.
    pub fn current_function(&self) -> FuncId {
        self.frame().map_or(self.machine.config().kernel, |frame| frame.function)
    }

    /// Blocks of the grid.
    pub fn block_count(&self) -> u64 {
        self.machine.block_count()
    }

    /// The lanes of the focused warp that run next; none if it waits or is not on the machine.
    pub fn next_lanes(&self) -> LaneMask {
        self.machine.next_lanes(self.focus.block, self.focus.warp).unwrap_or_default()
    }

    /// All frames of the focused lane, innermost first; those of inlined functions too.
    ///
    /// # Errors
    /// The thread is not on the machine.
    pub fn frames(&self) -> Result<smallvec::SmallVec<[Frame<'a>; 2]>, ThreadError> {
        let (block, warp, group) = (self.block()?, self.warp()?, self.group()?);
        Ok(self.frames_of(block, warp, group, self.focus.lane).collect())
    }

    /// The number of inlined functions around the instruction of a frame: the frame of the function of the module is the one of them all.
    pub fn calls_around(&self, frame: &Frame<'a>) -> u32 {
        inlined::calls_at(self.program(), self.source_data(), frame.position()).len() as u32
    }

    /// The frame of another lane of the warp that corresponds to the selected one: of the same function, at the same depth. None if
    /// the lane has exited or has no such frame.
    pub fn same_frame(&self, selected: &Frame<'a>, lane: u32) -> Option<Frame<'a>> {
        if selected.group.mask.contains(lane as usize) {
            return Some(Frame { lane, ..*selected });
        }
        let group = self.group_of(lane).ok()?;
        let same = |frame: &Frame<'a>| frame.depth == selected.depth && frame.function == selected.function;
        self.calls_of(selected.block, selected.warp, group, lane).find(same)
    }

    /// The lanes of the warp that have a frame corresponding to the selected one.
    pub fn lanes_in(&self, selected: &Frame<'a>) -> LaneMask {
        selected.warp.live.filter(|lane| self.same_frame(selected, lane as u32).is_some())
    }

    /// The function with a frame's registers and names.
    pub fn function(&self, frame: &Frame<'a>) -> &'a Function {
        &self.program().functions[frame.function.index()]
    }

    fn group_of(&self, lane: u32) -> Result<&'a LaneGroup, ThreadError> {
        let warp = self.warp()?;
        let number = self.focus.warp;
        let lanes = self.machine.lanes_of_warp(number) & LaneMask::ALL;
        if lane >= LANES as u32 || !lanes.contains(lane as usize) {
            return Err(ThreadError::NoLane { warp: number, lane, lanes });
        }
        let found = warp.groups.iter().find(|group| group.mask.contains(lane as usize));
        found.ok_or(ThreadError::Exited { warp: number, lane, live: warp.live })
    }

    /// The frames of a lane with those of inlined functions.
    fn frames_of(&self, block: &'a Block, warp: &'a Warp, group: &'a LaneGroup, lane: u32) -> impl Iterator<Item = Frame<'a>> {
        let (program, info) = (self.program(), self.source_data());
        self.calls_of(block, warp, group, lane).flat_map(move |frame| {
            let calls = inlined::calls_at(program, info, frame.position()).len() as u32;
            (0..=calls).map(move |inlined| Frame { inlined, ..frame })
        })
    }

    /// The frames of a lane's calls.
    fn calls_of(&self, block: &'a Block, warp: &'a Warp, group: &'a LaneGroup, lane: u32) -> impl Iterator<Item = Frame<'a>> + use<'a> {
        let kernel = self.machine.config().kernel;
        let warp_number = self.focus.warp;
        let mut calls = frames(&group.stack);
        let mut next = Some((group.pc, group.frame));
        std::iter::from_fn(move || {
            let (pc, base) = next?;
            let call = calls.next();
            next = call.map(|call| (call.pc, call.caller));
            let (function, depth) = call.map_or((kernel, 0), |call| (call.callee, call.depth));
            Some(Frame { block, warp, warp_number, group, lane, pc, base, function, depth, inlined: 0 })
        })
    }
}
