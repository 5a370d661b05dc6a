//! Loads and stores (PTX ISA, "Data Movement and Conversion Instructions": `ld`, `ldu`, `st`).

use smallvec::SmallVec;
use triomphe::Arc;

use super::operands::Lanes;
use crate::isa::{Ordering, Space};
use crate::machine::exec::warp_run::{Executed, Flow, Group, WarpRun};
use crate::machine::state::block::Block;
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::memory::{Allocation, LaneAccess, Region, gather, scatter};
use crate::machine::state::shared::Shared;
use crate::machine::state::trap::{Trap, TrapKind};
use crate::machine::{AccessEvent, AccessKind, Event, EventKind, Proxy, StoreData};
use crate::program::{Access, Address, AsyncOp, Base, Dst, ImageFn, MemoryOp, Op, Src, map};

/// The checked memory of an access.
pub(super) enum Segments {
    /// All lanes access one allocation of this space.
    One(Space),
    /// Lanes access several allocations.
    Several(Vec<AccessSegment>),
}

impl Segments {
    /// The segments of `access`.
    pub fn with(self, access: LaneAccess) -> Vec<AccessSegment> {
        match self {
            Segments::One(space) => vec![AccessSegment { space, access }],
            Segments::Several(segments) => segments,
        }
    }
}

/// A part of an access that lies in one allocation of one space, with addresses of that space.
pub(super) struct AccessSegment {
    /// Never `Generic`.
    pub space: Space,
    /// The lanes and their addresses.
    pub access: LaneAccess,
}

/// The conversion of an element from memory to a register.
#[derive(Clone, Copy)]
pub(super) struct Element {
    /// Bits in memory.
    pub bits: u8,
    pub signed: bool,
    pub reg_bits: u8,
}

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes a load or a store.
    pub(super) fn load_store(&mut self, op: &MemoryOp, group: &Group, active: LaneMask) -> Executed {
        let program = self.program;
        match op {
            MemoryOp::Load { access, bits, signed, reg_bits, d, address } => {
                let element = Element { bits: *bits, signed: *signed, reg_bits: *reg_bits };
                self.load(access, element, std::slice::from_ref(d), address, group, active)
            }
            MemoryOp::LoadVector { access, bits, signed, reg_bits, parts, address } => {
                let element = Element { bits: *bits, signed: *signed, reg_bits: *reg_bits };
                self.load(access, element, &program.dests[*parts], address, group, active)
            }
            MemoryOp::Store { access, bits, reg_bits, a, address } => {
                let element = Element { bits: *bits, signed: false, reg_bits: *reg_bits };
                self.store(access, element, std::slice::from_ref(a), address, group, active)
            }
            MemoryOp::StoreVector { access, bits, reg_bits, parts, address } => {
                let element = Element { bits: *bits, signed: false, reg_bits: *reg_bits };
                self.store(access, element, &program.sources[*parts], address, group, active)
            }
        }
    }

    fn load(&mut self, op: &Access, element: Element, parts: &[Dst], address: &Address, group: &Group, active: LaneMask) -> Executed {
        self.note_spin(op);
        let size = u32::from(element.bits / 8);
        let mut access = self.access(address, group, active, size * parts.len() as u32);
        let segments = self.locate(&mut access, op.space, false, group)?;
        let load = |run: &mut Self, space, access: &LaneAccess| {
            run.report_load(space, access, op);
            let load = |run: &mut Self, access: &LaneAccess| {
                for (index, d) in parts.iter().enumerate() {
                    run.load_element(space, access, element, *d, index as u64 * u64::from(size), group);
                }
            };
            let stale = run.stale_lanes(space, access, op, size);
            load(run, access);
            run.load_stale(&stale, space, access, load);
        };
        match segments {
            Segments::One(space) => load(self, space, &access),
            Segments::Several(segments) => segments.iter().for_each(|segment| load(self, segment.space, &segment.access)),
        }
        Ok(Flow::Next)
    }

    #[inline(always)]
    fn load_element(&mut self, space: Space, access: &LaneAccess, element: Element, d: Dst, skip: u64, group: &Group) {
        if element.bits == 128 {
            let (mut low, mut high) = ([0; 32], [0; 32]);
            self.read(space, access, skip, |lane, bytes| low[lane] = u64::from_le_bytes(bytes));
            self.read(space, access, skip + 8, |lane, bytes| high[lane] = u64::from_le_bytes(bytes));
            let mut lanes = self.lanes(group, access.mask);
            lanes.put64(d, &low);
            lanes.put64(if d.is_sink() { d } else { Dst(d.0.offset(1)) }, &high);
            return;
        }
        if element.bits == 64 {
            let mut words = [0; 32];
            self.read(space, access, skip, |lane, bytes| words[lane] = u64::from_le_bytes(bytes));
            put_wide(&mut self.lanes(group, access.mask), element, d, &words);
            return;
        }
        let mut words = [0; 32];
        match (element.bits, element.signed) {
            (8, false) => self.read(space, access, skip, |lane, [byte]| words[lane] = u32::from(byte)),
            (8, true) => self.read(space, access, skip, |lane, [byte]| words[lane] = i32::from(byte as i8) as u32),
            (16, false) => self.read(space, access, skip, |lane, bytes| words[lane] = u32::from(u16::from_le_bytes(bytes))),
            (16, true) => self.read(space, access, skip, |lane, bytes| words[lane] = i32::from(i16::from_le_bytes(bytes)) as u32),
            _ => self.read(space, access, skip, |lane, bytes| words[lane] = u32::from_le_bytes(bytes)),
        }
        put_extended(&mut self.lanes(group, access.mask), element, d, &words);
    }

    fn store(&mut self, op: &Access, element: Element, parts: &[Src], address: &Address, group: &Group, active: LaneMask) -> Executed {
        let size = u32::from(element.bits / 8);
        let mut access = self.access(address, group, active, size * parts.len() as u32);
        let segments = self.locate(&mut access, op.space, true, group)?;
        let store = |run: &mut Self, space, access: &LaneAccess| {
            if run.wants(EventKind::Access) {
                run.report_store(space, access, op, (element, parts), group);
            }
            if run.compares_stores && !space.is_of_thread() {
                run.exclude_store_from_progress(space, access, op, (element, parts), group);
            }
            if run.weak.is_some() && run.store_weak(space, access, op, (element, parts), group) {
                return;
            }
            for (index, a) in parts.iter().enumerate() {
                run.store_element(space, access, element, *a, index as u64 * u64::from(size), group);
            }
        };
        match segments {
            Segments::One(space) => store(self, space, &access),
            Segments::Several(segments) => segments.iter().for_each(|segment| store(self, segment.space, &segment.access)),
        }
        Ok(Flow::Next)
    }

    #[inline(always)]
    fn store_element(&mut self, space: Space, access: &LaneAccess, element: Element, a: Src, skip: u64, group: &Group) {
        let lanes = self.lanes(group, access.mask);
        if element.bits >= 64 {
            let words = *lanes.get64(a);
            let high = (element.bits == 128).then(|| *lanes.get64(a.next()));
            self.write(space, access, skip, |lane, bytes| *bytes = words[lane].to_le_bytes());
            if let Some(high) = high {
                self.write(space, access, skip + 8, |lane, bytes| *bytes = high[lane].to_le_bytes());
            }
            return;
        }
        let words = if element.reg_bits >= 64 { lanes.get64(a).map(|word| word as u32) } else { *lanes.get32(a) };
        match element.bits {
            8 => self.write(space, access, skip, |lane, bytes| *bytes = [words[lane] as u8]),
            16 => self.write(space, access, skip, |lane, bytes| *bytes = (words[lane] as u16).to_le_bytes()),
            _ => self.write(space, access, skip, |lane, bytes| *bytes = words[lane].to_le_bytes()),
        }
    }

    /// Computes the addresses of an instruction.
    #[inline(always)]
    pub(super) fn access(&mut self, address: &Address, group: &Group, active: LaneMask, bytes: u32) -> LaneAccess {
        let simd = self.prepared.simd;
        let lanes = self.lanes(group, active);
        simd.dispatch(Addresses { lanes, address, frame: group.frame.local, bytes })
    }

    /// Checks an access and finds its memory: almost always one allocation. In that case addresses are made relative to their window.
    #[inline(always)]
    pub(super) fn locate(&self, access: &mut LaneAccess, space: Space, write: bool, group: &Group) -> Result<Segments, Box<Trap>> {
        let top = self.warp.groups[group.index].local_top;
        let (actual, window) = self.own_memory(access.min, space);
        let inside = access.min >= window;
        if inside && !access.misaligned && self.is_accessible(actual, access.min - window, access.max - window, access.bytes, write, top) {
            access.subtract_window(window);
            return Ok(Segments::One(actual));
        }
        self.segments_by_lane(access, space, write, group).map(Segments::Several)
    }

    /// The general case of [`Self::locate`]: checks the lanes one by one.
    #[inline(never)]
    fn segments_by_lane(&self, access: &LaneAccess, space: Space, write: bool, group: &Group) -> Result<Vec<AccessSegment>, Box<Trap>> {
        let top = self.warp.groups[group.index].local_top;
        let owner = |address: u64| self.owner(address, space);
        let accessible = |low: u64, high: u64| {
            let Ok((actual, window, _)) = owner(low) else { return false };
            owner(high) == owner(low)
                && self.is_accessible(actual, low.wrapping_sub(window), high.wrapping_sub(window), access.bytes, write, top)
        };
        let mut segments = Vec::new();
        let mut rest = access.mask;
        while !rest.is_empty() {
            let first = access.addresses[rest.first()];
            if access.misaligned || !accessible(first, first) {
                return Err(self.memory_fault(access, space, write, group));
            }
            let together = |lane: usize| {
                let other = access.addresses[lane];
                accessible(first.min(other), first.max(other))
            };
            let mask = rest.filter(together);
            let Ok((actual, window, rank)) = owner(first) else { return Err(self.memory_fault(access, space, write, group)) };
            let mut part = access.only(mask);
            part.subtract_window(window);
            part.rank = rank;
            segments.push(AccessSegment { space: actual, access: part });
            assert!(mask.contains(rest.first()), "a lane accesses nothing");
            rest &= !mask;
        }
        Ok(segments)
    }

    /// The space of an access in `space`, and the start of its addresses, if shared memory is that of the block itself.
    #[inline(always)]
    fn own_memory(&self, address: u64, space: Space) -> (Space, u64) {
        match space {
            Space::Shared | Space::SharedCluster => (Space::Shared, self.shared_base),
            Space::Generic => match self.window_of(address) {
                (Space::Shared, window) => (Space::Shared, window + self.shared_base),
                owner => owner,
            },
            named @ (Space::Global | Space::Const | Space::Local | Space::Param | Space::ParamFunc) => (named, 0),
        }
    }

    /// The space of an access in `space`, the start of its addresses, and the rank of the block that owns the memory.
    pub(super) fn owner(&self, address: u64, space: Space) -> Result<(Space, u64, u32), TrapKind> {
        let (actual, window) = if space == Space::Generic { self.window_of(address) } else { (space, 0) };
        if !matches!(actual, Space::Shared | Space::SharedCluster) {
            return Ok((actual, window, 0));
        }
        let rank = (address.wrapping_sub(window) >> map::SHARED_OFFSET_BITS) as u32;
        let owner = (window + map::shared_base(rank), rank);
        if rank == self.rank {
            return Ok((Space::Shared, owner.0, owner.1));
        }
        if space == Space::Shared {
            return Err(if self.prepared.cluster_blocks > rank as usize { TrapKind::Space } else { TrapKind::OutOfBounds });
        }
        match self.peer(rank) {
            Some(Some(_)) => Ok((Space::SharedCluster, owner.0, owner.1)),
            Some(None) => Err(TrapKind::ClusterExited),
            None => Err(TrapKind::ClusterRank),
        }
    }

    /// Another block of the cluster: `None` if the cluster has no such rank, `Some(None)` if that block has exited.
    pub(super) fn peer(&self, rank: u32) -> Option<Option<&Block>> {
        let slot = match (rank as usize).checked_sub(self.before.len()) {
            None => self.before.get(rank as usize),
            Some(past) => self.after.get(past.checked_sub(1)?),
        };
        slot.map(|slot| slot.as_deref())
    }

    pub(super) fn peer_mut(&mut self, rank: u32) -> Option<&mut Block> {
        let slot = match (rank as usize).checked_sub(self.before.len()) {
            None => self.before.get_mut(rank as usize),
            Some(past) => self.after.get_mut(past.checked_sub(1)?),
        };
        slot?.as_mut().map(Arc::make_mut)
    }

    /// True if `bytes` bytes at every address from `min` to `max` are in one allocation that may be read, or written if `write`.
    #[inline(always)]
    fn is_accessible(&self, space: Space, min: u64, max: u64, bytes: u32, write: bool, top: u32) -> bool {
        let inside = |start: u64, end: u64| min >= start && max.saturating_add(u64::from(bytes)) <= end;
        let region = match space {
            Space::Generic | Space::Global => &*self.global,
            Space::Const if write => return false,
            Space::Const => self.constant_memory,
            Space::Shared | Space::SharedCluster => return inside(self.prepared.shared_start, self.prepared.shared_bytes),
            Space::Local | Space::ParamFunc => return inside(map::LOCAL_BASE, u64::from(top)),
            Space::Param => return !write && inside(0, self.prepared.config.params.len() as u64),
        };
        let is_known = |allocation: &Allocation| write || allocation.first_unknown(min, max, u64::from(bytes)).is_none();
        region.find(min).is_some_and(|allocation| allocation.holds(min, max, bytes) && is_known(allocation))
    }

    /// Checks that the bytes are known that a read-modify-write access reads.
    pub(super) fn check_known(&self, segments: &[AccessSegment], group: &Group) -> Result<(), Box<Trap>> {
        let is_known = |segment: &AccessSegment| {
            let LaneAccess { min, max, bytes, .. } = segment.access;
            segment.space != Space::Global || self.is_accessible(Space::Global, min, max, bytes, false, 0)
        };
        let unknown = |segment: &&AccessSegment| {
            let each = |lane: usize| {
                self.is_accessible(
                    Space::Global,
                    segment.access.addresses[lane],
                    segment.access.addresses[lane],
                    segment.access.bytes,
                    false,
                    0,
                )
            };
            !is_known(segment) && !segment.access.mask.iter().all(each)
        };
        match segments.iter().find(unknown) {
            Some(segment) => Err(self.memory_fault(&segment.access, Space::Global, false, group)),
            None => Ok(()),
        }
    }

    /// Reads `N` bytes for every lane of a checked segment; lanes outside of its mask repeat those of another lane.
    #[inline(always)]
    pub(super) fn read<const N: usize>(&self, space: Space, access: &LaneAccess, skip: u64, mut put: impl FnMut(usize, [u8; N])) {
        let region = match space {
            Space::Generic | Space::Global => &*self.global,
            Space::Const => self.constant_memory,
            Space::Shared => return gather(&self.shared.pages, 0, access, skip, put),
            Space::SharedCluster => {
                return self.read_peer(access, skip, &mut put);
            }
            Space::Local | Space::ParamFunc => {
                return access.mask.iter().for_each(|lane| put(lane, self.warp.local.read(lane, access.addresses[lane] + skip)));
            }
            Space::Param => {
                let params = &self.prepared.config.params;
                return (0..32).for_each(|lane| put(lane, chunk(params, access.addresses[lane] + skip)));
            }
        };
        if let Some(allocation) = region.find(access.min) {
            gather(&allocation.pages, allocation.origin, access, skip, put);
        }
    }

    /// Passes `N` bytes for every lane of a checked segment to `change`, lowest lane first: progress where others see it.
    #[inline(always)]
    pub(super) fn write<const N: usize>(
        &mut self,
        space: Space,
        access: &LaneAccess,
        skip: u64,
        mut change: impl FnMut(usize, &mut [u8; N]),
    ) {
        self.progress += u64::from(!space.is_of_thread());
        match space {
            Space::Shared => scatter(&mut self.shared.pages, 0, access, skip, change),
            Space::SharedCluster => {
                self.write_peer(access, skip, &mut change);
            }
            Space::Local | Space::ParamFunc => {
                for lane in access.mask.iter() {
                    let mut bytes = self.warp.local.read(lane, access.addresses[lane] + skip);
                    change(lane, &mut bytes);
                    self.warp.local.write(lane, access.addresses[lane] + skip, &bytes);
                }
            }
            Space::Generic | Space::Global | Space::Const | Space::Param => {
                if let Some(allocation) = self.global.find_mut(access.min) {
                    let origin = allocation.origin;
                    scatter(&mut allocation.pages, origin, access, skip, change);
                }
            }
        }
    }

    /// Reports a load.
    #[inline(always)]
    fn report_load(&mut self, space: Space, access: &LaneAccess, op: &Access) {
        if self.wants(EventKind::Access) {
            let proxy = if op.non_coherent { Proxy::ReadOnly } else { Proxy::Generic };
            self.emit_access(space, access, AccessKind::Read, (*op, proxy));
        }
    }

    /// Reports an access by the running instruction.
    pub(super) fn report(&mut self, space: Space, access: &LaneAccess, kind: AccessKind) {
        if self.wants(EventKind::Access) {
            self.emit_access(space, access, kind, self.semantics());
        }
    }

    /// Reports a store, with its data.
    #[inline(never)]
    fn report_store(&mut self, space: Space, access: &LaneAccess, op: &Access, (element, parts): (Element, &[Src]), group: &Group) {
        let elements = self.stored_elements(access, element, parts, group);
        self.report_elements(space, access, *op, (word_bytes(element), &elements));
    }

    /// Reports a store of elements of the given size, 8 bytes at most.
    pub(super) fn report_elements(&mut self, space: Space, access: &LaneAccess, op: Access, data: (u32, &[PerLane<u64>])) {
        let store = store_data((&*self.shared, &*self.global), space, access, data);
        let event = AccessEvent { store, ..self.access_event(space, access, AccessKind::Write, (op, Proxy::Generic)) };
        self.paused |= self.observer.event(&Event::Access(event));
    }

    /// Excludes a store that changes nothing, or only memory that other blocks do not see, from progress.
    #[inline(never)]
    fn exclude_store_from_progress(
        &mut self,
        space: Space,
        access: &LaneAccess,
        op: &Access,
        (element, parts): (Element, &[Src]),
        group: &Group,
    ) {
        if space == Space::Shared && op.ordering == Ordering::Weak && self.prepared.cluster_blocks == 1 {
            self.non_progress.changes_shared = true;
        } else {
            self.non_progress.compared += 1;
            let elements = self.stored_elements(access, element, parts, group);
            let data = store_data((&*self.shared, &*self.global), space, access, (word_bytes(element), &elements));
            if !data.is_some_and(|data| access.mask.iter().all(|lane| data.already_holds(lane, access.addresses[lane]))) {
                return;
            }
        }
        self.non_progress.count += parts.len() as u64 * if element.bits == 128 { 2 } else { 1 };
    }

    /// The values that a store writes, element by element, in words of at most 8 bytes.
    pub(super) fn stored_elements(
        &mut self,
        access: &LaneAccess,
        element: Element,
        parts: &[Src],
        group: &Group,
    ) -> SmallVec<[PerLane<u64>; 4]> {
        let lanes = self.lanes(group, access.mask);
        let mut elements = SmallVec::new();
        for part in parts {
            if element.reg_bits >= 64 {
                elements.push(*lanes.get64(*part));
            } else {
                elements.push(lanes.get32(*part).map(u64::from));
            }
            if element.bits == 128 {
                elements.push(*lanes.get64(part.next()));
            }
        }
        elements
    }

    #[inline(always)]
    fn emit_access(&mut self, space: Space, access: &LaneAccess, kind: AccessKind, (semantics, proxy): (Access, Proxy)) {
        self.emit(&Event::Access(self.access_event(space, access, kind, (semantics, proxy))));
        if kind != AccessKind::Write {
            self.update_wants();
        }
    }

    #[inline(always)]
    fn access_event<'e>(
        &self,
        space: Space,
        access: &'e LaneAccess,
        kind: AccessKind,
        (semantics, proxy): (Access, Proxy),
    ) -> AccessEvent<'e> {
        let (lanes, addresses, bytes) = (access.mask, &access.addresses, access.bytes);
        let (min, max) = (access.min, access.max);
        let rank = if space == Space::SharedCluster { access.rank } else { self.rank };
        let (point, block_id, owner) = (self.point, self.block_id(), (self.block_slot - self.rank + rank, rank));
        let lockstep = self.warp.lockstep(lanes);
        AccessEvent {
            point,
            block_id,
            lanes,
            lockstep,
            kind,
            semantics,
            proxy,
            space,
            owner,
            addresses,
            shape: None,
            min,
            max,
            bytes,
            depth: self.running_depth(),
            store: None,
        }
    }

    /// The semantics and the proxy of the running instruction.
    pub(super) fn semantics(&self) -> (Access, Proxy) {
        let op = &self.program.code[self.point.pc.index()].op;
        let semantics = op.access().unwrap_or_default();
        let proxy = if let Op::Image { access } = op {
            proxy_of(&self.program.images[*access].f)
        } else if let Op::Async(AsyncOp::Copy { .. }) = op {
            // The issue of a copy reads only the tensor map.
            Proxy::TensorMap
        } else if semantics.non_coherent {
            Proxy::ReadOnly
        } else {
            Proxy::Generic
        };
        (semantics, proxy)
    }

    /// Records a strong access, which may be part of a spin loop.
    #[inline(always)]
    pub(super) fn note_spin(&mut self, op: &Access) {
        self.warp.may_spin |= op.ordering != Ordering::Weak;
    }
}

/// The data of a store, with the memory that it writes; none for memory that other warps of the block do not share.
fn store_data<'a>(
    (shared, global): (&'a Shared, &'a Region),
    space: Space,
    access: &LaneAccess,
    (element_bytes, elements): (u32, &'a [PerLane<u64>]),
) -> Option<StoreData<'a>> {
    let memory = match space {
        Space::Shared => Some((&shared.pages, 0)),
        Space::Generic | Space::Global => global.find(access.min).map(|allocation| (&allocation.pages, allocation.origin)),
        Space::SharedCluster | Space::Local | Space::ParamFunc | Space::Const | Space::Param => None,
    };
    memory.map(|(pages, origin)| StoreData { elements, element_bytes, pages, origin })
}

/// The bytes of the words in which [`WarpRun::stored_elements`] has elements.
fn word_bytes(element: Element) -> u32 {
    u32::from(element.bits.min(64) / 8)
}

/// The proxy of an image access.
fn proxy_of(f: &ImageFn) -> Proxy {
    match f {
        ImageFn::Sample { .. } | ImageFn::Gather { .. } => Proxy::ReadOnly,
        ImageFn::Load(..)
        | ImageFn::Store(..)
        | ImageFn::StoreFormatted(_)
        | ImageFn::Reduce { .. }
        | ImageFn::Query(..)
        | ImageFn::IsHandle(_) => Proxy::Surface,
    }
}

pub(super) fn put_extended(lanes: &mut Lanes<'_>, element: Element, d: Dst, words: &PerLane<u32>) {
    if element.reg_bits >= 64 {
        let extend = |word: u32| if element.signed { i64::from(word as i32) as u64 } else { u64::from(word) };
        put_wide(lanes, element, d, &words.map(extend));
    } else if element.reg_bits == 16 {
        lanes.put32(d, &words.map(|word| word & 0xffff));
    } else {
        lanes.put32(d, words);
    }
}

/// Writes a register of 64 bits, or of 128 bits, zero- or sign-extended.
#[inline(always)]
fn put_wide(lanes: &mut Lanes<'_>, element: Element, d: Dst, words: &PerLane<u64>) {
    lanes.put64(d, words);
    if element.reg_bits == 128 && !d.is_sink() {
        let high = |word: u64| if element.signed { (word as i64 >> 63) as u64 } else { 0 };
        lanes.put64(Dst(d.0.offset(1)), &words.map(high));
    }
}

/// The `N` bytes at `address`, zero past the end.
fn chunk<const N: usize>(bytes: &[u8], address: u64) -> [u8; N] {
    let start = usize::try_from(address).unwrap_or(usize::MAX);
    bytes.get(start..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

struct Addresses<'a, 'o> {
    lanes: Lanes<'a>,
    address: &'o Address,
    frame: u32,
    bytes: u32,
}

impl pulp::WithSimd for Addresses<'_, '_> {
    type Output = LaneAccess;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> LaneAccess {
        let offset = i64::from(self.address.offset) as u64;
        let mut addresses = [0; 32];
        match self.address.base {
            Base::Wide(source) => {
                let base = self.lanes.get64(source);
                (0..32).for_each(|lane| addresses[lane] = base[lane].wrapping_add(offset));
            }
            Base::Narrow(source) => {
                let base = self.lanes.get32(source);
                (0..32).for_each(|lane| addresses[lane] = u64::from(base[lane].wrapping_add(offset as u32)));
            }
            Base::Frame => addresses = [u64::from(self.frame).wrapping_add(offset); 32],
        }
        LaneAccess::new(addresses, self.lanes.mask, self.bytes)
    }
}
