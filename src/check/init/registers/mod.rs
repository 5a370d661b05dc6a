//! Uses of registers and predicates that have no defined value.
//!
//! Two things leave a register undefined: nothing on the path has written it, or `shfl` takes it from a lane that does not take
//! part. Which registers may be read before they are written is known before the run (`candidates`), and so is where their values, and
//! those that `shfl` gives, can go (`tracked`). Only those are tracked: for each the lanes in which it is undefined, and where that came
//! from (`frames`, `origin`). What an instruction computes from undefined operands is undefined (`flow`), and so is what comes from a
//! lane that contributes such a value (`collective`). It is a mistake once it decides which way a thread goes, which address it accesses,
//! or what it stores (`used`).
//!
//! Of a program without candidates nothing is tracked until a lane is absent from a `shfl`, and then that warp alone, as long as
//! anything of it is undefined: until then all that it reads has been written.

mod candidates;
mod collective;
mod flow;
mod frames;
mod kinds;
mod name;
mod origin;
mod tracked;
mod used;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use flow::Operands;
use frames::{Frame, WarpFrames};
use kinds::{is_collective, passes_on};
use origin::{OriginTable, Origins};
use tracked::{TrackedRegisters, Tracking};

use crate::base::WarpId;
use crate::check::reporter::Reporter;
use crate::machine::{Issue, LaneMask, LaunchStart, Place, Tick, Warp};
use crate::program::operands::{RegisterOperand, Use, registers_of, writes};
use crate::program::{CallId, CallTarget, ControlOp, FuncId, Inst, Op, Program};

/// A block and a warp of it.
type WarpKey = ([u32; 3], WarpId);

/// Which registers are undefined.
#[derive(Clone)]
pub(super) struct Registers {
    tracking: Arc<Tracking>,
    /// The warps that are tracked.
    warps: BTreeMap<WarpKey, WarpFrames>,
    /// Threads of a block.
    threads: u32,
    /// The instruction reported last, which is reported again after a pause.
    last: Option<Tick>,
}

impl Registers {
    /// Those of a program.
    pub fn new(program: &Program) -> Self {
        Self { tracking: Arc::new(Tracking::new(program)), warps: BTreeMap::new(), threads: 0, last: None }
    }

    /// Whether there is anything to track now; else instructions need not be reported.
    pub fn is_needed(&self) -> bool {
        self.tracking.has_unwritten || !self.warps.is_empty()
    }

    /// A launch begins.
    pub fn begin(&mut self, launch: &LaunchStart) {
        self.warps.clear();
        self.threads = launch.prepared.config.block.iter().product();
        self.last = None;
    }

    /// Lanes exit: their registers are of no interest any more.
    pub fn exited(&mut self, place: &Place, lanes: LaneMask) {
        if let Entry::Occupied(mut warp) = self.warps.entry((place.block, WarpId::new(place.warp.number()))) {
            assert!(warp.get().live.contains_all(lanes), "a lane exits once");
            warp.get_mut().live &= !lanes;
            if warp.get().live.is_empty() {
                warp.remove();
            }
        }
    }

    /// An instruction is about to be executed.
    #[inline]
    pub fn before(&mut self, issue: &Issue, warp: &Warp, to: &mut Reporter<'_>) -> bool {
        let is_tracked = self.is_needed() && self.tracking.code.get(issue.place.pc.index()).is_some_and(|flag| *flag);
        if !is_tracked || self.last.replace(issue.place.tick) == Some(issue.place.tick) {
            return false;
        }
        self.execute(issue, warp, to)
    }

    fn execute(&mut self, issue: &Issue, warp: &Warp, to: &mut Reporter<'_>) -> bool {
        let program = to.program;
        let inst = &program.code[issue.place.pc.index()];
        let tracking = Arc::clone(&self.tracking);
        let frames = match self.warps.entry((issue.place.block, WarpId::new(issue.place.warp.number()))) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if !tracking.has_unwritten => return false,
            Entry::Vacant(free) => free.insert(WarpFrames::new(warp.live)),
        };
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            frames.enter(&tracking, callee(program, call), issue);
        }
        let Some(function) = program.function_at(issue.place.pc) else { return false };
        let Some(tracked) = tracking.functions.get(&function) else { return false };
        let (frame, table) = frames.frame(tracked, issue.depth, function);
        let Reads { values, guard, origins, found } = read((frame, tracked, table), (inst, issue), to);
        let undefined = |bank, slot| frame.undefined(tracked, RegisterOperand { bank, slot, width: 1 });
        let operands = Operands { program, warp, frame: issue.frame, active: issue.active, undefined };
        if is_collective(&inst.op, program) {
            let contributed = operands.contributed(&inst.op, values);
            frames.contributed.record(issue.active, contributed, &origins);
            return found;
        }
        let result = if values.is_empty() || !passes_on(&inst.op, program) { LaneMask::NONE } else { operands.result(&inst.op, values) };
        for register in writes(inst, program) {
            frame.write(tracked, register, (issue.active | guard, result | guard), &origins);
        }
        found
    }
}

/// What of all that an instruction reads is undefined.
#[derive(Default)]
struct Reads {
    /// The lanes in which some value is that comes into the result.
    values: LaneMask,
    /// Those in which the guard is of an instruction that only computes.
    guard: LaneMask,
    /// Where all that comes from.
    origins: Origins,
    /// Something that matters is undefined, and a new finding.
    found: bool,
}

/// Reads the operands of an instruction, and reports those that matter at once.
fn read(
    (frame, tracked, table): (&mut Frame, &TrackedRegisters, &mut OriginTable),
    (inst, issue): (&Inst, &Issue),
    to: &mut Reporter<'_>,
) -> Reads {
    let (program, mut reads) = (to.program, Reads::default());
    registers_of(inst, program, |used, register| {
        let executing = match used {
            Use::Write => return,
            Use::Guard => issue.lanes,
            Use::Address | Use::Read => issue.active,
        };
        let origins = frame.read(tracked, register, (executing, issue.place), table);
        if origins.lanes.is_empty() {
            return;
        }
        if let Some(matters) = used::matters(inst, used, program) {
            reads.found |= used::report(issue, register, &origins.listed(table), matters, to);
            return;
        }
        let lanes = if used == Use::Guard { &mut reads.guard } else { &mut reads.values };
        *lanes |= origins.lanes;
        reads.origins.add(&origins);
    });
    reads
}

/// The function that a call surely calls.
fn callee(program: &Program, call: CallId) -> Option<FuncId> {
    match program.calls[call].target {
        CallTarget::Direct(function) => Some(function),
        CallTarget::Indirect { .. } => None,
    }
}
