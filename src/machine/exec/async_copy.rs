//! Asynchronous copy instructions, and waits for their groups (PTX ISA, "Asynchronous copy").

use smallvec::SmallVec;

use super::load_store::AccessSegment;
use super::mbarrier::MbarrierRef;
use crate::isa::{AtomicFn, ScalarType, Space};
use crate::machine::event::{CopyEvent, CopyStage, CopyWait, Event, SyncKind};
use crate::machine::event_kind::EventKind;
use crate::machine::exec::warp_run::{Executed, Flow, Group, WarpRun};
use crate::machine::in_flight::policy::{AtIssue, WhenAwaited};
use crate::machine::state::in_flight::copy::{AsyncCopy, CopyCompletion, CopyKind, LaneCopies, MemoryAddress, MemoryOwner};
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::mbarrier::MbarrierError;
use crate::machine::state::memory::LaneAccess;
use crate::machine::state::trap::{Trap, TrapKind};
use crate::machine::state::warp::GroupState;
use crate::program::{Access, AsyncOp, Completion, CopyId, CopyOp, ListId, SourceSize, SpaceAddress, Src};

/// Alignment of the addresses of a bulk copy, and the unit of its size.
const BULK_UNIT: u32 = 16;

/// The owner and the address of the mbarrier of each lane.
type LaneMbarriers = PerLane<Option<(MemoryOwner, u32)>>;

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes an asynchronous copy, store or reduction.
    fn async_copy(&mut self, copy: CopyId, group: &Group, active: LaneMask) -> Executed {
        let program = self.program;
        match &program.copies[copy] {
            CopyOp::Lanes { to, from, bytes, source_size } => self.lane_copies((to, from), *bytes, *source_size, group, active)?,
            CopyOp::Bulk { to, from, bytes, reduction, completion, multicast, byte_mask } => {
                let bulk =
                    Bulk { to, from, bytes: *bytes, reduction: *reduction, completion, multicast: *multicast, byte_mask: *byte_mask };
                self.bulk_copies(&bulk, group, active)?;
            }
            CopyOp::Tensor(copy) => self.tensor_copies(copy, group, active)?,
            CopyOp::Store { to, ty, values, reduction, mbarrier } => {
                self.async_stores((to, mbarrier), (*values, *ty), *reduction, group, active)?;
            }
            CopyOp::Arrive { access, mbarrier, noinc } => self.arrive_after_copies(access, mbarrier, *noinc, group, active)?,
        }
        Ok(self.end_slice_if_phase_ended(group))
    }

    /// `cp.async`.
    fn lane_copies(
        &mut self,
        (to, from): (&SpaceAddress, &SpaceAddress),
        bytes: u32,
        source_size: SourceSize,
        group: &Group,
        active: LaneMask,
    ) -> Result<(), Box<Trap>> {
        let source_size = self.source_size(source_size, bytes, group, active);
        let reading = active.filter(|lane| source_size[lane] > 0);
        let mut destination = self.access(&to.address, group, active, bytes);
        let segments = self.locate(&mut destination, to.space, true, group)?.with(destination);
        let mut source = self.access(&from.address, group, active, bytes);
        if !reading.is_empty() {
            source = source.only(reading);
            self.locate(&mut source, from.space, false, group)?;
        }
        let groups = self.warp.copy_groups.committed(false);
        for segment in segments {
            let owner = self.owner_of(&segment);
            let to = segment.access.addresses.map(|address| address as u32);
            for (number, lanes) in group_by_number(&groups, segment.access.mask) {
                let copies = LaneCopies { from: source.addresses, to, owner, bytes, source_sizes: source_size };
                self.issue_copy(lanes, CopyKind::CpAsync(Box::new(copies)), CopyCompletion::Group { bulk: false, number })?;
            }
        }
        Ok(())
    }

    fn source_size(&mut self, source_size: SourceSize, bytes: u32, group: &Group, active: LaneMask) -> PerLane<u8> {
        let lanes = self.lanes(group, active);
        match source_size {
            SourceSize::All => [bytes as u8; 32],
            SourceSize::Bytes(count) => lanes.get32(count).map(|count| count.min(bytes) as u8),
            SourceSize::IgnoredIf(predicate) => {
                let ignored = lanes.pred(predicate);
                std::array::from_fn(|lane| if ignored.contains(lane) { 0 } else { bytes as u8 })
            }
        }
    }

    /// `cp.async.bulk`, `cp.reduce.async.bulk`: a copy for every lane.
    fn bulk_copies(&mut self, bulk: &Bulk<'_>, group: &Group, active: LaneMask) -> Result<(), Box<Trap>> {
        let lanes = self.lanes(group, active);
        let sizes = *lanes.get32(bulk.bytes);
        let masks = bulk.byte_mask.map_or([u16::MAX; 32], |mask| lanes.get32(mask).map(|mask| mask as u16));
        let ranks = bulk.multicast.map(|mask| lanes.get32(mask).map(|mask| mask as u16));
        self.check_sizes(&sizes, active)?;
        let to = self.ranges_of_lanes(bulk.to, &sizes, true, group, active)?;
        let from = self.ranges_of_lanes(bulk.from, &sizes, false, group, active)?;
        self.check_known_ranges(&from, ("copy", &sizes), active, group)?;
        if bulk.reduction.is_some() {
            self.check_known_ranges(&to, ("reduction", &sizes), active, group)?;
        }
        let mbarriers = match bulk.completion {
            Completion::Mbarrier(address) => Some(self.mbarriers_of_lanes(address, group, active)?),
            Completion::BulkGroup => None,
        };
        for lane in active.iter().filter(|lane| sizes[*lane] > 0) {
            let (Some(to), Some(from)) = (to[lane], from[lane]) else { continue };
            let kind =
                |to| CopyKind::Bulk { from, to, bytes: sizes[lane], reduction: bulk.reduction, mask: masks[lane], source_bytes: None };
            let Some((owner, address)) = mbarriers.as_ref().and_then(|mbarriers| mbarriers[lane]) else {
                let completion = CopyCompletion::Group { bulk: true, number: self.warp.copy_groups.committed(true)[lane] };
                self.issue_copy(LaneMask::of(lane), kind(to), completion)?;
                continue;
            };
            let Some(ranks) = ranks else {
                self.issue_copy(LaneMask::of(lane), kind(to), CopyCompletion::Mbarrier { owner, address, bytes: sizes[lane] })?;
                continue;
            };
            for rank in (0..16).filter(|rank| ranks[lane] >> rank & 1 != 0) {
                let owner = self.owner_of_rank(rank, LaneMask::of(lane))?;
                let completion = CopyCompletion::Mbarrier { owner, address, bytes: sizes[lane] };
                self.issue_copy(LaneMask::of(lane), kind(MemoryAddress { owner, ..to }), completion)?;
            }
        }
        Ok(())
    }

    fn check_sizes(&self, sizes: &PerLane<u32>, active: LaneMask) -> Result<(), Box<Trap>> {
        let wrong = active.filter(|lane| !sizes[lane].is_multiple_of(BULK_UNIT));
        if wrong.is_empty() {
            return Ok(());
        }
        let bytes = sizes[wrong.first()];
        Err(self.trap(TrapKind::CopySize, wrong, &format!("a bulk copy of {bytes} bytes: the size must be a multiple of {BULK_UNIT}")))
    }

    /// The range of each lane with the length in `sizes`, checked.
    fn ranges_of_lanes(
        &mut self,
        base: &SpaceAddress,
        sizes: &PerLane<u32>,
        write: bool,
        group: &Group,
        active: LaneMask,
    ) -> Result<PerLane<Option<MemoryAddress>>, Box<Trap>> {
        let all = self.access(&base.address, group, active, BULK_UNIT);
        if all.misaligned {
            let wrong = all.lanes_where(|address| !address.is_multiple_of(u64::from(BULK_UNIT)));
            let address = all.addresses[wrong.first()];
            let message = format!("a bulk copy at {address:#x}: the address must be a multiple of {BULK_UNIT}");
            return Err(self.trap(TrapKind::CopyMisaligned, wrong, &message));
        }
        let mut found = [None; 32];
        for lane in active.iter().filter(|lane| sizes[*lane] > 0) {
            // If the first and the last unit are in one allocation, so are all.
            let address = all.addresses[lane];
            let first = self.mapped_segment(one_lane(address, lane), base.space, write, group)?;
            let last = address.wrapping_add(u64::from(sizes[lane] - BULK_UNIT));
            let last = self.mapped_segment(one_lane(last, lane), base.space, write, group);
            if !last.is_ok_and(|last| self.is_same_allocation(&first, &last)) {
                let nearby = self.nearby(first.space, first.access.min, u64::from(sizes[lane]), group).unwrap_or_default();
                let message = format!("a bulk copy of {} bytes at {address:#x}: {nearby}", sizes[lane]);
                return Err(self.trap(TrapKind::OutOfBounds, LaneMask::of(lane), &message));
            }
            let at = MemoryAddress { owner: self.owner_of(&first), address: first.access.addresses[lane] };
            found[lane] = Some(at);
        }
        Ok(found)
    }

    /// Checks that the bytes of global memory that copies read, or with which they are reduced, are known.
    fn check_known_ranges(
        &self,
        ranges: &PerLane<Option<MemoryAddress>>,
        (what, sizes): (&str, &PerLane<u32>),
        active: LaneMask,
        group: &Group,
    ) -> Result<(), Box<Trap>> {
        let unknown = |lane: usize| {
            let at = ranges[lane].filter(|at| matches!(at.owner, MemoryOwner::Global))?.address;
            let unknown = self.global.find(at)?.first_unknown(at, at, sizes[lane].into())?;
            let what = format!("a bulk {what} of {} bytes from {at:#x} on takes memory that is not known", sizes[lane]);
            Some(self.byte_fault(&what, unknown, false, lane, group))
        };
        active.iter().find_map(unknown).map_or(Ok(()), Err)
    }

    pub(super) fn only_segment(
        &self,
        mut access: LaneAccess,
        space: Space,
        write: bool,
        group: &Group,
    ) -> Result<AccessSegment, Box<Trap>> {
        let segments = self.locate(&mut access, space, write, group)?.with(access);
        segments.into_iter().next().ok_or_else(|| self.trap(TrapKind::OutOfBounds, access.mask, "no memory at the address"))
    }

    /// The segment of an access to mapped memory, whether its bytes are known or not.
    fn mapped_segment(&self, access: LaneAccess, space: Space, write: bool, group: &Group) -> Result<AccessSegment, Box<Trap>> {
        // Bytes may be unknown, as for a write; a fault is reported as that of the actual access.
        let found = self.only_segment(access, space, true, group);
        found.map_err(|fault| if write { fault } else { self.memory_fault(&access, space, false, group) })
    }

    fn is_same_allocation(&self, first: &AccessSegment, last: &AccessSegment) -> bool {
        let base = |segment: &AccessSegment| self.global.find(segment.access.min).map(|allocation| allocation.base);
        match (first.space, last.space) {
            (Space::Global, Space::Global) => base(first) == base(last),
            (a, b) => a == b && first.access.rank == last.access.rank,
        }
    }

    /// The block of rank `rank` of the cluster, which `lanes` access.
    pub(super) fn owner_of_rank(&self, rank: u32, lanes: LaneMask) -> Result<MemoryOwner, Box<Trap>> {
        let size = self.prepared.config.blocks_of_cluster();
        if rank == self.rank {
            return Ok(self.owner_at(self.block_slot));
        }
        match self.peer(rank) {
            Some(Some(_)) => Ok(self.owner_at(self.block_slot - self.rank + rank)),
            Some(None) => Err(self.trap(TrapKind::ClusterExited, lanes, &format!("the block of rank {rank} of the cluster has exited"))),
            None => {
                let message = format!("the copy is for rank {rank}, but the cluster has {size} blocks");
                Err(self.trap(TrapKind::ClusterRank, lanes, &message))
            }
        }
    }

    /// The mbarrier of each lane, checked.
    pub(super) fn mbarriers_of_lanes(&mut self, base: &SpaceAddress, group: &Group, active: LaneMask) -> Result<LaneMbarriers, Box<Trap>> {
        let access = Access { space: base.space, ..Access::default() };
        let named = self.mbarriers_named(&access, &base.address, group, active)?;
        let mut mbarriers = [None; 32];
        for MbarrierRef { block_slot, address, lanes } in named {
            let owner = self.owner_at(block_slot);
            lanes.iter().for_each(|lane| mbarriers[lane] = Some((owner, address)));
        }
        Ok(mbarriers)
    }

    /// `st.async`, `red.async`.
    fn async_stores(
        &mut self,
        (to, mbarrier): (&SpaceAddress, &SpaceAddress),
        (values, ty): (ListId, ScalarType),
        reduction: Option<AtomicFn>,
        group: &Group,
        active: LaneMask,
    ) -> Result<(), Box<Trap>> {
        let sources = &self.program.sources[values];
        let bytes = ty.bytes() * sources.len() as u32;
        let mut access = self.access(&to.address, group, active, bytes);
        let segments = self.locate(&mut access, to.space, true, group)?.with(access);
        if reduction.is_some() {
            self.check_known(&segments, group)?;
        }
        let mbarriers = self.mbarriers_of_lanes(mbarrier, group, active)?;
        let data = self.bytes_of_lanes(sources, ty, group, active);
        for segment in segments {
            let owner = self.owner_of(&segment);
            for lane in segment.access.mask.iter() {
                let Some((mbarrier_owner, address)) = mbarriers[lane] else { continue };
                let to = MemoryAddress { owner, address: segment.access.addresses[lane] };
                let kind = CopyKind::StAsync { to, bytes: data[lane].clone(), reduction: reduction.map(|f| (f, ty)) };
                self.issue_copy(LaneMask::of(lane), kind, CopyCompletion::Mbarrier { owner: mbarrier_owner, address, bytes })?;
            }
        }
        Ok(())
    }

    /// The concatenated bytes of each lane's `sources`.
    fn bytes_of_lanes(&mut self, sources: &[Src], ty: ScalarType, group: &Group, active: LaneMask) -> Vec<SmallVec<[u8; 16]>> {
        let lanes = self.lanes(group, active);
        let words: Vec<PerLane<u64>> =
            sources.iter().map(|a| if ty.bits() == 64 { *lanes.get64(*a) } else { lanes.get32(*a).map(u64::from) }).collect();
        let of_lane = |lane: usize| words.iter().flat_map(|word| word[lane].to_le_bytes().into_iter().take(ty.bytes() as usize)).collect();
        (0..32).map(of_lane).collect()
    }

    /// `cp.async.mbarrier.arrive`.
    fn arrive_after_copies(
        &mut self,
        access: &Access,
        mbarrier: &crate::program::Address,
        noinc: bool,
        group: &Group,
        active: LaneMask,
    ) -> Result<(), Box<Trap>> {
        for MbarrierRef { block_slot, address, lanes } in self.mbarriers_named(access, mbarrier, group, active)? {
            if !noinc {
                // The arrival increments the pending count first.
                let more = lanes.count();
                let added = self.memory_view().shared(block_slot).map(|shared| shared.change(address, |barrier| barrier.add_pending(more)));
                if let Some(Err(error)) = added {
                    let (kind, message) = error.describe(&self.mbarrier_name(address));
                    return Err(self.trap(kind, lanes, &message));
                }
            }
            let completion = CopyCompletion::Mbarrier { owner: self.owner_at(block_slot), address, bytes: 0 };
            self.issue_copy(lanes, CopyKind::CpAsyncArrive, completion)?;
        }
        Ok(())
    }

    /// Puts a copy in flight, or ends it at once if the policy is `eager`.
    pub(super) fn issue_copy(&mut self, lanes: LaneMask, kind: CopyKind, completion: CopyCompletion) -> Result<(), Box<Trap>> {
        let id = self.in_flight.next_id();
        assert!(!lanes.is_empty() && self.warp.live.contains_all(lanes), "a copy is issued by no lane");
        let copy = AsyncCopy { id, issued: self.point, block_id: self.block_id(), lanes, kind, completion, read: false };
        self.progress += 1;
        self.report_copy(&copy, lanes, CopyStage::Issued);
        if self.completion.at_issue() == AtIssue::Ends {
            let tick = self.point.tick;
            copy.end(lanes, tick, &mut self.memory_view()).map_err(|error| self.copy_fault(&copy, error))?;
            self.report_copy(&copy, lanes, CopyStage::Ended);
            return Ok(());
        }
        copy.poison(&mut self.memory_view());
        self.in_flight.add_copy(copy);
        Ok(())
    }

    /// Executes an asynchronous copy, `commit_group`, `wait_group` or `wait_all`.
    pub(super) fn asynchronous(&mut self, op: &AsyncOp, group: &Group, active: LaneMask) -> Executed {
        match *op {
            AsyncOp::Copy { copy } => self.async_copy(copy, group, active),
            AsyncOp::Commit { bulk } => {
                self.warp.copy_groups.commit(bulk, active);
                self.report_sync(active, SyncKind::Committed { bulk });
                Ok(Flow::Next)
            }
            AsyncOp::Wait { bulk, read, uncommitted, pending } => {
                self.wait_for_copies(CopyWait { bulk, read, uncommitted, pending }, group, active)
            }
        }
    }

    fn wait_for_copies(&mut self, wait: CopyWait, group: &Group, active: LaneMask) -> Executed {
        let CopyWait { bulk, read, uncommitted, pending } = wait;
        if !self.in_flight.has_copies() {
            self.report_sync(active, SyncKind::Awaited(wait));
            return Ok(Flow::Next);
        }
        let groups = self.warp.copy_groups.committed(bulk);
        let is_awaited = |lane: usize, number: u32| number < groups[lane].saturating_sub(pending) || uncommitted && number <= groups[lane];
        let awaited = |copy: &AsyncCopy| match copy.completion {
            CopyCompletion::Group { bulk: of, number } if of == bulk && !(read && copy.read) => {
                (copy.lanes & active).filter(|lane| is_awaited(lane, number))
            }
            CopyCompletion::Group { .. } | CopyCompletion::Mbarrier { .. } => LaneMask::NONE,
        };
        let copies = self.in_flight.copies_of(self.number, self.point.warp.number());
        let copies: SmallVec<[_; 8]> = copies.map(|copy| (copy.clone(), awaited(copy))).filter(|(_, lanes)| !lanes.is_empty()).collect();
        if !copies.is_empty() && self.completion.when_awaited() == WhenAwaited::WaitsForUser {
            return Ok(self.wait_here(GroupState::AtCopies, group, active));
        }
        for (copy, lanes) in &copies {
            self.progress += 1;
            if read {
                let mut copy = AsyncCopy::clone(copy);
                copy.read_source(&mut self.memory_view());
                self.report_copy(&copy, *lanes, CopyStage::Read);
                self.in_flight.replace_copy(copy);
                continue;
            }
            let tick = self.point.tick;
            copy.end(*lanes, tick, &mut self.memory_view()).map_err(|error| self.copy_fault(copy, error))?;
            self.report_copy(copy, *lanes, CopyStage::Ended);
            self.in_flight.remove_copy(copy, *lanes);
        }
        self.report_sync(active, SyncKind::Awaited(wait));
        Ok(self.end_slice_if_phase_ended(group))
    }

    /// Ends the copies that complete on an mbarrier, unless only the user ends copies. False if there are none.
    pub(super) fn end_copies_to(&mut self, mbarrier: &MbarrierRef) -> Result<bool, Box<Trap>> {
        if self.completion.when_awaited() == WhenAwaited::WaitsForUser {
            return Ok(false);
        }
        let copies = self.in_flight.to_mbarrier(mbarrier.block_slot, mbarrier.address);
        for copy in &copies {
            self.progress += 1;
            copy.end(copy.lanes, self.point.tick, &mut self.memory_view()).map_err(|error| self.copy_fault(copy, error))?;
            self.report_copy(copy, copy.lanes, CopyStage::Ended);
            self.in_flight.remove_copy(copy, copy.lanes);
        }
        Ok(!copies.is_empty())
    }

    fn copy_fault(&self, copy: &AsyncCopy, error: MbarrierError) -> Box<Trap> {
        copy.fault(error, |address| self.mbarrier_name(address))
    }

    fn report_copy(&mut self, copy: &AsyncCopy, lanes: LaneMask, stage: CopyStage) {
        if self.wants(EventKind::Copy) {
            let replaces = (stage == CopyStage::Issued).then(|| copy.replaces_global(&mut self.memory_view())).flatten();
            self.emit(&Event::Copy(CopyEvent { copy, lanes, stage, replaces, tick: self.point.tick }));
        }
    }
}

/// The operands of a bulk copy.
struct Bulk<'a> {
    to: &'a SpaceAddress,
    from: &'a SpaceAddress,
    bytes: Src,
    reduction: Option<(AtomicFn, ScalarType)>,
    completion: &'a Completion,
    multicast: Option<Src>,
    byte_mask: Option<Src>,
}

/// An access of one unit by one lane.
fn one_lane(address: u64, lane: usize) -> LaneAccess {
    LaneAccess::new([address; 32], LaneMask::of(lane), BULK_UNIT)
}

/// The lanes of `mask`, grouped by their number.
fn group_by_number(numbers: &PerLane<u32>, mask: LaneMask) -> SmallVec<[(u32, LaneMask); 1]> {
    let mut groups = SmallVec::new();
    let mut rest = mask;
    while !rest.is_empty() {
        let number = numbers[rest.first()];
        let lanes = rest.filter(|lane| numbers[lane] == number);
        groups.push((number, lanes));
        rest &= !lanes;
    }
    groups
}
