//! Accesses on weak memory ([`crate::weak`]): what loads return, and which stores memory holds. Nothing of it runs where memory is
//! sequentially consistent.

use smallvec::SmallVec;

use super::load_store::Element;
use crate::isa::{FenceKind, Ordering, Scope, Space};
use crate::machine::exec::warp_run::{Group, WarpRun};
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};
use crate::machine::state::memory::LaneAccess;
use crate::machine::state::read_modify_write::RmwOperation;
use crate::program::{Access, Dst, Src};
use crate::weak::{self, Location, Place};

/// A lane, and the bytes that it loads instead of those that memory holds.
pub(super) type StaleLane = (usize, SmallVec<[u8; 16]>);

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// The thread of a lane.
    fn place(&self, lane: usize) -> Place {
        self.prepared.place(self.number, self.point.warp.index() * LANES + lane)
    }

    fn places(&self, lanes: LaneMask) -> Vec<Place> {
        lanes.iter().map(|lane| self.place(lane)).collect()
    }

    /// The bytes that a lane accesses; none of memory that threads do not share.
    fn location(&self, space: Space, access: &LaneAccess, lane: usize) -> Option<Location> {
        let memory = match space {
            Space::Global | Space::Generic => 0,
            Space::Shared => self.number as u32 + 1,
            Space::SharedCluster => (self.number - u64::from(self.rank)) as u32 + access.rank + 1,
            Space::Const | Space::Local | Space::Param | Space::ParamFunc => return None,
        };
        Some((memory, access.addresses[lane], access.bytes))
    }

    fn weak_access(&self, at: Location, semantics: &Access, lane: usize) -> weak::Access {
        let Access { ordering, scope, .. } = *semantics;
        weak::Access { by: self.place(lane), at, ordering, scope, time: self.point.tick.0 }
    }

    /// What memory holds where a lane accesses it.
    fn held(&self, space: Space, access: &LaneAccess, lane: usize) -> SmallVec<[u8; 16]> {
        let own = access.only(LaneMask::of(lane));
        let mut held = SmallVec::new();
        for skip in 0..u64::from(access.bytes) {
            let mut byte = 0;
            self.read(space, &own, skip, |of, [read]: [u8; 1]| byte = if of == lane { read } else { byte });
            held.push(byte);
        }
        held
    }

    fn hold(&mut self, space: Space, access: &LaneAccess, lane: usize, bytes: &[u8]) {
        let own = access.only(LaneMask::of(lane));
        for (skip, byte) in bytes.iter().enumerate() {
            self.write(space, &own, skip as u64, |_, [held]: &mut [u8; 1]| *held = *byte);
        }
    }

    /// The lanes of a load that return another write than the one that memory holds. Reads through other proxies return what it holds.
    #[inline(always)]
    pub(super) fn stale_lanes(&mut self, space: Space, access: &LaneAccess, semantics: &Access) -> Vec<StaleLane> {
        if self.weak.is_none() || semantics.non_coherent { Vec::new() } else { self.choose_writes(space, access, semantics) }
    }

    #[inline(never)]
    fn choose_writes(&mut self, space: Space, access: &LaneAccess, semantics: &Access) -> Vec<StaleLane> {
        let mut stale = Vec::new();
        for lane in access.mask.iter() {
            let Some(at) = self.location(space, access, lane) else { break };
            let (held, how) = (self.held(space, access, lane), self.weak_access(at, semantics, lane));
            let read = self.weak.as_mut().and_then(|weak| weak.load(&how, &held));
            stale.extend(read.map(|read| (lane, read.bytes)).filter(|(_, bytes)| *bytes != held));
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
        }
    }

    /// The lanes whose stores memory holds: all, unless memory is weak.
    #[inline(always)]
    pub(super) fn kept_stores(
        &mut self,
        space: Space,
        access: &LaneAccess,
        semantics: &Access,
        (element, parts): (Element, &[Src]),
        group: &Group,
    ) -> LaneMask {
        if self.weak.is_none() {
            return access.mask;
        }
        let elements = self.stored_elements(access, element, parts, group);
        self.store_weak(space, access, semantics, &elements, usize::from(element.bits.min(64) / 8))
    }

    /// The same on weak memory, where a store may take a place before another one in coherence order. `elements` are the values.
    #[inline(never)]
    fn store_weak(
        &mut self,
        space: Space,
        access: &LaneAccess,
        semantics: &Access,
        elements: &[PerLane<u64>],
        element_bytes: usize,
    ) -> LaneMask {
        let mut kept = access.mask;
        for lane in access.mask.iter() {
            let Some(at) = self.location(space, access, lane) else { break };
            let bytes: SmallVec<[u8; 16]> =
                elements.iter().flat_map(|element| element[lane].to_le_bytes().into_iter().take(element_bytes)).collect();
            let (held, how) = (self.held(space, access, lane), self.weak_access(at, semantics, lane));
            if self.weak.as_mut().is_some_and(|weak| !weak.store(&how, &held, &bytes)) {
                kept &= !LaneMask::of(lane);
            }
        }
        kept
    }

    /// A read-modify-write operation of up to 64 bits, lane by lane. False if it is none of those: it acts on what memory holds.
    pub(super) fn atomic_weak(
        &mut self,
        (space, access): (Space, &LaneAccess),
        semantics: &Access,
        operation: RmwOperation,
        (d, b, c): (Dst, Src, Src),
        group: &Group,
    ) -> bool {
        let (bits, size) = (operation.ty.bits(), access.bytes as usize);
        if self.weak.is_none() || bits > 64 || size > 8 {
            return false;
        }
        let lanes = self.lanes(group, access.mask);
        let wide = |source: Src| if bits == 64 { *lanes.get64(source) } else { lanes.get32(source).map(u64::from) };
        let (b, c) = (wide(b), wide(c));
        let mut old = [0; 32];
        for lane in access.mask.iter() {
            let Some(at) = self.location(space, access, lane) else { return false };
            let (held, how) = (self.held(space, access, lane), self.weak_access(at, semantics, lane));
            let change = |old: &[u8]| SmallVec::from_slice(&operation.apply(word(old), b[lane], c[lane]).to_le_bytes()[..size]);
            let Some(weak) = self.weak.as_mut() else { return false };
            let (read, holds) = weak.atomic(&how, d.is_sink(), &held, change);
            old[lane] = word(&read.bytes);
            if holds {
                let new = operation.apply(old[lane], b[lane], c[lane]).to_le_bytes();
                self.hold(space, access, lane, &new[..size]);
            }
        }
        let mut lanes = self.lanes(group, access.mask);
        if bits == 64 {
            lanes.put64(d, &old);
        } else {
            lanes.put32(d, &old.map(|word| word as u32));
        }
        true
    }

    /// A fence of `lanes`.
    pub(super) fn fence_weak(&mut self, lanes: LaneMask, kind: FenceKind, ordering: Ordering, scope: Scope) {
        if self.weak.is_some() && kind == FenceKind::Memory {
            for place in self.places(lanes) {
                self.weak.iter_mut().for_each(|weak| weak.fence(place, ordering == Ordering::SeqCst, scope));
            }
        }
    }

    /// Lanes of the warp meet at `bar.warp.sync`.
    pub(super) fn meet_in_warp(&mut self, members: LaneMask) {
        if self.weak.is_some() {
            let places = self.places(members & self.warp.live);
            self.weak.iter_mut().for_each(|weak| weak.barrier(&places, &places));
        }
    }

    /// Lanes use an mbarrier. Every use of one in the cluster is ordered after those before it, which is more order than the model has.
    pub(super) fn meet_at_mbarriers(&mut self, lanes: LaneMask) {
        if self.weak.is_some() {
            let (places, cluster) = (self.places(lanes), self.number - u64::from(self.rank));
            self.weak.iter_mut().for_each(|weak| weak.meet(cluster, &places));
        }
    }
}

/// The bytes as a number.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}
