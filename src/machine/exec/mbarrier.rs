//! Operations on mbarriers (PTX ISA, "mbarrier"). Lanes execute one by one, lowest first.

use smallvec::smallvec;

use super::load_store::AccessSegment;
use crate::isa::{MbarrierFn, Space};
use crate::machine::event::{Event, MbarrierChange, MbarrierEvent};
use crate::machine::event_kind::EventKind;
use crate::machine::exec::warp_run::{Executed, Flow, Group, SliceEnd, WarpRun};
use crate::machine::in_flight::copy::view::MemoryView;
use crate::machine::state::in_flight::copy::MemoryOwner;
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::mbarrier::{self, COUNT_LIMIT, Contribution, Mbarrier, MbarrierError, MbarrierOperation};
use crate::machine::state::shared::{MBARRIER_BYTES, Shared};
use crate::machine::state::trap::{Trap, TrapKind};
use crate::machine::state::warp::{GroupState, Polled};
use crate::program::{Access, Address, Dst, MbarrierOp, Pc};

/// An mbarrier, with the lanes whose operands name it.
#[derive(Clone, Copy)]
pub(super) struct MbarrierRef {
    /// The block slot of the block whose shared memory it is in.
    pub block_slot: u32,
    /// Its address in shared memory.
    pub address: u32,
    /// The lanes.
    pub lanes: LaneMask,
}

/// The phases to which lanes contribute.
type LanePhases = smallvec::SmallVec<[(LaneMask, u64); 1]>;

/// The contributions of each lane to an mbarrier, in this order.
type Contributions = smallvec::SmallVec<[Contribution; 2]>;

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes an operation on mbarriers.
    pub(super) fn mbarrier(&mut self, op: &MbarrierOp, group: &Group, active: LaneMask) -> Executed {
        match *op {
            MbarrierOp::Update { f, ref access, d, a, ref address } => {
                self.meet_at_mbarriers(active);
                let mbarriers = self.mbarriers_named(access, address, group, active)?;
                let counts = a.map_or([1; 32], |a| *self.lanes(group, active).get32(a));
                self.update(f, &mbarriers, &counts, d, group)
            }
            MbarrierOp::Wait { blocks, parity, ref access, p, a, ref address } => {
                let mbarriers = self.mbarriers_named(access, address, group, active)?;
                let lanes = self.lanes(group, active);
                let parities = if parity { lanes.get32(a).map(|word| word & 1) } else { lanes.get64(a).map(mbarrier::parity_of) };
                self.test_phase(blocks, &mbarriers, &parities, p, group, active)
            }
            MbarrierOp::PendingCount { d, a } => {
                let counts = self.lanes(group, active).get64(a).map(mbarrier::pending_of);
                self.lanes(group, active).put32(d, &counts);
                Ok(Flow::Next)
            }
        }
    }

    /// The mbarriers that the operands of lanes name, in order of their lowest lane.
    pub(super) fn mbarriers_named(
        &mut self,
        semantics: &Access,
        address: &Address,
        group: &Group,
        active: LaneMask,
    ) -> Result<Vec<MbarrierRef>, Box<Trap>> {
        let mut access = self.access(address, group, active, MBARRIER_BYTES);
        let segments = self.locate(&mut access, semantics.space, true, group)?.with(access);
        let mut mbarriers = Vec::new();
        for AccessSegment { space, access } in segments {
            let block_slot = match space {
                Space::Shared => self.block_slot,
                Space::SharedCluster => self.block_slot - self.rank + access.rank,
                other @ (Space::Generic | Space::Global | Space::Const | Space::Local | Space::Param | Space::ParamFunc) => {
                    let message = format!("an mbarrier is in shared memory; this is the address of {} memory", other.word());
                    return Err(self.trap(TrapKind::Space, access.mask, &message));
                }
            };
            let mut rest = access.mask;
            while !rest.is_empty() {
                let address = access.addresses[rest.first()];
                let lanes = rest.filter(|lane| access.addresses[lane] == address);
                mbarriers.push(MbarrierRef { block_slot, address: address as u32, lanes });
                rest &= !lanes;
            }
        }
        assert_eq!(mbarriers.iter().fold(LaneMask::NONE, |lanes, mbarrier| lanes | mbarrier.lanes), active, "a lane names no object");
        Ok(mbarriers)
    }

    fn update(&mut self, f: MbarrierFn, mbarriers: &[MbarrierRef], counts: &PerLane<u32>, d: Dst, group: &Group) -> Executed {
        // A faulting instruction has no effect, so all mbarriers are checked before one is changed.
        let mut phases: smallvec::SmallVec<[LanePhases; 1]> = smallvec![];
        for mbarrier in mbarriers {
            phases.push(match self.check_update(f, mbarrier, counts) {
                // The operation may be valid once pending copies have completed.
                Err(trap) if trap.kind == TrapKind::MbarrierOverflow && self.end_copies_to(mbarrier)? => {
                    self.check_update(f, mbarrier, counts)?
                }
                result => result?,
            });
        }
        for (mbarrier, phases) in mbarriers.iter().zip(phases) {
            self.report_update(f, mbarrier, counts, &phases);
            match f {
                MbarrierFn::Init => {
                    let point = self.point;
                    let count = counts[mbarrier.lanes.first()];
                    self.with_shared(mbarrier.block_slot, |shared| shared.init(mbarrier.address, count, point));
                }
                MbarrierFn::Inval => {
                    let point = self.point;
                    self.with_shared(mbarrier.block_slot, |shared| shared.invalidate(mbarrier.address, point));
                }
                MbarrierFn::Arrive
                | MbarrierFn::ArriveExpectTx
                | MbarrierFn::ArriveNoComplete
                | MbarrierFn::Drop
                | MbarrierFn::DropExpectTx
                | MbarrierFn::DropNoComplete
                | MbarrierFn::ExpectTx
                | MbarrierFn::CompleteTx => self.contribute(f, mbarrier, counts, d, group)?,
            }
            self.progress += 1;
        }
        Ok(self.end_slice_if_phase_ended(group))
    }

    /// Checks the operation, and returns the phases to which the lanes contribute.
    fn check_update(&mut self, f: MbarrierFn, mbarrier: &MbarrierRef, counts: &PerLane<u32>) -> Result<LanePhases, Box<Trap>> {
        if f == MbarrierFn::Init {
            let wrong = mbarrier.lanes.iter().find(|lane| counts[*lane] == 0 || counts[*lane] > COUNT_LIMIT);
            return wrong.map_or(Ok(smallvec![(mbarrier.lanes, 0)]), |_| Err(self.mbarrier_trap(MbarrierError::Count, mbarrier)));
        }
        let found = self.with_shared(mbarrier.block_slot, |shared| shared.mbarrier(mbarrier.address).cloned());
        let mut barrier = found.unwrap_or(Err(MbarrierError::BlockExited)).map_err(|error| self.mbarrier_trap(error, mbarrier))?;
        let mut phases: LanePhases = smallvec![(LaneMask::NONE, barrier.phase)];
        for lane in mbarrier.lanes.iter() {
            match phases.last_mut() {
                Some((lanes, phase)) if *phase == barrier.phase => *lanes |= LaneMask::of(lane),
                _ => phases.push((LaneMask::of(lane), barrier.phase)),
            }
            for what in contributions(f, counts[lane]) {
                let is_no_complete = matches!(f, MbarrierFn::ArriveNoComplete | MbarrierFn::DropNoComplete);
                if is_no_complete && barrier.would_complete(what) == Ok(true) {
                    return Err(self.mbarrier_trap(MbarrierError::Completes, mbarrier));
                }
                let operation = self.operation(what, LaneMask::of(lane));
                barrier.apply(operation).map_err(|error| self.mbarrier_trap(error, mbarrier))?;
            }
        }
        Ok(phases)
    }

    fn contribute(&mut self, f: MbarrierFn, mbarrier: &MbarrierRef, counts: &PerLane<u32>, d: Dst, group: &Group) -> Result<(), Box<Trap>> {
        let mut states = [0; 32];
        for lane in mbarrier.lanes.iter() {
            for what in contributions(f, counts[lane]) {
                let operation = self.operation(what, LaneMask::of(lane));
                let word = self
                    .with_shared(mbarrier.block_slot, |shared| shared.mbarrier(mbarrier.address).map_or(0, Mbarrier::word))
                    .unwrap_or(0);
                if !matches!(what, Contribution::ExpectTx(_)) {
                    states[lane] = word;
                }
                self.memory_view()
                    .contribute(mbarrier.block_slot, mbarrier.address, operation)
                    .map_err(|error| self.mbarrier_trap(error, mbarrier))?;
            }
        }
        if !d.is_sink() {
            self.lanes(group, mbarrier.lanes).put64(d, &states);
        }
        Ok(())
    }

    /// `test_wait` and `try_wait`: lanes that test a phase that has not completed wait, with `try_wait` or if the last poll failed too.
    fn test_phase(
        &mut self,
        blocks: bool,
        mbarriers: &[MbarrierRef],
        parities: &PerLane<u32>,
        p: Dst,
        group: &Group,
        active: LaneMask,
    ) -> Executed {
        let (mut completed, mut awaited) = (LaneMask::NONE, None);
        for mbarrier in mbarriers {
            let found = self.with_shared(mbarrier.block_slot, |shared| shared.mbarrier(mbarrier.address).map(Mbarrier::parity));
            let parity = found.unwrap_or(Err(MbarrierError::BlockExited)).map_err(|error| self.mbarrier_trap(error, mbarrier))?;
            let of_mbarrier = mbarrier.lanes.filter(|lane| parities[lane] != parity);
            completed |= of_mbarrier;
            if of_mbarrier != mbarrier.lanes && awaited.is_none() {
                awaited = Some(mbarrier);
            }
        }
        assert!(active.contains_all(completed), "lanes are answered that have not asked");
        let polled = &mut self.warp.groups[group.index].polled;
        let may_wait = blocks || *polled == Polled::Failed(group.pc);
        let timed_out = *polled == Polled::TimedOut(group.pc);
        match awaited {
            Some(mbarrier) if may_wait && !timed_out => {
                *polled = Polled::Failed(group.pc);
                return Ok(self.wait_for_phase(mbarrier.address, group, active));
            }
            Some(_) => *polled = Polled::Failed(group.pc),
            None => *polled = Polled::Never,
        }
        self.meet_at_mbarriers(completed);
        for mbarrier in mbarriers {
            self.report_test(mbarrier, completed, parities);
        }
        self.lanes(group, active).put_pred(p, completed);
        Ok(Flow::Next)
    }

    /// Makes the lanes of `active` wait at the instruction; the others continue after it.
    fn wait_for_phase(&mut self, address: u32, group: &Group, active: LaneMask) -> Flow {
        self.wait_here(GroupState::AtMbarrier { address }, group, active)
    }

    /// Makes the lanes of `active` wait in `state` at the instruction, which they execute again when they continue; the others continue
    /// after it.
    pub(super) fn wait_here(&mut self, state: GroupState, group: &Group, active: LaneMask) -> Flow {
        assert!(!active.is_empty() && group.mask.contains_all(active), "lanes wait that do not run");
        assert!(state != GroupState::Ready, "lanes that wait are ready");
        self.waiting |= active;
        if active == group.mask {
            let warp_group = &mut self.warp.groups[group.index];
            warp_group.pc = group.pc;
            warp_group.state = state;
        } else {
            self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
            self.warp.split(group.index, active, group.pc);
            if let Some(waiting) = self.warp.groups.last_mut() {
                waiting.state = state;
            }
        }
        debug_assert!(self.is_group_at(group.pc, active, state), "lanes wait elsewhere, or do not wait");
        Flow::Reselect
    }

    /// True if these lanes are a group in that state at that pc.
    pub(super) fn is_group_at(&self, pc: Pc, lanes: LaneMask, state: GroupState) -> bool {
        self.warp.groups.iter().any(|group| (group.pc, group.mask, group.state) == (pc, lanes, state))
    }

    /// Ends the time slice if a phase has completed, so that groups that wait for it are woken.
    pub(super) fn end_slice_if_phase_ended(&mut self, group: &Group) -> Flow {
        if self.ended.is_empty() {
            return Flow::Next;
        }
        self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
        Flow::EndSlice(SliceEnd::PhaseEnded)
    }

    /// The memory that copies and arrivals can access.
    pub(super) fn memory_view(&mut self) -> MemoryView<'_> {
        MemoryView {
            global: self.global,
            own: Some(self.shared),
            before: self.before,
            after: self.after,
            first: self.block_slot - self.rank,
            ended: &mut self.ended,
        }
    }

    /// The owner of a segment of an access.
    pub(super) fn owner_of(&self, segment: &AccessSegment) -> MemoryOwner {
        match segment.space {
            Space::Shared => MemoryOwner::Block { block_slot: self.block_slot, index: self.point.block },
            Space::SharedCluster => self.owner_at(self.block_slot - self.rank + segment.access.rank),
            Space::Generic | Space::Global | Space::Const | Space::Local | Space::Param | Space::ParamFunc => MemoryOwner::Global,
        }
    }

    /// The memory of the resident block of the cluster in `block_slot`.
    pub(super) fn owner_at(&self, block_slot: u32) -> MemoryOwner {
        let peer = self.peer(block_slot - (self.block_slot - self.rank)).flatten();
        MemoryOwner::Block {
            block_slot,
            index: if block_slot == self.block_slot { self.point.block } else { peer.map_or(self.point.block, |block| block.index) },
        }
    }

    fn with_shared<T>(&mut self, block_slot: u32, f: impl FnOnce(&mut Shared) -> T) -> Option<T> {
        if block_slot == self.block_slot { Some(f(self.shared)) } else { self.memory_view().shared(block_slot).map(f) }
    }

    /// The name of the mbarrier at `address`, also for those of other blocks of the cluster.
    pub(super) fn mbarrier_name(&self, address: u32) -> String {
        self.shared.mbarrier_name(self.program, self.prepared.config.kernel, address)
    }

    fn operation(&self, what: Contribution, lanes: LaneMask) -> MbarrierOperation {
        MbarrierOperation { what, point: self.point, lanes, copy: None, tick: self.point.tick }
    }

    fn mbarrier_trap(&self, error: MbarrierError, mbarrier: &MbarrierRef) -> Box<Trap> {
        let (kind, message) = error.describe(&self.mbarrier_name(mbarrier.address));
        self.trap(kind, mbarrier.lanes, &message)
    }

    fn report_update(&mut self, f: MbarrierFn, mbarrier: &MbarrierRef, counts: &PerLane<u32>, phases: &LanePhases) {
        if self.wants(EventKind::Mbarrier) {
            phases
                .iter()
                .for_each(|(lanes, phase)| self.report_phase_update(f, &MbarrierRef { lanes: *lanes, ..*mbarrier }, counts, *phase));
        }
    }

    /// Reports the contributions of the lanes of `mbarrier` to one phase.
    fn report_phase_update(&mut self, f: MbarrierFn, mbarrier: &MbarrierRef, counts: &PerLane<u32>, phase: u64) {
        let total = mbarrier.lanes.iter().map(|lane| counts[lane]).fold(0, u32::saturating_add);
        let threads = mbarrier.lanes.count();
        let changes: &[MbarrierChange] = match f {
            MbarrierFn::Init => &[MbarrierChange::Initialized(counts[mbarrier.lanes.first()])],
            MbarrierFn::Inval => &[MbarrierChange::Invalidated],
            MbarrierFn::ArriveExpectTx => &contributed([Contribution::ExpectTx(total), Contribution::Arrived(threads)]),
            MbarrierFn::DropExpectTx => &contributed([Contribution::ExpectTx(total), Contribution::Dropped(threads)]),
            MbarrierFn::Arrive | MbarrierFn::ArriveNoComplete => &contributed([Contribution::Arrived(total)]),
            MbarrierFn::Drop | MbarrierFn::DropNoComplete => &contributed([Contribution::Dropped(total)]),
            MbarrierFn::ExpectTx => &contributed([Contribution::ExpectTx(total)]),
            MbarrierFn::CompleteTx => &contributed([Contribution::CompleteTx(total)]),
        };
        for change in changes {
            self.report_change(mbarrier.lanes, mbarrier, phase, *change);
        }
    }

    fn report_change(&mut self, lanes: LaneMask, mbarrier: &MbarrierRef, phase: u64, change: MbarrierChange) {
        let MemoryOwner::Block { index: block, block_slot } = self.owner_at(mbarrier.block_slot) else { return };
        let (point, block_id, address) = (self.point, self.block_id(), mbarrier.address);
        let (semantics, _) = self.semantics();
        self.emit(&Event::Mbarrier(MbarrierEvent { point, block_id, lanes, block, block_slot, address, phase, change, semantics }));
    }

    fn report_test(&mut self, mbarrier: &MbarrierRef, completed: LaneMask, parities: &PerLane<u32>) {
        if self.wants(EventKind::Mbarrier) {
            let phase = self
                .with_shared(mbarrier.block_slot, |shared| shared.mbarrier(mbarrier.address).map_or(0, |barrier| barrier.phase))
                .unwrap_or(0);
            for (lanes, completed) in [(mbarrier.lanes & completed, true), (mbarrier.lanes & !completed, false)] {
                if !lanes.is_empty() {
                    let change = MbarrierChange::Tested { parity: parities[lanes.first()], completed };
                    self.report_change(lanes, mbarrier, phase, change);
                }
            }
        }
    }
}

fn contributed<const N: usize>(what: [Contribution; N]) -> [MbarrierChange; N] {
    what.map(MbarrierChange::Contributed)
}

/// The contributions of a lane whose operand is `count`, in this order.
fn contributions(f: MbarrierFn, count: u32) -> Contributions {
    use Contribution::{Arrived, CompleteTx, Dropped, ExpectTx};
    match f {
        MbarrierFn::Init | MbarrierFn::Inval => smallvec![],
        MbarrierFn::Arrive | MbarrierFn::ArriveNoComplete => smallvec![Arrived(count)],
        MbarrierFn::Drop | MbarrierFn::DropNoComplete => smallvec![Dropped(count)],
        MbarrierFn::ArriveExpectTx => smallvec![ExpectTx(count), Arrived(1)],
        MbarrierFn::DropExpectTx => smallvec![ExpectTx(count), Dropped(1)],
        MbarrierFn::ExpectTx => smallvec![ExpectTx(count)],
        MbarrierFn::CompleteTx => smallvec![CompleteTx(count)],
    }
}
