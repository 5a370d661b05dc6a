//! Registers and predicates that nobody has given a value, where their value comes to matter.
//!
//! Two things leave a register undefined: nothing on the way has written it, or `shfl` has brought it from a lane that does not take
//! part. Which registers may be read before they are written is known before the run (`candidates`), and so is where their values, and
//! those that `shfl` brings, can go (`watched`). Only those are watched: for each the lanes in which it is undefined, and where that came
//! from (`frames`, `origin`). What an instruction computes from undefined operands is undefined (`flow`), and so is what comes from a
//! lane that brings such a value (`exchange`). It is a mistake once it decides which way a thread goes, which address it accesses, or
//! what it stores (`used`).
//!
//! Of a program without candidates nothing is watched until a lane is absent from a `shfl`, and then that warp alone, as long as
//! anything of it is undefined: until then all that it reads has been written.

mod candidates;
mod exchange;
mod flow;
mod frames;
mod name;
mod origin;
mod used;
mod watched;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use exchange::is_exchange;
use flow::Operands;
use frames::WarpFrames;
use origin::Origins;
use watched::{Watch, passes_on};

use crate::check::Reporter;
use crate::machine::{Issue, Machine, OrderEvent, Tick, Warp};
use crate::program::operands::{RegisterOperand, RegisterOperands, Use, registers_of};
use crate::program::{CallTarget, FuncId, Op, Program};

/// A block and a warp of it.
type WarpKey = ([u32; 3], u32);

/// Which registers are undefined.
#[derive(Clone)]
pub(super) struct Registers {
    watch: Arc<Watch>,
    /// The warps that are watched.
    warps: BTreeMap<WarpKey, WarpFrames>,
    /// Threads of a block.
    threads: u32,
    /// The instruction told last, which is told again after a pause.
    last: Option<Tick>,
}

impl Registers {
    /// Those of a program.
    pub fn new(program: &Program) -> Self {
        Self { watch: Arc::new(Watch::new(program)), warps: BTreeMap::new(), threads: 0, last: None }
    }

    /// Whether there is anything to watch now; else instructions need not be told.
    pub fn is_needed(&self) -> bool {
        self.watch.has_unwritten || !self.warps.is_empty()
    }

    /// A launch begins.
    pub fn begin(&mut self, machine: &Machine) {
        self.warps.clear();
        self.threads = machine.config().block.iter().product();
        self.last = None;
    }

    /// Lanes exit: their registers are of no interest any more.
    pub fn exited(&mut self, event: &OrderEvent<'_>) {
        if let Entry::Occupied(mut warp) = self.warps.entry((event.place.block, event.place.warp)) {
            warp.get_mut().live &= !event.lanes;
            if warp.get().live == 0 {
                warp.remove();
            }
        }
    }

    /// An instruction is about to be executed.
    #[inline]
    pub fn before(&mut self, issue: &Issue, warp: &Warp, to: &mut Reporter<'_>) -> bool {
        let is_watched = self.is_needed() && self.watch.code.get(issue.place.pc.index()).is_some_and(|flag| *flag);
        if !is_watched || self.last.replace(issue.place.tick) == Some(issue.place.tick) {
            return false;
        }
        self.execute(issue, warp, to)
    }

    fn execute(&mut self, issue: &Issue, warp: &Warp, to: &mut Reporter<'_>) -> bool {
        let program = to.program;
        let Some(inst) = program.code.get(issue.place.pc.index()) else { return false };
        let watch = Arc::clone(&self.watch);
        let frames = match self.warps.entry((issue.place.block, issue.place.warp)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if !watch.has_unwritten => return false,
            Entry::Vacant(free) => free.insert(WarpFrames::new(warp.live)),
        };
        if let Op::Call { call, .. } = inst.op {
            frames.enter(&watch, callee(program, call), issue);
        }
        let Some(function) = program.function_at(issue.place.pc) else { return false };
        let Some(watched) = watch.functions.get(&function) else { return false };
        let frame = frames.frame(watched, issue.depth, function);
        let (mut writes, mut any, mut origins, mut found) = (RegisterOperands::new(), 0, Origins::new(), false);
        registers_of(inst, program, |used, register| {
            if used == Use::Write {
                return writes.push(register);
            }
            let executing = if used == Use::Guard { issue.lanes } else { issue.active };
            let read = frame.read(watched, register, executing, issue.place);
            if read.is_empty() {
                return;
            }
            match used::matters(&inst.op, used) {
                Some(matters) => found |= used::report(issue, register, &read, matters, to),
                None => {
                    any |= read.keys().fold(0, |lanes, lane| lanes | 1 << lane);
                    read.into_iter().for_each(|(lane, origin)| _ = origins.entry(lane).or_insert(origin));
                }
            }
        });
        let undefined = |bank, slot| frame.undefined(watched, RegisterOperand { bank, slot, width: 1 });
        let operands = Operands { program, warp, frame: issue.frame, active: issue.active, undefined };
        if is_exchange(&inst.op) {
            let offered = operands.offered(&inst.op, any);
            frames.offers.bring(issue.active, offered, origins);
            return found;
        }
        let result = if any == 0 || !passes_on(&inst.op) { 0 } else { operands.result(&inst.op, any) };
        for register in writes {
            frame.write(watched, register, (issue.active, result), &origins);
        }
        found
    }
}

/// The function that a call surely calls.
fn callee(program: &Program, call: crate::program::CallId) -> Option<FuncId> {
    match program.calls.get(call.index())?.target {
        CallTarget::Direct(function) => Some(function),
        CallTarget::Indirect { .. } => None,
    }
}
