//! Uses of registers and predicates that have no defined value.
//!
//! Three things leave a register undefined: nothing on the path has written it, `shfl` takes it from a lane that does not take part, or
//! a load takes it from memory that holds nothing defined. Which registers may be read before they are written is known before the run
//! (`candidates`), and so is where their values, and those that `shfl` gives, can go (`tracked`). Only those are tracked: for each the
//! lanes in which it is undefined, and where that came from (`frames`, `origin`). What memory gives can come into every register, so the
//! warp that gets it is followed through all instructions as long as anything of it is undefined. What an instruction computes from
//! undefined operands is undefined (`flow`), and so is what comes from a lane that contributes such a value (`collective`). It is a
//! mistake once it decides which way a thread goes, which address it accesses, or what an instruction does (`used`); what is stored is
//! handed to the memory (`stored`).
//!
//! Of a program without candidates nothing is tracked until a lane is absent from a `shfl` or loads something undefined, and then that
//! warp alone, as long as anything of it is undefined: until then all that it reads has been written.

mod candidates;
mod collective;
mod flow;
mod frames;
mod kinds;
mod name;
mod origin;
mod stored;
mod tracked;
mod used;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use flow::Operands;
use frames::{Frame, WarpFrames};
use kinds::{is_collective, passes_on};
use origin::Origins;
pub(super) use origin::{Cause, Origin, OriginId, OriginTable, Reported};
use stored::stored_registers;
pub(super) use stored::{Stored, StoredElement};
use tracked::{TrackedRegisters, Tracking};
pub(super) use used::{Matters, report};

use super::reports::Reports;
use crate::base::WarpId;
use crate::check::reporter::Reporter;
use crate::machine::{AccessEvent, AccessKind, Issue, IssuePoint, LANES, LaneMask, LaunchStart, Tick, Warp};
use crate::program::operands::{RegisterOperand, Use, call_results, registers_of, writes};
use crate::program::{CallId, CallTarget, ControlOp, FuncId, Inst, Op, Program};

/// A block and a warp of it.
type WarpKey = ([u32; 3], WarpId);

/// Which registers are undefined.
#[derive(Clone)]
pub(super) struct Registers {
    tracking: Arc<Tracking>,
    /// The warps that are tracked.
    warps: BTreeMap<WarpKey, WarpFrames>,
    /// How many of them memory gave something undefined.
    loaded: usize,
    /// What the running instruction stores that is undefined.
    stored: Option<Stored>,
    /// Threads of a block.
    threads: u32,
    /// The instruction reported last, which is reported again after a pause.
    last: Option<Tick>,
}

impl Registers {
    /// The registers to follow in a program.
    pub fn new(program: &Program) -> Self {
        Self { tracking: Arc::new(Tracking::new(program)), warps: BTreeMap::new(), loaded: 0, stored: None, threads: 0, last: None }
    }

    /// Whether there is anything to track now; else instructions need not be reported.
    pub fn is_needed(&self) -> bool {
        self.tracking.has_unwritten || !self.warps.is_empty()
    }

    /// A launch begins.
    pub fn begin(&mut self, launch: &LaunchStart) {
        self.warps.clear();
        self.loaded = 0;
        self.stored = None;
        self.threads = launch.prepared.config.block.iter().product();
        self.last = None;
    }

    /// Lanes exit: their registers are of no interest any more.
    pub fn exited(&mut self, place: &IssuePoint, lanes: LaneMask) {
        let key = (place.block, place.warp);
        let Some(warp) = self.warps.get_mut(&key) else { return };
        assert!(warp.live.contains_all(lanes), "a lane exits once");
        warp.live &= !lanes;
        warp.forget(lanes);
        if warp.live.is_empty() {
            self.loaded -= usize::from(warp.has_loaded);
            self.warps.remove(&key);
            return;
        }
        self.release(key);
    }

    /// Stops to look at all instructions of a warp of which nothing is undefined any more.
    fn release(&mut self, key: WarpKey) {
        let Some(warp) = self.warps.get_mut(&key) else { return };
        if !warp.is_defined() {
            return;
        }
        self.loaded -= usize::from(std::mem::take(&mut warp.has_loaded));
        if !self.tracking.has_unwritten {
            self.warps.remove(&key);
        }
    }

    /// An instruction is about to be executed.
    #[inline]
    pub fn before(&mut self, issue: &Issue, warp: &Warp, to: (&mut Reports, &mut Reporter<'_>)) -> bool {
        let is_flagged = self.tracking.code.get(issue.place.pc.index()).is_some_and(|flag| *flag);
        let is_tracked = is_flagged && self.is_needed() || self.loaded > 0;
        if !is_tracked || self.last.replace(issue.place.tick) == Some(issue.place.tick) {
            return false;
        }
        self.stored = None;
        let key = (issue.place.block, issue.place.warp);
        if !is_flagged && !self.warps.get(&key).is_some_and(|warp| warp.has_loaded) {
            return false;
        }
        let found = self.execute(issue, warp, to);
        self.release(key);
        found
    }

    fn execute(&mut self, issue: &Issue, warp: &Warp, (reports, to): (&mut Reports, &mut Reporter<'_>)) -> bool {
        let program = to.program;
        let inst = &program.code[issue.place.pc.index()];
        let tracking = Arc::clone(&self.tracking);
        let frames = match self.warps.entry((issue.place.block, issue.place.warp)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if !tracking.has_unwritten => return false,
            Entry::Vacant(free) => free.insert(WarpFrames::new(warp.live)),
        };
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            frames.enter(&tracking, callee(program, call), issue);
        }
        let Some(function) = program.function_at(issue.place.pc) else { return false };
        let tracked = tracking.function(function);
        let (frame, table) = frames.frame(tracked, issue.depth, function);
        let Reads { values, guard, origins, stored, found } = read((frame, tracked, table), (inst, issue), (reports, to));
        self.stored = stored;
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
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            let results = call_results(program, call);
            results.iter().for_each(|register| frame.write(tracked, *register, (issue.active, LaneMask::NONE), &Origins::default()));
        }
        found
    }

    /// The undefined value that the instruction of an access stores.
    #[inline]
    pub fn stored(&self, event: &AccessEvent<'_>) -> Option<&Stored> {
        let stored = self.stored.as_ref()?;
        (stored.place == event.place && event.kind != AccessKind::Read).then_some(stored)
    }

    /// Memory gives something undefined to registers of lanes, after [`Self::before`] and before the instruction is executed.
    pub fn load(&mut self, event: &AccessEvent<'_>, values: &[Value], program: &Program) {
        let place = event.place;
        let Some(function) = program.function_at(place.pc) else { return };
        let tracked = self.tracking.function(function);
        let threads = LaneMask::lowest(self.threads.saturating_sub(place.warp.number() * LANES as u32));
        let warp = self.warps.entry((place.block, place.warp)).or_insert_with(|| WarpFrames::new(threads));
        self.loaded += usize::from(!std::mem::replace(&mut warp.has_loaded, true));
        let (frame, table) = warp.frame(tracked, event.depth, function);
        for Value { register, lane, origin } in values {
            let mut origins = Origins::default();
            origins.set(*lane, table.add(*origin));
            frame.write(tracked, *register, (origins.lanes, origins.lanes), &origins);
        }
    }
}

/// An undefined value that memory gives to a register of a lane.
pub(super) struct Value {
    /// The register.
    pub register: RegisterOperand,
    /// The lane.
    pub lane: usize,
    /// The origin of the value.
    pub origin: Origin,
}

/// The undefined operands of an instruction.
#[derive(Default)]
struct Reads {
    /// The lanes in which some value is that comes into the result.
    values: LaneMask,
    /// The lanes in which the guard of an instruction that only computes is undefined.
    guard: LaneMask,
    /// The origins of these values.
    origins: Origins,
    /// The undefined value that is stored.
    stored: Option<Stored>,
    /// A use of an undefined value is a new finding.
    found: bool,
}

/// Reads the operands of an instruction, and reports those that matter at once.
fn read(
    (frame, tracked, table): (&mut Frame, &TrackedRegisters, &mut OriginTable),
    (inst, issue): (&Inst, &Issue),
    (reports, to): (&mut Reports, &mut Reporter<'_>),
) -> Reads {
    let (program, mut reads) = (to.program, Reads::default());
    let elements = stored_registers(inst, program);
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
        if let (Use::Read, Some(registers)) = (used, &elements) {
            let stored = reads.stored.get_or_insert(Stored { place: issue.place, elements: Vec::new() });
            if !stored.elements.iter().any(|known| known.register == register) {
                let places = registers.iter().filter(|(_, known)| *known == register).map(|(place, _)| *place);
                let origins = origins.listed(table);
                stored.elements.extend(places.map(|place| StoredElement { place, register, origins: origins.clone() }));
            }
            return;
        }
        if let Some(matters) = used::matters(inst, used, program) {
            reads.found |= used::report(issue.place, register, &origins.listed(table), matters, (&mut *reports, &mut *to));
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
