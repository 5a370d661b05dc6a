//! Operations on mbarriers (PTX ISA, "mbarrier"). Lanes go in order, lowest first.

use smallvec::smallvec;

use super::load_store::AccessSegment;
use crate::isa::{MbarrierFn, Space};
use crate::machine::event::{Event, EventKind, MbarrierChange, MbarrierEvent};
use crate::machine::exec::warp_run::{Executed, Flow, Group, Pause, WarpRun};
use crate::machine::in_flight::copy::view::MemoryView;
use crate::machine::state::in_flight::copy::MemoryOwner;
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::mbarrier::{self, COUNT_LIMIT, Contribution, Mbarrier, MbarrierOperation, Refused};
use crate::machine::state::shared::{MBARRIER_BYTES, Shared};
use crate::machine::state::trap::{Trap, TrapKind};
use crate::machine::state::warp::{GroupState, Polled};
use crate::program::{Access, Address, Dst, MbarrierOp, Pc};

/// The lanes that name the same mbarrier.
#[derive(Clone, Copy)]
pub(super) struct Object {
    /// The block slot of the block whose shared memory it is in.
    pub block_slot: u32,
    /// Its address there.
    pub address: u32,
    /// The lanes.
    pub lanes: LaneMask,
}

/// Lanes and the phase of an object to which they bring what they bring.
type Phases = smallvec::SmallVec<[(LaneMask, u64); 1]>;

/// The contributions of each lane to an mbarrier, in this order.
type Contributions = smallvec::SmallVec<[Contribution; 2]>;

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes an operation on mbarriers.
    pub(super) fn mbarrier(&mut self, op: &MbarrierOp, group: &Group, active: LaneMask) -> Executed {
        match *op {
            MbarrierOp::Update { f, ref access, d, a, ref address } => {
                let objects = self.objects(access, address, group, active)?;
                let counts = a.map_or([1; 32], |a| *self.lanes(group, active).get32(a));
                self.operate(f, &objects, &counts, d, group)
            }
            MbarrierOp::Wait { blocks, parity, ref access, p, a, ref address } => {
                let objects = self.objects(access, address, group, active)?;
                let lanes = self.lanes(group, active);
                let parities = if parity { lanes.get32(a).map(|word| word & 1) } else { lanes.get64(a).map(mbarrier::parity_of) };
                self.ask(blocks, &objects, &parities, p, group, active)
            }
            MbarrierOp::PendingCount { d, a } => {
                let counts = self.lanes(group, active).get64(a).map(mbarrier::pending_of);
                self.lanes(group, active).put32(d, &counts);
                Ok(Flow::Next)
            }
        }
    }

    /// The mbarriers that lanes name, in order of their lowest lane.
    pub(super) fn objects(&mut self, how: &Access, address: &Address, group: &Group, active: LaneMask) -> Result<Vec<Object>, Box<Trap>> {
        let mut access = self.access(address, group, active, MBARRIER_BYTES);
        let segments = self.locate(&mut access, how.space, true, group)?.with(access);
        let mut objects = Vec::new();
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
                objects.push(Object { block_slot, address: address as u32, lanes });
                rest &= !lanes;
            }
        }
        assert_eq!(objects.iter().fold(LaneMask::NONE, |lanes, object| lanes | object.lanes), active, "a lane names no object");
        Ok(objects)
    }

    fn operate(&mut self, f: MbarrierFn, objects: &[Object], counts: &PerLane<u32>, d: Dst, group: &Group) -> Executed {
        // Nothing has changed when the instruction faults, so every object is tried before any is touched.
        let mut phases: smallvec::SmallVec<[Phases; 1]> = smallvec![];
        for object in objects {
            phases.push(match self.try_operate(f, object, counts) {
                // The copies that the phase still waits for may as well have ended by now.
                Err(trap) if trap.kind == TrapKind::MbarrierOverflow && self.end_copies_to(object)? => {
                    self.try_operate(f, object, counts)?
                }
                tried => tried?,
            });
        }
        for (object, phases) in objects.iter().zip(phases) {
            self.report_operation(f, object, counts, &phases);
            match f {
                MbarrierFn::Init => {
                    let place = self.place;
                    let count = counts[object.lanes.first()];
                    self.at_block_slot(object.block_slot, |shared| shared.init(object.address, count, place));
                }
                MbarrierFn::Inval => {
                    let place = self.place;
                    self.at_block_slot(object.block_slot, |shared| shared.invalidate(object.address, place));
                }
                MbarrierFn::Arrive
                | MbarrierFn::ArriveExpectTx
                | MbarrierFn::ArriveNoComplete
                | MbarrierFn::Drop
                | MbarrierFn::DropExpectTx
                | MbarrierFn::DropNoComplete
                | MbarrierFn::ExpectTx
                | MbarrierFn::CompleteTx => self.contribute(f, object, counts, d, group)?,
            }
            self.progress += 1;
        }
        Ok(self.pause_if_ended(group))
    }

    /// Whether the operation can be done, and what part of the lanes does it in which phase.
    fn try_operate(&mut self, f: MbarrierFn, object: &Object, counts: &PerLane<u32>) -> Result<Phases, Box<Trap>> {
        if f == MbarrierFn::Init {
            let wrong = object.lanes.iter().find(|lane| counts[*lane] == 0 || counts[*lane] > COUNT_LIMIT);
            return wrong.map_or(Ok(smallvec![(object.lanes, 0)]), |_| Err(self.refuse_object(Refused::Count, object)));
        }
        let tried = self.at_block_slot(object.block_slot, |shared| shared.mbarrier(object.address).cloned());
        let mut barrier = tried.unwrap_or(Err(Refused::Gone)).map_err(|refused| self.refuse_object(refused, object))?;
        let mut phases: Phases = smallvec![(LaneMask::NONE, barrier.phase)];
        for lane in object.lanes.iter() {
            match phases.last_mut() {
                Some((lanes, phase)) if *phase == barrier.phase => *lanes |= LaneMask::of(lane),
                _ => phases.push((LaneMask::of(lane), barrier.phase)),
            }
            for what in contributions(f, counts[lane]) {
                let only_counts = matches!(f, MbarrierFn::ArriveNoComplete | MbarrierFn::DropNoComplete);
                if only_counts && barrier.would_end(what) == Ok(true) {
                    return Err(self.refuse_object(Refused::Completes, object));
                }
                let operation = self.operation(what, LaneMask::of(lane));
                barrier.apply(operation).map_err(|refused| self.refuse_object(refused, object))?;
            }
        }
        Ok(phases)
    }

    fn contribute(&mut self, f: MbarrierFn, object: &Object, counts: &PerLane<u32>, d: Dst, group: &Group) -> Result<(), Box<Trap>> {
        let mut states = [0; 32];
        for lane in object.lanes.iter() {
            for what in contributions(f, counts[lane]) {
                let operation = self.operation(what, LaneMask::of(lane));
                let word =
                    self.at_block_slot(object.block_slot, |shared| shared.mbarrier(object.address).map_or(0, Mbarrier::word)).unwrap_or(0);
                if !matches!(what, Contribution::ExpectTx(_)) {
                    states[lane] = word;
                }
                self.view()
                    .contribute(object.block_slot, object.address, operation)
                    .map_err(|refused| self.refuse_object(refused, object))?;
            }
        }
        if !d.is_sink() {
            self.lanes(group, object.lanes).put64(d, &states);
        }
        Ok(())
    }

    /// `test_wait` and `try_wait`: lanes that ask for a phase that has not ended wait, if they may or have asked before.
    fn ask(&mut self, blocks: bool, objects: &[Object], parities: &PerLane<u32>, p: Dst, group: &Group, active: LaneMask) -> Executed {
        let (mut ended, mut awaited) = (LaneMask::NONE, None);
        for object in objects {
            let found = self.at_block_slot(object.block_slot, |shared| shared.mbarrier(object.address).map(Mbarrier::parity));
            let parity = found.unwrap_or(Err(Refused::Gone)).map_err(|refused| self.refuse_object(refused, object))?;
            let over = object.lanes.filter(|lane| parities[lane] != parity);
            ended |= over;
            if over != object.lanes && awaited.is_none() {
                awaited = Some(object);
            }
        }
        assert!(active.contains_all(ended), "lanes are answered that have not asked");
        let polled = &mut self.warp.groups[group.index].polled;
        let may_wait = blocks || *polled == Polled::Refused(group.pc);
        let timed_out = *polled == Polled::TimedOut(group.pc);
        match awaited {
            Some(object) if may_wait && !timed_out => {
                *polled = Polled::Refused(group.pc);
                return Ok(self.wait_for_phase(object.address, group, active));
            }
            Some(_) => *polled = Polled::Refused(group.pc),
            None => *polled = Polled::Never,
        }
        for object in objects {
            self.report_answer(object, ended, parities);
        }
        self.lanes(group, active).put_pred(p, ended);
        Ok(Flow::Next)
    }

    /// Makes the lanes of `active` wait at the instruction; the others continue after it.
    fn wait_for_phase(&mut self, address: u32, group: &Group, active: LaneMask) -> Flow {
        self.wait_here(GroupState::AtMbarrier { address }, group, active)
    }

    /// Makes the lanes of `active` wait in `state` at the instruction, which they execute when they continue; the others continue after it.
    pub(super) fn wait_here(&mut self, state: GroupState, group: &Group, active: LaneMask) -> Flow {
        assert!(!active.is_empty() && group.mask.contains_all(active), "lanes wait that do not run");
        assert!(state != GroupState::Ready, "lanes that wait are ready");
        self.waiting |= active;
        if active == group.mask {
            let group_of_warp = &mut self.warp.groups[group.index];
            group_of_warp.pc = group.pc;
            group_of_warp.state = state;
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

    /// Whether these lanes are a group in that state at that pc.
    pub(super) fn is_group_at(&self, pc: Pc, lanes: LaneMask, state: GroupState) -> bool {
        self.warp.groups.iter().any(|group| (group.pc, group.mask, group.state) == (pc, lanes, state))
    }

    /// The scheduling turn ends if a phase has ended, so that groups that wait for it become ready.
    pub(super) fn pause_if_ended(&mut self, group: &Group) -> Flow {
        if self.ended.is_empty() {
            return Flow::Next;
        }
        self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
        Flow::Pause(Pause::PhaseEnded)
    }

    /// The memory that copies and arrivals reach.
    pub(super) fn view(&mut self) -> MemoryView<'_> {
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
            Space::Shared => MemoryOwner::Block { block_slot: self.block_slot, index: self.place.block },
            Space::SharedCluster => self.owner_at(self.block_slot - self.rank + segment.access.rank),
            Space::Generic | Space::Global | Space::Const | Space::Local | Space::Param | Space::ParamFunc => MemoryOwner::Global,
        }
    }

    /// The memory of the block of the cluster in `block_slot`, which is on the machine.
    pub(super) fn owner_at(&self, block_slot: u32) -> MemoryOwner {
        let peer = self.peer(block_slot - (self.block_slot - self.rank)).flatten();
        MemoryOwner::Block {
            block_slot,
            index: if block_slot == self.block_slot { self.place.block } else { peer.map_or(self.place.block, |block| block.index) },
        }
    }

    fn at_block_slot<T>(&mut self, block_slot: u32, f: impl FnOnce(&mut Shared) -> T) -> Option<T> {
        if block_slot == self.block_slot { Some(f(self.shared)) } else { self.view().shared(block_slot).map(f) }
    }

    /// The name of the mbarrier at `address`; those of other blocks of the cluster are named like the block's own.
    pub(super) fn mbarrier_name(&self, address: u32) -> String {
        self.shared.mbarrier_name(self.program, self.prepared.config.kernel, address)
    }

    fn operation(&self, what: Contribution, lanes: LaneMask) -> MbarrierOperation {
        MbarrierOperation { what, place: self.place, lanes, copy: None, tick: self.place.tick }
    }

    fn refuse_object(&self, refused: Refused, object: &Object) -> Box<Trap> {
        let (kind, message) = refused.words(&self.mbarrier_name(object.address));
        self.trap(kind, object.lanes, &message)
    }

    fn report_operation(&mut self, f: MbarrierFn, object: &Object, counts: &PerLane<u32>, phases: &Phases) {
        if self.wants(EventKind::Mbarrier) {
            phases.iter().for_each(|(lanes, phase)| self.report_part(f, &Object { lanes: *lanes, ..*object }, counts, *phase));
        }
    }

    /// Reports what the lanes of `object` do in one phase.
    fn report_part(&mut self, f: MbarrierFn, object: &Object, counts: &PerLane<u32>, phase: u64) {
        let total = object.lanes.iter().map(|lane| counts[lane]).fold(0, u32::saturating_add);
        let threads = object.lanes.count();
        let changes: &[MbarrierChange] = match f {
            MbarrierFn::Init => &[MbarrierChange::Made(counts[object.lanes.first()])],
            MbarrierFn::Inval => &[MbarrierChange::Invalidated],
            MbarrierFn::ArriveExpectTx => &contributed([Contribution::ExpectTx(total), Contribution::Arrived(threads)]),
            MbarrierFn::DropExpectTx => &contributed([Contribution::ExpectTx(total), Contribution::Dropped(threads)]),
            MbarrierFn::Arrive | MbarrierFn::ArriveNoComplete => &contributed([Contribution::Arrived(total)]),
            MbarrierFn::Drop | MbarrierFn::DropNoComplete => &contributed([Contribution::Dropped(total)]),
            MbarrierFn::ExpectTx => &contributed([Contribution::ExpectTx(total)]),
            MbarrierFn::CompleteTx => &contributed([Contribution::CompleteTx(total)]),
        };
        for change in changes {
            self.report_change(object.lanes, object, phase, *change);
        }
    }

    fn report_change(&mut self, lanes: LaneMask, object: &Object, phase: u64, change: MbarrierChange) {
        let MemoryOwner::Block { index: block, block_slot } = self.owner_at(object.block_slot) else { return };
        let (place, block_id, address) = (self.place, self.block_id(), object.address);
        let (how, _) = self.semantics();
        self.emit(&Event::Mbarrier(MbarrierEvent { place, block_id, lanes, block, block_slot, address, phase, change, semantics: how }));
    }

    fn report_answer(&mut self, object: &Object, ended: LaneMask, parities: &PerLane<u32>) {
        if self.wants(EventKind::Mbarrier) {
            let phase = self
                .at_block_slot(object.block_slot, |shared| shared.mbarrier(object.address).map_or(0, |barrier| barrier.phase))
                .unwrap_or(0);
            for (lanes, ended) in [(object.lanes & ended, true), (object.lanes & !ended, false)] {
                if !lanes.is_empty() {
                    let change = MbarrierChange::Tested { parity: parities[lanes.first()], ended };
                    self.report_change(lanes, object, phase, change);
                }
            }
        }
    }
}

fn contributed<const N: usize>(what: [Contribution; N]) -> [MbarrierChange; N] {
    what.map(MbarrierChange::Contributed)
}

/// The contributions to the mbarrier of a lane whose operand is `count`, in this order.
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
