//! Uses of registers and predicates that have no defined value.
//!
//! A register is undefined if nothing on the path has written it, if `shfl` took its value from a lane that does not take part, or if it
//! was loaded from undefined memory. A static analysis finds the registers that may be read before they are written (`candidates`) and
//! those that their values, and results of `shfl`, can flow into (`tracked`). Only these are tracked: for each, the lanes in which it is
//! undefined, and the origin (`frames`, `origin`). Loaded values can flow into every register, so a warp that loads an undefined value is
//! observed at all instructions as long as any of its registers is undefined. The result of undefined operands is undefined, and
//! so is the value from a lane that contributes an undefined one (`collective`). A use is a finding if it controls a branch, is part of an
//! address, or is an operand of an effect (`used`); stored values are passed on to the memory (`stored`).
//!
//! In a program without candidates nothing is tracked until a lane is absent from a `shfl` or loads an undefined value, and then only that
//! warp, as long as any of its registers is undefined.

mod bitwise;
mod candidates;
mod collective;
mod frames;
mod kinds;
mod name;
mod origin;
mod product;
mod stored;
mod tracked;
mod used;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

pub(super) use bitwise::ALL as ALL_BITS;
use frames::{Frame, WarpFrames};
use kinds::{computes_from_registers, is_collective};
use origin::Origins;
pub(super) use origin::{Cause, Origin, OriginId, OriginTable, OriginText};
use product::Product;
pub(super) use product::UndefinedFactors;
use stored::stored_registers;
pub(super) use stored::{StoredElement, StoredValue};
use tracked::{TrackedRegisters, Tracking};
pub(super) use used::{UseKind, report};

use super::reports::Reports;
use crate::base::WarpId;
use crate::check::reporter::Reporter;
use crate::check::undefined_operands::Operands;
use crate::machine::{AccessEvent, AccessKind, Issue, IssuePoint, LANES, LaneMask, LaunchStart, PreparedLaunch, Tick, Warp};
use crate::program::operands::{RegisterOperand, Use, call_results, registers_of, writes};
use crate::program::{CallId, CallTarget, ControlOp, FuncId, Inst, Op, Program, WgmmaId};

/// A block and a warp of it.
type WarpKey = ([u32; 3], WarpId);

/// The registers that are undefined, by warp.
#[derive(Clone)]
pub(super) struct Registers {
    tracking: Arc<Tracking>,
    /// The warps that are tracked.
    warps: BTreeMap<WarpKey, WarpFrames>,
    /// The number of them that have loaded undefined values.
    loaded: usize,
    /// The undefined value that the current instruction stores.
    stored: Option<StoredValue>,
    /// The launch that runs.
    prepared: Option<Arc<PreparedLaunch>>,
    /// The tick of the last event: an instruction is reported again when a stopped run continues.
    last: Option<Tick>,
}

impl Registers {
    /// The registers to follow in a program.
    pub fn new(program: &Program) -> Self {
        Self { tracking: Arc::new(Tracking::new(program)), warps: BTreeMap::new(), loaded: 0, stored: None, prepared: None, last: None }
    }

    /// True if there is anything to track now; otherwise no events of instructions are needed.
    pub fn is_needed(&self) -> bool {
        self.tracking.has_unwritten || !self.warps.is_empty()
    }

    /// A launch begins.
    pub fn begin(&mut self, launch: &LaunchStart) {
        self.warps.clear();
        self.loaded = 0;
        self.stored = None;
        self.prepared = Some(Arc::clone(&launch.prepared));
        self.last = None;
    }

    /// Lanes exit: their registers are not tracked any more.
    pub fn exited(&mut self, point: &IssuePoint, lanes: LaneMask) {
        let key = (point.block, point.warp);
        let Some(warp) = self.warps.get_mut(&key) else { return };
        assert!(warp.live.contains_all(lanes), "a lane exits once");
        warp.live &= !lanes;
        warp.clear_lanes(lanes);
        if warp.live.is_empty() {
            self.loaded -= usize::from(warp.has_loaded);
            self.warps.remove(&key);
            return;
        }
        self.release(key);
    }

    /// Stops observing all instructions of a warp that has no undefined register any more.
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
        let is_flagged = self.tracking.code.get(issue.point.pc.index()).is_some_and(|flag| *flag);
        let is_tracked = is_flagged && self.is_needed() || self.loaded > 0;
        if !is_tracked || self.last.replace(issue.point.tick) == Some(issue.point.tick) {
            return false;
        }
        self.stored = None;
        let key = (issue.point.block, issue.point.warp);
        if !is_flagged && !self.warps.get(&key).is_some_and(|warp| warp.has_loaded) {
            return false;
        }
        let found = self.execute(issue, warp, to);
        self.release(key);
        found
    }

    fn execute(&mut self, issue: &Issue, warp: &Warp, (reports, to): (&mut Reports, &mut Reporter<'_>)) -> bool {
        let program = to.program;
        let inst = &program.code[issue.point.pc.index()];
        let tracking = Arc::clone(&self.tracking);
        let frames = match self.warps.entry((issue.point.block, issue.point.warp)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if !tracking.has_unwritten => return false,
            Entry::Vacant(free) => free.insert(WarpFrames::new(warp.live)),
        };
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            frames.enter(&tracking, callee(program, call), issue);
        }
        let (Some(function), Some(prepared)) = (program.function_at(issue.point.pc), &self.prepared) else { return false };
        let tracked = tracking.function(function);
        let (frame, table) = frames.frame(tracked, issue.depth, function);
        let UndefinedOperands { values, guard, origins, stored, found } = read((frame, tracked, table), (inst, issue), (reports, to));
        self.stored = stored;
        let undefined = |bank, slot| frame.undefined(tracked, RegisterOperand { bank, slot, width: 1 });
        let operands = Operands { program, warp, frame: issue.frame, active: issue.active, undefined };
        if !values.is_empty()
            && let Some(product) = Product::of(&inst.op, &operands, prepared)
        {
            product.execute((frame, tracked, table), (issue.active, issue.point));
            return found;
        }
        if is_collective(&inst.op, program) {
            let contributed = operands.contributed(&inst.op, values);
            frames.contributed.record(issue.active, contributed, &origins);
            return found;
        }
        let computes = !values.is_empty() && computes_from_registers(&inst.op, program);
        let bits = |bank, slot| frame.bits(tracked, RegisterOperand { bank, slot, width: 1 });
        let by_bits = if computes { bitwise::results(&inst.op, &operands, bits) } else { None };
        let result = if computes && by_bits.is_none() { operands.result(&inst.op, values) } else { LaneMask::NONE };
        for register in writes(inst, program) {
            let written = by_bits.iter().flatten().find(|(slot, _)| *slot == register.slot).map(|(_, bits)| bits);
            let Some(bits) = written else {
                frame.write(tracked, register, (issue.active | guard, result | guard), &origins);
                continue;
            };
            let undefined = issue.active.filter(|lane| bits[lane] != 0);
            let bits = std::array::from_fn(|lane| if guard.contains(lane) { bitwise::ALL } else { bits[lane] });
            frame.write_bits(tracked, register, (issue.active | guard, undefined | guard), &origins, &bits);
        }
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            let results = call_results(program, call);
            results.iter().for_each(|register| frame.write(tracked, *register, (issue.active, LaneMask::NONE), &Origins::default()));
        }
        found
    }

    /// The undefined value that the instruction of an access stores.
    #[inline]
    pub fn stored(&self, event: &AccessEvent<'_>) -> Option<&StoredValue> {
        let stored = self.stored.as_ref()?;
        (stored.point == event.point && event.kind != AccessKind::Read).then_some(stored)
    }

    /// Lanes load undefined values into registers, after [`Self::before`] and before the instruction is executed.
    pub fn load(&mut self, (point, depth): (IssuePoint, u32), values: &[LoadedValue], program: &Program) {
        let Some(function) = program.function_at(point.pc) else { return };
        let tracked = self.tracking.function(function);
        let threads = self.threads_of(&point);
        let warp = self.warps.entry((point.block, point.warp)).or_insert_with(|| WarpFrames::new(threads));
        self.loaded += usize::from(!std::mem::replace(&mut warp.has_loaded, true));
        let (frame, table) = warp.frame(tracked, depth, function);
        for LoadedValue { register, lane, origin, bits } in values {
            let mut origins = Origins::default();
            origins.set(*lane, table.add(*origin));
            frame.write_bits(tracked, *register, (origins.lanes, origins.lanes), &origins, &[*bits; LANES]);
        }
    }

    /// A `wgmma` reads undefined elements of shared memory, after [`Self::before`] and before it is in flight: its result is undefined.
    pub fn multiply(&mut self, wgmma: WgmmaId, factors: &UndefinedFactors, (point, depth): (IssuePoint, u32), program: &Program) {
        let Some(prepared) = &self.prepared else { return };
        let values = product::results(wgmma, (factors, point), (program, prepared));
        if !values.is_empty() {
            self.load((point, depth), &values, program);
        }
    }

    /// The lanes of a warp that have threads.
    fn threads_of(&self, point: &IssuePoint) -> LaneMask {
        let threads: u32 = self.prepared.as_ref().map_or(0, |prepared| prepared.config.block.iter().product());
        LaneMask::lowest(threads.saturating_sub(point.warp.number() * LANES as u32))
    }
}

/// An undefined value that a lane loads into a register.
pub(super) struct LoadedValue {
    /// The register.
    pub register: RegisterOperand,
    /// The lane.
    pub lane: usize,
    /// The origin of the value.
    pub origin: Origin,
    /// The undefined bits of a register of one slot.
    pub bits: u64,
}

/// The undefined operands of an instruction.
#[derive(Default)]
struct UndefinedOperands {
    /// The lanes in which an operand of the result is undefined.
    values: LaneMask,
    /// The lanes in which the guard of an instruction that only computes is undefined.
    guard: LaneMask,
    /// The origins of these values.
    origins: Origins,
    /// The undefined value that is stored.
    stored: Option<StoredValue>,
    /// True if a use of an undefined value is a new finding.
    found: bool,
}

/// Reads the operands of an instruction, and reports those whose use is a finding.
fn read(
    (frame, tracked, table): (&mut Frame, &TrackedRegisters, &mut OriginTable),
    (inst, issue): (&Inst, &Issue),
    (reports, to): (&mut Reports, &mut Reporter<'_>),
) -> UndefinedOperands {
    let (program, mut reads) = (to.program, UndefinedOperands::default());
    let elements = stored_registers(inst, program);
    registers_of(inst, program, |used, register| {
        let executing = match used {
            Use::Write => return,
            Use::Guard => issue.lanes,
            Use::Address | Use::Read => issue.active,
        };
        let origins = frame.read(tracked, register, (executing, issue.point), table);
        if origins.lanes.is_empty() {
            return;
        }
        if let (Use::Read, Some(registers)) = (used, &elements) {
            let stored = reads.stored.get_or_insert(StoredValue { point: issue.point, elements: Vec::new() });
            if !stored.elements.iter().any(|known| known.register == register) {
                let parts = registers.iter().filter(|(_, known)| *known == register).map(|(bytes, _)| *bytes);
                let bits = frame.bits(tracked, register).copied().unwrap_or([ALL_BITS; LANES]);
                let lanes = origins.with_lanes(table).into_iter().map(|(lane, origin)| (lane, origin, bits[lane]));
                let origins: Vec<(usize, Origin, u64)> = lanes.collect();
                stored.elements.extend(parts.map(|bytes| StoredElement { bytes, register, origins: origins.clone() }));
            }
            return;
        }
        if let Some(use_kind) = used::use_kind(inst, used, program) {
            reads.found |= used::report(issue.point, register, &origins.with_lanes(table), use_kind, (&mut *reports, &mut *to));
            return;
        }
        let lanes = if used == Use::Guard { &mut reads.guard } else { &mut reads.values };
        *lanes |= origins.lanes;
        reads.origins.add(&origins);
    });
    reads
}

/// The function that a direct call calls.
fn callee(program: &Program, call: CallId) -> Option<FuncId> {
    match program.calls[call].target {
        CallTarget::Direct(function) => Some(function),
        CallTarget::Indirect { .. } => None,
    }
}
