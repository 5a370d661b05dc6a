//! Accesses on weak memory ([`crate::weak`]): what loads return, and which stores memory holds. Nothing of it runs where memory is
//! sequentially consistent.
//!
//! A warp first asks whether its access is simple: whether all its lanes return the newest write, or write after all others. Only where
//! it is not, lanes access memory one by one.

use smallvec::SmallVec;

use super::load_store::Element;
use crate::isa::{FenceKind, Ordering, Scope, Space};
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};
use crate::machine::state::memory::LaneAccess;
use crate::machine::state::read_modify_write::RmwOperation;
use crate::program::{Access, Dst, Src};
use crate::weak::{self, Learned, Location, Party, Place, Record, Strengthening, WarpAccess};

/// A lane, and the bytes that it loads instead of those that memory holds.
pub(super) type StaleLane = (usize, LaneBytes);

/// The bytes of a lane.
type LaneBytes = SmallVec<[u8; 16]>;

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// The thread of a lane.
    fn place(&self, lane: usize) -> Place {
        self.prepared.place(self.number, self.point.warp.index() * LANES + lane)
    }

    /// Lanes that meet: their warp, if these are all of it, or each alone.
    fn parties(&self, lanes: LaneMask) -> SmallVec<[Party; 4]> {
        self.prepared.parties(self.number, self.point.warp.index(), lanes)
    }

    /// The number of a memory; none of memory that threads do not share.
    fn memory(&self, space: Space, access: &LaneAccess) -> Option<u32> {
        match space {
            Space::Global | Space::Generic => Some(0),
            Space::Shared => Some(self.number as u32 + 1),
            Space::SharedCluster => Some((self.number - u64::from(self.rank)) as u32 + access.rank + 1),
            Space::Const | Space::Local | Space::Param | Space::ParamFunc => None,
        }
    }

    fn warp_access<'a>(&self, memory: u32, access: &'a LaneAccess, element_bytes: u32) -> WarpAccess<'a> {
        let LaneAccess { addresses, mask, bytes, min, max, consecutive, .. } = access;
        let (mask, bytes, min, max, consecutive) = (*mask, *bytes, *min, *max, *consecutive);
        WarpAccess { memory, warp: self.place(0), mask, addresses, min, max, consecutive, bytes, element_bytes }
    }

    fn weak_access(&self, at: Location, semantics: &Access, lane: usize) -> weak::Access {
        let Access { ordering, scope, .. } = *semantics;
        weak::Access { by: self.place(lane), at, ordering, scope, time: self.point.tick.0, code: self.point.pc.0 }
    }

    /// The scope of a strong access with these semantics.
    fn strong_scope(&self, semantics: &Access) -> Scope {
        self.weak_access((0, 0, 0), semantics, 0).strong()
    }

    /// What memory holds where lanes access it, lane after lane.
    fn held_by_lanes(&self, space: Space, access: &LaneAccess, element_bytes: u32) -> Vec<u8> {
        let mut held = vec![0; LANES * access.bytes as usize];
        match element_bytes {
            1 => self.gather_words::<1>(space, access, &mut held),
            2 => self.gather_words::<2>(space, access, &mut held),
            4 => self.gather_words::<4>(space, access, &mut held),
            _ => self.gather_words::<8>(space, access, &mut held),
        }
        held
    }

    fn gather_words<const N: usize>(&self, space: Space, access: &LaneAccess, held: &mut [u8]) {
        let bytes = access.bytes as usize;
        for skip in (0..bytes).step_by(N) {
            self.read(space, access, skip as u64, |lane, word: [u8; N]| {
                held[lane * bytes + skip..lane * bytes + skip + N].copy_from_slice(&word);
            });
        }
    }

    /// What memory that threads share holds where a lane accesses it.
    fn held(&self, space: Space, access: &LaneAccess, lane: usize) -> LaneBytes {
        let (address, mut held) = (access.addresses[lane], LaneBytes::from_elem(0, access.bytes as usize));
        match space {
            Space::Shared => self.shared.pages.read(address, &mut held),
            Space::SharedCluster => {
                self.peer(access.rank).flatten().iter().for_each(|block| block.shared.pages.read(address, &mut held));
            }
            Space::Global | Space::Generic | Space::Const | Space::Local | Space::Param | Space::ParamFunc => {
                self.global.find(address).iter().for_each(|allocation| allocation.pages.read(allocation.offset(address), &mut held));
            }
        }
        held
    }

    /// Makes memory that threads share hold these bytes where a lane accesses it.
    fn hold(&mut self, space: Space, access: &LaneAccess, lane: usize, bytes: &[u8]) {
        let address = access.addresses[lane];
        match space {
            Space::Shared => self.shared.pages.write(address, bytes),
            Space::SharedCluster => {
                self.peer_mut(access.rank).into_iter().for_each(|block| block.shared.pages.write(address, bytes));
            }
            Space::Global | Space::Generic | Space::Const | Space::Local | Space::Param | Space::ParamFunc => {
                if let Some(allocation) = self.global.find_mut(address) {
                    allocation.pages.write(allocation.offset(address), bytes);
                }
            }
        }
    }

    /// The lanes of a load that return another write than the one that memory holds. Reads through other proxies return what it holds.
    #[inline(always)]
    pub(super) fn stale_lanes(&mut self, space: Space, access: &LaneAccess, semantics: &Access, element_bytes: u32) -> Vec<StaleLane> {
        match &self.weak {
            Some(_) if !semantics.non_coherent => self.choose_writes(space, access, semantics, element_bytes),
            _ => Vec::new(),
        }
    }

    #[inline(never)]
    fn choose_writes(&mut self, space: Space, access: &LaneAccess, semantics: &Access, element_bytes: u32) -> Vec<StaleLane> {
        let mut stale = Vec::new();
        let Some(memory) = self.memory(space, access) else { return stale };
        let of_warp = self.warp_access(memory, access, element_bytes);
        let semantics = &self.strengthened(semantics, access.mask);
        let (now, code) = (self.point.tick.0, self.point.pc.0);
        let scope = self.strong_scope(semantics);
        let simple = self.weak.as_mut().filter(|weak| !semantics.ordering.acquires() && weak.load_is_simple(&of_warp, scope));
        if let Some(weak) = simple {
            weak.note_warp(&of_warp, (true, false), (now, code));
            return stale;
        }
        let how = (semantics.ordering, scope);
        let first = access.mask.first();
        let held = || self.held(space, access, first);
        if self.weak.as_ref().is_some_and(|weak| weak.is_polled(&of_warp, how, held)) {
            return stale;
        }
        let (held, size) = (self.held_by_lanes(space, access, element_bytes), access.bytes as usize);
        let (mut is_newest, mut learned) = (true, Learned::default());
        for lane in access.mask.iter() {
            let mut bytes = LaneBytes::from_slice(&held[lane * size..(lane + 1) * size]);
            let mut is_stale = false;
            for (element, held) in bytes.chunks_exact_mut(element_bytes as usize).enumerate() {
                let at = (memory, access.addresses[lane] + element as u64 * u64::from(element_bytes), element_bytes);
                let how = self.weak_access(at, semantics, lane);
                let read = self.weak.as_mut().and_then(|weak| weak.load(&how, held, &mut learned));
                is_newest &= read.as_ref().is_some_and(|read| read.missed.is_none());
                if let Some(read) = read {
                    is_stale |= read.write.bytes[..] != *held;
                    held.copy_from_slice(&read.write.bytes);
                }
            }
            if is_stale {
                stale.push((lane, bytes));
            }
        }
        if is_newest {
            self.weak.iter_mut().for_each(|weak| weak.note_poll(&of_warp, how));
        }
        stale
    }

    /// Executes `load` for each of these lanes on memory that holds what it returns. That counts as progress: the next load may return
    /// another write.
    #[inline(always)]
    pub(super) fn load_stale(&mut self, stale: &[StaleLane], space: Space, access: &LaneAccess, load: impl Fn(&mut Self, &LaneAccess)) {
        for (lane, bytes) in stale {
            let held = self.held(space, access, *lane);
            self.hold(space, access, *lane, bytes);
            load(self, &access.only(LaneMask::of(*lane)));
            self.hold(space, access, *lane, &held);
            self.progress += 1;
        }
    }

    /// A store on weak memory, where it may take a place before another one in coherence order: lane by lane. False if it comes after all
    /// others: memory is to hold it.
    #[inline(never)]
    pub(super) fn store_weak(
        &mut self,
        space: Space,
        access: &LaneAccess,
        semantics: &Access,
        (element, parts): (Element, &[Src]),
        group: &Group,
    ) -> bool {
        let Some(memory) = self.memory(space, access) else { return false };
        let element_bytes = u32::from(element.bits / 8);
        let semantics = &self.strengthened(semantics, access.mask);
        let scope = self.strong_scope(semantics);
        let of_warp = self.warp_access(memory, access, element_bytes);
        let is_simple = !semantics.ordering.releases() && self.weak.as_ref().is_some_and(|weak| weak.store_is_simple(&of_warp, scope));
        let mut data = self.held_by_lanes(space, access, element_bytes);
        let found = data.len();
        let elements = self.stored_elements(access, element, parts, group);
        let word_bytes = element_bytes.min(8) as usize;
        for lane in 0..LANES {
            elements.iter().for_each(|element| data.extend_from_slice(&element[lane].to_le_bytes()[..word_bytes]));
        }
        if is_simple {
            let record = Record::new(&of_warp, (self.point.tick.0, self.point.pc.0), (scope, false), data.into_boxed_slice());
            if let Some(weak) = &mut self.weak {
                weak.note_warp(&of_warp, (false, true), (self.point.tick.0, self.point.pc.0));
                weak.add(&of_warp, record);
            }
            return false;
        }
        let bytes = access.bytes as usize;
        for lane in access.mask.iter() {
            // Lanes before this one may have written the same place.
            let mut held = match access.consecutive {
                true => LaneBytes::from_slice(&data[lane * bytes..(lane + 1) * bytes]),
                false => self.held(space, access, lane),
            };
            let new = &data[found + lane * bytes..found + (lane + 1) * bytes];
            for (element, new) in new.chunks_exact(element_bytes as usize).enumerate() {
                let skip = element * element_bytes as usize;
                let at = (memory, access.addresses[lane] + skip as u64, element_bytes);
                let how = self.weak_access(at, semantics, lane);
                let own = &mut held[skip..skip + new.len()];
                if self.weak.as_mut().is_none_or(|weak| weak.store(&how, own, new)) {
                    own.copy_from_slice(new);
                }
            }
            self.hold(space, access, lane, &held);
        }
        // As much as a store of all lanes, which is what counts as none where nothing changes.
        self.progress += parts.len() as u64 * if element.bits == 128 { 2 } else { 1 };
        true
    }

    /// A read-modify-write operation of up to 64 bits on weak memory. False if it is none of those: it acts on what memory holds.
    #[inline(never)]
    pub(super) fn atomic_weak(
        &mut self,
        (space, access): (Space, &LaneAccess),
        semantics: &Access,
        operation: RmwOperation,
        (d, b, c): (Dst, Src, Src),
        group: &Group,
    ) -> bool {
        let (bits, size) = (operation.ty.bits(), access.bytes as usize);
        let Some(memory) = self.memory(space, access).filter(|_| bits <= 64 && size <= 8) else { return false };
        let semantics = &self.strengthened(semantics, access.mask);
        let lanes = self.lanes(group, access.mask);
        let wide = |source: Src| if bits == 64 { *lanes.get64(source) } else { lanes.get32(source).map(u64::from) };
        let (b, c) = (wide(b), wide(c));
        let apply = |lane: usize, old: u64| operation.apply(old, b[lane], c[lane]);
        let scope = self.strong_scope(semantics);
        let of_warp = self.warp_access(memory, access, access.bytes);
        let is_simple = !semantics.orders() && self.weak.as_ref().is_some_and(|weak| weak.atomic_is_simple(&of_warp, scope));
        let old = match (is_simple, size) {
            (true, 4) => self.atomic_simple::<4>(space, access, &of_warp, scope, &apply),
            (true, 8) => self.atomic_simple::<8>(space, access, &of_warp, scope, &apply),
            _ => self.atomic_by_lanes((space, access), memory, semantics, d.is_sink(), &apply),
        };
        let mut lanes = self.lanes(group, access.mask);
        if bits == 64 {
            lanes.put64(d, &old);
        } else {
            lanes.put32(d, &old.map(|word| word as u32));
        }
        true
    }

    /// An atomic operation that reads the newest write alone and comes after all others.
    fn atomic_simple<const N: usize>(
        &mut self,
        space: Space,
        access: &LaneAccess,
        of_warp: &WarpAccess<'_>,
        scope: Scope,
        apply: &impl Fn(usize, u64) -> u64,
    ) -> PerLane<u64> {
        let mut data = vec![0; 2 * LANES * N];
        let (found, left) = data.split_at_mut(LANES * N);
        let mut old = [0; LANES];
        let mut is_changed = false;
        self.write(space, access, 0, |lane, bytes: &mut [u8; N]| {
            let at = lane * N..(lane + 1) * N;
            found[at.clone()].copy_from_slice(bytes);
            old[lane] = word(bytes);
            bytes.copy_from_slice(&apply(lane, old[lane]).to_le_bytes()[..N]);
            is_changed |= found[at.clone()] != *bytes;
            left[at].copy_from_slice(bytes);
        });
        self.note_unchanged(space, access.mask, |_| !is_changed);
        let record = Record::new(of_warp, (self.point.tick.0, self.point.pc.0), (scope, true), data.into_boxed_slice());
        if let Some(weak) = &mut self.weak {
            weak.note_warp(of_warp, (true, true), (self.point.tick.0, self.point.pc.0));
            weak.add(of_warp, record);
        }
        old
    }

    /// An atomic operation, lane by lane. It counts as none where each lane finds the newest write and leaves what it finds.
    fn atomic_by_lanes(
        &mut self,
        (space, access): (Space, &LaneAccess),
        memory: u32,
        semantics: &Access,
        is_reduction: bool,
        apply: &impl Fn(usize, u64) -> u64,
    ) -> PerLane<u64> {
        let size = access.bytes as usize;
        let mut old = [0; LANES];
        let mut changes = false;
        for lane in access.mask.iter() {
            let held = self.held(space, access, lane);
            let how = self.weak_access((memory, access.addresses[lane], access.bytes), semantics, lane);
            let left = apply(lane, word(&held));
            if left == word(&held) && self.weak.as_mut().is_some_and(|weak| weak.join_write(&how, is_reduction, &held)) {
                old[lane] = left;
                continue;
            }
            let change = |old: &[u8]| SmallVec::from_slice(&apply(lane, word(old)).to_le_bytes()[..size]);
            let Some(weak) = self.weak.as_mut() else { return old };
            let (read, holds) = weak.atomic(&how, is_reduction, &held, change);
            old[lane] = word(&read.write.bytes);
            let new = &apply(lane, old[lane]).to_le_bytes()[..size];
            if holds && *new != *held {
                self.hold(space, access, lane, new);
            }
            changes |= !holds || *new != *held || read.missed.is_some();
        }
        self.progress += u64::from(changes);
        old
    }

    /// What strengthens the instruction.
    fn strengthenings(&self) -> SmallVec<[Strengthening; 2]> {
        self.weak.iter().flat_map(|weak| weak.strengthenings(self.point.pc.0)).collect()
    }

    /// The semantics of an access with what strengthens its instruction, after the fences of `lanes` before it.
    fn strengthened(&mut self, semantics: &Access, lanes: LaneMask) -> Access {
        let mut all = *semantics;
        for strengthening in self.strengthenings() {
            if let Some((ordering, scope)) = strengthening.fence_before() {
                // The access itself is none of what the fence comes after.
                self.fence_at(lanes, (ordering, scope), self.point.tick.0.saturating_sub(1));
            }
            (all.ordering, all.scope) = strengthening.of_access((all.ordering, all.scope));
        }
        all
    }

    /// The fences of `lanes` after an access that strengthens its instruction.
    #[inline(always)]
    pub(super) fn fence_after(&mut self, lanes: LaneMask) {
        if self.weak.is_some() {
            for fence in self.strengthenings().into_iter().filter_map(Strengthening::fence_after) {
                self.fence_at(lanes, fence, self.point.tick.0);
            }
        }
    }

    /// A fence of `lanes`.
    pub(super) fn fence_weak(&mut self, lanes: LaneMask, kind: FenceKind, ordering: Ordering, scope: Scope) {
        if self.weak.is_some() && kind == FenceKind::Memory {
            let fence = self.strengthenings().into_iter().fold((ordering, scope), |semantics, own| own.of_fence(semantics));
            self.fence_at(lanes, fence, self.point.tick.0);
        }
    }

    fn fence_at(&mut self, lanes: LaneMask, (ordering, scope): (Ordering, Scope), now: u64) {
        for lane in lanes.iter() {
            let by = self.place(lane);
            self.weak.iter_mut().for_each(|weak| weak.fence(by, ordering, scope, now));
        }
    }

    /// Lanes of the warp meet at `bar.warp.sync`.
    pub(super) fn meet_in_warp(&mut self, members: LaneMask) {
        if self.weak.is_some() {
            let (parties, now) = (self.parties(members & self.warp.live), self.point.tick.0);
            self.weak.iter_mut().for_each(|weak| weak.meet(&parties, None, now));
        }
    }

    /// Lanes execute a collective together. The model says that it orders nothing, but what is made by CUDA's cooperative groups relies on
    /// it: one lane acquires, and a shuffle lets the others go on.
    #[inline(always)]
    pub(super) fn pass_in_warp(&mut self, lanes: LaneMask) {
        if self.weak.is_some() {
            let first = self.place(0);
            self.weak.iter_mut().for_each(|weak| weak.pass_on(first, lanes));
        }
    }

    /// Lanes arrive at an mbarrier, or find a phase of one completed. Every use of one in the cluster is ordered after those before it,
    /// which is more order than the model has.
    pub(super) fn meet_at_mbarriers(&mut self, lanes: LaneMask) {
        if self.weak.is_some() && !lanes.is_empty() {
            let (parties, cluster, now) = (self.parties(lanes), self.number - u64::from(self.rank), self.point.tick.0);
            self.weak.iter_mut().for_each(|weak| weak.meet(&parties, Some(cluster), now));
        }
    }
}

/// The bytes as a number.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}
