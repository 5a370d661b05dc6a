//! Registers and predicates that nobody has written, where their value comes to matter.
//!
//! Which registers may be read before they are written is known before the run (`candidates`), and so is where their values can go
//! (`watched`). Only those are watched: for each the lanes in which it is undefined, and where that was read first. What an
//! instruction computes from undefined operands is undefined (`flow`). It is a mistake once it decides which way a thread goes, which
//! address it accesses, or what it stores.

mod candidates;
mod flow;
mod name;
mod watched;

use std::collections::BTreeMap;
use std::sync::Arc;

use flow::Operands;
use watched::{Watch, Watched, passes_on};

use crate::check::finding::{Deed, Finding, Side};
use crate::check::told::lanes_do;
use crate::check::{FindingId, Reporter};
use crate::machine::{Issue, LANES, LaneMask, Machine, OrderEvent, Place, Tick, Warp};
use crate::program::operands::{RegisterOperand, RegisterOperands, Use, registers_of};
use crate::program::{CallTarget, FuncId, Op, Program};

/// A block and a warp of it.
type WarpKey = ([u32; 3], u32);

/// Which registers are undefined.
#[derive(Clone)]
pub(super) struct Registers {
    watch: Arc<Watch>,
    warps: BTreeMap<WarpKey, WarpFrames>,
    /// Threads of a block.
    threads: u32,
    /// The instruction told last, which is told again after a pause.
    last: Option<Tick>,
}

/// The calls of a warp.
#[derive(Clone)]
struct WarpFrames {
    /// Lanes that have not exited.
    live: LaneMask,
    frames: Vec<Frame>,
}

/// The watched registers of a call in progress.
#[derive(Clone)]
struct Frame {
    /// Calls in progress.
    depth: u32,
    function: FuncId,
    /// For each watched register, the lanes in which it is undefined.
    undefined: Vec<LaneMask>,
    /// Where the value of each was first read though nobody had written it.
    origins: Vec<Option<Origin>>,
}

/// A register that was read before it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Origin {
    register: RegisterOperand,
    place: Place,
}

/// What an undefined value decides.
#[derive(Clone, Copy)]
enum Matters {
    Way,
    Execution,
    Address,
    Value,
    Operand,
}

impl Registers {
    /// Those of a program.
    pub fn new(program: &Program) -> Self {
        Self { watch: Arc::new(Watch::new(program)), warps: BTreeMap::new(), threads: 0, last: None }
    }

    /// Whether there is anything to watch; else nothing of this needs to be told.
    pub fn is_needed(&self) -> bool {
        !self.watch.is_empty()
    }

    /// A launch begins.
    pub fn begin(&mut self, machine: &Machine) {
        self.warps.clear();
        self.threads = machine.config().block.iter().product();
    }

    /// Lanes exit: their registers are of no interest any more.
    pub fn exited(&mut self, event: &OrderEvent<'_>) {
        let key = (event.place.block, event.place.warp);
        let warp = self.warps.entry(key).or_insert_with(|| WarpFrames::new(self.threads, event.place.warp));
        warp.live &= !event.lanes;
        if warp.live == 0 {
            self.warps.remove(&key);
        }
    }

    /// An instruction is about to be executed.
    #[inline]
    pub fn before(&mut self, issue: &Issue, warp: &Warp, to: &mut Reporter<'_>) -> bool {
        let is_watched = self.watch.code.get(issue.place.pc.index()).is_some_and(|flag| *flag);
        if !is_watched || self.last.replace(issue.place.tick) == Some(issue.place.tick) {
            return false;
        }
        self.execute(issue, warp, to)
    }

    fn execute(&mut self, issue: &Issue, warp: &Warp, to: &mut Reporter<'_>) -> bool {
        let program = to.program;
        let Some(inst) = program.code.get(issue.place.pc.index()) else { return false };
        let watch = Arc::clone(&self.watch);
        let Place { block, warp: number, .. } = issue.place;
        let frames = &mut self.warps.entry((block, number)).or_insert_with(|| WarpFrames::new(self.threads, number)).frames;
        if let Op::Call { call, .. } = inst.op {
            enter(frames, &watch, callee(program, call), issue);
        }
        let Some(function) = program.function_at(issue.place.pc) else { return false };
        let Some(watched) = watch.functions.get(&function) else { return false };
        let frame = frame_of(frames, watched, issue.depth, function);
        let (mut writes, mut any, mut origin, mut found) = (RegisterOperands::new(), 0, None, false);
        registers_of(inst, program, |used, register| {
            if used == Use::Write {
                return writes.push(register);
            }
            let executing = if used == Use::Guard { issue.lanes } else { issue.active };
            let (lanes, from) = frame.read(watched, register, executing, issue.place);
            if lanes == 0 {
                return;
            }
            match matters(&inst.op, used) {
                Some(matters) => found |= report(issue, (register, lanes), from, matters, to),
                None => (any, origin) = (any | lanes, origin.or(from)),
            }
        });
        let undefined =
            |bank, slot| watched.numbers(RegisterOperand { bank, slot, width: 1 }).fold(0, |lanes, number| lanes | frame.undefined[number]);
        let operands = Operands { program, warp, frame: issue.frame, active: issue.active, undefined };
        let result = if any == 0 || !passes_on(&inst.op) { 0 } else { operands.result(&inst.op, any) };
        for number in writes.into_iter().flat_map(|register| watched.numbers(register)) {
            frame.undefined[number] = frame.undefined[number] & !issue.active | result;
            if result != 0 {
                frame.origins[number] = origin;
            }
        }
        found
    }
}

impl WarpFrames {
    fn new(threads: u32, warp: u32) -> Self {
        let lanes = threads.saturating_sub(warp.saturating_mul(LANES as u32)).min(LANES as u32);
        Self { live: LaneMask::MAX.checked_shr(LANES as u32 - lanes).unwrap_or(0), frames: Vec::new() }
    }
}

impl Frame {
    fn new(watched: &Watched, depth: u32, function: FuncId) -> Self {
        let mut frame = Self { depth, function, undefined: vec![0; watched.len()], origins: vec![None; watched.len()] };
        frame.enter(watched, LaneMask::MAX);
        frame
    }

    /// Lanes enter the function: all but its parameters is undefined.
    fn enter(&mut self, watched: &Watched, lanes: LaneMask) {
        self.undefined.iter_mut().for_each(|undefined| *undefined |= lanes);
        watched.params.iter().for_each(|number| self.undefined[*number] &= !lanes);
    }

    /// The lanes of `executing` that read a register undefined, and where its value comes from.
    fn read(&mut self, watched: &Watched, register: RegisterOperand, executing: LaneMask, place: Place) -> (LaneMask, Option<Origin>) {
        let (mut lanes, mut from) = (0, None);
        for number in watched.numbers(register) {
            let undefined = self.undefined[number] & executing;
            if undefined != 0 {
                lanes |= undefined;
                from = Some(*self.origins[number].get_or_insert(Origin { register, place }));
            }
        }
        (lanes, from)
    }
}

/// The frame of a function in which its caller stands so deep.
fn frame_of<'f>(frames: &'f mut Vec<Frame>, watched: &Watched, depth: u32, function: FuncId) -> &'f mut Frame {
    let index = frames.iter().position(|frame| (frame.depth, frame.function) == (depth, function)).unwrap_or_else(|| {
        frames.push(Frame::new(watched, depth, function));
        frames.len() - 1
    });
    &mut frames[index]
}

/// The function that a call surely calls.
fn callee(program: &Program, call: crate::program::CallId) -> Option<FuncId> {
    match program.calls.get(call.index())?.target {
        CallTarget::Direct(function) => Some(function),
        CallTarget::Indirect { .. } => None,
    }
}

/// Lanes call: the registers of the function, or of all that may be it, are undefined.
fn enter(frames: &mut Vec<Frame>, watch: &Watch, callee: Option<FuncId>, issue: &Issue) {
    for (function, watched) in watch.functions.iter().filter(|(function, _)| callee.is_none_or(|callee| callee == **function)) {
        frame_of(frames, watched, issue.depth + 1, *function).enter(watched, issue.active);
    }
}

/// What a value that is read decides at once; nothing if it only comes into the result.
fn matters(op: &Op, used: Use) -> Option<Matters> {
    match (used, op) {
        (Use::Guard, Op::Branch { .. }) => Some(Matters::Way),
        (Use::Guard, _) => Some(Matters::Execution),
        (Use::Address, _) => Some(Matters::Address),
        (Use::Write, _) => None,
        (Use::Read, Op::BranchIndexed { .. }) => Some(Matters::Way),
        (Use::Read, Op::Store { .. } | Op::StoreVector { .. } | Op::Atomic { .. } | Op::AtomicVector { .. } | Op::Image { .. }) => {
            Some(Matters::Value)
        }
        (
            Use::Read,
            Op::AsyncCopy { .. }
            | Op::Mbarrier { .. }
            | Op::MbarrierWait { .. }
            | Op::Barrier { .. }
            | Op::WarpSync { .. }
            | Op::Alloca { .. }
            | Op::ReplaceTensorField { .. },
        ) => Some(Matters::Operand),
        (Use::Read, _) => None,
    }
}

fn report(
    issue: &Issue,
    (register, lanes): (RegisterOperand, LaneMask),
    from: Option<Origin>,
    matters: Matters,
    to: &mut Reporter<'_>,
) -> bool {
    let function = to.program.function_at(issue.place.pc);
    let name = |register| name::name(to.program, function, register);
    let read = name(register);
    let deed = match matters {
        Matters::Way => format!("{read} decides which way {}", lanes_do(lanes, "go")),
        Matters::Execution => format!("{read} decides whether {} this", lanes_do(lanes, "execute")),
        Matters::Address => format!("{read} is part of the address that {}", lanes_do(lanes, "access")),
        Matters::Value => format!("{} {read}", lanes_do(lanes, "store")),
        Matters::Operand => format!("{read} says what {} here", lanes_do(lanes, "do")),
    };
    let origin = from.map_or_else(|| read.clone(), |from| name(from.register));
    let why = match origin == read {
        true => format!("{deed}, but nothing on their way here has written it"),
        false => format!("{deed}, and it was made from {origin}, which nothing on their way has written"),
    };
    let advice = format!("write {origin} on every way to its first read: before the branch or the guard that leaves it out");
    let side = |place| Side::new(place, lanes, Deed::Use);
    let first = from.filter(|from| from.place.pc != issue.place.pc).map(|from| side(from.place));
    to.report(Finding { first, ..Finding::new(FindingId::RegisterUninitialized, side(issue.place), why, advice) })
}
