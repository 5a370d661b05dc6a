//! Instructions for asynchronous matrix multiplications (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
//! `machine::in_flight::wgmma` describes the model.

use triomphe::Arc;

use crate::isa::{CHUNK, Major, MatrixDescriptor, SharedTile};
use crate::machine::event::{Event, WgmmaChange, WgmmaEvent};
use crate::machine::event_kind::EventKind;
use crate::machine::exec::warp_run::{Executed, Flow, Group, WarpRun};
use crate::machine::in_flight::policy::AtIssue;
use crate::machine::state::in_flight::warpgroup::{Disagreement, WARPS, WarpgroupStep};
use crate::machine::state::in_flight::wgmma::Wgmma;
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::tables::accumulators::fragments;
use crate::machine::state::tables::wgmma::ROWS;
use crate::machine::state::trap::{Trap, TrapKind};
use crate::machine::state::warp::GroupState;
use crate::program::operands::{Use, registers_of};
use crate::program::{Bank, Inst, PredSrc, Slot, Src, WarpgroupOp, WgmmaA, WgmmaId, WgmmaOp};

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes a `wgmma` instruction, once all lanes of the warp have reached it.
    pub(super) fn wgmma(&mut self, op: &WarpgroupOp, group: &Group, active: LaneMask) -> Executed {
        if active != group.mask || self.warp.live != LaneMask::ALL {
            return Err(self.missing_lanes(group, active));
        }
        if active != LaneMask::ALL {
            return Ok(self.wait_here(GroupState::AtSync { members: LaneMask::ALL }, group, active));
        }
        match *op {
            WarpgroupOp::Multiply { wgmma } => self.issue_wgmma(wgmma, group)?,
            WarpgroupOp::Fence => {
                self.warp.wgmmas.fence();
                self.report_wgmma(WgmmaChange::Fenced);
            }
            WarpgroupOp::Commit => self.commit_wgmmas(),
            WarpgroupOp::Wait { pending } => return Ok(self.wait_for_wgmmas(pending, group)),
        }
        Ok(Flow::Next)
    }

    fn missing_lanes(&self, group: &Group, active: LaneMask) -> Box<Trap> {
        let missing = (!active & if active == group.mask { !self.warp.live } else { group.mask }).list();
        let why = if active == group.mask { "have exited" } else { "do not execute it: its guard is false there" };
        self.trap(TrapKind::WgmmaSequence, active, &format!("wgmma must be executed by all 32 lanes of a warp, but lanes {missing} {why}"))
    }

    /// Puts a multiplication in flight, and ends it at once if the policy is `eager`, or if the module is for debuggers: its compiler keeps
    /// variables in memory between statements, so that the assembler waits for each multiplication.
    fn issue_wgmma(&mut self, id: WgmmaId, group: &Group) -> Result<(), Box<Trap>> {
        let program = self.program;
        let op = &program.wgmmas[id];
        let wgmma = self.checked_wgmma(id, op, group)?;
        let wgmma = Arc::new(Wgmma { id: self.in_flight.next_id(), ..wgmma });
        if self.wants(EventKind::Wgmma) {
            self.report_uses_by_wgmma(&wgmma);
            let (fenced, depth) = (self.warp.wgmmas.is_fenced(), self.depth(group));
            self.report_wgmma(WgmmaChange::Issued { wgmma: &wgmma, fenced, depth });
        }
        self.progress += 1;
        self.warp.wgmmas.issue(Arc::clone(&wgmma), &mut self.warp.registers);
        self.in_flight.add_wgmma(wgmma);
        if self.completion.at_issue() == AtIssue::Ends || program.is_debug {
            self.complete_next_wgmma();
        }
        Ok(())
    }

    /// The matrix multiplication `op` of this warp, checked. Its number is not set yet.
    fn checked_wgmma(&mut self, id: WgmmaId, op: &WgmmaOp, group: &Group) -> Result<Wgmma, Box<Trap>> {
        let warp = self.point.warp.number();
        let a = match op.a {
            WgmmaA::Shared(descriptor, major) => Some((self.descriptor("A", descriptor, group)?, major)),
            WgmmaA::Registers(_) => None,
        };
        let b = self.descriptor("B", op.b, group)?;
        let accumulates = self.uniform(op.accumulate, group)?;
        let bytes_of = |elements: u32| elements * op.types[1].bits() / 8;
        let first = warp % WARPS * ROWS;
        let a = a.map(|(descriptor, major)| SharedTile { descriptor, major, first, count: ROWS, bytes: bytes_of(op.stored_k()) });
        let b = SharedTile { descriptor: b, major: op.b_major, first: 0, count: op.shape.n, bytes: bytes_of(op.shape.k) };
        a.iter().try_for_each(|tile| self.check_tile("A", *tile))?;
        self.check_tile("B", b)?;
        let step = WarpgroupStep { pc: group.pc, a: a.map_or(0, |tile| tile.descriptor.bits), b: b.descriptor.bits, accumulates };
        self.agree_on_step(step)?;
        let lanes = self.lanes(group, LaneMask::ALL);
        let metadata = op.metadata.map_or([0; 32], |(metadata, _)| *lanes.get32(metadata));
        let slot = |slot: Slot| slot.in_frame(group.frame.b32);
        Ok(Wgmma {
            id: 0,
            issued: self.point,
            block_id: self.block_id(),
            op: id,
            group: self.warp.wgmmas.committed(),
            frame: group.frame,
            accumulators: op.d.iter().map(|d| slot(d.0)).collect(),
            fragments: fragments(op).map(slot).collect(),
            a,
            b,
            accumulates,
            metadata,
        })
    }

    /// The descriptor of an operand, which must be the same in all lanes.
    fn descriptor(&mut self, name: &str, source: Src, group: &Group) -> Result<MatrixDescriptor, Box<Trap>> {
        let values: PerLane<u64> = *self.lanes(group, LaneMask::ALL).get64(source);
        let other = LaneMask::ALL.filter(|lane| values[lane] != values[0]);
        let fault = |lanes, message: &str| Err(self.trap(TrapKind::WgmmaDescriptor, lanes, message));
        if !other.is_empty() {
            let (lane, value) = (other.first(), values[other.first()]);
            let message = format!("lanes 0 and {lane} hold different descriptors of {name}: {:#018x} and {value:#018x}", values[0]);
            return fault(other, &message);
        }
        let descriptor = MatrixDescriptor::new(values[0]);
        if descriptor.reserved() != 0 {
            let message = format!("the descriptor of {name}, {:#018x}, has reserved bits set: {:#x}", values[0], descriptor.reserved());
            return fault(LaneMask::ALL, &message);
        }
        Ok(descriptor)
    }

    /// A predicate that must be the same in all lanes.
    fn uniform(&mut self, predicate: PredSrc, group: &Group) -> Result<bool, Box<Trap>> {
        match self.lanes(group, LaneMask::ALL).pred(predicate) {
            LaneMask::NONE => Ok(false),
            LaneMask::ALL => Ok(true),
            lanes => {
                let message = format!("scale-d must be the same in all lanes, but is true in lanes {} only", lanes.list());
                Err(self.trap(TrapKind::WgmmaSequence, lanes, &message))
            }
        }
    }

    /// Checks that an operand is inside the block's shared memory.
    fn check_tile(&self, name: &str, tile: SharedTile) -> Result<(), Box<Trap>> {
        let inside = self.prepared.shared_start..=self.prepared.shared_bytes.saturating_sub(u64::from(CHUNK));
        let (low, high) = tile.bounds();
        if inside.contains(&u64::from(low)) && inside.contains(&u64::from(high)) {
            return Ok(());
        }
        let Some(outside) = tile.chunks().find(|chunk| !inside.contains(&u64::from(chunk.address))) else { return Ok(()) };
        let (what, index) = (if name == "A" { "row" } else { "column" }, tile.first + outside.index);
        let at = if tile.major == Major::K { format!("byte {} of its row of K", outside.k) } else { format!("k = {}", outside.k) };
        let (start, end, address) = (self.prepared.shared_start, self.prepared.shared_bytes, outside.address);
        let memory = format!("the block's shared memory is {start:#x} to {end:#x}");
        let message = format!("the descriptor of {name} leads outside: {what} {index}, {at}, lies at {address:#x}; {memory}");
        Err(self.trap(TrapKind::WgmmaDescriptor, LaneMask::ALL, &message))
    }

    /// Checks that the other warps of the warpgroup execute the same step.
    fn agree_on_step(&mut self, step: WarpgroupStep) -> Result<(), Box<Trap>> {
        let warp = self.point.warp.number();
        let warps = self.prepared.config.block.iter().product::<u32>() / 32;
        let first = warp - warp % WARPS;
        if warps < first + WARPS {
            let message = format!("wgmma needs a warpgroup of four whole warps, warps {first} to {}, but the block has {warps}", first + 3);
            return Err(self.trap(TrapKind::WgmmaSequence, LaneMask::ALL, &message));
        }
        self.warpgroups.execute(warp, step).map_err(|disagreement| match disagreement {
            Disagreement::Exited(other) => {
                let message = format!("warp {other} of the same warpgroup has exited without executing this wgmma");
                self.trap(TrapKind::WgmmaSequence, LaneMask::ALL, &message)
            }
            Disagreement::Other(other, other_step) if other_step.pc != step.pc => {
                let message = format!(
                    "warp {other} of the same warpgroup executed the wgmma at {} here: all four must execute the same",
                    self.program.place(other_step.pc)
                );
                self.trap(TrapKind::WgmmaSequence, LaneMask::ALL, &message)
            }
            Disagreement::Other(other, other_step) => self.different_operands(other, other_step, step),
        })
    }

    fn different_operands(&self, other: u32, other_step: WarpgroupStep, step: WarpgroupStep) -> Box<Trap> {
        let (name, other_bits, own_bits) = match () {
            () if other_step.a != step.a => ("a descriptor of A", other_step.a, step.a),
            () if other_step.b != step.b => ("a descriptor of B", other_step.b, step.b),
            () => {
                let message =
                    format!("scale-d is {} here and {} in warp {other} of the same warpgroup", step.accumulates, other_step.accumulates);
                return self.trap(TrapKind::WgmmaSequence, LaneMask::ALL, &message);
            }
        };
        let message = format!("this warp has {name} of {own_bits:#018x}, but warp {other} of the same warpgroup {other_bits:#018x}");
        self.trap(TrapKind::WgmmaDescriptor, LaneMask::ALL, &message)
    }

    /// Checks, at the return of a function, that no `wgmma` in flight uses registers of its frame: the manual does not define their values
    /// then.
    pub(super) fn check_wgmmas_of_frame(&self, group: &Group, active: LaneMask) -> Result<(), Box<Trap>> {
        if self.warp.wgmmas.is_empty() {
            return Ok(());
        }
        let mut own = self.in_flight.wgmmas_of(self.number, self.point.warp.number());
        let Some(wgmma) = own.find(|wgmma| wgmma.frame == group.frame) else { return Ok(()) };
        let place = self.program.place(wgmma.issued.pc);
        let message = format!("a function returns while its wgmma at {place} is in flight: what its registers become is not modelled");
        Err(self.trap(TrapKind::Unsupported, active, &message))
    }

    pub(super) fn report_wgmma(&mut self, change: WgmmaChange<'_>) {
        if self.wants(EventKind::Wgmma) {
            let (point, block_id, lanes) = (self.point, self.block_id(), self.warp.live);
            self.emit(&Event::Wgmma(WgmmaEvent { point, block_id, lanes, change, tick: point.tick }));
        }
    }

    /// Reports the operand registers of some `wgmma` that an instruction is about to use.
    #[inline(never)]
    pub(super) fn report_register_uses(&mut self, inst: &Inst, group: &Group) {
        let active = self.active(inst, group);
        let program = self.program;
        registers_of(inst, program, |used, register| {
            if register.bank == Bank::B32 && !active.is_empty() {
                self.report_register_use(used, register.slot.in_frame(group.frame.b32), active);
            }
        });
    }

    /// The same for a `wgmma` that is about to be issued. Accumulators may be shared with `wgmma` of the same shape in flight.
    fn report_uses_by_wgmma(&mut self, wgmma: &Wgmma) {
        let shape = |other: &Wgmma| self.program.wgmmas[other.op].shape;
        let own = shape(wgmma);
        let queue = &self.warp.wgmmas;
        let other_shape = |slot: &Slot| queue.unwaited().any(|other| shape(other) != own && other.accumulators.contains(slot));
        let is_fragment = |slot: &Slot| queue.unwaited().any(|other| other.fragments.contains(slot));
        let written: Vec<Slot> = wgmma.accumulators.iter().copied().filter(|slot| other_shape(slot) || is_fragment(slot)).collect();
        let in_flight = |slot: &Slot| self.writer_of(*slot).is_some();
        let read: Vec<Slot> = wgmma.fragments.iter().copied().filter(in_flight).collect();
        read.into_iter().for_each(|slot| self.report_register_use(Use::Read, slot, LaneMask::ALL));
        written.into_iter().for_each(|slot| self.report_register_use(Use::Write, slot, LaneMask::ALL));
    }

    fn report_register_use(&mut self, used: Use, slot: Slot, lanes: LaneMask) {
        let wgmma = self.writer_of(slot).or_else(|| self.reader_of(slot).filter(|_| used == Use::Write));
        let change = WgmmaChange::RegisterUsed { used, slot, wgmma: wgmma.as_deref() };
        let (point, block_id) = (self.point, self.block_id());
        self.emit(&Event::Wgmma(WgmmaEvent { point, block_id, lanes, change, tick: point.tick }));
    }

    /// The latest `wgmma` that writes a register, of those that the warp has not waited for.
    fn writer_of(&self, slot: Slot) -> Option<Arc<Wgmma>> {
        self.warp.wgmmas.unwaited().rev().find(|wgmma| wgmma.accumulators.contains(&slot)).cloned()
    }

    /// The latest `wgmma` that reads a register for A, of those that the warp has not waited for.
    fn reader_of(&self, slot: Slot) -> Option<Arc<Wgmma>> {
        self.warp.wgmmas.unwaited().rev().find(|wgmma| wgmma.fragments.contains(&slot)).cloned()
    }
}
